/**
 * @file half.h
 * Floats of 16 bits: the values of float16 columns, which are computed with as float.
 */
#ifndef GLAIVE_BASE_HALF_H
#define GLAIVE_BASE_HALF_H

#include <stdint.h>
#include <string.h>

/** The value of the bits, exactly; the payload of a NaN is kept. */
static inline float half_to_float(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  const uint32_t rest = (uint32_t)(half & 0x7fff);
  uint32_t bits = 0;
  if (rest >= 0x7c00) { /* infinity, NaN */
    bits = rest << 13 | 0x7f800000;
  } else if (rest >= 0x0400) {
    bits = (rest << 13) + (UINT32_C(112) << 23);
  } else { /* zero, or a multiple of 2^-24 */
    const float small = (float)rest * 0x1p-24F;
    memcpy(&bits, &small, sizeof bits);
  }
  bits |= sign;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/** The nearest 16-bit float, ties to even; infinity from 65520 on. */
static inline uint16_t half_from_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  const uint32_t rest = bits & 0x7fffffff;
  uint32_t half;
  if (rest > 0x7f800000) {
    half = 0x7e00 | (rest >> 13 & 0x3ff);
  } else if (rest >= 0x477ff000) {
    half = 0x7c00;
  } else if (rest >= 0x38800000) {
    half = (rest - (UINT32_C(112) << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
  } else { /* below 2^-14: adding a half shifts and rounds by the rules of float addition */
    const uint32_t magic = UINT32_C(126) << 23;
    float shifted, half_one;
    memcpy(&shifted, &rest, sizeof shifted);
    memcpy(&half_one, &magic, sizeof half_one);
    shifted += half_one;
    memcpy(&half, &shifted, sizeof half);
    half -= magic;
  }
  return (uint16_t)(sign | half);
}

#endif
