/*
 * Sums and differences of dates, times, durations and intervals (sql-expressions 9.5).
 *
 * What has a unit is a number of ticks, and sums are checked. An interval moves a date or timestamp
 * first by months, where the day is at most the last of the month, then by days, then by
 * nanoseconds; with a zone, months and days move the local time, which must then exist once.
 */
#include <inttypes.h>

#include "expr/cast_private.h"
#include "expr/eval_private.h"
#include "expr/interval.h"
#include "expr/temporal.h"

static bool add(int64_t a, int64_t b, bool subtract, int64_t *ret) {
  return subtract ? !__builtin_sub_overflow(a, b, ret) : !__builtin_add_overflow(a, b, ret);
}

static glv_status overflow(glv_error *err, int64_t x, bool subtract, int64_t y) {
  return FAIL(err, GLV_E_SQL_EXEC,
              "Arithmetic overflow: Overflow happened on: %" PRId64 " %s %" PRId64, x,
              subtract ? "-" : "+", y);
}

static int64_t ticks_at(const operand *o, size_t i) {
  return type_width(o->a.type) == 8 ? OPERAND_VALUE(o, int64_t, i) : OPERAND_VALUE(o, int32_t, i);
}

/* Values of 32 or 64 bits, checked in the width of the result; a difference of dates in
 * milliseconds is whole days. */
static glv_status add_ticks(const operand *l, const operand *r, bool subtract, array *a, void *to,
                            glv_error *err) {
  const bool wide = type_width(a->type) == 8;
  const int64_t unit =
      l->a.type->kind == TYPE_DATE64 && a->type->kind == TYPE_INT64 ? DAY_SECONDS * 1000 : 1;
  for (size_t i = 0; i < a->length; i++) {
    int64_t value = 0;
    const int64_t x = ticks_at(l, i);
    const int64_t y = ticks_at(r, i);
    if (array_is_valid(a, i) &&
        (!add(x, y, subtract, &value) || (!wide && (value < INT32_MIN || value > INT32_MAX)))) {
      return overflow(err, x, subtract, y);
    }
    if (wide) {
      ((int64_t *)to)[i] = value / unit;
    } else {
      ((int32_t *)to)[i] = (int32_t)value;
    }
  }
  return GLV_OK;
}

static interval interval_at(const operand *o, size_t i) {
  return interval_load((const uint8_t *)o->a.values + operand_row(o, i) * sizeof(interval));
}

/* An interval, or a number of days, which the reference turns into nanoseconds. */
static bool span_at(const operand *o, size_t i, interval *ret) {
  if (o->a.type->kind == TYPE_INTERVAL_MONTH_DAY_NANO) {
    *ret = interval_at(o, i);
    return true;
  }
  *ret = (interval){0};
  return !__builtin_mul_overflow(OPERAND_VALUE(o, int64_t, i), DAY_SECONDS * INT64_C(1000000000),
                                 &ret->nanos);
}

static glv_status add_intervals(const operand *l, const operand *r, bool subtract, array *a,
                                void *to, glv_error *err) {
  for (size_t i = 0; i < a->length; i++) {
    interval value = {0};
    if (array_is_valid(a, i)) {
      const interval x = interval_at(l, i);
      const interval y = interval_at(r, i);
      if (!(subtract ? interval_sub : interval_add)(x, y, &value)) {
        return FAIL(err, GLV_E_SQL_EXEC, "Arithmetic overflow: a sum of intervals");
      }
    }
    interval_store((uint8_t *)to + i * sizeof value, value);
  }
  return GLV_OK;
}

/* A distance along the calendar and the clock; wider than an interval, so that it can be turned
 * round. */
typedef struct shift {
  int64_t months;
  int64_t days;
  int64_t nanos;
  bool backward; /* of nanos only */
} shift;

static shift shift_of(interval v, bool subtract) {
  const int64_t sign = subtract ? -1 : 1;
  return (shift){sign * v.months, sign * v.days, v.nanos, subtract};
}

static bool is_day(int64_t days) { return days >= TEMPORAL_FIRST_DAY && days <= TEMPORAL_LAST_DAY; }

static bool shift_months(int64_t *days, int64_t months) {
  civil c = calendar_civil(*days);
  const int64_t month = c.year * 12 + (c.month - 1) + months;
  c.year = floor_div(month, 12);
  c.month = (int)floor_mod(month, 12) + 1;
  const int last = calendar_month_days(c.year, c.month);
  c.day = c.day < last ? c.day : last;
  *days = calendar_days(c);
  return is_day(*days);
}

/* Local days, perhaps not at all, then back to the instant. */
static bool shift_local(instant *t, const zone *z, int64_t months, int64_t days) {
  const int64_t local = t->seconds + (z != NULL ? zone_offset(z, t->seconds) : 0);
  int64_t day = floor_div(local, DAY_SECONDS);
  if ((months != 0 && !shift_months(&day, months)) || !is_day(day + days)) {
    return false;
  }
  const int64_t moved = (day + days) * DAY_SECONDS + floor_mod(local, DAY_SECONDS);
  t->seconds = moved;
  return z == NULL || zone_to_utc(z, moved, &t->seconds);
}

