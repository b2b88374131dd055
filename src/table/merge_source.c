/*
 * The source of a merge. Its batches are kept as they came: rows are numbered through, and taking
 * rows in any order goes batch by batch. A key index tells which rows have a key: every key is a
 * number, the rows of one key form a chain.
 */
#include "base/limits.h"
#include "table/merge_private.h"
#include "table/table_private.h"

static void dispose_index(merge_source *s) {
  if (s->has_keys) {
    row_set_dispose(&s->keys);
    mem_free(s->env, s->first);
    mem_free(s->env, s->next);
    s->has_keys = false;
  }
}

void merge_source_dispose(merge_source *s) {
  for (size_t i = 0; i < s->count; i++) {
    batch_dispose(&s->batches[i]);
  }
  if (s->env != NULL) {
    mem_free(s->env, s->batches);
    mem_free(s->env, s->starts);
    dispose_index(s);
  }
  schema_unref(s->schema);
  *s = (merge_source){0};
}

static glv_status add_batch(merge_source *s, batch *b, glv_error *err) {
  if (b->length == 0) {
    return GLV_OK;
  }
  if (s->rows + b->length >= NO_ROW) {
    return FAIL(err, GLV_E_LIMIT, "a merge takes fewer than %u rows", NO_ROW);
  }
  TRY(vec_reserve(s->env, &s->batches, &s->capacity, s->count + 1, sizeof *s->batches, err));
  TRY(vec_reserve(s->env, &s->starts, &s->start_capacity, s->count + 2, sizeof *s->starts, err));
  s->batches[s->count++] = *b;
  s->rows += b->length;
  s->starts[s->count] = (uint32_t)s->rows;
  *b = (batch){0};
  return GLV_OK;
}

glv_status merge_source_read(merge_source *s, batch_reader *in, cancel_token *cancel,
                             glv_error *err) {
  s->schema = schema_ref(in->schema);
  TRY(vec_reserve(s->env, &s->starts, &s->start_capacity, 1, sizeof *s->starts, err));
  s->starts[0] = 0;
  for (;;) {
    TRY(cancel_check(cancel, err));
    CLEANUP(batch_dispose) batch b = {0};
    bool at_end = false;
    TRY(in->next(in->state, &b, &at_end, err));
    if (at_end) {
      return GLV_OK;
    }
    TRY(add_batch(s, &b, err));
  }
}

/* ---- keys ---- */

/* The rows of a batch whose key has no null: *ret_rows NULL = all. */
static glv_status complete_rows(const array *keys, size_t count, size_t rows, arena *a,
                                uint32_t **ret_rows, size_t *ret_count, glv_error *err) {
  bool has_nulls = false;
  for (size_t k = 0; k < count; k++) {
    has_nulls = has_nulls || array_has_nulls(&keys[k]);
  }
  *ret_rows = NULL;
  *ret_count = rows;
  if (!has_nulls) {
    return GLV_OK;
  }
  uint32_t *list = ARENA_ARRAY(a, uint32_t, rows);
  size_t kept = 0;
  if (list == NULL) {
    return error_nomem(err, rows * sizeof *list);
  }
  for (size_t i = 0; i < rows; i++) {
    bool is_complete = true;
    for (size_t k = 0; k < count; k++) {
      is_complete = is_complete && array_is_valid(&keys[k], i);
    }
    list[kept] = (uint32_t)i;
    kept += is_complete;
  }
  *ret_rows = list;
  *ret_count = kept;
  return GLV_OK;
}

/* Number the keys of some rows of a batch and chain the rows. */
static glv_status link_rows(merge_source *s, const array *keys, size_t count, uint32_t start,
                            const uint32_t *rows, size_t row_count, arena *a, glv_error *err) {
  uint32_t *numbers = ARENA_ARRAY(a, uint32_t, row_count);
  if (numbers == NULL) {
    return error_nomem(err, row_count * sizeof *numbers);
  }
  size_t known = s->keys.count;
  TRY(row_set_add(&s->keys, keys, count, row_count, numbers, NULL, NULL, err));
  for (size_t i = 0; i < row_count; i++) {
    const uint32_t row = start + (rows != NULL ? rows[i] : (uint32_t)i);
    const bool is_new = numbers[i] == known;
    s->next[row] = is_new ? NO_ROW : s->first[numbers[i]];
    s->first[numbers[i]] = row;
    known += is_new;
  }
  return GLV_OK;
}

static glv_status index_batch(merge_source *s, size_t i, const size_t *columns, size_t count,
                              arena *a, glv_error *err) {
  const batch *b = &s->batches[i];
  array *keys = ARENA_ARRAY(a, array, count);
  array *complete = ARENA_ARRAY(a, array, count);
  if (keys == NULL || complete == NULL) {
    return error_nomem(err, count * sizeof *keys);
  }
  for (size_t k = 0; k < count; k++) {
    keys[k] = b->columns[columns[k]];
  }
  uint32_t *rows;
  size_t row_count;
  TRY(complete_rows(keys, count, b->length, a, &rows, &row_count, err));
  if (rows == NULL) {
    return link_rows(s, keys, count, s->starts[i], NULL, row_count, a, err);
  }
  glv_status status = GLV_OK;
  for (size_t k = 0; k < count && status == GLV_OK; k++) {
    status = array_take(s->env, &keys[k], rows, row_count, &complete[k], err);
  }
  if (status == GLV_OK) {
    status = link_rows(s, complete, count, s->starts[i], rows, row_count, a, err);
  }
  for (size_t k = 0; k < count; k++) {
    array_unref(&complete[k]);
  }
  return status;
}

