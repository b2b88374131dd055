/*
 * Table handles of a server: life, versions, descriptions. A handle knows the version that it is
 * checked out at, or else follows the newest one.
 */
#include "remote/job.h"
#include "remote/remote_private.h"
#include "wire/members.h"
#include "wire/schema.h"

static const route create_route = {"/v1/table/{id}/create/", ROUTE_CHANGES,
                                   GLV_E_NAMESPACE_NOT_FOUND, NULL};
static const route describe_route = {"/v1/table/{id}/describe/", ROUTE_REPEATS,
                                     GLV_E_TABLE_NOT_FOUND, NULL};
static const route drop_route = {"/v1/table/{id}/drop/", ROUTE_CHANGES, GLV_E_TABLE_NOT_FOUND,
                                 NULL};
static const route tag_route = {"/v1/table/{id}/tags/version/", ROUTE_REPEATS, GLV_E_TAG_NOT_FOUND,
                                NULL};
static const route stats_route = {"/v1/table/{id}/stats/", ROUTE_REPEATS, GLV_E_TABLE_NOT_FOUND,
                                  NULL};

/* ---- handles ---- */

static void table_dispose(handle *h) {
  remote_table *t = (remote_table *)h;
  glv_env *env = h->env;
  ident_dispose(env, &t->base.id);
  mem_free(env, t->branch);
  mutex_dispose(&t->lock);
  handle_unref(&t->base.conn->handle);
  mem_free(env, t);
}

static bool is_main(const char *branch) {
  return branch == NULL || branch[0] == '\0' || strcmp(branch, "main") == 0;
}

glv_status remote_table_new(remote_conn *conn, glv_id id, const char *branch, uint64_t version,
                            uint64_t pinned, remote_table **ret, glv_error *err) {
  glv_env *env = conn->base.handle.env;
  remote_table *t = mem_zalloc(env, sizeof *t);
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  handle_init(&t->base.handle, env, table_dispose);
  mutex_init(&t->lock);
  t->base.ops = &remote_ops;
  handle_ref(&conn->base.handle);
  t->base.conn = &conn->base;
  t->version = version;
  t->pinned = pinned;
  t->branch = is_main(branch) ? NULL : mem_strndup(env, branch, strlen(branch));
  glv_status status = ident_copy(env, id, &t->base.id, err);
  if (status == GLV_OK && t->branch == NULL && !is_main(branch)) {
    status = error_nomem(err, strlen(branch));
  }
  if (status != GLV_OK) {
    handle_unref(&t->base.handle);
    return status;
  }
  *ret = t;
  return GLV_OK;
}

/* ---- describing ---- */

/* What describe answers. */
typedef struct description {
  answer a; /* owned */
  uint64_t version;
} description;

static void description_dispose(description *d) { answer_dispose(&d->a); }

static glv_status read_description(const call *c, glv_id id, description *d, glv_error *err) {
  bool is_declared = false;
  TRY(call_read(c, &d->a, wire_uint(d->a.root, "version", &d->version, err), err));
  TRY(call_read(c, &d->a, wire_bool(d->a.root, "is_only_declared", &is_declared, err), err));
  if (is_declared) {
    return FAIL(err, GLV_E_TABLE_NOT_FOUND,
                "Table '%s' was not found: it is declared, but has no version yet", IDENT_TEXT(id));
  }
  return d->version != 0 ? GLV_OK : call_wrong(c, d->a.status, err, "'version' is missing");
}

/* Describe a table that has no handle yet, or a version without regard to what the handle saw. */
static glv_status describe_at(remote_conn *conn, glv_id id, const char *branch, uint64_t version,
                              description *ret, glv_error *err) {
  static const route versioned = {"/v1/table/{id}/describe/", ROUTE_REPEATS,
                                  GLV_E_VERSION_NOT_FOUND, NULL};
  CLEANUP(call_dispose) call c = {0};
  TRY(call_begin(&c, &conn->http, version != 0 ? &versioned : &describe_route, target_of(id), NULL,
                 err));
  c.body = js_new_object();
  TRY(version != 0 ? wire_put_uint(c.body, "version", version, err)
                   : js_put(c.body, "version", js_new_null(), err));
  if (!is_main(branch)) {
    TRY(wire_put_text(c.body, "branch", branch, err));
  }
  TRY(call_object(&c, &ret->a, err));
  return read_description(&c, id, ret, err);
}

