/**
 * @file client.h
 * The HTTP client of one connection to a server: what every request carries, the connections that
 * are kept open, and one request with its answer. Retries are in call.h.
 */
#ifndef GLAIVE_REMOTE_CLIENT_H
#define GLAIVE_REMOTE_CLIENT_H

#include "arrow/array.h"
#include "base/arena.h"
#include "base/cancel.h"
#include "remote/curl_api.h"
#include "remote/upload.h"

typedef struct http_header {
  const char *name;
  const char *value;
} http_header;

/** What a connection is told when it is made; everything is copied. */
typedef struct client_options {
  const char *base_url;       /* "https://host:port/prefix", without a slash at its end */
  const http_header *headers; /* of every request */
  size_t header_count;
  const char *user_agent;
  const char *ca_file;         /* NULL = those of the system */
  uint32_t timeout_ms;         /* of a request with its answer; 0 = none */
  uint32_t connect_timeout_ms; /* until a connection stands */
  uint32_t read_timeout_ms;    /* without a byte from or to the server */
  uint32_t attempts;           /* at most that many for calls that may be repeated; 1 or more */
} client_options;

typedef struct client {
  glv_env *env; /* borrowed from the connection that has the client */
  const curl_api *curl;
  client_options options;
  arena memory;      /* of options */
  struct line *idle; /* under lock */
  pthread_mutex_t lock;
} client;

/** Errors: GLV_E_UNSUPPORTED without libcurl; GLV_E_INVALID_INPUT for headers that cannot be sent.
 */
glv_status client_init(client *c, glv_env *env, const client_options *options, glv_error *err);
void client_dispose(client *c); /* a zeroed client is fine */

typedef struct http_request {
  bool is_post;
  bool changes;       /* may change something: a dead connection is not replaced silently */
  const char *target; /* path and parameters */
  const char *request_id;
  const char *content_type;   /* NULL = no body */
  str body;                   /* of a body without upload; borrowed until the answer is read */
  upload *upload;             /* borrowed; or NULL */
  const http_header *headers; /* besides those of the connection */
  size_t header_count;
  cancel_token *cancel; /* or NULL */
} http_request;

/** How far a request came that got no answer. */
typedef enum http_failure {
  HTTP_FAILED_HERE,   /* no memory, cancelled, rows that cannot be read: the server may be fine */
  HTTP_NOT_CONNECTED, /* nothing was sent */
  HTTP_TOO_SLOW,      /* sent, and then the time was over */
  HTTP_LOST           /* sent, and then the connection ended */
} http_failure;

/** The head of an answer. */
typedef struct http_head {
  unsigned status;
  char content_type[128];
  uint64_t table_version; /* x-lancedb-version; 0 = not told */
} http_head;

/** A request under way, and its answer. Not thread-safe. */
typedef struct exchange exchange;

/**
 * Send a request and wait for the head of the answer, whatever its status.
 *
 * @param ret         remote_exchange_close.
 * @param ret_failure filled on failure.
 * Errors: GLV_E_NETWORK, GLV_E_TIMEOUT, GLV_E_CANCELLED, GLV_E_NOMEM, those of the upload.
 */
glv_status remote_exchange_open(client *c, const http_request *request, exchange **ret,
                                http_failure *ret_failure, glv_error *err);
const http_head *remote_exchange_head(const exchange *e);
/** Up to size bytes of the body, decoded; 0 = the end. Errors: as remote_exchange_open. */
glv_status remote_exchange_read(exchange *e, void *data, size_t size, size_t *ret_read,
                                glv_error *err);
/** The whole body. Errors: GLV_E_LIMIT past max bytes. */
glv_status remote_exchange_read_all(exchange *e, size_t max, buf *ret, glv_error *err);
void remote_exchange_close(
    exchange *e); /* NULL is fine; an answer that was not read is thrown away */
void remote_exchange_cleanup(exchange **e);

#endif
