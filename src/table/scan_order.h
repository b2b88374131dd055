/**
 * @file scan_order.h
 * Rows in the order of some columns. What is sorted is held in memory.
 */
#ifndef GLAIVE_TABLE_SCAN_ORDER_H
#define GLAIVE_TABLE_SCAN_ORDER_H

#include "base/arena.h"
#include "expr/sort.h"
#include "table/scan.h"

/** Which rows of the sorted ones are wanted, and how many of their columns. */
typedef struct order_cut {
  bool has_limit;
  uint64_t limit;
  uint64_t offset;
  size_t outputs; /* columns of the result: the first ones */
} order_cut;

/**
 * Sort the rows of a reader by columns that it has; equal ones keep their order.
 *
 * @param r    read to its end.
 * @param ret  one batch. Errors: those of r and of batch_collect; GLV_E_SQL_PLAN for a key that is
 * not a column; GLV_E_NOMEM. Thread class: T.
 */
glv_status rows_order(glv_env *env, batch_reader *r, const sort_by *keys, size_t key_count,
                      const order_cut *cut, batch_reader *ret, glv_error *err);

/**
 * A scan whose result is sorted. A key names a column of the result, else one of the table or a
 * system column, which is then read beside the others and left out of the result.
 *
 * @param keys  key_count of them; none = table_scan. Errors: as table_scan and rows_order. Thread
 * class: T.
 */
glv_status table_scan_ordered(const table_snapshot *t, const scan_options *options,
                              const sort_by *keys, size_t key_count, batch_reader *ret,
                              glv_error *err);

#endif
