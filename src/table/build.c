/* Building the next manifest: a pure function of the latest manifest, the planned operation and
 * the time (lance-table-format 8.3, 9, 14, 16.1).
 *
 * The message starts as a copy of the latest one (Restore: of the version that comes back), so that
 * everything this release does not know stays. Fragments that stay are copied as bytes; new ones
 * get the next ids, and on tables with stable row ids the next row ids and the versions of this
 * commit. A retry on a newer manifest just runs this again. Feature flags are computed anew, never
 * copied, except those that stick.
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

struct build {
  const commit_plan *plan;
  const table_snapshot *latest;  /* NULL = creation */
  const table_snapshot *content; /* what the new version starts from: latest, or the restored one */
  arena memory;
  Lance__Table__Manifest m;
  Lance__Table__Timestamp stamp;
  Lance__Table__WriterVersion writer;
  Lance__Table__DataStorageFormat format;
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

/* Ids of fields that were ever used, on tables that keep count of them. */
static void raise_field_mark(struct build *b) {
  if (b->m.opt_max_allocated_field_id_case != 0 && b->field_count > 0) {
    const int32_t highest = b->field_ids[b->field_count - 1];
    if (highest > b->m.max_allocated_field_id) {
      b->m.max_allocated_field_id = highest;
    }
  }
}

static bool has_field(const struct build *b, int32_t id) {
  return b->field_count > 0 &&
         bsearch(&id, b->field_ids, b->field_count, sizeof id, compare_fields) != NULL;
}

static glv_status build_schema(struct build *b, glv_error *err) {
  const operation *op = b->plan->op;
  switch (op->kind) {
  case OPERATION_OVERWRITE:
    TRY(lance_schema_to_messages(&b->memory, op->schema, &b->m.fields, &b->m.n_fields, err));
    TRY(manifest_set_metadata(&b->memory, &b->m, op->schema->metadata, err));
    break;
  case OPERATION_MERGE:
    if (!op->enables_row_ids) {
      TRY(lance_schema_to_messages(&b->memory, op->schema, &b->m.fields, &b->m.n_fields, err));
    }
    break;
  case OPERATION_PROJECT:
    TRY(lance_schema_to_messages(&b->memory, op->schema, &b->m.fields, &b->m.n_fields, err));
    TRY(manifest_keep_field_metadata(&b->memory, &b->m, b->latest->manifest, err));
    break;
  case OPERATION_UPDATE:
  case OPERATION_UPDATE_CONFIG:
    TRY(manifest_change_metadata(&b->memory, &b->m, b->latest, op, err));
    break;
  default:
    break;
  }
  TRY(collect_field_ids(b, err));
  raise_field_mark(b);
  return GLV_OK;
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

static ProtobufCBinaryData detach(arena *a, const buf *bytes, bool *ok) {
  char *copy = arena_alloc(a, bytes->size);
  *ok = copy != NULL;
  if (copy != NULL) {
    memcpy(copy, bytes->data, bytes->size);
  }
  return (ProtobufCBinaryData){bytes->size, (uint8_t *)copy};
}

/* Every row of the fragment was updated by this commit. */
static glv_status touch_rows(struct build *b, Lance__Table__DataFragment *m, glv_error *err) {
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, b->plan->env, LIMIT_MANIFEST_BYTES);
  const version_run run = {m->physical_rows, b->m.version};
  TRY(row_versions_encode(&run, 1, &bytes, err));
  bool ok;
  m->last_updated_at_case =
      LANCE__TABLE__DATA_FRAGMENT__LAST_UPDATED_AT_INLINE_LAST_UPDATED_AT_VERSIONS;
  m->inline_last_updated_at_versions = detach(&b->memory, &bytes, &ok);
  return ok ? GLV_OK : error_nomem(err, bytes.size);
}

