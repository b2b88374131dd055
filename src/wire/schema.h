/**
 * @file schema.h
 * Schemas as JSON: the dialect of table describe and alter_columns (rest-protocol.md 12.1),
 * {"fields": [{"name", "type": {"type", "fields", "length"}, "nullable", "metadata"}], "metadata"}.
 * Types without a form there (maps, intervals, views) get the word of the namespace dialect (12.2);
 * the words of that dialect are read everywhere.
 */
#ifndef GLAIVE_WIRE_SCHEMA_H
#define GLAIVE_WIRE_SCHEMA_H

#include "arrow/type.h"
#include "base/json.h"

/** @param ret js_free. Errors: GLV_E_NOMEM, also for names that are not UTF-8. */
glv_status wire_schema_write(const schema *s, json **ret, glv_error *err);
/** One type: {"type": ...}. Errors: as wire_schema_write. */
glv_status wire_type_write(const type *t, json **ret, glv_error *err);

/**
 * @param ret a counted schema.
 * Errors: GLV_E_INVALID_INPUT naming the field and what is wrong; GLV_E_LIMIT past LIMIT_TYPE_DEPTH
 * and LIMIT_FIELDS; GLV_E_NOMEM.
 */
glv_status wire_schema_read(glv_env *env, const json *node, schema **ret, glv_error *err);
/** One type, {"type": ...}, into memory. Errors: as wire_schema_read. */
glv_status wire_type_read(arena *memory, const json *node, const type **ret, glv_error *err);

#endif
