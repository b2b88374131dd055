/*
 * Growing columns: values, offsets and bytes double when they are full. The validity bitmap is made
 * at the first null. Nulls hold zero bytes, or are empty.
 */
#include "arrow/builder.h"

#include "arrow/array_private.h"
#include "arrow/bits.h"

enum { FIRST_VALUES = 64 };

void builder_init(builder *b, glv_env *env, const type *t) {
  *b = (builder){.env = env, .type = t, .offset_width = type_offset_width(t->kind)};
}

void builder_dispose(builder *b) {
  buffer_unref(b->validity);
  buffer_unref(b->values);
  buffer_unref(b->data);
  *b = (builder){.env = b->env, .type = b->type, .offset_width = b->offset_width};
}

/* *at has room for `need` bytes; new bytes are zero when `zeroed`. */
static glv_status grow(glv_env *env, buffer **at, size_t need, bool zeroed, glv_error *err) {
  const size_t old = *at != NULL ? (*at)->size : 0;
  if (*at != NULL && need <= old) {
    return GLV_OK;
  }
  const size_t wanted = size_max(need, old > SIZE_MAX / 2 ? need : old * 2);
  if (*at == NULL) {
    TRY(buffer_new(env, wanted, at, err));
  } else {
    TRY(buffer_resize(*at, wanted, err));
  }
  if (zeroed) {
    memset((*at)->data + old, 0, (*at)->size - old);
  }
  return GLV_OK;
}

/* Bytes of values for a number of values. */
static bool values_size(const builder *b, size_t count, size_t *ret) {
  switch (array_layout_of(b->type)) {
  case LAYOUT_NULL:
    *ret = 0;
    return true;
  case LAYOUT_BOOL:
    *ret = bits_size(count);
    return true;
  case LAYOUT_BYTES:
    return size_add(count, 1, &count) && size_mul(count, type_offset_width(b->type->kind), ret);
  case LAYOUT_FIXED:
  case LAYOUT_LIST:
  case LAYOUT_FIXED_LIST:
  case LAYOUT_STRUCT:
    break;
  }
  return size_mul(count, type_width(b->type), ret);
}

static glv_status reserve_values(builder *b, size_t more, glv_error *err) {
  size_t need;
  size_t size;
  if (!size_add(b->length, more, &need)) {
    return error_nomem(err, SIZE_MAX);
  }
  if (need <= b->capacity) {
    return GLV_OK;
  }
  need = size_max(size_max(need, FIRST_VALUES), b->capacity > SIZE_MAX / 2 ? 0 : b->capacity * 2);
  if (!values_size(b, need, &size)) {
    return error_nomem(err, SIZE_MAX);
  }
  const bool is_new = b->values == NULL;
  TRY(grow(b->env, &b->values, size, b->type->kind == TYPE_BOOL, err));
  if (is_new && type_offset_width(b->type->kind) != 0) {
    memset(b->values->data, 0, 8);
  }
  if (b->validity != NULL) {
    TRY(grow(b->env, &b->validity, bits_size(need), true, err));
  }
  b->capacity = need;
  return GLV_OK;
}

static glv_status reserve_data(builder *b, size_t bytes, glv_error *err) {
  size_t need;
  if (!size_add(b->data_size, bytes, &need)) {
    return error_nomem(err, SIZE_MAX);
  }
  if (b->data != NULL && need <= b->data->size && need <= INT32_MAX) {
    return GLV_OK;
  }
  TRY(array_check_offset_range(b->type, need, err));
  return grow(b->env, &b->data, need, false, err);
}

glv_status builder_reserve(builder *b, size_t values, size_t bytes, glv_error *err) {
  TRY(reserve_values(b, values, err));
  return bytes != 0 ? reserve_data(b, bytes, err) : GLV_OK;
}

/* Count one more value, whose bytes are in place. */
static void push(builder *b, bool valid) {
  if (b->offset_width == 4) {
    ((int32_t *)(void *)b->values->data)[b->length + 1] = (int32_t)b->data_size;
  } else if (b->offset_width == 8) {
    ((int64_t *)(void *)b->values->data)[b->length + 1] = (int64_t)b->data_size;
  }
  if (b->validity != NULL) {
    bit_put(b->validity->data, b->length, valid);
  }
  b->length++;
}

