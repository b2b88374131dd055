/* Casts from and to all scalar types, constants and columns. */
#include "unit/expr/sql_text.h"

/* Values as the reference gives them. */
static const struct sql_case VALUES[] = {
    {"arrow_cast(1.5, 'Float16')", "1.5"},
    {"arrow_cast(65504, 'Float16')", "65504"},
    {"arrow_cast(65520, 'Float16')", "inf"},
    {"arrow_cast(1e-8, 'Float16')", "0"},
    {"arrow_cast('0.1', 'Float16')", "0.099975586"},
    {"arrow_cast(arrow_cast(2049, 'Float16'), 'Int32')", "2048"},
    {"arrow_cast(arrow_cast(-1.75, 'Float16'), 'Int8')", "-1"},
    {"arrow_try_cast(arrow_cast(300, 'Float16'), 'UInt8')", "NULL"},
    {"arrow_cast(12345, 'Decimal256(40, 3)')", "12345.000"},
    {"arrow_cast('99999999999999999999999999999999999999999999999999.25', 'Decimal256(76, 2)')",
     "99999999999999999999999999999999999999999999999999.25"},
    {"arrow_cast(arrow_cast('-1.2345', 'Decimal256(50, 4)'), 'Decimal128(10, 2)')", "-1.23"},
    {"arrow_cast(arrow_cast('1.25', 'Decimal128(10, 2)'), 'Decimal256(76, 10)')", "1.2500000000"},
    {"arrow_try_cast(arrow_cast('123456789012345678901', 'Decimal256(60, 0)'), 'Int64')", "NULL"},
    {"arrow_cast(arrow_cast('7.5', 'Decimal256(60, 1)'), 'Int64')", "7"},
    {"arrow_cast('12:34:56', 'Time32(s)')", "12:34:56"},
    {"arrow_cast('12:34:56.789', 'Time32(ms)')", "12:34:56.789"},
    {"arrow_cast('12:34:56.789012', 'Time64(us)')", "12:34:56.789012"},
    {"arrow_cast('01:02:03.000000004', 'Time64(ns)')", "01:02:03.000000004"},
    {"arrow_cast('1:02 PM', 'Time32(s)')", "13:02:00"},
    {"arrow_cast(arrow_cast('23:59:59.999999999', 'Time64(ns)'), 'Time32(s)')", "23:59:59"},
    {"arrow_cast(arrow_cast('00:00:01', 'Time32(s)'), 'Int32')", "1"},
    {"arrow_cast(arrow_cast('00:00:01.5', 'Time64(us)'), 'Int64')", "1500000"},
    {"arrow_cast(TIMESTAMP '2021-01-02 03:04:05.678', 'Time32(ms)')", "03:04:05.678"},
    {"arrow_cast(TIMESTAMP '1969-12-31 23:59:59', 'Time32(s)')", "23:59:59"},
    {"arrow_cast(DATE '2021-01-02', 'Date64')", "2021-01-02T00:00:00"},
    {"arrow_cast(arrow_cast(1500, 'Date64'), 'Int64')", "1500"},
    {"arrow_cast(arrow_cast(86400001, 'Date64'), 'Date32')", "1970-01-02"},
    {"arrow_cast('2021-01-02T03:04:05', 'Date64')", "2021-01-02T03:04:05"},
    {"arrow_cast(arrow_cast('2021-01-02', 'Date64'), 'Timestamp(s)')", "2021-01-02T00:00:00"},
    {"arrow_cast(arrow_cast(90061, 'Duration(s)'), 'Duration(ms)')",
     "1 days 1 hours 1 mins 1.000 secs"},
    {"arrow_cast(arrow_cast(90061, 'Duration(s)'), 'Int64')", "90061"},
    {"arrow_cast(90061, 'Duration(s)')", "1 days 1 hours 1 mins 1 secs"},
    {"arrow_cast(-1500, 'Duration(ms)')", "0 days 0 hours 0 mins -1.500 secs"},
    {"arrow_cast(arrow_cast(90061001, 'Duration(ms)'), 'Interval(MonthDayNano)')",
     "25 hours 1 mins 1.001000000 secs"},
    {"arrow_cast(INTERVAL '14 months -3 days 5.5 seconds', 'Utf8')",
     "14 mons -3 days 5.500000000 secs"},
    {"arrow_cast('abc', 'Dictionary(Int32, Utf8)')", "abc"},
    {"arrow_cast(arrow_cast(5, 'Dictionary(Int8, Int64)'), 'Int32')", "5"},
    {"arrow_cast(arrow_cast('2.5', 'Dictionary(Int16, Utf8)'), 'Float64')", "2.5"},
    {"arrow_cast('abc', 'LargeBinary')", "abc"},
    {"arrow_cast(arrow_cast('abc', 'BinaryView'), 'Utf8')", "abc"},
    {"arrow_cast('abc', 'Utf8View')", "abc"},
    {"arrow_cast('abc', 'LargeUtf8')", "abc"},
    {"arrow_cast(true, 'Float16')", "1"},
    {"arrow_cast('yes', 'Boolean')", "true"},
    {"arrow_cast('tr', 'Boolean')", "true"},
    {"arrow_try_cast('maybe', 'Boolean')", "NULL"},
    {"arrow_cast(0.5, 'Boolean')", "true"},
    {"arrow_typeof(arrow_cast('abc', 'Dictionary(Int32, Utf8)'))", "Dictionary(Int32, Utf8)"},
    {"arrow_typeof(arrow_cast('1', 'Decimal256(40, 3)'))", "Decimal256(40, 3)"},
    {"arrow_typeof(INTERVAL '1 day')", "Interval(MonthDayNano)"},
    {"arrow_typeof(arrow_cast(1, 'Duration(ns)'))", "Duration(ns)"},
    {"arrow_typeof(arrow_cast(1, 'Time32(s)'))", "Time32(s)"},
    {"arrow_cast(TIMESTAMP '2021-07-01 12:00:00', 'Timestamp(s, \"America/New_York\")')",
     "2021-07-01T12:00:00-04:00"},
    {"arrow_cast(arrow_cast(TIMESTAMP '2021-07-01 12:00:00', 'Timestamp(s, "
     "\"America/New_York\")'), 'Timestamp(ms)')",
     "2021-07-01T16:00:00"},
    {"arrow_cast('2021-07-01 12:00:00', 'Timestamp(s, \"America/New_York\")')",
     "2021-07-01T12:00:00-04:00"},
    {"TIMESTAMP '2021-07-01 12:00:00' AT TIME ZONE 'America/New_York'",
     "2021-07-01T12:00:00-04:00"},
    {"arrow_cast('2021-07-01T12:00:00Z', 'Timestamp(us, \"Asia/Tokyo\")')",
     "2021-07-01T21:00:00+09:00"},
    {"arrow_cast(1e30, 'Decimal128(38, 2)')", "1000000000000000053661622043934.72"},
    {"arrow_cast(1.005, 'Decimal128(10, 2)')", "1.00"},
    {"arrow_cast('1.005', 'Decimal128(10, 2)')", "1.01"},
    {"arrow_cast('-1.005', 'Decimal128(10, 2)')", "-1.01"},
    {"arrow_cast(12345, 'Decimal128(10, -2)')", "12300"},
    {"arrow_cast(arrow_cast('12.5', 'Decimal128(4, 1)'), 'Decimal128(4, 0)')", "13"},
    {"arrow_try_cast(arrow_cast('99.95', 'Decimal128(4, 2)'), 'Decimal128(3, 2)')", "NULL"},
    {"CAST(18446744073709551615 AS DOUBLE)", "1.8446744073709552e19"},
    {"CAST(1e300 AS FLOAT)", "inf"},
    {"CAST('+5' AS INT)", "5"},
    {"CAST('5' AS TINYINT)", "5"},
    {"TRY_CAST('300' AS TINYINT)", "NULL"},
};

