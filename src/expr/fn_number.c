/* Functions of numbers of every type: abs, and what looks for NaN and zero (sql-expressions 13.1).
 */
#include <math.h>

#include "expr/function_private.h"

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
  static const type_kind KINDS[] = {TYPE_FLOAT16, TYPE_FLOAT32, TYPE_FLOAT64};
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_variadic(b, KINDS, 3, err));
  b->result = b->targets[0];
  return GLV_OK;
}

/* ---- tests ---- */

/* Whether value i of a number is zero; NaN and everything else is not. */
static bool is_zero_at(const operand *o, size_t i) {
  switch (o->a.type->kind) {
  case TYPE_FLOAT16:
    return (OPERAND_VALUE(o, uint16_t, i) & 0x7fff) == 0;
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
  } else if (!type_is_numeric(kind)) {
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
  case TYPE_FLOAT16:
    for (size_t i = 0; i < rows; i++) {
      ((uint16_t *)values)[i] = OPERAND_VALUE(o, uint16_t, i) & 0x7fff;
    }
    return GLV_OK;
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
  if (type_is_decimal(kind)) {
    return decimal_abs(f, arguments, rows, ret, err);
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
  } else if (!type_is_numeric(t->kind)) {
    return bind_refuse(b, 0, "Numeric", err);
  }
  b->result = b->targets[0];
  return GLV_OK;
}

const function functions_number[] = {
    {.name = "abs", .bind = bind_abs, .kernel = kernel_abs},
    {.name = "nanvl", .bind = bind_nanvl, .kernel = kernel_nanvl},
    {.name = "isnan", .bind = bind_number_test, .kernel = kernel_isnan},
    {.name = "iszero", .bind = bind_number_test, .kernel = kernel_iszero},
    {0},
};
