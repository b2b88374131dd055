/*
 * Table handles: a mutex around a counted snapshot. Reads take their own reference to the snapshot;
 * writes start from the latest version and move the handle to what they made. A table that is a
 * materialized view takes rows from its refresh alone.
 */
#include "base/keyed_lock.h"
#include "expr/json_columns.h"
#include "local/local_private.h"
#include "table/tags.h"
#include "table/write.h"
#include "view/definition.h"

/* ---- handles ---- */

static void table_dispose(handle *h) {
  local_table *t = (local_table *)h;
  glv_env *env = h->env;
  table_unref(t->snapshot);
  ident_dispose(env, &t->base.id);
  mem_free(env, t->path);
  mem_free(env, t->name);
  mutex_dispose(&t->lock);
  if (t->base.conn != NULL) {
    handle_unref(&t->base.conn->handle);
  }
  mem_free(env, t);
}

glv_status local_table_new(local_conn *conn, glv_id id, const catalog_table *at,
                           table_snapshot *snapshot, local_table **ret, glv_error *err) {
  glv_env *env = conn->base.handle.env;
  local_table *t = mem_zalloc(env, sizeof *t);
  if (t == NULL) {
    table_unref(snapshot);
    return error_nomem(err, sizeof *t);
  }
  handle_init(&t->base.handle, env, table_dispose);
  mutex_init(&t->lock);
  t->base.ops = &local_ops;
  handle_ref(&conn->base.handle);
  t->base.conn = &conn->base;
  t->snapshot = snapshot;
  t->path = mem_strndup(env, at->path, strlen(at->path));
  t->name = mem_strndup(env, at->name, strlen(at->name));
  glv_status status = ident_copy(env, id, &t->base.id, err);
  if (status == GLV_OK && (t->path == NULL || t->name == NULL)) {
    status = error_nomem(err, strlen(at->path));
  }
  if (status != GLV_OK) {
    handle_unref(&t->base.handle);
    return status;
  }
  *ret = t;
  return GLV_OK;
}

table_snapshot *local_table_snapshot(local_table *t) {
  mutex_lock(&t->lock);
  table_snapshot *snapshot = table_ref(t->snapshot);
  mutex_unlock(&t->lock);
  return snapshot;
}

void local_table_move(local_table *t, table_snapshot *snapshot, bool checked_out) {
  mutex_lock(&t->lock);
  table_snapshot *old = t->snapshot;
  t->snapshot = snapshot;
  t->checked_out = checked_out;
  mutex_unlock(&t->lock);
  table_unref(old);
}

void local_table_advance(local_table *t, table_snapshot *snapshot) {
  mutex_lock(&t->lock);
  table_snapshot *old = snapshot;
  if (!t->checked_out && table_version(snapshot) > table_version(t->snapshot)) {
    old = t->snapshot;
    t->snapshot = snapshot;
  }
  mutex_unlock(&t->lock);
  table_unref(old);
}

glv_status local_table_find(local_conn *conn, glv_id id, uint64_t version, arena *a,
                            catalog_table *ret_at, table_snapshot **ret, glv_error *err) {
  TRY(catalog_table_resolve(conn->db, catalog_path(id), a, ret_at, err));
  return table_open(conn->base.handle.env, ret_at->path, ret_at->name, version, ret, err);
}

bool local_is_view(const table_snapshot *t) {
  bool found = false;
  table_metadata_get(t, STR(VIEW_KEY_DEFINITION), &found);
  return found;
}

glv_status local_check_not_view(const table_snapshot *t, const char *operation, uint32_t flags,
                                glv_error *err) {
  if ((flags & GLV_WRITE_VIEW) != 0 || !local_is_view(t)) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_UNSUPPORTED,
              "cannot %s '%s': it is a materialized view, which only refresh writes", operation,
              table_name(t));
}

/* ---- create, open, list, drop ---- */

static glv_status create_new(local_conn *conn, glv_id id, batch_reader *data,
                             const glv_table_options *options, arena *a, catalog_table *ret_at,
                             table_snapshot **ret, glv_error *err) {
  metadata properties;
  catalog_creation creation = {0};
  glv_status status = local_properties(a, options->properties, &properties, err);
  status = status == GLV_OK
               ? catalog_table_begin(conn->db, catalog_path(id), properties, a, &creation, err)
               : status;
  if (status != GLV_OK) {
    batch_reader_dispose(data);
    return status;
  }
  const create_options create = {
      .no_stable_row_ids = (options->flags & GLV_TABLE_NO_STABLE_ROW_IDS) != 0,
      .version = options->storage_version,
      .stage = {.page_bytes = options->page_bytes, .cancel = options->cancel}};
  CLEANUP(schema_cleanup) schema *s = schema_ref(data->schema);
  status = table_create(conn->base.handle.env, creation.table.path, creation.table.name, s, data,
                        &create, ret, err);
  if (status != GLV_OK) {
    if (status != GLV_E_UNKNOWN_OUTCOME) {
      catalog_table_undo(conn->db, &creation);
    }
    return status;
  }
  *ret_at = creation.table;
  return catalog_table_finish(conn->db, &creation, err);
}

