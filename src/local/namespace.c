/* Namespaces: the catalog's calls under the public rules. */
#include "base/json.h"
#include "local/local_private.h"

glv_status local_properties(arena *a, glv_pairs pairs, metadata *ret, glv_error *err) {
  pair *copy = ARENA_ARRAY(a, pair, pairs.count);
  if (copy == NULL) {
    return error_nomem(err, pairs.count * sizeof *copy);
  }
  for (size_t i = 0; i < pairs.count; i++) {
    copy[i] = (pair){str_of(pairs.items[i].name), str_of(pairs.items[i].value)};
    for (size_t j = 0; j < i; j++) {
      if (str_equal(copy[i].key, copy[j].key)) {
        return FAIL(err, GLV_E_INVALID_INPUT, "property '%s' is given twice", pairs.items[i].name);
      }
    }
  }
  *ret = (metadata){copy, pairs.count};
  return GLV_OK;
}

glv_status local_namespace_create(glv_conn *conn, glv_id ns, glv_pairs properties,
                                  const glv_call_options *options, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  metadata m;
  TRY(local_properties(&a, properties, &m, err));
  const bool if_needed = (options->flags & GLV_CALL_IF_NEEDED) != 0;
  return catalog_namespace_create(conn_of(conn)->db, catalog_path(ns), m,
                                  if_needed ? CATALOG_EXIST_OK : CATALOG_CREATE, err);
}

glv_status local_namespace_describe(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                    buf *ret_json, glv_error *err) {
  (void)options;
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  metadata m;
  TRY(catalog_namespace_describe(conn_of(conn)->db, catalog_path(ns), &a, &m, err));
  CLEANUP(js_cleanup) json *document = js_new_object();
  json *properties = js_new_object();
  if (document == NULL || properties == NULL) {
    js_free(properties);
    return error_nomem(err, 0);
  }
  glv_status status = GLV_OK;
  for (size_t i = 0; i < m.count && status == GLV_OK; i++) {
    const char *key = arena_strdup(&a, m.pairs[i].key);
    status = key != NULL ? js_put(properties, key, js_new_string(m.pairs[i].value), err)
                         : error_nomem(err, 0);
  }
  if (status != GLV_OK) {
    js_free(properties);
    return status;
  }
  TRY(js_put(document, "properties", properties, err));
  return js_print(document, 0, 0, ret_json, err);
}

glv_status local_namespace_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                                glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  const catalog_page part = {p->has_limit, p->limit, p->token};
  catalog_list found;
  TRY(catalog_namespace_list(conn_of(conn)->db, catalog_path(parent), &part, &a, &found, err));
  for (size_t i = 0; i < found.count; i++) {
    TRY(list_add(into, parent, str_of(found.entries[i].name), NULL, NULL, err));
  }
  return found.token != NULL ? list_set_token(into, str_of(found.token), err) : GLV_OK;
}

glv_status local_namespace_drop(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                glv_error *err) {
  return catalog_namespace_drop(conn_of(conn)->db, catalog_path(ns),
                                (options->flags & GLV_CALL_IF_NEEDED) != 0,
                                (options->flags & GLV_CALL_CASCADE) != 0, err);
}
