/* to_timestamp, to_timestamp_seconds, _millis, _micros, _nanos, to_date; to_unixtime,
 * from_unixtime.
 *
 * Texts are read in the form that casts read, or in the first of the given formats that fits.
 * Numbers are ticks of the result, but seconds for to_timestamp, where floats keep their fraction.
 * Texts must lie in the years that nanoseconds can hold, whatever the unit of the result.
 *
 * Argument types without a conversion are errors of the execution, not of the plan. */
#include <math.h>

#include "expr/cast_private.h"
#include "expr/chrono.h"
#include "expr/function_private.h"

/* ---- texts ---- */

/* One text by the formats in arguments[1..]; *why is the reason of the last one that failed. */
static bool parse_formats(const function_frame *f, const operand *arguments, size_t i, str text,
                          instant *ret, const char **why) {
  *why = "no format was given";
  for (size_t k = 1; k < f->binding->count; k++) {
    if (!operand_is_valid(&arguments[k], i)) {
      continue;
    }
    *why = chrono_parse(f->env, operand_str(&arguments[k], i), text, ret);
    if (*why == NULL || *why == temporal_no_memory) {
      break;
    }
  }
  return *why == NULL;
}

static glv_status bad_text(str text, const char *why, glv_error *err) {
  if (why == temporal_no_memory) {
    return error_nomem(err, text.size);
  }
  return FAIL(err, GLV_E_SQL_EXEC, "Error parsing timestamp from '%.*s': %s", STR_ARG(text), why);
}

/* Formats must be texts, whatever is converted; those of a constant text must be constant. */
static glv_status check_formats(const function_frame *f, const operand *arguments, size_t rows,
                                glv_error *err) {
  const bool needs_constant = arguments[0].is_scalar && type_is_string(arguments[0].a.type->kind);
  for (size_t k = 1; rows > 0 && k < f->binding->count; k++) {
    if (!type_is_string(arguments[k].a.type->kind)) {
      return FAIL(err, GLV_E_SQL_EXEC, "%s function unsupported data type at index %zu: %s",
                  f->binding->function->name, k, TYPE_TEXT(arguments[k].a.type));
    }
    if (needs_constant && !arguments[k].is_scalar) {
      return FAIL(err, GLV_E_SQL_EXEC, "Unsupported data type Array for function %s, arg # %zu",
                  f->binding->function->name, k);
    }
  }
  return GLV_OK;
}

/* Row i as an instant. */
static glv_status parse_row(const function_frame *f, const operand *arguments, size_t i,
                            temporal_parser *p, instant *ret, glv_error *err) {
  const str text = operand_str(&arguments[0], i);
  const char *why = NULL;
  if (f->binding->count > 1) {
    parse_formats(f, arguments, i, text, ret, &why);
  } else {
    why = temporal_parse_timestamp(p, text, ret);
  }
  return why != NULL ? bad_text(text, why, err) : GLV_OK;
}

static glv_status timestamps_from_text(const function_frame *f, const operand *arguments,
                                       size_t rows, time_unit unit, int64_t *values,
                                       glv_error *err) {
  CLEANUP(temporal_parser_dispose) temporal_parser p;
  temporal_parser_init(&p, f->env, NULL);
  for (size_t i = 0; i < rows; i++) {
    values[i] = 0;
    if (!operand_is_valid(&arguments[0], i)) {
      continue;
    }
    instant t;
    int64_t nanos;
    TRY(parse_row(f, arguments, i, &p, &t, err));
    if (!temporal_ticks(t, UNIT_NANO, &nanos)) {
      return FAIL(err, GLV_E_SQL_EXEC,
                  "The dates that can be represented as nanoseconds have to be between "
                  "1677-09-21T00:12:44.0 and 2262-04-11T23:47:16.854775804");
    }
    /* Toward zero, as the reference divides. */
    values[i] = nanos / (temporal_rate(UNIT_NANO) / temporal_rate(unit));
  }
  return GLV_OK;
}

/* ---- numbers ---- */

/* Nanoseconds, truncated, at most what int64 holds; NaN is 0. */
static int64_t saturate(double nanos) {
  if (isnan(nanos)) {
    return 0;
  }
  if (nanos >= 9223372036854775808.0) {
    return INT64_MAX;
  }
  return nanos <= -9223372036854775808.0 ? INT64_MIN : (int64_t)nanos;
}

/* Seconds times 10^-scale; what does not fit loses its upper bits. */
static void timestamps_from_decimal(const operand *o, size_t rows, int64_t *values) {
  const int digits = 9 - o->a.type->scale;
  for (size_t i = 0; i < rows; i++) {
    int256 v = cast_decimal_at(&o->a, operand_row(o, i));
    int256 rest;
    if (digits >= 0) {
      (void)int256_scale_up(v, digits, &v); /* of 38 and at most 9 + 128 digits: may wrap, too */
    } else {
      (void)int256_div(v, int256_power10(-digits), &v, &rest);
    }
    values[i] = (int64_t)v.low;
  }
}

