/*
 * Views of a server. A creation is sent as SQL text; a handle keeps the definition that the server
 * told when it was opened, and the table that holds the rows.
 */
#include "backend/outcome.h"
#include "remote/job.h"
#include "remote/list.h"
#include "remote/view_private.h"
#include "wire/members.h"

static const route create_route = {"/v1/materialized_view/{id}/create", ROUTE_CHANGES,
                                   GLV_E_TABLE_NOT_FOUND, NULL};
static const route describe_route = {"/v1/materialized_view/{id}/describe", ROUTE_REPEATS,
                                     GLV_E_TABLE_NOT_FOUND, NULL};
static const route drop_route = {"/v1/materialized_view/{id}/drop", ROUTE_CHANGES,
                                 GLV_E_TABLE_NOT_FOUND, NULL};
static const list_route views = {
    {"/v1/namespace/{id}/materialized_view/list", ROUTE_GET, GLV_E_NAMESPACE_NOT_FOUND, NULL},
    "views",
    false};
static const list_route namespaces = {
    {"/v1/namespace/{id}/list", ROUTE_GET, GLV_E_NAMESPACE_NOT_FOUND, NULL}, "namespaces", true};

/* ---- handles ---- */

static void view_dispose(handle *h) {
  remote_view *v = (remote_view *)h;
  glv_env *env = h->env;
  if (v->table != NULL) {
    handle_unref(&v->table->handle);
  }
  js_free(v->described);
  arena_dispose(&v->memory);
  handle_unref(&v->base.conn->handle);
  mem_free(env, v);
}

static int32_t form_of(const char *word) {
  return strcmp(word, "select") == 0              ? GLV_VIEW_SELECT
         : strcmp(word, "namespaced_select") == 0 ? GLV_VIEW_NAMESPACED_SELECT
                                                  : GLV_VIEW_QUERY;
}

/* Servers of other kinds do not tell the form: it is the one that LanceDB gives such a view. */
static int32_t guess_form(const wire_view *d) {
  return d->projection_count == 0 ? GLV_VIEW_QUERY
         : d->namespace_count > 0 ? GLV_VIEW_NAMESPACED_SELECT
                                  : GLV_VIEW_SELECT;
}

static glv_status fill_definition(remote_view *v, const wire_view *d, glv_error *err) {
  glv_pair *pairs = ARENA_ARRAY(&v->memory, glv_pair, d->projection_count);
  if (pairs == NULL) {
    return error_nomem(err, d->projection_count * sizeof *pairs);
  }
  for (size_t i = 0; i < d->projection_count; i++) {
    pairs[i] = (glv_pair){d->projections[i].output, d->projections[i].expression};
  }
  v->def = (glv_view_def){.struct_size = sizeof v->def,
                          .flags = d->has_limit ? GLV_VIEW_DEF_LIMIT : 0,
                          .source_table = d->source_table,
                          .source_namespace = {d->source_namespace, d->namespace_count},
                          .projections = {pairs, d->projection_count},
                          .filter = d->filter,
                          .limit = d->limit,
                          .query = d->query,
                          .form = d->form != NULL ? form_of(d->form) : guess_form(d)};
  v->incarnation = d->incarnation;
  return GLV_OK;
}

/* Ask for the definition. */
static glv_status describe(remote_view *v, glv_id id, cancel_token *cancel, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  wire_view d;
  TRY(call_begin(&c, &conn_of(v->base.conn)->http, &describe_route, target_of(id), cancel, err));
  TRY(call_object(&c, &a, err));
  TRY(call_read(&c, &a, wire_view_read(&v->memory, a.root, &d, err), err));
  v->described = a.root; /* its texts are the definition's */
  a.root = NULL;
  return fill_definition(v, &d, err);
}

/* The stored text is part of the metadata of the table, where a server tells that. */
static glv_status keep_stored(remote_view *v, const json *table, glv_error *err) {
  const json *columns = js_member(table, "schema");
  const json *about = columns != NULL ? js_member(columns, "metadata") : NULL;
  const json *stored = about != NULL ? js_member(about, "mv.definition") : NULL;
  if (stored == NULL || js_kind_of(stored) != JS_STRING) {
    return GLV_OK;
  }
  v->stored = arena_strdup(&v->memory, js_string(stored));
  return v->stored != NULL ? GLV_OK : error_nomem(err, js_string(stored).size);
}

