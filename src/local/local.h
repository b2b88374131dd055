/**
 * @file local.h
 * The embedded implementation of the backend interface: catalog, tables and views in this process.
 */
#ifndef GLAIVE_LOCAL_LOCAL_H
#define GLAIVE_LOCAL_LOCAL_H

#include "backend/backend.h"

/** The I/O table of the local file system: the default of an environment. */
const glv_io *local_io(void);

/**
 * Open a database directory, making it if it is missing.
 *
 * @param uri          a path or a file:// URI; copied.
 * @param is_namespace opened as a directory namespace: root tables get a catalog row.
 * Errors: those of glv_connect.
 */
glv_status local_connect(glv_env *env, const char *uri, bool is_namespace, glv_conn **ret,
                         glv_error *err);

/** A stored view definition as a public struct, parsed and kept in memory of its own. Errors: those
 * of glv_view_def_parse. */
glv_status local_view_def_parse(str json, const char *view_name, bool parse_only,
                                glv_view_def **ret, glv_error *err);
void local_view_def_free(glv_view_def *def); /* NULL is fine */

#endif
