/* Operators over dates, times, durations, intervals, decimals of 256 bits, half floats and
 * dictionaries; the operators of other dialects. */
#include <stdlib.h>
#include <string.h>

#include "unit/expr/sql_text.h"

/* Values as the reference gives them. */
static const struct sql_case VALUES[] = {
    {"INTERVAL '1 day'", "1 days"},
    {"INTERVAL '1.5 days'", "1 days 12 hours"},
    {"INTERVAL '2 weeks'", "14 days"},
    {"INTERVAL '1 year 3 months'", "15 mons"},
    {"INTERVAL '-1 month 2 days'", "-1 mons 2 days"},
    {"INTERVAL '5' MINUTE", "5 mins"},
    {"INTERVAL 5 HOUR", "5 hours"},
    {"INTERVAL '0.5 months'", "15 days"},
    {"INTERVAL '1 hour 30 minutes 15.25 seconds'", "1 hours 30 mins 15.250000000 secs"},
    {"INTERVAL '3 milliseconds 4 microseconds 5 nanoseconds'", "0.003004005 secs"},
    {"-INTERVAL '1 day 1 hour'", "-1 days 1 hours"},
    {"INTERVAL '1 day' + INTERVAL '2 hours'", "1 days 2 hours"},
    {"INTERVAL '1 month' - INTERVAL '5 days'", "1 mons -5 days"},
    {"INTERVAL '1 month' = INTERVAL '30 days'", "false"},
    {"INTERVAL '1 day' < INTERVAL '24 hours'", "false"},
    {"INTERVAL '1 day' = INTERVAL '1 day'", "true"},
    {"DATE '2021-01-31' + INTERVAL '1 month'", "2021-02-28"},
    {"DATE '2020-02-29' + INTERVAL '1 year'", "2021-02-28"},
    {"DATE '2021-03-31' - INTERVAL '1 month'", "2021-02-28"},
    {"DATE '2021-01-31' + INTERVAL '1 hour'", "2021-01-31"},
    {"INTERVAL '1 day' + DATE '2021-01-31'", "2021-02-01"},
    {"DATE '2021-01-31' + 1", "2021-02-01"},
    {"DATE '2021-01-31' - 31", "2020-12-31"},
    {"DATE '2021-03-01' - DATE '2021-01-01'", "59"},
    {"arrow_cast(DATE '2021-03-01', 'Date64') - arrow_cast(DATE '2021-01-01', 'Date64')", "59"},
    {"arrow_cast('2021-01-31', 'Date64') + INTERVAL '1 month'", "2021-02-28T00:00:00"},
    {"TIMESTAMP '2021-01-31 10:00:00' + INTERVAL '1 month 1 day 1 second'", "2021-03-01T10:00:01"},
    {"TIMESTAMP '2021-03-01 00:00:00' - INTERVAL '1 nanosecond'", "2021-02-28T23:59:59.999999999"},
    {"TIMESTAMP '2021-03-02 00:00:00' - TIMESTAMP '2021-03-01 12:00:00'",
     "0 days 12 hours 0 mins 0.000000000 secs"},
    {"TIMESTAMP '2021-03-02 00:00:00' + arrow_cast(90, 'Duration(s)')", "2021-03-02T00:01:30"},
    {"TIMESTAMP '2021-03-02 00:00:00' - arrow_cast(90, 'Duration(ms)')", "2021-03-01T23:59:59.910"},
    {"arrow_cast(90, 'Duration(s)') + arrow_cast(90, 'Duration(s)')",
     "0 days 0 hours 3 mins 0 secs"},
    {"arrow_cast(90, 'Duration(s)') - arrow_cast(9, 'Duration(s)')",
     "0 days 0 hours 1 mins 21 secs"},
    {"arrow_cast(90, 'Duration(s)') < arrow_cast(90001, 'Duration(ms)')", "true"},
    {"arrow_cast('10:00:00', 'Time32(s)') - arrow_cast('09:30:00', 'Time32(s)')", "30 mins"},
    {"arrow_cast('10:00:00', 'Time32(s)') + INTERVAL '1 hour'", "11 hours"},
    {"DATE '2021-01-31' + arrow_cast('10:00:00', 'Time32(s)')", "2021-01-31T10:00:00"},
    {"arrow_cast(TIMESTAMP '2021-11-06 12:00:00', 'Timestamp(s, \"America/New_York\")') + INTERVAL "
     "'1 day'",
     "2021-11-07T12:00:00-05:00"},
    {"arrow_cast(TIMESTAMP '2021-11-06 12:00:00', 'Timestamp(s, \"America/New_York\")') + INTERVAL "
     "'24 hours'",
     "2021-11-07T11:00:00-05:00"},
    {"arrow_cast(TIMESTAMP '2021-04-11 12:30:00', 'Timestamp(s, \"America/New_York\")') - INTERVAL "
     "'1 month'",
     "2021-03-11T12:30:00-05:00"},
    {"DATE '2021-01-31' < TIMESTAMP '2021-01-31 00:00:01'", "true"},
    {"DATE '2021-01-31' = '2021-01-31'", "true"},
    {"arrow_cast('abc', 'Dictionary(Int32, Utf8)') = 'abc'", "true"},
    {"arrow_cast('abc', 'Dictionary(Int32, Utf8)') < arrow_cast('abd', 'Dictionary(Int8, Utf8)')",
     "true"},
    {"arrow_cast(5, 'Dictionary(Int8, Int64)') + 1", "6"},
    {"arrow_cast('1.50', 'Decimal256(40, 2)') = 1.5", "true"},
    {"arrow_cast('1.50', 'Decimal256(40, 2)') + arrow_cast('2.25', 'Decimal256(40, 2)')", "3.75"},
    {"arrow_cast('1.50', 'Decimal256(40, 2)') * arrow_cast('2.25', 'Decimal256(30, 2)')", "3.3750"},
    {"arrow_cast('1', 'Decimal256(40, 2)') / arrow_cast('3', 'Decimal256(40, 2)')", "0.333333"},
    {"arrow_cast('7.5', 'Decimal256(40, 2)') % arrow_cast('2', 'Decimal256(40, 2)')", "1.50"},
    {"arrow_cast('7.5', 'Decimal128(10, 2)') / 2", "3.750000"},
    {"-arrow_cast('7.5', 'Decimal256(40, 2)')", "-7.50"},
    {"arrow_cast(1.5, 'Float16') + arrow_cast(2.25, 'Float16')", "3.75"},
    {"arrow_cast(1.5, 'Float16') < 2", "true"},
    {"-arrow_cast(1.5, 'Float16')", "-1.5"},
    {"1 <=> NULL", "false"},
    {"NULL <=> NULL", "true"},
    {"coalesce(arrow_cast(NULL, 'Dictionary(Int32, Utf8)'), 'x')", "x"},
    {"greatest(DATE '2021-01-31', DATE '2021-02-01')", "2021-02-01"},
    {"least(arrow_cast(1, 'Duration(s)'), arrow_cast(2, 'Duration(s)'))",
     "0 days 0 hours 0 mins 1 secs"},
    {"CASE WHEN true THEN INTERVAL '1 day' ELSE INTERVAL '2 days' END", "1 days"},
    {"CASE arrow_cast('b', 'Dictionary(Int32, Utf8)') WHEN 'a' THEN 1 WHEN 'b' THEN 2 END", "2"},
    {"arrow_cast('10:00:00', 'Time32(s)') IN ('10:00:00', '11:00:00')", "true"},
    {"DATE '2021-01-31' BETWEEN '2021-01-01' AND '2021-02-01'", "true"},
    {"'abc' SIMILAR TO '%(b|d)%'", "false"},
    {"'abc' SIMILAR TO 'b'", "true"},
    {"'abc' ~ '^A'", "false"},
    {"'abc' ~* '^A'", "true"},
    {"'abc' !~ 'c$'", "false"},
    {"'abc' !~* 'C$'", "false"},
    {"arrow_cast('abc', 'Dictionary(Int32, Utf8)') LIKE 'a%'", "true"},
    {"7 & 12", "4"},
    {"7 | 8", "15"},
    {"1 << 4", "16"},
    {"-16 >> 2", "-4"},
    {"'a' || 1", "a1"},
};

