/* round, trunc, ceil, floor. With a number of places, x is scaled by a power of ten, made whole and
 * scaled back, all in the type of the result, so it can overflow to an infinity. */
#include <math.h>

#include "expr/function_private.h"

/* 10^n by squaring, the inverse for negative n. */
static double power_of_ten(int32_t n) {
  double base = 10.0;
  double power = 1.0;
  for (uint32_t k = n < 0 ? 0u - (uint32_t)n : (uint32_t)n; k != 0; k >>= 1) {
    power *= (k & 1) != 0 ? base : 1.0;
    base *= base;
  }
  return n < 0 ? 1.0 / power : power;
}

static float power_of_ten32(int32_t n) {
  float base = 10.0f;
  float power = 1.0f;
  for (uint32_t k = n < 0 ? 0u - (uint32_t)n : (uint32_t)n; k != 0; k >>= 1) {
    power *= (k & 1) != 0 ? base : 1.0f;
    base *= base;
  }
  return n < 0 ? 1.0f / power : power;
}

/* Places of row i: an int32, or an int64 of which the low half counts. */
static int32_t places_of(const operand *o, size_t i) {
  if (o->a.type->kind == TYPE_INT32) {
    return OPERAND_VALUE(o, int32_t, i);
  }
  return (int32_t)(uint32_t)(uint64_t)OPERAND_VALUE(o, int64_t, i);
}

/* Two columns: the second one holds places. */
static glv_status make_whole_at(const function_frame *f, const operand *arguments, math_map64 wide,
                                math_map32 narrow, size_t rows, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    const int32_t places = places_of(&arguments[1], i);
    if (f->binding->result->kind == TYPE_FLOAT32) {
      const float factor = power_of_ten32(places);
      ((float *)values)[i] = narrow(OPERAND_VALUE(&arguments[0], float, i) * factor) / factor;
    } else {
      const double factor = power_of_ten(places);
      ((double *)values)[i] = wide(OPERAND_VALUE(&arguments[0], double, i) * factor) / factor;
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* A column of trunc(-0.0) is 0.0; a constant keeps its sign, and so does trunc(-0.0, 0). */
static double trunc_positive64(double x) { return x == 0.0 ? 0.0 : trunc(x); }
static float trunc_positive32(float x) { return x == 0.0f ? 0.0f : truncf(x); }

static glv_status kernel_ceil(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  if (type_is_decimal(arguments[0].a.type->kind)) {
    return decimal_ceil(f, arguments, rows, ret, err);
  }
  return function_map_floats(f, arguments, ceil, ceilf, rows, ret, err);
}
static glv_status kernel_floor(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  if (type_is_decimal(arguments[0].a.type->kind)) {
    return decimal_floor(f, arguments, rows, ret, err);
  }
  return function_map_floats(f, arguments, floor, floorf, rows, ret, err);
}
static glv_status kernel_round(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  if (type_is_decimal(arguments[0].a.type->kind)) {
    return decimal_round(f, arguments, rows, ret, err);
  }
  if (f->binding->count == 1) {
    return function_map_floats(f, arguments, round, roundf, rows, ret, err);
  }
  return make_whole_at(f, arguments, round, roundf, rows, ret, err);
}

static glv_status kernel_trunc(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  if (f->binding->count > 1) {
    return make_whole_at(f, arguments, trunc, truncf, rows, ret, err);
  }
  if (arguments[0].is_scalar) {
    return function_map_floats(f, arguments, trunc, truncf, rows, ret, err);
  }
  return function_map_floats(f, arguments, trunc_positive64, trunc_positive32, rows, ret, err);
}

static const type_kind FLOATS[] = {TYPE_FLOAT64, TYPE_FLOAT32};

/* Decimals keep their type. */
static glv_status bind_whole(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  if (!type_is_decimal(b->arguments[0].type->kind)) {
    TRY(bind_variadic(b, FLOATS, 2, err));
  }
  b->result = b->targets[0];
  return GLV_OK;
}

static glv_status bind_round(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 2, err));
  if (b->count > 1) {
    TRY(bind_int64(b, 1, err));
    b->targets[1] = type_simple(TYPE_INT32);
  }
  if (type_is_decimal(b->arguments[0].type->kind)) {
    return decimal_bind_round(b, err);
  }
  TRY(bind_float(b, 0, err));
  b->result = b->targets[0];
  return GLV_OK;
}

static glv_status bind_trunc(function_binding *b, glv_error *err) {
  static const signature SIGNATURES[] = {{{TYPE_FLOAT32, TYPE_INT64}},
                                         {{TYPE_FLOAT64, TYPE_INT64}},
                                         {{TYPE_FLOAT64}},
                                         {{TYPE_FLOAT32}}};
  TRY(bind_count(b, 1, 2, err));
  TRY(bind_signature(b, SIGNATURES, sizeof SIGNATURES / sizeof *SIGNATURES, err));
  b->result = b->targets[0];
  return GLV_OK;
}

const function functions_round[] = {
    {.name = "ceil", .bind = bind_whole, .kernel = kernel_ceil},
    {.name = "floor", .bind = bind_whole, .kernel = kernel_floor},
    {.name = "round", .bind = bind_round, .kernel = kernel_round},
    {.name = "trunc", .bind = bind_trunc, .kernel = kernel_trunc},
    {0},
};
