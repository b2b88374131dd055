/* From an operation to a transaction (lance-table-format 3.5, 10, 15.1).
 *
 * What the transaction records is fixed here, once; retries only rebuild the manifest. New
 * fragments carry no ids in it, since ids are given when a manifest is built. Deletion files are
 * written in the bitmap form under a fresh random id, and are on their way to the disk when the
 * plan is done.
 */
#include <stdio.h>
#include <stdlib.h>

#include "table/bloom.h"
#include "table/commit_private.h"

static glv_status describe_new_fragments(commit_plan *p, const staged *rows, glv_error *err) {
  const size_t count = rows != NULL ? rows->file_count : 0;
  p->new_fragments = ARENA_ARRAY(&p->memory, Lance__Table__DataFragment, count);
  Lance__Table__DataFile *files = ARENA_ARRAY(&p->memory, Lance__Table__DataFile, count);
  Lance__Table__DataFile **lists = ARENA_ARRAY(&p->memory, Lance__Table__DataFile *, count);
  if (p->new_fragments == NULL || files == NULL || lists == NULL) {
    return error_nomem(err, count * sizeof *files);
  }
  for (size_t i = 0; i < count; i++) {
    const staged_file *from = &rows->files[i];
    lance__table__data_file__init(&files[i]);
    files[i].path = from->name;
    files[i].fields = from->fields;
    files[i].n_fields = from->count;
    files[i].column_indices = from->columns;
    files[i].n_column_indices = from->count;
    files[i].file_major_version = from->major;
    files[i].file_minor_version = from->minor;
    files[i].file_size_bytes = from->size_bytes;
    lists[i] = &files[i];
    lance__table__data_fragment__init(&p->new_fragments[i]);
    p->new_fragments[i].files = &lists[i];
    p->new_fragments[i].n_files = 1;
    p->new_fragments[i].physical_rows = from->rows;
  }
  p->new_count = count;
  return GLV_OK;
}

/* Serialized new fragments, as the transaction has them. */
static glv_status pack_new_fragments(commit_plan *p, ProtobufCBinaryData **ret, glv_error *err) {
  ProtobufCBinaryData *packed = ARENA_ARRAY(&p->memory, ProtobufCBinaryData, p->new_count);
  if (packed == NULL) {
    return error_nomem(err, p->new_count * sizeof *packed);
  }
  for (size_t i = 0; i < p->new_count; i++) {
    str bytes;
    TRY(pb_pack_arena(&p->memory, &p->new_fragments[i].base, &bytes, err));
    packed[i] = binary_of_str(bytes);
  }
  *ret = packed;
  return GLV_OK;
}

/* ---- deletions ---- */

/* Create and write; the handle stays open. After a failure nothing is left. */
glv_status write_open_file(glv_env *env, void *dir, const char *name, str bytes, void **ret,
                           glv_error *err) {
  void *file;
  TRY(io_create(env, dir, name, &file, err));
  const glv_status status = io_write(env, file, bytes.data, bytes.size, err);
  if (status != GLV_OK) {
    (void)io_close(env, file, NULL);
    (void)io_remove(env, dir, name, NULL);
    return status;
  }
  *ret = file;
  return GLV_OK;
}

static glv_status write_deletion_file(commit_plan *p, void *dir, const fragment *f,
                                      const bitmap *deleted, deletion_file *ret, glv_error *err) {
  deletion_file d = {
      .form = DELETION_BITMAP, .read_version = p->read_version, .count = bitmap_count(deleted)};
  TRY(env_random(p->env, &d.id, sizeof d.id, err));
  char name[NAME_SIZE];
  name_deletion(f->id, &d, name);
  CLEANUP(bitmap_cleanup) bitmap *copy = bitmap_copy(deleted);
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, p->env, LIMIT_MANIFEST_BYTES);
  if (copy == NULL) {
    return error_nomem(err, 0);
  }
  TRY(bitmap_write(copy, true, &bytes, err));
  const char *kept = arena_strdup(&p->memory, str_of(name));
  if (kept == NULL) {
    return error_nomem(err, sizeof name);
  }
  void *file;
  TRY(write_open_file(p->env, dir, name, buf_str(&bytes), &file, err));
  p->deletion_names[p->deletion_count++] = kept;
  TRY(sync_file(&p->syncs, file, err));
  *ret = d;
  return GLV_OK;
}