static const struct sql_failure FAILURES[] = {
    {"INTERVAL 'nonsense'", GLV_E_SQL_PLAN},
    {"INTERVAL '99999999999 years'", GLV_E_SQL_PLAN},
    {"INTERVAL '1 day' * 2", GLV_E_SQL_PLAN},
    {"DATE '2021-01-31' * 2", GLV_E_SQL_PLAN},
    {"DATE '2021-01-31' + DATE '2021-01-31'", GLV_E_SQL_PLAN},
    {"DATE '2021-01-31' + 110000", GLV_E_SQL_EXEC},
    {"DATE '2021-01-31' + 1.5", GLV_E_SQL_PLAN},
    {"arrow_cast('10:00:00', 'Time32(s)') + arrow_cast(1, 'Duration(s)')", GLV_E_SQL_PLAN},
    {"TIMESTAMP '2262-04-11 23:47:16' + INTERVAL '1 year'", GLV_E_SQL_EXEC},
    {"arrow_cast(9223372036854775807, 'Duration(s)') + arrow_cast(1, 'Duration(s)')",
     GLV_E_SQL_EXEC},
    {"-DATE '2021-01-31'", GLV_E_SQL_PLAN},
    {"+DATE '2021-01-31'", GLV_E_SQL_PLAN},
    {"INTERVAL '1 day' = 1", GLV_E_SQL_PLAN},
    {"arrow_cast('1', 'Decimal256(76, 2)') / arrow_cast('0', 'Decimal256(76, 2)')", GLV_E_SQL_EXEC},
    {"arrow_cast('99999999999999999999999999999999999999999999999999999999999999999999999999', "
     "'Decimal256(76, 0)') * arrow_cast('1000', 'Decimal256(76, 0)')",
     GLV_E_SQL_EXEC},
    {"arrow_cast(TIMESTAMP '2021-02-14 02:30:00', 'Timestamp(s, \"America/New_York\")') + INTERVAL "
     "'1 month'",
     GLV_E_SQL_EXEC},
    {"INTERVAL '1 decade 1 century 1 millennium'", GLV_E_SQL_PLAN},
    {"INTERVAL '01:02:03.5'", GLV_E_SQL_PLAN},
    {"arrow_cast(TIMESTAMP '2021-03-13 02:30:00', 'Timestamp(s, \"America/New_York\")') + INTERVAL "
     "'1 day 1 hour'",
     GLV_E_SQL_EXEC},
    {"arrow_cast(TIMESTAMP '2021-10-07 01:30:00', 'Timestamp(s, \"America/New_York\")') + INTERVAL "
     "'1 month'",
     GLV_E_SQL_EXEC},
    {"arrow_cast('10:00:00', 'Time32(s)') < arrow_cast('10:00:00.001', 'Time64(us)')",
     GLV_E_SQL_PLAN},
    {"arrow_cast('abc', 'FixedSizeBinary(3)') = x'616263'", GLV_E_SQL_PLAN},
    {"nullif(arrow_cast('10:00:00', 'Time32(s)'), arrow_cast('10:00:00', 'Time64(ns)'))",
     GLV_E_SQL_PLAN},
    {"7 # 2", GLV_E_SQL_PARSE},
    {"5 DIV 2", GLV_E_SQL_PARSE},
};

