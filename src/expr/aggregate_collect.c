/*
 * Aggregates that need all values of a group at once: array_agg, string_agg, median,
 * percentile_cont, and nth_value from the end or in an order of its own.
 *
 * Values and keys of ORDER BY are kept as they come, with the group of each row. At the end the
 * rows are put in the order of the groups (which keeps the order within each) and sorted by the
 * keys.
 */
#include <stdlib.h>

#include "arrow/builder.h"
#include "expr/aggregate_private.h"

struct collection {
  array *parts; /* part i of column k: parts[i * width + k]; column 0 is the value */
  size_t part_count;
  size_t part_capacity;
  size_t width;
  uint32_t *groups; /* of each row */
  size_t rows;
  size_t row_capacity;
};

static bool is_quantile(const aggregate *plan) {
  return plan->function->kind == AGGREGATE_MEDIAN || plan->function->kind == AGGREGATE_PERCENTILE;
}

static bool skips_nulls(const aggregate *plan) {
  return is_quantile(plan) || plan->function->kind == AGGREGATE_STRING || plan->ignore_nulls;
}

/* The rows to keep; *ret NULL = all. */
static glv_status valid_rows(accumulator *a, const accumulator_input *in, uint32_t **ret,
                             size_t *ret_count, glv_error *err) {
  *ret_count = in->rows;
  if (!skips_nulls(a->plan) || !array_has_nulls(&in->args[0])) {
    return GLV_OK;
  }
  uint32_t *rows = mem_alloc(a->env, in->rows * sizeof *rows);
  if (rows == NULL) {
    return error_nomem(err, in->rows * sizeof *rows);
  }
  size_t count = 0;
  for (size_t i = 0; i < in->rows; i++) {
    rows[count] = (uint32_t)i;
    count += array_is_valid(&in->args[0], i);
  }
  *ret = rows;
  *ret_count = count;
  return GLV_OK;
}

static glv_status keep_groups(accumulator *a, struct collection *s, const accumulator_input *in,
                              const uint32_t *rows, size_t count, glv_error *err) {
  if (s->rows + count >= UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "%s holds at most %u values at a time", a->plan->name,
                UINT32_MAX - 1);
  }
  TRY(vec_reserve(a->env, &s->groups, &s->row_capacity, s->rows + count, sizeof *s->groups, err));
  for (size_t i = 0; i < count; i++) {
    s->groups[s->rows + i] = in->group != NULL ? in->group[rows != NULL ? rows[i] : i] : 0;
  }
  s->rows += count;
  return GLV_OK;
}

static glv_status keep_columns(accumulator *a, struct collection *s, const accumulator_input *in,
                               const uint32_t *rows, size_t count, glv_error *err) {
  TRY(vec_reserve(a->env, &s->parts, &s->part_capacity, (s->part_count + 1) * s->width,
                  sizeof *s->parts, err));
  array *to = &s->parts[s->part_count * s->width];
  memset(to, 0, s->width * sizeof *to);
  s->part_count++;
  for (size_t k = 0; k < s->width; k++) {
    const array *from = k == 0 ? &in->args[0] : &in->order[k - 1];
    if (rows == NULL) {
      to[k] = array_ref(from);
    } else {
      TRY(array_take(a->env, from, rows, count, &to[k], err));
    }
  }
  return GLV_OK;
}

static glv_status collect_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  struct collection *s = a->state;
  uint32_t *rows = NULL;
  size_t count = 0;
  TRY(valid_rows(a, in, &rows, &count, err));
  glv_status status = count != 0 ? keep_groups(a, s, in, rows, count, err) : GLV_OK;
  if (status == GLV_OK && count != 0) {
    status = keep_columns(a, s, in, rows, count, err);
  }
  mem_free(a->env, rows);
  return status;
}

/* ---- the end ---- */

/* Everything that was collected, in order; the values may refer to unsorted rows. */
struct gathered {
  array *columns; /* the value and the keys */
  uint32_t *rows;
  size_t *ends;
};

static void gathered_dispose(glv_env *env, struct gathered *g, size_t width) {
  for (size_t k = 0; k < width && g->columns != NULL; k++) {
    array_unref(&g->columns[k]);
  }
  mem_free(env, g->columns);
  mem_free(env, g->rows);
  mem_free(env, g->ends);
}

static glv_status join_columns(accumulator *a, struct collection *s, struct gathered *ret,
                               glv_error *err) {
  ret->columns = mem_calloc(a->env, s->width, sizeof *ret->columns);
  array *column = mem_alloc(a->env, s->part_count * sizeof *column);
  if (ret->columns == NULL || column == NULL) {
    mem_free(a->env, column);
    return error_nomem(err, s->part_count * sizeof *column);
  }
  glv_status status = GLV_OK;
  for (size_t k = 0; k < s->width && status == GLV_OK; k++) {
    for (size_t i = 0; i < s->part_count; i++) {
      column[i] = s->parts[i * s->width + k];
    }
    status = array_concat(a->env, column, s->part_count, &ret->columns[k], err);
  }
  mem_free(a->env, column);
  return status;
}

