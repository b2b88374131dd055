/*
 * Bit packing and level coding: the check values of lance-file-format 8.3, every width against the
 * definition of the order, and the sizes of rests.
 */
#include "format/bitpack_pack_private.h"
#include "write_support.h"

static uint32_t crc32_of(const uint8_t *bytes, size_t size) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; k++) {
      crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
  }
  return ~crc;
}

/* 1024 numbers as values of `bits` bits. */
typedef union values {
  uint8_t narrow[1024];
  uint16_t half[1024];
  uint32_t word[1024];
  uint64_t wide[1024];
} values;

static uint64_t get(const void *v, unsigned bits, size_t i) {
  uint64_t value = 0;
  memcpy(&value, (const uint8_t *)v + i * bits / 8, bits / 8);
  return value;
}

static void put(void *v, unsigned bits, size_t i, uint64_t value) {
  memcpy((uint8_t *)v + i * bits / 8, &value, bits / 8);
}

static uint64_t mask_of(unsigned width) {
  return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Value (row, lane) of packed words, bit by bit. */
static uint64_t unpacked(const void *packed, unsigned bits, unsigned width, size_t row,
                         size_t lane) {
  const size_t lanes = 1024 / bits;
  uint64_t value = 0;
  for (size_t k = 0; k < width; k++) {
    const size_t bit = row * width + k;
    const uint64_t word = get(packed, bits, bit / bits * lanes + lane);
    value |= (word >> bit % bits & 1) << k;
  }
  return value;
}

static void check_values(void **state) {
  (void)state;
  static const struct {
    unsigned bits, width;
    uint32_t crc;
  } rows[] = {{8, 3, 0x5181cb89},   {16, 1, 0xea95eff2},  {16, 5, 0xc19d7f18}, {32, 3, 0xe0107dd7},
              {32, 20, 0x9a6aee6f}, {64, 10, 0x66e73749}, {64, 33, 0xf92cacf6}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    values in;
    values out;
    for (uint64_t k = 0; k < 1024; k++) {
      put(&in, rows[i].bits, k, k * 2654435761u & mask_of(rows[i].width));
    }
    bitpack_pack(rows[i].bits, rows[i].width, &in, &out);
    assert_int_equal(crc32_of((uint8_t *)&out, bitpack_size(rows[i].width)), rows[i].crc);
  }
}

static void every_width(void **state) {
  (void)state;
  static const size_t order[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  rng r = rng_of(1);
  for (unsigned bits = 8; bits <= 64; bits *= 2) {
    for (unsigned width = 0; width <= bits; width++) {
      values in;
      values out;
      for (size_t i = 0; i < 1024; i++) {
        put(&in, bits, i, rng_next(&r) & mask_of(width));
      }
      bitpack_pack(bits, width, &in, &out);
      for (size_t row = 0; row < bits; row++) {
        for (size_t lane = 0; lane < 1024 / bits; lane++) {
          const size_t i = order[row / 8] * 16 + row % 8 * 128 + lane;
          assert_int_equal(unpacked(&out, bits, width, row, lane), get(&in, bits, i));
        }
      }
    }
  }
}

static void unions(void **state) {
  (void)state;
  for (unsigned bits = 8; bits <= 64; bits *= 2) {
    for (size_t count = 1; count <= 70; count++) {
      for (size_t at = 0; at < count; at++) {
        values v = {{0}};
        const uint64_t value = UINT64_C(0x8000000000000081) >> (64 - bits);
        put(&v, bits, at, value);
        put(&v, bits, count, mask_of(bits)); /* behind the end: not seen */
        assert_true(bitpack_union(bits, &v, count) == value);
      }
    }
  }
  assert_int_equal(bitpack_width(0), 0);
  assert_int_equal(bitpack_width(1), 1);
  assert_int_equal(bitpack_width(255), 8);
  assert_int_equal(bitpack_width(256), 9);
  assert_int_equal(bitpack_width(UINT64_MAX), 64);
}

static void check_levels(size_t count, unsigned width, size_t size) {
  assert_int_equal(levels_size(count, width), size);
  uint16_t levels[4096];
  uint8_t out[8192];
  rng r = rng_of(count);
  for (size_t i = 0; i < count; i++) {
    levels[i] = (uint16_t)(rng_next(&r) & mask_of(width));
  }
  memset(out, 0xAA, sizeof out);
  levels_write(levels, count, width, out);
  assert_int_equal(out[size], 0xAA);
  const size_t full = count / 1024;
  for (size_t g = 0; g < full; g++) {
    assert_int_equal(unpacked(out + g * bitpack_size(width), 16, width, 9, 1),
                     levels[g * 1024 + 64 + 128 + 1]); /* row 9 begins at 4 * 16 + 128 */
  }
  if (count % 1024 != 0 && count % 1024 <= 64 * width) {
    assert_memory_equal(out + full * bitpack_size(width), levels + full * 1024,
                        count % 1024 * sizeof *levels);
  }
}

static void rests_of_levels(void **state) {
  (void)state;
  for (unsigned width = 1; width <= 3; width++) {
    const size_t border = 64 * (size_t)width;
    const size_t group = bitpack_size(width);
    for (size_t full = 0; full <= 3; full++) {
      check_levels(full * 1024 + border - 1, width, full * group + 2 * (border - 1));
      check_levels(full * 1024 + border, width, full * group + 2 * border);
      check_levels(full * 1024 + border + 1, width, (full + 1) * group);
      check_levels(full * 1024 + 1023, width, (full + 1) * group);
      check_levels(full * 1024 + 1024, width, (full + 1) * group);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(check_values),
      cmocka_unit_test(every_width),
      cmocka_unit_test(unions),
      cmocka_unit_test(rests_of_levels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