/* The message of a fragment with another deletion file, everything else as it was. */
static glv_status replace_deletion_file(commit_plan *p, const fragment *f, const deletion_file *d,
                                        str *ret, glv_error *err) {
  ProtobufCMessage *message;
  TRY(pb_unpack(&p->memory, f->raw, &lance__table__data_fragment__descriptor, "fragment", &message,
                err));
  Lance__Table__DeletionFile file = LANCE__TABLE__DELETION_FILE__INIT;
  file.file_type = (uint32_t)d->form;
  file.read_version = d->read_version;
  file.id = d->id;
  file.num_deleted_rows = d->count;
  ((Lance__Table__DataFragment *)message)->deletion_file = &file;
  return pb_pack_arena(&p->memory, message, ret, err);
}

static glv_status plan_update_of(commit_plan *p, const deletion_update *u, glv_error *err) {
  const fragment *f = table_fragment(p->base, u->fragment_id);
  if (f == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "table '%s' has no fragment %llu", p->home->name,
                (unsigned long long)u->fragment_id);
  }
  const uint64_t count = bitmap_count(u->deleted);
  if (count > 0 && bitmap_max(u->deleted) >= f->physical_rows) {
    return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': fragment %llu has no row %lu", p->home->name,
                (unsigned long long)f->id, (unsigned long)bitmap_max(u->deleted));
  }
  if (count == f->physical_rows) {
    p->removed_ids[p->removed_count++] = f->id;
    return GLV_OK;
  }
  if (p->deletion_dir == NULL) {
    TRY(home_dir(p->home, "_deletions", &p->deletion_dir, NULL, err));
  }
  deletion_file d;
  TRY(write_deletion_file(p, p->deletion_dir, f, u->deleted, &d, err));
  p->updated[p->updated_count].id = f->id;
  TRY(replace_deletion_file(p, f, &d, &p->updated[p->updated_count].raw, err));
  p->updated_count++;
  return GLV_OK;
}

static int compare_ids(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a;
  const uint64_t y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

const planned_update *plan_find_update(const commit_plan *p, uint64_t id) {
  return p->updated_count == 0
             ? NULL
             : bsearch(&id, p->updated, p->updated_count, sizeof *p->updated, compare_ids);
}

/* Every fragment at most once, and removed ones exist. */
static glv_status check_changes(const commit_plan *p, glv_error *err) {
  for (size_t i = 0; i < p->removed_count; i++) {
    const uint64_t id = p->removed_ids[i];
    if (table_fragment(p->base, id) == NULL || (i > 0 && id == p->removed_ids[i - 1]) ||
        plan_find_update(p, id) != NULL) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "table '%s': fragment %llu cannot be removed twice or does not exist",
                  p->home->name, (unsigned long long)id);
    }
  }
  for (size_t i = 1; i < p->updated_count; i++) {
    if (p->updated[i].id == p->updated[i - 1].id) {
      return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': fragment %llu is updated twice",
                  p->home->name, (unsigned long long)p->updated[i].id);
    }
  }
  return GLV_OK;
}

static glv_status plan_fragment_changes(commit_plan *p, glv_error *err) {
  const operation *op = p->op;
  arena *a = &p->memory;
  p->removed_ids = ARENA_ARRAY(a, uint64_t, op->removed_count + op->updated_count);
  p->updated = ARENA_ARRAY(a, planned_update, op->updated_count);
  p->deletion_names = ARENA_ARRAY(a, const char *, op->updated_count);
  if (p->removed_ids == NULL || p->updated == NULL || p->deletion_names == NULL) {
    return error_nomem(err, op->updated_count * sizeof *p->updated);
  }
  for (size_t i = 0; i < op->removed_count; i++) {
    p->removed_ids[p->removed_count++] = op->removed[i];
  }
  for (size_t i = 0; i < op->updated_count; i++) {
    TRY(plan_update_of(p, &op->updated[i], err));
  }
  if (p->removed_count > 1) {
    qsort(p->removed_ids, p->removed_count, sizeof *p->removed_ids, compare_ids);
  }
  if (p->updated_count > 1) { /* the id is the first member */
    qsort(p->updated, p->updated_count, sizeof *p->updated, compare_ids);
  }
  TRY(check_changes(p, err));
  return p->deletion_dir != NULL ? sync_dir(&p->syncs, p->deletion_dir, err) : GLV_OK;
}

