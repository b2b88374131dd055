/* date_trunc (sql-expressions 13.1). Zoned timestamps are truncated in their local time.
 *
 * Truncation to a minute or less is arithmetic on ticks, but for a minute of a constant. Coarser
 * units, in a zone, go through local time and back; when the local time reached does not exist
 * because clocks were moved, it is looked up three hours earlier and moved on by as much, as the
 * reference does. Times of day are ticks. */
#include "base/divider.h"
#include "expr/chrono.h"
#include "expr/temporal_part.h"

/* Parts to truncate to, by their full names only. */
static enum temporal_part find_granularity(str name) {
  const enum temporal_part part = temporal_part_find_full(name);
  return part >= PART_YEAR && part <= PART_MICROSECOND ? part : PART_UNKNOWN;
}

/* Ticks of a unit within a part; 0 = the part is not a fixed number of ticks, or less than one. */
static int64_t part_ticks(enum temporal_part part, time_unit unit) {
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

static bool is_fine(enum temporal_part part, const zone *z) {
  return (z == NULL && (part == PART_DAY || part == PART_HOUR)) || part == PART_MINUTE ||
         part == PART_SECOND || part == PART_MILLISECOND || part == PART_MICROSECOND;
}

/* The first day of the week, month, quarter or year of a day. */
static int64_t first_day(int64_t days, enum temporal_part part) {
  if (part == PART_WEEK) {
    return days - floor_mod(days + 3, 7);
  }
  civil c = calendar_civil(days);
  if (part == PART_MONTH) {
    return days - (c.day - 1);
  }
  c.month = part == PART_YEAR ? 1 : c.month - (c.month - 1) % 3;
  c.day = 1;
  return calendar_days(c);
}

/* Local seconds truncated to a minute or more. */
static int64_t truncate_local(int64_t seconds, enum temporal_part part) {
  switch (part) {
  case PART_MINUTE:
    return seconds - floor_mod(seconds, 60);
  case PART_HOUR:
    return seconds - floor_mod(seconds, 3600);
  case PART_DAY:
    return seconds - floor_mod(seconds, DAY_SECONDS);
  default:
    return first_day(floor_div(seconds, DAY_SECONDS), part) * DAY_SECONDS;
  }
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

static bool truncate_coarse(const zone *z, enum temporal_part part, time_unit unit, int64_t ticks,
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

static bool is_time(const type *t) { return t->kind == TYPE_TIME32 || t->kind == TYPE_TIME64; }

static glv_status truncate_times(const part_state *s, const operand *o, array *a, void *values,
                                 glv_error *err) {
  const int64_t width = part_ticks(s->part, a->type->unit);
  if (a->length > 0 && s->part < PART_HOUR) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "date_trunc does not support '%s' granularity for Time types. Valid values are: "
                "hour, minute, second, millisecond, microsecond",
                temporal_part_name(s->part));
  }
  for (size_t i = 0; i < a->length; i++) {
    if (a->type->kind == TYPE_TIME32) {
      const int32_t ticks = OPERAND_VALUE(o, int32_t, i);
      ((int32_t *)values)[i] = width == 0 ? ticks : (int32_t)(ticks - ticks % width);
    } else {
      const int64_t ticks = OPERAND_VALUE(o, int64_t, i);
      ((int64_t *)values)[i] = width == 0 ? ticks : ticks - ticks % width;
    }
  }
  return GLV_OK;
}

/* Down to a multiple of width > 0; values of null rows may be anything. Near the least number it
 * wraps around, as it does in the reference. */
static void floor_ticks(const int64_t *in, size_t rows, int64_t width, int64_t *out) {
  const divider d = divider_of((uint64_t)width);
  for (size_t i = 0; i < rows; i++) {
    out[i] = (int64_t)((uint64_t)divider_floor(&d, in[i]) * (uint64_t)width);
  }
}

/* To the first day of a part, without a zone; values of null rows may be anything. false: some row,
 * perhaps a null one, has no such day. The reference computes in nanoseconds. */
static bool floor_days(const int64_t *in, size_t rows, enum temporal_part part, time_unit unit,
                       int64_t *out) {
  const int64_t rate = temporal_rate(unit);
  const int64_t width = DAY_SECONDS * rate;
  const int64_t most = INT64_MAX / (1000000000 / rate);
  const int64_t least = INT64_MIN / (1000000000 / rate);
  const divider d = divider_of((uint64_t)width);
  bool ok = true;
  for (size_t i = 0; i < rows; i++) {
    ok &= in[i] >= least && in[i] <= most &&
          !__builtin_mul_overflow(first_day(divider_floor(&d, in[i]), part), width, &out[i]);
  }
  return ok;
}

/* Whole columns at once, where no row fails. A constant goes by days and hours as zones do. */
static bool truncate_all(const part_state *s, const operand *o, time_unit unit, size_t rows,
                         int64_t *values) {
  const int64_t *in = ARRAY_VALUES(&o->a, int64_t);
  const bool seconds = s->part != PART_DAY && s->part != PART_HOUR && s->part != PART_MINUTE;
  if (is_fine(s->part, s->zone)) {
    const int64_t width = part_ticks(s->part, unit);
    if (o->is_scalar && !seconds) {
      return false;
    }
    floor_ticks(in, rows, width == 0 ? 1 : width, values);
    return true;
  }
  return s->zone == NULL && s->part <= PART_WEEK && floor_days(in, rows, s->part, unit, values);
}

static glv_status truncate_stamps(const part_state *s, const operand *o, array *a, int64_t *values,
                                  glv_error *err) {
  const time_unit unit = a->type->unit;
  if (truncate_all(s, o, unit, a->length, values)) {
    return GLV_OK;
  }
  for (size_t i = 0; i < a->length; i++) {
    values[i] = 0;
    if (!operand_is_valid(o, i)) {
      continue;
    }
    const int64_t ticks = OPERAND_VALUE(o, int64_t, i);
    if (!truncate_coarse(s->zone, s->part, unit, ticks, &values[i])) {
      return FAIL(err, GLV_E_SQL_EXEC, "Timestamp %lld out of range", (long long)ticks);
    }
  }
  return GLV_OK;
}

static glv_status date_trunc(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  const part_state *s = f->binding->state;
  void *values;
  if (rows > 0 && s->part == PART_UNKNOWN) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "Unsupported date_trunc granularity. Supported values are: microsecond, "
                "millisecond, second, minute, hour, day, week, month, quarter, year");
  }
  if (rows > 0 && arguments[1].a.type->kind == TYPE_NULL) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "second argument of `date_trunc` is an unsupported array type: Null");
  }
  TRY(kernel_begin(f->env, f->binding->result, &arguments[1], 1, rows, &a, &values, err));
  if (is_time(a.type)) {
    TRY(truncate_times(s, &arguments[1], &a, values, err));
  } else {
    TRY(truncate_stamps(s, &arguments[1], &a, values, err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* Timestamps and times stay; dates and texts become timestamps in nanoseconds. */
static glv_status bind_value(function_binding *b, glv_error *err) {
  const type *t = b->arguments[1].type;
  if (t->kind == TYPE_TIMESTAMP || is_time(t)) {
    return GLV_OK;
  }
  if (t->kind == TYPE_NULL && b->arguments[1].constant == NULL) {
    return GLV_OK; /* a column of untyped nulls fails when there are rows */
  }
  if (t->kind != TYPE_NULL && t->kind != TYPE_DATE32 && t->kind != TYPE_DATE64 &&
      !bind_is_text(t)) {
    return bind_refuse(b, 1, "Timestamp", err);
  }
  b->targets[1] = type_timestamp(b->arena, UNIT_NANO, NULL);
  return b->targets[1] != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status bind_date_trunc(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_string(b, 0, err));
  TRY(bind_value(b, err));
  b->result =
      b->targets[1]->kind != TYPE_NULL ? b->targets[1] : type_timestamp(b->arena, UNIT_NANO, NULL);
  if (b->result == NULL) {
    return error_nomem(err, sizeof(type));
  }
  const array *name = b->arguments[0].constant;
  const bool has_name =
      name != NULL && type_is_string(b->arguments[0].type->kind) && array_is_valid(name, 0);
  return part_state_bind(b, has_name ? find_granularity(array_str(name, 0)) : PART_UNKNOWN,
                         b->arguments[1].type, err);
}

static const char *const trunc_aliases[] = {"datetrunc", NULL};

const function functions_date_trunc[] = {
    {.name = "date_trunc", .aliases = trunc_aliases, .bind = bind_date_trunc, .kernel = date_trunc},
    {0},
};
