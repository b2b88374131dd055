/* FastLanes groups: all widths against a packer written from the formula, and known checksums. */
#include <string.h>

#include "format/bitpack.h"
#include "read_support.h"

enum { MAX_BYTES = 1024 * 8 };

static uint64_t get(const void *values, unsigned word, size_t i) {
  uint64_t v = 0;
  memcpy(&v, (const uint8_t *)values + i * (word / 8), word / 8);
  return v;
}

static void set(void *values, unsigned word, size_t i, uint64_t v) {
  memcpy((uint8_t *)values + i * (word / 8), &v, word / 8);
}

static uint64_t mask_of(unsigned width) {
  return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

/* Bit by bit, as the format describes it. */
static void pack(unsigned word, unsigned width, const void *values, void *packed) {
  static const unsigned order[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  const unsigned lanes = 1024 / word;
  memset(packed, 0, bitpack_group_bytes(width));
  for (unsigned row = 0; row < word; row++) {
    for (unsigned lane = 0; lane < lanes; lane++) {
      const uint64_t v = get(values, word, order[row / 8] * 16 + (row % 8) * 128 + lane);
      for (unsigned bit = 0; bit < width; bit++) {
        const unsigned at = row * width + bit;
        const size_t k = (size_t)(at / word) * lanes + lane;
        set(packed, word, k, get(packed, word, k) | (v >> bit & 1) << (at % word));
      }
    }
  }
}

static void every_width_unpacks(void **state) {
  (void)state;
  static uint64_t values[1024];
  static uint64_t packed[1024];
  static uint64_t unpacked[1024];
  static const unsigned words[] = {8, 16, 32, 64};
  for (size_t w = 0; w < 4; w++) {
    for (unsigned width = 0; width <= words[w]; width++) {
      uint64_t seed = width + 1;
      for (size_t i = 0; i < 1024; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        set(values, words[w], i, (seed >> 7 ^ seed << 41) & (width == 0 ? 0 : mask_of(width)));
      }
      pack(words[w], width, values, packed);
      memset(unpacked, 0xAA, sizeof unpacked);
      bitpack_unpack(words[w], width, packed, unpacked);
      assert_memory_equal(unpacked, values, 1024 * words[w] / 8);
    }
  }
}

static void known_checksums(void **state) {
  (void)state;
  static const struct {
    unsigned word;
    unsigned width;
    uint32_t crc;
  } known[] = {
      {8, 3, 0x5181cb89},   {16, 1, 0xea95eff2},  {16, 5, 0xc19d7f18},  {32, 3, 0xe0107dd7},
      {32, 20, 0x9a6aee6f}, {64, 10, 0x66e73749}, {64, 33, 0xf92cacf6},
  };
  static uint64_t values[1024];
  static uint64_t packed[1024];
  static uint64_t unpacked[1024];
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    const unsigned word = known[k].word;
    for (size_t i = 0; i < 1024; i++) {
      set(values, word, i, i * UINT64_C(2654435761) & mask_of(known[k].width));
    }
    pack(word, known[k].width, values, packed);
    assert_int_equal(crc32_of(packed, bitpack_group_bytes(known[k].width)), known[k].crc);
    bitpack_unpack(word, known[k].width, packed, unpacked);
    assert_memory_equal(unpacked, values, 1024 * word / 8);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_width_unpacks),
      cmocka_unit_test(known_checksums),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
