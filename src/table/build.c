/* Building the next manifest: a pure function of the latest manifest, the planned operation and
 * the time (lance-table-format 8.3, 9, 14).
 *
 * The message starts as a copy of the latest one, so that everything this release does not know
 * stays. Fragments that stay are copied as bytes; new ones get the next ids, and on tables with
 * stable row ids the next row ids and the versions of this commit. A retry on a newer manifest just
 * runs this again. Feature flags are computed anew, never copied, except those that stick.
 */
#include <stdio.h>
#include <stdlib.h>

#include "table/commit_private.h"
#include "table/row_ids.h"

/* Flags that stay once they are set. */
static const uint64_t sticky_flags = TABLE_FLAG_MIXED_FILES | TABLE_FLAG_REUSE_HISTORY |
                                     TABLE_FLAG_MANAGED_BLOBS | TABLE_FLAG_ZONE_SEEDS;

/* One fragment of the new manifest. */
struct entry {
  uint64_t id;
  str raw;
  bool has_deletions;
};

static int compare_entry_ids(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a;
  const uint64_t y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

struct build {
  const commit_plan *plan;
  const table_snapshot *latest; /* NULL = creation */
  arena memory;
  Lance__Table__Manifest m;
  Lance__Table__Timestamp stamp;
  Lance__Table__WriterVersion writer;
  Lance__Table__DataStorageFormat format;
  const lance_schema *schema;
  int32_t *field_ids; /* of the schema, ascending */
  size_t field_count;
  struct entry *entries;
  size_t count;
  bool *kept_indexes;
  bool has_stable_row_ids;
  bool has_mixed_files;
};

static void build_cleanup(struct build *b) { arena_dispose(&b->memory); }

/* ---- schema ---- */

static int compare_fields(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a;
  const int32_t y = *(const int32_t *)b;
  return x < y ? -1 : x > y;
}

/* The ids of all fields, nested ones included, from the flat list of messages. */
static glv_status collect_field_ids(struct build *b, glv_error *err) {
  b->field_count = b->m.n_fields;
  b->field_ids = ARENA_ARRAY(&b->memory, int32_t, b->field_count);
  if (b->field_ids == NULL) {
    return error_nomem(err, b->field_count * sizeof *b->field_ids);
  }
  for (size_t i = 0; i < b->field_count; i++) {
    b->field_ids[i] = b->m.fields[i]->id;
  }
  if (b->field_count > 1) {
    qsort(b->field_ids, b->field_count, sizeof *b->field_ids, compare_fields);
  }
  return GLV_OK;
}

static bool has_field(const struct build *b, int32_t id) {
  return b->field_count > 0 &&
         bsearch(&id, b->field_ids, b->field_count, sizeof id, compare_fields) != NULL;
}

static glv_status set_metadata(struct build *b, metadata pairs, glv_error *err) {
  Lance__File__BytesEntry *entries = ARENA_ARRAY(&b->memory, Lance__File__BytesEntry, pairs.count);
  b->m.schema_metadata = ARENA_ARRAY(&b->memory, Lance__File__BytesEntry *, pairs.count);
  if (entries == NULL || b->m.schema_metadata == NULL) {
    return error_nomem(err, pairs.count * sizeof *entries);
  }
  for (size_t i = 0; i < pairs.count; i++) {
    lance__file__bytes_entry__init(&entries[i]);
    entries[i].key = arena_strdup(&b->memory, pairs.pairs[i].key);
    entries[i].value = binary_of_str(pairs.pairs[i].value);
    if (entries[i].key == NULL) {
      return error_nomem(err, pairs.pairs[i].key.size);
    }
    b->m.schema_metadata[i] = &entries[i];
  }
  b->m.n_schema_metadata = pairs.count;
  return GLV_OK;
}

/* The metadata of the latest version with the changes of the operation. */
static glv_status change_metadata(struct build *b, glv_error *err) {
  const operation *op = b->plan->op;
  const metadata old = b->latest->lance->metadata;
  pair *pairs = ARENA_ARRAY(&b->memory, pair, old.count + op->change_count);
  if (pairs == NULL) {
    return error_nomem(err, (old.count + op->change_count) * sizeof *pairs);
  }
  size_t count = 0;
  for (size_t i = 0; i < old.count; i++) {
    pairs[count++] = old.pairs[i];
  }
  for (size_t i = 0; i < op->change_count; i++) {
    const metadata_change *change = &op->changes[i];
    size_t at = 0;
    while (at < count && !str_equal(pairs[at].key, change->key)) {
      at++;
    }
    if (change->value.data != NULL) {
      pairs[at] = (pair){change->key, change->value};
      count += at == count;
    } else if (at < count) {
      memmove(&pairs[at], &pairs[at + 1], (count - at - 1) * sizeof *pairs);
      count--;
    }
  }
  return set_metadata(b, (metadata){pairs, count}, err);
}

static glv_status build_schema(struct build *b, glv_error *err) {
  const operation *op = b->plan->op;
  if (op->kind == OPERATION_OVERWRITE) {
    b->schema = op->schema;
    TRY(lance_schema_to_messages(&b->memory, op->schema, &b->m.fields, &b->m.n_fields, err));
    TRY(set_metadata(b, op->schema->metadata, err));
  } else {
    b->schema = b->latest->lance;
    if (op->change_count > 0) {
      TRY(change_metadata(b, err));
    }
  }
  return collect_field_ids(b, err);
}

/* ---- fragments ---- */

static bool is_live_file(const struct build *b, const data_file *f) {
  for (size_t i = 0; i < f->count; i++) {
    if (f->fields[i] >= 0 && has_field(b, f->fields[i])) {
      return true;
    }
  }
  return f->count == 0;
}

/* raw without the data files that hold no field of the schema any more. */
static glv_status drop_dead_files(struct build *b, const fragment *f, str raw, str *ret,
                                  glv_error *err) {
  bool all_live = true;
  for (size_t i = 0; i < f->file_count; i++) {
    all_live &= is_live_file(b, &f->files[i]);
  }
  *ret = raw;
  if (all_live) {
    return GLV_OK;
  }
  ProtobufCMessage *message;
  TRY(pb_unpack(&b->memory, raw, &lance__table__data_fragment__descriptor, "fragment", &message,
                err));
  Lance__Table__DataFragment *m = (Lance__Table__DataFragment *)message;
  size_t kept = 0;
  for (size_t i = 0; i < m->n_files; i++) {
    if (is_live_file(b, &f->files[i])) {
      m->files[kept++] = m->files[i];
    }
  }
  m->n_files = kept;
  return pb_pack_arena(&b->memory, message, ret, err);
}

static void note_file_version(struct build *b, format_version v) {
  b->has_mixed_files |= v != format_version_parse(str_of(b->m.data_format->version));
}

static bool is_removed(const commit_plan *p, uint64_t id) {
  return p->removed_count > 0 &&
         bsearch(&id, p->removed_ids, p->removed_count, sizeof id, compare_entry_ids) != NULL;
}

static glv_status keep_fragments(struct build *b, glv_error *err) {
  const commit_plan *p = b->plan;
  if (b->latest == NULL || p->op->kind == OPERATION_OVERWRITE) {
    return GLV_OK;
  }
  for (size_t i = 0; i < b->latest->fragment_count; i++) {
    const fragment *f = &b->latest->fragments[i];
    if (is_removed(p, f->id)) {
      continue;
    }
    struct entry *e = &b->entries[b->count++];
    const planned_update *updated = plan_find_update(p, f->id);
    const str raw = updated != NULL ? updated->raw : f->raw;
    *e = (struct entry){.id = f->id, .has_deletions = f->has_deletions || updated != NULL};
    TRY(drop_dead_files(b, f, raw, &e->raw, err));
    for (size_t k = 0; k < f->file_count; k++) {
      note_file_version(b, f->files[k].version);
    }
  }
  return GLV_OK;
}

static ProtobufCBinaryData detach(arena *a, const buf *bytes, bool *ok) {
  char *copy = arena_alloc(a, bytes->size);
  *ok = copy != NULL;
  if (copy != NULL) {
    memcpy(copy, bytes->data, bytes->size);
  }
  return (ProtobufCBinaryData){bytes->size, (uint8_t *)copy};
}

/* Row ids next .. and versions of this commit for all rows of a new fragment. */
static glv_status give_identity(struct build *b, Lance__Table__DataFragment *m, glv_error *err) {
  uint64_t end;
  if (!u64_add(b->m.next_row_id, m->physical_rows, &end)) {
    return FAIL(err, GLV_E_LIMIT, "table '%s' has no row ids left", b->plan->home->name);
  }
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, b->plan->env, LIMIT_MANIFEST_BYTES);
  bool ok_ids;
  bool ok_versions;
  TRY(row_ids_encode_range(b->m.next_row_id, m->physical_rows, &bytes, err));
  m->row_ids_case = LANCE__TABLE__DATA_FRAGMENT__ROW_IDS_INLINE_ROW_IDS;
  m->inline_row_ids = detach(&b->memory, &bytes, &ok_ids);
  buf_clear(&bytes);
  const version_run run = {m->physical_rows, b->m.version};
  TRY(row_versions_encode(&run, 1, &bytes, err));
  m->created_at_case = LANCE__TABLE__DATA_FRAGMENT__CREATED_AT_INLINE_CREATED_AT_VERSIONS;
  m->inline_created_at_versions = detach(&b->memory, &bytes, &ok_versions);
  m->last_updated_at_case =
      LANCE__TABLE__DATA_FRAGMENT__LAST_UPDATED_AT_INLINE_LAST_UPDATED_AT_VERSIONS;
  m->inline_last_updated_at_versions = m->inline_created_at_versions;
  b->m.next_row_id = end;
  return ok_ids && ok_versions ? GLV_OK : error_nomem(err, bytes.size);
}

