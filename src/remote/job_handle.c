/* Handles of jobs of a server (rest-protocol.md 10). */
#include "backend/rows.h"
#include "base/checked.h"
#include "remote/job.h"
#include "remote/rows.h"
#include "remote/view_private.h"
#include "wire/members.h"

typedef struct remote_job {
  glv_job base;
  remote_conn *conn; /* a reference */
  char *id;          /* NULL = it was done when it was begun */
} remote_job;

static remote_job *job_of(const glv_job *j) { return (remote_job *)(uintptr_t)j; }

static void job_dispose(handle *h) {
  remote_job *j = (remote_job *)h;
  mem_free(h->env, j->id);
  handle_unref(&j->conn->base.handle);
  mem_free(h->env, j);
}

/* id is taken over in every case. */
static glv_status job_new(glv_conn *conn, char *id, glv_job **ret, glv_error *err) {
  glv_env *env = conn->handle.env;
  remote_job *j = mem_zalloc(env, sizeof *j);
  if (j == NULL) {
    mem_free(env, id);
    return error_nomem(err, sizeof *j);
  }
  handle_init(&j->base.handle, env, job_dispose);
  j->base.ops = &remote_ops;
  handle_ref(&conn->handle);
  j->conn = conn_of(conn);
  j->id = id;
  *ret = &j->base;
  return GLV_OK;
}

/* ---- beginning ---- */

glv_status remote_view_create_job(glv_conn *conn, glv_id id, const glv_view_def *def,
                                  const glv_view_options *options, glv_job **ret, glv_error *err) {
  char *job = NULL;
  TRY(remote_view_begin_create(conn, id, def, options, &job, err));
  return job_new(conn, job, ret, err);
}

glv_status remote_view_refresh_job(glv_view *view, const glv_refresh_options *options,
                                   glv_job **ret, glv_error *err) {
  char *job = NULL;
  TRY(remote_view_begin_refresh(view, options, &job, err));
  return job_new(view->conn, job, ret, err);
}

glv_status remote_view_drop_job(glv_conn *conn, glv_id id, const glv_call_options *options,
                                glv_job **ret, glv_error *err) {
  char *job = NULL;
  TRY(remote_view_begin_drop(conn, id, options, &job, err));
  return job_new(conn, job, ret, err);
}

void remote_conn_close(glv_conn *conn) { (void)conn; /* jobs are the server's */ }

/* ---- lists and events ---- */

static const route list_route_of_jobs = {"/v1/jobs/list", 0, GLV_E_UNSUPPORTED, "a list of jobs"};
static const route events_route = {"/v1/jobs/query_events", 0, GLV_E_JOB_NOT_FOUND, NULL};

/* sent: the token of this page; NULL = the first. */
static glv_status add_jobs(const json *body, const char *sent, glv_list *into, glv_error *err) {
  const json *jobs = NULL;
  TRY(wire_array(body, "jobs", &jobs, err));
  for (size_t i = 0; jobs != NULL && i < js_count(jobs); i++) {
    wire_job job;
    TRY(wire_job_entry_read(js_item(jobs, i), &job, err));
    if (job.id == NULL) {
      return FAIL(err, GLV_E_INVALID_INPUT, "a job without 'job_id'");
    }
    TRY(list_add(into, (glv_id){NULL, 0}, str_of(job.id), job.type, job.state_word, err));
  }
  const char *token = NULL;
  TRY(wire_text(body, WIRE_PAGE_TOKEN, &token, err));
  if (token != NULL && sent != NULL && strcmp(token, sent) == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the page token '%.64s' comes twice: the list has no end",
                token);
  }
  return token != NULL && token[0] != '\0' ? list_set_token(into, str_of(token), err) : GLV_OK;
}

glv_status remote_job_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                           glv_error *err) {
  (void)parent;
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(call_begin(&c, &conn_of(conn)->http, &list_route_of_jobs, (wire_target){0}, NULL, err));
  c.body = js_new_object();
  if (p->token != NULL) {
    TRY(wire_put_text(c.body, WIRE_PAGE_TOKEN, p->token, err));
  }
  if (p->has_limit) {
    TRY(js_put(c.body, "limit", js_new_int((int64_t)u64_min(p->limit, INT64_MAX)), err));
  }
  TRY(call_object(&c, &a, err));
  return call_read(&c, &a, add_jobs(a.root, p->token, into, err), err);
}