/* The table exists and the mode says what to do with it. */
static glv_status reuse(table_snapshot *existing, batch_reader *data,
                        const glv_table_options *options, table_snapshot **ret, glv_error *err) {
  glv_status status = GLV_OK;
  if (options->mode == GLV_TABLE_OVERWRITE) {
    status = local_check_not_view(existing, "overwrite", 0, err);
    if (status == GLV_OK) {
      const stage_options stage = {.page_bytes = options->page_bytes, .cancel = options->cancel};
      return table_overwrite(existing, data, &stage, ret, NULL, err);
    }
  } else if (options->mode == GLV_TABLE_CREATE) {
    status = FAIL(err, GLV_E_TABLE_EXISTS, "Table '%s' already exists", table_name(existing));
  } else if (!schema_equal(data->schema, table_schema(existing))) {
    status = FAIL(err, GLV_E_SCHEMA, "table '%s' exists with other columns than the data",
                  table_name(existing));
  } else {
    *ret = table_ref(existing);
  }
  batch_reader_dispose(data);
  return status;
}

glv_status local_table_create(glv_conn *conn, glv_id id, batch_reader *data,
                              const glv_table_options *options, glv_table **ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  catalog_table at;
  CLEANUP(table_cleanup) table_snapshot *existing = NULL;
  CLEANUP(table_cleanup) table_snapshot *made = NULL;
  glv_error ignored;
  TRY(json_reader(conn->handle.env, JSON_STORE, data, err));
  glv_status status = local_table_find(conn_of(conn), id, 0, &a, &at, &existing, &ignored);
  if (status == GLV_OK) {
    TRY(reuse(existing, data, options, &made, err));
  } else if (status == GLV_E_TABLE_NOT_FOUND ||
             status == GLV_E_INVALID_INPUT) { /* bad names: creation reports them */
    TRY(create_new(conn_of(conn), id, data, options, &a, &at, &made, err));
  } else {
    batch_reader_dispose(data);
    if (err != NULL) {
      *err = ignored;
    }
    return status;
  }
  if (ret == NULL) {
    return GLV_OK;
  }
  local_table *t = NULL;
  TRY(local_table_new(conn_of(conn), id, &at, table_ref(made), &t, err));
  *ret = &t->base;
  return GLV_OK;
}

glv_status local_table_open(glv_conn *conn, glv_id id, const glv_open_options *options,
                            glv_table **ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  catalog_table at;
  table_snapshot *snapshot = NULL;
  TRY(local_table_open_at(conn_of(conn), id, options, &a, &at, &snapshot, err));
  local_table *t = NULL;
  TRY(local_table_new(conn_of(conn), id, &at, snapshot, &t, err));
  t->checked_out = options->version != 0 || options->tag != NULL;
  *ret = &t->base;
  return GLV_OK;
}

/* "declared" = no version yet; a list must not fail because of one table. */
static const char *table_state(glv_env *env, const catalog_entry *entry) {
  bool exists = false;
  if (entry->is_deregistered) {
    return "deregistered";
  }
  return entry->path != NULL && table_exists(env, entry->path, &exists, NULL) == GLV_OK && exists
             ? "ok"
             : "declared";
}

glv_status local_table_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                            glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  const catalog_page part = {p->has_limit, p->limit, p->token};
  catalog_list found;
  TRY(catalog_table_list(conn_of(conn)->db, catalog_path(parent), &part, &a, &found, err));
  for (size_t i = 0; i < found.count; i++) {
    const catalog_entry *entry = &found.entries[i];
    TRY(list_add(into, parent, str_of(entry->name), NULL, table_state(conn->handle.env, entry),
                 err));
  }
  return found.token != NULL ? list_set_token(into, str_of(found.token), err) : GLV_OK;
}

