/*
 * Arithmetic of dates, times, timestamps, durations and intervals: which pairs there are and what
 * they give (sql-expressions 9.5), and INTERVAL literals (7.5).
 *
 * Durations take the unit of the timestamp they meet; those of different units, times, and what is
 * beside an interval become intervals. Months and days are added by the calendar when rows are
 * evaluated (arithmetic_time.c).
 */
#include <stdio.h>

#include "expr/interval.h"
#include "expr/plan_private.h"

static bool is_date(const type *t) { return t->kind == TYPE_DATE32 || t->kind == TYPE_DATE64; }
static bool is_time(const type *t) { return t->kind == TYPE_TIME32 || t->kind == TYPE_TIME64; }
static bool is_stamp(const type *t) { return t->kind == TYPE_TIMESTAMP; }
static bool is_moment(const type *t) { return is_date(t) || is_stamp(t); }
static bool is_duration(const type *t) { return t->kind == TYPE_DURATION; }
static bool is_interval(const type *t) { return t->kind == TYPE_INTERVAL_MONTH_DAY_NANO; }
/* Times and durations meet intervals and their own kind only. */
static bool are_spans(const type *l, const type *r) {
  const bool l_span = is_duration(l) || is_interval(l) || is_time(l);
  const bool r_span = is_duration(r) || is_interval(r) || is_time(r);
  const bool mixed = (is_duration(l) && is_time(r)) || (is_time(l) && is_duration(r));
  return l_span && r_span && !mixed;
}

static const type *stamp(planner *p, time_unit unit, const char *zone) {
  return type_timestamp(p->arena, unit, zone);
}

static bool is_utc(const char *zone) {
  return str_is(str_of(zone), "UTC") || str_is(str_of(zone), "+00:00");
}

/* Whether a difference of times in these zones has a meaning to the reference. */
static bool zones_meet(const char *l, const char *r) {
  return l == NULL || r == NULL || str_is(str_of(l), r) || (is_utc(l) && is_utc(r));
}

/* A difference of two timestamps, or of a timestamp and a date, as a duration. Those of one unit
 * are taken as the instants that they are, others are brought to the coarser unit and one zone. */
static glv_status stamp_difference(planner *p, const node *l, const node *r, const node **ret,
                                   glv_error *err) {
  const bool dates = is_date(l->type) || is_date(r->type);
  const bool alike = !dates && l->type->unit == r->type->unit;
  time_unit unit = UNIT_NANO;
  const char *zone = NULL;
  if (!dates) {
    unit = l->type->unit < r->type->unit ? l->type->unit : r->type->unit;
    zone = l->type->timezone != NULL ? l->type->timezone : r->type->timezone;
    if (!alike && !zones_meet(l->type->timezone, r->type->timezone)) {
      return plan_refuse_arithmetic(ARITHMETIC_SUB, l, r, err);
    }
  }
  const type *t = stamp(p, unit, zone);
  const type *result = type_with_unit(p->arena, TYPE_DURATION, unit);
  if (t == NULL || result == NULL) {
    return error_nomem(err, sizeof(type));
  }
  return plan_arithmetic_as(p, ARITHMETIC_SUB, result, l, alike ? l->type : t, r,
                            alike ? r->type : t, ret, err);
}

static glv_status difference(planner *p, const node *l, const node *r, const node **ret,
                             glv_error *err) {
  if (is_stamp(l->type) || is_stamp(r->type)) {
    return stamp_difference(p, l, r, ret, err);
  }
  const bool wide = l->type->kind == TYPE_DATE64 || r->type->kind == TYPE_DATE64;
  const type *t = type_simple(wide ? TYPE_DATE64 : TYPE_DATE32);
  return plan_arithmetic_as(p, ARITHMETIC_SUB, type_simple(TYPE_INT64), l, t, r, t, ret, err);
}

/* A timestamp and a duration, in the unit of the timestamp. */
static glv_status stamp_duration(planner *p, enum arithmetic_op op, const node *l, const node *r,
                                 const node **ret, glv_error *err) {
  const bool first = is_stamp(l->type);
  const type *t = first ? l->type : r->type;
  const type *d = type_with_unit(p->arena, TYPE_DURATION, t->unit);
  if (d == NULL) {
    return error_nomem(err, sizeof(type));
  }
  return plan_arithmetic_as(p, op, t, l, first ? t : d, r, first ? d : t, ret, err);
}

/* Days and a number of days. */
static glv_status date_number(planner *p, enum arithmetic_op op, const node *l, const node *r,
                              const node **ret, glv_error *err) {
  const type *number = type_simple(TYPE_INT64);
  const bool first = is_date(l->type);
  return plan_arithmetic_as(p, op, first ? l->type : r->type, l, first ? l->type : number, r,
                            first ? number : r->type, ret, err);
}

/* A time of day as nanoseconds. */
static glv_status time_as_duration(planner *p, const node *n, const node **ret, glv_error *err) {
  const type *nanos = type_with_unit(p->arena, TYPE_TIME64, UNIT_NANO);
  const type *duration = type_with_unit(p->arena, TYPE_DURATION, UNIT_NANO);
  if (nanos == NULL || duration == NULL) {
    return error_nomem(err, sizeof(type));
  }
  TRY(plan_cast(p, n, nanos, false, ret, err));
  TRY(plan_cast(p, *ret, type_simple(TYPE_INT64), false, ret, err));
  return plan_cast(p, *ret, duration, false, ret, err);
}

