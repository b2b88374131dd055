/* Routes of the life of tables (rest-protocol.md 7.1 to 7.3). */
#include <glaive/place.h>

#include "arrow/cdata.h"
#include "server/jobs.h"
#include "server/routes.h"
#include "server/server_private.h"
#include "server/table_body.h"
#include "server/tables.h"
#include "wire/members.h"
#include "wire/schema.h"

/* ---- create ---- */

static glv_status read_mode(const request *r, int32_t *ret, glv_error *err) {
  static const struct {
    const char *word;
    int32_t mode;
  } modes[] = {{"create", GLV_TABLE_CREATE},
               {"overwrite", GLV_TABLE_OVERWRITE},
               {"exist_ok", GLV_TABLE_EXIST_OK}};
  const char *word = request_param_get(r, "mode");
  *ret = GLV_TABLE_CREATE;
  for (size_t i = 0; word != NULL && i < sizeof modes / sizeof modes[0]; i++) {
    if (strcmp(word, modes[i].word) == 0) {
      *ret = modes[i].mode;
      return GLV_OK;
    }
  }
  return word == NULL
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT,
                    "the parameter 'mode' is 'create', 'overwrite' or 'exist_ok', not '%s'", word);
}

/* {"location", "version"} of a table of this request. */
static glv_status answer_table(request *r, glv_table *table, glv_error *err) {
  CLEANUP(js_cleanup) json *described = NULL;
  CLEANUP(js_cleanup) json *body = js_new_object();
  const char *location = NULL;
  TRY(table_body_describe(table, &described, err));
  TRY(wire_text(described, "location", &location, err));
  TRY(wire_put_text(body, "location", location, err));
  TRY(wire_put_uint(body, "version", glv_table_version(table), err));
  TRY(table_body_version(r, glv_table_version(table), err));
  json *taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

/* A parameter that is a JSON object as text. *ret: NULL when it is absent; the caller's. */
static glv_status json_param(const request *r, const char *name, json **ret, glv_error *err) {
  const char *text = request_param_get(r, name);
  glv_error wrong;
  if (text == NULL) {
    return GLV_OK;
  }
  if (js_parse(str_of(text), ret, &wrong) != GLV_OK) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the parameter '%s' is not JSON: %s", name,
                wrong.message);
  }
  return wire_expect(*ret, JS_OBJECT, name, err);
}

static glv_status read_properties(request *r, glv_table_options *ret, glv_error *err) {
  CLEANUP(js_cleanup) json *map = NULL;
  TRY(json_param(r, "properties", &map, err));
  return request_pairs(r, map, "a property", &ret->properties, err);
}

/* The options of LanceDB that say what a new table is made of; others are for its own storage. */
static glv_status read_storage(request *r, glv_table_options *ret, glv_error *err) {
  CLEANUP(js_cleanup) json *map = NULL;
  const char *row_ids = "true";
  const char *version = NULL;
  TRY(json_param(r, "storage_options", &map, err));
  if (map == NULL) {
    return GLV_OK;
  }
  TRY(wire_text(map, "new_table_enable_stable_row_ids", &row_ids, err));
  TRY(wire_text(map, "new_table_data_storage_version", &version, err));
  ret->flags |= strcmp(row_ids, "false") == 0 ? GLV_TABLE_NO_STABLE_ROW_IDS : 0;
  ret->storage_version = version != NULL ? arena_strdup(r->memory, str_of(version)) : NULL;
  return version == NULL || ret->storage_version != NULL ? GLV_OK : error_nomem(err, 0);
}

static glv_status create(request *r, glv_error *err) {
  struct ArrowArrayStream rows;
  glv_table_options options = GLV_OPTIONS(glv_table_options);
  glv_table *table = NULL;
  TRY(read_mode(r, &options.mode, err));
  TRY(read_properties(r, &options, err));
  TRY(read_storage(r, &options, err));
  TRY(jobs_await_name(r, err));
  TRY(request_arrow(r, &rows, err));
  options.cancel = r->cancel;
  TRY(glv_table_create(r->server->conn, r->id, &rows, &options, &table, err));
  const named_number version = {"version", glv_table_version(table)};
  const glv_status status = answer_table(r, table, NULL);
  glv_table_free(table);
  /* What was made is not answered with a failure: without memory there is less to say. */
  return status == GLV_OK ? GLV_OK : answer_numbers(r, &version, 1, err);
}

