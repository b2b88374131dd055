/* A queue of work without a limit of its own (the number of connections bounds it) and the threads
 * that do it. */
#include "server/workers.h"

#include "base/thread.h"

struct workers {
  glv_env *env;
  mutex lock;
  pthread_cond_t queued;
  work *first;
  work *last;
  bool stopping;
  size_t thread_count;
  pthread_t threads[];
};

static void *run_thread(void *argument) {
  workers *w = argument;
  mutex_lock(&w->lock);
  for (;;) {
    work *item = w->first;
    if (item != NULL) {
      w->first = item->next;
      w->last = item->next != NULL ? w->last : NULL;
      mutex_unlock(&w->lock);
      item->run(item->context);
      mutex_lock(&w->lock);
    } else if (w->stopping) {
      break;
    } else {
      condition_wait(&w->queued, &w->lock);
    }
  }
  mutex_unlock(&w->lock);
  return NULL;
}

glv_status workers_new(glv_env *env, size_t threads, workers **ret, glv_error *err) {
  const size_t size = sizeof(workers) + threads * sizeof(pthread_t);
  workers *w = mem_zalloc(env, size);
  if (w == NULL) {
    return error_nomem(err, size);
  }
  w->env = env;
  mutex_init(&w->lock);
  condition_init(&w->queued);
  int result = 0;
  while (w->thread_count < threads && result == 0) {
    result = thread_start(&w->threads[w->thread_count], run_thread, w);
    w->thread_count += result == 0;
  }
  if (w->thread_count == 0) {
    workers_free(w);
    return error_set_errno(err, GLV_E_IO, result, "no thread could be started");
  }
  *ret = w;
  return GLV_OK;
}

void workers_submit(workers *w, work *item) {
  item->next = NULL;
  mutex_lock(&w->lock);
  if (w->last != NULL) {
    w->last->next = item;
  } else {
    w->first = item;
  }
  w->last = item;
  mutex_unlock(&w->lock);
  pthread_cond_signal(&w->queued);
}

void workers_free(workers *w) {
  if (w == NULL) {
    return;
  }
  mutex_lock(&w->lock);
  w->stopping = true;
  condition_signal_all(&w->queued);
  mutex_unlock(&w->lock);
  for (size_t i = 0; i < w->thread_count; i++) {
    pthread_join(w->threads[i], NULL);
  }
  condition_dispose(&w->queued);
  mutex_dispose(&w->lock);
  mem_free(w->env, w);
}
