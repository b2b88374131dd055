/*
 * Arithmetic and bit operations that look at every row, and negation (sql-expressions 10.2, 10.3).
 * What cannot fail is done by fused.c.
 *
 * Division looks at every row: a zero divisor or an overflow is an error only where both sides are
 * valid.
 */
#include <inttypes.h>

#include "expr/eval_private.h"
#include "expr/interval.h"
#include "expr/number_kernel.h"

/* Values of one row of an integer operand, widened. */
static int64_t signed_at(const operand *o, size_t i) {
  const size_t row = operand_row(o, i);
  switch (type_width(o->a.type)) {
  case 1:
    return ARRAY_VALUES(&o->a, int8_t)[row];
  case 2:
    return ARRAY_VALUES(&o->a, int16_t)[row];
  case 4:
    return ARRAY_VALUES(&o->a, int32_t)[row];
  default:
    return ARRAY_VALUES(&o->a, int64_t)[row];
  }
}

static uint64_t unsigned_at(const operand *o, size_t i) {
  const size_t row = operand_row(o, i);
  switch (type_width(o->a.type)) {
  case 1:
    return ARRAY_VALUES(&o->a, uint8_t)[row];
  case 2:
    return ARRAY_VALUES(&o->a, uint16_t)[row];
  case 4:
    return ARRAY_VALUES(&o->a, uint32_t)[row];
  default:
    return ARRAY_VALUES(&o->a, uint64_t)[row];
  }
}

static void store(void *to, size_t width, size_t i, uint64_t value) {
  switch (width) {
  case 1:
    ((uint8_t *)to)[i] = (uint8_t)value;
    break;
  case 2:
    ((uint16_t *)to)[i] = (uint16_t)value;
    break;
  case 4:
    ((uint32_t *)to)[i] = (uint32_t)value;
    break;
  default:
    ((uint64_t *)to)[i] = value;
    break;
  }
}

static glv_status zero_divisor(glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC, "Divide by zero error");
}

/* One row of a signed division. */
static glv_status divide_signed(bool modulo, int64_t a, int64_t b, size_t width, uint64_t *ret,
                                glv_error *err) {
  if (b == 0) {
    return zero_divisor(err);
  }
  if (b == -1) {
    const int64_t least = (int64_t)(UINT64_MAX << (8 * width - 1));
    if (a == least && !modulo) {
      return FAIL(err, GLV_E_SQL_EXEC,
                  "Arithmetic overflow: Overflow happened on: %" PRId64 " / %" PRId64, a, b);
    }
    *ret = modulo ? 0 : (uint64_t)0 - (uint64_t)a;
    return GLV_OK;
  }
  *ret = (uint64_t)(modulo ? a % b : a / b);
  return GLV_OK;
}

/* Row by row. */
static glv_status divide(const operand *l, const operand *r, bool modulo, size_t rows, array *a,
                         void *to, glv_error *err) {
  const size_t width = type_width(a->type);
  const bool is_signed = type_is_signed(a->type->kind);
  for (size_t i = 0; i < rows; i++) {
    uint64_t value = 0;
    if (!array_is_valid(a, i)) {
      store(to, width, i, 0);
      continue;
    }
    if (is_signed) {
      TRY(divide_signed(modulo, signed_at(l, i), signed_at(r, i), width, &value, err));
    } else {
      const uint64_t x = unsigned_at(l, i);
      const uint64_t y = unsigned_at(r, i);
      if (y == 0) {
        return zero_divisor(err);
      }
      value = modulo ? x % y : x / y;
    }
    store(to, width, i, value);
  }
  return GLV_OK;
}

glv_status eval_division(const eval *v, const node *n, const operand *left, const operand *right,
                         operand *ret, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  void *to = NULL;
  const size_t rows = eval_rows(v, left, right, &o.is_scalar);
  if ((left->is_scalar && !array_is_valid(&left->a, 0)) ||
      (right->is_scalar && !array_is_valid(&right->a, 0))) {
    ret->is_scalar = true;
    return array_new_null(v->env, n->type, 1, &ret->a, err);
  }
  TRY(array_new_fixed(v->env, n->type, rows, &o.a, &to, err));
  TRY(eval_validity(v->env, left, right, rows, &o.a, err));
  TRY(divide(left, right, n->op == ARITHMETIC_MOD, rows, &o.a, to, err));
  *ret = operand_move(&o);
  return GLV_OK;
}

