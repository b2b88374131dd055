/**
 * @file evict.h
 * Where the rows of a view stand that came from given source rows (materialized-views 7.4
 * and 7.12).
 */
#ifndef GLAIVE_VIEW_EVICT_H
#define GLAIVE_VIEW_EVICT_H

#include "base/cancel.h"
#include "table/commit.h"
#include "view/id_runs.h"

/** Rows to delete from a view; the bitmaps belong to this. evictions_dispose. */
typedef struct evictions {
  glv_env *env;
  deletion_update *updates; /* ascending fragment ids */
  size_t count;
  size_t capacity;
  uint64_t rows; /* that were live */
} evictions;

/**
 * Find the live rows of a view whose provenance is among ids.
 *
 * The fragments are searched on the pool. Of files with a provenance summary only the chunks that
 * can hold one are decoded; other files are searched as a whole.
 *
 * @param ids     sorted.
 * @param cancel  polled between files; may be NULL.
 * @param ret     to be disposed also after a failure.
 * Errors: GLV_E_CORRUPT, GLV_E_IO, GLV_E_CANCELLED, GLV_E_NOMEM. Thread class: T.
 */
glv_status evictions_find(const table_snapshot *view, const id_runs *ids, cancel_token *cancel,
                          evictions *ret, glv_error *err);
void evictions_dispose(evictions *e);

#endif
