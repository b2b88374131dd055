/* date_bin (sql-expressions 13.2): the beginning of the bin of a timestamp or time, where bins are
 * as wide as a constant interval and one begins at a constant origin.
 *
 * The reference computes in nanoseconds since the epoch, and what it gets when they wrap is given
 * here, too; bins of months do not reach before the epoch, unless by whole seconds. A constant
 * whose bin cannot be computed is null. */
#include "expr/chrono.h"
#include "expr/interval.h"
#include "expr/temporal_part.h"

#define SECOND_NANOS INT64_C(1000000000)
#define DAY_NANOS (DAY_SECONDS * SECOND_NANOS)

typedef struct bins {
  int64_t months; /* 0: the width is nanos */
  int64_t nanos;
  int64_t origin;
  int64_t scale; /* nanoseconds of a tick */
  bool is_time;
} bins;

/* The largest multiple of the width at or below a distance. */
static int64_t multiple(int64_t distance, int64_t width) {
  const int64_t whole = distance - distance % width;
  return distance < 0 && width > 1 && whole != distance ? whole - width : whole;
}

static const char *bin_nanos(const bins *b, int64_t at, int64_t *ret) {
  int64_t distance;
  if (__builtin_sub_overflow(at, b->origin, &distance)) {
    return "the source lies too far from the origin";
  }
  *ret = (int64_t)((uint64_t)b->origin + (uint64_t)multiple(distance, b->nanos));
  return NULL;
}

/* origin moved by months; false when nanoseconds cannot hold it. */
static bool add_months(int64_t origin, int64_t months, int64_t *ret) {
  const instant t = temporal_instant(origin, UNIT_NANO);
  civil c = calendar_civil(floor_div(t.seconds, DAY_SECONDS));
  const int64_t month = c.year * 12 + (c.month - 1) + months;
  if (month / 12 > 300000 || month / 12 < -300000) {
    return false;
  }
  c.year = floor_div(month, 12);
  c.month = (int)floor_mod(month, 12) + 1;
  const int last = calendar_month_days(c.year, c.month);
  c.day = c.day < last ? c.day : last;
  const int64_t seconds = calendar_days(c) * DAY_SECONDS + floor_mod(t.seconds, DAY_SECONDS);
  return temporal_ticks((instant){seconds, t.nanos}, UNIT_NANO, ret);
}

static int64_t month_of(int64_t nanos) {
  const civil c = calendar_civil(floor_div(floor_div(nanos, SECOND_NANOS), DAY_SECONDS));
  return c.year * 12 + c.month;
}

static const char *bin_months(const bins *b, int64_t at, int64_t *ret) {
  if (at % SECOND_NANOS < 0 || b->origin % SECOND_NANOS < 0) {
    return "Invalid timestamp value";
  }
  const int64_t months = multiple(month_of(at) - month_of(b->origin), b->months);
  if (!add_months(b->origin, months, ret) ||
      (*ret > at && !add_months(b->origin, months - b->months, ret))) {
    return "DATE_BIN result timestamp out of range";
  }
  return NULL;
}

/* Ticks of the source to ticks of its bin. */
static const char *bin_ticks(const bins *b, int64_t ticks, int64_t *ret) {
  int64_t nanos = 0;
  const int64_t at = (int64_t)((uint64_t)ticks * (uint64_t)b->scale);
  const char *why = b->months != 0 ? bin_months(b, at, &nanos) : bin_nanos(b, at, &nanos);
  *ret = (b->is_time ? nanos % DAY_NANOS : nanos) / b->scale;
  return why;
}

/* ---- arguments ---- */

static bool is_time(const type *t) { return t->kind == TYPE_TIME32 || t->kind == TYPE_TIME64; }

static int64_t ticks_at(const operand *o, size_t i) {
  return o->a.type->kind == TYPE_TIME32 ? OPERAND_VALUE(o, int32_t, i)
                                        : OPERAND_VALUE(o, int64_t, i);
}

static glv_status read_width(const operand *o, bins *ret, glv_error *err) {
  const interval v = interval_load(o->a.values);
  if (v.months != 0 && (v.days != 0 || v.nanos != 0)) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "DATE_BIN stride does not support combination of month, day and nanosecond "
                "intervals");
  }
  ret->months = v.months;
  if (__builtin_mul_overflow((int64_t)v.days, DAY_NANOS, &ret->nanos) ||
      __builtin_add_overflow(ret->nanos, v.nanos, &ret->nanos)) {
    return FAIL(err, GLV_E_SQL_EXEC, "DATE_BIN stride argument is too large");
  }
  if (ret->is_time && (ret->months > 0 || ret->nanos >= DAY_NANOS)) {
    return FAIL(err, GLV_E_SQL_EXEC, "DATE_BIN stride for TIME input must be less than 1 day");
  }
  if (ret->months == 0 && ret->nanos == 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "DATE_BIN stride must be non-zero");
  }
  return GLV_OK;
}

