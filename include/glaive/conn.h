/**
 * @file conn.h
 * Connections, namespaces, and the small types that all calls share.
 */
#ifndef GLAIVE_CONN_H
#define GLAIVE_CONN_H

#include <glaive/env.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glv_conn glv_conn;
typedef struct glv_list glv_list;
typedef struct glv_cancel glv_cancel;

/**
 * A namespace path, or a namespace path followed by a name: `parts` are NUL-terminated UTF-8
 * strings, outermost first. As a namespace, count 0 is the root. Borrowed for the call.
 */
typedef struct glv_id {
  const char *const *parts;
  size_t count;
} glv_id;

/** Strings; borrowed for the call. */
typedef struct glv_strs {
  const char *const *items;
  size_t count;
} glv_strs;

typedef struct glv_pair {
  const char *name;
  const char *value;
} glv_pair;

/** Pairs of strings; borrowed for the call. */
typedef struct glv_pairs {
  const glv_pair *items;
  size_t count;
} glv_pairs;

/** Bytes made by the library: size bytes at data, followed by a NUL. The caller releases them with
 * glv_buf_dispose. */
typedef struct glv_buf {
  char *data;
  size_t size;
  void *owner;
} glv_buf;

/**
 * The version of the library, "major.minor.patch".
 * @return a static string. Thread class: T.
 */
GLV_API const char *glv_version(void);

/**
 * The version as major * 1000000 + minor * 1000 + patch.
 * @return the number. Thread class: T.
 */
GLV_API uint32_t glv_version_number(void);

/**
 * Release what a function put into a glv_buf.
 *
 * @param text may be NULL or zeroed; zeroed afterwards. Thread class: S.
 */
GLV_API void glv_buf_dispose(glv_buf *text);

/* ---- cancellation ---- */

/**
 * Make a token that can stop calls which carry it in their options.
 *
 * @param env  the environment.
 * @param ret  the token; the caller releases it with glv_cancel_free. Calls that carry it keep it
 * alive.
 * @param err  NULL, or filled on failure. Errors: GLV_E_NOMEM. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_cancel_new(glv_env *env, glv_cancel **ret, glv_error *err);

/**
 * Ask every call that carries the token to end with GLV_E_CANCELLED. They look at the token between
 * windows of a scan: batches that are decoded already (up to a few hundred thousand rows) may still
 * be delivered before the stream ends with the error.
 *
 * @param cancel the token. Thread class: T.
 */
GLV_API void glv_cancel_request(glv_cancel *cancel);

/**
 * Give up the caller's reference.
 *
 * @param cancel NULL is fine. Thread class: T.
 */
GLV_API void glv_cancel_free(glv_cancel *cancel);

/* ---- options of many calls ---- */

/** Options of calls that have no others. */
typedef struct glv_call_options {
  uint32_t struct_size;
  uint32_t flags;     /**< GLV_CALL_* bits where a function names them; bits 16.. are GLV_SQL_* */
  glv_cancel *cancel; /**< NULL, or what can stop the call */
} glv_call_options;

/** Namespace create: an existing one is fine. Namespace and table drop: a missing one is fine. */
#define GLV_CALL_IF_NEEDED 1u
/** Namespace drop: its tables and child namespaces go too. */
#define GLV_CALL_CASCADE 2u

/** SQL dialects: without a bit, "x" names a column in predicates and is a string in other
 * expressions. */
#define GLV_SQL_LANCE (1u << 16)  /**< "x" is a string everywhere, as in pylance */
#define GLV_SQL_STRICT (1u << 17) /**< refuse what Lance's own planner refuses */

/** Options of lists. */
typedef struct glv_page_options {
  uint32_t struct_size;
  uint32_t flags;         /**< GLV_PAGE_* bits */
  uint64_t limit;         /**< names of one page, with GLV_PAGE_LIMIT; else all (views: 1,000) */
  const char *page_token; /**< NULL = the first page */
} glv_page_options;

#define GLV_PAGE_LIMIT 1u     /**< `limit` is set (it may be 0) */
#define GLV_PAGE_RECURSIVE 2u /**< views: child namespaces too */

/* ---- connections ---- */

