/*
 * The HTTP side, over libmicrohttpd. Its threads only parse and send:
 *
 *   request line  -> on_target    an exchange is made
 *   headers       -> on_request   the route is found; what is refused is refused here
 *   body          -> on_request   collected, so that a slow client holds no thread
 *   end           -> on_request   the connection is suspended, a worker runs the handler and
 *                                 resumes it
 *   resumed       -> on_request   the answer is queued
 *   sent, or gone -> on_completed the exchange ends
 */
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/encoding.h"
#include "base/error.h"
#include "server/server_private.h"
#include "wire/status.h"

#define ANNOUNCED_VERSION "0.4.0"

enum {
  SENT_WITHOUT_READING = 1 << 20, /* bytes of a refused body that are read over before the answer */
  MHD_EXTRA_BYTES = 16 << 10      /* of a connection's memory, for answers */
};

/* ---- the request ---- */

static void exchange_free(exchange *x) {
  if (x == NULL) {
    return;
  }
  glv_env *env = x->server->env;
  if (x->response != NULL) {
    MHD_destroy_response(x->response);
  }
  for (const open_table *t = x->tables; t != NULL; t = t->next) {
    glv_table_free(t->table);
  }
  js_free(x->document);
  buf_dispose(&x->body);
  glv_cancel_free(x->request.cancel);
  arena_dispose(&x->memory);
  mem_free(env, x);
}

static void *on_target(void *context, const char *text, struct MHD_Connection *connection) {
  server *s = context;
  exchange *x = mem_zalloc(s->env, sizeof *x);
  if (x == NULL) {
    return NULL;
  }
  arena_init_small(&x->memory, s->env);
  buf_init(&x->body, s->env, SIZE_MAX / 2);
  x->server = s;
  x->connection = connection;
  x->started_ns = env_now_ns(s->env);
  x->request.server = s;
  x->request.env = s->env;
  x->request.memory = &x->memory;
  x->request.http = x;
  x->target = arena_strdup(&x->memory, str_of(text));
  return x;
}

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

/* The client's name of the request if it is fit to be sent back, else a new one. */
static glv_status name_request(exchange *x, glv_error *err) {
  enum { LONGEST = 128 };
  const char *given = request_header(&x->request, "x-request-id");
  const size_t size = given != NULL ? strlen(given) : 0;
  if (size > 0 && size <= LONGEST) {
    x->request.id_text = given;
    return GLV_OK;
  }
  char text[UUID_TEXT_SIZE];
  TRY(uuid_random(x->server->env, text, err));
  x->request.id_text = arena_strdup(&x->memory, str_slice(text, sizeof text));
  return x->request.id_text != NULL ? GLV_OK : error_nomem(err, sizeof text);
}

static glv_status refuse(exchange *x, unsigned http_status, glv_error *error) {
  answer_error(x, http_status, error);
  return error->code;
}

static glv_status find_route(exchange *x, const char *method, glv_error *err) {
  target t;
  const unsigned bit = strcmp(method, "GET") == 0    ? ROUTE_GET
                       : strcmp(method, "POST") == 0 ? ROUTE_POST
                                                     : 0;
  request *r = &x->request;
  const glv_status status = router_find(x->server->router, bit, x->target, &x->memory, &t, err);
  r->path = t.path;
  r->has_slash = t.has_slash;
  r->id = t.id;
  r->name = t.name;
  r->params = t.params;
  r->param_count = t.param_count;
  x->route = t.route;
  TRY(status);
  if (t.route != NULL) {
    return GLV_OK;
  }
  if (t.methods == 0) {
    (void)error_set(err, GLV_E_UNSUPPORTED, "there is no route '%s'", t.path);
    return refuse(x, MHD_HTTP_NOT_FOUND, err);
  }
  (void)error_set(err, GLV_E_UNSUPPORTED, "the route '%s' does not answer the method %s", t.path,
                  method);
  const glv_status refused = refuse(x, MHD_HTTP_METHOD_NOT_ALLOWED, err);
  const char *allowed = t.methods == ROUTE_GET    ? "GET"
                        : t.methods == ROUTE_POST ? "POST"
                                                  : "GET, POST";
  TRY(answer_header(r, "allow", allowed, NULL));
  return refused;
}

