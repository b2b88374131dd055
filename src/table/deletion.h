/**
 * @file deletion.h
 * Which rows of a fragment are deleted. Both stored forms are read; the bitmap form is written.
 */
#ifndef GLAIVE_TABLE_DELETION_H
#define GLAIVE_TABLE_DELETION_H

#include "base/bitmap.h"
#include "table/table.h"

/**
 * Read the deleted offsets (0-based physical rows) of a fragment of t.
 *
 * @param ret  NULL when nothing is deleted; bitmap_free.
 * Errors: GLV_E_CORRUPT naming the file: missing, malformed, an offset past the fragment, a count
 * other than the manifest's; GLV_E_IO; GLV_E_NOMEM. Thread class: T.
 */
glv_status deletion_load(const table_snapshot *t, const fragment *f, bitmap **ret, glv_error *err);

/** True iff both name the same file, or both none. */
bool deletion_same(const fragment *a, const fragment *b);

#endif
