/**
 * @file view.h
 * Materialized views: a query over one source table, stored as a table and brought up to date by
 * refresh.
 */
#ifndef GLAIVE_VIEW_H
#define GLAIVE_VIEW_H

#include <glaive/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glv_view glv_view;
typedef struct glv_view_plan glv_view_plan;

enum glv_view_form { GLV_VIEW_SELECT = 1, GLV_VIEW_NAMESPACED_SELECT = 2, GLV_VIEW_QUERY = 3 };
enum glv_stored_form { GLV_STORED_DEFAULT = 0, GLV_STORED_SELECT = 1, GLV_STORED_QUERY = 2 };

/**
 * A definition.
 *
 * As input: either the structured fields or `query` (one SELECT statement), never both. Make it
 * with GLV_OPTIONS(glv_view_def). Everything is borrowed for the call.
 *
 * As output: `query` is the canonical SQL text (NULL when a stored definition has no projections);
 * the structured fields are filled for every view of the select shape, else projections is empty
 * and `query` rules. Borrowed from its owner.
 */
typedef struct glv_view_def {
  uint32_t struct_size;
  uint32_t flags; /**< GLV_VIEW_DEF_LIMIT */
  const char *source_table;
  glv_strs source_namespace; /**< empty = root */
  glv_pairs projections;     /**< (output, expression); a NULL expression = the column of that name;
                                empty = all columns */
  const char *filter;        /**< SQL predicate, or NULL */
  uint64_t limit;            /**< rows, with GLV_VIEW_DEF_LIMIT; at most 2^63 - 1 */
  const char *query;         /**< SQL text, or NULL; only it can say UNNEST or GROUP BY */
  int32_t stored_form;       /**< input: enum glv_stored_form */
  int32_t form;              /**< output: enum glv_view_form */
  glv_strs inputs;           /**< output: source columns read, sorted */
} glv_view_def;

#define GLV_VIEW_DEF_LIMIT 1u

/** Options of glv_view_create and glv_view_plan_create. */
typedef struct glv_view_options {
  uint32_t struct_size;
  uint32_t flags;     /**< GLV_VIEW_NO_DATA */
  glv_cancel *cancel; /**< NULL, or what can stop the first fill */
} glv_view_options;

/** Only make the empty view; a refresh fills it. */
#define GLV_VIEW_NO_DATA 1u

/** Options of glv_view_refresh. */
typedef struct glv_refresh_options {
  uint32_t struct_size;
  uint32_t flags;          /**< GLV_REFRESH_* bits */
  int32_t full;            /**< not 0: rebuild, also when up to date */
  int32_t require;         /**< 1 = refuse anything but incremental and no_op, before writing */
  uint64_t source_version; /**< the version to reflect, with GLV_REFRESH_SOURCE_VERSION; else the
                              latest */
  const char *incarnation; /**< NULL, or the incarnation that the view must have */
  int32_t retries;         /**< repeats after a conflict: 0 = 3, negative = none */
  glv_cancel *cancel;      /**< NULL, or what can stop the refresh */
} glv_refresh_options;

#define GLV_REFRESH_SOURCE_VERSION 1u /**< `source_version` is set */
#define GLV_REFRESH_NO_STAMP 2u       /**< a refresh with nothing to do commits nothing */
/** For comparison: the mode that LanceDB 0.40 would choose, where that gives right rows; the reason
 * of a rebuild that only LanceDB would do is "upstream". */
#define GLV_REFRESH_UPSTREAM 4u

enum glv_refresh_mode {
  GLV_REFRESH_UNKNOWN = 0,
  GLV_REFRESH_REBUILD = 1,
  GLV_REFRESH_INCREMENTAL = 2,
  GLV_REFRESH_NO_OP = 3
};

/** What a refresh did. Set struct_size before the call. Counts are -1 when unknown (a server may
 * not tell). */
typedef struct glv_refresh_result {
  uint32_t struct_size;
  int32_t mode;           /**< enum glv_refresh_mode */
  int64_t rows_written;   /**< rebuild: all rows; incremental: new and recomputed rows; else 0 */
  int64_t rows_removed;   /**< rows that left the view */
  int64_t source_version; /**< the source version that the view reflects now */
  uint64_t version;       /**< the version of the view now */
  int64_t duration_ms;
  int64_t source_rows_scanned;
  /** Why it was a rebuild, "" otherwise: "first", "full", "definition", "drift" (somebody wrote to
   * the view), "stamp_gone", "watermark_gone" (versions that a cleanup removed),
   * "source_recreated", "input_identity" (the columns read are not the same ones), "limit",
   * "too_many_changes", "grouped", "no_provenance", "upstream". */
  char reason[32];
} glv_refresh_result;

