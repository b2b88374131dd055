/* Reading transactions (lance-table-format 3.5, 10).
 *
 * The inline copy of the manifest is preferred (field 23, or 21 of older engines), then the file in
 * `_transactions`. The unpacked message is turned into the plain struct of transaction.h, so that
 * nobody outside needs to know protobuf. A known operation keeps its number; any other number, or
 * none, is OPERATION_UNKNOWN.
 */
#include "table/transaction.h"

#include <stdio.h>

#include "table/table_private.h"

glv_status transaction_bytes(const table_snapshot *t, arena *a, str *ret, glv_error *err) {
  if (t->transaction.data != NULL) {
    *ret = t->transaction;
    return GLV_OK;
  }
  glv_env *env = t->home->env;
  const str name = str_of(t->manifest->transaction_file);
  const unsigned long long version = t->manifest->version;
  if (name.size == 0) {
    return FAIL(err, GLV_E_TRANSACTION_NOT_FOUND,
                "table '%s': Dataset version %llu does not have a transaction file", t->home->name,
                version);
  }
  char *path;
  TRY(table_base_path(t, false, 0, "_transactions", name, a, &path, err));
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, env, LIMIT_MANIFEST_BYTES);
  glv_error report = {0};
  if (io_read_file(env, NULL, path, LIMIT_MANIFEST_BYTES, &bytes, &report) != GLV_OK) {
    return io_is_missing(&report)
               ? FAIL(err, GLV_E_TRANSACTION_NOT_FOUND,
                      "table '%s': the transaction file of version %llu is missing", t->home->name,
                      version)
               : pass_report(err, &report);
  }
  char *copy = arena_alloc(a, bytes.size);
  if (copy == NULL) {
    return error_nomem(err, bytes.size);
  }
  if (bytes.size > 0) {
    memcpy(copy, bytes.data, bytes.size);
  }
  *ret = str_slice(copy, bytes.size);
  return GLV_OK;
}

glv_status transaction_unpack(arena *a, str bytes, const char *what,
                              Lance__Table__Transaction **ret, glv_error *err) {
  ProtobufCMessage *message;
  TRY(pb_unpack(a, bytes, &lance__table__transaction__descriptor, what, &message, err));
  *ret = (Lance__Table__Transaction *)message;
  return GLV_OK;
}

enum operation_kind transaction_kind(const Lance__Table__Transaction *m) {
  /* The cases of the oneof are the field numbers, which are the numbers of the operations. */
  return (enum operation_kind)m->operation_case;
}

static const char *const operation_names[] = {
    "Append",       "Delete",          "Overwrite",         "CreateIndex", "Rewrite",
    "Merge",        "Restore",         "ReserveFragments",  "Update",      "Project",
    "UpdateConfig", "DataReplacement", "UpdateMemWalState", "Clone",       "UpdateBases",
    "DataOverlay"};

const char *operation_name(enum operation_kind kind) {
  return kind >= OPERATION_APPEND && kind <= OPERATION_DATA_OVERLAY
             ? operation_names[kind - OPERATION_APPEND]
             : "Unknown";
}

/* ---- parts ---- */

static glv_status read_fragments(arena *a, const ProtobufCBinaryData *raw, size_t count,
                                 const char *what, const fragment **ret, size_t *ret_count,
                                 glv_error *err) {
  fragment *fragments = ARENA_ARRAY(a, fragment, count);
  if (fragments == NULL) {
    return error_nomem(err, count * sizeof *fragments);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(fragment_decode(a, str_of_binary(raw[i]), what, &fragments[i], err));
  }
  *ret = fragments;
  *ret_count = count;
  return GLV_OK;
}

static glv_status read_schema(arena *a, Lance__File__Field *const *fields, size_t count,
                              const lance_schema **ret, glv_error *err) {
  lance_schema *s;
  TRY(lance_schema_from_messages(a, fields, count, (metadata){0}, &s, err));
  *ret = s;
  return GLV_OK;
}

static glv_status read_update_map(arena *a, const Lance__Table__UpdateMap *m, metadata_update *ret,
                                  glv_error *err) {
  if (m == NULL) {
    return GLV_OK;
  }
  metadata_change *changes = ARENA_ARRAY(a, metadata_change, m->n_update_entries);
  if (changes == NULL) {
    return error_nomem(err, m->n_update_entries * sizeof *changes);
  }
  for (size_t i = 0; i < m->n_update_entries; i++) {
    const Lance__Table__UpdateMapEntry *e = m->update_entries[i];
    changes[i].key = str_of(e->key);
    if (e->opt_value_case == LANCE__TABLE__UPDATE_MAP_ENTRY__OPT_VALUE_VALUE) {
      changes[i].value = str_of(e->value);
    }
  }
  *ret = (metadata_update){true, m->replace != 0, changes, m->n_update_entries};
  return GLV_OK;
}

