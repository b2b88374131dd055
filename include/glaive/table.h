/**
 * @file table.h
 * Tables: life, versions, reading and writing. Data goes in and out only as Arrow C streams. JSON
 * columns are text of the extension type arrow.json there (utf8 or large_utf8 in, utf8 out); SQL
 * sees them as the binary documents that Lance stores.
 */
#ifndef GLAIVE_TABLE_H
#define GLAIVE_TABLE_H

#include <glaive/arrow_abi.h>
#include <glaive/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glv_table glv_table;

/** What glv_table_create does when the table exists. */
enum glv_table_mode { GLV_TABLE_CREATE = 0, GLV_TABLE_EXIST_OK = 1, GLV_TABLE_OVERWRITE = 2 };

/** Options of glv_table_create and glv_table_create_empty. */
typedef struct glv_table_options {
  uint32_t struct_size;
  uint32_t flags;              /**< GLV_TABLE_NO_STABLE_ROW_IDS */
  int32_t mode;                /**< enum glv_table_mode */
  glv_cancel *cancel;          /**< NULL, or what can stop the call */
  glv_pairs properties;        /**< kept in the catalog where the connection has one */
  const char *storage_version; /**< of the data files: "2.0", "2.1" or "2.2"; NULL = "2.2". An
                                  overwritten table keeps its own */
  uint64_t page_bytes; /**< raw bytes of a column at which a page is closed, 4,096 or more; 0 =
                          8 MiB. For the rows of this call only */
} glv_table_options;

/** Tables get stable row ids, which sources of views need, unless this bit is set. */
#define GLV_TABLE_NO_STABLE_ROW_IDS 1u

/** Options of glv_table_open and glv_table_checkout. */
typedef struct glv_open_options {
  uint32_t struct_size;
  uint32_t flags;     /**< 0 */
  uint64_t version;   /**< 0 = latest */
  const char *tag;    /**< NULL, or the tag whose version to open; excludes the other two */
  const char *branch; /**< NULL = the main branch; others can be read, not written. Not for
                         glv_table_checkout */
} glv_open_options;

/** Options of appends, overwrites, deletes and updates. */
typedef struct glv_write_options {
  uint32_t struct_size;
  uint32_t flags;     /**< GLV_WRITE_VIEW; deletes and updates: GLV_SQL_* bits too */
  glv_cancel *cancel; /**< NULL, or what can stop the call */
} glv_write_options;

/** For repair tools: write to a table that is a materialized view, which only refresh should do. */
#define GLV_WRITE_VIEW 1u

/** What a write did. Set struct_size before the call. */
typedef struct glv_write_result {
  uint32_t struct_size;
  uint32_t attempts; /**< commits tried; 1 = nobody interfered, 0 = there was nothing to do */
  uint64_t version;  /**< version that the write made; when there was nothing to do, the latest */
  uint64_t rows_inserted;
  uint64_t rows_updated;
  uint64_t rows_deleted;
} glv_write_result;

/** A column to sort by. */
typedef struct glv_order {
  const char *column;
  uint32_t flags; /**< GLV_ORDER_* */
} glv_order;

#define GLV_ORDER_DESCENDING 1u  /**< the greatest first */
#define GLV_ORDER_NULLS_FIRST 2u /**< nulls before all values, else after them */

/** Options of glv_table_scan. */
typedef struct glv_scan_options {
  uint32_t struct_size;
  uint32_t flags;      /**< GLV_SCAN_* and GLV_SQL_* bits */
  glv_pairs columns;   /**< (name, expression); a NULL expression = the column of that name; empty =
                          all columns */
  const char *filter;  /**< SQL predicate, or NULL */
  uint64_t limit;      /**< rows, with GLV_SCAN_LIMIT */
  uint64_t offset;     /**< rows to skip first */
  uint32_t batch_rows; /**< most rows of one batch; 0 = 8,192 or more as the library sees fit */
  glv_cancel *cancel;  /**< NULL, or what can stop the scan */
  const glv_order *order; /**< columns of the result, of the table, or system columns; the result is
                             then held in memory */
  size_t order_count;     /**< 0 = in the order of the table */
} glv_scan_options;

