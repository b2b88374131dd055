/* Routes that change rows and columns (rest-protocol.md 7.4 to 7.8). The answer of a write needs
 * little memory and is made after the commit: that it is not there is then the only failure. */
#include "arrow/cdata.h"
#include "server/jobs.h"
#include "server/multipart.h"
#include "server/routes.h"
#include "server/server_private.h"
#include "server/table_body.h"
#include "server/tables.h"
#include "wire/extra.h"
#include "wire/members.h"
#include "wire/schema.h"

/* An array that has to be there. */
static glv_status read_list(const json *body, const char *key, const json **ret, glv_error *err) {
  *ret = NULL;
  TRY(wire_array(body, key, ret, err));
  return *ret != NULL ? GLV_OK : FAIL(err, GLV_E_INVALID_INPUT, "'%s' is missing", key);
}

/* ---- rows ---- */

static glv_status insert_part(request *r, bool overwrites, glv_error *err) {
  const char *part = request_param_get(r, "upload_part_id");
  struct ArrowArrayStream rows;
  if (part == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the parameter 'upload_part_id' is missing");
  }
  TRY(request_arrow(r, &rows, err));
  TRY(multipart_add(r, request_param_get(r, "upload_id"), part, overwrites, &rows, err));
  return answer_json(r, 200, NULL, err);
}

static glv_status insert(request *r, glv_error *err) {
  const json *ignored = NULL;
  const char *mode = request_param_get(r, "mode");
  const bool overwrites = mode != NULL && strcmp(mode, "overwrite") == 0;
  struct ArrowArrayStream rows;
  glv_table *table = NULL;
  glv_write_options options = GLV_OPTIONS(glv_write_options);
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  if (mode != NULL && !overwrites && strcmp(mode, "append") != 0) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "the parameter 'mode' is 'append' or 'overwrite', not '%s'", mode);
  }
  TRY(table_body(r, &ignored, err));
  if (request_param_get(r, "upload_id") != NULL) {
    return insert_part(r, overwrites, err);
  }
  TRY(table_body_open_own(r, &table, err));
  TRY(request_arrow(r, &rows, err));
  options.cancel = r->cancel;
  const glv_status status = overwrites ? glv_table_overwrite(table, &rows, &options, &result, err)
                                       : glv_table_append(table, &rows, &options, &result, err);
  TRY(table_body_refused(r, status, err));
  const write_counts counts = {{"num_inserted_rows"}, {result.rows_inserted}};
  return table_body_wrote(r, &result, &counts, err);
}

/* ---- writes in several parts ---- */

static glv_status begin_parts(request *r, glv_error *err) {
  const json *ignored = NULL;
  const char *id = NULL;
  glv_table *table = NULL;
  TRY(table_body(r, &ignored, err));
  TRY(server_table_open(r, r->id, 0, &table, err));
  TRY(multipart_begin(r, &id, err));
  json *body = js_new_object();
  const glv_status status = wire_put_text(body, "upload_id", id, err);
  if (status != GLV_OK) {
    js_free(body);
    return status;
  }
  return answer_json(r, 200, body, err);
}

static glv_status read_upload(const request *r, const char **ret, glv_error *err) {
  *ret = request_param_get(r, "upload_id");
  return *ret != NULL ? GLV_OK
                      : FAIL(err, GLV_E_INVALID_INPUT, "the parameter 'upload_id' is missing");
}

static glv_status complete_as_job(request *r, const char *id, glv_error *err) {
  jobs_begun begun;
  TRY(jobs_begin_import(r, id, &begun, err));
  return jobs_answer(r, &begun, err);
}

static glv_status complete_parts(request *r, glv_error *err) {
  const char *in_background = request_param_get(r, WIRE_BACKGROUND);
  const json *ignored = NULL;
  const char *id = NULL;
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  TRY(table_body(r, &ignored, err));
  TRY(read_upload(r, &id, err));
  if (in_background != NULL && strcmp(in_background, "true") == 0) {
    return complete_as_job(r, id, err);
  }
  TRY(multipart_complete(r, id, &result, err));
  const write_counts counts = {{"num_inserted_rows"}, {result.rows_inserted}};
  return table_body_wrote(r, &result, &counts, err);
}

