/* The new fragments of an operation, and the column files of existing ones.
 *
 * New fragments carry no ids here, since ids are given when a manifest is built. Rows that were in
 * the table before (an update moved them, a compaction copied them) bring their row ids and
 * versions along, cut where the staged files are cut.
 */
#include <stdlib.h>

#include "table/commit_private.h"

static void describe_file(const staged_file *from, Lance__Table__DataFile *to) {
  lance__table__data_file__init(to);
  to->path = from->name;
  to->fields = from->fields;
  to->n_fields = from->count;
  to->column_indices = from->columns;
  to->n_column_indices = from->count;
  to->file_major_version = from->major;
  to->file_minor_version = from->minor;
  to->file_size_bytes = from->size_bytes;
}

/* The runs of the rows [first, first + count). */
static glv_status cut_runs(arena *a, const version_run *runs, size_t run_count, uint64_t first,
                           uint64_t count, const version_run **ret, size_t *ret_count,
                           glv_error *err) {
  version_run *cut = ARENA_ARRAY(a, version_run, run_count);
  if (cut == NULL) {
    return error_nomem(err, run_count * sizeof *cut);
  }
  size_t kept = 0;
  uint64_t at = 0;
  uint64_t have = 0;
  for (size_t i = 0; i < run_count && have < count; i++) {
    const uint64_t end = at + runs[i].rows;
    const uint64_t from = u64_max(at, first);
    if (end > from) {
      const uint64_t rows = u64_min(end - from, count - have);
      cut[kept++] = (version_run){rows, runs[i].version};
      have += rows;
    }
    at = end;
  }
  *ret = cut;
  *ret_count = kept;
  return have == count
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT, "an operation lacks versions of rows that it moves");
}

static glv_status keep_bytes(arena *a, const buf *bytes, ProtobufCBinaryData *ret, glv_error *err) {
  char *copy = arena_alloc(a, bytes->size);
  if (copy == NULL) {
    return error_nomem(err, bytes->size);
  }
  if (bytes->size > 0) {
    memcpy(copy, bytes->data, bytes->size);
  }
  *ret = (ProtobufCBinaryData){bytes->size, (uint8_t *)copy};
  return GLV_OK;
}

/* A compaction knows everything about its rows; the transaction records it. */
static glv_status give_versions(commit_plan *p, planned_fragment *f, uint64_t first, buf *scratch,
                                glv_error *err) {
  const row_origin *o = p->op->origin;
  if (o->updated == NULL || f->known_rows != f->message.physical_rows) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a compaction has to know all of its rows");
  }
  const version_run *updated;
  size_t updated_count;
  TRY(cut_runs(&p->memory, o->updated, o->updated_count, first, f->known_rows, &updated,
               &updated_count, err));
  Lance__Table__DataFragment *m = &f->message;
  buf_clear(scratch);
  TRY(row_versions_encode(f->created, f->created_count, scratch, err));
  TRY(keep_bytes(&p->memory, scratch, &m->inline_created_at_versions, err));
  buf_clear(scratch);
  TRY(row_versions_encode(updated, updated_count, scratch, err));
  TRY(keep_bytes(&p->memory, scratch, &m->inline_last_updated_at_versions, err));
  m->created_at_case = LANCE__TABLE__DATA_FRAGMENT__CREATED_AT_INLINE_CREATED_AT_VERSIONS;
  m->last_updated_at_case =
      LANCE__TABLE__DATA_FRAGMENT__LAST_UPDATED_AT_INLINE_LAST_UPDATED_AT_VERSIONS;
  return GLV_OK;
}

/* Row ids and versions of a new fragment whose first row is row `first` of the staged ones. */
static glv_status give_origin(commit_plan *p, planned_fragment *f, uint64_t first, glv_error *err) {
  const row_origin *o = p->op->origin;
  const uint64_t behind = o->count > first ? o->count - first : 0;
  f->known_rows = u64_min(behind, f->message.physical_rows);
  TRY(cut_runs(&p->memory, o->created, o->created_count, first, f->known_rows, &f->created,
               &f->created_count, err));
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, p->env, LIMIT_MANIFEST_BYTES);
  TRY(row_ids_encode(f->known_rows > 0 ? o->ids + first : NULL, (size_t)f->known_rows, &bytes,
                     err));
  f->message.row_ids_case = LANCE__TABLE__DATA_FRAGMENT__ROW_IDS_INLINE_ROW_IDS;
  TRY(keep_bytes(&p->memory, &bytes, &f->message.inline_row_ids, err));
  return p->op->kind == OPERATION_REWRITE ? give_versions(p, f, first, &bytes, err) : GLV_OK;
}

