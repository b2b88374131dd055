/**
 * @file scan_group.h
 * Rows of a table grouped: a scan of the columns that keys and aggregates read, fed into a run of a
 * group plan (expr/group.h).
 */
#ifndef GLAIVE_TABLE_SCAN_GROUP_H
#define GLAIVE_TABLE_SCAN_GROUP_H

#include "expr/group.h"
#include "table/scan.h"

/** What is grouped, and how. Zero means the default; texts are borrowed for the call. */
typedef struct group_options {
  const group_item *items;
  size_t item_count;
  const str *keys; /* none: all rows are one group */
  size_t key_count;
  scan_unnest unnest;
  unsigned expr_flags; /* enum expr_flags, for all texts */
  /** A further column of that name behind the items, uint64 without nulls: the smallest `_rowid` of
   * each group. NULL = none. */
  const char *row_id_name;
  str filter; /* of the rows that are grouped; size 0 = none */
  cancel_token
      *cancel; /* polled between windows; NULL or referenced until the reader is disposed */
} group_options;

/**
 * Plan the groups of a table over its columns and `_rowid`, which stands behind them. The filter is
 * not looked at.
 *
 * @param ret  group_plan_free. Its columns are positions in table_schema, or the number of columns
 *             for `_rowid`.
 * Errors: those of group_plan_new and table_scan_schema; GLV_E_UNSUPPORTED naming a column whose
 * type is not read. Thread class: T.
 */
glv_status table_group_plan(const table_snapshot *t, const group_options *options, group_plan **ret,
                            glv_error *err);

/**
 * Start to group.
 *
 * @param t    referenced by the reader.
 * @param ret  one row per group, in the order of their first rows. The first batch takes as long as
 *             the whole scan; the memory grows with the groups and with what aggregates hold.
 * Errors: those of table_group_plan and table_scan; from next also those of group_feed and
 * group_next. Thread class: T.
 */
glv_status table_scan_groups(const table_snapshot *t, const group_options *options,
                             batch_reader *ret, glv_error *err);

#endif
