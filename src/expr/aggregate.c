/*
 * The aggregates by name, the types of their arguments and results, and which accumulator computes
 * them.
 *
 * What the reference refuses only once there are rows (nested aggregates, avg of nothing but NULL)
 * is planned and refused by the first batch with rows.
 */
#include "expr/aggregate_private.h"
#include "expr/cast.h"

enum { ANY_COUNT = UINT16_MAX };

#define VARIANCE AGGREGATE_VARIANCE
#define REGRESSION AGGREGATE_REGRESSION
#define ORDERED AGGREGATE_ORDERED
#define NULLS AGGREGATE_NULLS_CLAUSE

static const aggregate_function functions[] = {
    {"count", AGGREGATE_COUNT, STATISTIC_NONE, 0, ANY_COUNT, 0},
    {"sum", AGGREGATE_SUM, STATISTIC_NONE, 1, 1, 0},
    {"avg", AGGREGATE_AVG, STATISTIC_NONE, 1, 1, 0},
    {"mean", AGGREGATE_AVG, STATISTIC_NONE, 1, 1, 0},
    {"min", AGGREGATE_MIN, STATISTIC_NONE, 1, 1, 0},
    {"max", AGGREGATE_MAX, STATISTIC_NONE, 1, 1, 0},
    {"first_value", AGGREGATE_FIRST, STATISTIC_NONE, 1, 1, ORDERED | NULLS},
    {"last_value", AGGREGATE_LAST, STATISTIC_NONE, 1, 1, ORDERED | NULLS},
    {"nth_value", AGGREGATE_NTH, STATISTIC_NONE, 2, 2, ORDERED},
    {"array_agg", AGGREGATE_ARRAY, STATISTIC_NONE, 1, 1, ORDERED | NULLS},
    {"string_agg", AGGREGATE_STRING, STATISTIC_NONE, 2, 2, ORDERED},
    {"bool_and", AGGREGATE_BOOL_AND, STATISTIC_NONE, 1, 1, 0},
    {"bool_or", AGGREGATE_BOOL_OR, STATISTIC_NONE, 1, 1, 0},
    {"bit_and", AGGREGATE_BIT_AND, STATISTIC_NONE, 1, 1, 0},
    {"bit_or", AGGREGATE_BIT_OR, STATISTIC_NONE, 1, 1, 0},
    {"bit_xor", AGGREGATE_BIT_XOR, STATISTIC_NONE, 1, 1, 0},
    {"median", AGGREGATE_MEDIAN, STATISTIC_NONE, 1, 1, 0},
    {"percentile_cont", AGGREGATE_PERCENTILE, STATISTIC_NONE, 2, 2, AGGREGATE_WITHIN_GROUP},
    {"quantile_cont", AGGREGATE_PERCENTILE, STATISTIC_NONE, 2, 2, AGGREGATE_WITHIN_GROUP},
    {"stddev", VARIANCE, STATISTIC_STDDEV_SAMPLE, 1, 1, 0},
    {"stddev_samp", VARIANCE, STATISTIC_STDDEV_SAMPLE, 1, 1, 0},
    {"stddev_pop", VARIANCE, STATISTIC_STDDEV_POPULATION, 1, 1, 0},
    {"var", VARIANCE, STATISTIC_VAR_SAMPLE, 1, 1, 0},
    {"var_samp", VARIANCE, STATISTIC_VAR_SAMPLE, 1, 1, 0},
    {"var_sample", VARIANCE, STATISTIC_VAR_SAMPLE, 1, 1, 0},
    {"var_pop", VARIANCE, STATISTIC_VAR_POPULATION, 1, 1, 0},
    {"var_population", VARIANCE, STATISTIC_VAR_POPULATION, 1, 1, 0},
    {"covar", REGRESSION, STATISTIC_COVAR_SAMPLE, 2, 2, 0},
    {"covar_samp", REGRESSION, STATISTIC_COVAR_SAMPLE, 2, 2, 0},
    {"covar_pop", REGRESSION, STATISTIC_COVAR_POPULATION, 2, 2, 0},
    {"corr", AGGREGATE_CORRELATION, STATISTIC_NONE, 2, 2, 0},
    {"regr_slope", REGRESSION, STATISTIC_SLOPE, 2, 2, 0},
    {"regr_intercept", REGRESSION, STATISTIC_INTERCEPT, 2, 2, 0},
    {"regr_count", REGRESSION, STATISTIC_COUNT, 2, 2, 0},
    {"regr_r2", REGRESSION, STATISTIC_R2, 2, 2, 0},
    {"regr_avgx", REGRESSION, STATISTIC_AVG_X, 2, 2, 0},
    {"regr_avgy", REGRESSION, STATISTIC_AVG_Y, 2, 2, 0},
    {"regr_sxx", REGRESSION, STATISTIC_SXX, 2, 2, 0},
    {"regr_syy", REGRESSION, STATISTIC_SYY, 2, 2, 0},
    {"regr_sxy", REGRESSION, STATISTIC_SXY, 2, 2, 0},
    {"grouping", AGGREGATE_GROUPING, STATISTIC_NONE, 1, ANY_COUNT, 0},
    /* exact here */
    {"approx_distinct", AGGREGATE_COUNT, STATISTIC_NONE, 1, 1, AGGREGATE_APPROXIMATE},
    {"approx_median", AGGREGATE_DIGEST, STATISTIC_NONE, 1, 1, 0},
    {"approx_percentile_cont", AGGREGATE_DIGEST, STATISTIC_NONE, 2, 3, AGGREGATE_WITHIN_GROUP},
};

