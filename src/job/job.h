/**
 * @file job.h
 * Background jobs: functions that run one after the other on threads of their own, with a state,
 * progress and people who wait. What a job does is not known here.
 *
 * Jobs with the same key run one at a time, in the order in which they were submitted; others run
 * as threads are free.
 */
#ifndef GLAIVE_JOB_JOB_H
#define GLAIVE_JOB_JOB_H

#include "base/cancel.h"

typedef struct job_item job_item; /* counted */
typedef struct job_runner job_runner;

typedef enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED } job_state;

/** What to do. */
typedef struct job_work {
  /** Runs once, on a thread of the runner. GLV_E_CANCELLED after a request through the token makes
   * the job cancelled; every other failure makes it failed. */
  glv_status (*run)(void *context, cancel_token *cancel, glv_error *err);
  /** Called once when the state has changed (also for jobs that never ran), without any lock: what
   * it does is done before anybody who waits for the job hears of it. NULL = nothing. */
  void (*changed)(void *context, job_state state, const glv_error *error);
  /** Called once, with the last reference or right after a submission that failed. */
  void (*dispose)(void *context);
  void *context;
  cancel_token *parent; /* stops the job, too; NULL = none */
  const char *key;      /* copied; NULL = none */
  const char *identity; /* copied; what job_runner_find looks for; NULL = nothing */
} job_work;

/** What can be seen of a job. */
typedef struct job_info {
  job_state state;
  uint64_t done; /* rows, of total; 0 of 0 = not known */
  uint64_t total;
  int64_t created_ms; /* since the epoch */
  int64_t started_ms; /* 0 = not yet */
  int64_t finished_ms;
  glv_error error; /* of a failed or cancelled one */
} job_info;

/** A runner with so many threads, which begin with the first job. Errors: GLV_E_NOMEM. */
glv_status job_runner_new(glv_env *env, size_t threads, job_runner **ret, glv_error *err);
/** Cancels what is queued and running, waits for it, ends the threads. NULL is fine. Not from a
 * job. */
void job_runner_free(job_runner *r);

/**
 * Queue a job.
 *
 * @param work its context is taken over in every case.
 * @param ret  a reference; NULL = not wanted.
 * Errors: GLV_E_NOMEM; GLV_E_IO when no thread can be made; GLV_E_BAD_STATE when the runner ends.
 */
glv_status job_submit(job_runner *r, const job_work *work, job_item **ret, glv_error *err);
/** A reference to the job of that identity that is still queued; NULL = none. */
job_item *job_runner_find(job_runner *r, const char *identity);
/** Ask the jobs with the key to stop: those that are queued will be cancelled when their turn
 * comes. Does not wait. */
void job_runner_ask_key(job_runner *r, const char *key);
/** Cancel the queued and running jobs with the key, but `except` (may be NULL), and wait until they
 * have stopped. */
void job_runner_stop_key(job_runner *r, const char *key, const job_item *except);
/** Jobs that are queued and that run. */
void job_runner_counts(job_runner *r, size_t *ret_queued, size_t *ret_running);

job_item *job_ref(job_item *j);
void job_unref(job_item *j); /* NULL is fine */
void *job_context(const job_item *j);
void job_look(job_item *j, job_info *ret);
/** A queued job will not run; a running one is asked to stop. @return false when it was over. */
bool job_stop(job_item *j);
/**
 * Wait until the job is over.
 * @param timeout_ms 0 = as long as it takes.
 * @return GLV_E_TIMEOUT when it is not over in time; GLV_OK however it ended.
 */
glv_status job_wait(job_item *j, uint32_t timeout_ms, glv_error *err);

#endif
