/*
 * One commit holds rows and stamp: an Update that deletes rows, removes and adds fragments of the
 * view, carries the key-existence filter by which any two refreshes of one view conflict, and
 * changes the schema metadata in the very same version. The commit is strict: it becomes version P
 * + 1 or nothing. Staged files are removed when it certainly failed, and left alone when nobody can
 * tell.
 */
#include "expr/expr.h"
#include "table/bloom.h"
#include "table/commit.h"
#include "table/scan.h"
#include "table/write.h"
#include "view/evict.h"
#include "view/refresh_private.h"
#include "view/summary.h"

/* The key that every refresh records in its filter: no row can have it, so any two refreshes
 * overlap. */
#define REFRESH_TOKEN UINT64_MAX

static void make_stamp(const struct attempt *a, stamp *s) {
  stamp_make(s, str_of(a->incarnation), table_version(a->source), table_timestamp_ns(a->source),
             env_now_ns(a->env), table_version(a->view) + 1, a->new_definition);
}

/* Translate what a strict commit through the view's own directory reports. */
static glv_status commit(struct attempt *a, const operation *op, glv_error *err) {
  const commit_options options = {.strict = true, .cancel = a->cancel};
  CLEANUP(table_cleanup) table_snapshot *made = NULL;
  const glv_status status = table_commit(a->view, op, &options, &made, NULL, err);
  if (status == GLV_E_TABLE_NOT_FOUND) {
    return FAIL(err, GLV_E_STALE_VIEW,
                "materialized view '%s' was dropped and recreated during its refresh",
                table_name(a->view));
  }
  TRY(status);
  a->result.version = table_version(made);
  return GLV_OK;
}

glv_status attempt_stamp(struct attempt *a, glv_error *err) {
  stamp s;
  make_stamp(a, &s);
  const operation op = {
      .kind = OPERATION_UPDATE_CONFIG, .changes = s.changes, .change_count = s.count};
  return commit(a, &op, err);
}

/* ---- rows ---- */

/* Rows that the view may still take when `evicted` of its rows leave. */
static uint64_t room(const struct attempt *a, uint64_t evicted) {
  if (!a->definition.has_limit) {
    return UINT64_MAX;
  }
  const bool is_rebuild = a->result.mode == REFRESH_REBUILD;
  const uint64_t held = is_rebuild ? 0 : table_live_rows(a->view) - evicted;
  return a->definition.limit > held ? a->definition.limit - held : 0;
}

static uint64_t rows_to_scan(const struct attempt *a) {
  return a->result.mode == REFRESH_REBUILD ? table_live_rows(a->source) : a->changes.additions;
}

static glv_status scan_source(struct attempt *a, uint64_t limit, batch_reader *ret,
                              glv_error *err) {
  view_scan what = {.has_limit = limit != UINT64_MAX,
                    .limit = limit,
                    .with_provenance = a->has_provenance,
                    .cancel = a->cancel};
  if (a->result.mode == REFRESH_INCREMENTAL) {
    what.fragments = a->changes.added;
    what.fragment_count = a->changes.added_count;
  }
  return view_plan_scan(a->plan, a->source, &what, ret, err);
}

/* *ret stays NULL when there can be no rows. */
static glv_status stage_rows(struct attempt *a, uint64_t evicted, staged **ret, glv_error *err) {
  const uint64_t limit = room(a, evicted);
  if (limit == 0 || rows_to_scan(a) == 0) {
    return GLV_OK;
  }
  struct summary_context context = {a->env, 0};
  stage_options options = {.cancel = a->cancel};
  if (a->has_provenance) {
    TRY(view_summary_stage(a->view, &context, &options, err));
  }
  batch_reader reader;
  TRY(scan_source(a, limit, &reader, err));
  cancel_expect(a->cancel, rows_to_scan(a));
  TRY(table_stage(a->view, &reader, &options, ret, err));
  a->result.source_rows_scanned = rows_to_scan(a);
  return GLV_OK;
}

/* ---- the commit ---- */

/* Fragments that a rebuild removes: all. */
static glv_status removed_fragments(struct attempt *a, operation *op, glv_error *err) {
  size_t count = 0;
  const fragment *fragments = table_fragments(a->view, &count);
  uint64_t *ids = ARENA_ARRAY(&a->memory, uint64_t, count);
  if (ids == NULL) {
    return error_nomem(err, count * sizeof *ids);
  }
  for (size_t i = 0; i < count; i++) {
    ids[i] = fragments[i].id;
  }
  op->removed = ids;
  op->removed_count = count;
  return GLV_OK;
}

/* The field whose keys the filter speaks of: provenance, or the first column of a view without it.
 */
static int32_t key_field(const struct attempt *a) {
  const lance_schema *s = table_lance_schema(a->view);
  const lance_field *f =
      a->has_provenance ? lance_schema_find(s, STR(VIEW_SOURCE_ROW_ID)) : &s->fields[0];
  return f->id;
}

static glv_status commit_rows(struct attempt *a, staged *rows, const evictions *evicted,
                              glv_error *err) {
  operation op = {.kind = OPERATION_UPDATE,
                  .rows = rows,
                  .updated = evicted->updates,
                  .updated_count = evicted->count};
  if (a->result.mode == REFRESH_REBUILD) {
    TRY(removed_fragments(a, &op, err));
  }
  if (op.removed_count + op.updated_count == 0 && (rows == NULL || staged_file_count(rows) == 0)) {
    return attempt_stamp(a, err);
  }
  bloom *filter = arena_alloc(&a->memory, sizeof *filter);
  if (filter == NULL) {
    return error_nomem(err, sizeof *filter);
  }
  bloom_add_u64(filter, REFRESH_TOKEN);
  const int32_t field_id = key_field(a);
  stamp s;
  make_stamp(a, &s);
  op.filter_fields = &field_id;
  op.filter_field_count = 1;
  op.filter_bloom = bloom_bytes(filter);
  op.changes = s.changes;
  op.change_count = s.count;
  return commit(a, &op, err);
}

glv_status attempt_publish(struct attempt *a, glv_error *err) {
  CLEANUP(staged_cleanup) staged *rows = NULL;
  CLEANUP(evictions_dispose) evictions evicted = {0};
  uint64_t removed = table_live_rows(a->view);
  if (a->result.mode == REFRESH_INCREMENTAL) {
    TRY(evictions_find(a->view, &a->changes.evicted, a->cancel, &evicted, err));
    removed = evicted.rows;
  }
  TRY(stage_rows(a, evicted.rows, &rows, err));
  const glv_status status = commit_rows(a, rows, &evicted, err);
  if (status == GLV_OK) {
    a->result.rows_written = rows != NULL ? staged_rows(rows) : 0;
    a->result.rows_removed = removed;
  }
  if (status == GLV_OK || status == GLV_E_UNKNOWN_OUTCOME) {
    staged_free(rows);
    rows = NULL;
  }
  return status;
}
