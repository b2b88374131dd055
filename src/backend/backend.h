/**
 * @file backend.h
 * The one interface behind the public handles. A connection carries a table of operations; the
 * embedded implementation (src/local) and the HTTP one (src/remote) each fill it. The exported
 * functions (src/api) check their arguments, read the option structs, and call through it; nothing
 * above knows which implementation it talks to.
 *
 * Public handles are the base structs below, embedded as first member in the implementation's own
 * structs.
 */
#ifndef GLAIVE_BACKEND_BACKEND_H
#define GLAIVE_BACKEND_BACKEND_H

#include <stdatomic.h>

#include <glaive/job.h>
#include <glaive/search.h>

#include "arrow/array.h"
#include "base/arena.h"
#include "base/env.h"

typedef struct backend_ops backend_ops;

/** Fields of every counted handle: the last release calls `dispose`. */
typedef struct handle {
  atomic_size_t refs;
  glv_env *env; /* a reference */
  void (*dispose)(struct handle *h);
} handle;

void handle_init(handle *h, glv_env *env, void (*dispose)(handle *h));
void handle_ref(handle *h);
void handle_unref(handle *h); /* NULL is fine */

/** An owned copy of a glv_id. */
typedef struct ident {
  char **parts;
  size_t count;
} ident;

/** Errors: GLV_E_NOMEM; GLV_E_INVALID_INPUT for NULL parts. */
glv_status ident_copy(glv_env *env, glv_id id, ident *ret, glv_error *err);
void ident_dispose(glv_env *env, ident *id);
/** The path as messages show it: `ops.nyc."a b"`; cut when too long. @return text. */
const char *ident_text(glv_id id, char *text, size_t size);
#define IDENT_TEXT_SIZE 256
#define IDENT_TEXT(id) ident_text((id), (char[IDENT_TEXT_SIZE]){0}, IDENT_TEXT_SIZE)
static inline glv_id ident_id(const ident *id) {
  return (glv_id){(const char *const *)id->parts, id->count};
}

struct glv_conn {
  handle handle;
  const backend_ops *ops;
  char *uri;
};

struct glv_table {
  handle handle;
  const backend_ops *ops;
  glv_conn *conn; /* a reference */
  ident id;
};

struct glv_view {
  handle handle;
  const backend_ops *ops;
  glv_conn *conn; /* a reference */
};

struct glv_view_plan {
  handle handle;
  const backend_ops *ops;
};

struct glv_job {
  handle handle;
  const backend_ops *ops;
};

/** One page of names under construction, and then the public list. */
struct glv_list {
  glv_env *env; /* a reference */
  arena memory;
  struct list_entry *entries;
  size_t count;
  size_t capacity;
  char *token; /* NULL = last page */
};

typedef struct list_entry {
  const char *const *parts; /* of the full path; the name is the last */
  size_t part_count;
  const char *form;  /* or NULL */
  const char *state; /* or NULL */
} list_entry;

glv_status list_new(glv_env *env, glv_list **ret, glv_error *err);
void list_free(glv_list *list); /* NULL is fine */
/** Everything is copied. ns: the namespace of the entry. */
glv_status list_add(glv_list *list, glv_id ns, str name, const char *form, const char *state,
                    glv_error *err);
glv_status list_set_token(glv_list *list, str token, glv_error *err);

/** Limits of a page after reading glv_page_options. */
typedef struct page {
  bool has_limit;
  uint64_t limit;
  const char *token; /* NULL = from the start */
  bool recursive;
} page;

/**
 * The operations. Options arrive complete (struct_size handled, never NULL); ids, strings and
 * definitions are borrowed; readers are taken over in every case; ret pointers may be NULL only
 * where said.
 */
struct backend_ops {
  int is_remote;

  glv_status (*namespace_create)(glv_conn *conn, glv_id ns, glv_pairs properties,
                                 const glv_call_options *options, glv_error *err);
  glv_status (*namespace_describe)(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                   buf *ret_json, glv_error *err);
  glv_status (*namespace_list)(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                               glv_error *err);
  glv_status (*namespace_drop)(glv_conn *conn, glv_id ns, const glv_call_options *options,
                               glv_error *err);