#define GLV_SCAN_LIMIT 1u  /**< `limit` is set (it may be 0) */
#define GLV_SCAN_ROW_ID 2u /**< a last column `_rowid`: uint64 */
/** Blob columns give their bytes (large_binary); without it they give descriptors (position, size,
 * and in version 2.2 also where the bytes are). */
#define GLV_SCAN_BLOBS 8u

/** Options of glv_table_take. */
typedef struct glv_take_options {
  uint32_t struct_size;
  uint32_t flags;     /**< GLV_TAKE_ROW_IDS, GLV_SCAN_ROW_ID, GLV_SCAN_BLOBS and GLV_SQL_* bits */
  glv_pairs columns;  /**< as in glv_scan_options */
  glv_cancel *cancel; /**< NULL, or what can stop the call */
} glv_take_options;

#define GLV_TAKE_ROW_IDS 4u /**< rows are named by their `_rowid`, not by their place */

/** The maps of metadata that a table has. */
enum glv_metadata_target {
  GLV_METADATA_SCHEMA = 0, /**< of the schema: what Arrow shows as its metadata */
  GLV_METADATA_TABLE = 1,  /**< of the table, apart from its schema */
  GLV_METADATA_CONFIG = 2, /**< settings; keys that begin with `lance.` are those of Lance */
  GLV_METADATA_FIELD = 3   /**< of one column */
};

/** Options of glv_table_set_metadata. */
typedef struct glv_metadata_options {
  uint32_t struct_size;
  uint32_t flags;     /**< GLV_METADATA_REPLACE */
  int32_t target;     /**< enum glv_metadata_target */
  const char *column; /**< with GLV_METADATA_FIELD: its path, as in glv_table_alter_columns */
  glv_cancel *cancel; /**< NULL, or what can stop the call */
} glv_metadata_options;

#define GLV_METADATA_REPLACE 1u /**< the keys that are not given go */

/**
 * Create a table from a stream.
 *
 * @param conn    the connection.
 * @param id      its namespace path and name; the namespace must exist.
 * @param data    rows; always taken over: release is NULL on return.
 * @param options NULL = defaults: fails if the table exists, stable row ids.
 * @param ret     NULL, or the open table; the caller releases it with glv_table_free.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_TABLE_EXISTS, GLV_E_NAMESPACE_NOT_FOUND, GLV_E_INVALID_INPUT (names, malformed
 * data), GLV_E_UNSUPPORTED naming column and type, GLV_E_SCHEMA, GLV_E_IO, GLV_E_UNKNOWN_OUTCOME.
 * Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_create(glv_conn *conn, glv_id id,
                                                struct ArrowArrayStream *data,
                                                const glv_table_options *options, glv_table **ret,
                                                glv_error *err);

/**
 * Create a table without rows.
 *
 * @param conn    the connection.
 * @param id      its namespace path and name.
 * @param columns a struct schema; borrowed, not released.
 * @param options NULL = defaults.
 * @param ret     NULL, or the open table; the caller releases it with glv_table_free.
 * @param err     NULL, or filled on failure. Errors: as glv_table_create. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_create_empty(glv_conn *conn, glv_id id,
                                                      const struct ArrowSchema *columns,
                                                      const glv_table_options *options,
                                                      glv_table **ret, glv_error *err);

/**
 * Open a table.
 *
 * @param conn    the connection.
 * @param id      its namespace path and name.
 * @param options NULL = the latest version.
 * @param ret     the table; the caller releases it with glv_table_free.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_TABLE_NOT_FOUND, GLV_E_VERSION_NOT_FOUND, GLV_E_TAG_NOT_FOUND,
 * GLV_E_BRANCH_NOT_FOUND, GLV_E_UNSUPPORTED (a feature that this release does not understand, by
 * name), GLV_E_CORRUPT. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_open(glv_conn *conn, glv_id id,
                                              const glv_open_options *options, glv_table **ret,
                                              glv_error *err);

/**
 * List the tables of a namespace.
 *
 * @param conn    the connection.
 * @param parent  the namespace; one that does not exist lists nothing.
 * @param options NULL = all names.
 * @param ret     names in byte order; the caller releases it with glv_list_free.
 * @param err     NULL, or filled on failure. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_list(glv_conn *conn, glv_id parent,
                                              const glv_page_options *options, glv_list **ret,
                                              glv_error *err);

/**
 * Drop a table with its data. A view may be dropped this way too.
 *
 * @param conn    the connection.
 * @param id      its namespace path and name.
 * @param options NULL, or flags GLV_CALL_IF_NEEDED.
 * @param err     NULL, or filled on failure. Errors: GLV_E_TABLE_NOT_FOUND, GLV_E_IO. Thread class:
 * T.
 */
