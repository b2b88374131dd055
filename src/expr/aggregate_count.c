/*
 * count: rows whose arguments are all valid; all rows without arguments. bool_and, bool_or and
 * grouping have as little state.
 */
#include "expr/aggregate_private.h"
#include "expr/eval_private.h"

/* ---- count ---- */

static bool row_is_valid(const accumulator_input *in, size_t args, size_t i) {
  for (size_t k = 0; k < args; k++) {
    if (!array_is_valid(&in->args[k], i)) {
      return false;
    }
  }
  return true;
}

static void count_all(int64_t *counts, const accumulator_input *in) {
  if (in->group == NULL) {
    counts[0] += (int64_t)in->rows;
    return;
  }
  for (size_t i = 0; i < in->rows; i++) {
    counts[in->group[i]]++;
  }
}

static void count_valid(int64_t *counts, const accumulator_input *in, size_t args) {
  if (in->group == NULL && args == 1) {
    counts[0] += (int64_t)(in->rows - array_null_count(&in->args[0]));
    return;
  }
  for (size_t i = 0; i < in->rows; i++) {
    counts[in->group != NULL ? in->group[i] : 0] += row_is_valid(in, args, i);
  }
}

static glv_status count_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  states *counts = a->state;
  TRY(states_grow(counts, in->groups, err));
  bool has_nulls = false;
  for (size_t k = 0; k < a->plan->arg_count; k++) {
    has_nulls = has_nulls || array_has_nulls(&in->args[k]);
  }
  if (has_nulls) {
    count_valid(STATES(counts, int64_t), in, a->plan->arg_count);
  } else {
    count_all(STATES(counts, int64_t), in);
  }
  return GLV_OK;
}

static glv_status count_finish(accumulator *a, size_t groups, array *ret, glv_error *err) {
  return states_finish(a->state, a->plan->result, NULL, groups, ret, err);
}

static void count_dispose(accumulator *a) {
  states_dispose(a->state);
  mem_free(a->env, a->state);
}

/* ---- bool_and, bool_or: bit 0: a false was seen, bit 1: a true was seen ---- */

static glv_status bool_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  states *seen = a->state;
  TRY(states_grow(seen, in->groups, err));
  uint8_t *bytes = STATES(seen, uint8_t);
  const array *x = &in->args[0];
  for (size_t i = 0; i < in->rows; i++) {
    const size_t g = in->group != NULL ? in->group[i] : 0;
    if (array_is_valid(x, i)) {
      bytes[g] = (uint8_t)(bytes[g] | (array_bool(x, i) ? 2 : 1));
    }
  }
  return GLV_OK;
}

static glv_status bool_finish(accumulator *a, size_t groups, array *ret, glv_error *err) {
  states *seen = a->state;
  TRY(states_grow(seen, groups, err));
  const uint8_t *bytes = STATES(seen, uint8_t);
  const bool is_and = a->plan->function->kind == AGGREGATE_BOOL_AND;
  CLEANUP(array_unref) array made = {0};
  void *bits = NULL;
  TRY(array_new_fixed(a->env, a->plan->result, groups, &made, &bits, err));
  for (size_t i = 0; i < groups; i++) {
    bit_put(bits, i, is_and ? (bytes[i] & 1) == 0 : (bytes[i] & 2) != 0);
  }
  TRY(states_mark_nulls(a->env, seen, groups, &made, err));
  *ret = made;
  made = (array){0};
  return GLV_OK;
}

/* ---- grouping: every key takes part in every row ---- */

static glv_status nothing_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  (void)a;
  (void)in;
  (void)err;
  return GLV_OK;
}

glv_status accumulator_count(accumulator *ret, glv_error *err) {
  static const accumulator_kind count = {count_update, count_finish, count_dispose};
  static const accumulator_kind boolean = {bool_update, bool_finish, count_dispose};
  static const accumulator_kind nothing = {nothing_update, count_finish, count_dispose};
  const enum aggregate_kind kind = ret->plan->function->kind;
  states *s = mem_alloc(ret->env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  ret->state = s;
  if (kind == AGGREGATE_COUNT) {
    *s = states_of(ret->env, sizeof(int64_t));
    ret->kind = &count;
  } else if (kind == AGGREGATE_GROUPING) {
    *s = states_of(ret->env, sizeof(int32_t));
    ret->kind = &nothing;
  } else {
    *s = states_of(ret->env, sizeof(uint8_t));
    ret->kind = &boolean;
  }
  return GLV_OK;
}