/* ---- describe, exists ---- */

static glv_status put_schema(json *body, glv_table *table, glv_env *env, glv_error *err) {
  struct ArrowSchema foreign = {0};
  CLEANUP(schema_cleanup) schema *s = NULL;
  json *node = NULL;
  TRY(glv_table_schema(table, &foreign, err));
  const glv_status status = cdata_import_schema(env, &foreign, &s, err);
  foreign.release(&foreign);
  TRY(status);
  TRY(wire_schema_write(s, &node, err));
  return js_put(body, "schema", node, err);
}

static glv_status put_stats(json *body, const json *described, glv_error *err) {
  uint64_t deleted = 0;
  uint64_t fragments = 0;
  CLEANUP(js_cleanup) json *stats = js_new_object();
  TRY(wire_uint(described, "deleted_rows", &deleted, err));
  TRY(wire_uint(described, "fragments", &fragments, err));
  TRY(wire_put_uint(stats, "num_deleted_rows", deleted, err));
  TRY(wire_put_uint(stats, "num_fragments", fragments, err));
  json *taken = stats;
  stats = NULL;
  return js_put(body, "stats", taken, err);
}

/* detailed: with all that the library tells, for our own client. */
static glv_status put_described(request *r, glv_table *table, bool detailed, json *body,
                                glv_error *err) {
  CLEANUP(js_cleanup) json *described = NULL;
  const char *location = NULL;
  TRY(table_body_describe(table, &described, err));
  TRY(wire_text(described, "location", &location, err));
  TRY(wire_put_text(body, "table", r->id.parts[r->id.count - 1], err));
  TRY(wire_put_texts(body, "namespace", r->id.parts, r->id.count - 1, err));
  TRY(wire_put_uint(body, "version", glv_table_version(table), err));
  TRY(wire_put_text(body, "location", location, err));
  TRY(wire_put_text(body, "table_uri", location, err));
  TRY(put_schema(body, table, r->env, err));
  TRY(put_stats(body, described, err));
  TRY(js_put(body, "properties", js_new_object(), err));
  TRY(detailed ? js_put(body, "details", js_copy(described), err) : GLV_OK);
  return wire_put_bool(body, "is_only_declared", false, err);
}

static glv_status open_described(request *r, glv_table **ret, bool *ret_detailed, glv_error *err) {
  const json *body = NULL;
  glv_open_options options = GLV_OPTIONS(glv_open_options);
  TRY(table_body(r, &body, err));
  TRY(wire_bool(body, "load_detailed_metadata", ret_detailed, err));
  TRY(wire_text(body, "tag", &options.tag, err));
  if (options.tag == NULL) {
    return table_body_open(r, body, ret, err);
  }
  TRY(server_table_open_own(r, r->id, &options, ret, err));
  return table_body_version(r, glv_table_version(*ret), err);
}

static glv_status locate(request *r, const char **ret, int *ret_is_declared, glv_error *err) {
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  glv_buf location = {0};
  options.cancel = r->cancel;
  TRY(glv_table_locate(r->server->conn, r->id, &options, &location, ret_is_declared, err));
  *ret = arena_strdup(r->memory, str_slice(location.data, location.size));
  glv_buf_dispose(&location);
  return *ret != NULL ? GLV_OK : error_nomem(err, 0);
}

/* A name without data has neither version nor schema. */
static glv_status describe_declared(request *r, const char *location, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_text(body, "table", r->id.parts[r->id.count - 1], err));
  TRY(wire_put_texts(body, "namespace", r->id.parts, r->id.count - 1, err));
  TRY(wire_put_text(body, "location", location, err));
  TRY(wire_put_text(body, "table_uri", location, err));
  TRY(wire_put_bool(body, "is_only_declared", true, err));
  json *taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

static glv_status describe(request *r, glv_error *err) {
  glv_table *table = NULL;
  str known;
  const char *location = NULL;
  int is_declared = 0;
  CLEANUP(js_cleanup) json *body = js_new_object();
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, r->env, SIZE_MAX / 2);
  bool detailed = false;
  const glv_status status = open_described(r, &table, &detailed, err);
  if (status == GLV_E_TABLE_NOT_FOUND && locate(r, &location, &is_declared, NULL) == GLV_OK &&
      is_declared) {
    return describe_declared(r, location, err);
  }
  TRY(status);
  if (!detailed && server_table_recall(r, table, &known)) {
    return answer_bytes(r, 200, "application/json", known, err);
  }
  TRY(put_described(r, table, detailed, body, err));
  TRY(js_print(body, 0, 0, &text, err));
  if (!detailed) {
    server_table_remember(r, table, buf_str(&text));
  }
  return answer_bytes(r, 200, "application/json", buf_str(&text), err);
}

