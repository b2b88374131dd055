/**
 * @file upstream.h
 * How LanceDB 0.40 decides between following the changes of a source and computing a view anew
 * (materialized-views 6.3), for comparison with it.
 */
#ifndef GLAIVE_VIEW_UPSTREAM_H
#define GLAIVE_VIEW_UPSTREAM_H

#include "table/table.h"
#include "view/plan.h"

/**
 * *ret = whether LanceDB 0.40 would refresh incrementally from one version of the source to
 * another.
 *
 * Errors: GLV_E_IO, GLV_E_NOMEM. Thread class: T.
 */
glv_status upstream_follows(const table_snapshot *from, const table_snapshot *to,
                            const view_plan *plan, bool *ret, glv_error *err);

#endif
