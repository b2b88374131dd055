/* A list of jobs that are queued or run, guarded by the runner's lock. A thread takes the first
 * queued job whose key no running job has. The state changes under the lock; `changed` is called
 * before with the new state, outside of the lock, so that who records states (and may block on it)
 * has done so when waiters wake.
 */
#include "job/job.h"

#include <stdatomic.h>

#include "base/str.h"
#include "base/thread.h"

struct job_item {
  atomic_size_t refs;
  job_runner *runner; /* outlives all jobs that are not over */
  glv_env *env;       /* a reference */
  job_work work;
  char *key;
  char *identity;
  cancel_token *cancel;
  job_item *next; /* in the list */
  job_info info;  /* guarded by the runner's lock, or by nothing when the job is over */
  struct job_lock *lock;
};

/* Shared by a runner and its jobs, so that a job can be looked at after the runner has gone. */
typedef struct job_lock {
  atomic_size_t refs;
  glv_env *env;
  mutex m;
  condition changed;
} job_lock;

struct job_runner {
  glv_env *env; /* a reference */
  job_lock *lock;
  job_item *jobs; /* queued and running, in order of submission; references */
  size_t thread_count;
  size_t started;
  bool ends;
  pthread_t threads[]; /* thread_count */
};

/* ---- the lock ---- */

static job_lock *lock_new(glv_env *env) {
  job_lock *l = mem_zalloc(env, sizeof *l);
  if (l != NULL) {
    atomic_init(&l->refs, 1);
    l->env = env_ref(env);
    mutex_init(&l->m);
    condition_init(&l->changed);
  }
  return l;
}

static job_lock *lock_ref(job_lock *l) {
  atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
  return l;
}

static void lock_unref(job_lock *l) {
  if (l != NULL && atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) == 1) {
    glv_env *env = l->env;
    mutex_dispose(&l->m);
    condition_dispose(&l->changed);
    mem_free(env, l);
    env_unref(env);
  }
}

/* ---- jobs ---- */

job_item *job_ref(job_item *j) {
  atomic_fetch_add_explicit(&j->refs, 1, memory_order_relaxed);
  return j;
}

void job_unref(job_item *j) {
  if (j == NULL || atomic_fetch_sub_explicit(&j->refs, 1, memory_order_acq_rel) != 1) {
    return;
  }
  glv_env *env = j->env;
  if (j->work.dispose != NULL) {
    j->work.dispose(j->work.context);
  }
  cancel_unref(j->cancel);
  lock_unref(j->lock);
  mem_free(env, j->key);
  mem_free(env, j->identity);
  mem_free(env, j);
  env_unref(env);
}

static char *copy_text(glv_env *env, const char *text, bool *ok) {
  char *copy = text != NULL ? mem_strndup(env, text, strlen(text)) : NULL;
  *ok = *ok && (text == NULL || copy != NULL);
  return copy;
}

static glv_status job_new(job_runner *r, const job_work *work, job_item **ret, glv_error *err) {
  job_item *j = mem_zalloc(r->env, sizeof *j);
  if (j == NULL) {
    if (work->dispose != NULL) {
      work->dispose(work->context);
    }
    return error_nomem(err, sizeof *j);
  }
  bool ok = true;
  atomic_init(&j->refs, 1);
  j->env = env_ref(r->env);
  j->runner = r;
  j->work = *work;
  j->lock = lock_ref(r->lock);
  j->key = copy_text(r->env, work->key, &ok);
  j->identity = copy_text(r->env, work->identity, &ok);
  j->info.created_ms = env_now_ns(r->env) / 1000000;
  glv_status status = ok ? GLV_OK : error_nomem(err, 0);
  status = status == GLV_OK ? cancel_new(r->env, work->parent, &j->cancel, err) : status;
  if (status != GLV_OK) {
    job_unref(j);
    return status;
  }
  *ret = j;
  return GLV_OK;
}

void *job_context(const job_item *j) { return j->work.context; }

static bool is_over(const job_item *j) { return j->info.state >= JOB_DONE; }

void job_look(job_item *j, job_info *ret) {
  mutex_lock(&j->lock->m);
  *ret = j->info;
  mutex_unlock(&j->lock->m);
  cancel_progress(j->cancel, &ret->done, &ret->total);
}

