/* Runs of bits against a bit-by-bit model. */
#include "arrow/bits.h"
#include "base/checked.h"
#include "support/cmocka.h"
#include "support/rng.h"

enum { BYTES = 64, BITS = BYTES * 8 };

static void fill(uint8_t *bits, rng *r) {
  for (size_t i = 0; i < BYTES; i++) {
    bits[i] = (uint8_t)rng_next(r);
  }
}

static void random_ranges(void **state) {
  (void)state;
  rng r = rng_of(1);
  for (int round = 0; round < 20000; round++) {
    uint8_t from[BYTES];
    uint8_t to[BYTES];
    uint8_t want[BYTES];
    fill(from, &r);
    fill(to, &r);
    memcpy(want, to, BYTES);
    const size_t count = (size_t)rng_below(&r, 200);
    const size_t a = (size_t)rng_below(&r, BITS - count);
    const size_t b = (size_t)rng_below(&r, BITS - count);
    size_t ones = 0;
    for (size_t i = 0; i < count; i++) {
      bit_put(want, b + i, bit_get(from, a + i));
      ones += bit_get(from, a + i);
    }
    bits_copy(to, b, from, a, count);
    assert_memory_equal(to, want, BYTES);
    assert_int_equal(bits_count(from, a, count), ones);
    assert_true(bits_equal(from, a, to, b, count));
    if (count != 0) {
      to[(b + count / 2) / 8] ^= (uint8_t)(1u << ((b + count / 2) % 8));
      assert_false(bits_equal(from, a, to, b, count));
    }
    memcpy(to, want, BYTES);
    for (size_t i = 0; i < count; i++) {
      bit_put(want, b + i, round % 2 == 0);
    }
    bits_fill(to, b, count, round % 2 == 0);
    assert_memory_equal(to, want, BYTES);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_ranges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
