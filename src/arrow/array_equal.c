/*
 * Structural equality. Fixed-width arrays without nulls are compared as memory first; what differs
 * there, and everything else, is compared value by value (two NaN of different bits are equal).
 * Dictionaries compare by what their indices stand for.
 */
#include "arrow/array_private.h"
#include "arrow/bits.h"

static bool value_equal(const array *a, size_t i, const array *b, size_t j);

static bool is_nan(type_kind kind, const void *value) {
  if (kind == TYPE_FLOAT32) {
    return (load_le32(value) & 0x7FFFFFFFu) > 0x7F800000u;
  }
  if (kind == TYPE_FLOAT64) {
    return (load_le64(value) & UINT64_C(0x7FFFFFFFFFFFFFFF)) > UINT64_C(0x7FF0000000000000);
  }
  return kind == TYPE_FLOAT16 && (load_le16(value) & 0x7FFFu) > 0x7C00u;
}

static bool fixed_equal(const array *a, size_t i, const array *b, size_t j) {
  const size_t width = type_width(a->type);
  const uint8_t *x = (const uint8_t *)a->values + i * width;
  const uint8_t *y = (const uint8_t *)b->values + j * width;
  return width == 0 || memcmp(x, y, width) == 0 ||
         (is_nan(a->type->kind, x) && is_nan(a->type->kind, y));
}

static bool items_equal(const array *a, size_t i, const array *b, size_t j, size_t count) {
  for (size_t k = 0; k < count; k++) {
    if (!value_equal(a, i + k, b, j + k)) {
      return false;
    }
  }
  return true;
}

static bool lists_equal(const array *a, size_t i, const array *b, size_t j) {
  const int64_t x = array_offset(a, i);
  const int64_t y = array_offset(b, j);
  const int64_t size = array_offset(a, i + 1) - x;
  return size == array_offset(b, j + 1) - y &&
         items_equal(&a->children[0], (size_t)x, &b->children[0], (size_t)y, (size_t)size);
}

static bool structs_equal(const array *a, size_t i, const array *b, size_t j) {
  for (size_t k = 0; k < a->child_count; k++) {
    if (!value_equal(&a->children[k], i, &b->children[k], j)) {
      return false;
    }
  }
  return true;
}

/* Recursion is bounded by the depth of the type. */
static bool value_equal(const array *a, size_t i, const array *b, size_t j) {
  const bool valid = array_is_valid(a, i);
  if (valid != array_is_valid(b, j)) {
    return false;
  }
  if (!valid) {
    return true;
  }
  const size_t per_row = (size_t)a->type->width;
  switch (array_layout_of(a->type)) {
  case LAYOUT_NULL:
    return true;
  case LAYOUT_BOOL:
    return array_bool(a, i) == array_bool(b, j);
  case LAYOUT_FIXED:
    return a->type->kind != TYPE_DICTIONARY
               ? fixed_equal(a, i, b, j)
               : value_equal(&a->children[0], array_dictionary_index(a, i), &b->children[0],
                             array_dictionary_index(b, j));
  case LAYOUT_BYTES:
    return str_equal(array_str(a, i), array_str(b, j));
  case LAYOUT_LIST:
    return lists_equal(a, i, b, j);
  case LAYOUT_FIXED_LIST:
    return items_equal(&a->children[0], i * per_row, &b->children[0], j * per_row, per_row);
  case LAYOUT_STRUCT:
    return structs_equal(a, i, b, j);
  }
  return false;
}

bool array_equal(const array *a, const array *b) {
  if (a->length != b->length || !type_equal(a->type, b->type)) {
    return false;
  }
  const size_t width = type_width(a->type);
  if (width != 0 && a->length != 0 && !array_has_nulls(a) && !array_has_nulls(b) &&
      memcmp(a->values, b->values, a->length * width) == 0) {
    return true;
  }
  if (a->type->kind == TYPE_BOOL && !array_has_nulls(a) && !array_has_nulls(b)) {
    return bits_equal(a->values, a->bit_offset, b->values, b->bit_offset, a->length);
  }
  return items_equal(a, 0, b, 0, a->length);
}
