/* date_part and date_trunc (sql-expressions 13.1). Zoned timestamps are looked at in their local
 * time.
 *
 * Truncation to a minute or less is arithmetic on ticks, but for a minute of a constant. Coarser
 * units, in a zone, go through local time and back; when the local time reached does not exist
 * because clocks were moved, it is looked up three hours earlier and moved on by as much, as the
 * reference does. */
#include "expr/chrono.h"
#include "expr/function_private.h"

enum part {
  PART_UNKNOWN,
  PART_YEAR,
  PART_QUARTER,
  PART_MONTH,
  PART_WEEK,
  PART_DAY,
  PART_HOUR,
  PART_MINUTE,
  PART_SECOND,
  PART_MILLISECOND,
  PART_MICROSECOND,
  PART_NANOSECOND,
  PART_DOW,
  PART_ISODOW,
  PART_DOY,
  PART_ISOYEAR,
  PART_EPOCH
};

static const struct {
  const char *name;
  enum part part;
} PART_NAMES[] = {{"year", PART_YEAR},
                  {"years", PART_YEAR},
                  {"y", PART_YEAR},
                  {"yr", PART_YEAR},
                  {"yrs", PART_YEAR},
                  {"quarter", PART_QUARTER},
                  {"qtr", PART_QUARTER},
                  {"month", PART_MONTH},
                  {"months", PART_MONTH},
                  {"mon", PART_MONTH},
                  {"mons", PART_MONTH},
                  {"week", PART_WEEK},
                  {"weeks", PART_WEEK},
                  {"w", PART_WEEK},
                  {"day", PART_DAY},
                  {"days", PART_DAY},
                  {"d", PART_DAY},
                  {"hour", PART_HOUR},
                  {"hours", PART_HOUR},
                  {"h", PART_HOUR},
                  {"hr", PART_HOUR},
                  {"hrs", PART_HOUR},
                  {"minute", PART_MINUTE},
                  {"minutes", PART_MINUTE},
                  {"m", PART_MINUTE},
                  {"min", PART_MINUTE},
                  {"mins", PART_MINUTE},
                  {"second", PART_SECOND},
                  {"seconds", PART_SECOND},
                  {"s", PART_SECOND},
                  {"sec", PART_SECOND},
                  {"secs", PART_SECOND},
                  {"millisecond", PART_MILLISECOND},
                  {"milliseconds", PART_MILLISECOND},
                  {"ms", PART_MILLISECOND},
                  {"msec", PART_MILLISECOND},
                  {"msecs", PART_MILLISECOND},
                  {"microsecond", PART_MICROSECOND},
                  {"microseconds", PART_MICROSECOND},
                  {"us", PART_MICROSECOND},
                  {"usec", PART_MICROSECOND},
                  {"usecs", PART_MICROSECOND},
                  {"nanosecond", PART_NANOSECOND},
                  {"nanoseconds", PART_NANOSECOND},
                  {"dow", PART_DOW},
                  {"isodow", PART_ISODOW},
                  {"doy", PART_DOY},
                  {"isoyear", PART_ISOYEAR},
                  {"epoch", PART_EPOCH}};

/* Any case; quotes around the word are dropped. */
static enum part find_part(str name) {
  if (name.size >= 2 && (name.data[0] == '\'' || name.data[0] == '"') &&
      (name.data[name.size - 1] == '\'' || name.data[name.size - 1] == '"')) {
    name = str_slice(name.data + 1, name.size - 2);
  }
  for (size_t i = 0; i < sizeof PART_NAMES / sizeof PART_NAMES[0]; i++) {
    if (str_equal_ascii_case(name, str_of(PART_NAMES[i].name))) {
      return PART_NAMES[i].part;
    }
  }
  return PART_UNKNOWN;
}

/* What a call site keeps. */
typedef struct part_state {
  enum part part;
  zone *zone; /* of the argument, or NULL */
} part_state;

static void part_state_dispose(void *state) { zone_free(((part_state *)state)->zone); }

