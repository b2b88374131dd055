/* The level is the fastest one: what is saved on the wire is to be worth the time even in a fast
 * network. */
#include "server/gzip.h"

#include <zlib.h>

#include "base/checked.h"
#include "base/error.h"

enum { GZIP_FORMAT = 16, WINDOW_BITS = 15, MEMORY_LEVEL = 8, STEP = 64 << 10 };

struct gzip {
  glv_env *env;
  z_stream stream;
};

static void *allocate(void *env, unsigned count, unsigned width) {
  return mem_calloc(env, count, width);
}

static void release(void *env, void *block) { mem_free(env, block); }

glv_status gzip_new(glv_env *env, gzip **ret, glv_error *err) {
  gzip *z = mem_zalloc(env, sizeof *z);
  if (z == NULL) {
    return error_nomem(err, sizeof *z);
  }
  z->env = env;
  z->stream.zalloc = allocate;
  z->stream.zfree = release;
  z->stream.opaque = env;
  if (deflateInit2(&z->stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS + GZIP_FORMAT, MEMORY_LEVEL,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    mem_free(env, z);
    return error_nomem(err, 0);
  }
  *ret = z;
  return GLV_OK;
}

void gzip_free(gzip *z) {
  if (z != NULL) {
    deflateEnd(&z->stream);
    mem_free(z->env, z);
  }
}

void gzip_cleanup(gzip **z) { gzip_free(*z); }

/* All of the input that zlib has, into out. */
static glv_status run(gzip *z, int flush, buf *out, glv_error *err) {
  int code = Z_OK;
  do {
    TRY(buf_reserve(out, STEP, err));
    z->stream.next_out = (Bytef *)out->data + out->size;
    z->stream.avail_out = STEP;
    code = deflate(&z->stream, flush);
    out->size += STEP - z->stream.avail_out;
  } while (code == Z_OK && z->stream.avail_out == 0);
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
    return FAIL(err, GLV_E_INTERNAL, "the answer could not be compressed");
  }
  return GLV_OK;
}

glv_status gzip_add(gzip *z, str text, bool is_last, buf *out, glv_error *err) {
  enum { MOST = 1 << 30 };
  do {
    const size_t part = size_min(text.size, MOST);
    z->stream.next_in = (Bytef *)(uintptr_t)text.data; /* read only */
    z->stream.avail_in = (uInt)part;
    text = str_slice(part != 0 ? text.data + part : text.data, text.size - part);
    TRY(run(z, is_last && text.size == 0 ? Z_FINISH : Z_NO_FLUSH, out, err));
  } while (text.size != 0);
  return GLV_OK;
}

/* "q=0", "q=0.0", ...: the coding is refused. */
static bool is_refused(str parameters) {
  for (size_t i = 0; i + 2 < parameters.size; i++) {
    if ((parameters.data[i] == 'q' || parameters.data[i] == 'Q') && parameters.data[i + 1] == '=') {
      for (size_t k = i + 2; k < parameters.size; k++) {
        if (parameters.data[k] >= '1' && parameters.data[k] <= '9') {
          return false;
        }
      }
      return true;
    }
  }
  return false;
}

bool gzip_is_accepted(const char *accept_encoding) {
  bool any = false;
  for (const char *at = accept_encoding; at != NULL && *at != '\0';) {
    at += strspn(at, " \t,");
    const size_t size = strcspn(at, ",");
    const size_t name_size = size_min(strcspn(at, "; \t,"), size);
    const str name = str_slice(at, name_size);
    const bool refused = is_refused(str_slice(at + name_size, size - name_size));
    if (str_equal_ascii_case(name, STR("gzip")) || str_equal_ascii_case(name, STR("x-gzip"))) {
      return !refused;
    }
    any = any || (str_is(name, "*") && !refused);
    at += size;
  }
  return any;
}
