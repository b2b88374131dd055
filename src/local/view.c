/*
 * View handles: a definition and the table that holds the rows. Definitions are planned against the
 * source as a refresh will find it: by the recorded namespace and name, through this database.
 */
#include "backend/outcome.h"
#include "local/local_private.h"
#include "view/create.h"
#include "view/definition.h"
#include "view/watermark.h"

enum { DEFAULT_RETRIES = 3 };

/* ---- sources ---- */

void local_sources_dispose(local_sources *s) { table_unref(s->source); }

static glv_status open_source(void *context, const char *const *names, size_t name_count,
                              const char *table, uint64_t version, table_snapshot **ret,
                              glv_error *err) {
  local_sources *s = context;
  glv_env *env = s->conn->base.handle.env;
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  const char **parts = ARENA_ARRAY(&a, const char *, name_count + 1);
  if (parts == NULL) {
    return error_nomem(err, (name_count + 1) * sizeof *parts);
  }
  for (size_t i = 0; i < name_count; i++) {
    parts[i] = names[i];
  }
  parts[name_count] = table;
  const glv_id id = {parts, name_count + 1};
  catalog_table at;
  if (version != 0) {
    return local_table_find(s->conn, id, version, &a, &at, ret, err);
  }
  TRY(catalog_table_resolve(s->conn->db, catalog_path(id), &a, &at, err));
  TRY(table_open_again(env, at.path, at.name, s->source, ret, err));
  table_unref(s->source);
  s->source = table_ref(*ret);
  return GLV_OK;
}

view_database local_database(local_sources *s) { return (view_database){open_source, s}; }

/* ---- plans ---- */

static void plan_dispose(handle *h) {
  local_plan *p = (local_plan *)h;
  glv_env *env = h->env;
  view_plan_free(p->plan);
  arena_dispose(&p->memory);
  handle_unref(&p->conn->base.handle);
  mem_free(env, p);
}

/*
 * A definition that is stored as a query needs its canonical text: the caller's own, or made from
 * the planned parts. `*` is stored as the columns that it stands for now; as a star it would mean
 * other columns as soon as the source gets one.
 */
static glv_status finish_definition(view_plan *plan, glv_error *err) {
  view_definition *d = &plan->definition;
  if (d->projection_count == 0) {
    return GLV_OK;
  }
  const bool keep = d->form == DEFINITION_QUERY && d->query != NULL && !d->star;
  return keep ? GLV_OK : definition_make_query(&plan->memory, d, err);
}

static glv_status fill_plan(local_plan *p, const glv_view_def *def, glv_error *err) {
  view_definition d;
  bool is_sql = false;
  TRY(local_definition_in(&p->memory, def, &d, &is_sql, err));
  CLEANUP(local_sources_dispose) local_sources sources = {.conn = p->conn};
  CLEANUP(table_cleanup) table_snapshot *source = NULL;
  TRY(open_source(&sources, d.source_namespace, d.namespace_count, d.source_table, 0, &source,
                  err));
  TRY(view_check_source(source, true, err));
  TRY(view_plan_make(source, &d, is_sql ? PLAN_SQL : PLAN_FIELDS, &p->plan, err));
  TRY(finish_definition(p->plan, err));
  return local_definition_out(&p->memory, &p->plan->definition, &p->definition, err);
}

static glv_status plan_new(local_conn *conn, const glv_view_def *def, local_plan **ret,
                           glv_error *err) {
  glv_env *env = conn->base.handle.env;
  local_plan *p = mem_zalloc(env, sizeof *p);
  if (p == NULL) {
    return error_nomem(err, sizeof *p);
  }
  handle_init(&p->base.handle, env, plan_dispose);
  arena_init(&p->memory, env);
  p->base.ops = &local_ops;
  handle_ref(&conn->base.handle);
  p->conn = conn;
  const glv_status status = fill_plan(p, def, err);
  if (status != GLV_OK) {
    handle_unref(&p->base.handle);
    return status;
  }
  *ret = p;
  return GLV_OK;
}

glv_status local_view_prepare(glv_conn *conn, const glv_view_def *def,
                              const glv_call_options *options, glv_view_plan **ret,
                              glv_error *err) {
  (void)options;
  local_plan *p = NULL;
  TRY(plan_new(conn_of(conn), def, &p, err));
  *ret = &p->base;
  return GLV_OK;
}

const glv_view_def *local_view_plan_definition(const glv_view_plan *plan) {
  return &plan_of(plan)->definition;
}

glv_status local_view_plan_schema(const glv_view_plan *plan, schema **ret, glv_error *err) {
  (void)err;
  *ret = schema_ref(plan_of(plan)->plan->columns);
  return GLV_OK;
}

/* ---- creation ---- */

/* The empty view stands; a failed fill leaves it so, and the message says it. */
static glv_status first_fill(local_view *v, cancel_token *cancel, glv_error *err) {
  const glv_refresh_options options = {.struct_size = sizeof options, .cancel = cancel};
  glv_refresh_result ignored = {0};
  return outcome_first_fill(local_view_refresh(&v->base, &options, &ignored, err), v->table->name,
                            err);
}

