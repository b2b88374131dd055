/**
 * @file commit.h
 * Making a new version: an operation, computed from one snapshot, becomes a transaction and a
 * manifest, and the manifest is published under a name that nobody else can take.
 */
#ifndef GLAIVE_TABLE_COMMIT_H
#define GLAIVE_TABLE_COMMIT_H

#include "base/bitmap.h"
#include "table/row_ids.h"
#include "table/table.h"
#include "table/write.h"

/** Numbers of the operations in transactions. */
enum operation_kind {
  OPERATION_UNKNOWN = 0,
  OPERATION_APPEND = 100,
  OPERATION_DELETE = 101,
  OPERATION_OVERWRITE = 102,
  OPERATION_CREATE_INDEX = 103,
  OPERATION_REWRITE = 104,
  OPERATION_MERGE = 105,
  OPERATION_RESTORE = 106,
  OPERATION_RESERVE_FRAGMENTS = 107,
  OPERATION_UPDATE = 108,
  OPERATION_PROJECT = 109,
  OPERATION_UPDATE_CONFIG = 110,
  OPERATION_DATA_REPLACEMENT = 111,
  OPERATION_UPDATE_MEM_WAL_STATE = 112,
  OPERATION_CLONE = 113,
  OPERATION_UPDATE_BASES = 114,
  OPERATION_DATA_OVERLAY = 115,
};
/** "Append", ..., "Unknown". */
const char *operation_name(enum operation_kind kind);

/** Rows of a fragment that an operation deletes (or moves elsewhere). */
typedef struct deletion_update {
  uint64_t fragment_id;
  /** Their offsets; what was deleted before need not be among them. When another writer deleted
   * other rows of the fragment meanwhile, both sets are deleted; the same row is a conflict. */
  const bitmap *deleted;
} deletion_update;

/** One key of a metadata map. value.data NULL = remove the key. */
typedef struct metadata_change {
  str key;
  str value;
} metadata_change;

/** Changes of one metadata map. */
typedef struct metadata_update {
  bool is_present;
  bool replace; /* the map is emptied first */
  const metadata_change *changes;
  size_t count;
} metadata_update;

/**
 * Who the first of the staged rows are: rows that stood in the table before and keep their
 * identity (stable row ids only; without them an operation has no origin). In the order of the
 * rows. Rows behind them are new.
 */
typedef struct row_origin {
  const uint64_t *ids;
  size_t count;
  const version_run *created; /* created_at versions of these rows */
  size_t created_count;
  const version_run *updated; /* last_updated_at; NULL = the version of this commit */
  size_t updated_count;
} row_origin;

/** Fragments that a compaction replaces by the next `new_count` staged files. */
typedef struct rewrite_group {
  const uint64_t *old_ids; /* ascending */
  size_t old_count;
  size_t new_count; /* may be 0: no row was left */
} rewrite_group;

/**
 * What to commit. Only the members of its kind are looked at; everything is borrowed for the call.
 *
 * OPERATION_APPEND            rows
 * OPERATION_DELETE            removed, updated, predicate
 * OPERATION_OVERWRITE         rows, schema
 * OPERATION_REWRITE           rows, origin (all rows; with updated), groups, first_id
 * OPERATION_MERGE             schema, preserves_nullability, rows with targets: column files; or
 *                             enables_row_ids alone, strictly
 * OPERATION_RESTORE           restored_version
 * OPERATION_RESERVE_FRAGMENTS reserved
 * OPERATION_UPDATE            rows, origin, removed, updated, filter_*, fields_set, changes; with
 *                             changes it must be strict
 * OPERATION_PROJECT           schema, preserves_nullability
 * OPERATION_UPDATE_CONFIG     changes, config, table_metadata, field_metadata
 */
typedef struct operation {
  enum operation_kind kind;
  const staged *rows; /* new fragments (Merge: files of existing ones); NULL = none */
  const row_origin *origin;
  const lance_schema *schema; /* Overwrite: with its metadata. Merge, Project: the fields; the
                                 metadata of the table and of fields that stay is kept */
  bool preserves_nullability; /* no column stops accepting nulls */
  bool enables_row_ids;       /* every row of a table without stable row ids gets one */
  const uint64_t *targets;    /* one fragment id for each file of rows */
  const uint64_t *removed;    /* ids of fragments that go whole */
  size_t removed_count;
  const deletion_update *updated; /* one whose rows are then all deleted is removed instead */
  size_t updated_count;
  str predicate;                /* for the record */
  const int32_t *filter_fields; /* the key-existence filter: ids of the key fields; NULL = none */
  size_t filter_field_count;
  str filter_bloom; /* bytes of bloom_bytes */
  /** Ids of the fields, children included, whose values an update changed. */
  const uint32_t *fields_set;
  size_t fields_set_count;
  const rewrite_group *groups;
  size_t group_count;
  uint64_t first_id; /* reserved ids of the new fragments: this and the next ones */
  uint32_t reserved; /* ids to reserve */
  uint64_t restored_version;
  /** Schema metadata keys that change in the very same version, in merge mode. */
  const metadata_change *changes;
  size_t change_count;
  metadata_update config;
  metadata_update table_metadata;
  const int32_t *metadata_fields; /* fields whose metadata changes, one update each */
  const metadata_update *field_metadata;
  size_t metadata_field_count;
} operation;

typedef struct commit_options {
  /** Publish exactly the version after base, or nothing: GLV_E_CONFLICT (may retry) when somebody
   * else has taken it. */
  bool strict;
  cancel_token *cancel; /* polled before each attempt; may be NULL */
} commit_options;

/**
 * Commit an operation that was computed from `base`.
 *
 * @param options       NULL = defaults.
 * @param ret           the new version; may be NULL.
 * @param ret_attempts  tries; 1 = nobody interfered; may be NULL.
 *
 * Outcomes: GLV_OK = visible and durable. GLV_E_CONFLICT = nothing of it is visible, somebody
 * else's commit stands against it; flag GLV_ERROR_MAY_RETRY when computing the operation again on
 * the latest version can succeed. GLV_E_UNKNOWN_OUTCOME = the publishing step may or may not have
 * happened; staged files must be kept (staged_free). Every other status = certainly not visible.
 * GLV_E_TABLE_NOT_FOUND: the table was dropped meanwhile (and perhaps another made under its path,
 * which is untouched). GLV_E_UNSUPPORTED: the latest version has a feature that this release cannot
 * write. Staged files are never removed here. Thread class: T.
 */
glv_status table_commit(const table_snapshot *base, const operation *op,
                        const commit_options *options, table_snapshot **ret, uint32_t *ret_attempts,
                        glv_error *err);

#endif
