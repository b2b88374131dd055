/**
 * @file logical_type.h
 * The text form of types in stored schemas, e.g. `fixed_size_list:float:3` (lance-file-format
 * section 4). Only types without child fields; lists and structs are put together by lance_schema.
 */
#ifndef GLAIVE_FORMAT_LOGICAL_TYPE_H
#define GLAIVE_FORMAT_LOGICAL_TYPE_H

#include "arrow/type.h"

/**
 * @param ret  NULL when the type is well formed but not known or not supported.
 * Errors: GLV_E_CORRUPT for a known type with malformed parameters; GLV_E_NOMEM.
 */
glv_status logical_type_parse(arena *a, str text, const type **ret, glv_error *err);

/** The text of a type, NULL when it has none. Lists give "list" or "list.struct" and so on.
 * Errors: GLV_E_NOMEM. */
glv_status logical_type_print(arena *a, const type *t, const char **ret, glv_error *err);

#endif