/** Options of glv_connect and glv_connect_namespace. All but the first two are about servers and
 * not looked at for directories. Everything is copied. */
typedef struct glv_connect_options {
  uint32_t struct_size;
  uint32_t flags;            /**< GLV_CONNECT_* bits */
  const char *host_override; /**< "http(s)://host[:port][/path]" of the server of a db:// URI; NULL
                                = the variable GLAIVE_URL */
  const char *api_key;       /**< NULL or "" = none */
  glv_pairs headers;         /**< sent with every request */
  const char *user_agent;    /**< NULL = "Glaive-Client/" and the version */
  const char *ca_file;       /**< certificates (PEM) that servers are checked against; NULL = those
                                of the system */
  uint32_t timeout_ms;       /**< of one request with its answer; 0 = none */
  uint32_t connect_timeout_ms;  /**< 0 = 120,000 */
  uint32_t read_timeout_ms;     /**< without a byte to or from the server; 0 = 300,000 */
  uint32_t retries;             /**< attempts of a request that may be repeated; 0 = 3, 1 = one */
  uint32_t read_consistency_ms; /**< with GLV_CONNECT_CONSISTENCY: how old an answer may be */
} glv_connect_options;

#define GLV_CONNECT_CONSISTENCY 1u /**< `read_consistency_ms` is set (0 = always the newest) */

/**
 * Open a database: a directory, or a server of the remote protocol of LanceDB, Glaive's own or
 * another. Nothing is sent to a server before the first call.
 *
 * All calls work on servers as on directories, but where they say so, and but for this: a table
 * handle that is not checked out sees the newest version at any time, and never an older one than
 * before; what a server does not offer is GLV_E_UNSUPPORTED. A change whose answer does not come
 * is GLV_E_UNKNOWN_OUTCOME.
 *
 * @param env     the environment; the connection keeps it.
 * @param uri     a directory (made with its parents if missing), or file:// and its absolute path;
 * or db://NAME[/prefix], a database of the server in options->host_override or in the variable
 * GLAIVE_URL; or http(s)://host[:port][/path], db://default of that server.
 * @param options NULL = defaults.
 * @param ret     the connection; the caller releases it with glv_conn_free.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_INVALID_INPUT for an unusable uri, db:// without a host, and headers that cannot be
 * sent; GLV_E_UNSUPPORTED for a catalog that a newer writer marked, and for a server when
 * libcurl.so.4 is not installed; GLV_E_IO; GLV_E_NOMEM. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_connect(glv_env *env, const char *uri,
                                           const glv_connect_options *options, glv_conn **ret,
                                           glv_error *err);

/**
 * Open a database through a namespace implementation.
 *
 * @param env        the environment; the connection keeps it.
 * @param impl       "dir": a directory namespace as LanceDB's connect_namespace("dir", ...) lays it
 * out. It differs from glv_connect in that root tables get a catalog row.
 * @param properties "root": the directory. "table_version_tracking_enabled": "true" for a namespace
 * that manages the versions of its tables; views, whose refresh publishes versions itself, are
 * refused there.
 * @param options    NULL = defaults.
 * @param ret        the connection; the caller releases it with glv_conn_free.
 * @param err        NULL, or filled on failure.
 * Errors: as glv_connect; GLV_E_UNSUPPORTED for another impl. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_connect_namespace(glv_env *env, const char *impl,
                                                     glv_pairs properties,
                                                     const glv_connect_options *options,
                                                     glv_conn **ret, glv_error *err);

/**
 * The URI the connection was opened with.
 *
 * @param conn the connection.
 * @return borrowed from the connection. Thread class: P.
 */
GLV_API const char *glv_conn_uri(const glv_conn *conn);

/**
 * Whether the connection talks to a server.
 *
 * @param conn the connection.
 * @return 1 or 0. Thread class: P.
 */
GLV_API int glv_conn_is_remote(const glv_conn *conn);

/**
 * Give up the caller's reference; tables and views opened through the connection go on working.
 *
 * @param conn NULL is fine. Thread class: T.
 */
GLV_API void glv_conn_free(glv_conn *conn);

/* ---- lists ---- */

