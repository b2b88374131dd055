/* Manifest files into snapshots.
 *
 *   [u32 length | IndexSection]   optional
 *   [u32 length | Transaction]    optional
 *   [u32 length | Manifest]       starts at P
 *   i64 P, u16 0, u16 2, "LANC"   the last 16 bytes
 *
 * Offsets inside the manifest point at a length word. The whole file is kept in the arena of the
 * snapshot; fragments and indexes point into it or into the copies that unpacking made. Everything
 * that a reader must refuse is refused here, so that an open snapshot can be scanned
 * (lance-table-format 2, 3, 4, 11).
 */
#include <stdio.h>

#include "table/deletion.h"
#include "table/table_private.h"

enum { TRAILER_BYTES = 16, LENGTH_BYTES = 4 };

/* A section that starts with its length. */
static glv_status read_section(str file, uint64_t at, uint64_t end, const char *what, str *ret,
                               glv_error *err) {
  if (!range_within(at, LENGTH_BYTES, end) ||
      !range_within(at + LENGTH_BYTES, load_le32(file.data + at), end)) {
    return FAIL(err, GLV_E_CORRUPT, "%s: a section at byte %llu reaches past byte %llu", what,
                (unsigned long long)at, (unsigned long long)end);
  }
  *ret = str_slice(file.data + at + LENGTH_BYTES, load_le32(file.data + at));
  return GLV_OK;
}

/* Bytes of the Manifest message and where its length word stands. */
static glv_status read_trailer(str file, const char *what, uint64_t *ret_at, str *ret,
                               glv_error *err) {
  if (file.size < TRAILER_BYTES || memcmp(file.data + file.size - 4, "LANC", 4) != 0) {
    return FAIL(err, GLV_E_CORRUPT, "%s: magic number does not match", what);
  }
  const uint64_t at = load_le64(file.data + file.size - TRAILER_BYTES);
  const uint64_t end = file.size - TRAILER_BYTES;
  if (at > INT64_MAX || !range_within(at, LENGTH_BYTES, end) ||
      load_le32(file.data + at) != end - at - LENGTH_BYTES) {
    return FAIL(err, GLV_E_CORRUPT, "%s: manifest length does not match", what);
  }
  *ret_at = at;
  *ret = str_slice(file.data + at + LENGTH_BYTES, (size_t)(end - at - LENGTH_BYTES));
  return GLV_OK;
}

glv_status metadata_from_strings(arena *a, Lance__Table__StringEntry *const *entries, size_t count,
                                 metadata *ret, glv_error *err) {
  pair *pairs = ARENA_ARRAY(a, pair, count);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    pairs[i] = (pair){str_of(entries[i]->key), str_of(entries[i]->value)};
  }
  *ret = (metadata){pairs, count};
  return GLV_OK;
}

glv_status metadata_from_bytes(arena *a, Lance__File__BytesEntry *const *entries, size_t count,
                               metadata *ret, glv_error *err) {
  pair *pairs = ARENA_ARRAY(a, pair, count);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    pairs[i] = (pair){str_of(entries[i]->key), str_of_binary(entries[i]->value)};
  }
  *ret = (metadata){pairs, count};
  return GLV_OK;
}

static glv_status decode_schema(table_snapshot *t, glv_error *err) {
  const Lance__Table__Manifest *m = t->manifest;
  metadata stored;
  TRY(metadata_from_bytes(&t->memory, m->schema_metadata, m->n_schema_metadata, &stored, err));
  TRY(lance_schema_from_messages(&t->memory, m->fields, m->n_fields, stored, &t->lance, err));
  field *columns = ARENA_ARRAY(&t->memory, field, t->lance->field_count);
  if (columns == NULL) {
    return error_nomem(err, t->lance->field_count * sizeof *columns);
  }
  size_t count = 0;
  for (size_t i = 0; i < t->lance->field_count; i++) {
    if (t->lance->fields[i].is_supported) {
      columns[count++] = t->lance->fields[i].arrow;
    }
  }
  return schema_new(t->home->env, columns, count, stored, &t->arrow, err);
}

