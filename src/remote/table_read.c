/* Reading from a server's tables: counts, scans, SQL. */
#include "arrow/cdata.h"
#include "remote/query.h"
#include "remote/rows.h"
#include "wire/extra.h"
#include "wire/members.h"

static const route count_route = {"/v1/table/{id}/count_rows/", ROUTE_REPEATS,
                                  GLV_E_TABLE_NOT_FOUND, NULL};
static const route query_route = {"/v1/table/{id}/query/", ROUTE_REPEATS, GLV_E_TABLE_NOT_FOUND,
                                  NULL};
static const route sql_route = {WIRE_ROUTE_SQL, ROUTE_REPEATS, GLV_E_UNSUPPORTED,
                                "queries in SQL (" WIRE_ROUTE_SQL ")"};

glv_status remote_check_dialect(uint32_t flags, glv_error *err) {
  return (flags & (GLV_SQL_LANCE | GLV_SQL_STRICT)) == 0
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED,
                    "a server reads SQL its own way: GLV_SQL_LANCE and GLV_SQL_STRICT are for "
                    "directories");
}

glv_status remote_table_count(glv_table *table, const char *filter, const glv_call_options *options,
                              uint64_t *ret, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(remote_check_dialect(options->flags, err));
  TRY(table_call_begin(&tc, table, &count_route, NULL, TABLE_READS, options->cancel, err));
  if (filter != NULL) {
    TRY(wire_put_text(tc.c.body, "predicate", filter, err));
  }
  TRY(call_json(&tc.c, &a, err));
  table_call_seen(&tc, a.table_version);
  if (a.root == NULL || js_kind_of(a.root) != JS_INT || js_int(a.root) < 0) {
    return call_wrong(&tc.c, a.status, err, "the body must be a whole number");
  }
  *ret = (uint64_t)js_int(a.root);
  return GLV_OK;
}

/* ---- queries ---- */

/* Names alone as an array; with expressions, an object of them by name. */
static glv_status put_columns(json *body, glv_pairs columns, glv_error *err) {
  bool are_names = true;
  for (size_t i = 0; i < columns.count; i++) {
    are_names = are_names && columns.items[i].value == NULL;
  }
  CLEANUP(js_cleanup) json *node = are_names ? js_new_array() : js_new_object();
  for (size_t i = 0; i < columns.count; i++) {
    const glv_pair *c = &columns.items[i];
    if (are_names) {
      TRY(js_push(node, js_new_string(str_of(c->name)), err));
      continue;
    }
    if (js_member(node, c->name) != NULL) {
      return FAIL(err, GLV_E_INVALID_INPUT, "column '%s' is asked for twice", c->name);
    }
    TRY(wire_put_text(node, c->name, c->value != NULL ? c->value : c->name, err));
  }
  json *taken = node;
  node = NULL;
  return js_put(body, "columns", taken, err);
}

glv_status query_begin(table_call *tc, glv_table *table, glv_cancel *cancel, glv_error *err) {
  return table_call_begin(tc, table, &query_route, NULL, TABLE_READS, cancel, err);
}

glv_status query_put_no_vector(json *body, glv_error *err) {
  TRY(js_put(body, "vector", js_new_array(), err));
  return wire_put_bool(body, "prefilter", true, err);
}

glv_status query_put(json *body, glv_pairs columns, const char *filter, uint64_t limit,
                     bool with_row_id, glv_error *err) {
  TRY(wire_put_uint(body, "k", limit < INT64_MAX ? limit : INT64_MAX, err));
  if (columns.count > 0) {
    TRY(put_columns(body, columns, err));
  }
  if (filter != NULL) {
    TRY(wire_put_text(body, "filter", filter, err));
  }
  return with_row_id ? wire_put_bool(body, "with_row_id", true, err) : GLV_OK;
}

