/*
 * Packing of groups of 1024 integers in the FastLanes order (lance-file-format 8.3).
 *
 * A group of words of T bits is seen as L = 1024 / T lanes. Row r of lane l is the value at index
 * START(r) + l; a lane is a stream of bits into which its rows 0 .. T - 1 go one after another, W
 * bits each, and word k of lane l is stored at k * L + l. Neighbouring lanes are neighbours in both
 * arrays, so a loop over the lanes works on whole vectors.
 *
 * There is one kernel for each T and W. Everything but the lane number is a constant in it: a row
 * becomes a load, a shift and an OR, and where a word of the stream is full, a store. The kernels
 * are made by macros because the compiler has to see all rows of a lane as straight-line code
 * before it turns the loop over the lanes into vector code.
 */
#include <assert.h>
#include <string.h>

#include "format/bitpack_pack_private.h"

/* Rows are stored in blocks of 8, whose order is that of the numbers 0 .. 7 with the bits reversed:
 * 0 4 2 6 1 5 3 7. */
#define REVERSED(q) ((((q)&1) << 2) | ((q)&2) | (((q) >> 2) & 1))
#define START(r) ((size_t)REVERSED((r) / 8) * 16 + (size_t)((r) % 8) * 128)

/* Put row R behind the rows before it, and store the word that it fills. `rest` is what the stored
 * word had no room for. */
