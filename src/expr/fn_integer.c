/* Functions of whole numbers, all in int64: gcd, lcm, factorial (sql-expressions 13.2). */
#include "expr/function_private.h"

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

typedef bool (*combine)(int64_t x, int64_t y, int64_t *ret);

/* 2^63 does not fit. */
static bool divisor(int64_t x, int64_t y, int64_t *ret) {
  const uint64_t d = common_divisor(magnitude(x), magnitude(y));
  *ret = (int64_t)d;
  return d <= INT64_MAX;
}

static bool multiple(int64_t x, int64_t y, int64_t *ret) {
  const uint64_t a = magnitude(x);
  const uint64_t b = magnitude(y);
  uint64_t m = 0;
  const bool fits = a == 0 || b == 0 || !__builtin_mul_overflow(a / common_divisor(a, b), b, &m);
  *ret = (int64_t)m;
  return fits && m <= INT64_MAX;
}

static glv_status combine_rows(const function_frame *f, const operand *arguments, combine fn,
                               size_t rows, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    const int64_t x = OPERAND_VALUE(&arguments[0], int64_t, i);
    const int64_t y = OPERAND_VALUE(&arguments[1], int64_t, i);
    if (!fn(x, y, &((int64_t *)values)[i]) && array_is_valid(&a, i)) {
      return FAIL(err, GLV_E_SQL_EXEC, "Signed integer overflow in %s(%lld, %lld)",
                  f->binding->function->name, (long long)x, (long long)y);
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status gcd(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                      glv_error *err) {
  return combine_rows(f, arguments, divisor, rows, ret, err);
}
static glv_status lcm(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                      glv_error *err) {
  return combine_rows(f, arguments, multiple, rows, ret, err);
}

enum { FACTORIAL_MAX = 20 };

static glv_status factorial(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  int64_t factorials[FACTORIAL_MAX + 1] = {1};
  for (int n = 1; n <= FACTORIAL_MAX; n++) {
    factorials[n] = factorials[n - 1] * n;
  }
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    const int64_t n = OPERAND_VALUE(&arguments[0], int64_t, i);
    const bool fits = n >= 0 && n <= FACTORIAL_MAX;
    if (!fits && array_is_valid(&a, i)) {
      return FAIL(err, GLV_E_SQL_EXEC, "factorial(%lld): %s", (long long)n,
                  n < 0 ? "the number must not be negative" : "the result does not fit int64");
    }
    ((int64_t *)values)[i] = fits ? factorials[n] : 0;
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_integers(function_binding *b, size_t count, glv_error *err) {
  static const type_kind KIND = TYPE_INT64;
  TRY(bind_count(b, count, count, err));
  TRY(bind_variadic(b, &KIND, 1, err));
  b->result = type_simple(TYPE_INT64);
  return GLV_OK;
}

static glv_status bind_pair(function_binding *b, glv_error *err) {
  return bind_integers(b, 2, err);
}
static glv_status bind_one(function_binding *b, glv_error *err) { return bind_integers(b, 1, err); }

const function functions_integer[] = {
    {.name = "gcd", .bind = bind_pair, .kernel = gcd},
    {.name = "lcm", .bind = bind_pair, .kernel = lcm},
    {.name = "factorial", .bind = bind_one, .kernel = factorial},
    {0},
};
