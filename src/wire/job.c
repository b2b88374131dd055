/* Jobs in bodies. Words for states differ between servers; what is not known is not finished. */
#include "wire/job.h"

#include "base/error.h"
#include "wire/members.h"
#include "wire/status.h"

static const struct {
  const char *word;
  wire_job_state state;
} words[] = {/* the first of each state is the one that our servers send */
             {"QUEUED", WIRE_JOB_QUEUED},       {"IN_PROGRESS", WIRE_JOB_RUNNING},
             {"DONE", WIRE_JOB_DONE},           {"FAILED", WIRE_JOB_FAILED},
             {"CANCELLED", WIRE_JOB_CANCELLED}, {"running", WIRE_JOB_RUNNING},
             {"succeeded", WIRE_JOB_DONE},      {"finished", WIRE_JOB_DONE},
             {"timed_out", WIRE_JOB_FAILED},    {"canceled", WIRE_JOB_CANCELLED},
             {"pending", WIRE_JOB_QUEUED}};

wire_job_state wire_job_state_read(const char *word) {
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (str_equal_ascii_case(str_of(word), str_of(words[i].word))) {
      return words[i].state;
    }
  }
  return WIRE_JOB_OTHER;
}

const char *wire_job_state_word(wire_job_state state) {
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (words[i].state == state) {
      return words[i].word;
    }
  }
  return "PAUSED"; /* not finished, and not running */
}

/* ---- writing ---- */

static glv_status put_progress(const wire_job *job, json *body, glv_error *err) {
  CLEANUP(js_cleanup) json *progress = js_new_object();
  TRY(wire_put_uint(progress, "done", job->done, err));
  TRY(wire_put_uint(progress, "total", job->total, err));
  json *taken = progress;
  progress = NULL;
  return js_put(body, "progress", taken, err);
}

static glv_status put_failure(const wire_job *job, json *body, glv_error *err) {
  if (!job->has_failure) {
    return js_put(body, "failure", js_new_null(), err);
  }
  CLEANUP(js_cleanup) json *failure = js_new_object();
  TRY(wire_put_text(failure, "phase", job->failure.phase, err));
  TRY(wire_put_text(failure, "message", job->failure.message, err));
  TRY(wire_put_bool(failure, "retryable", job->failure.retryable, err));
  TRY(wire_put_text(failure, "detail", error_name(job->failure.status), err));
  json *taken = failure;
  failure = NULL;
  return js_put(body, "failure", taken, err);
}

glv_status wire_job_write(const wire_job *job, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_text(body, "job_id", job->id, err));
  TRY(wire_put_text(body, "job_type", job->type, err));
  TRY(wire_put_text(body, "table", job->table, err));
  TRY(wire_put_text(body, "job_state", wire_job_state_word(job->state), err));
  TRY(wire_put_int(body, "creation_ms", job->created_ms, err));
  if (job->finished_ms != 0) {
    TRY(wire_put_int(body, "finished_ms", job->finished_ms, err));
  }
  TRY(put_progress(job, body, err));
  TRY(js_put(body, "spec", job->spec != NULL ? js_copy(job->spec) : js_new_object(), err));
  TRY(js_put(body, "result", job->result != NULL ? js_copy(job->result) : js_new_null(), err));
  TRY(put_failure(job, body, err));
  *ret = body;
  body = NULL;
  return GLV_OK;
}

glv_status wire_job_entry_write(const wire_job *job, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *entry = js_new_object();
  TRY(wire_put_text(entry, "job_id", job->id, err));
  TRY(wire_put_text(entry, "table", job->table, err));
  TRY(wire_put_text(entry, "job_type", job->type, err));
  TRY(wire_put_text(entry, "state", wire_job_state_word(job->state), err));
  TRY(wire_put_int(entry, "created_at_millis", job->created_ms, err));
  *ret = entry;
  entry = NULL;
  return GLV_OK;
}

glv_status wire_job_id_write(const char *id, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_text(body, "job_id", id, err));
  *ret = body;
  body = NULL;
  return GLV_OK;
}

/* ---- reading ---- */

static glv_status read_failure(const json *body, wire_job *ret, glv_error *err) {
  const json *failure = NULL;
  const char *detail = NULL;
  TRY(wire_object(body, "failure", &failure, err));
  if (failure == NULL) {
    return GLV_OK;
  }
  ret->has_failure = true;
  TRY(wire_text(failure, "phase", &ret->failure.phase, err));
  TRY(wire_text(failure, "message", &ret->failure.message, err));
  TRY(wire_bool(failure, "retryable", &ret->failure.retryable, err));
  TRY(wire_text(failure, "detail", &detail, err));
  if (detail != NULL) {
    (void)wire_status_by_name(str_of(detail), &ret->failure.status);
  }
  return GLV_OK;
}

static glv_status read_common(const json *node, const char *state_key, wire_job *ret,
                              glv_error *err) {
  *ret = (wire_job){.failure.status = GLV_E_JOB_FAILED};
  TRY(wire_expect(node, JS_OBJECT, "job", err));
  TRY(wire_text_required(node, state_key, &ret->state_word, err));
  ret->state = wire_job_state_read(ret->state_word);
  TRY(wire_text(node, "job_id", &ret->id, err));
  TRY(wire_text(node, "job_type", &ret->type, err));
  return wire_text(node, "table", &ret->table, err);
}

glv_status wire_job_read(const json *body, wire_job *ret, glv_error *err) {
  const json *progress = NULL;
  TRY(read_common(body, "job_state", ret, err));
  TRY(wire_int(body, "creation_ms", &ret->created_ms, err));
  TRY(wire_int(body, "finished_ms", &ret->finished_ms, err));
  TRY(wire_object(body, "progress", &progress, err));
  if (progress != NULL) {
    TRY(wire_uint(progress, "done", &ret->done, err));
    TRY(wire_uint(progress, "total", &ret->total, err));
  }
  const json *result = js_member(body, "result");
  ret->result = result != NULL && js_kind_of(result) != JS_NULL ? result : NULL;
  return read_failure(body, ret, err);
}

glv_status wire_job_entry_read(const json *entry, wire_job *ret, glv_error *err) {
  TRY(read_common(entry, "state", ret, err));
  TRY(wire_text_required(entry, "job_id", &ret->id, err));
  return wire_int(entry, "created_at_millis", &ret->created_ms, err);
}

glv_status wire_job_id_read(const json *body, const char **ret, glv_error *err) {
  *ret = NULL;
  TRY(wire_text(body, "job_id", ret, err));
  return *ret == NULL || (*ret)[0] != '\0' ? GLV_OK
                                           : FAIL(err, GLV_E_INVALID_INPUT, "'job_id' is empty");
}