/* The older encoding: a map of new values and a list of removed keys. */
static glv_status read_old_map(arena *a, Lance__Table__StringEntry *const *entries, size_t count,
                               char *const *removed, size_t removed_count, bool replace,
                               metadata_update *ret, glv_error *err) {
  if (count + removed_count == 0) {
    return GLV_OK;
  }
  metadata_change *changes = ARENA_ARRAY(a, metadata_change, count + removed_count);
  if (changes == NULL) {
    return error_nomem(err, (count + removed_count) * sizeof *changes);
  }
  for (size_t i = 0; i < count; i++) {
    changes[i] = (metadata_change){str_of(entries[i]->key), str_of(entries[i]->value)};
  }
  for (size_t i = 0; i < removed_count; i++) {
    changes[count + i].key = str_of(removed[i]);
  }
  *ret = (metadata_update){true, replace, changes, count + removed_count};
  return GLV_OK;
}

static glv_status read_field_updates(arena *a, const Lance__Table__UpdateConfig *m,
                                     transaction *ret, glv_error *err) {
  const size_t count = m->n_field_metadata_updates + m->n_field_metadata;
  int32_t *fields = ARENA_ARRAY(a, int32_t, count);
  metadata_update *updates = ARENA_ARRAY(a, metadata_update, count);
  if (fields == NULL || updates == NULL) {
    return error_nomem(err, count * sizeof *updates);
  }
  size_t at = 0;
  for (size_t i = 0; i < m->n_field_metadata_updates; i++, at++) {
    fields[at] = m->field_metadata_updates[i]->key;
    TRY(read_update_map(a, m->field_metadata_updates[i]->value, &updates[at], err));
  }
  for (size_t i = 0; i < m->n_field_metadata; i++, at++) {
    const Lance__Table__FieldMetadata *old = m->field_metadata[i]->value;
    fields[at] = (int32_t)m->field_metadata[i]->key;
    if (old != NULL) {
      TRY(read_old_map(a, old->metadata, old->n_metadata, NULL, 0, true, &updates[at], err));
    }
  }
  ret->metadata_fields = fields;
  ret->field_metadata = updates;
  ret->metadata_field_count = count;
  return GLV_OK;
}

static glv_status read_update_config(arena *a, const Lance__Table__UpdateConfig *m,
                                     transaction *ret, glv_error *err) {
  TRY(read_update_map(a, m->config_updates, &ret->config, err));
  TRY(read_update_map(a, m->table_metadata_updates, &ret->table_metadata, err));
  TRY(read_update_map(a, m->schema_metadata_updates, &ret->schema_metadata, err));
  if (!ret->config.is_present) {
    TRY(read_old_map(a, m->upsert_values, m->n_upsert_values, m->delete_keys, m->n_delete_keys,
                     false, &ret->config, err));
  }
  if (!ret->schema_metadata.is_present) {
    TRY(read_old_map(a, m->schema_metadata, m->n_schema_metadata, NULL, 0, true,
                     &ret->schema_metadata, err));
  }
  return read_field_updates(a, m, ret, err);
}

static glv_status read_index_names(arena *a, Lance__Table__IndexMetadata *const *indexes,
                                   size_t count, const char *const **ret, size_t *ret_count,
                                   glv_error *err) {
  const char **names = ARENA_ARRAY(a, const char *, count);
  if (names == NULL) {
    return error_nomem(err, count * sizeof *names);
  }
  for (size_t i = 0; i < count; i++) {
    names[i] = indexes[i]->name;
  }
  *ret = names;
  *ret_count = count;
  return GLV_OK;
}

static glv_status read_create_index(arena *a, const Lance__Table__CreateIndex *m, transaction *ret,
                                    glv_error *err) {
  str *covered = ARENA_ARRAY(a, str, m->n_new_indices);
  if (covered == NULL) {
    return error_nomem(err, m->n_new_indices * sizeof *covered);
  }
  for (size_t i = 0; i < m->n_new_indices; i++) {
    covered[i] = str_of_binary(m->new_indices[i]->fragment_bitmap);
  }
  ret->added_index_fragments = covered;
  TRY(read_index_names(a, m->new_indices, m->n_new_indices, &ret->added_indexes,
                       &ret->added_index_count, err));
  return read_index_names(a, m->removed_indices, m->n_removed_indices, &ret->removed_indexes,
                          &ret->removed_index_count, err);
}

