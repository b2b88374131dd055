/* The calendar against the C library's gmtime and against itself over long stretches. */
#include <time.h>

#include "base/calendar.h"
#include "support/cmocka.h"

static void test_every_day(void **state) {
  (void)state;
  civil expected = calendar_civil(-800000);
  for (int64_t day = -800000; day < 800000; day++) {
    const civil c = calendar_civil(day);
    assert_true(c.year == expected.year && c.month == expected.month && c.day == expected.day);
    assert_true(calendar_is_valid(c));
    assert_int_equal(calendar_days(c), day);
    if (++expected.day > calendar_month_days(expected.year, expected.month)) {
      expected.day = 1;
      expected.month = expected.month % 12 + 1;
      expected.year += expected.month == 1;
    }
  }
}

static void test_against_library(void **state) {
  (void)state;
  for (int64_t day = -30000000; day < 30000000; day += 9973) {
    const time_t t = (time_t)(day * 86400);
    struct tm tm;
    assert_non_null(gmtime_r(&t, &tm));
    const civil c = calendar_civil(day);
    assert_int_equal(c.year, tm.tm_year + 1900);
    assert_int_equal(c.month, tm.tm_mon + 1);
    assert_int_equal(c.day, tm.tm_mday);
  }
}

static void test_far_days(void **state) {
  (void)state;
  static const int64_t days[] = {INT64_C(1) << 62, -(INT64_C(1) << 62), INT64_C(99999999999)};
  for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
    assert_int_equal(calendar_days(calendar_civil(days[i])), days[i]);
  }
}

static void test_validity(void **state) {
  (void)state;
  assert_true(calendar_is_valid((civil){2024, 2, 29}));
  assert_true(calendar_is_valid((civil){2000, 2, 29}));
  assert_false(calendar_is_valid((civil){1900, 2, 29}));
  assert_false(calendar_is_valid((civil){2021, 2, 29}));
  assert_false(calendar_is_valid((civil){2021, 0, 1}));
  assert_false(calendar_is_valid((civil){2021, 13, 1}));
  assert_false(calendar_is_valid((civil){2021, 4, 31}));
  assert_false(calendar_is_valid((civil){2021, 4, 0}));
  assert_true(calendar_is_valid((civil){0, 2, 29}));
}

static void assert_date(int64_t days, const char *expected) {
  char text[CALENDAR_TEXT_SIZE + 1];
  text[calendar_print_date(days, text)] = 0;
  assert_string_equal(text, expected);
}

static void assert_timestamp(int64_t seconds, int32_t nanos, const char *expected) {
  char text[CALENDAR_TEXT_SIZE + 1];
  text[calendar_print_timestamp(seconds, nanos, text)] = 0;
  assert_string_equal(text, expected);
}

static void test_texts(void **state) {
  (void)state;
  assert_date(0, "1970-01-01");
  assert_date(18629, "2021-01-02");
  assert_date(-719162, "0001-01-01");
  assert_date(-719528, "0000-01-01");
  assert_date(-719529, "-0001-12-31");
  assert_date(2932896, "9999-12-31");
  assert_date(2932897, "+10000-01-01");
  assert_timestamp(0, 0, "1970-01-01T00:00:00");
  assert_timestamp(-1, 500000000, "1969-12-31T23:59:59.500");
  assert_timestamp(1609556645, 123456000, "2021-01-02T03:04:05.123456");
  assert_timestamp(1609556645, 7, "2021-01-02T03:04:05.000000007");
  char text[CALENDAR_TEXT_SIZE];
  assert_true(calendar_print_timestamp(INT64_MAX, 999999999, text) < CALENDAR_TEXT_SIZE);
  assert_true(calendar_print_timestamp(INT64_MIN, 999999999, text) < CALENDAR_TEXT_SIZE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_day), cmocka_unit_test(test_against_library),
      cmocka_unit_test(test_far_days),  cmocka_unit_test(test_validity),
      cmocka_unit_test(test_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