static glv_status abort_parts(request *r, glv_error *err) {
  const char *id = NULL;
  TRY(read_upload(r, &id, err));
  TRY(multipart_abort(r, id, err));
  return answer_json(r, 200, NULL, err);
}

/* ---- update, delete ---- */

static glv_status read_updates(request *r, const json *body, glv_pairs *ret, glv_error *err) {
  const json *updates = NULL;
  TRY(read_list(body, "updates", &updates, err));
  const size_t count = js_count(updates);
  glv_pair *pairs = ARENA_ARRAY(r->memory, glv_pair, count);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    const json *update_item = js_item(updates, i);
    TRY(wire_expect(update_item, JS_ARRAY, "an item of 'updates'", err));
    if (js_count(update_item) != 2) {
      return FAIL(err, GLV_E_INVALID_INPUT, "an item of 'updates' is [column, expression]");
    }
    TRY(wire_expect(js_item(update_item, 0), JS_STRING, "a column of 'updates'", err));
    TRY(wire_expect(js_item(update_item, 1), JS_STRING, "an expression of 'updates'", err));
    pairs[i] = (glv_pair){arena_strdup(r->memory, js_string(js_item(update_item, 0))),
                          arena_strdup(r->memory, js_string(js_item(update_item, 1)))};
    if (pairs[i].name == NULL || pairs[i].value == NULL) {
      return error_nomem(err, 0);
    }
  }
  *ret = (glv_pairs){pairs, count};
  return GLV_OK;
}

static glv_status update(request *r, glv_error *err) {
  const json *body = NULL;
  const char *predicate = NULL;
  glv_pairs updates;
  glv_table *table = NULL;
  glv_write_options options = GLV_OPTIONS(glv_write_options);
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  TRY(table_body(r, &body, err));
  TRY(wire_text(body, "predicate", &predicate, err));
  TRY(read_updates(r, body, &updates, err));
  TRY(table_body_open_own(r, &table, err));
  options.cancel = r->cancel;
  TRY(table_body_refused(r, glv_table_update(table, updates, predicate, &options, &result, err),
                         err));
  const write_counts counts = {{"rows_updated", "updated_rows"},
                               {result.rows_updated, result.rows_updated}};
  return table_body_wrote(r, &result, &counts, err);
}

static glv_status delete_rows(request *r, glv_error *err) {
  const json *body = NULL;
  const char *predicate = NULL;
  glv_table *table = NULL;
  glv_write_options options = GLV_OPTIONS(glv_write_options);
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  TRY(table_body(r, &body, err));
  TRY(wire_text_required(body, "predicate", &predicate, err));
  TRY(table_body_open_own(r, &table, err));
  options.cancel = r->cancel;
  TRY(table_body_refused(r, glv_table_delete(table, predicate, &options, &result, err), err));
  const write_counts counts = {{"num_deleted_rows"}, {result.rows_deleted}};
  return table_body_wrote(r, &result, &counts, err);
}

/* ---- merge ---- */

static glv_status read_keys(request *r, glv_strs *ret, glv_error *err) {
  const char **names = ARENA_ARRAY(r->memory, const char *, r->param_count);
  if (names == NULL) {
    return error_nomem(err, r->param_count * sizeof *names);
  }
  size_t count = 0;
  for (size_t i = 0; i < r->param_count; i++) {
    if (strcmp(r->params[i].name, "on") == 0) {
      names[count++] = r->params[i].value;
    }
  }
  *ret = (glv_strs){names, count}; /* none = the primary key of the schema */
  return GLV_OK;
}