GLV_API GLV_CHECKED glv_status glv_table_drop(glv_conn *conn, glv_id id,
                                              const glv_call_options *options, glv_error *err);

/**
 * Give a table, or a view, another name or namespace. Views keep the name of their source: one that
 * is renamed has to be recreated or named back for them.
 *
 * @param conn    the connection.
 * @param from    its namespace path and name.
 * @param to      the new ones; both at the root, or both in namespaces.
 * @param options NULL, or cancel.
 * @param err     NULL, or filled on failure. Errors: GLV_E_TABLE_NOT_FOUND, GLV_E_TABLE_EXISTS,
 * GLV_E_NAMESPACE_NOT_FOUND, GLV_E_INVALID_INPUT, GLV_E_UNSUPPORTED between the root and a
 * namespace, GLV_E_CONFLICT, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_rename(glv_conn *conn, glv_id from, glv_id to,
                                                const glv_call_options *options, glv_error *err);

/**
 * Give up the caller's reference; scans of the table go on working.
 *
 * @param table NULL is fine. Thread class: T.
 */
GLV_API void glv_table_free(glv_table *table);

/**
 * The path the table was opened with.
 *
 * @param table the table.
 * @return borrowed from the table. Thread class: P.
 */
GLV_API glv_id glv_table_id(const glv_table *table);

/**
 * The version that reads of this handle see: the one checked out, or the latest when the handle was
 * opened, wrote or was checked out last.
 *
 * @param table the table.
 * @return the version. Thread class: T.
 */
GLV_API uint64_t glv_table_version(const glv_table *table);

/**
 * The columns of the table.
 *
 * @param table the table.
 * @param ret   a struct schema; released by the caller through its release callback.
 * @param err   NULL, or filled on failure. Errors: GLV_E_UNSUPPORTED naming column and type. Thread
 * class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_schema(glv_table *table, struct ArrowSchema *ret,
                                                glv_error *err);

/**
 * List the versions that exist.
 *
 * @param table the table.
 * @param ret   a stream with the columns version (uint64), timestamp (timestamp[ns, UTC]), rows
 * (uint64, null when a server does not tell), operation (utf8, null when unknown), ascending;
 * released by the caller.
 * @param err   NULL, or filled on failure. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_versions(glv_table *table, struct ArrowArrayStream *ret,
                                                  glv_error *err);

/**
 * Move the handle to another version, by number or tag. A handle at an old version refuses writes.
 *
 * @param table   the table.
 * @param options NULL = the latest version.
 * @param err     NULL, or filled on failure. Errors: GLV_E_VERSION_NOT_FOUND, GLV_E_TAG_NOT_FOUND,
 * GLV_E_TABLE_NOT_FOUND. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_checkout(glv_table *table, const glv_open_options *options,
                                                  glv_error *err);

/**
 * Whether what the handle shows is the latest version of the table that has its name now. Cheap:
 * for programs that keep handles and want to know when to move on.
 *
 * @param table the table.
 * @param ret   1 = yes; 0 = there is a later version, or another table of the name.
 * @param err   NULL, or filled on failure. Errors: GLV_E_TABLE_NOT_FOUND when the catalog has no
 * such table any more, GLV_E_IO; GLV_E_UNSUPPORTED where a server cannot tell. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_is_latest(glv_table *table, int *ret, glv_error *err);

/**
 * Describe a table.
 *
 * @param table    the table.
 * @param ret_json {"version", "location", "rows", "deleted_rows", "fragments", "fragment_rows":
 * {"small" (of fewer than 100,000), "min", "max", "mean", "p25", "p50", "p75", "p99"},
 * "stable_row_ids", "data_format", "size_bytes", "created_at", "columns": [{"name", "type",
 * "nullable"}], "indexes": [{"name", "columns", "uuid", "type_url", "rows_indexed",
 * "rows_unindexed", "segments", "version", "created_ms"}] (other engines built them), "metadata":
 * {...}, "table_metadata": {...}, "config": {...}, "view": bool}; the caller releases it with
 * glv_buf_dispose.
 * @param err      NULL, or filled on failure. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_describe(glv_table *table, glv_buf *ret_json,
                                                  glv_error *err);

/**
 * Count rows.
 *
 * @param table   the table.
 * @param filter  SQL predicate, or NULL = all rows.
 * @param options NULL, or flags GLV_SQL_*, cancel.
 * @param ret     the number of rows for which the predicate is true.
 * @param err     NULL, or filled on failure. Errors: GLV_E_SQL_PARSE, GLV_E_SQL_PLAN,
 * GLV_E_SQL_EXEC, GLV_E_CORRUPT, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_count(glv_table *table, const char *filter,
                                               const glv_call_options *options, uint64_t *ret,
                                               glv_error *err);

/**
 * Read rows.
 *
 * @param table   the table; the stream keeps the version it has now.
 * @param options NULL = all rows and columns.
 * @param ret     the rows; released by the caller. Failures while reading come out of get_next;
 * glv_stream_error tells more.
 * @param err     NULL, or filled on failure. Errors: as glv_table_count; GLV_E_COLUMN_NOT_FOUND for
 * a plain name. Thread class: T; the stream S.
 */
