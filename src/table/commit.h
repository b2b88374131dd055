/**
 * @file commit.h
 * Making a new version: an operation, computed from one snapshot, becomes a transaction and a
 * manifest, and the manifest is published under a name that nobody else can take.
 */
#ifndef GLAIVE_TABLE_COMMIT_H
#define GLAIVE_TABLE_COMMIT_H

#include "base/bitmap.h"
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

/** A fragment that stays with more of its rows deleted. */
typedef struct deletion_update {
  uint64_t fragment_id;
  const bitmap *deleted; /* the complete new set: old and new deletions */
} deletion_update;

/** One key of a metadata map. value.data NULL = remove the key. */
typedef struct metadata_change {
  str key;
  str value;
} metadata_change;

/**
 * What to commit. Only the members of its kind are looked at; everything is borrowed for the call.
 *
 * OPERATION_APPEND         rows
 * OPERATION_OVERWRITE      rows, schema
 * OPERATION_UPDATE         rows, removed, updated, filter_*, changes: must be strict
 * OPERATION_UPDATE_CONFIG  changes (schema metadata, merge mode)
 */
typedef struct operation {
  enum operation_kind kind;
  const staged *rows;         /* new fragments; NULL = none */
  const lance_schema *schema; /* with its metadata */
  const uint64_t *removed;    /* ids of fragments that go */
  size_t removed_count;
  const deletion_update *updated; /* one whose rows are all deleted is removed instead */
  size_t updated_count;
  const int32_t *filter_fields; /* the key-existence filter: ids of the key fields; NULL = none */
  size_t filter_field_count;
  str filter_bloom; /* bytes of bloom_bytes */
  /** Schema metadata keys that change in the very same version. */
  const metadata_change *changes;
  size_t change_count;
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
