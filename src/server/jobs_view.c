/* What jobs do to views, and how they are begun. */
#include "server/jobs_private.h"
#include "server/server_private.h"
#include "server/tables.h"

/* ---- refresh ---- */

static glv_status keep_result(live_job *l, const glv_refresh_result *result, glv_error *err) {
  const wire_refresh_result told = {.mode = result->mode,
                                    .rows_written = result->rows_written,
                                    .source_version = result->source_version,
                                    .version = result->version,
                                    .rows_removed = result->rows_removed,
                                    .duration_ms = result->duration_ms,
                                    .source_rows_scanned = result->source_rows_scanned,
                                    .reason = result->reason};
  CLEANUP(js_cleanup) json *body = NULL;
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, l->owner->env, SIZE_MAX / 2);
  TRY(wire_refresh_result_write(&told, &body, err));
  TRY(js_print(body, 0, 0, &text, err));
  l->result = buf_detach(&text);
  return GLV_OK;
}

static glv_status refresh_view(live_job *l, cancel_token *cancel, glv_error *err) {
  const wire_refresh *what = &l->refresh;
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  glv_refresh_result result = GLV_OPTIONS(glv_refresh_result);
  glv_view *view = NULL;
  options.flags = what->has_source_version ? GLV_REFRESH_SOURCE_VERSION : 0;
  options.source_version = what->source_version;
  options.full = what->full;
  options.require = what->require_incremental;
  options.incarnation = what->expected_incarnation;
  options.cancel = cancel;
  TRY(glv_view_open(l->owner->conn, l->view, NULL, &view, err));
  const glv_status status = glv_view_refresh(view, &options, &result, err);
  glv_view_free(view);
  TRY(status);
  /* The refresh is done whether or not there is memory to tell of it. */
  return keep_result(l, &result, err);
}

/* The view is there, of this incarnation if one is expected; *ret: its incarnation, or NULL. */
static glv_status check_view(request *r, const char *expected, const char **ret, glv_error *err) {
  glv_view *view = NULL;
  TRY(glv_view_open(r->server->conn, r->id, NULL, &view, err));
  const char *found = glv_view_incarnation(view);
  *ret = found != NULL ? arena_strdup(r->memory, str_of(found)) : NULL;
  const bool fits = expected == NULL || (*ret != NULL && strcmp(*ret, expected) == 0);
  glv_view_free(view);
  return fits ? GLV_OK
              : FAIL(err, GLV_E_STALE_VIEW,
                     "view '%s' is not the one that was expected: it was dropped and recreated",
                     r->id.parts[r->id.count - 1]);
}

static const char *identity_of(request *r, const live_job *l) {
  const wire_refresh *w = &l->refresh;
  return arena_printf(r->memory, "%s %d %d %llu %d %s", l->target, w->full, w->has_source_version,
                      (unsigned long long)w->source_version, w->require_incremental,
                      w->expected_incarnation != NULL ? w->expected_incarnation : "");
}

/* The same job, when it has not begun: it will see what the caller has just written. */
static glv_status join(request *r, jobs *j, const char *identity, jobs_begun *ret, glv_error *err) {
  job_item *item = job_runner_find(j->runner, identity);
  if (item != NULL) {
    const live_job *same = job_context(item);
    ret->id = arena_strdup(r->memory, str_of(same->id));
    job_unref(item);
    return ret->id != NULL ? GLV_OK : error_nomem(err, 0);
  }
  ret->id = NULL;
  return GLV_OK;
}

static glv_status prepare_refresh(live_job *l, const wire_refresh *what, glv_error *err) {
  l->run = refresh_view;
  l->refresh = *what;
  if (what->expected_incarnation != NULL) {
    l->refresh.expected_incarnation = arena_strdup(&l->memory, str_of(what->expected_incarnation));
    return l->refresh.expected_incarnation != NULL ? GLV_OK : error_nomem(err, 0);
  }
  return GLV_OK;
}

