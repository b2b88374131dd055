/**
 * @file thread.h
 * Mutexes, and the pool of threads that runs tasks.
 */
#ifndef GLAIVE_BASE_THREAD_H
#define GLAIVE_BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>

#include "base/env.h"

typedef pthread_mutex_t mutex;
typedef pthread_cond_t condition;

void mutex_init(mutex *m);
void mutex_dispose(mutex *m);
void mutex_lock(mutex *m);
void mutex_unlock(mutex *m);
void condition_init(condition *c);
void condition_dispose(condition *c);
void condition_wait(condition *c, mutex *m);
void condition_signal_all(condition *c);
/** Waits at most that long; may also return early. */
void condition_wait_ms(condition *c, mutex *m, unsigned timeout_ms);

/** CLEANUP helper: `CLEANUP(mutex_cleanup) mutex *held = &x->lock; mutex_lock(held);` */
void mutex_cleanup(mutex **m);

/** Start a thread with a stack of 1 MiB. @return 0 or an errno. */
int thread_start(pthread_t *ret, void *(*run)(void *context), void *context);

enum task_state { TASK_NEW, TASK_QUEUED, TASK_RUNNING, TASK_DONE };

/**
 * One piece of work. The caller owns the memory and keeps it until task_wait returned. Set run and
 * context, leave the rest zero.
 */
typedef struct task {
  glv_status (*run)(void *context, glv_error *err);
  void *context;
  struct task *next; /* the rest belongs to the pool */
  struct task *previous;
  enum task_state state;
  glv_status status;
  glv_error error;
} task;

typedef struct pool pool;

/** Starts `threads` threads. Errors: GLV_E_NOMEM, GLV_E_IO. */
glv_status pool_new(glv_env *env, size_t threads, pool **ret, glv_error *err);
/** Waits for the running tasks; queued ones are not run. NULL is fine. */
void pool_free(pool *p);

/**
 * Hand a task to the pool of env. When the queue is full, or no thread can be made, the calling
 * thread runs it now. Thread class: T.
 */
void task_submit(glv_env *env, task *t);

/**
 * Wait until a submitted task is done; meanwhile the caller runs queued tasks itself, this one
 * first, so tasks may wait for tasks.
 * @return the status of the task; err gets its report.
 */
glv_status task_wait(glv_env *env, task *t, glv_error *err);

/**
 * Run body(context, i) for every i in [0, count) on the pool and the calling thread, in no
 * particular order. After the first failure no further i is started. @return the status of a failed
 * call, GLV_OK if none failed.
 */
glv_status parallel_for(glv_env *env, size_t count,
                        glv_status (*body)(void *context, size_t i, glv_error *err), void *context,
                        glv_error *err);

#endif
