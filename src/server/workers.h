/**
 * @file workers.h
 * The threads that handle requests. They are not the environment's pool: there a task that waits
 * for its parts runs whatever is queued meanwhile, which could be another request that waits for a
 * lock its own thread holds.
 */
#ifndef GLAIVE_SERVER_WORKERS_H
#define GLAIVE_SERVER_WORKERS_H

#include "base/env.h"

/** Something to do; in the memory of whoever wants it done. */
typedef struct work {
  void (*run)(void *context);
  void *context;
  struct work *next;
} work;

typedef struct workers workers;

/** Errors: GLV_E_NOMEM, GLV_E_IO when no thread can be made. */
glv_status workers_new(glv_env *env, size_t threads, workers **ret, glv_error *err);
/** First come, first served. Never blocks. */
void workers_submit(workers *w, work *item);
/** Does what is queued, then ends the threads. NULL is fine. */
void workers_free(workers *w);

#endif
