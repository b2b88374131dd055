/**
 * @file local_private.h
 * The handles of the embedded implementation, shared by its files.
 */
#ifndef GLAIVE_LOCAL_LOCAL_PRIVATE_H
#define GLAIVE_LOCAL_LOCAL_PRIVATE_H

#include "base/thread.h"
#include "catalog/catalog.h"
#include "job/job.h"
#include "local/local.h"
#include "table/scan.h"
#include "table/table.h"
#include "view/plan.h"
#include "view/refresh.h"

typedef struct local_conn {
  glv_conn base;
  enum local_kind kind;
  catalog *db;
  mutex lock;       /* guards what follows */
  job_runner *jobs; /* made with the first one; NULL */
  bool is_closed;   /* no job begins any more */
} local_conn;

typedef struct local_table {
  glv_table base;
  char *path;               /* its directory */
  char *name;               /* what messages call it */
  mutex lock;               /* guards what follows */
  table_snapshot *snapshot; /* the version that reads see */
  bool checked_out;         /* an old version: writes are refused */
} local_table;

typedef struct local_view {
  glv_view base;
  local_table *table; /* a reference */
  arena memory;
  glv_view_def definition;
  const char *stored;      /* text of mv.definition */
  const char *incarnation; /* NULL = none */
  mutex lock;              /* guards what follows */
  table_snapshot *source;  /* as the last refresh saw it, so that the next need not read it; NULL */
} local_view;

/** How tables are found by namespace and name, as a view does it. */
typedef struct local_sources {
  local_conn *conn;       /* borrowed */
  table_snapshot *source; /* the latest version that was asked for last; NULL. A reference */
} local_sources;

typedef struct local_plan {
  glv_view_plan base;
  local_conn *conn; /* a reference */
  view_plan *plan;
  arena memory;
  glv_view_def definition;
} local_plan;

extern const backend_ops local_ops;

static inline local_conn *conn_of(const glv_conn *c) { return (local_conn *)(uintptr_t)c; }
static inline local_table *table_of(const glv_table *t) { return (local_table *)(uintptr_t)t; }
static inline local_view *view_of(const glv_view *v) { return (local_view *)(uintptr_t)v; }
static inline local_plan *plan_of(const glv_view_plan *p) { return (local_plan *)(uintptr_t)p; }
static inline catalog_id catalog_path(glv_id id) { return (catalog_id){id.parts, id.count}; }

/* ---- tables ---- */

/** A handle for the table at path. Takes over the snapshot, also on failure. */
glv_status local_table_new(local_conn *conn, glv_id id, const catalog_table *at,
                           table_snapshot *snapshot, local_table **ret, glv_error *err);
/** A reference to the snapshot that reads see now. */
table_snapshot *local_table_snapshot(local_table *t);
/** Let reads see this snapshot; takes it over. */
void local_table_move(local_table *t, table_snapshot *snapshot, bool checked_out);
/** The same after a write, unless the handle stands at a later version already (another thread
 * wrote meanwhile) or was checked out at an old one; takes the snapshot over. */
void local_table_advance(local_table *t, table_snapshot *snapshot);
/**
 * The version that a write starts from: the latest one.
 *
 * @param operation  what is refused on a view: "add to", "delete from", "add columns to", ...
 * @param flags      GLV_WRITE_VIEW = a view may be written, too.
 * @param ret        one reference. Errors: GLV_E_BAD_STATE when the handle stands at an old
 * version; GLV_E_UNSUPPORTED for a view; those of table_open_version.
 */
glv_status local_latest_for_write(local_table *t, const char *operation, uint32_t flags,
                                  table_snapshot **ret, glv_error *err);
/** GLV_E_UNSUPPORTED for a view, unless flags say GLV_WRITE_VIEW; operation: as above. */
glv_status local_check_not_view(const table_snapshot *t, const char *operation, uint32_t flags,
                                glv_error *err);
/** Find and open a table. Errors: as glv_table_open. */
glv_status local_table_find(local_conn *conn, glv_id id, uint64_t version, arena *a,
                            catalog_table *ret_at, table_snapshot **ret, glv_error *err);
bool local_is_view(const table_snapshot *t);
/** Remove a table: refreshes of it in this environment are cancelled and awaited. */
glv_status local_drop(local_conn *conn, glv_id id, bool if_exists, glv_error *err);
/** "x" in a predicate names a column unless GLV_SQL_LANCE is set: re-quoted copy, or the text
 * itself. NULL stays NULL. */
glv_status local_predicate(arena *a, const char *text, uint32_t flags, const char **ret,
                           glv_error *err);
unsigned local_expr_flags(uint32_t flags);
/** The outcome of planning a scan; when it failed because a text names a column of a type that is
 * not read, GLV_E_UNSUPPORTED that says so. columns: NULL when there are none. */
glv_status local_explain(const table_snapshot *t, glv_status status, str filter,
                         const scan_column *columns, size_t count, glv_error *err);

glv_status local_table_create(glv_conn *conn, glv_id id, batch_reader *data,
                              const glv_table_options *options, glv_table **ret, glv_error *err);
