/* Jobs of an embedded connection. A job owns what its work needs and runs the blocking form of the
 * call. Jobs of one view stand in line. The runner is stopped when the caller lets go of the
 * connection, not with its last reference: running work holds references of its own.
 */
#include "backend/rows.h"
#include "local/local_private.h"

enum { JOB_THREADS = 2 };

typedef enum work_kind { WORK_CREATE, WORK_REFRESH, WORK_DROP } work_kind;

/* What a job does, and with what. */
typedef struct local_work {
  glv_env *env;
  work_kind kind;
  glv_conn *conn; /* a reference */
  ident id;
  glv_view_plan *plan; /* WORK_CREATE: a reference */
  glv_view *view;      /* WORK_REFRESH: a reference */
  char *incarnation;
  uint32_t flags;
  glv_refresh_options refresh;
  glv_refresh_result result; /* written before the job is over, read afterwards */
} local_work;

typedef struct local_job {
  glv_job base;
  job_item *job; /* a reference */
} local_job;

static local_job *job_of(const glv_job *j) { return (local_job *)(uintptr_t)j; }
static local_work *work_of(const glv_job *j) { return job_context(job_of(j)->job); }

/* ---- work ---- */

static void work_dispose(void *context) {
  local_work *w = context;
  glv_env *env = w->env;
  if (w->plan != NULL) {
    handle_unref(&w->plan->handle);
  }
  if (w->view != NULL) {
    handle_unref(&w->view->handle);
  }
  ident_dispose(env, &w->id);
  mem_free(env, w->incarnation);
  handle_unref(&w->conn->handle);
  mem_free(env, w);
  env_unref(env);
}

static glv_status work_run(void *context, cancel_token *cancel, glv_error *err) {
  local_work *w = context;
  const glv_id id = ident_id(&w->id);
  switch (w->kind) {
  case WORK_CREATE: {
    const glv_view_options o = {sizeof o, w->flags, cancel};
    return local_view_plan_create(w->plan, id, &o, NULL, err);
  }
  case WORK_REFRESH:
    w->refresh.cancel = cancel;
    return local_view_refresh(w->view, &w->refresh, &w->result, err);
  case WORK_DROP: {
    const glv_call_options o = {sizeof o, w->flags, cancel};
    return local_view_drop(w->conn, id, &o, err);
  }
  }
  return FAIL(err, GLV_E_INTERNAL, "a job of kind %d", (int)w->kind);
}

static glv_status work_new(glv_conn *conn, work_kind kind, glv_id id, uint32_t flags,
                           local_work **ret, glv_error *err) {
  glv_env *env = conn->handle.env;
  local_work *w = mem_zalloc(env, sizeof *w);
  if (w == NULL) {
    return error_nomem(err, sizeof *w);
  }
  handle_ref(&conn->handle);
  *w = (local_work){.env = env_ref(env), .kind = kind, .conn = conn, .flags = flags};
  const glv_status status = ident_copy(env, id, &w->id, err);
  if (status != GLV_OK) {
    work_dispose(w);
    return status;
  }
  *ret = w;
  return GLV_OK;
}

/* ---- jobs ---- */

static void local_job_dispose(handle *h) {
  local_job *j = (local_job *)h;
  job_unref(j->job);
  mem_free(h->env, j);
}

static glv_status submit_to(local_conn *conn, const job_work *work, job_item **ret,
                            glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &conn->lock;
  mutex_lock(held);
  glv_status status = GLV_OK;
  if (conn->is_closed) {
    status = FAIL(err, GLV_E_BAD_STATE, "no job begins any more: the connection was released");
  } else if (conn->jobs == NULL) {
    status = job_runner_new(conn->base.handle.env, JOB_THREADS, &conn->jobs, err);
  }
  if (status != GLV_OK) {
    work->dispose(work->context);
    return status;
  }
  return job_submit(conn->jobs, work, ret, err);
}

/* The work is taken over in every case. */
static glv_status submit(local_work *w, glv_cancel *parent, glv_job **ret, glv_error *err) {
  glv_env *env = w->env;
  local_job *j = mem_zalloc(env, sizeof *j);
  if (j == NULL) {
    work_dispose(w);
    return error_nomem(err, sizeof *j);
  }
  handle_init(&j->base.handle, env, local_job_dispose);
  j->base.ops = &local_ops;
  const job_work work = {.run = work_run,
                         .dispose = work_dispose,
                         .context = w,
                         .parent = parent,
                         .key = IDENT_TEXT(ident_id(&w->id))};
  const glv_status status = submit_to(conn_of(w->conn), &work, &j->job, err);
  if (status != GLV_OK) {
    handle_unref(&j->base.handle);
    return status;
  }
  *ret = &j->base;
  return GLV_OK;
}

glv_status local_view_create_job(glv_conn *conn, glv_id id, const glv_view_def *def,
                                 const glv_view_options *options, glv_job **ret, glv_error *err) {
  const glv_call_options call = {.struct_size = sizeof call, .cancel = options->cancel};
  local_work *w = NULL;
  glv_view_plan *plan = NULL;
  TRY(local_view_prepare(conn, def, &call, &plan, err));
  const glv_status status = work_new(conn, WORK_CREATE, id, options->flags, &w, err);
  if (status != GLV_OK) {
    handle_unref(&plan->handle);
    return status;
  }
  w->plan = plan;
  return submit(w, options->cancel, ret, err);
}

