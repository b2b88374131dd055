/* Functions of numbers (sql-expressions 13.1). float32 arguments are computed in float32, all other
 * numbers in float64; outside of a function's domain the result is NaN or an infinity. */
#include <math.h>

#include "expr/cast.h"
#include "expr/function_private.h"

typedef double (*map64)(double x);
typedef float (*map32)(float x);

/* ---- one float in, one float out ---- */

static glv_status map_floats(const function_frame *f, const operand *o, map64 wide, map32 narrow,
                             size_t rows, array *ret, glv_error *err) {
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
/* The logarithm to base 10 as `log` has it, a quotient of natural ones. */
static double log_ten64(double x) { return log(x) / log(10.0); }
static float log_ten32(float x) { return logf(x) / logf(10.0f); }

#define FLOAT_KERNEL(name, wide, narrow)                                                           \
  static glv_status name(const function_frame *f, const operand *arguments, size_t rows,           \
                         array *ret, glv_error *err) {                                             \
    return map_floats(f, arguments, wide, narrow, rows, ret, err);                                 \
  }

FLOAT_KERNEL(kernel_sqrt, sqrt, sqrtf)
FLOAT_KERNEL(kernel_exp, exp, expf)
FLOAT_KERNEL(kernel_ln, log, logf)
FLOAT_KERNEL(kernel_log2, log2, log2f)
FLOAT_KERNEL(kernel_log10, log10, log10f)
FLOAT_KERNEL(kernel_signum, sign64, sign32)

static const type *float_target(type_kind kind) {
  return type_simple(kind == TYPE_FLOAT32 ? TYPE_FLOAT32 : TYPE_FLOAT64);
}

/* Argument i is a number and becomes a float. */
static glv_status bind_float(function_binding *b, size_t i, glv_error *err) {
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

/* ---- two numbers ---- */

/* The reference replaces power(x, 0) by 1 and log(b, 1) by 0 while planning, for null x and b, too.
 * (-0.0 is not 0 there.) */
static bool is_fixed(const operand *arguments, double second) {
  const operand *o = &arguments[1];
  if (arguments[0].is_scalar || !o->is_scalar || !array_is_valid(&o->a, 0)) {
    return false;
  }
  const double value = o->a.type->kind == TYPE_FLOAT32 ? (double)ARRAY_VALUES(&o->a, float)[0]
                                                       : ARRAY_VALUES(&o->a, double)[0];
  return value == second && !signbit(value);
}

static glv_status fill(const function_frame *f, double value, size_t rows, array *ret,
                       glv_error *err) {
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, NULL, 0, rows, ret, &values, err));
  for (size_t i = 0; i < rows; i++) {
    if (f->binding->result->kind == TYPE_FLOAT32) {
      ((float *)values)[i] = (float)value;
    } else {
      ((double *)values)[i] = value;
    }
  }
  return GLV_OK;
}

