/* Functions of all temporal types. */
#include "unit/expr/sql_text.h"

/* Values as the reference gives them. */
static const struct sql_case VALUES[] = {
    {"date_part('hour', arrow_cast('12:34:56.789', 'Time32(ms)'))", "12"},
    {"date_part('nanosecond', arrow_cast('12:34:56.789', 'Time32(ms)'))", "56789000000"},
    {"date_part('epoch', arrow_cast('12:34:56.789', 'Time64(us)'))", "45296.789"},
    {"date_part('day', INTERVAL '14 months 3 days 5 hours')", "3"},
    {"date_part('month', INTERVAL '14 months 3 days 5 hours')", "2"},
    {"date_part('year', INTERVAL '14 months 3 days 5 hours')", "1"},
    {"date_part('hour', INTERVAL '14 months 3 days 5 hours')", "5"},
    {"date_part('epoch', INTERVAL '1 day 5 hours')", "104400.0"},
    {"date_part('epoch', arrow_cast(90061, 'Duration(s)'))", "90061.0"},
    {"date_part('day', arrow_cast(90061, 'Duration(s)'))", "1"},
    {"date_part('hour', arrow_cast(90061, 'Duration(s)'))", "25"},
    {"date_part('year', arrow_cast('2021-05-06', 'Date64'))", "2021"},
    {"extract(month FROM arrow_cast('2021-05-06', 'Date64'))", "5"},
    {"extract(isodow FROM DATE '2021-05-09')", "7"},
    {"date_bin(INTERVAL '15 minutes', TIMESTAMP '2021-05-06 07:52:09')", "2021-05-06T07:45:00"},
    {"date_bin(INTERVAL '15 minutes', TIMESTAMP '2021-05-06 07:52:09', TIMESTAMP '2021-01-01 "
     "00:05:00')",
     "2021-05-06T07:50:00"},
    {"date_bin(INTERVAL '1 month', TIMESTAMP '2021-05-06 07:52:09')", "2021-05-01T00:00:00"},
    {"date_bin(INTERVAL '3 months', TIMESTAMP '2021-05-06 07:52:09', TIMESTAMP '2021-02-01 "
     "00:00:00')",
     "2021-05-01T00:00:00"},
    {"date_bin(INTERVAL '1 day', DATE '2021-05-06')", "2021-05-06T00:00:00"},
    {"date_bin(INTERVAL '1 hour', TIMESTAMP '1969-12-31 23:10:00')", "1969-12-31T23:00:00"},
    {"date_bin(INTERVAL '1 hour', arrow_cast('12:34:56', 'Time32(s)'))", "12:00:00"},
    {"date_bin(INTERVAL '1 hour', NULL)", "NULL"},
    {"date_trunc('hour', arrow_cast('12:34:56.789', 'Time32(ms)'))", "12:00:00"},
    {"date_trunc('minute', arrow_cast('12:34:56.789', 'Time64(ns)'))", "12:34:00"},
    {"date_trunc('year', arrow_cast('2021-05-06', 'Date64'))", "2021-01-01T00:00:00"},
    {"to_char(arrow_cast('12:34:56.789', 'Time32(ms)'), '%H-%M-%S %3f')", "12-34-56 789"},
    {"to_char(arrow_cast(90061, 'Duration(s)'), 'iso8601')", "PT90061S"},
    {"to_char(arrow_cast(90061, 'Duration(s)'), 'pretty')", "1 days 1 hours 1 mins 1 secs"},
    {"to_char(arrow_cast('2021-05-06', 'Date64'), '%d.%m.%Y')", "06.05.2021"},
    {"to_char(arrow_cast(TIMESTAMP '2021-07-01 12:00:00', 'Timestamp(s, \"America/New_York\")'), "
     "'%H %z %Z')",
     "12 -0400 -04:00"},
    {"make_time(1, 2, 3)", "01:02:03"},
    {"make_time('23', '59', '59')", "23:59:59"},
    {"make_time(NULL, 1, 1)", "NULL"},
    {"to_time('12:34:56.5')", "12:34:56.500"},
    {"to_time('3.04 PM', '%I.%M %p')", "15:04:00"},
    {"to_local_time(arrow_cast(TIMESTAMP '2021-07-01 12:00:00', 'Timestamp(s, "
     "\"America/New_York\")'))",
     "2021-07-01T12:00:00"},
    {"to_local_time(TIMESTAMP '2021-07-01 12:00:00')", "2021-07-01T12:00:00"},
    {"from_unixtime(86400)", "1970-01-02T00:00:00"},
    {"from_unixtime(86400, 'America/New_York')", "1970-01-01T19:00:00-05:00"},
    {"to_unixtime('2021-01-02T03:04:05Z')", "1609556645"},
    {"to_unixtime(DATE '2021-01-02')", "1609545600"},
    {"to_unixtime(1.9)", "1"},
    {"to_timestamp(1.5)", "1970-01-01T00:00:01.500"},
    {"to_timestamp(5)", "1970-01-01T00:00:05"},
    {"to_timestamp_millis(1500)", "1970-01-01T00:00:01.500"},
    {"to_timestamp_seconds('2021-01-02 03:04:05')", "2021-01-02T03:04:05"},
    {"to_timestamp_micros(1)", "1970-01-01T00:00:00.000001"},
    {"to_timestamp_nanos('2021-01-02T03:04:05.123456789')", "2021-01-02T03:04:05.123456789"},
    {"to_date('2021-01-02')", "2021-01-02"},
    {"to_date(19000)", "2022-01-08"},
    {"to_date('02.01.2021', '%d.%m.%Y')", "2021-01-02"},
    {"make_date(2021, 1, 2)", "2021-01-02"},
    {"arrow_typeof(make_time(1, 2, 3))", "Time32(s)"},
    {"arrow_typeof(to_time('12:34:56'))", "Time64(ns)"},
    {"arrow_typeof(date_bin(INTERVAL '1 day', DATE '2021-05-06'))", "Timestamp(ns)"},
    {"arrow_typeof(to_local_time(TIMESTAMP '2021-07-01 12:00:00'))", "Timestamp(ns)"},
    {"arrow_typeof(from_unixtime(1))", "Timestamp(s)"},
    {"arrow_typeof(now())", "Timestamp(ns)"},
    {"arrow_typeof(current_date())", "Date32"},
    {"arrow_typeof(current_time())", "Time64(ns)"},
    {"now() > TIMESTAMP '2024-01-01 00:00:00'", "true"},
};

