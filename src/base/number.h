/**
 * @file number.h
 * Floating-point numbers as text, independent of the process locale: correctly rounded parsing,
 * shortest printing that reads back to the same number.
 */
#ifndef GLAIVE_BASE_NUMBER_H
#define GLAIVE_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/**
 * The shortest decimal digits of a finite value: value = 0.d1d2d3... * 10^exponent, d1 != 0 unless
 * value is 0 (then count 1, digit '0', exponent 1).
 */
typedef struct number_digits {
  char digits[17]; /* '0'..'9', not NUL-terminated */
  int count;
  int exponent;
  bool negative; /* also for -0.0 */
} number_digits;

number_digits number_shortest64(double value);
number_digits number_shortest32(float value);

/** Enough for every output of number_print. */
#define NUMBER_TEXT_SIZE 64

/** The exponents of ten, from the first one to before the end, that number_print writes plainly. */
#define NUMBER_PLAIN_FIRST (-5)
#define NUMBER_PLAIN_END 16

/**
 * Lay digits out as `-1.5`, `12.0`, `0.001` when the exponent of ten (of the first digit) is in
 * [first, end), else as `1e16`, `1.25e-7`. first >= -20, end <= 40. @return the length written to
 * text (no NUL).
 */
size_t number_layout(const number_digits *d, int first, int end, char text[NUMBER_TEXT_SIZE]);

/**
 * The usual text of a number: `1.5`, `-0.0`, `1e300`, `NaN`, `inf`: shortest digits, exponent form
 * when the exponent of ten is below -5 or at least 16. @return the length written to text (no NUL).
 */
size_t number_print64(double value, char text[NUMBER_TEXT_SIZE]);
size_t number_print32(float value, char text[NUMBER_TEXT_SIZE]);

/**
 * Parse all of text: [sign] digits [. digits] [e|E [sign] digits] with at least one digit in the
 * mantissa, or inf | infinity | nan in any case. false = it is anything else. Too large gives
 * infinity, too small zero.
 */
bool number_parse64(str text, double *ret);
bool number_parse32(str text, float *ret);

#endif
