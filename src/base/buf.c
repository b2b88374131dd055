/* Growth by doubling; one byte more than size is always kept for the terminating NUL. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/checked.h"

enum { SMALLEST_BUF = 64, SMALLEST_VEC = 8 };

void buf_init(buf *b, glv_env *env, size_t max) { *b = (buf){.env = env, .max = max}; }

void buf_dispose(buf *b) {
  mem_free(b->env, b->data);
  b->data = NULL;
  b->size = b->capacity = 0;
}

void buf_clear(buf *b) {
  b->size = 0;
  if (b->data != NULL) {
    b->data[0] = '\0';
  }
}

glv_status buf_reserve(buf *b, size_t more, glv_error *err) {
  if (more > b->max - b->size) {
    return FAIL(err, GLV_E_LIMIT, "text or message grew past %zu bytes", b->max);
  }
  const size_t need = b->size + more + 1;
  if (need <= b->capacity) {
    return GLV_OK;
  }
  const size_t doubled = b->capacity > SIZE_MAX / 2 ? SIZE_MAX : b->capacity * 2;
  const size_t capacity = size_max(size_max(doubled, need), SMALLEST_BUF);
  char *data = mem_resize(b->env, b->data, capacity);
  if (data == NULL) {
    return error_nomem(err, capacity);
  }
  b->data = data;
  b->capacity = capacity;
  return GLV_OK;
}

glv_status buf_append(buf *b, const void *data, size_t size, glv_error *err) {
  TRY(buf_reserve(b, size, err));
  if (size != 0) {
    memcpy(b->data + b->size, data, size);
  }
  b->size += size;
  b->data[b->size] = '\0';
  return GLV_OK;
}

glv_status buf_append_str(buf *b, str text, glv_error *err) {
  return buf_append(b, text.data, text.size, err);
}

glv_status buf_append_char(buf *b, char c, glv_error *err) { return buf_append(b, &c, 1, err); }

glv_status buf_append_fill(buf *b, int value, size_t count, glv_error *err) {
  TRY(buf_reserve(b, count, err));
  memset(b->data + b->size, value, count);
  b->size += count;
  b->data[b->size] = '\0';
  return GLV_OK;
}

glv_status buf_printf(buf *b, glv_error *err, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0) {
    return FAIL(err, GLV_E_INTERNAL, "a text could not be formatted");
  }
  TRY(buf_reserve(b, (size_t)length, err));
  va_start(arguments, format);
  vsnprintf(b->data + b->size, (size_t)length + 1, format, arguments);
  va_end(arguments);
  b->size += (size_t)length;
  return GLV_OK;
}

char *buf_detach(buf *b) {
  char *data = b->data;
  b->data = NULL;
  b->size = b->capacity = 0;
  return data;
}

glv_status vec_reserve(glv_env *env, void *items, size_t *capacity, size_t need, size_t width,
                       glv_error *err) {
  if (need <= *capacity) {
    return GLV_OK;
  }
  const size_t wanted =
      size_max(size_max(need, SMALLEST_VEC), *capacity > SIZE_MAX / 2 ? need : *capacity * 2);
  size_t size;
  if (!size_mul(wanted, width, &size)) {
    return FAIL(err, GLV_E_LIMIT, "an array of %zu items is too large", need);
  }
  void *old;
  memcpy(&old, items, sizeof old); /* items points to a pointer of any object type */
  void *grown = mem_resize(env, old, size);
  if (grown == NULL) {
    return error_nomem(err, size);
  }
  memcpy(items, &grown, sizeof grown);
  *capacity = wanted;
  return GLV_OK;
}
