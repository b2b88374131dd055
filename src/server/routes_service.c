/* Routes of the server itself: whether it lives, whether it can serve, and what it did. */
#include "server/jobs.h"
#include "server/openapi.h"
#include "server/server_private.h"

static glv_status health(request *r, glv_error *err) {
  return answer_bytes(r, 200, "application/json", STR("{\"status\":\"ok\"}"), err);
}

/* The database can be read, and the server does not stop: the latter is answered before. */
static glv_status ready(request *r, glv_error *err) {
  glv_page_options options = GLV_OPTIONS(glv_page_options);
  glv_list *list = NULL;
  options.flags = GLV_PAGE_LIMIT;
  options.limit = 1;
  if (glv_namespace_list(r->server->conn, (glv_id){NULL, 0}, &options, &list, err) != GLV_OK) {
    err->http_status = 503;
    return err->code;
  }
  glv_list_free(list);
  return answer_bytes(r, 200, "application/json", STR("{\"status\":\"ready\"}"), err);
}

static const route *route_of(void *context, size_t number) { return router_route(context, number); }

static glv_status print_state(server *s, buf *out, glv_error *err) {
  uint64_t used = 0;
  uint64_t peak = 0;
  glv_env_memory(s->env, &used, &peak);
  mutex_lock(&s->lock);
  const size_t running = s->running_count;
  mutex_unlock(&s->lock);
  size_t jobs_queued = 0;
  size_t jobs_running = 0;
  jobs_counts(s->jobs, &jobs_queued, &jobs_running);
  TRY(metrics_print_one(out, "jobs_queued", "gauge", "Jobs that wait.", jobs_queued, err));
  TRY(metrics_print_one(out, "jobs_running", "gauge", "Jobs under way.", jobs_running, err));
  TRY(metrics_print_one(out, "requests_running", "gauge", "Requests under way.", running, err));
  TRY(metrics_print_one(out, "uploads_running", "gauge", "Long bodies being read.",
                        atomic_load(&s->uploads), err));
  TRY(metrics_print_one(out, "memory_used_bytes", "gauge", "Memory of the environment in use.",
                        used, err));
  TRY(metrics_print_one(out, "memory_peak_bytes", "gauge", "The most memory that was in use.", peak,
                        err));
  return metrics_print_one(out, "access_log_dropped_total", "counter",
                           "Lines of the access log that were left out.",
                           s->log != NULL ? access_log_dropped(s->log) : 0, err);
}

static glv_status show_metrics(request *r, glv_error *err) {
  server *s = r->server;
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, r->env, SIZE_MAX / 2);
  TRY(metrics_print(s->metrics, route_of, s->router, &text, err));
  TRY(print_state(s, &text, err));
  return answer_bytes(r, 200, "text/plain; version=0.0.4", buf_str(&text), err);
}

static glv_status describe_interface(request *r, glv_error *err) {
  json *document = NULL;
  TRY(openapi_document(r->env, &document, err));
  return answer_json(r, 200, document, err);
}

const route service_routes[] = {
    {"/health", ROUTE_GET | ROUTE_OPEN | ROUTE_INLINE, ACCESS_NONE, health,
     "Whether the server lives."},
    {"/ready", ROUTE_GET | ROUTE_OPEN, ACCESS_NONE, ready, "Whether the server can serve."},
    {"/metrics", ROUTE_GET | ROUTE_LIST, ACCESS_READ, show_metrics,
     "What the server did, for Prometheus."},
    {"/openapi.json", ROUTE_GET | ROUTE_OPEN, ACCESS_NONE, describe_interface,
     "The description of this interface."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
