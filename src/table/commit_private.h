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
  uint64_t id;
  str raw;
} planned_update;

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
  Lance__Table__DataFragment *new_fragments; /* without ids, row ids and versions */
  size_t new_count;
  planned_update *updated; /* by ascending id */
  size_t updated_count;
  uint64_t *removed_ids;
  size_t removed_count;
  const char **deletion_names; /* files written for this operation */
  size_t deletion_count;
  void *deletion_dir; /* open while its files are synced */
  bool wrote_transaction;
  void *transaction_file; /* written, not synced yet; NULL = none */
  void *transaction_dir;
  sync_group syncs;
  /* creation only */
  bool stable_row_ids;
  const char *data_version;
} commit_plan;

/** Writes the deletion files and serializes the transaction. plan_dispose in every case. */
glv_status plan_make(table_home *h, const table_snapshot *base, const operation *op,
                     commit_plan *ret, glv_error *err);
/** The update of a fragment, or NULL. */
const planned_update *plan_find_update(const commit_plan *p, uint64_t id);
/** Wait until everything that a manifest of this plan refers to is durable. */
glv_status plan_wait(commit_plan *p, glv_error *err);
/** Remove what the plan wrote: after a failure that is certain. */
void plan_undo(commit_plan *p);
void plan_dispose(commit_plan *p);

/** Create a file with that content and leave it open, not synced. After a failure it is gone. */
glv_status write_open_file(glv_env *env, void *dir, const char *name, str bytes, void **ret,
                           glv_error *err);

/** The verdict on a commit of somebody else that came first. */
enum verdict { VERDICT_COMPATIBLE, VERDICT_RETRY, VERDICT_INCOMPATIBLE };
enum verdict conflict_check(const operation *ours, const transaction *theirs);

/**
 * Build the manifest file that follows `latest` (NULL: version 1). Pure: the same input gives the
 * same bytes.
 */
glv_status manifest_build(const commit_plan *p, const table_snapshot *latest, int64_t now_ns,
                          buf *out, glv_error *err);

/** Index metadata kept by an operation that changes fragments or schema: the *retain* rule.
 * kept[i] tells of index i. live: ids of the fragments of the new version, ascending. */
glv_status indexes_retain(const table_snapshot *latest, const lance_schema *s, const uint64_t *live,
                          size_t live_count, bool *kept, glv_error *err);

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
