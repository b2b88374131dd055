/*
 * Gathering rows. Fixed widths are copied by a loop per width, which the compiler vectorises;
 * variable width runs twice over the rows, for offsets and for bytes. The items of nested rows are
 * listed as rows of the child, which is then gathered the same way.
 */
#include "arrow/array_private.h"
#include "arrow/bits.h"

typedef struct gather {
  glv_env *env;
  const uint32_t *rows;
  size_t count;
  glv_error *err;
} gather;

/* Bits at the rows; returns how many are set. */
static size_t take_bits(const uint8_t *bits, size_t bit_offset, const gather *g, uint8_t *to) {
  size_t ones = 0;
  for (size_t i = 0; i < g->count; i += 8) {
    const size_t part = size_min(8, g->count - i);
    unsigned byte = 0;
    for (size_t j = 0; j < part; j++) {
      byte |= (unsigned)bit_get(bits, bit_offset + g->rows[i + j]) << j;
    }
    to[i / 8] = (uint8_t)byte;
    ones += (size_t)__builtin_popcount(byte);
  }
  return ones;
}

static glv_status take_validity(const gather *g, const array *a, array *to) {
  if (a->validity == NULL || g->count == 0 || !array_has_nulls(a)) {
    return GLV_OK;
  }
  TRY(buffer_new(g->env, bits_size(g->count), &to->owners[0], g->err));
  to->null_count = g->count - take_bits(a->validity, a->bit_offset, g, to->owners[0]->data);
  if (to->null_count == 0) {
    buffer_unref(to->owners[0]);
    to->owners[0] = NULL;
  } else {
    to->validity = to->owners[0]->data;
  }
  return GLV_OK;
}

#define TAKE_LOOP(ctype)                                                                           \
  do {                                                                                             \
    const ctype *in = from;                                                                        \
    ctype *out = to;                                                                               \
    for (size_t i = 0; i < count; i++) {                                                           \
      out[i] = in[rows[i]];                                                                        \
    }                                                                                              \
  } while (0)

/* Values of width bytes. Only natural alignment may be relied on, so 16 and 32 bytes go by memcpy.
 */
static void take_values(const void *from, size_t width, const gather *g, void *to) {
  const uint32_t *rows = g->rows;
  const size_t count = g->count;
  switch (width) {
  case 1:
    TAKE_LOOP(uint8_t);
    return;
  case 2:
    TAKE_LOOP(uint16_t);
    return;
  case 4:
    TAKE_LOOP(uint32_t);
    return;
  case 8:
    TAKE_LOOP(uint64_t);
    return;
  case 16:
    for (size_t i = 0; i < count; i++) {
      memcpy((uint8_t *)to + i * 16, (const uint8_t *)from + (size_t)rows[i] * 16, 16);
    }
    return;
  default:
    for (size_t i = 0; width != 0 && i < count; i++) {
      memcpy((uint8_t *)to + i * width, (const uint8_t *)from + (size_t)rows[i] * width, width);
    }
    return;
  }
}

static glv_status take_fixed(const gather *g, const array *a, array *to) {
  const size_t width = array_value_width(a->type);
  size_t size;
  if (!size_mul(g->count, width, &size)) {
    return error_nomem(g->err, SIZE_MAX);
  }
  TRY(buffer_new(g->env, size, &to->owners[1], g->err));
  to->values = to->owners[1]->data;
  const bool aligned =
      width == 0 || width > 8 || (width & (width - 1)) != 0 || (uintptr_t)a->values % width == 0;
  if (aligned) {
    take_values(a->values, width, g, to->owners[1]->data);
    return GLV_OK;
  }
  for (size_t i = 0; i < g->count; i++) { /* small fixed_size_binary values at any address */
    memcpy(to->owners[1]->data + i * width, (const uint8_t *)a->values + g->rows[i] * width, width);
  }
  return GLV_OK;
}

