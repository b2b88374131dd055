/* Views: the exported functions. They check arguments, read options and dispatch. */
#include <glaive/view.h>

#include "api/view_options.h"
#include "arrow/cdata.h"
#include "local/local.h"

glv_status glv_view_def_parse(const char *json, size_t size, const char *view_name, uint32_t flags,
                              glv_view_def **ret, glv_error *err) {
  TRY(require_pointer(json, "json", err));
  TRY(require_pointer(view_name, "view_name", err));
  TRY(require_pointer(ret, "ret", err));
  TRY(require_flags(flags, GLV_DEF_PARSE_ONLY, err));
  return local_view_def_parse(str_slice(json, size), view_name, (flags & GLV_DEF_PARSE_ONLY) != 0,
                              ret, err);
}

void glv_view_def_free(glv_view_def *def) { local_view_def_free(def); }

glv_status glv_view_prepare(glv_conn *conn, const glv_view_def *def,
                            const glv_call_options *options, glv_view_plan **ret, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_pointer(ret, "ret", err));
  glv_view_def known_def;
  TRY(read_definition(def, &known_def, err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, 0, err)); /* definitions have one dialect */
  return conn->ops->view_prepare(conn, &known_def, &known, ret, err);
}

const glv_view_def *glv_view_plan_definition(const glv_view_plan *plan) {
  return plan != NULL ? plan->ops->view_plan_definition(plan) : NULL;
}

glv_status glv_view_plan_schema(const glv_view_plan *plan, struct ArrowSchema *ret,
                                glv_error *err) {
  TRY(require_pointer(plan, "plan", err));
  TRY(require_pointer(ret, "ret", err));
  CLEANUP(schema_cleanup) schema *s = NULL;
  TRY(plan->ops->view_plan_schema(plan, &s, err));
  return cdata_export_schema(plan->handle.env, s, ret, err);
}

glv_status glv_view_plan_create(glv_view_plan *plan, glv_id id, const glv_view_options *options,
                                glv_view **ret, glv_error *err) {
  TRY(require_pointer(plan, "plan", err));
  TRY(env_check_fork(plan->handle.env, err));
  TRY(require_id(id, "id", false, err));
  glv_view_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_VIEW_NO_DATA, err));
  return plan->ops->view_plan_create(plan, id, &known, ret, err);
}

void glv_view_plan_free(glv_view_plan *plan) {
  if (plan != NULL) {
    handle_unref(&plan->handle);
  }
}

glv_status glv_view_create(glv_conn *conn, glv_id id, const glv_view_def *def,
                           const glv_view_options *options, glv_view **ret, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(id, "id", false, err));
  glv_view_def known_def;
  TRY(read_definition(def, &known_def, err));
  glv_view_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_VIEW_NO_DATA, err));
  return conn->ops->view_create(conn, id, &known_def, &known, ret, err);
}

glv_status glv_view_open(glv_conn *conn, glv_id id, const glv_call_options *options, glv_view **ret,
                         glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(id, "id", false, err));
  TRY(require_pointer(ret, "ret", err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, 0, err));
  return conn->ops->view_open(conn, id, &known, ret, err);
}

glv_status glv_view_list(glv_conn *conn, glv_id parent, const glv_page_options *options,
                         glv_list **ret, glv_error *err) {
  TRY(check_conn(conn, err));
  return list_call(conn, parent, options, conn->ops->view_list, ret, err);
}

const glv_view_def *glv_view_definition(const glv_view *view) {
  return view != NULL ? view->ops->view_definition(view) : NULL;
}

const char *glv_view_stored_definition(const glv_view *view) {
  return view != NULL ? view->ops->view_stored_definition(view) : NULL;
}

const char *glv_view_incarnation(const glv_view *view) {
  return view != NULL ? view->ops->view_incarnation(view) : NULL;
}

glv_table *glv_view_table(glv_view *view) {
  return view != NULL ? view->ops->view_table(view) : NULL;
}

glv_status glv_view_refresh(glv_view *view, const glv_refresh_options *options,
                            glv_refresh_result *ret, glv_error *err) {
  TRY(check_view(view, err));
  glv_refresh_options known;
  TRY(read_refresh_options(options, &known, err));
  glv_refresh_result result = {0};
  TRY(view->ops->view_refresh(view, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

glv_status glv_view_explain(glv_view *view, const glv_refresh_options *options, glv_buf *ret_json,
                            glv_error *err) {
  TRY(check_view(view, err));
  TRY(require_pointer(ret_json, "ret_json", err));
  glv_refresh_options known;
  TRY(read_refresh_options(options, &known, err));
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, view->handle.env, SIZE_MAX / 2);
  TRY(view->ops->view_explain(view, &known, &text, err));
  return buf_hand_out(view->handle.env, &text, ret_json, err);
}

/* A call that answers with a document, which may come with a failure. */
static glv_status report_call(glv_view *view, const glv_call_options *options,
                              glv_status (*call)(glv_view *, const glv_call_options *, buf *,
                                                 glv_error *),
                              glv_buf *ret_json, glv_error *err) {
  TRY(require_pointer(ret_json, "ret_json", err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, 0, err));
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, view->handle.env, SIZE_MAX / 2);
  const glv_status status = call(view, &known, &text, err);
  if (status == GLV_OK || status == GLV_E_DIFFERS) {
    TRY(buf_hand_out(view->handle.env, &text, ret_json, status == GLV_OK ? err : NULL));
  }
  return status;
}

glv_status glv_view_status(glv_view *view, const glv_call_options *options, glv_buf *ret_json,
                           glv_error *err) {
  TRY(check_view(view, err));
  return report_call(view, options, view->ops->view_status, ret_json, err);
}

glv_status glv_view_verify(glv_view *view, const glv_call_options *options, glv_buf *ret_json,
                           glv_error *err) {
  TRY(check_view(view, err));
  return report_call(view, options, view->ops->view_verify, ret_json, err);
}

glv_status glv_view_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                         glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(id, "id", false, err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_CALL_IF_NEEDED, err));
  return conn->ops->view_drop(conn, id, &known, err);
}

void glv_view_free(glv_view *view) {
  if (view != NULL) {
    handle_unref(&view->handle);
  }
}
