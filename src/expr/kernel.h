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

#endif
