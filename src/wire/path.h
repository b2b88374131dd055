/**
 * @file path.h
 * Targets of requests: percent coding, object ids, and the making of paths with parameters
 * (rest-protocol.md 2).
 */
#ifndef GLAIVE_WIRE_PATH_H
#define GLAIVE_WIRE_PATH_H

#include "base/arena.h"
#include "base/buf.h"

/** Parts of one id, namespaces and name. */
#define WIRE_MAX_ID_PARTS 64
/** Between the parts of an id; alone it is the root. */
#define WIRE_DELIMITER "$"

/** Append text, everything but letters and digits of ASCII and `-._~` as %XX. */
glv_status wire_percent_encode(str text, buf *out, glv_error *err);

/**
 * A decoded copy, NUL-terminated.
 * @param plus "+" is a space, as in the values of parameters.
 * Errors: GLV_E_INVALID_INPUT for bad escapes, a NUL, and what is not UTF-8; GLV_E_NOMEM.
 */
glv_status wire_percent_decode(arena *memory, str text, bool plus, char **ret, glv_error *err);

/**
 * What no table or namespace can be called, so that it cannot be addressed. The rules for new names
 * are stricter and not these. Errors: GLV_E_INVALID_INPUT.
 */
glv_status wire_check_name(str name, glv_error *err);

/**
 * Split an id that was percent-decoded already.
 *
 * @param text      cut in place; the parts point into it.
 * @param delimiter what the parameter `delimiter` says, WIRE_DELIMITER without one.
 * @param ret       an array in memory, outermost namespace first; no parts = the root.
 * Errors: GLV_E_INVALID_INPUT for an empty delimiter, names that cannot be, too many parts.
 */
glv_status wire_id_split(arena *memory, char *text, const char *delimiter, const char *const **ret,
                         size_t *ret_count, glv_error *err);

/** Append an id as one part of a path: each name encoded, WIRE_DELIMITER bare between them. Errors:
 * GLV_E_INVALID_INPUT for names that cannot be addressed. */
glv_status wire_id_print(const char *const *parts, size_t count, buf *out, glv_error *err);

/** What takes the place of {id} and {name} in a pattern. */
typedef struct wire_target {
  const char *const *id;
  size_t id_count;
  const char *name; /* may be NULL when the pattern has none */
} wire_target;

/** Append the path of a route: pattern ("/v1/table/{id}/index/{name}/drop/") filled in. */
glv_status wire_path(const char *pattern, const wire_target *target, buf *out, glv_error *err);

/** Append a parameter, encoded, after "?" or "&". target must have been made by wire_path. */
glv_status wire_param(buf *target, const char *name, str value, glv_error *err);
glv_status wire_param_uint(buf *target, const char *name, uint64_t value, glv_error *err);
glv_status wire_param_bool(buf *target, const char *name, bool value, glv_error *err);

#endif
