/*
 * The growing result of a read: validity and fixed-width values. All memory but that of text is
 * allocated at the start when the number of rows is known, else it grows. Validity comes into
 * being, all ones, with the first null; item validity likewise.
 *
 * Invariant: everything before `filled` is final; nothing past `length` rows is ever written.
 */
#include "arrow/bits.h"
#include "base/limits.h"
#include "format/sink_private.h"

/* One read never produces more fixed-width bytes than this. */
#define READ_BYTES ((uint64_t)16 << 30)

/* Bytes of `values` for so many rows. */
static glv_status value_bytes(const sink *s, size_t rows, size_t *ret, glv_error *err) {
  size_t bits = 0;
  const size_t width = s->s.kind == SHAPE_TEXT ? 8 * s->s.offset_width : shape_row_bits(&s->s);
  if (!size_add(rows, 1, ret) || !size_mul(*ret, width, &bits) || bits / 8 > READ_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "column '%s': %zu rows are too many for one read", s->f->name,
                rows);
  }
  *ret = s->s.kind == SHAPE_TEXT ? bits / 8 : bits_size(rows * width);
  return GLV_OK;
}

static glv_status allocate_values(sink *s, glv_error *err) {
  size_t size = 0;
  if (s->s.kind == SHAPE_NULL) {
    return GLV_OK;
  }
  if (s->s.kind == SHAPE_PACKED) {
    return sink_init_parts(s, err);
  }
  TRY(value_bytes(s, s->length, &size, err));
  if (s->s.kind == SHAPE_BITS) {
    return buffer_new_zeroed(s->env, size, &s->values, err);
  }
  TRY(buffer_new(s->env, size, &s->values, err));
  if (s->s.kind == SHAPE_TEXT) {
    memset(s->values->data, 0, s->s.offset_width);
  }
  return GLV_OK;
}

glv_status sink_init(sink *s, glv_env *env, const field *f, size_t length, glv_error *err) {
  *s = (sink){.env = env, .f = f, .length = length};
  TRY(shape_of(f, &s->s, err));
  const glv_status status = allocate_values(s, err);
  if (status != GLV_OK) {
    sink_dispose(s);
  }
  return status;
}

void sink_dispose(sink *s) {
  buffer_unref(s->validity);
  buffer_unref(s->values);
  buffer_unref(s->data);
  s->validity = s->values = s->data = NULL;
  for (size_t i = 0; i < SHAPE_DEPTH; i++) {
    buffer_unref(s->items[i]);
    s->items[i] = NULL;
  }
  sink_dispose_parts(s);
  sink_dispose_dictionary(s);
}

/* A bitmap for more bits; the new ones are set. */
static glv_status grow_bits(buffer *b, size_t from, size_t to, glv_error *err) {
  if (b != NULL) {
    TRY(buffer_resize(b, bits_size(to), err));
    bits_fill(b->data, from, to - from, true);
  }
  return GLV_OK;
}

glv_status sink_grow(sink *s, size_t more, glv_error *err) {
  size_t length = 0;
  size_t size = 0;
  if (!size_add(s->filled, more, &length)) {
    return error_nomem(err, SIZE_MAX);
  }
  if (length <= s->length) {
    return GLV_OK;
  }
  length = size_max(length, s->length + s->length / 2);
  if (s->s.kind == SHAPE_PACKED) {
    TRY(sink_grow_parts(s, length, err));
  } else if (s->s.kind != SHAPE_NULL) {
    TRY(value_bytes(s, length, &size, err));
    TRY(buffer_resize(s->values, size, err));
  }
  TRY(grow_bits(s->validity, s->length, length, err));
  for (size_t level = 0; level < s->s.depth; level++) {
    const size_t row = s->s.leaves[level];
    TRY(grow_bits(s->items[level], s->length * row, length * row, err));
  }
  s->length = length;
  return GLV_OK;
}

/* ---- nulls ---- */

static glv_status need_validity(sink *s, glv_error *err) {
  if (s->validity == NULL) {
    TRY(buffer_new(s->env, bits_size(s->length), &s->validity, err));
    bits_fill(s->validity->data, 0, s->length, true);
  }
  return GLV_OK;
}

/* Eight levels to one byte of validity: the comparisons become bytes of 0 or 1, which a
 * multiplication gathers into the highest byte. */
