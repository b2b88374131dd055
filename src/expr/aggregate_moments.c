/*
 * Variance, covariance, correlation and linear regression over doubles, value by value in the order
 * of the rows: Welford's method for all but the correlation, for which the reference keeps plain
 * sums when there are groups.
 */
#include <math.h>

#include "expr/aggregate_private.h"

/* Of one column y, or of pairs (y, x). */
struct moments {
  uint64_t count;
  double mean_y;
  double mean_x;
  double m2_y;
  double m2_x;
  double co; /* sum of products of deviations */
};

struct plain_sums {
  uint64_t count;
  double y;
  double x;
  double xy;
  double yy;
  double xx;
};

static void add_one(struct moments *m, double y) {
  m->count++;
  const double delta = y - m->mean_y;
  m->mean_y = delta / (double)m->count + m->mean_y;
  m->m2_y = m->m2_y + delta * (y - m->mean_y);
}

static void add_pair(struct moments *m, double y, double x) {
  m->count++;
  const double delta_y = y - m->mean_y;
  const double delta_x = x - m->mean_x;
  m->mean_y += delta_y / (double)m->count;
  m->mean_x += delta_x / (double)m->count;
  m->m2_y += delta_y * (y - m->mean_y);
  m->m2_x += delta_x * (x - m->mean_x);
  m->co += delta_x * (y - m->mean_y);
}

static void add_plain(struct plain_sums *s, double y, double x) {
  s->count++;
  s->y += y;
  s->x += x;
  s->xy += y * x;
  s->yy += y * y;
  s->xx += x * x;
}

static glv_status one_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  states *s = a->state;
  TRY(states_grow(s, in->groups, err));
  const double *y = in->args[0].values;
  for (size_t i = 0; i < in->rows; i++) {
    if (array_is_valid(&in->args[0], i)) {
      add_one(&STATES(s, struct moments)[in->group != NULL ? in->group[i] : 0], y[i]);
    }
  }
  return GLV_OK;
}

static glv_status pair_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  states *s = a->state;
  TRY(states_grow(s, in->groups, err));
  const double *y = in->args[0].values;
  const double *x = in->args[1].values;
  const bool is_plain = a->plan->function->kind == AGGREGATE_CORRELATION;
  for (size_t i = 0; i < in->rows; i++) {
    if (!array_is_valid(&in->args[0], i) || !array_is_valid(&in->args[1], i)) {
      continue;
    }
    const size_t g = in->group != NULL ? in->group[i] : 0;
    if (is_plain) {
      add_plain(&STATES(s, struct plain_sums)[g], y[i], x[i]);
    } else {
      add_pair(&STATES(s, struct moments)[g], y[i], x[i]);
    }
  }
  return GLV_OK;
}

/* value / count, of which one is taken away for a sample; false: there are too few values. */
static bool per_count(double value, uint64_t count, bool is_sample, double *ret) {
  *ret = value / (double)(is_sample ? count - 1 : count);
  return count > (is_sample ? 1 : 0);
}

/* false: null */
static bool spread(const struct moments *m, enum aggregate_statistic what, double *ret) {
  switch (what) {
  case STATISTIC_VAR_SAMPLE:
    return per_count(m->m2_y, m->count, true, ret);
  case STATISTIC_VAR_POPULATION:
    return m->count == 1 ? (*ret = 0, true) : per_count(m->m2_y, m->count, false, ret);
  case STATISTIC_COVAR_SAMPLE:
    return per_count(m->co, m->count, true, ret);
  default:
    return per_count(m->co, m->count, false, ret);
  }
}