/* Describe what the handle sees. */
static glv_status describe(glv_table *table, description *ret, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  TRY(table_call_begin(&tc, table, &describe_route, NULL, TABLE_READS, NULL, err));
  TRY(wire_put_bool(tc.c.body, "load_detailed_metadata", true, err));
  TRY(table_call_object(&tc, &ret->a, err));
  TRY(read_description(&tc.c, ident_id(&table->id), ret, err));
  table_call_seen(&tc, ret->version);
  return GLV_OK;
}

static glv_status find_tag(remote_conn *conn, glv_id id, const char *tag, uint64_t *ret_version,
                           char **ret_branch, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const char *branch = NULL;
  TRY(call_begin(&c, &conn->http, &tag_route, target_of(id), NULL, err));
  c.body = js_new_object();
  TRY(wire_put_text(c.body, "tag", tag, err));
  TRY(call_object(&c, &a, err));
  TRY(call_read(&c, &a, wire_uint_required(a.root, "version", ret_version, err), err));
  TRY(call_read(&c, &a, wire_text(a.root, "branch", &branch, err), err));
  if (!is_main(branch)) {
    *ret_branch = mem_strndup(conn->base.handle.env, branch, strlen(branch));
    return *ret_branch != NULL ? GLV_OK : error_nomem(err, strlen(branch));
  }
  return GLV_OK;
}

/* *d: what the server said of it. */
static glv_status open_at(remote_conn *conn, glv_id id, const char *branch, uint64_t version,
                          description *d, glv_table **ret, glv_error *err) {
  remote_table *t = NULL;
  TRY(describe_at(conn, id, branch, version, d, err));
  TRY(remote_table_new(conn, id, branch, d->version, version, &t, err));
  t->fresh.seen = version == 0 ? d->version : 0;
  *ret = &t->base;
  return GLV_OK;
}

glv_status remote_table_open_described(remote_conn *conn, glv_id id, glv_table **ret,
                                       json **ret_description, glv_error *err) {
  CLEANUP(description_dispose) description d = {0};
  TRY(open_at(conn, id, NULL, 0, &d, ret, err));
  *ret_description = d.a.root;
  d.a.root = NULL;
  return GLV_OK;
}

glv_status remote_table_open(glv_conn *conn, glv_id id, const glv_open_options *options,
                             glv_table **ret, glv_error *err) {
  glv_env *env = conn->handle.env;
  CLEANUP(description_dispose) description d = {0};
  if (options->tag == NULL) {
    return open_at(conn_of(conn), id, options->branch, options->version, &d, ret, err);
  }
  uint64_t version = 0;
  char *branch = NULL;
  TRY(find_tag(conn_of(conn), id, options->tag, &version, &branch, err));
  const glv_status status = open_at(conn_of(conn), id, branch, version, &d, ret, err);
  mem_free(env, branch);
  return status;
}

uint64_t remote_table_version(const glv_table *table) {
  remote_table *t = (remote_table *)(uintptr_t)table; /* the lock is not part of its value */
  mutex_lock(&t->lock);
  const uint64_t version = t->version;
  mutex_unlock(&t->lock);
  return version;
}

glv_status remote_table_schema(glv_table *table, schema **ret, glv_error *err) {
  CLEANUP(description_dispose) description d = {0};
  TRY(describe(table, &d, err));
  const json *node = js_member(d.a.root, "schema");
  const call c = {.route = &describe_route};
  if (node == NULL || js_kind_of(node) == JS_NULL) {
    return call_wrong(&c, d.a.status, err, "'schema' is missing");
  }
  return call_read(&c, &d.a, wire_schema_read(table->handle.env, node, ret, err), err);
}

/* ---- moving the handle ---- */

/* A new timeline: what was seen before does not count any more. */
static void move_to(remote_table *t, uint64_t version, bool is_pinned) {
  mutex_lock(&t->lock);
  t->version = version;
  t->pinned = is_pinned ? version : 0;
  t->fresh = (freshness){.generation = t->fresh.generation + 1};
  if (!is_pinned) {
    t->fresh.baseline_ns = env_now_ns(t->base.handle.env);
    t->fresh.seen = version;
  }
  mutex_unlock(&t->lock);
}