glv_status local_table_open(glv_conn *conn, glv_id id, const glv_open_options *options,
                            glv_table **ret, glv_error *err);
glv_status local_table_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                            glv_error *err);
glv_status local_table_rename(glv_conn *conn, glv_id from, glv_id to,
                              const glv_call_options *options, glv_error *err);
glv_status local_table_declare(glv_conn *conn, glv_id id, glv_pairs properties,
                               const glv_call_options *options, buf *ret_location, glv_error *err);
glv_status local_table_register(glv_conn *conn, glv_id id, const char *location,
                                const glv_call_options *options, buf *ret_location, glv_error *err);
glv_status local_table_deregister(glv_conn *conn, glv_id id, const glv_call_options *options,
                                  buf *ret_location, glv_error *err);
glv_status local_table_locate(glv_conn *conn, glv_id id, const glv_call_options *options,
                              buf *ret_location, bool *ret_is_declared, glv_error *err);
glv_status local_table_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                            glv_error *err);
uint64_t local_table_version(const glv_table *table);
glv_status local_table_schema(glv_table *table, schema **ret, glv_error *err);
glv_status local_table_versions(glv_table *table, batch_reader *ret, glv_error *err);
glv_status local_table_checkout(glv_table *table, const glv_open_options *options, glv_error *err);
glv_status local_table_is_latest(glv_table *table, bool *ret, glv_error *err);
glv_status local_table_describe(glv_table *table, buf *ret_json, glv_error *err);
glv_status local_table_count(glv_table *table, const char *filter, const glv_call_options *options,
                             uint64_t *ret, glv_error *err);
glv_status local_table_scan(glv_table *table, const glv_scan_options *options, batch_reader *ret,
                            glv_error *err);
glv_status local_table_search(glv_table *table, const glv_search_options *options,
                              batch_reader *ret, glv_error *err);
glv_status local_table_explain(glv_table *table, const glv_scan_options *scan,
                               const glv_search_options *search, bool run, buf *ret_text,
                               glv_error *err);
glv_status local_table_take(glv_table *table, const uint64_t *rows, size_t count,
                            const glv_take_options *options, batch_reader *ret, glv_error *err);
glv_status local_table_write(glv_table *table, batch_reader *data, bool overwrite,
                             const glv_write_options *options, glv_write_result *ret,
                             glv_error *err);
glv_status local_table_delete(glv_table *table, const char *filter,
                              const glv_write_options *options, glv_write_result *ret,
                              glv_error *err);
glv_status local_table_update(glv_table *table, glv_pairs assignments, const char *filter,
                              const glv_write_options *options, glv_write_result *ret,
                              glv_error *err);
glv_status local_table_merge(glv_table *table, batch_reader *data, const glv_merge_options *options,
                             glv_write_result *ret, glv_error *err);
glv_status local_table_add_columns(glv_table *table, glv_pairs columns,
                                   const glv_write_options *options, glv_write_result *ret,
                                   glv_error *err);
glv_status local_table_add_null_columns(glv_table *table, const schema *columns,
                                        const glv_write_options *options, glv_write_result *ret,
                                        glv_error *err);
glv_status local_table_alter_columns(glv_table *table, const char *changes_json,
                                     const glv_write_options *options, glv_write_result *ret,
                                     glv_error *err);
glv_status local_table_drop_columns(glv_table *table, glv_strs columns,
                                    const glv_write_options *options, glv_write_result *ret,
                                    glv_error *err);
glv_status local_table_set_metadata(glv_table *table, glv_pairs items,
                                    const glv_metadata_options *options, glv_write_result *ret,
                                    glv_error *err);
glv_status local_query(glv_conn *conn, const char *sql, const glv_call_options *options,
                       batch_reader *ret, glv_error *err);

/* ---- upkeep of tables ---- */

/**
 * Open what the options name: a version, a tag, a branch, or the latest version. Errors: as
 * glv_table_open.
 */
glv_status local_table_open_at(local_conn *conn, glv_id id, const glv_open_options *options,
                               arena *a, catalog_table *ret_at, table_snapshot **ret,
                               glv_error *err);
/** The same for another version of the table that t is. */
glv_status local_table_open_other(const table_snapshot *t, const glv_open_options *options,
                                  table_snapshot **ret, glv_error *err);
glv_status local_table_tags(glv_table *table, batch_reader *ret, glv_error *err);
glv_status local_table_tag_set(glv_table *table, const char *tag, uint64_t version,
                               const glv_call_options *options, glv_error *err);
glv_status local_table_tag_drop(glv_table *table, const char *tag, glv_error *err);
glv_status local_table_compact(glv_table *table, const glv_compact_options *options,
                               glv_compact_result *ret, glv_error *err);
glv_status local_table_restore(glv_table *table, const glv_call_options *options, glv_error *err);
glv_status local_table_migrate(glv_table *table, const glv_call_options *options, glv_error *err);
glv_status local_table_cleanup(glv_table *table, int64_t older_than_ms,
                               const glv_call_options *options, glv_cleanup_result *ret,
                               glv_error *err);
