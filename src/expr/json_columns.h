/**
 * @file json_columns.h
 * JSON columns as callers see them: text of the Arrow extension type `arrow.json`. Lance stores
 * them as binary documents, marked `lance.json`; expressions see these.
 */
#ifndef GLAIVE_EXPR_JSON_COLUMNS_H
#define GLAIVE_EXPR_JSON_COLUMNS_H

#include "arrow/array.h"

enum json_direction {
  JSON_STORE, /* arrow.json (utf8, large_utf8) becomes lance.json (large_binary) */
  JSON_SHOW   /* the reverse, to utf8 */
};

/** The key of a field's metadata that names its extension type, and the extension of JSON text. */
#define JSON_EXTENSION_KEY "ARROW:extension:name"
#define JSON_SHOWN_EXTENSION "arrow.json"

/** Whether a field is JSON in the form that stands at the beginning of a direction. */
bool json_is_column(const field *f, enum json_direction d);

/**
 * The schema with its JSON fields, at any depth, in the other form; a further reference to s when
 * it has none. Errors: GLV_E_NOMEM.
 */
glv_status json_schema(glv_env *env, const schema *s, enum json_direction d, schema **ret,
                       glv_error *err);

/**
 * Replace *r by a reader of the same rows in the other form; it stays as it is when no column is
 * JSON. On failure *r is disposed of and empty. Errors: GLV_E_NOMEM; from next also
 * GLV_E_INVALID_INPUT naming the column for text that is not JSON, GLV_E_CORRUPT for bytes that are
 * no document, GLV_E_LIMIT.
 */
glv_status json_reader(glv_env *env, enum json_direction d, batch_reader *r, glv_error *err);

#endif
