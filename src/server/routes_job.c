/* Routes of jobs (rest-protocol.md 10). */
#include "arrow/builder.h"
#include "arrow/cdata.h"
#include "base/checked.h"
#include "server/jobs.h"
#include "server/routes.h"
#include "server/server_private.h"
#include "wire/members.h"
#include "wire/path.h"

enum { PAGE = 1000, MOST_EVENTS = 10000 };

static glv_status read_id(request *r, const json **ret_body, const char **ret, glv_error *err) {
  TRY(request_json(r, ret_body, err));
  TRY(wire_job_id_read(*ret_body, ret, err));
  return *ret != NULL ? GLV_OK : FAIL(err, GLV_E_INVALID_INPUT, "'job_id' is missing");
}

/* The key must be for the namespace that the job works in. */
static glv_status check_access(request *r, const job_row *row, glv_error *err) {
  char *text = arena_strdup(r->memory, str_of(row->target));
  const char *const *parts = NULL;
  size_t count = 0;
  if (text == NULL) {
    return error_nomem(err, strlen(row->target));
  }
  TRY(wire_id_split(r->memory, text, WIRE_DELIMITER, &parts, &count, err));
  return request_covers(r, (glv_id){parts, count > 0 ? count - 1 : 0})
             ? GLV_OK
             : FAIL(err, GLV_E_JOB_NOT_FOUND, "job '%s' was not found", row->id);
}

static glv_status find(request *r, job_row *ret, const json **ret_body, glv_error *err) {
  const char *id = NULL;
  TRY(read_id(r, ret_body, &id, err));
  TRY(jobs_look(r, id, ret, err));
  return check_access(r, ret, err);
}

/* ---- describe, list ---- */

static glv_status describe(request *r, glv_error *err) {
  const json *ignored = NULL;
  job_row row;
  json *body = NULL;
  CLEANUP(js_cleanup) json *result = NULL;
  CLEANUP(js_cleanup) json *spec = NULL;
  TRY(find(r, &row, &ignored, err));
  if (row.result != NULL) {
    TRY(js_parse(str_of(row.result), &result, err));
  }
  TRY(js_parse(str_of(row.spec), &spec, err));
  const wire_job job = {.id = row.id,
                        .type = row.type,
                        .table = row.target,
                        .state = row.state,
                        .created_ms = row.created_ms,
                        .finished_ms = row.finished_ms,
                        .done = row.done,
                        .total = row.total,
                        .spec = spec,
                        .result = result,
                        .has_failure = row.has_failure,
                        .failure = row.failure};
  TRY(wire_job_write(&job, &body, err));
  return answer_json(r, 200, body, err);
}

static glv_status read_state(const json *body, job_filter *ret, glv_error *err) {
  const char *word = NULL;
  TRY(wire_text(body, "state", &word, err));
  ret->has_state = word != NULL;
  ret->state = word != NULL ? wire_job_state_read(word) : WIRE_JOB_OTHER;
  return word == NULL || ret->state != WIRE_JOB_OTHER
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT, "'state' %s is none that jobs have", word);
}

static glv_status read_filter(const json *body, job_filter *ret, glv_error *err) {
  const char *token = NULL;
  uint64_t limit = PAGE;
  uint64_t before = 0;
  *ret = (job_filter){0};
  TRY(wire_text(body, "job_type", &ret->type, err));
  TRY(wire_text(body, "table", &ret->target, err));
  TRY(read_state(body, ret, err));
  TRY(wire_uint(body, "limit", &limit, err));
  TRY(wire_text(body, WIRE_PAGE_TOKEN, &token, err));
  if (token != NULL && token[0] != '\0' &&
      (!str_to_u64(str_of(token), &before) || before == 0 || before > INT64_MAX)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'page_token' is none that this server gave");
  }
  ret->before = (int64_t)before;
  ret->limit = (size_t)u64_min(limit, PAGE);
  return GLV_OK;
}

static glv_status push_entry(json *into, const job_row *row, glv_error *err) {
  const wire_job job = {.id = row->id,
                        .type = row->type,
                        .table = row->target,
                        .state = row->state,
                        .created_ms = row->created_ms};
  json *entry = NULL;
  TRY(wire_job_entry_write(&job, &entry, err));
  return js_push(into, entry, err);
}

static glv_status list(request *r, glv_error *err) {
  const json *body = NULL;
  job_filter filter;
  job_row *rows = NULL;
  size_t count = 0;
  bool more = false;
  CLEANUP(js_cleanup) json *answer = js_new_object();
  CLEANUP(js_cleanup) json *entries = js_new_array();
  TRY(request_json(r, &body, err));
  TRY(read_filter(body, &filter, err));
  TRY(job_store_list(jobs_store(r->server->jobs), &filter, r->memory, &rows, &count, &more, err));
  for (size_t i = 0; i < count; i++) {
    if (check_access(r, &rows[i], NULL) == GLV_OK) {
      TRY(push_entry(entries, &rows[i], err));
    }
  }
  const char *token =
      more && count > 0 ? arena_printf(r->memory, "%lld", (long long)rows[count - 1].number) : NULL;
  json *taken = entries;
  entries = NULL;
  TRY(js_put(answer, "jobs", taken, err));
  TRY(wire_put_text(answer, WIRE_PAGE_TOKEN, token, err));
  taken = answer;
  answer = NULL;
  return answer_json(r, 200, taken, err);
}

