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