static glv_status keep_state(function_binding *b, enum part part, const type *t, glv_error *err) {
  part_state *s = ARENA_NEW(b->arena, part_state);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->part = part;
  if (t->kind == TYPE_TIMESTAMP && t->timezone != NULL) {
    glv_error why = {0};
    const glv_status status = zone_new(b->env, str_of(t->timezone), &s->zone, &why);
    if (status != GLV_OK) {
      return FAIL(err, status == GLV_E_NOMEM ? status : GLV_E_SQL_PLAN, "%s", why.message);
    }
  }
  b->state = s;
  b->dispose = part_state_dispose;
  return GLV_OK;
}

/* ---- date_part ---- */

/* Parts that fit int32. */
static int64_t small_part(const chrono_time *t, enum part part) {
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
  case PART_SECOND:
    return t->second % 60;
  case PART_MILLISECOND:
    return t->second % 60 * 1000 + t->nanos / 1000000;
  case PART_MICROSECOND:
    return t->second % 60 * 1000000 + t->nanos / 1000;
  case PART_DOW:
    return weekday;
  case PART_ISODOW:
    return weekday == 0 ? 7 : weekday;
  case PART_DOY:
    return chrono_day_of_year(t->date);
  case PART_ISOYEAR:
    return chrono_iso_year(t->days);
  case PART_NANOSECOND:
    return t->second % 60 * INT64_C(1000000000) + t->nanos;
  case PART_EPOCH:
  case PART_UNKNOWN:
    break;
  }
  return 0;
}

/* The instant of row i of a date or timestamp. */
static instant instant_of(const operand *o, size_t i) {
  if (o->a.type->kind == TYPE_DATE32) {
    return (instant){.seconds = (int64_t)OPERAND_VALUE(o, int32_t, i) * DAY_SECONDS};
  }
  return temporal_instant(OPERAND_VALUE(o, int64_t, i), o->a.type->unit);
}

static void store_part(void *values, size_t i, enum part part, const chrono_time *t) {
  const int64_t value = small_part(t, part);
  if (part == PART_NANOSECOND) {
    ((int64_t *)values)[i] = value;
  } else {
    ((int32_t *)values)[i] = (int32_t)value;
  }
}

/* Seconds since the epoch with a fraction: ticks divided by the unit's rate. */
static double epoch_of(const operand *o, size_t i) {
  if (o->a.type->kind == TYPE_DATE32) {
    return (double)OPERAND_VALUE(o, int32_t, i) * DAY_SECONDS;
  }
  return (double)OPERAND_VALUE(o, int64_t, i) / (double)temporal_rate(o->a.type->unit);
}

static glv_status check_part(const function_frame *f, const operand *arguments, glv_error *err) {
  const part_state *s = f->binding->state;
  if (s->part == PART_UNKNOWN) {
    const str name = operand_str(&arguments[0], 0);
    return FAIL(err, GLV_E_SQL_EXEC, "Date part '%.*s' not supported", STR_ARG(name));
  }
  if (arguments[1].a.type->kind == TYPE_NULL) {
    return FAIL(err, GLV_E_SQL_EXEC, "%.*s does not support: Null",
                STR_ARG(operand_str(&arguments[0], 0)));
  }
  return GLV_OK;
}

static glv_status out_of_range(const type *t, glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC, "a %s is out of range of the calendar", TYPE_TEXT(t));
}

