/* Tables of routes and openapi.json become one document. */
#include "server/openapi.h"

#include "base/arena.h"
#include "server/router.h"

#define ROWS_TYPE "application/vnd.apache.arrow.stream"

extern const unsigned char openapi_json[]; /* made from openapi.json */
extern const size_t openapi_json_size;

str openapi_source(void) { return str_slice((const char *)openapi_json, openapi_json_size); }

/* One operation while it is written. */
typedef struct writer {
  arena *memory;
  const json *source;
  const route *route;
  const char *method; /* "get" or "post" */
  const json *entry;  /* of source */
  json *operation;
} writer;

/* Put an object or array that was built into another; it is taken over also on failure. */
static glv_status put_built(json *into, const char *key, json **built, glv_error *err) {
  json *taken = *built;
  *built = NULL;
  return js_put(into, key, taken, err);
}

static glv_status put_text(json *into, const char *key, const char *text, glv_error *err) {
  return text != NULL ? js_put(into, key, js_new_string(str_of(text)), err) : error_nomem(err, 0);
}

/* {"$ref": "#/components/KIND/NAME"} */
static json *new_reference(arena *memory, const char *kind, str name) {
  const char *text = arena_printf(memory, "#/components/%s/%.*s", kind, STR_ARG(name));
  json *reference = js_new_object();
  if (put_text(reference, "$ref", text, NULL) != GLV_OK) {
    js_free(reference);
    return NULL;
  }
  return reference;
}

/* ---- parameters ---- */

static glv_status push_parameter(const writer *w, json *into, str name, glv_error *err) {
  return js_push(into, new_reference(w->memory, "parameters", name), err);
}

static glv_status put_parameters(const writer *w, glv_error *err) {
  CLEANUP(js_cleanup) json *list = js_new_array();
  const json *params = js_member(w->entry, "params");
  const bool has_id = strstr(w->route->pattern, "{id}") != NULL;
  if (has_id) {
    TRY(push_parameter(w, list, STR("id"), err));
  }
  if (strstr(w->route->pattern, "{name}") != NULL) {
    TRY(push_parameter(w, list, STR("name"), err));
  }
  for (size_t i = 0; params != NULL && i < js_count(params); i++) {
    TRY(push_parameter(w, list, js_string(js_item(params, i)), err));
  }
  if (has_id) {
    TRY(push_parameter(w, list, STR("delimiter"), err));
  }
  return js_count(list) > 0 ? put_built(w->operation, "parameters", &list, err) : GLV_OK;
}

/* ---- bodies ---- */

/* Into "content": a schema, as JSON; or bytes of the content type that node names. */
static glv_status put_content(json *content, const json *node, glv_error *err) {
  CLEANUP(js_cleanup) json *media = js_new_object();
  const bool is_json = js_kind_of(node) == JS_OBJECT;
  if (is_json) {
    TRY(js_put(media, "schema", js_copy(node), err));
  }
  json *taken = media;
  media = NULL;
  return js_put_str(content, is_json ? STR("application/json") : js_string(node), taken, err);
}

static glv_status put_request(const writer *w, glv_error *err) {
  const json *body = js_member(w->entry, "body");
  const json *rows = js_member(w->entry, "or_rows");
  if (body == NULL) {
    return GLV_OK;
  }
  CLEANUP(js_cleanup) json *request_body = js_new_object();
  CLEANUP(js_cleanup) json *content = js_new_object();
  CLEANUP(js_cleanup) json *rows_type = js_new_string(STR(ROWS_TYPE));
  TRY(put_content(content, body, err));
  if (rows != NULL) {
    TRY(put_content(content, rows_type, err));
    TRY(js_put(request_body, "description", js_copy(rows), err));
  }
  TRY(put_built(request_body, "content", &content, err));
  const bool is_needed = js_kind_of(body) == JS_STRING || js_member(body, "required") != NULL;
  TRY(js_put(request_body, "required", js_new_bool(is_needed), err));
  return put_built(w->operation, "requestBody", &request_body, err);
}

/* ---- answers ---- */

static glv_status put_answer(json *responses, str status, const json *node, glv_error *err) {
  CLEANUP(js_cleanup) json *response = js_new_object();
  CLEANUP(js_cleanup) json *content = js_new_object();
  TRY(put_text(response, "description", str_is(status, "200") ? "Done." : "It has begun.", err));
  const bool is_one = js_kind_of(node) != JS_ARRAY; /* else: the client chooses */
  for (size_t i = 0; i < (is_one ? 1 : js_count(node)); i++) {
    TRY(put_content(content, is_one ? node : js_item(node, i), err));
  }
  TRY(put_built(response, "content", &content, err));
  json *taken = response;
  response = NULL;
  return js_put_str(responses, status, taken, err);
}

static glv_status put_error(const writer *w, json *responses, int64_t status, glv_error *err) {
  const char *text = arena_printf(w->memory, "%lld", (long long)status);
  return text != NULL
             ? js_put(responses, text, new_reference(w->memory, "responses", str_of(text)), err)
             : error_nomem(err, 0);
}

static glv_status put_responses(const writer *w, glv_error *err) {
  static const int every[] = {400, 413, 500, 503};
  static const int with_key[] = {401, 403};
  CLEANUP(js_cleanup) json *responses = js_new_object();
  const json *answers = js_member(w->entry, "answers");
  const json *errors = js_member(w->entry, "errors");
  for (size_t i = 0; i < js_count(answers); i++) {
    str status;
    const json *node = js_member_at(answers, i, &status);
    TRY(put_answer(responses, status, node, err));
  }
  for (size_t i = 0; i < sizeof every / sizeof every[0]; i++) {
    TRY(put_error(w, responses, every[i], err));
  }
  for (size_t i = 0; (w->route->flags & ROUTE_OPEN) == 0 && i < 2; i++) {
    TRY(put_error(w, responses, with_key[i], err));
  }
  for (size_t i = 0; i < js_count(errors); i++) {
    TRY(put_error(w, responses, js_int(js_item(errors, i)), err));
  }
  return put_built(w->operation, "responses", &responses, err);
}