static bool regression(const struct moments *m, enum aggregate_statistic what, double *ret) {
  const double count = (double)m->count;
  const double var_x = m->m2_x / count;
  const double var_y = m->m2_y / count;
  const double covar = m->co / count;
  const bool has_line = m->count > 1 && var_x != 0;
  switch (what) {
  case STATISTIC_SLOPE:
    *ret = covar / var_x;
    return has_line;
  case STATISTIC_INTERCEPT:
    *ret = m->mean_y - covar / var_x * m->mean_x;
    return has_line;
  case STATISTIC_R2:
    *ret = covar * covar / (var_x * var_y);
    return has_line && var_y != 0;
  case STATISTIC_AVG_X:
    *ret = m->mean_x;
    return m->count > 0;
  case STATISTIC_AVG_Y:
    *ret = m->mean_y;
    return m->count > 0;
  case STATISTIC_SXX:
    *ret = m->m2_x;
    return m->count > 0;
  case STATISTIC_SYY:
    *ret = m->m2_y;
    return m->count > 0;
  default:
    *ret = m->co;
    return m->count > 0;
  }
}

static bool statistic(const struct moments *m, enum aggregate_statistic what, double *ret) {
  switch (what) {
  case STATISTIC_STDDEV_SAMPLE:
  case STATISTIC_STDDEV_POPULATION: {
    const bool is_sample = what == STATISTIC_STDDEV_SAMPLE;
    const bool is_there =
        spread(m, is_sample ? STATISTIC_VAR_SAMPLE : STATISTIC_VAR_POPULATION, ret);
    *ret = sqrt(*ret);
    return is_there;
  }
  case STATISTIC_VAR_SAMPLE:
  case STATISTIC_VAR_POPULATION:
  case STATISTIC_COVAR_SAMPLE:
  case STATISTIC_COVAR_POPULATION:
    return spread(m, what, ret);
  default:
    return regression(m, what, ret);
  }
}

/* NaN only when both columns have one; null when one of them has. */
static bool correlation(const struct plain_sums *s, double *ret) {
  const double count = (double)s->count;
  const double mean_y = s->y / count;
  const double mean_x = s->x / count;
  const double scale = sqrt((s->yy - s->y * mean_y) * (s->xx - s->x * mean_x));
  if (isnan(s->y) && isnan(s->x)) {
    *ret = (double)NAN;
    return true;
  }
  *ret = (s->xy - s->y * mean_x) / scale;
  return s->count > 1 && !isnan(s->y) && !isnan(s->x) && scale != 0;
}

static glv_status moments_finish(accumulator *a, size_t groups, array *ret, glv_error *err) {
  states *s = a->state;
  const enum aggregate_statistic what = a->plan->function->statistic;
  CLEANUP(states_dispose) states results = states_of(a->env, sizeof(double));
  CLEANUP(states_dispose) states seen = states_of(a->env, 1);
  TRY(states_grow(s, groups, err));
  TRY(states_grow(&results, groups, err));
  TRY(states_grow(&seen, groups, err));
  double *to = STATES(&results, double);
  for (size_t g = 0; g < groups; g++) {
    bool is_there = true;
    if (what == STATISTIC_COUNT) {
      STATES(&results, uint64_t)[g] = STATES(s, struct moments)[g].count;
    } else if (a->plan->function->kind == AGGREGATE_CORRELATION) {
      is_there = correlation(&STATES(s, struct plain_sums)[g], &to[g]);
    } else {
      is_there = statistic(&STATES(s, struct moments)[g], what, &to[g]);
    }
    STATES(&seen, uint8_t)[g] = is_there;
  }
  return states_finish(&results, a->plan->result, &seen, groups, ret, err);
}

static void moments_dispose(accumulator *a) {
  states_dispose(a->state);
  mem_free(a->env, a->state);
}

glv_status accumulator_moments(accumulator *ret, glv_error *err) {
  static const accumulator_kind single = {one_update, moments_finish, moments_dispose};
  static const accumulator_kind pairs = {pair_update, moments_finish, moments_dispose};
  states *s = mem_alloc(ret->env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  *s = states_of(ret->env, ret->plan->function->kind == AGGREGATE_CORRELATION
                               ? sizeof(struct plain_sums)
                               : sizeof(struct moments));
  ret->state = s;
  ret->kind = ret->plan->arg_count == 1 ? &single : &pairs;
  return GLV_OK;
}
