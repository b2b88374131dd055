/**
 * @file divider.h
 * Division of many numbers by one: a multiplication and two shifts instead of a division each, by
 * the method of Granlund and Montgomery in the form without branches (as in libdivide).
 *
 * The quotient of n by d is ((n - q) / 2 + q) >> shift with q = n * magic / 2^64, where 2^64 +
 * magic is 2^(64 + shift) / d rounded up; n - q cannot overflow, which n + q could.
 */
#ifndef GLAIVE_BASE_DIVIDER_H
#define GLAIVE_BASE_DIVIDER_H

#include "base/int128.h"

typedef struct divider {
  uint64_t divisor;
  uint64_t magic;
  unsigned shift;
} divider;

/** divisor >= 1. */
static inline divider divider_of(uint64_t divisor) {
  divider d = {.divisor = divisor};
  if (divisor <= 1) {
    return d;
  }
  const unsigned log = 63 - (unsigned)__builtin_clzll(divisor);
  if ((divisor & (divisor - 1)) == 0) {
    d.shift = log - 1; /* one shift is in the formula already */
    return d;
  }
  const uint128 power = (uint128)1 << (64 + log);
  const uint64_t half = (uint64_t)(power / divisor); /* of the magic number */
  const uint64_t rest = (uint64_t)(power % divisor);
  const bool rounds = rest >= divisor - rest;
  d.magic = 2 * half + (rounds ? 1 : 0) + 1;
  d.shift = log;
  return d;
}

static inline uint64_t divider_divide(const divider *d, uint64_t n) {
  const uint64_t q = (uint64_t)(((uint128)n * d->magic) >> 64);
  return d->divisor == 1 ? n : (((n - q) >> 1) + q) >> d->shift;
}

/** n / d, truncated as in C; the divisor is positive. */
static inline int64_t divider_divide_signed(const divider *d, int64_t n) {
  const uint64_t sign = (uint64_t)(n >> 63); /* all ones when negative */
  const uint64_t q = divider_divide(d, ((uint64_t)n ^ sign) - sign);
  return (int64_t)((q ^ sign) - sign);
}

/** n / d, rounded down; the divisor is positive and at most 2^63 - 1. */
static inline int64_t divider_floor(const divider *d, int64_t n) {
  const uint64_t sign = (uint64_t)(n >> 63);
  return (int64_t)(divider_divide(d, (uint64_t)n ^ sign) ^ sign); /* ~(~n / d) when negative */
}

#endif
