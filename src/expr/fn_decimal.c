/* What abs, ceil, floor, round and power do with decimals (sql-expressions 13.1): values are
 * integers that count units of 10^-scale, computed in 256 bits. */
#include <math.h>

#include "base/int256.h"
#include "expr/cast.h"
#include "expr/cast_private.h"
#include "expr/function_private.h"

/* One value: v of row i. */
typedef glv_status (*decimal_map)(const function_frame *f, const operand *arguments, size_t i,
                                  int256 v, int256 *ret, glv_error *err);

/* The first argument mapped value by value; null where an argument is null. */
static glv_status map_decimals(const function_frame *f, const operand *arguments, decimal_map map,
                               size_t rows, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  const size_t width = type_width(f->binding->result);
  TRY(kernel_begin(f->env, f->binding->result, arguments, f->binding->count, rows, &a, &values,
                   err));
  for (size_t i = 0; i < rows; i++) {
    int256 value = int256_of(0);
    if (array_is_valid(&a, i)) {
      const int256 v = cast_decimal_at(&arguments[0].a, operand_row(&arguments[0], i));
      TRY(map(f, arguments, i, v, &value, err));
    }
    memcpy((uint8_t *)values + i * width, &value, width); /* the low half comes first */
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status overflow(const function_frame *f, glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC, "Decimal overflow while applying %s: the result leaves %s",
              f->binding->function->name, TYPE_TEXT(f->binding->result));
}

/* ---- abs, ceil, floor ---- */

static glv_status magnitude(const function_frame *f, const operand *arguments, size_t i, int256 v,
                            int256 *ret, glv_error *err) {
  (void)f;
  (void)arguments;
  (void)i;
  (void)err;
  *ret = v.high < 0 ? int256_negate(v) : v;
  return GLV_OK;
}

/* v to a multiple of 10^scale: `up` gives the direction of what is not one. */
static glv_status to_whole(const function_frame *f, int256 v, bool up, int256 *ret,
                           glv_error *err) {
  const type *t = f->binding->result;
  *ret = v;
  if (t->scale <= 0) {
    return GLV_OK;
  }
  const int256 unit = int256_power10(t->scale);
  int256 quotient;
  int256 rest;
  const bool divides = int256_div(v, unit, &quotient, &rest);
  bool fits = divides && int256_sub(v, rest, ret);
  if (!int256_is_zero(rest) && (v.high < 0) != up) {
    fits = fits && (up ? int256_add : int256_sub)(*ret, unit, ret);
  }
  return fits && int256_has_digits(*ret, t->precision) ? GLV_OK : overflow(f, err);
}

static glv_status up(const function_frame *f, const operand *arguments, size_t i, int256 v,
                     int256 *ret, glv_error *err) {
  (void)arguments;
  (void)i;
  return to_whole(f, v, true, ret, err);
}
static glv_status down(const function_frame *f, const operand *arguments, size_t i, int256 v,
                       int256 *ret, glv_error *err) {
  (void)arguments;
  (void)i;
  return to_whole(f, v, false, ret, err);
}

glv_status decimal_abs(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                       glv_error *err) {
  return map_decimals(f, arguments, magnitude, rows, ret, err);
}
glv_status decimal_ceil(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  return map_decimals(f, arguments, up, rows, ret, err);
}
glv_status decimal_floor(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  return map_decimals(f, arguments, down, rows, ret, err);
}

/* ---- round ---- */

static int max_digits(const type *t) {
  return t->kind == TYPE_DECIMAL256 ? DECIMAL256_DIGITS : DECIMAL128_DIGITS;
}

/* Digits behind the point of row i. */
static int32_t places_at(const function_frame *f, const operand *arguments, size_t i) {
  return f->binding->count > 1 ? OPERAND_VALUE(&arguments[1], int32_t, i) : 0;
}

static glv_status round_value(const function_frame *f, const operand *arguments, size_t i, int256 v,
                              int256 *ret, glv_error *err) {
  const type *from = arguments[0].a.type;
  const type *to = f->binding->result;
  const int64_t places = places_at(f, arguments, i);
  *ret = v;
  if (places >= from->scale) {
    return GLV_OK;
  }
  if (places < 0 && -places > (int64_t)from->precision - from->scale) {
    *ret = int256_of(0); /* no value has a digit there */
    return GLV_OK;
  }
  *ret = int256_scale_down(v, (int)(from->scale - places));
  const bool may_carry =
      to->precision == max_digits(to) &&
      ((f->binding->count > 1 && !arguments[1].is_scalar) || (from->scale == 0 && places < 0));
  if (!int256_scale_up(*ret, (int)(to->scale - places), ret) ||
      (to->kind == TYPE_DECIMAL128 && !int256_is_narrow(*ret)) ||
      (may_carry && !int256_has_digits(*ret, to->precision))) {
    return overflow(f, err);
  }
  return GLV_OK;
}

glv_status decimal_round(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  return map_decimals(f, arguments, round_value, rows, ret, err);
}

/* The constant in an integer column of any type; 0 when it is null, and far away when it is beyond
 * int64. */
static int64_t constant_integer(const array *a) {
  if (a->type->kind == TYPE_NULL || !array_is_valid(a, 0)) {
    return 0;
  }
  switch (a->type->kind) {
  case TYPE_INT8:
    return ARRAY_VALUES(a, int8_t)[0];
  case TYPE_INT16:
    return ARRAY_VALUES(a, int16_t)[0];
  case TYPE_INT32:
    return ARRAY_VALUES(a, int32_t)[0];
  case TYPE_UINT8:
    return ARRAY_VALUES(a, uint8_t)[0];
  case TYPE_UINT16:
    return ARRAY_VALUES(a, uint16_t)[0];
  case TYPE_UINT32:
    return ARRAY_VALUES(a, uint32_t)[0];
  case TYPE_UINT64:
    return ARRAY_VALUES(a, uint64_t)[0] > INT64_MAX ? INT64_MAX : ARRAY_VALUES(a, int64_t)[0];
  default:
    return ARRAY_VALUES(a, int64_t)[0];
  }
}

/* Constant places lower the scale; rounding may carry into one more digit. */
glv_status decimal_bind_round(function_binding *b, glv_error *err) {
  const type *t = b->arguments[0].type;
  const array *places = b->count > 1 ? b->arguments[1].constant : NULL;
  const bool is_known = b->count == 1 || places != NULL;
  const int64_t digits = places != NULL ? constant_integer(places) : 0;
  int32_t precision = t->precision;
  int32_t scale = t->scale;
  if (!is_known || (scale == 0 && digits < 0 && -digits <= precision)) {
    precision = precision < max_digits(t) ? precision + 1 : precision;
  }
  if (is_known && scale >= 0) {
    scale = digits < 0 ? 0 : digits < scale ? (int32_t)digits : scale;
  } else if (is_known && digits < scale) {
    scale = digits < -(int64_t)precision ? -precision : (int32_t)digits;
  }
  b->result = type_decimal(b->arena, t->kind, precision, scale);
  return b->result != NULL ? GLV_OK : error_nomem(err, sizeof *t);
}

/* ---- power ---- */

static bool fits_width(const type *t, int256 v) {
  return t->kind == TYPE_DECIMAL256 || int256_is_narrow(v);
}

/* v^n by squaring; false when a step leaves the width of t. */
static bool raise(const type *t, int256 v, uint64_t n, int256 *ret) {
  int256 square = v;
  *ret = int256_of(1);
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0 && (!int256_mul(*ret, square, ret) || !fits_width(t, *ret))) {
      return false;
    }
    if (n > 1 && (!int256_mul(square, square, &square) || !fits_width(t, square))) {
      return false;
    }
  }
  return true;
}

