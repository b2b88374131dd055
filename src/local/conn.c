/* The connection of the embedded implementation: a catalog, and the table of operations. */
#include "io/io.h"
#include "local/local_private.h"

const backend_ops local_ops = {
    .is_remote = 0,
    .namespace_create = local_namespace_create,
    .namespace_describe = local_namespace_describe,
    .namespace_list = local_namespace_list,
    .namespace_drop = local_namespace_drop,
    .table_create = local_table_create,
    .table_open = local_table_open,
    .table_list = local_table_list,
    .table_drop = local_table_drop,
    .table_rename = local_table_rename,
    .table_declare = local_table_declare,
    .table_register = local_table_register,
    .table_deregister = local_table_deregister,
    .table_locate = local_table_locate,
    .table_version = local_table_version,
    .table_schema = local_table_schema,
    .table_versions = local_table_versions,
    .table_checkout = local_table_checkout,
    .table_is_latest = local_table_is_latest,
    .table_describe = local_table_describe,
    .table_count = local_table_count,
    .table_scan = local_table_scan,
    .table_search = local_table_search,
    .table_explain = local_table_explain,
    .table_take = local_table_take,
    .table_write = local_table_write,
    .table_delete = local_table_delete,
    .table_update = local_table_update,
    .table_merge = local_table_merge,
    .table_tags = local_table_tags,
    .table_tag_set = local_table_tag_set,
    .table_tag_drop = local_table_tag_drop,
    .table_compact = local_table_compact,
    .table_restore = local_table_restore,
    .table_migrate = local_table_migrate,
    .table_cleanup = local_table_cleanup,
    .table_add_columns = local_table_add_columns,
    .table_add_null_columns = local_table_add_null_columns,
    .table_alter_columns = local_table_alter_columns,
    .table_drop_columns = local_table_drop_columns,
    .table_set_metadata = local_table_set_metadata,
    .query = local_query,
    .view_prepare = local_view_prepare,
    .view_plan_definition = local_view_plan_definition,
    .view_plan_schema = local_view_plan_schema,
    .view_plan_create = local_view_plan_create,
    .view_create = local_view_create,
    .view_open = local_view_open,
    .view_list = local_view_list,
    .view_definition = local_view_definition,
    .view_stored_definition = local_view_stored_definition,
    .view_incarnation = local_view_incarnation,
    .view_table = local_view_table,
    .view_refresh = local_view_refresh,
    .view_explain = local_view_explain,
    .view_status = local_view_status,
    .view_verify = local_view_verify,
    .view_drop = local_view_drop,
    .conn_close = local_conn_close,
    .view_create_job = local_view_create_job,
    .view_refresh_job = local_view_refresh_job,
    .view_drop_job = local_view_drop_job,
    .job_open = local_job_open,
    .job_list = local_job_list,
    .job_id = local_job_id,
    .job_status = local_job_status,
    .job_wait = local_job_wait,
    .job_result = local_job_result,
    .job_events = local_job_events,
    .job_cancel = local_job_cancel,
};

const glv_io *local_io(void) { return io_local(); }

static void conn_dispose(handle *h) {
  local_conn *conn = (local_conn *)h;
  glv_env *env = h->env;
  catalog_unref(conn->db);
  mutex_dispose(&conn->lock);
  mem_free(env, conn->base.uri);
  mem_free(env, conn);
}

glv_status local_connect(glv_env *env, const char *uri, enum local_kind kind, glv_conn **ret,
                         glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  char *path = NULL;
  TRY(path_from_uri(&a, str_of(uri), &path, err));
  local_conn *conn = mem_zalloc(env, sizeof *conn);
  if (conn == NULL) {
    return error_nomem(err, sizeof *conn);
  }
  handle_init(&conn->base.handle, env, conn_dispose);
  conn->base.ops = &local_ops;
  conn->kind = kind;
  mutex_init(&conn->lock);
  conn->base.uri = mem_strndup(env, uri, strlen(uri));
  glv_status status = conn->base.uri != NULL ? GLV_OK : error_nomem(err, strlen(uri));
  if (status == GLV_OK) {
    status = catalog_open(
        env, path, kind == LOCAL_DIRECTORY ? CATALOG_DIRECTORY : CATALOG_NAMESPACE, &conn->db, err);
  }
  if (status != GLV_OK) {
    handle_unref(&conn->base.handle);
    return status;
  }
  *ret = &conn->base;
  return GLV_OK;
}
