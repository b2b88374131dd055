/**
 * @file server_private.h
 * The server and one exchange (a request with its answer), shared by the files of this module.
 */
#ifndef GLAIVE_SERVER_SERVER_PRIVATE_H
#define GLAIVE_SERVER_SERVER_PRIVATE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/thread.h"
#include "server/router.h"
#include "server/routes.h"
#include "server/server.h"
#include "server/workers.h"

struct MHD_Connection;
struct MHD_Daemon;
struct MHD_Response;

/** The name and value of a header. */
typedef struct header {
  const char *name;
  const char *value;
  struct header *next;
} header;

/** A table that is released with the request. */
typedef struct open_table {
  glv_table *table;
  struct open_table *next;
} open_table;

/** Where an exchange stands; moved by the thread that parses only. */
typedef enum exchange_state {
  EXCHANGE_NEW,       /* the request line is known */
  EXCHANGE_BODY,      /* the body is being collected */
  EXCHANGE_REFUSED,   /* an error is to be sent when the body was read over */
  EXCHANGE_HANDLING,  /* a handler runs; the connection is suspended */
  EXCHANGE_ANSWERING, /* the answer is on its way */
} exchange_state;

/** One request and its answer. */
typedef struct exchange {
  request request; /* first: what handlers see */
  server *server;
  arena memory;
  struct MHD_Connection *connection;
  exchange_state state;
  const route *route;
  const char *target; /* the request target as it came */
  header *headers;
  buf body;
  json *document; /* of request_json */
  open_table *tables;
  work work;
  int64_t started_ns;
  uint64_t bytes_in;
  /* the answer */
  unsigned status;
  struct MHD_Response *response;
  const char *content_type;
  uint64_t bytes_out;
  header *answer_headers;
} exchange;

struct server {
  glv_env *env;
  glv_conn *conn;
  server_options options;
  router *router;
  workers *workers;
  struct MHD_Daemon *daemon;
  uint16_t port;
  atomic_bool stopping;
};

static inline exchange *exchange_of(request *r) { return (exchange *)r; }
static inline const exchange *exchange_of_const(const request *r) { return (const exchange *)r; }

/** Make the answer out of an error. Never fails: without memory the answer has no body. */
void answer_error(exchange *x, unsigned http_status, const glv_error *error);

#endif
