/**
 * @file cast.h
 * Conversion of arrays from one type to another (sql-expressions section 11).
 */
#ifndef GLAIVE_EXPR_CAST_H
#define GLAIVE_EXPR_CAST_H

#include "arrow/array.h"

/** Whether CAST(from AS to) is planned at all (matrix 11.2); equal types are. */
bool cast_is_supported(const type *from, const type *to);

/**
 * Convert every value; the pair of types is supported.
 *
 * @param to      becomes the type of the result, borrowed: it must outlive it.
 * @param is_try  a value that cannot be converted becomes null instead of failing the call.
 * @param ret     a->length values; when the types have the same layout, a further reference to a.
 * Errors: GLV_E_SQL_EXEC for the first bad value (the planner turns it into GLV_E_SQL_PLAN for a
 * constant), GLV_E_NOMEM, GLV_E_LIMIT. Thread class: T.
 */
glv_status cast_array(glv_env *env, const array *a, const type *to, bool is_try, array *ret,
                      glv_error *err);

#endif
