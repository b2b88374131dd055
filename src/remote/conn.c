/*
 * Connections to servers: the address, the headers that every request carries, and the table of
 * operations.
 */
#include "remote/remote_private.h"

enum {
  DEFAULT_CONNECT_MS = 120000,
  DEFAULT_READ_MS = 300000,
  DEFAULT_ATTEMPTS = 3,
  OWN_HEADERS = 4 /* database, its prefix, key, time */
};

/* Views are prepared by no server: there are no handles of plans. */
const backend_ops remote_ops = {
    .is_remote = 1,
    .namespace_create = remote_namespace_create,
    .namespace_describe = remote_namespace_describe,
    .namespace_list = remote_namespace_list,
    .namespace_drop = remote_namespace_drop,
    .table_create = remote_table_create,
    .table_open = remote_table_open,
    .table_list = remote_table_list,
    .table_drop = remote_table_drop,
    .table_rename = remote_table_rename,
    .table_declare = remote_table_declare,
    .table_register = remote_table_register,
    .table_deregister = remote_table_deregister,
    .table_locate = remote_table_locate,
    .table_version = remote_table_version,
    .table_schema = remote_table_schema,
    .table_versions = remote_table_versions,
    .table_checkout = remote_table_checkout,
    .table_is_latest = remote_table_is_latest,
    .table_describe = remote_table_describe,
    .table_count = remote_table_count,
    .table_scan = remote_table_scan,
    .table_search = remote_table_search,
    .table_explain = remote_table_explain,
    .table_take = remote_table_take,
    .table_write = remote_table_write,
    .table_delete = remote_table_delete,
    .table_update = remote_table_update,
    .table_merge = remote_table_merge,
    .table_tags = remote_table_tags,
    .table_tag_set = remote_table_tag_set,
    .table_tag_drop = remote_table_tag_drop,
    .table_compact = remote_table_compact,
    .table_restore = remote_table_restore,
    .table_migrate = remote_table_migrate,
    .table_cleanup = remote_table_cleanup,
    .table_add_columns = remote_table_add_columns,
    .table_add_null_columns = remote_table_add_null_columns,
    .table_alter_columns = remote_table_alter_columns,
    .table_drop_columns = remote_table_drop_columns,
    .table_set_metadata = remote_table_set_metadata,
    .query = remote_query,
    .view_prepare = remote_view_prepare,
    .view_create = remote_view_create,
    .view_open = remote_view_open,
    .view_list = remote_view_list,
    .view_definition = remote_view_definition,
    .view_stored_definition = remote_view_stored_definition,
    .view_incarnation = remote_view_incarnation,
    .view_table = remote_view_table,
    .view_refresh = remote_view_refresh,
    .view_explain = remote_view_explain,
    .view_status = remote_view_status,
    .view_verify = remote_view_verify,
    .view_drop = remote_view_drop,
    .conn_close = remote_conn_close,
    .view_create_job = remote_view_create_job,
    .view_refresh_job = remote_view_refresh_job,
    .view_drop_job = remote_view_drop_job,
    .job_open = remote_job_open,
    .job_list = remote_job_list,
    .job_id = remote_job_id,
    .job_status = remote_job_status,
    .job_wait = remote_job_wait,
    .job_result = remote_job_result,
    .job_events = remote_job_events,
    .job_cancel = remote_job_cancel,
};

bool remote_is_uri(const char *uri) {
  const str text = str_of(uri);
  return str_starts_with(text, STR("db://")) || str_starts_with(text, STR("http://")) ||
         str_starts_with(text, STR("https://"));
}

/* ---- addresses ---- */

/* What an address says. */
typedef struct address {
  const char *base_url;
  const char *database;
  const char *prefix; /* NULL = none */
} address;

static str without_slashes_at_end(str text) {
  while (text.size > 0 && text.data[text.size - 1] == '/') {
    text.size--;
  }
  return text;
}

/* A base URL: scheme, host, and perhaps a path; nothing that a path cannot follow. */
static glv_status check_base(str base, glv_error *err) {
  const bool is_http = str_starts_with(base, STR("http://"));
  const size_t scheme = is_http ? strlen("http://") : strlen("https://");
  if (!is_http && !str_starts_with(base, STR("https://"))) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "the host '%.*s' of a server must begin with http:// or https://", STR_ARG(base));
  }
  if (base.size == scheme || base.data[scheme] == '/' || base.data[scheme] == ':') {
    return FAIL(err, GLV_E_INVALID_INPUT, "the address '%.*s' names no host", STR_ARG(base));
  }
  for (size_t i = 0; i < base.size; i++) {
    const unsigned char c = (unsigned char)base.data[i];
    if (c <= ' ' || c == 0x7F || c == '?' || c == '#' || c == '\\') {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "the address of a server cannot contain a space, a control character, '?', '#' "
                  "or a backslash: '%.*s'",
                  STR_ARG(base));
    }
  }
  return GLV_OK;
}

