/* Decoding one window of rows.
 *
 *   rows of the window minus deleted ones (or the wanted offsets minus deleted ones)
 *   -> columns of the filter, for these rows -> predicate -> surviving rows
 *   -> the other columns, for the surviving rows only -> expressions -> result batch
 *
 * With UNNEST the lists are read first, and rows without elements go: a filter counts only where
 * there is an element. One that does not look at elements is evaluated once for each row, before
 * the rows are expanded, any other one after.
 */
#include "table/blob.h"
#include "table/scan_private.h"

/* Where fewer than one row in SPARSE is wanted, system columns are read row by row. */
enum { SPARSE = 16 };

static void work_cleanup(scan_work *w) {
  batch_dispose(&w->columns);
  arena_dispose(&w->memory);
}

/* ---- rows ---- */

/* Values of a bitmap in the window, relative to it. */
static glv_status window_values(scan_work *w, const bitmap *b, uint32_t **ret, size_t *ret_count,
                                glv_error *err) {
  const uint64_t end = w->first + w->count;
  const size_t count = (size_t)bitmap_count_range(b, w->first, end);
  uint32_t *values = ARENA_ARRAY(&w->memory, uint32_t, count);
  if (values == NULL) {
    return error_nomem(err, count * sizeof *values);
  }
  *ret_count = bitmap_values(b, w->first, end, values, count);
  for (size_t i = 0; i < *ret_count; i++) {
    values[i] -= (uint32_t)w->first;
  }
  *ret = values;
  return GLV_OK;
}

/* All rows of the window but the listed ones. */
static glv_status all_but(scan_work *w, const uint32_t *removed, size_t removed_count,
                          glv_error *err) {
  uint32_t *list = ARENA_ARRAY(&w->memory, uint32_t, w->count);
  if (list == NULL) {
    return error_nomem(err, w->count * sizeof *list);
  }
  size_t kept = 0;
  size_t at = 0;
  for (uint32_t row = 0; row < w->count; row++) {
    if (at < removed_count && removed[at] == row) {
      at++;
    } else {
      list[kept++] = row;
    }
  }
  w->rows = (scan_rows){list, kept};
  return GLV_OK;
}

static glv_status choose_rows(scan_work *w, glv_error *err) {
  const fragment_scan *f = w->fragment;
  uint32_t *deleted = NULL;
  size_t deleted_count = 0;
  if (f->deleted != NULL) {
    TRY(window_values(w, f->deleted, &deleted, &deleted_count, err));
  }
  if (f->offsets == NULL) {
    w->rows = (scan_rows){NULL, w->count};
    return deleted_count > 0 ? all_but(w, deleted, deleted_count, err) : GLV_OK;
  }
  uint32_t *list;
  size_t count;
  TRY(window_values(w, f->offsets, &list, &count, err));
  size_t kept = 0;
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    while (at < deleted_count && deleted[at] < list[i]) {
      at++;
    }
    if (at == deleted_count || deleted[at] != list[i]) {
      list[kept++] = list[i];
    }
  }
  w->rows = (scan_rows){list, kept};
  return GLV_OK;
}

/* ---- columns ---- */

/* Keeps those of `all` (one number per row of the window) that belong to the rows. */
static void gather(const scan_rows *rows, const uint64_t *all, uint64_t *ret) {
  for (size_t i = 0; i < rows->count; i++) {
    ret[i] = all[rows->list[i]];
  }
}

static void row_offsets(const fragment_scan *f, uint64_t first, size_t count, uint64_t *all) {
  uint64_t deleted = f->deleted != NULL ? bitmap_count_range(f->deleted, 0, first) : 0;
  for (size_t i = 0; i < count; i++) {
    all[i] = f->first_live + first + i - deleted;
    deleted += f->deleted != NULL && bitmap_contains(f->deleted, (uint32_t)(first + i));
  }
}

/* Of the rows [first, first + count) of the fragment. */
static void system_values(const fragment_scan *f, enum system_column which, uint64_t first,
                          size_t count, uint64_t *all) {
  switch (which) {
  case SYSTEM_ROW_ID:
    row_ids_read(f->row_ids, first, count, all);
    return;
  case SYSTEM_ROW_ADDRESS:
    for (size_t i = 0; i < count; i++) {
      all[i] = (f->fragment->id << 32) + first + i;
    }
    return;
  case SYSTEM_ROW_OFFSET:
    row_offsets(f, first, count, all);
    return;
  case SYSTEM_CREATED_AT:
    row_versions_read(&f->created_at, first, count, all);
    return;
  case SYSTEM_LAST_UPDATED_AT:
    row_versions_read(&f->last_updated_at, first, count, all);
    return;
  case SYSTEM_COUNT:
    return;
  }
}