static void test_values(void **state) {
  (void)state;
  assert_sql_cases(VALUES);
  assert_sql_failures(FAILURES);
}

static void test_columns(void **state) {
  static const char *const values[] = {"2021-11-06T12:00:00", NULL, "2021-03-13T12:30:00"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 3);
#define NEW_YORK "arrow_cast(x, 'Timestamp(s, \"America/New_York\")')"
  assert_sql(&s, NEW_YORK " + INTERVAL '1 day'",
             "2021-11-07T12:00:00-05:00|NULL|2021-03-14T12:30:00-04:00");
  assert_sql(&s, NEW_YORK " + INTERVAL '24 hours'",
             "2021-11-07T11:00:00-05:00|NULL|2021-03-14T13:30:00-04:00");
  assert_sql(&s, "CAST(x AS TIMESTAMP) - INTERVAL '1 month'",
             "2021-10-06T12:00:00|NULL|2021-02-13T12:30:00");
  assert_sql(&s, "CAST(x AS TIMESTAMP) - TIMESTAMP '2021-11-06 11:59:59'",
             "0 days 0 hours 0 mins 1.000000 secs|NULL|-237 days -23 hours -29 mins "
             "-59.000000 secs");
  assert_sql(&s, "CAST(x AS DATE) + 1", "2021-11-07|NULL|2021-03-14");
  assert_sql(&s, "arrow_cast(x, 'Dictionary(Int32, Utf8)') > '2021-06'", "true|NULL|false");
  assert_sql(&s,
             "arrow_cast(x, 'Dictionary(Int32, Utf8)') = arrow_cast(x, 'Dictionary(Int8, Utf8)')",
             "true|NULL|true");
  assert_sql(&s,
             "CASE arrow_cast(x, 'Dictionary(Int32, Utf8)') WHEN '2021-11-06T12:00:00' THEN 1 WHEN "
             "x THEN 2 ELSE 3 END",
             "1|3|2");
  sql_text_close(&s);
}

