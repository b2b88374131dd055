/* Functions of real numbers (sql-expressions 13.1, 13.2): roots, logarithms, angles. float32 is
 * computed in float32, every other number in float64; outside of a function's domain the result is
 * NaN or an infinity. */
#include <math.h>

#include "expr/cast.h"
#include "expr/function_private.h"

/* ---- one float in, one float out ---- */

glv_status function_map_floats(const function_frame *f, const operand *o, math_map64 wide,
                               math_map32 narrow, size_t rows, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, o, 1, rows, &a, &values, err));
  if (f->binding->result->kind == TYPE_FLOAT32) {
    for (size_t i = 0; i < rows; i++) {
      ((float *)values)[i] = narrow(OPERAND_VALUE(o, float, i));
    }
  } else {
    for (size_t i = 0; i < rows; i++) {
      ((double *)values)[i] = wide(OPERAND_VALUE(o, double, i));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static double sign64(double x) { return isnan(x) ? x : (double)((x > 0) - (x < 0)); }
static float sign32(float x) { return isnan(x) ? x : (float)((x > 0) - (x < 0)); }
static const double PI = 3.14159265358979323846;
static double cotangent64(double x) { return 1.0 / tan(x); }
static float cotangent32(float x) { return 1.0f / tanf(x); }
static double degrees64(double x) { return x * (180.0 / PI); }
static float degrees32(float x) { return x * 57.2957795130823208768f; }
static double radians64(double x) { return x * (PI / 180.0); }
static float radians32(float x) { return x * (3.14159265358979323846f / 180.0f); }

double positive_log(double x) { return x < 0 ? (double)NAN : log(x); }
static double positive_log2(double x) { return x < 0 ? (double)NAN : log2(x); }

#define FLOAT_KERNEL(name, wide, narrow)                                                           \
  static glv_status name(const function_frame *f, const operand *arguments, size_t rows,           \
                         array *ret, glv_error *err) {                                             \
    return function_map_floats(f, arguments, wide, narrow, rows, ret, err);                        \
  }

FLOAT_KERNEL(kernel_sqrt, sqrt, sqrtf)
FLOAT_KERNEL(kernel_exp, exp, expf)
FLOAT_KERNEL(kernel_ln, positive_log, logf)
FLOAT_KERNEL(kernel_log2, positive_log2, log2f)
FLOAT_KERNEL(kernel_log10, log10, log10f)
FLOAT_KERNEL(kernel_signum, sign64, sign32)
FLOAT_KERNEL(kernel_cbrt, cbrt, cbrtf)
FLOAT_KERNEL(kernel_sin, sin, sinf)
FLOAT_KERNEL(kernel_cos, cos, cosf)
FLOAT_KERNEL(kernel_tan, tan, tanf)
FLOAT_KERNEL(kernel_asin, asin, asinf)
FLOAT_KERNEL(kernel_acos, acos, acosf)
FLOAT_KERNEL(kernel_atan, atan, atanf)
FLOAT_KERNEL(kernel_sinh, sinh, sinhf)
FLOAT_KERNEL(kernel_cosh, cosh, coshf)
FLOAT_KERNEL(kernel_tanh, tanh, tanhf)
FLOAT_KERNEL(kernel_asinh, asinh, asinhf)
FLOAT_KERNEL(kernel_acosh, acosh, acoshf)
FLOAT_KERNEL(kernel_atanh, atanh, atanhf)
FLOAT_KERNEL(kernel_cot, cotangent64, cotangent32)
FLOAT_KERNEL(kernel_degrees, degrees64, degrees32)
FLOAT_KERNEL(kernel_radians, radians64, radians32)

static const type *float_target(type_kind kind) {
  return type_simple(kind == TYPE_FLOAT32 ? TYPE_FLOAT32 : TYPE_FLOAT64);
}

glv_status bind_float(function_binding *b, size_t i, glv_error *err) {
  const type *t = b->arguments[i].type;
  const type *target = float_target(t->kind);
  if ((t->kind != TYPE_NULL && !type_is_numeric(t->kind)) || !cast_is_supported(t, target)) {
    return bind_refuse(b, i, "Numeric", err);
  }
  b->targets[i] = target;
  return GLV_OK;
}

static glv_status bind_map(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_float(b, 0, err));
  b->result = b->targets[0];
  return GLV_OK;
}

/* ---- two floats, and none ---- */

static glv_status kernel_atan2(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  if (f->binding->result->kind == TYPE_FLOAT32) {
    for (size_t i = 0; i < rows; i++) {
      ((float *)values)[i] =
          atan2f(OPERAND_VALUE(&arguments[0], float, i), OPERAND_VALUE(&arguments[1], float, i));
    }
  } else {
    for (size_t i = 0; i < rows; i++) {
      ((double *)values)[i] =
          atan2(OPERAND_VALUE(&arguments[0], double, i), OPERAND_VALUE(&arguments[1], double, i));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* float32 if neither needs more; integers do not. */
static glv_status bind_atan2(function_binding *b, glv_error *err) {
  static const type_kind KINDS[] = {TYPE_FLOAT32, TYPE_FLOAT64};
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_variadic(b, KINDS, 2, err));
  b->result = b->targets[0];
  return GLV_OK;
}

static glv_status kernel_pi(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 0, rows, ret, &values, err));
  for (size_t i = 0; i < rows; i++) {
    ((double *)values)[i] = PI;
  }
  return GLV_OK;
}

/* 53 random bits as a fraction. */
static glv_status kernel_random(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 0, rows, &a, &values, err));
  TRY(env_random(f->env, values, rows * sizeof(uint64_t), err));
  for (size_t i = 0; i < rows; i++) {
    uint64_t bits;
    memcpy(&bits, (uint8_t *)values + i * sizeof bits, sizeof bits);
    ((double *)values)[i] = (double)(bits >> 11) * 0x1p-53;
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_nullary(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 0, 0, err));
  b->result = type_simple(TYPE_FLOAT64);
  return GLV_OK;
}

