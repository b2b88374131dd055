/* Numbers to text and back: known texts, boundaries of the formats, random round trips checked
 * against the C library (in the C locale of a test program, strtod rounds correctly). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "support/cmocka.h"

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static double from_bits64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static float from_bits32(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static uint64_t bits64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static uint32_t bits32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void assert_prints64(double value, const char *expected) {
  char text[NUMBER_TEXT_SIZE + 1];
  text[number_print64(value, text)] = 0;
  assert_string_equal(text, expected);
}
static void assert_prints32(float value, const char *expected) {
  char text[NUMBER_TEXT_SIZE + 1];
  text[number_print32(value, text)] = 0;
  assert_string_equal(text, expected);
}

static void test_known_texts(void **state) {
  (void)state;
  assert_prints64(0.0, "0.0");
  assert_prints64(-0.0, "-0.0");
  assert_prints64(1.0, "1.0");
  assert_prints64(0.1, "0.1");
  assert_prints64(-12.5, "-12.5");
  assert_prints64(1e15, "1000000000000000.0");
  assert_prints64(1e16, "1e16");
  assert_prints64(123456789012345680.0, "1.2345678901234568e17");
  assert_prints64(0.00001, "0.00001");
  assert_prints64(0.000001, "1e-6");
  assert_prints64(0.0000099, "9.9e-6");
  assert_prints64(5e-324, "5e-324");
  assert_prints64(2.2250738585072014e-308, "2.2250738585072014e-308");
  assert_prints64(1.7976931348623157e308, "1.7976931348623157e308");
  assert_prints64(9007199254740993.0, "9007199254740992.0");
  assert_prints64(9.5367431640625e-07, "9.5367431640625e-7");
  assert_prints64(NAN, "NaN");
  assert_prints64(INFINITY, "inf");
  assert_prints64(-INFINITY, "-inf");
  assert_prints32(0.1f, "0.1");
  assert_prints32(1e-45f, "1e-45");
  assert_prints32(3.4028235e38f, "3.4028235e38");
  assert_prints32(16777216.0f, "16777216.0");
}

static void test_parse_refuses(void **state) {
  (void)state;
  static const char *const bad[] = {"",     " ",     "1 ",  " 1",    ".",    "+",   "e5",
                                    "1e",   "1e+",   "--1", "1.2.3", "0x10", "1_0", "infi",
                                    "nan1", "1e5.0", ".e1", "1f",    "+-1",  "1,5"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    double value = 7;
    float single = 7;
    assert_false(number_parse64(str_of(bad[i]), &value));
    assert_false(number_parse32(str_of(bad[i]), &single));
    assert_true(value == 7 && single == 7);
  }
}

static void test_parse_accepts(void **state) {
  (void)state;
  static const char *const good[] = {
      "1.",
      ".5",
      "+1",
      "-0",
      "1e5",
      "1E+5",
      "00012.5000",
      "1e400",
      "-1e400",
      "1e-400",
      "0e999999999999999999999",
      "1e999999999999999999999",
      "1e-999999999999999999999",
      "2.4703282292062327208e-324",
      "2.4703282292062328e-324",
      "9007199254740993",
      "9007199254740993.00000000000000000000000000000000001",
      "1.7976931348623158e308",
      "1.7976931348623159e308",
      "179769313486231580793728971405303415079934132710037826936173778980"
      "444968292764750946649017977587207096330286416692887910946555547851"
      "940402630657488671505820681908902000708383676273854845817711531764"
      "475730270069855571366959622842914819860834936475292719074168444365"
      "510704342711559699508093042880.0001"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    double value;
    float single;
    assert_true(number_parse64(str_of(good[i]), &value));
    assert_int_equal(bits64(value), bits64(strtod(good[i], NULL)));
    assert_true(number_parse32(str_of(good[i]), &single));
    assert_int_equal(bits32(single), bits32(strtof(good[i], NULL)));
  }
  double value;
  assert_true(number_parse64(STR("-iNfIniTy"), &value) && isinf(value) && value < 0);
  assert_true(number_parse64(STR("inf"), &value) && isinf(value));
  assert_true(number_parse64(STR("NaN"), &value) && isnan(value));
}

/* The exact decimal expansions of middles between neighbours, and the texts just beside them. */
static void test_parse_middles(void **state) {
  (void)state;
  uint64_t seed = 88172645463325252u;
  for (int i = 0; i < 3000; i++) {
    const uint64_t bits = next_random(&seed) & ~(UINT64_C(1) << 63);
    const double low = from_bits64(bits);
    const double high = from_bits64(bits + 1);
    if (!isfinite(low) || !isfinite(high)) {
      continue;
    }
    char text[1500];
    /* 80-bit long double holds the middle exactly, except among subnormals at the very end. */
    const long double middle = ((long double)low + (long double)high) / 2;
    snprintf(text, sizeof text, "%.1100Lf", middle);
    double value;
    assert_true(number_parse64(str_of(text), &value));
    assert_int_equal(bits64(value), bits64(strtod(text, NULL)));
    const size_t size = strlen(text);
    text[size] = '1';
    text[size + 1] = 0;
    assert_true(number_parse64(str_of(text), &value));
    assert_int_equal(bits64(value), bits64(strtod(text, NULL)));
  }
}

