/**
 * @file bits.h
 * Runs of bits: validity and boolean values. Bit i of a bitmap is bit i % 8 of byte i / 8.
 */
#ifndef GLAIVE_ARROW_BITS_H
#define GLAIVE_ARROW_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Number of set bits in [first, first + count). */
size_t bits_count(const uint8_t *bits, size_t first, size_t count);
/** Copy count bits; the other bits of the bytes of `to` stay. The ranges must not overlap. */
void bits_copy(uint8_t *to, size_t to_first, const uint8_t *from, size_t from_first, size_t count);
/** Set count bits to a value. */
void bits_fill(uint8_t *bits, size_t first, size_t count, bool value);
/** True iff both ranges hold the same bits. */
bool bits_equal(const uint8_t *a, size_t a_first, const uint8_t *b, size_t b_first, size_t count);
/** Bytes that count bits need. */
static inline size_t bits_size(size_t count) { return count / 8 + (count % 8 != 0); }

#endif
