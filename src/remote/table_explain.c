/* Plans of queries: what the server says of them. */
#include "remote/query.h"
#include "wire/members.h"

static const route explain_route = {"/v1/table/{id}/explain_plan/", ROUTE_REPEATS,
                                    GLV_E_TABLE_NOT_FOUND, NULL};
static const route analyze_route = {"/v1/table/{id}/analyze_plan/", ROUTE_REPEATS,
                                    GLV_E_TABLE_NOT_FOUND, NULL};

static glv_status put_query(json *body, const glv_scan_options *scan,
                            const glv_search_options *search, glv_error *err) {
  return search != NULL ? query_put_search(body, search, err) : query_put_scan(body, scan, err);
}

/* A plan is asked for with the query inside the body; a plan with a run has the query as body. */
glv_status remote_table_explain(glv_table *table, const glv_scan_options *scan,
                                const glv_search_options *search, bool run, buf *ret_text,
                                glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  glv_cancel *cancel = search != NULL ? search->cancel : scan->cancel;
  TRY(table_call_begin(&tc, table, run ? &analyze_route : &explain_route, NULL, TABLE_READS, cancel,
                       err));
  if (run) {
    TRY(put_query(tc.c.body, scan, search, err));
  } else {
    CLEANUP(js_cleanup) json *query = js_new_object();
    TRY(put_query(query, scan, search, err));
    TRY(wire_put_bool(tc.c.body, "verbose", true, err));
    json *taken = query;
    query = NULL;
    TRY(js_put(tc.c.body, "query", taken, err));
  }
  TRY(call_json(&tc.c, &a, err));
  table_call_seen(&tc, a.table_version);
  if (a.root == NULL || js_kind_of(a.root) != JS_STRING) {
    return call_wrong(&tc.c, a.status, err, "the body must be a text");
  }
  return buf_append_str(ret_text, js_string(a.root), err);
}
