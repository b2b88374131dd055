/**
 * @file aggregate_private.h
 * Aggregates (sql-expressions section 14): what planning knows of a call, and the accumulators that
 * compute it, each over all groups at once.
 */
#ifndef GLAIVE_EXPR_AGGREGATE_PRIVATE_H
#define GLAIVE_EXPR_AGGREGATE_PRIVATE_H

#include "expr/plan_private.h"
#include "expr/sort.h"

enum aggregate_kind {
  AGGREGATE_COUNT,
  AGGREGATE_SUM,
  AGGREGATE_AVG,
  AGGREGATE_MIN,
  AGGREGATE_MAX,
  AGGREGATE_FIRST,
  AGGREGATE_LAST,
  AGGREGATE_NTH,
  AGGREGATE_ARRAY,
  AGGREGATE_STRING,
  AGGREGATE_BOOL_AND,
  AGGREGATE_BOOL_OR,
  AGGREGATE_BIT_AND,
  AGGREGATE_BIT_OR,
  AGGREGATE_BIT_XOR,
  AGGREGATE_MEDIAN,
  AGGREGATE_PERCENTILE,
  AGGREGATE_DIGEST,   /* a percentile, approximately */
  AGGREGATE_VARIANCE, /* this and the following: `statistic` tells which */
  AGGREGATE_REGRESSION,
  AGGREGATE_CORRELATION,
  AGGREGATE_GROUPING
};

/** What is read off the moments of one or two columns. */
enum aggregate_statistic {
  STATISTIC_NONE,
  STATISTIC_VAR_SAMPLE,
  STATISTIC_VAR_POPULATION,
  STATISTIC_STDDEV_SAMPLE,
  STATISTIC_STDDEV_POPULATION,
  STATISTIC_COVAR_SAMPLE,
  STATISTIC_COVAR_POPULATION,
  STATISTIC_SLOPE,
  STATISTIC_INTERCEPT,
  STATISTIC_COUNT,
  STATISTIC_R2,
  STATISTIC_AVG_X,
  STATISTIC_AVG_Y,
  STATISTIC_SXX,
  STATISTIC_SYY,
  STATISTIC_SXY
};

enum aggregate_flags {
  AGGREGATE_NULLS_CLAUSE = 1u << 0, /* takes IGNORE NULLS */
  AGGREGATE_WITHIN_GROUP = 1u << 1, /* takes WITHIN GROUP (ORDER BY x), which is its value */
  AGGREGATE_ORDERED = 1u << 2,      /* ORDER BY in it has a meaning */
  AGGREGATE_APPROXIMATE = 1u << 3   /* counts different values; the result is uint64 */
};

typedef struct aggregate_function {
  const char *name;
  enum aggregate_kind kind;
  enum aggregate_statistic statistic;
  unsigned least; /* arguments */
  unsigned most;
  unsigned flags;
} aggregate_function;

/** The aggregate of that exact lower-case name or alias, or NULL. */
const aggregate_function *aggregate_find(str name);

/** One planned call. Values that must be constant are no arguments any more. */
typedef struct aggregate {
  const aggregate_function *function;
  const char *name; /* as called */
  bool distinct;
  bool ignore_nulls;
  const node *filter; /* or NULL */
  const node **args;
  size_t arg_count;
  const node **order;
  bool *descending;
  bool *nulls_first;
  size_t order_count;
  const type *result;
  int64_t n;       /* nth_value; AGGREGATE_DIGEST: the most centroids */
  double fraction; /* percentile_cont */
  str separator;   /* string_agg */
  const char
      *refusal; /* why no row may reach it, or NULL: GLV_E_SQL_EXEC as the reference has it */
} aggregate;

/** Check and cast the arguments, set the result. Errors: GLV_E_SQL_PLAN. */
glv_status aggregate_bind(planner *p, aggregate *a, glv_error *err);

/** The rows of one batch that an aggregate sees. */
typedef struct accumulator_input {
  size_t groups;         /* so many exist by now */
  const uint32_t *group; /* of each row; NULL: there is one group */
  size_t rows;
  const array *args;  /* arg_count columns */
  const array *order; /* order_count columns */
} accumulator_input;

struct accumulator;

typedef struct accumulator_kind {
  glv_status (*update)(struct accumulator *a, const accumulator_input *in, glv_error *err);
  /** One value of a->plan->result for each of `groups` groups; called once. */
  glv_status (*finish)(struct accumulator *a, size_t groups, array *ret, glv_error *err);
  void (*dispose)(struct accumulator *a);
} accumulator_kind;

typedef struct accumulator {
  const accumulator_kind *kind;
  const aggregate *plan; /* borrowed */
  glv_env *env;          /* borrowed */
  void *state;
} accumulator;

/** An accumulator for a planned call; release with its kind's dispose. Errors: GLV_E_NOMEM. */
glv_status accumulator_new(glv_env *env, const aggregate *plan, accumulator *ret, glv_error *err);

/* Makers by family: each sets ret->kind and ret->state. */
glv_status accumulator_count(accumulator *ret, glv_error *err);   /* aggregate_count.c */
glv_status accumulator_sum(accumulator *ret, glv_error *err);     /* aggregate_sum.c */
glv_status accumulator_extreme(accumulator *ret, glv_error *err); /* aggregate_extreme.c */
glv_status accumulator_pick(accumulator *ret, glv_error *err);    /* aggregate_pick.c */
glv_status accumulator_digest(accumulator *ret, glv_error *err);  /* aggregate_digest.c */
glv_status accumulator_collect(accumulator *ret, glv_error *err); /* aggregate_collect.c */
glv_status accumulator_moments(accumulator *ret, glv_error *err); /* aggregate_moments.c */

/** Collected values, group by group: those of group g are rows[ends[g - 1], ends[g]) of values. */
typedef struct collected {
  const array *values; /* without nulls where the aggregate skips them */
  const uint32_t *rows;
  const size_t *ends;
  size_t groups;
} collected;

/** median and percentile_cont of values that are sorted within each group. */
glv_status aggregate_quantile(glv_env *env, const aggregate *plan, const collected *c, array *ret,
                              glv_error *err); /* aggregate_quantile.c */

/** State of all groups: values of `width` bytes, zero for new groups. */
typedef struct states {
  glv_env *env;
  buffer *b; /* NULL while there is none */
  size_t width;
  size_t count;
  size_t capacity;
} states;
static inline states states_of(glv_env *env, size_t width) {
  return (states){env, NULL, width, 0, 0};
}
void states_dispose(states *s);
/** Room for so many groups. Errors: GLV_E_NOMEM. */
glv_status states_grow(states *s, size_t groups, glv_error *err);
#define STATES(s, ctype) ((ctype *)(void *)(s)->b->data)

/**
 * The states as an array of a fixed-width type; *s becomes empty.
 * @param seen one byte per group: 0 = null; NULL = no nulls.
 */
glv_status states_finish(states *s, const type *t, const states *seen, size_t groups, array *ret,
                         glv_error *err);
/** An array whose values i are null where seen[i] is 0: sets the validity of a, whose bits begin at
 * 0. */
glv_status states_mark_nulls(glv_env *env, const states *seen, size_t groups, array *a,
                             glv_error *err);

#endif
