/*
 * Routes that only Glaive's servers have: upkeep and metadata of tables. See wire/extra.h and
 * docs/rest-extensions.md.
 */
#include "server/jobs.h"
#include "server/routes.h"
#include "server/table_body.h"
#include "server/tables.h"
#include "server/upkeep.h"
#include "wire/extra.h"
#include "wire/members.h"

static glv_call_options call_options(const request *r) {
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.cancel = r->cancel;
  return options;
}

/* ---- upkeep of tables ---- */

static glv_status wants_job(const json *body, bool *ret, glv_error *err) {
  *ret = false;
  return wire_bool(body, WIRE_BACKGROUND, ret, err);
}

static glv_status compact(request *r, glv_error *err) {
  const json *body;
  wire_compact how;
  glv_table *table;
  json *answer = NULL;
  jobs_begun begun;
  bool is_job;
  TRY(request_json(r, &body, err));
  TRY(wire_compact_read(body, &how, err));
  TRY(wants_job(body, &is_job, err));
  if (is_job) {
    TRY(jobs_begin_compact(r, &how, body, &begun, err));
    return jobs_answer(r, &begun, err);
  }
  TRY(server_table_open_own(r, r->id, NULL, &table, err));
  TRY(upkeep_compact(table, &how, r->cancel, &answer, err));
  return answer_json(r, 200, answer, err);
}

static glv_status clean_up(request *r, glv_error *err) {
  const json *body;
  wire_cleanup how;
  glv_table *table;
  json *answer = NULL;
  jobs_begun begun;
  bool is_job;
  TRY(request_json(r, &body, err));
  TRY(wire_cleanup_read(body, &how, err));
  TRY(wants_job(body, &is_job, err));
  if (is_job) {
    TRY(jobs_begin_cleanup(r, &how, body, &begun, err));
    server_table_forget(r, r->id);
    return jobs_answer(r, &begun, err);
  }
  server_table_forget(r, r->id); /* a table kept open would keep its version */
  TRY(server_table_open_own(r, r->id, NULL, &table, err));
  TRY(upkeep_clean_up(table, &how, r->cancel, &answer, err));
  return answer_json(r, 200, answer, err);
}

static glv_status migrate(request *r, glv_error *err) {
  const json *body;
  glv_table *table;
  bool row_ids = false;
  glv_call_options options = call_options(r);
  TRY(request_json(r, &body, err));
  TRY(wire_bool(body, WIRE_MIGRATE_STABLE_ROW_IDS, &row_ids, err));
  TRY(server_table_open_own(r, r->id, NULL, &table, err));
  options.flags = row_ids ? GLV_MIGRATE_STABLE_ROW_IDS : 0;
  TRY(glv_table_migrate(table, &options, err));
  const glv_write_result done = {.version = glv_table_version(table), .attempts = 1};
  return table_body_wrote(r, &done, NULL, err);
}

/* ---- metadata ---- */

static glv_status read_target(const json *body, int32_t *ret, glv_error *err) {
  static const char *const words[] = {"schema", "table", "config"};
  const char *word = NULL;
  TRY(wire_text_required(body, WIRE_METADATA_TARGET, &word, err));
  for (int32_t i = 0; i < 3; i++) {
    if (strcmp(word, words[i]) == 0) {
      *ret = i;
      return GLV_OK;
    }
  }
  return FAIL(err, GLV_E_INVALID_INPUT, "'" WIRE_METADATA_TARGET "' is schema, table or config");
}

static glv_status read_items(request *r, const json *body, glv_pairs *ret, glv_error *err) {
  const json *map = NULL;
  TRY(wire_object(body, WIRE_METADATA_ITEMS, &map, err));
  const size_t count = map != NULL ? js_count(map) : 0;
  glv_pair *pairs = ARENA_ARRAY(r->memory, glv_pair, count);
  void *position = NULL;
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    str key;
    const json *value = js_next_member(map, &position, &key);
    pairs[i].name = arena_strdup(r->memory, key);
    if (pairs[i].name == NULL) {
      return error_nomem(err, key.size);
    }
    if (js_kind_of(value) != JS_NULL) {
      TRY(wire_text(map, pairs[i].name, &pairs[i].value, err));
    }
  }
  *ret = (glv_pairs){pairs, count};
  return GLV_OK;
}

static glv_status set_metadata(request *r, glv_error *err) {
  const json *body;
  glv_table *table;
  glv_pairs items;
  bool replace = false;
  glv_metadata_options options = GLV_OPTIONS(glv_metadata_options);
  glv_write_result done = GLV_OPTIONS(glv_write_result);
  TRY(request_json(r, &body, err));
  TRY(read_target(body, &options.target, err));
  TRY(read_items(r, body, &items, err));
  TRY(wire_bool(body, WIRE_METADATA_REPLACE, &replace, err));
  TRY(server_table_open_own(r, r->id, NULL, &table, err));
  options.flags = replace ? GLV_METADATA_REPLACE : 0;
  options.cancel = r->cancel;
  TRY(glv_table_set_metadata(table, items, &options, &done, err));
  return table_body_wrote(r, &done, NULL, err);
}

const route extra_routes[] = {
    {WIRE_ROUTE_COMPACT, ROUTE_POST, ACCESS_WRITE, compact, "Join small fragments of a table"},
    {WIRE_ROUTE_CLEANUP, ROUTE_POST, ACCESS_WRITE, clean_up, "Remove old versions of a table"},
    {WIRE_ROUTE_MIGRATE, ROUTE_POST, ACCESS_WRITE, migrate, "Give a table stable row ids"},
    {WIRE_ROUTE_METADATA, ROUTE_POST, ACCESS_WRITE, set_metadata, "Change metadata of a table"},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
