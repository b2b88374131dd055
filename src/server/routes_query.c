/* Routes that read rows (rest-protocol.md 7.6 and 8). */
#include <inttypes.h>
#include <strings.h>

#include "base/checked.h"
#include "server/query_body.h"
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

static glv_status query(request *r, glv_error *err) {
  const json *body = NULL;
  glv_table *table = NULL;
  struct ArrowArrayStream rows;
  query_body a;
  TRY(table_body(r, &body, err));
  TRY(query_body_read(r, body, &a, err));
  TRY(table_body_open(r, body, &table, err));
  TRY(a.vectors.count > 0 ? glv_table_search(table, &a.search, &rows, err)
                          : glv_table_scan(table, &a.scan, &rows, err));
  return answer_arrow(r, &rows, true, err);
}

/* ---- plans ---- */

static glv_status answer_plan(request *r, const json *query, uint32_t flags, glv_error *err) {
  glv_table *table = NULL;
  glv_explain_options options = GLV_OPTIONS(glv_explain_options);
  glv_buf text = {0};
  query_body asked;
  TRY(query_body_read(r, query, &asked, err));
  TRY(table_body_open(r, query, &table, err));
  options.flags = flags;
  options.scan = asked.vectors.count == 0 ? &asked.scan : NULL;
  options.search = asked.vectors.count > 0 ? &asked.search : NULL;
  TRY(glv_table_explain(table, &options, &text, err));
  const glv_status status =
      answer_json(r, 200, js_new_string(str_slice(text.data, text.size)), err);
  glv_buf_dispose(&text);
  return status;
}

static glv_status explain_plan(request *r, glv_error *err) {
  const json *body = NULL;
  TRY(table_body(r, &body, err));
  const json *query = js_member(body, "query");
  TRY(query != NULL ? wire_expect(query, JS_OBJECT, "'query'", err)
                    : FAIL(err, GLV_E_INVALID_INPUT, "'query' is missing"));
  return answer_plan(r, query, 0, err);
}

static glv_status analyze_plan(request *r, glv_error *err) {
  const json *body = NULL;
  TRY(table_body(r, &body, err));
  return answer_plan(r, body, GLV_EXPLAIN_RUN, err);
}

/* ---- SQL ---- */

enum { CELL_ROWS = 1000, MOST_CELL_ROWS = 10000 };

/* As JSON for who asks for it, cut off at 'limit': for programs that show some rows. */
static glv_status query_sql(request *r, glv_error *err) {
  const json *body = NULL;
  const char *sql = NULL;
  uint64_t limit = CELL_ROWS;
  struct ArrowArrayStream rows;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  TRY(request_json(r, &body, err));
  TRY(wire_text_required(body, "query", &sql, err));
  TRY(wire_uint(body, "limit", &limit, err));
  options.cancel = r->cancel;
  TRY(glv_query(r->server->conn, sql, &options, &rows, err));
  return request_wants_json(r) ? answer_cells(r, &rows, u64_min(limit, MOST_CELL_ROWS), err)
                               : answer_arrow(r, &rows, true, err);
}

const route query_routes[] = {
    {"/v1/table/{id}/query", ROUTE_POST, ACCESS_READ, query, "Read rows."},
    {"/v1/table/{id}/count_rows", ROUTE_POST | ROUTE_GET, ACCESS_READ, count_rows, "Count rows."},
    {"/v1/table/{id}/explain_plan", ROUTE_POST, ACCESS_READ, explain_plan, "Explain a query."},
    {"/v1/table/{id}/analyze_plan", ROUTE_POST, ACCESS_READ, analyze_plan,
     "Run a query and explain it."},
    {WIRE_ROUTE_SQL, ROUTE_POST, ACCESS_READ, query_sql, "Run a SELECT statement."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
