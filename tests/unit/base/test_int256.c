/* Arithmetic, scaling and printing of 256-bit integers; floats of 16 bits. */
#include <math.h>

#include "base/half.h"
#include "base/int256.h"
#include "support/cmocka.h"

static int256 parse(const char *text) {
  int256 v = int256_of(0);
  const bool negative = *text == '-';
  for (text += negative; *text != '\0'; text++) {
    assert_true(int256_mul(v, int256_of(10), &v));
    assert_true(int256_add(v, int256_of(*text - '0'), &v));
  }
  return negative ? int256_negate(v) : v;
}

static void assert_text(int256 v, int scale, const char *expected) {
  char text[INT256_TEXT_SIZE + 64];
  text[int256_print(v, scale, text)] = '\0';
  assert_string_equal(text, expected);
}

#define LARGEST "57896044618658097711785492504343953926634992332820282019728792003956564819967"
#define SMALLEST "-57896044618658097711785492504343953926634992332820282019728792003956564819968"

static int256 smallest(void) { return (int256){0, (int128)((uint128)1 << 127)}; }

static void test_print(void **state) {
  (void)state;
  assert_text(int256_of(0), 2, "0.00");
  assert_text(int256_of(-5), 2, "-0.05");
  assert_text(parse("123456789012345678901234567890123456789012345"), 5,
              "1234567890123456789012345678901234567890.12345");
  assert_text(parse(LARGEST), 0, LARGEST);
  assert_text(smallest(), 0, SMALLEST);
  assert_text(int256_power10(76), 0,
              "10000000000000000000000000000000000000000000000000000000000000000000000000000");
  assert_text(int256_power10(39), -2, "100000000000000000000000000000000000000000");
}

static void test_sums(void **state) {
  (void)state;
  int256 v;
  const int256 largest = parse(LARGEST);
  assert_true(int256_add(int256_of(-1), int256_of(1), &v) && int256_is_zero(v));
  assert_true(int256_sub(int256_of(0), int256_of(1), &v) && int256_compare(v, int256_of(-1)) == 0);
  assert_false(int256_add(largest, int256_of(1), &v));
  assert_false(int256_sub(smallest(), int256_of(1), &v));
  assert_true(int256_add(largest, smallest(), &v) && int256_compare(v, int256_of(-1)) == 0);
  assert_int_equal(int256_compare(smallest(), largest), -1);
  assert_int_equal(int256_compare(largest, int256_of(7)), 1);
}

static void test_products(void **state) {
  (void)state;
  int256 v;
  assert_true(int256_mul(parse("-123456789012345678901234567890123456789"),
                         parse("987654321098765432109876543210987654"), &v));
  assert_text(v, 0, "-121932631137021795226185032733866788554857491592373266306026078345281483006");
  assert_true(int256_mul(int256_power10(38), int256_power10(38), &v));
  assert_int_equal(int256_compare(v, int256_power10(76)), 0);
  assert_false(int256_mul(int256_power10(39), int256_power10(38), &v));
  assert_true(int256_mul(smallest(), int256_of(1), &v) && int256_compare(v, smallest()) == 0);
  assert_false(int256_mul(smallest(), int256_of(-1), &v));
}

/* a = q * b + r, |r| < |b|, r has the sign of a */
static void assert_division(int256 a, int256 b) {
  int256 q, r, back;
  assert_true(int256_div(a, b, &q, &r));
  assert_true(int256_mul(q, b, &back) && int256_add(back, r, &back));
  assert_int_equal(int256_compare(back, a), 0);
  assert_true(int256_is_zero(r) || (r.high < 0) == (a.high < 0));
  const int256 r_size = r.high < 0 ? int256_negate(r) : r;
  const int256 b_size = b.high < 0 ? int256_negate(b) : b;
  assert_true(int256_compare(r_size, b_size) < 0);
}

static void test_division(void **state) {
  (void)state;
  const int256 values[] = {int256_of(1),
                           int256_of(-1),
                           int256_of(7),
                           int256_of(-10),
                           int256_power10(19),
                           int256_power10(20),
                           int256_power10(38),
                           int256_power10(39),
                           int256_power10(60),
                           parse(LARGEST),
                           parse("-340282366920938463463374607431768211456")};
  const size_t count = sizeof values / sizeof *values;
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) {
      assert_division(values[i], values[j]);
      assert_division(int256_negate(values[i]), values[j]);
    }
  }
  int256 q, r;
  assert_false(int256_div(smallest(), int256_of(-1), &q, &r));
  assert_true(int256_is_zero(r));
}

static void test_scale(void **state) {
  (void)state;
  int256 v;
  assert_text(int256_scale_down(int256_of(25), 1), 0, "3");
  assert_text(int256_scale_down(int256_of(-25), 1), 0, "-3");
  assert_text(int256_scale_down(int256_of(24), 1), 0, "2");
  assert_text(int256_scale_down(int256_power10(76), 76), 0, "1");
  assert_text(int256_scale_down(int256_power10(76), 77), 0, "0");
  assert_text(int256_scale_down(parse("15000000000000000000000000000000000000000"), 40), 0, "2");
  assert_true(int256_scale_up(int256_of(0), 1000, &v));
  assert_true(int256_scale_up(int256_of(-7), 70, &v));
  assert_false(int256_scale_up(int256_of(6), 76, &v));
  assert_false(int256_scale_up(int256_of(1), 77, &v));
  assert_true(int256_has_digits(int256_of(-99), 2));
  assert_false(int256_has_digits(int256_of(100), 2));
  assert_true(int256_has_digits(int256_power10(75), 76));
  assert_false(int256_has_digits(int256_negate(int256_power10(76)), 76));
}

static void test_doubles(void **state) {
  (void)state;
  int256 v;
  assert_true(int256_to_double(int256_of(-3)) == -3.0);
  assert_true(int256_to_double(int256_power10(22)) == 1e22);
  assert_true(int256_to_double(smallest()) == -0x1p255);
  assert_true(int256_from_double(-1.9, &v));
  assert_text(v, 0, "-1");
  assert_true(int256_from_double(0x1p254, &v));
  assert_true(int256_to_double(v) == 0x1p254);
  assert_false(int256_from_double(0x1p255, &v));
  assert_false(int256_from_double((double)NAN, &v));
  assert_false(int256_from_double(-(double)INFINITY, &v));
}

static void test_half(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
    const float value = half_to_float((uint16_t)bits);
    if (isnan(value)) {
      assert_true(isnan(half_to_float(half_from_float(value))));
    } else {
      assert_int_equal(half_from_float(value), bits);
    }
  }
  assert_true(half_to_float(0x3c00) == 1.0F);
  assert_true(half_to_float(0x0001) == 0x1p-24F);
  assert_true(half_to_float(0x7bff) == 65504.0F);
  assert_int_equal(half_from_float(65519.996F), 0x7bff);
  assert_int_equal(half_from_float(65520.0F), 0x7c00);
  assert_int_equal(half_from_float(-1e10F), 0xfc00);
  assert_int_equal(half_from_float(0x1p-25F), 0x0000); /* a tie goes to even */
  assert_int_equal(half_from_float(0x1.8p-25F), 0x0001);
  assert_int_equal(half_from_float(1.00048828125F), 0x3c00);
  assert_int_equal(half_from_float(1.00146484375F), 0x3c02);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_print),    cmocka_unit_test(test_sums),
      cmocka_unit_test(test_products), cmocka_unit_test(test_division),
      cmocka_unit_test(test_scale),    cmocka_unit_test(test_doubles),
      cmocka_unit_test(test_half)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
