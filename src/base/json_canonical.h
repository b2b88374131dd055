/**
 * @file json_canonical.h
 * The byte form of stored view definitions: compact, keys in ascending byte order (the caller
 * writes them so), only
 * `"`, `\` and control characters escaped, `\u00xx` in lower case. The bytes equal those of
 * LanceDB.
 */
#ifndef GLAIVE_BASE_JSON_CANONICAL_H
#define GLAIVE_BASE_JSON_CANONICAL_H

#include "base/buf.h"

/** Append text as a JSON string. Errors: GLV_E_LIMIT, GLV_E_NOMEM, GLV_E_INVALID_INPUT when it is
 * not UTF-8. */
glv_status json_canonical_string(buf *out, str text, glv_error *err);

#endif