static void shift_nanos(instant *t, int64_t nanos, bool backward) {
  enum { SECOND_NANOS = 1000000000 };
  const int64_t whole = nanos / SECOND_NANOS;
  const int64_t rest = nanos % SECOND_NANOS;
  const int64_t sum = t->nanos + (backward ? -rest : rest);
  t->seconds += (backward ? -whole : whole) + floor_div(sum, SECOND_NANOS);
  t->nanos = (int32_t)floor_mod(sum, SECOND_NANOS);
}

static bool shift_stamp(int64_t ticks, time_unit unit, const zone *z, shift s, int64_t *ret) {
  instant t = temporal_instant(ticks, unit);
  if (!temporal_in_range(t) || (s.months != 0 && !shift_local(&t, z, s.months, 0)) ||
      (s.days != 0 && !shift_local(&t, z, 0, s.days))) {
    return false;
  }
  shift_nanos(&t, s.nanos, s.backward);
  return temporal_in_range(t) && temporal_ticks(t, unit, ret);
}

/* What is left of a day after nanoseconds is dropped. */
static bool shift_date(int64_t day, shift s, int64_t *ret) {
  const int64_t whole = s.nanos / (DAY_SECONDS * INT64_C(1000000000));
  if (!is_day(day) || (s.months != 0 && !shift_months(&day, s.months))) {
    return false;
  }
  *ret = day + s.days;
  if (!is_day(*ret)) {
    return false;
  }
  *ret += s.backward ? -whole : whole;
  return is_day(*ret);
}

bool interval_shift_day(int64_t day, interval v, bool subtract, int64_t *ret) {
  return shift_date(day, shift_of(v, subtract), ret);
}

bool interval_shift_stamp(int64_t ticks, time_unit unit, const zone *z, interval v, bool subtract,
                          int64_t *ret) {
  return shift_stamp(ticks, unit, z, shift_of(v, subtract), ret);
}

static bool shift_row(const operand *o, const zone *z, size_t i, shift s, void *to, size_t row) {
  const type *t = o->a.type;
  int64_t value = 0;
  bool fits;
  if (t->kind == TYPE_DATE32) {
    fits = shift_date(OPERAND_VALUE(o, int32_t, i), s, &value);
    ((int32_t *)to)[row] = (int32_t)value;
    return fits;
  }
  if (t->kind == TYPE_DATE64) {
    const int64_t day_ticks = DAY_SECONDS * INT64_C(1000);
    fits = shift_date(OPERAND_VALUE(o, int64_t, i) / day_ticks, s, &value);
    ((int64_t *)to)[row] = fits ? value * day_ticks : 0;
    return fits;
  }
  fits = shift_stamp(OPERAND_VALUE(o, int64_t, i), t->unit, z, s, &value);
  ((int64_t *)to)[row] = value;
  return fits;
}

/* Whether the operand is a date or timestamp of type t, which the other one moves. */
static bool is_moved(const operand *o, const type *t) { return o->a.type->kind == t->kind; }

static glv_status add_span(glv_env *env, const operand *l, const operand *r, bool subtract,
                           array *a, void *to, glv_error *err) {
  const operand *moment = is_moved(l, a->type) ? l : r;
  const operand *span = is_moved(l, a->type) ? r : l;
  CLEANUP(zone_cleanup) zone *z = NULL;
  TRY(cast_zone_of(env, a->type, &z, err));
  memset(to, 0, a->length * type_width(a->type));
  for (size_t i = 0; i < a->length; i++) {
    interval by;
    if (array_is_valid(a, i) &&
        (!span_at(span, i, &by) || !shift_row(moment, z, i, shift_of(by, subtract), to, i))) {
      return FAIL(err, GLV_E_SQL_EXEC, "a sum of a %s and an interval is out of range",
                  TYPE_TEXT(a->type));
    }
  }
  return GLV_OK;
}

static bool is_date(const type *t) { return t->kind == TYPE_DATE32 || t->kind == TYPE_DATE64; }

static bool is_interval(const operand *o) {
  return o->a.type->kind == TYPE_INTERVAL_MONTH_DAY_NANO;
}

glv_status eval_temporal(const eval *v, const node *n, const operand *left, const operand *right,
                         operand *ret, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  void *to = NULL;
  const size_t rows = eval_rows(v, left, right, &o.is_scalar);
  const bool subtract = n->op == ARITHMETIC_SUB;
  const operand both[] = {*left, *right};
  TRY(kernel_begin(v->env, n->type, both, 2, rows, &o.a, &to, err));
  if (n->type->kind == TYPE_INTERVAL_MONTH_DAY_NANO) {
    TRY(add_intervals(left, right, subtract, &o.a, to, err));
  } else if (is_date(n->type) || is_interval(left) || is_interval(right)) {
    TRY(add_span(v->env, left, right, subtract, &o.a, to, err));
  } else {
    TRY(add_ticks(left, right, subtract, &o.a, to, err));
  }
  *ret = operand_move(&o);
  return GLV_OK;
}
