/* date_part (sql-expressions 13.1). Zoned timestamps are looked at in their local time; durations
 * are counted as a whole, intervals by their fields.
 *
 * The parts of a second are made of whole seconds and of nanoseconds that must fit 32 bits, as in
 * the reference: for a duration or interval they are zero when they do not, and seconds times a
 * thousand or a million wrap. What is out of the calendar, or of the day, has no part: null. */
#include "expr/chrono.h"
#include "expr/interval.h"
#include "expr/temporal_part.h"

enum { SECOND_NANOS = 1000000000 };

static bool is_subsecond(enum temporal_part part) {
  return part >= PART_SECOND && part <= PART_NANOSECOND;
}

/* ---- dates and timestamps ---- */

/* Parts that fit int32; seconds have functions of their own. */
static int64_t calendar_part(const chrono_time *t, enum temporal_part part) {
  const int weekday = chrono_weekday(t->days);
  switch (part) {
  case PART_YEAR:
    return t->date.year;
  case PART_QUARTER:
    return (t->date.month + 2) / 3;
  case PART_MONTH:
    return t->date.month;
  case PART_WEEK:
    return chrono_iso_week(t->days);
  case PART_DAY:
    return t->date.day;
  case PART_HOUR:
    return t->second / 3600;
  case PART_MINUTE:
    return t->second / 60 % 60;
  case PART_DOW:
    return weekday;
  case PART_ISODOW:
    return weekday == 0 ? 7 : weekday;
  case PART_DOY:
    return chrono_day_of_year(t->date);
  default:
    return chrono_iso_year(t->days);
  }
}

/* The instant of row i of a date or timestamp. */
static instant instant_of(const operand *o, size_t i) {
  switch (o->a.type->kind) {
  case TYPE_DATE32:
    return (instant){.seconds = (int64_t)OPERAND_VALUE(o, int32_t, i) * DAY_SECONDS};
  case TYPE_DATE64:
    return temporal_instant(OPERAND_VALUE(o, int64_t, i), UNIT_MILLI);
  default:
    return temporal_instant(OPERAND_VALUE(o, int64_t, i), o->a.type->unit);
  }
}

/* ---- one row ---- */

/* A part: a number, or for those within a second whole seconds and nanoseconds. */
typedef struct piece {
  int64_t value;
  int64_t nanos;
} piece;

static bool fits32(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }

/* A number of nanoseconds counts only if it fits. */
static int64_t narrow(int64_t nanos) { return fits32(nanos) ? nanos : 0; }

static bool instant_piece(const operand *o, size_t i, const part_state *s, piece *ret) {
  const instant at = instant_of(o, i);
  if (o->a.type->kind == TYPE_DATE32 && s->part >= PART_HOUR && s->part <= PART_NANOSECOND) {
    return true; /* zero, whatever the date */
  }
  if (!temporal_in_range(at)) {
    return false;
  }
  const chrono_time t = chrono_of(at, s->zone);
  if (is_subsecond(s->part)) {
    *ret = (piece){t.second % 60, t.nanos};
  } else {
    ret->value = calendar_part(&t, s->part);
  }
  return true;
}

static bool time_piece(const operand *o, size_t i, const part_state *s, piece *ret) {
  const int64_t ticks =
      o->a.type->kind == TYPE_TIME32 ? OPERAND_VALUE(o, int32_t, i) : OPERAND_VALUE(o, int64_t, i);
  const instant t = temporal_instant(ticks, o->a.type->unit);
  if (is_subsecond(s->part)) {
    *ret = (piece){t.seconds % 60, t.nanos};
  } else {
    ret->value = s->part == PART_HOUR ? t.seconds / 3600 : t.seconds / 60 % 60;
  }
  return t.seconds >= 0 && t.seconds < DAY_SECONDS;
}

