/*
 * Running a grouped query.
 *
 * Per batch: the keys are evaluated, each row is given the number of its group, and every
 * aggregate takes in the rows that pass its FILTER and, with DISTINCT, were not seen in their group
 * before. At the end the keys of the groups and the results of the aggregates are the columns over
 * which the items are evaluated.
 */
#include "expr/eval_private.h"
#include "expr/group_private.h"
#include "expr/row_set.h"

enum { RESULT_ROWS = 65536 };

struct group_run {
  const group_plan *plan;
  glv_env *env;
  row_set groups;
  size_t group_count;
  array *keys; /* of new groups, batch by batch: key_count arrays for each part */
  size_t part_count;
  size_t part_capacity;
  accumulator *accumulators;
  row_set *seen; /* per aggregate, for DISTINCT */
  bool is_finished;
  batch rows; /* of groups */
  size_t next;
};

/* ---- life ---- */

static glv_status seen_init(group_run *r, size_t i, glv_error *err) {
  const aggregate *a = r->plan->aggregates[i];
  const type **types = mem_alloc(r->env, (a->arg_count + 1) * sizeof *types);
  if (types == NULL) {
    return error_nomem(err, a->arg_count * sizeof *types);
  }
  types[0] = type_simple(TYPE_UINT32);
  for (size_t k = 0; k < a->arg_count; k++) {
    types[k + 1] = a->args[k]->type;
  }
  row_set_init(&r->seen[i], r->env, types, a->arg_count + 1);
  mem_free(r->env, types);
  return GLV_OK;
}

static glv_status groups_init(group_run *r, glv_error *err) {
  const size_t count = r->plan->key_count;
  const type **types = mem_alloc(r->env, count * sizeof *types);
  if (types == NULL) {
    return error_nomem(err, count * sizeof *types);
  }
  for (size_t k = 0; k < count; k++) {
    types[k] = r->plan->keys[k]->type;
  }
  if (count > 0) {
    row_set_init(&r->groups, r->env, types, count);
  }
  r->group_count = count == 0 ? 1 : 0;
  mem_free(r->env, types);
  return GLV_OK;
}

static glv_status run_init(group_run *r, glv_error *err) {
  const size_t count = r->plan->aggregate_count;
  r->accumulators = mem_calloc(r->env, count, sizeof *r->accumulators);
  r->seen = mem_calloc(r->env, count, sizeof *r->seen);
  if (r->accumulators == NULL || r->seen == NULL) {
    return error_nomem(err, count * sizeof *r->seen);
  }
  TRY(groups_init(r, err));
  for (size_t i = 0; i < count; i++) {
    TRY(accumulator_new(r->env, r->plan->aggregates[i], &r->accumulators[i], err));
    TRY(r->plan->aggregates[i]->distinct ? seen_init(r, i, err) : GLV_OK);
  }
  return GLV_OK;
}

glv_status group_run_new(const group_plan *p, group_run **ret, glv_error *err) {
  group_run *r = mem_zalloc(p->nodes->env, sizeof *r);
  if (r == NULL) {
    return error_nomem(err, sizeof *r);
  }
  r->plan = p;
  r->env = env_ref(p->nodes->env);
  const glv_status status = run_init(r, err);
  if (status != GLV_OK) {
    group_run_free(r);
    return status;
  }
  *ret = r;
  return GLV_OK;
}

static void drop_accumulators(group_run *r) {
  for (size_t i = 0; i < r->plan->aggregate_count; i++) {
    if (r->accumulators != NULL && r->accumulators[i].state != NULL) {
      r->accumulators[i].kind->dispose(&r->accumulators[i]);
      r->accumulators[i].state = NULL;
    }
    if (r->seen != NULL && r->seen[i].env != NULL) {
      row_set_dispose(&r->seen[i]);
      r->seen[i].env = NULL;
    }
  }
}

void group_run_free(group_run *r) {
  if (r == NULL) {
    return;
  }
  glv_env *env = r->env;
  drop_accumulators(r);
  mem_free(env, r->accumulators);
  mem_free(env, r->seen);
  for (size_t i = 0; i < r->part_count * r->plan->key_count; i++) {
    array_unref(&r->keys[i]);
  }
  mem_free(env, r->keys);
  if (r->groups.env != NULL) {
    row_set_dispose(&r->groups);
  }
  batch_dispose(&r->rows);
  mem_free(env, r);
  env_unref(env);
}

