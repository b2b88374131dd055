/**
 * @file columns_private.h
 * What adding, altering and dropping columns share: a stored schema under change, and files of new
 * columns beside those of the fragments.
 */
#ifndef GLAIVE_TABLE_COLUMNS_PRIVATE_H
#define GLAIVE_TABLE_COLUMNS_PRIVATE_H

#include "pb/lance_file.pb-c.h"
#include "table/columns.h"
#include "table/commit_private.h"
#include "table/retry.h"

/* ---- the schema (columns_schema.c) ---- */

/** A field of a schema under change. */
typedef struct edited_field {
  Lance__File__Field *message;
  size_t parent; /* its position, or SIZE_MAX */
  bool is_removed;
  bool is_named; /* its name is not the one it had */
} edited_field;

/** The stored schema of a table while it is changed: its fields in pre-order. */
typedef struct schema_edit {
  const table_snapshot *table;
  arena *memory;
  edited_field *fields;
  size_t count;
  int32_t first_id; /* of new fields */
  int32_t next_id;
} schema_edit;

/** Start with the schema of t. Errors: GLV_E_LIMIT without ids left; GLV_E_NOMEM. */
glv_status edit_begin(const table_snapshot *t, arena *a, schema_edit *ret, glv_error *err);
/**
 * The position of the field that a path names: `a.b`, parts with dots or backticks in backticks.
 * Errors: GLV_E_COLUMN_NOT_FOUND; GLV_E_INVALID_INPUT for text that is no path.
 */
glv_status edit_find(const schema_edit *e, str path, size_t *ret, glv_error *err);
/** Position behind the last field below field `at`. */
size_t edit_end(const schema_edit *e, size_t at);
/** The child of that name, or SIZE_MAX. at SIZE_MAX: the top level. */
size_t edit_child(const schema_edit *e, size_t at, const char *name);
/** The path of a field for messages. */
const char *edit_path(const schema_edit *e, size_t at);
/** The top-level field that a field stands in, or is. */
size_t edit_root(const schema_edit *e, size_t at);
/** Why a part of a column cannot go, or get another type, alone; NULL = it can. */
const char *edit_is_fixed(const schema_edit *e, size_t at);
/**
 * Insert a field and all below it at a position, under a parent (SIZE_MAX = top level), with new
 * ids. Errors: those of lance_schema_from_arrow.
 */
glv_status edit_insert(schema_edit *e, size_t at, size_t parent, const field *f, glv_error *err);
/**
 * Check names and keys of what is left, and give the schema.
 *
 * Errors: GLV_E_INVALID_INPUT for names that are empty, dotted or reserved, for nullable key
 * columns, and when no field is left; GLV_E_COLUMN_EXISTS for two fields of one name.
 */
glv_status edit_finish(const schema_edit *e, const lance_schema **ret, glv_error *err);
/** The new fields alone, with those that they stand in: the schema of files of new columns. */
glv_status edit_new_fields(const schema_edit *e, const lance_schema **ret, glv_error *err);

/* ---- computed columns (columns_computed.c) ---- */

/**
 * GLV_E_INVALID_INPUT when a computed column reads the field, which is to get another name or type
 * or to go.
 *
 * @param dropped  positions of fields that go in the same call.
 */
glv_status columns_check_computed(const schema_edit *e, size_t at, const size_t *dropped,
                                  size_t dropped_count, glv_error *err);
/** GLV_E_INVALID_INPUT when the field, whose type is to change, is computed or stands in one that
 * is. */
glv_status columns_check_not_computed(const schema_edit *e, size_t at, glv_error *err);

/* ---- files (columns_stage.c) ---- */

/**
 * Write values of new columns: one file for each fragment, of as many rows as that has.
 *
 * @param s   of edit_new_fields.
 * @param in  one value for each live row of the table, in the order of a scan; the last column is
 * the address of the row. Taken over. Deleted rows get the values of a neighbour.
 * Errors: as table_stage; GLV_E_UNSUPPORTED for fragments whose number of rows is not known.
 */
glv_status columns_stage(const table_snapshot *t, const lance_schema *s, batch_reader *in,
                         cancel_token *cancel, staged **ret, glv_error *err);

/** A field that is cast: what is read and what is written. */
typedef struct cast_field {
  int32_t old_id;
  int32_t new_id;
} cast_field;

/**
 * Read the columns that have something to cast, with the values cast.
 *
 * @param files  of edit_new_fields; it, casts and t are borrowed until the reader is disposed.
 * @param ret    its columns are those of files, then the address of the row.
 * Errors: those of table_scan; from next also GLV_E_SQL_EXEC for a value that does not fit.
 */
glv_status columns_cast(const table_snapshot *t, const lance_schema *files, const cast_field *casts,
                        size_t count, cancel_token *cancel, batch_reader *ret, glv_error *err);

/* ---- commits (columns_commit.c) ---- */

/** Refuse tables with rows that no commit can see yet. what: "add a computed column to", ... */
glv_status columns_check_settled(const table_snapshot *t, const char *what, glv_error *err);

/**
 * Commit a schema with new columns and the files of these, one for each fragment.
 *
 * @param files  NULL = the new columns are null. Forgotten, or removed when the commit failed.
 */
glv_status columns_commit_merge(const table_snapshot *t, const lance_schema *s, staged *files,
                                bool preserves_nullability, const column_options *options,
                                table_snapshot **ret, uint32_t *ret_attempts, glv_error *err);
/** Commit a schema without new columns. */
glv_status columns_commit_project(const table_snapshot *t, const lance_schema *s,
                                  bool preserves_nullability, const column_options *options,
                                  table_snapshot **ret, uint32_t *ret_attempts, glv_error *err);
/**
 * Run work as table_retry does; nothing runs without anything to change.
 *
 * @param context  of work.
 * @param count    of changes.
 */
glv_status columns_run(const table_snapshot *t, size_t count, table_work work, void *context,
                       const column_options *options, table_snapshot **ret,
                       write_result *ret_result, glv_error *err);

#endif