/* Row numbers in the order of their groups: a counting sort. */
static glv_status order_by_group(accumulator *a, const struct collection *s, size_t groups,
                                 struct gathered *ret, glv_error *err) {
  ret->ends = mem_calloc(a->env, groups + 1, sizeof *ret->ends);
  ret->rows = mem_alloc(a->env, s->rows * sizeof *ret->rows);
  if (ret->ends == NULL || ret->rows == NULL) {
    return error_nomem(err, s->rows * sizeof *ret->rows);
  }
  for (size_t i = 0; i < s->rows; i++) {
    ret->ends[s->groups[i] + 1]++;
  }
  for (size_t g = 0; g < groups; g++) { /* now ends[g] is where group g begins */
    ret->ends[g + 1] += ret->ends[g];
  }
  for (size_t i = 0; i < s->rows; i++) { /* and in the end where it ends */
    ret->rows[ret->ends[s->groups[i]]++] = (uint32_t)i;
  }
  return GLV_OK;
}

/* What the rows of a group are sorted by; *ret_count 0 = they stay as they came. */
static glv_status sort_keys(accumulator *a, const struct gathered *g, sort_key **ret,
                            size_t *ret_count, glv_error *err) {
  const aggregate *plan = a->plan;
  *ret_count = is_quantile(plan) ? 1 : plan->order_count;
  sort_key *keys = mem_alloc(a->env, *ret_count * sizeof *keys);
  if (keys == NULL) {
    return error_nomem(err, *ret_count * sizeof *keys);
  }
  for (size_t k = 0; k < *ret_count; k++) {
    keys[k] = is_quantile(plan)
                  ? (sort_key){&g->columns[0], false, false}
                  : (sort_key){&g->columns[k + 1], plan->descending[k], plan->nulls_first[k]};
  }
  *ret = keys;
  return GLV_OK;
}

/* A float as an integer of the same order, and its row. */
struct ranked {
  int64_t key;
  uint32_t row;
};

static int compare_ranked(const void *a, const void *b) {
  const int64_t l = ((const struct ranked *)a)->key;
  const int64_t r = ((const struct ranked *)b)->key;
  return (l > r) - (l < r);
}

static bool has_ranks(const aggregate *plan, const array *values) {
  return is_quantile(plan) &&
         (values->type->kind == TYPE_FLOAT32 || values->type->kind == TYPE_FLOAT64);
}

static void rank_group(const array *values, uint32_t *rows, struct ranked *room, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int64_t key = 0;
    if (values->type->kind == TYPE_FLOAT64) {
      key = ARRAY_VALUES(values, int64_t)[rows[i]];
      key ^= (key >> 63) & INT64_MAX;
    } else {
      key = ARRAY_VALUES(values, int32_t)[rows[i]];
      key ^= (key >> 63) & INT32_MAX;
    }
    room[i] = (struct ranked){key, rows[i]};
  }
  if (count > 1) {
    qsort(room, count, sizeof *room, compare_ranked);
  }
  for (size_t i = 0; i < count; i++) {
    rows[i] = room[i].row;
  }
}

/* The rows of floats in the order of their values; many times faster than by general keys. */
static glv_status rank_groups(accumulator *a, size_t groups, struct gathered *g, glv_error *err) {
  size_t most = 0;
  for (size_t i = 0; i < groups; i++) {
    most = size_max(most, g->ends[i] - (i == 0 ? 0 : g->ends[i - 1]));
  }
  struct ranked *room = mem_alloc(a->env, most * sizeof *room);
  if (room == NULL) {
    return error_nomem(err, most * sizeof *room);
  }
  size_t begin = 0;
  for (size_t i = 0; i < groups; i++) {
    rank_group(&g->columns[0], g->rows + begin, room, g->ends[i] - begin);
    begin = g->ends[i];
  }
  mem_free(a->env, room);
  return GLV_OK;
}

static glv_status sort_groups(accumulator *a, const struct collection *s, size_t groups,
                              struct gathered *g, glv_error *err) {
  sort_key *keys = NULL;
  size_t count = 0;
  if (has_ranks(a->plan, &g->columns[0])) {
    return rank_groups(a, groups, g, err);
  }
  TRY(sort_keys(a, g, &keys, &count, err));
  uint32_t *spare = mem_alloc(a->env, s->rows * sizeof *spare);
  size_t begin = 0;
  for (size_t i = 0; i < groups && count != 0 && spare != NULL; i++) {
    sort_rows(keys, count, g->rows + begin, spare, g->ends[i] - begin);
    begin = g->ends[i];
  }
  mem_free(a->env, spare);
  mem_free(a->env, keys);
  return spare != NULL ? GLV_OK : error_nomem(err, s->rows * sizeof *spare);
}

static size_t begin_of(const collected *c, size_t g) { return g == 0 ? 0 : c->ends[g - 1]; }

