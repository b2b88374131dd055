/*
 * approx_median and approx_percentile_cont: a t-digest per group, so that memory does not grow with
 * the number of values.
 *
 * A digest is a list of centroids (mean and weight) in the order of their means. New values are
 * sorted and merged into it from the least to the greatest: neighbours are united as long as their
 * weight stays under a limit that is small at both ends of the distribution and large in its
 * middle. What it gives therefore depends a little on how the rows come in batches.
 */
#include <math.h>
#include <stdlib.h>

#include "base/half.h"
#include "expr/aggregate_private.h"

struct centroid {
  double mean;
  double weight;
};

struct digest {
  struct centroid *list;
  size_t count;
  double weight; /* of all */
  double least;
  double most;
};

/* A value of the batch at hand. */
struct sample {
  uint32_t group;
  double value;
};

static int64_t total_order(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits ^ ((bits >> 63) & INT64_MAX);
}

static int compare_samples(const void *a, const void *b) {
  const struct sample *x = a;
  const struct sample *y = b;
  if (x->group != y->group) {
    return x->group < y->group ? -1 : 1;
  }
  const int64_t l = total_order(x->value);
  const int64_t r = total_order(y->value);
  return (l > r) - (l < r);
}

static int compare_centroids(const void *a, const void *b) {
  const int64_t l = total_order(((const struct centroid *)a)->mean);
  const int64_t r = total_order(((const struct centroid *)b)->mean);
  return (l > r) - (l < r);
}

/* ---- merging ---- */

/* The part of all weight that the first k of `size` centroids may have together. */
static double share(uint64_t k, int64_t size) {
  const double part = (double)k / (double)size;
  return part >= 0.5 ? 1 - 2 * (1 - part) * (1 - part) : 2 * part * part;
}

/* Old centroids and new values, in one sequence by value. */
struct sequence {
  const struct centroid *old;
  size_t old_count;
  const struct sample *values;
  size_t value_count;
};

static bool take_next(struct sequence *s, struct centroid *ret) {
  const bool takes_old =
      s->old_count != 0 && (s->value_count == 0 || s->old->mean < s->values->value);
  if (takes_old) {
    *ret = *s->old++;
    s->old_count--;
    return true;
  }
  if (s->value_count == 0) {
    return false;
  }
  *ret = (struct centroid){s->values->value, 1};
  s->values++;
  s->value_count--;
  return true;
}

/* Centroids under construction: the last one takes in `sum` and `weight` when it is closed. */
struct merged {
  struct centroid *list;
  size_t count;
  double sum;
  double weight;
};

static void close_last(struct merged *m) {
  struct centroid *c = &m->list[m->count - 1];
  const double sum = m->sum + c->weight * c->mean;
  c->weight += m->weight;
  c->mean = sum / c->weight;
  m->sum = m->weight = 0;
}

static void unite(struct sequence *s, double weight, int64_t size, struct merged *m) {
  uint64_t k = 1;
  double limit = share(k++, size) * weight;
  double so_far = 0;
  struct centroid next;
  while (take_next(s, &next)) {
    so_far += next.weight;
    if (m->count != 0 && so_far <= limit) {
      m->sum += next.mean * next.weight;
      m->weight += next.weight;
      continue;
    }
    if (m->count != 0) {
      close_last(m);
      limit = share(k++, size) * weight;
    }
    m->list[m->count++] = next;
  }
  close_last(m);
}

/* Take in count > 0 sorted values. */
static glv_status take_in(glv_env *env, struct digest *d, int64_t size, const struct sample *values,
                          size_t count, glv_error *err) {
  const bool is_first = d->count == 0;
  struct merged m = {.list = mem_calloc(env, d->count + count, sizeof *m.list)};
  if (m.list == NULL) {
    return error_nomem(err, (d->count + count) * sizeof *m.list);
  }
  struct sequence s = {d->list, d->count, values, count};
  d->weight += (double)count;
  d->least = is_first ? values[0].value : fmin(d->least, values[0].value);
  d->most = is_first ? values[count - 1].value : fmax(d->most, values[count - 1].value);
  unite(&s, d->weight, size, &m);
  qsort(m.list, m.count, sizeof *m.list, compare_centroids);
  struct centroid *kept = mem_resize(env, m.list, m.count * sizeof *kept);
  mem_free(env, d->list);
  d->list = kept != NULL ? kept : m.list;
  d->count = m.count;
  return GLV_OK;
}

/* ---- the value at a rank ---- */

/* The centroid in which a rank lies; *ret_before is the weight of those before it. */
static size_t centroid_at(const struct digest *d, double rank, bool from_above,
                          double *ret_before) {
  if (from_above) {
    double before = d->weight;
    for (size_t i = d->count; i > 0; i--) {
      before -= d->list[i - 1].weight;
      if (rank >= before) {
        *ret_before = before;
        return i - 1;
      }
    }
    *ret_before = before;
    return 0;
  }
  double before = 0;
  for (size_t i = 0; i < d->count; i++) {
    if (rank < before + d->list[i].weight) {
      *ret_before = before;
      return i;
    }
    before += d->list[i].weight;
  }
  *ret_before = before;
  return d->count - 1;
}