static glv_status take_bool(const gather *g, const array *a, array *to) {
  TRY(buffer_new(g->env, bits_size(g->count), &to->owners[1], g->err));
  to->values = to->owners[1]->data;
  (void)take_bits(a->values, a->bit_offset, g, to->owners[1]->data);
  return GLV_OK;
}

/* New offsets for the rows, into to->owners[1]; null rows become empty. *ret_total: their sum. */
static glv_status take_offsets(const gather *g, const array *a, array *to, size_t *ret_total) {
  const size_t width = type_offset_width(a->type->kind);
  size_t total = 0;
  TRY(buffer_new(g->env, (g->count + 1) * width, &to->owners[1], g->err));
  to->values = to->owners[1]->data;
  int32_t *narrow = (int32_t *)(void *)to->owners[1]->data;
  int64_t *wide = (int64_t *)(void *)to->owners[1]->data;
  if (width == 4) {
    const int32_t *offsets = a->values;
    narrow[0] = 0;
    for (size_t i = 0; i < g->count; i++) {
      const uint32_t row = g->rows[i];
      total += array_is_valid(a, row) ? (size_t)(offsets[row + 1] - offsets[row]) : 0;
      narrow[i + 1] = (int32_t)(uint32_t)total; /* checked below */
    }
  } else {
    const int64_t *offsets = a->values;
    wide[0] = 0;
    for (size_t i = 0; i < g->count; i++) {
      const uint32_t row = g->rows[i];
      const size_t size =
          array_is_valid(a, row) ? (size_t)(offsets[(size_t)row + 1] - offsets[row]) : 0;
      if (!size_add(total, size, &total)) {
        return error_nomem(g->err, SIZE_MAX);
      }
      wide[i + 1] = (int64_t)total;
    }
  }
  *ret_total = total;
  return array_check_offset_range(a->type, total, g->err);
}

enum { SHORT_VALUE = 16 };

/* Most values are short: those are copied by one move of fixed size, for which the output has
 * SHORT_VALUE bytes to spare and the input must have room up to in_end. */
static glv_status take_bytes(const gather *g, const array *a, array *to) {
  size_t total;
  TRY(take_offsets(g, a, to, &total));
  if (total > SIZE_MAX - SHORT_VALUE) {
    return error_nomem(g->err, total);
  }
  TRY(buffer_new(g->env, total + SHORT_VALUE, &to->owners[2], g->err));
  uint8_t *out = to->owners[2]->data;
  const char *in_end = (const char *)a->data + array_offset(a, a->length);
  for (size_t i = 0; i < g->count; i++) {
    const uint32_t row = g->rows[i];
    const str value = array_is_valid(a, row) ? array_str(a, row) : (str){0};
    if (value.size <= SHORT_VALUE && value.size != 0 && in_end - value.data >= SHORT_VALUE) {
      memcpy(out, value.data, SHORT_VALUE);
    } else if (value.size != 0) {
      memcpy(out, value.data, value.size);
    }
    out += value.size;
  }
  to->data = to->owners[2]->data;
  return buffer_resize(to->owners[2], total, g->err);
}

/* Gather `total` items of child 0 that `rows` lists, and make them the child of `to`. */
static glv_status take_items(const gather *g, const array *a, const buffer *rows, size_t total,
                             array *to) {
  TRY(array_new_children(g->env, 1, to, g->err));
  return array_take(g->env, &a->children[0], (const uint32_t *)(const void *)rows->data, total,
                    &to->children[0], g->err);
}

static glv_status rows_buffer(const gather *g, const array *child, size_t total, buffer **ret) {
  if (child->length > UINT32_MAX || total > SIZE_MAX / sizeof(uint32_t)) {
    return FAIL(g->err, GLV_E_LIMIT, "lists with %zu items in one array are too large",
                child->length);
  }
  return buffer_new(g->env, total * sizeof(uint32_t), ret, g->err);
}

