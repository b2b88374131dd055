/*
 * sum and avg of integers, floats and durations, and of decimals (aggregate_decimal.c does the
 * arithmetic of these).
 *
 * Integers are summed in 64 bits and wrap around; an average of numbers is summed in double, value
 * by value in the order of the rows. Each loop is written for one type, with and without groups.
 */
#include "expr/aggregate_decimal.h"
#include "expr/aggregate_private.h"

struct sums {
  states sums;
  states seen;   /* a byte: there was a value */
  states counts; /* of values, 64 bits; avg only */
};

/* Add to sums of type stype the values of an array of ctype. */
#define ADD_LOOP(stype, ctype, convert)                                                            \
  do {                                                                                             \
    const ctype *v = (const ctype *)x->values;                                                     \
    stype *sums = STATES(&s->sums, stype);                                                         \
    if (in->group == NULL && !has_nulls) {                                                         \
      stype sum = sums[0];                                                                         \
      for (size_t i = 0; i < in->rows; i++) {                                                      \
        sum += convert(v[i]);                                                                      \
      }                                                                                            \
      sums[0] = sum;                                                                               \
    } else if (!has_nulls) {                                                                       \
      for (size_t i = 0; i < in->rows; i++) {                                                      \
        sums[in->group[i]] += convert(v[i]);                                                       \
      }                                                                                            \
    } else {                                                                                       \
      for (size_t i = 0; i < in->rows; i++) {                                                      \
        if (array_is_valid(x, i)) {                                                                \
          sums[in->group != NULL ? in->group[i] : 0] += convert(v[i]);                             \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  } while (false)

#define TO_U64(v) ((uint64_t)(int64_t)(v))
#define FROM_U64(v) ((uint64_t)(v))
#define TO_F64(v) ((double)(v))

/* Sums in 64 bits: signed values are extended, and everything wraps. */
static void add_integers(struct sums *s, const accumulator_input *in, bool has_nulls) {
  const array *x = &in->args[0];
  switch (x->type->kind) {
  case TYPE_INT8:
    ADD_LOOP(uint64_t, int8_t, TO_U64);
    break;
  case TYPE_INT16:
    ADD_LOOP(uint64_t, int16_t, TO_U64);
    break;
  case TYPE_INT32:
    ADD_LOOP(uint64_t, int32_t, TO_U64);
    break;
  case TYPE_UINT8:
    ADD_LOOP(uint64_t, uint8_t, FROM_U64);
    break;
  case TYPE_UINT16:
    ADD_LOOP(uint64_t, uint16_t, FROM_U64);
    break;
  case TYPE_UINT32:
    ADD_LOOP(uint64_t, uint32_t, FROM_U64);
    break;
  default: /* int64, uint64, duration */
    ADD_LOOP(uint64_t, uint64_t, FROM_U64);
    break;
  }
}

static void add_doubles(struct sums *s, const accumulator_input *in, bool has_nulls) {
  const array *x = &in->args[0];
  switch (x->type->kind) {
  case TYPE_INT32:
    ADD_LOOP(double, int32_t, TO_F64);
    break;
  case TYPE_INT64:
    ADD_LOOP(double, int64_t, TO_F64);
    break;
  case TYPE_FLOAT32:
    ADD_LOOP(double, float, TO_F64);
    break;
  default: /* everything else was cast */
    ADD_LOOP(double, double, TO_F64);
    break;
  }
}

static void add_seen(uint8_t *seen, const accumulator_input *in, bool has_nulls) {
  const array *x = &in->args[0];
  if (in->group == NULL) {
    seen[0] |= in->rows > (has_nulls ? array_null_count(x) : 0);
    return;
  }
  for (size_t i = 0; i < in->rows; i++) {
    seen[in->group[i]] |= !has_nulls || array_is_valid(x, i);
  }
}

static void add_counts(uint64_t *counts, const accumulator_input *in, bool has_nulls) {
  const array *x = &in->args[0];
  if (in->group == NULL) {
    counts[0] += in->rows - (has_nulls ? array_null_count(x) : 0);
    return;
  }
  for (size_t i = 0; i < in->rows; i++) {
    counts[in->group[i]] += !has_nulls || array_is_valid(x, i);
  }
}

static bool is_avg(const accumulator *a) { return a->plan->function->kind == AGGREGATE_AVG; }

static glv_status sum_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  struct sums *s = a->state;
  const bool has_nulls = array_has_nulls(&in->args[0]);
  TRY(states_grow(&s->sums, in->groups, err));
  TRY(states_grow(&s->seen, in->groups, err));
  if (is_avg(a)) {
    TRY(states_grow(&s->counts, in->groups, err));
    add_counts(STATES(&s->counts, uint64_t), in, has_nulls);
  }
  add_seen(STATES(&s->seen, uint8_t), in, has_nulls);
  if (type_is_decimal(a->plan->result->kind)) {
    decimal_add(s->sums.b->data, in);
  } else if (a->plan->result->kind == TYPE_FLOAT64) {
    add_doubles(s, in, has_nulls);
  } else {
    add_integers(s, in, has_nulls);
  }
  return GLV_OK;
}

/* Sums into averages, in place; groups without values keep what they have. */
static glv_status divide(accumulator *a, struct sums *s, size_t groups, glv_error *err) {
  const uint64_t *counts = STATES(&s->counts, uint64_t);
  if (type_is_decimal(a->plan->result->kind)) {
    return decimal_divide(s->sums.b->data, counts, groups, a->plan->args[0]->type, a->plan->result,
                          err);
  }
  if (a->plan->result->kind == TYPE_FLOAT64) {
    double *sums = STATES(&s->sums, double);
    for (size_t i = 0; i < groups; i++) {
      sums[i] /= (double)counts[i];
    }
    return GLV_OK;
  }
  int64_t *sums = STATES(&s->sums, int64_t);
  for (size_t i = 0; i < groups; i++) {
    sums[i] /= counts[i] != 0 ? (int64_t)counts[i] : 1;
  }
  return GLV_OK;
}

static glv_status sum_finish(accumulator *a, size_t groups, array *ret, glv_error *err) {
  struct sums *s = a->state;
  TRY(states_grow(&s->sums, groups, err));
  TRY(states_grow(&s->seen, groups, err));
  if (is_avg(a)) {
    TRY(states_grow(&s->counts, groups, err));
    TRY(divide(a, s, groups, err));
  }
  return states_finish(&s->sums, a->plan->result, &s->seen, groups, ret, err);
}

static void sum_dispose(accumulator *a) {
  struct sums *s = a->state;
  states_dispose(&s->sums);
  states_dispose(&s->seen);
  states_dispose(&s->counts);
  mem_free(a->env, s);
}

glv_status accumulator_sum(accumulator *ret, glv_error *err) {
  static const accumulator_kind kind = {sum_update, sum_finish, sum_dispose};
  struct sums *s = mem_alloc(ret->env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  *s = (struct sums){.sums = states_of(ret->env, type_width(ret->plan->result)),
                     .seen = states_of(ret->env, sizeof(uint8_t)),
                     .counts = states_of(ret->env, sizeof(uint64_t))};
  ret->state = s;
  ret->kind = &kind;
  return GLV_OK;
}
