/* The life of an exchange, but for its conversation with the HTTP library. */
#include <microhttpd.h>

#include "server/tables_private.h"
#include "wire/status.h"

exchange *exchange_new(server *s, const char *target_text, struct MHD_Connection *connection) {
  exchange *x = mem_zalloc(s->env, sizeof *x);
  if (x == NULL) {
    return NULL;
  }
  arena_init_small(&x->memory, s->env);
  buf_init(&x->body, s->env, SIZE_MAX / 2);
  mutex_init(&x->lock);
  atomic_init(&x->refs, 1);
  x->server = s;
  x->connection = connection;
  x->started_ns = server_clock_ns();
  x->started_at = env_now_ns(s->env);
  x->route_number = SIZE_MAX;
  x->request.server = s;
  x->request.env = s->env;
  x->request.memory = &x->memory;
  x->request.http = x;
  x->request.id_text = "";
  x->request.method = "";
  x->request.path = "";
  x->target = arena_strdup(&x->memory, str_of(target_text));
  return x;
}

static void exchange_free(exchange *x) {
  glv_env *env = x->server->env;
  if (x->response != NULL) {
    MHD_destroy_response(x->response);
  }
  tables_release(x);
  upload_free(x->upload);
  js_free(x->document);
  buf_dispose(&x->body);
  glv_cancel_free(x->request.cancel);
  if (x->key != NULL) {
    atomic_fetch_sub(&x->key->running, 1);
    key_unref(x->key);
  }
  mutex_dispose(&x->lock);
  arena_dispose(&x->memory);
  mem_free(env, x);
}

void exchange_unref(exchange *x) {
  if (x != NULL && atomic_fetch_sub(&x->refs, 1) == 1) {
    exchange_free(x);
  }
}

glv_status server_id_key(arena *memory, glv_id id, str *ret, glv_error *err) {
  size_t size = 0;
  for (size_t i = 0; i < id.count; i++) {
    size += strlen(id.parts[i]) + 1;
  }
  char *text = arena_alloc(memory, size);
  if (text == NULL) {
    return error_nomem(err, size);
  }
  *ret = str_slice(text, size);
  for (size_t i = 0; i < id.count; i++) {
    const size_t part = strlen(id.parts[i]) + 1;
    memcpy(text, id.parts[i], part);
    text += part;
  }
  return GLV_OK;
}

/* A handler that was told to stop says that it was cancelled; the client is told why. */
static void explain_cancel(const exchange *x, glv_error *error) {
  const int end = atomic_load(&x->end);
  if (end == END_TIME && (error->code == GLV_E_CANCELLED || error->code == GLV_E_TIMEOUT)) {
    (void)error_set(error, GLV_E_TIMEOUT,
                    "the request passed its time limit; nothing was committed");
  } else if (end == END_STOP && error->code == GLV_E_CANCELLED) {
    (void)error_set(error, GLV_E_UNAVAILABLE, "the server stops; nothing was committed");
  }
}

void exchange_handle(exchange *x) {
  glv_error error = {0};
  /* It may have waited for long before its turn came. */
  glv_status status = atomic_load(&x->end) == END_NOT
                          ? GLV_OK
                          : error_set(&error, GLV_E_CANCELLED, "the request was given up");
  status = status == GLV_OK ? x->route->handle(&x->request, &error) : status;
  if (status != GLV_OK) {
    explain_cancel(x, &error);
    answer_error(x, wire_http_status(&error), &error);
  } else if (x->response == NULL) {
    (void)error_set(&error, GLV_E_INTERNAL, "the route '%s' gave no answer", x->route->pattern);
    answer_error(x, wire_http_status(&error), &error);
  }
  atomic_store(&x->deadline_ns, 0); /* the limit is for the handler; a slow reader has another */
}