glv_status job_wait(job_item *j, uint32_t timeout_ms, glv_error *err) {
  const int64_t until_ns = env_now_ns(j->env) + (int64_t)timeout_ms * 1000000;
  CLEANUP(mutex_cleanup) mutex *held = &j->lock->m;
  mutex_lock(held);
  while (!is_over(j)) {
    if (timeout_ms == 0) {
      condition_wait(&j->lock->changed, held);
      continue;
    }
    const int64_t left_ns = until_ns - env_now_ns(j->env);
    if (left_ns <= 0) {
      return FAIL(err, GLV_E_TIMEOUT, "the job is not over after %u ms", timeout_ms);
    }
    condition_wait_ms(&j->lock->changed, held, (unsigned)(left_ns / 1000000) + 1);
  }
  return GLV_OK;
}

/* ---- changes of state ---- */

static void remove_from(job_runner *r, const job_item *j) {
  for (job_item **at = &r->jobs; *at != NULL; at = &(*at)->next) {
    if (*at == j) {
      *at = j->next;
      return;
    }
  }
}

/* A job that was in the list is over: its reference of the list goes. */
static void finish(job_item *j, job_state state, const glv_error *error) {
  if (j->work.changed != NULL) {
    j->work.changed(j->work.context, state, error);
  }
  mutex_lock(&j->lock->m);
  remove_from(j->runner, j);
  j->info.state = state;
  j->info.finished_ms = env_now_ns(j->env) / 1000000;
  if (error != NULL) {
    j->info.error = *error;
  }
  condition_signal_all(&j->lock->changed);
  mutex_unlock(&j->lock->m);
  job_unref(j);
}

static void finish_cancelled(job_item *j) {
  glv_error error = {0};
  error_set(&error, GLV_E_CANCELLED, "cancelled before it began");
  finish(j, JOB_CANCELLED, &error);
}

bool job_stop(job_item *j) {
  mutex_lock(&j->lock->m);
  const job_state state = j->info.state;
  cancel_request(j->cancel);
  /* Running, so that no thread takes it; whoever set it so finishes it. */
  if (state == JOB_QUEUED) {
    j->info.state = JOB_RUNNING;
  }
  mutex_unlock(&j->lock->m);
  if (state == JOB_QUEUED) {
    finish_cancelled(j);
  }
  return state < JOB_DONE;
}

static void run(job_item *j) {
  glv_error error = {0};
  if (cancel_is_requested(j->cancel)) {
    finish_cancelled(j);
    return;
  }
  if (j->work.changed != NULL) {
    j->work.changed(j->work.context, JOB_RUNNING, NULL);
  }
  const glv_status status = j->work.run(j->work.context, j->cancel, &error);
  const bool cancelled = status == GLV_E_CANCELLED && cancel_is_requested(j->cancel);
  finish(j,
         status == GLV_OK ? JOB_DONE
         : cancelled      ? JOB_CANCELLED
                          : JOB_FAILED,
         status == GLV_OK ? NULL : &error);
}

/* ---- threads ---- */

static bool is_key_busy(const job_runner *r, const job_item *j) {
  for (const job_item *other = r->jobs; other != NULL && other != j; other = other->next) {
    if (j->key != NULL && other->key != NULL && strcmp(other->key, j->key) == 0) {
      return true;
    }
  }
  return false;
}

/* The first job that can begin; NULL = none. Those before it with its key stand in the list. */
static job_item *take(job_runner *r) {
  for (job_item *j = r->jobs; j != NULL; j = j->next) {
    if (j->info.state == JOB_QUEUED && !is_key_busy(r, j)) {
      j->info.state = JOB_RUNNING;
      j->info.started_ms = env_now_ns(r->env) / 1000000;
      return j;
    }
  }
  return NULL;
}

static void *work_off(void *context) {
  job_runner *r = context;
  mutex_lock(&r->lock->m);
  for (;;) {
    job_item *j = take(r);
    if (j == NULL && r->ends) {
      break;
    }
    if (j == NULL) {
      condition_wait(&r->lock->changed, &r->lock->m);
      continue;
    }
    mutex_unlock(&r->lock->m);
    run(j);
    mutex_lock(&r->lock->m);
  }
  mutex_unlock(&r->lock->m);
  return NULL;
}

static glv_status start_threads(job_runner *r, glv_error *err) {
  while (r->started < r->thread_count) {
    const int code = thread_start(&r->threads[r->started], work_off, r);
    if (code != 0) {
      return r->started > 0
                 ? GLV_OK
                 : error_set_errno(err, GLV_E_IO, code, "no thread for jobs can be made");
    }
    r->started++;
  }
  return GLV_OK;
}

