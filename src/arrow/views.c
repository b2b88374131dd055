/*
 * String and binary views. A view is a length, then either up to 12 bytes inline, or a prefix of 4
 * bytes, the number of a buffer and an offset in it. Inside the engine there are no views: they are
 * copied into offsets and bytes, in two passes (check and sum, copy).
 */
#include "arrow/array_private.h"
#include "arrow/cdata_private.h"

enum { VIEW_BYTES = 16, INLINE_BYTES = 12 };

/* The bytes of view i; false when it points outside of its buffer. */
static bool view_at(const view_column *v, size_t i, str *ret) {
  const uint8_t *view = v->views + i * VIEW_BYTES;
  const int32_t size = (int32_t)load_le32(view);
  if (size < 0) {
    return false;
  }
  if (size <= INLINE_BYTES) {
    *ret = str_slice((const char *)view + 4, (size_t)size);
    return true;
  }
  const uint32_t index = load_le32(view + 8);
  const uint32_t offset = load_le32(view + 12);
  if (index >= v->buffer_count || v->buffers[index] == NULL) {
    return false;
  }
  int64_t room;
  memcpy(&room, (const uint8_t *)v->sizes + index * sizeof room, sizeof room);
  if (room < 0 || !range_within(offset, (uint64_t)size, (uint64_t)room)) {
    return false;
  }
  *ret = str_slice((const char *)v->buffers[index] + offset, (size_t)size);
  return true;
}

static glv_status sum_views(const view_column *v, const char *column, const array *a,
                            size_t *ret_total, glv_error *err) {
  size_t total = 0;
  str value;
  for (size_t i = 0; i < a->length; i++) {
    if (!array_is_valid(a, i)) {
      continue;
    }
    if (!view_at(v, i, &value)) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "column '%s': the view at position %zu points outside of its buffers", column, i);
    }
    total += value.size; /* both are below 2^31 here */
    if (total > INT32_MAX) {
      return FAIL(err, GLV_E_LIMIT,
                  "column '%s' holds more than 2 GiB in one batch; use smaller batches", column);
    }
  }
  *ret_total = total;
  return GLV_OK;
}

glv_status array_from_views(glv_env *env, const view_column *v, const char *column, array *a,
                            glv_error *err) {
  size_t total;
  TRY(sum_views(v, column, a, &total, err));
  TRY(buffer_new(env, (a->length + 1) * sizeof(int32_t), &a->owners[1], err));
  TRY(buffer_new(env, total, &a->owners[2], err));
  int32_t *offsets = (int32_t *)(void *)a->owners[1]->data;
  uint8_t *out = a->owners[2]->data;
  offsets[0] = 0;
  for (size_t i = 0; i < a->length; i++) {
    str value = {0};
    if (array_is_valid(a, i) && view_at(v, i, &value) && value.size != 0) {
      memcpy(out, value.data, value.size);
      out += value.size;
    }
    offsets[i + 1] = offsets[i] + (int32_t)value.size;
  }
  a->values = offsets;
  a->data = a->owners[2]->data;
  return GLV_OK;
}

glv_status array_align(glv_env *env, size_t width, size_t size, const void **values, buffer **owner,
                       glv_error *err) {
  const size_t align = width >= 8 ? 8 : width;
  if (align == 0 || (align & (align - 1)) != 0 || (uintptr_t)*values % align == 0) {
    return GLV_OK;
  }
  buffer *copy;
  TRY(buffer_new(env, size, &copy, err));
  memcpy(copy->data, *values, size);
  buffer_unref(*owner);
  *owner = copy;
  *values = copy->data;
  return GLV_OK;
}