static glv_status timestamps_from_number(const operand *o, size_t rows, int64_t *values,
                                         glv_error *err) {
  const bool is_float = o->a.type->kind == TYPE_FLOAT64;
  for (size_t i = 0; i < rows; i++) {
    values[i] = 0;
    if (!operand_is_valid(o, i)) {
      continue;
    }
    if (is_float) {
      values[i] = saturate(OPERAND_VALUE(o, double, i) * 1e9);
    } else if (__builtin_mul_overflow(OPERAND_VALUE(o, int64_t, i), INT64_C(1000000000),
                                      &values[i])) {
      return FAIL(err, GLV_E_SQL_EXEC,
                  "Arithmetic overflow: Overflow happened on: %lld * 1000000000",
                  (long long)OPERAND_VALUE(o, int64_t, i));
    }
  }
  return GLV_OK;
}

/* ---- timestamps ---- */

static glv_status unsupported(const function_frame *f, const type *t, glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC, "Unsupported data type %s for function %s", TYPE_TEXT(t),
              f->binding->function->name);
}

/* A number as the bits of the result: int32 days or int64 ticks. */
static glv_status from_ticks(const function_frame *f, const operand *o, type_kind kind, size_t rows,
                             array *ret, glv_error *err) {
  CLEANUP(array_unref) array whole = {0};
  CLEANUP(array_unref) array a = {0};
  TRY(kernel_column(f->env, o, o->a.type, rows, &a, err));
  TRY(cast_array(f->env, &a, type_simple(kind), false, &whole, err));
  *ret = kernel_retype(&whole, f->binding->result);
  return GLV_OK;
}