  /* ret may be NULL. */
  glv_status (*table_create)(glv_conn *conn, glv_id id, batch_reader *data,
                             const glv_table_options *options, glv_table **ret, glv_error *err);
  glv_status (*table_open)(glv_conn *conn, glv_id id, const glv_open_options *options,
                           glv_table **ret, glv_error *err);
  glv_status (*table_list)(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                           glv_error *err);
  glv_status (*table_drop)(glv_conn *conn, glv_id id, const glv_call_options *options,
                           glv_error *err);
  glv_status (*table_rename)(glv_conn *conn, glv_id from, glv_id to,
                             const glv_call_options *options, glv_error *err);
  glv_status (*table_declare)(glv_conn *conn, glv_id id, glv_pairs properties,
                              const glv_call_options *options, buf *ret_location, glv_error *err);
  glv_status (*table_register)(glv_conn *conn, glv_id id, const char *location,
                               const glv_call_options *options, buf *ret_location, glv_error *err);
  glv_status (*table_deregister)(glv_conn *conn, glv_id id, const glv_call_options *options,
                                 buf *ret_location, glv_error *err);
  glv_status (*table_locate)(glv_conn *conn, glv_id id, const glv_call_options *options,
                             buf *ret_location, bool *ret_is_declared, glv_error *err);
  uint64_t (*table_version)(const glv_table *table);
  /* A counted schema. */
  glv_status (*table_schema)(glv_table *table, schema **ret, glv_error *err);
  glv_status (*table_versions)(glv_table *table, batch_reader *ret, glv_error *err);
  glv_status (*table_checkout)(glv_table *table, const glv_open_options *options, glv_error *err);
  /* NULL: cannot tell. */
  glv_status (*table_is_latest)(glv_table *table, bool *ret, glv_error *err);
  glv_status (*table_describe)(glv_table *table, buf *ret_json, glv_error *err);
  glv_status (*table_count)(glv_table *table, const char *filter, const glv_call_options *options,
                            uint64_t *ret, glv_error *err);
  glv_status (*table_scan)(glv_table *table, const glv_scan_options *options, batch_reader *ret,
                           glv_error *err);
  glv_status (*table_search)(glv_table *table, const glv_search_options *options, batch_reader *ret,
                             glv_error *err);
  /* Of scan and search one is NULL. */
  glv_status (*table_explain)(glv_table *table, const glv_scan_options *scan,
                              const glv_search_options *search, bool run, buf *ret_text,
                              glv_error *err);
  glv_status (*table_take)(glv_table *table, const uint64_t *rows, size_t count,
                           const glv_take_options *options, batch_reader *ret, glv_error *err);
  /* overwrite: replace rows and schema, else append. */
  glv_status (*table_write)(glv_table *table, batch_reader *data, bool overwrite,
                            const glv_write_options *options, glv_write_result *ret,
                            glv_error *err);
  glv_status (*table_delete)(glv_table *table, const char *filter, const glv_write_options *options,
                             glv_write_result *ret, glv_error *err);
  glv_status (*table_update)(glv_table *table, glv_pairs assignments, const char *filter,
                             const glv_write_options *options, glv_write_result *ret,
                             glv_error *err);
  glv_status (*table_merge)(glv_table *table, batch_reader *data, const glv_merge_options *options,
                            glv_write_result *ret, glv_error *err);

  /* Upkeep. version 0 = that of the handle. */
  glv_status (*table_tags)(glv_table *table, batch_reader *ret, glv_error *err);
  glv_status (*table_tag_set)(glv_table *table, const char *tag, uint64_t version,
                              const glv_call_options *options, glv_error *err);
  glv_status (*table_tag_drop)(glv_table *table, const char *tag, glv_error *err);
  glv_status (*table_compact)(glv_table *table, const glv_compact_options *options,
                              glv_compact_result *ret, glv_error *err);
  glv_status (*table_restore)(glv_table *table, const glv_call_options *options, glv_error *err);
  glv_status (*table_migrate)(glv_table *table, const glv_call_options *options, glv_error *err);
  /* older_than_ms >= 0. */
  glv_status (*table_cleanup)(glv_table *table, int64_t older_than_ms,
                              const glv_call_options *options, glv_cleanup_result *ret,
                              glv_error *err);

