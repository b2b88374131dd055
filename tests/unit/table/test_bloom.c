/* The key-existence filter: known hashes and bytes (checklist 24 and 32). */
#include "base/hash.h"
#include "table/bloom.h"
#include "tables.h"

static void expect_set(const bloom *b, size_t at, unsigned value) {
  assert_int_equal(b->bytes[at], value);
}

static size_t count_set(const bloom *b) {
  size_t count = 0;
  for (size_t i = 0; i < BLOOM_BYTES; i++) {
    count += (size_t)__builtin_popcount(b->bytes[i]);
  }
  return count;
}

static void test_token(void **state) {
  (void)state;
  bloom b = {0};
  bloom_add_u64(&b, UINT64_MAX);
  expect_set(&b, 17123, 0x02);
  expect_set(&b, 17125, 0x08);
  expect_set(&b, 17128, 0x20);
  expect_set(&b, 17135, 0x10);
  expect_set(&b, 17136, 0x10);
  expect_set(&b, 17140, 0x04);
  expect_set(&b, 17146, 0x10);
  expect_set(&b, 17151, 0x40);
  assert_int_equal(count_set(&b), 8);
  const unsigned char block[] = {0,    0, 0, 2, 0, 8, 0, 0, 0x20, 0, 0,    0, 0, 0, 0, 0x10,
                                 0x10, 0, 0, 0, 4, 0, 0, 0, 0,    0, 0x10, 0, 0, 0, 0, 0x40};
  assert_memory_equal(b.bytes + 17120, block, sizeof block);
  assert_int_equal(bloom_bytes(&b).size, 32768);
}

static void test_hashes(void **state) {
  (void)state;
  const unsigned char seven[8] = {7};
  assert_true(hash_xx64(seven, 8, 0) == UINT64_C(0x0876cd406afde455));
  unsigned char ones[8];
  memset(ones, 0xff, 8);
  assert_true(hash_xx64(ones, 8, 0) == UINT64_C(0x85d136adb773c6c9));
  bloom b = {0};
  bloom_add_u64(&b, 7);
  for (size_t i = 0; i < BLOOM_BYTES; i++) { /* all bits in block 33 */
    assert_true(b.bytes[i] == 0 || i / 32 == 33);
  }
  assert_int_equal(count_set(&b), 8);
}

static void test_membership(void **state) {
  (void)state;
  static bloom b;
  memset(&b, 0, sizeof b);
  for (uint64_t i = 0; i < 8192; i++) {
    bloom_add_u64(&b, i * 3);
  }
  size_t wrong = 0;
  for (uint64_t i = 0; i < 8192; i++) {
    assert_true(bloom_may_contain_u64(&b, i * 3));
    wrong += bloom_may_contain_u64(&b, i * 3 + 1);
  }
  assert_true(wrong < 40); /* 0.057 % expected */
  const bloom none = {0};
  assert_false(bloom_may_contain_u64(&none, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_token), cmocka_unit_test(test_hashes),
                                     cmocka_unit_test(test_membership)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
