/**
 * @file number_kernel.h
 * Arithmetic on runs of numbers without nulls or failures: sums, differences and products of
 * integers wrap, floats have every operation, and integers are divided by one positive number.
 *
 * Runs are plain memory of the type; the result may be written over either operand.
 */
#ifndef GLAIVE_EXPR_NUMBER_KERNEL_H
#define GLAIVE_EXPR_NUMBER_KERNEL_H

#include "base/divider.h"
#include "expr/plan_private.h"

/** Rows with rows, rows with one value, one value with rows. */
enum number_shape { SHAPE_ROWS, SHAPE_RIGHT_ONE, SHAPE_LEFT_ONE };

/** to[i] = l[i] op r[i]. Of integers every operation but division and remainder. */
void number_arithmetic(type_kind kind, enum arithmetic_op op, enum number_shape shape,
                       const void *l, const void *r, size_t rows, void *to);

/** to[i] = l[i] / by, or the remainder, of integers; `by` fits into the type. */
void number_divide(type_kind kind, bool modulo, const void *l, const divider *by, size_t rows,
                   void *to);

/** Whether every value of `from` is a value of `to`, exact or rounded, and number_widen takes the
 * pair. */
bool number_widens(type_kind from, type_kind to);
/** to[i] = from[i], of a pair that number_widens. */
void number_widen(type_kind from, type_kind to, const void *in, size_t rows, void *out);
/** Whether number_narrow takes the pair. */
bool number_narrows(type_kind from, type_kind to);
/** to[i] = from[i] without its fraction. False when one has no value in the type; `out` is
 * unspecified then. */
bool number_narrow(type_kind to, const double *in, size_t rows, void *out);

#endif
