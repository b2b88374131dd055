/**
 * @file behind.h
 * How far a view is behind its source, without reading more than manifests and transactions
 * (materialized-views 7.13).
 */
#ifndef GLAIVE_VIEW_BEHIND_H
#define GLAIVE_VIEW_BEHIND_H

#include "view/plan.h"

/**
 * Number of source rows that changed between the watermark and the target: an upper bound, exact
 * for appends only, for deletes only, and for updates that touch no row twice. The filter of the
 * view is not applied.
 *
 * @param from, to, plan  as for source_changes_find.
 * @param ret_known       false = the inputs of the view are not what they were; the view will be
 * computed anew.
 * Errors: GLV_E_IO, GLV_E_NOMEM, GLV_E_CORRUPT. Thread class: T.
 */
glv_status source_behind(const table_snapshot *from, const table_snapshot *to,
                         const view_plan *plan, bool *ret_known, uint64_t *ret_rows,
                         glv_error *err);

#endif
