/**
 * @file compare.h
 * Comparison of columns: total order for floats, bytes for strings (sql-expressions 10.3, 10.4).
 */
#ifndef GLAIVE_EXPR_COMPARE_H
#define GLAIVE_EXPR_COMPARE_H

#include "expr/function.h"

enum compare_op { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

/**
 * l op r for every row, as a bool array; null where either is null. Both sides have equal types.
 * Errors: GLV_E_NOMEM; GLV_E_SQL_EXEC for a type without comparison.
 */
glv_status compare_operands(glv_env *env, enum compare_op op, const operand *l, const operand *r,
                            size_t rows, array *ret, glv_error *err);

/** Order of two valid values of equal types. Nulls inside nested values come first, or last. */
int compare_values_nulls(const array *l, size_t i, const array *r, size_t j, bool nulls_last);
static inline int compare_values(const array *l, size_t i, const array *r, size_t j) {
  return compare_values_nulls(l, i, r, j, false);
}

#endif
