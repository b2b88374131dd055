/**
 * @file logical_type.h
 * The text form of types in stored schemas, e.g. `fixed_size_list:float:3` (lance-file-format
 * section 4). Parsing knows the types without child fields; lists, structs and maps are put
 * together by lance_schema.
 */
#ifndef GLAIVE_FORMAT_LOGICAL_TYPE_H
#define GLAIVE_FORMAT_LOGICAL_TYPE_H

#include "arrow/type.h"

/** Metadata of Arrow fields that names an extension type. */
#define FIELD_EXTENSION "ARROW:extension:name"
#define FIELD_EXTENSION_METADATA "ARROW:extension:metadata"
#define BFLOAT16 "lance.bfloat16"

/**
 * @param ret  NULL when the type is well formed but not known or not supported.
 * Errors: GLV_E_CORRUPT for a known type with malformed parameters; GLV_E_NOMEM.
 */
glv_status logical_type_parse(arena *a, str text, const type **ret, glv_error *err);

/**
 * The text of the type of a field, whose metadata may say more than the type (json, bfloat16);
 * NULL: Lance cannot store it. Lists give "list" or "list.struct" and so on. Errors: GLV_E_NOMEM.
 */
glv_status logical_type_print(arena *a, const field *f, const char **ret, glv_error *err);

#endif
