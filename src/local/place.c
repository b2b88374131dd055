/* Where tables of a directory lie. */
#include "local/local_private.h"

glv_status local_table_declare(glv_conn *conn, glv_id id, glv_pairs properties,
                               const glv_call_options *options, buf *ret_location, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  metadata stored;
  catalog_table at;
  TRY(cancel_check(options->cancel, err));
  TRY(local_properties(&a, properties, &stored, err));
  TRY(catalog_table_declare(conn_of(conn)->db, catalog_path(id), stored, &a, &at, err));
  return buf_append_str(ret_location, str_of(at.path), err);
}

glv_status local_table_register(glv_conn *conn, glv_id id, const char *location,
                                const glv_call_options *options, buf *ret_location,
                                glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  catalog_table at;
  TRY(cancel_check(options->cancel, err));
  TRY(catalog_table_register(conn_of(conn)->db, catalog_path(id), location, err));
  TRY(catalog_table_resolve(conn_of(conn)->db, catalog_path(id), &a, &at, err));
  return buf_append_str(ret_location, str_of(at.path), err);
}

glv_status local_table_deregister(glv_conn *conn, glv_id id, const glv_call_options *options,
                                  buf *ret_location, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  const char *path;
  TRY(cancel_check(options->cancel, err));
  TRY(catalog_table_deregister(conn_of(conn)->db, catalog_path(id), &a, &path, err));
  return buf_append_str(ret_location, str_of(path), err);
}

glv_status local_table_locate(glv_conn *conn, glv_id id, const glv_call_options *options,
                              buf *ret_location, bool *ret_is_declared, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  catalog_table at;
  TRY(cancel_check(options->cancel, err));
  TRY(catalog_table_locate(conn_of(conn)->db, catalog_path(id), &a, &at, ret_is_declared, err));
  return buf_append_str(ret_location, str_of(at.path), err);
}
