/* Dates and timestamps among each other (sql-expressions 9.5, 11.3).
 *
 * A timestamp becomes one of another unit by multiplication, or by division toward zero; without a
 * zone it is read as local time when the target has one, and keeps the instant when it loses its
 * zone. A date is midnight, local in the target's zone; the date of a timestamp is the local one.
 */
#include "expr/cast_private.h"
#include "expr/temporal.h"

typedef struct zones {
  zone *from;
  zone *to;
} zones;

static bool is_naive(const type *t) { return t->timezone == NULL; }

/* Ticks of t's unit; *why tells what is wrong. Returns false for a row without value. */
static bool local_to_utc(const zone *z, time_unit unit, int64_t *ticks) {
  instant t = temporal_instant(*ticks, unit);
  return temporal_in_range(t) && zone_to_utc(z, t.seconds, &t.seconds) &&
         temporal_ticks(t, unit, ticks);
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

static glv_status timestamp_to_timestamp(const cast_job *job, const zones *z, array *a,
                                         int64_t *values, glv_error *err) {
  const type *from = job->from->type;
  const bool adjusts = is_naive(from) && z->to != NULL;
  for (size_t i = 0; i < a->length; i++) {
    values[i] = ARRAY_VALUES(job->from, int64_t)[i];
    if (!array_is_valid(job->from, i)) {
      continue;
    }
    if (!change_unit(&values[i], from->unit, job->to->unit)) {
      TRY(cast_reject(job, a, i, err, "a %s is out of range of %s", TYPE_TEXT(from),
                      TYPE_TEXT(job->to)));
    } else if (adjusts && !local_to_utc(z->to, job->to->unit, &values[i])) {
      TRY(cast_reject(job, a, i, err, "Cannot cast timezone to different timezone"));
    }
  }
  return GLV_OK;
}

/* Out of the calendar is an error even when trying, as in the reference. */
static glv_status timestamp_to_date(const cast_job *job, const zones *z, array *a, int32_t *values,
                                    glv_error *err) {
  for (size_t i = 0; i < a->length; i++) {
    const int64_t ticks = ARRAY_VALUES(job->from, int64_t)[i];
    const instant t = temporal_instant(ticks, job->from->type->unit);
    values[i] = 0;
    if (temporal_in_range(t)) {
      const int32_t offset = z->from != NULL ? zone_offset(z->from, t.seconds) : 0;
      values[i] = (int32_t)floor_div(t.seconds + offset, DAY_SECONDS);
    } else if (array_is_valid(job->from, i)) {
      return FAIL(err, GLV_E_SQL_EXEC, "Cannot convert %s %lld to datetime",
                  TYPE_TEXT(job->from->type), (long long)ticks);
    }
  }
  return GLV_OK;
}

static glv_status date_to_timestamp(const cast_job *job, const zones *z, array *a, int64_t *values,
                                    glv_error *err) {
  const int64_t rate = temporal_rate(job->to->unit);
  for (size_t i = 0; i < a->length; i++) {
    const int64_t days = ARRAY_VALUES(job->from, int32_t)[i];
    if (!array_is_valid(job->from, i)) {
      values[i] = 0;
      continue;
    }
    if (__builtin_mul_overflow(days * DAY_SECONDS, rate, &values[i])) {
      return FAIL(err, GLV_E_SQL_EXEC,
                  "Cannot cast Date32 value %lld to %s: converted value exceeds the representable "
                  "i64 range",
                  (long long)days, TYPE_TEXT(job->to));
    }
    if (z->to != NULL && !local_to_utc(z->to, job->to->unit, &values[i])) {
      TRY(cast_reject(job, a, i, err, "Cannot cast timezone to different timezone"));
    }
  }
  return GLV_OK;
}

static glv_status convert(const cast_job *job, const zones *z, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(cast_begin(job, &a, &values, err));
  if (job->from->type->kind == TYPE_DATE32) {
    TRY(date_to_timestamp(job, z, &a, values, err));
  } else if (job->to->kind == TYPE_DATE32) {
    TRY(timestamp_to_date(job, z, &a, values, err));
  } else {
    TRY(timestamp_to_timestamp(job, z, &a, values, err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
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
  TRY(cast_zone_of(job->env, from, &z.from, err));
  TRY(cast_zone_of(job->env, job->to, &z.to, err));
  return convert(job, &z, ret, err);
}
