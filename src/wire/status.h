/**
 * @file status.h
 * Statuses of this library and what stands for them on the wire: the HTTP status and the error
 * body {"error", "code", "detail", "instance"} (rest-protocol.md 4).
 */
#ifndef GLAIVE_WIRE_STATUS_H
#define GLAIVE_WIRE_STATUS_H

#include "base/error.h"
#include "base/json.h"

/** The member `code`: the namespace code, or the nearest one. */
int wire_code(glv_status status);

/**
 * The HTTP status that a failed request gets: error->http_status when somebody chose one (routes
 * that must not be repeated answer 409 where others answer 400), else by the status. A conflict
 * that a repetition cannot cure is 412, which no client repeats.
 */
unsigned wire_http_status(const glv_error *error);

/** The status of that name ("GLV_E_CORRUPT"), success excepted. @return false: there is none. */
bool wire_status_by_name(str name, glv_status *ret);

/**
 * The error body.
 * @param instance the request id; NULL = "".
 * @param ret      js_free.
 * Errors: GLV_E_NOMEM.
 */
glv_status wire_error_write(const glv_error *error, const char *instance, json **ret,
                            glv_error *err);

/**
 * The status behind an answer that is not a success: the one that `detail` names, else 100 +
 * `code`, else the one nearest to the HTTP status.
 *
 * @param http_status of the answer.
 * @param body        as it came; it need not be JSON.
 * @param missing     what 404 without a usable body stands for, for example GLV_E_TABLE_NOT_FOUND.
 * @param err         NULL, or filled: the message of the body on one line, http_status, and
 * GLV_ERROR_MAY_RETRY where a repetition may help.
 * @return the status, never GLV_OK.
 */
glv_status wire_error_read(unsigned http_status, str body, glv_status missing, glv_error *err);

/** Whether the body of an error names a status of this library: only our servers do. */
bool wire_error_is_named(str body);

#endif
