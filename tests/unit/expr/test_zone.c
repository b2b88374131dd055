/* Time zones: fixed offsets, the database, names that are refused, clocks that are moved. */
#include "expr/zone.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static zone *open_zone(void **state, const char *name) {
  zone *z = NULL;
  assert_int_equal(zone_new(((test_env *)*state)->env, str_of(name), &z, NULL), GLV_OK);
  return z;
}

static void test_fixed(void **state) {
  static const struct {
    const char *name;
    int offset;
  } names[] = {{"+05:30", 19800}, {"-0800", -28800}, {"+14", 50400}, {"UTC", 0}, {"-00:00", 0}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    CLEANUP(zone_cleanup) zone *z = open_zone(state, names[i].name);
    assert_int_equal(zone_offset(z, 0), names[i].offset);
    int64_t utc;
    assert_true(zone_to_utc(z, 100000, &utc));
    assert_int_equal(utc, 100000 - names[i].offset);
  }
}

static void test_refused(void **state) {
  static const char *const names[] = {"",
                                      "Nowhere/City",
                                      "/etc/passwd",
                                      "../zoneinfo/UTC",
                                      "Europe/../UTC",
                                      "Europe//Berlin",
                                      "Europe/",
                                      "+24:00",
                                      "+1",
                                      "5",
                                      "+05:3a",
                                      "Europe/Berlin ",
                                      "tzdata.zi",
                                      "Europe",
                                      "posixrules.",
                                      "\xff",
                                      "europe/berlin?"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    zone *z = NULL;
    glv_error err = {0};
    assert_int_equal(zone_new(((test_env *)*state)->env, str_of(names[i]), &z, &err),
                     GLV_E_SQL_EXEC);
    assert_null(z);
    assert_non_null(strstr(err.message, "timezone"));
  }
  static char long_name[5000];
  memset(long_name, 'a', sizeof long_name);
  zone *z = NULL;
  assert_int_equal(
      zone_new(((test_env *)*state)->env, str_slice(long_name, sizeof long_name), &z, NULL),
      GLV_E_SQL_EXEC);
}

static void test_new_york(void **state) {
  CLEANUP(zone_cleanup) zone *z = open_zone(state, "America/New_York");
  assert_int_equal(zone_offset(z, 1609556645), -18000);           /* January 2021 */
  assert_int_equal(zone_offset(z, 1625000000), -14400);           /* June 2021 */
  assert_int_equal(zone_offset(z, INT64_C(-3000000000)), -17762); /* before time zones */
  assert_int_equal(zone_offset(z, INT64_C(3200000000)), -14400);  /* May 2071, by the rule */
  assert_int_equal(zone_offset(z, INT64_C(4070908800)), -18000);  /* January 2099 */
  assert_int_equal(zone_offset(z, INT64_C(5000000000)), -18000);  /* June 2128: no rule any more */
  int64_t utc;
  assert_false(zone_to_utc(z, 1615689000, &utc)); /* 2021-03-14 02:30 was skipped */
  assert_false(zone_to_utc(z, 1636248600, &utc)); /* 2021-11-07 01:30 came twice */
  assert_true(zone_to_utc(z, 1615692600, &utc));  /* 03:30 */
  assert_int_equal(utc, 1615692600 + 14400);
}

static void test_southern(void **state) {
  CLEANUP(zone_cleanup) zone *z = open_zone(state, "Australia/Lord_Howe");
  assert_int_equal(zone_offset(z, INT64_C(3092472000)), 39600); /* December 2067 */
  assert_int_equal(zone_offset(z, INT64_C(3108024000)), 37800); /* June 2068 */
}

/* Going to local time and back gives the instant, except where it came twice. */
static void test_back_and_forth(void **state) {
  static const char *const names[] = {"Europe/Berlin",     "Asia/Kolkata", "America/Sao_Paulo",
                                      "Africa/Casablanca", "Pacific/Apia", "Antarctica/Troll"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    CLEANUP(zone_cleanup) zone *z = open_zone(state, names[i]);
    unsigned twice = 0;
    for (int64_t t = -2000000000; t < 4000000000; t += 1000003) {
      int64_t utc;
      if (zone_to_utc(z, t + zone_offset(z, t), &utc)) {
        assert_int_equal(utc, t);
      } else {
        twice++;
      }
    }
    assert_true(twice < 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fixed),          cmocka_unit_test(test_refused),
      cmocka_unit_test(test_new_york),       cmocka_unit_test(test_southern),
      cmocka_unit_test(test_back_and_forth),
  };
  return cmocka_run_group_tests(tests, test_env_setup, test_env_teardown);
}
