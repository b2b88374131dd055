/*
 * Fuzz target: JSON in binary form and the paths into it. The first byte is the length of a path,
 * which follows; the rest is a document, or else JSON text. What is printed reads back to the same.
 */
#include <stdlib.h>

#include "base/env.h"
#include "expr/json_path.h"
#include "expr/jsonb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_LIMIT ((uint64_t)64 << 20)

static void require(bool ok) {
  if (!ok) {
    abort();
  }
}

static bool is_memory(glv_status status) { return status == GLV_E_NOMEM || status == GLV_E_LIMIT; }

/* Text to text by way of the binary form; false when that does not go. */
static bool reprint(glv_env *env, str text, buf *out) {
  buf bytes;
  jsonb v;
  buf_init(&bytes, env, 1 << 24);
  glv_status status = jsonb_parse(env, text, &bytes, NULL);
  require(status == GLV_OK || status == GLV_E_INVALID_INPUT || is_memory(status));
  if (status == GLV_OK) {
    require(jsonb_open(buf_str(&bytes), &v));
    status = jsonb_print(&v, out, NULL);
    require(status == GLV_OK || is_memory(status));
  }
  buf_dispose(&bytes);
  return status == GLV_OK;
}

static void check_text(glv_env *env, str text) {
  buf first;
  buf second;
  buf_init(&first, env, 1 << 24);
  buf_init(&second, env, 1 << 24);
  if (reprint(env, text, &first) && reprint(env, buf_str(&first), &second)) {
    require(str_equal(buf_str(&first), buf_str(&second)));
  }
  buf_dispose(&first);
  buf_dispose(&second);
}

static void check_document(glv_env *env, str document, const json_path *p) {
  jsonb v;
  buf text;
  json_matches m;
  buf_init(&text, env, 1 << 24);
  json_matches_init(&m, env);
  if (jsonb_open(document, &v) && jsonb_print(&v, &text, NULL) == GLV_OK) {
    check_text(env, buf_str(&text));
  }
  if (p != NULL && json_path_select(p, document, &m, NULL) == GLV_OK) {
    for (size_t i = 0; i < m.count && i < 100; i++) {
      buf_clear(&text);
      (void)jsonb_write(&m.items[i], &text, NULL);
    }
  }
  json_matches_dispose(&m);
  buf_dispose(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const glv_io no_io;
  const glv_env_options options = {
      .struct_size = sizeof options, .memory_limit_bytes = MEMORY_LIMIT, .io = &no_io};
  if (size == 0 || data[0] > size - 1) {
    return 0;
  }
  glv_env *env;
  json_path *p = NULL;
  require(env_new(&options, &env, NULL) == GLV_OK);
  const str path = str_slice((const char *)data + 1, data[0]);
  const str rest = str_slice(path.data + path.size, size - 1 - path.size);
  (void)json_path_new(env, path, &p, NULL);
  check_document(env, rest, p);
  if (str_is_utf8(rest)) {
    check_text(env, rest);
  }
  json_path_free(p);
  env_unref(env);
  return 0;
}
