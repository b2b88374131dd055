/*
 * A state diff: what stands at the watermark is compared with what stands at the target, fragment
 * by fragment and then, where fragments differ, row by row.
 *
 * A fragment of both versions is the same when the relevant columns lie in the same files and
 * columns of them, under the same row ids and deletions; paths of files alone would not do, because
 * an in-place update keeps the old file for its other columns. Other deletions: rows that died are
 * candidates for removal, rows that came back are computed again. Other columns: all rows are
 * computed again. In a new fragment the rows tell by id and, when the history is trusted, by their
 * versions whether they are fresh, touched or merely moved. Rows of vanished fragments are
 * candidates for removal. Removed in the end is what was a candidate and was not seen alive
 * anywhere.
 *
 * Ids are kept as runs and rows walked as spans, so that the cost follows the number of runs of
 * what changed.
 */
#include "view/changes.h"

#include "table/deletion.h"
#include "view/changes_private.h"
#include "view/history.h"

typedef struct comparison {
  const table_snapshot *from;
  const table_snapshot *to;
  const view_inputs *inputs;
  bool trusted;
  id_runs candidates; /* live at the watermark, not where they were at the target */
  id_runs seen;       /* live at the target outside of unchanged rows */
  source_changes *found;
} comparison;

/* ---- additions ---- */

/* offsets is taken over; NULL = all rows. */
static glv_status add_rows(comparison *c, const fragment *f, bitmap *offsets, uint64_t rows,
                           glv_error *err) {
  source_changes *s = c->found;
  const glv_status status =
      vec_reserve(s->env, &s->added, &s->added_capacity, s->added_count + 1, sizeof *s->added, err);
  if (status != GLV_OK) {
    bitmap_free(offsets);
    return status;
  }
  s->added[s->added_count++] = (scan_fragment){f->id, offsets};
  s->additions += rows;
  for (size_t i = 0; i < f->file_count; i++) {
    s->counts.bytes += view_inputs_in_file(c->inputs, &f->files[i]) ? f->files[i].size_bytes : 0;
  }
  return GLV_OK;
}

/* ---- fragments of both versions ---- */

static bool same_place(const fragment *a, const fragment *b, int32_t id) {
  uint32_t column_a = 0;
  uint32_t column_b = 0;
  const data_file *file_a = fragment_find_field(a, id, &column_a);
  const data_file *file_b = fragment_find_field(b, id, &column_b);
  if (file_a == NULL || file_b == NULL) {
    return file_a == file_b;
  }
  return column_a == column_b && strcmp(file_a->path, file_b->path) == 0 &&
         file_a->has_base == file_b->has_base && file_a->base_id == file_b->base_id;
}

bool fragment_same_columns(const view_inputs *in, const fragment *old, const fragment *now) {
  if (str_equal(old->raw, now->raw)) {
    return true;
  }
  if (old->physical_rows != now->physical_rows || !str_equal(old->row_ids, now->row_ids)) {
    return false;
  }
  for (size_t i = 0; i < in->field_count; i++) {
    if (!same_place(old, now, in->fields[i])) {
      return false;
    }
  }
  return true;
}

static glv_status add_ids_at(const row_id_sequence *ids, const uint32_t *offsets, size_t count,
                             id_runs *into, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    uint64_t id = 0;
    row_ids_read(ids, offsets[i], 1, &id);
    TRY(id_runs_add(into, id, 1, err));
  }
  return GLV_OK;
}

/* The ids of the rows at some offsets of a fragment, into `into`. */
static glv_status add_ids(const row_id_sequence *ids, const bitmap *offsets, id_runs *into,
                          glv_error *err) {
  enum { ROOM = 256 };
  uint32_t some[ROOM];
  size_t count = ROOM;
  for (uint64_t next = 0; count == ROOM; next = (uint64_t)some[ROOM - 1] + 1) {
    count = bitmap_values(offsets, next, row_ids_count(ids), some, ROOM);
    TRY(add_ids_at(ids, some, count, into, err));
  }
  return GLV_OK;
}

/* *ret = the rows of a that are not in b; either may be NULL. */
static glv_status difference(const bitmap *a, const bitmap *b, bitmap **ret, glv_error *err) {
  bitmap *d = a != NULL ? bitmap_copy(a) : bitmap_new();
  if (d == NULL) {
    return error_nomem(err, 0);
  }
  if (b != NULL) {
    bitmap_andnot(d, b);
  }
  *ret = d;
  return GLV_OK;
}

