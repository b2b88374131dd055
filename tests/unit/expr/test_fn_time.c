/* Functions of dates and times, and the formats of to_char and to_timestamp. */
#include "unit/expr/sql_text.h"

static const struct sql_case PARTS[] = {
    {"date_part('year',DATE '2021-01-02')", "2021"},
    {"date_part('week',DATE '2021-01-02')", "53"},
    {"date_part('isoyear',DATE '2021-01-02')", "2020"},
    {"date_part('dow',DATE '2021-01-03')", "0"},
    {"date_part('isodow',DATE '2021-01-03')", "7"},
    {"date_part('doy',DATE '2020-12-31')", "366"},
    {"date_part('quarter',DATE '2021-05-01')", "2"},
    {"date_part('hour',DATE '2021-01-02')", "0"},
    {"date_part('millisecond',TIMESTAMP '2021-01-02 03:04:05.123456')", "5123"},
    {"date_part('us',TIMESTAMP '2021-01-02 03:04:05.123456')", "5123456"},
    {"date_part('nanosecond',TIMESTAMP '2021-01-02 03:04:05.123456')", "5123456000"},
    {"date_part('epoch',TIMESTAMP '1969-12-31 23:59:59.5')", "-0.5"},
    {"date_part('epoch',DATE '1969-12-31')", "-86400.0"},
    {"date_part('YEARS',DATE '2021-01-02')", "2021"},
    {"date_part('\"month\"',DATE '2021-01-02')", "1"},
    {"date_part('year','2021-03-04')", "2021"},
    {"date_part('year',CAST('-0001-01-01' AS DATE))", "-1"},
    {"date_part('hour',arrow_cast(TIMESTAMP '2021-07-01 12:00:00','Timestamp(us, "
     "\"Asia/Kolkata\")'))",
     "12"},
    {"date_trunc('month',TIMESTAMP '2021-05-06 07:08:09.123')", "2021-05-01T00:00:00"},
    {"date_trunc('quarter',TIMESTAMP '2021-05-06 07:08:09.123')", "2021-04-01T00:00:00"},
    {"date_trunc('week',TIMESTAMP '2021-01-02 03:04:05')", "2020-12-28T00:00:00"},
    {"date_trunc('YEAR',TIMESTAMP '2021-05-06 07:08:09.123')", "2021-01-01T00:00:00"},
    {"date_trunc('hour',TIMESTAMP '1969-12-31 23:59:59.5')", "1969-12-31T23:00:00"},
    {"date_trunc('minute',TIMESTAMP '2021-05-06 07:08:09.123')", "2021-05-06T07:08:00"},
    {"date_trunc('second',TIMESTAMP '2021-05-06 07:08:09.123')", "2021-05-06T07:08:09"},
    {"date_trunc('microsecond',TIMESTAMP '2021-05-06 07:08:09.123456789')",
     "2021-05-06T07:08:09.123456"},
    {"date_trunc('day',DATE '2021-05-06')", "2021-05-06T00:00:00"},
    {"date_trunc('day','2021-03-04 05:06:07')", "2021-03-04T00:00:00"},
    {"date_trunc('day',arrow_cast(TIMESTAMP '2018-11-04 12:00:00','Timestamp(us, "
     "\"America/Sao_Paulo\")'))",
     "2018-11-04T01:00:00-02:00"},
    {"date_trunc('day',arrow_cast(TIMESTAMP '2021-11-07 12:00:00','Timestamp(us, "
     "\"America/New_York\")'))",
     "2021-11-07T00:00:00-04:00"},
    {"date_trunc('hour',arrow_cast(TIMESTAMP '2021-01-01 12:50:00','Timestamp(us, "
     "\"Asia/Kolkata\")'))",
     "2021-01-01T12:00:00+05:30"},
    {"date_trunc('day',NULL)", "NULL"},
    {"make_date(2021,1,2)", "2021-01-02"},
    {"make_date(2020,2,29)", "2020-02-29"},
    {"make_date(-1,1,1)", "-0001-01-01"},
    {"make_date('2021','1','2')", "2021-01-02"},
    {"make_date(262142,12,31)", "+262142-12-31"},
    {"make_date(NULL,1,1)", "NULL"},
};

