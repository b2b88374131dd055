/* Which rows of which fragments an operation deletes.
 *
 * Each fragment that loses rows gets a deletion file in the bitmap form, under a fresh random id,
 * with everything deleted in it, old and new; one that loses its last row is removed instead. The
 * files are on their way to the disk when the plan is done. What the operation itself deletes is
 * kept, so that it can be joined with the deletions of a commit that came first (lance-table-format
 * 13.2).
 */
#include <stdlib.h>

#include "table/commit_private.h"
#include "table/deletion.h"

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

/* Writes the deletion file of an update of f; deleted may be reordered inside. */
static glv_status write_deletion_file(commit_plan *p, const fragment *f, bitmap *deleted,
                                      planned_update *u, glv_error *err) {
  deletion_file d = {
      .form = DELETION_BITMAP, .read_version = p->read_version, .count = bitmap_count(deleted)};
  TRY(env_random(p->env, &d.id, sizeof d.id, err));
  char name[NAME_SIZE];
  name_deletion(f->id, &d, name);
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, p->env, LIMIT_MANIFEST_BYTES);
  TRY(bitmap_write(deleted, true, &bytes, err));
  const char *kept = arena_strdup(&p->memory, str_of(name));
  if (kept == NULL) {
    return error_nomem(err, sizeof name);
  }
  if (p->deletion_dir == NULL) {
    TRY(home_dir(p->home, "_deletions", &p->deletion_dir, NULL, err));
  }
  void *file;
  TRY(write_open_file(p->env, p->deletion_dir, name, buf_str(&bytes), &file, err));
  u->deletion_name = kept;
  TRY(sync_file(&p->syncs, file, err));
  return replace_deletion_file(p, f, &d, &u->raw, err);
}

/* The rows deleted in f as t has it, and those of more; NULL when memory ran out. */
static glv_status join(const table_snapshot *t, const fragment *f, const bitmap *more, bitmap **ret,
                       glv_error *err) {
  CLEANUP(bitmap_cleanup) bitmap *all = NULL;
  TRY(deletion_load(t, f, &all, err));
  if (all == NULL) {
    all = bitmap_copy(more);
  } else {
    bitmap_or(all, more);
  }
  if (all == NULL) {
    return error_nomem(err, 0);
  }
  *ret = all;
  all = NULL;
  return GLV_OK;
}

static glv_status check_update(const commit_plan *p, const deletion_update *u, const fragment *f,
                               glv_error *err) {
  if (f == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "table '%s' has no fragment %llu", p->home->name,
                (unsigned long long)u->fragment_id);
  }
  if (bitmap_count(u->deleted) > 0 && bitmap_max(u->deleted) >= f->physical_rows) {
    return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': fragment %llu has no row %lu", p->home->name,
                (unsigned long long)f->id, (unsigned long)bitmap_max(u->deleted));
  }
  return GLV_OK;
}

/* Rows of u that are live at the base. */
static glv_status find_affected(const commit_plan *p, const deletion_update *u, const fragment *f,
                                bitmap **ret, glv_error *err) {
  CLEANUP(bitmap_cleanup) bitmap *before = NULL;
  TRY(deletion_load(p->base, f, &before, err));
  bitmap *affected = bitmap_copy(u->deleted);
  if (affected == NULL) {
    return error_nomem(err, 0);
  }
  if (before != NULL) {
    bitmap_andnot(affected, before);
  }
  *ret = affected;
  return GLV_OK;
}