static void read_filter(const Lance__Table__KeyExistenceFilter *m, transaction *ret) {
  if (m == NULL) {
    return;
  }
  ret->has_filter = true;
  ret->filter_fields = m->field_ids;
  ret->filter_field_count = m->n_field_ids;
  if (m->data_case == LANCE__TABLE__KEY_EXISTENCE_FILTER__DATA_EXACT) {
    ret->has_exact_filter = true;
    ret->filter_hashes = m->exact->key_hashes;
    ret->filter_hash_count = m->exact->n_key_hashes;
  } else if (m->data_case == LANCE__TABLE__KEY_EXISTENCE_FILTER__DATA_BLOOM) {
    ret->filter_bloom = str_of_binary(m->bloom->bitmap);
    ret->filter_items = m->bloom->number_of_items;
    ret->filter_probability = m->bloom->probability;
  }
}

static glv_status read_update(arena *a, const Lance__Table__Update *m, const char *what,
                              transaction *ret, glv_error *err) {
  ret->removed_ids = m->removed_fragment_ids;
  ret->removed_count = m->n_removed_fragment_ids;
  ret->fields_modified = m->fields_modified;
  ret->fields_modified_count = m->n_fields_modified;
  ret->moves_rows = m->update_mode == 0;
  read_filter(m->inserted_rows, ret);
  TRY(read_fragments(a, m->updated_fragments, m->n_updated_fragments, what, &ret->updated_fragments,
                     &ret->updated_fragment_count, err));
  return read_fragments(a, m->new_fragments, m->n_new_fragments, what, &ret->new_fragments,
                        &ret->new_fragment_count, err);
}

static glv_status read_rewrite(arena *a, const Lance__Table__Rewrite *m, const char *what,
                               transaction *ret, glv_error *err) {
  size_t old_count = m->n_old_fragments;
  size_t new_count = m->n_new_fragments;
  for (size_t i = 0; i < m->n_groups; i++) {
    old_count += m->groups[i]->n_old_fragments;
    new_count += m->groups[i]->n_new_fragments;
  }
  ProtobufCBinaryData *old = ARENA_ARRAY(a, ProtobufCBinaryData, old_count);
  ProtobufCBinaryData *fresh = ARENA_ARRAY(a, ProtobufCBinaryData, new_count);
  if (old == NULL || fresh == NULL) {
    return error_nomem(err, (old_count + new_count) * sizeof *old);
  }
  old_count = 0;
  new_count = 0;
  for (size_t i = 0; i < m->n_old_fragments; i++) {
    old[old_count++] = m->old_fragments[i];
  }
  for (size_t i = 0; i < m->n_new_fragments; i++) {
    fresh[new_count++] = m->new_fragments[i];
  }
  for (size_t i = 0; i < m->n_groups; i++) {
    for (size_t k = 0; k < m->groups[i]->n_old_fragments; k++) {
      old[old_count++] = m->groups[i]->old_fragments[k];
    }
    for (size_t k = 0; k < m->groups[i]->n_new_fragments; k++) {
      fresh[new_count++] = m->groups[i]->new_fragments[k];
    }
  }
  TRY(read_fragments(a, old, old_count, what, &ret->updated_fragments, &ret->updated_fragment_count,
                     err));
  return read_fragments(a, fresh, new_count, what, &ret->new_fragments, &ret->new_fragment_count,
                        err);
}

/* Room for count new files and the ids of their fragments. */
static glv_status new_file_arrays(arena *a, size_t count, data_file **ret_files, uint64_t **ret_ids,
                                  transaction *ret, glv_error *err) {
  *ret_files = ARENA_ARRAY(a, data_file, count);
  *ret_ids = ARENA_ARRAY(a, uint64_t, count);
  if (*ret_files == NULL || *ret_ids == NULL) {
    return error_nomem(err, count * sizeof **ret_files);
  }
  ret->new_files = *ret_files;
  ret->new_file_fragments = *ret_ids;
  ret->new_file_count = count;
  return GLV_OK;
}

static glv_status read_replacement(arena *a, const Lance__Table__DataReplacement *m,
                                   const char *what, transaction *ret, glv_error *err) {
  data_file *files;
  uint64_t *ids;
  TRY(new_file_arrays(a, m->n_replacements, &files, &ids, ret, err));
  for (size_t i = 0; i < m->n_replacements; i++) {
    ids[i] = m->replacements[i]->fragment_id;
    TRY(data_file_decode(a, str_of_binary(m->replacements[i]->new_file), what, &files[i], err));
  }
  return GLV_OK;
}

