/* make_time, to_time, to_local_time, and the clock: now, current_date, current_time. */
#include "expr/cast.h"
#include "expr/chrono.h"
#include "expr/temporal_part.h"

/* ---- make_time ---- */

static glv_status make_time(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 3, rows, &a, &values, err));
  memset(values, 0, rows * sizeof(int32_t));
  for (size_t i = 0; i < rows; i++) {
    if (!array_is_valid(&a, i)) {
      continue;
    }
    const int32_t hour = OPERAND_VALUE(&arguments[0], int32_t, i);
    const int32_t minute = OPERAND_VALUE(&arguments[1], int32_t, i);
    const int32_t second = OPERAND_VALUE(&arguments[2], int32_t, i);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
      return FAIL(err, GLV_E_SQL_EXEC, "Unable to parse time from %d, %d, %d", (int)hour,
                  (int)minute, (int)second);
    }
    ((int32_t *)values)[i] = (hour * 60 + minute) * 60 + second;
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_make_time(function_binding *b, glv_error *err) {
  TRY(bind_int32s(b, 3, err));
  b->result = type_with_unit(b->arena, TYPE_TIME32, UNIT_SECOND);
  return b->result != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

/* ---- to_time ---- */

static const char *const default_formats[] = {"%H:%M:%S%.f", "%H:%M:%S", "%H:%M"};

/* One text by the formats in arguments[1..], or else by the usual ones. */
static bool parse_time(const function_frame *f, const operand *arguments, str text, int64_t *ret) {
  if (f->binding->count == 1) {
    for (size_t k = 0; k < sizeof default_formats / sizeof *default_formats; k++) {
      if (chrono_parse_time(str_of(default_formats[k]), text, ret) == NULL) {
        return true;
      }
    }
    return false;
  }
  for (size_t k = 1; k < f->binding->count; k++) {
    if (operand_is_valid(&arguments[k], 0) &&
        chrono_parse_time(operand_str(&arguments[k], 0), text, ret) == NULL) {
      return true;
    }
  }
  return false;
}

static glv_status times_from_text(const function_frame *f, const operand *arguments, array *a,
                                  int64_t *values, glv_error *err) {
  for (size_t i = 0; i < a->length; i++) {
    values[i] = 0;
    if (!operand_is_valid(&arguments[0], i)) {
      continue;
    }
    const str text = operand_str(&arguments[0], i);
    if (!parse_time(f, arguments, text, &values[i])) {
      return FAIL(err, GLV_E_SQL_EXEC, "Error parsing '%.*s' as time", STR_ARG(text));
    }
  }
  return GLV_OK;
}

static glv_status check_time(const function_frame *f, const operand *arguments, size_t rows,
                             glv_error *err) {
  const type *t = arguments[0].a.type;
  if (rows > 0 && !type_is_string(t->kind) && t->kind != TYPE_TIME64) {
    return FAIL(err, GLV_E_SQL_EXEC, "Unsupported data type %s for function to_time", TYPE_TEXT(t));
  }
  for (size_t k = 1; rows > 0 && k < f->binding->count; k++) {
    if (!type_is_string(arguments[k].a.type->kind) ||
        (type_is_string(t->kind) && !arguments[k].is_scalar)) {
      return FAIL(err, GLV_E_SQL_EXEC, "to_time format argument %zu must be a constant string",
                  k + 1);
    }
  }
  return GLV_OK;
}

static glv_status to_time(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  TRY(check_time(f, arguments, rows, err));
  if (arguments[0].a.type->kind == TYPE_TIME64) { /* a timestamp, cast already */
    return kernel_column(f->env, &arguments[0], f->binding->result, rows, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  TRY(times_from_text(f, arguments, &a, values, err));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* Times are no texts and no timestamps: they are refused when there are rows, so they may not look
 * like a timestamp that was cast. */
static glv_status bind_to_time(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, SIZE_MAX, err));
  const type_kind kind = b->arguments[0].type->kind;
  b->result = type_with_unit(b->arena, TYPE_TIME64, UNIT_NANO);
  if (b->result == NULL) {
    return error_nomem(err, sizeof(type));
  }
  if (kind == TYPE_NULL || kind == TYPE_TIMESTAMP) {
    b->targets[0] = b->result;
  } else if (kind == TYPE_TIME64) {
    b->targets[0] = type_simple(TYPE_INT64);
  }
  return GLV_OK;
}

/* ---- to_local_time ---- */

static glv_status to_local_time(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  const operand *o = &arguments[0];
  const zone *z = f->binding->state;
  const time_unit unit = f->binding->result->unit;
  if (z == NULL) {
    return kernel_column(f->env, o, f->binding->result, rows, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, o, 1, rows, &a, &values, err));
  memset(values, 0, rows * sizeof(int64_t));
  for (size_t i = 0; i < rows; i++) {
    const int64_t ticks = OPERAND_VALUE(o, int64_t, i);
    instant t = temporal_instant(ticks, unit);
    if (!array_is_valid(&a, i)) {
      continue;
    }
    const bool in_range = temporal_in_range(t);
    t.seconds += in_range ? zone_offset(z, t.seconds) : 0;
    if (!in_range || !temporal_ticks(t, unit, &((int64_t *)values)[i])) {
      return FAIL(err, GLV_E_SQL_EXEC, "The local time of %lld is out of range", (long long)ticks);
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static void dispose_zone(void *state) { zone_free(state); }

static glv_status bind_to_local_time(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  const type *t = b->arguments[0].type;
  if (t->kind != TYPE_TIMESTAMP && t->kind != TYPE_NULL) {
    return bind_refuse(b, 0, "Timestamp", err);
  }
  b->result = type_timestamp(b->arena, t->kind == TYPE_NULL ? UNIT_NANO : t->unit, NULL);
  if (b->result == NULL) {
    return error_nomem(err, sizeof *t);
  }
  if (t->kind == TYPE_NULL) {
    b->targets[0] = b->result;
  }
  zone *z = NULL;
  TRY(bind_zone(b, t, &z, err));
  b->state = z;
  b->dispose = dispose_zone;
  return GLV_OK;
}

/* ---- the clock ---- */

static glv_status now(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                      glv_error *err) {
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 0, rows, ret, &values, err));
  for (size_t i = 0; i < rows; i++) {
    ((int64_t *)values)[i] = f->now_ns;
  }
  return GLV_OK;
}

static glv_status current_date(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  const instant at = temporal_instant(f->now_ns, UNIT_NANO);
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 0, rows, ret, &values, err));
  for (size_t i = 0; i < rows; i++) {
    ((int32_t *)values)[i] = (int32_t)floor_div(at.seconds, DAY_SECONDS);
  }
  return GLV_OK;
}

static glv_status current_time(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 0, rows, ret, &values, err));
  for (size_t i = 0; i < rows; i++) {
    ((int64_t *)values)[i] = floor_mod(f->now_ns, DAY_SECONDS * INT64_C(1000000000));
  }
  return GLV_OK;
}