void group_run_cleanup(group_run **r) {
  group_run_free(*r);
  *r = NULL;
}

/* ---- one batch ---- */

/* What the steps of one batch share; arrays are in its scratch, but for what the columns own. */
struct feeding {
  group_run *run;
  eval v;
  uint32_t *group; /* of each row; NULL: no keys */
};

/* Columns of one evaluation, unreferenced together. */
struct columns {
  array *items;
  size_t count;
};

static void columns_dispose(struct columns *c) {
  for (size_t i = 0; i < c->count; i++) {
    array_unref(&c->items[i]);
  }
}

/* One value of n for each row. Its types are those of the plan: the batch, whose types the children
 * of nested values have, goes long before what is kept of it. */
static glv_status evaluate_one(const eval *v, const node *n, const uint32_t *positions, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  CLEANUP(array_unref) array a = {0};
  TRY(positions == NULL ? eval_node(v, n, &o, err) : eval_at(v, n, positions, rows, &o, err));
  TRY(eval_expand(v->env, &o, rows, &a, err));
  return array_retype(v->env, &a, n->type, ret, err);
}

/* Evaluate nodes for the rows at some positions (NULL = all `rows`) of the batch's selection. */
static glv_status evaluate(const eval *v, const node *const *nodes, size_t count,
                           const uint32_t *positions, size_t rows, struct columns *ret,
                           glv_error *err) {
  ret->items = ARENA_ARRAY(v->scratch, array, count);
  if (ret->items == NULL) {
    return error_nomem(err, count * sizeof *ret->items);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(evaluate_one(v, nodes[i], positions, rows, &ret->items[i], err));
    ret->count = i + 1;
  }
  return GLV_OK;
}

/* Keep the keys of the groups that a batch brought. */
static glv_status keep_keys(group_run *r, const struct columns *keys, const uint32_t *fresh,
                            size_t count, glv_error *err) {
  const size_t width = r->plan->key_count;
  if (count == 0) {
    return GLV_OK;
  }
  TRY(vec_reserve(r->env, &r->keys, &r->part_capacity, (r->part_count + 1) * width, sizeof *r->keys,
                  err));
  array *to = &r->keys[r->part_count * width];
  memset(to, 0, width * sizeof *to);
  r->part_count++;
  for (size_t k = 0; k < width; k++) {
    TRY(array_take(r->env, &keys->items[k], fresh, count, &to[k], err));
  }
  return GLV_OK;
}

static glv_status find_groups(struct feeding *f, glv_error *err) {
  group_run *r = f->run;
  const size_t rows = f->v.rows.count;
  if (r->plan->key_count == 0) {
    return GLV_OK;
  }
  uint32_t *fresh = ARENA_ARRAY(f->v.scratch, uint32_t, rows);
  f->group = ARENA_ARRAY(f->v.scratch, uint32_t, rows);
  if (fresh == NULL || f->group == NULL) {
    return error_nomem(err, rows * sizeof *fresh);
  }
  size_t fresh_count = 0;
  CLEANUP(columns_dispose) struct columns keys = {0};
  TRY(evaluate(&f->v, r->plan->keys, r->plan->key_count, NULL, rows, &keys, err));
  TRY(row_set_add(&r->groups, keys.items, keys.count, rows, f->group, fresh, &fresh_count, err));
  r->group_count = r->groups.count;
  return keep_keys(r, &keys, fresh, fresh_count, err);
}

/* Rows of the batch that pass a filter: their positions in the selection. */
static glv_status pass_filter(struct feeding *f, const node *filter, uint32_t **ret,
                              size_t *ret_count, glv_error *err) {
  const size_t rows = f->v.rows.count;
  uint32_t *positions = ARENA_ARRAY(f->v.scratch, uint32_t, rows);
  if (positions == NULL) {
    return error_nomem(err, rows * sizeof *positions);
  }
  CLEANUP(operand_dispose) operand o = {0};
  TRY(eval_node(&f->v, filter, &o, err));
  size_t count = 0;
  for (size_t i = 0; i < rows; i++) {
    positions[count] = (uint32_t)i;
    count += operand_is_valid(&o, i) && operand_bool(&o, i);
  }
  *ret = positions;
  *ret_count = count;
  return GLV_OK;
}