/* A date and a time of day make a timestamp. */
static glv_status date_time(planner *p, enum arithmetic_op op, const node *l, const node *r,
                            const node **ret, glv_error *err) {
  const type *t = stamp(p, UNIT_NANO, NULL);
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  const node **date = is_date(l->type) ? &l : &r;
  const node **time = is_date(l->type) ? &r : &l;
  TRY(plan_cast(p, *date, t, false, date, err));
  TRY(time_as_duration(p, *time, time, err));
  return plan_arithmetic_as(p, op, t, l, l->type, r, r->type, ret, err);
}

/* Two of times, durations and intervals. */
static glv_status span_pair(planner *p, enum arithmetic_op op, const node *l, const node *r,
                            const node **ret, glv_error *err) {
  const type *t = l->type;
  if (!is_duration(t) || !type_equal(t, r->type)) {
    t = type_simple(TYPE_INTERVAL_MONTH_DAY_NANO);
    if (is_time(l->type)) {
      TRY(time_as_duration(p, l, &l, err));
    }
    if (is_time(r->type)) {
      TRY(time_as_duration(p, r, &r, err));
    }
  }
  return plan_arithmetic_as(p, op, t, l, t, r, t, ret, err);
}

/* A sum, or a difference whose left side is a date or timestamp. */
static glv_status moment_pair(planner *p, enum arithmetic_op op, const node *l, const node *r,
                              const node **ret, glv_error *err) {
  const type *moment = is_moment(l->type) ? l->type : r->type;
  const type *other = is_moment(l->type) ? r->type : l->type;
  if (is_interval(other)) {
    return plan_arithmetic_as(p, op, moment, l, l->type, r, r->type, ret, err);
  }
  if (is_stamp(moment) && is_duration(other)) {
    return stamp_duration(p, op, l, r, ret, err);
  }
  if (is_date(moment) && is_time(other)) {
    return date_time(p, op, l, r, ret, err);
  }
  if (is_date(moment) && type_is_integer(other->kind)) {
    return date_number(p, op, l, r, ret, err);
  }
  return plan_refuse_arithmetic(op, l, r, err);
}

glv_status plan_temporal(planner *p, enum arithmetic_op op, const node *l, const node *r,
                         const node **ret, glv_error *err) {
  if (!type_is_temporal(l->type->kind) && !type_is_temporal(r->type->kind)) {
    return GLV_OK;
  }
  /* An untyped null is a second value of the same type. */
  if (l->type->kind == TYPE_NULL) {
    TRY(plan_cast(p, l, r->type, false, &l, err));
  } else if (r->type->kind == TYPE_NULL) {
    TRY(plan_cast(p, r, l->type, false, &r, err));
  }
  const bool subtracts = op == ARITHMETIC_SUB;
  const bool l_moment = is_moment(l->type);
  const bool r_moment = is_moment(r->type);
  if (!subtracts && op != ARITHMETIC_ADD) {
    return plan_refuse_arithmetic(op, l, r, err);
  }
  if (l_moment && r_moment && subtracts) {
    return difference(p, l, r, ret, err);
  }
  if (l_moment != r_moment && (l_moment || !subtracts)) {
    return moment_pair(p, op, l, r, ret, err);
  }
  if (are_spans(l->type, r->type)) {
    return span_pair(p, op, l, r, ret, err);
  }
  return plan_refuse_arithmetic(op, l, r, err);
}

/*
 * The amount as written: a string, or a number, perhaps behind signs. As in the reference a minus
 * is written for every level of signs that is negative as a whole, so that two of them leave one.
 */
static glv_status interval_text(const ast *a, bool negative, buf *out, glv_error *err) {
  for (;; a = a->child[0]) {
    TRY(buf_append_str(out, negative ? STR("-") : STR(""), err));
    if (a->kind != AST_UNARY || (a->op != AST_MINUS && a->op != AST_PLUS)) {
      break;
    }
    negative = negative != (a->op == AST_MINUS);
  }
  if (a->kind != AST_STRING && a->kind != AST_NUMBER) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Unsupported interval: write INTERVAL '<number> <unit> ...' or INTERVAL <number> "
                "<unit>");
  }
  return buf_append_str(out, a->text, err);
}

glv_status plan_interval(planner *p, const ast *a, bool negative, const node **ret,
                         glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  CLEANUP(array_unref) array value = {0};
  buf_init(&text, p->env, SIZE_MAX);
  if (a->text.size != 0) {
    return FAIL(err, GLV_E_SQL_PLAN, "Unsupported interval with '%.*s'", STR_ARG(a->text));
  }
  TRY(interval_text(a->child[0], negative, &text, err));
  if (a->name_count != 0) {
    TRY(buf_append_char(&text, ' ', err));
    TRY(buf_append_str(&text, a->names[0].text, err));
  }
  interval v;
  if (!interval_parse(buf_str(&text), INTERVAL_SECONDS, &v)) {
    return FAIL(err, GLV_E_SQL_PLAN, "Invalid input syntax for type interval: '%.*s'",
                STR_ARG(buf_str(&text)));
  }
  void *values = NULL;
  TRY(array_new_fixed(p->env, type_simple(TYPE_INTERVAL_MONTH_DAY_NANO), 1, &value, &values, err));
  interval_store(values, v);
  value.null_count = 0;
  return plan_constant(p, &value, true, ret, err);
}
