/* Refreshes of a server's views, and what can be asked about them. */
#include <inttypes.h>
#include <stdio.h>

#include "remote/job.h"
#include "remote/view_private.h"
#include "wire/extra.h"
#include "wire/members.h"

static const route refresh_route = {"/v1/materialized_view/{id}/refresh",
                                    ROUTE_REPEATS | ROUTE_CHANGES, GLV_E_TABLE_NOT_FOUND, NULL};
static const route explain_route = {WIRE_ROUTE_VIEW_EXPLAIN, ROUTE_REPEATS, GLV_E_UNSUPPORTED,
                                    "what a refresh would do"};
static const route status_route = {WIRE_ROUTE_VIEW_STATUS, ROUTE_REPEATS, GLV_E_UNSUPPORTED,
                                   "the status of views"};
static const route verify_route = {WIRE_ROUTE_VIEW_VERIFY, ROUTE_REPEATS, GLV_E_UNSUPPORTED,
                                   "the verification of views"};

/* ---- refresh ---- */

static glv_status check_options(const glv_refresh_options *o, glv_error *err) {
  return (o->flags & (GLV_REFRESH_NO_STAMP | GLV_REFRESH_UPSTREAM)) == 0
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED,
                    "the server does not offer refreshes without a stamp, or in the modes of "
                    "LanceDB");
}

static glv_status begin(call *c, glv_view *view, const route *r, const glv_refresh_options *o,
                        glv_error *err) {
  remote_view *v = view_of(view);
  const wire_refresh body = {.full = o->full != 0,
                             .has_source_version = (o->flags & GLV_REFRESH_SOURCE_VERSION) != 0,
                             .source_version = o->source_version,
                             .expected_incarnation =
                                 o->incarnation != NULL ? o->incarnation : v->incarnation,
                             .require_incremental = o->require != 0};
  TRY(check_options(o, err));
  TRY(call_begin(c, http_of(v->table), r, target_of(ident_id(&v->table->id)), o->cancel, err));
  return wire_refresh_write(&body, &c->body, err);
}

/* Foreign servers do not look at `require`: what the refresh would do is asked first. */
static glv_status check_required(glv_view *view, const glv_refresh_options *options,
                                 glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const char *mode = "";
  const char *reason = "";
  TRY(begin(&c, view, &explain_route, options, err));
  TRY(call_object(&c, &a, err));
  TRY(call_read(&c, &a, wire_text(a.root, "mode", &mode, err), err));
  TRY(call_read(&c, &a, wire_text(a.root, "reason", &reason, err), err));
  return strcmp(mode, "rebuild") != 0
             ? GLV_OK
             : FAIL(err, GLV_E_BAD_STATE,
                    "view '%s' would be rebuilt (%s), and only an incremental refresh is allowed",
                    IDENT_TEXT(ident_id(&view_of(view)->table->id)), reason);
}

/* A server that knows no better word says that something changed meanwhile. */
static glv_status begin_failed(glv_status status, glv_error *err) {
  if (status == GLV_E_CONFLICT && err->http_status == 412) {
    err->code = GLV_E_STALE_VIEW;
    return GLV_E_STALE_VIEW;
  }
  return status;
}

glv_status remote_view_begin_refresh(glv_view *view, const glv_refresh_options *options,
                                     char **ret_id, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const char *job = NULL;
  glv_error error;
  if (options->require != 0) {
    TRY(check_required(view, options, err));
  }
  TRY(begin(&c, view, &refresh_route, options, err));
  const glv_status status = call_object(&c, &a, &error);
  if (status != GLV_OK) {
    const glv_status meant = begin_failed(status, &error);
    (void)error_pass(err, &error);
    return meant;
  }
  TRY(job_id_of(&c, &a, JOB_REQUIRED, &job, err));
  return remote_keep_id(view->handle.env, job, ret_id, err);
}