/* (v / 10^s)^n in units of 10^-s, n >= 1: v^n / 10^(s (n - 1)), truncated. */
static bool raise_scaled(const type *t, int256 v, uint64_t n, int256 *ret) {
  int256 rest;
  if (!raise(t, v, n, ret)) {
    return false;
  }
  if (t->scale == 0 || n == 1) {
    return true;
  }
  const uint64_t scale = (uint64_t)(t->scale < 0 ? -t->scale : t->scale);
  const uint64_t digits = n - 1 > UINT32_MAX ? UINT64_MAX : scale * (n - 1);
  if (digits > (uint64_t)max_digits(t)) {
    return false;
  }
  return t->scale > 0 ? int256_div(*ret, int256_power10((int)digits), ret, &rest)
                      : int256_scale_up(*ret, (int)digits, ret) && fits_width(t, *ret);
}

/* By way of doubles, for exponents that are negative or no integers. */
static bool raise_double(const type *t, int256 v, double exponent, int256 *ret) {
  const double unit = pow(10.0, t->scale);
  const double base = int256_to_double(v) / unit;
  const double scaled = round(pow(base, exponent) * unit);
  return t->scale >= 0 && isfinite(exponent) && !(base == 0 && exponent < 0) &&
         fabs(scaled) <= 0x1p127 && int256_from_double(scaled, ret);
}

static double exponent_at(const operand *o, size_t i) {
  return o->a.type->kind == TYPE_INT64 ? (double)OPERAND_VALUE(o, int64_t, i)
                                       : OPERAND_VALUE(o, double, i);
}

static glv_status power_value(const function_frame *f, const operand *arguments, size_t i, int256 v,
                              int256 *ret, glv_error *err) {
  const type *t = f->binding->result;
  const double exponent = exponent_at(&arguments[1], i);
  bool fits;
  if (exponent < 0 || exponent != trunc(exponent) || !(exponent < UINT32_MAX)) {
    fits = raise_double(t, v, exponent, ret);
  } else if (exponent == 0) {
    *ret = int256_of(0);
    fits = t->scale < 0 ||
           (t->scale <= max_digits(t) && (*ret = int256_power10(t->scale), fits_width(t, *ret)));
  } else {
    fits = raise_scaled(t, v, (uint64_t)exponent, ret);
  }
  return fits ? GLV_OK : overflow(f, err);
}

/* Every row has its own exponent: in doubles, and null where the type cannot hold the result. */
static glv_status power_by_column(const function_frame *f, const operand *arguments, size_t rows,
                                  array *ret, glv_error *err) {
  CLEANUP(array_unref) array base = {0};
  CLEANUP(array_unref) array a = {0};
  const type *wide = type_simple(TYPE_FLOAT64);
  void *values;
  TRY(cast_array(f->env, &arguments[0].a, wide, false, &base, err));
  TRY(kernel_begin(f->env, wide, arguments, 2, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    const double x = ARRAY_VALUES(&base, double)[operand_row(&arguments[0], i)];
    const double exponent = exponent_at(&arguments[1], i);
    if (x == 0 && exponent < 0 && array_is_valid(&a, i)) {
      return FAIL(err, GLV_E_SQL_EXEC, "zero raised to a negative power is undefined");
    }
    ((double *)values)[i] = pow(x, exponent);
  }
  return cast_array(f->env, &a, f->binding->result, true, ret, err);
}

/* The reference replaces power(x, 1) by x and power(x, 0) by 1 while planning, for null x, too. */
glv_status decimal_power(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  return arguments[1].is_scalar ? map_decimals(f, arguments, power_value, rows, ret, err)
                                : power_by_column(f, arguments, rows, ret, err);
}
