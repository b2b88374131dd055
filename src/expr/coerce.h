/**
 * @file coerce.h
 * Common types of operands (sql-expressions section 9).
 *
 * Each function gives in *ret a type both sides can be cast to, or NULL when there is none; types
 * are borrowed from the arguments or made in the arena. Errors: GLV_E_NOMEM only.
 */
#ifndef GLAIVE_EXPR_COERCE_H
#define GLAIVE_EXPR_COERCE_H

#include "arrow/type.h"

/** 9.3: comparisons, IN, BETWEEN, simple CASE. String with number gives the number. Never a
 * dictionary: its values are compared. */
glv_status coerce_comparison(arena *a, const type *l, const type *r, const type **ret,
                             glv_error *err);
/** The same for functions that compare values and give one of them: nullif, greatest, least. A
 * dictionary beside its own value type stays. */
glv_status coerce_choice(arena *a, const type *l, const type *r, const type **ret, glv_error *err);
/** 9.4: branches of CASE, nvl, nvl2. String with number gives the string. */
glv_status coerce_branches(arena *a, const type *l, const type *r, const type **ret,
                           glv_error *err);
/** 9.4: coalesce, greatest, least, make_array. String with number gives the number. */
glv_status coerce_union(arena *a, const type *l, const type *r, const type **ret, glv_error *err);
/** 9.1: two numeric types; decimals included. */
glv_status coerce_numeric(arena *a, const type *l, const type *r, const type **ret, glv_error *err);

#endif
