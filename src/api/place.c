/* Exported functions about the places of tables. */
#include <glaive/place.h>

#include "api/options.h"

/* The checks that all calls share. */
static glv_status check_call(const glv_conn *conn, glv_id id, const glv_call_options *options,
                             const glv_buf *ret_location, glv_call_options *ret, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(id, "id", false, err));
  TRY(require_pointer(ret_location, "ret_location", err));
  TRY(OPTIONS_READ(options, ret, err));
  return require_flags(ret->flags, 0, err);
}

glv_status glv_table_declare(glv_conn *conn, glv_id id, glv_pairs properties,
                             const glv_call_options *options, glv_buf *ret_location,
                             glv_error *err) {
  glv_call_options known;
  TRY(check_call(conn, id, options, ret_location, &known, err));
  TRY(require_pairs(properties, "properties", false, err));
  CLEANUP(buf_dispose) buf location;
  buf_init(&location, conn->handle.env, SIZE_MAX / 2);
  TRY(conn->ops->table_declare(conn, id, properties, &known, &location, err));
  return buf_hand_out(conn->handle.env, &location, ret_location, err);
}

glv_status glv_table_register(glv_conn *conn, glv_id id, const char *location,
                              const glv_call_options *options, glv_buf *ret_location,
                              glv_error *err) {
  glv_call_options known;
  TRY(check_call(conn, id, options, ret_location, &known, err));
  TRY(require_pointer(location, "location", err));
  CLEANUP(buf_dispose) buf path;
  buf_init(&path, conn->handle.env, SIZE_MAX / 2);
  TRY(conn->ops->table_register(conn, id, location, &known, &path, err));
  return buf_hand_out(conn->handle.env, &path, ret_location, err);
}

glv_status glv_table_deregister(glv_conn *conn, glv_id id, const glv_call_options *options,
                                glv_buf *ret_location, glv_error *err) {
  glv_call_options known;
  TRY(check_call(conn, id, options, ret_location, &known, err));
  CLEANUP(buf_dispose) buf location;
  buf_init(&location, conn->handle.env, SIZE_MAX / 2);
  TRY(conn->ops->table_deregister(conn, id, &known, &location, err));
  return buf_hand_out(conn->handle.env, &location, ret_location, err);
}

glv_status glv_table_locate(glv_conn *conn, glv_id id, const glv_call_options *options,
                            glv_buf *ret_location, int *ret_is_declared, glv_error *err) {
  glv_call_options known;
  bool is_declared = false;
  TRY(check_call(conn, id, options, ret_location, &known, err));
  CLEANUP(buf_dispose) buf location;
  buf_init(&location, conn->handle.env, SIZE_MAX / 2);
  TRY(conn->ops->table_locate(conn, id, &known, &location, &is_declared, err));
  if (ret_is_declared != NULL) {
    *ret_is_declared = is_declared;
  }
  return buf_hand_out(conn->handle.env, &location, ret_location, err);
}
