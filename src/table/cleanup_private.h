/**
 * @file cleanup_private.h
 * The two halves of a cleanup: which files are referred to, and removing the others.
 */
#ifndef GLAIVE_TABLE_CLEANUP_PRIVATE_H
#define GLAIVE_TABLE_CLEANUP_PRIVATE_H

#include "base/hash.h"
#include "table/cleanup.h"
#include "table/table_private.h"

/** Who refers to a file. */
enum { REFERRED_BY_KEPT = 1, REFERRED_BY_REMOVED = 2 };

/** Files that versions refer to, by their path below the table; an index by its directory. */
typedef struct file_refs {
  arena names;
  map flags; /* REFERRED_* bits */
} file_refs;

void refs_init(file_refs *r, glv_env *env);
void refs_dispose(file_refs *r);
/** Note every file below the table that t refers to. */
glv_status refs_add(file_refs *r, const table_snapshot *t, uint64_t flag, glv_error *err);
/**
 * Note what the versions of all branches refer to as kept: every directory below `tree` that has
 * manifests, whether a branch is registered or not.
 */
glv_status refs_add_branches(file_refs *r, const table_home *h, glv_error *err);
/** The versions of the main branch that branches begin at, in an array of arena. */
glv_status branch_starts(const table_home *h, arena *a, uint64_t **ret, size_t *ret_count,
                         glv_error *err);

/**
 * Remove, or with dry_run count, the files that no version that stays refers to: those that a
 * removed one refers to, and those that nobody does once they are older than the grace time.
 *
 * @param ret  counts are added to. Errors: those of listing; the first of removing, after all
 * others were tried.
 */
glv_status sweep_files(const table_home *h, const file_refs *r, const cleanup_options *options,
                       cleanup_result *ret, glv_error *err);

#endif