/* l is taken over in every case. */
static glv_status submit_or_join(request *r, live_job *l, const json *spec, jobs_begun *ret,
                                 glv_error *err) {
  jobs *j = l->owner;
  const char *identity = identity_of(r, l);
  CLEANUP(mutex_cleanup) mutex *held = &j->lock;
  mutex_lock(held);
  glv_status status = identity != NULL ? GLV_OK : error_nomem(err, 0);
  status = status == GLV_OK && !j->is_stopped ? join(r, j, identity, ret, err) : status;
  if (status != GLV_OK || (!j->is_stopped && ret->id != NULL)) {
    live_job_free(l);
    return status;
  }
  return jobs_submit(r, l, spec, identity, ret, err);
}

glv_status jobs_begin_refresh(request *r, const wire_refresh *what, const json *spec,
                              jobs_begun *ret, glv_error *err) {
  const char *incarnation = NULL;
  live_job *l = NULL;
  ret->id = NULL;
  TRY(jobs_check_name(r->server->jobs, r->id, err));
  TRY(check_view(r, what->expected_incarnation, &incarnation, err));
  TRY(live_job_new(r, WIRE_JOB_REFRESH, &l, err));
  const glv_status status = prepare_refresh(l, what, err);
  if (status != GLV_OK) {
    live_job_free(l);
    return status;
  }
  return submit_or_join(r, l, spec, ret, err);
}

/* ---- first fill ---- */

static glv_status nothing_to_fill(live_job *l, cancel_token *cancel, glv_error *err) {
  (void)l;
  (void)cancel;
  (void)err;
  return GLV_OK;
}

static glv_status fill_view(live_job *l, cancel_token *cancel, glv_error *err) {
  TRY(refresh_view(l, cancel, err));
  mem_free(l->owner->env, l->result); /* a creation has none */
  l->result = NULL;
  return GLV_OK;
}

glv_status jobs_begin_fill(request *r, const json *spec, bool no_data, jobs_begun *ret,
                           glv_error *err) {
  live_job *l = NULL;
  jobs *j = r->server->jobs;
  TRY(live_job_new(r, WIRE_JOB_CREATE, &l, err));
  l->run = no_data ? nothing_to_fill : fill_view;
  CLEANUP(mutex_cleanup) mutex *held = &j->lock;
  mutex_lock(held);
  return jobs_submit(r, l, spec, NULL, ret, err);
}

/* ---- drop ---- */

static glv_status drop_view(live_job *l, cancel_token *cancel, glv_error *err) {
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.cancel = cancel;
  return glv_view_drop(l->owner->conn, l->view, &options, err);
}

glv_status jobs_begin_drop(request *r, jobs_begun *ret, glv_error *err) {
  jobs *j = r->server->jobs;
  const char *incarnation = NULL;
  live_job *l = NULL;
  glv_error error;
  TRY(jobs_check_name(j, r->id, err));
  const glv_status status = check_view(r, NULL, &incarnation, &error);
  /* A definition that nobody can read is no reason to keep its view. */
  if (status != GLV_OK && status != GLV_E_CORRUPT && status != GLV_E_UNSUPPORTED) {
    return error_pass(err, &error);
  }
  TRY(live_job_new(r, WIRE_JOB_DROP, &l, err));
  l->run = drop_view;
  server_table_forget(r, r->id);
  CLEANUP(mutex_cleanup) mutex *held = &j->lock;
  mutex_lock(held);
  if (!j->is_stopped) {
    job_runner_ask_key(j->runner, l->target); /* those before it stop, then its turn comes */
  }
  return jobs_submit(r, l, NULL, NULL, ret, err);
}

glv_status jobs_stop_view(request *r, glv_error *err) {
  const char *key = NULL;
  TRY(jobs_target(r->memory, r->id, &key, err));
  job_runner_stop_key(r->server->jobs->runner, key, NULL);
  return GLV_OK;
}