/**
 * Parse a stored definition (the value of the metadata key `mv.definition`).
 *
 * @param json      the text; not NUL-terminated.
 * @param size      its length in bytes.
 * @param view_name used in messages.
 * @param flags     GLV_DEF_PARSE_ONLY: an absent `projections` reads as empty.
 * @param ret       the definition; the caller releases it with glv_view_def_free.
 * @param err       NULL, or filled on failure.
 * Errors: GLV_E_CORRUPT "unreadable materialized view definition: ..."; GLV_E_UNSUPPORTED for kinds
 * and formats of a newer writer; GLV_E_NOMEM. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_def_parse(const char *json, size_t size,
                                                  const char *view_name, uint32_t flags,
                                                  glv_view_def **ret, glv_error *err);
#define GLV_DEF_PARSE_ONLY 1u

/**
 * Release a definition made by glv_view_def_parse.
 *
 * @param def NULL is fine. Thread class: S.
 */
GLV_API void glv_view_def_free(glv_view_def *def);

/**
 * Check a definition against its source, as creation does; nothing is written.
 *
 * @param conn    an embedded connection.
 * @param def     the definition; borrowed for the call.
 * @param options NULL = defaults.
 * @param ret     the plan; the caller releases it with glv_view_plan_free. It keeps the connection.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_TABLE_NOT_FOUND (the source), GLV_E_INVALID_EXPRESSION (a projection),
 * GLV_E_INVALID_INPUT (filter, limit, names, a source without stable row ids), GLV_E_COLUMN_EXISTS,
 * GLV_E_SQL_PARSE and GLV_E_SQL_PLAN (`query`), GLV_E_UNSUPPORTED. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_prepare(glv_conn *conn, const glv_view_def *def,
                                                const glv_call_options *options,
                                                glv_view_plan **ret, glv_error *err);

/**
 * The definition of a plan.
 *
 * @param plan the plan.
 * @return borrowed from the plan. Thread class: P.
 */
GLV_API const glv_view_def *glv_view_plan_definition(const glv_view_plan *plan);

/**
 * The columns that the view will have.
 *
 * @param plan the plan.
 * @param ret  a struct schema, `__source_row_id` last; released by the caller.
 * @param err  NULL, or filled on failure. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_plan_schema(const glv_view_plan *plan,
                                                    struct ArrowSchema *ret, glv_error *err);

/**
 * Create the view of a plan, as often as wanted: each is an incarnation of its own.
 *
 * @param plan    the plan.
 * @param id      namespace path and name of the view, in the database of the source.
 * @param options NULL = fill it.
 * @param ret     NULL, or the view; the caller releases it with glv_view_free.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_TABLE_EXISTS; GLV_E_NAMESPACE_NOT_FOUND; GLV_E_INVALID_INPUT for a view that would
 * read itself; the errors of glv_view_refresh when the first fill fails: the view then exists,
 * empty, and can be refreshed or dropped. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_plan_create(glv_view_plan *plan, glv_id id,
                                                    const glv_view_options *options, glv_view **ret,
                                                    glv_error *err);

/**
 * Release a plan.
 *
 * @param plan NULL is fine. Thread class: S.
 */
GLV_API void glv_view_plan_free(glv_view_plan *plan);

/**
 * Check a definition and create its view: glv_view_prepare and glv_view_plan_create in one call.
 *
 * @param conn    the connection.
 * @param id      namespace path and name of the view.
 * @param def     the definition; borrowed for the call.
 * @param options NULL = fill it.
 * @param ret     NULL, or the view; the caller releases it with glv_view_free.
 * @param err     NULL, or filled on failure. Errors: of both. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_create(glv_conn *conn, glv_id id, const glv_view_def *def,
                                               const glv_view_options *options, glv_view **ret,
                                               glv_error *err);

/**
 * Open a view.
 *
 * @param conn    the connection.
 * @param id      its namespace path and name.
 * @param options NULL = defaults.
 * @param ret     the view; the caller releases it with glv_view_free.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_TABLE_NOT_FOUND; GLV_E_NOT_A_VIEW; GLV_E_CORRUPT and GLV_E_UNSUPPORTED as
 * glv_view_def_parse. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_open(glv_conn *conn, glv_id id,
                                             const glv_call_options *options, glv_view **ret,
                                             glv_error *err);

/**
 * List the views of a namespace; views whose definition cannot be read are listed with their state.
 *
 * @param conn    the connection.
 * @param parent  the namespace.
 * @param options NULL = the first 1,000; GLV_PAGE_RECURSIVE = those of child namespaces too.
 * @param ret     names in byte order with form and state; the caller releases it with
 * glv_list_free.
 * @param err     NULL, or filled on failure. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_list(glv_conn *conn, glv_id parent,
                                             const glv_page_options *options, glv_list **ret,
                                             glv_error *err);

/**
 * The definition of a view.
 *
 * @param view the view.
 * @return borrowed from the view. Thread class: P.
 */
GLV_API const glv_view_def *glv_view_definition(const glv_view *view);

/**
 * The stored text of the definition, byte for byte.
 *
 * @param view the view.
 * @return borrowed from the view. Thread class: P.
 */
