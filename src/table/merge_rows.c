/*
 * The rows that a merge writes, as a reader for the staging: those that replace matched rows first,
 * in the order of the table, so that they can carry their identity; then the inserted ones, in the
 * order of the source. Columns that the source lacks come from the target, or are null.
 */
#include "table/merge_private.h"
#include "table/table_private.h"

enum { PART_ROWS = 65536 }; /* of a batch, when no scan of the target sets its size */

typedef struct writing {
  glv_env *env; /* a reference */
  const merge_plan *plan;
  const merge_matches *matches;
  row_moves *moves;
  schema *shown;     /* borrowed from the reader */
  bool has_scan;     /* target rows are read: for columns that the source lacks, or for identity */
  batch_reader scan; /* missing columns in the order of the table, then those of row_moves_ask */
  size_t done;       /* matches written */
  size_t next_batch; /* of the source, to insert from */
  size_t *columns;   /* of the source: those that it has, in the order of the table */
  size_t column_count;
  array *taken; /* room for them */
  arena memory;
} writing;

/* ---- batches ---- */

/* Puts the columns taken from the source, and the others by `missing`, at their places. */
static void place_columns(const writing *w, const array *missing, batch *ret) {
  size_t from_source = 0;
  size_t from_target = 0;
  for (size_t i = 0; i < ret->column_count; i++) {
    if (w->plan->positions[i] != SIZE_MAX) {
      ret->columns[i] = w->taken[from_source++];
    } else {
      ret->columns[i] = array_ref(&missing[from_target++]);
    }
    ret->columns[i].type = w->shown->fields[i].type;
  }
}

static glv_status updated_rows(writing *w, batch *ret, glv_error *err) {
  CLEANUP(batch_dispose) batch in = {0};
  size_t count = size_min(w->matches->count - w->done, PART_ROWS);
  if (w->has_scan) {
    bool at_end = false;
    TRY(w->scan.next(w->scan.state, &in, &at_end, err));
    if (at_end || in.length > w->matches->count - w->done) {
      return FAIL(err, GLV_E_INTERNAL, "table '%s': a scan of %zu matched rows gave others",
                  table_name(w->plan->table), w->matches->count);
    }
    count = in.length;
    const array *identity = in.columns + w->plan->missing;
    TRY(w->moves->is_stable ? row_moves_add(w->moves, &identity[0], &identity[1], err) : GLV_OK);
  }
  CLEANUP(batch_dispose) batch out = {0};
  TRY(batch_new(w->env, w->shown, count, w->shown->field_count, &out, err));
  TRY(merge_source_take(w->plan->source, w->columns, w->column_count, w->matches->rows + w->done,
                        count, w->taken, err));
  place_columns(w, in.columns, &out);
  w->done += count;
  *ret = out;
  out = (batch){0};
  return GLV_OK;
}

/* Numbers of the rows of a source batch that are inserted. */
static glv_status inserted_of(const writing *w, size_t b, uint32_t **ret, size_t *ret_count,
                              arena *a, glv_error *err) {
  const merge_source *s = w->plan->source;
  uint32_t *rows = ARENA_ARRAY(a, uint32_t, s->batches[b].length);
  size_t count = 0;
  if (rows == NULL) {
    return error_nomem(err, s->batches[b].length * sizeof *rows);
  }
  for (uint32_t row = s->starts[b]; row < s->starts[b + 1]; row++) {
    rows[count] = row;
    count += merge_is_inserted(w->matches, row);
  }
  *ret = rows;
  *ret_count = count;
  return GLV_OK;
}

static glv_status insert_rows(writing *w, const uint32_t *rows, size_t count, batch *ret,
                              glv_error *err) {
  CLEANUP(batch_dispose) batch nulls = {0};
  CLEANUP(batch_dispose) batch out = {0};
  TRY(batch_new(w->env, NULL, count, w->plan->missing, &nulls, err));
  TRY(batch_new(w->env, w->shown, count, w->shown->field_count, &out, err));
  for (size_t i = 0, k = 0; i < out.column_count; i++) {
    if (w->plan->positions[i] == SIZE_MAX) {
      TRY(array_new_null(w->env, w->shown->fields[i].type, count, &nulls.columns[k++], err));
    }
  }
  TRY(merge_source_take(w->plan->source, w->columns, w->column_count, rows, count, w->taken, err));
  place_columns(w, nulls.columns, &out);
  *ret = out;
  out = (batch){0};
  return GLV_OK;
}