static bool duration_piece(const operand *o, size_t i, const part_state *s, piece *ret) {
  static const int64_t seconds[] = {[PART_WEEK] = INT64_C(7) * DAY_SECONDS,
                                    [PART_DAY] = DAY_SECONDS,
                                    [PART_HOUR] = 3600,
                                    [PART_MINUTE] = 60};
  const int64_t ticks = OPERAND_VALUE(o, int64_t, i);
  const int64_t rate = temporal_rate(o->a.type->unit);
  int64_t nanos;
  ret->value = ticks / rate;
  if (!is_subsecond(s->part)) {
    ret->value /= seconds[s->part];
  } else if (!__builtin_mul_overflow(ticks, SECOND_NANOS / rate, &nanos)) {
    ret->nanos = narrow(nanos);
  }
  return fits32(ret->value);
}

static bool interval_piece(const operand *o, size_t i, const part_state *s, piece *ret) {
  const interval v = interval_load((const uint8_t *)o->a.values + operand_row(o, i) * sizeof v);
  const int64_t seconds = v.nanos / SECOND_NANOS;
  switch (s->part) {
  case PART_YEAR:
    ret->value = v.months / 12;
    return true;
  case PART_MONTH:
    ret->value = v.months % 12;
    return true;
  case PART_WEEK:
    ret->value = v.days / 7;
    return true;
  case PART_DAY:
    ret->value = v.days;
    return true;
  case PART_HOUR:
    ret->value = seconds / 3600;
    return true;
  case PART_MINUTE:
    ret->value = seconds / 60 % 60;
    return true;
  default:
    *ret = (piece){seconds % 60, narrow(v.nanos % (60 * INT64_C(1000000000)))};
    return true;
  }
}

typedef bool (*piece_of)(const operand *o, size_t i, const part_state *s, piece *ret);

static piece_of piece_of_kind(type_kind kind) {
  switch (kind) {
  case TYPE_TIME32:
  case TYPE_TIME64:
    return time_piece;
  case TYPE_DURATION:
    return duration_piece;
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return interval_piece;
  default:
    return instant_piece;
  }
}

/* ---- epoch ---- */

static double epoch_of(const operand *o, size_t i) {
  const type *t = o->a.type;
  switch (t->kind) {
  case TYPE_DATE32:
    return (double)OPERAND_VALUE(o, int32_t, i) * DAY_SECONDS;
  case TYPE_TIME32:
    return (double)OPERAND_VALUE(o, int32_t, i) / (double)temporal_rate(t->unit);
  case TYPE_DATE64:
    return (double)OPERAND_VALUE(o, int64_t, i) / 1000;
  case TYPE_INTERVAL_MONTH_DAY_NANO: { /* a month is 30 days */
    const interval v = interval_load((const uint8_t *)o->a.values + operand_row(o, i) * sizeof v);
    return (double)v.months * 30 * DAY_SECONDS + (double)v.days * DAY_SECONDS +
           (double)v.nanos / SECOND_NANOS;
  }
  default:
    return (double)OPERAND_VALUE(o, int64_t, i) / (double)temporal_rate(t->unit);
  }
}

/* A duration is the sum of its seconds and of what is left of its nanoseconds. */
static bool duration_epoch(const operand *o, size_t i, double *ret) {
  const part_state second = {.part = PART_SECOND};
  piece p = {0};
  const bool fits = duration_piece(o, i, &second, &p);
  *ret = (double)p.value + (double)(p.nanos % SECOND_NANOS) / SECOND_NANOS;
  return fits;
}

static glv_status epochs(const function_frame *f, const operand *o, array *a, double *values,
                         glv_error *err) {
  const bool is_duration = o->a.type->kind == TYPE_DURATION;
  for (size_t i = 0; i < a->length; i++) {
    values[i] = 0;
    if (!operand_is_valid(o, i)) {
      continue;
    }
    if (!is_duration) {
      values[i] = epoch_of(o, i);
    } else if (!duration_epoch(o, i, &values[i])) {
      TRY(kernel_set_null(f->env, a, i, err));
    }
  }
  return GLV_OK;
}

/* ---- the function ---- */

static void store(void *values, size_t i, enum temporal_part part, const piece *p) {
  static const int32_t factors[] = {[PART_MILLISECOND] = 1000, [PART_MICROSECOND] = 1000000};
  if (part == PART_NANOSECOND) {
    ((int64_t *)values)[i] = p->value * SECOND_NANOS + p->nanos;
    return;
  }
  int32_t value = (int32_t)p->value;
  if (part == PART_MILLISECOND || part == PART_MICROSECOND) {
    const int32_t factor = factors[part];
    const int32_t rest = (int32_t)(p->nanos % SECOND_NANOS / (SECOND_NANOS / factor));
    value = (int32_t)((uint32_t)value * (uint32_t)factor + (uint32_t)rest);
  }
  ((int32_t *)values)[i] = value;
}

