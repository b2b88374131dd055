/*
 * The HTTP side, over libmicrohttpd. Its threads only parse and send:
 *
 *   request line  -> on_target    an exchange is made
 *   headers       -> on_request   the route is found; what is refused is refused here
 *   body          -> on_request   collected, so that a slow client holds no thread; long Arrow data
 *                                 is handed on instead, to a handler with a thread of its own
 *   end           -> on_request   the connection is suspended, a worker runs the handler and
 *                                 resumes it
 *   resumed       -> on_request   the answer is queued
 *   sent, or gone -> on_completed the exchange ends
 *
 * The bodies of refused requests are read over, up to a limit, for a client that still sends does
 * not look at the answer.
 */
#include "server/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/encoding.h"
#include "base/error.h"
#include "server/origin.h"
#include "server/serial.h"
#include "wire/status.h"

#define ANNOUNCED_VERSION "0.4.0"

enum {
  READ_OVER_BYTES = 64 << 20,   /* of a refused body */
  COLLECTED_UPLOAD = 4 << 20,   /* Arrow data up to this size is collected like other bodies */
  UPLOAD_CAPACITY = 4 << 20,    /* bytes of a longer one that wait for its handler */
  CONNECTION_EXTRA = 16 << 10,  /* of a connection's memory, for the head of the answer */
  UPLOAD_STACK_BYTES = 1 << 20, /* */
  LONGEST_REQUEST_ID = 128,
};

/* ---- the head of the request ---- */

static void *on_target(void *context, const char *text, struct MHD_Connection *connection) {
  exchange *x = exchange_new(context, text, connection);
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  if (x != NULL && info != NULL) {
    x->peer = info->socket_context;
    x->is_local = x->peer != NULL && x->peer->is_local;
  }
  return x;
}

/* Copied, for a long upload may outlive its connection. */
static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value) {
  (void)kind;
  exchange *x = context;
  header *h = ARENA_NEW(&x->memory, header);
  char *name_copy = arena_strdup(&x->memory, str_of(name));
  char *value_copy = arena_strdup(&x->memory, str_of(value));
  if (h == NULL || name_copy == NULL || value_copy == NULL) {
    return MHD_NO;
  }
  *h = (header){name_copy, value_copy, x->headers};
  x->headers = h;
  return MHD_YES;
}

static glv_status take_headers(exchange *x, glv_error *err) {
  const int count = MHD_get_connection_values(x->connection, MHD_HEADER_KIND, take_header, x);
  int taken = 0;
  size_t size = strlen(x->target);
  for (const header *h = x->headers; h != NULL; h = h->next) {
    taken++;
    size += strlen(h->name) + strlen(h->value) + 4;
  }
  if (count != taken) {
    return error_nomem(err, size);
  }
  if (size > x->server->options.max_header_bytes) {
    (void)error_set(err, GLV_E_LIMIT, "the head of the request is longer than %zu bytes",
                    x->server->options.max_header_bytes);
    answer_error(x, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, err);
    return GLV_E_LIMIT;
  }
  return GLV_OK;
}

static bool is_plain(const char *text) {
  size_t size = 0;
  while (text[size] > 0x20 && text[size] < 0x7F) {
    size++;
  }
  return text[size] == '\0' && size > 0 && size <= LONGEST_REQUEST_ID;
}

/* The client's name of the request if it is fit to be sent back, else a new one. */
static glv_status name_request(exchange *x, glv_error *err) {
  const char *given = request_header(&x->request, "x-request-id");
  if (given != NULL && is_plain(given)) {
    x->request.id_text = given;
    return GLV_OK;
  }
  char text[UUID_TEXT_SIZE];
  TRY(uuid_random(x->server->env, text, err));
  const char *copy = arena_strdup(&x->memory, str_slice(text, sizeof text));
  if (copy == NULL) {
    return error_nomem(err, sizeof text);
  }
  x->request.id_text = copy;
  return GLV_OK;
}

/* The answer to what is no route, or not with this method. */
static glv_status refuse_target(exchange *x, const target *t, glv_error *err) {
  if (t->methods == 0) {
    (void)error_set(err, GLV_E_UNSUPPORTED, "there is no route '%s'", t->path);
    answer_error(x, MHD_HTTP_NOT_FOUND, err);
    return GLV_E_UNSUPPORTED;
  }
  (void)error_set(err, GLV_E_UNSUPPORTED, "the route '%s' does not answer the method %s", t->path,
                  x->request.method);
  answer_error(x, MHD_HTTP_METHOD_NOT_ALLOWED, err);
  const char *allowed = t->methods == ROUTE_GET    ? "GET"
                        : t->methods == ROUTE_POST ? "POST"
                                                   : "GET, POST";
  TRY(answer_header(&x->request, "allow", allowed, err));
  return GLV_E_UNSUPPORTED;
}