static const char *const random_names[] = {"rand", NULL};

const function functions_math[] = {
    {.name = "sqrt", .bind = bind_map, .kernel = kernel_sqrt},
    {.name = "exp", .bind = bind_map, .kernel = kernel_exp},
    {.name = "ln", .bind = bind_map, .kernel = kernel_ln},
    {.name = "log2", .bind = bind_map, .kernel = kernel_log2},
    {.name = "log10", .bind = bind_map, .kernel = kernel_log10},
    {.name = "signum", .bind = bind_map, .kernel = kernel_signum},
    {.name = "cbrt", .bind = bind_map, .kernel = kernel_cbrt},
    {.name = "sin", .bind = bind_map, .kernel = kernel_sin},
    {.name = "cos", .bind = bind_map, .kernel = kernel_cos},
    {.name = "tan", .bind = bind_map, .kernel = kernel_tan},
    {.name = "asin", .bind = bind_map, .kernel = kernel_asin},
    {.name = "acos", .bind = bind_map, .kernel = kernel_acos},
    {.name = "atan", .bind = bind_map, .kernel = kernel_atan},
    {.name = "sinh", .bind = bind_map, .kernel = kernel_sinh},
    {.name = "cosh", .bind = bind_map, .kernel = kernel_cosh},
    {.name = "tanh", .bind = bind_map, .kernel = kernel_tanh},
    {.name = "asinh", .bind = bind_map, .kernel = kernel_asinh},
    {.name = "acosh", .bind = bind_map, .kernel = kernel_acosh},
    {.name = "atanh", .bind = bind_map, .kernel = kernel_atanh},
    {.name = "cot", .bind = bind_map, .kernel = kernel_cot},
    {.name = "degrees", .bind = bind_map, .kernel = kernel_degrees},
    {.name = "radians", .bind = bind_map, .kernel = kernel_radians},
    {.name = "atan2", .bind = bind_atan2, .kernel = kernel_atan2},
    {.name = "pi", .bind = bind_nullary, .kernel = kernel_pi},
    {.name = "random",
     .aliases = random_names,
     .volatility = FUNCTION_VOLATILE,
     .bind = bind_nullary,
     .kernel = kernel_random},
    {0},
};
