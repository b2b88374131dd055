/* Powers and logarithms of two numbers (sql-expressions 13.1). */
#include <math.h>

#include "base/half.h"
#include "expr/cast_private.h"
#include "expr/function_private.h"

/* Value i of a float, an int64 or a decimal. */
static double number_at(const operand *o, size_t i) {
  switch (o->a.type->kind) {
  case TYPE_FLOAT16:
    return (double)half_to_float(OPERAND_VALUE(o, uint16_t, i));
  case TYPE_FLOAT32:
    return (double)OPERAND_VALUE(o, float, i);
  case TYPE_INT64:
    return (double)OPERAND_VALUE(o, int64_t, i);
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
    return int256_to_double(cast_decimal_at(&o->a, operand_row(o, i))) /
           pow(10.0, o->a.type->scale);
  default:
    return OPERAND_VALUE(o, double, i);
  }
}

/* The reference replaces power(x, 0) by 1 and log(b, 1) by 0 while planning, for null x and b, too.
 * (-0.0 is not 0 there.) */
static bool is_fixed(const operand *arguments, double second) {
  const operand *o = &arguments[1];
  if (arguments[0].is_scalar || !o->is_scalar || !array_is_valid(&o->a, 0)) {
    return false;
  }
  const double value = number_at(o, 0);
  return value == second && !signbit(value);
}

/* 0 or 1 in every row of a float or decimal column. */
static glv_status fill(const function_frame *f, bool is_one, size_t rows, array *ret,
                       glv_error *err) {
  const type *t = f->binding->result;
  const size_t width = type_width(t);
  const double wide = is_one;
  const float narrow = is_one;
  const uint16_t half = half_from_float(narrow);
  const int256 decimal =
      type_is_decimal(t->kind) && t->scale >= 0 ? int256_power10(t->scale) : int256_of(0);
  const void *value = t->kind == TYPE_FLOAT64   ? (const void *)&wide
                      : t->kind == TYPE_FLOAT32 ? (const void *)&narrow
                      : t->kind == TYPE_FLOAT16 ? (const void *)&half
                                                : (const void *)&decimal;
  void *values;
  TRY(kernel_begin(f->env, t, NULL, 0, rows, ret, &values, err));
  for (size_t i = 0; i < rows; i++) {
    memcpy((uint8_t *)values + i * width, value, width);
  }
  return GLV_OK;
}

/* ---- log ---- */

/* Exact for a whole number that is a power of a whole base. */
static double log_of_decimal(const operand *o, size_t i, double base) {
  const int256 v = cast_decimal_at(&o->a, operand_row(o, i));
  if (o->a.type->scale == 0 && v.high == 0 && base >= 2 && base <= UINT32_MAX &&
      base == trunc(base)) {
    const uint128 factor = (uint32_t)base;
    uint128 power = 1;
    double n = 0;
    while (power <= v.low / factor) {
      power *= factor;
      n++;
    }
    if (power == v.low) {
      return n;
    }
  }
  return positive_log(number_at(o, i)) / positive_log(base);
}

static void log_rows(const function_frame *f, const operand *base, const operand *x, size_t rows,
                     void *values) {
  const bool is_decimal = type_is_decimal(x->a.type->kind);
  switch (f->binding->result->kind) {
  case TYPE_FLOAT16:
    for (size_t i = 0; i < rows; i++) {
      const float b = base != NULL ? (float)number_at(base, i) : 10.0f;
      ((uint16_t *)values)[i] = half_from_float(logf((float)number_at(x, i)) / logf(b));
    }
    return;
  case TYPE_FLOAT32:
    for (size_t i = 0; i < rows; i++) {
      const float b = base != NULL ? OPERAND_VALUE(base, float, i) : 10.0f;
      ((float *)values)[i] = logf(OPERAND_VALUE(x, float, i)) / logf(b);
    }
    return;
  default:
    for (size_t i = 0; i < rows; i++) {
      const double b = base != NULL ? OPERAND_VALUE(base, double, i) : 10.0;
      ((double *)values)[i] = is_decimal
                                  ? log_of_decimal(x, i, b)
                                  : positive_log(OPERAND_VALUE(x, double, i)) / positive_log(b);
    }
    return;
  }
}

static glv_status kernel_log(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  const size_t count = f->binding->count;
  if (count > 1 && is_fixed(arguments, 1)) {
    return fill(f, false, rows, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, count, rows, &a, &values, err));
  log_rows(f, count > 1 ? &arguments[0] : NULL, &arguments[count - 1], rows, values);
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* The number whose logarithm is wanted decides; a decimal stays one and gives float64. */
static glv_status bind_log(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 2, err));
  for (size_t i = 0; i < b->count; i++) {
    TRY(bind_float(b, i, err));
  }
  const type *x = b->arguments[b->count - 1].type;
  const bool is_half = x->kind == TYPE_FLOAT16;
  b->result = is_half ? x : b->targets[b->count - 1];
  b->targets[0] = b->result;
  if (is_half || type_is_decimal(x->kind)) {
    b->targets[b->count - 1] = x;
  }
  return GLV_OK;
}

/* ---- power ---- */

static glv_status kernel_power(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  if (is_fixed(arguments, 0)) {
    return fill(f, true, rows, ret, err);
  }
  if (type_is_decimal(f->binding->result->kind)) {
    return decimal_power(f, arguments, rows, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    const double base = OPERAND_VALUE(&arguments[0], double, i);
    const double exponent = OPERAND_VALUE(&arguments[1], double, i);
    if (base == 0 && exponent < 0 && kernel_row_is_valid(arguments, 2, i)) {
      return FAIL(err, GLV_E_SQL_EXEC, "zero raised to a negative power is undefined");
    }
    ((double *)values)[i] = pow(base, exponent);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* A decimal keeps its type; its exponent stays an integer if it is one. */
static glv_status bind_power(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  const bool is_decimal = type_is_decimal(b->arguments[0].type->kind);
  for (size_t i = is_decimal ? 1 : 0; i < 2; i++) {
    const bool is_integer = is_decimal && type_is_integer(b->arguments[i].type->kind);
    TRY(bind_float(b, i, err));
    b->targets[i] = type_simple(is_integer ? TYPE_INT64 : TYPE_FLOAT64);
  }
  b->result = b->targets[0];
  return GLV_OK;
}

static const char *const power_names[] = {"pow", NULL};

const function functions_power[] = {
    {.name = "log", .bind = bind_log, .kernel = kernel_log},
    {.name = "power", .aliases = power_names, .bind = bind_power, .kernel = kernel_power},
    {0},
};