#define PACK_ROW(T, W, R)                                                                          \
  value = in[START(R) + lane];                                                                     \
  word = (uint##T##_t)(word | (uint##T##_t)(value << ((R) * (W) % (T))));                          \
  if ((R) * (W) % (T) + (W) >= (T)) {                                                              \
    out[(size_t)((R) * (W) / (T)) * (1024 / (T)) + lane] = word;                                   \
    word =                                                                                         \
        (R) * (W) % (T) + (W) > (T) ? (uint##T##_t)(value >> (((T) - (R) * (W) % (T)) % (T))) : 0; \
  }

#define PACK_8_ROWS(T, W, R)                                                                       \
  PACK_ROW(T, W, R)                                                                                \
  PACK_ROW(T, W, (R) + 1)                                                                          \
  PACK_ROW(T, W, (R) + 2)                                                                          \
  PACK_ROW(T, W, (R) + 3)                                                                          \
  PACK_ROW(T, W, (R) + 4)                                                                          \
  PACK_ROW(T, W, (R) + 5)                                                                          \
  PACK_ROW(T, W, (R) + 6)                                                                          \
  PACK_ROW(T, W, (R) + 7)
#define PACK_ROWS_8(W) PACK_8_ROWS(8, W, 0)
#define PACK_ROWS_16(W) PACK_8_ROWS(16, W, 0) PACK_8_ROWS(16, W, 8)
#define PACK_ROWS_32(W)                                                                            \
  PACK_8_ROWS(32, W, 0) PACK_8_ROWS(32, W, 8) PACK_8_ROWS(32, W, 16) PACK_8_ROWS(32, W, 24)
#define PACK_ROWS_64(W)                                                                            \
  PACK_8_ROWS(64, W, 0)                                                                            \
  PACK_8_ROWS(64, W, 8)                                                                            \
  PACK_8_ROWS(64, W, 16)                                                                           \
  PACK_8_ROWS(64, W, 24)                                                                           \
  PACK_8_ROWS(64, W, 32)                                                                           \
  PACK_8_ROWS(64, W, 40)                                                                           \
  PACK_8_ROWS(64, W, 48)                                                                           \
  PACK_8_ROWS(64, W, 56)

#define PACK_KERNEL(T, W)                                                                          \
  static void pack_##T##_##W(const void *values, void *ret) {                                      \
    const uint##T##_t *restrict in = values;                                                       \
    uint##T##_t *restrict out = ret;                                                               \
    for (size_t lane = 0; lane < 1024 / (T); lane++) {                                             \
      uint##T##_t value;                                                                           \
      uint##T##_t word = 0;                                                                        \
      PACK_ROWS_##T(W)                                                                             \
    }                                                                                              \
  }

/* X(T, W) for every width of a word size. */
/* clang-format off */
#define EACH_8(X, T)                                                                               \
  X(T, 1) X(T, 2) X(T, 3) X(T, 4) X(T, 5) X(T, 6) X(T, 7) X(T, 8)
#define EACH_16(X, T)                                                                              \
  EACH_8(X, T)                                                                                     \
  X(T, 9) X(T, 10) X(T, 11) X(T, 12) X(T, 13) X(T, 14) X(T, 15) X(T, 16)
#define EACH_32(X, T)                                                                              \
  EACH_16(X, T)                                                                                    \
  X(T, 17) X(T, 18) X(T, 19) X(T, 20) X(T, 21) X(T, 22) X(T, 23) X(T, 24)                          \
  X(T, 25) X(T, 26) X(T, 27) X(T, 28) X(T, 29) X(T, 30) X(T, 31) X(T, 32)
#define EACH_64(X, T)                                                                              \
  EACH_32(X, T)                                                                                    \
  X(T, 33) X(T, 34) X(T, 35) X(T, 36) X(T, 37) X(T, 38) X(T, 39) X(T, 40)                          \
  X(T, 41) X(T, 42) X(T, 43) X(T, 44) X(T, 45) X(T, 46) X(T, 47) X(T, 48)                          \
  X(T, 49) X(T, 50) X(T, 51) X(T, 52) X(T, 53) X(T, 54) X(T, 55) X(T, 56)                          \
  X(T, 57) X(T, 58) X(T, 59) X(T, 60) X(T, 61) X(T, 62) X(T, 63) X(T, 64)
/* clang-format on */

/* The conditions in a kernel are constants. */
/* NOLINTBEGIN(readability-function-cognitive-complexity,readability-function-size) */
EACH_8(PACK_KERNEL, 8)
EACH_16(PACK_KERNEL, 16)
EACH_32(PACK_KERNEL, 32)
EACH_64(PACK_KERNEL, 64)
/* NOLINTEND(readability-function-cognitive-complexity,readability-function-size) */

typedef void pack_kernel(const void *values, void *ret);

#define KERNEL_NAME(T, W) pack_##T##_##W,
static pack_kernel *const kernels_8[] = {EACH_8(KERNEL_NAME, 8)};
static pack_kernel *const kernels_16[] = {EACH_16(KERNEL_NAME, 16)};
static pack_kernel *const kernels_32[] = {EACH_32(KERNEL_NAME, 32)};
static pack_kernel *const kernels_64[] = {EACH_64(KERNEL_NAME, 64)};

void bitpack_pack(unsigned bits, unsigned width, const void *values, void *ret) {
  assert(width <= bits);
  if (width == 0) {
    return;
  }
  switch (bits) {
  case 8:
    kernels_8[width - 1](values, ret);
    break;
  case 16:
    kernels_16[width - 1](values, ret);
    break;
  case 32:
    kernels_32[width - 1](values, ret);
    break;
  default:
    assert(bits == 64);
    kernels_64[width - 1](values, ret);
  }
}

uint64_t bitpack_union(unsigned bits, const void *values, size_t count) {
  const uint8_t *bytes = values;
  const size_t size = count * bits / 8;
  uint64_t lanes[4] = {0, 0, 0, 0}; /* the union by byte position modulo 32 */
  size_t at = 0;
  for (; at + sizeof lanes <= size; at += sizeof lanes) {
    uint64_t words[4];
    memcpy(words, bytes + at, sizeof words);
    for (size_t i = 0; i < 4; i++) {
      lanes[i] |= words[i];
    }
  }
  uint64_t rest[4] = {0, 0, 0, 0};
  memcpy(rest, bytes + at, size - at);
  uint64_t all = 0;
  for (size_t i = 0; i < 4; i++) {
    all |= lanes[i] | rest[i];
  }
  for (unsigned half = 32; half >= bits; half /= 2) {
    all |= all >> half; /* both halves have the same kind of value */
  }
  return bits == 64 ? all : all & ((UINT64_C(1) << bits) - 1);
}
