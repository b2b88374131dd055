/* Waiting for the jobs of a server (rest-protocol.md 9 and 10). No call about jobs is repeated. */
#include "remote/job.h"
#include "wire/members.h"

enum { FIRST_PAUSE_MS = 200, LONGEST_PAUSE_MS = 5000, PAUSE_SLICE_MS = 20 };

static const route describe_route = {"/v1/jobs/describe", 0, GLV_E_JOB_NOT_FOUND, NULL};
static const route cancel_route = {"/v1/jobs/cancel", ROUTE_CHANGES, GLV_E_JOB_NOT_FOUND, NULL};

glv_status job_id_of(const call *c, const answer *a, job_rule rule, const char **ret,
                     glv_error *err) {
  const char *id = NULL;
  const bool is_accepted = a->status == 202;
  const bool is_done = a->status == 200 || rule == JOB_OR_ANY_SUCCESS;
  if (!is_accepted && (rule == JOB_REQUIRED || !is_done)) {
    return call_wrong(c, a->status, err, "HTTP status %u where %s is expected", a->status,
                      rule == JOB_REQUIRED ? "202 Accepted" : "202 Accepted or 200 OK");
  }
  TRY(call_read(c, a, wire_job_id_read(a->root, &id, err), err));
  if (is_accepted && id == NULL) {
    return call_wrong(c, a->status, err, "202 Accepted without 'job_id'");
  }
  *ret = id;
  return GLV_OK;
}

static glv_status begin(call *c, remote_conn *conn, const route *r, const char *id,
                        glv_error *err) {
  TRY(call_begin(c, &conn->http, r, (wire_target){0}, NULL, err));
  return wire_job_id_write(id, &c->body, err);
}

/* Foreign servers have one code for whatever is missing. */
static glv_status job_missing(glv_status status, glv_error *err) {
  if (status != GLV_E_TABLE_NOT_FOUND) {
    return status;
  }
  if (err != NULL) {
    err->code = GLV_E_JOB_NOT_FOUND;
  }
  return GLV_E_JOB_NOT_FOUND;
}

glv_status job_describe(remote_conn *conn, const char *id, answer *ret, wire_job *ret_job,
                        glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  TRY(begin(&c, conn, &describe_route, id, err));
  TRY(job_missing(call_object(&c, ret, err), err));
  return call_read(&c, ret, wire_job_read(ret->root, ret_job, err), err);
}

glv_status job_cancel(remote_conn *conn, const char *id, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(begin(&c, conn, &cancel_route, id, err));
  return job_missing(call_json(&c, &a, err), err);
}

glv_status job_outcome(const char *id, const wire_job *job, glv_error *err) {
  if (job->state == WIRE_JOB_CANCELLED) {
    return FAIL(err, GLV_E_CANCELLED, "job %s was cancelled", id);
  }
  if (job->state != WIRE_JOB_FAILED) {
    return GLV_OK;
  }
  const wire_job_failure *f = &job->failure;
  const char *message = f->message != NULL ? f->message : "no reason given";
  const uint32_t flags = f->retryable ? GLV_ERROR_MAY_RETRY : 0;
  if (f->status != GLV_E_JOB_FAILED) {
    error_set(err, f->status, "%s", message);
  } else if (f->phase != NULL) {
    error_set(err, f->status, "job %s failed: %s (in %s)", id, message, f->phase);
  } else {
    error_set(err, f->status, "job %s failed: %s", id, message);
  }
  error_flag(err, flags);
  return error_result(f->status, GLV_OK);
}

/* @return false: the token asks to stop. */
static bool pause_ms(glv_env *env, int ms, const cancel_token *cancel) {
  const glv_io *io = env_io(env);
  for (int passed = 0; passed < ms; passed += PAUSE_SLICE_MS) {
    if (cancel_is_requested(cancel)) {
      return false;
    }
    io->sleep_ns(io->user, PAUSE_SLICE_MS * INT64_C(1000000));
  }
  return !cancel_is_requested(cancel);
}

static bool is_over(const wire_job *job) {
  return job->state == WIRE_JOB_DONE || job->state == WIRE_JOB_FAILED ||
         job->state == WIRE_JOB_CANCELLED;
}

glv_status job_await_until(remote_conn *conn, const char *id, cancel_token *cancel,
                           int64_t deadline_ns, answer *ret, glv_error *err) {
  glv_env *env = conn->base.handle.env;
  for (int pause = FIRST_PAUSE_MS;;
       pause = pause * 2 < LONGEST_PAUSE_MS ? pause * 2 : LONGEST_PAUSE_MS) {
    CLEANUP(answer_dispose) answer a = {0};
    wire_job job;
    const int64_t left_ms = (deadline_ns - env_now_ns(env)) / 1000000;
    const bool is_last = deadline_ns != 0 && left_ms < pause;
    const int wait_ms = !is_last ? pause : left_ms > 0 ? (int)left_ms : 0;
    if (!pause_ms(env, wait_ms, cancel)) {
      (void)job_cancel(conn, id, NULL);
      return cancel_check(cancel, err);
    }
    TRY(job_describe(conn, id, &a, &job, err));
    if (is_over(&job)) {
      TRY(job_outcome(id, &job, err));
      if (ret != NULL) {
        *ret = a;
        a = (answer){0};
      }
      return GLV_OK;
    }
    if (is_last) {
      return FAIL(err, GLV_E_TIMEOUT, "job %s is still %s", id, job.state_word);
    }
  }
}

glv_status job_await(remote_conn *conn, const char *id, cancel_token *cancel, answer *ret,
                     glv_error *err) {
  return job_await_until(conn, id, cancel, 0, ret, err);
}

glv_status job_await_answer(remote_conn *conn, const call *c, const answer *a, job_rule rule,
                            cancel_token *cancel, glv_error *err) {
  const char *id = NULL;
  TRY(job_id_of(c, a, rule, &id, err));
  return id != NULL ? job_await(conn, id, cancel, NULL, err) : GLV_OK;
}