static glv_status read_merge(request *r, glv_merge_options *ret, glv_error *err) {
  static const struct {
    const char *name;
    uint32_t flag;
  } clauses[] = {{"when_matched_update_all", GLV_MERGE_UPDATE},
                 {"when_not_matched_insert_all", GLV_MERGE_INSERT},
                 {"when_not_matched_by_source_delete", GLV_MERGE_DELETE}};
  TRY(read_keys(r, &ret->on, err));
  for (size_t i = 0; i < sizeof clauses / sizeof clauses[0]; i++) {
    bool is_set = false;
    TRY(request_param_bool(r, clauses[i].name, &is_set, err));
    ret->flags |= is_set ? clauses[i].flag : 0;
  }
  ret->update_if = request_param_get(r, "when_matched_update_all_filt");
  ret->delete_if = request_param_get(r, "when_not_matched_by_source_delete_filt");
  ret->cancel = r->cancel;
  return GLV_OK;
}

static glv_status merge(request *r, glv_error *err) {
  const json *ignored = NULL;
  struct ArrowArrayStream rows;
  glv_table *table = NULL;
  glv_merge_options options = GLV_OPTIONS(glv_merge_options);
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  TRY(table_body(r, &ignored, err));
  TRY(read_merge(r, &options, err));
  TRY(table_body_open_own(r, &table, err));
  TRY(request_arrow(r, &rows, err));
  TRY(table_body_refused(r, glv_table_merge(table, &rows, &options, &result, err), err));
  const write_counts counts = {
      {"num_inserted_rows", "num_updated_rows", "num_deleted_rows", "num_rows"},
      {result.rows_inserted, result.rows_updated, result.rows_deleted,
       result.rows_inserted + result.rows_updated}};
  return table_body_wrote(r, &result, &counts, err);
}

/* ---- columns ---- */

static glv_status add_null_columns(request *r, glv_table *table, const glv_write_options *options,
                                   glv_write_result *ret, glv_error *err) {
  struct ArrowArrayStream rows;
  struct ArrowSchema columns = {0};
  TRY(request_arrow(r, &rows, err));
  const int code = rows.get_schema(&rows, &columns);
  rows.release(&rows);
  if (code != 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the body has no schema");
  }
  const glv_status status = glv_table_add_null_columns(table, &columns, options, ret, err);
  columns.release(&columns);
  return status;
}

static glv_status read_columns(request *r, const json *body, glv_pairs *ret, glv_error *err) {
  const json *list = NULL;
  TRY(read_list(body, "new_columns", &list, err));
  const size_t count = js_count(list);
  glv_pair *pairs = ARENA_ARRAY(r->memory, glv_pair, count);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    const json *item = js_item(list, i);
    TRY(wire_expect(item, JS_OBJECT, "an item of 'new_columns'", err));
    if (js_member(item, "computed") != NULL || js_member(item, "function") != NULL) {
      return FAIL(err, GLV_E_UNSUPPORTED, "computed columns are not offered");
    }
    TRY(wire_text_required(item, "name", &pairs[i].name, err));
    TRY(wire_text_required(item, "expression", &pairs[i].value, err));
  }
  *ret = (glv_pairs){pairs, count};
  return GLV_OK;
}

static glv_status add_columns(request *r, glv_error *err) {
  const json *body = NULL;
  glv_pairs columns;
  glv_table *table = NULL;
  glv_write_options options = GLV_OPTIONS(glv_write_options);
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  TRY(table_body(r, &body, err));
  TRY(table_body_open_own(r, &table, err));
  options.cancel = r->cancel;
  if (body == NULL) {
    TRY(table_body_refused(r, add_null_columns(r, table, &options, &result, err), err));
  } else {
    TRY(read_columns(r, body, &columns, err));
    TRY(table_body_refused(r, glv_table_add_columns(table, columns, &options, &result, err), err));
  }
  return table_body_wrote(r, &result, NULL, err);
}