const aggregate_function *aggregate_find(str name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (str_is(name, functions[i].name)) {
      return &functions[i];
    }
  }
  return NULL;
}

/* ---- types ---- */

static glv_status refuse(const aggregate *a, size_t i, const char *wanted, glv_error *err) {
  return FAIL(err, GLV_E_SQL_PLAN,
              "Failed to coerce arguments to satisfy a call to '%s' function: it needs %s, not %s",
              a->name, wanted, TYPE_TEXT(a->args[i]->type));
}

/* The type of argument i, of what a dictionary holds. */
static const type *value_type(const aggregate *a, size_t i) {
  const type *t = a->args[i]->type;
  return t->kind == TYPE_DICTIONARY ? t->children[0].type : t;
}

static glv_status cast_argument(planner *p, aggregate *a, size_t i, const type *t, glv_error *err) {
  return plan_cast(p, a->args[i], t, false, &a->args[i], err);
}

static glv_status cast_to(planner *p, aggregate *a, size_t i, type_kind kind, glv_error *err) {
  return cast_argument(p, a, i, type_simple(kind), err);
}

/* Argument i as double; an untyped NULL too. */
static glv_status bind_double(planner *p, aggregate *a, size_t i, glv_error *err) {
  const type_kind kind = value_type(a, i)->kind;
  if (!type_is_numeric(kind) && kind != TYPE_NULL) {
    return refuse(a, i, "a number", err);
  }
  return cast_to(p, a, i, TYPE_FLOAT64, err);
}

