/*
 * Runs of bits. The work is done 64 bits at a time: load_bits gathers up to 64 bits from any
 * position without touching bytes outside the range.
 */
#include "arrow/bits.h"

#include "base/checked.h"

/* count (1..64) bits from position first, the lowest first; the rest of the result is 0. */
static uint64_t load_bits(const uint8_t *bits, size_t first, size_t count) {
  const uint8_t *p = bits + first / 8;
  const size_t shift = first % 8;
  const size_t bytes = (shift + count + 7) / 8; /* at most 9 */
  uint64_t low = 0;
  memcpy(&low, p, size_min(bytes, 8));
  low >>= shift;
  if (bytes == 9) {
    low |= (uint64_t)p[8] << (64 - shift);
  }
  return count == 64 ? low : low & ((UINT64_C(1) << count) - 1);
}

/* Put count (1..64) bits at position first. */
static void store_bits(uint8_t *bits, size_t first, uint64_t value, size_t count) {
  while (count != 0) {
    const size_t shift = first % 8;
    const size_t part = size_min(8 - shift, count);
    const unsigned mask = ((1u << part) - 1) << shift;
    uint8_t *p = &bits[first / 8];
    *p = (uint8_t)((*p & ~mask) | (((unsigned)value << shift) & mask));
    value >>= part;
    first += part;
    count -= part;
  }
}

size_t bits_count(const uint8_t *bits, size_t first, size_t count) {
  size_t total = 0;
  while (count != 0) {
    const size_t part = size_min(count, 64);
    total += (size_t)__builtin_popcountll(load_bits(bits, first, part));
    first += part;
    count -= part;
  }
  return total;
}

void bits_copy(uint8_t *to, size_t to_first, const uint8_t *from, size_t from_first, size_t count) {
  if (to_first % 8 != 0 && count != 0) { /* bring the target to a byte boundary */
    const size_t part = size_min(count, 8 - to_first % 8);
    store_bits(to, to_first, load_bits(from, from_first, part), part);
    to_first += part;
    from_first += part;
    count -= part;
  }
  if (from_first % 8 == 0 && count >= 8) {
    const size_t bytes = count / 8;
    memcpy(to + to_first / 8, from + from_first / 8, bytes);
    to_first += bytes * 8;
    from_first += bytes * 8;
    count -= bytes * 8;
  }
  while (count >= 64) {
    const uint64_t word = load_bits(from, from_first, 64);
    memcpy(to + to_first / 8, &word, 8);
    to_first += 64;
    from_first += 64;
    count -= 64;
  }
  if (count != 0) {
    store_bits(to, to_first, load_bits(from, from_first, count), count);
  }
}

void bits_fill(uint8_t *bits, size_t first, size_t count, bool value) {
  if (first % 8 != 0 && count != 0) {
    const size_t part = size_min(count, 8 - first % 8);
    store_bits(bits, first, value ? 0xFF : 0, part);
    first += part;
    count -= part;
  }
  if (count >= 8) {
    memset(bits + first / 8, value ? 0xFF : 0, count / 8);
    first += count / 8 * 8;
    count %= 8;
  }
  if (count != 0) {
    store_bits(bits, first, value ? 0xFF : 0, count);
  }
}

bool bits_equal(const uint8_t *a, size_t a_first, const uint8_t *b, size_t b_first, size_t count) {
  while (count != 0) {
    const size_t part = size_min(count, 64);
    if (load_bits(a, a_first, part) != load_bits(b, b_first, part)) {
      return false;
    }
    a_first += part;
    b_first += part;
    count -= part;
  }
  return true;
}