static glv_status read_system(scan_work *w, size_t column, array *ret, glv_error *err) {
  const scan_plan *p = w->plan;
  const enum system_column which = (enum system_column)(column - p->column_count);
  void *values;
  TRY(array_new_fixed(p->env, p->read_as[column]->type, w->rows.count, ret, &values, err));
  if (w->rows.list == NULL) {
    system_values(w->fragment, which, w->first, w->count, values);
    return GLV_OK;
  }
  if (w->count / SPARSE > w->rows.count) {
    for (size_t i = 0; i < w->rows.count; i++) {
      system_values(w->fragment, which, w->first + w->rows.list[i], 1, (uint64_t *)values + i);
    }
    return GLV_OK;
  }
  const arena_mark mark = arena_mark_get(&w->memory);
  uint64_t *all = ARENA_ARRAY(&w->memory, uint64_t, w->count);
  if (all == NULL) {
    array_unref(ret);
    return error_nomem(err, w->count * sizeof *all);
  }
  system_values(w->fragment, which, w->first, w->count, all);
  gather(&w->rows, all, values);
  arena_reset_to(&w->memory, mark);
  return GLV_OK;
}

static glv_status read_column(scan_work *w, size_t column, glv_error *err) {
  const scan_plan *p = w->plan;
  array *ret = &w->columns.columns[column];
  if (column >= p->column_count) {
    return read_system(w, column, ret, err);
  }
  const column_source *from = &w->fragment->sources[column];
  if (from->part_count == 0) {
    return array_new_null(p->env, scan_plan_stored_as(p, column)->type, w->rows.count, ret, err);
  }
  return field_parts_read(p->env, from->parts, from->part_count, w->first, w->count, w->rows.list,
                          w->rows.count, ret, err);
}

/* Reads the columns marked in `used` that are not there yet. */
static glv_status read_columns(scan_work *w, const bool *used, glv_error *err) {
  for (size_t i = 0; i < w->plan->scope->field_count; i++) {
    if (used[i] && w->columns.columns[i].type == NULL) {
      TRY(read_column(w, i, err));
      TRY(scan_unnest_repeat(w, &w->columns.columns[i], err));
    }
  }
  return GLV_OK;
}

glv_status scan_work_keep(scan_work *w, const uint32_t *kept, size_t count, glv_error *err) {
  const scan_plan *p = w->plan;
  for (size_t i = 0; i < p->scope->field_count; i++) {
    array *a = &w->columns.columns[i];
    if (a->type == NULL) {
      continue;
    }
    array taken = {0};
    if (p->in_output[i]) {
      TRY(array_take(p->env, a, kept, count, &taken, err));
    }
    array_unref(a);
    *a = taken;
  }
  w->columns.length = count;
  if (w->parents != NULL) {
    return scan_unnest_keep(w, kept, count, err);
  }
  uint32_t *list = ARENA_ARRAY(&w->memory, uint32_t, count);
  if (list == NULL) {
    return error_nomem(err, count * sizeof *list);
  }
  for (size_t i = 0; i < count; i++) {
    list[i] = w->rows.list != NULL ? w->rows.list[kept[i]] : kept[i];
  }
  w->rows = (scan_rows){list, count};
  return GLV_OK;
}

static glv_status apply_filter(scan_work *w, glv_error *err) {
  const scan_plan *p = w->plan;
  const size_t length = w->columns.length;
  if (p->filter == NULL || length == 0) {
    return GLV_OK;
  }
  TRY(read_columns(w, p->in_filter, err));
  uint32_t *kept = ARENA_ARRAY(&w->memory, uint32_t, length);
  if (kept == NULL) {
    return error_nomem(err, length * sizeof *kept);
  }
  size_t count;
  const selection all = {NULL, length};
  TRY(expr_select(p->filter, &w->columns, all, kept, &count, err));
  if (p->outputs == NULL) {
    w->columns.length = count; /* only counted */
    return GLV_OK;
  }
  return count < length ? scan_work_keep(w, kept, count, err) : GLV_OK;
}

/* The rows of the result. */
static glv_status find_rows(scan_work *w, glv_error *err) {
  const scan_plan *p = w->plan;
  if (p->unnest == SIZE_MAX || w->rows.count == 0) {
    return apply_filter(w, err);
  }
  TRY(read_column(w, p->unnest, err));
  TRY(scan_unnest_drop_empty(w, err));
  if (p->filters_elements) {
    TRY(scan_unnest_expand(w, err));
    return apply_filter(w, err);
  }
  TRY(apply_filter(w, err));
  return scan_unnest_expand(w, err);
}

