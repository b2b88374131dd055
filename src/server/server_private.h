/**
 * @file server_private.h
 * The server and one exchange (a request with its answer), shared by the files of this module.
 *
 * An exchange belongs to the thread of the HTTP library that its connection is on, and, while the
 * connection is suspended, to the worker that handles it. Only a long upload has both at work at
 * once; what they share then is guarded by the exchange's lock.
 */
#ifndef GLAIVE_SERVER_SERVER_PRIVATE_H
#define GLAIVE_SERVER_SERVER_PRIVATE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/thread.h"
#include "server/access_log.h"
#include "server/keys.h"
#include "server/metrics.h"
#include "server/router.h"
#include "server/routes.h"
#include "server/server.h"
#include "server/upload.h"
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

typedef struct serial serial;
typedef struct table_cache table_cache;
typedef struct kept_table kept_table;

/** A table that is released with the request: of its own, or one that requests share. */
typedef struct open_table {
  glv_table *own;
  kept_table *kept;
  struct open_table *next;
} open_table;

/** A client's connection, and how long its next request may take to say what it wants. */
typedef struct peer {
  struct peer *next;
  struct peer *previous;
  int fd;
  bool is_local; /* the client is on this machine */
  int unread;    /* bytes when the watch last looked at a client that had closed; -1 = had not */
  atomic_int_fast64_t deadline_ns; /* for the head of a request; 0 = one is being handled */
} peer;

/** Where an exchange stands; moved by the thread of the connection only. */
typedef enum exchange_state {
  EXCHANGE_NEW,       /* the request line is known */
  EXCHANGE_BODY,      /* the body is being collected */
  EXCHANGE_UPLOADING, /* the body is handed on as it comes; the handler runs */
  EXCHANGE_REFUSED,   /* an error is to be sent when the body was read over */
  EXCHANGE_HANDLING,  /* a handler runs; the connection is suspended */
  EXCHANGE_ANSWERING, /* the answer is on its way */
} exchange_state;

/** Why the cancel token of a request was fired. */
typedef enum exchange_end { END_NOT, END_TIME, END_GONE, END_STOP } exchange_end;

/** One request and its answer. */
typedef struct exchange {
  request request; /* first: what handlers see */
  server *server;
  arena memory;
  atomic_uint refs; /* the connection's, and the handler's of a long upload */
  struct MHD_Connection *connection;
  peer *peer;    /* the same for the watch, as long as it lives; NULL = no memory for it */
  bool is_local; /* of the peer */
  exchange_state state;
  const route *route;
  size_t route_number;
  const char *target; /* the request target as it came */
  header *headers;
  access_key *key;
  buf body;
  json *document; /* of request_json */
  open_table *tables;
  work work;
  int64_t started_ns; /* monotonic */
  int64_t started_at; /* wall clock */
  uint64_t bytes_in;
  /* of the queue of its table, guarded by the lock of serial.c */
  str serial_key; /* empty = in none */
  struct exchange *serial_next;
  struct exchange *serial_last;   /* of the first of a queue */
  struct exchange *serial_bucket; /* of the first of a queue: that of another one */
  /* of the watch */
  struct exchange *next;
  struct exchange *previous;
  bool is_watched;
  int fd;
  atomic_bool is_suspended; /* for the handler: nobody else would notice that the client left */
  atomic_bool awaits_body;  /* its end has not come yet */
  atomic_int_fast64_t deadline_ns;
  atomic_int end; /* exchange_end */
  /* of a long upload */
  upload *upload;
  mutex lock; /* guards what follows */
  bool waits_for_room;
  bool room_came;
  bool waits_for_answer;
  bool is_answered;
  bool is_gone;
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
  char *data_dir;
  router *router;
  workers *workers;
  keys *keys;
  metrics *metrics;
  table_cache *tables;
  struct jobs *jobs;
  struct multipart *multipart;
  serial *serial;
  access_log *log;
  struct MHD_Daemon *daemon;
  int listen_fd;
  uint16_t port;
  atomic_bool stopping;      /* new requests are refused */
  atomic_bool aborting;      /* no new work is begun */
  atomic_size_t outstanding; /* work begun and not done */
  atomic_uint uploads;
  pthread_t watch_thread;
  bool has_watch;
  mutex lock; /* guards what follows */
  condition changed;
  exchange *running; /* exchanges that the watch looks after */
  size_t running_count;
  peer *peers;
  bool watch_ends;
};

static inline exchange *exchange_of(request *r) { return (exchange *)r; }
static inline const exchange *exchange_of_const(const request *r) { return (const exchange *)r; }

/** Monotonic time. */
int64_t server_clock_ns(void);

/** Hand work to the workers. @return false when the server stops. */
bool server_submit(server *s, work *item);
/** For every accepted server_submit, when the work is done; for server_work_begin too. */
void server_work_done(server *s);
/** Work that has a thread of its own. @return false when the server stops. */
bool server_work_begin(server *s);

/* ---- the watch: time limits, clients that left, changed keys ---- */

glv_status watch_start(server *s, glv_error *err);
void watch_stop(server *s);
/** A connection begins; NULL = no memory. Its client has a while to say what it wants. */
peer *watch_peer(server *s, int fd, bool is_local);
void watch_peer_ends(server *s, peer *p);
/** The head of a request has come; or an exchange is over, and the next head is awaited. */
void watch_head(const server *s, peer *p, bool is_awaited);
void watch_add(exchange *x);
void watch_remove(exchange *x);
/** Fire the cancel token of a request. Only with the server's lock held, or by the thread of the
 * connection. */
void exchange_fire(exchange *x, exchange_end why);

/* ---- exchanges ---- */

exchange *exchange_new(server *s, const char *target, struct MHD_Connection *connection);
void exchange_unref(exchange *x); /* NULL is fine */

/** The parts of an id, each ended by a NUL: equal for equal ids only. */
glv_status server_id_key(arena *memory, glv_id id, str *ret, glv_error *err);

/** Make the answer out of an error. Never fails: without memory the answer has no body. */
void answer_error(exchange *x, unsigned http_status, const glv_error *error);
/** Run the handler; afterwards there is an answer. */
void exchange_handle(exchange *x);

#endif