/* group[positions[i]] for each i; NULL stays NULL, and without positions nothing changes. */
static glv_status select_groups(arena *scratch, const uint32_t *group, const uint32_t *positions,
                                size_t count, const uint32_t **ret, glv_error *err) {
  *ret = group;
  if (group == NULL || positions == NULL) {
    return GLV_OK;
  }
  uint32_t *selected = ARENA_ARRAY(scratch, uint32_t, count);
  if (selected == NULL) {
    return error_nomem(err, count * sizeof *selected);
  }
  for (size_t i = 0; i < count; i++) {
    selected[i] = group[positions[i]];
  }
  *ret = selected;
  return GLV_OK;
}

static glv_status take_all(glv_env *env, struct columns *c, const uint32_t *rows, size_t count,
                           glv_error *err) {
  for (size_t i = 0; i < c->count; i++) {
    array taken = {0};
    TRY(array_take(env, &c->items[i], rows, count, &taken, err));
    array_unref(&c->items[i]);
    c->items[i] = taken;
  }
  return GLV_OK;
}

/* DISTINCT: only the first row with its values in its group stays. */
static glv_status drop_seen(struct feeding *f, size_t number, struct columns *args,
                            struct columns *order, accumulator_input *in, glv_error *err) {
  group_run *r = f->run;
  array *columns = ARENA_ARRAY(f->v.scratch, array, args->count + 1);
  uint32_t *numbers = ARENA_ARRAY(f->v.scratch, uint32_t, in->rows);
  uint32_t *fresh = ARENA_ARRAY(f->v.scratch, uint32_t, in->rows);
  if (columns == NULL || numbers == NULL || fresh == NULL) {
    return error_nomem(err, in->rows * sizeof *fresh);
  }
  const uint32_t *group = in->group != NULL ? in->group : numbers; /* all zero as yet */
  columns[0] = (array){
      .type = type_simple(TYPE_UINT32), .length = in->rows, .null_count = 0, .values = group};
  if (args->count > 0) {
    memcpy(columns + 1, args->items, args->count * sizeof *columns);
  }
  uint32_t *ids = ARENA_ARRAY(f->v.scratch, uint32_t, in->rows);
  size_t count = 0;
  if (ids == NULL) {
    return error_nomem(err, in->rows * sizeof *ids);
  }
  TRY(row_set_add(&r->seen[number], columns, args->count + 1, in->rows, ids, fresh, &count, err));
  if (count == in->rows) {
    return GLV_OK;
  }
  TRY(take_all(r->env, args, fresh, count, err));
  TRY(take_all(r->env, order, fresh, count, err));
  TRY(select_groups(f->v.scratch, in->group, fresh, count, &in->group, err));
  in->rows = count;
  return GLV_OK;
}

static glv_status feed_aggregate(struct feeding *f, size_t number, glv_error *err) {
  group_run *r = f->run;
  const aggregate *a = r->plan->aggregates[number];
  uint32_t *positions = NULL;
  accumulator_input in = {.groups = r->group_count, .group = f->group, .rows = f->v.rows.count};
  if (a->filter != NULL) {
    TRY(pass_filter(f, a->filter, &positions, &in.rows, err));
    TRY(select_groups(f->v.scratch, f->group, positions, in.rows, &in.group, err));
  }
  if (in.rows == 0) {
    return GLV_OK;
  }
  CLEANUP(columns_dispose) struct columns args = {0};
  CLEANUP(columns_dispose) struct columns order = {0};
  TRY(evaluate(&f->v, a->args, a->arg_count, positions, in.rows, &args, err));
  TRY(evaluate(&f->v, a->order, a->order_count, positions, in.rows, &order, err));
  TRY(a->distinct ? drop_seen(f, number, &args, &order, &in, err) : GLV_OK);
  in.args = args.items;
  in.order = order.items;
  return in.rows == 0 ? GLV_OK
                      : r->accumulators[number].kind->update(&r->accumulators[number], &in, err);
}