static glv_status add_fragments(struct build *b, glv_error *err) {
  const commit_plan *p = b->plan;
  for (size_t i = 0; i < p->new_count; i++) {
    Lance__Table__DataFragment m = p->new_fragments[i];
    const bool is_first = b->m.opt_max_fragment_id_case == 0;
    if (!is_first && b->m.max_fragment_id == UINT32_MAX) {
      return FAIL(err, GLV_E_LIMIT, "table '%s' has no fragment ids left", p->home->name);
    }
    b->m.max_fragment_id = is_first ? 0 : b->m.max_fragment_id + 1;
    b->m.opt_max_fragment_id_case = LANCE__TABLE__MANIFEST__OPT_MAX_FRAGMENT_ID_MAX_FRAGMENT_ID;
    m.id = b->m.max_fragment_id;
    if (b->has_stable_row_ids) {
      TRY(give_identity(b, &m, err));
    }
    note_file_version(
        b, format_version_of(m.files[0]->file_major_version, m.files[0]->file_minor_version));
    struct entry *e = &b->entries[b->count++];
    *e = (struct entry){.id = m.id};
    TRY(pb_pack_arena(&b->memory, &m.base, &e->raw, err));
  }
  return GLV_OK;
}

/* The high-water mark is at least every id in use, whoever wrote the latest manifest. */
static void raise_fragment_mark(struct build *b) {
  for (size_t i = 0; b->latest != NULL && i < b->latest->fragment_count; i++) {
    const uint32_t id = (uint32_t)b->latest->fragments[i].id;
    if (b->m.opt_max_fragment_id_case == 0 || b->m.max_fragment_id < id) {
      b->m.max_fragment_id = id;
      b->m.opt_max_fragment_id_case = LANCE__TABLE__MANIFEST__OPT_MAX_FRAGMENT_ID_MAX_FRAGMENT_ID;
    }
  }
}

