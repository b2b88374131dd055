/*
 * Arithmetic and bit operations on integers and floats (sql-expressions 10.2, 10.3).
 *
 * Sums, differences and products wrap; they are computed for null rows too, whose values nobody
 * reads. Division looks at every row: a zero divisor or an overflow is an error only where both
 * sides are valid. A result is written over the memory of the left operand when nobody else has it.
 */
#include <inttypes.h>
#include <math.h>

#include "base/cpu.h"
#include "base/divider.h"
#include "base/half.h"
#include "expr/eval_private.h"
#include "expr/interval.h"

/* The three shapes of a loop: rows with rows, rows with one value, one value with rows. */
#define SHAPES(ctype, EXPR)                                                                        \
  do {                                                                                             \
    const ctype *lv = l;                                                                           \
    const ctype *rv = r;                                                                           \
    ctype *out = to;                                                                               \
    if (shape == SHAPE_ROWS) {                                                                     \
      for (size_t i = 0; i < rows; i++) {                                                          \
        const ctype a = lv[i];                                                                     \
        const ctype b = rv[i];                                                                     \
        out[i] = EXPR;                                                                             \
      }                                                                                            \
    } else if (shape == SHAPE_RIGHT_ONE) {                                                         \
      const ctype b = rv[0];                                                                       \
      for (size_t i = 0; i < rows; i++) {                                                          \
        const ctype a = lv[i];                                                                     \
        out[i] = EXPR;                                                                             \
      }                                                                                            \
    } else {                                                                                       \
      const ctype a = lv[0];                                                                       \
      for (size_t i = 0; i < rows; i++) {                                                          \
        const ctype b = rv[i];                                                                     \
        out[i] = EXPR;                                                                             \
      }                                                                                            \
    }                                                                                              \
  } while (0)

enum shape { SHAPE_ROWS, SHAPE_RIGHT_ONE, SHAPE_LEFT_ONE };

static enum shape shape_of(const operand *l, const operand *r) {
  if (r->is_scalar) {
    return SHAPE_RIGHT_ONE;
  }
  return l->is_scalar ? SHAPE_LEFT_ONE : SHAPE_ROWS;
}

/* Products of narrow types must not overflow int: widen to 32 bits first. */
#define WRAPPING(name, ctype, wide)                                                                \
  CPU_CLONES static void name(enum arithmetic_op op, enum shape shape, const void *l,              \
                              const void *r, size_t rows, void *to) {                              \
    switch (op) {                                                                                  \
    case ARITHMETIC_ADD:                                                                           \
      SHAPES(ctype, (ctype)((wide)a + (wide)b));                                                   \
      return;                                                                                      \
    case ARITHMETIC_SUB:                                                                           \
      SHAPES(ctype, (ctype)((wide)a - (wide)b));                                                   \
      return;                                                                                      \
    case ARITHMETIC_MUL:                                                                           \
      SHAPES(ctype, (ctype)((wide)a * (wide)b));                                                   \
      return;                                                                                      \
    case ARITHMETIC_DIV:                                                                           \
    case ARITHMETIC_MOD:                                                                           \
      return;                                                                                      \
    }                                                                                              \
  }

WRAPPING(wrap8, uint8_t, uint32_t)
WRAPPING(wrap16, uint16_t, uint32_t)
WRAPPING(wrap32, uint32_t, uint32_t)
WRAPPING(wrap64, uint64_t, uint64_t)

/* Of 16 bits: computed in 32, then rounded. */
static void float16(enum arithmetic_op op, enum shape shape, const void *l, const void *r,
                    size_t rows, void *to) {
  switch (op) {
  case ARITHMETIC_ADD:
    SHAPES(uint16_t, half_from_float(half_to_float(a) + half_to_float(b)));
    return;
  case ARITHMETIC_SUB:
    SHAPES(uint16_t, half_from_float(half_to_float(a) - half_to_float(b)));
    return;
  case ARITHMETIC_MUL:
    SHAPES(uint16_t, half_from_float(half_to_float(a) * half_to_float(b)));
    return;
  case ARITHMETIC_DIV:
    SHAPES(uint16_t, half_from_float(half_to_float(a) / half_to_float(b)));
    return;
  case ARITHMETIC_MOD:
    SHAPES(uint16_t, half_from_float(fmodf(half_to_float(a), half_to_float(b))));
    return;
  }
}

#define FLOATS(name, ctype, modulo)                                                                \
  CPU_CLONES static void name(enum arithmetic_op op, enum shape shape, const void *l,              \
                              const void *r, size_t rows, void *to) {                              \
    switch (op) {                                                                                  \
    case ARITHMETIC_ADD:                                                                           \
      SHAPES(ctype, a + b);                                                                        \
      return;                                                                                      \
    case ARITHMETIC_SUB:                                                                           \
      SHAPES(ctype, a - b);                                                                        \
      return;                                                                                      \
    case ARITHMETIC_MUL:                                                                           \
      SHAPES(ctype, a *b);                                                                         \
      return;                                                                                      \
    case ARITHMETIC_DIV:                                                                           \
      SHAPES(ctype, a / b);                                                                        \
      return;                                                                                      \
    case ARITHMETIC_MOD:                                                                           \
      SHAPES(ctype, modulo(a, b));                                                                 \
      return;                                                                                      \
    }                                                                                              \
  }

FLOATS(float32, float, fmodf)
FLOATS(float64, double, fmod)

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