glv_status local_view_refresh_job(glv_view *view, const glv_refresh_options *options, glv_job **ret,
                                  glv_error *err) {
  const glv_id id = ident_id(&view_of(view)->table->base.id);
  local_work *w = NULL;
  TRY(work_new(view->conn, WORK_REFRESH, id, 0, &w, err));
  handle_ref(&view->handle);
  w->view = view;
  w->refresh = *options;
  if (options->incarnation != NULL) {
    w->incarnation = mem_strndup(w->env, options->incarnation, strlen(options->incarnation));
    w->refresh.incarnation = w->incarnation;
    if (w->incarnation == NULL) {
      work_dispose(w);
      return error_nomem(err, strlen(options->incarnation));
    }
  }
  return submit(w, options->cancel, ret, err);
}

glv_status local_view_drop_job(glv_conn *conn, glv_id id, const glv_call_options *options,
                               glv_job **ret, glv_error *err) {
  local_work *w = NULL;
  glv_view *view = NULL;
  /* A view that is not there, or is none, is no job. */
  if ((options->flags & GLV_CALL_IF_NEEDED) == 0) {
    TRY(local_view_open(conn, id, options, &view, err));
    handle_unref(&view->handle);
  }
  TRY(work_new(conn, WORK_DROP, id, options->flags, &w, err));
  local_conn *c = conn_of(conn);
  mutex_lock(&c->lock);
  if (c->jobs != NULL) {
    job_runner_ask_key(c->jobs, IDENT_TEXT(id));
  }
  mutex_unlock(&c->lock);
  return submit(w, options->cancel, ret, err);
}

void local_conn_close(glv_conn *conn) {
  local_conn *c = conn_of(conn);
  mutex_lock(&c->lock);
  job_runner *jobs = c->jobs;
  c->jobs = NULL;
  c->is_closed = true;
  mutex_unlock(&c->lock);
  job_runner_free(jobs);
}

/* ---- what can be asked ---- */

static glv_status only_servers(glv_error *err) {
  return FAIL(err, GLV_E_UNSUPPORTED,
              "only a server keeps jobs; those of this connection are known to whoever began them");
}

glv_status local_job_open(glv_conn *conn, const char *id, glv_job **ret, glv_error *err) {
  (void)conn;
  (void)id;
  (void)ret;
  return only_servers(err);
}

glv_status local_job_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                          glv_error *err) {
  (void)conn;
  (void)parent;
  (void)p;
  (void)into;
  return only_servers(err);
}

const char *local_job_id(const glv_job *job) {
  (void)job;
  return NULL;
}

static int32_t state_of(job_state state) {
  static const int32_t states[] = {GLV_JOB_QUEUED, GLV_JOB_RUNNING, GLV_JOB_DONE, GLV_JOB_FAILED,
                                   GLV_JOB_CANCELLED};
  return states[state];
}

glv_status local_job_status(glv_job *job, glv_job_info *ret, glv_error *err) {
  (void)err;
  job_info info;
  job_look(job_of(job)->job, &info);
  *ret = (glv_job_info){.state = state_of(info.state),
                        .done = info.done,
                        .total = info.total,
                        .created_ms = info.created_ms,
                        .finished_ms = info.finished_ms,
                        .error = info.error};
  return GLV_OK;
}

/* Of a job that is over. */
static glv_status outcome(const job_info *info, glv_error *err) {
  if (info->state == JOB_DONE) {
    return GLV_OK;
  }
  if (err != NULL) {
    *err = info->error;
  }
  return info->error.code;
}

glv_status local_job_wait(glv_job *job, uint32_t timeout_ms, glv_error *err) {
  job_info info;
  TRY(job_wait(job_of(job)->job, timeout_ms, err));
  job_look(job_of(job)->job, &info);
  return outcome(&info, err);
}

glv_status local_job_result(glv_job *job, glv_refresh_result *ret, glv_error *err) {
  const local_work *w = work_of(job);
  job_info info;
  job_look(job_of(job)->job, &info);
  if (info.state < JOB_DONE) {
    return FAIL(err, GLV_E_BAD_STATE, "the job is not over");
  }
  TRY(outcome(&info, err));
  if (w->kind != WORK_REFRESH) {
    return FAIL(err, GLV_E_BAD_STATE, "the job was no refresh");
  }
  *ret = w->result;
  return GLV_OK;
}

glv_status local_job_events(glv_job *job, batch_reader *ret, glv_error *err) {
  static const char *const words[] = {"QUEUED", "IN_PROGRESS", "DONE", "FAILED", "CANCELLED"};
  job_event_row rows[3];
  size_t count = 0;
  job_info info;
  job_look(job_of(job)->job, &info);
  rows[count++] = (job_event_row){info.created_ms, words[JOB_QUEUED], NULL};
  if (info.started_ms != 0) {
    rows[count++] = (job_event_row){info.started_ms, words[JOB_RUNNING], NULL};
  }
  if (info.finished_ms != 0) {
    rows[count++] = (job_event_row){info.finished_ms, words[info.state],
                                    info.state != JOB_DONE ? info.error.message : NULL};
  }
  return job_event_rows_reader(job->handle.env, rows, count, ret, err);
}

glv_status local_job_cancel(glv_job *job, glv_error *err) {
  (void)err;
  (void)job_stop(job_of(job)->job);
  return GLV_OK;
}
