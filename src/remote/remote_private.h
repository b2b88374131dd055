/**
 * @file remote_private.h
 * Handles of the remote implementation, and what its files share.
 */
#ifndef GLAIVE_REMOTE_REMOTE_PRIVATE_H
#define GLAIVE_REMOTE_REMOTE_PRIVATE_H

#include "base/thread.h"
#include "remote/call.h"
#include "remote/remote.h"
#include "wire/time.h"

typedef struct remote_conn {
  glv_conn base;
  client http;
  bool has_consistency; /* how old an answer may be is said */
  int64_t consistency_ns;
} remote_conn;

static inline remote_conn *conn_of(glv_conn *conn) { return (remote_conn *)conn; }

extern const backend_ops remote_ops;

/** An object id as target of a route. */
static inline wire_target target_of(glv_id id) { return (wire_target){id.parts, id.count, NULL}; }

/* ---- tables ---- */

/**
 * What the handle has seen, so that it never goes back in time although many servers may answer
 * (rest-protocol.md 3). A checkout begins a new timeline: answers of calls from before do not
 * count for it.
 */
typedef struct freshness {
  uint64_t generation;
  uint64_t written;    /* by this handle; 0 = nothing */
  uint64_t seen;       /* in an answer; 0 = nothing */
  int64_t baseline_ns; /* of the last checkout of the latest version; 0 = none */
} freshness;

typedef struct remote_table {
  glv_table base;
  char *branch; /* NULL = the main one */
  mutex lock;   /* of what follows */
  uint64_t version;
  uint64_t pinned; /* the version checked out; 0 = the latest, whatever it is */
  freshness fresh;
} remote_table;

static inline remote_table *table_of(glv_table *table) { return (remote_table *)table; }
static inline client *http_of(const glv_table *table) { return &conn_of(table->conn)->http; }

/** A call on a table, and the state of the handle that it was made from. */
typedef struct table_call {
  call c;
  remote_table *t;
  uint64_t version; /* sent in the body; 0 = null */
  uint64_t generation;
  char texts[3][WIRE_TIME_SIZE]; /* of headers */
} table_call;

enum table_call_flags {
  TABLE_READS = 1,  /* the body says the version */
  TABLE_WRITES = 2, /* refused at an old version */
  TABLE_NO_FRESHNESS = 4,
  TABLE_PARAMS = 8 /* the branch is a parameter, not a member of the body */
};

/** Begin a call: body, branch, version and freshness headers are set. name: see wire_target. */
glv_status table_call_begin(table_call *tc, glv_table *table, const route *r, const char *name,
                            unsigned flags, cancel_token *cancel, glv_error *err);
void table_call_dispose(table_call *tc); /* usable with CLEANUP */
/** Take note of the version that an answer tells; 0 = none. */
void table_call_seen(const table_call *tc, uint64_t version);
/** The handle made a version. */
void table_call_wrote(const table_call *tc, uint64_t version);
/** call_object, and the version in the header noted. */
glv_status table_call_object(table_call *tc, answer *ret, glv_error *err);

/** A handle at version, with a reference to conn. branch may be NULL. */
glv_status remote_table_new(remote_conn *conn, glv_id id, const char *branch, uint64_t version,
                            uint64_t pinned, remote_table **ret, glv_error *err);
/** A handle at the newest version, and what the server said of the table: js_free. */
glv_status remote_table_open_described(remote_conn *conn, glv_id id, glv_table **ret,
                                       json **ret_description, glv_error *err);
/** Take note of a version that was made for the handle in another way. */
void remote_table_wrote(glv_table *table, uint64_t version);
/** GLV_E_UNSUPPORTED for GLV_SQL_* bits, which have no place in the protocol. */
glv_status remote_check_dialect(uint32_t flags, glv_error *err);
/** The same, and for GLV_WRITE_VIEW. */
glv_status remote_check_write(uint32_t flags, glv_error *err);
/** Read attempts and version of a write, and let the handle know. */
glv_status remote_finish_write(table_call *tc, const answer *a, glv_write_result *ret,
                               glv_error *err);