static glv_status find_route(exchange *x, glv_error *err) {
  target t;
  request *r = &x->request;
  const unsigned method = strcmp(r->method, "GET") == 0    ? ROUTE_GET
                          : strcmp(r->method, "POST") == 0 ? ROUTE_POST
                                                           : 0;
  const glv_status status = router_find(x->server->router, method, x->target, &x->memory, &t, err);
  r->path = t.path;
  r->has_slash = t.has_slash;
  r->id = t.id;
  r->name = t.name;
  r->params = t.params;
  r->param_count = t.param_count;
  x->route = t.route;
  x->route_number = t.number;
  TRY(status);
  return t.route != NULL ? GLV_OK : refuse_target(x, &t, err);
}

/* ---- what a request may ---- */

static const char *given_key(const exchange *x) {
  const char *key = request_header(&x->request, "x-api-key");
  const char *authorization = request_header(&x->request, "authorization");
  if (key == NULL && authorization != NULL &&
      str_starts_with(str_of(authorization), STR("Bearer "))) {
    key = authorization + strlen("Bearer ");
  }
  return key;
}

/* The namespace that a route with {id} works in: {id} itself, or for tables what is above it. */
static glv_id namespace_of(const exchange *x) {
  glv_id ns = x->request.id;
  const bool is_namespace = str_starts_with(str_of(x->route->pattern), STR("/v1/namespace/"));
  ns.count -= !is_namespace && ns.count > 0;
  return ns;
}

static glv_status check_scope(const exchange *x, glv_error *err) {
  static const char *const names[] = {"no", "read", "write", "admin"};
  const access_key *key = x->key;
  if (key->scope < x->route->scope) {
    return FAIL(err, GLV_E_PERMISSION_DENIED,
                "the key '%s' has the scope '%s'; this needs the scope '%s'", key->id,
                names[key->scope], names[x->route->scope]);
  }
  const glv_id ns = namespace_of(x);
  if ((x->route->flags & ROUTE_LIST) != 0 && request_shows(&x->request, ns)) {
    return GLV_OK;
  }
  return request_check_namespace(&x->request, ns, err);
}

static glv_status check_key(exchange *x, glv_error *err) {
  if ((x->route->flags & ROUTE_OPEN) != 0) {
    return GLV_OK;
  }
  TRY(keys_find(x->server->keys, given_key(x), &x->key, err));
  if (x->key == NULL) {
    return GLV_OK;
  }
  const unsigned most = x->server->options.max_requests_per_key;
  if (atomic_fetch_add(&x->key->running, 1) >= most) {
    return FAIL(err, GLV_E_THROTTLED, "the key '%s' has %u requests under way, which is its limit",
                x->key->id, most);
  }
  return check_scope(x, err);
}

/* From now on the clock runs. */
static glv_status set_limits(exchange *x, glv_error *err) {
  const char *given = request_header(&x->request, "x-request-timeout-ms");
  uint64_t timeout_ms = x->server->options.request_timeout_ms;
  uint64_t asked_ms;
  if (given != NULL && str_to_u64(str_of(given), &asked_ms) && asked_ms != 0) {
    timeout_ms = u64_min(timeout_ms, asked_ms);
  }
  TRY(glv_cancel_new(x->server->env, &x->request.cancel, err));
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  x->fd = info != NULL ? info->connect_fd : -1;
  atomic_store(&x->deadline_ns, x->started_ns + (int64_t)timeout_ms * 1000000);
  return GLV_OK;
}

/* Rows: read as they come when there are many. */
static bool is_upload(const exchange *x) {
  return (x->route->flags & ROUTE_ARROW) != 0 && request_has_arrow(&x->request);
}