/* A fragment that got a column file. */
static glv_status touch_fragment(struct build *b, str raw, str *ret, glv_error *err) {
  *ret = raw;
  if (!b->has_stable_row_ids) {
    return GLV_OK;
  }
  ProtobufCMessage *message;
  TRY(pb_unpack(&b->memory, raw, &lance__table__data_fragment__descriptor, "fragment", &message,
                err));
  TRY(touch_rows(b, (Lance__Table__DataFragment *)message, err));
  return pb_pack_arena(&b->memory, message, ret, err);
}

static glv_status keep_fragment(struct build *b, const fragment *f, glv_error *err) {
  const planned_update *updated = plan_find_update(b->plan, f->id);
  struct entry *e = &b->entries[b->count++];
  *e = (struct entry){.id = f->id, .has_deletions = f->has_deletions};
  str raw = f->raw;
  fragment now = *f;
  if (updated != NULL) {
    e->has_deletions = updated->has_deletions;
    raw = updated->raw;
    if (b->plan->op->kind == OPERATION_MERGE) {
      TRY(touch_fragment(b, raw, &raw, err));
      TRY(fragment_decode(&b->memory, raw, "fragment", &now, err));
    }
  }
  TRY(drop_dead_files(b, &now, raw, &e->raw, err));
  for (size_t k = 0; k < now.file_count; k++) {
    note_file_version(b, now.files[k].version);
  }
  return GLV_OK;
}

static glv_status keep_fragments(struct build *b, glv_error *err) {
  const commit_plan *p = b->plan;
  if (b->content == NULL || p->op->kind == OPERATION_OVERWRITE) {
    return GLV_OK;
  }
  size_t missing = p->removed_count;
  for (size_t i = 0; i < b->content->fragment_count; i++) {
    const fragment *f = &b->content->fragments[i];
    if (plan_removes(p, f->id)) {
      missing--;
    } else {
      TRY(keep_fragment(b, f, err));
    }
  }
  return missing == 0
             ? GLV_OK
             : FAIL(err, GLV_E_CORRUPT,
                    "table '%s': a fragment that this commit replaces has vanished", p->home->name);
}

/* Row ids of a new fragment: those of its known rows, then the next ones. */
static glv_status give_row_ids(struct build *b, const planned_fragment *f,
                               Lance__Table__DataFragment *m, glv_error *err) {
  const uint64_t fresh = m->physical_rows - f->known_rows;
  uint64_t end;
  if (fresh == 0) {
    return GLV_OK;
  }
  if (!u64_add(b->m.next_row_id, fresh, &end)) {
    return FAIL(err, GLV_E_LIMIT, "table '%s' has no row ids left", b->plan->home->name);
  }
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, b->plan->env, LIMIT_MANIFEST_BYTES);
  if (f->known_rows > 0) { /* sequences that stand one after another are one sequence */
    TRY(buf_append_str(&bytes, str_of_binary(m->inline_row_ids), err));
  }
  TRY(row_ids_encode_range(b->m.next_row_id, fresh, &bytes, err));
  bool ok;
  m->row_ids_case = LANCE__TABLE__DATA_FRAGMENT__ROW_IDS_INLINE_ROW_IDS;
  m->inline_row_ids = detach(&b->memory, &bytes, &ok);
  b->m.next_row_id = end;
  return ok ? GLV_OK : error_nomem(err, bytes.size);
}

/* Known rows keep the version they were created in; the others were created now. */
static glv_status give_versions(struct build *b, const planned_fragment *f,
                                Lance__Table__DataFragment *m, glv_error *err) {
  version_run *runs = ARENA_ARRAY(&b->memory, version_run, f->created_count + 1);
  if (runs == NULL) {
    return error_nomem(err, (f->created_count + 1) * sizeof *runs);
  }
  for (size_t i = 0; i < f->created_count; i++) {
    runs[i] = f->created[i];
  }
  size_t count = f->created_count;
  if (f->known_rows < m->physical_rows) {
    runs[count++] = (version_run){m->physical_rows - f->known_rows, b->m.version};
  }
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, b->plan->env, LIMIT_MANIFEST_BYTES);
  TRY(row_versions_encode(runs, count, &bytes, err));
  bool ok;
  m->created_at_case = LANCE__TABLE__DATA_FRAGMENT__CREATED_AT_INLINE_CREATED_AT_VERSIONS;
  m->inline_created_at_versions = detach(&b->memory, &bytes, &ok);
  return ok ? touch_rows(b, m, err) : error_nomem(err, bytes.size);
}

