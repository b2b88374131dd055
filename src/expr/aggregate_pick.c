/*
 * Aggregates that give one of the rows of a group: first_value, last_value, nth_value from the
 * start, and min and max of types without a loop of their own.
 *
 * Per group there is a reference to the row picked so far: a chunk, and a row of it. A batch is
 * looked through once; the rows of it that are picked at its end are taken into a new chunk. When
 * the chunks hold mostly rows that nobody refers to any more they are joined, so that memory is
 * proportional to the number of groups.
 *
 * Columns of a chunk: the value, then the keys of ORDER BY. min and max compare the value itself.
 */
#include "expr/aggregate_private.h"
#include "expr/compare.h"

enum { MOST_CHUNKS = 64, SPARE_ROWS = 65536 };

#define NOT_PICKED UINT32_MAX
#define IN_BATCH (UINT32_MAX - 1) /* as a chunk: a row of the batch at hand */

struct reference {
  uint32_t chunk;
  uint32_t row;
};

struct chunk {
  array *columns; /* picks.width of them */
  size_t rows;
};

struct picks {
  struct chunk *chunks;
  size_t chunk_count;
  size_t chunk_capacity;
  size_t rows; /* of all chunks */
  size_t width;
  states refs;       /* struct reference */
  states counts;     /* nth_value: rows seen, 64 bits */
  uint32_t *touched; /* groups whose row is in the batch at hand, some of them twice */
  size_t touched_count;
  size_t touched_capacity;
};

static void chunk_dispose(glv_env *env, struct chunk *c, size_t width) {
  for (size_t k = 0; k < width && c->columns != NULL; k++) {
    array_unref(&c->columns[k]);
  }
  mem_free(env, c->columns);
  c->columns = NULL;
}

static glv_status chunk_new(glv_env *env, size_t width, size_t rows, struct chunk *ret,
                            glv_error *err) {
  ret->columns = mem_calloc(env, width, sizeof *ret->columns);
  ret->rows = rows;
  return ret->columns != NULL ? GLV_OK : error_nomem(err, width * sizeof *ret->columns);
}

/* Column k of the batch: the value, then the keys. */
static const array *input_column(const accumulator_input *in, size_t k) {
  return k == 0 ? &in->args[0] : &in->order[k - 1];
}

static const array *column_of(const struct picks *s, const accumulator_input *in,
                              struct reference r, size_t k) {
  return r.chunk == IN_BATCH ? input_column(in, k) : &s->chunks[r.chunk].columns[k];
}

/* Order of row i of the batch against the row picked so far, by the keys. */
static int compare_keys(const aggregate *plan, const struct picks *s, const accumulator_input *in,
                        size_t i, struct reference old) {
  for (size_t k = 0; k < plan->order_count; k++) {
    const array *x = &in->order[k];
    const array *y = column_of(s, in, old, k + 1);
    const bool valid_x = array_is_valid(x, i);
    const bool valid_y = array_is_valid(y, old.row);
    if (valid_x != valid_y) {
      return valid_x == plan->nulls_first[k] ? 1 : -1;
    }
    const int order = valid_x ? compare_values(x, i, y, old.row) : 0;
    if (order != 0) {
      return plan->descending[k] ? -order : order;
    }
  }
  return 0;
}

/* Order of two values for min and max: as elsewhere, but that a null in a list is greater than any
 * value there. */
static int compare_extremes(const array *x, size_t i, const array *y, size_t j) {
  const type_kind kind = x->type->kind;
  if (type_is_string(kind) || type_is_binary(kind)) {
    return str_compare(array_str(x, i), array_str(y, j));
  }
  if (kind != TYPE_LIST && kind != TYPE_LARGE_LIST && kind != TYPE_FIXED_SIZE_LIST) {
    return compare_values(x, i, y, j);
  }
  size_t first_x = 0;
  size_t first_y = 0;
  const size_t count_x = array_list_items(x, i, &first_x);
  const size_t count_y = array_list_items(y, j, &first_y);
  for (size_t k = 0; k < count_x && k < count_y; k++) {
    const bool valid_x = array_is_valid(&x->children[0], first_x + k);
    const bool valid_y = array_is_valid(&y->children[0], first_y + k);
    const int order = valid_x && valid_y ? compare_values(&x->children[0], first_x + k,
                                                          &y->children[0], first_y + k)
                                         : (int)valid_y - (int)valid_x;
    if (order != 0) {
      return order;
    }
  }
  return (count_x > count_y) - (count_x < count_y);
}

/* Whether row i takes the place of the row picked so far. */
static bool is_better(const aggregate *plan, const struct picks *s, const accumulator_input *in,
                      size_t i, struct reference old) {
  switch (plan->function->kind) {
  case AGGREGATE_MIN:
    return compare_extremes(&in->args[0], i, column_of(s, in, old, 0), old.row) < 0;
  case AGGREGATE_MAX:
    return compare_extremes(&in->args[0], i, column_of(s, in, old, 0), old.row) > 0;
  case AGGREGATE_FIRST:
    return plan->order_count != 0 && compare_keys(plan, s, in, i, old) < 0;
  case AGGREGATE_LAST:
    return plan->order_count == 0 || compare_keys(plan, s, in, i, old) >= 0;
  default:
    return false;
  }
}

