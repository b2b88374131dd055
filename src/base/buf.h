/**
 * @file buf.h
 * A growable byte buffer with a maximum size, and growable arrays.
 */
#ifndef GLAIVE_BASE_BUF_H
#define GLAIVE_BASE_BUF_H

#include "base/env.h"
#include "base/str.h"

typedef struct buf {
  glv_env *env; /* borrowed */
  char *data;   /* size bytes, followed by a NUL when data is not NULL */
  size_t size;
  size_t capacity;
  size_t max; /* growing past it is GLV_E_LIMIT */
} buf;

/** An empty buffer that may grow to max bytes. */
void buf_init(buf *b, glv_env *env, size_t max);
void buf_dispose(buf *b); /* usable with CLEANUP */
void buf_clear(buf *b);   /* keeps the memory */

/** Make room for `more` further bytes. Errors of all growing functions: GLV_E_LIMIT, GLV_E_NOMEM.
 */
glv_status buf_reserve(buf *b, size_t more, glv_error *err);
glv_status buf_append(buf *b, const void *data, size_t size, glv_error *err);
glv_status buf_append_str(buf *b, str text, glv_error *err);
glv_status buf_append_char(buf *b, char c, glv_error *err);
/** count bytes of the same value. */
glv_status buf_append_fill(buf *b, int value, size_t count, glv_error *err);
glv_status buf_printf(buf *b, glv_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Give the memory to the caller, who releases it with mem_free; NULL when nothing was ever
 * appended. */
char *buf_detach(buf *b);
static inline str buf_str(const buf *b) { return str_slice(b->data, b->size); }

/**
 * Growth of a plain array: after GLV_OK *items has room for `need` items of `width` bytes. *items
 * was made by mem_alloc or is NULL; capacity is in items. Contents are kept, new room is not
 * zeroed.
 */
glv_status vec_reserve(glv_env *env, void *items, size_t *capacity, size_t need, size_t width,
                       glv_error *err);

#endif
