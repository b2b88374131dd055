/**
 * @file job.h
 * Jobs of a server: waiting for them.
 */
#ifndef GLAIVE_REMOTE_JOB_H
#define GLAIVE_REMOTE_JOB_H

#include "remote/remote_private.h"
#include "wire/job.h"

/** What the answer that begins a job must be. */
typedef enum job_rule {
  JOB_REQUIRED,      /* 202 with an id */
  JOB_OR_DONE,       /* that, or 200: done; an id in it is followed */
  JOB_OR_ANY_SUCCESS /* 202 with an id, or another success; an id in it is followed */
} job_rule;

/**
 * The id of the job that an answer began.
 * @param ret borrowed from a; NULL = done already.
 * Errors: GLV_E_CORRUPT for an answer that rule does not allow, naming its status.
 */
glv_status job_id_of(const call *c, const answer *a, job_rule rule, const char **ret,
                     glv_error *err);

/**
 * Wait until a job is done: asks after 200 ms, and then after pauses that double up to 5 s. When
 * the token asks to stop, the job is cancelled, too.
 *
 * @param ret NULL, or the last answer, whose member `result` is of interest.
 * Errors: GLV_E_JOB_FAILED, or the status that the failure names, with its message;
 * GLV_E_CANCELLED; GLV_E_JOB_NOT_FOUND; GLV_E_CORRUPT; those of calls.
 */
glv_status job_await(remote_conn *conn, const char *id, cancel_token *cancel, answer *ret,
                     glv_error *err);

/** The same, at most until deadline_ns (0 = for ever), then GLV_E_TIMEOUT. */
glv_status job_await_until(remote_conn *conn, const char *id, cancel_token *cancel,
                           int64_t deadline_ns, answer *ret, glv_error *err);

/** Ask once. *ret_job borrows from *ret. Errors: GLV_E_JOB_NOT_FOUND, GLV_E_CORRUPT. */
glv_status job_describe(remote_conn *conn, const char *id, answer *ret, wire_job *ret_job,
                        glv_error *err);
/** A finished job is fine. Errors: GLV_E_JOB_NOT_FOUND. */
glv_status job_cancel(remote_conn *conn, const char *id, glv_error *err);
/** The error of a job that failed or was cancelled; GLV_OK for any other. */
glv_status job_outcome(const char *id, const wire_job *job, glv_error *err);

/** job_id_of and job_await. */
glv_status job_await_answer(remote_conn *conn, const call *c, const answer *a, job_rule rule,
                            cancel_token *cancel, glv_error *err);

#endif
