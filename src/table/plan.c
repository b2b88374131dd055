/* From an operation to a transaction (lance-table-format 3.5, 10, 15.1).
 *
 * What the transaction records is fixed here, once; retries only rebuild the manifest. The
 * exception are deletions: when another writer deleted other rows of the same fragments meanwhile,
 * plan_catch_up writes the deletion files and the transaction anew, on top of that version.
 */
#include <stdio.h>
#include <stdlib.h>

#include "table/commit_private.h"

int compare_u64(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a;
  const uint64_t y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

planned_update *plan_find_update(const commit_plan *p, uint64_t id) {
  return p->updated_count == 0
             ? NULL
             : bsearch(&id, p->updated, p->updated_count, sizeof *p->updated, compare_u64);
}

bool plan_removes(const commit_plan *p, uint64_t id) {
  return p->removed_count > 0 && bsearch(&id, p->removed_ids, p->removed_count,
                                         sizeof *p->removed_ids, compare_u64) != NULL;
}

/* The version that a Restore brings back, with the refusals of lance-table-format 16.1. */
static glv_status open_restored(commit_plan *p, glv_error *err) {
  const uint64_t version = p->op->restored_version;
  TRY(table_open_version(p->base, version, &p->restored, err));
  TRY(table_check_writable(p->restored, err));
  if (table_has_stable_row_ids(p->base) && !table_has_stable_row_ids(p->restored)) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s': version %llu has no stable row ids, which the table has by now; copy "
                "its rows into a new table instead",
                p->home->name, (unsigned long long)version);
  }
  if ((table_writer_flags(p->base) & TABLE_FLAG_FIELD_IDS) != 0 &&
      p->restored->manifest->opt_max_allocated_field_id_case == 0) {
    return FAIL(
        err, GLV_E_UNSUPPORTED,
        "table '%s': version %llu does not tell its highest field id, which the table needs "
        "by now; copy its rows into a new table instead",
        p->home->name, (unsigned long long)version);
  }
  return GLV_OK;
}

static glv_status fill(commit_plan *p, glv_error *err) {
  switch (p->op->kind) {
  case OPERATION_MERGE:
    TRY(p->op->enables_row_ids ? plan_row_ids(p, err) : plan_column_files(p, err));
    break;
  case OPERATION_RESTORE:
    TRY(open_restored(p, err));
    break;
  case OPERATION_DELETE:
  case OPERATION_UPDATE:
    TRY(plan_new_fragments(p, err));
    TRY(plan_deletions(p, err));
    break;
  case OPERATION_REWRITE:
    TRY(plan_new_fragments(p, err));
    TRY(plan_groups(p, err));
    break;
  default:
    TRY(plan_new_fragments(p, err));
    break;
  }
  return plan_message(p, err);
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
  return fill(ret, err);
}

/* The .txn file of an attempt that did not become a version. */
static void drop_transaction(commit_plan *p) {
  if (!p->wrote_transaction) {
    return;
  }
  if (p->transaction_file != NULL) {
    (void)io_close(p->env, p->transaction_file, NULL);
    p->transaction_file = NULL;
  }
  plan_remove_file(p, "_transactions", p->transaction_name);
  p->wrote_transaction = false;
}

glv_status plan_catch_up(commit_plan *p, const table_snapshot *latest, glv_error *err) {
  if (p->op->kind != OPERATION_DELETE && p->op->kind != OPERATION_UPDATE) {
    return GLV_OK;
  }
  TRY(sync_wait(&p->syncs, err));
  drop_transaction(p);
  p->read_version = latest->manifest->version;
  TRY(plan_join_deletions(p, latest, err));
  return plan_message(p, err);
}

void plan_remove_file(const commit_plan *p, const char *folder, const char *name) {
  char path[LIMIT_PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", p->home->path, folder);
  CLEANUP(io_scope_dispose) io_scope scope = {.env = p->env};
  if (io_dir_open(p->env, path, &scope.dir, NULL) == GLV_OK) {
    (void)io_remove(p->env, scope.dir, name, NULL);
  }
}

void plan_undo(commit_plan *p) {
  (void)sync_wait(&p->syncs, NULL);
  drop_transaction(p);
  for (size_t i = 0; i < p->updated_count; i++) {
    if (p->updated[i].deletion_name != NULL) {
      plan_remove_file(p, "_deletions", p->updated[i].deletion_name);
    }
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
  for (size_t i = 0; i < p->updated_count; i++) {
    bitmap_free(p->updated[i].affected);
  }
  table_unref(p->restored);
  arena_dispose(&p->memory);
}