glv_status local_drop(local_conn *conn, glv_id id, bool if_exists, glv_error *err) {
  glv_env *env = conn->base.handle.env;
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  catalog_table at;
  CLEANUP(keyed_lock_release) keyed_lock lock = {0};
  uint64_t device = 0;
  uint64_t inode = 0;
  /* A table without versions has no refresh to wait for; it can be dropped all the same. */
  if (catalog_table_resolve(conn->db, catalog_path(id), &a, &at, NULL) == GLV_OK &&
      table_identity(env, at.path, at.name, &device, &inode, NULL) == GLV_OK) {
    keyed_lock_cancel(env, device, inode);
    TRY(keyed_lock_acquire(env, device, inode, NULL, &lock, err));
  }
  return catalog_table_drop(conn->db, catalog_path(id), if_exists, err);
}

glv_status local_table_rename(glv_conn *conn, glv_id from, glv_id to,
                              const glv_call_options *options, glv_error *err) {
  TRY(cancel_check(options->cancel, err));
  return catalog_table_rename(conn_of(conn)->db, catalog_path(from), catalog_path(to), err);
}

glv_status local_table_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                            glv_error *err) {
  return local_drop(conn_of(conn), id, (options->flags & GLV_CALL_IF_NEEDED) != 0, err);
}

/* ---- versions ---- */

uint64_t local_table_version(const glv_table *table) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  return table_version(snapshot);
}

glv_status local_table_schema(glv_table *table, schema **ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  TRY(table_check_supported(snapshot, err));
  return json_schema(table->handle.env, table_schema(snapshot), JSON_SHOW, ret, err);
}

glv_status local_table_checkout(glv_table *table, const glv_open_options *options, glv_error *err) {
  local_table *t = table_of(table);
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(t);
  table_snapshot *other = NULL;
  TRY(local_table_open_other(snapshot, options, &other, err));
  local_table_move(t, other, options->version != 0 || options->tag != NULL);
  return GLV_OK;
}

glv_status local_table_is_latest(glv_table *table, bool *ret, glv_error *err) {
  local_table *t = table_of(table);
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, t->base.handle.env);
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(t);
  catalog_table at;
  *ret = false;
  TRY(catalog_table_resolve(conn_of(t->base.conn)->db, catalog_path(ident_id(&t->base.id)), &a, &at,
                            err));
  return strcmp(at.path, table_path(snapshot)) == 0 ? table_is_current(snapshot, ret, err) : GLV_OK;
}

/* ---- reading ---- */

unsigned local_expr_flags(uint32_t flags) {
  return (flags & GLV_SQL_STRICT) != 0 ? EXPR_STRICT : 0;
}

/* ---- writing ---- */

glv_status local_latest_for_write(local_table *t, const char *operation, uint32_t flags,
                                  table_snapshot **ret, glv_error *err) {
  mutex_lock(&t->lock);
  const bool checked_out = t->checked_out;
  CLEANUP(table_cleanup) table_snapshot *snapshot = table_ref(t->snapshot);
  mutex_unlock(&t->lock);
  if (table_branch(snapshot) != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED, "cannot %s branch '%s' of '%s': branches are only read",
                operation, table_branch(snapshot), t->name);
  }
  if (checked_out) {
    return FAIL(err, GLV_E_BAD_STATE,
                "table '%s' is checked out at version %llu; check out the latest version to write",
                t->name, (unsigned long long)table_version(snapshot));
  }
  TRY(table_open_version(snapshot, 0, ret, err));
  const glv_status status = local_check_not_view(*ret, operation, flags, err);
  if (status != GLV_OK) {
    table_unref(*ret);
    *ret = NULL;
  }
  return status;
}

glv_status local_table_write(glv_table *table, batch_reader *data, bool overwrite,
                             const glv_write_options *options, glv_write_result *ret,
                             glv_error *err) {
  local_table *t = table_of(table);
  TRY(json_reader(table->handle.env, JSON_STORE, data, err));
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  const glv_status status =
      local_latest_for_write(t, overwrite ? "overwrite" : "add to", options->flags, &latest, err);
  if (status != GLV_OK) {
    batch_reader_dispose(data);
    return status;
  }
  const stage_options stage = {.cancel = options->cancel};
  table_snapshot *made = NULL;
  write_result result = {0};
  TRY(overwrite ? table_overwrite(latest, data, &stage, &made, &result, err)
                : table_append(latest, data, &stage, &made, &result, err));
  ret->attempts = result.attempts;
  ret->version = table_version(made);
  ret->rows_inserted = result.rows;
  local_table_advance(t, made);
  return GLV_OK;
}