GLV_API GLV_CHECKED glv_status glv_table_scan(glv_table *table, const glv_scan_options *options,
                                              struct ArrowArrayStream *ret, glv_error *err);

/**
 * Read rows by number, in the order asked. Only what holds these rows is read; the result is held
 * in memory.
 *
 * @param table   the table, in the version it has now.
 * @param rows    places in the table (0 = the first row; deleted rows do not count), or row ids as
 * GLV_SCAN_ROW_ID shows them. A number given twice gives its row twice.
 * @param count   how many.
 * @param options NULL = by place, all columns.
 * @param ret     the rows; released by the caller. Row ids that no row has are left out.
 * @param err     NULL, or filled on failure. Errors: GLV_E_INVALID_INPUT for a place past the last
 * row; as glv_table_scan. Thread class: T; the stream S.
 */
GLV_API GLV_CHECKED glv_status glv_table_take(glv_table *table, const uint64_t *rows, size_t count,
                                              const glv_take_options *options,
                                              struct ArrowArrayStream *ret, glv_error *err);

/**
 * Run an ad-hoc query: SELECT items | * FROM table [, UNNEST(column) AS alias] [WHERE predicate]
 * [GROUP BY key, ...] [ORDER BY column [ASC | DESC] [NULLS FIRST | LAST], ...] [LIMIT n] [OFFSET
 * n]. "x" names a column. ORDER BY holds the result in memory.
 *
 * With UNNEST there is one row for each element of a list column (of 32-bit offsets); everything
 * else in the query sees the element under its alias in place of the column. Null and empty lists
 * give no rows, null elements do.
 *
 * With GROUP BY, or an aggregate among the items, there is one row per group of equal keys (one in
 * all without GROUP BY), in the order in which the groups first occur. Keys are expressions, names
 * of items or their positions; items are made of keys, aggregates and constants. Words that are not
 * in quotes or backticks stand for names in lower case there. Groups and the values of array_agg,
 * string_agg, median and percentile_cont are held in memory, and the first batch takes as long as
 * reading the rows.
 *
 * @param conn    the connection.
 * @param sql     the statement.
 * @param options NULL, or flags GLV_SQL_STRICT, cancel.
 * @param ret     the rows; released by the caller.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_SQL_PARSE, GLV_E_SQL_PLAN, GLV_E_TABLE_NOT_FOUND; as glv_table_scan; from the
 * stream GLV_E_LIMIT for more than 2^32 - 2 groups. Thread class: T; the stream S.
 */
GLV_API GLV_CHECKED glv_status glv_query(glv_conn *conn, const char *sql,
                                         const glv_call_options *options,
                                         struct ArrowArrayStream *ret, glv_error *err);

/**
 * The full error of a stream that came from this library, else code GLV_E_IO and the stream's own
 * text.
 *
 * @param stream the stream whose get_next or get_schema failed last.
 * @param ret    filled. Thread class: S.
 */
GLV_API void glv_stream_error(const struct ArrowArrayStream *stream, glv_error *ret);

