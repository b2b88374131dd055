/**
 * @file extra.h
 * Routes that only Glaive's servers have, for what the protocol of LanceDB has no route for. All
 * are POST with JSON bodies; docs/rest-extensions.md describes them. Their paths lie where the
 * protocol has none, so that other clients never meet them.
 */
#ifndef GLAIVE_WIRE_EXTRA_H
#define GLAIVE_WIRE_EXTRA_H

#include "base/json.h"

/** {"query": SQL} -> rows as an Arrow IPC file. */
#define WIRE_ROUTE_SQL "/v1/query"
#define WIRE_ROUTE_COMPACT "/v1/table/{id}/compact"
#define WIRE_ROUTE_CLEANUP "/v1/table/{id}/cleanup"
#define WIRE_ROUTE_MIGRATE "/v1/table/{id}/migrate"
#define WIRE_ROUTE_METADATA "/v1/table/{id}/metadata"
/** {} -> the object of glv_view_status. */
#define WIRE_ROUTE_VIEW_STATUS "/v1/materialized_view/{id}/status"
/** The body of a refresh -> the object of glv_view_explain. */
#define WIRE_ROUTE_VIEW_EXPLAIN "/v1/materialized_view/{id}/explain"
/** {} -> the object of glv_view_verify; status 200 also for a view that differs ("equal": false).
 */
#define WIRE_ROUTE_VIEW_VERIFY "/v1/materialized_view/{id}/verify"

/** In bodies of upkeep: answer 202 with the id of a job that does it. */
#define WIRE_BACKGROUND "background"

/** The body of a compaction; 0 = the default. */
typedef struct wire_compact {
  uint64_t target_rows;
  double deletion_threshold;
} wire_compact;

glv_status wire_compact_write(const wire_compact *c, json **ret, glv_error *err);
glv_status wire_compact_read(const json *body, wire_compact *ret, glv_error *err);

/** The body of a cleanup. */
typedef struct wire_cleanup {
  int64_t older_than_ms; /* negative or absent = the default */
  bool dry_run;
  bool refuse_tagged;
} wire_cleanup;

glv_status wire_cleanup_write(const wire_cleanup *c, json **ret, glv_error *err);
glv_status wire_cleanup_read(const json *body, wire_cleanup *ret, glv_error *err);

/** X(member): what a compaction and a cleanup answer. */
#define WIRE_COMPACT_COUNTS(X)                                                                     \
  X(attempts)                                                                                      \
  X(version)                                                                                       \
  X(fragments_removed)                                                                             \
  X(fragments_added)                                                                               \
  X(files_removed)                                                                                 \
  X(files_added)                                                                                   \
  X(rows)                                                                                          \
  X(bytes)
#define WIRE_CLEANUP_COUNTS(X)                                                                     \
  X(versions)                                                                                      \
  X(data_files)                                                                                    \
  X(deletion_files)                                                                                \
  X(transaction_files)                                                                             \
  X(index_files)                                                                                   \
  X(bytes)

#define WIRE_COUNT(name) uint64_t name;
typedef struct wire_compact_result {
  WIRE_COMPACT_COUNTS(WIRE_COUNT)
} wire_compact_result;
typedef struct wire_cleanup_result {
  WIRE_CLEANUP_COUNTS(WIRE_COUNT)
} wire_cleanup_result;
#undef WIRE_COUNT

glv_status wire_compact_result_write(const wire_compact_result *r, json **ret, glv_error *err);
glv_status wire_compact_result_read(const json *body, wire_compact_result *ret, glv_error *err);
glv_status wire_cleanup_result_write(const wire_cleanup_result *r, json **ret, glv_error *err);
glv_status wire_cleanup_result_read(const json *body, wire_cleanup_result *ret, glv_error *err);

/** What a migration gives the table: {"stable_row_ids": true}. */
#define WIRE_MIGRATE_STABLE_ROW_IDS "stable_row_ids"

/** The body of a change of metadata: {"target": "schema" | "table" | "config", "metadata": {key:
 * text or null}, "replace": bool}; the answer is {"version", "num_attempts"}. A null removes the
 * key. */
#define WIRE_METADATA_TARGET "target"
#define WIRE_METADATA_ITEMS "metadata"
#define WIRE_METADATA_REPLACE "replace"

#endif