static glv_status exists(request *r, glv_error *err) {
  const char *location;
  TRY(locate(r, &location, NULL, err));
  return answer_json(r, 200, NULL, err);
}

/* ---- declare, register, deregister ---- */

static glv_status answer_location(request *r, glv_buf *location, const json *properties,
                                  glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  const char *text = arena_strdup(r->memory, str_slice(location->data, location->size));
  glv_buf_dispose(location);
  if (text == NULL) {
    return error_nomem(err, 0);
  }
  TRY(wire_put_text(body, "location", text, err));
  TRY(wire_put_texts(body, "id", r->id.parts, r->id.count, err));
  TRY(js_put(body, "properties", properties != NULL ? js_copy(properties) : js_new_null(), err));
  json *taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

static glv_status declare(request *r, glv_error *err) {
  const json *body = NULL;
  const json *map = NULL;
  glv_pairs properties = {NULL, 0};
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  glv_buf location = {0};
  TRY(table_body(r, &body, err));
  TRY(wire_object(body, "properties", &map, err));
  TRY(request_pairs(r, map, "a property", &properties, err));
  TRY(jobs_await_name(r, err));
  options.cancel = r->cancel;
  TRY(request_name_taken(
      glv_table_declare(r->server->conn, r->id, properties, &options, &location, err), err));
  return answer_location(r, &location, map, err);
}

static glv_status register_table(request *r, glv_error *err) {
  const json *body = NULL;
  const char *wanted = NULL;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  glv_buf location = {0};
  TRY(table_body(r, &body, err));
  TRY(wire_text_required(body, "location", &wanted, err));
  TRY(jobs_await_name(r, err));
  options.cancel = r->cancel;
  TRY(request_name_taken(
      glv_table_register(r->server->conn, r->id, wanted, &options, &location, err), err));
  return answer_location(r, &location, NULL, err);
}

static glv_status deregister(request *r, glv_error *err) {
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  glv_buf location = {0};
  TRY(jobs_check_name(r->server->jobs, r->id, err));
  TRY(jobs_stop_view(r, err));
  server_table_forget(r, r->id);
  options.cancel = r->cancel;
  TRY(glv_table_deregister(r->server->conn, r->id, &options, &location, err));
  return answer_location(r, &location, NULL, err);
}

/* ---- drop ---- */

static glv_status drop(request *r, glv_error *err) {
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  CLEANUP(js_cleanup) json *body = js_new_object();
  options.cancel = r->cancel;
  TRY(jobs_check_name(r->server->jobs, r->id, err));
  TRY(wire_put_texts(body, "id", r->id.parts, r->id.count, err));
  TRY(jobs_stop_view(r, err));
  server_table_forget(r, r->id);
  TRY(glv_table_drop(r->server->conn, r->id, &options, err));
  json *taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

const route table_routes[] = {
    {"/v1/table/{id}/create", ROUTE_POST | ROUTE_ARROW | ROUTE_SERIAL, ACCESS_WRITE, create,
     "Create a table from Arrow data."},
    {"/v1/table/{id}/describe", ROUTE_POST, ACCESS_READ, describe,
     "Version, columns and place of a table."},
    {"/v1/table/{id}/exists", ROUTE_POST, ACCESS_READ, exists, "Whether a table exists."},
    {"/v1/table/{id}/declare", ROUTE_POST, ACCESS_WRITE, declare,
     "Reserve a name for a table that is filled later."},
    {"/v1/table/{id}/register", ROUTE_POST, ACCESS_WRITE, register_table,
     "Give a name to data that are there."},
    {"/v1/table/{id}/deregister", ROUTE_POST, ACCESS_WRITE, deregister,
     "Take the name of a table away, and leave its data."},
    {"/v1/table/{id}/drop", ROUTE_POST, ACCESS_WRITE, drop, "Drop a table with its data."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