static uint8_t levels_to_byte(const uint16_t *levels) {
  uint8_t valid[8];
  for (size_t i = 0; i < 8; i++) {
    valid[i] = levels[i] == 0;
  }
  return (uint8_t)((load_le64(valid) * UINT64_C(0x0102040810204080)) >> 56);
}

static void levels_to_bits(const uint16_t *levels, size_t count, uint8_t *bits, size_t first) {
  size_t i = 0;
  for (; i < count && (first + i) % 8 != 0; i++) {
    bit_put(bits, first + i, levels[i] == 0);
  }
  for (; count - i >= 8; i += 8) {
    bits[(first + i) / 8] = levels_to_byte(levels + i);
  }
  for (; i < count; i++) {
    bit_put(bits, first + i, levels[i] == 0);
  }
}

static bool has_nulls(const uint16_t *levels, size_t count) {
  uint16_t all = 0;
  for (size_t i = 0; i < count; i++) {
    all |= levels[i];
  }
  return all != 0;
}

glv_status sink_nulls(sink *s, const uint16_t *levels, const wanted *w, glv_error *err) {
  if (w->rows == NULL && !has_nulls(levels + w->first, w->count)) {
    return GLV_OK;
  }
  TRY(need_validity(s, err));
  uint8_t *bits = s->validity->data;
  if (w->rows == NULL) {
    levels_to_bits(levels + w->first, w->count, bits, s->filled);
  } else {
    for (size_t i = 0; i < w->count; i++) {
      bit_put(bits, s->filled + i, levels[wanted_row(w, i)] == 0);
    }
  }
  s->null_count += w->count - bits_count(bits, s->filled, w->count);
  return GLV_OK;
}

glv_status sink_bits_valid(sink *s, const uint8_t *bits, const wanted *w, glv_error *err) {
  TRY(need_validity(s, err));
  uint8_t *to = s->validity->data;
  if (w->rows == NULL) {
    bits_copy(to, s->filled, bits, w->first, w->count);
  } else {
    for (size_t i = 0; i < w->count; i++) {
      bit_put(to, s->filled + i, bit_get(bits, wanted_row(w, i)));
    }
  }
  s->null_count += w->count - bits_count(to, s->filled, w->count);
  return GLV_OK;
}

glv_status sink_levels(sink *s, const uint16_t *levels, const wanted *w, glv_error *err) {
  if (s->levels != NULL) {
    TRY(level_list_add(s->levels, s->page, levels, w, err));
  }
  return sink_nulls(s, levels, w, err);
}

glv_status sink_null_rows(sink *s, size_t count, glv_error *err) {
  if (s->levels != NULL) {
    TRY(level_list_repeat(s->levels, 1, count, err));
  }
  if (s->s.kind == SHAPE_NULL || count == 0) {
    s->null_count += count;
    return GLV_OK;
  }
  TRY(need_validity(s, err));
  bits_fill(s->validity->data, s->filled, count, false);
  s->null_count += count;
  return GLV_OK;
}

/* ---- values ---- */

#define DEFINE_GATHER(T)                                                                           \
  static void gather##T(uint##T##_t *restrict to, const uint8_t *restrict values,                  \
                        const wanted *w) {                                                         \
    for (size_t i = 0; i < w->count; i++) {                                                        \
      memcpy(&to[i], values + wanted_row(w, i) * sizeof *to, sizeof *to);                          \
    }                                                                                              \
  }
DEFINE_GATHER(32)
DEFINE_GATHER(64)

static void gather_bits(sink *s, const uint8_t *values, const wanted *w) {
  const size_t row = s->s.row_leaves;
  if (w->rows == NULL) {
    bits_copy(s->values->data, s->filled * row, values, w->first * row, w->count * row);
    return;
  }
  for (size_t i = 0; i < w->count; i++) {
    bits_copy(s->values->data, (s->filled + i) * row, values, wanted_row(w, i) * row, row);
  }
}

void sink_fixed(sink *s, const uint8_t *values, const wanted *w) {
  if (w->count == 0) {
    return;
  }
  if (s->s.kind == SHAPE_BITS) {
    gather_bits(s, values, w);
    return;
  }
  const size_t width = s->s.width * s->s.row_leaves;
  uint8_t *to = sink_next(s);
  if (w->rows == NULL) {
    memcpy(to, values + w->first * width, w->count * width);
  } else if (width == 4) {
    gather32((uint32_t *)(void *)to, values, w);
  } else if (width == 8) {
    gather64((uint64_t *)(void *)to, values, w);
  } else {
    for (size_t i = 0; i < w->count; i++) {
      memcpy(to + i * width, values + wanted_row(w, i) * width, width);
    }
  }
}