static int compare_entries(const void *a, const void *b) {
  return compare_entry_ids(&((const struct entry *)a)->id, &((const struct entry *)b)->id);
}

static glv_status sort_fragments(struct build *b, glv_error *err) {
  if (b->count > 1) {
    qsort(b->entries, b->count, sizeof *b->entries, compare_entries);
  }
  for (size_t i = 1; i < b->count; i++) {
    if (b->entries[i - 1].id == b->entries[i].id) {
      return FAIL(err, GLV_E_CORRUPT, "table '%s' has two fragments with id %llu",
                  b->plan->home->name, (unsigned long long)b->entries[i].id);
    }
  }
  return GLV_OK;
}

static glv_status build_fragments(struct build *b, glv_error *err) {
  const size_t room = (b->latest != NULL ? b->latest->fragment_count : 0) + b->plan->new_count;
  b->entries = ARENA_ARRAY(&b->memory, struct entry, room);
  b->m.fragments = ARENA_ARRAY(&b->memory, ProtobufCBinaryData, room);
  if (b->entries == NULL || b->m.fragments == NULL) {
    return error_nomem(err, room * sizeof *b->entries);
  }
  raise_fragment_mark(b);
  TRY(keep_fragments(b, err));
  TRY(add_fragments(b, err));
  TRY(sort_fragments(b, err));
  for (size_t i = 0; i < b->count; i++) {
    b->m.fragments[i] = binary_of_str(b->entries[i].raw);
  }
  b->m.n_fragments = b->count;
  return GLV_OK;
}