static glv_status check_origin(const commit_plan *p, uint64_t rows, glv_error *err) {
  const bool is_stable = p->base != NULL && table_has_stable_row_ids(p->base);
  const row_origin *o = p->op->origin;
  if (o != NULL && (!is_stable || o->count > rows)) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "table '%s': an operation brings the identity of rows that have none",
                p->home->name);
  }
  if (o == NULL && is_stable && p->op->kind == OPERATION_REWRITE && rows > 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': a compaction has to carry the row ids",
                p->home->name);
  }
  return GLV_OK;
}

glv_status plan_new_fragments(commit_plan *p, glv_error *err) {
  const staged *rows = p->op->rows;
  const size_t count = rows != NULL ? rows->file_count : 0;
  TRY(check_origin(p, rows != NULL ? rows->rows : 0, err));
  p->fragments = ARENA_ARRAY(&p->memory, planned_fragment, count);
  Lance__Table__DataFile *files = ARENA_ARRAY(&p->memory, Lance__Table__DataFile, count);
  Lance__Table__DataFile **lists = ARENA_ARRAY(&p->memory, Lance__Table__DataFile *, count);
  if (p->fragments == NULL || files == NULL || lists == NULL) {
    return error_nomem(err, count * sizeof *files);
  }
  uint64_t first = 0;
  for (size_t i = 0; i < count; i++) {
    describe_file(&rows->files[i], &files[i]);
    lists[i] = &files[i];
    planned_fragment *f = &p->fragments[i];
    lance__table__data_fragment__init(&f->message);
    f->message.files = &lists[i];
    f->message.n_files = 1;
    f->message.physical_rows = rows->files[i].rows;
    if (p->op->kind == OPERATION_REWRITE) {
      f->message.id = p->op->first_id + i;
    }
    if (p->op->origin != NULL) {
      TRY(give_origin(p, f, first, err));
    }
    first += rows->files[i].rows;
  }
  p->fragment_count = count;
  return GLV_OK;
}

/* ---- compaction ---- */

static bool has_repeated_id(const uint64_t *sorted, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (sorted[i] == sorted[i - 1]) {
      return true;
    }
  }
  return false;
}

glv_status plan_groups(commit_plan *p, glv_error *err) {
  size_t count = 0;
  size_t made = 0;
  for (size_t i = 0; i < p->op->group_count; i++) {
    count += p->op->groups[i].old_count;
    made += p->op->groups[i].new_count;
  }
  p->removed_ids = ARENA_ARRAY(&p->memory, uint64_t, count);
  if (p->removed_ids == NULL) {
    return error_nomem(err, count * sizeof *p->removed_ids);
  }
  for (size_t i = 0; i < p->op->group_count; i++) {
    const rewrite_group *g = &p->op->groups[i];
    for (size_t k = 0; k < g->old_count; k++) {
      p->removed_ids[p->removed_count++] = g->old_ids[k];
    }
  }
  if (p->removed_count > 1) {
    qsort(p->removed_ids, p->removed_count, sizeof *p->removed_ids, compare_u64);
  }
  if (made != p->fragment_count || has_repeated_id(p->removed_ids, p->removed_count)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': the groups of a compaction do not add up",
                p->home->name);
  }
  return GLV_OK;
}

/* ---- column files ---- */

