/*
 * Definition and repetition levels of one chunk, coded as OutOfLineBitpacking of u16 (8.2): whole
 * groups of 1024 levels are packed; the rest is packed as one group filled up with zeros when that
 * is smaller than the rest as it is (2 bytes each), and stored as it is otherwise, also when both
 * are equal, because the reader tells the two apart by their size.
 */
#include "format/bitpack_pack_private.h"
#include "format/page_write_private.h"

enum { LEVEL_BITS = 16 };

/* A rest of more levels than this is packed. */
static size_t largest_raw_rest(unsigned width) {
  return (size_t)width * BITPACK_GROUP / LEVEL_BITS;
}

size_t levels_size(size_t count, unsigned width) {
  const size_t rest = count % BITPACK_GROUP;
  const size_t groups = count / BITPACK_GROUP + (rest > largest_raw_rest(width));
  return groups * bitpack_size(width) +
         (rest > largest_raw_rest(width) ? 0 : rest * sizeof(uint16_t));
}

void levels_write(const uint16_t *levels, size_t count, unsigned width, uint8_t *ret) {
  for (; count >= BITPACK_GROUP; count -= BITPACK_GROUP) {
    bitpack_pack(LEVEL_BITS, width, levels, ret);
    levels += BITPACK_GROUP;
    ret += bitpack_size(width);
  }
  if (count > largest_raw_rest(width)) {
    uint16_t group[BITPACK_GROUP] = {0};
    memcpy(group, levels, count * sizeof *levels);
    bitpack_pack(LEVEL_BITS, width, group, ret);
  } else {
    memcpy(ret, levels, count * sizeof *levels);
  }
}

encoding_message *levels_encoding(arena *a, size_t max_count, unsigned width) {
  /* Chunks of so few levels hold them as they are: the plain description says the same. */
  return max_count <= largest_raw_rest(width) ? encoding_flat(a, LEVEL_BITS)
                                              : encoding_out_of_line(a, LEVEL_BITS, width);
}
