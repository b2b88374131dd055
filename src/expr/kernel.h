/**
 * @file kernel.h
 * What casts and functions share: results whose nulls come from the arguments.
 */
#ifndef GLAIVE_EXPR_KERNEL_H
#define GLAIVE_EXPR_KERNEL_H

#include "expr/function.h"

/**
 * A new fixed-width or bool array of `rows` values, valid where all `count` operands are. Its
 * validity begins at bit 0, or is NULL. Bools are zeroed, other values uninitialised.
 * Errors: GLV_E_NOMEM.
 */
glv_status kernel_begin(glv_env *env, const type *t, const operand *operands, size_t count,
                        size_t rows, array *ret, void **ret_values, glv_error *err);

/** Make one value null, in an array made by kernel_begin that nobody else refers to. Errors:
 * GLV_E_NOMEM. */
glv_status kernel_set_null(glv_env *env, array *a, size_t row, glv_error *err);

/** Make the values of a null where `mask`, of the same length, is null. Errors: GLV_E_NOMEM. */
glv_status kernel_mask(glv_env *env, array *a, const array *mask, glv_error *err);

/** Whether row i of every operand is valid. */
bool kernel_row_is_valid(const operand *operands, size_t count, size_t i);

/** The operand as `rows` values of type t, which has the layout of its own: a scalar is repeated.
 * Errors: GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status kernel_column(glv_env *env, const operand *o, const type *t, size_t rows, array *ret,
                         glv_error *err);

/** The same values under another type of the same layout; takes further references. */
array kernel_retype(const array *a, const type *t);

/** The nulls of `from`, which has as many rows, become those of a, which has none of its own yet.
 */
void kernel_share_nulls(const array *from, array *a);

/** Reading texts row by row without looking at the type again. */
typedef struct text_reader {
  const void *offsets;
  const char *data;
  size_t step;   /* 0: a scalar */
  bool is_large; /* offsets of 64 bits, else of 32 */
} text_reader;
static inline text_reader text_reader_of(const operand *o) {
  return (text_reader){o->a.values, (const char *)o->a.data, o->is_scalar ? 0 : 1,
                       type_offset_width(o->a.type->kind) == 8};
}
static inline str text_at(const text_reader *r, size_t i) {
  i *= r->step;
  if (r->is_large) {
    const int64_t *at = (const int64_t *)r->offsets + i;
    return str_slice(r->data + at[0], (size_t)(at[1] - at[0]));
  }
  const int32_t *at = (const int32_t *)r->offsets + i;
  return str_slice(r->data + at[0], (size_t)(at[1] - at[0]));
}

#endif