/* What the head says of the body. */
static glv_status measure_body(exchange *x, glv_error *err) {
  const request *r = &x->request;
  const char *length = request_header(r, "content-length");
  uint64_t size = 0;
  if (request_header(r, "content-encoding") != NULL &&
      strcmp(request_header(r, "content-encoding"), "identity") != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED, "bodies with the content-encoding '%s' are not read",
                request_header(r, "content-encoding"));
  }
  const server_options *o = &x->server->options;
  const uint64_t limit = is_upload(x) ? o->max_upload_bytes : o->max_json_bytes;
  if (length != NULL && str_to_u64(str_of(length), &size) && limit != 0 && size > limit) {
    (void)error_set(err, GLV_E_LIMIT, "the body is longer than %llu bytes",
                    (unsigned long long)limit);
    answer_error(x, MHD_HTTP_CONTENT_TOO_LARGE, err);
    return GLV_E_LIMIT;
  }
  return GLV_OK;
}

static glv_status check_request(exchange *x, const char *method, glv_error *err) {
  x->request.method = arena_strdup(&x->memory, str_of(method));
  if (x->request.method == NULL || x->target == NULL) {
    x->request.method = "";
    return error_nomem(err, 0);
  }
  TRY(take_headers(x, err));
  TRY(name_request(x, err));
  TRY(find_route(x, err));
  if (atomic_load(&x->server->stopping)) {
    return FAIL(err, GLV_E_UNAVAILABLE, "the server stops");
  }
  TRY(origin_check(x, err));
  TRY(check_key(x, err));
  TRY(measure_body(x, err));
  if ((x->route->flags & ROUTE_INLINE) == 0) {
    TRY(set_limits(x, err));
    atomic_store(&x->awaits_body, true);
    watch_add(x);
  }
  return GLV_OK;
}

/* ---- the answer ---- */

static void add_header(struct MHD_Response *response, const char *name, const char *value) {
  (void)MHD_add_response_header(response, name, value); /* without memory it is left out */
}

static enum MHD_Result send_answer(exchange *x) {
  struct MHD_Response *response = x->response;
  if (response == NULL) {
    return MHD_NO;
  }
  if (x->content_type != NULL) {
    add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, x->content_type);
  }
  add_header(response, "phalanx-version", ANNOUNCED_VERSION);
  add_header(response, "x-request-id", x->request.id_text);
  for (const header *h = x->answer_headers; h != NULL; h = h->next) {
    add_header(response, h->name, h->value);
  }
  if (atomic_load(&x->server->stopping)) {
    add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  }
  x->state = EXCHANGE_ANSWERING;
  const enum MHD_Result result = MHD_queue_response(x->connection, x->status, response);
  MHD_destroy_response(response);
  x->response = NULL;
  return result;
}

/* ---- handlers ---- */

static void suspend(exchange *x) {
  atomic_store(&x->is_suspended, true);
  MHD_suspend_connection(x->connection);
}

static void resume(exchange *x) {
  atomic_store(&x->is_suspended, false);
  MHD_resume_connection(x->connection);
}

static void handle(void *context) {
  exchange *x = context;
  server *s = x->server;
  exchange_handle(x);
  exchange *next = x->serial_key.size != 0 ? serial_leave(s->serial, x) : NULL;
  if (next != NULL) {
    workers_submit(s->workers, &next->work);
  }
  resume(x);
  server_work_done(s);
}

/* Now, or when its turn comes. @return false when the server stops, or there is no memory. */
static bool begin_work(exchange *x) {
  server *s = x->server;
  /* A part of a larger write is put aside and changes nothing yet. */
  const bool is_part = request_param_get(&x->request, "upload_id") != NULL;
  if ((x->route->flags & ROUTE_SERIAL) != 0 && !is_part &&
      server_id_key(&x->memory, x->request.id, &x->serial_key, NULL) != GLV_OK) {
    return false;
  }
  if (!server_work_begin(s)) {
    return false;
  }
  if (x->serial_key.size == 0 || serial_enter(s->serial, x)) {
    workers_submit(s->workers, &x->work);
  }
  return true;
}

static enum MHD_Result start_handler(exchange *x) {
  x->state = EXCHANGE_HANDLING;
  if ((x->route->flags & ROUTE_INLINE) != 0) {
    exchange_handle(x);
    return send_answer(x);
  }
  x->work = (work){.run = handle, .context = x};
  suspend(x);
  if (!begin_work(x)) {
    glv_error error;
    (void)error_set(&error, GLV_E_UNAVAILABLE, "the server stops");
    answer_error(x, wire_http_status(&error), &error);
    resume(x);
  }
  return MHD_YES;
}

/* ---- long uploads ---- */

/* The reader has made room. */
static void on_room(void *context) {
  exchange *x = context;
  mutex_lock(&x->lock);
  const bool waits = x->waits_for_room;
  x->waits_for_room = false;
  x->room_came = !waits;
  if (waits && !x->is_gone) {
    resume(x);
  }
  mutex_unlock(&x->lock);
}

