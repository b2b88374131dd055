/**
 * @file place.h
 * Where tables lie: names without data, and data without names.
 */
#ifndef GLAIVE_PLACE_H
#define GLAIVE_PLACE_H

#include <glaive/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Reserve a name for a table that somebody fills later: glv_table_create, or another program that
 * writes a Lance dataset to the place. It is listed, and cannot be opened before.
 *
 * @param conn       the connection.
 * @param id         namespace path and name.
 * @param properties kept with the name; must be empty for tables at the root of a directory.
 * @param options    NULL, or cancel.
 * @param ret_location the path of the directory; glv_buf_dispose.
 * @param err        NULL, or filled on failure. Errors: GLV_E_TABLE_EXISTS (declared ones, too),
 * GLV_E_NAMESPACE_NOT_FOUND, GLV_E_INVALID_INPUT, GLV_E_UNSUPPORTED, GLV_E_CONFLICT, GLV_E_IO.
 * Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_declare(glv_conn *conn, glv_id id, glv_pairs properties,
                                                 const glv_call_options *options,
                                                 glv_buf *ret_location, glv_error *err);

/**
 * Give a name to a Lance dataset that lies below the root of the database already.
 *
 * @param conn     the connection.
 * @param id       namespace path and name.
 * @param location path of the directory, relative to the root, without `..`; it need not exist.
 * @param options  NULL, or cancel.
 * @param ret_location the whole path; glv_buf_dispose.
 * @param err      NULL, or filled on failure. Errors: as glv_table_declare; GLV_E_UNSUPPORTED for a
 * name at the root, where the directories are the names. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_register(glv_conn *conn, glv_id id, const char *location,
                                                  const glv_call_options *options,
                                                  glv_buf *ret_location, glv_error *err);

/**
 * Take the name of a table away and leave its data where they are.
 *
 * @param conn    the connection.
 * @param id      namespace path and name.
 * @param options NULL, or cancel.
 * @param ret_location the path of the data; glv_buf_dispose.
 * @param err     NULL, or filled on failure. Errors: GLV_E_TABLE_NOT_FOUND; as glv_table_register.
 * Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_deregister(glv_conn *conn, glv_id id,
                                                    const glv_call_options *options,
                                                    glv_buf *ret_location, glv_error *err);

/**
 * Where a table lies, whether or not it has been filled.
 *
 * @param conn    the connection.
 * @param id      namespace path and name.
 * @param options NULL, or cancel.
 * @param ret_location the path of its directory; glv_buf_dispose.
 * @param ret_is_declared NULL, or set to 1 when the table has no version yet.
 * @param err     NULL, or filled on failure. Errors: GLV_E_TABLE_NOT_FOUND; as glv_table_open.
 * Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_locate(glv_conn *conn, glv_id id,
                                                const glv_call_options *options,
                                                glv_buf *ret_location, int *ret_is_declared,
                                                glv_error *err);

#ifdef __cplusplus
}
#endif
#endif
