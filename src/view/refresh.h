/**
 * @file refresh.h
 * Bringing a view up to date (materialized-views 7).
 */
#ifndef GLAIVE_VIEW_REFRESH_H
#define GLAIVE_VIEW_REFRESH_H

#include "base/cancel.h"
#include "table/table.h"
#include "view/changes.h"
#include "view/definition.h"

/** How a refresh finds the source of a definition: by namespace and name, through the view's own
 * database. */
typedef struct view_database {
  /** version 0 = latest. Errors: GLV_E_TABLE_NOT_FOUND "Table 'x' was not found",
   * GLV_E_VERSION_NOT_FOUND, ... */
  glv_status (*open)(void *context, const char *const *names, size_t name_count, const char *table,
                     uint64_t version, table_snapshot **ret, glv_error *err);
  void *context;
} view_database;

typedef enum refresh_mode {
  REFRESH_REBUILD = 1,
  REFRESH_INCREMENTAL = 2,
  REFRESH_NO_OP = 3
} refresh_mode;

/** How a refresh decides between its modes. What it writes is the same. */
typedef enum refresh_policy {
  REFRESH_PRECISE,  /* 7.3 to 7.5 of the document */
  REFRESH_UPSTREAM, /* the mode that LanceDB 0.40 would choose where that gives right rows; for
                       comparison */
} refresh_policy;

typedef struct refresh_options {
  refresh_policy policy;
  bool full;                /* rebuild, also when up to date */
  bool require_incremental; /* refuse a rebuild before anything is written */
  bool no_stamp;            /* a refresh with nothing to do commits nothing */
  bool has_source_version;
  uint64_t source_version;
  const char *incarnation;     /* the view must have it; NULL = any */
  const table_snapshot *known; /* of the view, borrowed; spares reading it again. May be NULL */
  unsigned retries;            /* repeats after a conflict */
  uint64_t most_evicted;       /* more ids to give up are a rebuild; 0 = 4194304 */
  double most_touched;  /* a larger part of the source's rows to compute again is a rebuild; 0 =
                           0.5 */
  cancel_token *cancel; /* may be NULL */
} refresh_options;

typedef struct refresh_result {
  refresh_mode mode;
  uint64_t rows_written;
  uint64_t rows_removed;
  uint64_t source_version;
  uint64_t version;
  uint64_t source_rows_scanned;
  const char *reason; /* static text; "" unless rebuild */
} refresh_result;

/**
 * Refresh the view whose table stands at `path`.
 *
 * @param db    where the source of the definition is looked up; borrowed.
 * @param path  directory of the view's table; name: what messages call the view.
 *
 * Outcomes: GLV_OK; anything else = nothing of the refresh is visible, but for
 * GLV_E_UNKNOWN_OUTCOME (all or nothing). Errors: GLV_E_TABLE_NOT_FOUND (view or source),
 * GLV_E_NOT_A_VIEW, GLV_E_STALE_VIEW, GLV_E_SCHEMA, GLV_E_BAD_STATE (require_incremental),
 * GLV_E_CONFLICT, GLV_E_INVALID_INPUT, GLV_E_VERSION_NOT_FOUND, GLV_E_UNSUPPORTED, GLV_E_SQL_EXEC,
 * GLV_E_CANCELLED, GLV_E_CORRUPT, GLV_E_IO, GLV_E_NOMEM. Thread class: T; refreshes of one view
 * within one environment wait for each other.
 */
glv_status view_refresh(glv_env *env, const view_database *db, const char *path, const char *name,
                        const refresh_options *options, refresh_result *ret, glv_error *err);

/** What a refresh would do. */
typedef struct refresh_outlook {
  refresh_mode mode;
  const char *reason; /* static text; "" unless rebuild */
  uint64_t source_version;
  uint64_t version; /* of the view now */
  bool has_changes; /* the source was compared with itself at the watermark */
  change_counts changes;
  uint64_t additions; /* source rows to compute; of a rebuild: all */
  uint64_t evicted;   /* ids to give up, whether the view holds them or not */
} refresh_outlook;

/**
 * Decide as view_refresh would, and write nothing. Reads no data pages. The mode is that of a
 * refresh with the same options when nothing is committed to source or view in between;
 * require_incremental is not looked at. Errors: as view_refresh.
 */
glv_status view_explain(glv_env *env, const view_database *db, const char *path, const char *name,
                        const refresh_options *options, refresh_outlook *ret, glv_error *err);

#endif
