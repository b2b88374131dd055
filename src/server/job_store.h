/**
 * @file job_store.h
 * The jobs of a server as they are kept: a SQLite database in the data directory. What was
 * recorded survives the end of the process, however it ends.
 */
#ifndef GLAIVE_SERVER_JOB_STORE_H
#define GLAIVE_SERVER_JOB_STORE_H

#include "base/arena.h"
#include "base/env.h"
#include "wire/job.h"

typedef struct job_store job_store;

/** A job as it is kept. Texts are borrowed on the way in, and live in the arena on the way out. */
typedef struct job_row {
  int64_t number; /* ascending; given by the store */
  const char *id;
  const char *type;   /* WIRE_JOB_... */
  const char *target; /* "ns$view" */
  const char *key;    /* id of the key of the request; NULL = none was needed */
  wire_job_state state;
  int64_t created_ms;
  int64_t finished_ms; /* 0 = not over */
  const char *spec;    /* JSON text of an object */
  const char *result;  /* JSON text; NULL = none */
  bool has_failure;
  wire_job_failure failure;
  uint64_t done;
  uint64_t total;
} job_row;

/** What a list shows. NULL = all. */
typedef struct job_filter {
  const char *type;
  const char *target;
  bool has_state;
  wire_job_state state;
  int64_t before; /* number; 0 = from the newest */
  size_t limit;   /* at most so many */
} job_filter;

/** One event of a job. */
typedef struct job_event {
  int64_t at_ms;
  const char *state;
  const char *updated_by; /* the key, "server" */
  const char *message;    /* NULL = none */
} job_event;

/**
 * Open the store, making it if it is missing. Jobs that were queued or running when its server
 * ended become failed: phase `restart`, retryable.
 *
 * Errors: GLV_E_BAD_STATE when another server has it; GLV_E_CORRUPT for a damaged file, saying what
 * to do; GLV_E_IO; GLV_E_NOMEM.
 */
glv_status job_store_open(glv_env *env, const char *data_dir, job_store **ret, glv_error *err);
void job_store_close(job_store *s); /* NULL is fine */

/** Record a new job, durably. Errors: GLV_E_IO. Thread class: T, as the following. */
glv_status job_store_add(job_store *s, const job_row *row, glv_error *err);
/** Record what became of a job: state, finished_ms, result, failure, done, total. */
glv_status job_store_update(job_store *s, const job_row *row, const char *updated_by,
                            glv_error *err);
/** Errors: GLV_E_JOB_NOT_FOUND. */
glv_status job_store_find(job_store *s, const char *id, arena *memory, job_row *ret,
                          glv_error *err);
/** Newest first. *ret_more: there are more than filter->limit. */
glv_status job_store_list(job_store *s, const job_filter *filter, arena *memory, job_row **ret,
                          size_t *ret_count, bool *ret_more, glv_error *err);
/**
 * The events of a job, oldest first.
 *
 * @param where NULL, or a predicate of SQL over the columns state, updated_by, emitted_from,
 *              emitted_by, claim_entity and message, which is given to SQLite with nothing else to
 *              see and nothing to call but like, lower and upper.
 * @param limit at most so many.
 * Errors: GLV_E_INVALID_INPUT for a predicate that is none.
 */
glv_status job_store_events(job_store *s, const char *id, const char *where, size_t limit,
                            arena *memory, job_event **ret, size_t *ret_count, glv_error *err);
/** Forget jobs that were over before a time, and all but the newest `most` of those that are over.
 */
glv_status job_store_prune(job_store *s, int64_t before_ms, size_t most, glv_error *err);

#endif
