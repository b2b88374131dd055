/* Arithmetic on 256-bit integers: magnitudes of four limbs of 64 bits, and signs. What fits 128
 * bits takes the machine's own operations. */
#include "base/int256.h"

#include <math.h>

enum { LIMBS = 4 };

/* Least significant limb first. */
typedef struct magnitude {
  uint64_t limb[LIMBS];
} magnitude;

int int256_compare(int256 a, int256 b) {
  if (a.high != b.high) {
    return a.high < b.high ? -1 : 1;
  }
  return (a.low > b.low) - (a.low < b.low);
}

int256 int256_negate(int256 v) {
  const uint128 low = 0 - v.low;
  return (int256){low, (int128)(~(uint128)v.high + (low == 0))};
}

bool int256_add(int256 a, int256 b, int256 *ret) {
  ret->low = a.low + b.low;
  const int carry = ret->low < a.low;
  ret->high = (int128)((uint128)a.high + (uint128)b.high + (uint128)carry);
  return (a.high < 0) != (b.high < 0) || (ret->high < 0) == (a.high < 0);
}

bool int256_sub(int256 a, int256 b, int256 *ret) {
  const int borrow = a.low < b.low;
  ret->low = a.low - b.low;
  ret->high = (int128)((uint128)a.high - (uint128)b.high - (uint128)borrow);
  return (a.high < 0) == (b.high < 0) || (ret->high < 0) == (a.high < 0);
}

static magnitude magnitude_of(int256 v) {
  if (v.high < 0) {
    v = int256_negate(v);
  }
  const uint128 high = (uint128)v.high;
  return (magnitude){
      {(uint64_t)v.low, (uint64_t)(v.low >> 64), (uint64_t)high, (uint64_t)(high >> 64)}};
}

/* false when it does not fit the sign. */
static bool from_magnitude(const magnitude *m, bool negative, int256 *ret) {
  ret->low = (uint128)m->limb[1] << 64 | m->limb[0];
  ret->high = (int128)((uint128)m->limb[3] << 64 | m->limb[2]);
  if (negative) {
    *ret = int256_negate(*ret);
  }
  return int256_is_zero(*ret) || (ret->high < 0) == negative;
}

/* *to += limb * 2^(64 * at); false when it does not fit. */
static bool add_limb(magnitude *to, size_t at, uint64_t limb) {
  for (; limb != 0 && at < LIMBS; at++) {
    to->limb[at] += limb;
    limb = to->limb[at] < limb;
  }
  return limb == 0;
}

bool int256_mul(int256 a, int256 b, int256 *ret) {
  int128 narrow;
  if (int256_is_narrow(a) && int256_is_narrow(b) &&
      !__builtin_mul_overflow((int128)a.low, (int128)b.low, &narrow)) {
    *ret = int256_of(narrow);
    return true;
  }
  const magnitude x = magnitude_of(a);
  const magnitude y = magnitude_of(b);
  magnitude product = {{0}};
  bool fits = true;
  for (size_t i = 0; i < LIMBS; i++) {
    for (size_t j = 0; j < LIMBS; j++) {
      const uint128 p = (uint128)x.limb[i] * y.limb[j];
      fits = fits && add_limb(&product, i + j, (uint64_t)p) &&
             add_limb(&product, i + j + 1, (uint64_t)(p >> 64));
    }
  }
  return from_magnitude(&product, (a.high < 0) != (b.high < 0), ret) && fits;
}

/* m / limb in place; returns the remainder. */
static uint64_t divide_limb(magnitude *m, uint64_t limb) {
  uint128 rest = 0;
  for (size_t i = LIMBS; i-- > 0;) {
    rest = rest << 64 | m->limb[i];
    m->limb[i] = (uint64_t)(rest / limb);
    rest %= limb;
  }
  return (uint64_t)rest;
}

static bool is_less(const magnitude *a, const magnitude *b) {
  for (size_t i = LIMBS; i-- > 0;) {
    if (a->limb[i] != b->limb[i]) {
      return a->limb[i] < b->limb[i];
    }
  }
  return false;
}

static void subtract(magnitude *a, const magnitude *b) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < LIMBS; i++) {
    const uint128 difference = (uint128)a->limb[i] - b->limb[i] - borrow;
    a->limb[i] = (uint64_t)difference;
    borrow = (uint64_t)(difference >> 64) != 0;
  }
}

/* *rest = *rest * 2 + bit; the bit that leaves is returned. */
static bool shift_in(magnitude *rest, unsigned bit) {
  const bool out = rest->limb[LIMBS - 1] >> 63 != 0;
  for (size_t i = LIMBS; i-- > 1;) {
    rest->limb[i] = rest->limb[i] << 1 | rest->limb[i - 1] >> 63;
  }
  rest->limb[0] = rest->limb[0] << 1 | bit;
  return out;
}