/* ---- runners ---- */

glv_status job_runner_new(glv_env *env, size_t threads, job_runner **ret, glv_error *err) {
  job_runner *r = mem_zalloc(env, sizeof *r + threads * sizeof r->threads[0]);
  job_lock *lock = r != NULL ? lock_new(env) : NULL;
  if (lock == NULL) {
    mem_free(env, r);
    return error_nomem(err, sizeof *r);
  }
  r->env = env_ref(env);
  r->lock = lock;
  r->thread_count = threads;
  *ret = r;
  return GLV_OK;
}

/* Any job but `except` of the key (NULL = of all keys) that is not over, referenced. */
static job_item *any_job(job_runner *r, const char *key, const job_item *except) {
  for (job_item *j = r->jobs; j != NULL; j = j->next) {
    if (j != except && (key == NULL || (j->key != NULL && strcmp(j->key, key) == 0))) {
      return job_ref(j);
    }
  }
  return NULL;
}

static void stop_jobs(job_runner *r, const char *key, const job_item *except) {
  for (;;) {
    mutex_lock(&r->lock->m);
    job_item *j = any_job(r, key, except);
    mutex_unlock(&r->lock->m);
    if (j == NULL) {
      return;
    }
    job_stop(j);
    (void)job_wait(j, 0, NULL);
    job_unref(j);
  }
}

static void ask_key(job_runner *r, const char *key, const job_item *except) {
  mutex_lock(&r->lock->m);
  for (job_item *j = r->jobs; j != NULL; j = j->next) {
    if (j != except && j->key != NULL && strcmp(j->key, key) == 0) {
      cancel_request(j->cancel);
    }
  }
  mutex_unlock(&r->lock->m);
}

void job_runner_ask_key(job_runner *r, const char *key) { ask_key(r, key, NULL); }

void job_runner_stop_key(job_runner *r, const char *key, const job_item *except) {
  ask_key(r, key, except); /* all of them first: they stop side by side */
  stop_jobs(r, key, except);
}

void job_runner_free(job_runner *r) {
  if (r == NULL) {
    return;
  }
  glv_env *env = r->env;
  mutex_lock(&r->lock->m);
  r->ends = true;
  for (job_item *j = r->jobs; j != NULL; j = j->next) {
    cancel_request(j->cancel);
  }
  mutex_unlock(&r->lock->m);
  stop_jobs(r, NULL, NULL);
  mutex_lock(&r->lock->m);
  condition_signal_all(&r->lock->changed);
  mutex_unlock(&r->lock->m);
  for (size_t i = 0; i < r->started; i++) {
    pthread_join(r->threads[i], NULL);
  }
  lock_unref(r->lock);
  mem_free(env, r);
  env_unref(env);
}

glv_status job_submit(job_runner *r, const job_work *work, job_item **ret, glv_error *err) {
  job_item *j = NULL;
  TRY(job_new(r, work, &j, err));
  mutex_lock(&r->lock->m);
  glv_status status = !r->ends ? start_threads(r, err)
                               : FAIL(err, GLV_E_BAD_STATE, "no job begins any more: it ends");
  if (status == GLV_OK) {
    job_item **last = &r->jobs;
    while (*last != NULL) {
      last = &(*last)->next;
    }
    *last = job_ref(j);
    condition_signal_all(&r->lock->changed);
  }
  mutex_unlock(&r->lock->m);
  if (status == GLV_OK && ret != NULL) {
    *ret = j;
  } else {
    job_unref(j);
  }
  return status;
}

job_item *job_runner_find(job_runner *r, const char *identity) {
  CLEANUP(mutex_cleanup) mutex *held = &r->lock->m;
  mutex_lock(held);
  for (job_item *j = r->jobs; j != NULL; j = j->next) {
    if (j->info.state == JOB_QUEUED && j->identity != NULL && strcmp(j->identity, identity) == 0) {
      return job_ref(j);
    }
  }
  return NULL;
}

void job_runner_counts(job_runner *r, size_t *ret_queued, size_t *ret_running) {
  CLEANUP(mutex_cleanup) mutex *held = &r->lock->m;
  mutex_lock(held);
  *ret_queued = 0;
  *ret_running = 0;
  for (const job_item *j = r->jobs; j != NULL; j = j->next) {
    *ret_queued += j->info.state == JOB_QUEUED;
    *ret_running += j->info.state == JOB_RUNNING;
  }
}