static void *handle_upload(void *context) {
  exchange *x = context;
  server *s = x->server;
  exchange_handle(x);
  upload_ignore(x->upload);
  mutex_lock(&x->lock);
  x->is_answered = true;
  if (x->waits_for_answer && !x->is_gone) {
    x->waits_for_answer = false;
    resume(x);
  }
  mutex_unlock(&x->lock);
  atomic_fetch_sub(&s->uploads, 1);
  exchange_unref(x);
  server_work_done(s);
  return NULL;
}

static glv_status start_thread(exchange *x, glv_error *err) {
  pthread_attr_t attributes;
  pthread_t thread;
  int result = pthread_attr_init(&attributes);
  if (result == 0) {
    result = pthread_attr_setstacksize(&attributes, UPLOAD_STACK_BYTES);
    result =
        result == 0 ? pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) : result;
    result = result == 0 ? pthread_create(&thread, &attributes, handle_upload, x) : result;
    pthread_attr_destroy(&attributes);
  }
  return result == 0 ? GLV_OK
                     : error_set_errno(err, GLV_E_UNAVAILABLE, result,
                                       "no thread could be started for the body");
}

static glv_status start_upload_thread(exchange *x, glv_error *err) {
  server *s = x->server;
  if (atomic_fetch_add(&s->uploads, 1) >= s->options.max_uploads) {
    atomic_fetch_sub(&s->uploads, 1);
    return FAIL(err, GLV_E_THROTTLED, "%u long bodies are being read, which is the limit",
                s->options.max_uploads);
  }
  if (!server_work_begin(s)) {
    atomic_fetch_sub(&s->uploads, 1);
    return FAIL(err, GLV_E_UNAVAILABLE, "the server stops");
  }
  atomic_fetch_add(&x->refs, 1);
  const glv_status status = start_thread(x, err);
  if (status != GLV_OK) {
    atomic_fetch_sub(&x->refs, 1);
    atomic_fetch_sub(&s->uploads, 1);
    server_work_done(s);
  }
  return status;
}

/* What was collected is the beginning of a long body. */
static glv_status start_upload(exchange *x, glv_error *err) {
  upload *u;
  TRY(upload_new(x->server->env, &x->body, UPLOAD_CAPACITY, on_room, x, &u, err));
  mutex_lock(&x->server->lock); /* the watch looks at it */
  x->upload = u;
  mutex_unlock(&x->server->lock);
  TRY(start_upload_thread(x, err));
  x->state = EXCHANGE_UPLOADING;
  return GLV_OK;
}

/* @return how much was taken; when less than size the connection is suspended until there is room.
 */
static size_t hand_on(exchange *x, const char *data, size_t size) {
  size_t done = 0;
  while (done < size) {
    done += upload_put(x->upload, data + done, size - done);
    if (done == size) {
      break;
    }
    CLEANUP(mutex_cleanup) mutex *held = &x->lock;
    mutex_lock(held);
    if (!x->room_came) {
      x->waits_for_room = true;
      MHD_suspend_connection(x->connection);
      break;
    }
    x->room_came = false;
  }
  return done;
}

static enum MHD_Result end_upload(exchange *x) {
  upload_end(x->upload);
  CLEANUP(mutex_cleanup) mutex *held = &x->lock;
  mutex_lock(held);
  x->state = EXCHANGE_HANDLING;
  if (x->is_answered) {
    return send_answer(x);
  }
  x->waits_for_answer = true;
  suspend(x);
  return MHD_YES;
}

/* ---- bodies ---- */

/* After this the rest of the body is read over. */
static void refuse_body(exchange *x, unsigned http_status, const glv_error *error) {
  answer_error(x, http_status, error);
  buf_dispose(&x->body);
  x->state = EXCHANGE_REFUSED;
}

/* @return false: refused. */
static bool check_body_size(exchange *x, size_t more, bool long_one) {
  const server_options *o = &x->server->options;
  const uint64_t limit = long_one ? o->max_upload_bytes : o->max_json_bytes;
  if (limit == 0 || x->bytes_in + more <= limit) {
    return true;
  }
  glv_error error = {0};
  (void)error_set(&error, GLV_E_LIMIT, "the body is longer than %llu bytes",
                  (unsigned long long)limit);
  error.http_status = MHD_HTTP_CONTENT_TOO_LARGE;
  if (x->state == EXCHANGE_UPLOADING) {
    upload_break(x->upload, &error); /* the handler answers */
  } else {
    refuse_body(x, MHD_HTTP_CONTENT_TOO_LARGE, &error);
  }
  return false;
}