static glv_status parts(const function_frame *f, const operand *o, array *a, void *values,
                        glv_error *err) {
  const part_state *s = f->binding->state;
  const piece_of piece_at = piece_of_kind(o->a.type->kind);
  for (size_t i = 0; i < a->length; i++) {
    piece p = {0};
    if (operand_is_valid(o, i) && !piece_at(o, i, s, &p)) {
      TRY(kernel_set_null(f->env, a, i, err));
    }
    store(values, i, s->part, &p);
  }
  return GLV_OK;
}

/* Whether values of the kind have the part. */
static bool has_part(type_kind kind, enum temporal_part part) {
  const bool is_clock = part >= PART_HOUR && part <= PART_NANOSECOND;
  switch (kind) {
  case TYPE_NULL:
    return false;
  case TYPE_TIME32:
  case TYPE_TIME64:
    return is_clock || part == PART_EPOCH;
  case TYPE_DURATION:
    return is_clock || part == PART_EPOCH || part == PART_WEEK || part == PART_DAY;
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return is_clock || part == PART_EPOCH || part == PART_WEEK || part == PART_DAY ||
           part == PART_YEAR || part == PART_MONTH;
  default:
    return true;
  }
}

static glv_status check_part(const function_frame *f, const operand *arguments, glv_error *err) {
  const part_state *s = f->binding->state;
  const str name = operand_str(&arguments[0], 0);
  if (s->part == PART_UNKNOWN) {
    return FAIL(err, GLV_E_SQL_EXEC, "Date part '%.*s' not supported", STR_ARG(name));
  }
  if (!has_part(arguments[1].a.type->kind, s->part)) {
    return FAIL(err, GLV_E_SQL_EXEC, "%.*s does not support: %s", STR_ARG(name),
                TYPE_TEXT(arguments[1].a.type));
  }
  return GLV_OK;
}

static glv_status date_part(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  const part_state *s = f->binding->state;
  void *values;
  if (rows > 0) {
    TRY(check_part(f, arguments, err));
  }
  TRY(kernel_begin(f->env, f->binding->result, &arguments[1], 1, rows, &a, &values, err));
  if (s->part == PART_EPOCH) {
    TRY(epochs(f, &arguments[1], &a, values, err));
  } else {
    TRY(parts(f, &arguments[1], &a, values, err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* Argument 1 has parts, or is a text that becomes a timestamp; untyped NULL stays. */
static glv_status bind_value(function_binding *b, glv_error *err) {
  const type *t = b->arguments[1].type;
  if (type_is_temporal(t->kind) || t->kind == TYPE_NULL) {
    return GLV_OK;
  }
  if (!bind_is_text(t)) {
    return bind_refuse(b, 1, "Timestamp", err);
  }
  b->targets[1] = type_timestamp(b->arena, UNIT_NANO, NULL);
  return b->targets[1] != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status bind_date_part(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  const function_argument *name = &b->arguments[0];
  if (!type_is_string(name->type->kind) || name->constant == NULL ||
      !array_is_valid(name->constant, 0)) {
    return FAIL(err, GLV_E_SQL_PLAN, "%.*s requires a constant string as its first argument",
                STR_ARG(b->name));
  }
  TRY(bind_value(b, err));
  const enum temporal_part part = temporal_part_find(array_str(name->constant, 0));
  b->result = type_simple(part == PART_EPOCH        ? TYPE_FLOAT64
                          : part == PART_NANOSECOND ? TYPE_INT64
                                                    : TYPE_INT32);
  return part_state_bind(b, part, b->arguments[1].type, err);
}

static const char *const part_aliases[] = {"datepart", NULL};

const function functions_date_part[] = {
    {.name = "date_part", .aliases = part_aliases, .bind = bind_date_part, .kernel = date_part},
    {0},
};
