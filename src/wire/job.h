/**
 * @file job.h
 * Jobs in bodies: what describe and list answer, and the ids of jobs that were begun
 * (rest-protocol.md 10).
 */
#ifndef GLAIVE_WIRE_JOB_H
#define GLAIVE_WIRE_JOB_H

#include "base/json.h"

typedef enum wire_job_state {
  WIRE_JOB_QUEUED,
  WIRE_JOB_RUNNING,
  WIRE_JOB_DONE,
  WIRE_JOB_FAILED,
  WIRE_JOB_CANCELLED,
  WIRE_JOB_OTHER /* a word that is not known: not finished */
} wire_job_state;

/** The state that a word stands for, whatever its case: DONE, succeeded, TIMED_OUT, ... */
wire_job_state wire_job_state_read(const char *word);
/** The word that our servers send: "QUEUED", "IN_PROGRESS", "DONE", "FAILED", "CANCELLED". */
const char *wire_job_state_word(wire_job_state state);

/** Words for what jobs do. */
#define WIRE_JOB_CREATE "create_materialized_view"
#define WIRE_JOB_REFRESH "refresh_materialized_view"
#define WIRE_JOB_DROP "drop_materialized_view"
#define WIRE_JOB_COMPACT "compact_table"
#define WIRE_JOB_CLEANUP "cleanup_table"
#define WIRE_JOB_IMPORT "import"

/** Why a job failed. Texts are NULL when they are not told. */
typedef struct wire_job_failure {
  const char *phase;
  const char *message;
  bool retryable;
  glv_status status; /* our servers name it in `detail`; else GLV_E_JOB_FAILED */
} wire_job_failure;

/** What jobs/describe answers. Texts and trees are borrowed. Numbers are 0 when they are not told.
 */
typedef struct wire_job {
  const char *id;         /* NULL = not told */
  const char *type;       /* "refresh_materialized_view"; NULL = not told */
  const char *table;      /* the id of what it works on; NULL = not told */
  const char *state_word; /* as it came */
  wire_job_state state;
  int64_t created_ms; /* since the epoch */
  int64_t finished_ms;
  uint64_t done; /* of total, in the unit of the job */
  uint64_t total;
  const json *spec;   /* what was asked for; NULL = {} */
  const json *result; /* NULL = null */
  bool has_failure;
  wire_job_failure failure;
} wire_job;

/** {"job_id", "job_type", "table", "job_state", "creation_ms", "finished_ms", "progress": {"done",
 * "total"}, "spec", "result", "failure"}. state_word is not looked at. */
glv_status wire_job_write(const wire_job *job, json **ret, glv_error *err);
/** Only job_state is required. Errors: GLV_E_INVALID_INPUT. */
glv_status wire_job_read(const json *body, wire_job *ret, glv_error *err);

/** An entry of jobs/list: {"job_id", "table", "job_type", "state", "created_at_millis"}. */
glv_status wire_job_entry_write(const wire_job *job, json **ret, glv_error *err);
glv_status wire_job_entry_read(const json *entry, wire_job *ret, glv_error *err);

/** The body of calls about one job, and the answer that begins one: {"job_id": id}. */
glv_status wire_job_id_write(const char *id, json **ret, glv_error *err);
/** *ret: borrowed; NULL when it is absent or null. Errors: GLV_E_INVALID_INPUT for what is no id:
 * another type, "". */
glv_status wire_job_id_read(const json *body, const char **ret, glv_error *err);

#endif
