/* What jobs do to tables, and how they are begun. */
#include "server/jobs_private.h"
#include "server/server_private.h"
#include "server/tables.h"
#include "server/upkeep.h"
#include "wire/members.h"

static glv_status keep_result(live_job *l, const json *result, glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, l->owner->env, SIZE_MAX / 2);
  TRY(js_print(result, 0, 0, &text, err));
  l->result = buf_detach(&text);
  return GLV_OK;
}

static glv_status run_upkeep(live_job *l, cancel_token *cancel, glv_error *err) {
  CLEANUP(js_cleanup) json *result = NULL;
  glv_table *table = NULL;
  TRY(glv_table_open(l->owner->conn, l->view, NULL, &table, err));
  const bool is_compaction = strcmp(l->type, WIRE_JOB_COMPACT) == 0;
  const glv_status status = is_compaction
                                ? upkeep_compact(table, &l->compact, cancel, &result, err)
                                : upkeep_clean_up(table, &l->cleanup, cancel, &result, err);
  glv_table_free(table);
  TRY(status);
  return keep_result(l, result, err);
}

/* l is taken over. The table is there now; what becomes of it until the job's turn, the job tells.
 */
static glv_status begin(request *r, live_job *l, const json *spec, jobs_begun *ret,
                        glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &l->owner->lock;
  mutex_lock(held);
  return jobs_submit(r, l, spec, NULL, ret, err);
}

static glv_status check_table(request *r, glv_error *err) {
  glv_table *table = NULL;
  TRY(jobs_check_name(r->server->jobs, r->id, err));
  return server_table_open(r, r->id, 0, &table, err);
}

glv_status jobs_begin_compact(request *r, const wire_compact *how, const json *spec,
                              jobs_begun *ret, glv_error *err) {
  live_job *l = NULL;
  TRY(check_table(r, err));
  TRY(live_job_new(r, WIRE_JOB_COMPACT, &l, err));
  l->run = run_upkeep;
  l->compact = *how;
  return begin(r, l, spec, ret, err);
}

glv_status jobs_begin_cleanup(request *r, const wire_cleanup *how, const json *spec,
                              jobs_begun *ret, glv_error *err) {
  live_job *l = NULL;
  TRY(check_table(r, err));
  TRY(live_job_new(r, WIRE_JOB_CLEANUP, &l, err));
  l->run = run_upkeep;
  l->cleanup = *how;
  return begin(r, l, spec, ret, err);
}

/* ---- import ---- */

static glv_status run_import(live_job *l, cancel_token *cancel, glv_error *err) {
  CLEANUP(js_cleanup) json *result = js_new_object();
  glv_write_result done = GLV_OPTIONS(glv_write_result);
  glv_table *table = NULL;
  TRY(glv_table_open(l->owner->conn, l->view, NULL, &table, err));
  const glv_status status = multipart_commit(l->import, table, cancel, &done, err);
  glv_table_free(table);
  TRY(status);
  TRY(wire_put_uint(result, "version", done.version, err));
  TRY(wire_put_uint(result, "num_inserted_rows", done.rows_inserted, err));
  return keep_result(l, result, err);
}

glv_status jobs_begin_import(request *r, const char *upload_id, jobs_begun *ret, glv_error *err) {
  CLEANUP(js_cleanup) json *spec = js_new_object();
  live_job *l = NULL;
  TRY(wire_put_text(spec, "upload_id", upload_id, err));
  TRY(check_table(r, err));
  TRY(live_job_new(r, WIRE_JOB_IMPORT, &l, err));
  l->run = run_import;
  const glv_status status = multipart_enter(r, upload_id, &l->import, err);
  if (status != GLV_OK) {
    live_job_free(l);
    return status;
  }
  return begin(r, l, spec, ret, err);
}
