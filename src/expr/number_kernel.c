/* Loops of arithmetic on numbers, one for every type, operation and shape. */
#include "expr/number_kernel.h"

#include <math.h>

#include "base/cpu.h"
#include "base/half.h"

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

/* Products of narrow types must not overflow int: widen to 32 bits first. */
#define WRAPPING(name, ctype, wide)                                                                \
  CPU_CLONES static void name(enum arithmetic_op op, enum number_shape shape, const void *l,       \
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
static void float16(enum arithmetic_op op, enum number_shape shape, const void *l, const void *r,
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
  CPU_CLONES static void name(enum arithmetic_op op, enum number_shape shape, const void *l,       \
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

/* Doubles of integers and back by operations that every processor has for vectors, which
 * conversions of 64 bits are not: the number becomes the low digits of a large double. */
static inline double double_of_bits(uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

/* Of any int64, correctly rounded: its halves become two doubles, whose sum is rounded once. */
static inline double double_of(int64_t value) {
  const uint64_t low = ((uint64_t)value & UINT32_MAX) | UINT64_C(0x4330000000000000);
  const uint64_t high = ((uint64_t)value >> 32) ^ UINT64_C(0x4530000080000000);
  /* (2^84 + 2^63 + high half) - (2^84 + 2^63 + 2^52) + (2^52 + low half) */
  return double_of_bits(high) - 0x1.00000801p84 + double_of_bits(low);
}

/* Of a number from 0 to 2^52 - 1. */
static inline double double_of_small(uint64_t value) {
  return double_of_bits(value | UINT64_C(0x4330000000000000)) - 0x1p52;
}

#define WHOLE 0x1.8p52 /* so large that what is added to it becomes whole, to the nearest */

/* Of a whole number, in magnitude less than 2^51. */
static inline uint64_t small_of_double(double value) {
  const double sum = value + WHOLE;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  return bits - UINT64_C(0x4338000000000000);
}

/* n / by rounded down, of whole numbers from 0 to 2^45; inverse = 1 / by. (n + 1/2) / by is at
 * least 1 / (2 by) away from any whole number, and computed with an error of less than 1 / (64 by).
 */
static inline double quotient_of(double n, double inverse) {
  return (n + 0.5) * inverse - 0.5 + WHOLE - WHOLE;
}

/* By one positive divisor. Runs of small numbers by doubles; others: see divider.h. */
#define DIVIDING(name, ctype, wide, function, bits, TO_DOUBLE, FROM_DOUBLE)                        \
  CPU_CLONES static bool name##_small(bool modulo, const ctype *in, uint64_t divisor, size_t rows, \
                                      ctype *out) {                                                \
    const double by = (double)divisor;                                                             \
    const double inverse = 1 / by;                                                                 \
    ctype seen = 0;                                                                                \
    for (size_t i = 0; i < rows; i++) {                                                            \
      seen |= in[i];                                                                               \
    }                                                                                              \
    if ((uint64_t)seen >> (bits) != 0 || divisor >> (bits) != 0) {                                 \
      return false;                                                                                \
    }                                                                                              \
    if (modulo) {                                                                                  \
      for (size_t i = 0; i < rows; i++) {                                                          \
        const double n = TO_DOUBLE(in[i]);                                                         \
        out[i] = (ctype)FROM_DOUBLE(n - quotient_of(n, inverse) * by);                             \
      }                                                                                            \
    } else {                                                                                       \
      for (size_t i = 0; i < rows; i++) {                                                          \
        out[i] = (ctype)FROM_DOUBLE(quotient_of(TO_DOUBLE(in[i]), inverse));                       \
      }                                                                                            \
    }                                                                                              \
    return true;                                                                                   \
  }                                                                                                \
  static void name(bool modulo, const ctype *in, const divider *d, size_t rows, ctype *out) {      \
    const wide by = (wide)d->divisor;                                                              \
    if (name##_small(modulo, in, d->divisor, rows, out)) {                                         \
      return;                                                                                      \
    }                                                                                              \
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

#define DOUBLE_32(value) ((double)(int32_t)(value))
#define DOUBLE_64(value) double_of_small((uint64_t)(value))
#define DIVIDING_SIGNED(name, ctype, bits, TO, FROM)                                               \
  DIVIDING(name, ctype, int64_t, divider_divide_signed, bits, TO, FROM)
#define DIVIDING_UNSIGNED(name, ctype, bits, TO, FROM)                                             \
  DIVIDING(name, ctype, uint64_t, divider_divide, bits, TO, FROM)

DIVIDING_SIGNED(divide_i8, int8_t, 31, DOUBLE_32, (int32_t))
DIVIDING_SIGNED(divide_i16, int16_t, 31, DOUBLE_32, (int32_t))
DIVIDING_SIGNED(divide_i32, int32_t, 31, DOUBLE_32, (int32_t))
DIVIDING_SIGNED(divide_i64, int64_t, 45, DOUBLE_64, small_of_double)
DIVIDING_UNSIGNED(divide_u8, uint8_t, 31, DOUBLE_32, (int32_t))
DIVIDING_UNSIGNED(divide_u16, uint16_t, 31, DOUBLE_32, (int32_t))
DIVIDING_UNSIGNED(divide_u32, uint32_t, 31, DOUBLE_32, (int32_t))
DIVIDING_UNSIGNED(divide_u64, uint64_t, 45, DOUBLE_64, small_of_double)

void number_divide(type_kind kind, bool modulo, const void *l, const divider *d, size_t rows,
                   void *to) {
  switch (kind) {
  case TYPE_INT8:
    divide_i8(modulo, l, d, rows, to);
    break;
  case TYPE_INT16:
    divide_i16(modulo, l, d, rows, to);
    break;
  case TYPE_INT32:
    divide_i32(modulo, l, d, rows, to);
    break;
  case TYPE_INT64:
    divide_i64(modulo, l, d, rows, to);
    break;
  case TYPE_UINT8:
    divide_u8(modulo, l, d, rows, to);
    break;
  case TYPE_UINT16:
    divide_u16(modulo, l, d, rows, to);
    break;
  case TYPE_UINT32:
    divide_u32(modulo, l, d, rows, to);
    break;
  default:
    divide_u64(modulo, l, d, rows, to);
    break;
  }
}

void number_arithmetic(type_kind kind, enum arithmetic_op op, enum number_shape shape,
                       const void *l, const void *r, size_t rows, void *to) {
  switch (kind) {
  case TYPE_FLOAT16:
    float16(op, shape, l, r, rows, to);
    break;
  case TYPE_FLOAT32:
    float32(op, shape, l, r, rows, to);
    break;
  case TYPE_FLOAT64:
    float64(op, shape, l, r, rows, to);
    break;
  case TYPE_INT8:
  case TYPE_UINT8:
    wrap8(op, shape, l, r, rows, to);
    break;
  case TYPE_INT16:
  case TYPE_UINT16:
    wrap16(op, shape, l, r, rows, to);
    break;
  case TYPE_INT32:
  case TYPE_UINT32:
    wrap32(op, shape, l, r, rows, to);
    break;
  default:
    wrap64(op, shape, l, r, rows, to);
    break;
  }
}

#define WIDEN(name, from_type, to_type, EXPR)                                                      \
  CPU_CLONES static void name(const void *in, size_t rows, void *out) {                            \
    const from_type *from = in;                                                                    \
    to_type *to = out;                                                                             \
    for (size_t i = 0; i < rows; i++) {                                                            \
      to[i] = EXPR(from[i]);                                                                       \
    }                                                                                              \
  }

WIDEN(widen_i32_i64, int32_t, int64_t, (int64_t))
WIDEN(widen_i32_f64, int32_t, double, (double))
WIDEN(widen_i64_f64, int64_t, double, double_of)
WIDEN(widen_f32_f64, float, double, (double))

typedef void (*widener)(const void *in, size_t rows, void *out);

/* The pairs that arithmetic makes of columns of different types; NULL: not one of them. */
static widener widener_of(type_kind from, type_kind to) {
  if (to == TYPE_INT64) {
    return from == TYPE_INT32 ? widen_i32_i64 : NULL;
  }
  if (to != TYPE_FLOAT64) {
    return NULL;
  }
  switch (from) {
  case TYPE_INT32:
    return widen_i32_f64;
  case TYPE_INT64:
    return widen_i64_f64;
  case TYPE_FLOAT32:
    return widen_f32_f64;
  default:
    return NULL;
  }
}

bool number_widens(type_kind from, type_kind to) { return widener_of(from, to) != NULL; }

void number_widen(type_kind from, type_kind to, const void *in, size_t rows, void *out) {
  widener_of(from, to)(in, rows, out);
}

/* above, below: the range of the type after truncation, not themselves in it. */
#define NARROW(name, ctype, above, below)                                                          \
  CPU_CLONES static bool name(const double *in, size_t rows, ctype *out) {                         \
    uint64_t odd = 0; /* as wide as the values, which vectorises */                                \
    for (size_t i = 0; i < rows; i++) {                                                            \
      odd |= (uint64_t) !(in[i] > (above)) | (uint64_t) !(in[i] < (below));                        \
    }                                                                                              \
    for (size_t i = 0; odd == 0 && i < rows; i++) {                                                \
      out[i] = (ctype)in[i];                                                                       \
    }                                                                                              \
    return odd == 0;                                                                               \
  }

NARROW(narrow_f64_i32, int32_t, -2147483649.0, 2147483648.0)
NARROW(narrow_f64_i64, int64_t, -0x1.0000000000001p63, 0x1p63)

bool number_narrows(type_kind from, type_kind to) {
  return from == TYPE_FLOAT64 && (to == TYPE_INT32 || to == TYPE_INT64);
}

bool number_narrow(type_kind to, const double *in, size_t rows, void *out) {
  return to == TYPE_INT32 ? narrow_f64_i32(in, rows, out) : narrow_f64_i64(in, rows, out);
}