glv_status remote_view_open(glv_conn *conn, glv_id id, const glv_call_options *options,
                            glv_view **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *table = NULL;
  remote_view *v = mem_zalloc(conn->handle.env, sizeof *v);
  if (v == NULL) {
    return error_nomem(err, sizeof *v);
  }
  handle_init(&v->base.handle, conn->handle.env, view_dispose);
  arena_init_small(&v->memory, conn->handle.env);
  v->base.ops = &remote_ops;
  handle_ref(&conn->handle);
  v->base.conn = conn;
  glv_status status = remote_table_open_described(conn_of(conn), id, &v->table, &table, err);
  status = status == GLV_OK ? describe(v, id, options->cancel, err) : status;
  status = status == GLV_OK ? keep_stored(v, table, err) : status;
  if (status != GLV_OK) {
    handle_unref(&v->base.handle);
    return status;
  }
  *ret = &v->base;
  return GLV_OK;
}

const glv_view_def *remote_view_definition(const glv_view *view) {
  return &((const remote_view *)view)->def;
}

const char *remote_view_stored_definition(const glv_view *view) {
  return ((const remote_view *)view)->stored;
}

const char *remote_view_incarnation(const glv_view *view) {
  return ((const remote_view *)view)->incarnation;
}

glv_table *remote_view_table(glv_view *view) { return view_of(view)->table; }

/* ---- creation ---- */

/* name between quotes, with those in it doubled. */
static glv_status put_quoted(const char *name, char quote, buf *out, glv_error *err) {
  TRY(buf_append_char(out, quote, err));
  for (const char *c = name; *c != '\0'; c++) {
    TRY(*c == quote ? buf_append_char(out, quote, err) : GLV_OK);
    TRY(buf_append_char(out, *c, err));
  }
  return buf_append_char(out, quote, err);
}

static glv_status put_projection(const glv_pair *p, buf *out, glv_error *err) {
  TRY(p->value != NULL ? buf_append_str(out, str_of(p->value), err)
                       : put_quoted(p->name, '`', out, err));
  TRY(buf_append_str(out, STR(" AS "), err));
  return put_quoted(p->name, '"', out, err);
}

/* The SQL text of a definition given in parts, as LanceDB composes it. */
static glv_status put_sql(const glv_view_def *def, buf *out, glv_error *err) {
  TRY(buf_append_str(out, STR("SELECT "), err));
  for (size_t i = 0; i < def->projections.count; i++) {
    TRY(buf_append_str(out, i > 0 ? STR(", ") : (str){NULL, 0}, err));
    TRY(put_projection(&def->projections.items[i], out, err));
  }
  TRY(def->projections.count == 0 ? buf_append_char(out, '*', err) : GLV_OK);
  TRY(buf_append_str(out, STR(" FROM "), err));
  for (size_t i = 0; i < def->source_namespace.count; i++) {
    TRY(put_quoted(def->source_namespace.items[i], '"', out, err));
    TRY(buf_append_char(out, '.', err));
  }
  TRY(put_quoted(def->source_table, '"', out, err));
  if (def->filter != NULL) {
    TRY(buf_printf(out, err, " WHERE %s", def->filter));
  }
  return (def->flags & GLV_VIEW_DEF_LIMIT) != 0
             ? buf_printf(out, err, " LIMIT %llu", (unsigned long long)def->limit)
             : GLV_OK;
}

static glv_status put_creation(const glv_view_def *def, bool no_data, call *c, glv_error *err) {
  static const char *const forms[] = {NULL, "select", "query"};
  CLEANUP(buf_dispose) buf sql;
  buf_init(&sql, c->http->env, SIZE_MAX / 2);
  TRY(def->query != NULL ? buf_append_str(&sql, str_of(def->query), err) : put_sql(def, &sql, err));
  const wire_view_create v = {
      .query = sql.data, .with_no_data = no_data, .stored_form = forms[def->stored_form]};
  return wire_view_create_write(&v, &c->body, err);
}