static glv_status date_part(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  const part_state *s = f->binding->state;
  const operand *o = &arguments[1];
  void *values;
  if (rows > 0) {
    TRY(check_part(f, arguments, err));
  }
  TRY(kernel_begin(f->env, f->binding->result, o, 1, rows, &a, &values, err));
  memset(values, 0, rows * type_width(f->binding->result));
  for (size_t i = 0; i < rows; i++) {
    if (!operand_is_valid(o, i)) {
      continue;
    }
    if (s->part == PART_EPOCH) {
      ((double *)values)[i] = epoch_of(o, i);
      continue;
    }
    const instant at = instant_of(o, i);
    if (!temporal_in_range(at)) {
      return out_of_range(o->a.type, err);
    }
    const chrono_time t = chrono_of(at, s->zone);
    store_part(values, i, s->part, &t);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* Argument i is a date or timestamp, or a text that becomes a timestamp; untyped NULL stays. */
static glv_status bind_temporal(function_binding *b, size_t i, glv_error *err) {
  const type *t = b->arguments[i].type;
  switch (t->kind) {
  case TYPE_DATE32:
  case TYPE_TIMESTAMP:
  case TYPE_NULL:
    return GLV_OK;
  case TYPE_DATE64:
  case TYPE_TIME32:
  case TYPE_TIME64:
  case TYPE_DURATION:
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return FAIL(err, GLV_E_SQL_PLAN, "function '%.*s' of %s is not supported yet", STR_ARG(b->name),
                TYPE_TEXT(t));
  default:
    if (!type_is_string(t->kind)) {
      return bind_refuse(b, i, "Timestamp", err);
    }
    b->targets[i] = type_timestamp(b->arena, UNIT_NANO, NULL);
    return b->targets[i] != NULL ? GLV_OK : error_nomem(err, sizeof(type));
  }
}

static glv_status bind_date_part(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  const function_argument *name = &b->arguments[0];
  if (!type_is_string(name->type->kind) || name->constant == NULL ||
      !array_is_valid(name->constant, 0)) {
    return FAIL(err, GLV_E_SQL_PLAN, "%.*s requires a constant string as its first argument",
                STR_ARG(b->name));
  }
  TRY(bind_temporal(b, 1, err));
  const enum part part = find_part(array_str(name->constant, 0));
  b->result = type_simple(part == PART_EPOCH        ? TYPE_FLOAT64
                          : part == PART_NANOSECOND ? TYPE_INT64
                                                    : TYPE_INT32);
  return keep_state(b, part, b->arguments[1].type, err);
}

/* ---- date_trunc ---- */

/* Only these names, in any case. */
static enum part find_granularity(str name) {
  static const enum part parts[] = {PART_YEAR,        PART_QUARTER,    PART_MONTH,  PART_WEEK,
                                    PART_DAY,         PART_HOUR,       PART_MINUTE, PART_SECOND,
                                    PART_MILLISECOND, PART_MICROSECOND};
  for (size_t i = 0; i < sizeof PART_NAMES / sizeof PART_NAMES[0]; i++) {
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
      /* The first name of every part is its full one. */
      if (PART_NAMES[i].part == parts[k] && (i == 0 || PART_NAMES[i - 1].part != parts[k]) &&
          str_equal_ascii_case(name, str_of(PART_NAMES[i].name))) {
        return parts[k];
      }
    }
  }
  return PART_UNKNOWN;
}

/* Ticks of a unit within a part; 0 = the part is not a fixed number of ticks, or less than one. */
static int64_t part_ticks(enum part part, time_unit unit) {
  const int64_t rate = temporal_rate(unit);
  switch (part) {
  case PART_DAY:
    return DAY_SECONDS * rate;
  case PART_HOUR:
    return 3600 * rate;
  case PART_MINUTE:
    return 60 * rate;
  case PART_SECOND:
    return rate;
  case PART_MILLISECOND:
    return rate / 1000;
  case PART_MICROSECOND:
    return rate / 1000000;
  default:
    return 0;
  }
}

static bool is_fine(enum part part, const zone *z) {
  return (z == NULL && (part == PART_DAY || part == PART_HOUR)) || part == PART_MINUTE ||
         part == PART_SECOND || part == PART_MILLISECOND || part == PART_MICROSECOND;
}

/* Local seconds truncated to a minute or more. */
static int64_t truncate_local(int64_t seconds, enum part part) {
  const int64_t days = floor_div(seconds, DAY_SECONDS);
  civil c = calendar_civil(days);
  switch (part) {
  case PART_MINUTE:
    return seconds - floor_mod(seconds, 60);
  case PART_HOUR:
    return seconds - floor_mod(seconds, 3600);
  case PART_WEEK:
    return (days - floor_mod(days + 3, 7)) * DAY_SECONDS;
  case PART_YEAR:
    c.month = 1;
    break;
  case PART_QUARTER:
    c.month -= (c.month - 1) % 3;
    break;
  case PART_MONTH:
    break;
  default: /* day */
    return days * DAY_SECONDS;
  }
  c.day = 1;
  return calendar_days(c) * DAY_SECONDS;
}

/* The instant of a local time that was reached by truncation from an offset. */
static bool back_to_utc(const zone *z, int64_t local, int32_t offset, int64_t *ret) {
  enum { DETOUR = 3 * 3600 };
  if (z == NULL) {
    *ret = local;
    return true;
  }
  if (zone_to_utc(z, local, ret)) {
    return true;
  }
  if (zone_offset(z, local - offset) == offset) { /* one of two: the side that it came from */
    *ret = local - offset;
    return true;
  }
  if (!zone_to_utc(z, local - DETOUR, ret)) {
    return false;
  }
  *ret += DETOUR;
  return true;
}

static bool truncate_coarse(const zone *z, enum part part, time_unit unit, int64_t ticks,
                            int64_t *ret) {
  const instant t = temporal_instant(ticks, unit);
  int64_t nanos;
  if (!temporal_ticks(t, UNIT_NANO, &nanos)) { /* the reference computes in nanoseconds */
    return false;
  }
  const int32_t offset = z != NULL ? zone_offset(z, t.seconds) : 0;
  const int64_t local = truncate_local(t.seconds + offset, part);
  int64_t utc;
  if (!back_to_utc(z, local, offset, &utc)) {
    return false;
  }
  return temporal_ticks((instant){.seconds = utc}, unit, ret);
}

static bool truncate_fine(enum part part, time_unit unit, int64_t ticks, int64_t *ret) {
  const int64_t width = part_ticks(part, unit);
  return !__builtin_sub_overflow(ticks, width == 0 ? 0 : floor_mod(ticks, width), ret);
}

static glv_status date_trunc(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  const part_state *s = f->binding->state;
  const operand *o = &arguments[1];
  const time_unit unit = f->binding->result->unit;
  void *values;
  if (rows > 0 && s->part == PART_UNKNOWN) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "Unsupported date_trunc granularity. Supported values are: microsecond, "
                "millisecond, second, minute, hour, day, week, month, quarter, year");
  }
  TRY(kernel_begin(f->env, f->binding->result, o, 1, rows, &a, &values, err));
  memset(values, 0, rows * sizeof(int64_t));
  const bool seconds = s->part != PART_DAY && s->part != PART_HOUR && s->part != PART_MINUTE;
  const bool by_ticks = is_fine(s->part, s->zone) && (!o->is_scalar || seconds);
  for (size_t i = 0; i < rows; i++) {
    if (!operand_is_valid(o, i)) {
      continue;
    }
    const int64_t ticks = OPERAND_VALUE(o, int64_t, i);
    int64_t *value = &((int64_t *)values)[i];
    if (!(by_ticks ? truncate_fine(s->part, unit, ticks, value)
                   : truncate_coarse(s->zone, s->part, unit, ticks, value))) {
      return FAIL(err, GLV_E_SQL_EXEC, "Timestamp %lld out of range", (long long)ticks);
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_date_trunc(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_string(b, 0, err));
  TRY(bind_temporal(b, 1, err));
  if (b->arguments[1].type->kind != TYPE_TIMESTAMP) {
    b->targets[1] = type_timestamp(b->arena, UNIT_NANO, NULL);
    if (b->targets[1] == NULL) {
      return error_nomem(err, sizeof(type));
    }
  }
  b->result = b->targets[1];
  const array *name = b->arguments[0].constant;
  const bool has_name = name != NULL && !bind_is_null(b, 0) && array_is_valid(name, 0);
  return keep_state(b, has_name ? find_granularity(array_str(name, 0)) : PART_UNKNOWN,
                    b->arguments[1].type, err);
}

static const char *const part_aliases[] = {"datepart", NULL};
static const char *const trunc_aliases[] = {"datetrunc", NULL};

const function functions_date_part[] = {
    {.name = "date_part", .aliases = part_aliases, .bind = bind_date_part, .kernel = date_part},
    {.name = "date_trunc", .aliases = trunc_aliases, .bind = bind_date_trunc, .kernel = date_trunc},
    {0},
};
