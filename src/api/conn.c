/* Connections, lists and namespaces: the exported functions. They check arguments, read options and
 * dispatch. */
#include <glaive/conn.h>

#include "api/options.h"
#include "local/local.h"
#include "remote/remote.h"

static glv_status check_env(glv_env *env, const void *ret, glv_error *err) {
  TRY(require_pointer(env, "env", err));
  TRY(require_pointer(ret, "ret", err));
  return env_check_fork(env, err);
}

static glv_status read_connect_options(const glv_connect_options *options, glv_connect_options *ret,
                                       glv_error *err) {
  TRY(OPTIONS_READ(options, ret, err));
  TRY(require_flags(ret->flags, GLV_CONNECT_CONSISTENCY, err));
  return require_pairs(ret->headers, "headers", false, err);
}

glv_status glv_connect(glv_env *env, const char *uri, const glv_connect_options *options,
                       glv_conn **ret, glv_error *err) {
  TRY(check_env(env, ret, err));
  TRY(require_pointer(uri, "uri", err));
  glv_connect_options known;
  TRY(read_connect_options(options, &known, err));
  return remote_is_uri(uri) ? remote_connect(env, uri, &known, default_host(), ret, err)
                            : local_connect(env, uri, LOCAL_DIRECTORY, ret, err);
}

static glv_status read_property(const glv_pair *p, const char **root, enum local_kind *kind,
                                glv_error *err) {
  const bool is_true = strcmp(p->value, "true") == 0;
  if (strcmp(p->name, "root") == 0) {
    *root = p->value;
  } else if (strcmp(p->name, "table_version_tracking_enabled") == 0 &&
             (is_true || strcmp(p->value, "false") == 0)) {
    *kind = is_true ? LOCAL_TRACKED_NAMESPACE : LOCAL_NAMESPACE;
  } else if (strcmp(p->name, "manifest_enabled") != 0 || !is_true) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "property '%s' = '%s' is not known to the directory namespace; it takes root and "
                "table_version_tracking_enabled",
                p->name, p->value);
  }
  return GLV_OK;
}

glv_status glv_connect_namespace(glv_env *env, const char *impl, glv_pairs properties,
                                 const glv_connect_options *options, glv_conn **ret,
                                 glv_error *err) {
  TRY(check_env(env, ret, err));
  TRY(require_pointer(impl, "impl", err));
  TRY(require_pairs(properties, "properties", false, err));
  glv_connect_options known;
  TRY(read_connect_options(options, &known, err));
  if (strcmp(impl, "dir") != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED, "namespace implementation '%s' is not known; use \"dir\"",
                impl);
  }
  const char *root = NULL;
  enum local_kind kind = LOCAL_NAMESPACE;
  for (size_t i = 0; i < properties.count; i++) {
    TRY(read_property(&properties.items[i], &root, &kind, err));
  }
  if (root == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the directory namespace needs the property 'root'");
  }
  return local_connect(env, root, kind, ret, err);
}

const char *glv_conn_uri(const glv_conn *conn) { return conn != NULL ? conn->uri : NULL; }

int glv_conn_is_remote(const glv_conn *conn) { return conn != NULL ? conn->ops->is_remote : 0; }

void glv_conn_free(glv_conn *conn) {
  if (conn != NULL) {
    conn->ops->conn_close(conn);
    handle_unref(&conn->handle);
  }
}

/* ---- lists ---- */

static const list_entry *entry_at(const glv_list *list, size_t index) {
  return list != NULL && index < list->count ? &list->entries[index] : NULL;
}

size_t glv_list_count(const glv_list *list) { return list != NULL ? list->count : 0; }

const char *glv_list_name(const glv_list *list, size_t index) {
  const list_entry *entry = entry_at(list, index);
  return entry != NULL ? entry->parts[entry->part_count - 1] : NULL;
}

glv_id glv_list_id(const glv_list *list, size_t index) {
  const list_entry *entry = entry_at(list, index);
  return entry != NULL ? (glv_id){entry->parts, entry->part_count} : (glv_id){NULL, 0};
}

const char *glv_list_form(const glv_list *list, size_t index) {
  const list_entry *entry = entry_at(list, index);
  return entry != NULL ? entry->form : NULL;
}

const char *glv_list_state(const glv_list *list, size_t index) {
  const list_entry *entry = entry_at(list, index);
  return entry != NULL ? entry->state : NULL;
}

const char *glv_list_token(const glv_list *list) { return list != NULL ? list->token : NULL; }

void glv_list_free(glv_list *list) { list_free(list); }

/* ---- namespaces ---- */

glv_status glv_namespace_create(glv_conn *conn, glv_id ns, glv_pairs properties,
                                const glv_call_options *options, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(ns, "ns", true, err));
  TRY(require_pairs(properties, "properties", false, err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_CALL_IF_NEEDED, err));
  return conn->ops->namespace_create(conn, ns, properties, &known, err);
}

glv_status glv_namespace_describe(glv_conn *conn, glv_id ns, const glv_call_options *options,
                                  glv_buf *ret_json, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(ns, "ns", true, err));
  TRY(require_pointer(ret_json, "ret_json", err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, 0, err));
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, conn->handle.env, SIZE_MAX / 2);
  TRY(conn->ops->namespace_describe(conn, ns, &known, &text, err));
  return buf_hand_out(conn->handle.env, &text, ret_json, err);
}

glv_status glv_namespace_list(glv_conn *conn, glv_id parent, const glv_page_options *options,
                              glv_list **ret, glv_error *err) {
  TRY(check_conn(conn, err));
  return list_call(conn, parent, options, conn->ops->namespace_list, ret, err);
}

glv_status glv_namespace_drop(glv_conn *conn, glv_id ns, const glv_call_options *options,
                              glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(ns, "ns", true, err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_CALL_IF_NEEDED | GLV_CALL_CASCADE, err));
  return conn->ops->namespace_drop(conn, ns, &known, err);
}
