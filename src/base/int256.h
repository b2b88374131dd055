/**
 * @file int256.h
 * 256-bit integers: the values of decimal256 columns, and steps of decimal arithmetic that leave
 * 128 bits.
 */
#ifndef GLAIVE_BASE_INT256_H
#define GLAIVE_BASE_INT256_H

#include "base/int128.h"

/** Digits of the largest decimal256. */
#define DECIMAL256_DIGITS 76

/** Two's complement, as decimal256 values lie in memory. */
typedef struct int256 {
  uint128 low;
  int128 high;
} int256;

/** Loads and stores at any alignment. */
static inline int256 int256_load(const void *p) {
  int256 v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void int256_store(void *p, int256 v) { memcpy(p, &v, sizeof v); }

static inline int256 int256_of(int128 v) { return (int256){(uint128)v, v < 0 ? -1 : 0}; }
/** Whether v fits 128 bits; then (int128)v.low is its value. */
static inline bool int256_is_narrow(int256 v) { return v.high == ((int128)v.low < 0 ? -1 : 0); }
static inline bool int256_is_zero(int256 v) { return v.low == 0 && v.high == 0; }

/** -1, 0, 1 */
int int256_compare(int256 a, int256 b);
/** 0 - v; the smallest value stays as it is. */
int256 int256_negate(int256 v);
/** The sum, difference, product into *ret; false when it does not fit. */
bool int256_add(int256 a, int256 b, int256 *ret);
bool int256_sub(int256 a, int256 b, int256 *ret);
bool int256_mul(int256 a, int256 b, int256 *ret);
/** Quotient toward zero and remainder with the sign of a; b is not zero. false when the quotient
 * does not fit (the smallest value by -1). */
bool int256_div(int256 a, int256 b, int256 *ret_quotient, int256 *ret_remainder);

/** 10^n, 0 <= n <= 76. */
int256 int256_power10(int n);
/** Whether v has at most `digits` decimal digits, 1 <= digits <= 76. */
bool int256_has_digits(int256 v, int digits);
/** v / 10^n rounded half away from zero; 0 <= n. */
int256 int256_scale_down(int256 v, int n);
/** v * 10^n into *ret; false when it does not fit. 0 <= n. */
bool int256_scale_up(int256 v, int n, int256 *ret);
/** A double of v: the nearest one if v has 64 bits, else that of the upper 64. */
double int256_to_double(int256 v);
/** The whole part of a double; false when it does not fit, or is no number. */
bool int256_from_double(double value, int256 *ret);

#define INT256_TEXT_SIZE 88
/** Decimal text with `scale` digits after the point (a negative scale appends zeros). text has room
 * for INT256_TEXT_SIZE + |scale| bytes. @return the length written (no NUL). */
size_t int256_print(int256 v, int scale, char *text);

#endif