glv_status remote_refresh_result(const json *result, glv_refresh_result *ret, glv_error *err) {
  wire_refresh_result r;
  const call c = {.route = &refresh_route};
  const answer a = {.status = 200};
  TRY(call_read(&c, &a, wire_refresh_result_read(result, &r, err), err));
  *ret = (glv_refresh_result){.struct_size = sizeof *ret,
                              .mode = r.mode,
                              .rows_written = r.rows_written,
                              .rows_removed = r.rows_removed,
                              .source_version = r.source_version,
                              .version = r.version,
                              .duration_ms = r.duration_ms,
                              .source_rows_scanned = r.source_rows_scanned};
  snprintf(ret->reason, sizeof ret->reason, "%s", r.reason);
  return GLV_OK;
}

glv_status remote_view_refresh(glv_view *view, const glv_refresh_options *options,
                               glv_refresh_result *ret, glv_error *err) {
  CLEANUP(answer_dispose) answer a = {0};
  char *job = NULL;
  TRY(remote_view_begin_refresh(view, options, &job, err));
  const glv_status status = job_await(conn_of(view->conn), job, options->cancel, &a, err);
  mem_free(view->handle.env, job);
  TRY(status);
  const json *result = js_member(a.root, "result");
  const bool is_null = result == NULL || js_kind_of(result) == JS_NULL;
  TRY(remote_refresh_result(is_null ? NULL : result, ret, err));
  remote_table_wrote(view_of(view)->table, ret->version);
  return GLV_OK;
}

/* ---- questions ---- */

/* Send a question and hand out the object that is the answer, as it came. */
static glv_status ask(call *c, answer *a, buf *ret_json, glv_error *err) {
  TRY(call_text(c, a, ret_json, err));
  return a->root != NULL ? call_read(c, a, wire_expect(a->root, JS_OBJECT, "the body", err), err)
                         : call_wrong(c, a->status, err, "no body");
}

glv_status remote_view_explain(glv_view *view, const glv_refresh_options *options, buf *ret_json,
                               glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(begin(&c, view, &explain_route, options, err));
  return ask(&c, &a, ret_json, err);
}

static glv_status begin_question(call *c, glv_view *view, const route *r, cancel_token *cancel,
                                 glv_error *err) {
  const glv_table *table = view_of(view)->table;
  TRY(call_begin(c, http_of(table), r, target_of(ident_id(&table->id)), cancel, err));
  c->body = js_new_object();
  return c->body != NULL ? GLV_OK : error_nomem(err, sizeof *c);
}

glv_status remote_view_status(glv_view *view, const glv_call_options *options, buf *ret_json,
                              glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(begin_question(&c, view, &status_route, options->cancel, err));
  return ask(&c, &a, ret_json, err);
}

static glv_status differs(const glv_view *view, const call *c, const answer *a, glv_error *err) {
  uint64_t version = 0;
  uint64_t missing = 0;
  uint64_t extra = 0;
  uint64_t different = 0;
  TRY(call_read(c, a, wire_uint(a->root, "source_version", &version, err), err));
  TRY(call_read(c, a, wire_uint(a->root, "missing", &missing, err), err));
  TRY(call_read(c, a, wire_uint(a->root, "extra", &extra, err), err));
  TRY(call_read(c, a, wire_uint(a->root, "different", &different, err), err));
  return FAIL(err, GLV_E_DIFFERS,
              "view '%s' differs from its definition at source version %" PRIu64 ": %" PRIu64
              " rows missing, %" PRIu64 " extra, %" PRIu64 " different; refresh it with --full",
              IDENT_TEXT(ident_id(&((const remote_view *)view)->table->id)), version, missing,
              extra, different);
}

glv_status remote_view_verify(glv_view *view, const glv_call_options *options, buf *ret_json,
                              glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  bool is_equal = true;
  TRY(begin_question(&c, view, &verify_route, options->cancel, err));
  TRY(ask(&c, &a, ret_json, err));
  TRY(call_read(&c, &a, wire_bool(a.root, "equal", &is_equal, err), err));
  return is_equal ? GLV_OK : differs(view, &c, &a, err);
}
