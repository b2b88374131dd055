/** @file table_body.h What bodies of requests on tables have in common, and how writes are
 * answered. */
#ifndef GLAIVE_SERVER_TABLE_BODY_H
#define GLAIVE_SERVER_TABLE_BODY_H

#include "server/request.h"

/** The JSON body (empty for Arrow bodies), after a look at `branch`, in the body or as a parameter:
 * only the main branch can be named. Errors: GLV_E_UNSUPPORTED for another. */
glv_status table_body(request *r, const json **ret, glv_error *err);
/** The table of the request to read, at the version that the body names (null = the latest). Sets
 * x-lancedb-version. */
glv_status table_body_open(request *r, const json *body, glv_table **ret, glv_error *err);
/** The table of the request to write. */
glv_status table_body_open_own(request *r, glv_table **ret, glv_error *err);
/** Set x-lancedb-version. */
glv_status table_body_version(request *r, uint64_t version, glv_error *err);

/** What the library tells of a table (glv_table_describe): js_free. */
glv_status table_body_describe(glv_table *table, json **ret, glv_error *err);

/** What a write answers: its version and counts; the names of the counts differ. */
typedef struct write_counts {
  const char *names[4]; /* ended by NULL */
  uint64_t values[4];
} write_counts;

/** Pass on what a write said. That views are written by their refresh alone is a fault of the
 * request, 400, and nothing that is not there yet. */
glv_status table_body_refused(request *r, glv_status status, glv_error *err);
/** Answer a write that was committed. */
glv_status table_body_wrote(request *r, const glv_write_result *result, const write_counts *counts,
                            glv_error *err);

#endif
