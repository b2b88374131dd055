/*
 * median and percentile_cont over sorted groups.
 *
 * A median of an even count is the mean of the two middle values, computed in the type itself
 * (decimals: cut toward zero). A percentile between two values is interpolated in double with a
 * weight of six decimal digits, as the reference does.
 */
#include <math.h>

#include "base/half.h"
#include "base/int256.h"
#include "expr/aggregate_private.h"

/* Where the result of one group comes from: one value, or two that are combined. */
struct position {
  uint32_t low;
  uint32_t high;
  double weight; /* of high, percentile_cont only */
};

static const double WEIGHT_STEPS = 1e6;

static struct position middle(const collected *c, size_t begin, size_t size) {
  const size_t high = begin + size / 2;
  const size_t low = size % 2 == 0 ? high - 1 : high;
  return (struct position){c->rows[low], c->rows[high], 0.5};
}

static struct position at_fraction(const collected *c, size_t begin, size_t size, double fraction) {
  const double index = fraction * (double)(size - 1);
  const double low = floor(index);
  const double weight = floor((index - low) * WEIGHT_STEPS) / WEIGHT_STEPS;
  return (struct position){c->rows[begin + (size_t)low], c->rows[begin + (size_t)ceil(index)],
                           weight};
}

static void mean16(const uint16_t *v, struct position at, bool is_median, uint16_t *to) {
  const float low = half_to_float(v[at.low]);
  const float high = half_to_float(v[at.high]);
  if (is_median) {
    *to = half_from_float(half_to_float(half_from_float(low + high)) / 2);
  } else {
    *to = half_from_float((float)((double)low + ((double)high - (double)low) * at.weight));
  }
}

static void mean32(const float *v, struct position at, bool is_median, float *to) {
  const double low = (double)v[at.low];
  const double high = (double)v[at.high];
  *to = is_median ? (v[at.low] + v[at.high]) / 2 : (float)(low + (high - low) * at.weight);
}

static void mean64(const double *v, struct position at, bool is_median, double *to) {
  const double low = v[at.low];
  const double high = v[at.high];
  *to = is_median ? (low + high) / 2 : low + (high - low) * at.weight;
}

/* Both halved first, so that nothing overflows; what the halves lost is added. */
static void mean_decimal128(const uint8_t *v, struct position at, uint8_t *to) {
  const int128 low = int128_load(v + 16 * (size_t)at.low);
  const int128 high = int128_load(v + 16 * (size_t)at.high);
  int128 sum = 0;
  if (__builtin_add_overflow(low, high, &sum)) {
    int128_store(to, low / 2 + high / 2 + (low % 2 + high % 2) / 2);
  } else {
    int128_store(to, sum / 2);
  }
}

static void mean_decimal256(const uint8_t *v, struct position at, uint8_t *to) {
  int256 sum = {0};
  int256 rest = {0};
  /* 76 digits leave room for a sum of two */
  (void)int256_add(int256_load(v + 32 * (size_t)at.low), int256_load(v + 32 * (size_t)at.high),
                   &sum);
  (void)int256_div(sum, int256_of(2), &sum, &rest);
  int256_store(to, sum);
}

static void combine(const aggregate *plan, const array *values, struct position at, uint8_t *to) {
  const bool is_median = plan->function->kind == AGGREGATE_MEDIAN;
  switch (values->type->kind) {
  case TYPE_FLOAT16:
    mean16(values->values, at, is_median, (uint16_t *)(void *)to);
    return;
  case TYPE_FLOAT32:
    mean32(values->values, at, is_median, (float *)(void *)to);
    return;
  case TYPE_FLOAT64:
    mean64(values->values, at, is_median, (double *)(void *)to);
    return;
  case TYPE_DECIMAL128:
    mean_decimal128(values->values, at, to);
    return;
  default: /* decimal256 */
    mean_decimal256(values->values, at, to);
  }
}

glv_status aggregate_quantile(glv_env *env, const aggregate *plan, const collected *c, array *ret,
                              glv_error *err) {
  const size_t width = type_width(plan->result);
  CLEANUP(states_dispose) states results = states_of(env, width);
  CLEANUP(states_dispose) states seen = states_of(env, 1);
  TRY(states_grow(&results, c->groups, err));
  TRY(states_grow(&seen, c->groups, err));
  size_t begin = 0;
  for (size_t g = 0; g < c->groups; g++) {
    const size_t size = c->ends[g] - begin;
    if (size > 0) {
      const struct position at = plan->function->kind == AGGREGATE_MEDIAN
                                     ? middle(c, begin, size)
                                     : at_fraction(c, begin, size, plan->fraction);
      uint8_t *to = results.b->data + g * width;
      if (at.low == at.high) {
        memcpy(to, (const uint8_t *)c->values->values + at.low * width, width);
      } else {
        combine(plan, c->values, at, to);
      }
      STATES(&seen, uint8_t)[g] = 1;
    }
    begin = c->ends[g];
  }
  return states_finish(&results, plan->result, &seen, c->groups, ret, err);
}
