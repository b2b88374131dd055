/*
 * A bounded queue of tasks and the threads that run it. Tasks live in their callers' memory and
 * form a doubly linked list, so submitting allocates nothing. A thread that waits for a task runs
 * queued ones meanwhile: tasks that wait for their own sub-tasks therefore cannot deadlock,
 * whatever the number of threads.
 *
 * One mutex guards queue and task states; it is a leaf (nothing is called while holding it).
 */
#include "base/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { QUEUE_PER_THREAD = 4, STACK_BYTES = 1 << 20 };

struct pool {
  glv_env *env; /* borrowed: the environment owns the pool */
  mutex lock;
  condition changed; /* a task was queued or done, or stopping */
  task *first;
  task *last;
  size_t queued;
  size_t limit;
  bool stopping;
  size_t thread_count;
  pthread_t threads[];
};

/* A mutex call fails only when it is used wrongly; there is no way to go on then. */
static void must(int result) {
  if (result != 0) {
    abort();
  }
}

void mutex_init(mutex *m) { must(pthread_mutex_init(m, NULL)); }
void mutex_dispose(mutex *m) { must(pthread_mutex_destroy(m)); }
void mutex_lock(mutex *m) { must(pthread_mutex_lock(m)); }
void mutex_unlock(mutex *m) { must(pthread_mutex_unlock(m)); }
void mutex_cleanup(mutex **m) { mutex_unlock(*m); }
void condition_init(condition *c) { must(pthread_cond_init(c, NULL)); }
void condition_dispose(condition *c) { must(pthread_cond_destroy(c)); }
void condition_wait(condition *c, mutex *m) { must(pthread_cond_wait(c, m)); }
void condition_signal_all(condition *c) { must(pthread_cond_broadcast(c)); }

void condition_wait_ms(condition *c, mutex *m, unsigned timeout_ms) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  const int result = pthread_cond_timedwait(c, m, &until);
  must(result == ETIMEDOUT ? 0 : result);
}

static void queue_append(pool *p, task *t) {
  t->state = TASK_QUEUED;
  t->next = NULL;
  t->previous = p->last;
  if (p->last != NULL) {
    p->last->next = t;
  } else {
    p->first = t;
  }
  p->last = t;
  p->queued++;
}

static void queue_remove(pool *p, task *t) {
  if (t->previous != NULL) {
    t->previous->next = t->next;
  } else {
    p->first = t->next;
  }
  if (t->next != NULL) {
    t->next->previous = t->previous;
  } else {
    p->last = t->previous;
  }
  p->queued--;
}

/* Takes t out of the queue and runs it; called and returns with the lock held. */
static void run_queued(pool *p, task *t) {
  queue_remove(p, t);
  t->state = TASK_RUNNING;
  mutex_unlock(&p->lock);
  const glv_status status = t->run(t->context, &t->error);
  mutex_lock(&p->lock);
  t->status = status;
  t->state = TASK_DONE;
  condition_signal_all(&p->changed);
}

static void *work(void *argument) {
  pool *p = argument;
  mutex_lock(&p->lock);
  while (!p->stopping) {
    if (p->first != NULL) {
      run_queued(p, p->first);
    } else {
      condition_wait(&p->changed, &p->lock);
    }
  }
  mutex_unlock(&p->lock);
  return NULL;
}

int thread_start(pthread_t *ret, void *(*run)(void *context), void *context) {
  pthread_attr_t attributes;
  int result = pthread_attr_init(&attributes);
  if (result != 0) {
    return result;
  }
  result = pthread_attr_setstacksize(&attributes, STACK_BYTES);
  if (result == 0) {
    result = pthread_create(ret, &attributes, run, context);
  }
  pthread_attr_destroy(&attributes);
  return result;
}

