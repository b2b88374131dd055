/**
 * @file rows.h
 * Rows that come from a server.
 */
#ifndef GLAIVE_REMOTE_ROWS_H
#define GLAIVE_REMOTE_ROWS_H

#include "remote/remote_private.h"

/** The rows of an answer in Arrow IPC, read as they arrive. Takes over e in every case; keeps conn.
 * Errors: GLV_E_CORRUPT for another content type and malformed data. */
glv_status remote_rows(remote_conn *conn, exchange *e, batch_reader *ret, glv_error *err);

/**
 * Bring columns into the order of names (ended by NULL); others go.
 * @param r replaced; on failure it is disposed of.
 * Errors: GLV_E_CORRUPT for a column that is not there.
 */
glv_status rows_arrange(glv_env *env, batch_reader *r, const char *const *names, glv_error *err);

#endif