static const struct sql_failure PARTS_FAILURES[] = {
    {"date_part('ns',DATE '2021-01-02')", GLV_E_SQL_EXEC},
    {"date_part('decade',DATE '2021-01-02')", GLV_E_SQL_EXEC},
    {"date_part('',DATE '2021-01-02')", GLV_E_SQL_EXEC},
    {"date_part(NULL,DATE '2021-01-02')", GLV_E_SQL_PLAN},
    {"date_part('year',NULL)", GLV_E_SQL_EXEC},
    {"date_part('year',5)", GLV_E_SQL_PLAN},
    {"date_part('year',true)", GLV_E_SQL_PLAN},
    {"date_part('year')", GLV_E_SQL_PLAN},
    {"date_trunc('months',TIMESTAMP '2021-05-06 07:08:09')", GLV_E_SQL_EXEC},
    {"date_trunc(NULL,TIMESTAMP '2021-05-06 07:08:09')", GLV_E_SQL_EXEC},
    {"date_trunc('day',5)", GLV_E_SQL_PLAN},
    {"date_trunc('day',CAST(CAST('9999-12-31' AS DATE) AS TIMESTAMP(0)))", GLV_E_SQL_EXEC},
    {"make_date(2021,2,29)", GLV_E_SQL_EXEC},
    {"make_date(262143,1,1)", GLV_E_SQL_EXEC},
    {"make_date(2021,13,1)", GLV_E_SQL_EXEC},
    {"make_date(2021,1,-1)", GLV_E_SQL_EXEC},
    {"make_date(2021,1.5,1)", GLV_E_SQL_PLAN},
    {"make_date(2021,1)", GLV_E_SQL_PLAN},
};

