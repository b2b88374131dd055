/**
 * @file status.h
 * What a view tells about itself without being refreshed (materialized-views 7.13).
 */
#ifndef GLAIVE_VIEW_STATUS_H
#define GLAIVE_VIEW_STATUS_H

#include "view/refresh.h"

/** Texts live in the arena that view_status was given. */
typedef struct view_report {
  const char *state;          /* "ok", "unfilled", "newer:<tag>", "unreadable:<text>" */
  const char *form;           /* of the stored definition; NULL when it cannot be read */
  view_definition definition; /* when form is not NULL */
  uint64_t version;           /* of the view */
  uint64_t rows;
  bool has_watermark;
  uint64_t source_version; /* that the rows reflect */
  bool has_refreshed_at;
  uint64_t refreshed_at_ms;
  bool is_intact; /* nobody else changed rows since the stamp */
  bool has_source;
  uint64_t source_head;
  /** Changed source rows between watermark and head: an upper bound. Unknown: the reason is what a
   * rebuild would give, or the message of what stands in the way of a refresh. */
  bool has_behind;
  uint64_t rows_behind;
  const char *reason;
} view_report;

/**
 * Look at the view whose table stands at path. Reads manifests and transactions only. A source that
 * is gone, and a definition that does not fit it any more, are part of the report.
 *
 * Errors: GLV_E_TABLE_NOT_FOUND (the view), GLV_E_NOT_A_VIEW, GLV_E_CORRUPT, GLV_E_IO, GLV_E_NOMEM.
 * Thread class: T.
 */
glv_status view_status(glv_env *env, const view_database *db, const char *path, const char *name,
                       arena *a, view_report *ret, glv_error *err);

/** "ok", "unfilled", "newer:<tag>" or "unreadable:<text>" in an arena; NULL = no memory. */
const char *view_state_text(arena *a, const definition_read *read, const table_snapshot *view);

#endif