/* A refresh publishes versions itself. */
static glv_status check_publishes(const local_conn *conn, const char *name, glv_error *err) {
  if (conn->kind != LOCAL_TRACKED_NAMESPACE) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_UNSUPPORTED,
              "'%s' cannot be a materialized view: its namespace manages the versions of its "
              "tables; connect without table_version_tracking_enabled",
              name);
}

static glv_status create_table(local_plan *p, glv_id id, arena *a, catalog_table *ret_at,
                               table_snapshot **ret, glv_error *err) {
  local_conn *conn = p->conn;
  catalog_creation creation = {0};
  TRY(catalog_table_begin(conn->db, catalog_path(id), (metadata){NULL, 0}, a, &creation, err));
  const glv_status status =
      view_create_table(p->plan, creation.table.path, creation.table.name, ret, err);
  if (status != GLV_OK) {
    if (status != GLV_E_UNKNOWN_OUTCOME) {
      catalog_table_undo(conn->db, &creation);
    }
    return status;
  }
  *ret_at = creation.table;
  const glv_status finished = catalog_table_finish(conn->db, &creation, err);
  if (finished != GLV_OK) {
    table_unref(*ret);
    *ret = NULL;
  }
  return finished;
}

glv_status local_view_plan_create(glv_view_plan *plan, glv_id id, const glv_view_options *options,
                                  glv_view **ret, glv_error *err) {
  local_plan *p = plan_of(plan);
  TRY(check_publishes(p->conn, IDENT_TEXT(id), err));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, plan->handle.env);
  CLEANUP(local_sources_dispose) local_sources sources = {.conn = p->conn};
  const view_database db = local_database(&sources);
  TRY(view_check_cycle(plan->handle.env, &db, &p->plan->definition, id.parts, id.count - 1,
                       id.parts[id.count - 1], err));
  catalog_table at;
  table_snapshot *snapshot = NULL;
  TRY(create_table(p, id, &a, &at, &snapshot, err));
  local_view *v = NULL;
  TRY(local_view_new(p->conn, id, &at, snapshot, &v, err));
  glv_status status = GLV_OK;
  if ((options->flags & GLV_VIEW_NO_DATA) == 0) {
    status = first_fill(v, options->cancel, err);
  }
  if (status != GLV_OK || ret == NULL) {
    handle_unref(&v->base.handle);
    return status;
  }
  *ret = &v->base;
  return GLV_OK;
}

glv_status local_view_create(glv_conn *conn, glv_id id, const glv_view_def *def,
                             const glv_view_options *options, glv_view **ret, glv_error *err) {
  local_plan *p = NULL;
  TRY(plan_new(conn_of(conn), def, &p, err));
  const glv_status status = local_view_plan_create(&p->base, id, options, ret, err);
  handle_unref(&p->base.handle);
  return status;
}

/* ---- handles ---- */

static void view_dispose(handle *h) {
  local_view *v = (local_view *)h;
  glv_env *env = h->env;
  arena_dispose(&v->memory);
  table_unref(v->source);
  mutex_dispose(&v->lock);
  if (v->table != NULL) {
    handle_unref(&v->table->base.handle);
  }
  handle_unref(&v->base.conn->handle);
  mem_free(env, v);
}

static glv_status read_view(local_view *v, const table_snapshot *t, glv_error *err) {
  bool is_view = false;
  const str text = table_metadata_get(t, STR(VIEW_KEY_DEFINITION), &is_view);
  if (!is_view) {
    return FAIL(err, GLV_E_NOT_A_VIEW, "Table '%s' is not a materialized view", table_name(t));
  }
  const str incarnation = watermark_read(t).incarnation;
  v->stored = arena_strdup(&v->memory, text);
  v->incarnation = incarnation.size > 0 ? arena_strdup(&v->memory, incarnation) : NULL;
  if (v->stored == NULL || (incarnation.size > 0 && v->incarnation == NULL)) {
    return error_nomem(err, text.size);
  }
  view_definition d;
  TRY(definition_parse(&v->memory, str_of(v->stored), table_name(t), false, &d, err));
  TRY(local_definition_query(&v->memory, &d, err));
  return local_definition_out(&v->memory, &d, &v->definition, err);
}

glv_status local_view_new(local_conn *conn, glv_id id, const catalog_table *at,
                          table_snapshot *snapshot, local_view **ret, glv_error *err) {
  glv_env *env = conn->base.handle.env;
  local_view *v = mem_zalloc(env, sizeof *v);
  if (v == NULL) {
    table_unref(snapshot);
    return error_nomem(err, sizeof *v);
  }
  handle_init(&v->base.handle, env, view_dispose);
  arena_init(&v->memory, env);
  mutex_init(&v->lock);
  v->base.ops = &local_ops;
  handle_ref(&conn->base.handle);
  v->base.conn = &conn->base;
  glv_status status = read_view(v, snapshot, err);
  if (status == GLV_OK) {
    status = local_table_new(conn, id, at, snapshot, &v->table, err);
  } else {
    table_unref(snapshot);
  }
  if (status != GLV_OK) {
    handle_unref(&v->base.handle);
    return status;
  }
  *ret = v;
  return GLV_OK;
}

