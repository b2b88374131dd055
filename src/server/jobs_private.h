/** @file jobs_private.h The jobs of the server, shared by the files that begin and run them. */
#ifndef GLAIVE_SERVER_JOBS_PRIVATE_H
#define GLAIVE_SERVER_JOBS_PRIVATE_H

#include "base/encoding.h"
#include "base/thread.h"
#include "job/job.h"
#include "server/jobs.h"
#include "server/multipart.h"

/** A job that is not over. */
typedef struct live_job {
  struct live_job *next;
  jobs *owner;
  job_item *item; /* a reference; NULL until it was submitted */
  arena memory;   /* of what follows */
  const char *id;
  const char *type;
  const char *target;
  glv_id view; /* what it works on */
  int64_t created_ms;
  glv_status (*run)(struct live_job *l, cancel_token *cancel, glv_error *err);
  /* of a refresh */
  wire_refresh refresh;
  /* of upkeep */
  wire_compact compact;
  wire_cleanup cleanup;
  multipart_write *import; /* a reference, or NULL */
  char *result;            /* JSON text, mem_free; NULL = none */
} live_job;

struct jobs {
  glv_env *env;
  glv_conn *conn;
  job_store *store;
  job_runner *runner;
  mutex lock; /* guards what follows */
  condition changed;
  live_job *live;
  size_t dropping; /* of them are drops: names out of service */
  size_t begun;    /* since the start */
  bool is_stopped;
};

/** How ids are kept: "ns$view". */
glv_status jobs_target(arena *memory, glv_id id, const char **ret, glv_error *err);
/** Record and submit a job. l is taken over in every case; id in the memory of the request. With
 * the lock of the jobs held. */
glv_status jobs_submit(request *r, live_job *l, const json *spec, const char *identity,
                       jobs_begun *ret, glv_error *err);
/** A job on the view of the request. */
glv_status live_job_new(request *r, const char *job_type, live_job **ret, glv_error *err);
void live_job_free(live_job *l);

#endif