static glv_status compare_deletions(comparison *c, const fragment *old, const fragment *now,
                                    glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, c->found->env);
  CLEANUP(bitmap_cleanup) bitmap *before = NULL;
  CLEANUP(bitmap_cleanup) bitmap *after = NULL;
  CLEANUP(bitmap_cleanup) bitmap *died = NULL;
  CLEANUP(bitmap_cleanup) bitmap *revived = NULL;
  row_id_sequence *ids = NULL;
  TRY(deletion_load(c->from, old, &before, err));
  TRY(deletion_load(c->to, now, &after, err));
  TRY(fragment_row_ids(c->to, now, &a, &ids, err));
  TRY(difference(after, before, &died, err));
  TRY(difference(before, after, &revived, err));
  TRY(add_ids(ids, died, &c->candidates, err));
  const uint64_t count = bitmap_count(revived);
  if (count == 0) {
    return GLV_OK;
  }
  TRY(add_ids(ids, revived, &c->seen, err));
  TRY(add_ids(ids, revived, &c->found->evicted, err));
  c->found->counts.rows_revived += count;
  bitmap *offsets = revived;
  revived = NULL;
  return add_rows(c, now, offsets, count, err);
}

/* The ids of the live rows of a fragment, into `into`, and into `also` unless it is NULL. */
static glv_status add_live(const table_snapshot *t, const fragment *f, id_runs *into, id_runs *also,
                           uint64_t *ret_rows, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, table_env(t));
  CLEANUP(row_spans_close) row_spans spans;
  TRY(row_spans_open(t, f, &a, &spans, err));
  row_span span;
  *ret_rows = 0;
  while (row_spans_next(&spans, &span)) {
    TRY(id_runs_add(into, span.id, span.count, err));
    TRY(also != NULL ? id_runs_add(also, span.id, span.count, err) : GLV_OK);
    *ret_rows += span.count;
  }
  return GLV_OK;
}

static glv_status compare_changed(comparison *c, const fragment *old, const fragment *now,
                                  glv_error *err) {
  uint64_t live = 0;
  TRY(add_live(c->from, old, &c->candidates, NULL, &live, err));
  TRY(add_live(c->to, now, &c->seen, &c->found->evicted, &live, err));
  c->found->counts.rows_touched += live;
  return live > 0 ? add_rows(c, now, NULL, live, err) : GLV_OK;
}

static glv_status compare_fragment(comparison *c, const fragment *old, const fragment *now,
                                   glv_error *err) {
  change_counts *counts = &c->found->counts;
  if (!fragment_same_columns(c->inputs, old, now)) {
    counts->fragments_changed++;
    return compare_changed(c, old, now, err);
  }
  if (!deletion_same(old, now)) {
    counts->fragments_deleted++;
    return compare_deletions(c, old, now, err);
  }
  counts->fragments_same++;
  return GLV_OK;
}

/* ---- new fragments ---- */

enum row_class row_span_classify(const table_snapshot *from, const row_span *span, bool lineage,
                                 row_span *ret_rest) {
  const uint64_t first_unused = table_next_row_id(from);
  *ret_rest = *span;
  ret_rest->count = 0;
  const bool is_known = span->id < first_unused;
  if (is_known && span->count > first_unused - span->id) {
    const uint64_t known = first_unused - span->id;
    *ret_rest = (row_span){span->offset + known, span->count - known, span->id + known,
                           span->created, span->updated};
  }
  if (!is_known) {
    return ROW_FRESH;
  }
  if (lineage && span->created > table_version(from)) {
    return ROW_FRESH_AGAIN;
  }
  return lineage && span->updated <= table_version(from) ? ROW_MOVED : ROW_TOUCHED;
}

/* A span is cut where its ids pass the first one that was unused at the watermark. */
static glv_status add_span(comparison *c, row_span span, bool has_versions, bitmap *offsets,
                           uint64_t *added, glv_error *err) {
  change_counts *counts = &c->found->counts;
  while (span.count > 0) {
    row_span rest;
    const enum row_class class =
        row_span_classify(c->from, &span, c->trusted && has_versions, &rest);
    const uint64_t count = span.count - rest.count;
    if (class != ROW_MOVED) {
      *(class == ROW_TOUCHED ? &counts->rows_touched : &counts->rows_fresh) += count;
      bitmap_add_range(offsets, span.offset, span.offset + count);
      *added += count;
    }
    const bool is_held = class == ROW_TOUCHED || class == ROW_FRESH_AGAIN;
    TRY(is_held ? id_runs_add(&c->found->evicted, span.id, count, err) : GLV_OK);
    span = rest;
  }
  return GLV_OK;
}

