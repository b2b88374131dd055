/**
 * @file columns.h
 * Changing the columns of a table: adding, altering, dropping (lance-table-format 5, 9, 15.1).
 *
 * Paths name columns and their parts: `a`, `a.b`; a part with dots stands in backticks. Each
 * function commits one version, and computes it again when another writer's commit requires that.
 */
#ifndef GLAIVE_TABLE_COLUMNS_H
#define GLAIVE_TABLE_COLUMNS_H

#include "table/table.h"
#include "table/write.h"

typedef struct column_options {
  unsigned expr_flags;  /* enum expr_flags */
  cancel_token *cancel; /* may be NULL */
} column_options;

/** A new column with the expression, over the columns there are, that gives its values. */
typedef struct column_definition {
  str name;
  str expression;
} column_definition;

/**
 * Add columns with computed values: one more data file in each fragment. When all expressions are a
 * typed NULL (`CAST(NULL AS bigint)`) no file is written. A struct for a name that is one already
 * adds its fields to that one (files of version 2.2).
 *
 * @param options     NULL = defaults.
 * @param ret         the new version, or a further reference to t when there is nothing to add; may
 *                    be NULL.
 * @param ret_result  only the attempts are set; may be NULL.
 * Errors: GLV_E_COLUMN_EXISTS; GLV_E_INVALID_INPUT (names); those of expr_plan_value;
 * GLV_E_SQL_EXEC where a live row fails; GLV_E_UNSUPPORTED; those of table_stage and table_commit.
 * Nothing is left after a failure. Thread class: T.
 */
glv_status table_add_columns(const table_snapshot *t, const column_definition *columns,
                             size_t count, const column_options *options, table_snapshot **ret,
                             write_result *ret_result, glv_error *err);

/** Add columns that are null in every row; no file is written. Errors: as table_add_columns, and
 * GLV_E_INVALID_INPUT for a column that is not nullable. */
glv_status table_add_null_columns(const table_snapshot *t, const field *columns, size_t count,
                                  const column_options *options, table_snapshot **ret,
                                  write_result *ret_result, glv_error *err);

/** What is to be changed of one column. */
typedef struct column_change {
  str path;
  str rename; /* data NULL = keeps its name */
  bool sets_nullable;
  bool nullable;
  const type *type; /* cast to this type; NULL = keeps its type */
} column_change;

/**
 * Alter columns, all in one version. Without a cast only the schema changes; a cast gives the
 * column another id and writes one more data file for each fragment.
 *
 * Errors: GLV_E_COLUMN_NOT_FOUND; GLV_E_COLUMN_EXISTS; GLV_E_INVALID_INPUT: a name, a type that the
 * column cannot be cast to, nulls in a column that is to be not null, an index on a column that is
 * cast, a column that is altered twice; GLV_E_SQL_EXEC for a value that does not fit its new type;
 * those of table_add_columns. ret, ret_result, options: as there. Thread class: T.
 */
glv_status table_alter_columns(const table_snapshot *t, const column_change *changes, size_t count,
                               const column_options *options, table_snapshot **ret,
                               write_result *ret_result, glv_error *err);

/**
 * Drop columns or parts of them; their indexes go as well. A struct or list that loses its last
 * part goes with it. Only the schema changes: the bytes stay until a compaction.
 *
 * Errors: GLV_E_COLUMN_NOT_FOUND; GLV_E_INVALID_INPUT when no column would be left;
 * GLV_E_UNSUPPORTED for a part that cannot go alone. ret, ret_result, options: as in
 * table_add_columns. Thread class: T.
 */
glv_status table_drop_columns(const table_snapshot *t, const str *paths, size_t count,
                              const column_options *options, table_snapshot **ret,
                              write_result *ret_result, glv_error *err);
/** Metadata of the top-level column that a path names, or that the part it names stands in.
 * Errors: GLV_E_COLUMN_NOT_FOUND; GLV_E_INVALID_INPUT for text that is no path. Thread class: T. */
glv_status table_column_metadata(const table_snapshot *t, str path, metadata *ret, glv_error *err);

#endif