/**
 * Number of names in a list.
 *
 * @param list the list.
 * @return the number of names of this page. Thread class: P.
 */
GLV_API size_t glv_list_count(const glv_list *list);

/**
 * A name.
 *
 * @param list  the list.
 * @param index below glv_list_count.
 * @return borrowed from the list; NULL past the end. Thread class: P.
 */
GLV_API const char *glv_list_name(const glv_list *list, size_t index);

/**
 * The full path of an entry: the namespace listed, then the name (views with GLV_PAGE_RECURSIVE:
 * their own namespace).
 *
 * @param list  the list.
 * @param index below glv_list_count.
 * @return borrowed from the list; count 0 past the end. Thread class: P.
 */
GLV_API glv_id glv_list_id(const glv_list *list, size_t index);

/**
 * The stored form of a view.
 *
 * @param list  the list.
 * @param index below glv_list_count.
 * @return "select", "namespaced_select" or "query", borrowed; NULL when unknown and in lists of
 * other things. Thread class: P.
 */
GLV_API const char *glv_list_form(const glv_list *list, size_t index);

/**
 * The state of a view, or a mark of a table.
 *
 * @param list  the list.
 * @param index below glv_list_count.
 * @return views: "ok", "unfilled", "newer:..." or "unreadable:..."; tables: "declared",
 * "deregistered" or "ok"; NULL in lists of namespaces. Borrowed. Thread class: P.
 */
GLV_API const char *glv_list_state(const glv_list *list, size_t index);

/**
 * The token of the next page.
 *
 * @param list the list.
 * @return borrowed; NULL on the last page. Thread class: P.
 */
GLV_API const char *glv_list_token(const glv_list *list);

/**
 * Release a list.
 *
 * @param list NULL is fine. Thread class: S.
 */
GLV_API void glv_list_free(glv_list *list);

/* ---- namespaces ---- */

/**
 * Create a namespace.
 *
 * @param conn       the connection.
 * @param ns         its path; all parents must exist.
 * @param properties kept with it; may be empty.
 * @param options    NULL, or flags GLV_CALL_IF_NEEDED.
 * @param err        NULL, or filled on failure.
 * Errors: GLV_E_NAMESPACE_EXISTS, GLV_E_NAMESPACE_NOT_FOUND (a parent), GLV_E_INVALID_INPUT (a
 * name), GLV_E_CONFLICT. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_namespace_create(glv_conn *conn, glv_id ns, glv_pairs properties,
                                                    const glv_call_options *options,
                                                    glv_error *err);

/**
 * Read the properties of a namespace.
 *
 * @param conn     the connection.
 * @param ns       its path; the root has none.
 * @param options  NULL = defaults.
 * @param ret_json a JSON object {"properties": {...}}; the caller releases it with glv_buf_dispose.
 * @param err      NULL, or filled on failure. Errors: GLV_E_NAMESPACE_NOT_FOUND. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_namespace_describe(glv_conn *conn, glv_id ns,
                                                      const glv_call_options *options,
                                                      glv_buf *ret_json, glv_error *err);

/**
 * List the namespaces directly below one.
 *
 * @param conn    the connection.
 * @param parent  its path; a path that does not exist lists nothing.
 * @param options NULL = all names.
 * @param ret     names in byte order; the caller releases it with glv_list_free.
 * @param err     NULL, or filled on failure. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_namespace_list(glv_conn *conn, glv_id parent,
                                                  const glv_page_options *options, glv_list **ret,
                                                  glv_error *err);

/**
 * Drop a namespace.
 *
 * @param conn    the connection.
 * @param ns      its path; not the root.
 * @param options NULL, or flags GLV_CALL_IF_NEEDED, GLV_CALL_CASCADE.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_NAMESPACE_NOT_FOUND, GLV_E_NAMESPACE_NOT_EMPTY, GLV_E_INVALID_INPUT (root). Thread
 * class: T.
 */
GLV_API GLV_CHECKED glv_status glv_namespace_drop(glv_conn *conn, glv_id ns,
                                                  const glv_call_options *options, glv_error *err);

#ifdef __cplusplus
}
#endif
#endif
