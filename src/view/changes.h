/**
 * @file changes.h
 * What happened to a source between two versions, as far as a view is concerned
 * (materialized-views 7.4).
 *
 * This release recognises sources that were only appended to: every fragment that the view reflects
 * is still there unchanged in the columns that the view reads, and every other fragment holds only
 * rows with new ids. Anything else makes the view compute all rows anew.
 */
#ifndef GLAIVE_VIEW_CHANGES_H
#define GLAIVE_VIEW_CHANGES_H

#include "base/arena.h"
#include "table/table.h"
#include "view/plan.h"

typedef struct source_changes {
  /** "" = the additions below bring the view up to date; else the reason why it has to be computed
   * anew. */
  const char *rebuild_reason;
  /** Fragments of the new version whose rows are to be added, ascending ids, in the arena. */
  const uint64_t *added;
  size_t added_count;
  uint64_t added_rows; /* physical rows of these fragments */
} source_changes;

/**
 * Compare the source at the watermark with the source at the target version.
 *
 * @param from  the source at the watermark.
 * @param to    the source at the version that the view shall reflect; may be older.
 * @param plan  planned against `to`; tells which columns are read.
 * Errors: GLV_E_IO, GLV_E_NOMEM, GLV_E_CORRUPT.
 */
glv_status source_changes_find(const table_snapshot *from, const table_snapshot *to,
                               const view_plan *plan, arena *a, source_changes *ret,
                               glv_error *err);

#endif