static void collect(exchange *x, const char *data, size_t size, bool long_one) {
  glv_error error;
  glv_status status = buf_append(&x->body, data, size, &error);
  if (status == GLV_OK && long_one && x->body.size > COLLECTED_UPLOAD) {
    status = start_upload(x, &error);
  }
  if (status != GLV_OK) {
    refuse_body(x, wire_http_status(&error), &error);
  }
}

static enum MHD_Result take_body(exchange *x, const char *data, size_t *size) {
  size_t taken = *size;
  if (atomic_load(&x->end) != END_NOT && x->state != EXCHANGE_UPLOADING) {
    return MHD_NO; /* too slow */
  }
  const bool long_one = x->state != EXCHANGE_REFUSED && is_upload(x);
  if (x->state != EXCHANGE_REFUSED && check_body_size(x, *size, long_one)) {
    if (x->state == EXCHANGE_UPLOADING) {
      taken = hand_on(x, data, *size);
    } else {
      collect(x, data, *size, long_one);
    }
  }
  x->bytes_in += taken;
  *size -= taken;
  return x->state == EXCHANGE_REFUSED && x->bytes_in > READ_OVER_BYTES ? MHD_NO : MHD_YES;
}

static enum MHD_Result begin(exchange *x, const char *method) {
  glv_error error;
  x->state = EXCHANGE_BODY;
  watch_head(x->server, x->peer, false);
  if (check_request(x, method, &error) == GLV_OK) {
    if (!x->is_watched) {
      watch_head(x->server, x->peer, true); /* for the rest of its body, which is read over */
    }
    return MHD_YES;
  }
  if (x->response == NULL) {
    answer_error(x, wire_http_status(&error), &error);
  }
  x->state = EXCHANGE_REFUSED;
  watch_head(x->server, x->peer, true); /* for the rest of its body, too */
  /* A client that asks before it sends its body is told at once. */
  return request_header(&x->request, "expect") != NULL ? send_answer(x) : MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload_data,
                                  size_t *upload_size, void **state) {
  (void)context;
  (void)connection;
  (void)url;
  (void)version;
  exchange *x = *state;
  if (x == NULL) {
    return MHD_NO; /* no memory */
  }
  if (x->state == EXCHANGE_NEW) {
    return begin(x, method);
  }
  if (*upload_size > 0) {
    return take_body(x, upload_data, upload_size);
  }
  atomic_store(&x->awaits_body, false);
  switch (x->state) {
  case EXCHANGE_BODY:
    return start_handler(x);
  case EXCHANGE_UPLOADING:
    return end_upload(x);
  case EXCHANGE_NEW:
  case EXCHANGE_REFUSED:
  case EXCHANGE_HANDLING:
  case EXCHANGE_ANSWERING:
    break;
  }
  return send_answer(x);
}

static void report(const exchange *x, bool was_sent) {
  const uint64_t duration_ns = (uint64_t)(server_clock_ns() - x->started_ns);
  const unsigned status = was_sent ? x->status : 0;
  /* The handler of an upload whose client left may still be at work on the answer. */
  const uint64_t bytes_out = was_sent || x->upload == NULL ? x->bytes_out : 0;
  metrics_add(x->server->metrics, x->route_number, status, duration_ns, x->bytes_in, bytes_out);
  if (x->server->log != NULL) {
    access_log_add(x->server->log, &(access_entry){.time_ns = x->started_at,
                                                   .id = x->request.id_text,
                                                   .key = x->key != NULL ? x->key->id : NULL,
                                                   .method = x->request.method,
                                                   .path = x->request.path,
                                                   .status = status,
                                                   .bytes_in = x->bytes_in,
                                                   .bytes_out = bytes_out,
                                                   .duration_ns = duration_ns});
  }
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode how) {
  (void)context;
  (void)connection;
  exchange *x = *state;
  *state = NULL;
  if (x == NULL) {
    return;
  }
  const bool was_sent = how == MHD_REQUEST_TERMINATED_COMPLETED_OK;
  if (!was_sent && x->request.cancel != NULL) {
    exchange_fire(x, END_GONE);
  }
  watch_remove(x);
  mutex_lock(&x->lock);
  x->is_gone = true;
  mutex_unlock(&x->lock);
  report(x, was_sent);
  watch_head(x->server, x->peer, true);
  exchange_unref(x);
}