static glv_status decode_indexes(table_snapshot *t, str file, uint64_t end, const char *what,
                                 glv_error *err) {
  const Lance__Table__Manifest *m = t->manifest;
  if (m->opt_index_section_case != LANCE__TABLE__MANIFEST__OPT_INDEX_SECTION_INDEX_SECTION) {
    return GLV_OK;
  }
  str bytes;
  ProtobufCMessage *message;
  TRY(read_section(file, m->index_section, end, what, &bytes, err));
  TRY(pb_unpack(&t->memory, bytes, &lance__table__index_section__descriptor, what, &message, err));
  const Lance__Table__IndexSection *section = (Lance__Table__IndexSection *)message;
  t->index_count = section->n_indices;
  t->indexes = ARENA_ARRAY(&t->memory, str, t->index_count);
  t->index_messages = ARENA_ARRAY(&t->memory, Lance__Table__IndexMetadata *, t->index_count);
  if (t->indexes == NULL || t->index_messages == NULL) {
    return error_nomem(err, t->index_count * sizeof *t->indexes);
  }
  for (size_t i = 0; i < t->index_count; i++) {
    t->indexes[i] = str_of_binary(section->indices[i]);
    TRY(pb_unpack(&t->memory, t->indexes[i], &lance__table__index_metadata__descriptor, what,
                  &message, err));
    t->index_messages[i] = (Lance__Table__IndexMetadata *)message;
  }
  return GLV_OK;
}

static glv_status decode_inline_transaction(table_snapshot *t, str file, uint64_t end,
                                            const char *what, glv_error *err) {
  const Lance__Table__Manifest *m = t->manifest;
  if (m->opt_transaction_section_case ==
      LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION_TRANSACTION_SECTION) {
    return read_section(file, m->transaction_section, end, what, &t->transaction, err);
  }
  if (m->opt_transaction_section_old_case ==
      LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION_OLD_TRANSACTION_SECTION_OLD) {
    return read_section(file, m->transaction_section_old, end, what, &t->transaction, err);
  }
  return GLV_OK;
}

static glv_status decode_fragments(table_snapshot *t, const char *what, glv_error *err) {
  const Lance__Table__Manifest *m = t->manifest;
  t->fragment_count = m->n_fragments;
  t->fragments = ARENA_ARRAY(&t->memory, fragment, t->fragment_count);
  if (t->fragments == NULL) {
    return error_nomem(err, t->fragment_count * sizeof *t->fragments);
  }
  t->is_sorted = true;
  for (size_t i = 0; i < t->fragment_count; i++) {
    fragment *f = &t->fragments[i];
    TRY(fragment_decode(&t->memory, str_of_binary(m->fragments[i]), what, f, err));
    if (f->physical_rows == 0 && f->file_count > 0) {
      return FAIL(err, GLV_E_UNSUPPORTED, "%s: fragment %llu does not record its number of rows",
                  what, (unsigned long long)f->id);
    }
    t->is_sorted &= i == 0 || t->fragments[i - 1].id < f->id;
    t->physical_rows += f->physical_rows;
    t->live_rows += f->physical_rows - (f->has_deletions ? f->deletions.count : 0);
  }
  return GLV_OK;
}

/* Rules of section 11 that need every part. */
static glv_status check_parts(const table_snapshot *t, const char *what, glv_error *err) {
  const Lance__Table__Manifest *m = t->manifest;
  TRY(flags_check_readable(t, err));
  if (m->data_format != NULL && !str_is(str_of(m->data_format->file_format), "lance")) {
    return FAIL(err, GLV_E_UNSUPPORTED, "%s: data files of format '%s' are not supported", what,
                m->data_format->file_format);
  }
  if ((m->reader_feature_flags & TABLE_FLAG_STABLE_ROW_IDS) == 0) {
    return GLV_OK;
  }
  for (size_t i = 0; i < t->fragment_count; i++) {
    if (!t->fragments[i].has_row_ids) {
      return FAIL(err, GLV_E_CORRUPT,
                  "%s: All fragments must have row ids, but fragment %llu has none", what,
                  (unsigned long long)t->fragments[i].id);
    }
  }
  return GLV_OK;
}

static glv_status decode_into(table_snapshot *t, str bytes, const char *what, glv_error *err) {
  char *copy = arena_alloc(&t->memory, bytes.size);
  if (copy == NULL) {
    return error_nomem(err, bytes.size);
  }
  memcpy(copy, bytes.data, bytes.size);
  const str file = str_slice(copy, bytes.size);
  str body;
  uint64_t body_at;
  ProtobufCMessage *message;
  TRY(read_trailer(file, what, &body_at, &body, err));
  TRY(pb_unpack(&t->memory, body, &lance__table__manifest__descriptor, what, &message, err));
  t->manifest = (Lance__Table__Manifest *)message;
  t->file_size = bytes.size;
  if (t->manifest->version == 0) {
    return FAIL(err, GLV_E_CORRUPT, "%s: a version number is missing", what);
  }
  TRY(decode_inline_transaction(t, file, body_at, what, err));
  TRY(decode_indexes(t, file, body_at, what, err));
  TRY(decode_fragments(t, what, err));
  TRY(decode_schema(t, err));
  TRY(metadata_from_strings(&t->memory, t->manifest->config, t->manifest->n_config, &t->config,
                            err));
  TRY(metadata_from_strings(&t->memory, t->manifest->table_metadata, t->manifest->n_table_metadata,
                            &t->table_metadata, err));
  return check_parts(t, what, err);
}