static glv_status bind_now(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 0, 0, err));
  b->result = type_timestamp(b->arena, UNIT_NANO, NULL);
  return b->result != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status bind_current_date(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 0, 0, err));
  b->result = type_simple(TYPE_DATE32);
  return GLV_OK;
}

static glv_status bind_current_time(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 0, 0, err));
  b->result = type_with_unit(b->arena, TYPE_TIME64, UNIT_NANO);
  return b->result != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static const char *const now_names[] = {"current_timestamp", NULL};
static const char *const today_names[] = {"today", NULL};

const function functions_time[] = {
    {.name = "make_time", .bind = bind_make_time, .kernel = make_time},
    {.name = "to_time", .bind = bind_to_time, .kernel = to_time},
    {.name = "to_local_time", .bind = bind_to_local_time, .kernel = to_local_time},
    {.name = "now",
     .aliases = now_names,
     .volatility = FUNCTION_STABLE,
     .bind = bind_now,
     .kernel = now},
    {.name = "current_date",
     .aliases = today_names,
     .volatility = FUNCTION_STABLE,
     .bind = bind_current_date,
     .kernel = current_date},
    {.name = "current_time",
     .volatility = FUNCTION_STABLE,
     .bind = bind_current_time,
     .kernel = current_time},
    {0},
};
