/*
 * Checks of arrays that came from outside, so that everything behind can trust them:
 * - offsets start at 0 or later, never fall, and end inside data (or inside the child);
 * - strings are UTF-8, each for itself: the bytes as a whole are tested first, and then that no
 *   value starts inside a character;
 * - indices of valid dictionary values are in range;
 * - children are long enough.
 * What stands under a null is not looked at, but for offsets: those are followed everywhere.
 */
#include "arrow/array_private.h"
#include "base/limits.h"

typedef struct check {
  const char *name;
  glv_error *err;
} check;

static glv_status offsets_broken(const check *c, const array *a, size_t i) {
  return FAIL(c->err, GLV_E_INVALID_INPUT,
              "column '%s' of type %s: offset %lld at position %zu is out of order or out of range",
              c->name, TYPE_TEXT(a->type), (long long)array_offset(a, i), i);
}

/* First position whose offset is less than the one before it, else length + 1. */
static size_t first_fall(const array *a) {
  const size_t count = a->length;
  if (type_offset_width(a->type->kind) == 4) {
    const int32_t *offsets = a->values;
    bool falls = false;
    for (size_t i = 0; i < count; i++) {
      falls |= offsets[i + 1] < offsets[i];
    }
    for (size_t i = 0; falls && i < count; i++) {
      if (offsets[i + 1] < offsets[i]) {
        return i + 1;
      }
    }
    return count + 1;
  }
  const int64_t *offsets = a->values;
  for (size_t i = 0; i < count; i++) {
    if (offsets[i + 1] < offsets[i]) {
      return i + 1;
    }
  }
  return count + 1;
}

static glv_status check_offsets(const check *c, const array *a, size_t limit) {
  const size_t fall = first_fall(a);
  if (array_offset(a, 0) < 0) {
    return offsets_broken(c, a, 0);
  }
  if (fall <= a->length) {
    return offsets_broken(c, a, fall);
  }
  if ((uint64_t)array_offset(a, a->length) > limit) {
    return offsets_broken(c, a, a->length);
  }
  return GLV_OK;
}

static bool is_ascii(str s) {
  uint64_t bits = 0;
  size_t i = 0;
  for (; i + 8 <= s.size; i += 8) {
    bits |= load_le64(s.data + i);
  }
  for (; i < s.size; i++) {
    bits |= (unsigned char)s.data[i];
  }
  return (bits & UINT64_C(0x8080808080808080)) == 0;
}

static bool starts_inside_character(const array *a, size_t i, int64_t end) {
  const int64_t offset = array_offset(a, i);
  return offset < end && (a->data[offset] & 0xC0) == 0x80;
}

/* All values at once; false does not mean that a valid value is broken. */
static bool all_utf8(const array *a) {
  const int64_t first = array_offset(a, 0);
  const int64_t end = array_offset(a, a->length);
  const str all = str_slice((const char *)a->data + first, (size_t)(end - first));
  if (is_ascii(all)) {
    return true;
  }
  if (!str_is_utf8(all)) {
    return false;
  }
  for (size_t i = 1; i < a->length; i++) {
    if (starts_inside_character(a, i, end)) {
      return false;
    }
  }
  return true;
}

static glv_status check_utf8(const check *c, const array *a) {
  if (all_utf8(a)) {
    return GLV_OK;
  }
  for (size_t i = 0; i < a->length; i++) {
    if (array_is_valid(a, i) && !str_is_utf8(array_str(a, i))) {
      return FAIL(c->err, GLV_E_INVALID_INPUT, "column '%s': value %zu is not UTF-8 text", c->name,
                  i);
    }
  }
  return GLV_OK;
}

#define INDEX_CHECK(kind, ctype)                                                                   \
  case kind:                                                                                       \
    for (size_t i = 0; i < a->length; i++) {                                                       \
      if ((uint64_t)ARRAY_VALUES(a, ctype)[i] >= limit && array_is_valid(a, i)) {                  \
        return i;                                                                                  \
      }                                                                                            \
    }                                                                                              \
    break;