static glv_status read_overlay(arena *a, const Lance__Table__DataOverlay *m, const char *what,
                               transaction *ret, glv_error *err) {
  size_t count = 0;
  for (size_t i = 0; i < m->n_groups; i++) {
    count += m->groups[i]->n_overlays;
  }
  data_file *files;
  uint64_t *ids;
  TRY(new_file_arrays(a, count, &files, &ids, ret, err));
  size_t at = 0;
  for (size_t i = 0; i < m->n_groups; i++) {
    for (size_t k = 0; k < m->groups[i]->n_overlays; k++, at++) {
      ids[at] = m->groups[i]->fragment_id;
      const str raw = str_of_binary(m->groups[i]->overlays[k]->data_file);
      TRY(data_file_decode(a, raw, what, &files[at], err));
    }
  }
  return GLV_OK;
}

static glv_status read_overwrite(arena *a, const Lance__Table__Overwrite *m, const char *what,
                                 transaction *ret, glv_error *err) {
  TRY(read_schema(a, m->schema, m->n_schema, &ret->schema, err));
  TRY(read_old_map(a, m->config_upsert_values, m->n_config_upsert_values, NULL, 0, false,
                   &ret->config, err));
  return read_fragments(a, m->fragments, m->n_fragments, what, &ret->new_fragments,
                        &ret->new_fragment_count, err);
}

glv_status transaction_convert(arena *a, const Lance__Table__Transaction *m, const char *what,
                               transaction *ret, glv_error *err) {
  ret->kind = transaction_kind(m);
  ret->read_version = m->read_version;
  ret->uuid = m->uuid;
  switch (ret->kind) {
  case OPERATION_APPEND:
    return read_fragments(a, m->append->fragments, m->append->n_fragments, what,
                          &ret->new_fragments, &ret->new_fragment_count, err);
  case OPERATION_DELETE:
    ret->removed_ids = m->delete_->deleted_fragment_ids;
    ret->removed_count = m->delete_->n_deleted_fragment_ids;
    return read_fragments(a, m->delete_->updated_fragments, m->delete_->n_updated_fragments, what,
                          &ret->updated_fragments, &ret->updated_fragment_count, err);
  case OPERATION_OVERWRITE:
    return read_overwrite(a, m->overwrite, what, ret, err);
  case OPERATION_CREATE_INDEX:
    return read_create_index(a, m->create_index, ret, err);
  case OPERATION_REWRITE:
    return read_rewrite(a, m->rewrite, what, ret, err);
  case OPERATION_MERGE:
    ret->preserves_nullability = m->merge->preserves_nullability != 0;
    TRY(read_schema(a, m->merge->schema, m->merge->n_schema, &ret->schema, err));
    return read_fragments(a, m->merge->fragments, m->merge->n_fragments, what, &ret->new_fragments,
                          &ret->new_fragment_count, err);
  case OPERATION_RESTORE:
    ret->restored_version = m->restore->version;
    return GLV_OK;
  case OPERATION_UPDATE:
    return read_update(a, m->update, what, ret, err);
  case OPERATION_PROJECT:
    ret->preserves_nullability = m->project->preserves_nullability != 0;
    return read_schema(a, m->project->schema, m->project->n_schema, &ret->schema, err);
  case OPERATION_UPDATE_CONFIG:
    return read_update_config(a, m->update_config, ret, err);
  case OPERATION_DATA_REPLACEMENT:
    return read_replacement(a, m->data_replacement, what, ret, err);
  case OPERATION_DATA_OVERLAY:
    return read_overlay(a, m->data_overlay, what, ret, err);
  case OPERATION_UNKNOWN:
  case OPERATION_RESERVE_FRAGMENTS:
  case OPERATION_UPDATE_MEM_WAL_STATE:
  case OPERATION_CLONE:
  case OPERATION_UPDATE_BASES:
    return GLV_OK;
  }
  return GLV_OK;
}

static glv_status read_from(const table_snapshot *t, arena *a, transaction **ret, glv_error *err) {
  str bytes = {0};
  Lance__Table__Transaction *message = NULL;
  char what[NAME_SIZE];
  snprintf(what, sizeof what, "transaction of version %llu",
           (unsigned long long)t->manifest->version);
  TRY(transaction_bytes(t, a, &bytes, err));
  TRY(transaction_unpack(a, bytes, what, &message, err));
  transaction *found = ARENA_NEW(a, transaction);
  if (found == NULL) {
    return error_nomem(err, sizeof *found);
  }
  TRY(transaction_convert(a, message, what, found, err));
  *ret = found;
  return GLV_OK;
}

glv_status transaction_read(const table_snapshot *t, uint64_t version, arena *a, transaction **ret,
                            glv_error *err) {
  if (version == t->manifest->version) {
    return read_from(t, a, ret, err);
  }
  CLEANUP(table_cleanup) table_snapshot *other = NULL;
  TRY(table_open_version(t, version, &other, err));
  return read_from(other, a, ret, err);
}