/* Fragment f with one more file. */
static glv_status add_file(commit_plan *p, const fragment *f, const staged_file *file, str *ret,
                           glv_error *err) {
  ProtobufCMessage *message;
  TRY(pb_unpack(&p->memory, f->raw, &lance__table__data_fragment__descriptor, "fragment", &message,
                err));
  Lance__Table__DataFragment *m = (Lance__Table__DataFragment *)message;
  Lance__Table__DataFile *added = ARENA_NEW(&p->memory, Lance__Table__DataFile);
  Lance__Table__DataFile **list = ARENA_ARRAY(&p->memory, Lance__Table__DataFile *, m->n_files + 1);
  if (added == NULL || list == NULL) {
    return error_nomem(err, (m->n_files + 1) * sizeof *list);
  }
  describe_file(file, added);
  for (size_t i = 0; i < m->n_files; i++) {
    list[i] = m->files[i];
  }
  list[m->n_files++] = added;
  m->files = list;
  return pb_pack_arena(&p->memory, message, ret, err);
}

glv_status plan_column_files(commit_plan *p, glv_error *err) {
  const staged *rows = p->op->rows;
  const size_t count = rows != NULL ? rows->file_count : 0;
  p->updated = ARENA_ARRAY(&p->memory, planned_update, count);
  if (p->updated == NULL) {
    return error_nomem(err, count * sizeof *p->updated);
  }
  for (size_t i = 0; i < count; i++) {
    const fragment *f = table_fragment(p->base, p->op->targets[i]);
    if (f == NULL || f->physical_rows != rows->files[i].rows) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "table '%s': a file of %llu rows does not fit fragment %llu", p->home->name,
                  (unsigned long long)rows->files[i].rows, (unsigned long long)p->op->targets[i]);
    }
    planned_update *u = &p->updated[p->updated_count];
    *u = (planned_update){.id = f->id, .has_deletions = f->has_deletions};
    TRY(add_file(p, f, &rows->files[i], &u->raw, err));
    p->updated_count++;
  }
  if (count > 1) {
    qsort(p->updated, count, sizeof *p->updated, compare_u64);
  }
  for (size_t i = 1; i < count; i++) {
    if (p->updated[i].id == p->updated[i - 1].id) {
      return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': fragment %llu gets two files at once",
                  p->home->name, (unsigned long long)p->updated[i].id);
    }
  }
  return GLV_OK;
}

/* ---- stable row ids for a table without ---- */

/* Fragment f with the row ids first .. first + physical_rows - 1. */
static glv_status add_row_ids(commit_plan *p, const fragment *f, uint64_t first, str *ret,
                              glv_error *err) {
  ProtobufCMessage *message;
  TRY(pb_unpack(&p->memory, f->raw, &lance__table__data_fragment__descriptor, "fragment", &message,
                err));
  Lance__Table__DataFragment *m = (Lance__Table__DataFragment *)message;
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, p->env, LIMIT_MANIFEST_BYTES);
  TRY(row_ids_encode_range(first, f->physical_rows, &bytes, err));
  m->row_ids_case = LANCE__TABLE__DATA_FRAGMENT__ROW_IDS_INLINE_ROW_IDS;
  TRY(keep_bytes(&p->memory, &bytes, &m->inline_row_ids, err));
  return pb_pack_arena(&p->memory, message, ret, err);
}

/* Deleted rows get ids too, so that every row has the one of its place. Ids begin where a version
 * from before a restore may have left off. */
glv_status plan_row_ids(commit_plan *p, glv_error *err) {
  const size_t count = p->base->fragment_count;
  p->updated = ARENA_ARRAY(&p->memory, planned_update, count);
  if (p->updated == NULL) {
    return error_nomem(err, count * sizeof *p->updated);
  }
  p->next_row_id = p->base->manifest->next_row_id;
  for (size_t i = 0; i < count; i++) {
    const fragment *f = &p->base->fragments[i];
    planned_update *u = &p->updated[p->updated_count];
    *u = (planned_update){.id = f->id, .has_deletions = f->has_deletions};
    TRY(add_row_ids(p, f, p->next_row_id, &u->raw, err));
    if (!u64_add(p->next_row_id, f->physical_rows, &p->next_row_id)) {
      return FAIL(err, GLV_E_LIMIT, "table '%s' has no row ids left", p->home->name);
    }
    p->updated_count++;
  }
  if (count > 1) {
    qsort(p->updated, count, sizeof *p->updated, compare_u64);
  }
  return GLV_OK;
}
