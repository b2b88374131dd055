/* Routes of materialized views: the five of the protocol, and three of our own. */
#include "server/jobs.h"
#include "server/name_list.h"
#include "server/routes.h"
#include "server/server_private.h"
#include "server/view_body.h"
#include "wire/extra.h"
#include "wire/members.h"

/* ---- beginning ---- */

/* Every creation, refresh and drop is a job: its id. version: 0 = not told. */
static glv_status answer_begun(request *r, unsigned http_status, const char *id, uint64_t version,
                               glv_error *err) {
  json *body = NULL;
  TRY(wire_job_id_write(id, &body, err));
  const glv_status status = version != 0 ? wire_put_uint(body, "version", version, err) : GLV_OK;
  if (status != GLV_OK) {
    js_free(body);
    return status;
  }
  return answer_json(r, http_status, body, err);
}

/* The view is made within the request, empty, so that whatever is wrong with it is told at once;
 * filling it is the job. */
static glv_status create(request *r, glv_error *err) {
  const json *body = NULL;
  wire_view_create wanted;
  glv_view_def def;
  glv_view *view = NULL;
  glv_view_options options = GLV_OPTIONS(glv_view_options);
  jobs_begun begun;
  TRY(request_json(r, &body, err));
  TRY(wire_view_create_read(r->memory, body, &wanted, err));
  TRY(view_body_definition(r, &wanted, &def, err));
  TRY(jobs_await_name(r, err));
  options.flags = GLV_VIEW_NO_DATA;
  options.cancel = r->cancel;
  TRY(request_name_taken(glv_view_create(r->server->conn, r->id, &def, &options, &view, err), err));
  const uint64_t version = glv_table_version(glv_view_table(view));
  glv_view_free(view);
  TRY(jobs_begin_fill(r, body, wanted.with_no_data, &begun, err));
  /* LanceDB demands 202; clients of the namespace specification read the body of 201 only. */
  return answer_begun(r, wanted.is_older ? 201 : 202, begun.id, version, err);
}

static glv_status refresh(request *r, glv_error *err) {
  const json *body = NULL;
  wire_refresh wanted;
  jobs_begun begun;
  TRY(request_json(r, &body, err));
  TRY(wire_refresh_read(body, &wanted, err));
  if (js_member(body, "output_limit") != NULL &&
      js_kind_of(js_member(body, "output_limit")) != JS_NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'output_limit' is not offered: a refresh is whole");
  }
  TRY(jobs_begin_refresh(r, &wanted, body, &begun, err));
  return answer_begun(r, 202, begun.id, 0, err);
}

static glv_status drop(request *r, glv_error *err) {
  jobs_begun begun;
  TRY(jobs_begin_drop(r, &begun, err));
  return answer_begun(r, 202, begun.id, 0, err);
}

/* ---- asking ---- */

static glv_status open_view(request *r, glv_view **ret, glv_error *err) {
  TRY(jobs_check_name(r->server->jobs, r->id, err));
  return glv_view_open(r->server->conn, r->id, NULL, ret, err);
}

static void close_view(glv_view **view) { glv_view_free(*view); }

static glv_status describe(request *r, glv_error *err) {
  CLEANUP(close_view) glv_view *view = NULL;
  json *body = NULL;
  TRY(open_view(r, &view, err));
  TRY(view_body_describe(r, view, &body, err));
  return answer_json(r, 200, body, err);
}

/* A document that the library made. */
static glv_status answer_document(request *r, glv_status status, glv_buf *text, glv_error *err) {
  if (status == GLV_OK || status == GLV_E_DIFFERS) {
    status = answer_bytes(r, 200, "application/json", str_slice(text->data, text->size), err);
  }
  glv_buf_dispose(text);
  return status;
}

static glv_status status_of(request *r, glv_error *err) {
  CLEANUP(close_view) glv_view *view = NULL;
  glv_buf text = {0};
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.cancel = r->cancel;
  TRY(open_view(r, &view, err));
  const glv_status status = glv_view_status(view, &options, &text, err);
  return answer_document(r, status, &text, err);
}

static glv_status verify(request *r, glv_error *err) {
  CLEANUP(close_view) glv_view *view = NULL;
  glv_buf text = {0};
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.cancel = r->cancel;
  TRY(open_view(r, &view, err));
  const glv_status status = glv_view_verify(view, &options, &text, err);
  return answer_document(r, status, &text, err);
}

static glv_status explain(request *r, glv_error *err) {
  CLEANUP(close_view) glv_view *view = NULL;
  glv_buf text = {0};
  const json *body = NULL;
  wire_refresh wanted;
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  TRY(request_json(r, &body, err));
  TRY(wire_refresh_read(body, &wanted, err));
  TRY(open_view(r, &view, err));
  options.flags = wanted.has_source_version ? GLV_REFRESH_SOURCE_VERSION : 0;
  options.source_version = wanted.source_version;
  options.full = wanted.full;
  options.incarnation = wanted.expected_incarnation;
  options.cancel = r->cancel;
  const glv_status status = glv_view_explain(view, &options, &text, err);
  return answer_document(r, status, &text, err);
}

enum { PAGE = 1000 };

static bool shows(request *r, glv_id id) {
  return jobs_check_name(r->server->jobs, id, NULL) == GLV_OK;
}

static glv_status list(request *r, glv_error *err) {
  glv_page_options options;
  glv_list *views = NULL;
  json *body = NULL;
  TRY(name_list_page(r, PAGE, &options, err));
  TRY(glv_view_list(r->server->conn, r->id, &options, &views, err));
  const glv_status status = name_list_body(r, views, "views", shows, &body, err);
  glv_list_free(views);
  return status == GLV_OK ? answer_json(r, 200, body, err) : status;
}

const route view_routes[] = {
    {"/v1/materialized_view/{id}/create", ROUTE_POST, ACCESS_WRITE, create,
     "Create a view and begin to fill it."},
    {"/v1/materialized_view/{id}/describe", ROUTE_POST, ACCESS_READ, describe,
     "The definition of a view."},
    {"/v1/materialized_view/{id}/refresh", ROUTE_POST, ACCESS_WRITE, refresh,
     "Begin to bring a view up to date."},
    {"/v1/materialized_view/{id}/drop", ROUTE_POST, ACCESS_WRITE, drop, "Begin to drop a view."},
    {"/v1/namespace/{id}/materialized_view/list", ROUTE_GET, ACCESS_READ, list,
     "The views of a namespace, in pages."},
    {WIRE_ROUTE_VIEW_STATUS, ROUTE_POST, ACCESS_READ, status_of,
     "How far a view is behind its source."},
    {WIRE_ROUTE_VIEW_EXPLAIN, ROUTE_POST, ACCESS_READ, explain, "What a refresh would do."},
    {WIRE_ROUTE_VIEW_VERIFY, ROUTE_POST, ACCESS_READ, verify,
     "Whether a view is what its definition says."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