static glv_status begin_request(exchange *x, const char *method, glv_error *err) {
  request *r = &x->request;
  r->method = arena_strdup(&x->memory, str_of(method));
  r->id_text = "";
  r->path = "";
  if (r->method == NULL || x->target == NULL ||
      MHD_get_connection_values(x->connection, MHD_HEADER_KIND, take_header, x) < 0) {
    return error_nomem(err, 0);
  }
  TRY(name_request(x, err));
  TRY(glv_cancel_new(x->server->env, &r->cancel, err));
  return find_route(x, method, err);
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
  x->state = EXCHANGE_ANSWERING;
  const enum MHD_Result result = MHD_queue_response(x->connection, x->status, response);
  MHD_destroy_response(response);
  x->response = NULL;
  return result;
}

static void answer_failure(exchange *x, const glv_error *error) {
  answer_error(x, wire_http_status(error), error);
}

static void handle(void *context) {
  exchange *x = context;
  glv_error error = {0};
  if (x->route->handle(&x->request, &error) != GLV_OK) {
    answer_failure(x, &error);
  } else if (x->response == NULL) {
    (void)error_set(&error, GLV_E_INTERNAL, "the route '%s' gave no answer", x->route->pattern);
    answer_failure(x, &error);
  }
  MHD_resume_connection(x->connection);
}

static enum MHD_Result start_handler(exchange *x) {
  x->state = EXCHANGE_HANDLING;
  x->work = (work){.run = handle, .context = x};
  MHD_suspend_connection(x->connection);
  workers_submit(x->server->workers, &x->work);
  return MHD_YES;
}

/* ---- the body ---- */

/* After this the rest of the body is read over. */
static void refuse_body(exchange *x, unsigned http_status, glv_error *error) {
  answer_error(x, http_status, error);
  buf_dispose(&x->body);
  x->state = EXCHANGE_REFUSED;
}

static void take_body(exchange *x, const char *data, size_t size) {
  glv_error error;
  const size_t limit = x->server->options.max_json_bytes;
  x->bytes_in += size;
  if (x->state == EXCHANGE_REFUSED) {
    return;
  }
  if (x->body.size + size > limit) {
    (void)error_set(&error, GLV_E_LIMIT, "the body is longer than %zu bytes", limit);
    refuse_body(x, MHD_HTTP_CONTENT_TOO_LARGE, &error);
  } else if (buf_append(&x->body, data, size, &error) != GLV_OK) {
    refuse_body(x, wire_http_status(&error), &error);
  }
}

static enum MHD_Result begin(exchange *x, const char *method) {
  glv_error error;
  x->state = EXCHANGE_BODY;
  if (begin_request(x, method, &error) != GLV_OK) {
    if (x->response == NULL) {
      answer_failure(x, &error);
    }
    x->state = EXCHANGE_REFUSED;
  }
  return MHD_YES;
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
    return MHD_NO;
  }
  if (x->state == EXCHANGE_NEW) {
    return begin(x, method);
  }
  if (*upload_size > 0) {
    take_body(x, upload_data, *upload_size);
    *upload_size = 0;
    return x->state == EXCHANGE_REFUSED && x->bytes_in > SENT_WITHOUT_READING ? MHD_NO : MHD_YES;
  }
  return x->state == EXCHANGE_BODY ? start_handler(x) : send_answer(x);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode how) {
  (void)context;
  (void)connection;
  (void)how;
  exchange_free(*state);
  *state = NULL;
}

/* The path is decoded by the router, after it was split. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/* ---- the life of the server ---- */

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

