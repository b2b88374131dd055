/**
 * @file type_name.h
 * Types by the names that arrow_cast and arrow_typeof use, such as `Timestamp(us, "UTC")`.
 */
#ifndef GLAIVE_EXPR_TYPE_NAME_H
#define GLAIVE_EXPR_TYPE_NAME_H

#include "arrow/type.h"

/** The type of that name, made in the arena. Errors: GLV_E_SQL_PLAN, GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status type_name_parse(arena *a, str name, const type **ret, glv_error *err);
/** Append the name of a type. Errors: GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status type_name_print(const type *t, buf *out, glv_error *err);

#endif
