/**
 * @file scan.h
 * Reading rows: filter, projections, system columns, in the order of the fragments.
 *
 * The rows of each fragment are cut into windows. A window reads the columns of the filter first
 * and the others only where rows survive. Windows are decoded in parallel on the pool and delivered
 * in order; memory is bounded by the windows in flight.
 */
#ifndef GLAIVE_TABLE_SCAN_H
#define GLAIVE_TABLE_SCAN_H

#include "base/bitmap.h"
#include "table/table.h"

/** A result column: an expression over the columns of the table and the system columns. */
typedef struct scan_column {
  str name;
  str expression; /* data NULL = the column called `name` */
  /** The column that is going to take the values of the expression, or NULL: they are cast to its
   * type, but text for a JSON column stays text (`arrow.json`). Borrowed until the reader is
   * disposed. */
  const field *assigned_to;
} scan_column;

/**
 * One row per element of a list column: FROM t, UNNEST(column) AS alias. Expressions see the
 * element under the alias in place of the column; null and empty lists have no rows, a null element
 * has one.
 */
typedef struct scan_unnest {
  str column; /* data NULL = none */
  str alias;
} scan_unnest;

/** One fragment to read, and which of its offsets (0-based physical rows); deleted rows are left
 * out in any case. */
typedef struct scan_fragment {
  uint64_t id;
  const bitmap *offsets; /* NULL = all; borrowed until the reader is disposed */
} scan_fragment;

/** Zero means the default everywhere. Texts are borrowed for the call of table_scan. */
typedef struct scan_options {
  const scan_column *columns; /* NULL = every column of the table */
  size_t column_count;
  scan_unnest unnest;  /* rows are expanded before the filter, the limit and the offset */
  str filter;          /* data NULL or size 0 = none */
  unsigned expr_flags; /* enum expr_flags, for filter and expressions */
  bool has_limit;
  uint64_t limit;
  uint64_t offset; /* rows of the result to skip */
  /* Further result columns after the others, in this order, all uint64: */
  bool with_row_id;          /* `_rowid`: the stable id, or the address without stable ids */
  bool with_row_address;     /* `_rowaddr`: fragment id << 32 | offset */
  bool with_created_at;      /* `_row_created_at_version` */
  bool with_last_updated_at; /* `_row_last_updated_at_version` */
  bool with_blobs;           /* blob columns give bytes (large_binary), not descriptors */
  const char *row_id_name;   /* another name for the `_rowid` column; it is then not nullable */
  size_t batch_rows;         /* most rows of one batch; 0 = as many as are decoded at a time */
  const scan_fragment *fragments; /* NULL = all; else only these, in this order */
  size_t fragment_count;
  bool keep_open; /* keep the data files open for the next scan that asks for it */
  cancel_token
      *cancel; /* polled between windows; NULL or referenced until the reader is disposed */
} scan_options;

/**
 * The columns that expressions of a scan see, but for system columns: those of t, the list column
 * of UNNEST replaced by its nullable element under the alias.
 *
 * @param ret         a reference.
 * @param ret_column  position of the element, SIZE_MAX without UNNEST.
 * Errors: GLV_E_SQL_PLAN "UNNEST column 'c' is not a column of the source", "UNNEST column 'c' is
 * Int64, not a list" (also for large and fixed-size lists), "UNNEST alias 'a' collides with a
 * source column", or for an alias that cannot name a column; GLV_E_UNSUPPORTED for a column that is
 * not read; GLV_E_NOMEM. Thread class: T.
 */
glv_status table_scan_schema(const table_snapshot *t, const scan_unnest *u, schema **ret,
                             size_t *ret_column, glv_error *err);

/** Names of the system columns, which expressions see after those of the table; all are uint64.
 * @return NULL past the last one. */
const char *scan_system_column(size_t i);

/**
 * Start a scan.
 *
 * @param t        referenced by the reader.
 * @param options  NULL = every row and column.
 * @param ret      yields batches without empty ones; its schema stands from the start; not
 * thread-safe.
 * Errors: GLV_E_COLUMN_NOT_FOUND for a column given by name only; those of expr_plan_value,
 * expr_plan_filter and table_scan_schema; GLV_E_UNSUPPORTED naming a column whose type is not
 * read; GLV_E_INVALID_INPUT for a fragment id that is not in t; from next also GLV_E_CORRUPT,
 * GLV_E_IO, GLV_E_SQL_EXEC, GLV_E_CANCELLED. Thread class: T.
 */
glv_status table_scan(const table_snapshot *t, const scan_options *options, batch_reader *ret,
                      glv_error *err);

/**
 * Number of live rows for which the predicate is true.
 *
 * @param filter  size 0 = all rows, answered from the manifest.
 * @param cancel  may be NULL. Errors: as table_scan. Thread class: T.
 */
glv_status table_count(const table_snapshot *t, str filter, unsigned expr_flags,
                       cancel_token *cancel, uint64_t *ret, glv_error *err);

#endif