glv_status remote_table_checkout(glv_table *table, const glv_open_options *options,
                                 glv_error *err) {
  remote_table *t = table_of(table);
  remote_conn *conn = conn_of(table->conn);
  const glv_id id = ident_id(&table->id);
  CLEANUP(description_dispose) description d = {0};
  uint64_t version = options->version;
  if (options->tag != NULL) {
    char *branch = NULL;
    TRY(find_tag(conn, id, options->tag, &version, &branch, err));
    mem_free(table->handle.env, branch);
  }
  TRY(describe_at(conn, id, t->branch, version, &d, err));
  move_to(t, d.version, version != 0);
  return GLV_OK;
}

glv_status remote_table_is_latest(glv_table *table, bool *ret, glv_error *err) {
  CLEANUP(description_dispose) description d = {0};
  TRY(describe_at(conn_of(table->conn), ident_id(&table->id), table_of(table)->branch, 0, &d, err));
  *ret = d.version == remote_table_version(table);
  return GLV_OK;
}

void remote_table_wrote(glv_table *table, uint64_t version) {
  remote_table *t = table_of(table);
  mutex_lock(&t->lock);
  const table_call tc = {.t = t, .generation = t->fresh.generation};
  mutex_unlock(&t->lock);
  table_call_wrote(&tc, version);
}

/* ---- create, drop ---- */

static const char *mode_word(int32_t mode) {
  return mode == GLV_TABLE_OVERWRITE  ? "overwrite"
         : mode == GLV_TABLE_EXIST_OK ? "exist_ok"
                                      : "create";
}

/* Properties, and what the table is made of, as JSON texts. */
static glv_status add_json_param(call *c, const char *name, const json *object, glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, c->http->env, SIZE_MAX / 2);
  if (js_count(object) == 0) {
    return GLV_OK;
  }
  TRY(js_print(object, 0, 0, &text, err));
  return wire_param(&c->target, name, buf_str(&text), err);
}

static glv_status add_create_params(call *c, const glv_table_options *options, glv_error *err) {
  CLEANUP(js_cleanup) json *properties = js_new_object();
  CLEANUP(js_cleanup) json *storage = js_new_object();
  for (size_t i = 0; i < options->properties.count; i++) {
    const glv_pair *item = &options->properties.items[i];
    TRY(wire_put_text(properties, item->name, item->value, err));
  }
  if ((options->flags & GLV_TABLE_NO_STABLE_ROW_IDS) != 0) {
    TRY(wire_put_text(storage, "new_table_enable_stable_row_ids", "false", err));
  }
  if (options->storage_version != NULL) {
    TRY(wire_put_text(storage, "new_table_data_storage_version", options->storage_version, err));
  }
  TRY(wire_param(&c->target, "mode", str_of(mode_word(options->mode)), err));
  TRY(add_json_param(c, "properties", properties, err));
  return add_json_param(c, "storage_options", storage, err);
}

/* Servers that give no code say it in words. */
static glv_status create_failed(glv_status status, glv_error *err) {
  const bool says_so = err != NULL && status == GLV_E_INVALID_INPUT && err->http_status == 400 &&
                       strstr(err->message, "already exists") != NULL;
  if (says_so) {
    err->code = GLV_E_TABLE_EXISTS;
  }
  return says_so ? GLV_E_TABLE_EXISTS : status;
}

glv_status remote_table_create(glv_conn *conn, glv_id id, batch_reader *data,
                               const glv_table_options *options, glv_table **ret, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  upload *u = NULL;
  TRY(remote_upload_new(conn->handle.env, data, &u, err));
  const glv_status begun =
      call_begin(&c, &conn_of(conn)->http, &create_route, target_of(id), options->cancel, err);
  c.upload = u;
  TRY(begun);
  TRY(add_create_params(&c, options, err));
  glv_error error;
  const glv_status status = call_object(&c, &a, &error);
  if (status != GLV_OK) {
    const glv_status meant = create_failed(status, &error);
    (void)error_pass(err, &error);
    return meant;
  }
  CLEANUP(description_dispose) description d = {0};
  return ret != NULL ? open_at(conn_of(conn), id, NULL, 0, &d, ret, err) : GLV_OK;
}

static const route rename_route = {"/v1/table/{id}/rename/", ROUTE_CHANGES, GLV_E_TABLE_NOT_FOUND,
                                   NULL};

