/* Routes of namespaces (rest-protocol.md 6). */
#include "base/checked.h"
#include "server/name_list.h"
#include "server/routes.h"
#include "server/server_private.h"
#include "wire/members.h"

/* ---- words ---- */

/* Words of modes differ in case and underscores. */
static bool is_word(const char *given, const char *word) {
  for (; *given != '\0'; given++) {
    if (*given == '_') {
      continue;
    }
    const char lower = *given >= 'A' && *given <= 'Z' ? (char)(*given + 32) : *given;
    if (lower != *word++) {
      return false;
    }
  }
  return *word == '\0';
}

static glv_status wrong_word(const char *key, const char *given, glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT, "'%s' cannot be '%s' here", key, given);
}

/* ---- create ---- */

static glv_status read_properties(request *r, const json *body, glv_pairs *ret, glv_error *err) {
  const json *map = NULL;
  TRY(wire_object(body, "properties", &map, err));
  return request_pairs(r, map, "a property", ret, err);
}

/* {"properties": ...} */
static glv_status answer_properties(request *r, glv_error *err) {
  glv_buf text = {0};
  CLEANUP(js_cleanup) json *described = NULL;
  TRY(glv_namespace_describe(r->server->conn, r->id, NULL, &text, err));
  const glv_status status = js_parse(str_slice(text.data, text.size), &described, err);
  glv_buf_dispose(&text);
  TRY(status);
  const json *properties = js_member(described, "properties");
  json *body = js_new_object();
  TRY(js_put(body, "properties", properties != NULL ? js_copy(properties) : js_new_object(), err));
  return answer_json(r, 200, body, err);
}

static glv_status create(request *r, glv_error *err) {
  const json *body = NULL;
  const char *mode = "create";
  glv_pairs properties = {0};
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  TRY(request_json(r, &body, err));
  TRY(wire_text(body, "mode", &mode, err));
  TRY(read_properties(r, body, &properties, err));
  if (is_word(mode, "existok")) {
    options.flags = GLV_CALL_IF_NEEDED;
  } else if (!is_word(mode, "create")) {
    return wrong_word("mode", mode, err);
  }
  const glv_status status = glv_namespace_create(r->server->conn, r->id, properties, &options, err);
  if (status == GLV_E_NAMESPACE_EXISTS) {
    err->http_status = 409; /* nobody repeats it */
  }
  TRY(status);
  return answer_properties(r, err);
}

static glv_status describe(request *r, glv_error *err) { return answer_properties(r, err); }

static glv_status exists(request *r, glv_error *err) {
  glv_buf text = {0};
  TRY(glv_namespace_describe(r->server->conn, r->id, NULL, &text, err));
  glv_buf_dispose(&text);
  return answer_json(r, 200, NULL, err);
}

/* ---- drop ---- */

static glv_status drop(request *r, glv_error *err) {
  const json *body = NULL;
  const char *mode = "fail";
  const char *behavior = "restrict";
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  TRY(request_json(r, &body, err));
  TRY(wire_text(body, "mode", &mode, err));
  TRY(wire_text(body, "behavior", &behavior, err));
  if (!is_word(mode, "fail") && !is_word(mode, "skip")) {
    return wrong_word("mode", mode, err);
  }
  if (!is_word(behavior, "restrict") && !is_word(behavior, "cascade")) {
    return wrong_word("behavior", behavior, err);
  }
  options.flags = (is_word(mode, "skip") ? GLV_CALL_IF_NEEDED : 0) |
                  (is_word(behavior, "cascade") ? GLV_CALL_CASCADE : 0);
  options.cancel = r->cancel;
  const glv_status status = glv_namespace_drop(r->server->conn, r->id, &options, err);
  if (status == GLV_E_NAMESPACE_NOT_EMPTY) {
    err->http_status = 409;
  }
  TRY(status);
  return answer_json(r, 200, NULL, err);
}

/* ---- lists ---- */

static bool shows_child(request *r, glv_id id) { return request_shows(r, id); }
static bool shows_table(request *r, glv_id id) {
  return request_covers(r, (glv_id){id.parts, id.count - 1});
}

static glv_status list_children(request *r, glv_error *err) {
  return name_list_answer(r, r->id, glv_namespace_list, "namespaces", shows_child, err);
}
static glv_status list_tables(request *r, glv_error *err) {
  return name_list_answer(r, r->id, glv_table_list, "tables", shows_table, err);
}
static glv_status list_root(request *r, glv_error *err) {
  return name_list_answer(r, (glv_id){NULL, 0}, glv_table_list, "tables", shows_table, err);
}

const route namespace_routes[] = {
    {"/v1/namespace/{id}/create", ROUTE_POST, ACCESS_WRITE, create, "Create a namespace."},
    {"/v1/namespace/{id}/describe", ROUTE_POST | ROUTE_LIST, ACCESS_READ, describe,
     "The properties of a namespace."},
    {"/v1/namespace/{id}/exists", ROUTE_POST | ROUTE_LIST, ACCESS_READ, exists,
     "Whether a namespace exists."},
    {"/v1/namespace/{id}/drop", ROUTE_POST, ACCESS_WRITE, drop, "Drop a namespace."},
    {"/v1/namespace/{id}/list", ROUTE_GET | ROUTE_LIST, ACCESS_READ, list_children,
     "The namespaces of a namespace."},
    {"/v1/namespace/{id}/table/list", ROUTE_GET | ROUTE_LIST, ACCESS_READ, list_tables,
     "The tables of a namespace."},
    {"/v1/table", ROUTE_GET | ROUTE_LIST, ACCESS_READ, list_root, "The tables of the root."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