/**
 * Append rows. Columns are matched by name; missing nullable columns become null. Another writer's
 * commit in between is no failure: the append is repeated on top of it.
 *
 * @param table   the table, at its latest version.
 * @param data    rows; always taken over: release is NULL on return.
 * @param options NULL = defaults.
 * @param ret     NULL, or filled on success.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_SCHEMA, GLV_E_UNSUPPORTED (a view; a type), GLV_E_CONFLICT, GLV_E_UNKNOWN_OUTCOME,
 * GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_append(glv_table *table, struct ArrowArrayStream *data,
                                                const glv_write_options *options,
                                                glv_write_result *ret, glv_error *err);

/**
 * Replace rows and schema. Versions and row ids go on counting.
 *
 * @param table   the table, at its latest version.
 * @param data    rows; always taken over: release is NULL on return.
 * @param options NULL = defaults.
 * @param ret     NULL, or filled on success.
 * @param err     NULL, or filled on failure. Errors: as glv_table_append. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_overwrite(glv_table *table, struct ArrowArrayStream *data,
                                                   const glv_write_options *options,
                                                   glv_write_result *ret, glv_error *err);

/* ---- columns and metadata ---- */

/**
 * Add columns that expressions over the columns there are give: one more data file for each
 * fragment. An expression that fails on a row that was deleted is no failure. When every expression
 * is a typed NULL, such as CAST(NULL AS bigint), nothing is written but the schema. A struct for
 * the name of a struct adds its fields to that one, in tables of version 2.2.
 *
 * @param table   the table, at its latest version.
 * @param columns (name, expression) pairs; none = nothing happens.
 * @param options NULL, or flags GLV_WRITE_VIEW and GLV_SQL_*, cancel.
 * @param ret     NULL, or filled on success: attempts and version.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_COLUMN_EXISTS, GLV_E_INVALID_INPUT (a name that is empty, dotted or reserved),
 * GLV_E_SQL_PARSE, GLV_E_SQL_PLAN, GLV_E_SQL_EXEC, GLV_E_UNSUPPORTED (a view, a type),
 * GLV_E_CONFLICT, GLV_E_UNKNOWN_OUTCOME, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_add_columns(glv_table *table, glv_pairs columns,
                                                     const glv_write_options *options,
                                                     glv_write_result *ret, glv_error *err);

/**
 * Add columns that are null in every row. Only the schema changes.
 *
 * @param table   the table, at its latest version.
 * @param columns a struct schema of nullable columns; borrowed, not released.
 * @param options NULL, or flags GLV_WRITE_VIEW, cancel.
 * @param ret     NULL, or filled on success: attempts and version.
 * @param err     NULL, or filled on failure. Errors: as glv_table_add_columns; GLV_E_INVALID_INPUT
 * for a column that is not nullable. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_add_null_columns(glv_table *table,
                                                          const struct ArrowSchema *columns,
                                                          const glv_write_options *options,
                                                          glv_write_result *ret, glv_error *err);

/**
 * Alter columns, all in one version. A path names a column or a part of one: `a`, `a.b`; a part
 * with dots stands in backticks.
 *
 * @param table        the table, at its latest version.
 * @param changes_json an array of {"path", "rename", "nullable", "data_type"}, of which the path
 * and one more are required: the new name of the last part of the path, true or false, and a type
 * as glv_table_describe names it ("int64", "timestamp[us, tz=UTC]"). Types change within their
 * family: integers, floats, decimals, strings, binaries, dates and times; lists by their items.
 * @param options      NULL, or flags GLV_WRITE_VIEW, cancel.
 * @param ret          NULL, or filled on success: attempts and version.
 * @param err          NULL, or filled on failure.
 * Errors: GLV_E_COLUMN_NOT_FOUND, GLV_E_COLUMN_EXISTS, GLV_E_INVALID_INPUT (malformed changes, a
 * name or a type that cannot be, nulls in a column that is to be not null, an index on a column
 * whose type changes), GLV_E_SQL_EXEC (a value does not fit the new type), GLV_E_UNSUPPORTED,
 * GLV_E_CONFLICT, GLV_E_UNKNOWN_OUTCOME, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_alter_columns(glv_table *table, const char *changes_json,
                                                       const glv_write_options *options,
                                                       glv_write_result *ret, glv_error *err);

/**
 * Drop columns, or parts of them, with their indexes. Only the schema changes; compaction frees the
 * space.
 *
 * @param table   the table, at its latest version.
 * @param columns paths, as in glv_table_alter_columns; none = nothing happens.
 * @param options NULL, or flags GLV_WRITE_VIEW, cancel. The computed columns of a view may be
 * dropped without it.
 * @param ret     NULL, or filled on success: attempts and version.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_COLUMN_NOT_FOUND, GLV_E_INVALID_INPUT when no column would be left,
 * GLV_E_UNSUPPORTED (a view; a part that cannot go alone), GLV_E_CONFLICT, GLV_E_UNKNOWN_OUTCOME,
 * GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_drop_columns(glv_table *table, glv_strs columns,
                                                      const glv_write_options *options,
                                                      glv_write_result *ret, glv_error *err);

/**
 * Set and remove keys of the metadata of a table or of one of its columns.
 *
 * @param table    the table, at its latest version.
 * @param items    (key, value) pairs, no key twice; a NULL value removes the key.
 * @param options  NULL = keys of the schema's metadata, the others stay.
 * @param ret      NULL, or filled on success: attempts and version.
 * @param err      NULL, or filled on failure.
 * Errors: GLV_E_INVALID_INPUT (keys; `mv.`, which only creating and refreshing a view sets),
 * GLV_E_COLUMN_NOT_FOUND, GLV_E_CONFLICT when somebody else changed the same meanwhile,
 * GLV_E_UNKNOWN_OUTCOME, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_set_metadata(glv_table *table, glv_pairs items,
                                                      const glv_metadata_options *options,
                                                      glv_write_result *ret, glv_error *err);

/* ---- upkeep: tags, restore, compaction, cleanup ---- */

