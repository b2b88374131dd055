/**
 * @file local.h
 * The embedded implementation of the backend interface: catalog, tables and views in this process.
 */
#ifndef GLAIVE_LOCAL_LOCAL_H
#define GLAIVE_LOCAL_LOCAL_H

#include "backend/backend.h"

/** The I/O table of the local file system: the default of an environment. */
const glv_io *local_io(void);

/** How a database directory is opened. */
enum local_kind {
  LOCAL_DIRECTORY,
  LOCAL_NAMESPACE,        /* as a directory namespace: root tables get a catalog row */
  LOCAL_TRACKED_NAMESPACE /* which also keeps track of the versions of its tables: no views */
};

/**
 * Open a database directory, making it if it is missing.
 *
 * @param uri a path or a file:// URI; copied.
 * Errors: those of glv_connect.
 */
glv_status local_connect(glv_env *env, const char *uri, enum local_kind kind, glv_conn **ret,
                         glv_error *err);

/** A stored view definition as a public struct, parsed and kept in memory of its own. Errors: those
 * of glv_view_def_parse. */
glv_status local_view_def_parse(str json, const char *view_name, bool parse_only,
                                glv_view_def **ret, glv_error *err);
void local_view_def_free(glv_view_def *def); /* NULL is fine */

#endif