static bool is_skipped(const aggregate *plan, const accumulator_input *in, size_t i) {
  const enum aggregate_kind kind = plan->function->kind;
  const bool skips_nulls = plan->ignore_nulls || kind == AGGREGATE_MIN || kind == AGGREGATE_MAX;
  return skips_nulls && !array_is_valid(&in->args[0], i);
}

/* nth_value: whether this row is the one. */
static bool counts_up(const aggregate *plan, struct picks *s, size_t g) {
  return ++STATES(&s->counts, uint64_t)[g] == (uint64_t)plan->n;
}

static glv_status look_through(accumulator *a, struct picks *s, const accumulator_input *in,
                               glv_error *err) {
  const aggregate *plan = a->plan;
  struct reference *refs = STATES(&s->refs, struct reference);
  const bool is_nth = plan->function->kind == AGGREGATE_NTH;
  TRY(vec_reserve(a->env, &s->touched, &s->touched_capacity, size_min(in->rows, in->groups),
                  sizeof *s->touched, err));
  for (size_t i = 0; i < in->rows; i++) {
    const size_t g = in->group != NULL ? in->group[i] : 0;
    const bool is_first = refs[g].chunk == NOT_PICKED;
    if (is_skipped(plan, in, i) || (is_nth && !counts_up(plan, s, g)) ||
        (!is_first && !is_better(plan, s, in, i, refs[g]))) {
      continue;
    }
    if (refs[g].chunk != IN_BATCH) {
      s->touched[s->touched_count++] = (uint32_t)g;
    }
    refs[g] = (struct reference){IN_BATCH, (uint32_t)i};
  }
  return GLV_OK;
}

static glv_status add_chunk(glv_env *env, struct picks *s, size_t rows, struct chunk **ret,
                            glv_error *err) {
  TRY(vec_reserve(env, &s->chunks, &s->chunk_capacity, s->chunk_count + 1, sizeof *s->chunks, err));
  struct chunk *c = &s->chunks[s->chunk_count];
  TRY(chunk_new(env, s->width, rows, c, err));
  s->chunk_count++;
  s->rows += rows;
  *ret = c;
  return GLV_OK;
}

/* The rows of the batch that are picked become a chunk. */
static glv_status keep_picked(accumulator *a, struct picks *s, const accumulator_input *in,
                              glv_error *err) {
  if (s->touched_count == 0) {
    return GLV_OK;
  }
  struct reference *refs = STATES(&s->refs, struct reference);
  uint32_t *rows = mem_alloc(a->env, s->touched_count * sizeof *rows);
  if (rows == NULL) {
    return error_nomem(err, s->touched_count * sizeof *rows);
  }
  for (size_t i = 0; i < s->touched_count; i++) {
    rows[i] = refs[s->touched[i]].row;
  }
  struct chunk *c = NULL;
  glv_status status = add_chunk(a->env, s, s->touched_count, &c, err);
  for (size_t k = 0; k < s->width && status == GLV_OK; k++) {
    status = array_take(a->env, input_column(in, k), rows, s->touched_count, &c->columns[k], err);
  }
  for (size_t i = 0; i < s->touched_count; i++) {
    refs[s->touched[i]] = (struct reference){(uint32_t)s->chunk_count - 1, (uint32_t)i};
  }
  mem_free(a->env, rows);
  s->touched_count = 0;
  return status;
}

/* Column k of all chunks, one behind the other. */
static glv_status join_column(glv_env *env, const struct picks *s, size_t k, array *ret,
                              glv_error *err) {
  array *parts = mem_alloc(env, s->chunk_count * sizeof *parts);
  if (parts == NULL) {
    return error_nomem(err, s->chunk_count * sizeof *parts);
  }
  for (size_t c = 0; c < s->chunk_count; c++) {
    parts[c] = s->chunks[c].columns[k];
  }
  const glv_status status = array_concat(env, parts, s->chunk_count, ret, err);
  mem_free(env, parts);
  return status;
}

/* The row of each group as a row of the joined chunks, in the order of the groups; rows that are
 * not picked are left out. */
static glv_status picked_rows(accumulator *a, const struct picks *s, uint32_t **ret,
                              size_t *ret_count, glv_error *err) {
  const struct reference *refs = STATES(&s->refs, struct reference);
  size_t *first = mem_alloc(a->env, (s->chunk_count + 1) * sizeof *first);
  uint32_t *rows = mem_alloc(a->env, s->refs.count * sizeof *rows);
  if (first == NULL || rows == NULL || s->rows >= UINT32_MAX) {
    mem_free(a->env, first);
    mem_free(a->env, rows);
    return error_nomem(err, s->refs.count * sizeof *rows);
  }
  first[0] = 0;
  for (size_t c = 0; c < s->chunk_count; c++) {
    first[c + 1] = first[c] + s->chunks[c].rows;
  }
  size_t count = 0;
  for (size_t g = 0; g < s->refs.count; g++) {
    if (refs[g].chunk != NOT_PICKED) {
      rows[count++] = (uint32_t)(first[refs[g].chunk] + refs[g].row);
    }
  }
  mem_free(a->env, first);
  *ret = rows;
  *ret_count = count;
  return GLV_OK;
}

