/**
 * @file rows.h
 * Lists that calls answer as rows: versions and tags of a table, events of a job.
 */
#ifndef GLAIVE_BACKEND_ROWS_H
#define GLAIVE_BACKEND_ROWS_H

#include "arrow/array.h"

typedef struct version_row {
  uint64_t version;
  int64_t timestamp_ns; /* since the epoch, UTC */
  bool has_rows;
  uint64_t rows;
  const char *operation; /* NULL = unknown */
} version_row;

/** What glv_table_versions gives. Errors: GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status version_rows_reader(glv_env *env, const version_row *rows, size_t count,
                               batch_reader *ret, glv_error *err);

typedef struct tag_row {
  const char *name;
  uint64_t version;
  const char *branch; /* NULL = the main one */
  bool has_created;
  bool has_updated;
  int64_t created_ns;
  int64_t updated_ns;
  bool has_manifest_size;
  uint64_t manifest_size; /* bytes */
} tag_row;

/** What glv_table_tags gives. Errors: as version_rows_reader. */
glv_status tag_rows_reader(glv_env *env, const tag_row *rows, size_t count, batch_reader *ret,
                           glv_error *err);

typedef struct job_event_row {
  int64_t at_ms; /* since the epoch */
  const char *state;
  const char *message; /* NULL = nothing to say */
} job_event_row;

/** What glv_job_events gives of a job in this process. Errors: as version_rows_reader. */
glv_status job_event_rows_reader(glv_env *env, const job_event_row *rows, size_t count,
                                 batch_reader *ret, glv_error *err);

#endif
