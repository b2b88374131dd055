/**
 * @file take.h
 * Reading rows by number: by their place in the table, their row ids or their addresses, in the
 * order asked.
 */
#ifndef GLAIVE_TABLE_TAKE_H
#define GLAIVE_TABLE_TAKE_H

#include "table/scan.h"

/** What rows are named by. */
enum take_by {
  TAKE_BY_PLACE,   /* their place in the table; deleted rows do not count */
  TAKE_BY_ROW_ID,  /* see scan_options.with_row_id */
  TAKE_BY_ADDRESS, /* see scan_options.with_row_address */
};

/** Zero means the default everywhere. Texts are borrowed for the call of table_take. */
typedef struct take_options {
  const scan_column *columns; /* NULL = every column of the table */
  size_t column_count;
  unsigned expr_flags; /* enum expr_flags, for the columns */
  enum take_by by;
  bool with_row_id;     /* as in scan_options */
  bool with_blobs;      /* as in scan_options */
  cancel_token *cancel; /* polled between windows; NULL or referenced for the call */
} take_options;

/**
 * Read rows. Only the chunks that hold them are read and decoded; the result is held in memory.
 *
 * @param numbers  row 0 is the first by place; repetitions give the row as often.
 * @param ret      the rows in the order of the numbers. Ids and addresses that no row has are left
 * out.
 * Errors: GLV_E_INVALID_INPUT for a place past the last row; GLV_E_LIMIT for 2^32 numbers and more;
 * those of table_scan and of its reader. Thread class: T.
 */
glv_status table_take(const table_snapshot *t, const uint64_t *numbers, size_t count,
                      const take_options *options, batch_reader *ret, glv_error *err);

#endif