static glv_status take_list(const gather *g, const array *a, array *to) {
  CLEANUP(buffer_cleanup) buffer *items = NULL;
  size_t total;
  TRY(take_offsets(g, a, to, &total));
  TRY(rows_buffer(g, &a->children[0], total, &items));
  uint32_t *out = (uint32_t *)(void *)items->data;
  for (size_t i = 0; i < g->count; i++) {
    const size_t row = g->rows[i];
    if (array_is_valid(a, row)) {
      const int64_t end = array_offset(a, row + 1);
      for (int64_t item = array_offset(a, row); item < end; item++) {
        *out++ = (uint32_t)item;
      }
    }
  }
  return take_items(g, a, items, total, to);
}

/* Lists of fixed-width items without nulls are values of width * items bytes. */
static glv_status take_fixed_list_of_plain(const gather *g, const array *a, size_t item_width,
                                           array *to) {
  const array *child = &a->children[0];
  const size_t width = item_width * (size_t)a->type->width;
  size_t size;
  void *values;
  if (!size_mul(g->count, width, &size)) {
    return error_nomem(g->err, SIZE_MAX);
  }
  TRY(array_new_children(g->env, 1, to, g->err));
  TRY(array_new_fixed(g->env, child->type, g->count * (size_t)a->type->width, &to->children[0],
                      &values, g->err));
  for (size_t i = 0; width != 0 && i < g->count; i++) {
    memcpy((uint8_t *)values + i * width, (const uint8_t *)child->values + g->rows[i] * width,
           width);
  }
  return GLV_OK;
}

static glv_status take_fixed_list(const gather *g, const array *a, array *to) {
  CLEANUP(buffer_cleanup) buffer *items = NULL;
  const array *child = &a->children[0];
  const size_t per_row = (size_t)a->type->width;
  const size_t item_width = type_width(child->type);
  size_t total;
  if (item_width != 0 && !array_has_nulls(child)) {
    return take_fixed_list_of_plain(g, a, item_width, to);
  }
  if (!size_mul(g->count, per_row, &total)) {
    return error_nomem(g->err, SIZE_MAX);
  }
  TRY(rows_buffer(g, child, total, &items));
  uint32_t *out = (uint32_t *)(void *)items->data;
  for (size_t i = 0; i < g->count; i++) {
    for (size_t j = 0; j < per_row; j++) {
      *out++ = (uint32_t)(g->rows[i] * per_row + j);
    }
  }
  return take_items(g, a, items, total, to);
}

static glv_status take_struct(const gather *g, const array *a, array *to) {
  TRY(array_new_children(g->env, a->child_count, to, g->err));
  for (size_t i = 0; i < a->child_count; i++) {
    TRY(array_take(g->env, &a->children[i], g->rows, g->count, &to->children[i], g->err));
  }
  return GLV_OK;
}

static void share_children(const array *a, array *to) {
  to->children = a->children;
  to->child_count = a->child_count;
  to->child_owner = buffer_ref(a->child_owner);
}

static glv_status take_payload(const gather *g, const array *a, array *to) {
  switch (array_layout_of(a->type)) {
  case LAYOUT_NULL:
    return GLV_OK;
  case LAYOUT_BOOL:
    return take_bool(g, a, to);
  case LAYOUT_FIXED:
    share_children(a, to); /* the values of a dictionary */
    return take_fixed(g, a, to);
  case LAYOUT_BYTES:
    return take_bytes(g, a, to);
  case LAYOUT_LIST:
    return take_list(g, a, to);
  case LAYOUT_FIXED_LIST:
    return take_fixed_list(g, a, to);
  case LAYOUT_STRUCT:
    return take_struct(g, a, to);
  }
  return FAIL(g->err, GLV_E_INTERNAL, "an array has an unknown layout");
}

glv_status array_take(glv_env *env, const array *a, const uint32_t *rows, size_t count, array *ret,
                      glv_error *err) {
  const gather g = {env, rows, count, err};
  CLEANUP(array_unref) array taken = array_empty(a->type, count);
  if (count > SIZE_MAX / 64) {
    return error_nomem(err, SIZE_MAX);
  }
  TRY(take_validity(&g, a, &taken));
  TRY(take_payload(&g, a, &taken));
  *ret = taken;
  taken = (array){0};
  return GLV_OK;
}