/* ---- operations ---- */

glv_status remote_table_create(glv_conn *conn, glv_id id, batch_reader *data,
                               const glv_table_options *options, glv_table **ret, glv_error *err);
glv_status remote_table_open(glv_conn *conn, glv_id id, const glv_open_options *options,
                             glv_table **ret, glv_error *err);
glv_status remote_table_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                             glv_error *err);
glv_status remote_table_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                             glv_error *err);
glv_status remote_table_rename(glv_conn *conn, glv_id from, glv_id to,
                               const glv_call_options *options, glv_error *err);
glv_status remote_table_declare(glv_conn *conn, glv_id id, glv_pairs properties,
                                const glv_call_options *options, buf *ret_location, glv_error *err);
glv_status remote_table_register(glv_conn *conn, glv_id id, const char *location,
                                 const glv_call_options *options, buf *ret_location,
                                 glv_error *err);
glv_status remote_table_deregister(glv_conn *conn, glv_id id, const glv_call_options *options,
                                   buf *ret_location, glv_error *err);
glv_status remote_table_locate(glv_conn *conn, glv_id id, const glv_call_options *options,
                               buf *ret_location, bool *ret_is_declared, glv_error *err);
uint64_t remote_table_version(const glv_table *table);
glv_status remote_table_schema(glv_table *table, schema **ret, glv_error *err);
glv_status remote_table_versions(glv_table *table, batch_reader *ret, glv_error *err);
glv_status remote_table_checkout(glv_table *table, const glv_open_options *options, glv_error *err);
glv_status remote_table_is_latest(glv_table *table, bool *ret, glv_error *err);
glv_status remote_table_describe(glv_table *table, buf *ret_json, glv_error *err);
glv_status remote_table_count(glv_table *table, const char *filter, const glv_call_options *options,
                              uint64_t *ret, glv_error *err);
glv_status remote_table_scan(glv_table *table, const glv_scan_options *options, batch_reader *ret,
                             glv_error *err);
glv_status remote_table_search(glv_table *table, const glv_search_options *options,
                               batch_reader *ret, glv_error *err);
glv_status remote_table_explain(glv_table *table, const glv_scan_options *scan,
                                const glv_search_options *search, bool run, buf *ret_text,
                                glv_error *err);
glv_status remote_table_take(glv_table *table, const uint64_t *rows, size_t count,
                             const glv_take_options *options, batch_reader *ret, glv_error *err);
glv_status remote_table_write(glv_table *table, batch_reader *data, bool overwrite,
                              const glv_write_options *options, glv_write_result *ret,
                              glv_error *err);
glv_status remote_table_delete(glv_table *table, const char *filter,
                               const glv_write_options *options, glv_write_result *ret,
                               glv_error *err);
glv_status remote_table_update(glv_table *table, glv_pairs assignments, const char *filter,
                               const glv_write_options *options, glv_write_result *ret,
                               glv_error *err);
glv_status remote_table_merge(glv_table *table, batch_reader *data,
                              const glv_merge_options *options, glv_write_result *ret,
                              glv_error *err);
glv_status remote_table_add_columns(glv_table *table, glv_pairs columns,
                                    const glv_write_options *options, glv_write_result *ret,
                                    glv_error *err);
glv_status remote_table_add_null_columns(glv_table *table, const schema *columns,
                                         const glv_write_options *options, glv_write_result *ret,
                                         glv_error *err);
glv_status remote_table_alter_columns(glv_table *table, const char *changes_json,
                                      const glv_write_options *options, glv_write_result *ret,
                                      glv_error *err);
glv_status remote_table_drop_columns(glv_table *table, glv_strs columns,
                                     const glv_write_options *options, glv_write_result *ret,
                                     glv_error *err);
