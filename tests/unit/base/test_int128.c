/* Scaling, rounding and printing of 128-bit decimals. */

#include "base/int128.h"
#include "support/cmocka.h"

static void assert_text(int128 v, int scale, const char *expected) {
  char text[INT128_TEXT_SIZE + 64];
  text[int128_print(v, scale, text)] = 0;
  assert_string_equal(text, expected);
}

static void test_print(void **state) {
  (void)state;
  assert_text(0, 0, "0");
  assert_text(0, 2, "0.00");
  assert_text(0, -2, "0");
  assert_text(5, 2, "0.05");
  assert_text(-5, 2, "-0.05");
  assert_text(1234, 2, "12.34");
  assert_text(12, -3, "12000");
  assert_text(int128_power10(38), 0, "100000000000000000000000000000000000000");
  assert_text(int128_power10(38) - 1, 38, "0.99999999999999999999999999999999999999");
  const int128 smallest = (int128)((uint128)1 << 127);
  assert_text(smallest, 0, "-170141183460469231731687303715884105728");
}

static void test_scale(void **state) {
  (void)state;
  assert_true(int128_scale_down(25, 1) == 3);
  assert_true(int128_scale_down(-25, 1) == -3);
  assert_true(int128_scale_down(24, 1) == 2);
  assert_true(int128_scale_down(24, 0) == 24);
  assert_true(int128_scale_down(int128_power10(38), 39) == 0);
  assert_true(int128_scale_down(int128_power10(38), 38) == 1);
  int128 v;
  assert_true(int128_scale_up(-7, 3, &v) && v == -7000);
  assert_true(int128_scale_up(0, 1000, &v) && v == 0);
  assert_false(int128_scale_up(1, 39, &v));
  assert_false(int128_scale_up(int128_power10(38), 1, &v));
  assert_true(int128_to_double(int128_power10(22)) == 1e22);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_print), cmocka_unit_test(test_scale)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