static glv_status start_daemon(server *s, const struct addrinfo *at, glv_error *err) {
  const server_options *o = &s->options;
  const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                         (at->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0) |
                         (o->tls_certificate != NULL ? MHD_USE_TLS : 0);
  struct MHD_OptionItem items[8] = {0};
  size_t count = 0;
  if (o->tls_certificate != NULL) {
    items[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
                                             (void *)(uintptr_t)o->tls_certificate};
    items[count++] =
        (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->tls_key};
  }
  items[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
  errno = 0;
  s->daemon = MHD_start_daemon(
      flags, o->port, NULL, NULL, on_request, s, MHD_OPTION_SOCK_ADDR, at->ai_addr,
      MHD_OPTION_THREAD_POOL_SIZE, o->http_threads, MHD_OPTION_URI_LOG_CALLBACK, on_target, s,
      MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
      NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->max_header_bytes + MHD_EXTRA_BYTES,
      MHD_OPTION_CONNECTION_LIMIT, o->max_connections, MHD_OPTION_CONNECTION_TIMEOUT,
      o->idle_timeout_s, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
  if (s->daemon == NULL) {
    return error_set_errno(err, GLV_E_IO, errno, "%s:%u cannot be served%s", o->host,
                           (unsigned)o->port,
                           o->tls_certificate != NULL ? " (is the certificate right?)" : "");
  }
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
  s->port = info != NULL ? info->port : o->port;
  return GLV_OK;
}

static void fill_defaults(server_options *o) {
  o->host = o->host != NULL ? o->host : "127.0.0.1";
  o->max_header_bytes = o->max_header_bytes != 0 ? o->max_header_bytes : 64u << 10;
  o->max_json_bytes = o->max_json_bytes != 0 ? o->max_json_bytes : 64u << 20;
  o->request_timeout_ms = o->request_timeout_ms != 0 ? o->request_timeout_ms : 300000;
  o->idle_timeout_s = o->idle_timeout_s != 0 ? o->idle_timeout_s : 60;
  o->max_connections = o->max_connections != 0 ? o->max_connections : 1000;
  o->max_requests_per_key = o->max_requests_per_key != 0 ? o->max_requests_per_key : 16;
  o->max_uploads = o->max_uploads != 0 ? o->max_uploads : 16;
  o->http_threads = o->http_threads != 0 ? o->http_threads : 2;
}

static glv_status start(server *s, glv_error *err) {
  struct addrinfo *address = NULL;
  TRY(glv_connect(s->env, s->options.database, NULL, &s->conn, err));
  TRY(router_new(s->env, &s->router, err));
  TRY(workers_new(s->env, env_threads(s->env), &s->workers, err));
  TRY(find_address(&s->options, &address, err));
  const glv_status status = start_daemon(s, address, err);
  freeaddrinfo(address);
  return status;
}

glv_status server_start(glv_env *env, const server_options *options, server **ret, glv_error *err) {
  server *s = mem_zalloc(env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->env = env;
  s->options = *options;
  fill_defaults(&s->options);
  const glv_status status = start(s, err);
  if (status != GLV_OK) {
    server_free(s);
    return status;
  }
  *ret = s;
  return GLV_OK;
}

uint16_t server_port(const server *s) { return s->port; }
const char *server_scheme(const server *s) {
  return s->options.tls_certificate != NULL ? "https" : "http";
}

void server_stop(server *s, unsigned grace_ms) {
  (void)grace_ms;
  atomic_store(&s->stopping, true);
  const MHD_socket listening = MHD_quiesce_daemon(s->daemon);
  workers_free(s->workers); /* what runs is awaited, so that no connection stays suspended */
  s->workers = NULL;
  MHD_stop_daemon(s->daemon);
  s->daemon = NULL;
  (void)listening;
}

void server_free(server *s) {
  if (s == NULL) {
    return;
  }
  workers_free(s->workers);
  router_free(s->router);
  glv_conn_free(s->conn);
  mem_free(s->env, s);
}