glv_status merge_source_index(merge_source *s, const size_t *columns, size_t count,
                              glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, s->env);
  const type **types = ARENA_ARRAY(&a, const type *, count);
  if (types == NULL) {
    return error_nomem(err, count * sizeof *types);
  }
  for (size_t k = 0; k < count; k++) {
    types[k] = s->schema->fields[columns[k]].type;
  }
  row_set_init(&s->keys, s->env, types, count);
  s->has_keys = true;
  s->first = mem_calloc(s->env, s->rows + 1, sizeof *s->first);
  s->next = mem_calloc(s->env, s->rows + 1, sizeof *s->next);
  if (s->first == NULL || s->next == NULL) {
    return error_nomem(err, s->rows * sizeof *s->next);
  }
  memset(s->next, 0xff, s->rows * sizeof *s->next);
  const arena_mark mark = arena_mark_get(&a);
  for (size_t i = 0; i < s->count; i++) {
    TRY(index_batch(s, i, columns, count, &a, err));
    arena_reset_to(&a, mark);
  }
  return GLV_OK;
}

/* ---- taking ---- */

static size_t batch_of(const merge_source *s, uint32_t row) {
  size_t low = 0;
  size_t high = s->count;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (s->starts[middle] <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

const batch *merge_source_batch(const merge_source *s, uint32_t row, size_t *ret_row) {
  const size_t i = batch_of(s, row);
  *ret_row = row - s->starts[i];
  return &s->batches[i];
}

/* Rows sorted by batch. */
struct sorted {
  uint32_t *rows;  /* in their batch, one batch after the other */
  uint32_t *ends;  /* per batch: where its rows end */
  uint32_t *place; /* per row asked for: its place in rows; NULL = they were sorted */
};

static glv_status sort_rows(const merge_source *s, const uint32_t *rows, size_t count, arena *a,
                            struct sorted *ret, glv_error *err) {
  uint32_t *batches = ARENA_ARRAY(a, uint32_t, count);
  uint32_t *next = ARENA_ARRAY(a, uint32_t, s->count + 1);
  *ret = (struct sorted){.rows = ARENA_ARRAY(a, uint32_t, count),
                         .ends = ARENA_ARRAY(a, uint32_t, s->count + 1),
                         .place = ARENA_ARRAY(a, uint32_t, count)};
  if (batches == NULL || next == NULL || ret->rows == NULL || ret->ends == NULL ||
      ret->place == NULL) {
    return error_nomem(err, count * sizeof *batches);
  }
  bool is_sorted = true;
  for (size_t i = 0; i < count; i++) {
    batches[i] = (uint32_t)batch_of(s, rows[i]);
    ret->ends[batches[i]]++;
    is_sorted = is_sorted && (i == 0 || batches[i - 1] <= batches[i]);
  }
  for (size_t b = 0, end = 0; b < s->count; b++) {
    next[b] = (uint32_t)end;
    end += ret->ends[b];
    ret->ends[b] = (uint32_t)end;
  }
  for (size_t i = 0; i < count; i++) {
    ret->place[i] = next[batches[i]]++;
    ret->rows[ret->place[i]] = rows[i] - s->starts[batches[i]];
  }
  if (is_sorted) {
    ret->place = NULL;
  }
  return GLV_OK;
}

/* The parts of a column, one per batch that has some; *ret_count of them are to be released. */
static glv_status take_parts(const merge_source *s, size_t column, const struct sorted *o,
                             array *parts, size_t *ret_count, glv_error *err) {
  *ret_count = 0;
  for (size_t b = 0; b < s->count; b++) {
    const uint32_t begin = b == 0 ? 0 : o->ends[b - 1];
    if (o->ends[b] > begin) {
      TRY(array_take(s->env, &s->batches[b].columns[column], o->rows + begin, o->ends[b] - begin,
                     &parts[*ret_count], err));
      ++*ret_count;
    }
  }
  return GLV_OK;
}

static glv_status take_column(const merge_source *s, size_t column, const struct sorted *o,
                              size_t count, array *parts, array *ret, glv_error *err) {
  size_t part_count = 0;
  array joined = {0};
  glv_status status = take_parts(s, column, o, parts, &part_count, err);
  if (status == GLV_OK) {
    status = array_concat(s->env, parts, part_count, &joined, err);
  }
  for (size_t i = 0; i < part_count; i++) {
    array_unref(&parts[i]);
  }
  if (status == GLV_OK && o->place != NULL) {
    status = array_take(s->env, &joined, o->place, count, ret, err);
    array_unref(&joined);
  } else if (status == GLV_OK) {
    *ret = joined;
  }
  return status;
}

glv_status merge_source_take(const merge_source *s, const size_t *columns, size_t count,
                             const uint32_t *rows, size_t row_count, array *ret, glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, s->env);
  struct sorted o;
  array *parts = ARENA_ARRAY(&a, array, s->count);
  if (parts == NULL) {
    return error_nomem(err, s->count * sizeof *parts);
  }
  TRY(sort_rows(s, rows, row_count, &a, &o, err));
  for (size_t i = 0; i < count; i++) {
    const glv_status status = take_column(s, columns[i], &o, row_count, parts, &ret[i], err);
    if (status != GLV_OK) {
      while (i > 0) {
        array_unref(&ret[--i]);
      }
      return status;
    }
  }
  return GLV_OK;
}
