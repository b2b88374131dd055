/**
 * @file intact.h
 * Whether the stamp of a view still speaks for its rows (materialized-views 6.4 and 7.3).
 */
#ifndef GLAIVE_VIEW_INTACT_H
#define GLAIVE_VIEW_INTACT_H

#include "table/table.h"
#include "view/watermark.h"

typedef enum view_state {
  VIEW_INTACT,     /* the rows are those of the watermark */
  VIEW_DRIFTED,    /* somebody else changed rows, or may have */
  VIEW_STAMP_GONE, /* a version between stamp and head was removed: nobody can tell */
} view_state;

typedef struct intact_result {
  view_state state;
  uint64_t benign_commits; /* commits since the stamp that change no row */
} intact_result;

/**
 * Walk the commits of the view since its stamp. Fills of computed columns, index building,
 * compaction, and configuration change no row; everything else is drift. A walk of more than 512
 * commits counts as drift.
 *
 * @param fills_only  as LanceDB 0.40 sees it: anything but a fill of computed columns is drift.
 * Errors: GLV_E_IO, GLV_E_NOMEM; an unreadable transaction is drift, not an error.
 */
glv_status view_intact(const table_snapshot *view, const watermark *w, bool fills_only,
                       intact_result *ret, glv_error *err);

#endif