static double clamp(double value, double low, double high) {
  if (isnan(low) || isnan(high)) {
    return value;
  }
  const double least = fmin(low, high);
  const double most = fmax(low, high);
  return value < least ? least : value > most ? most : value;
}

static double estimate(const struct digest *d, double fraction) {
  const double rank = fraction * d->weight;
  if (fraction <= 0 || fraction >= 1) {
    return fraction <= 0 ? d->least : d->most;
  }
  double before = 0;
  const size_t at = centroid_at(d, rank, fraction > 0.5, &before);
  const bool has_before = at > 0;
  const bool has_after = at + 1 < d->count;
  const double low = has_before ? d->list[at - 1].mean : d->least;
  const double high = has_after ? d->list[at + 1].mean : d->most;
  double slope = 0; /* over the width of this centroid */
  if (has_before && has_after) {
    slope = (high - low) / 2;
  } else if (has_before || has_after) {
    slope = has_after ? high - d->list[at].mean : d->list[at].mean - low;
  }
  const double value = d->list[at].mean + ((rank - before) / d->list[at].weight - 0.5) * slope;
  return clamp(value, isinf(low) && low > 0 ? -(double)INFINITY : low,
               isinf(high) && high < 0 ? (double)INFINITY : high);
}

/* ---- the accumulator ---- */

static double value_at(const array *x, size_t i) {
  switch (x->type->kind) {
  case TYPE_FLOAT16:
    return (double)half_to_float(ARRAY_VALUES(x, uint16_t)[i]);
  case TYPE_FLOAT32:
    return (double)ARRAY_VALUES(x, float)[i];
  default:
    return ARRAY_VALUES(x, double)[i];
  }
}

static size_t sorted_samples(const accumulator_input *in, struct sample *to) {
  size_t count = 0;
  for (size_t i = 0; i < in->rows; i++) {
    if (array_is_valid(&in->args[0], i)) {
      to[count++] = (struct sample){in->group != NULL ? in->group[i] : 0, value_at(in->args, i)};
    }
  }
  qsort(to, count, sizeof *to, compare_samples);
  return count;
}

static glv_status digest_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  states *s = a->state;
  TRY(states_grow(s, in->groups, err));
  struct sample *samples = mem_calloc(a->env, in->rows, sizeof *samples);
  if (samples == NULL) {
    return error_nomem(err, in->rows * sizeof *samples);
  }
  const size_t count = sorted_samples(in, samples);
  glv_status status = GLV_OK;
  for (size_t begin = 0; begin < count && status == GLV_OK;) {
    size_t end = begin + 1;
    while (end < count && samples[end].group == samples[begin].group) {
      end++;
    }
    status = take_in(a->env, &STATES(s, struct digest)[samples[begin].group], a->plan->n,
                     samples + begin, end - begin, err);
    begin = end;
  }
  mem_free(a->env, samples);
  return status;
}

static void store(type_kind kind, double value, size_t i, void *to) {
  if (kind == TYPE_FLOAT16) {
    ((uint16_t *)to)[i] = half_from_float((float)value);
  } else if (kind == TYPE_FLOAT32) {
    ((float *)to)[i] = (float)value;
  } else {
    ((double *)to)[i] = value;
  }
}

static glv_status digest_finish(accumulator *a, size_t groups, array *ret, glv_error *err) {
  states *s = a->state;
  CLEANUP(states_dispose) states results = states_of(a->env, type_width(a->plan->result));
  CLEANUP(states_dispose) states seen = states_of(a->env, 1);
  TRY(states_grow(s, groups, err));
  TRY(states_grow(&results, groups, err));
  TRY(states_grow(&seen, groups, err));
  for (size_t g = 0; g < groups; g++) {
    const struct digest *d = &STATES(s, struct digest)[g];
    if (d->count != 0) {
      store(a->plan->result->kind, estimate(d, a->plan->fraction), g, results.b->data);
      STATES(&seen, uint8_t)[g] = 1;
    }
  }
  return states_finish(&results, a->plan->result, &seen, groups, ret, err);
}

static void digest_dispose(accumulator *a) {
  states *s = a->state;
  for (size_t g = 0; g < s->count; g++) {
    mem_free(a->env, STATES(s, struct digest)[g].list);
  }
  states_dispose(s);
  mem_free(a->env, s);
}

glv_status accumulator_digest(accumulator *ret, glv_error *err) {
  static const accumulator_kind kind = {digest_update, digest_finish, digest_dispose};
  states *s = mem_alloc(ret->env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  *s = states_of(ret->env, sizeof(struct digest));
  ret->state = s;
  ret->kind = &kind;
  return GLV_OK;
}