/* ---- messages ---- */

static glv_status pack(commit_plan *p, Lance__Table__Transaction *m, glv_error *err) {
  m->read_version = p->read_version;
  m->uuid = p->uuid;
  name_transaction(p->read_version, p->uuid, p->transaction_name);
  return pb_pack_arena(&p->memory, &m->base, &p->transaction, err);
}

static glv_status make_append(commit_plan *p, glv_error *err) {
  Lance__Table__Append m = LANCE__TABLE__APPEND__INIT;
  m.n_fragments = p->new_count;
  TRY(pack_new_fragments(p, &m.fragments, err));
  Lance__Table__Transaction t;
  lance__table__transaction__init(&t);
  t.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_APPEND;
  t.append = &m;
  return pack(p, &t, err);
}

static glv_status make_overwrite(commit_plan *p, glv_error *err) {
  Lance__Table__Overwrite m = LANCE__TABLE__OVERWRITE__INIT;
  m.n_fragments = p->new_count;
  TRY(pack_new_fragments(p, &m.fragments, err));
  TRY(lance_schema_to_messages(&p->memory, p->op->schema, &m.schema, &m.n_schema, err));
  Lance__Table__Transaction t;
  lance__table__transaction__init(&t);
  t.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_OVERWRITE;
  t.overwrite = &m;
  return pack(p, &t, err);
}

static glv_status make_update(commit_plan *p, glv_error *err) {
  const operation *op = p->op;
  TRY(plan_fragment_changes(p, err));
  Lance__Table__Update m = LANCE__TABLE__UPDATE__INIT;
  m.n_new_fragments = p->new_count;
  TRY(pack_new_fragments(p, &m.new_fragments, err));
  m.n_removed_fragment_ids = p->removed_count;
  m.removed_fragment_ids = p->removed_ids;
  m.n_updated_fragments = p->updated_count;
  m.updated_fragments = ARENA_ARRAY(&p->memory, ProtobufCBinaryData, p->updated_count);
  if (m.updated_fragments == NULL) {
    return error_nomem(err, p->updated_count);
  }
  for (size_t i = 0; i < p->updated_count; i++) {
    m.updated_fragments[i] = binary_of_str(p->updated[i].raw);
  }
  Lance__Table__BloomFilter bits = LANCE__TABLE__BLOOM_FILTER__INIT;
  bits.bitmap = binary_of_str(op->filter_bloom);
  bits.num_bits = BLOOM_BITS;
  bits.number_of_items = BLOOM_ITEMS;
  bits.probability = BLOOM_PROBABILITY;
  Lance__Table__KeyExistenceFilter filter = LANCE__TABLE__KEY_EXISTENCE_FILTER__INIT;
  filter.n_field_ids = op->filter_field_count;
  filter.field_ids = (int32_t *)(uintptr_t)op->filter_fields;
  filter.data_case = LANCE__TABLE__KEY_EXISTENCE_FILTER__DATA_BLOOM;
  filter.bloom = &bits;
  m.inserted_rows = op->filter_fields != NULL ? &filter : NULL;
  Lance__Table__Transaction t;
  lance__table__transaction__init(&t);
  t.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_UPDATE;
  t.update = &m;
  return pack(p, &t, err);
}

static char *owned_text(commit_plan *p, str text) { return arena_strdup(&p->memory, text); }