static glv_status read_bins(const function_frame *f, const operand *arguments, bins *ret,
                            glv_error *err) {
  const type *t = f->binding->result;
  ret->is_time = is_time(t);
  ret->scale = SECOND_NANOS / temporal_rate(t->unit);
  if (!arguments[0].is_scalar || (f->binding->count == 3 && !arguments[2].is_scalar)) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "DATE_BIN only supports literal values for the stride and origin arguments");
  }
  if (f->binding->count == 3) {
    if (!operand_is_valid(&arguments[2], 0)) {
      return FAIL(err, GLV_E_SQL_EXEC, "DATE_BIN expects an origin that is not null");
    }
    ret->origin = ticks_at(&arguments[2], 0) * (ret->is_time ? ret->scale : 1);
  }
  return read_width(&arguments[0], ret, err);
}

static glv_status fill(const function_frame *f, const bins *b, const operand *o, array *a,
                       void *values, glv_error *err) {
  for (size_t i = 0; i < a->length; i++) {
    int64_t ticks = 0;
    if (array_is_valid(a, i)) {
      const char *why = bin_ticks(b, ticks_at(o, i), &ticks);
      if (why != NULL && !o->is_scalar) {
        return FAIL(err, GLV_E_SQL_EXEC, "%s", why);
      }
      if (why != NULL) {
        TRY(kernel_set_null(f->env, a, i, err));
      }
    }
    if (a->type->kind == TYPE_TIME32) {
      ((int32_t *)values)[i] = (int32_t)ticks;
    } else {
      ((int64_t *)values)[i] = ticks;
    }
  }
  return GLV_OK;
}

static glv_status date_bin(const function_frame *f, const operand *arguments, size_t rows,
                           array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  bins b = {0};
  void *values;
  if (rows == 0 || (arguments[0].is_scalar && !operand_is_valid(&arguments[0], 0))) {
    return array_new_null(f->env, f->binding->result, rows, ret, err);
  }
  TRY(read_bins(f, arguments, &b, err));
  TRY(kernel_begin(f->env, f->binding->result, &arguments[1], 1, rows, &a, &values, err));
  TRY(fill(f, &b, &arguments[1], &a, values, err));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* ---- types ---- */

/* What the reference takes without a conversion: the source keeps its unit then. */
static bool is_exact(const function_binding *b) {
  const type *t = b->arguments[1].type;
  const bool is_stamp = t->kind == TYPE_TIMESTAMP && t->timezone == NULL;
  if (b->arguments[0].type->kind != TYPE_INTERVAL_MONTH_DAY_NANO || (!is_stamp && !is_time(t))) {
    return false;
  }
  if (b->count == 2) {
    return true;
  }
  const type *origin = b->arguments[2].type;
  return is_stamp ? origin->kind == TYPE_TIMESTAMP && origin->unit == UNIT_NANO &&
                        origin->timezone == NULL
                  : type_equal(origin, t);
}

/* Whether an argument may become a timestamp. */
static bool is_moment(const type *t) {
  return t->kind == TYPE_TIMESTAMP || t->kind == TYPE_DATE32 || t->kind == TYPE_NULL ||
         bind_is_text(t);
}

static glv_status bind_converted(function_binding *b, glv_error *err) {
  const type *t = b->arguments[1].type;
  b->targets[0] = type_simple(TYPE_INTERVAL_MONTH_DAY_NANO);
  if (is_time(t) && (b->count == 2 || type_equal(t, b->arguments[2].type))) {
    b->result = t;
    return GLV_OK;
  }
  b->result = type_timestamp(b->arena, UNIT_NANO, t->timezone);
  if (b->result == NULL) {
    return error_nomem(err, sizeof *t);
  }
  for (size_t i = 1; i < b->count; i++) {
    if (!is_moment(b->arguments[i].type)) {
      return bind_refuse(b, i, "Timestamp", err);
    }
    b->targets[i] = b->result;
  }
  return GLV_OK;
}

static glv_status bind_date_bin(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 3, err));
  const type_kind width = b->arguments[0].type->kind;
  if (width != TYPE_INTERVAL_MONTH_DAY_NANO && width != TYPE_NULL && !type_is_string(width)) {
    return bind_refuse(b, 0, "Interval", err);
  }
  if (!is_exact(b)) {
    return bind_converted(b, err);
  }
  b->result = b->arguments[1].type;
  return GLV_OK;
}

const function functions_date_bin[] = {
    {.name = "date_bin", .bind = bind_date_bin, .kernel = date_bin},
    {0},
};