static glv_status plan_update_of(commit_plan *p, const deletion_update *u, glv_error *err) {
  const fragment *f = table_fragment(p->base, u->fragment_id);
  TRY(check_update(p, u, f, err));
  planned_update *planned = &p->updated[p->updated_count];
  *planned = (planned_update){.id = f->id, .at_base = f, .has_deletions = true};
  TRY(find_affected(p, u, f, &planned->affected, err));
  if (bitmap_count(planned->affected) == 0) {
    bitmap_free(planned->affected);
    return GLV_OK;
  }
  p->updated_count++; /* owns its bitmap from here on */
  CLEANUP(bitmap_cleanup) bitmap *all = NULL;
  TRY(join(p->base, f, planned->affected, &all, err));
  if (bitmap_count(all) == f->physical_rows) {
    p->removed_ids[p->removed_count++] = f->id;
    bitmap_free(planned->affected);
    p->updated_count--;
    return GLV_OK;
  }
  return write_deletion_file(p, f, all, planned, err);
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

static void sort_removed(commit_plan *p) {
  if (p->removed_count > 1) {
    qsort(p->removed_ids, p->removed_count, sizeof *p->removed_ids, compare_u64);
  }
}

static glv_status sync_deletions(commit_plan *p, glv_error *err) {
  return p->deletion_dir != NULL ? sync_dir(&p->syncs, p->deletion_dir, err) : GLV_OK;
}

glv_status plan_deletions(commit_plan *p, glv_error *err) {
  const operation *op = p->op;
  p->removed_ids = ARENA_ARRAY(&p->memory, uint64_t, op->removed_count + op->updated_count);
  p->updated = ARENA_ARRAY(&p->memory, planned_update, op->updated_count);
  if (p->removed_ids == NULL || p->updated == NULL) {
    return error_nomem(err, op->updated_count * sizeof *p->updated);
  }
  for (size_t i = 0; i < op->removed_count; i++) {
    p->removed_ids[p->removed_count++] = op->removed[i];
  }
  for (size_t i = 0; i < op->updated_count; i++) {
    TRY(plan_update_of(p, &op->updated[i], err));
  }
  sort_removed(p);
  if (p->updated_count > 1) { /* the id is the first member */
    qsort(p->updated, p->updated_count, sizeof *p->updated, compare_u64);
  }
  TRY(check_changes(p, err));
  return sync_deletions(p, err);
}

/* ---- on top of other deletions ---- */

static glv_status fail_same_row(const commit_plan *p, const planned_update *u, uint32_t row,
                                glv_error *err) {
  error_set(err, GLV_E_CONFLICT,
            "table '%s': this %s and a concurrent transaction both modified row %lu of fragment "
            "%llu. Please retry.",
            p->home->name, operation_name(p->op->kind), (unsigned long)row,
            (unsigned long long)u->id);
  error_flag(err, GLV_ERROR_MAY_RETRY);
  return GLV_E_CONFLICT;
}

/* *ret_removed: no live row of the fragment is left. */
static glv_status join_update(commit_plan *p, planned_update *u, const table_snapshot *latest,
                              bool *ret_removed, glv_error *err) {
  const fragment *f = table_fragment(latest, u->id);
  if (f == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "table '%s': fragment %llu has vanished from version %llu",
                p->home->name, (unsigned long long)u->id,
                (unsigned long long)latest->manifest->version);
  }
  CLEANUP(bitmap_cleanup) bitmap *all = NULL;
  TRY(deletion_load(latest, f, &all, err));
  CLEANUP(bitmap_cleanup) bitmap *common = bitmap_copy(u->affected);
  if (common == NULL) {
    return error_nomem(err, 0);
  }
  uint32_t row = 0;
  if (all != NULL) {
    bitmap_and(common, all);
    if (bitmap_select(common, 0, &row)) {
      return fail_same_row(p, u, row, err);
    }
    bitmap_or(all, u->affected);
  }
  const char *old_name = u->deletion_name;
  u->deletion_name = NULL;
  plan_remove_file(p, "_deletions", old_name);
  const bitmap *whole = all != NULL ? all : u->affected;
  *ret_removed = bitmap_count(whole) == f->physical_rows;
  if (*ret_removed) {
    return GLV_OK;
  }
  bitmap *written = all != NULL ? all : u->affected;
  return write_deletion_file(p, f, written, u, err);
}

glv_status plan_join_deletions(commit_plan *p, const table_snapshot *latest, glv_error *err) {
  size_t kept = 0;
  glv_status status = GLV_OK;
  for (size_t i = 0; i < p->updated_count; i++) {
    planned_update *u = &p->updated[i];
    bool removed = false;
    if (status == GLV_OK && u->is_stale) {
      status = join_update(p, u, latest, &removed, err);
    }
    if (removed) {
      p->removed_ids[p->removed_count++] = u->id;
      bitmap_free(u->affected);
    } else {
      u->is_stale = u->is_stale && status != GLV_OK;
      p->updated[kept++] = *u;
    }
  }
  p->updated_count = kept;
  sort_removed(p);
  TRY(status);
  return sync_deletions(p, err);
}
