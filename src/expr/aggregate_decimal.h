/**
 * @file aggregate_decimal.h
 * Sums and averages of decimal columns of either width.
 */
#ifndef GLAIVE_EXPR_AGGREGATE_DECIMAL_H
#define GLAIVE_EXPR_AGGREGATE_DECIMAL_H

#include "expr/aggregate_private.h"

/** Add the values of in->args[0] to sums, one of the same width per group; wraps around. */
void decimal_add(void *sums, const accumulator_input *in);
/**
 * Make averages of sums, in place: to the scale of `to`, cut toward zero.
 *
 * @param from the type of the values; counts[i] of them are in sums[i], or none.
 * Errors: GLV_E_SQL_EXEC when a sum or an average does not fit.
 */
glv_status decimal_divide(void *sums, const uint64_t *counts, size_t groups, const type *from,
                          const type *to, glv_error *err);

#endif