static void drop_chunks(accumulator *a, struct picks *s) {
  for (size_t c = 0; c < s->chunk_count; c++) {
    chunk_dispose(a->env, &s->chunks[c], s->width);
  }
  s->chunk_count = s->rows = 0;
}

static glv_status joined(accumulator *a, struct picks *s, const uint32_t *rows, size_t count,
                         struct chunk *ret, glv_error *err) {
  TRY(chunk_new(a->env, s->width, count, ret, err));
  for (size_t k = 0; k < s->width; k++) {
    CLEANUP(array_unref) array whole = {0};
    TRY(join_column(a->env, s, k, &whole, err));
    TRY(array_take(a->env, &whole, rows, count, &ret->columns[k], err));
  }
  return GLV_OK;
}

/* One chunk instead of many, with the picked rows only. */
static glv_status compact(accumulator *a, struct picks *s, glv_error *err) {
  uint32_t *rows = NULL;
  size_t count = 0;
  struct chunk one = {0};
  TRY(picked_rows(a, s, &rows, &count, err));
  const glv_status status = joined(a, s, rows, count, &one, err);
  mem_free(a->env, rows);
  if (status != GLV_OK) {
    chunk_dispose(a->env, &one, s->width);
    return status;
  }
  drop_chunks(a, s);
  s->chunks[0] = one;
  s->chunk_count = 1;
  s->rows = count;
  struct reference *refs = STATES(&s->refs, struct reference);
  uint32_t row = 0;
  for (size_t g = 0; g < s->refs.count; g++) {
    if (refs[g].chunk != NOT_PICKED) {
      refs[g] = (struct reference){0, row++};
    }
  }
  return GLV_OK;
}

static glv_status grow(struct picks *s, size_t groups, bool is_nth, glv_error *err) {
  const size_t before = s->refs.b != NULL ? s->refs.count : 0;
  TRY(states_grow(&s->refs, groups, err));
  for (size_t g = before; g < groups; g++) {
    STATES(&s->refs, struct reference)[g].chunk = NOT_PICKED;
  }
  return is_nth ? states_grow(&s->counts, groups, err) : GLV_OK;
}

static glv_status pick_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  struct picks *s = a->state;
  TRY(grow(s, in->groups, a->plan->function->kind == AGGREGATE_NTH, err));
  TRY(look_through(a, s, in, err));
  TRY(keep_picked(a, s, in, err));
  const bool is_wasteful = s->rows > 2 * s->refs.count + SPARE_ROWS;
  return s->chunk_count > 1 && (is_wasteful || s->chunk_count > MOST_CHUNKS + s->rows / SPARE_ROWS)
             ? compact(a, s, err)
             : GLV_OK;
}

static glv_status pick_finish(accumulator *a, size_t groups, array *ret, glv_error *err) {
  struct picks *s = a->state;
  TRY(grow(s, groups, false, err));
  if (s->rows == 0) {
    return array_new_null(a->env, a->plan->result, groups, ret, err);
  }
  TRY(compact(a, s, err));
  const array *picked = &s->chunks[0].columns[0];
  CLEANUP(array_unref) array with_null = {0};
  CLEANUP(array_unref) array null = {0};
  TRY(array_new_null(a->env, picked->type, 1, &null, err));
  TRY(array_concat(a->env, (array[]){*picked, null}, 2, &with_null, err));
  const struct reference *refs = STATES(&s->refs, struct reference);
  uint32_t *rows = mem_alloc(a->env, groups * sizeof *rows);
  if (rows == NULL) {
    return error_nomem(err, groups * sizeof *rows);
  }
  for (size_t g = 0; g < groups; g++) {
    rows[g] = refs[g].chunk != NOT_PICKED ? refs[g].row : (uint32_t)picked->length;
  }
  const glv_status status = array_take(a->env, &with_null, rows, groups, ret, err);
  mem_free(a->env, rows);
  ret->type = status == GLV_OK ? a->plan->result : ret->type;
  return status;
}

static void pick_dispose(accumulator *a) {
  struct picks *s = a->state;
  drop_chunks(a, s);
  mem_free(a->env, s->chunks);
  mem_free(a->env, s->touched);
  states_dispose(&s->refs);
  states_dispose(&s->counts);
  mem_free(a->env, s);
}

glv_status accumulator_pick(accumulator *ret, glv_error *err) {
  static const accumulator_kind kind = {pick_update, pick_finish, pick_dispose};
  struct picks *s = mem_zalloc(ret->env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->width = 1 + ret->plan->order_count;
  s->refs = states_of(ret->env, sizeof(struct reference));
  s->counts = states_of(ret->env, sizeof(uint64_t));
  ret->state = s;
  ret->kind = &kind;
  return GLV_OK;
}