static glv_status make_update_config(commit_plan *p, glv_error *err) {
  const operation *op = p->op;
  const size_t count = op->change_count;
  Lance__Table__UpdateMapEntry *entries =
      ARENA_ARRAY(&p->memory, Lance__Table__UpdateMapEntry, count);
  Lance__Table__UpdateMapEntry **list =
      ARENA_ARRAY(&p->memory, Lance__Table__UpdateMapEntry *, count);
  if (entries == NULL || list == NULL) {
    return error_nomem(err, count * sizeof *entries);
  }
  for (size_t i = 0; i < count; i++) {
    lance__table__update_map_entry__init(&entries[i]);
    list[i] = &entries[i];
    entries[i].key = owned_text(p, op->changes[i].key);
    if (op->changes[i].value.data != NULL) {
      entries[i].opt_value_case = LANCE__TABLE__UPDATE_MAP_ENTRY__OPT_VALUE_VALUE;
      entries[i].value = owned_text(p, op->changes[i].value);
    }
    if (entries[i].key == NULL || (entries[i].opt_value_case != 0 && entries[i].value == NULL)) {
      return error_nomem(err, op->changes[i].value.size);
    }
  }
  Lance__Table__UpdateMap map_message = LANCE__TABLE__UPDATE_MAP__INIT;
  map_message.n_update_entries = count;
  map_message.update_entries = list;
  Lance__Table__UpdateConfig m = LANCE__TABLE__UPDATE_CONFIG__INIT;
  m.schema_metadata_updates = &map_message;
  Lance__Table__Transaction t;
  lance__table__transaction__init(&t);
  t.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_UPDATE_CONFIG;
  t.update_config = &m;
  return pack(p, &t, err);
}

static glv_status make_message(commit_plan *p, glv_error *err) {
  switch (p->op->kind) {
  case OPERATION_APPEND:
    return make_append(p, err);
  case OPERATION_OVERWRITE:
    return make_overwrite(p, err);
  case OPERATION_UPDATE:
    return make_update(p, err);
  case OPERATION_UPDATE_CONFIG:
    return make_update_config(p, err);
  case OPERATION_UNKNOWN:
  case OPERATION_DELETE:
  case OPERATION_CREATE_INDEX:
  case OPERATION_REWRITE:
  case OPERATION_MERGE:
  case OPERATION_RESTORE:
  case OPERATION_RESERVE_FRAGMENTS:
  case OPERATION_PROJECT:
  case OPERATION_DATA_REPLACEMENT:
  case OPERATION_UPDATE_MEM_WAL_STATE:
  case OPERATION_CLONE:
  case OPERATION_UPDATE_BASES:
  case OPERATION_DATA_OVERLAY:
    break;
  }
  return FAIL(err, GLV_E_UNSUPPORTED, "operation %s cannot be committed by this release",
              operation_name(p->op->kind));
}

glv_status plan_make(table_home *h, const table_snapshot *base, const operation *op,
                     commit_plan *ret, glv_error *err) {
  memset(ret, 0, sizeof *ret);
  ret->env = h->env;
  ret->syncs.env = h->env;
  ret->home = h;
  ret->base = base;
  ret->op = op;
  ret->read_version = base != NULL ? base->manifest->version : 0;
  arena_init(&ret->memory, h->env);
  TRY(name_uuid(h->env, ret->uuid, err));
  TRY(describe_new_fragments(ret, op->rows, err));
  return make_message(ret, err);
}

static void remove_file(const commit_plan *p, const char *folder, const char *name) {
  char path[LIMIT_PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", p->home->path, folder);
  CLEANUP(io_scope_dispose) io_scope scope = {.env = p->env};
  if (io_dir_open(p->env, path, &scope.dir, NULL) == GLV_OK) {
    (void)io_remove(p->env, scope.dir, name, NULL);
  }
}

void plan_undo(commit_plan *p) {
  (void)sync_wait(&p->syncs, NULL);
  if (p->wrote_transaction) {
    remove_file(p, "_transactions", p->transaction_name);
  }
  for (size_t i = 0; i < p->deletion_count; i++) {
    remove_file(p, "_deletions", p->deletion_names[i]);
  }
}

glv_status plan_wait(commit_plan *p, glv_error *err) {
  const glv_status status = sync_wait(&p->syncs, err);
  if (p->op->rows == NULL) {
    return status;
  }
  staged *rows = (staged *)(uintptr_t)p->op->rows; /* its syncs are no part of what it holds */
  const glv_status synced = sync_wait(&rows->syncs, status == GLV_OK ? err : NULL);
  return status == GLV_OK ? synced : status;
}

void plan_dispose(commit_plan *p) {
  (void)sync_wait(&p->syncs, NULL);
  if (p->transaction_file != NULL) {
    (void)io_close(p->env, p->transaction_file, NULL);
  }
  io_dir_close(p->env, p->transaction_dir);
  io_dir_close(p->env, p->deletion_dir);
  arena_dispose(&p->memory);
}