/* counts_seconds: numbers are seconds, not ticks. */
static glv_status timestamps_from(const function_frame *f, const operand *arguments,
                                  bool counts_seconds, size_t rows, array *ret, glv_error *err) {
  const operand *o = &arguments[0];
  const type_kind kind = o->a.type->kind;
  TRY(check_formats(f, arguments, rows, err));
  if (kind == TYPE_TIMESTAMP) { /* cast to the result already */
    return kernel_column(f->env, o, f->binding->result, rows, ret, err);
  }
  if (type_is_numeric(kind) && !counts_seconds) {
    return from_ticks(f, o, TYPE_INT64, rows, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, o, 1, rows, &a, &values, err));
  if (type_is_string(kind)) {
    TRY(timestamps_from_text(f, arguments, rows, a.type->unit, values, err));
  } else if (kind == TYPE_DECIMAL128) {
    timestamps_from_decimal(o, rows, values);
  } else if (kind == TYPE_INT64 || kind == TYPE_FLOAT64) {
    TRY(timestamps_from_number(o, rows, values, err));
  } else if (rows > 0) {
    return unsupported(f, o->a.type, err);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status to_timestamp(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  return timestamps_from(f, arguments, true, rows, ret, err);
}
static glv_status to_unit(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  return timestamps_from(f, arguments, false, rows, ret, err);
}

static glv_status bind_unit(function_binding *b, time_unit unit, bool counts_seconds,
                            glv_error *err) {
  TRY(bind_count(b, 1, SIZE_MAX, err));
  const type_kind kind = b->arguments[0].type->kind;
  b->result = type_timestamp(b->arena, unit, NULL);
  if (b->result == NULL) {
    return error_nomem(err, sizeof(type));
  }
  if (kind == TYPE_NULL || kind == TYPE_TIMESTAMP) {
    b->targets[0] = b->result;
  } else if (kind == TYPE_DECIMAL256 && counts_seconds) {
    b->targets[0] = type_decimal(b->arena, TYPE_DECIMAL128, DECIMAL128_DIGITS, 9);
    return b->targets[0] != NULL ? GLV_OK : error_nomem(err, sizeof(type));
  } else if (type_is_numeric(kind) && kind != TYPE_DECIMAL128 && counts_seconds) {
    TRY(bind_castable(b, 0, type_simple(type_is_integer(kind) ? TYPE_INT64 : TYPE_FLOAT64),
                      "Numeric", err));
  }
  return GLV_OK;
}

static glv_status bind_timestamp(function_binding *b, glv_error *err) {
  return bind_unit(b, UNIT_NANO, true, err);
}
static glv_status bind_seconds(function_binding *b, glv_error *err) {
  return bind_unit(b, UNIT_SECOND, false, err);
}
static glv_status bind_millis(function_binding *b, glv_error *err) {
  return bind_unit(b, UNIT_MILLI, false, err);
}
static glv_status bind_micros(function_binding *b, glv_error *err) {
  return bind_unit(b, UNIT_MICRO, false, err);
}
static glv_status bind_nanos(function_binding *b, glv_error *err) {
  return bind_unit(b, UNIT_NANO, false, err);
}

/* ---- to_date ---- */

static glv_status parse_date_row(const function_frame *f, const operand *arguments, size_t i,
                                 temporal_parser *p, int64_t *ret_days, glv_error *err) {
  const str text = operand_str(&arguments[0], i);
  const char *why = NULL;
  if (f->binding->count == 1) {
    why = temporal_parse_date(p, text, ret_days);
  } else {
    instant t;
    if (parse_formats(f, arguments, i, text, &t, &why)) {
      *ret_days = floor_div(t.seconds, DAY_SECONDS);
    }
  }
  return why != NULL ? bad_text(text, why, err) : GLV_OK;
}

static glv_status to_date(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  const operand *o = &arguments[0];
  TRY(check_formats(f, arguments, rows, err));
  if (o->a.type->kind == TYPE_DATE32) {
    return kernel_column(f->env, o, f->binding->result, rows, ret, err);
  }
  if (type_is_numeric(o->a.type->kind)) {
    return from_ticks(f, o, TYPE_INT32, rows, ret, err);
  }
  if (!type_is_string(o->a.type->kind)) {
    return rows > 0 ? unsupported(f, o->a.type, err)
                    : array_new_null(f->env, f->binding->result, 0, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  CLEANUP(temporal_parser_dispose) temporal_parser p;
  temporal_parser_init(&p, f->env, NULL);
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, o, 1, rows, &a, &values, err));
  memset(values, 0, rows * sizeof(int32_t));
  for (size_t i = 0; i < rows; i++) {
    int64_t days;
    if (operand_is_valid(o, i)) {
      TRY(parse_date_row(f, arguments, i, &p, &days, err));
      ((int32_t *)values)[i] = (int32_t)days;
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_to_date(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, SIZE_MAX, err));
  const type_kind kind = b->arguments[0].type->kind;
  b->result = type_simple(TYPE_DATE32);
  if (kind == TYPE_NULL || kind == TYPE_TIMESTAMP || kind == TYPE_DATE64) {
    b->targets[0] = b->result;
  }
  return GLV_OK;
}

/* ---- to_unixtime, from_unixtime ---- */

static glv_status to_unixtime(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  const operand *o = &arguments[0];
  const type_kind kind = o->a.type->kind;
  if (kind == TYPE_INT64 || kind == TYPE_TIMESTAMP) { /* cast already */
    if (rows > 0 && f->binding->count > 1) {
      return FAIL(err, GLV_E_SQL_EXEC, "to_unixtime takes formats with a string only");
    }
    return kernel_column(f->env, o, f->binding->result, rows, ret, err);
  }
  if (!type_is_string(kind)) {
    return rows > 0 ? unsupported(f, o->a.type, err)
                    : array_new_null(f->env, f->binding->result, 0, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(check_formats(f, arguments, rows, err));
  TRY(kernel_begin(f->env, f->binding->result, o, 1, rows, &a, &values, err));
  TRY(timestamps_from_text(f, arguments, rows, UNIT_SECOND, values, err));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* Numbers and dates take the way of casts; a text is read by the kernel; the rest fails with rows.
 */
static glv_status bind_to_unixtime(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, SIZE_MAX, err));
  const type *t = b->arguments[0].type;
  b->result = type_simple(TYPE_INT64);
  if (t->kind == TYPE_NULL || type_is_integer(t->kind) || type_is_float(t->kind)) {
    b->targets[0] = b->result;
  } else if (t->kind == TYPE_TIMESTAMP || t->kind == TYPE_DATE32 || t->kind == TYPE_DATE64) {
    b->targets[0] = type_timestamp(b->arena, UNIT_SECOND, t->timezone);
    return b->targets[0] != NULL ? GLV_OK : error_nomem(err, sizeof *t);
  }
  return GLV_OK;
}

static glv_status from_unixtime(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  return kernel_column(f->env, &arguments[0], f->binding->result, rows, ret, err);
}

static glv_status bind_from_unixtime(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 2, err));
  TRY(bind_int64(b, 0, err));
  if (b->arguments[0].type->kind == TYPE_UINT64) {
    return bind_refuse(b, 0, "Int64", err);
  }
  const char *zone_name = NULL;
  if (b->count == 2) {
    const array *name = b->arguments[1].constant;
    if (!type_is_string(b->arguments[1].type->kind) || name == NULL || !array_is_valid(name, 0) ||
        array_str(name, 0).size == 0) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "from_unixtime requires its second argument to be a constant string");
    }
    zone_name = arena_strdup(b->arena, array_str(name, 0));
    if (zone_name == NULL) {
      return error_nomem(err, array_str(name, 0).size);
    }
  }
  b->result = type_timestamp(b->arena, UNIT_SECOND, zone_name);
  return b->result != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

const function functions_timestamp[] = {
    {.name = "to_timestamp", .bind = bind_timestamp, .kernel = to_timestamp},
    {.name = "to_timestamp_seconds", .bind = bind_seconds, .kernel = to_unit},
    {.name = "to_timestamp_millis", .bind = bind_millis, .kernel = to_unit},
    {.name = "to_timestamp_micros", .bind = bind_micros, .kernel = to_unit},
    {.name = "to_timestamp_nanos", .bind = bind_nanos, .kernel = to_unit},
    {.name = "to_date", .bind = bind_to_date, .kernel = to_date},
    {.name = "to_unixtime", .bind = bind_to_unixtime, .kernel = to_unixtime},
    {.name = "from_unixtime", .bind = bind_from_unixtime, .kernel = from_unixtime},
    {0},
};
