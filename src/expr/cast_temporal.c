/* Dates, times, timestamps, durations and intervals among each other (sql-expressions 9.5, 11.3).
 *
 * All but intervals are ticks: a date is days or milliseconds, the others have a unit. Ticks become
 * those of another unit by multiplication, or by division toward zero. A timestamp without a zone
 * is read as local time when the target has one, and keeps the instant when it loses its zone; a
 * date is midnight, local in the target's zone; the date in days and the time of day of a timestamp
 * are the local ones. */
#include "expr/cast_private.h"
#include "expr/interval.h"
#include "expr/temporal.h"

typedef struct zones {
  zone *from;
  zone *to;
} zones;

static bool is_naive(const type *t) { return t->timezone == NULL; }

/* Ticks of t's unit; false for a local time that does not exist, or exists twice. */
static bool local_to_utc(const zone *z, time_unit unit, int64_t *ticks) {
  instant t = temporal_instant(*ticks, unit);
  return temporal_in_range(t) && zone_to_utc(z, t.seconds, &t.seconds) &&
         temporal_ticks(t, unit, ticks);
}

/* The unit that values are counted in; dates of days: seconds. */
static time_unit unit_of(const type *t) {
  return t->kind == TYPE_DATE32 ? UNIT_SECOND : t->kind == TYPE_DATE64 ? UNIT_MILLI : t->unit;
}

static bool change_unit(int64_t *ticks, time_unit from, time_unit to) {
  const int64_t old = temporal_rate(from);
  const int64_t new = temporal_rate(to);
  if (new < old) {
    *ticks /= old / new;
    return true;
  }
  return !__builtin_mul_overflow(*ticks, new / old, ticks);
}

static int64_t ticks_at(const array *a, size_t i) {
  switch (a->type->kind) {
  case TYPE_DATE32:
    return (int64_t)ARRAY_VALUES(a, int32_t)[i] * DAY_SECONDS;
  case TYPE_TIME32:
    return ARRAY_VALUES(a, int32_t)[i];
  default:
    return ARRAY_VALUES(a, int64_t)[i];
  }
}

static void store_ticks(const type *t, void *values, size_t i, int64_t ticks) {
  if (cast_storage(t->kind) == TYPE_INT32) {
    ((int32_t *)values)[i] = (int32_t)ticks;
  } else {
    ((int64_t *)values)[i] = ticks;
  }
}

/* A value past the range of a date's target fails even when trying, as in the reference. */
static glv_status reject_unit(const cast_job *job, array *a, size_t i, glv_error *err) {
  const type *from = job->from->type;
  if ((from->kind == TYPE_DATE32 || from->kind == TYPE_DATE64) && array_is_valid(job->from, i)) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "Cannot cast %s value %lld to %s: converted value exceeds the representable i64 "
                "range",
                TYPE_TEXT(from),
                (long long)(ticks_at(job->from, i) / (from->kind == TYPE_DATE32 ? DAY_SECONDS : 1)),
                TYPE_TEXT(job->to));
  }
  return cast_reject(job, a, i, err, "a %s is out of range of %s", TYPE_TEXT(from),
                     TYPE_TEXT(job->to));
}

/* Ticks to ticks. */
static glv_status rescale(const cast_job *job, const zones *z, array *a, void *values,
                          glv_error *err) {
  const time_unit from = unit_of(job->from->type);
  const time_unit to = unit_of(job->to);
  const bool adjusts = z->to != NULL && is_naive(job->from->type);
  for (size_t i = 0; i < a->length; i++) {
    int64_t ticks = ticks_at(job->from, i);
    const bool is_valid = array_is_valid(job->from, i);
    if (!change_unit(&ticks, from, to)) {
      TRY(reject_unit(job, a, i, err));
    } else if (is_valid && adjusts && !local_to_utc(z->to, to, &ticks)) {
      TRY(cast_reject(job, a, i, err, "Cannot cast timezone to different timezone"));
    }
    store_ticks(job->to, values, i, ticks);
  }
  return GLV_OK;
}

/* A date in milliseconds to one in days: toward zero. */
static void to_days(const cast_job *job, size_t length, int32_t *values) {
  for (size_t i = 0; i < length; i++) {
    values[i] = (int32_t)(ARRAY_VALUES(job->from, int64_t)[i] / (DAY_SECONDS * INT64_C(1000)));
  }
}