glv_status remote_view_begin_create(glv_conn *conn, glv_id id, const glv_view_def *def,
                                    const glv_view_options *options, char **ret_id,
                                    glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const char *job = NULL;
  const bool no_data = (options->flags & GLV_VIEW_NO_DATA) != 0;
  TRY(call_begin(&c, &conn_of(conn)->http, &create_route, target_of(id), options->cancel, err));
  TRY(put_creation(def, no_data, &c, err));
  TRY(call_object(&c, &a, err));
  TRY(job_id_of(&c, &a, no_data ? JOB_OR_DONE : JOB_REQUIRED, &job, err));
  return remote_keep_id(conn->handle.env, job, ret_id, err);
}

glv_status remote_view_create(glv_conn *conn, glv_id id, const glv_view_def *def,
                              const glv_view_options *options, glv_view **ret, glv_error *err) {
  const glv_call_options call_options = {.struct_size = sizeof call_options,
                                         .cancel = options->cancel};
  char *job = NULL;
  TRY(remote_view_begin_create(conn, id, def, options, &job, err));
  const glv_status status =
      job != NULL ? job_await(conn_of(conn), job, options->cancel, NULL, err) : GLV_OK;
  mem_free(conn->handle.env, job);
  TRY(outcome_first_fill(status, id.parts[id.count - 1], err));
  return ret != NULL ? remote_view_open(conn, id, &call_options, ret, err) : GLV_OK;
}

glv_status remote_keep_id(glv_env *env, const char *id, char **ret, glv_error *err) {
  *ret = id != NULL ? mem_strndup(env, id, strlen(id)) : NULL;
  return id == NULL || *ret != NULL ? GLV_OK : error_nomem(err, strlen(id));
}

/* ---- plans ---- */

static glv_status no_plans(glv_error *err) {
  return FAIL(err, GLV_E_UNSUPPORTED,
              "the server does not offer the preparation of views: it checks a definition when a "
              "view is created");
}

glv_status remote_view_prepare(glv_conn *conn, const glv_view_def *def,
                               const glv_call_options *options, glv_view_plan **ret,
                               glv_error *err) {
  (void)conn;
  (void)def;
  (void)options;
  (void)ret;
  return no_plans(err);
}

/* ---- drop ---- */

glv_status remote_view_begin_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                                  char **ret_id, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const char *job = NULL;
  glv_error error;
  *ret_id = NULL;
  TRY(call_begin(&c, &conn_of(conn)->http, &drop_route, target_of(id), options->cancel, err));
  const glv_status status = call_object(&c, &a, &error);
  if (status == GLV_E_TABLE_NOT_FOUND && (options->flags & GLV_CALL_IF_NEEDED) != 0) {
    return GLV_OK;
  }
  if (status != GLV_OK) {
    return error_pass(err, &error);
  }
  TRY(job_id_of(&c, &a, JOB_OR_DONE, &job, err));
  return remote_keep_id(conn->handle.env, a.status == 202 ? job : NULL, ret_id, err);
}

glv_status remote_view_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                            glv_error *err) {
  char *job = NULL;
  TRY(remote_view_begin_drop(conn, id, options, &job, err));
  const glv_status status =
      job != NULL ? job_await(conn_of(conn), job, options->cancel, NULL, err) : GLV_OK;
  mem_free(conn->handle.env, job);
  return status;
}

/* ---- lists ---- */

enum { MAX_NAMESPACE_DEPTH = 64 };

/* The views of a namespace, and of those below it. */
static glv_status list_below(remote_conn *conn, glv_id parent, unsigned depth, glv_list *into,
                             glv_error *err) {
  static const page all = {0};
  glv_list *children = NULL;
  TRY(remote_list(conn, &views, parent, &all, true, into, err));
  if (depth == MAX_NAMESPACE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "namespaces are nested deeper than %d", MAX_NAMESPACE_DEPTH);
  }
  TRY(list_new(conn->base.handle.env, &children, err));
  glv_status status = remote_list(conn, &namespaces, parent, &all, true, children, err);
  for (size_t i = 0; status == GLV_OK && i < children->count; i++) {
    const list_entry *child = &children->entries[i];
    status = list_below(conn, (glv_id){child->parts, child->part_count}, depth + 1, into, err);
  }
  list_free(children);
  return status;
}

glv_status remote_view_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                            glv_error *err) {
  if (!p->recursive) {
    return remote_list(conn_of(conn), &views, parent, p, false, into, err);
  }
  if (p->has_limit || p->token != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "the server does not offer pages of the views of all namespaces; list them "
                "without a limit");
  }
  return list_below(conn_of(conn), parent, 0, into, err);
}