/* The library spells types as SQL does, bodies as schemas do. */
static glv_status put_alteration(request *r, const json *item, json *into, glv_error *err) {
  const json *kind = NULL;
  CLEANUP(js_cleanup) json *change = js_copy(item);
  TRY(wire_expect(item, JS_OBJECT, "an item of 'alterations'", err));
  TRY(wire_object(item, "data_type", &kind, err));
  if (kind != NULL) {
    const type *t = NULL;
    CLEANUP(buf_dispose) buf text;
    buf_init(&text, r->env, SIZE_MAX / 2);
    TRY(wire_type_read(r->memory, kind, &t, err));
    TRY(type_print(t, &text, err));
    TRY(js_put(change, "data_type", js_new_string(buf_str(&text)), err));
  }
  json *taken = change;
  change = NULL;
  return js_push(into, taken, err);
}

static glv_status alter_columns(request *r, glv_error *err) {
  const json *body = NULL;
  const json *list = NULL;
  glv_table *table = NULL;
  glv_write_options options = GLV_OPTIONS(glv_write_options);
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  CLEANUP(js_cleanup) json *changes = js_new_array();
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, r->env, SIZE_MAX / 2);
  TRY(table_body(r, &body, err));
  TRY(read_list(body, "alterations", &list, err));
  for (size_t i = 0; i < js_count(list); i++) {
    TRY(put_alteration(r, js_item(list, i), changes, err));
  }
  TRY(js_print(changes, 0, 0, &text, err));
  TRY(table_body_open_own(r, &table, err));
  options.cancel = r->cancel;
  TRY(table_body_refused(r, glv_table_alter_columns(table, text.data, &options, &result, err),
                         err));
  return table_body_wrote(r, &result, NULL, err);
}

static glv_status drop_columns(request *r, glv_error *err) {
  const json *body = NULL;
  const json *list = NULL;
  glv_strs columns = {0};
  glv_table *table = NULL;
  glv_write_options options = GLV_OPTIONS(glv_write_options);
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  TRY(table_body(r, &body, err));
  TRY(read_list(body, "columns", &list, err));
  TRY(wire_texts(r->memory, body, "columns", &columns.items, &columns.count, err));
  TRY(table_body_open_own(r, &table, err));
  options.cancel = r->cancel;
  TRY(table_body_refused(r, glv_table_drop_columns(table, columns, &options, &result, err), err));
  return table_body_wrote(r, &result, NULL, err);
}

const route data_routes[] = {
    {"/v1/table/{id}/insert", ROUTE_POST | ROUTE_ARROW | ROUTE_SERIAL, ACCESS_WRITE, insert,
     "Append rows."},
    {"/v1/table/{id}/multipart_write/create", ROUTE_POST | ROUTE_SERIAL, ACCESS_WRITE, begin_parts,
     "Begin a write in several parts."},
    {"/v1/table/{id}/multipart_write/complete", ROUTE_POST | ROUTE_SERIAL, ACCESS_WRITE,
     complete_parts, "Commit all parts."},
    {"/v1/table/{id}/multipart_write/abort", ROUTE_POST | ROUTE_SERIAL, ACCESS_WRITE, abort_parts,
     "Give up a write in several parts."},
    {"/v1/table/{id}/update", ROUTE_POST | ROUTE_SERIAL, ACCESS_WRITE, update,
     "Set columns of rows."},
    {"/v1/table/{id}/delete", ROUTE_POST | ROUTE_SERIAL, ACCESS_WRITE, delete_rows, "Delete rows."},
    {"/v1/table/{id}/merge_insert", ROUTE_POST | ROUTE_ARROW | ROUTE_SERIAL, ACCESS_WRITE, merge,
     "Merge rows by key."},
    {"/v1/table/{id}/add_columns", ROUTE_POST | ROUTE_ARROW | ROUTE_SERIAL, ACCESS_WRITE,
     add_columns, "Add columns."},
    {"/v1/table/{id}/alter_columns", ROUTE_POST | ROUTE_SERIAL, ACCESS_WRITE, alter_columns,
     "Rename columns, change types."},
    {"/v1/table/{id}/drop_columns", ROUTE_POST | ROUTE_SERIAL, ACCESS_WRITE, drop_columns,
     "Drop columns."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