/* ---- result ---- */

/* Child arrays of a retyped array. */
struct children {
  glv_env *env; /* a reference */
  size_t count;
  array arrays[];
};

static void release_children(void *owner) {
  struct children *c = owner;
  for (size_t i = 0; i < c->count; i++) {
    array_unref(&c->arrays[i]);
  }
  glv_env *env = c->env;
  mem_free(env, c);
  env_unref(env);
}

/* Makes every type that a points to one of t's, which outlives the plan. Children are shared with
 * other arrays, so they are replaced. Nesting is bounded where types are made (LIMIT_TYPE_DEPTH).
 */
static glv_status retype(glv_env *env, array *a, const type *t, glv_error *err) {
  a->type = t;
  if (a->child_count == 0) {
    return GLV_OK;
  }
  const size_t size = sizeof(struct children) + a->child_count * sizeof(array);
  struct children *c = mem_zalloc(env, size);
  if (c == NULL) {
    return error_nomem(err, size);
  }
  c->env = env_ref(env);
  c->count = a->child_count;
  buffer *owner = NULL;
  TRY(buffer_wrap(env, c->arrays, a->child_count * sizeof(array), release_children, c, &owner,
                  err));
  for (size_t i = 0; i < c->count; i++) {
    c->arrays[i] = array_ref(&a->children[i]);
  }
  buffer_unref(a->child_owner);
  a->children = c->arrays;
  a->child_owner = owner;
  for (size_t i = 0; i < c->count; i++) {
    TRY(retype(env, &c->arrays[i], t->children[i].type, err));
  }
  return GLV_OK;
}

static glv_status make_output(scan_work *w, size_t i, array *ret, glv_error *err) {
  const scan_plan *p = w->plan;
  const type *t = p->result->fields[i].type;
  const scan_output *o = &p->outputs[i];
  if (o->is_blob) {
    const column_source *source = &w->fragment->sources[o->column];
    file_reader *reader = source->part_count != 0 ? source->parts->reader : NULL;
    const blob_source from = {reader, p->stored[o->column]->blob, source->path,
                              p->scope->fields[o->column].name};
    return blob_fetch(p->env, &from, &w->columns.columns[o->column], t, ret, err);
  }
  if (o->expr == NULL) {
    *ret = array_ref(&w->columns.columns[o->column]);
    ret->type = t;
    return GLV_OK;
  }
  const selection all = {NULL, w->columns.length};
  TRY(expr_eval(o->expr, &w->columns, all, ret, err));
  return retype(p->env, ret, t, err);
}

static glv_status make_result(scan_work *w, batch *ret, glv_error *err) {
  const scan_plan *p = w->plan;
  TRY(read_columns(w, p->in_output, err));
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(p->env, p->result, w->columns.length, p->output_count, &b, err));
  for (size_t i = 0; i < p->output_count; i++) {
    TRY(make_output(w, i, &b.columns[i], err));
  }
  *ret = b;
  b = (batch){0};
  return GLV_OK;
}

static glv_status open_fragment(fragment_scan *f, glv_error *err) {
  if (f->is_submitted) {
    return task_wait(f->plan->env, &f->open, err);
  }
  if (!f->is_open) { /* its only window runs in the consumer's thread */
    TRY(fragment_scan_open(f, err));
    f->is_open = true;
  }
  return GLV_OK;
}

glv_status scan_window_run(void *context, glv_error *err) {
  scan_window *window = context;
  const scan_plan *p = window->fragment->plan;
  if (atomic_load_explicit(&p->is_stopped, memory_order_relaxed)) {
    return GLV_OK;
  }
  TRY(cancel_check(p->cancel, err));
  TRY(open_fragment(window->fragment, err));
  CLEANUP(work_cleanup)
  scan_work w = {
      .plan = p, .fragment = window->fragment, .first = window->first, .count = window->count};
  arena_init(&w.memory, p->env);
  TRY(choose_rows(&w, err));
  TRY(batch_new(p->env, p->scope, w.rows.count, p->scope->field_count, &w.columns, err));
  TRY(find_rows(&w, err));
  window->selected = w.columns.length;
  TRY(window->selected > 0 && p->outputs != NULL ? make_result(&w, &window->result, err) : GLV_OK);
  cancel_advance(p->cancel, window->count);
  return GLV_OK;
}
