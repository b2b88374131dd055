/**
 * @file changes.h
 * What happened to a source between two versions, as far as a view is concerned: the rows that the
 * view has to give up, and the rows that it has to compute (materialized-views 7.4).
 */
#ifndef GLAIVE_VIEW_CHANGES_H
#define GLAIVE_VIEW_CHANGES_H

#include "table/scan.h"
#include "view/id_runs.h"
#include "view/plan.h"

/** Fragments by what happened to them and rows by what has to be done about them. */
typedef struct change_counts {
  uint64_t fragments_same;
  uint64_t fragments_deleted; /* same columns, other rows deleted */
  uint64_t fragments_changed; /* other columns */
  uint64_t fragments_new;
  uint64_t fragments_gone;
  uint64_t rows_fresh;   /* did not exist at the watermark */
  uint64_t rows_touched; /* existed, and may have other values */
  uint64_t rows_revived; /* deleted at the watermark, not deleted now */
  uint64_t rows_removed;
  uint64_t bytes; /* of the files with relevant columns in the fragments with additions */
} change_counts;

/** source_changes_dispose. */
typedef struct source_changes {
  glv_env *env;
  /** The inputs are not those that the view was computed from: it has to be computed anew, and
   * nothing else of this is set. */
  bool is_broken;
  change_counts counts;
  uint64_t additions; /* source rows to compute */
  /** Where they are: fragments of the new version, ascending; offsets NULL = all live rows. The
   * bitmaps belong to this. */
  scan_fragment *added;
  size_t added_count;
  size_t added_capacity;
  /** Ids whose rows the view gives up, as far as it holds them; sorted. */
  id_runs evicted;
  uint64_t evicted_count;
} source_changes;

/**
 * Compare the source at the watermark with the source at the target version. Reads manifests,
 * transactions, deletion files and sequences of ids and versions; no data pages. Unchanged
 * fragments cost a comparison of their descriptions.
 *
 * @param from  the source at the watermark.
 * @param to    the source at the version that the view shall reflect; may be older.
 * @param plan  planned against `to`; tells which columns are read.
 * @param ret   to be disposed also after a failure.
 * Errors: GLV_E_IO, GLV_E_NOMEM, GLV_E_CORRUPT. Thread class: T.
 */
glv_status source_changes_find(const table_snapshot *from, const table_snapshot *to,
                               const view_plan *plan, source_changes *ret, glv_error *err);
void source_changes_dispose(source_changes *c);

#endif