/* The rows where the base is null are for ELSE: no WHEN is evaluated for them. */
static void test_null_base(void **state) {
  static const char *const values[] = {NULL, "1", NULL, "2", NULL};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 5);
  assert_sql(&s, "CASE CAST(x AS INT) WHEN 2 / coalesce(CAST(x AS INT), 0) THEN 'a' ELSE x END",
             "NULL|1|NULL|2|NULL");
  sql_text_close(&s);
}

/* The status of head, part as often as asked, tail. */
static glv_status repeated(sql_text *s, const char *head, const char *part, size_t count,
                           const char *tail) {
  const size_t size = strlen(head) + count * strlen(part) + strlen(tail) + 1;
  char *text = malloc(size);
  assert_non_null(text);
  char *end = stpcpy(text, head);
  for (size_t i = 0; i < count; i++) {
    end = stpcpy(end, part);
  }
  stpcpy(end, tail);
  const glv_status status = sql_text_status(s, text);
  free(text);
  return status;
}

static void test_hostile(void **state) {
  (void)state;
  sql_text s;
  sql_text_open(&s);
  assert_int_equal(
      repeated(&s, "coalesce(CAST(x AS TIMESTAMP)", " + INTERVAL '1 day'", 10000, ", NULL)"),
      GLV_OK);
  assert_int_equal(repeated(&s, "coalesce(INTERVAL '", "9", 5000, " days', NULL)"), GLV_E_SQL_PLAN);
  assert_int_equal(repeated(&s, "coalesce(INTERVAL '1.", "9", 5000, " days', NULL)"),
                   GLV_E_SQL_PLAN);
  assert_int_equal(repeated(&s, "coalesce(INTERVAL '", "1 day ", 5000, "', NULL)"), GLV_E_SQL_PLAN);
  assert_int_equal(repeated(&s, "arrow_cast('", "9", 10000, "', 'Decimal256(76, 2)')"),
                   GLV_E_SQL_PLAN);
  assert_int_equal(repeated(&s, "arrow_cast('", "1:", 10000, "', 'Time32(s)')"), GLV_E_SQL_PLAN);
  assert_int_equal(repeated(&s, "arrow_cast(x, '", "Dictionary(Int32, ", 500, "Utf8')"),
                   GLV_E_LIMIT);
  sql_text_close(&s);
}

static void test_out_of_memory(void **state) {
  static const char *const rows[] = {"2021-11-06T12:00:00", NULL, "2021-03-13T12:30:00"};
  static const char *const texts[] = {
      "coalesce(arrow_cast(x, 'Timestamp(s, \"America/New_York\")') + INTERVAL '1 day 1 hour', "
      "NULL)",
      "arrow_cast(x, 'Dictionary(Int32, Utf8)') IN ('a', x)",
      "coalesce(CASE x WHEN 'a' THEN INTERVAL '1 day' END, INTERVAL '1 hour')",
      "CAST(x AS DATE) + 1 > DATE '2021-01-01'",
      "nullif(arrow_cast(x, 'Dictionary(Int32, Utf8)'), 'a') ~ 'b'",
  };
  (void)state;
  assert_sql_starves(rows, texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),        cmocka_unit_test(test_columns),
      cmocka_unit_test(test_null_base),     cmocka_unit_test(test_hostile),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