/* Bit by bit: divisors of more than 64 bits are rare. */
static void divide_long(magnitude *m, const magnitude *divisor, magnitude *rest) {
  *rest = (magnitude){{0}};
  for (size_t bit = (size_t)64 * LIMBS; bit-- > 0;) {
    const bool out = shift_in(rest, (unsigned)(m->limb[bit / 64] >> (bit % 64)) & 1);
    const bool goes = out || !is_less(rest, divisor);
    if (goes) {
      subtract(rest, divisor);
    }
    const uint64_t mask = UINT64_C(1) << (bit % 64);
    m->limb[bit / 64] = goes ? m->limb[bit / 64] | mask : m->limb[bit / 64] & ~mask;
  }
}

bool int256_div(int256 a, int256 b, int256 *ret_quotient, int256 *ret_remainder) {
  if (int256_is_narrow(a) && int256_is_narrow(b) && (int128)b.low != -1) {
    *ret_quotient = int256_of((int128)a.low / (int128)b.low);
    *ret_remainder = int256_of((int128)a.low % (int128)b.low);
    return true;
  }
  magnitude m = magnitude_of(a);
  const magnitude divisor = magnitude_of(b);
  magnitude rest = {{0}};
  if ((divisor.limb[1] | divisor.limb[2] | divisor.limb[3]) == 0) {
    rest.limb[0] = divide_limb(&m, divisor.limb[0]);
  } else {
    divide_long(&m, &divisor, &rest);
  }
  (void)from_magnitude(&rest, a.high < 0, ret_remainder);
  return from_magnitude(&m, (a.high < 0) != (b.high < 0), ret_quotient);
}

int256 int256_power10(int n) {
  int256 p = int256_of(int128_power10(n > DECIMAL128_DIGITS ? DECIMAL128_DIGITS : n));
  if (n > DECIMAL128_DIGITS) {
    (void)int256_mul(p, int256_of(int128_power10(n - DECIMAL128_DIGITS)), &p);
  }
  return p;
}

bool int256_has_digits(int256 v, int digits) {
  if (digits <= DECIMAL128_DIGITS) {
    return int256_is_narrow(v) && int128_magnitude((int128)v.low) < (uint128)int128_power10(digits);
  }
  const int256 limit = int256_power10(digits);
  return int256_compare(v, limit) < 0 && int256_compare(v, int256_negate(limit)) > 0;
}

int256 int256_scale_down(int256 v, int n) {
  if (n > DECIMAL256_DIGITS) {
    return int256_of(0);
  }
  const int256 power = int256_power10(n);
  int256 quotient;
  int256 rest;
  (void)int256_div(v, power, &quotient, &rest); /* the power is positive: it fits */
  const int256 size = rest.high < 0 ? int256_negate(rest) : rest;
  int256 missing;
  (void)int256_sub(power, size, &missing);
  if (int256_compare(size, missing) >= 0) {
    (void)int256_add(quotient, int256_of(v.high < 0 ? -1 : 1), &quotient);
  }
  return quotient;
}

bool int256_scale_up(int256 v, int n, int256 *ret) {
  if (n == 0 || int256_is_zero(v)) {
    *ret = v;
    return true;
  }
  return n <= DECIMAL256_DIGITS && int256_mul(v, int256_power10(n), ret);
}

double int256_to_double(int256 v) {
  if (int256_is_narrow(v) && (int128)v.low >= INT64_MIN && (int128)v.low <= INT64_MAX) {
    return (double)(int64_t)v.low;
  }
  /* Left-justified, so that the upper 64 bits hold the sign and what counts. */
  int shift = 0;
  while (((v.high ^ (int128)((uint128)v.high << 1)) >= 0)) {
    v.high = (int128)((uint128)v.high << 1 | v.low >> 127);
    v.low <<= 1;
    shift++;
  }
  return ldexp((double)(int64_t)(v.high >> 64), 192 - shift);
}

bool int256_from_double(double value, int256 *ret) {
  int exponent;
  const double fraction = frexp(value, &exponent); /* in [0.5, 1) */
  if (!isfinite(value) || exponent > 255) {
    return false;
  }
  if (exponent <= 63) {
    *ret = int256_of((int64_t)value);
    return true;
  }
  const int128 digits = (int128)ldexp(fraction, 63);
  const int shift = exponent - 63;
  int256 power = {shift < 128 ? (uint128)1 << shift : 0,
                  shift < 128 ? 0 : (int128)1 << (shift - 128)};
  return int256_mul(int256_of(digits), power, ret);
}

size_t int256_print(int256 v, int scale, char *text) {
  if (int256_is_narrow(v)) {
    return int128_print((int128)v.low, scale, text);
  }
  char reversed[DECIMAL256_DIGITS + 2];
  int digits = 0;
  magnitude m = magnitude_of(v);
  while ((m.limb[0] | m.limb[1] | m.limb[2] | m.limb[3]) != 0) {
    reversed[digits++] = (char)('0' + (int)divide_limb(&m, 10));
  }
  return int128_layout(reversed, digits, v.high < 0, scale, text);
}
