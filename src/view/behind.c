/*
 * The state diff with counts where the diff reads deletion files, always so that the figure can
 * only grow: rows of new fragments count although some may be deleted, rows that are deleted in a
 * fragment of the watermark count as revived when its deletions differ and the history cannot be
 * trusted. Rows that left are what the number of live rows does not explain.
 */
#include "view/behind.h"

#include "table/deletion.h"
#include "view/changes_private.h"
#include "view/history.h"

struct bound {
  const table_snapshot *from;
  const table_snapshot *to;
  const view_inputs *inputs;
  bool trusted;
  uint64_t fresh;
  uint64_t touched;
  uint64_t revived;
};

static glv_status count_new(struct bound *b, const fragment *f, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, table_env(b->to));
  CLEANUP(row_spans_close) row_spans spans;
  TRY(row_spans_open_all(b->to, f, &a, &spans, err));
  const bool lineage = b->trusted && f->has_created_at && f->has_last_updated_at;
  row_span span;
  while (row_spans_next(&spans, &span)) {
    while (span.count > 0) {
      row_span rest;
      const enum row_class class = row_span_classify(b->from, &span, lineage, &rest);
      const uint64_t count = span.count - rest.count;
      b->fresh += class == ROW_FRESH || class == ROW_FRESH_AGAIN ? count : 0;
      b->touched += class == ROW_TOUCHED ? count : 0;
      span = rest;
    }
  }
  return GLV_OK;
}

/* Deleted rows as the manifest counts them; all that may be when it does not say. */
static uint64_t deleted_rows(const fragment *f) {
  if (!f->has_deletions) {
    return 0;
  }
  return f->deletions.count != 0 ? f->deletions.count : f->physical_rows;
}

static void count_kept(struct bound *b, const fragment *old, const fragment *now) {
  if (!fragment_same_columns(b->inputs, old, now)) {
    b->touched += now->physical_rows;
  } else if (!deletion_same(old, now) && !b->trusted) {
    b->revived += deleted_rows(old);
  }
}

static glv_status count_all(struct bound *b, glv_error *err) {
  size_t count = 0;
  const fragment *fragments = table_fragments(b->to, &count);
  for (size_t i = 0; i < count; i++) {
    const fragment *old = table_fragment(b->from, fragments[i].id);
    if (old != NULL) {
      count_kept(b, old, &fragments[i]);
    } else {
      TRY(count_new(b, &fragments[i], err));
    }
  }
  return GLV_OK;
}

/* Rows that are not there any more, at most. */
static uint64_t rows_left(const struct bound *b) {
  const uint64_t before = table_live_rows(b->from);
  const uint64_t after = table_live_rows(b->to);
  const uint64_t arrived = b->trusted ? b->fresh : b->fresh + b->touched + b->revived;
  return before + arrived > after ? before + arrived - after : 0;
}

glv_status source_behind(const table_snapshot *from, const table_snapshot *to,
                         const view_plan *plan, bool *ret_known, uint64_t *ret_rows,
                         glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, table_env(to));
  view_inputs inputs;
  TRY(view_inputs_find(table_lance_schema(to), plan, &a, &inputs, err));
  history_verdict verdict = HISTORY_BROKEN;
  if (view_inputs_same(&inputs, table_lance_schema(from))) {
    TRY(source_history_judge(from, to, &inputs, &verdict, err));
  }
  *ret_known = verdict != HISTORY_BROKEN;
  *ret_rows = 0;
  if (!*ret_known) {
    return GLV_OK;
  }
  struct bound b = {
      .from = from, .to = to, .inputs = &inputs, .trusted = verdict == HISTORY_TRUSTED};
  TRY(count_all(&b, err));
  *ret_rows = b.fresh + b.touched + b.revived + rows_left(&b);
  return GLV_OK;
}