/**
 * List the tags of a table, by name.
 *
 * @param table the table.
 * @param ret   a stream with the columns tag (utf8), version (uint64), branch (utf8, null = the
 * main one), created_at and updated_at (timestamp[ns, UTC], null when unknown), manifest_bytes
 * (uint64, of the version's manifest, null when unknown); released by the caller.
 * @param err   NULL, or filled on failure. Errors: GLV_E_CORRUPT, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_tags(glv_table *table, struct ArrowArrayStream *ret,
                                              glv_error *err);

/** glv_table_tag_set: a tag of that name is moved. */
#define GLV_TAG_MOVE 1u

/**
 * Give a version a name. Cleanup keeps tagged versions. Makes no version.
 *
 * @param table   the table.
 * @param tag     letters and digits of ASCII, `.`, `-`, `_`; no dot first, last or after another;
 * not ending in `.lock`.
 * @param version an existing version; 0 = the one the handle stands at.
 * @param options NULL, or flags GLV_TAG_MOVE.
 * @param err     NULL, or filled on failure. Errors: GLV_E_TAG_EXISTS, GLV_E_VERSION_NOT_FOUND,
 * GLV_E_INVALID_INPUT, GLV_E_TABLE_NOT_FOUND, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_tag_set(glv_table *table, const char *tag,
                                                 uint64_t version, const glv_call_options *options,
                                                 glv_error *err);

/**
 * Remove a tag; the version stays.
 *
 * @param table the table.
 * @param tag   its name.
 * @param err   NULL, or filled on failure. Errors: GLV_E_TAG_NOT_FOUND, GLV_E_TABLE_NOT_FOUND,
 * GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_tag_drop(glv_table *table, const char *tag,
                                                  glv_error *err);

/** Options of glv_table_compact. Zero means the default everywhere. */
typedef struct glv_compact_options {
  uint32_t struct_size;
  uint32_t flags;       /**< 0 */
  uint64_t target_rows; /**< smaller fragments are joined with their neighbours; new ones have that
                           many rows, up to twice as many; 0 = 1,048,576 */
  double deletion_threshold; /**< a fragment of which a larger part is deleted is rewritten by
                                itself, 0 to 1; 0 = 0.1 */
  glv_cancel *cancel;        /**< NULL, or what can stop the call */
} glv_compact_options;