  glv_status (*table_add_columns)(glv_table *table, glv_pairs columns,
                                  const glv_write_options *options, glv_write_result *ret,
                                  glv_error *err);
  glv_status (*table_add_null_columns)(glv_table *table, const schema *columns,
                                       const glv_write_options *options, glv_write_result *ret,
                                       glv_error *err);
  glv_status (*table_alter_columns)(glv_table *table, const char *changes_json,
                                    const glv_write_options *options, glv_write_result *ret,
                                    glv_error *err);
  glv_status (*table_drop_columns)(glv_table *table, glv_strs columns,
                                   const glv_write_options *options, glv_write_result *ret,
                                   glv_error *err);
  /* A NULL value removes the key. */
  glv_status (*table_set_metadata)(glv_table *table, glv_pairs items,
                                   const glv_metadata_options *options, glv_write_result *ret,
                                   glv_error *err);

  glv_status (*query)(glv_conn *conn, const char *sql, const glv_call_options *options,
                      batch_reader *ret, glv_error *err);

  glv_status (*view_prepare)(glv_conn *conn, const glv_view_def *def,
                             const glv_call_options *options, glv_view_plan **ret, glv_error *err);
  const glv_view_def *(*view_plan_definition)(const glv_view_plan *plan);
  glv_status (*view_plan_schema)(const glv_view_plan *plan, schema **ret, glv_error *err);
  /* ret may be NULL. */
  glv_status (*view_plan_create)(glv_view_plan *plan, glv_id id, const glv_view_options *options,
                                 glv_view **ret, glv_error *err);
  glv_status (*view_create)(glv_conn *conn, glv_id id, const glv_view_def *def,
                            const glv_view_options *options, glv_view **ret, glv_error *err);
  glv_status (*view_open)(glv_conn *conn, glv_id id, const glv_call_options *options,
                          glv_view **ret, glv_error *err);
  glv_status (*view_list)(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                          glv_error *err);
  const glv_view_def *(*view_definition)(const glv_view *view);
  const char *(*view_stored_definition)(const glv_view *view);
  const char *(*view_incarnation)(const glv_view *view);
  glv_table *(*view_table)(glv_view *view);
  glv_status (*view_refresh)(glv_view *view, const glv_refresh_options *options,
                             glv_refresh_result *ret, glv_error *err);
  glv_status (*view_explain)(glv_view *view, const glv_refresh_options *options, buf *ret_json,
                             glv_error *err);
  glv_status (*view_status)(glv_view *view, const glv_call_options *options, buf *ret_json,
                            glv_error *err);
  /* ret_json is filled on GLV_E_DIFFERS too. */
  glv_status (*view_verify)(glv_view *view, const glv_call_options *options, buf *ret_json,
                            glv_error *err);
  glv_status (*view_drop)(glv_conn *conn, glv_id id, const glv_call_options *options,
                          glv_error *err);

  /* The caller lets go of the connection: its jobs are stopped. */
  void (*conn_close)(glv_conn *conn);
  glv_status (*view_create_job)(glv_conn *conn, glv_id id, const glv_view_def *def,
                                const glv_view_options *options, glv_job **ret, glv_error *err);
  glv_status (*view_refresh_job)(glv_view *view, const glv_refresh_options *options, glv_job **ret,
                                 glv_error *err);
  glv_status (*view_drop_job)(glv_conn *conn, glv_id id, const glv_call_options *options,
                              glv_job **ret, glv_error *err);
  glv_status (*job_open)(glv_conn *conn, const char *id, glv_job **ret, glv_error *err);
  glv_status (*job_list)(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                         glv_error *err);
  const char *(*job_id)(const glv_job *job);
  glv_status (*job_status)(glv_job *job, glv_job_info *ret, glv_error *err);
  glv_status (*job_wait)(glv_job *job, uint32_t timeout_ms, glv_error *err);
  glv_status (*job_result)(glv_job *job, glv_refresh_result *ret, glv_error *err);
  glv_status (*job_events)(glv_job *job, batch_reader *ret, glv_error *err);
  glv_status (*job_cancel)(glv_job *job, glv_error *err);
};

#endif