glv_status local_view_open(glv_conn *conn, glv_id id, const glv_call_options *options,
                           glv_view **ret, glv_error *err) {
  (void)options;
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  catalog_table at;
  table_snapshot *snapshot = NULL;
  TRY(local_table_find(conn_of(conn), id, 0, &a, &at, &snapshot, err));
  local_view *v = NULL;
  TRY(local_view_new(conn_of(conn), id, &at, snapshot, &v, err));
  *ret = &v->base;
  return GLV_OK;
}

const glv_view_def *local_view_definition(const glv_view *view) {
  return &view_of(view)->definition;
}
const char *local_view_stored_definition(const glv_view *view) { return view_of(view)->stored; }
const char *local_view_incarnation(const glv_view *view) { return view_of(view)->incarnation; }
glv_table *local_view_table(glv_view *view) { return &view_of(view)->table->base; }

/* ---- refresh and drop ---- */

static local_sources take_source(local_view *v) {
  mutex_lock(&v->lock);
  table_snapshot *source = table_ref(v->source);
  mutex_unlock(&v->lock);
  return (local_sources){conn_of(v->base.conn), source};
}

static void keep_source(local_view *v, local_sources *s) {
  mutex_lock(&v->lock);
  table_snapshot *old = v->source;
  v->source = s->source;
  mutex_unlock(&v->lock);
  s->source = old;
}

refresh_options local_refresh_options(const glv_refresh_options *options) {
  return (refresh_options){
      .policy = (options->flags & GLV_REFRESH_UPSTREAM) != 0 ? REFRESH_UPSTREAM : REFRESH_PRECISE,
      .full = options->full != 0,
      .require_incremental = options->require == 1,
      .no_stamp = (options->flags & GLV_REFRESH_NO_STAMP) != 0,
      .has_source_version = (options->flags & GLV_REFRESH_SOURCE_VERSION) != 0,
      .source_version = options->source_version,
      .incarnation = options->incarnation,
      .retries = options->retries == 0  ? DEFAULT_RETRIES
                 : options->retries < 0 ? 0
                                        : (unsigned)options->retries,
      .cancel = options->cancel,
  };
}

glv_status local_view_refresh(glv_view *view, const glv_refresh_options *options,
                              glv_refresh_result *ret, glv_error *err) {
  local_view *v = view_of(view);
  TRY(check_publishes(conn_of(v->base.conn), v->table->name, err));
  glv_env *env = view->handle.env;
  const int64_t start_ns = env_now_ns(env);
  CLEANUP(table_cleanup) table_snapshot *before = local_table_snapshot(v->table);
  refresh_options refresh = local_refresh_options(options);
  refresh.known = before;
  CLEANUP(local_sources_dispose) local_sources sources = take_source(v);
  const view_database db = local_database(&sources);
  refresh_result result = {0};
  TRY(view_refresh(env, &db, v->table->path, v->table->name, &refresh, &result, err));
  keep_source(v, &sources);
  ret->mode = (int32_t)result.mode;
  ret->rows_written = (int64_t)result.rows_written;
  ret->rows_removed = (int64_t)result.rows_removed;
  ret->source_version = (int64_t)result.source_version;
  ret->version = result.version;
  ret->duration_ms = (env_now_ns(env) - start_ns) / 1000000;
  ret->source_rows_scanned = (int64_t)result.source_rows_scanned;
  memcpy(ret->reason, result.reason, size_min(strlen(result.reason), sizeof ret->reason - 1));

  /* Reads through the view's table see the new rows; the refresh itself succeeded, whatever happens
   * here. */
  table_snapshot *latest = NULL;
  if (result.version != table_version(before) &&
      table_open_version(before, 0, &latest, NULL) == GLV_OK) {
    local_table_advance(v->table, latest);
  }
  return GLV_OK;
}

glv_status local_view_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                           glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  const bool if_exists = (options->flags & GLV_CALL_IF_NEEDED) != 0;
  catalog_table at;
  CLEANUP(table_cleanup) table_snapshot *snapshot = NULL;
  glv_error error = {0};
  const glv_status status = local_table_find(conn_of(conn), id, 0, &a, &at, &snapshot, &error);
  if (status == GLV_E_TABLE_NOT_FOUND && if_exists) {
    return GLV_OK;
  }
  if (status != GLV_OK) {
    if (err != NULL) {
      *err = error;
    }
    return status;
  }
  if (!local_is_view(snapshot)) {
    return FAIL(err, GLV_E_NOT_A_VIEW, "Table '%s' is not a materialized view", at.name);
  }
  table_unref(snapshot);
  snapshot = NULL;
  return local_drop(conn_of(conn), id, if_exists, err);
}
