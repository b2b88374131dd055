/*
 * Joining arrays of one type. Offsets are rebased so that the result starts at 0 and holds no
 * unused bytes. Dictionaries that are the same memory are shared; different ones are put behind
 * each other and the indices moved.
 */
#include "arrow/array_private.h"
#include "arrow/bits.h"

typedef struct join {
  glv_env *env;
  const array *parts;
  size_t count;
  glv_error *err;
} join;

static glv_status join_validity(const join *j, array *to) {
  size_t nulls = 0;
  size_t at = 0;
  for (size_t i = 0; i < j->count; i++) {
    nulls += array_null_count(&j->parts[i]);
  }
  if (nulls == 0 || to->type->kind == TYPE_NULL) {
    return GLV_OK;
  }
  TRY(buffer_new(j->env, bits_size(to->length), &to->owners[0], j->err));
  uint8_t *bits = to->owners[0]->data;
  bits[bits_size(to->length) - 1] = 0;
  for (size_t i = 0; i < j->count; i++) {
    const array *a = &j->parts[i];
    if (a->validity != NULL) {
      bits_copy(bits, at, a->validity, a->bit_offset, a->length);
    } else {
      bits_fill(bits, at, a->length, true);
    }
    at += a->length;
  }
  to->validity = bits;
  to->null_count = nulls;
  return GLV_OK;
}

static glv_status join_bool(const join *j, array *to) {
  size_t at = 0;
  TRY(buffer_new_zeroed(j->env, bits_size(to->length), &to->owners[1], j->err));
  to->values = to->owners[1]->data;
  for (size_t i = 0; i < j->count; i++) {
    const array *a = &j->parts[i];
    bits_copy(to->owners[1]->data, at, a->values, a->bit_offset, a->length);
    at += a->length;
  }
  return GLV_OK;
}

static void append(uint8_t **out, const void *from, size_t size) {
  if (size != 0) {
    memcpy(*out, from, size);
    *out += size;
  }
}

static glv_status join_fixed(const join *j, array *to) {
  const size_t width = array_value_width(to->type);
  size_t size;
  if (!size_mul(to->length, width, &size)) {
    return error_nomem(j->err, SIZE_MAX);
  }
  TRY(buffer_new(j->env, size, &to->owners[1], j->err));
  uint8_t *out = to->owners[1]->data;
  to->values = out;
  for (size_t i = 0; i < j->count; i++) {
    append(&out, j->parts[i].values, j->parts[i].length * width);
  }
  return GLV_OK;
}

/* Bytes or items that the offsets of a span, from *ret_first on. */
static size_t offset_span(const array *a, size_t *ret_first) {
  *ret_first = (size_t)array_offset(a, 0);
  return (size_t)array_offset(a, a->length) - *ret_first;
}

static void rebase(const array *a, size_t base, void *to, size_t at) {
  if (type_offset_width(a->type->kind) == 4) {
    const int32_t *from = a->values;
    int32_t *out = (int32_t *)to + at;
    const int32_t shift = (int32_t)base - from[0]; /* base <= INT32_MAX was checked */
    for (size_t i = 0; i <= a->length; i++) {
      out[i] = from[i] + shift;
    }
    return;
  }
  const int64_t *from = a->values;
  int64_t *out = (int64_t *)to + at;
  const int64_t shift = (int64_t)base - from[0];
  for (size_t i = 0; i <= a->length; i++) {
    out[i] = from[i] + shift;
  }
}

static glv_status join_offsets(const join *j, array *to, size_t *ret_total) {
  size_t total = 0;
  size_t at = 0;
  size_t first;
  for (size_t i = 0; i < j->count; i++) {
    total += offset_span(&j->parts[i], &first);
  }
  TRY(array_check_offset_range(to->type, total, j->err));
  TRY(buffer_new(j->env, (to->length + 1) * type_offset_width(to->type->kind), &to->owners[1],
                 j->err));
  to->values = to->owners[1]->data;
  size_t base = 0;
  for (size_t i = 0; i < j->count; i++) {
    rebase(&j->parts[i], base, to->owners[1]->data, at);
    base += offset_span(&j->parts[i], &first);
    at += j->parts[i].length;
  }
  *ret_total = total;
  return GLV_OK;
}

static glv_status join_bytes(const join *j, array *to) {
  size_t total;
  TRY(join_offsets(j, to, &total));
  TRY(buffer_new(j->env, total, &to->owners[2], j->err));
  uint8_t *out = to->owners[2]->data;
  to->data = out;
  for (size_t i = 0; i < j->count; i++) {
    size_t first;
    const size_t size = offset_span(&j->parts[i], &first);
    append(&out, size != 0 ? j->parts[i].data + first : NULL, size);
  }
  return GLV_OK;
}