/* p and s of a decimal a little wider, as far as its width goes. */
static glv_status wider_decimal(planner *p, const type *t, int precision, int scale,
                                const type **ret, glv_error *err) {
  const int32_t most = t->kind == TYPE_DECIMAL128 ? 38 : 76;
  const int32_t digits = t->precision + precision < most ? t->precision + precision : most;
  const int32_t places = t->scale + scale < most ? t->scale + scale : most;
  *ret = type_decimal(p->arena, t->kind, digits, places);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status bind_sum(planner *p, aggregate *a, glv_error *err) {
  const type *t = value_type(a, 0);
  TRY(cast_argument(p, a, 0, t, err));
  if (type_is_decimal(t->kind)) {
    return wider_decimal(p, t, 10, 0, &a->result, err);
  }
  if (type_is_integer(t->kind)) {
    a->result = type_simple(type_is_signed(t->kind) ? TYPE_INT64 : TYPE_UINT64);
    return GLV_OK;
  }
  if (type_is_float(t->kind)) {
    a->result = type_simple(TYPE_FLOAT64);
    return t->kind == TYPE_FLOAT16 ? cast_to(p, a, 0, TYPE_FLOAT64, err) : GLV_OK;
  }
  a->result = t;
  return t->kind == TYPE_DURATION ? GLV_OK : refuse(a, 0, "a number or duration", err);
}

/* Whether the loops of avg take a type as it is. */
static bool averages_directly(type_kind kind) {
  return kind == TYPE_INT32 || kind == TYPE_INT64 || kind == TYPE_FLOAT32 || kind == TYPE_FLOAT64;
}

static glv_status bind_avg(planner *p, aggregate *a, glv_error *err) {
  const type *t = value_type(a, 0);
  TRY(cast_argument(p, a, 0, t, err));
  if (t->kind == TYPE_DURATION) {
    a->result = t;
    return GLV_OK;
  }
  if (type_is_decimal(t->kind)) {
    return wider_decimal(p, t, 4, 4, &a->result, err);
  }
  if (t->kind == TYPE_NULL) {
    a->refusal = "AvgAccumulator for (Null --> Float64): avg needs a typed argument";
  }
  a->result = type_simple(TYPE_FLOAT64);
  return averages_directly(t->kind) ? GLV_OK : bind_double(p, a, 0, err);
}

static glv_status bind_extreme(planner *p, aggregate *a, glv_error *err) {
  const type *t = value_type(a, 0);
  if (t->kind == TYPE_MAP || t->kind == TYPE_INTERVAL_MONTH_DAY_NANO) {
    return refuse(a, 0, "a type with an order", err);
  }
  a->result = t;
  return cast_argument(p, a, 0, t, err);
}

/* A constant integer as second argument, which then is no argument any more. */
static glv_status bind_nth(planner *p, aggregate *a, glv_error *err) {
  const node *n = a->args[1];
  (void)p;
  (void)err;
  a->result = a->args[0]->type;
  if (!node_is_constant(n) || n->type->kind != TYPE_INT64 || node_is_null(n)) {
    a->refusal = "nth_value needs a whole number that is constant";
  } else {
    a->n = ARRAY_VALUES(n->constant, int64_t)[0];
    a->refusal = a->n == 0 ? "nth_value counts from 1" : a->refusal;
  }
  a->arg_count = 1;
  return GLV_OK;
}

static glv_status bind_array(planner *p, aggregate *a, glv_error *err) {
  const field item = {.name = "item", .type = a->args[0]->type, .nullable = true};
  a->result = type_list(p->arena, TYPE_LIST, &item);
  return a->result != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status bind_text(planner *p, aggregate *a, glv_error *err) {
  const type *large = type_simple(TYPE_LARGE_UTF8);
  const node *separator = a->args[1];
  if (!cast_is_supported(a->args[0]->type, large)) {
    return refuse(a, 0, "a string", err);
  }
  if (!type_is_string(separator->type->kind) && separator->type->kind != TYPE_NULL) {
    return refuse(a, 1, "a string", err);
  }
  if (!node_is_constant(separator)) {
    a->refusal = "string_agg delimiter must be a string literal";
  } else if (!node_is_null(separator)) {
    a->separator = array_str(separator->constant, 0);
  }
  a->arg_count = 1;
  a->result = large;
  return cast_argument(p, a, 0, large, err);
}

static glv_status bind_bool(planner *p, aggregate *a, glv_error *err) {
  const type_kind kind = a->args[0]->type->kind;
  a->result = type_simple(TYPE_BOOL);
  return kind == TYPE_BOOL || kind == TYPE_NULL ? cast_argument(p, a, 0, a->result, err)
                                                : refuse(a, 0, "a boolean", err);
}

static glv_status bind_bits(planner *p, aggregate *a, glv_error *err) {
  a->result = value_type(a, 0);
  return type_is_integer(a->result->kind) ? cast_argument(p, a, 0, a->result, err)
                                          : refuse(a, 0, "an integer", err);
}

static glv_status bind_median(planner *p, aggregate *a, glv_error *err) {
  const type *t = value_type(a, 0);
  a->result = t;
  if (type_is_decimal(t->kind) || type_is_float(t->kind)) {
    return cast_argument(p, a, 0, t, err);
  }
  a->result = type_simple(TYPE_FLOAT64);
  if (t->kind == TYPE_NULL) {
    a->refusal = "MedianAccumulator not supported for median(NULL): it needs a typed argument";
  }
  return bind_double(p, a, 0, err);
}

/* The most centroids of a digest: the third argument, or 100. */
static glv_status bind_centroids(aggregate *a, glv_error *err) {
  const node *n = a->arg_count > 2 ? a->args[2] : NULL;
  a->n = 100;
  if (n == NULL) {
    return GLV_OK;
  }
  const bool is_number = node_is_constant(n) && !node_is_null(n) && n->type->kind == TYPE_INT64;
  a->n = is_number ? ARRAY_VALUES(n->constant, int64_t)[0] : 0;
  return a->n > 0 ? GLV_OK
                  : FAIL(err, GLV_E_SQL_PLAN,
                         "the third argument of '%s' is a number of centroids above 0", a->name);
}

/* The value keeps a float type; the fraction is constant. */
static glv_status bind_percentile(planner *p, aggregate *a, glv_error *err) {
  const type *t = value_type(a, 0);
  a->fraction = 0.5;
  TRY(bind_centroids(a, err));
  if (a->arg_count > 1) {
    TRY(bind_double(p, a, 1, err));
    const node *fraction = a->args[1];
    if (!node_is_constant(fraction) || node_is_null(fraction)) {
      return FAIL(err, GLV_E_SQL_PLAN, "Percentile value for '%s' must be a literal", a->name);
    }
    a->fraction = ARRAY_VALUES(fraction->constant, double)[0];
  }
  if (!(a->fraction >= 0 && a->fraction <= 1)) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Percentile value must be between 0.0 and 1.0 inclusive, %g is invalid",
                a->fraction);
  }
  if (a->order_count > 0 && a->descending[0]) {
    a->fraction = 1 - a->fraction;
  }
  a->arg_count = 1;
  a->result = type_is_float(t->kind) ? t : type_simple(TYPE_FLOAT64);
  return type_is_float(t->kind) ? cast_argument(p, a, 0, t, err) : bind_double(p, a, 0, err);
}

