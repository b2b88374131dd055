/* The window grows by whole chunks and never past one record and one chunk. */
#include "text/lines.h"

enum { CHUNK = 256 << 10 };

glv_status text_window_open(text_window *w, glv_env *env, const text_source *source,
                            glv_error *err) {
  static const char mark[] = "\xEF\xBB\xBF";
  *w = (text_window){.name = source->name};
  buf_init(&w->bytes, env, (size_t)LIMIT_RECORD_BYTES + CHUNK);
  TRY(source->open(source->context, &w->source, err));
  while (!w->ended && w->bytes.size < 3) {
    TRY(text_window_more(w, 1, err));
  }
  if (str_starts_with(buf_str(&w->bytes), str_of(mark))) {
    w->start = 3;
  }
  return GLV_OK;
}

void text_window_dispose(text_window *w) {
  if (w->source.dispose != NULL) {
    w->source.dispose(w->source.context);
  }
  if (w->bytes.env != NULL) {
    buf_dispose(&w->bytes);
  }
  *w = (text_window){0};
}

/* Move what is still needed to the front. */
static void compact(text_window *w) {
  if (w->start != 0) {
    memmove(w->bytes.data, w->bytes.data + w->start, w->bytes.size - w->start);
    w->bytes.size -= w->start;
    w->start = 0;
  }
}

glv_status text_window_more(text_window *w, uint64_t line, glv_error *err) {
  size_t part = 0;
  compact(w);
  if (w->bytes.size > LIMIT_RECORD_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "file '%s' line %llu: a record is longer than %u bytes", w->name,
                (unsigned long long)line, LIMIT_RECORD_BYTES);
  }
  TRY(buf_reserve(&w->bytes, CHUNK, err));
  TRY(w->source.read(w->source.context, w->bytes.data + w->bytes.size, CHUNK, &part, err));
  w->bytes.size += part;
  w->ended = part == 0;
  return GLV_OK;
}

glv_status text_window_line(text_window *w, uint64_t line, str *ret, bool *ret_found,
                            glv_error *err) {
  size_t looked = 0;
  for (;;) {
    const size_t have = w->bytes.size - w->start;
    const char *from = w->bytes.data + w->start;
    const char *end = have > looked ? memchr(from + looked, '\n', have - looked) : NULL;
    if (end != NULL || w->ended) {
      const size_t size = end != NULL ? (size_t)(end - from) : have;
      *ret_found = have != 0;
      *ret = str_slice(from, size > 0 && from[size - 1] == '\r' ? size - 1 : size);
      w->start += end != NULL ? size + 1 : size;
      return GLV_OK;
    }
    looked = have;
    TRY(text_window_more(w, line, err));
  }
}
