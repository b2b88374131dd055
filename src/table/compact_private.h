/**
 * @file compact_private.h
 * What is compacted: groups of adjacent fragments, and the identity of the rows in them.
 */
#ifndef GLAIVE_TABLE_COMPACT_PRIVATE_H
#define GLAIVE_TABLE_COMPACT_PRIVATE_H

#include "table/compact.h"
#include "table/table_private.h"

/** Fragments that become new files together. */
typedef struct compact_group {
  const fragment *const *fragments; /* ascending ids */
  size_t count;
  uint64_t live_rows;
} compact_group;

/** The groups of t in ascending order, in an arena. options: defaults filled in. */
glv_status compact_plan(const table_snapshot *t, const compact_options *options, arena *a,
                        compact_group **ret, size_t *ret_count, glv_error *err);

/** Stable row ids and versions of rows in the order in which they are copied. */
typedef struct carried_rows {
  glv_env *env; /* borrowed */
  uint64_t *ids;
  size_t count;
  size_t room;
  version_run *created;
  size_t created_count;
  size_t created_room;
  version_run *updated;
  size_t updated_count;
  size_t updated_room;
} carried_rows;

void carried_init(carried_rows *c, glv_env *env);
void carried_dispose(carried_rows *c);
/** Append the live rows of a fragment. Errors: GLV_E_CORRUPT; GLV_E_IO; GLV_E_NOMEM. */
glv_status carried_add(carried_rows *c, const table_snapshot *t, const fragment *f, glv_error *err);

#endif