glv_status builder_append_null(builder *b, glv_error *err) {
  TRY(reserve_values(b, 1, err));
  if (b->validity == NULL && b->type->kind != TYPE_NULL) {
    TRY(grow(b->env, &b->validity, bits_size(b->capacity), true, err));
    bits_fill(b->validity->data, 0, b->length, true);
  }
  const size_t width = type_width(b->type);
  if (width != 0) {
    memset(b->values->data + b->length * width, 0, width);
  }
  b->null_count++;
  push(b, false);
  return GLV_OK;
}

glv_status builder_append_bool(builder *b, bool value, glv_error *err) {
  TRY(reserve_values(b, 1, err));
  bit_put(b->values->data, b->length, value);
  push(b, true);
  return GLV_OK;
}

glv_status builder_append_fixed(builder *b, const void *value, glv_error *err) {
  TRY(reserve_values(b, 1, err));
  const size_t width = type_width(b->type);
  if (width != 0) {
    memcpy(b->values->data + b->length * width, value, width);
  }
  push(b, true);
  return GLV_OK;
}

glv_status builder_append_str(builder *b, str value, glv_error *err) {
  TRY(reserve_values(b, 1, err));
  if (value.size != 0) {
    TRY(reserve_data(b, value.size, err));
    memcpy(b->data->data + b->data_size, value.data, value.size);
    b->data_size += value.size;
  }
  push(b, true);
  return GLV_OK;
}

glv_status builder_append_texts(builder *b, const char *bytes, const uint32_t *ends, size_t count,
                                glv_error *err) {
  const size_t size = count > 0 ? ends[count - 1] : 0;
  TRY(builder_reserve(b, count, size, err));
  if (b->offset_width == 4) {
    int32_t *to = (int32_t *)(void *)b->values->data + b->length + 1;
    for (size_t i = 0; i < count; i++) {
      to[i] = (int32_t)(b->data_size + ends[i]);
    }
  } else {
    int64_t *to = (int64_t *)(void *)b->values->data + b->length + 1;
    for (size_t i = 0; i < count; i++) {
      to[i] = (int64_t)(b->data_size + ends[i]);
    }
  }
  if (size != 0) {
    memcpy(b->data->data + b->data_size, bytes, size);
  }
  if (b->validity != NULL) {
    bits_fill(b->validity->data, b->length, count, true);
  }
  b->data_size += size;
  b->length += count;
  return GLV_OK;
}

glv_status builder_begin_str(builder *b, size_t most, char **ret, glv_error *err) {
  TRY(reserve_values(b, 1, err));
  TRY(reserve_data(b, most, err));
  *ret = (char *)b->data->data + b->data_size;
  return GLV_OK;
}

void builder_end_str(builder *b, size_t size) {
  b->data_size += size;
  push(b, true);
}

/* Cut a buffer to what is used and move it to *to. */
static glv_status hand_over(buffer **from, size_t size, buffer **to, glv_error *err) {
  if (*from != NULL) {
    TRY(buffer_resize(*from, size, err));
    *to = *from;
    *from = NULL;
  }
  return GLV_OK;
}

glv_status builder_finish(builder *b, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = array_empty(b->type, b->length);
  size_t size = 0;
  if (!values_size(b, b->length, &size)) {
    return error_nomem(err, SIZE_MAX);
  }
  a.null_count = b->null_count;
  TRY(hand_over(&b->validity, bits_size(b->length), &a.owners[0], err));
  TRY(hand_over(&b->values, size, &a.owners[1], err));
  TRY(hand_over(&b->data, b->data_size, &a.owners[2], err));
  a.validity = a.owners[0] != NULL ? a.owners[0]->data : NULL;
  a.values = a.owners[1] != NULL ? a.owners[1]->data : array_no_bytes;
  a.data = a.owners[2] != NULL ? a.owners[2]->data : array_no_bytes;
  builder_dispose(b);
  *ret = a;
  a = (array){0};
  return GLV_OK;
}