static glv_status kernel_log(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  if (f->binding->count == 1) {
    return map_floats(f, arguments, log_ten64, log_ten32, rows, ret, err);
  }
  if (is_fixed(arguments, 1)) {
    return fill(f, 0, rows, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  if (f->binding->result->kind == TYPE_FLOAT32) {
    for (size_t i = 0; i < rows; i++) {
      ((float *)values)[i] = logf(OPERAND_VALUE(&arguments[1], float, i)) /
                             logf(OPERAND_VALUE(&arguments[0], float, i));
    }
  } else {
    for (size_t i = 0; i < rows; i++) {
      ((double *)values)[i] = log(OPERAND_VALUE(&arguments[1], double, i)) /
                              log(OPERAND_VALUE(&arguments[0], double, i));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* The number whose logarithm is wanted decides. */
static glv_status bind_log(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 2, err));
  for (size_t i = 0; i < b->count; i++) {
    TRY(bind_float(b, i, err));
  }
  b->result = b->targets[b->count - 1];
  b->targets[0] = b->result;
  return GLV_OK;
}

static glv_status kernel_power(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  if (is_fixed(arguments, 0)) {
    return fill(f, 1, rows, ret, err);
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

static glv_status bind_power(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  if (type_is_decimal(b->arguments[0].type->kind)) {
    return FAIL(err, GLV_E_SQL_PLAN, "function '%.*s' of a decimal is not supported yet",
                STR_ARG(b->name));
  }
  for (size_t i = 0; i < 2; i++) {
    TRY(bind_float(b, i, err));
    b->targets[i] = type_simple(TYPE_FLOAT64);
  }
  b->result = type_simple(TYPE_FLOAT64);
  return GLV_OK;
}

/* The bits of a half: an exponent of ones and a fraction. */
static bool is_nan16(uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

static bool is_nan_at(const operand *o, size_t i) {
  switch (o->a.type->kind) {
  case TYPE_FLOAT16:
    return is_nan16(OPERAND_VALUE(o, uint16_t, i));
  case TYPE_FLOAT32:
    return isnan(OPERAND_VALUE(o, float, i));
  default:
    return isnan(OPERAND_VALUE(o, double, i));
  }
}

/* x, or y where x is NaN; y does not matter elsewhere, also when it is null. */
static glv_status kernel_nanvl(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  const size_t width = type_width(f->binding->result);
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    const bool takes_other = operand_is_valid(&arguments[0], i) && is_nan_at(&arguments[0], i);
    const operand *o = &arguments[takes_other ? 1 : 0];
    memcpy((uint8_t *)values + i * width, (const uint8_t *)o->a.values + operand_row(o, i) * width,
           width);
    if (takes_other && !operand_is_valid(o, i)) {
      TRY(kernel_set_null(f->env, &a, i, err));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_nanvl(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  bool all_half = true;
  bool any_double = false;
  for (size_t i = 0; i < 2; i++) {
    const type_kind kind = b->arguments[i].type->kind;
    if (kind != TYPE_NULL && !type_is_numeric(kind)) {
      return bind_refuse(b, i, "Float", err);
    }
    all_half = all_half && (kind == TYPE_FLOAT16 || kind == TYPE_NULL || kind == TYPE_INT8 ||
                            kind == TYPE_UINT8);
    any_double = any_double || kind == TYPE_FLOAT64 || type_is_decimal(kind);
  }
  const type *t = type_simple(any_double ? TYPE_FLOAT64 : all_half ? TYPE_FLOAT16 : TYPE_FLOAT32);
  for (size_t i = 0; i < 2; i++) {
    if (!cast_is_supported(b->arguments[i].type, t)) {
      return FAIL(err, GLV_E_SQL_PLAN, "function '%.*s' of %s is not supported yet",
                  STR_ARG(b->name), TYPE_TEXT(b->arguments[i].type));
    }
    b->targets[i] = t;
  }
  b->result = t;
  return GLV_OK;
}

/* ---- tests ---- */

/* Whether value i of a number is zero; NaN and everything else is not. */
static bool is_zero_at(const operand *o, size_t i) {
  switch (o->a.type->kind) {
  case TYPE_FLOAT32:
    return OPERAND_VALUE(o, float, i) == 0.0f;
  case TYPE_FLOAT64:
    return OPERAND_VALUE(o, double, i) == 0.0;
  default: { /* integers and decimals: no bit set */
    const size_t width = type_width(o->a.type);
    const uint8_t *value = (const uint8_t *)o->a.values + operand_row(o, i) * width;
    uint8_t bits = 0;
    for (size_t k = 0; k < width; k++) {
      bits |= value[k];
    }
    return bits == 0;
  }
  }
}

static glv_status test_numbers(const function_frame *f, const operand *o,
                               bool (*test)(const operand *o, size_t i), size_t rows, array *ret,
                               glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, o, 1, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    bit_put(values, i, test(o, i));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static bool is_nan_number(const operand *o, size_t i) {
  return type_is_float(o->a.type->kind) && is_nan_at(o, i);
}

static glv_status kernel_isnan(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  return test_numbers(f, arguments, is_nan_number, rows, ret, err);
}
static glv_status kernel_iszero(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  return test_numbers(f, arguments, is_zero_at, rows, ret, err);
}

static glv_status bind_number_test(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  const type_kind kind = b->arguments[0].type->kind;
  if (kind == TYPE_NULL) {
    b->targets[0] = type_simple(TYPE_FLOAT64);
  } else if (!type_is_numeric(kind) || kind == TYPE_FLOAT16) {
    return bind_refuse(b, 0, "Numeric", err);
  }
  b->result = type_simple(TYPE_BOOL);
  return GLV_OK;
}

/* ---- abs ---- */

#define ABS_SIGNED(kind, ctype, minimum)                                                           \
  case kind:                                                                                       \
    for (size_t i = 0; i < rows; i++) {                                                            \
      const ctype x = OPERAND_VALUE(o, ctype, i);                                                  \
      if (x == (minimum) && operand_is_valid(o, i)) {                                              \
        return FAIL(err, GLV_E_SQL_EXEC, "%s overflow on abs(%lld)", TYPE_TEXT(o->a.type),         \
                    (long long)x);                                                                 \
      }                                                                                            \
      ((ctype *)values)[i] = (ctype)(x < 0 && x != (minimum) ? -x : x);                            \
    }                                                                                              \
    return GLV_OK

static glv_status absolute(const operand *o, void *values, size_t rows, glv_error *err) {
  switch (o->a.type->kind) {
    ABS_SIGNED(TYPE_INT8, int8_t, INT8_MIN);
    ABS_SIGNED(TYPE_INT16, int16_t, INT16_MIN);
    ABS_SIGNED(TYPE_INT32, int32_t, INT32_MIN);
    ABS_SIGNED(TYPE_INT64, int64_t, INT64_MIN);
  case TYPE_FLOAT32:
    for (size_t i = 0; i < rows; i++) {
      ((float *)values)[i] = fabsf(OPERAND_VALUE(o, float, i));
    }
    return GLV_OK;
  default: /* float64 */
    for (size_t i = 0; i < rows; i++) {
      ((double *)values)[i] = fabs(OPERAND_VALUE(o, double, i));
    }
    return GLV_OK;
  }
}

static glv_status kernel_abs(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  const type_kind kind = arguments[0].a.type->kind;
  if (type_is_integer(kind) && !type_is_signed(kind)) {
    *ret = kernel_retype(&arguments[0].a, f->binding->result);
    return GLV_OK;
  }
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  TRY(absolute(arguments, values, rows, err));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_abs(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  const type *t = b->arguments[0].type;
  if (t->kind == TYPE_NULL) {
    b->targets[0] = type_simple(TYPE_FLOAT64);
  } else if (type_is_decimal(t->kind) || t->kind == TYPE_FLOAT16) {
    return FAIL(err, GLV_E_SQL_PLAN, "function '%.*s' of %s is not supported yet", STR_ARG(b->name),
                TYPE_TEXT(t));
  } else if (!type_is_numeric(t->kind)) {
    return bind_refuse(b, 0, "Numeric", err);
  }
  b->result = b->targets[0];
  return GLV_OK;
}

/* ---- random ---- */

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

static glv_status bind_random(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 0, 0, err));
  b->result = type_simple(TYPE_FLOAT64);
  return GLV_OK;
}

static const char *const power_names[] = {"pow", NULL};
static const char *const random_names[] = {"rand", NULL};

const function functions_math[] = {
    {.name = "abs", .bind = bind_abs, .kernel = kernel_abs},
    {.name = "sqrt", .bind = bind_map, .kernel = kernel_sqrt},
    {.name = "exp", .bind = bind_map, .kernel = kernel_exp},
    {.name = "ln", .bind = bind_map, .kernel = kernel_ln},
    {.name = "log2", .bind = bind_map, .kernel = kernel_log2},
    {.name = "log10", .bind = bind_map, .kernel = kernel_log10},
    {.name = "signum", .bind = bind_map, .kernel = kernel_signum},
    {.name = "log", .bind = bind_log, .kernel = kernel_log},
    {.name = "power", .aliases = power_names, .bind = bind_power, .kernel = kernel_power},
    {.name = "nanvl", .bind = bind_nanvl, .kernel = kernel_nanvl},
    {.name = "isnan", .bind = bind_number_test, .kernel = kernel_isnan},
    {.name = "iszero", .bind = bind_number_test, .kernel = kernel_iszero},
    {.name = "random",
     .aliases = random_names,
     .volatility = FUNCTION_VOLATILE,
     .bind = bind_random,
     .kernel = kernel_random},
    {0},
};
