/* Jobs: the exported functions. They check arguments, read options and dispatch. */
#include <glaive/job.h>

#include "api/view_options.h"
#include "arrow/cdata.h"

static glv_status check_job(const glv_job *job, glv_error *err) {
  TRY(require_pointer(job, "job", err));
  return env_check_fork(job->handle.env, err);
}

glv_status glv_view_create_job(glv_conn *conn, glv_id id, const glv_view_def *def,
                               const glv_view_options *options, glv_job **ret_job, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(id, "id", false, err));
  TRY(require_pointer(ret_job, "ret_job", err));
  glv_view_def known_def;
  TRY(read_definition(def, &known_def, err));
  glv_view_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_VIEW_NO_DATA, err));
  return conn->ops->view_create_job(conn, id, &known_def, &known, ret_job, err);
}

glv_status glv_view_refresh_job(glv_view *view, const glv_refresh_options *options,
                                glv_job **ret_job, glv_error *err) {
  TRY(check_view(view, err));
  TRY(require_pointer(ret_job, "ret_job", err));
  glv_refresh_options known;
  TRY(read_refresh_options(options, &known, err));
  return view->ops->view_refresh_job(view, &known, ret_job, err);
}

glv_status glv_view_drop_job(glv_conn *conn, glv_id id, const glv_call_options *options,
                             glv_job **ret_job, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(id, "id", false, err));
  TRY(require_pointer(ret_job, "ret_job", err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_CALL_IF_NEEDED, err));
  return conn->ops->view_drop_job(conn, id, &known, ret_job, err);
}

glv_status glv_job_open(glv_conn *conn, const char *job_id, glv_job **ret, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_pointer(job_id, "job_id", err));
  TRY(require_pointer(ret, "ret", err));
  return conn->ops->job_open(conn, job_id, ret, err);
}

glv_status glv_job_list(glv_conn *conn, const glv_page_options *options, glv_list **ret,
                        glv_error *err) {
  TRY(check_conn(conn, err));
  return list_call(conn, (glv_id){NULL, 0}, options, conn->ops->job_list, ret, err);
}

const char *glv_job_id(const glv_job *job) { return job != NULL ? job->ops->job_id(job) : NULL; }

glv_status glv_job_status(glv_job *job, glv_job_info *ret, glv_error *err) {
  TRY(check_job(job, err));
  TRY(require_pointer(ret, "ret", err));
  glv_job_info info = {0};
  TRY(job->ops->job_status(job, &info, err));
  result_write(ret, &info, sizeof info);
  return GLV_OK;
}

glv_status glv_job_wait(glv_job *job, uint32_t timeout_ms, glv_error *err) {
  TRY(check_job(job, err));
  return job->ops->job_wait(job, timeout_ms, err);
}

glv_status glv_job_result(glv_job *job, glv_refresh_result *ret, glv_error *err) {
  TRY(check_job(job, err));
  TRY(require_pointer(ret, "ret", err));
  glv_refresh_result result = {0};
  TRY(job->ops->job_result(job, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

glv_status glv_job_events(glv_job *job, struct ArrowArrayStream *ret, glv_error *err) {
  TRY(check_job(job, err));
  TRY(require_pointer(ret, "ret", err));
  batch_reader reader;
  TRY(job->ops->job_events(job, &reader, err));
  return cdata_export_stream(job->handle.env, &reader, ret, err);
}

glv_status glv_job_cancel(glv_job *job, glv_error *err) {
  TRY(check_job(job, err));
  return job->ops->job_cancel(job, err);
}

void glv_job_free(glv_job *job) {
  if (job != NULL) {
    handle_unref(&job->handle);
  }
}
