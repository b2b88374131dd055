/* Routes that read rows (rest-protocol.md 7.6 and 8). */
#include <inttypes.h>

#include "server/routes.h"
#include "server/server_private.h"
#include "server/table_body.h"
#include "wire/extra.h"
#include "wire/members.h"

/* ---- count ---- */

static glv_status count_rows(request *r, glv_error *err) {
  const json *body = NULL;
  const char *predicate = NULL;
  glv_table *table = NULL;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  uint64_t count = 0;
  TRY(table_body(r, &body, err));
  TRY(wire_text(body, "predicate", &predicate, err));
  TRY(table_body_open(r, body, &table, err));
  options.cancel = r->cancel;
  TRY(glv_table_count(table, predicate, &options, &count, err));
  const char *text = arena_printf(r->memory, "%" PRIu64, count);
  return text != NULL ? answer_bytes(r, 200, "application/json", str_of(text), err)
                      : error_nomem(err, 0);
}

/* ---- query ---- */

static bool has(const json *body, const char *key) {
  const json *member = js_member(body, key);
  return member != NULL && js_kind_of(member) != JS_NULL;
}

/* What is there only with an index of its kind, or not yet. */
static glv_status check_offered(const json *body, glv_error *err) {
  const json *vector = js_member(body, "vector");
  const bool is_vector = vector != NULL &&
                         (js_kind_of(vector) == JS_ARRAY || js_kind_of(vector) == JS_OBJECT) &&
                         js_count(vector) > 0;
  if (has(body, "full_text_query")) {
    return FAIL(err, GLV_E_UNSUPPORTED, "full-text search is not offered");
  }
  if (is_vector) {
    return FAIL(err, GLV_E_UNSUPPORTED, "vector search is not offered");
  }
  return has(body, "order_by") && js_count(js_member(body, "order_by")) > 0
             ? FAIL(err, GLV_E_UNSUPPORTED, "'order_by' is not offered; use the route /v1/query")
             : GLV_OK;
}

static glv_status read_names(request *r, const json *names, glv_pairs *ret, glv_error *err) {
  glv_pair *pairs = ARENA_ARRAY(r->memory, glv_pair, js_count(names));
  if (pairs == NULL) {
    return error_nomem(err, js_count(names) * sizeof *pairs);
  }
  for (size_t i = 0; i < js_count(names); i++) {
    TRY(wire_expect(js_item(names, i), JS_STRING, "an item of 'columns'", err));
    pairs[i] = (glv_pair){arena_strdup(r->memory, js_string(js_item(names, i))), NULL};
    if (pairs[i].name == NULL) {
      return error_nomem(err, 0);
    }
  }
  *ret = (glv_pairs){pairs, js_count(names)};
  return GLV_OK;
}

static glv_status read_aliases(request *r, const json *aliases, glv_pairs *ret, glv_error *err) {
  glv_pair *pairs = ARENA_ARRAY(r->memory, glv_pair, js_count(aliases));
  if (pairs == NULL) {
    return error_nomem(err, js_count(aliases) * sizeof *pairs);
  }
  for (size_t i = 0; i < js_count(aliases); i++) {
    str name;
    const json *value = js_member_at(aliases, i, &name);
    TRY(wire_expect(value, JS_STRING, "an expression of 'columns'", err));
    pairs[i] = (glv_pair){arena_strdup(r->memory, name), arena_strdup(r->memory, js_string(value))};
    if (pairs[i].name == NULL || pairs[i].value == NULL) {
      return error_nomem(err, 0);
    }
  }
  *ret = (glv_pairs){pairs, js_count(aliases)};
  return GLV_OK;
}

/* Names, an object of aliases, or one of the two in an envelope of the namespace dialect. */
static glv_status read_columns(request *r, const json *body, glv_pairs *ret, glv_error *err) {
  const json *columns = js_member(body, "columns");
  *ret = (glv_pairs){NULL, 0};
  if (columns != NULL && js_kind_of(columns) == JS_OBJECT) {
    const json *names = js_member(columns, "column_names");
    const json *aliases = js_member(columns, "column_aliases");
    columns = names != NULL && js_kind_of(names) == JS_ARRAY        ? names
              : aliases != NULL && js_kind_of(aliases) == JS_OBJECT ? aliases
                                                                    : columns;
  }
  if (columns == NULL || js_kind_of(columns) == JS_NULL) {
    return GLV_OK;
  }
  if (js_kind_of(columns) == JS_ARRAY) {
    return read_names(r, columns, ret, err);
  }
  TRY(wire_expect(columns, JS_OBJECT, "'columns'", err));
  return read_aliases(r, columns, ret, err);
}

static glv_status read_scan(request *r, const json *body, glv_scan_options *ret, glv_error *err) {
  bool with_row_id = false;
  TRY(check_offered(body, err));
  TRY(read_columns(r, body, &ret->columns, err));
  TRY(wire_text(body, "filter", &ret->filter, err));
  TRY(wire_uint(body, "offset", &ret->offset, err));
  TRY(wire_bool(body, "with_row_id", &with_row_id, err));
  ret->flags = with_row_id ? GLV_SCAN_ROW_ID : 0;
  if (has(body, "k")) {
    ret->flags |= GLV_SCAN_LIMIT;
    TRY(wire_uint(body, "k", &ret->limit, err));
  }
  ret->cancel = r->cancel;
  return GLV_OK;
}

static glv_status query(request *r, glv_error *err) {
  const json *body = NULL;
  glv_table *table = NULL;
  struct ArrowArrayStream rows;
  glv_scan_options options = GLV_OPTIONS(glv_scan_options);
  TRY(table_body(r, &body, err));
  TRY(read_scan(r, body, &options, err));
  TRY(table_body_open(r, body, &table, err));
  TRY(glv_table_scan(table, &options, &rows, err));
  return answer_arrow(r, &rows, true, err);
}

/* ---- SQL ---- */

static glv_status query_sql(request *r, glv_error *err) {
  const json *body = NULL;
  const char *sql = NULL;
  struct ArrowArrayStream rows;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  TRY(request_json(r, &body, err));
  TRY(wire_text_required(body, "query", &sql, err));
  options.cancel = r->cancel;
  TRY(glv_query(r->server->conn, sql, &options, &rows, err));
  return answer_arrow(r, &rows, true, err);
}

const route query_routes[] = {
    {"/v1/table/{id}/query", ROUTE_POST, ACCESS_READ, query, "Read rows."},
    {"/v1/table/{id}/count_rows", ROUTE_POST | ROUTE_GET, ACCESS_READ, count_rows, "Count rows."},
    {WIRE_ROUTE_SQL, ROUTE_POST, ACCESS_READ, query_sql, "Run a SELECT statement."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
