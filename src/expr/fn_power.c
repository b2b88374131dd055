/* Powers and logarithms of two numbers (sql-expressions 13.1). */
#include <math.h>

#include "expr/function_private.h"

/* The logarithm to base 10 as `log` has it, a quotient of natural ones. */
static double log_ten64(double x) { return log(x) / log(10.0); }
static float log_ten32(float x) { return logf(x) / logf(10.0f); }

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
    return function_map_floats(f, arguments, log_ten64, log_ten32, rows, ret, err);
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

static const char *const power_names[] = {"pow", NULL};

const function functions_power[] = {
    {.name = "log", .bind = bind_log, .kernel = kernel_log},
    {.name = "power", .aliases = power_names, .bind = bind_power, .kernel = kernel_power},
    {0},
};