/** What a compaction did. Set struct_size before the call. */
typedef struct glv_compact_result {
  uint32_t struct_size;
  uint32_t attempts; /**< commits tried; 0 = there was nothing to do, and no version was made */
  uint64_t version;  /**< the latest version of the table afterwards, as far as this call knows */
  uint64_t fragments_removed;
  uint64_t fragments_added;
  uint64_t files_removed; /**< from the latest version; a cleanup removes them from the disk */
  uint64_t files_added;
  uint64_t rows;  /**< that were copied */
  uint64_t bytes; /**< of the new files */
} glv_compact_result;

/**
 * Compact a table: small fragments become large ones, deleted rows leave the files. Rows keep row
 * ids (where these are stable) and versions; indexes of other engines stay right, their optimize
 * extends them to the new fragments. A view may be compacted, too. Another writer's commit on the
 * same fragments is no failure: what is left is planned again.
 *
 * @param table   the table, at its latest version.
 * @param options NULL = defaults.
 * @param ret     NULL, or filled on success.
 * @param err     NULL, or filled on failure. Errors: GLV_E_UNSUPPORTED naming a blob column or a
 * feature, GLV_E_INVALID_INPUT, GLV_E_CONFLICT, GLV_E_UNKNOWN_OUTCOME, GLV_E_CORRUPT, GLV_E_IO.
 * Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_compact(glv_table *table,
                                                 const glv_compact_options *options,
                                                 glv_compact_result *ret, glv_error *err);

/**
 * Make the version that the handle stands at the latest one: rows, columns and metadata become what
 * they were then. Versions, fragment ids and row ids go on counting. The handle moves to the new
 * version.
 *
 * @param table   the table; check out the version to restore first.
 * @param options NULL, or flags GLV_WRITE_VIEW, cancel.
 * @param err     NULL, or filled on failure. Errors: GLV_E_UNSUPPORTED (a view; a version from
 * before stable row ids), GLV_E_CONFLICT, GLV_E_UNKNOWN_OUTCOME, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_restore(glv_table *table, const glv_call_options *options,
                                                 glv_error *err);

/** glv_table_migrate: every row gets a stable row id, which sources of views need. */
#define GLV_MIGRATE_STABLE_ROW_IDS 1u

/**
 * Give a table a feature that it was made without. One that it has is fine: no version is made
 * then.
 *
 * Stable row ids: versions from before stay readable but cannot be restored any more. Rows from
 * before count as made in version 1.
 *
 * @param table   the table, at its latest version.
 * @param options flags GLV_MIGRATE_*, one at least; cancel.
 * @param err     NULL, or filled on failure. Errors: GLV_E_UNSUPPORTED when the table has indexes,
 * which must be dropped first, or is a view; GLV_E_CONFLICT, GLV_E_UNKNOWN_OUTCOME, GLV_E_IO.
 * Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_migrate(glv_table *table, const glv_call_options *options,
                                                 glv_error *err);

/** glv_table_cleanup: only tell what would be removed. */
#define GLV_CLEANUP_DRY_RUN 1u
/** glv_table_cleanup: fail with GLV_E_BAD_STATE when a version of that age is tagged; without it
 * tagged versions just stay. */
#define GLV_CLEANUP_REFUSE_TAGGED 2u

/** What a cleanup removed. Set struct_size before the call. */
typedef struct glv_cleanup_result {
  uint32_t struct_size;
  uint32_t flags; /**< 0 */
  uint64_t versions;
  uint64_t data_files;
  uint64_t deletion_files;
  uint64_t transaction_files;
  uint64_t index_files;
  uint64_t bytes; /**< of all of them, manifests included */
} glv_cleanup_result;

/**
 * Remove old versions and the files that only they refer to. Makes no version. These stay: the
 * latest version; tagged ones; those that branches begin at; those that a handle or a running scan
 * of this environment stands at; the source versions that views of this database were made from;
 * of a view, every version since its last refresh. Files that no version refers to go when they are
 * seven days old. Readers in other processes are protected by older_than_ms alone.
 *
 * @param table         the table.
 * @param older_than_ms only versions made longer ago than this go; 0 = all, negative = seven days.
 * @param options       NULL, or flags GLV_CLEANUP_*, cancel.
 * @param ret           NULL, or filled on success.
 * @param err           NULL, or filled on failure. Errors: GLV_E_BAD_STATE, also when a table of
 * the database cannot be read, so that nobody knows whether it is a view of this one;
 * GLV_E_CORRUPT; GLV_E_UNSUPPORTED for a branch; GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_cleanup(glv_table *table, int64_t older_than_ms,
                                                 const glv_call_options *options,
                                                 glv_cleanup_result *ret, glv_error *err);

/* ---- changing rows ----
 *
 * The change is computed from the latest version. When another writer's commit stands against it,
 * it is computed again, up to 10 times and 30 seconds. A change that finds nothing to do makes no
 * version. */

