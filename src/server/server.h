/**
 * @file server.h
 * The REST server: what the command `serve` needs of it.
 */
#ifndef GLAIVE_SERVER_SERVER_H
#define GLAIVE_SERVER_SERVER_H

#include <glaive/glaive.h>

#include "base/env.h"

typedef struct server server;

/** When answers are compressed (gzip), for clients that take it. */
typedef enum server_compression {
  SERVER_COMPRESS_DEFAULT, /* JSON; rows unless the client is on the same machine */
  SERVER_COMPRESS_ALWAYS,
  SERVER_COMPRESS_NEVER,
} server_compression;

/** How to serve. Zero always means the default. Strings are borrowed while the server lives. */
typedef struct server_options {
  const char *database;        /* a directory */
  const char *data_dir;        /* keys and jobs; NULL = DATABASE/.glaive */
  const char *host;            /* NULL = 127.0.0.1 */
  uint16_t port;               /* 0 = any */
  bool allow_anonymous;        /* serve an address that is not loopback without keys */
  const char *tls_certificate; /* PEM text, not a file name; with tls_key. NULL = no TLS */
  const char *tls_key;
  const char *access_log; /* a file that lines are appended to; NULL = stderr */
  bool no_access_log;
  server_compression compression;
  size_t max_header_bytes;       /* of a request line and its headers; 64 KiB */
  size_t max_json_bytes;         /* of a JSON body; 64 MiB */
  uint64_t max_upload_bytes;     /* of an Arrow body; no limit */
  uint64_t max_rows;             /* of an answer; no limit */
  unsigned request_timeout_ms;   /* 300 s */
  unsigned idle_timeout_s;       /* of a connection on which nothing moves; 60 s */
  unsigned max_connections;      /* 1,000 */
  unsigned max_requests_per_key; /* at once; 16 */
  unsigned max_uploads;          /* long Arrow bodies read at once; 16 */
  unsigned http_threads;         /* that parse and send; 2 */
} server_options;

/**
 * Open the database and start to serve it. Requests are handled by as many threads as env has.
 *
 * @param options borrowed for the call, its strings while the server lives.
 * @param ret     the server; server_stop, then server_free.
 * Errors: GLV_E_INVALID_INPUT naming the option (an address without keys, a bad certificate),
 * GLV_E_IO when the address cannot be taken, those of glv_connect.
 */
glv_status server_start(glv_env *env, const server_options *options, server **ret, glv_error *err);
/** The directory for keys and jobs: data_dir, or .glaive in the database. *ret: mem_free. */
glv_status server_data_dir(glv_env *env, const char *database, const char *data_dir, char **ret,
                           glv_error *err);
/** The port it listens on. */
uint16_t server_port(const server *s);
/** "http" or "https". */
const char *server_scheme(const server *s);

/**
 * Stop: no new connection is accepted, running requests get up to grace_ms to finish, are cancelled
 * then and awaited, jobs come to a safe point, connections are closed. Not from a handler.
 */
void server_stop(server *s, unsigned grace_ms);
void server_free(server *s); /* NULL is fine; stopped before */

#endif