static glv_status check_refusals(const group_plan *p, glv_error *err) {
  for (size_t i = 0; i < p->aggregate_count; i++) {
    if (p->aggregates[i]->refusal != NULL) {
      return FAIL(err, GLV_E_SQL_EXEC, "%s: %s", p->aggregates[i]->name, p->aggregates[i]->refusal);
    }
  }
  return GLV_OK;
}

glv_status group_feed(group_run *r, const batch *b, selection rows, glv_error *err) {
  if (rows.count == 0) {
    return GLV_OK;
  }
  TRY(check_refusals(r->plan, err));
  CLEANUP(arena_dispose) arena scratch;
  arena_init(&scratch, r->env);
  struct feeding f = {
      .run = r,
      .v = {.plan = r->plan->nodes, .env = r->env, .b = b, .rows = rows, .scratch = &scratch}};
  TRY(find_groups(&f, err));
  for (size_t i = 0; i < r->plan->aggregate_count; i++) {
    TRY(feed_aggregate(&f, i, err));
  }
  return GLV_OK;
}

/* ---- the result ---- */

static glv_status finish_key(group_run *r, size_t k, array *ret, glv_error *err) {
  array *parts = mem_alloc(r->env, r->part_count * sizeof *parts);
  if (parts == NULL) {
    return error_nomem(err, r->part_count * sizeof *parts);
  }
  for (size_t i = 0; i < r->part_count; i++) {
    parts[i] = r->keys[i * r->plan->key_count + k];
  }
  const glv_status status = array_concat(r->env, parts, r->part_count, ret, err);
  mem_free(r->env, parts);
  return status;
}

static glv_status finish(group_run *r, glv_error *err) {
  const group_plan *p = r->plan;
  r->is_finished = true;
  TRY(batch_new(r->env, NULL, r->group_count, p->key_count + p->aggregate_count, &r->rows, err));
  for (size_t k = 0; k < p->key_count && r->group_count > 0; k++) {
    TRY(finish_key(r, k, &r->rows.columns[k], err));
  }
  for (size_t i = 0; i < p->aggregate_count && r->group_count > 0; i++) {
    accumulator *a = &r->accumulators[i];
    TRY(a->kind->finish(a, r->group_count, &r->rows.columns[p->key_count + i], err));
  }
  drop_accumulators(r);
  return GLV_OK;
}

/* The items over some rows of groups. */
static glv_status evaluate_items(group_run *r, const batch *rows, batch *ret, glv_error *err) {
  const group_plan *p = r->plan;
  CLEANUP(arena_dispose) arena scratch;
  arena_init(&scratch, r->env);
  const eval v = {.plan = p->nodes,
                  .env = r->env,
                  .b = rows,
                  .rows = {NULL, rows->length},
                  .scratch = &scratch};
  CLEANUP(columns_dispose) struct columns items = {0};
  TRY(evaluate(&v, p->items, p->item_count, NULL, rows->length, &items, err));
  TRY(batch_new(r->env, p->result, rows->length, p->item_count, ret, err));
  for (size_t i = 0; i < p->item_count; i++) {
    TRY(array_retype(r->env, &items.items[i], p->result->fields[i].type, &ret->columns[i], err));
  }
  return GLV_OK;
}

glv_status group_next(group_run *r, batch *ret, bool *ret_end, glv_error *err) {
  TRY(r->is_finished ? GLV_OK : finish(r, err));
  *ret_end = r->next >= r->group_count;
  if (*ret_end) {
    return GLV_OK;
  }
  glv_status status = GLV_OK;
  const size_t count = size_min(RESULT_ROWS, r->group_count - r->next);
  CLEANUP(batch_dispose) batch part = batch_slice(r->env, &r->rows, r->next, count, err, &status);
  TRY(status);
  r->next += count;
  CLEANUP(batch_dispose) batch made = {0};
  TRY(evaluate_items(r, &part, &made, err));
  *ret = made;
  made = (batch){0};
  return GLV_OK;
}