static glv_status compare_new(comparison *c, const fragment *now, glv_error *err) {
  c->found->counts.fragments_new++;
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, c->found->env);
  CLEANUP(row_spans_close) row_spans spans;
  TRY(row_spans_open(c->to, now, &a, &spans, err));
  CLEANUP(bitmap_cleanup) bitmap *offsets = bitmap_new();
  if (offsets == NULL) {
    return error_nomem(err, 0);
  }
  const bool has_versions = now->has_created_at && now->has_last_updated_at;
  uint64_t live = 0;
  uint64_t added = 0;
  row_span span;
  while (row_spans_next(&spans, &span)) {
    live += span.count;
    TRY(id_runs_add(&c->seen, span.id, span.count, err));
    TRY(add_span(c, span, has_versions, offsets, &added, err));
  }
  if (added == 0) {
    return GLV_OK;
  }
  bitmap *wanted = added < live ? offsets : NULL;
  if (wanted != NULL) {
    offsets = NULL;
  }
  return add_rows(c, now, wanted, added, err);
}

/* ---- all of them ---- */

static glv_status compare_present(comparison *c, glv_error *err) {
  size_t count = 0;
  const fragment *fragments = table_fragments(c->to, &count);
  for (size_t i = 0; i < count; i++) {
    const fragment *old = table_fragment(c->from, fragments[i].id);
    TRY(old != NULL ? compare_fragment(c, old, &fragments[i], err)
                    : compare_new(c, &fragments[i], err));
  }
  return GLV_OK;
}

static glv_status compare_gone(comparison *c, glv_error *err) {
  size_t count = 0;
  const fragment *fragments = table_fragments(c->from, &count);
  for (size_t i = 0; i < count; i++) {
    if (table_fragment(c->to, fragments[i].id) != NULL) {
      continue;
    }
    uint64_t rows = 0;
    c->found->counts.fragments_gone++;
    TRY(add_live(c->from, &fragments[i], &c->candidates, NULL, &rows, err));
  }
  return GLV_OK;
}

static glv_status conclude(comparison *c, glv_error *err) {
  source_changes *s = c->found;
  id_runs_sort(&c->candidates);
  id_runs_sort(&c->seen);
  TRY(id_runs_subtract(&c->candidates, &c->seen, err));
  s->counts.rows_removed = id_runs_size(&c->candidates);
  TRY(id_runs_unite(&s->evicted, &c->candidates, err));
  s->evicted_count = id_runs_size(&s->evicted);
  return GLV_OK;
}

glv_status source_changes_find(const table_snapshot *from, const table_snapshot *to,
                               const view_plan *plan, source_changes *ret, glv_error *err) {
  glv_env *env = table_env(to);
  *ret = (source_changes){.env = env};
  id_runs_init(&ret->evicted, env);
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, env);
  view_inputs inputs;
  TRY(view_inputs_find(table_lance_schema(to), plan, &a, &inputs, err));
  history_verdict verdict = HISTORY_BROKEN;
  if (view_inputs_same(&inputs, table_lance_schema(from))) {
    TRY(source_history_judge(from, to, &inputs, &verdict, err));
  }
  ret->is_broken = verdict == HISTORY_BROKEN;
  if (ret->is_broken) {
    return GLV_OK;
  }
  comparison c = {.from = from,
                  .to = to,
                  .inputs = &inputs,
                  .trusted = verdict == HISTORY_TRUSTED,
                  .found = ret};
  id_runs_init(&c.candidates, env);
  id_runs_init(&c.seen, env);
  glv_status status = compare_present(&c, err);
  status = status == GLV_OK ? compare_gone(&c, err) : status;
  status = status == GLV_OK ? conclude(&c, err) : status;
  id_runs_dispose(&c.candidates);
  id_runs_dispose(&c.seen);
  return status;
}

void source_changes_dispose(source_changes *c) {
  for (size_t i = 0; i < c->added_count; i++) {
    bitmap_free((bitmap *)(uintptr_t)c->added[i].offsets);
  }
  if (c->env != NULL) {
    mem_free(c->env, c->added);
    id_runs_dispose(&c->evicted);
  }
  *c = (source_changes){0};
}
