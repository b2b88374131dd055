/**
 * @file lines.h
 * A window over a byte source for readers that need whole records: more is read at its end, what
 * was used is dropped from its start.
 */
#ifndef GLAIVE_TEXT_LINES_H
#define GLAIVE_TEXT_LINES_H

#include "arrow/ipc.h"
#include "text/text.h"

typedef struct text_window {
  buf bytes;
  size_t start; /* of the record that is being read */
  bool ended;   /* the source gave all */
  byte_source source;
  const char *name;
} text_window;

/** Opens the source, and skips a byte order mark. */
glv_status text_window_open(text_window *w, glv_env *env, const text_source *source,
                            glv_error *err);
void text_window_dispose(text_window *w);
/** Read more; sets ended when there is none. Errors: GLV_E_LIMIT naming the line when the record is
 * too long. */
glv_status text_window_more(text_window *w, uint64_t line, glv_error *err);
/** The next line without its end, from w->start, which is moved behind it; *ret_found false at the
 * end. The line stays valid until the next call. */
glv_status text_window_line(text_window *w, uint64_t line, str *ret, bool *ret_found,
                            glv_error *err);

#endif