/* ---- operations ---- */

/* The words of the pattern after the version, joined by "_"; a GET beside a POST says so. */
static glv_status put_name(const writer *w, glv_error *err) {
  const bool has_both = (w->route->flags & (ROUTE_GET | ROUTE_POST)) == (ROUTE_GET | ROUTE_POST);
  const char *from = w->route->pattern;
  from += str_starts_with(str_of(from), STR("/v1/")) ? strlen("/v1/") : 1;
  char *name = arena_printf(w->memory, "%s%s", from,
                            has_both && strcmp(w->method, "get") == 0 ? "_get" : "");
  if (name == NULL) {
    return error_nomem(err, 0);
  }
  size_t size = 0;
  for (size_t i = 0; name[i] != '\0'; i++) {
    if (name[i] == '/' && (name[i + 1] == '{' || size == 0)) {
      continue;
    }
    if (name[i] != '{' && name[i] != '}') {
      name[size++] = name[i] == '/' || name[i] == '.' ? '_' : name[i];
    } else if (name[i] == '{') {
      i += strcspn(name + i, "}");
    }
  }
  name[size] = '\0';
  return put_text(w->operation, "operationId", size > 0 ? name : "root", err);
}

static glv_status put_access(const writer *w, glv_error *err) {
  static const char *const scopes[] = {"none", "read", "write", "admin"};
  if ((w->route->flags & ROUTE_OPEN) != 0) {
    return js_put(w->operation, "security", js_new_array(), err);
  }
  return put_text(w->operation, "x-scope", scopes[w->route->scope], err);
}

static glv_status put_operation(writer *w, const json *tag, json *path_item, glv_error *err) {
  CLEANUP(js_cleanup) json *operation = js_new_object();
  CLEANUP(js_cleanup) json *tags = js_new_array();
  const char *key =
      arena_printf(w->memory, "%s %s", w->method[0] == 'g' ? "GET" : "POST", w->route->pattern);
  if (key == NULL) {
    return error_nomem(err, 0);
  }
  w->operation = operation;
  w->entry = js_member(js_member(w->source, "routes"), key);
  if (w->entry == NULL) {
    return FAIL(err, GLV_E_INTERNAL, "openapi.json does not describe the route '%s'", key);
  }
  TRY(js_push(tags, js_copy(js_member(tag, "name")), err));
  TRY(put_built(operation, "tags", &tags, err));
  TRY(put_text(operation, "summary", w->route->summary, err));
  TRY(put_name(w, err));
  TRY(put_access(w, err));
  TRY(put_parameters(w, err));
  TRY(put_request(w, err));
  TRY(put_responses(w, err));
  return put_built(path_item, w->method, &operation, err);
}

/* One pattern is one path, and may stand in several routes. */
static glv_status put_route(writer *w, const json *tag, json *paths, glv_error *err) {
  const json *earlier = js_member(paths, w->route->pattern);
  CLEANUP(js_cleanup) json *path_item = earlier != NULL ? js_copy(earlier) : js_new_object();
  w->method = "get";
  TRY((w->route->flags & ROUTE_GET) != 0 ? put_operation(w, tag, path_item, err) : GLV_OK);
  w->method = "post";
  TRY((w->route->flags & ROUTE_POST) != 0 ? put_operation(w, tag, path_item, err) : GLV_OK);
  return put_built(paths, w->route->pattern, &path_item, err);
}

static glv_status put_paths(arena *memory, const json *source, json *document, glv_error *err) {
  CLEANUP(js_cleanup) json *paths = js_new_object();
  for (size_t t = 0; router_table(t) != NULL; t++) {
    for (const route *one = router_table(t); one->pattern != NULL; one++) {
      writer w = {.memory = memory, .source = source, .route = one};
      TRY(put_route(&w, js_item(js_member(source, "tags"), t), paths, err));
    }
  }
  return put_built(document, "paths", &paths, err);
}

/* Either of the ways to say a key. */
static glv_status put_security(json *document, const json *source, glv_error *err) {
  const json *schemes = js_member(js_member(source, "components"), "securitySchemes");
  CLEANUP(js_cleanup) json *ways = js_new_array();
  for (size_t i = 0; i < js_count(schemes); i++) {
    str name;
    (void)js_member_at(schemes, i, &name);
    CLEANUP(js_cleanup) json *way = js_new_object();
    TRY(js_put_str(way, name, js_new_array(), err));
    json *taken = way;
    way = NULL;
    TRY(js_push(ways, taken, err));
  }
  return put_built(document, "security", &ways, err);
}

glv_status openapi_document(glv_env *env, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *source = NULL;
  CLEANUP(js_cleanup) json *document = js_new_object();
  CLEANUP(js_cleanup) json *info = NULL;
  CLEANUP(arena_dispose) arena memory;
  arena_init(&memory, env);
  TRY(js_parse(openapi_source(), &source, err));
  info = js_copy(js_member(source, "info"));
  TRY(put_text(document, "openapi", "3.1.0", err));
  TRY(put_text(info, "version", GLAIVE_VERSION, err));
  TRY(put_built(document, "info", &info, err));
  TRY(put_security(document, source, err));
  TRY(js_put(document, "tags", js_copy(js_member(source, "tags")), err));
  TRY(put_paths(&memory, source, document, err));
  TRY(js_put(document, "components", js_copy(js_member(source, "components")), err));
  *ret = document;
  document = NULL;
  return GLV_OK;
}
