/* Borrowed text: order, prefixes, numbers, UTF-8; checked integers; XXH64. */
#include "base/checked.h"
#include "base/hash.h"
#include "base/str.h"
#include "support/cmocka.h"

static void order(void **state) {
  (void)state;
  assert_int_equal(str_compare(STR("a"), STR("a")), 0);
  assert_true(str_compare(STR("a"), STR("ab")) < 0);
  assert_true(str_compare(STR("b"), STR("ab")) > 0);
  assert_true(str_compare(STR("\xFF"), STR("a")) > 0);
  assert_true(str_compare(STR("C"), STR("a")) < 0);
  assert_int_equal(str_compare(str_of(NULL), STR("")), 0);
  assert_true(str_compare(str_of(NULL), STR("a")) < 0);
  assert_true(str_equal(str_of(NULL), STR("")));
  assert_true(str_equal_ascii_case(STR("aBc"), STR("AbC")));
  assert_false(str_equal_ascii_case(STR("\xC3\xA9"), STR("\xC3\x89")));
  assert_true(str_starts_with(STR("abc"), STR("")));
  assert_true(str_starts_with(STR("abc"), STR("ab")));
  assert_false(str_starts_with(STR("a"), STR("ab")));
  assert_true(str_ends_with(STR("abc"), STR("bc")));
  assert_false(str_ends_with(STR("c"), STR("bc")));
}

static void numbers(void **state) {
  (void)state;
  uint64_t n = 7;
  assert_true(str_to_u64(STR("0"), &n));
  assert_int_equal(n, 0);
  assert_true(str_to_u64(STR("18446744073709551615"), &n));
  assert_true(n == UINT64_MAX);
  const char *bad[] = {"",   "-1", "+1", " 1", "1 ", "18446744073709551616", "99999999999999999999",
                       "1a", "0x1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(str_to_u64(str_of(bad[i]), &n));
  }
}

static void utf8(void **state) {
  (void)state;
  const char *good[] = {"",
                        "a",
                        "\xC2\x80",
                        "\xDF\xBF",
                        "\xE0\xA0\x80",
                        "\xED\x9F\xBF",
                        "\xEE\x80\x80",
                        "\xEF\xBF\xBF",
                        "\xF0\x90\x80\x80",
                        "\xF4\x8F\xBF\xBF"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(str_is_utf8(str_of(good[i])));
  }
  const char *bad[] = {"\x80",
                       "\xC0\x80",
                       "\xC1\xBF",
                       "\xC2",
                       "\xC2\x41",
                       "\xE0\x9F\xBF",
                       "\xED\xA0\x80",
                       "\xED\xBF\xBF",
                       "\xE2\x82",
                       "\xF0\x8F\xBF\xBF",
                       "\xF4\x90\x80\x80",
                       "\xF5\x80\x80\x80",
                       "\xFE",
                       "\xFF",
                       "a\xF0\x90\x80",
                       "\xF0\x90\x80\x41"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(str_is_utf8(str_of(bad[i])));
  }
  assert_true(str_is_utf8(str_slice("a\0b", 3)));
}

/* Every code point, encoded, is well-formed; surrogates are not. */
static void utf8_exhaustive(void **state) {
  (void)state;
  for (uint32_t c = 0x800; c <= 0x10FFFF; c++) {
    char text[4];
    size_t size;
    if (c < 0x10000) {
      text[0] = (char)(0xE0 | (c >> 12));
      text[1] = (char)(0x80 | ((c >> 6) & 0x3F));
      text[2] = (char)(0x80 | (c & 0x3F));
      size = 3;
    } else {
      text[0] = (char)(0xF0 | (c >> 18));
      text[1] = (char)(0x80 | ((c >> 12) & 0x3F));
      text[2] = (char)(0x80 | ((c >> 6) & 0x3F));
      text[3] = (char)(0x80 | (c & 0x3F));
      size = 4;
    }
    assert_int_equal(str_is_utf8(str_slice(text, size)), !(c >= 0xD800 && c <= 0xDFFF));
  }
}

static void checked(void **state) {
  (void)state;
  size_t s;
  uint64_t u;
  assert_false(size_add(SIZE_MAX, 1, &s));
  assert_true(size_add(SIZE_MAX, 0, &s));
  assert_false(size_mul(SIZE_MAX / 2 + 1, 2, &s));
  assert_true(size_mul(SIZE_MAX / 2, 2, &s));
  assert_false(u64_add(UINT64_MAX, 1, &u));
  assert_false(u64_mul(UINT64_MAX, 2, &u));
  assert_true(range_within(0, 0, 0));
  assert_true(range_within(5, 5, 10));
  assert_false(range_within(6, 5, 10));
  assert_false(range_within(UINT64_MAX, 2, 10));
  assert_false(range_within(2, UINT64_MAX, 10));
  assert_int_equal(align_up(65, 64), 128);
  assert_int_equal(align_up(64, 64), 64);
  uint8_t bits[2] = {0, 0};
  bit_put(bits, 9, true);
  assert_true(bit_get(bits, 9));
  assert_int_equal(bits[1], 2);
  bit_put(bits, 9, false);
  assert_int_equal(bits[1], 0);
  const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  assert_int_equal(load_le16(bytes), 0x0201);
  assert_int_equal(load_le32(bytes), 0x04030201);
  assert_true(load_le64(bytes) == 0x0807060504030201u);
}

static void xx64(void **state) {
  (void)state; /* the reference values of XXH64 */
  assert_true(hash_xx64("", 0, 0) == 0xEF46DB3751D8E999u);
  assert_true(hash_xx64("abc", 3, 0) == 0x44BC2CF5AD770999u);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order),           cmocka_unit_test(numbers), cmocka_unit_test(utf8),
      cmocka_unit_test(utf8_exhaustive), cmocka_unit_test(checked), cmocka_unit_test(xx64),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
