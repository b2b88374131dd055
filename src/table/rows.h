/**
 * @file rows.h
 * Changing rows: delete, update, merge.
 *
 * Each computes its change from one version and commits it. When a commit that came first stands
 * against it, the change is computed again from the latest version: at most 10 times, within 30
 * seconds. A change that finds nothing to do commits nothing.
 */
#ifndef GLAIVE_TABLE_ROWS_H
#define GLAIVE_TABLE_ROWS_H

#include "table/table.h"

typedef struct row_options {
  unsigned expr_flags;  /* enum expr_flags, for predicates and expressions */
  cancel_token *cancel; /* polled between batches and before each attempt; may be NULL */
} row_options;

/** What was done. */
typedef struct row_result {
  uint64_t inserted;
  uint64_t updated;
  uint64_t deleted;
  uint32_t attempts; /* commits tried; 0 = there was nothing to do, 1 = nobody interfered */
} row_result;

/**
 * Delete rows.
 *
 * @param filter   the rows for which it is true; size 0 = all rows.
 * @param options  NULL = defaults.
 * @param ret      the new version; a further reference to t when no row matched.
 * Errors: those of table_scan and table_commit; GLV_E_CONFLICT "Too many concurrent writers" when
 * all attempts were in vain. Thread class: T, as all functions here.
 */
glv_status table_delete(const table_snapshot *t, str filter, const row_options *options,
                        table_snapshot **ret, row_result *ret_result, glv_error *err);

/** An assignment of an update. */
typedef struct row_assignment {
  str column;     /* top-level */
  str expression; /* over the columns of the table as they were before */
} row_assignment;

/**
 * Update rows: those that match are written anew, in their order, into new fragments, with their
 * stable row ids and the versions in which they were made.
 *
 * @param set     one assignment and more. Values are cast to the types of their columns; text
 *                assigned to a JSON column is parsed.
 * @param filter  as in table_delete.
 * Errors: as table_delete; GLV_E_INVALID_INPUT (no assignment; a column twice; text that is not
 * JSON), GLV_E_COLUMN_NOT_FOUND, GLV_E_SQL_PLAN (an expression, or no such cast), GLV_E_SQL_EXEC,
 * GLV_E_SCHEMA for nulls in a column that is not nullable, GLV_E_UNSUPPORTED for fields of structs
 * and for tables with columns that are not written.
 */
glv_status table_update(const table_snapshot *t, const row_assignment *set, size_t count,
                        str filter, const row_options *options, table_snapshot **ret,
                        row_result *ret_result, glv_error *err);

/** What a merge does. Texts are borrowed for the call. */
typedef struct merge_options {
  const str *on; /* key columns of both sides; none = the primary key that the schema names */
  size_t on_count;
  bool update_matched; /* target rows that a source row matches take its values */
  str update_if; /* only where this is true: over `source.x` and `target.x`; size 0 = always */
  bool insert_unmatched; /* source rows that match no target row are added */
  bool delete_unmatched; /* target rows that no source row matches go */
  str delete_if;         /* only where this is true; size 0 = always */
  unsigned expr_flags;
  cancel_token *cancel;
} merge_options;

/**
 * Merge rows into a table: rows match when all their keys are equal; a null equals nothing.
 *
 * Updated rows keep their stable row ids and the versions in which they were made; they are written
 * first, in the order of the table, the inserted ones behind them, in that of the source. Columns
 * that the source lacks keep their values in updated rows and are null in inserted ones.
 *
 * @param in  the source, taken over in every case; held in memory, with an index of its keys.
 * Errors: as table_delete; GLV_E_INVALID_INPUT (nothing to do was asked for; no keys; a target row
 * that several source rows would update); GLV_E_COLUMN_NOT_FOUND for a key; GLV_E_SCHEMA for data
 * that does not fit the table, and for inserts without a column that cannot be null; GLV_E_SQL_*
 * from the conditions; GLV_E_LIMIT for 2^32 - 1 source rows and more; those of the reader.
 */
glv_status table_merge(const table_snapshot *t, batch_reader *in, const merge_options *options,
                       table_snapshot **ret, row_result *ret_result, glv_error *err);

#endif