/* Row by row, for divisors that may fail. */
static glv_status divide_checked(const operand *l, const operand *r, bool modulo, size_t rows,
                                 array *a, void *to, glv_error *err) {
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

/* By one positive divisor: multiplications, see divider.h. */
#define DIVIDING(name, ctype, wide, function)                                                      \
  static void name(bool modulo, const ctype *in, const divider *d, size_t rows, ctype *out) {      \
    const wide by = (wide)d->divisor;                                                              \
    if (modulo) {                                                                                  \
      for (size_t i = 0; i < rows; i++) {                                                          \
        out[i] = (ctype)(in[i] - function(d, in[i]) * by);                                         \
      }                                                                                            \
    } else {                                                                                       \
      for (size_t i = 0; i < rows; i++) {                                                          \
        out[i] = (ctype)function(d, in[i]);                                                        \
      }                                                                                            \
    }                                                                                              \
  }

DIVIDING(divide_i8, int8_t, int64_t, divider_divide_signed)
DIVIDING(divide_i16, int16_t, int64_t, divider_divide_signed)
DIVIDING(divide_i32, int32_t, int64_t, divider_divide_signed)
DIVIDING(divide_i64, int64_t, int64_t, divider_divide_signed)
DIVIDING(divide_u8, uint8_t, uint64_t, divider_divide)
DIVIDING(divide_u16, uint16_t, uint64_t, divider_divide)
DIVIDING(divide_u32, uint32_t, uint64_t, divider_divide)
DIVIDING(divide_u64, uint64_t, uint64_t, divider_divide)

static void divide_by_one(type_kind kind, bool modulo, const void *l, uint64_t by, size_t rows,
                          void *to) {
  const divider d = divider_of(by);
  switch (kind) {
  case TYPE_INT8:
    divide_i8(modulo, l, &d, rows, to);
    break;
  case TYPE_INT16:
    divide_i16(modulo, l, &d, rows, to);
    break;
  case TYPE_INT32:
    divide_i32(modulo, l, &d, rows, to);
    break;
  case TYPE_INT64:
    divide_i64(modulo, l, &d, rows, to);
    break;
  case TYPE_UINT8:
    divide_u8(modulo, l, &d, rows, to);
    break;
  case TYPE_UINT16:
    divide_u16(modulo, l, &d, rows, to);
    break;
  case TYPE_UINT32:
    divide_u32(modulo, l, &d, rows, to);
    break;
  default:
    divide_u64(modulo, l, &d, rows, to);
    break;
  }
}

static glv_status divide(const operand *l, const operand *r, bool modulo, size_t rows, array *a,
                         void *to, glv_error *err) {
  if (r->is_scalar && !l->is_scalar) {
    const bool is_signed = type_is_signed(a->type->kind);
    if (is_signed ? signed_at(r, 0) > 0 : unsigned_at(r, 0) > 0) { /* nothing can fail */
      const uint64_t by = is_signed ? (uint64_t)signed_at(r, 0) : unsigned_at(r, 0);
      divide_by_one(a->type->kind, modulo, l->a.values, by, rows, to);
      return GLV_OK;
    }
  }
  return divide_checked(l, r, modulo, rows, a, to, err);
}

/* The array for a result: the memory of `left` when it is nobody else's, else new. */
static glv_status begin_result(const eval *v, const type *t, operand *left, const operand *right,
                               size_t rows, array *ret, void **ret_values, glv_error *err) {
  buffer *own = left->a.owners[1];
  const bool reusable = !left->is_scalar && own != NULL && own->release == NULL &&
                        atomic_load(&own->refs) == 1 && left->a.values == own->data &&
                        type_width(left->a.type) == type_width(t) && left->a.length == rows;
  if (reusable) {
    *ret = (array){.type = t, .length = rows, .values = own->data};
    ret->owners[1] = buffer_ref(own);
    *ret_values = own->data;
  } else {
    TRY(array_new_fixed(v->env, t, rows, ret, ret_values, err));
  }
  return eval_validity(v->env, left, right, rows, ret, err);
}

static void run_wrapping(enum arithmetic_op op, enum shape shape, size_t width, const void *l,
                         const void *r, size_t rows, void *to) {
  switch (width) {
  case 1:
    wrap8(op, shape, l, r, rows, to);
    break;
  case 2:
    wrap16(op, shape, l, r, rows, to);
    break;
  case 4:
    wrap32(op, shape, l, r, rows, to);
    break;
  default:
    wrap64(op, shape, l, r, rows, to);
    break;
  }
}

glv_status eval_arithmetic(const eval *v, const node *n, operand *left, const operand *right,
                           operand *ret, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  void *to = NULL;
  const size_t rows = eval_rows(v, left, right, &o.is_scalar);
  const enum arithmetic_op op = (enum arithmetic_op)n->op;
  if ((left->is_scalar && !array_is_valid(&left->a, 0)) ||
      (right->is_scalar && !array_is_valid(&right->a, 0))) {
    ret->is_scalar = true;
    return array_new_null(v->env, n->type, 1, &ret->a, err);
  }
  TRY(begin_result(v, n->type, left, right, rows, &o.a, &to, err));
  const enum shape shape = shape_of(left, right);
  const void *l = left->a.values;
  const void *r = right->a.values;
  if (n->type->kind == TYPE_FLOAT64) {
    float64(op, shape, l, r, rows, to);
  } else if (n->type->kind == TYPE_FLOAT32) {
    float32(op, shape, l, r, rows, to);
  } else if (n->type->kind == TYPE_FLOAT16) {
    float16(op, shape, l, r, rows, to);
  } else if (op == ARITHMETIC_DIV || op == ARITHMETIC_MOD) {
    TRY(divide(left, right, op == ARITHMETIC_MOD, rows, &o.a, to, err));
  } else {
    run_wrapping(op, shape, type_width(n->type), l, r, rows, to);
  }
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
    run_wrapping(ARITHMETIC_SUB, SHAPE_LEFT_ONE, type_width(x->type), &zero, x->values, rows, to);
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
