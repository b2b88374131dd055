/**
 * @file call.h
 * Calls of routes: which ones are repeated and when (rest-protocol.md 5), and what their answers
 * are. A call that may change something and gets no answer is GLV_E_UNKNOWN_OUTCOME.
 */
#ifndef GLAIVE_REMOTE_CALL_H
#define GLAIVE_REMOTE_CALL_H

#include "base/json.h"
#include "remote/client.h"
#include "wire/path.h"

enum route_flags {
  ROUTE_GET = 1,     /* else POST */
  ROUTE_REPEATS = 2, /* sent again after 409, 429, 5xx, connect errors and read timeouts */
  ROUTE_CHANGES = 4, /* changes something when it succeeds */
  ROUTE_NEW_ID = 8   /* every attempt has a request id of its own */
};

typedef struct route {
  const char *pattern; /* see wire_path */
  unsigned flags;
  glv_status missing; /* what 404 stands for */
  const char *offer;  /* NULL, or what the route offers when only some servers have it */
} route;

/** A call under construction. call_begin, fill in, call_send or call_json, call_dispose. */
typedef struct call {
  client *http;
  const route *route;
  buf target;             /* wire_param adds parameters */
  json *body;             /* owned; NULL = none */
  upload *upload;         /* owned; instead of body */
  http_header headers[4]; /* values live until the call ended */
  size_t header_count;
  cancel_token *cancel; /* borrowed; or NULL */
} call;

/** Errors: GLV_E_INVALID_INPUT for names that cannot be addressed. */
glv_status call_begin(call *c, client *http, const route *r, wire_target target,
                      cancel_token *cancel, glv_error *err);
void call_dispose(call *c); /* usable with CLEANUP; a zeroed call is fine */

/**
 * Send, again where the route and the failure allow it, until there is a success.
 * @param ret an answer with status 2xx; remote_exchange_close, before call_dispose.
 */
glv_status call_send(call *c, exchange **ret, glv_error *err);

/** A whole JSON answer. */
typedef struct answer {
  unsigned status;
  uint64_t table_version; /* 0 = not told */
  json *root;             /* NULL: no body */
} answer;
void answer_dispose(answer *a); /* usable with CLEANUP; a zeroed answer is fine */

/** call_send, and the body read. Errors: GLV_E_CORRUPT for a body that is not JSON. */
glv_status call_json(call *c, answer *ret, glv_error *err);
/** As call_json, and the text of the body appended to *ret_text. */
glv_status call_text(call *c, answer *ret, buf *ret_text, glv_error *err);
/** As call_json; the body must be an object, an empty one reads as {}. */
glv_status call_object(call *c, answer *ret, glv_error *err);

/** The report of an answer that is not what the protocol says: GLV_E_CORRUPT naming the route. */
glv_status call_wrong(const call *c, unsigned http_status, glv_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** The status of reading an answer: what a reader of wire/ calls wrong input is a wrong answer. */
glv_status call_read(const call *c, const answer *a, glv_status status, glv_error *err);

#endif