/* ---- cancel, pause, resume ---- */

static glv_status cancel(request *r, glv_error *err) {
  const json *ignored = NULL;
  job_row row;
  TRY(find(r, &row, &ignored, err));
  TRY(jobs_cancel(r, row.id, err));
  return answer_json(r, 200, NULL, err);
}

/* No job pauses: it is answered as one that is past the point where it could. */
static glv_status pause_job(request *r, glv_error *err) {
  const json *ignored = NULL;
  job_row row;
  TRY(find(r, &row, &ignored, err));
  json *body = js_new_object();
  const glv_status status = wire_put_bool(body, "committing", true, err);
  if (status != GLV_OK) {
    js_free(body);
    return status;
  }
  return answer_json(r, 200, body, err);
}

static glv_status resume(request *r, glv_error *err) {
  const json *ignored = NULL;
  job_row row;
  TRY(find(r, &row, &ignored, err));
  return answer_json(r, 200, NULL, err);
}

/* ---- events ---- */

enum { EVENT_COLUMNS = 7 };

static glv_status append_text(builder *b, const char *text, glv_error *err) {
  return text != NULL ? builder_append_str(b, str_of(text), err) : builder_append_null(b, err);
}

static glv_status append_event(builder *columns, const job_event *e, glv_error *err) {
  const char *const texts[] = {e->state, e->updated_by, "server", e->updated_by, NULL, e->message};
  TRY(builder_append_fixed(&columns[0], &e->at_ms, err));
  for (size_t i = 0; i < EVENT_COLUMNS - 1; i++) {
    TRY(append_text(&columns[i + 1], texts[i], err));
  }
  return GLV_OK;
}

static glv_status fill(builder *columns, const job_event *events, size_t count, batch *b,
                       glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    TRY(append_event(columns, &events[i], err));
  }
  for (size_t i = 0; i < EVENT_COLUMNS; i++) {
    TRY(builder_finish(&columns[i], &b->columns[i], err));
  }
  return GLV_OK;
}

static glv_status event_schema(request *r, schema **ret, glv_error *err) {
  static const char *const names[EVENT_COLUMNS] = {
      "emitted_at", "state", "updated_by", "emitted_from", "emitted_by", "claim_entity", "message"};
  field fields[EVENT_COLUMNS];
  const type *timestamp = type_timestamp(r->memory, UNIT_MILLI, "UTC");
  if (timestamp == NULL) {
    return error_nomem(err, sizeof(type));
  }
  for (size_t i = 0; i < EVENT_COLUMNS; i++) {
    fields[i] = (field){
        .name = names[i], .type = i == 0 ? timestamp : type_simple(TYPE_UTF8), .nullable = i >= 2};
  }
  return schema_new(r->env, fields, EVENT_COLUMNS, (metadata){NULL, 0}, ret, err);
}

static glv_status event_rows(request *r, const job_event *events, size_t count, batch_reader *ret,
                             glv_error *err) {
  CLEANUP(schema_cleanup) schema *s = NULL;
  CLEANUP(batch_dispose) batch b = {0};
  builder columns[EVENT_COLUMNS];
  TRY(event_schema(r, &s, err));
  TRY(batch_new(r->env, s, count, EVENT_COLUMNS, &b, err));
  for (size_t i = 0; i < EVENT_COLUMNS; i++) {
    builder_init(&columns[i], r->env, s->fields[i].type);
  }
  const glv_status status = fill(columns, events, count, &b, err);
  for (size_t i = 0; i < EVENT_COLUMNS; i++) {
    builder_dispose(&columns[i]);
  }
  TRY(status);
  return batch_reader_of(r->env, s, &b, 1, ret, err);
}

static glv_status query_events(request *r, glv_error *err) {
  const json *body = NULL;
  const char *where = NULL;
  uint64_t limit = MOST_EVENTS;
  job_row row;
  job_event *events = NULL;
  size_t count = 0;
  batch_reader reader;
  struct ArrowArrayStream rows;
  TRY(find(r, &row, &body, err));
  TRY(wire_text(body, "filter", &where, err));
  TRY(wire_uint(body, "limit", &limit, err));
  TRY(job_store_events(jobs_store(r->server->jobs), row.id, where,
                       (size_t)u64_min(limit, MOST_EVENTS), r->memory, &events, &count, err));
  TRY(event_rows(r, events, count, &reader, err));
  TRY(cdata_export_stream(r->env, &reader, &rows, err));
  return answer_arrow(r, &rows, false, err);
}

const route job_routes[] = {
    {"/v1/jobs/describe", ROUTE_POST | ROUTE_LIST, ACCESS_READ, describe, "Where a job stands."},
    {"/v1/jobs/list", ROUTE_POST | ROUTE_LIST, ACCESS_READ, list, "The jobs, the newest first."},
    {"/v1/jobs/cancel", ROUTE_POST | ROUTE_LIST, ACCESS_WRITE, cancel, "Ask a job to stop."},
    {"/v1/jobs/pause", ROUTE_POST | ROUTE_LIST, ACCESS_WRITE, pause_job, "Jobs do not pause."},
    {"/v1/jobs/resume", ROUTE_POST | ROUTE_LIST, ACCESS_WRITE, resume, "Jobs do not pause."},
    {"/v1/jobs/query_events", ROUTE_POST | ROUTE_LIST, ACCESS_READ, query_events,
     "What happened to a job, as Arrow rows."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
