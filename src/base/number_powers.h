/**
 * @file number_powers.h
 * The powers of ten as 128-bit significands, for number.c.
 */
#ifndef GLAIVE_BASE_NUMBER_POWERS_H
#define GLAIVE_BASE_NUMBER_POWERS_H

#include <stdint.h>

#define NUMBER_POWER_FIRST (-342)
#define NUMBER_POWER_LAST 324
/** The last exponent whose entry is the power itself, not rounded; the first one is 0. */
#define NUMBER_POWER_EXACT 55

/** Entry [q - NUMBER_POWER_FIRST] = {high word, low word}. */
extern const uint64_t number_powers[NUMBER_POWER_LAST - NUMBER_POWER_FIRST + 1][2];

#endif