static glv_status bind_moments(planner *p, aggregate *a, glv_error *err) {
  const enum aggregate_statistic what = a->function->statistic;
  for (size_t i = 0; i < a->arg_count; i++) {
    TRY(bind_double(p, a, i, err));
  }
  if (what == STATISTIC_COVAR_SAMPLE || what == STATISTIC_COVAR_POPULATION) {
    const node *first = a->args[0]; /* the reference rounds as if the first were x */
    a->args[0] = a->args[1];
    a->args[1] = first;
  }
  a->result = type_simple(what == STATISTIC_COUNT ? TYPE_UINT64 : TYPE_FLOAT64);
  return GLV_OK;
}

static glv_status bind_count(aggregate *a) {
  const bool is_approximate = (a->function->flags & AGGREGATE_APPROXIMATE) != 0;
  a->distinct = a->distinct || is_approximate;
  a->result = type_simple(is_approximate ? TYPE_UINT64 : TYPE_INT64);
  if (a->distinct && a->arg_count > 1) {
    a->refusal = "COUNT DISTINCT with multiple arguments is not supported";
  }
  return GLV_OK;
}

static glv_status bind_types(planner *p, aggregate *a, glv_error *err) {
  switch (a->function->kind) {
  case AGGREGATE_COUNT:
    return bind_count(a);
  case AGGREGATE_SUM:
    return bind_sum(p, a, err);
  case AGGREGATE_AVG:
    return bind_avg(p, a, err);
  case AGGREGATE_MIN:
  case AGGREGATE_MAX:
    return bind_extreme(p, a, err);
  case AGGREGATE_FIRST:
  case AGGREGATE_LAST:
    a->result = a->args[0]->type;
    return GLV_OK;
  case AGGREGATE_NTH:
    return bind_nth(p, a, err);
  case AGGREGATE_ARRAY:
    return bind_array(p, a, err);
  case AGGREGATE_STRING:
    return bind_text(p, a, err);
  case AGGREGATE_BOOL_AND:
  case AGGREGATE_BOOL_OR:
    return bind_bool(p, a, err);
  case AGGREGATE_BIT_AND:
  case AGGREGATE_BIT_OR:
  case AGGREGATE_BIT_XOR:
    return bind_bits(p, a, err);
  case AGGREGATE_MEDIAN:
    return bind_median(p, a, err);
  case AGGREGATE_PERCENTILE:
  case AGGREGATE_DIGEST:
    return bind_percentile(p, a, err);
  case AGGREGATE_VARIANCE:
  case AGGREGATE_REGRESSION:
  case AGGREGATE_CORRELATION:
    return bind_moments(p, a, err);
  case AGGREGATE_GROUPING:
    a->result = type_simple(TYPE_INT32);
    return GLV_OK;
  }
  return GLV_E_INTERNAL;
}