static const struct sql_failure FAILURES[] = {
    {"arrow_cast(300, 'Int8')", GLV_E_SQL_PLAN},
    {"arrow_cast('1.2.3', 'Decimal128(10, 2)')", GLV_E_SQL_PLAN},
    {"arrow_cast(1000, 'Decimal128(3, 1)')", GLV_E_SQL_PLAN},
    {"arrow_cast('25:00:00', 'Time32(s)')", GLV_E_SQL_PLAN},
    {"arrow_cast(DATE '2021-01-02', 'Time32(s)')", GLV_E_SQL_PLAN},
    {"arrow_cast('abc', 'FixedSizeBinary(2)')", GLV_E_SQL_PLAN},
    {"arrow_cast('abc', 'Nonsense')", GLV_E_SQL_PLAN},
    {"arrow_cast(1, 'Decimal128(39, 1)')", GLV_E_SQL_PLAN},
    {"arrow_cast(1, 'Decimal256(77, 1)')", GLV_E_SQL_PLAN},
    {"arrow_cast(1, 'Timestamp(us, \"Mars/Olympus\")')", GLV_E_SQL_PLAN},
    {"arrow_cast(1, x)", GLV_E_SQL_PLAN},
    {"arrow_cast(true, 'Date32')", GLV_E_SQL_PLAN},
    {"arrow_cast(1.5, 'Interval(MonthDayNano)')", GLV_E_SQL_PLAN},
    {"arrow_cast('5 parsecs', 'Interval(MonthDayNano)')", GLV_E_SQL_PLAN},
    {"arrow_cast(INTERVAL '1 month', 'Duration(s)')", GLV_E_SQL_PLAN},
    {"arrow_cast('abc', 'Duration(s)')", GLV_E_SQL_PLAN},
    {"CAST(1e300 AS INT)", GLV_E_SQL_PLAN},
    {"CAST('' AS INT)", GLV_E_SQL_PLAN},
    {"arrow_cast(arrow_cast('1e20', 'Decimal256(60, 2)'), 'Float64')", GLV_E_SQL_PLAN},
    {"arrow_cast(INTERVAL '1 day 2 hours', 'Duration(us)')", GLV_E_SQL_PLAN},
    {"arrow_cast('1 year 2 months 3 days 04:05:06.7', 'Interval(MonthDayNano)')", GLV_E_SQL_PLAN},
    {"arrow_cast('abc', 'FixedSizeBinary(3)')", GLV_E_SQL_PLAN},
    {"arrow_cast(arrow_cast(x'616263', 'FixedSizeBinary(3)'), 'Utf8')", GLV_E_SQL_PLAN},
    {"arrow_typeof(arrow_cast('abc', 'FixedSizeBinary(3)'))", GLV_E_SQL_PLAN},
    {"arrow_cast('12e2', 'Decimal128(10, 2)')", GLV_E_SQL_PLAN},
    {"CAST('  5' AS INT)", GLV_E_SQL_PLAN},
};

