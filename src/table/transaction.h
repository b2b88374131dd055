/**
 * @file transaction.h
 * What the commit of a version did, read from its manifest or its transaction file.
 */
#ifndef GLAIVE_TABLE_TRANSACTION_H
#define GLAIVE_TABLE_TRANSACTION_H

#include "base/arena.h"
#include "table/commit.h"

/** A transaction. Members that its kind does not have are empty. Lives in the arena it was read
 * into. */
typedef struct transaction {
  enum operation_kind
      kind; /* OPERATION_UNKNOWN: a number that this release does not know, or none */
  uint64_t read_version;
  const char *uuid;
  /** Append, Overwrite, Rewrite, Merge (all fragments of the result), Update: new fragments. As
   * recorded: new ones usually have id 0 and no row ids. */
  const fragment *new_fragments;
  size_t new_fragment_count;
  /** Delete, Update: fragments that stay, as recorded; Rewrite: the old ones. */
  const fragment *updated_fragments;
  size_t updated_fragment_count;
  /** Delete, Update. */
  const uint64_t *removed_ids;
  size_t removed_count;
  /** Overwrite, Merge, Project: the new schema, without schema metadata. */
  const lance_schema *schema;
  bool preserves_nullability; /* Merge, Project */
  /** Update: ids of fields changed in place. */
  const uint32_t *fields_modified;
  size_t fields_modified_count;
  bool moves_rows; /* Update: not in rewrite-columns mode */
  /** Update: the key-existence filter of inserted rows; exact hashes or the bytes of a Bloom
   * filter.
   */
  bool has_filter;
  const int32_t *filter_fields;
  size_t filter_field_count;
  bool has_exact_filter;
  const uint64_t *filter_hashes;
  size_t filter_hash_count;
  str filter_bloom;
  uint64_t filter_items;
  double filter_probability;
  /** DataReplacement, DataOverlay: the new files and the fragments they go to. */
  const data_file *new_files;
  const uint64_t *new_file_fragments;
  size_t new_file_count;
  /** CreateIndex. */
  const char *const *added_indexes;
  const str *added_index_fragments; /* bitmaps of the fragments they cover; empty = unknown */
  size_t added_index_count;
  const char *const *removed_indexes;
  size_t removed_index_count;
  /** UpdateConfig (both encodings), Overwrite (config only). */
  metadata_update config;
  metadata_update table_metadata;
  metadata_update schema_metadata;
  /** UpdateConfig: ids of the fields whose metadata changes, one update each. */
  const int32_t *metadata_fields;
  const metadata_update *field_metadata;
  size_t metadata_field_count;
  /** Restore. */
  uint64_t restored_version;
} transaction;

/**
 * Read the transaction of a version of the table, through the directory handle of t.
 *
 * @param version  any existing version; that of t itself needs no second look at the manifest.
 * Errors: GLV_E_VERSION_NOT_FOUND when the version does not exist; GLV_E_TRANSACTION_NOT_FOUND when
 * it carries no transaction and its file is absent; GLV_E_CORRUPT; GLV_E_IO; GLV_E_NOMEM.
 * Thread class: T.
 */
glv_status transaction_read(const table_snapshot *t, uint64_t version, arena *a, transaction **ret,
                            glv_error *err);

#endif