glv_status aggregate_bind(planner *p, aggregate *a, glv_error *err) {
  const aggregate_function *f = a->function;
  if (a->arg_count < f->least || a->arg_count > f->most) {
    return FAIL(err, GLV_E_SQL_PLAN, "Function '%s' expects %u argument%s but received %zu",
                a->name, f->least, f->least == 1 ? "" : "s", a->arg_count);
  }
  if (a->ignore_nulls && (f->flags & AGGREGATE_NULLS_CLAUSE) == 0) {
    return FAIL(err, GLV_E_SQL_PLAN, "[IGNORE | RESPECT] NULLS are not permitted for %s", a->name);
  }
  TRY(bind_types(p, a, err));
  if ((f->flags & AGGREGATE_ORDERED) == 0) {
    a->order_count = 0; /* the order of the rows makes no difference */
  }
  return GLV_OK;
}

/* ---- accumulators ---- */

static bool has_extreme_loop(const type *t) {
  return type_width(t) != 0 && t->kind != TYPE_FIXED_SIZE_BINARY;
}

glv_status accumulator_new(glv_env *env, const aggregate *plan, accumulator *ret, glv_error *err) {
  *ret = (accumulator){.plan = plan, .env = env};
  switch (plan->function->kind) {
  case AGGREGATE_COUNT:
  case AGGREGATE_BOOL_AND:
  case AGGREGATE_BOOL_OR:
  case AGGREGATE_GROUPING:
    return accumulator_count(ret, err);
  case AGGREGATE_SUM:
  case AGGREGATE_AVG:
    return accumulator_sum(ret, err);
  case AGGREGATE_MIN:
  case AGGREGATE_MAX:
    return has_extreme_loop(plan->result) ? accumulator_extreme(ret, err)
                                          : accumulator_pick(ret, err);
  case AGGREGATE_BIT_AND:
  case AGGREGATE_BIT_OR:
  case AGGREGATE_BIT_XOR:
    return accumulator_extreme(ret, err);
  case AGGREGATE_FIRST:
  case AGGREGATE_LAST:
    return accumulator_pick(ret, err);
  case AGGREGATE_NTH:
    return plan->n > 0 && plan->order_count == 0 ? accumulator_pick(ret, err)
                                                 : accumulator_collect(ret, err);
  case AGGREGATE_ARRAY:
  case AGGREGATE_STRING:
  case AGGREGATE_MEDIAN:
  case AGGREGATE_PERCENTILE:
    return accumulator_collect(ret, err);
  case AGGREGATE_DIGEST:
    return accumulator_digest(ret, err);
  case AGGREGATE_VARIANCE:
  case AGGREGATE_REGRESSION:
  case AGGREGATE_CORRELATION:
    return accumulator_moments(ret, err);
  }
  return GLV_E_INTERNAL;
}
