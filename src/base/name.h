/**
 * @file name.h
 * Dotted names such as ops."a.b".t: a part is bare iff it matches [A-Za-z0-9_-]+, else in double
 * quotes, " doubled.
 */
#ifndef GLAIVE_BASE_NAME_H
#define GLAIVE_BASE_NAME_H

#include "base/arena.h"
#include "base/buf.h"

/**
 * Split a dotted name into its decoded parts; "" gives none. The array is followed by a NULL.
 * Errors: GLV_E_INVALID_INPUT naming the text; GLV_E_NOMEM.
 */
glv_status name_parse(arena *a, str text, const char ***ret_parts, size_t *ret_count,
                      glv_error *err);

/** True iff the part needs no quotes. */
bool name_is_bare(str part);
/** Append the dotted form. */
glv_status name_print(const char *const *parts, size_t count, buf *out, glv_error *err);

#endif
