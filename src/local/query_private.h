/**
 * @file query_private.h
 * What the files about ad-hoc queries share.
 */
#ifndef GLAIVE_LOCAL_QUERY_PRIVATE_H
#define GLAIVE_LOCAL_QUERY_PRIVATE_H

#include "expr/select.h"
#include "local/local_private.h"

/**
 * The rows of a grouped statement, without its ORDER BY, LIMIT and OFFSET. The first batch takes
 * as long as the whole scan.
 *
 * @param filter the predicate with its identifiers in backticks; size 0 = none.
 * @param ret    owns all it needs.
 * Errors: those of group_plan_new and table_scan; GLV_E_SQL_PLAN for an order by something that is
 * not selected.
 */
glv_status query_grouped(const select_statement *s, const table_snapshot *t, str filter,
                         const glv_call_options *options, arena *a, batch_reader *ret,
                         glv_error *err);

#endif