glv_status remote_table_set_metadata(glv_table *table, glv_pairs items,
                                     const glv_metadata_options *options, glv_write_result *ret,
                                     glv_error *err);
glv_status remote_query(glv_conn *conn, const char *sql, const glv_call_options *options,
                        batch_reader *ret, glv_error *err);
glv_status remote_table_tags(glv_table *table, batch_reader *ret, glv_error *err);
glv_status remote_table_tag_set(glv_table *table, const char *tag, uint64_t version,
                                const glv_call_options *options, glv_error *err);
glv_status remote_table_tag_drop(glv_table *table, const char *tag, glv_error *err);
glv_status remote_table_compact(glv_table *table, const glv_compact_options *options,
                                glv_compact_result *ret, glv_error *err);
glv_status remote_table_restore(glv_table *table, const glv_call_options *options, glv_error *err);
glv_status remote_table_migrate(glv_table *table, const glv_call_options *options, glv_error *err);
glv_status remote_table_cleanup(glv_table *table, int64_t older_than_ms,
                                const glv_call_options *options, glv_cleanup_result *ret,
                                glv_error *err);
glv_status remote_view_prepare(glv_conn *conn, const glv_view_def *def,
                               const glv_call_options *options, glv_view_plan **ret,
                               glv_error *err);
glv_status remote_view_create(glv_conn *conn, glv_id id, const glv_view_def *def,
                              const glv_view_options *options, glv_view **ret, glv_error *err);
glv_status remote_view_open(glv_conn *conn, glv_id id, const glv_call_options *options,
                            glv_view **ret, glv_error *err);
glv_status remote_view_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                            glv_error *err);
const glv_view_def *remote_view_definition(const glv_view *view);
const char *remote_view_stored_definition(const glv_view *view);
const char *remote_view_incarnation(const glv_view *view);
glv_table *remote_view_table(glv_view *view);
glv_status remote_view_explain(glv_view *view, const glv_refresh_options *options, buf *ret_json,
                               glv_error *err);
glv_status remote_view_status(glv_view *view, const glv_call_options *options, buf *ret_json,
                              glv_error *err);
glv_status remote_view_verify(glv_view *view, const glv_call_options *options, buf *ret_json,
                              glv_error *err);
glv_status remote_view_refresh(glv_view *view, const glv_refresh_options *options,
                               glv_refresh_result *ret, glv_error *err);
glv_status remote_view_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                            glv_error *err);
glv_status remote_namespace_create(glv_conn *conn, glv_id ns, glv_pairs properties,
                                   const glv_call_options *options, glv_error *err);
glv_status remote_namespace_describe(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                     buf *ret_json, glv_error *err);
glv_status remote_namespace_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                                 glv_error *err);
glv_status remote_namespace_drop(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                 glv_error *err);

/* ---- jobs ---- */

void remote_conn_close(glv_conn *conn);
glv_status remote_view_create_job(glv_conn *conn, glv_id id, const glv_view_def *def,
                                  const glv_view_options *options, glv_job **ret, glv_error *err);
glv_status remote_view_refresh_job(glv_view *view, const glv_refresh_options *options,
                                   glv_job **ret, glv_error *err);
glv_status remote_view_drop_job(glv_conn *conn, glv_id id, const glv_call_options *options,
                                glv_job **ret, glv_error *err);
glv_status remote_job_open(glv_conn *conn, const char *id, glv_job **ret, glv_error *err);
glv_status remote_job_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                           glv_error *err);
const char *remote_job_id(const glv_job *job);
glv_status remote_job_status(glv_job *job, glv_job_info *ret, glv_error *err);
glv_status remote_job_wait(glv_job *job, uint32_t timeout_ms, glv_error *err);
glv_status remote_job_result(glv_job *job, glv_refresh_result *ret, glv_error *err);
glv_status remote_job_events(glv_job *job, batch_reader *ret, glv_error *err);
glv_status remote_job_cancel(glv_job *job, glv_error *err);

#endif