static void check_round_trip64(double value) {
  char text[NUMBER_TEXT_SIZE + 1];
  const size_t size = number_print64(value, text);
  double back;
  assert_true(number_parse64(str_slice(text, size), &back));
  assert_int_equal(bits64(back), bits64(value));
  text[size] = 0;
  assert_int_equal(bits64(strtod(text, NULL)), bits64(value));
  /* One digit fewer must not read back. */
  const number_digits d = number_shortest64(value);
  if (d.count > 1) {
    char shorter[64];
    snprintf(shorter, sizeof shorter, "%.*e", d.count - 2, value);
    assert_true(strtod(shorter, NULL) != value);
  }
}

static void check_round_trip32(float value) {
  char text[NUMBER_TEXT_SIZE + 1];
  const size_t size = number_print32(value, text);
  float back;
  assert_true(number_parse32(str_slice(text, size), &back));
  assert_int_equal(bits32(back), bits32(value));
  const number_digits d = number_shortest32(value);
  if (d.count > 1) {
    char shorter[64];
    snprintf(shorter, sizeof shorter, "%.*e", d.count - 2, (double)value);
    assert_true(strtof(shorter, NULL) != value);
  }
}

static void test_round_trips(void **state) {
  (void)state;
  uint64_t seed = 2463534242u;
  for (int i = 0; i < 100000; i++) {
    const double any = from_bits64(next_random(&seed));
    if (isfinite(any)) {
      check_round_trip64(any);
    }
    check_round_trip64((double)(next_random(&seed) >> 40) / 1000);
    const float single = from_bits32((uint32_t)next_random(&seed));
    if (isfinite(single)) {
      check_round_trip32(single);
    }
  }
  for (uint64_t e = 0; e < 2047; e++) { /* powers of two and their neighbours */
    check_round_trip64(from_bits64(e << 52));
    check_round_trip64(from_bits64((e << 52) + 1));
    check_round_trip64(from_bits64((e << 52 | (UINT64_C(1) << 52)) - 1));
  }
  for (uint32_t e = 0; e < 255; e++) {
    check_round_trip32(from_bits32(e << 23));
    check_round_trip32(from_bits32((e << 23) + 1));
  }
}

static void test_random_texts(void **state) {
  (void)state;
  uint64_t seed = 1234567u;
  for (int i = 0; i < 100000; i++) {
    char text[64];
    const int digits = (int)(next_random(&seed) % 25);
    const int exponent = (int)(next_random(&seed) % 720) - 380;
    snprintf(text, sizeof text, "%llu%0*llue%d", (unsigned long long)next_random(&seed), digits,
             (unsigned long long)(next_random(&seed) % 10), exponent);
    double value;
    float single;
    assert_true(number_parse64(str_of(text), &value));
    assert_int_equal(bits64(value), bits64(strtod(text, NULL)));
    assert_true(number_parse32(str_of(text), &single));
    assert_int_equal(bits32(single), bits32(strtof(text, NULL)));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_texts),   cmocka_unit_test(test_parse_refuses),
      cmocka_unit_test(test_parse_accepts), cmocka_unit_test(test_parse_middles),
      cmocka_unit_test(test_round_trips),   cmocka_unit_test(test_random_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
