/* Namespaces, and the pages of all lists of names. */
#include "remote/list.h"
#include "remote/remote_private.h"
#include "wire/members.h"
#include "wire/view.h"

static const route create_route = {"/v1/namespace/{id}/create", ROUTE_CHANGES,
                                   GLV_E_NAMESPACE_NOT_FOUND, NULL};
static const route describe_route = {"/v1/namespace/{id}/describe", 0, GLV_E_NAMESPACE_NOT_FOUND,
                                     NULL};
static const route drop_route = {"/v1/namespace/{id}/drop", ROUTE_CHANGES,
                                 GLV_E_NAMESPACE_NOT_FOUND, NULL};
static const list_route namespaces = {
    {"/v1/namespace/{id}/list", ROUTE_GET, GLV_E_NAMESPACE_NOT_FOUND, NULL}, "namespaces", true};
static const list_route tables = {
    {"/v1/namespace/{id}/table/list", ROUTE_GET | ROUTE_REPEATS, GLV_E_NAMESPACE_NOT_FOUND, NULL},
    "tables",
    true};

static glv_status put_properties(json *body, glv_pairs properties, glv_error *err) {
  if (properties.count == 0) {
    return GLV_OK;
  }
  CLEANUP(js_cleanup) json *map = js_new_object();
  for (size_t i = 0; i < properties.count; i++) {
    TRY(wire_put_text(map, properties.items[i].name, properties.items[i].value, err));
  }
  json *taken = map;
  map = NULL;
  return js_put(body, "properties", taken, err);
}

glv_status remote_namespace_create(glv_conn *conn, glv_id ns, glv_pairs properties,
                                   const glv_call_options *options, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(call_begin(&c, &conn_of(conn)->http, &create_route, target_of(ns), options->cancel, err));
  c.body = js_new_object();
  TRY(put_properties(c.body, properties, err));
  if ((options->flags & GLV_CALL_IF_NEEDED) != 0) {
    TRY(wire_put_text(c.body, "mode", "ExistOk", err));
  }
  return call_object(&c, &a, err);
}

glv_status remote_namespace_describe(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                     buf *ret_json, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  CLEANUP(js_cleanup) json *out = js_new_object();
  const json *properties = NULL;
  TRY(call_begin(&c, &conn_of(conn)->http, &describe_route, target_of(ns), options->cancel, err));
  c.body = js_new_object();
  TRY(call_object(&c, &a, err));
  TRY(call_read(&c, &a, wire_object(a.root, "properties", &properties, err), err));
  TRY(js_put(out, "properties", properties != NULL ? js_copy(properties) : js_new_object(), err));
  return js_print(out, 0, 0, ret_json, err);
}

glv_status remote_namespace_drop(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                 glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(call_begin(&c, &conn_of(conn)->http, &drop_route, target_of(ns), options->cancel, err));
  c.body = js_new_object();
  if ((options->flags & GLV_CALL_IF_NEEDED) != 0) {
    TRY(wire_put_text(c.body, "mode", "Skip", err));
  }
  if ((options->flags & GLV_CALL_CASCADE) != 0) {
    TRY(wire_put_text(c.body, "behavior", "Cascade", err));
  }
  return call_json(&c, &a, err);
}

/* ---- lists ---- */

/* Texts beside the names, of our own servers; "" = none. *ret stays NULL where they are not told.
 */
static glv_status read_beside(const json *root, const char *key, size_t count, arena *memory,
                              const char *const **ret, glv_error *err) {
  size_t found = 0;
  const char *const *texts = NULL;
  TRY(wire_texts(memory, root, key, &texts, &found, err));
  *ret = found == count ? texts : NULL;
  return GLV_OK;
}

static const char *text_at(const char *const *texts, size_t i) {
  return texts != NULL && texts[i][0] != '\0' ? texts[i] : NULL;
}

static glv_status add_names(const json *root, const list_route *list, glv_id parent, glv_list *into,
                            arena *memory, glv_error *err) {
  const char *const *names = NULL;
  const char *const *forms = NULL;
  const char *const *states = NULL;
  size_t count = 0;
  TRY(wire_texts(memory, root, list->key, &names, &count, err));
  if (names == NULL && list->is_required) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'%s' is missing", list->key);
  }
  TRY(read_beside(root, WIRE_LIST_FORMS, count, memory, &forms, err));
  TRY(read_beside(root, WIRE_LIST_STATES, count, memory, &states, err));
  for (size_t i = 0; i < count; i++) {
    TRY(list_add(into, parent, str_of(names[i]), text_at(forms, i), text_at(states, i), err));
  }
  return GLV_OK;
}

/* One page. *ret_token: in memory; NULL = the last page. */
static glv_status read_page(remote_conn *conn, const list_route *list, glv_id parent, const page *p,
                            const char *token, glv_list *into, arena *memory,
                            const char **ret_token, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const char *next = NULL;
  TRY(call_begin(&c, &conn->http, &list->r, target_of(parent), NULL, err));
  if (p->has_limit) {
    TRY(wire_param_uint(&c.target, "limit", p->limit, err));
  }
  if (token != NULL) {
    TRY(wire_param(&c.target, WIRE_PAGE_TOKEN, str_of(token), err));
  }
  TRY(call_object(&c, &a, err));
  TRY(call_read(&c, &a, add_names(a.root, list, parent, into, memory, err), err));
  TRY(call_read(&c, &a, wire_text(a.root, WIRE_PAGE_TOKEN, &next, err), err));
  *ret_token = NULL;
  if (next != NULL && next[0] != '\0') {
    *ret_token = arena_strdup(memory, str_of(next));
    return *ret_token != NULL ? GLV_OK : error_nomem(err, strlen(next));
  }
  return GLV_OK;
}

glv_status seen_tokens_add(seen_tokens *seen, arena *memory, const char *token, const char *what,
                           glv_error *err) {
  for (const seen_token *s = seen->last; s != NULL; s = s->before) {
    if (strcmp(s->token, token) == 0) {
      return FAIL(err, GLV_E_CORRUPT,
                  "the server gave the page token '%.64s' of %s twice: the list has no end", token,
                  what);
    }
  }
  seen_token *s = ARENA_NEW(memory, seen_token);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  *s = (seen_token){token, seen->last};
  seen->last = s;
  return GLV_OK;
}

glv_status remote_list(remote_conn *conn, const list_route *list, glv_id parent, const page *p,
                       bool all_pages, glv_list *into, glv_error *err) {
  CLEANUP(arena_dispose) arena memory;
  arena_init_small(&memory, conn->base.handle.env);
  seen_tokens seen = {NULL};
  const char *token = p->token;
  for (;;) {
    if (token != NULL) {
      TRY(seen_tokens_add(&seen, &memory, token, list->key, err));
    }
    const char *next = NULL;
    const glv_status status = read_page(conn, list, parent, p, token, into, &memory, &next, err);
    if (status == GLV_E_NAMESPACE_NOT_FOUND) {
      return GLV_OK; /* a namespace that does not exist lists nothing */
    }
    TRY(status);
    if (next == NULL) {
      return GLV_OK;
    }
    if (!all_pages) {
      TRY(seen_tokens_add(&seen, &memory, next, list->key, err));
      return list_set_token(into, str_of(next), err);
    }
    token = next;
  }
}

glv_status remote_namespace_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                                 glv_error *err) {
  return remote_list(conn_of(conn), &namespaces, parent, p, !p->has_limit, into, err);
}

glv_status remote_table_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                             glv_error *err) {
  return remote_list(conn_of(conn), &tables, parent, p, !p->has_limit, into, err);
}