/* The next fragment id, unless one was reserved. */
static glv_status give_id(struct build *b, Lance__Table__DataFragment *m, glv_error *err) {
  const bool is_first = b->m.opt_max_fragment_id_case == 0;
  if (m->id == 0) {
    m->id = is_first ? 0 : (uint64_t)b->m.max_fragment_id + 1;
  } else if (is_first || m->id > b->m.max_fragment_id) {
    return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': fragment id %llu was not reserved",
                b->plan->home->name, (unsigned long long)m->id);
  }
  if (m->id > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "table '%s' has no fragment ids left", b->plan->home->name);
  }
  if (is_first || m->id > b->m.max_fragment_id) {
    b->m.max_fragment_id = (uint32_t)m->id;
    b->m.opt_max_fragment_id_case = LANCE__TABLE__MANIFEST__OPT_MAX_FRAGMENT_ID_MAX_FRAGMENT_ID;
  }
  return GLV_OK;
}

static glv_status add_fragments(struct build *b, glv_error *err) {
  const commit_plan *p = b->plan;
  for (size_t i = 0; i < p->fragment_count; i++) {
    const planned_fragment *f = &p->fragments[i];
    Lance__Table__DataFragment m = f->message;
    TRY(give_id(b, &m, err));
    if (b->has_stable_row_ids) {
      TRY(give_row_ids(b, f, &m, err));
    }
    if (b->has_stable_row_ids && m.created_at_case == 0) {
      TRY(give_versions(b, f, &m, err));
    }
    note_file_version(
        b, format_version_of(m.files[0]->file_major_version, m.files[0]->file_minor_version));
    struct entry *e = &b->entries[b->count++];
    *e = (struct entry){.id = m.id};
    TRY(pb_pack_arena(&b->memory, &m.base, &e->raw, err));
  }
  return GLV_OK;
}

static void raise_fragment_mark(struct build *b, uint32_t id) {
  if (b->m.opt_max_fragment_id_case == 0 || b->m.max_fragment_id < id) {
    b->m.max_fragment_id = id;
    b->m.opt_max_fragment_id_case = LANCE__TABLE__MANIFEST__OPT_MAX_FRAGMENT_ID_MAX_FRAGMENT_ID;
  }
}

/* The high-water mark is at least every id in use, whoever wrote the latest manifest. */
static glv_status mark_fragments(struct build *b, glv_error *err) {
  for (size_t i = 0; b->latest != NULL && i < b->latest->fragment_count; i++) {
    raise_fragment_mark(b, (uint32_t)b->latest->fragments[i].id);
  }
  if (b->plan->op->kind != OPERATION_RESERVE_FRAGMENTS) {
    return GLV_OK;
  }
  const uint64_t mark = (uint64_t)b->m.max_fragment_id + b->plan->op->reserved;
  if (mark > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "table '%s' has no fragment ids left", b->plan->home->name);
  }
  raise_fragment_mark(b, (uint32_t)mark);
  return GLV_OK;
}

static int compare_entries(const void *a, const void *b) {
  return compare_u64(&((const struct entry *)a)->id, &((const struct entry *)b)->id);
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
  const size_t room =
      (b->content != NULL ? b->content->fragment_count : 0) + b->plan->fragment_count;
  b->entries = ARENA_ARRAY(&b->memory, struct entry, room);
  b->m.fragments = ARENA_ARRAY(&b->memory, ProtobufCBinaryData, room);
  if (b->entries == NULL || b->m.fragments == NULL) {
    return error_nomem(err, room * sizeof *b->entries);
  }
  TRY(mark_fragments(b, err));
  TRY(keep_fragments(b, err));
  TRY(add_fragments(b, err));
  TRY(sort_fragments(b, err));
  for (size_t i = 0; i < b->count; i++) {
    b->m.fragments[i] = binary_of_str(b->entries[i].raw);
  }
  b->m.n_fragments = b->count;
  if (b->plan->op->enables_row_ids) { /* from here on: no row was touched */
    b->has_stable_row_ids = true;
    b->m.next_row_id = b->plan->next_row_id;
  }
  return GLV_OK;
}

