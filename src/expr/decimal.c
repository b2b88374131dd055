/*
 * Arithmetic on decimals (sql-expressions 9.2): values are integers that count units of 10^-scale.
 * Sums and remainders bring both sides to the larger scale; a quotient scales its left side so that
 * truncating division gives the digits of the result. Results are not held to their precision, but
 * a step that leaves the width of the type is an error even where the end would fit.
 */
#include "expr/cast_private.h"
#include "expr/eval_private.h"

/* Whether a step stays within the width of the type. */
static bool fits(const type *t, int256 v) {
  return t->kind == TYPE_DECIMAL256 || int256_is_narrow(v);
}

/* v * 10^digits; digits < 0 divides. */
static bool rescale(const type *t, int digits, int256 *v) {
  if (digits >= 0) {
    return int256_scale_up(*v, digits, v) && fits(t, *v);
  }
  if (digits < -DECIMAL256_DIGITS) {
    *v = int256_of(0);
    return true;
  }
  int256 rest;
  return int256_div(*v, int256_power10(-digits), v, &rest);
}

static bool divide(const type *t, int digits, int256 a, int256 b, int256 *ret) {
  int256 rest;
  return (digits >= 0 ? rescale(t, digits, &a) : rescale(t, -digits, &b)) &&
         int256_div(a, b, ret, &rest) && fits(t, *ret);
}

static bool remainder_of(int256 a, int256 b, int256 *ret) {
  int256 quotient;
  (void)int256_div(a, b, &quotient, ret); /* MIN % -1 is 0, whatever the quotient */
  return true;
}

/* b is not zero when it divides. */
static bool compute(const node *n, int256 a, int256 b, int256 *ret) {
  const type *t = n->type;
  const int l_scale = n->child[0]->type->scale;
  const int r_scale = n->child[1]->type->scale;
  if (n->op == ARITHMETIC_MUL) {
    return int256_mul(a, b, ret) && fits(t, *ret);
  }
  if (n->op == ARITHMETIC_DIV) {
    return divide(t, t->scale - l_scale + r_scale, a, b, ret);
  }
  if (!rescale(t, t->scale - l_scale, &a) || !rescale(t, t->scale - r_scale, &b)) {
    return false;
  }
  if (n->op == ARITHMETIC_MOD) {
    return remainder_of(a, b, ret);
  }
  return (n->op == ARITHMETIC_ADD ? int256_add : int256_sub)(a, b, ret) && fits(t, *ret);
}

static glv_status compute_row(const node *n, int256 a, int256 b, int256 *ret, glv_error *err) {
  if (int256_is_zero(b) && (n->op == ARITHMETIC_DIV || n->op == ARITHMETIC_MOD)) {
    return FAIL(err, GLV_E_SQL_EXEC, "Divide by zero error");
  }
  if (!compute(n, a, b, ret)) {
    return FAIL(err, GLV_E_SQL_EXEC, "Arithmetic overflow: a step of %s leaves its width",
                TYPE_TEXT(n->type));
  }
  return GLV_OK;
}

static int256 decimal_at(const operand *o, size_t i) {
  return cast_decimal_at(&o->a, operand_row(o, i));
}

glv_status eval_decimal(const eval *v, const node *n, const operand *left, const operand *right,
                        operand *ret, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  void *to = NULL;
  const size_t rows = eval_rows(v, left, right, &o.is_scalar);
  const size_t width = type_width(n->type);
  TRY(array_new_fixed(v->env, n->type, rows, &o.a, &to, err));
  TRY(eval_validity(v->env, left, right, rows, &o.a, err));
  for (size_t i = 0; i < rows; i++) {
    int256 value = int256_of(0);
    if (array_is_valid(&o.a, i)) {
      if (right == NULL) {
        value = int256_negate(decimal_at(left, i));
      } else {
        TRY(compute_row(n, decimal_at(left, i), decimal_at(right, i), &value, err));
      }
    }
    memcpy((uint8_t *)to + width * i, &value, width); /* the low bytes of two's complement */
  }
  *ret = operand_move(&o);
  return GLV_OK;
}