static glv_status to_lists(accumulator *a, const collected *c, array *ret, glv_error *err) {
  const size_t total = c->groups == 0 ? 0 : c->ends[c->groups - 1];
  if (total > INT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "the lists of array_agg hold more than %d values together",
                INT32_MAX);
  }
  CLEANUP(states_dispose) states seen = states_of(a->env, 1);
  TRY(states_grow(&seen, c->groups, err));
  CLEANUP(array_unref) array list = {.type = a->plan->result, .length = c->groups};
  TRY(buffer_new(a->env, (c->groups + 1) * sizeof(int32_t), &list.owners[1], err));
  int32_t *offsets = (int32_t *)(void *)list.owners[1]->data;
  list.values = offsets;
  offsets[0] = 0;
  for (size_t g = 0; g < c->groups; g++) {
    offsets[g + 1] = (int32_t)c->ends[g];
    STATES(&seen, uint8_t)[g] = c->ends[g] > begin_of(c, g);
  }
  TRY(states_mark_nulls(a->env, &seen, c->groups, &list, err));
  TRY(array_new_children(a->env, 1, &list, err));
  TRY(array_take(a->env, c->values, c->rows, total, &list.children[0], err));
  list.children[0].type = a->plan->result->children[0].type;
  *ret = list;
  list = (array){0};
  return GLV_OK;
}

static glv_status join_text(const aggregate *plan, const collected *c, size_t g, buf *text,
                            glv_error *err) {
  for (size_t i = begin_of(c, g); i < c->ends[g]; i++) {
    TRY(i != begin_of(c, g) ? buf_append_str(text, plan->separator, err) : GLV_OK);
    TRY(buf_append_str(text, array_str(c->values, c->rows[i]), err));
  }
  return GLV_OK;
}

static glv_status to_texts(accumulator *a, const collected *c, array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, a->env, a->plan->result);
  buf_init(&text, a->env, SIZE_MAX / 2);
  for (size_t g = 0; g < c->groups; g++) {
    text.size = 0;
    TRY(join_text(a->plan, c, g, &text, err));
    TRY(c->ends[g] == begin_of(c, g) ? builder_append_null(&b, err)
                                     : builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

/* nth_value: n counts from the end when it is negative. */
static glv_status to_nth(accumulator *a, const collected *c, array *ret, glv_error *err) {
  CLEANUP(array_unref) array with_null = {0};
  CLEANUP(array_unref) array null = {0};
  TRY(array_new_null(a->env, c->values->type, 1, &null, err));
  TRY(array_concat(a->env, (array[]){*c->values, null}, 2, &with_null, err));
  uint32_t *rows = mem_alloc(a->env, c->groups * sizeof *rows);
  if (rows == NULL) {
    return error_nomem(err, c->groups * sizeof *rows);
  }
  const int64_t n = a->plan->n;
  const uint64_t steps = n > 0 ? (uint64_t)n : (uint64_t)0 - (uint64_t)n;
  for (size_t g = 0; g < c->groups; g++) {
    const size_t size = c->ends[g] - begin_of(c, g);
    const size_t at = n > 0 ? begin_of(c, g) + (size_t)steps - 1 : c->ends[g] - (size_t)steps;
    rows[g] = steps <= size ? c->rows[at] : (uint32_t)c->values->length;
  }
  const glv_status status = array_take(a->env, &with_null, rows, c->groups, ret, err);
  mem_free(a->env, rows);
  return status;
}

static glv_status convert(accumulator *a, const collected *c, array *ret, glv_error *err) {
  switch (a->plan->function->kind) {
  case AGGREGATE_ARRAY:
    return to_lists(a, c, ret, err);
  case AGGREGATE_STRING:
    return to_texts(a, c, ret, err);
  case AGGREGATE_NTH:
    return to_nth(a, c, ret, err);
  default:
    return aggregate_quantile(a->env, a->plan, c, ret, err);
  }
}

static glv_status collect_finish(accumulator *a, size_t groups, array *ret, glv_error *err) {
  struct collection *s = a->state;
  if (s->rows == 0) {
    return array_new_null(a->env, a->plan->result, groups, ret, err);
  }
  struct gathered g = {0};
  glv_status status = join_columns(a, s, &g, err);
  status = status == GLV_OK ? order_by_group(a, s, groups, &g, err) : status;
  status = status == GLV_OK ? sort_groups(a, s, groups, &g, err) : status;
  if (status == GLV_OK) {
    const collected c = {&g.columns[0], g.rows, g.ends, groups};
    status = convert(a, &c, ret, err);
  }
  gathered_dispose(a->env, &g, s->width);
  if (status == GLV_OK) {
    ret->type = a->plan->result;
  }
  return status;
}

static void collect_dispose(accumulator *a) {
  struct collection *s = a->state;
  for (size_t i = 0; i < s->part_count * s->width; i++) {
    array_unref(&s->parts[i]);
  }
  mem_free(a->env, s->parts);
  mem_free(a->env, s->groups);
  mem_free(a->env, s);
}

glv_status accumulator_collect(accumulator *ret, glv_error *err) {
  static const accumulator_kind kind = {collect_update, collect_finish, collect_dispose};
  struct collection *s = mem_zalloc(ret->env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->width = 1 + ret->plan->order_count;
  ret->state = s;
  ret->kind = &kind;
  return GLV_OK;
}