void sink_bytes_as_bits(sink *s, const uint8_t *values, size_t stride, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bit_put(s->values->data, s->filled + i, values[i * stride] != 0);
  }
}

glv_status sink_items_valid(sink *s, size_t level, const uint8_t *bits, const wanted *w,
                            glv_error *err) {
  const size_t row = s->s.leaves[level];
  if (s->items[level] == NULL) {
    const size_t total = s->length * row; /* does not overflow: the values were allocated */
    TRY(buffer_new(s->env, bits_size(total), &s->items[level], err));
    bits_fill(s->items[level]->data, 0, total, true);
  }
  uint8_t *to = s->items[level]->data;
  if (w->rows == NULL) {
    bits_copy(to, s->filled * row, bits, w->first * row, w->count * row);
    return GLV_OK;
  }
  for (size_t i = 0; i < w->count; i++) {
    bits_copy(to, (s->filled + i) * row, bits, wanted_row(w, i) * row, row);
  }
  return GLV_OK;
}

void sink_repeat(sink *s, const uint8_t *value, size_t count) {
  if (s->s.kind == SHAPE_BITS) {
    bits_fill(s->values->data, s->filled * s->s.row_leaves, count * s->s.row_leaves,
              (value[0] & 1) != 0);
    return;
  }
  const size_t width = s->s.width * s->s.row_leaves;
  uint8_t *to = sink_next(s);
  for (size_t i = 0; i < count; i++) {
    memcpy(to + i * width, value, width);
  }
}

glv_status sink_zeros(sink *s, size_t count, glv_error *err) {
  switch (s->s.kind) {
  case SHAPE_NULL:
    return GLV_OK;
  case SHAPE_TEXT:
    TRY(sink_text_reserve(s, 0, err));
    for (size_t i = 0; i < count; i++) {
      sink_text_end(s, i);
    }
    return GLV_OK;
  case SHAPE_BITS:
    bits_fill(s->values->data, s->filled * s->s.row_leaves, count * s->s.row_leaves, false);
    return GLV_OK;
  case SHAPE_PACKED:
    return sink_zero_parts(s, count, err);
  case SHAPE_FIXED:
    memset(sink_next(s), 0, count * s->s.width * s->s.row_leaves);
    return GLV_OK;
  }
  return GLV_OK;
}

/* ---- the array ---- */

/* Hand the memory of values and text to the leaf array. */
static void give_values(sink *s, array *leaf) {
  leaf->owners[1] = s->values;
  leaf->values = s->values != NULL ? s->values->data : NULL;
  leaf->owners[2] = s->data;
  leaf->data = s->data != NULL ? s->data->data : NULL;
  s->values = s->data = NULL;
}

static void give_validity(array *a, buffer **validity, size_t nulls) {
  a->owners[0] = *validity;
  a->validity = *validity != NULL ? (*validity)->data : NULL;
  a->null_count = *validity != NULL ? nulls : 0;
  *validity = NULL;
}

glv_status sink_finish(sink *s, array *ret, glv_error *err) {
  if (s->s.kind == SHAPE_TEXT) {
    TRY(sink_text_reserve(s, 0, err));
    TRY(buffer_resize(s->data, s->data_size, err));
  }
  CLEANUP(array_unref) array a = {.type = s->f->type, .length = s->filled};
  if (s->s.kind == SHAPE_NULL) {
    a.null_count = s->filled;
  } else {
    give_validity(&a, &s->validity, s->null_count);
  }
  array *leaf = &a;
  for (size_t level = 0; level < s->s.depth; level++) {
    TRY(array_new_children(s->env, 1, leaf, err));
    array *child = &leaf->children[0];
    child->type = leaf->type->children[0].type;
    child->length = s->filled * s->s.leaves[level];
    give_validity(child, &s->items[level], NULLS_UNKNOWN);
    leaf = child;
  }
  if (s->s.is_dictionary) {
    TRY(sink_finish_dictionary(s, leaf, err));
  } else {
    give_values(s, leaf);
  }
  if (s->s.kind == SHAPE_PACKED) {
    TRY(sink_finish_parts(s, leaf, err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}