/* Child number `index` of all parts, cut to what the parts use, joined into to->children. */
static glv_status join_child(const join *j, size_t index, array *to) {
  CLEANUP(array_unref) array pieces = {0};
  TRY(array_new_children(j->env, j->count, &pieces, j->err));
  const bool is_list = array_layout_of(to->type) == LAYOUT_LIST;
  for (size_t i = 0; i < j->count; i++) {
    const array *child = &j->parts[i].children[index];
    size_t first = 0;
    const size_t size = is_list ? offset_span(&j->parts[i], &first) : child->length;
    pieces.children[i] = array_slice(child, first, size);
    if (pieces.children[i].type == NULL) {
      return error_nomem(j->err, sizeof(array));
    }
  }
  return array_concat(j->env, pieces.children, j->count, &to->children[index], j->err);
}

static glv_status join_children(const join *j, array *to) {
  TRY(array_new_children(j->env, to->type->child_count, to, j->err));
  for (size_t i = 0; i < to->type->child_count; i++) {
    TRY(join_child(j, i, to));
  }
  return GLV_OK;
}

static glv_status join_list(const join *j, array *to) {
  size_t total;
  TRY(join_offsets(j, to, &total));
  return join_children(j, to);
}

static bool same_values(const array *a, const array *b) {
  return a->length == b->length && a->values == b->values && a->data == b->data &&
         a->validity == b->validity && a->children == b->children && a->bit_offset == b->bit_offset;
}

#define SHIFT_LOOP(ctype)                                                                          \
  do {                                                                                             \
    ctype *keys = values;                                                                          \
    for (size_t i = 0; i < count; i++) {                                                           \
      keys[i] = (ctype)(keys[i] + (ctype)shift);                                                   \
    }                                                                                              \
  } while (0)

static void shift_indices(void *values, size_t width, size_t count, uint64_t shift) {
  switch (width) {
  case 1:
    SHIFT_LOOP(uint8_t);
    break;
  case 2:
    SHIFT_LOOP(uint16_t);
    break;
  case 4:
    SHIFT_LOOP(uint32_t);
    break;
  default:
    SHIFT_LOOP(uint64_t);
    break;
  }
}

static glv_status join_dictionary(const join *j, array *to) {
  bool same = true;
  size_t total = 0;
  for (size_t i = 0; i < j->count; i++) {
    same = same && same_values(&j->parts[0].children[0], &j->parts[i].children[0]);
    total += j->parts[i].children[0].length;
  }
  TRY(join_fixed(j, to));
  if (same) {
    to->children = j->parts[0].children;
    to->child_count = j->parts[0].child_count;
    to->child_owner = buffer_ref(j->parts[0].child_owner);
    return GLV_OK;
  }
  if (total != 0 && total - 1 > type_integer_max(to->type->index)) {
    return FAIL(j->err, GLV_E_LIMIT, "%zu dictionary values do not fit into indices of type %s",
                total, TYPE_TEXT(type_simple(to->type->index)));
  }
  const size_t width = array_value_width(to->type);
  uint8_t *keys = to->owners[1]->data;
  uint64_t shift = 0;
  for (size_t i = 0; i < j->count; i++) {
    shift_indices(keys, width, j->parts[i].length, shift);
    keys += width * j->parts[i].length;
    shift += j->parts[i].children[0].length;
  }
  return join_children(j, to);
}

static glv_status join_payload(const join *j, array *to) {
  switch (array_layout_of(to->type)) {
  case LAYOUT_NULL:
    return GLV_OK;
  case LAYOUT_BOOL:
    return join_bool(j, to);
  case LAYOUT_FIXED:
    return to->type->kind == TYPE_DICTIONARY ? join_dictionary(j, to) : join_fixed(j, to);
  case LAYOUT_BYTES:
    return join_bytes(j, to);
  case LAYOUT_LIST:
    return join_list(j, to);
  case LAYOUT_FIXED_LIST:
  case LAYOUT_STRUCT:
    return join_children(j, to);
  }
  return FAIL(j->err, GLV_E_INTERNAL, "an array has an unknown layout");
}

glv_status array_concat(glv_env *env, const array *arrays, size_t count, array *ret,
                        glv_error *err) {
  const join j = {env, arrays, count, err};
  size_t length = 0;
  if (count == 1) {
    *ret = array_ref(&arrays[0]);
    return GLV_OK;
  }
  for (size_t i = 0; i < count; i++) {
    if (!size_add(length, arrays[i].length, &length) || length > SIZE_MAX / 64) {
      return error_nomem(err, SIZE_MAX);
    }
  }
  CLEANUP(array_unref) array joined = array_empty(arrays[0].type, length);
  TRY(join_validity(&j, &joined));
  TRY(join_payload(&j, &joined));
  *ret = joined;
  joined = (array){0};
  return GLV_OK;
}
