/* The life of the server: what is opened before requests come, and in which order all of it ends.
 */
#include "server/server.h"

#include "server/http.h"
#include "server/jobs.h"
#include "server/multipart.h"
#include "server/serial.h"
#include "server/tables_private.h"

bool server_work_begin(server *s) {
  atomic_fetch_add(&s->outstanding, 1);
  if (!atomic_load(&s->aborting)) {
    return true;
  }
  server_work_done(s);
  return false;
}

/* The last that the caller does with the server, which may be gone right afterwards. */
void server_work_done(server *s) { atomic_fetch_sub(&s->outstanding, 1); }

bool server_submit(server *s, work *item) {
  if (!server_work_begin(s)) {
    return false;
  }
  workers_submit(s->workers, item);
  return true;
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

glv_status server_data_dir(glv_env *env, const char *database, const char *data_dir, char **ret,
                           glv_error *err) {
  CLEANUP(buf_dispose) buf path;
  buf_init(&path, env, SIZE_MAX / 2);
  const str scheme = STR("file://");
  if (data_dir == NULL && str_starts_with(str_of(database), scheme)) {
    database += scheme.size;
  }
  TRY(data_dir != NULL ? buf_append_str(&path, str_of(data_dir), err)
                       : buf_printf(&path, err, "%s/.glaive", database));
  *ret = buf_detach(&path);
  return GLV_OK;
}

static glv_status start(server *s, glv_error *err) {
  const server_options *o = &s->options;
  TRY(glv_connect(s->env, o->database, NULL, &s->conn, err));
  TRY(server_data_dir(s->env, o->database, o->data_dir, &s->data_dir, err));
  TRY(keys_open(s->env, s->data_dir, &s->keys, err));
  TRY(router_new(s->env, &s->router, err));
  TRY(table_cache_new(s->env, &s->tables, err));
  TRY(env_io(s->env)->make_dirs(env_io(s->env)->user, s->data_dir, err));
  TRY(multipart_new(s->env, s->data_dir, &s->multipart, err));
  TRY(jobs_open(s->env, s->conn, s->data_dir, &s->jobs, err));
  TRY(serial_new(s->env, &s->serial, err));
  TRY(metrics_new(s->env, router_count(s->router), &s->metrics, err));
  if (!o->no_access_log) {
    TRY(access_log_new(s->env, o->access_log, &s->log, err));
  }
  TRY(workers_new(s->env, env_threads(s->env), &s->workers, err));
  TRY(watch_start(s, err));
  return http_start(s, err);
}

glv_status server_start(glv_env *env, const server_options *options, server **ret, glv_error *err) {
  server *s = mem_zalloc(env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->env = env;
  s->options = *options;
  s->listen_fd = -1;
  mutex_init(&s->lock);
  condition_init(&s->changed);
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

/* Until no request runs, or the time is over. */
static void await_requests(server *s, unsigned grace_ms) {
  const int64_t until_ns = server_clock_ns() + (int64_t)grace_ms * 1000000;
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  while (s->running != NULL && server_clock_ns() < until_ns) {
    condition_wait_ms(&s->changed, held, 50);
  }
}

/* Every suspended connection is in the hands of work that resumes it when it is done, so when none
 * is outstanding none is suspended. */
static void await_work(server *s) {
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  for (exchange *x = s->running; x != NULL; x = x->next) {
    exchange_fire(x, END_STOP);
  }
  while (atomic_load(&s->outstanding) != 0) {
    condition_wait_ms(&s->changed, held, 5);
  }
}

void server_stop(server *s, unsigned grace_ms) {
  atomic_store(&s->stopping, true);
  http_quiesce(s);
  await_requests(s, grace_ms);
  atomic_store(&s->aborting, true);
  await_work(s);
  jobs_stop(s->jobs);
  http_stop(s);
}

void server_free(server *s) {
  if (s == NULL) {
    return;
  }
  watch_stop(s);
  workers_free(s->workers);
  access_log_free(s->log);
  metrics_free(s->metrics);
  router_free(s->router);
  keys_free(s->keys);
  jobs_free(s->jobs);
  multipart_free(s->multipart);
  table_cache_free(s->tables);
  serial_free(s->serial);
  glv_conn_free(s->conn);
  mutex_dispose(&s->lock);
  condition_dispose(&s->changed);
  mem_free(s->env, s->data_dir);
  mem_free(s->env, s);
}