/* ---- listening ---- */

/* The path is decoded by the router, after it was split. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

__attribute__((format(printf, 2, 0))) static void log_trouble(void *context, const char *format,
                                                              va_list arguments) {
  const server *s = context;
  char line[512];
  vsnprintf(line, sizeof line, format, arguments);
  line[strcspn(line, "\n")] = '\0';
  env_log(s->env, GLV_LOG_DEBUG, "%s", line); /* mostly: what clients did to their connections */
}

static glv_status find_address(const server_options *o, struct addrinfo **ret, glv_error *err) {
  char port[8];
  snprintf(port, sizeof port, "%u", (unsigned)o->port);
  const struct addrinfo hints = {
      .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  const int code = getaddrinfo(o->host, port, &hints, ret);
  if (code != 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the host '%s' cannot be served: %s", o->host,
                gai_strerror(code));
  }
  return GLV_OK;
}

static bool is_loopback(const struct sockaddr *address) {
  if (address->sa_family == AF_INET) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
    return ntohl(in->sin_addr.s_addr) >> 24 == 127;
  }
  if (address->sa_family == AF_INET6) {
    const struct in6_addr *in = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(in) || (IN6_IS_ADDR_V4MAPPED(in) && in->s6_addr[12] == 127);
  }
  return false;
}

static glv_status check_address(const server *s, const struct addrinfo *at, glv_error *err) {
  if (is_loopback(at->ai_addr) || s->options.allow_anonymous || keys_are_needed(s->keys)) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_INVALID_INPUT,
              "'%s' can be reached from other machines and there are no keys: make one with glaive "
              "key create, or say --allow-anonymous",
              s->options.host);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code) {
  server *s = context;
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    watch_peer_ends(s, *socket_context);
    *socket_context = NULL;
    return;
  }
  const union MHD_ConnectionInfo *fd =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  const union MHD_ConnectionInfo *address =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  *socket_context = watch_peer(s, fd != NULL ? fd->connect_fd : -1,
                               address != NULL && is_loopback(address->client_addr));
}

static glv_status start_daemon(server *s, const struct addrinfo *at, glv_error *err) {
  const server_options *o = &s->options;
  const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                         MHD_USE_ERROR_LOG | (at->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0) |
                         (o->tls_certificate != NULL ? MHD_USE_TLS : 0);
  struct MHD_OptionItem items[4] = {{MHD_OPTION_END, 0, NULL}};
  if (o->tls_certificate != NULL) {
    items[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
                                       (void *)(uintptr_t)o->tls_certificate};
    items[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->tls_key};
    items[2] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
  }
  errno = 0;
  s->daemon = MHD_start_daemon(
      flags, o->port, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, log_trouble, s,
      MHD_OPTION_SOCK_ADDR, at->ai_addr, MHD_OPTION_THREAD_POOL_SIZE, o->http_threads,
      MHD_OPTION_URI_LOG_CALLBACK, on_target, s, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
      MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->max_header_bytes + CONNECTION_EXTRA,
      MHD_OPTION_CONNECTION_LIMIT, o->max_connections, MHD_OPTION_CONNECTION_TIMEOUT,
      o->idle_timeout_s, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
  if (s->daemon == NULL) {
    return error_set_errno(err, GLV_E_IO, errno, "%s:%u cannot be served%s", o->host,
                           (unsigned)o->port,
                           o->tls_certificate != NULL ? " (are certificate and key right?)" : "");
  }
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
  s->port = info != NULL ? info->port : o->port;
  return GLV_OK;
}

glv_status http_start(server *s, glv_error *err) {
  struct addrinfo *address = NULL;
  TRY(find_address(&s->options, &address, err));
  glv_status status = check_address(s, address, err);
  status = status == GLV_OK ? start_daemon(s, address, err) : status;
  freeaddrinfo(address);
  return status;
}

void http_quiesce(server *s) {
  s->listen_fd = MHD_quiesce_daemon(s->daemon);
  if (s->listen_fd >= 0) {
    (void)shutdown(s->listen_fd, SHUT_RDWR); /* who comes now is refused instead of kept waiting */
  }
}

void http_stop(server *s) {
  MHD_stop_daemon(s->daemon);
  s->daemon = NULL;
  if (s->listen_fd >= 0) {
    close(s->listen_fd);
  }
}