glv_status query_put_order(json *body, const glv_order *order, size_t count, glv_error *err) {
  CLEANUP(js_cleanup) json *keys = js_new_array();
  for (size_t i = 0; i < count; i++) {
    CLEANUP(js_cleanup) json *key = js_new_object();
    TRY(wire_put_text(key, "column_name", order[i].column, err));
    TRY(wire_put_bool(key, "ascending", (order[i].flags & GLV_ORDER_DESCENDING) == 0, err));
    TRY(wire_put_bool(key, "nulls_first", (order[i].flags & GLV_ORDER_NULLS_FIRST) != 0, err));
    json *taken = key;
    key = NULL;
    TRY(js_push(keys, taken, err));
  }
  json *taken = keys;
  keys = NULL;
  return count > 0 ? js_put(body, "order_by", taken, err) : (js_cleanup(&taken), GLV_OK);
}

glv_status query_run(table_call *tc, batch_reader *ret, glv_error *err) {
  exchange *e = NULL;
  TRY(call_send(&tc->c, &e, err));
  table_call_seen(tc, remote_exchange_head(e)->table_version);
  return remote_rows(conn_of(tc->t->base.conn), e, ret, err);
}

static bool is_named(glv_pairs columns, const char *name) {
  for (size_t i = 0; i < columns.count; i++) {
    if (strcmp(columns.items[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

glv_status query_arrange(glv_env *env, glv_pairs columns, const char *first,
                         const char *const *last, batch_reader *r, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, env);
  size_t last_count = 0;
  while (last[last_count] != NULL) {
    last_count++;
  }
  if (columns.count == 0) {
    return GLV_OK;
  }
  const char **names = ARENA_ARRAY(&a, const char *, columns.count + last_count + 2);
  size_t count = 0;
  if (names == NULL) {
    batch_reader_dispose(r);
    return error_nomem(err, columns.count * sizeof *names);
  }
  if (first != NULL) {
    names[count++] = first;
  }
  for (size_t i = 0; i < columns.count; i++) {
    names[count++] = columns.items[i].name;
  }
  for (size_t i = 0; i < last_count; i++) {
    if (!is_named(columns, last[i])) {
      names[count++] = last[i];
    }
  }
  return rows_arrange(env, r, names, err);
}

glv_status query_refuse_blobs(uint32_t flags, glv_error *err) {
  return (flags & GLV_SCAN_BLOBS) == 0
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED,
                    "the server does not offer the bytes of blob columns in queries");
}

glv_status query_put_scan(json *body, const glv_scan_options *options, glv_error *err) {
  const bool with_row_id = (options->flags & GLV_SCAN_ROW_ID) != 0;
  const uint64_t limit = (options->flags & GLV_SCAN_LIMIT) != 0 ? options->limit : UINT64_MAX;
  TRY(remote_check_dialect(options->flags, err));
  TRY(query_refuse_blobs(options->flags, err));
  TRY(query_put_no_vector(body, err));
  TRY(query_put(body, options->columns, options->filter, limit, with_row_id, err));
  TRY(query_put_order(body, options->order, options->order_count, err));
  return options->offset > 0 ? wire_put_uint(body, "offset", options->offset, err) : GLV_OK;
}

glv_status remote_table_scan(glv_table *table, const glv_scan_options *options, batch_reader *ret,
                             glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  const bool with_row_id = (options->flags & GLV_SCAN_ROW_ID) != 0;
  TRY(query_begin(&tc, table, options->cancel, err));
  TRY(query_put_scan(tc.c.body, options, err));
  batch_reader r = {0};
  TRY(query_run(&tc, &r, err));
  const char *const last[] = {with_row_id ? ROW_ID : NULL, NULL};
  TRY(query_arrange(table->handle.env, options->columns, NULL, last, &r, err));
  *ret = r;
  return GLV_OK;
}

/* ---- SQL ---- */

glv_status remote_query(glv_conn *conn, const char *sql, const glv_call_options *options,
                        batch_reader *ret, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  exchange *e = NULL;
  TRY(remote_check_dialect(options->flags, err));
  TRY(call_begin(&c, &conn_of(conn)->http, &sql_route, (wire_target){0}, options->cancel, err));
  c.body = js_new_object();
  TRY(wire_put_text(c.body, "query", sql, err));
  TRY(call_send(&c, &e, err));
  return remote_rows(conn_of(conn), e, ret, err);
}
