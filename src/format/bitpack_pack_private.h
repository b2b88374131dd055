/**
 * @file bitpack_pack_private.h
 * Packing of 1024 unsigned integers into as many bits as the largest of them needs.
 */
#ifndef GLAIVE_FORMAT_BITPACK_PACK_PRIVATE_H
#define GLAIVE_FORMAT_BITPACK_PACK_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

/** Values that are packed together. */
#define BITPACK_GROUP 1024

/** Bytes of a packed group. */
static inline size_t bitpack_size(unsigned width) { return (size_t)width * (BITPACK_GROUP / 8); }

/**
 * Pack a group.
 *
 * @param bits   bits of a value in memory: 8, 16, 32 or 64.
 * @param width  bits of a packed value, 0 .. bits; every value is below 2^width.
 * @param values BITPACK_GROUP values, aligned to their size.
 * @param ret    bitpack_size(width) bytes, aligned to bits / 8; must not overlap values.
 * Thread class: T.
 */
void bitpack_pack(unsigned bits, unsigned width, const void *values, void *ret);

/** The union of the bits of count values of 8, 16, 32 or 64 bits. */
uint64_t bitpack_union(unsigned bits, const void *values, size_t count);

/** Bits that the largest value needs when `bits_union` is the union of all: 0 .. 64. */
static inline unsigned bitpack_width(uint64_t bits_union) {
  return bits_union == 0 ? 0 : 64u - (unsigned)__builtin_clzll(bits_union);
}

#endif
