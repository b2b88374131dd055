/**
 * @file tags.h
 * Names for versions, and the branches of a table: what `_refs` says (lance-table-format 16.2,
 * 16.3). Neither makes a commit.
 */
#ifndef GLAIVE_TABLE_TAGS_H
#define GLAIVE_TABLE_TAGS_H

#include "base/arena.h"
#include "base/json.h"
#include "table/table.h"

/** One tag. Lives in the arena it was read into. */
typedef struct table_tag {
  const char *name;
  const char *branch; /* NULL = the main one */
  uint64_t version;   /* of that branch; need not exist any more */
  bool has_created;
  bool has_updated;
  int64_t created_ns; /* since the epoch */
  int64_t updated_ns;
  uint64_t manifest_bytes; /* of the version's manifest; 0 = not told */
} table_tag;

/** All tags, by name in byte order. Errors: GLV_E_CORRUPT for a file that is no tag; GLV_E_IO;
 * GLV_E_UNSUPPORTED when t is a branch: its root has the tags. Thread class: T. */
glv_status table_tags(const table_snapshot *t, arena *a, table_tag **ret, size_t *ret_count,
                      glv_error *err);
/** The tag of that name. Errors: as table_tags; GLV_E_TAG_NOT_FOUND. */
glv_status table_tag_find(const table_snapshot *t, const char *name, arena *a, table_tag *ret,
                          glv_error *err);

/**
 * Name a version of the main branch.
 *
 * @param version  must exist.
 * @param move     a tag of that name is moved (it keeps its creation time and metadata), else
 *                 GLV_E_TAG_EXISTS.
 * Errors: GLV_E_INVALID_INPUT for a bad name (ASCII letters, digits, `.`, `-`, `_`; no dot first,
 * last or twice in a row; not ending in `.lock`), GLV_E_VERSION_NOT_FOUND, GLV_E_TABLE_NOT_FOUND
 * when the table was dropped, GLV_E_IO. Thread class: T.
 */
glv_status table_tag_set(const table_snapshot *t, const char *name, uint64_t version, bool move,
                         glv_error *err);
/** Errors: GLV_E_TAG_NOT_FOUND; as table_tag_set. */
glv_status table_tag_drop(const table_snapshot *t, const char *name, glv_error *err);

/**
 * The directory of a branch, to be given to table_open.
 *
 * @param root  of the table. Errors: GLV_E_INVALID_INPUT for a name that no branch can have;
 * GLV_E_NOMEM. Whether it exists is not looked at.
 */
glv_status table_branch_path(arena *a, const char *root, const char *branch, char **ret,
                             glv_error *err);
/** The branch that t belongs to, or NULL = the main one. */
const char *table_branch(const table_snapshot *t);

#endif
