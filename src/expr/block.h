/**
 * @file block.h
 * Blocks of 64 rows: the unit in which kernels make and read bitmaps.
 */
#ifndef GLAIVE_EXPR_BLOCK_H
#define GLAIVE_EXPR_BLOCK_H

#include "base/checked.h"

#define BLOCK_ROWS 64

/** 64 bytes of 0 or 1 as 64 bits. */
static inline uint64_t block_pack(const uint8_t bytes[BLOCK_ROWS]) {
  uint64_t word = 0;
  for (unsigned i = 0; i < 8; i++) {
    word |= ((load_le64(bytes + 8 * i) * UINT64_C(0x0102040810204080)) >> 56) << (8 * i);
  }
  return word;
}

/**
 * Run STATEMENT, which sets bytes[j] to 0 or 1 for row i + j, over `rows` rows; every block then
 * becomes words[i / 64], combined by OP (`=` or `|=`). The inner loop has a constant length, which
 * lets the compiler vectorise it.
 */
#define BLOCK_LOOP(rows, words, OP, STATEMENT)                                                     \
  do {                                                                                             \
    uint8_t bytes[BLOCK_ROWS] = {0};                                                               \
    size_t i = 0;                                                                                  \
    for (; i + BLOCK_ROWS <= (rows); i += BLOCK_ROWS) {                                            \
      for (size_t j = 0; j < BLOCK_ROWS; j++) {                                                    \
        STATEMENT;                                                                                 \
      }                                                                                            \
      (words)[i / BLOCK_ROWS] OP block_pack(bytes);                                                \
    }                                                                                              \
    if (i < (rows)) {                                                                              \
      memset(bytes, 0, sizeof bytes);                                                              \
      for (size_t j = 0; i + j < (rows); j++) {                                                    \
        STATEMENT;                                                                                 \
      }                                                                                            \
      (words)[i / BLOCK_ROWS] OP block_pack(bytes);                                                \
    }                                                                                              \
  } while (0)

#endif