/* ---- indexes and flags ---- */

/* Whether the operation can take the ground from under an index. */
static bool changes_coverage(enum operation_kind kind) {
  return kind == OPERATION_UPDATE || kind == OPERATION_DELETE || kind == OPERATION_MERGE ||
         kind == OPERATION_PROJECT;
}

static glv_status build_indexes(struct build *b, glv_error *err) {
  const size_t count = b->content != NULL ? b->content->index_count : 0;
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
  return changes_coverage(b->plan->op->kind)
             ? indexes_retain(b->latest, b->field_ids, b->field_count, live, b->count,
                              b->kept_indexes, err)
             : GLV_OK;
}

static void build_flags(struct build *b) {
  const uint64_t old_reader = b->latest != NULL ? table_reader_flags(b->latest) : 0;
  const uint64_t old_writer = b->latest != NULL ? table_writer_flags(b->latest) : 0;
  uint64_t both = (old_reader | old_writer) & sticky_flags;
  uint64_t writer = old_writer & TABLE_FLAG_FIELD_IDS;
  for (size_t i = 0; i < b->count; i++) {
    both |= b->entries[i].has_deletions ? TABLE_FLAG_DELETIONS : 0;
  }
  both |= b->has_stable_row_ids ? TABLE_FLAG_STABLE_ROW_IDS : 0;
  both |= b->m.n_base_paths > 0 ? TABLE_FLAG_BASE_PATHS : 0;
  both |= b->has_mixed_files ? TABLE_FLAG_MIXED_FILES : 0;
  for (size_t i = 0; b->content != NULL && i < b->content->index_count; i++) {
    if (b->kept_indexes[i] && b->content->index_messages[i]->n_covering_fields > 0) {
      both |= TABLE_FLAG_COVERING_INDEX;
    }
  }
  writer |= b->m.n_config > 0 ? TABLE_FLAG_CONFIG : 0;
  b->m.reader_feature_flags = both;
  b->m.writer_feature_flags = both | writer;
}

/* ---- the message ---- */

/* Marks that a Restore never lowers. */
static void keep_marks(struct build *b) {
  const Lance__Table__Manifest *latest = b->latest->manifest;
  b->m.version = latest->version;
  b->m.next_row_id = u64_max(b->m.next_row_id, latest->next_row_id);
  if (latest->opt_max_fragment_id_case != 0) {
    raise_fragment_mark(b, latest->max_fragment_id);
  }
  if (latest->opt_max_allocated_field_id_case != 0 &&
      b->m.max_allocated_field_id < latest->max_allocated_field_id) {
    b->m.max_allocated_field_id = latest->max_allocated_field_id;
  }
}

static void start_message(struct build *b, int64_t now_ns) {
  if (b->latest != NULL) {
    b->m = *b->content->manifest;
    keep_marks(b);
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
  const size_t count = b->content != NULL ? b->content->index_count : 0;
  section.indices = ARENA_ARRAY(&b->memory, ProtobufCBinaryData, count);
  if (section.indices == NULL) {
    return error_nomem(err, count);
  }
  for (size_t i = 0; i < count; i++) {
    if (!b->kept_indexes[i]) {
      continue;
    }
    str message = b->content->indexes[i];
    if (b->plan->op->kind == OPERATION_REWRITE) {
      TRY(indexes_follow_rewrite(b->plan, b->latest, i, &b->memory, &message, err));
    }
    section.indices[section.n_indices++] = binary_of_str(message);
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
  CLEANUP(build_cleanup)
  struct build b = {
      .plan = p, .latest = latest, .content = p->restored != NULL ? p->restored : latest};
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