static glv_status inserted_rows(writing *w, batch *ret, bool *ret_end, glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, w->env);
  const arena_mark mark = arena_mark_get(&a);
  while (w->plan->options->insert_unmatched && w->next_batch < w->plan->source->count) {
    uint32_t *rows;
    size_t count;
    TRY(inserted_of(w, w->next_batch++, &rows, &count, &a, err));
    if (count > 0) {
      return insert_rows(w, rows, count, ret, err);
    }
    arena_reset_to(&a, mark);
  }
  *ret_end = true;
  return GLV_OK;
}

static glv_status writing_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  writing *w = state;
  return w->done < w->matches->count ? updated_rows(w, ret, err)
                                     : inserted_rows(w, ret, ret_end, err);
}

static void writing_dispose(void *state) {
  writing *w = state;
  glv_env *env = w->env;
  batch_reader_dispose(&w->scan);
  arena_dispose(&w->memory);
  mem_free(env, w);
  env_unref(env);
}

/* ---- beginning ---- */

static glv_status choose_columns(writing *w, glv_error *err) {
  const merge_plan *p = w->plan;
  const size_t count = table_schema(p->table)->field_count;
  w->columns = ARENA_ARRAY(&w->memory, size_t, count);
  w->taken = ARENA_ARRAY(&w->memory, array, count);
  if (w->columns == NULL || w->taken == NULL) {
    return error_nomem(err, count * sizeof *w->taken);
  }
  for (size_t i = 0; i < count; i++) {
    if (p->positions[i] != SIZE_MAX) {
      w->columns[w->column_count++] = p->positions[i];
    }
  }
  return GLV_OK;
}

/* The target rows that are replaced, with what is needed of them. */
static glv_status scan_targets(writing *w, glv_error *err) {
  const merge_plan *p = w->plan;
  const schema *s = table_schema(p->table);
  scan_column *columns = ARENA_ARRAY(&w->memory, scan_column, p->missing + 1);
  if (columns == NULL) {
    return error_nomem(err, p->missing * sizeof *columns);
  }
  scan_options scan = {.columns = columns, .cancel = p->options->cancel};
  for (size_t i = 0; i < s->field_count; i++) {
    if (p->positions[i] == SIZE_MAX) {
      columns[scan.column_count++].name = str_of(s->fields[i].name);
    }
  }
  row_moves_ask(w->moves, &scan);
  TRY(row_marks_fragments(&w->matches->matched, &w->memory, &scan.fragments, &scan.fragment_count,
                          err));
  return table_scan(p->table, &scan, &w->scan, err);
}

static glv_status begin(writing *w, glv_error *err) {
  TRY(choose_columns(w, err));
  w->has_scan = w->matches->count > 0 && (w->plan->missing > 0 || w->moves->is_stable);
  TRY(w->has_scan ? scan_targets(w, err) : GLV_OK);
  const schema *s = table_schema(w->plan->table);
  return schema_new(w->env, s->fields, s->field_count, (metadata){0}, &w->shown, err);
}

glv_status merge_rows(const merge_plan *p, const merge_matches *m, row_moves *moves,
                      batch_reader *ret, glv_error *err) {
  glv_env *env = p->source->env;
  writing *w = mem_zalloc(env, sizeof *w);
  if (w == NULL) {
    return error_nomem(err, sizeof *w);
  }
  *w = (writing){.env = env_ref(env), .plan = p, .matches = m, .moves = moves};
  arena_init(&w->memory, env);
  const glv_status status = begin(w, err);
  if (status != GLV_OK) {
    writing_dispose(w);
    return status;
  }
  *ret = (batch_reader){
      .schema = w->shown, .next = writing_next, .dispose = writing_dispose, .state = w};
  return GLV_OK;
}
