/**
 * @file bitpack.h
 * The FastLanes bit order: groups of 1024 unsigned values of T bits (8, 16, 32 or 64), each stored
 * in W bits (lance-file-format section 8.3).
 */
#ifndef GLAIVE_FORMAT_BITPACK_H
#define GLAIVE_FORMAT_BITPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Values of a group. */
#define BITPACK_GROUP 1024

/** Bytes of a packed group; the same for every word size. */
static inline size_t bitpack_group_bytes(unsigned width) { return (size_t)width * 128; }

/** True for the word sizes that exist. */
static inline bool bitpack_is_word(uint64_t bits) {
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/**
 * Unpack one group.
 *
 * @param word    T; bitpack_is_word.
 * @param width   W, 0..T.
 * @param packed  bitpack_group_bytes(width) bytes, aligned to T bits.
 * @param values  room for 1024 values of T bits, aligned to T bits; must not overlap packed.
 * Thread class: T.
 */
void bitpack_unpack(unsigned word, unsigned width, const void *packed, void *values);

#endif