/* ---- indexes and flags ---- */

static glv_status build_indexes(struct build *b, glv_error *err) {
  const size_t count = b->latest != NULL ? b->latest->index_count : 0;
  b->kept_indexes = ARENA_ARRAY(&b->memory, bool, count);
  uint64_t *live = ARENA_ARRAY(&b->memory, uint64_t, b->count);
  if (b->kept_indexes == NULL || live == NULL) {
    return error_nomem(err, b->count * sizeof *live);
  }
  if (count == 0 || b->plan->op->kind == OPERATION_OVERWRITE) {
    return GLV_OK; /* an overwrite drops them all */
  }
  for (size_t i = 0; i < b->count; i++) {
    live[i] = b->entries[i].id;
  }
  for (size_t i = 0; i < count; i++) {
    b->kept_indexes[i] = true;
  }
  return b->plan->op->kind == OPERATION_UPDATE
             ? indexes_retain(b->latest, b->schema, live, b->count, b->kept_indexes, err)
             : GLV_OK;
}

static void build_flags(struct build *b) {
  const uint64_t old_reader = b->latest != NULL ? b->m.reader_feature_flags : 0;
  const uint64_t old_writer = b->latest != NULL ? b->m.writer_feature_flags : 0;
  uint64_t both = (old_reader | old_writer) & sticky_flags;
  uint64_t writer = old_writer & TABLE_FLAG_FIELD_IDS;
  for (size_t i = 0; i < b->count; i++) {
    both |= b->entries[i].has_deletions ? TABLE_FLAG_DELETIONS : 0;
  }
  both |= b->has_stable_row_ids ? TABLE_FLAG_STABLE_ROW_IDS : 0;
  both |= b->m.n_base_paths > 0 ? TABLE_FLAG_BASE_PATHS : 0;
  both |= b->has_mixed_files ? TABLE_FLAG_MIXED_FILES : 0;
  for (size_t i = 0; b->latest != NULL && i < b->latest->index_count; i++) {
    if (b->kept_indexes[i] && b->latest->index_messages[i]->n_covering_fields > 0) {
      both |= TABLE_FLAG_COVERING_INDEX;
    }
  }
  writer |= b->m.n_config > 0 ? TABLE_FLAG_CONFIG : 0;
  b->m.reader_feature_flags = both;
  b->m.writer_feature_flags = both | writer;
}

/* ---- the message ---- */

