/**
 * @file int128.h
 * 128-bit integers: the values of decimal128 columns, and wide products. Both compilers that Glaive
 * supports have them on all its 64-bit machines.
 */
#ifndef GLAIVE_BASE_INT128_H
#define GLAIVE_BASE_INT128_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/** Digits of the largest decimal128. */
#define DECIMAL128_DIGITS 38

/** Loads and stores at any alignment. */
static inline int128 int128_load(const void *p) {
  int128 v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void int128_store(void *p, int128 v) { memcpy(p, &v, sizeof v); }

/** |v|, also for the smallest value. */
static inline uint128 int128_magnitude(int128 v) {
  return v < 0 ? (uint128)0 - (uint128)v : (uint128)v;
}

/** 10^n, 0 <= n <= 38. */
int128 int128_power10(int n);
/** v / 10^n rounded half away from zero; 0 <= n. */
int128 int128_scale_down(int128 v, int n);
/** v * 10^n into *ret; false when it does not fit. 0 <= n. */
bool int128_scale_up(int128 v, int n, int128 *ret);
/** Nearest double of v (ties to even). */
double int128_to_double(int128 v);

#define INT128_TEXT_SIZE 48
/** Decimal text with `scale` digits after the point (a negative scale appends zeros). text has room
 * for INT128_TEXT_SIZE + |scale| bytes. @return the length written (no NUL). */
size_t int128_print(int128 v, int scale, char *text);
/** The same for a magnitude whose digits are known, least significant first; none for zero. */
size_t int128_layout(const char *reversed, int digits, bool negative, int scale, char *text);

#endif