/**
 * Delete rows.
 *
 * @param table   the table, at its latest version.
 * @param filter  SQL predicate: the rows for which it is true go; NULL = all rows.
 * @param options NULL = defaults.
 * @param ret     NULL, or filled on success: rows_deleted.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_SQL_PARSE, GLV_E_SQL_PLAN, GLV_E_SQL_EXEC, GLV_E_INVALID_INPUT for an empty filter,
 * GLV_E_UNSUPPORTED (a view), GLV_E_BAD_STATE (checked out at an old version), GLV_E_CONFLICT,
 * GLV_E_UNKNOWN_OUTCOME, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_delete(glv_table *table, const char *filter,
                                                const glv_write_options *options,
                                                glv_write_result *ret, glv_error *err);

/**
 * Update rows. They are written anew, in a new place, with their row ids when the table has stable
 * ones.
 *
 * @param table       the table, at its latest version.
 * @param assignments (column, SQL expression) pairs, one and more; columns are top-level ones.
 * Expressions see the row as it was; values are cast to the types of their columns, and text for a
 * JSON column is parsed.
 * @param filter      SQL predicate: the rows for which it is true are updated; NULL = all rows.
 * @param options     NULL = defaults.
 * @param ret         NULL, or filled on success: rows_updated.
 * @param err         NULL, or filled on failure.
 * Errors: as glv_table_delete; GLV_E_COLUMN_NOT_FOUND; GLV_E_INVALID_INPUT (no assignment, a column
 * twice, text that is not JSON); GLV_E_SCHEMA (a null where none may be); GLV_E_UNSUPPORTED (a
 * field of a struct; a table with columns that are not written, such as blobs). Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_update(glv_table *table, glv_pairs assignments,
                                                const char *filter,
                                                const glv_write_options *options,
                                                glv_write_result *ret, glv_error *err);

/** Options of glv_table_merge. */
typedef struct glv_merge_options {
  uint32_t struct_size;
  uint32_t flags;        /**< GLV_MERGE_* bits, one at least; GLV_WRITE_VIEW, GLV_SQL_* */
  glv_strs on;           /**< key columns, of both sides; empty = the primary key of the schema */
  const char *update_if; /**< with GLV_MERGE_UPDATE: a predicate over `source.x` and `target.x`, or
                            NULL */
  const char *delete_if; /**< with GLV_MERGE_DELETE: a predicate over the columns of the table, or
                            NULL */
  glv_cancel *cancel;    /**< NULL, or what can stop the call */
} glv_merge_options;

#define GLV_MERGE_UPDATE 2u /**< rows of the table that match a row of the data take its values */
#define GLV_MERGE_INSERT 4u /**< rows of the data that match no row of the table are added */
#define GLV_MERGE_DELETE 8u /**< rows of the table that match no row of the data are deleted */

/**
 * Merge rows into a table by key. Rows match when all their key columns are equal; a null equals
 * nothing. The data is held in memory.
 *
 * @param table   the table, at its latest version.
 * @param data    rows; always taken over: release is NULL on return. Columns are matched by name;
 * those that the data lacks keep their values in updated rows, and are null in new ones.
 * @param options what to do.
 * @param ret     NULL, or filled on success.
 * @param err     NULL, or filled on failure.
 * Errors: as glv_table_delete; GLV_E_INVALID_INPUT (nothing to do asked for; no key columns; a row
 * of the table that several rows of the data would update); GLV_E_COLUMN_NOT_FOUND for a key;
 * GLV_E_SCHEMA for data that does not fit; GLV_E_LIMIT for 2^32 - 1 rows of data and more. Thread
 * class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_merge(glv_table *table, struct ArrowArrayStream *data,
                                               const glv_merge_options *options,
                                               glv_write_result *ret, glv_error *err);

#ifdef __cplusplus
}
#endif
#endif