/**
 * The versions of a table that the views of this database need: the source versions they were made
 * from, and of a view those since its stamp.
 *
 * @param ret       in an array of arena.
 * @param ret_from  every version from this one on is needed; 0 = none.
 * Errors: GLV_E_BAD_STATE naming a table that cannot be read: it may be a view of this one.
 */
glv_status local_needed_versions(local_conn *conn, const table_snapshot *t, arena *a,
                                 uint64_t **ret, size_t *ret_count, uint64_t *ret_from,
                                 glv_error *err);

/* ---- views ---- */

/** A definition of the view module as the public struct; texts stay where they are, arrays go into
 * the arena. */
glv_status local_definition_out(arena *a, const view_definition *d, glv_view_def *ret,
                                glv_error *err);
/** Fill d->query of a select form, if its texts parse. Errors: GLV_E_NOMEM. */
glv_status local_definition_query(arena *a, view_definition *d, glv_error *err);
/** A public definition as input for planning; *ret_is_sql tells how failures are to be reported. */
glv_status local_definition_in(arena *a, const glv_view_def *def, view_definition *ret,
                               bool *ret_is_sql, glv_error *err);
/** How refreshes find sources in a database; s is borrowed. */
view_database local_database(local_sources *s);
void local_sources_dispose(local_sources *s);

glv_status local_view_prepare(glv_conn *conn, const glv_view_def *def,
                              const glv_call_options *options, glv_view_plan **ret, glv_error *err);
const glv_view_def *local_view_plan_definition(const glv_view_plan *plan);
glv_status local_view_plan_schema(const glv_view_plan *plan, schema **ret, glv_error *err);
glv_status local_view_plan_create(glv_view_plan *plan, glv_id id, const glv_view_options *options,
                                  glv_view **ret, glv_error *err);
glv_status local_view_create(glv_conn *conn, glv_id id, const glv_view_def *def,
                             const glv_view_options *options, glv_view **ret, glv_error *err);
glv_status local_view_open(glv_conn *conn, glv_id id, const glv_call_options *options,
                           glv_view **ret, glv_error *err);
glv_status local_view_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                           glv_error *err);
const glv_view_def *local_view_definition(const glv_view *view);
const char *local_view_stored_definition(const glv_view *view);
const char *local_view_incarnation(const glv_view *view);
glv_table *local_view_table(glv_view *view);
/** The options of a refresh, as the view module has them. */
refresh_options local_refresh_options(const glv_refresh_options *options);
glv_status local_view_explain(glv_view *view, const glv_refresh_options *options, buf *ret_json,
                              glv_error *err);
glv_status local_view_status(glv_view *view, const glv_call_options *options, buf *ret_json,
                             glv_error *err);
glv_status local_view_verify(glv_view *view, const glv_call_options *options, buf *ret_json,
                             glv_error *err);
glv_status local_view_refresh(glv_view *view, const glv_refresh_options *options,
                              glv_refresh_result *ret, glv_error *err);
glv_status local_view_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                           glv_error *err);
/** A handle for an opened view; takes over the snapshot, also on failure. */
glv_status local_view_new(local_conn *conn, glv_id id, const catalog_table *at,
                          table_snapshot *snapshot, local_view **ret, glv_error *err);

/* ---- namespaces ---- */

glv_status local_namespace_create(glv_conn *conn, glv_id ns, glv_pairs properties,
                                  const glv_call_options *options, glv_error *err);
glv_status local_namespace_describe(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                    buf *ret_json, glv_error *err);
glv_status local_namespace_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                                glv_error *err);
glv_status local_namespace_drop(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                glv_error *err);
/** Pairs as metadata of the arrow module, in an arena. */
glv_status local_properties(arena *a, glv_pairs pairs, metadata *ret, glv_error *err);

/* ---- jobs ---- */

void local_conn_close(glv_conn *conn);
glv_status local_view_create_job(glv_conn *conn, glv_id id, const glv_view_def *def,
                                 const glv_view_options *options, glv_job **ret, glv_error *err);
glv_status local_view_refresh_job(glv_view *view, const glv_refresh_options *options, glv_job **ret,
                                  glv_error *err);
glv_status local_view_drop_job(glv_conn *conn, glv_id id, const glv_call_options *options,
                               glv_job **ret, glv_error *err);
glv_status local_job_open(glv_conn *conn, const char *id, glv_job **ret, glv_error *err);
glv_status local_job_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                          glv_error *err);
const char *local_job_id(const glv_job *job);
glv_status local_job_status(glv_job *job, glv_job_info *ret, glv_error *err);
glv_status local_job_wait(glv_job *job, uint32_t timeout_ms, glv_error *err);
glv_status local_job_result(glv_job *job, glv_refresh_result *ret, glv_error *err);
glv_status local_job_events(glv_job *job, batch_reader *ret, glv_error *err);
glv_status local_job_cancel(glv_job *job, glv_error *err);

#endif