/* Position of the first bad index, else length. Negative ones are huge when taken as unsigned. */
static size_t first_bad_index(const array *a, uint64_t limit) {
  switch (a->type->index) {
    INDEX_CHECK(TYPE_INT8, int8_t)
    INDEX_CHECK(TYPE_INT16, int16_t)
    INDEX_CHECK(TYPE_INT32, int32_t)
    INDEX_CHECK(TYPE_INT64, int64_t)
    INDEX_CHECK(TYPE_UINT8, uint8_t)
    INDEX_CHECK(TYPE_UINT16, uint16_t)
    INDEX_CHECK(TYPE_UINT32, uint32_t)
    INDEX_CHECK(TYPE_UINT64, uint64_t)
  default: /* no other type is an index */
    return 0;
  }
  return a->length;
}

static glv_status validate(const check *c, const array *a, size_t data_size, unsigned depth);

/* Bytes of data that the owner holds from a->data on. */
static size_t owned_data(const array *a) {
  const buffer *b = a->owners[2];
  if (b == NULL || a->data < b->data || a->data > b->data + b->size) {
    return SIZE_MAX;
  }
  return (size_t)(b->data + b->size - a->data);
}

static glv_status validate_child(const check *c, const array *a, size_t index, size_t need,
                                 unsigned depth) {
  const array *child = &a->children[index];
  if (child->length < need) {
    return FAIL(c->err, GLV_E_INVALID_INPUT,
                "column '%s' of type %s: a child has %zu values, %zu are needed", c->name,
                TYPE_TEXT(a->type), child->length, need);
  }
  return validate(c, child, owned_data(child), depth + 1);
}

static glv_status validate_dictionary(const check *c, const array *a, unsigned depth) {
  const size_t bad = first_bad_index(a, a->children[0].length);
  if (bad < a->length) {
    return FAIL(c->err, GLV_E_INVALID_INPUT,
                "column '%s': the dictionary index at position %zu is out of range", c->name, bad);
  }
  return validate_child(c, a, 0, 0, depth);
}

static glv_status validate_fixed_list(const check *c, const array *a, unsigned depth) {
  size_t need;
  if (a->type->width < 0 || !size_mul(a->length, (size_t)a->type->width, &need)) {
    return FAIL(c->err, GLV_E_INVALID_INPUT, "column '%s': the lists are too large", c->name);
  }
  return validate_child(c, a, 0, need, depth);
}

static glv_status validate(const check *c, const array *a, size_t data_size, unsigned depth) {
  if (depth > LIMIT_TYPE_DEPTH) {
    return FAIL(c->err, GLV_E_LIMIT, "column '%s': types nest deeper than %d levels", c->name,
                LIMIT_TYPE_DEPTH);
  }
  switch (array_layout_of(a->type)) {
  case LAYOUT_NULL:
  case LAYOUT_BOOL:
    return GLV_OK;
  case LAYOUT_FIXED:
    return a->type->kind == TYPE_DICTIONARY ? validate_dictionary(c, a, depth) : GLV_OK;
  case LAYOUT_BYTES:
    TRY(check_offsets(c, a, data_size));
    return type_is_string(a->type->kind) ? check_utf8(c, a) : GLV_OK;
  case LAYOUT_LIST:
    TRY(check_offsets(c, a, a->children[0].length));
    return validate_child(c, a, 0, 0, depth);
  case LAYOUT_FIXED_LIST:
    return validate_fixed_list(c, a, depth);
  case LAYOUT_STRUCT:
    for (size_t i = 0; i < a->child_count; i++) {
      TRY(validate_child(c, a, i, a->length, depth));
    }
    return GLV_OK;
  }
  return FAIL(c->err, GLV_E_INTERNAL, "column '%s' has an unknown layout", c->name);
}

glv_status array_validate(const array *a, size_t data_size, const char *name, glv_error *err) {
  const check c = {name, err};
  return validate(&c, a, data_size, 1);
}
