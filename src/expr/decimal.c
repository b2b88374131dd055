/*
 * Arithmetic on decimal128 (sql-expressions 9.2): values are integers that count units of
 * 10^-scale. Sums and remainders bring both sides to the larger scale; a quotient scales its left
 * side so that truncating division gives the digits of the result. Results are not held to their
 * precision, but a step that leaves 128 bits is an error even where the end would fit.
 */
#include "base/int128.h"
#include "expr/eval_private.h"

static int128 decimal_at(const operand *o, size_t i) {
  return int128_load((const uint8_t *)o->a.values + 16 * operand_row(o, i));
}

/* v * 10^digits; digits < 0 divides. */
static bool rescale(int128 v, int digits, int128 *ret) {
  if (digits < 0) {
    *ret = digits < -DECIMAL128_DIGITS ? 0 : v / int128_power10(-digits);
    return true;
  }
  return int128_scale_up(v, digits, ret);
}

static bool compute(enum arithmetic_op op, const type *t, const type *lt, const type *rt, int128 a,
                    int128 b, int128 *ret) {
  if (op == ARITHMETIC_MUL) {
    return !__builtin_mul_overflow(a, b, ret);
  }
  if (op == ARITHMETIC_DIV) {
    const int digits = t->scale - lt->scale + rt->scale;
    const bool fits = digits >= 0 ? rescale(a, digits, &a) : rescale(b, -digits, &b);
    if (!fits || b == 0 || (b == -1 && a == (int128)((uint128)1 << 127))) {
      return false;
    }
    *ret = a / b;
    return true;
  }
  if (!rescale(a, t->scale - lt->scale, &a) || !rescale(b, t->scale - rt->scale, &b)) {
    return false;
  }
  if (op == ARITHMETIC_MOD) {
    *ret = b == -1 || b == 0 ? 0 : a % b;
    return b != 0;
  }
  return op == ARITHMETIC_ADD ? !__builtin_add_overflow(a, b, ret)
                              : !__builtin_sub_overflow(a, b, ret);
}

static glv_status compute_row(const node *n, int128 a, int128 b, int128 *ret, glv_error *err) {
  const enum arithmetic_op op = (enum arithmetic_op)n->op;
  if (b == 0 && (op == ARITHMETIC_DIV || op == ARITHMETIC_MOD)) {
    return FAIL(err, GLV_E_SQL_EXEC, "Divide by zero error");
  }
  if (!compute(op, n->type, n->child[0]->type, n->child[1]->type, a, b, ret)) {
    return FAIL(err, GLV_E_SQL_EXEC, "Arithmetic overflow: a step of %s leaves 128 bits",
                TYPE_TEXT(n->type));
  }
  return GLV_OK;
}

glv_status eval_decimal(const eval *v, const node *n, const operand *left, const operand *right,
                        operand *ret, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  void *to = NULL;
  const size_t rows = eval_rows(v, left, right, &o.is_scalar);
  TRY(array_new_fixed(v->env, n->type, rows, &o.a, &to, err));
  TRY(eval_validity(v->env, left, right, rows, &o.a, err));
  for (size_t i = 0; i < rows; i++) {
    int128 value = 0;
    if (array_is_valid(&o.a, i)) {
      if (right == NULL) {
        value = (int128)((uint128)0 - (uint128)decimal_at(left, i));
      } else {
        TRY(compute_row(n, decimal_at(left, i), decimal_at(right, i), &value, err));
      }
    }
    int128_store((uint8_t *)to + 16 * i, value);
  }
  *ret = operand_move(&o);
  return GLV_OK;
}