static const struct sql_case FORMATS[] = {
    {"to_char(TIMESTAMP '2021-01-02 03:04:05.123456','%Y-%m-%d %H:%M:%S')", "2021-01-02 03:04:05"},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05.123456','%f %3f %6f %9f %.f %.3f %.6f %.9f')",
     "123456000 123 123456 123456000 .123456 .123 .123456 .123456000"},
    {"to_char(TIMESTAMP '2021-01-02 13:04:05','%j %U %W %V %G %g %u %w %q %C %y')",
     "002 00 00 53 2020 20 6 6 1 20 21"},
    {"to_char(TIMESTAMP '2021-01-02 13:04:05','%a %A %b %B %h %e %k %l %I %p %P %s')",
     "Sat Saturday Jan January Jan  2 13  1 01 PM pm 1609592645"},
    {"to_char(TIMESTAMP '2021-01-02 00:04:05','%I %l %p %c')", "12 12 AM Sat Jan  2 00:04:05 2021"},
    {"to_char(TIMESTAMP '2021-01-02 00:04:05','%x %X %r %R %T %D %F %v %%')",
     "01/02/21 00:04:05 12:04:05 AM 00:04 00:04:05 01/02/21 2021-01-02  2-Jan-2021 %"},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05','%-d %-m %-H %_d %_H %0e %-j')", "2 1 3  2  3 02 2"},
    {"to_char(CAST('0001-01-02' AS DATE),'%Y %_Y %-Y')", "0001    1 1"},
    {"to_char(CAST(4000000 AS DATE),'%Y %y')", "+12921 21"},
    {"to_char(CAST(-719529 AS DATE),'%Y %F')", "-0001 -0001-12-31"},
    {"to_char(arrow_cast(TIMESTAMP '2021-07-01 12:00:00','Timestamp(ms, "
     "\"America/New_York\")'),'%z %:z %::z %:::z %Z %+')",
     "-0400 -04:00 -04:00:00 -04 -04:00 2021-07-01T12:00:00-04:00"},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05','é%Y€')", "é2021€"},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05','')", ""},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05',5)", "5"},
    {"to_char(NULL,'%Y')", "NULL"},
    {"to_char('2021-03-04','%Y %z')", "2021 +0000"},
    {"to_timestamp(5)", "1970-01-01T00:00:05"},
    {"to_timestamp(1.5)", "1970-01-01T00:00:01.500"},
    {"to_timestamp(1e300)", "2262-04-11T23:47:16.854775807"},
    {"to_timestamp(CAST('nan' AS DOUBLE))", "1970-01-01T00:00:00"},
    {"to_timestamp('2021-01-02T03:04:05.5+02:00')", "2021-01-02T01:04:05.500"},
    {"to_timestamp('2021-01-02')", "2021-01-02T00:00:00"},
    {"to_timestamp(NULL)", "NULL"},
    {"to_timestamp_seconds(TIMESTAMP '1969-12-31 23:59:59.9')", "1970-01-01T00:00:00"},
    {"to_timestamp_millis(5)", "1970-01-01T00:00:00.005"},
    {"to_timestamp_micros('2021-01-02 03:04:05.678')", "2021-01-02T03:04:05.678"},
    {"to_timestamp_nanos(1.9)", "1970-01-01T00:00:00.000000001"},
    {"to_timestamp('02/01/2021','%Y-%m-%d','%d/%m/%Y')", "2021-01-02T00:00:00"},
    {"to_timestamp('02/01/2021 03:04 PM','%d/%m/%Y %I:%M %p')", "2021-01-02T15:04:00"},
    {"to_timestamp('2021-01-02 10:11:12 Europe/Berlin','%Y-%m-%d %H:%M:%S %Z')",
     "2021-01-02T09:11:12"},
    {"to_timestamp('2021-01-02 10:11:12.5 +0200','%Y-%m-%d %H:%M:%S%.f %z')",
     "2021-01-02T08:11:12.500"},
    {"to_timestamp('2021-01-02T10:11:12.25+01:00','%+')", "2021-01-02T09:11:12.250"},
    {"to_timestamp('Sat Jan  2 2021','%a %b %e %Y')", "2021-01-02T00:00:00"},
    {"to_timestamp('saturday january 2 2021','%A %B %d %Y')", "2021-01-02T00:00:00"},
    {"to_timestamp('2021 002','%Y %j')", "2021-01-02T00:00:00"},
    {"to_timestamp('2020-W53-6','%G-W%V-%u')", "2021-01-02T00:00:00"},
    {"to_timestamp('2021 00 6','%Y %U %w')", "2021-01-02T00:00:00"},
    {"to_timestamp('69-01-02','%y-%m-%d')", "2069-01-02T00:00:00"},
    {"to_timestamp('70-01-02','%y-%m-%d')", "1970-01-02T00:00:00"},
    {"to_timestamp('1609556645','%s')", "2021-01-02T03:04:05"},
    {"to_timestamp('20210102030405','%Y%m%d%H%M%S')", "2021-01-02T03:04:05"},
    {"to_timestamp('2021-01-02 23:59:60','%Y-%m-%d %H:%M:%S')", "2021-01-03T00:00:00"},
    {"to_date('2021-01-02')", "2021-01-02"},
    {"to_date('20210102')", "2021-01-02"},
    {"to_date(5)", "1970-01-06"},
    {"to_date(1.9)", "1970-01-02"},
    {"to_date(TIMESTAMP '1969-12-31 23:59:59')", "1969-12-31"},
    {"to_date('02/01/2021','%d/%m/%Y')", "2021-01-02"},
    {"to_date(NULL)", "NULL"},
};