glv_status remote_table_rename(glv_conn *conn, glv_id from, glv_id to,
                               const glv_call_options *options, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(call_begin(&c, &conn_of(conn)->http, &rename_route, target_of(from), options->cancel, err));
  c.body = js_new_object();
  TRY(wire_put_text(c.body, "new_table_name", to.parts[to.count - 1], err));
  TRY(wire_put_texts(c.body, "new_namespace", to.parts, to.count - 1, err));
  return call_object(&c, &a, err);
}

glv_status remote_table_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                             glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(call_begin(&c, &conn_of(conn)->http, &drop_route, target_of(id), options->cancel, err));
  glv_error error;
  const glv_status status = call_object(&c, &a, &error);
  if (status == GLV_E_TABLE_NOT_FOUND && (options->flags & GLV_CALL_IF_NEEDED) != 0) {
    return GLV_OK;
  }
  if (status != GLV_OK) {
    return error_pass(err, &error);
  }
  return job_await_answer(conn_of(conn), &c, &a, JOB_OR_ANY_SUCCESS, options->cancel, err);
}

/* ---- table_describe ---- */

static glv_status put_columns(const schema *s, json *out, glv_env *env, glv_error *err) {
  CLEANUP(js_cleanup) json *columns = js_new_array();
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, env, SIZE_MAX / 2);
  for (size_t i = 0; i < s->field_count; i++) {
    json *column = js_new_object();
    buf_clear(&text);
    glv_status status = type_print(s->fields[i].type, &text, err);
    status = status == GLV_OK ? wire_put_text(column, "name", s->fields[i].name, err) : status;
    status = status == GLV_OK ? js_put(column, "type", js_new_string(buf_str(&text)), err) : status;
    status =
        status == GLV_OK ? wire_put_bool(column, "nullable", s->fields[i].nullable, err) : status;
    if (status != GLV_OK) {
      js_free(column);
      return status;
    }
    TRY(js_push(columns, column, err));
  }
  json *taken = columns;
  columns = NULL;
  return js_put(out, "columns", taken, err);
}

/* A member of the answer, or null, under the name that the description has. */
static glv_status put_copy(json *out, const char *name, const json *from, const char *key,
                           glv_error *err) {
  const json *node = js_member(from, key);
  return js_put(out, name, node != NULL ? js_copy(node) : js_new_null(), err);
}

static glv_status read_stats(glv_table *table, answer *ret, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  TRY(table_call_begin(&tc, table, &stats_route, NULL, TABLE_READS, NULL, err));
  return table_call_object(&tc, ret, err);
}

/* What a server of another kind tells: what is unknown is null. */
static glv_status compose_details(glv_table *table, const description *d, json *out,
                                  glv_error *err) {
  CLEANUP(answer_dispose) answer stats = {0};
  CLEANUP(schema_cleanup) schema *s = NULL;
  const call c = {.route = &describe_route};
  const json *node = js_member(d->a.root, "schema");
  if (node == NULL) {
    return call_wrong(&c, d->a.status, err, "'schema' is missing");
  }
  TRY(call_read(&c, &d->a, wire_schema_read(table->handle.env, node, &s, err), err));
  TRY(read_stats(table, &stats, err));
  const json *fragments = js_member(stats.root, "fragment_stats");
  const json *kept = js_member(node, "metadata");
  TRY(wire_put_uint(out, "version", d->version, err));
  TRY(put_copy(out, "rows", stats.root, "num_rows", err));
  TRY(put_copy(out, "deleted_rows", js_member(d->a.root, "stats"), "num_deleted_rows", err));
  TRY(put_copy(out, "fragments", fragments, "num_fragments", err));
  TRY(put_copy(out, "size_bytes", stats.root, "total_bytes", err));
  TRY(put_columns(s, out, table->handle.env, err));
  return js_put(out, "metadata", kept != NULL ? js_copy(kept) : js_new_object(), err);
}

glv_status remote_table_describe(glv_table *table, buf *ret_json, glv_error *err) {
  CLEANUP(description_dispose) description d = {0};
  CLEANUP(js_cleanup) json *out = NULL;
  TRY(describe(table, &d, err));
  const json *details = js_member(d.a.root, "details"); /* of our own servers */
  if (details != NULL && js_kind_of(details) == JS_OBJECT) {
    return js_print(details, 0, 0, ret_json, err);
  }
  out = js_new_object();
  TRY(compose_details(table, &d, out, err));
  return js_print(out, 0, 0, ret_json, err);
}
