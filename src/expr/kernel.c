/* Results of kernels. The usual function gives null where any argument is null, so the validity of
 * a result is the intersection of the bitmaps of its arguments, computed before the values. */
#include "expr/kernel.h"

#include "arrow/bits.h"

/* Whether the operand can make a row null. */
static bool may_be_null(const operand *o) {
  return o->a.validity != NULL || o->a.type->kind == TYPE_NULL;
}

/* to &= the validity of o */
static void intersect(uint8_t *to, const operand *o, size_t rows) {
  if (o->is_scalar || o->a.type->kind == TYPE_NULL) {
    if (o->a.length == 0 || !array_is_valid(&o->a, 0)) {
      bits_fill(to, 0, rows, false);
    }
    return;
  }
  if (o->a.bit_offset % 8 == 0) {
    const uint8_t *from = o->a.validity + o->a.bit_offset / 8;
    for (size_t i = 0; i < bits_size(rows); i++) {
      to[i] = (uint8_t)(to[i] & from[i]);
    }
    return;
  }
  for (size_t i = 0; i < rows; i++) {
    if (!bit_get(o->a.validity, o->a.bit_offset + i)) {
      bit_clear(to, i);
    }
  }
}

static glv_status add_validity(glv_env *env, array *a, glv_error *err) {
  TRY(buffer_new(env, bits_size(a->length), &a->owners[0], err));
  bits_fill(a->owners[0]->data, 0, a->length, true);
  a->validity = a->owners[0]->data;
  return GLV_OK;
}

glv_status kernel_begin(glv_env *env, const type *t, const operand *operands, size_t count,
                        size_t rows, array *ret, void **ret_values, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  TRY(array_new_fixed(env, t, rows, &a, ret_values, err));
  for (size_t i = 0; i < count; i++) {
    if (!may_be_null(&operands[i])) {
      continue;
    }
    if (a.validity == NULL) {
      TRY(add_validity(env, &a, err));
      a.null_count = NULLS_UNKNOWN;
    }
    intersect(a.owners[0]->data, &operands[i], rows);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

glv_status kernel_set_null(glv_env *env, array *a, size_t row, glv_error *err) {
  if (a->validity == NULL) {
    TRY(add_validity(env, a, err));
  }
  a->null_count = NULLS_UNKNOWN;
  bit_clear(a->owners[0]->data, row);
  return GLV_OK;
}

/* The bits of booleans keep their place within a byte, so the new validity begins at the same bit.
 */
glv_status kernel_mask(glv_env *env, array *a, const array *mask, glv_error *err) {
  if (mask->validity == NULL || a->type->kind == TYPE_NULL) {
    return GLV_OK;
  }
  buffer *validity = NULL;
  const size_t offset = a->type->kind == TYPE_BOOL ? a->bit_offset % 8 : 0;
  TRY(buffer_new_zeroed(env, bits_size(offset + a->length), &validity, err));
  for (size_t i = 0; i < a->length; i++) {
    bit_put(validity->data, offset + i, array_is_valid(mask, i) && array_is_valid(a, i));
  }
  if (a->type->kind == TYPE_BOOL) {
    a->values = (const uint8_t *)a->values + a->bit_offset / 8;
  }
  buffer_unref(a->owners[0]);
  a->owners[0] = validity;
  a->validity = validity->data;
  a->bit_offset = offset;
  a->null_count = NULLS_UNKNOWN;
  return GLV_OK;
}

bool kernel_row_is_valid(const operand *operands, size_t count, size_t i) {
  for (size_t k = 0; k < count; k++) {
    if (!operand_is_valid(&operands[k], i)) {
      return false;
    }
  }
  return true;
}

array kernel_retype(const array *a, const type *t) {
  array ret = array_ref(a);
  ret.type = t;
  return ret;
}

void kernel_share_nulls(const array *from, array *a) {
  a->validity = from->validity;
  a->bit_offset = from->bit_offset;
  a->null_count = from->null_count;
  a->owners[0] = buffer_ref(from->owners[0]);
}

glv_status kernel_column(glv_env *env, const operand *o, const type *t, size_t rows, array *ret,
                         glv_error *err) {
  if (!o->is_scalar || rows == o->a.length) {
    *ret = kernel_retype(&o->a, t);
    return GLV_OK;
  }
  uint32_t *zeros = mem_calloc(env, rows, sizeof *zeros);
  if (zeros == NULL) {
    return error_nomem(err, rows * sizeof *zeros);
  }
  const glv_status status = array_take(env, &o->a, zeros, rows, ret, err);
  mem_free(env, zeros);
  TRY(status);
  ret->type = t;
  return GLV_OK;
}