static const struct sql_failure FORMATS_FAILURES[] = {
    {"to_char(TIMESTAMP '2021-01-02 03:04:05','%z')", GLV_E_SQL_EXEC},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05','%Q')", GLV_E_SQL_EXEC},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05','%')", GLV_E_SQL_EXEC},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05','%-')", GLV_E_SQL_EXEC},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05','%-B')", GLV_E_SQL_EXEC},
    {"to_char(TIMESTAMP '2021-01-02 03:04:05','%5f')", GLV_E_SQL_EXEC},
    {"to_char(5,'%Y')", GLV_E_SQL_PLAN},
    {"to_timestamp(9223372036854775807)", GLV_E_SQL_EXEC},
    {"to_timestamp('9999-01-01')", GLV_E_SQL_EXEC},
    {"to_timestamp('x')", GLV_E_SQL_EXEC},
    {"to_timestamp(true)", GLV_E_SQL_EXEC},
    {"to_timestamp(DATE '2021-01-02')", GLV_E_SQL_EXEC},
    {"to_timestamp('x',5)", GLV_E_SQL_EXEC},
    {"to_timestamp()", GLV_E_SQL_PLAN},
    {"to_timestamp_seconds(1e300)", GLV_E_SQL_EXEC},
    {"to_timestamp('2021-01-02T10:11:12','%+')", GLV_E_SQL_EXEC},
    {"to_timestamp('Sun Jan  2 2021','%a %b %e %Y')", GLV_E_SQL_EXEC},
    {"to_timestamp('2021-02-30','%Y-%m-%d')", GLV_E_SQL_EXEC},
    {"to_timestamp('2021-01-02x','%Y-%m-%d')", GLV_E_SQL_EXEC},
    {"to_timestamp('2021-01','%Y-%m')", GLV_E_SQL_EXEC},
    {"to_timestamp('21','%y')", GLV_E_SQL_EXEC},
    {"to_timestamp('99999999999999999999','%s')", GLV_E_SQL_EXEC},
    {"to_timestamp('2021-01-02 3','%Y-%m-%d %q')", GLV_E_SQL_EXEC},
    {"to_timestamp('2021-01-02','%Q')", GLV_E_SQL_EXEC},
    {"to_timestamp('','%Y')", GLV_E_SQL_EXEC},
    {"to_date('x')", GLV_E_SQL_EXEC},
    {"to_date(3000000000)", GLV_E_SQL_EXEC},
    {"to_date(true)", GLV_E_SQL_EXEC},
};

static void test_parts(void **state) {
  (void)state;
  assert_sql_cases(PARTS);
  assert_sql_failures(PARTS_FAILURES);
}

static void test_formats(void **state) {
  (void)state;
  assert_sql_cases(FORMATS);
  assert_sql_failures(FORMATS_FAILURES);
}

static void test_columns(void **state) {
  static const char *const values[] = {"2021-01-02 03:04:05", NULL, "1969-12-31"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 3);
  assert_sql(&s, "date_part('dow', to_timestamp(x))", "6|NULL|3");
  assert_sql(&s, "date_trunc('month', to_timestamp(x))",
             "2021-01-01T00:00:00|NULL|1969-12-01T00:00:00");
  assert_sql(&s, "to_char(to_date(x), '%d.%m.')", "02.01.|NULL|31.12.");
  assert_sql(&s, "to_timestamp(x, '%Y-%m-%d', '%Y-%m-%d %H:%M:%S')",
             "2021-01-02T03:04:05|NULL|1969-12-31T00:00:00");
  sql_text_close(&s);
}

/* Formats cannot make texts of any size, and hostile ones end. */
static void test_hostile_formats(void **state) {
  static char format[20000];
  (void)state;
  sql_text s;
  sql_text_open(&s);
  memcpy(format, "to_char(DATE '2021-01-02', '", 28);
  for (size_t i = 28; i + 4 < sizeof format - 3; i += 2) {
    memcpy(format + i, "%c", 2);
  }
  memcpy(format + strlen(format), "')", 3);
  assert_int_equal(sql_text_status(&s, format), GLV_OK);
  memcpy(format, "to_timestamp('x',           '", 29);
  assert_int_equal(sql_text_status(&s, format), GLV_E_SQL_EXEC);
  sql_text_close(&s);
}

static void test_out_of_memory(void **state) {
  static const char *const rows[] = {"2021-01-02 03:04:05 Europe/Paris", NULL};
  static const char *const texts[] = {
      "date_part('year', date_trunc('day', CAST(x AS TIMESTAMP))) > 2000",
      "to_char(to_timestamp(x, '%Y-%m-%d %H:%M:%S %Z'), '%c')",
      ("date_trunc('day', arrow_cast(CAST(x AS TIMESTAMP), 'Timestamp(s, "
       "\"Asia/Tokyo\")'))"),
  };
  (void)state;
  assert_sql_starves(rows, texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parts),         cmocka_unit_test(test_formats),
      cmocka_unit_test(test_columns),       cmocka_unit_test(test_hostile_formats),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