glv_status pool_new(glv_env *env, size_t threads, pool **ret, glv_error *err) {
  const size_t size = sizeof(pool) + threads * sizeof(pthread_t);
  pool *p = mem_zalloc(env, size);
  if (p == NULL) {
    return error_nomem(err, size);
  }
  p->env = env;
  p->limit = QUEUE_PER_THREAD * threads;
  mutex_init(&p->lock);
  condition_init(&p->changed);
  int result = 0;
  while (p->thread_count < threads && result == 0) {
    result = thread_start(&p->threads[p->thread_count], work, p);
    if (result == 0) {
      p->thread_count++;
    }
  }
  if (p->thread_count == 0) {
    pool_free(p);
    return error_set_errno(err, GLV_E_IO, result, "no thread could be started");
  }
  *ret = p;
  return GLV_OK;
}

void pool_free(pool *p) {
  if (p == NULL) {
    return;
  }
  mutex_lock(&p->lock);
  p->stopping = true;
  condition_signal_all(&p->changed);
  mutex_unlock(&p->lock);
  /* Never called from one of the threads: who waits for a task holds a reference to the
   * environment. */
  for (size_t i = 0; i < p->thread_count; i++) {
    must(pthread_join(p->threads[i], NULL));
  }
  condition_dispose(&p->changed);
  mutex_dispose(&p->lock);
  mem_free(p->env, p);
}

static void run_now(task *t) {
  t->status = t->run(t->context, &t->error);
  t->state = TASK_DONE;
}

void task_submit(glv_env *env, task *t) {
  pool *p = env_pool(env, NULL);
  if (p == NULL) {
    run_now(t);
    return;
  }
  mutex_lock(&p->lock);
  const bool full = p->queued >= p->limit;
  if (!full) {
    queue_append(p, t);
    condition_signal_all(&p->changed);
  }
  mutex_unlock(&p->lock);
  if (full) {
    run_now(t);
  }
}

glv_status task_wait(glv_env *env, task *t, glv_error *err) {
  pool *p = env_pool(env, NULL);
  if (p != NULL) {
    mutex_lock(&p->lock);
    while (t->state != TASK_DONE) {
      if (t->state == TASK_QUEUED) {
        run_queued(p, t);
      } else if (p->first != NULL) {
        run_queued(p, p->first);
      } else {
        condition_wait(&p->changed, &p->lock);
      }
    }
    mutex_unlock(&p->lock);
  }
  if (t->status != GLV_OK && err != NULL) {
    *err = t->error;
  }
  return t->status;
}

/* ---- parallel_for ---- */

struct loop {
  glv_status (*body)(void *context, size_t i, glv_error *err);
  void *context;
  size_t count;
  atomic_size_t next;
  atomic_bool failed;
};

static glv_status run_share(void *context, glv_error *err) {
  struct loop *loop = context;
  while (!atomic_load_explicit(&loop->failed, memory_order_relaxed)) {
    const size_t i = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed);
    if (i >= loop->count) {
      break;
    }
    const glv_status status = loop->body(loop->context, i, err);
    if (status != GLV_OK) {
      atomic_store_explicit(&loop->failed, true, memory_order_relaxed);
      return status;
    }
  }
  return GLV_OK;
}

glv_status parallel_for(glv_env *env, size_t count,
                        glv_status (*body)(void *context, size_t i, glv_error *err), void *context,
                        glv_error *err) {
  enum { MAX_SHARES = 64 };
  struct loop loop = {.body = body, .context = context, .count = count};
  task shares[MAX_SHARES];
  size_t share_count = env_threads(env);
  share_count = share_count > MAX_SHARES ? MAX_SHARES : share_count;
  share_count = count == 0 ? 0 : share_count < count - 1 ? share_count : count - 1;
  for (size_t i = 0; i < share_count; i++) {
    shares[i] = (task){.run = run_share, .context = &loop};
    task_submit(env, &shares[i]);
  }
  glv_status status = run_share(&loop, err);
  for (size_t i = 0; i < share_count; i++) {
    const glv_status one = task_wait(env, &shares[i], status == GLV_OK ? err : NULL);
    status = status == GLV_OK ? one : status;
  }
  return status;
}