static glv_status read_database(arena *memory, str rest, address *ret, glv_error *err) {
  const char *slash = rest.size > 0 ? memchr(rest.data, '/', rest.size) : NULL;
  const size_t size = slash != NULL ? (size_t)(slash - rest.data) : rest.size;
  const str prefix = slash != NULL
                         ? without_slashes_at_end(str_slice(slash + 1, rest.size - size - 1))
                         : (str){NULL, 0};
  if (size == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the address db://NAME names no database");
  }
  ret->database = arena_strdup(memory, str_slice(rest.data, size));
  ret->prefix = prefix.size > 0 ? arena_strdup(memory, prefix) : NULL;
  return ret->database != NULL && (ret->prefix != NULL || prefix.size == 0)
             ? GLV_OK
             : error_nomem(err, rest.size);
}

static glv_status read_address(arena *memory, const char *uri, const char *host_override,
                               const char *default_host, address *ret, glv_error *err) {
  const str text = str_of(uri);
  str base = text;
  *ret = (address){.database = "default"};
  if (str_starts_with(text, STR("db://"))) {
    const char *host = host_override != NULL ? host_override : default_host;
    TRY(read_database(memory, str_slice(text.data + 5, text.size - 5), ret, err));
    if (host == NULL || host[0] == '\0') {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "no host for %s: set host_override, or the variable GLAIVE_URL", uri);
    }
    base = str_of(host);
  } else if (host_override != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "host_override belongs to db:// addresses; %s names its "
                "host itself",
                uri);
  }
  TRY(check_base(base, err));
  base = without_slashes_at_end(base);
  ret->base_url = arena_strdup(memory, base);
  return ret->base_url != NULL ? GLV_OK : error_nomem(err, base.size);
}

/* ---- connecting ---- */

static void conn_dispose(handle *h) {
  remote_conn *conn = (remote_conn *)h;
  glv_env *env = h->env;
  client_dispose(&conn->http);
  mem_free(env, conn->base.uri);
  mem_free(env, conn);
}

static glv_status make_headers(arena *memory, const address *at, const glv_connect_options *options,
                               client_options *ret, glv_error *err) {
  http_header *headers = ARENA_ARRAY(memory, http_header, options->headers.count + OWN_HEADERS);
  size_t count = 0;
  if (headers == NULL) {
    return error_nomem(err, sizeof *headers);
  }
  headers[count++] = (http_header){"x-lancedb-database", at->database};
  if (at->prefix != NULL) {
    headers[count++] = (http_header){"x-lancedb-database-prefix", at->prefix};
  }
  if (options->api_key != NULL && options->api_key[0] != '\0') {
    headers[count++] = (http_header){"x-api-key", options->api_key};
  }
  if (options->timeout_ms != 0) { /* the server need not work for longer */
    const char *time = arena_printf(memory, "%u", options->timeout_ms);
    if (time == NULL) {
      return error_nomem(err, 0);
    }
    headers[count++] = (http_header){"x-request-timeout-ms", time};
  }
  for (size_t i = 0; i < options->headers.count; i++) {
    headers[count++] =
        (http_header){options->headers.items[i].name, options->headers.items[i].value};
  }
  ret->headers = headers;
  ret->header_count = count;
  return GLV_OK;
}

static uint32_t or_default(uint32_t value, uint32_t otherwise) {
  return value != 0 ? value : otherwise;
}

static glv_status open_client(remote_conn *conn, const char *uri,
                              const glv_connect_options *options, const char *default_host,
                              glv_error *err) {
  glv_env *env = conn->base.handle.env;
  CLEANUP(arena_dispose) arena memory;
  arena_init_small(&memory, env);
  address at;
  client_options http = {
      .user_agent =
          options->user_agent != NULL ? options->user_agent : "Glaive-Client/" GLAIVE_VERSION,
      .ca_file = options->ca_file,
      .timeout_ms = options->timeout_ms,
      .connect_timeout_ms = or_default(options->connect_timeout_ms, DEFAULT_CONNECT_MS),
      .read_timeout_ms = or_default(options->read_timeout_ms, DEFAULT_READ_MS),
      .attempts = or_default(options->retries, DEFAULT_ATTEMPTS)};
  TRY(read_address(&memory, uri, options->host_override, default_host, &at, err));
  http.base_url = at.base_url;
  TRY(make_headers(&memory, &at, options, &http, err));
  return client_init(&conn->http, env, &http, err);
}

glv_status remote_connect(glv_env *env, const char *uri, const glv_connect_options *options,
                          const char *default_host, glv_conn **ret, glv_error *err) {
  remote_conn *conn = mem_zalloc(env, sizeof *conn);
  if (conn == NULL) {
    return error_nomem(err, sizeof *conn);
  }
  handle_init(&conn->base.handle, env, conn_dispose);
  conn->base.ops = &remote_ops;
  conn->has_consistency = (options->flags & GLV_CONNECT_CONSISTENCY) != 0;
  conn->consistency_ns = (int64_t)options->read_consistency_ms * INT64_C(1000000);
  conn->base.uri = mem_strndup(env, uri, strlen(uri));
  glv_status status = conn->base.uri != NULL ? GLV_OK : error_nomem(err, strlen(uri));
  status = status == GLV_OK ? open_client(conn, uri, options, default_host, err) : status;
  if (status != GLV_OK) {
    handle_unref(&conn->base.handle);
    return status;
  }
  *ret = &conn->base;
  return GLV_OK;
}
