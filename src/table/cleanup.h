/**
 * @file cleanup.h
 * Removing versions that nobody needs any more, with the files that only they refer to
 * (lance-table-format 16.5). Makes no commit.
 */
#ifndef GLAIVE_TABLE_CLEANUP_H
#define GLAIVE_TABLE_CLEANUP_H

#include "table/table.h"

/** Files that no version refers to may belong to a commit that is being made: they stay until they
 * are this old. */
#define CLEANUP_GRACE_NS (INT64_C(7) * 24 * 3600 * 1000000000)

typedef struct cleanup_options {
  int64_t older_than_ns; /* only versions committed longer ago than this go; >= 0 */
  const uint64_t *keep;  /* versions that must stay whatever their age; any order */
  size_t keep_count;
  uint64_t keep_from;   /* so must all from this one on; 0 = none */
  bool refuse_tagged;   /* a tagged version of that age is an error; else it just stays */
  bool dry_run;         /* tell what would go */
  cancel_token *cancel; /* polled between files; may be NULL */
} cleanup_options;

typedef struct cleanup_result {
  uint64_t versions; /* removed, as all that follows */
  uint64_t data_files;
  uint64_t deletion_files;
  uint64_t transaction_files;
  uint64_t index_files;
  uint64_t bytes; /* manifests included */
} cleanup_result;

/**
 * Remove old versions of the table that t belongs to. Stay: the latest, tagged ones, those that
 * branches begin at, those that some snapshot in this environment stands at, those of options, and
 * every file that a version that stays, or one of a branch, refers to.
 *
 * @param t    any version of the main branch.
 * @param ret  filled on success.
 * Errors: GLV_E_CORRUPT and the like when a manifest, tag or branch cannot be read (nothing is
 * removed then); GLV_E_BAD_STATE with refuse_tagged; GLV_E_UNSUPPORTED for a branch and for
 * features that this release does not write; GLV_E_IO: the first file that could not be removed;
 * the others were. Thread class: T.
 */
glv_status table_cleanup_versions(const table_snapshot *t, const cleanup_options *options,
                                  cleanup_result *ret, glv_error *err);

#endif