static void test_values(void **state) {
  (void)state;
  assert_sql_cases(VALUES);
  assert_sql_failures(FAILURES);
}

static void test_columns(void **state) {
  static const char *const values[] = {"1.5", NULL, "x", "-20"};
  static const char *const times[] = {"12:34:56.5", NULL, "24:00:00", "2021-01-02"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 4);
  assert_sql(&s, "arrow_try_cast(x, 'Float16')", "1.5|NULL|NULL|-20");
  assert_sql(&s, "arrow_try_cast(x, 'Decimal256(50, 2)')", "1.50|NULL|NULL|-20.00");
  assert_sql(&s, "arrow_cast(arrow_try_cast(x, 'Decimal256(50, 2)'), 'Decimal128(5, 0)')",
             "2|NULL|NULL|-20");
  assert_sql(&s, "arrow_cast(arrow_try_cast(x, 'Decimal256(50, 2)'), 'Int8')", "1|NULL|NULL|-20");
  assert_sql(&s, "arrow_cast(x, 'Dictionary(Int32, Utf8)')", "1.5|NULL|x|-20");
  assert_sql(&s, "arrow_cast(arrow_cast(x, 'Dictionary(Int32, Utf8)'), 'Utf8View')",
             "1.5|NULL|x|-20");
  assert_sql(&s, "arrow_cast(arrow_cast(x, 'BinaryView'), 'LargeBinary') = x'78'",
             "false|NULL|true|false");
  assert_sql_fails(&s, "arrow_cast(x, 'Decimal256(50, 2)')", GLV_E_SQL_EXEC);
  assert_sql_fails(&s, "arrow_cast(x, 'Interval(MonthDayNano)')", GLV_E_SQL_EXEC);
  sql_text_rows(&s, times, 4);
  assert_sql(&s, "arrow_try_cast(x, 'Time32(s)')", "12:34:56|NULL|NULL|NULL");
  assert_sql(&s, "arrow_try_cast(x, 'Time64(ns)')", "12:34:56.500|NULL|NULL|NULL");
  assert_sql(&s, "arrow_cast(arrow_try_cast(x, 'Time32(ms)'), 'Int32')", "45296500|NULL|NULL|NULL");
  assert_sql(&s, "arrow_try_cast(x, 'Date64')", "NULL|NULL|NULL|2021-01-02T00:00:00");
  sql_text_close(&s);
}

static void test_out_of_memory(void **state) {
  static const char *const rows[] = {"1.5", NULL, "x", "-20", "1.5"};
  static const char *const texts[] = {
      "arrow_cast(arrow_try_cast(x, 'Decimal256(50, 2)'), 'Utf8View')",
      "arrow_cast(arrow_cast(x, 'Dictionary(Int32, Utf8)'), 'Dictionary(Int8, LargeUtf8)')",
      "arrow_try_cast(x, 'Interval(MonthDayNano)') IS NULL",
      "arrow_try_cast(x, 'Float16') > 1",
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