static void negate(const array *x, size_t rows, void *to) {
  if (x->type->kind == TYPE_FLOAT16) {
    for (size_t i = 0; i < rows; i++) {
      ((uint16_t *)to)[i] = ARRAY_VALUES(x, uint16_t)[i] ^ 0x8000;
    }
  } else if (x->type->kind == TYPE_INTERVAL_MONTH_DAY_NANO) {
    for (size_t i = 0; i < rows; i++) {
      interval v = interval_load((const uint8_t *)x->values + i * sizeof v);
      v = (interval){(int32_t)(0 - (uint32_t)v.months), (int32_t)(0 - (uint32_t)v.days),
                     (int64_t)(0 - (uint64_t)v.nanos)};
      interval_store((uint8_t *)to + i * sizeof v, v);
    }
  } else if (x->type->kind == TYPE_FLOAT64) {
    for (size_t i = 0; i < rows; i++) {
      ((double *)to)[i] = -ARRAY_VALUES(x, double)[i];
    }
  } else if (x->type->kind == TYPE_FLOAT32) {
    for (size_t i = 0; i < rows; i++) {
      ((float *)to)[i] = -ARRAY_VALUES(x, float)[i];
    }
  } else {
    const uint64_t zero = 0;
    number_arithmetic(x->type->kind, ARITHMETIC_SUB, SHAPE_LEFT_ONE, &zero, x->values, rows, to);
  }
}

glv_status eval_negate(const eval *v, const node *n, const operand *x, operand *ret,
                       glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  void *to = NULL;
  const size_t rows = eval_rows(v, x, NULL, &o.is_scalar);
  const type_kind kind = n->type->kind;
  if (!type_is_integer(kind) && !type_is_float(kind) && kind != TYPE_INTERVAL_MONTH_DAY_NANO) {
    return FAIL(err, GLV_E_SQL_EXEC, "Invalid arithmetic operation: !%s", TYPE_TEXT(n->type));
  }
  TRY(array_new_fixed(v->env, n->type, rows, &o.a, &to, err));
  TRY(eval_validity(v->env, x, NULL, rows, &o.a, err));
  negate(&x->a, rows, to);
  *ret = operand_move(&o);
  return GLV_OK;
}

/* Counts of shifts are taken modulo the width; shifts to the right keep the sign of signed types.
 */
static uint64_t bitwise(enum bitwise_op op, int64_t a, uint64_t ua, uint64_t b, bool is_signed,
                        unsigned bits) {
  const unsigned count = (unsigned)(b & (bits - 1));
  switch (op) {
  case BITWISE_AND:
    return ua & b;
  case BITWISE_OR:
    return ua | b;
  case BITWISE_XOR:
    return ua ^ b;
  case BITWISE_SHL:
    return ua << count;
  case BITWISE_SHR:
    return is_signed ? (uint64_t)(a >> count) : ua >> count;
  }
  return 0;
}

glv_status eval_bitwise(const eval *v, const node *n, const operand *left, const operand *right,
                        operand *ret, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  void *to = NULL;
  const size_t rows = eval_rows(v, left, right, &o.is_scalar);
  const size_t width = type_width(n->type);
  const bool is_signed = type_is_signed(n->type->kind);
  TRY(array_new_fixed(v->env, n->type, rows, &o.a, &to, err));
  TRY(eval_validity(v->env, left, right, rows, &o.a, err));
  for (size_t i = 0; i < rows; i++) {
    store(to, width, i,
          bitwise((enum bitwise_op)n->op, is_signed ? signed_at(left, i) : 0, unsigned_at(left, i),
                  unsigned_at(right, i), is_signed, (unsigned)(8 * width)));
  }
  *ret = operand_move(&o);
  return GLV_OK;
}