/* The local date or time of day of a timestamp. Out of the calendar is an error even when trying,
 * as in the reference. */
static glv_status local_part(const cast_job *job, const zones *z, array *a, void *values,
                             glv_error *err) {
  const time_unit unit = job->from->type->unit;
  const int64_t rate = temporal_rate(unit_of(job->to));
  for (size_t i = 0; i < a->length; i++) {
    const int64_t ticks = ARRAY_VALUES(job->from, int64_t)[i];
    const instant t = temporal_instant(ticks, unit);
    if (!temporal_in_range(t)) {
      if (array_is_valid(job->from, i)) {
        return FAIL(err, GLV_E_SQL_EXEC, "Cannot convert %s %lld to datetime",
                    TYPE_TEXT(job->from->type), (long long)ticks);
      }
      store_ticks(job->to, values, i, 0);
      continue;
    }
    const int64_t local = t.seconds + (z->from != NULL ? zone_offset(z->from, t.seconds) : 0);
    store_ticks(job->to, values, i,
                job->to->kind == TYPE_DATE32
                    ? floor_div(local, DAY_SECONDS)
                    : floor_mod(local, DAY_SECONDS) * rate + t.nanos / (1000000000 / rate));
  }
  return GLV_OK;
}

static glv_status duration_to_interval(const cast_job *job, array *a, void *values,
                                       glv_error *err) {
  for (size_t i = 0; i < a->length; i++) {
    interval v = {.nanos = ARRAY_VALUES(job->from, int64_t)[i]};
    if (!change_unit(&v.nanos, job->from->type->unit, UNIT_NANO)) {
      TRY(cast_reject(job, a, i, err, "Cannot cast to %s. Overflowing on %lld", TYPE_TEXT(job->to),
                      (long long)ARRAY_VALUES(job->from, int64_t)[i]));
    }
    interval_store((uint8_t *)values + i * sizeof v, v);
  }
  return GLV_OK;
}

static glv_status interval_to_duration(const cast_job *job, array *a, void *values,
                                       glv_error *err) {
  for (size_t i = 0; i < a->length; i++) {
    interval v = interval_load((const uint8_t *)job->from->values + i * sizeof v);
    (void)change_unit(&v.nanos, UNIT_NANO, job->to->unit);
    ((int64_t *)values)[i] = v.nanos;
    if (v.months != 0 || v.days != 0) {
      TRY(cast_reject(job, a, i, err,
                      "Cannot convert interval containing non-zero months or days to duration"));
    }
  }
  return GLV_OK;
}

static glv_status convert(const cast_job *job, const zones *z, array *a, void *values,
                          glv_error *err) {
  const type_kind from = job->from->type->kind;
  const type_kind to = job->to->kind;
  if (to == TYPE_INTERVAL_MONTH_DAY_NANO) {
    return duration_to_interval(job, a, values, err);
  }
  if (from == TYPE_INTERVAL_MONTH_DAY_NANO) {
    return interval_to_duration(job, a, values, err);
  }
  if (from == TYPE_DATE64 && to == TYPE_DATE32) {
    to_days(job, a->length, values);
    return GLV_OK;
  }
  if (from == TYPE_TIMESTAMP && (to == TYPE_DATE32 || to == TYPE_TIME32 || to == TYPE_TIME64)) {
    return local_part(job, z, a, values, err);
  }
  return rescale(job, z, a, values, err);
}

static void zones_dispose(zones *z) {
  zone_free(z->from);
  zone_free(z->to);
}

glv_status cast_temporal(const cast_job *job, array *ret, glv_error *err) {
  const type *from = job->from->type;
  if (from->kind == TYPE_TIMESTAMP && job->to->kind == TYPE_TIMESTAMP &&
      from->unit == job->to->unit && !(is_naive(from) && !is_naive(job->to))) {
    *ret = kernel_retype(job->from, job->to);
    return GLV_OK;
  }
  CLEANUP(zones_dispose) zones z = {0};
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(cast_zone_of(job->env, from, &z.from, err));
  TRY(cast_zone_of(job->env, job->to, &z.to, err));
  TRY(cast_begin(job, &a, &values, err));
  TRY(convert(job, &z, &a, values, err));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}
