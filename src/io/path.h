/**
 * @file path.h
 * Paths and locations as text. Nothing here looks at the file system.
 */
#ifndef GLAIVE_IO_PATH_H
#define GLAIVE_IO_PATH_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/** parent, one slash, child; parent "" gives child. NULL = no memory. */
char *path_join(arena *a, str parent, str child);

/** Without repeated slashes, "." segments and a trailing slash; ".." stays, since a link may stand
 * before it. "" becomes ".". NULL = no memory. */
char *path_normalise(arena *a, str path);

/** The last segment; empty for "/" and "". Borrowed from path. */
str path_name(str path);

/**
 * True iff location leads from a directory to something strictly inside it: relative, not empty,
 * every segment non-empty and neither "." nor "..", no NUL byte, no "://".
 */
bool path_is_inside(str location);

/**
 * The local path that a connection string names: a plain path, or file:// with an empty host or
 * "localhost" and a percent-encoded path. Normalised.
 *
 * Errors: GLV_E_UNSUPPORTED for another scheme; GLV_E_INVALID_INPUT for "", a relative file URI, a
 * bad percent sign, a NUL byte or a path longer than LIMIT_PATH_BYTES; GLV_E_NOMEM.
 */
glv_status path_from_uri(arena *a, str uri, char **ret, glv_error *err);

#endif