static const struct sql_failure FAILURES[] = {
    {"make_time(24, 0, 0)", GLV_E_SQL_EXEC},
    {"make_time(1, 60, 0)", GLV_E_SQL_EXEC},
    {"make_time(1, 2)", GLV_E_SQL_PLAN},
    {"to_time('25:00')", GLV_E_SQL_EXEC},
    {"to_time('1', '%q')", GLV_E_SQL_EXEC},
    {"date_bin(INTERVAL '0 seconds', TIMESTAMP '2021-05-06 07:52:09')", GLV_E_SQL_EXEC},
    {"date_bin(INTERVAL '1 month 1 day', TIMESTAMP '2021-05-06 07:52:09')", GLV_E_SQL_EXEC},
    {"date_bin(INTERVAL '1 month', arrow_cast('12:34:56', 'Time32(s)'))", GLV_E_SQL_EXEC},
    {"date_bin(5, TIMESTAMP '2021-05-06 07:52:09')", GLV_E_SQL_PLAN},
    {"date_trunc('day', arrow_cast('12:34:56.789', 'Time32(ms)'))", GLV_E_SQL_EXEC},
    {"to_char(INTERVAL '1 day', '%Y')", GLV_E_SQL_PLAN},
    {"to_local_time(5)", GLV_E_SQL_PLAN},
    {"from_unixtime('x')", GLV_E_SQL_PLAN},
    {"to_unixtime('nope')", GLV_E_SQL_EXEC},
    {"date_part('nonsense', arrow_cast('12:34:56', 'Time32(s)'))", GLV_E_SQL_EXEC},
};

static void test_values(void **state) {
  (void)state;
  assert_sql_cases(VALUES);
  assert_sql_failures(FAILURES);
}

static void test_columns(void **state) {
  static const char *const values[] = {"12:34:56.789", NULL, "00:00:00"};
  static const char *const least[] = {"-9223372036854775808"};
  static const char *const dates[] = {"2021-05-06T07:52:09", NULL, "1969-12-31T23:59:59"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 3);
  assert_sql(&s, "date_part('millisecond', arrow_cast(x, 'Time32(ms)'))", "56789|NULL|0");
  assert_sql(&s, "date_trunc('minute', arrow_cast(x, 'Time64(us)'))", "12:34:00|NULL|00:00:00");
  assert_sql(&s, "to_char(to_time(x), '%H.%M')", "12.34|NULL|00.00");
  sql_text_rows(&s, least, 1);
  assert_sql(&s, "CAST(date_trunc('day', to_timestamp_nanos(CAST(x AS BIGINT))) AS BIGINT)",
             "9223371273709551616");
  sql_text_rows(&s, dates, 3);
  assert_sql(&s, "date_bin(INTERVAL '15 minutes', CAST(x AS TIMESTAMP))",
             "2021-05-06T07:45:00|NULL|1969-12-31T23:45:00");
  assert_sql(&s, "date_bin(INTERVAL '2 months', CAST(x AS TIMESTAMP))",
             "2021-05-01T00:00:00|NULL|1969-11-01T00:00:00");
  assert_sql(&s, "to_unixtime(x)", "1620287529|NULL|-1");
  assert_sql(&s, "from_unixtime(to_unixtime(x))", "2021-05-06T07:52:09|NULL|1969-12-31T23:59:59");
  assert_sql(&s, "to_local_time(arrow_cast(x, 'Timestamp(s, \"America/New_York\")'))",
             "2021-05-06T07:52:09|NULL|1969-12-31T23:59:59");
  sql_text_close(&s);
}

static void test_out_of_memory(void **state) {
  static const char *const rows[] = {"2021-11-06T12:00:00", NULL, "2021-03-13T12:30:00"};
  static const char *const texts[] = {
      "date_bin(INTERVAL '1 month', arrow_cast(x, 'Timestamp(s, \"America/New_York\")'))",
      "to_char(to_local_time(CAST(x AS TIMESTAMP)), '%H')",
      "date_part('epoch', CAST(x AS TIMESTAMP) - TIMESTAMP '2021-01-01 00:00:00')",
      "from_unixtime(to_unixtime(x), 'Asia/Tokyo')",
      "to_time(x, '%Y-%m-%dT%H:%M:%S')",
  };
  (void)state;
  assert_sql_starves(rows, texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
