/**
 * @file request.h
 * One HTTP request as the routes see it, and its answer. A handler runs on a thread of the
 * environment's pool, may block on storage, and never sees the HTTP library: the body has been
 * collected (or is read as it arrives, for Arrow data), and what it answers is sent when it
 * returns.
 */
#ifndef GLAIVE_SERVER_REQUEST_H
#define GLAIVE_SERVER_REQUEST_H

#include <glaive/glaive.h>

#include "base/arena.h"
#include "base/json.h"

typedef struct server server;
typedef struct request request;

/** What a key allows; each includes the ones before it. */
typedef enum access_scope { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE, ACCESS_ADMIN } access_scope;

/** A parameter of the query string, percent-decoded. */
typedef struct request_param {
  const char *name;
  const char *value;
} request_param;

/** What a handler may read of its request; everything lives in `memory`, which ends with it. */
struct request {
  server *server;
  glv_env *env;
  arena *memory;
  const char *id_text; /* x-request-id, or one that the server made */
  const char *method;  /* "GET" or "POST" */
  const char *path;    /* as it came, without the query string */
  bool has_slash;      /* the path ended in a slash (it is not part of the route) */
  glv_id id;           /* of routes with {id}: decoded, split, checked; empty = root */
  const char *name;    /* of routes with {name}: decoded; else NULL */
  const request_param *params;
  size_t param_count;
  glv_cancel *cancel; /* fires at the time limit and when the client is gone; for every call that
                         takes one */
  void *http;         /* of http.c */
};

/** The connection to the database that is served. */
glv_conn *request_conn(const request *r);
/** NULL when absent. name in lower case. */
const char *request_header(const request *r, const char *name);
/** The last value of a parameter; NULL when absent. */
const char *request_param_get(const request *r, const char *name);
/** true for "true" and "1"; anything but these, "false", "0" and absence is an error naming it. */
glv_status request_param_bool(const request *r, const char *name, bool *ret, glv_error *err);

/**
 * Whether the key of the request is for this namespace, for handlers that reach another one than
 * that of {id}: the target of a rename, the source of a view, an entry of a list.
 * Errors: GLV_E_PERMISSION_DENIED.
 */
glv_status request_check_namespace(const request *r, glv_id ns, glv_error *err);
/** The same as a question. */
bool request_covers(const request *r, glv_id ns);
/** Whether the namespace is to be shown in a list: the key is for it, or for one below it. */
bool request_shows(const request *r, glv_id ns);

/**
 * The JSON body; an empty one reads as {}. Anything but an object is an error.
 * @param ret borrowed from the request.
 * Errors: GLV_E_INVALID_INPUT; GLV_E_LIMIT past the size limit of JSON bodies.
 */
glv_status request_json(request *r, const json **ret, glv_error *err);
/**
 * The Arrow IPC stream in the body, read as it arrives. It must end with the end-of-stream marker:
 * a body that was cut short is GLV_E_INVALID_INPUT from get_next, before any commit, or
 * GLV_E_NETWORK when the client is gone.
 * @param ret the caller's; hand it to a function that takes a stream.
 */
glv_status request_arrow(request *r, struct ArrowArrayStream *ret, glv_error *err);
/** Whether the body has content type application/vnd.apache.arrow.stream. */
bool request_has_arrow(const request *r);

/* ---- the answer: exactly one of these, once ---- */

/** body is taken over in every case; NULL = {}. */
glv_status answer_json(request *r, unsigned status, json *body, glv_error *err);
/** A number of an answer. */
typedef struct named_number {
  const char *name;
  uint64_t value; /* below 2^63 */
} named_number;
/** Answer 200 with an object of some numbers. It takes no memory of the environment: what was
 * changed must not be answered with a failure afterwards. */
glv_status answer_numbers(request *r, const named_number *numbers, size_t count, glv_error *err);
/** Bytes are copied. type: a content type. */
glv_status answer_bytes(request *r, unsigned status, const char *type, str bytes, glv_error *err);
/**
 * Rows as an Arrow IPC file or stream, encoded while they are sent, a batch at a time, on the pool:
 * a slow reader holds no thread. rows is taken over in every case. An error after the first bytes
 * cuts the answer off.
 */
glv_status answer_arrow(request *r, struct ArrowArrayStream *rows, bool as_file, glv_error *err);
/** Whether the client asks for JSON first, of all that it takes. */
bool request_wants_json(const request *r);
/**
 * Rows as one JSON document of texts, see cells_write in text/text.h. rows is taken over in every
 * case.
 * @param max_rows where it ends.
 * Errors: GLV_E_LIMIT for a row that is too large for it.
 */
glv_status answer_cells(request *r, struct ArrowArrayStream *rows, uint64_t max_rows,
                        glv_error *err);
/** A header of the answer, before or after the call that gives its body. Both are copied. */
glv_status answer_header(request *r, const char *name, const char *value, glv_error *err);

/** The members of an object of texts, in the request's memory. object: NULL = none; what: how a
 * message calls one. Errors: GLV_E_INVALID_INPUT. */
glv_status request_pairs(request *r, const json *object, const char *what, glv_pairs *ret,
                         glv_error *err);

/** Pass on the status of a creation that clients do not repeat: a name that is taken is 409 then.
 */
glv_status request_name_taken(glv_status status, glv_error *err);

#endif