static void start_message(struct build *b, int64_t now_ns) {
  if (b->latest != NULL) {
    b->m = *b->latest->manifest;
  } else {
    lance__table__manifest__init(&b->m);
    lance__table__data_storage_format__init(&b->format);
    b->format.file_format = (char *)(uintptr_t) "lance";
    b->format.version = (char *)(uintptr_t)b->plan->data_version;
    b->m.data_format = &b->format;
  }
  b->has_stable_row_ids =
      b->latest != NULL ? table_has_stable_row_ids(b->latest) : b->plan->stable_row_ids;
  b->m.version++;
  b->m.tag = (char *)(uintptr_t) "";
  b->m.opt_index_section_case = LANCE__TABLE__MANIFEST__OPT_INDEX_SECTION__NOT_SET;
  b->m.opt_transaction_section_case = LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION__NOT_SET;
  b->m.opt_transaction_section_old_case =
      LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION_OLD__NOT_SET;
  lance__table__timestamp__init(&b->stamp);
  b->stamp.seconds = now_ns / 1000000000;
  b->stamp.nanos = (int32_t)(now_ns % 1000000000);
  b->m.timestamp = &b->stamp;
  lance__table__writer_version__init(&b->writer);
  b->writer.library = (char *)(uintptr_t) "glaive";
  b->writer.version = (char *)(uintptr_t)GLAIVE_VERSION;
  b->m.writer_version = &b->writer;
  b->m.transaction_file = (char *)(uintptr_t)b->plan->transaction_name;
}

static glv_status append_section(buf *out, str bytes, glv_error *err) {
  uint8_t length[4];
  store_le32(length, (uint32_t)bytes.size);
  TRY(buf_append(out, length, sizeof length, err));
  return buf_append_str(out, bytes, err);
}

static glv_status append_indexes(struct build *b, buf *out, glv_error *err) {
  Lance__Table__IndexSection section = LANCE__TABLE__INDEX_SECTION__INIT;
  const size_t count = b->latest != NULL ? b->latest->index_count : 0;
  section.indices = ARENA_ARRAY(&b->memory, ProtobufCBinaryData, count);
  if (section.indices == NULL) {
    return error_nomem(err, count);
  }
  for (size_t i = 0; i < count; i++) {
    if (b->kept_indexes[i]) {
      section.indices[section.n_indices++] = binary_of_str(b->latest->indexes[i]);
    }
  }
  if (section.n_indices == 0) {
    return GLV_OK;
  }
  str bytes;
  TRY(pb_pack_arena(&b->memory, &section.base, &bytes, err));
  b->m.opt_index_section_case = LANCE__TABLE__MANIFEST__OPT_INDEX_SECTION_INDEX_SECTION;
  b->m.index_section = out->size;
  return append_section(out, bytes, err);
}

static glv_status append_transaction(struct build *b, buf *out, glv_error *err) {
  if (b->plan->transaction.size > TRANSACTION_LARGEST_INLINE) {
    return GLV_OK;
  }
  b->m.opt_transaction_section_case =
      LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION_TRANSACTION_SECTION;
  b->m.transaction_section = out->size;
  return append_section(out, b->plan->transaction, err);
}

static glv_status append_manifest(const Lance__Table__Manifest *m, buf *out, glv_error *err) {
  const uint64_t at = out->size;
  const size_t size = protobuf_c_message_get_packed_size(&m->base);
  if (size > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "a manifest of %zu bytes is too large", size);
  }
  uint8_t length[4];
  store_le32(length, (uint32_t)size);
  TRY(buf_append(out, length, sizeof length, err));
  TRY(pb_pack(&m->base, out, err));
  uint8_t trailer[16] = {[10] = 2, [12] = 'L', [13] = 'A', [14] = 'N', [15] = 'C'};
  store_le64(trailer, at);
  return buf_append(out, trailer, sizeof trailer, err);
}

glv_status manifest_build(const commit_plan *p, const table_snapshot *latest, int64_t now_ns,
                          buf *out, glv_error *err) {
  CLEANUP(build_cleanup) struct build b = {.plan = p, .latest = latest};
  arena_init(&b.memory, p->env);
  start_message(&b, now_ns);
  TRY(build_schema(&b, err));
  TRY(build_fragments(&b, err));
  TRY(build_indexes(&b, err));
  build_flags(&b);
  TRY(append_indexes(&b, out, err));
  TRY(append_transaction(&b, out, err));
  return append_manifest(&b.m, out, err);
}