GLV_API const char *glv_view_stored_definition(const glv_view *view);

/**
 * The token that names this physical view; a recreated view has another one.
 *
 * @param view the view.
 * @return borrowed from the view; NULL when the view carries none. Thread class: P.
 */
GLV_API const char *glv_view_incarnation(const glv_view *view);

/**
 * The table that holds the rows of the view.
 *
 * @param view the view.
 * @return borrowed from the view. Thread class: P.
 */
GLV_API glv_table *glv_view_table(glv_view *view);

/**
 * Bring a view up to date with its source.
 *
 * @param view    the view.
 * @param options NULL = to the latest source version, incrementally where possible.
 * @param ret     NULL, or filled on success.
 * @param err     NULL, or filled on failure; then nothing of the refresh is visible
 * (GLV_E_UNKNOWN_OUTCOME: all or nothing). Errors: GLV_E_STALE_VIEW (dropped and recreated),
 * GLV_E_CONFLICT (another refresh or writer came first, also after the retries), GLV_E_BAD_STATE
 * (options->require), GLV_E_SCHEMA (the definition no longer fits the source),
 * GLV_E_VERSION_NOT_FOUND (options->source_version), GLV_E_TABLE_NOT_FOUND (the source),
 * GLV_E_SQL_EXEC, GLV_E_CANCELLED, GLV_E_CORRUPT, GLV_E_IO. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_refresh(glv_view *view, const glv_refresh_options *options,
                                                glv_refresh_result *ret, glv_error *err);

/**
 * Say what a refresh would do, without doing it: no data pages are read, nothing is written. The
 * mode is that of glv_view_refresh with the same options as long as nothing is committed to the
 * view or its source in between.
 *
 * @param view     the view.
 * @param options  as for glv_view_refresh; NULL = defaults. `require` is not looked at.
 * @param ret_json {"mode", "reason", "source_version", "version", "rows_to_compute",
 * "ids_to_remove", "bytes_to_read", "fragments": {"same", "deleted", "changed", "new", "gone"},
 * "rows": {"fresh", "touched", "revived", "removed"}}; the last four are null when the source was
 * not compared with itself at the watermark; the caller releases it with glv_buf_dispose.
 * @param err      NULL, or filled on failure. Errors: as glv_view_refresh. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_explain(glv_view *view, const glv_refresh_options *options,
                                                glv_buf *ret_json, glv_error *err);

/**
 * Tell how a view stands to its source; reads manifests and transactions only.
 *
 * @param view     the view.
 * @param options  NULL, or cancel.
 * @param ret_json {"state", "form", "source", "source_namespace", "version", "rows", "intact",
 * "source_version" (that the rows reflect), "source_head", "versions_behind", "rows_behind"
 * (changed source rows, an upper bound; the filter of the view is not applied), "reason" (why
 * rows_behind is unknown; else ""), "refreshed_at_ms" (since 1970)}; unknown values are null; the
 * caller releases it with glv_buf_dispose.
 * @param err      NULL, or filled on failure. A source that is gone or does not fit the definition
 * is part of the report. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_status(glv_view *view, const glv_call_options *options,
                                               glv_buf *ret_json, glv_error *err);

/**
 * Prove that a view holds what its definition gives over the source version that it reflects:
 * evaluates the definition again and compares all rows. A view with a limit may hold any rows of
 * the right number. Holds 16 bytes for each row of both sides in memory.
 *
 * @param view     the view.
 * @param options  NULL, or cancel.
 * @param ret_json {"equal", "source_version", "version", "rows_expected", "rows_found", "missing",
 * "extra", "different", "expected": [rows], "found": [rows]}: the first ten rows of each side that
 * differ; filled on GLV_E_DIFFERS too; the caller releases it with glv_buf_dispose.
 * @param err      NULL, or filled on failure.
 * Errors: GLV_E_DIFFERS; GLV_E_BAD_STATE for a view that was never filled or whose source was made
 * again; GLV_E_VERSION_NOT_FOUND when the source version is gone; as glv_view_refresh. Thread
 * class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_verify(glv_view *view, const glv_call_options *options,
                                               glv_buf *ret_json, glv_error *err);

/**
 * Drop a view: cancels and awaits its refreshes in this process, then removes the table.
 *
 * @param conn    the connection.
 * @param id      its namespace path and name.
 * @param options NULL, or flags GLV_CALL_IF_NEEDED.
 * @param err     NULL, or filled on failure. Errors: GLV_E_TABLE_NOT_FOUND; GLV_E_NOT_A_VIEW (the
 * table stays). Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_drop(glv_conn *conn, glv_id id,
                                             const glv_call_options *options, glv_error *err);

/**
 * Give up the caller's reference.
 *
 * @param view NULL is fine. Thread class: T.
 */
GLV_API void glv_view_free(glv_view *view);

#ifdef __cplusplus
}
#endif
#endif
