/*
 * Unpacking of FastLanes groups. The T bits of row r, lane l lie in the bit stream of lane l, whose
 * k-th word is packed[k * L + l] with L = 1024 / T lanes. For one row the word number and the shift
 * are the same in all lanes, and input and output of the lanes are contiguous: so the kernel runs
 * over rows with scalar shifts and the compiler turns the inner loop, whose trip count is constant,
 * into vector code.
 *
 * One kernel per word size takes the width at run time: a kernel per (T, W) pair gains nothing once
 * the output leaves the cache and costs 1.5 MB of code.
 *
 * Invariant: row r reads the words k and, only when its bits straddle two words, k + 1 of a lane;
 * both lie inside the W * L words of the group.
 */
#include "format/bitpack.h"

#include <string.h>

#include "base/cpu.h"

/* Where the eight blocks of rows start, in units of 16 values. */
static const uint8_t BLOCK_ORDER[8] = {0, 4, 2, 6, 1, 5, 3, 7};

/* X(T): one kernel per word size. */
#define BITPACK_WORDS(X)                                                                           \
  X(8)                                                                                             \
  X(16)                                                                                            \
  X(32)                                                                                            \
  X(64)

#define DEFINE_UNPACK(T)                                                                           \
  static inline void unpack_row##T(const uint##T##_t *restrict in, unsigned shift,                 \
                                   uint##T##_t mask, uint##T##_t *restrict out) {                  \
    for (unsigned lane = 0; lane < BITPACK_GROUP / T; lane++) {                                    \
      out[lane] = (uint##T##_t)((in[lane] >> shift) & mask);                                       \
    }                                                                                              \
  }                                                                                                \
                                                                                                   \
  /* shift > 0: the high part of each value is in the next word of its lane. */                    \
  static inline void unpack_straddling##T(const uint##T##_t *restrict in, unsigned shift,          \
                                          uint##T##_t mask, uint##T##_t *restrict out) {           \
    const unsigned left = T - shift;                                                               \
    const uint##T##_t *restrict next = in + BITPACK_GROUP / T;                                     \
    for (unsigned lane = 0; lane < BITPACK_GROUP / T; lane++) {                                    \
      const uint##T##_t low = (uint##T##_t)(in[lane] >> shift);                                    \
      const uint##T##_t high = (uint##T##_t)(next[lane] << left);                                  \
      out[lane] = (uint##T##_t)((low | high) & mask);                                              \
    }                                                                                              \
  }                                                                                                \
                                                                                                   \
  CPU_CLONES static void unpack##T(unsigned width, const uint##T##_t *restrict in,                 \
                                   uint##T##_t *restrict out) {                                    \
    const uint##T##_t mask = (uint##T##_t)(((uint64_t)1 << (width % T)) - 1);                      \
    for (unsigned row = 0; row < T; row++) {                                                       \
      const unsigned word = row * width / T;                                                       \
      const unsigned shift = row * width % T;                                                      \
      const size_t place = BLOCK_ORDER[row / 8] * 16u + (row % 8) * 128u;                          \
      const uint##T##_t *lanes = in + (size_t)word * (BITPACK_GROUP / T);                          \
      if (shift + width <= T) {                                                                    \
        unpack_row##T(lanes, shift, width == T ? (uint##T##_t) - 1 : mask, out + place);           \
      } else {                                                                                     \
        unpack_straddling##T(lanes, shift, mask, out + place);                                     \
      }                                                                                            \
    }                                                                                              \
  }

BITPACK_WORDS(DEFINE_UNPACK)

void bitpack_unpack(unsigned word, unsigned width, const void *packed, void *values) {
  if (width == 0) {
    memset(values, 0, (size_t)BITPACK_GROUP * word / 8);
    return;
  }
  switch (word) {
#define UNPACK_CASE(T)                                                                             \
  case T:                                                                                          \
    unpack##T(width, packed, values);                                                              \
    return;
    BITPACK_WORDS(UNPACK_CASE)
#undef UNPACK_CASE
  }
}