/* Old writers did not record how many rows a deletion file deletes; counts must be exact here. */
static glv_status complete_deletions(table_snapshot *t, glv_error *err) {
  for (size_t i = 0; i < t->fragment_count; i++) {
    fragment *f = &t->fragments[i];
    if (f->has_deletions && f->deletions.count == 0) {
      CLEANUP(bitmap_cleanup) bitmap *deleted = NULL;
      TRY(deletion_load(t, f, &deleted, err));
      f->deletions.count = bitmap_count(deleted);
      t->live_rows -= f->deletions.count;
    }
  }
  return GLV_OK;
}

static void snapshot_free(table_snapshot *t) {
  glv_env *env = t->home->env;
  table_home *h = t->home;
  pin_release(&t->pin);
  kept_readers_free(env, t->readers);
  schema_unref(t->arrow);
  arena_dispose(&t->memory);
  mem_free(env, t);
  home_unref(h);
}

static void snapshot_cleanup(table_snapshot **t) {
  if (*t != NULL) {
    snapshot_free(*t);
  }
}

static glv_status fail_no_version(const table_home *h, uint64_t version, glv_error *err) {
  return FAIL(err, GLV_E_VERSION_NOT_FOUND, "table '%s' has no version %llu", h->name,
              (unsigned long long)version);
}

/* One that a cleanup is about to remove is as good as gone. */
static glv_status pin_version(const table_home *h, uint64_t version, pin *ret, glv_error *err) {
  uint64_t key[3];
  version_key(h, version, key);
  return pin_acquire(h->env, key, ret) ? GLV_OK : fail_no_version(h, version, err);
}

glv_status snapshot_decode(table_home *h, str bytes, const char *file, table_snapshot **ret,
                           glv_error *err) {
  CLEANUP(snapshot_cleanup) table_snapshot *t = mem_zalloc(h->env, sizeof *t);
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  atomic_init(&t->refs, 1);
  t->home = home_ref(h);
  arena_init(&t->memory, h->env);
  t->readers = kept_readers_new(h->env);
  if (t->readers == NULL) {
    return error_nomem(err, sizeof *t->readers);
  }
  char what[LIMIT_PATH_BYTES];
  snprintf(what, sizeof what, "table '%s', manifest '%s'", h->name, file);
  TRY(decode_into(t, bytes, what, err));
  TRY(pin_version(h, t->manifest->version, &t->pin, err));
  *ret = t;
  t = NULL;
  return GLV_OK;
}

glv_status snapshot_load(table_home *h, uint64_t version, bool v1, table_snapshot **ret,
                         glv_error *err) {
  char name[NAME_SIZE];
  name_manifest(version, v1, name);
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, h->env, LIMIT_MANIFEST_BYTES);
  /* Pinned before it is read: a cleanup sees the reader, or the reader finds nothing. */
  CLEANUP(pin_release) pin reading = {0};
  TRY(pin_version(h, version, &reading, err));
  glv_error report = {0};
  glv_io_stat file;
  glv_status status = io_stat(h->env, h->versions, name, &file, &report);
  if (status == GLV_OK) { /* in this order: a file that is replaced meanwhile is noticed later */
    status = io_read_file(h->env, h->versions, name, LIMIT_MANIFEST_BYTES, &bytes, &report);
  }
  if (status != GLV_OK) {
    return io_is_missing(&report) ? fail_no_version(h, version, err) : pass_report(err, &report);
  }
  CLEANUP(table_cleanup) table_snapshot *t = NULL;
  TRY(snapshot_decode(h, buf_str(&bytes), name, &t, err));
  t->has_v1_name = v1;
  t->file = file;
  const uint64_t stored = t->manifest->version;
  if (stored != version) {
    return FAIL(err, GLV_E_CORRUPT, "table '%s': manifest '%s' says it is version %llu", h->name,
                name, (unsigned long long)stored);
  }
  TRY(complete_deletions(t, err));
  *ret = t;
  t = NULL;
  return GLV_OK;
}

table_snapshot *table_ref(const table_snapshot *t) {
  table_snapshot *shared = (table_snapshot *)(uintptr_t)t;
  if (shared != NULL) {
    atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  }
  return shared;
}

void table_unref(const table_snapshot *t) {
  table_snapshot *shared = (table_snapshot *)(uintptr_t)t;
  if (shared != NULL && atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) == 1) {
    snapshot_free(shared);
  }
}

void table_cleanup(table_snapshot **t) { table_unref(*t); }
