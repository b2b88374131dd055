/**
 * @file commit_private.h
 * The stages of a commit: plan (operation to transaction), conflict rules, manifest building,
 * publishing.
 */
#ifndef GLAIVE_TABLE_COMMIT_PRIVATE_H
#define GLAIVE_TABLE_COMMIT_PRIVATE_H

#include "table/stage_private.h"
#include "table/table_private.h"

/** A larger transaction stands in its file only. */
#define TRANSACTION_LARGEST_INLINE (20u << 20)

/** A fragment that stays, with its whole new message. */
typedef struct planned_update {
  uint64_t id; /* first member: the array is searched by it */
  str raw;
  bool has_deletions;
  /* Delete, Update: */
  const fragment *at_base;
  bitmap *affected; /* owned: rows that were live at the base and go */
  const char *deletion_name;
  bool is_stale; /* somebody else deleted rows of it since */
} planned_update;

/** A new fragment. */
typedef struct planned_fragment {
  /** Without an id, unless one was reserved; row ids of the rows that were known before; row
   * versions only when all of them are given. */
  Lance__Table__DataFragment message;
  uint64_t known_rows; /* leading rows that have row ids already */
  const version_run *created;
  size_t created_count;
} planned_fragment;

/** An operation ready to be committed on any version. Lives as long as its arena. */
typedef struct commit_plan {
  glv_env *env; /* borrowed, as everything else from outside */
  table_home *home;
  const table_snapshot *base; /* NULL when a table is created */
  const operation *op;
  arena memory;
  char uuid[37];
  uint64_t read_version;
  str transaction; /* serialized */
  char transaction_name[NAME_SIZE];
  planned_fragment *fragments;
  size_t fragment_count;
  planned_update *updated; /* by ascending id */
  size_t updated_count;
  uint64_t *removed_ids; /* ascending */
  size_t removed_count;
  table_snapshot *restored; /* Restore: a reference to the version that comes back */
  void *deletion_dir;       /* open while its files are synced */
  bool wrote_transaction;
  void *transaction_file; /* written, not synced yet; NULL = none */
  void *transaction_dir;
  sync_group syncs;
  uint64_t next_row_id; /* enables_row_ids: the first id that is not given */
  /* creation only */
  bool stable_row_ids;
  const char *data_version;
} commit_plan;

/** Writes the deletion files and serializes the transaction. plan_dispose in every case. */
glv_status plan_make(table_home *h, const table_snapshot *base, const operation *op,
                     commit_plan *ret, glv_error *err);
/**
 * Adapt a Delete or an Update to commits that were found compatible: rows that others deleted in
 * the same fragments join those of the plan. @param latest the newest of these commits.
 * Errors: GLV_E_CONFLICT (may retry) when both deleted the same row.
 */
glv_status plan_catch_up(commit_plan *p, const table_snapshot *latest, glv_error *err);
/** The update of a fragment, or NULL. */
planned_update *plan_find_update(const commit_plan *p, uint64_t id);
bool plan_removes(const commit_plan *p, uint64_t id);
/** Wait until everything that a manifest of this plan refers to is durable. */
glv_status plan_wait(commit_plan *p, glv_error *err);
/** Remove what the plan wrote: after a failure that is certain. */
void plan_undo(commit_plan *p);
void plan_dispose(commit_plan *p);

/* Parts of a plan (plan_fragments.c, plan_deletions.c, plan_messages.c). */

/** Fills fragments from the staged files and the origin of their rows. */
glv_status plan_new_fragments(commit_plan *p, glv_error *err);
/** Rewrite: fills removed_ids with the old fragments of all groups. */
glv_status plan_groups(commit_plan *p, glv_error *err);
/** Merge: fills updated with the fragments that get column files. */
glv_status plan_column_files(commit_plan *p, glv_error *err);
/** Merge that enables row ids: fills updated with all fragments, and next_row_id. */
glv_status plan_row_ids(commit_plan *p, glv_error *err);
/** Fills updated and removed_ids; writes deletion files. */
glv_status plan_deletions(commit_plan *p, glv_error *err);
/** Writes deletion files anew where somebody else deleted rows of the same fragment. */
glv_status plan_join_deletions(commit_plan *p, const table_snapshot *latest, glv_error *err);
/** Serializes the transaction. */
glv_status plan_message(commit_plan *p, glv_error *err);
/** Remove a file of the table; best effort. */
void plan_remove_file(const commit_plan *p, const char *folder, const char *name);

int compare_u64(const void *a, const void *b); /* for qsort, bsearch */

/** Create a file with that content and leave it open, not synced. After a failure it is gone. */
glv_status write_open_file(glv_env *env, void *dir, const char *name, str bytes, void **ret,
                           glv_error *err);

/** The verdict on a commit of somebody else that came first. */
enum verdict { VERDICT_COMPATIBLE, VERDICT_RETRY, VERDICT_INCOMPATIBLE };
/** Marks the updates of ours that have to be joined with deletions of theirs (plan_catch_up). */
enum verdict conflict_check(const commit_plan *ours, const transaction *theirs);

/**
 * Build the manifest file that follows `latest` (NULL: version 1). Pure: the same input gives the
 * same bytes.
 */
glv_status manifest_build(const commit_plan *p, const table_snapshot *latest, int64_t now_ns,
                          buf *out, glv_error *err);

/* Metadata of a manifest under construction (build_metadata.c). */

glv_status manifest_set_metadata(arena *a, Lance__Table__Manifest *m, metadata pairs,
                                 glv_error *err);
/** The changes of an Update or an UpdateConfig. Errors: GLV_E_INVALID_INPUT for an unknown field.
 */
glv_status manifest_change_metadata(arena *a, Lance__Table__Manifest *m,
                                    const table_snapshot *latest, const operation *op,
                                    glv_error *err);
/** Fields of m that latest has too keep the metadata they have there. */
glv_status manifest_keep_field_metadata(arena *a, Lance__Table__Manifest *m,
                                        const Lance__Table__Manifest *latest, glv_error *err);

/** Index metadata kept by an operation that changes fragments or schema: the *retain* rule.
 * kept[i] tells of index i. field_ids: of the new schema, ascending. live: ids of the fragments of
 * the new version, ascending. */
glv_status indexes_retain(const table_snapshot *latest, const int32_t *field_ids,
                          size_t field_count, const uint64_t *live, size_t live_count, bool *kept,
                          glv_error *err);
/**
 * The message of index i after fragments were rewritten: an index that names rows by stable row id
 * follows them when it covers a whole group; every other message stays as it is.
 */
glv_status indexes_follow_rewrite(const commit_plan *p, const table_snapshot *latest, size_t i,
                                  arena *a, str *ret, glv_error *err);

enum publish_outcome { PUBLISH_DONE, PUBLISH_LOST, PUBLISH_FAILED, PUBLISH_UNKNOWN };

/** Write the .txn file. It becomes durable together with the manifest. */
glv_status publish_transaction(commit_plan *p, glv_error *err);
/**
 * Stage and publish a manifest file.
 * @return PUBLISH_LOST: the version is taken by somebody else, err is untouched; else err tells.
 */
enum publish_outcome publish_manifest(commit_plan *p, uint64_t version, bool v1, str bytes,
                                      glv_error *err);

/** Version 1 of a table whose directory was made; op is an OPERATION_OVERWRITE. Errors:
 * GLV_E_TABLE_EXISTS when somebody else was first; else as table_commit. */
glv_status commit_create(table_home *h, const operation *op, bool stable_row_ids,
                         const char *data_version, table_snapshot **ret, glv_error *err);

#endif
