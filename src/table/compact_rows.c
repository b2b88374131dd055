/* Who the rows are that a compaction copies: their stable ids and versions, those of deleted rows
 * left out (lance-table-format 8.2, 9). Neighbouring runs of one version become one. */
#include "base/bitmap.h"
#include "table/compact_private.h"
#include "table/deletion.h"
#include "table/row_ids.h"

enum { BLOCK_ROWS = 16384 };

void carried_init(carried_rows *c, glv_env *env) { *c = (carried_rows){.env = env}; }

void carried_dispose(carried_rows *c) {
  mem_free(c->env, c->ids);
  mem_free(c->env, c->created);
  mem_free(c->env, c->updated);
}

/* Appends the ids of the rows [first, end), which are all alive. */
static void put_ids(carried_rows *c, const row_id_sequence *s, uint64_t first, uint64_t end) {
  if (end > first) {
    row_ids_read(s, first, (size_t)(end - first), c->ids + c->count);
    c->count += (size_t)(end - first);
  }
}

static glv_status add_ids(carried_rows *c, const row_id_sequence *s, const fragment *f,
                          const bitmap *deleted, glv_error *err) {
  uint32_t gone[512];
  TRY(vec_reserve(c->env, &c->ids, &c->room, c->count + (size_t)f->physical_rows, sizeof *c->ids,
                  err));
  if (deleted == NULL) {
    put_ids(c, s, 0, f->physical_rows);
    return GLV_OK;
  }
  uint64_t next = 0; /* the first row not looked at */
  for (;;) {
    const size_t count =
        bitmap_values(deleted, next, f->physical_rows, gone, sizeof gone / sizeof gone[0]);
    for (size_t i = 0; i < count; i++) {
      put_ids(c, s, next, gone[i]);
      next = (uint64_t)gone[i] + 1;
    }
    if (count < sizeof gone / sizeof gone[0]) {
      break;
    }
  }
  put_ids(c, s, next, f->physical_rows);
  return GLV_OK;
}

static glv_status add_run(glv_env *env, version_run **runs, size_t *count, size_t *room,
                          version_run run, glv_error *err) {
  if (run.rows == 0) {
    return GLV_OK;
  }
  if (*count > 0 && (*runs)[*count - 1].version == run.version) {
    (*runs)[*count - 1].rows += run.rows;
    return GLV_OK;
  }
  TRY(vec_reserve(env, runs, room, *count + 1, sizeof **runs, err));
  (*runs)[(*count)++] = run;
  return GLV_OK;
}

static glv_status add_runs(glv_env *env, version_run **runs, size_t *count, size_t *room,
                           const row_versions *from, const bitmap *deleted, glv_error *err) {
  uint64_t at = 0;
  for (size_t i = 0; i < from->run_count; i++) {
    const uint64_t end = at + from->runs[i].rows;
    const uint64_t gone = deleted != NULL ? bitmap_count_range(deleted, at, end) : 0;
    const version_run live = {from->runs[i].rows - gone, from->runs[i].version};
    TRY(add_run(env, runs, count, room, live, err));
    at = end;
  }
  return GLV_OK;
}

glv_status carried_add(carried_rows *c, const table_snapshot *t, const fragment *f,
                       glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, c->env);
  CLEANUP(bitmap_cleanup) bitmap *deleted = NULL;
  row_id_sequence *ids;
  row_versions created;
  row_versions updated;
  TRY(deletion_load(t, f, &deleted, err));
  TRY(fragment_row_ids(t, f, &a, &ids, err));
  TRY(fragment_created_at(t, f, &a, &created, err));
  TRY(fragment_last_updated_at(t, f, &a, &updated, err));
  TRY(add_ids(c, ids, f, deleted, err));
  TRY(add_runs(c->env, &c->created, &c->created_count, &c->created_room, &created, deleted, err));
  return add_runs(c->env, &c->updated, &c->updated_count, &c->updated_room, &updated, deleted, err);
}