glv_status remote_job_events(glv_job *job, batch_reader *ret, glv_error *err) {
  const remote_job *j = job_of(job);
  CLEANUP(call_dispose) call c = {0};
  exchange *e = NULL;
  if (j->id == NULL) {
    return job_event_rows_reader(job->handle.env, NULL, 0, ret, err);
  }
  TRY(call_begin(&c, &j->conn->http, &events_route, (wire_target){0}, NULL, err));
  TRY(wire_job_id_write(j->id, &c.body, err));
  TRY(call_send(&c, &e, err));
  return remote_rows(j->conn, e, ret, err);
}

/* ---- what can be asked ---- */

glv_status remote_job_open(glv_conn *conn, const char *id, glv_job **ret, glv_error *err) {
  CLEANUP(answer_dispose) answer a = {0};
  wire_job job;
  char *copy = NULL;
  TRY(job_describe(conn_of(conn), id, &a, &job, err));
  TRY(remote_keep_id(conn->handle.env, id, &copy, err));
  return job_new(conn, copy, ret, err);
}

const char *remote_job_id(const glv_job *job) { return job_of(job)->id; }

static int32_t state_of(wire_job_state state) {
  switch (state) {
  case WIRE_JOB_QUEUED:
    return GLV_JOB_QUEUED;
  case WIRE_JOB_RUNNING:
    return GLV_JOB_RUNNING;
  case WIRE_JOB_DONE:
    return GLV_JOB_DONE;
  case WIRE_JOB_FAILED:
    return GLV_JOB_FAILED;
  case WIRE_JOB_CANCELLED:
    return GLV_JOB_CANCELLED;
  case WIRE_JOB_OTHER:
    break;
  }
  return GLV_JOB_UNKNOWN;
}

glv_status remote_job_status(glv_job *job, glv_job_info *ret, glv_error *err) {
  const remote_job *j = job_of(job);
  CLEANUP(answer_dispose) answer a = {0};
  wire_job told;
  *ret = (glv_job_info){.state = GLV_JOB_DONE};
  if (j->id == NULL) {
    return GLV_OK;
  }
  TRY(job_describe(j->conn, j->id, &a, &told, err));
  *ret = (glv_job_info){.state = state_of(told.state),
                        .done = told.done,
                        .total = told.total,
                        .created_ms = told.created_ms,
                        .finished_ms = told.finished_ms};
  (void)job_outcome(j->id, &told, &ret->error);
  return GLV_OK;
}

glv_status remote_job_wait(glv_job *job, uint32_t timeout_ms, glv_error *err) {
  const remote_job *j = job_of(job);
  const int64_t deadline_ns =
      timeout_ms != 0 ? env_now_ns(job->handle.env) + (int64_t)timeout_ms * 1000000 : 0;
  return j->id == NULL ? GLV_OK : job_await_until(j->conn, j->id, NULL, deadline_ns, NULL, err);
}

glv_status remote_job_result(glv_job *job, glv_refresh_result *ret, glv_error *err) {
  const remote_job *j = job_of(job);
  CLEANUP(answer_dispose) answer a = {0};
  wire_job told = {.state = WIRE_JOB_DONE};
  if (j->id != NULL) {
    TRY(job_describe(j->conn, j->id, &a, &told, err));
    TRY(job_outcome(j->id, &told, err));
  }
  if (told.state != WIRE_JOB_DONE) {
    return FAIL(err, GLV_E_BAD_STATE, "job '%s' is not over", j->id);
  }
  if (told.result == NULL && told.type != NULL && strcmp(told.type, WIRE_JOB_REFRESH) != 0) {
    return FAIL(err, GLV_E_BAD_STATE, "job '%s' was no refresh", j->id);
  }
  return remote_refresh_result(told.result, ret, err);
}

glv_status remote_job_cancel(glv_job *job, glv_error *err) {
  const remote_job *j = job_of(job);
  return j->id == NULL ? GLV_OK : job_cancel(j->conn, j->id, err);
}
