/* Functions of numbers, conditions, and types by name. */
#include "expr/function.h"
#include "unit/expr/sql_text.h"

static const struct sql_case CASES[] = {
    {"abs(-5)", "5"},
    {"abs(-1.5)", "1.5"},
    {"abs(18446744073709551615)", "18446744073709551615"},
    {"abs(NULL)", "NULL"},
    {"sqrt(2)", "1.4142135623730951"},
    {"sqrt(-1)", "NaN"},
    {"sqrt(-0.0)", "-0.0"},
    {"exp(0)", "1.0"},
    {"ln(0)", "-inf"},
    {"ln(-1)", "NaN"},
    {"ln(-1.5) > 0", "true"},
    {"log2(-1.5) > 0", "true"},
    {"log(2.0, -1.5) > 0", "true"},
    {"ln(arrow_cast(-1.5, 'Float32')) > 0", "false"},
    {"CAST(power(CAST(10000 AS DECIMAL(5,0)), 2) AS STRING)", "10000"},
    {"CAST(power(CAST(10000 AS DECIMAL(5,0)), 2) AS DECIMAL(9,1))", "10000000.0"},
    {"log(100)", "2.0"},
    {"log(2,8)", "3.0"},
    {"log(1,2)", "inf"},
    {"log2(8)", "3.0"},
    {"log10(1000)", "3.0"},
    {"power(2,10)", "1024.0"},
    {"power(2,-1)", "0.5"},
    {"power(-8.0,0.333)", "NaN"},
    {"power(CAST(2.5 AS DECIMAL(5,1)),4)", "39.0"},
    {"power(CAST(4 AS DECIMAL(5,2)),-1)", "0.25"},
    {"power(CAST(4 AS DECIMAL(5,2)),0.5)", "2.00"},
    {"power(CAST(-3 AS DECIMAL(5,2)),0)", "1.00"},
    {"log(10,CAST(1000 AS DECIMAL(10,0)))", "3.0"},
    {"log(2,CAST(1024 AS DECIMAL(10,0)))", "10.0"},
    {"round(CAST(-2.25 AS DECIMAL(5,2)),1)", "-2.3"},
    {"round(CAST(995 AS DECIMAL(3,0)),-1)", "1000"},
    {"arrow_typeof(round(CAST(995 AS DECIMAL(3,0)),-1))", "Decimal128(4, 0)"},
    {"arrow_typeof(round(CAST(1.25 AS DECIMAL(5,2)),7))", "Decimal128(5, 2)"},
    {"round(CAST(1.25 AS DECIMAL(5,2)),-9)", "0"},
    {"ceil(CAST(-2.5 AS DECIMAL(5,1)))", "-2.0"},
    {"ceil(CAST(2.5 AS DECIMAL(5,1)))", "3.0"},
    {"floor(CAST(-2.5 AS DECIMAL(5,1)))", "-3.0"},
    {"floor(CAST(2.5 AS DECIMAL(5,1)))", "2.0"},
    {"trunc(CAST(-2.55 AS DECIMAL(5,2)),1)", "-2.5"},
    {"abs(CAST(-2.5 AS DECIMAL(5,1)))", "2.5"},
    {"abs(arrow_cast(-2.5,'Float16'))", "2.5"},
    {"iszero(arrow_cast(-0.0,'Float16'))", "true"},
    {"isnan(arrow_cast(1.5,'Float16'))", "false"},
    {"round(arrow_cast(2.5,'Float16'))", "3.0"},
    {"arrow_typeof(log(arrow_cast(100,'Float16')))", "Float16"},
    {"cbrt(-8)", "-2.0"},
    {"sin(0)", "0.0"},
    {"cos(0)", "1.0"},
    {"cot(0)", "inf"},
    {"asin(2)", "NaN"},
    {"atan2(1,-1)", "2.3561945"},
    {"atan2(1.0,-1.0)", "2.356194490192345"},
    {"sinh(0)", "0.0"},
    {"acosh(1)", "0.0"},
    {"atanh(1)", "inf"},
    {"degrees(pi())", "180.0"},
    {"radians(180)", "3.141592653589793"},
    {"gcd(-12,18)", "6"},
    {"gcd(0,0)", "0"},
    {"gcd(-9223372036854775807 - 1,6)", "2"},
    {"lcm(-4,6)", "12"},
    {"lcm(0,5)", "0"},
    {"factorial(0)", "1"},
    {"factorial(20)", "2432902008176640000"},
    {"signum(-3)", "-1.0"},
    {"signum(-0.0)", "0.0"},
    {"signum(CAST('nan' AS DOUBLE))", "NaN"},
    {"round(2.5)", "3.0"},
    {"round(-2.5)", "-3.0"},
    {"round(1.005,2)", "1.0"},
    {"round(1234.567,-2)", "1200.0"},
    {"round(-1,-1)", "-0.0"},
    {"round(1e308,5)", "inf"},
    {"round(2.5,NULL)", "NULL"},
    {"trunc(-1.9)", "-1.0"},
    {"trunc(1234.567,-2)", "1200.0"},
    {"trunc(1.29,1)", "1.2"},
    {"trunc(1,2147483648)", "NaN"},
    {"trunc(-0.0)", "-0.0"},
    {"ceil(-0.5)", "-0.0"},
    {"floor(-0.5)", "-1.0"},
    {"ceil(7)", "7.0"},
    {"isnan(CAST('nan' AS DOUBLE))", "true"},
    {"isnan(1)", "false"},
    {"isnan(NULL)", "NULL"},
    {"iszero(-0.0)", "true"},
    {"iszero(0)", "true"},
    {"iszero(1.5)", "false"},
    {"iszero(CAST('nan' AS FLOAT))", "false"},
    {"nanvl(CAST('nan' AS DOUBLE),2.5)", "2.5"},
    {"nanvl(1.5,2.5)", "1.5"},
    {"nanvl(CAST('nan' AS DOUBLE),NULL)", "NULL"},
    {"nanvl(1.5,NULL)", "1.5"},
    {"nanvl(1,2)", "1.0"},
    {"nullif(1,1)", "NULL"},
    {"nullif(1,2)", "1"},
    {"nullif(NULL,1)", "NULL"},
    {"nullif(1,NULL)", "1"},
    {"nullif('a','a')", "NULL"},
    {"nullif(0.0,-0.0)", "0.0"},
    {"greatest(1,2.5,NULL)", "2.5"},
    {"greatest(NULL,NULL)", "NULL"},
    {"greatest('a','B','é')", "é"},
    {"greatest(CAST('nan' AS DOUBLE),1e300)", "NaN"},
    {"greatest(-0.0,0.0)", "0.0"},
    {"greatest(true,false)", "true"},
    {"greatest(DATE '2021-01-02',DATE '2020-01-02')", "2021-01-02"},
    {"least(1,2.5,NULL)", "1.0"},
    {"least('a','B')", "B"},
    {"least(x'62',x'61')", "a"},
    {"arrow_cast(5,'Int8')", "5"},
    {"arrow_try_cast(300,'Int8')", "NULL"},
    {"arrow_cast('1','Int8')", "1"},
    {"arrow_cast(5,'Utf8')", "5"},
    {"arrow_cast(5,' Int8 ')", "5"},
    {"arrow_cast(TIMESTAMP '2021-01-02 03:04:05','Timestamp(s, \"+05:30\")')",
     "2021-01-02T03:04:05+05:30"},
    {"arrow_cast(TIMESTAMP '2021-01-02 03:04:05','Timestamp(Millisecond, "
     "Some(\"America/New_York\"))')",
     "2021-01-02T03:04:05-05:00"},
    {"arrow_cast(TIMESTAMP '2021-01-02 03:04:05','Timestamp(µs, None)')", "2021-01-02T03:04:05"},
    {"arrow_cast(5,'Decimal128(5, 2)')", "5.00"},
    {"arrow_typeof(1)", "Int64"},
    {"arrow_typeof(1.5)", "Float64"},
    {"arrow_typeof('x')", "Utf8"},
    {"arrow_typeof(NULL)", "Null"},
    {"arrow_typeof(true)", "Boolean"},
    {"arrow_typeof(x'61')", "Binary"},
    {"arrow_typeof(now())", "Timestamp(ns)"},
    {"arrow_typeof(current_date())", "Date32"},
    {"arrow_typeof(arrow_cast(now(),'Timestamp(us, \"UTC\")'))", "Timestamp(µs, \"UTC\")"},
    {"arrow_typeof(arrow_cast(1,'Decimal128(5, -2)'))", "Decimal128(5, -2)"},
    {"arrow_typeof(arrow_cast('a','LargeUtf8'))", "LargeUtf8"},
    {"arrow_typeof(nullif(NULL,NULL))", "Utf8View"},
    {"arrow_typeof(left('a',1))", "Utf8View"},
    {"arrow_typeof(upper(NULL))", "Utf8View"},
    {"arrow_typeof(trunc(1,1))", "Float32"},
    {"arrow_typeof(nullif(CAST(1 AS INT),1))", "Int64"},
    {"random() < 1", "true"},
    {"random() >= 0", "true"},
    {"now() > TIMESTAMP '2000-01-01 00:00:00'", "true"},
};

static const struct sql_failure CASES_FAILURES[] = {
    {"abs(CAST(-128 AS TINYINT))", GLV_E_SQL_EXEC},
    {"abs(-9223372036854775808)", GLV_E_SQL_EXEC},
    {"power(0,-1)", GLV_E_SQL_EXEC},
    {"round(1,2147483648)", GLV_E_SQL_PLAN},
    {"gcd(-9223372036854775807 - 1,0)", GLV_E_SQL_EXEC},
    {"lcm(9223372036854775807,2)", GLV_E_SQL_EXEC},
    {"factorial(21)", GLV_E_SQL_EXEC},
    {"factorial(-1)", GLV_E_SQL_EXEC},
    {"power(CAST(10 AS DECIMAL(5,1)),40)", GLV_E_SQL_EXEC},
    {"power(CAST(-2 AS DECIMAL(5,1)),0.5)", GLV_E_SQL_EXEC},
    {"power(CAST(0 AS DECIMAL(5,1)),-1)", GLV_E_SQL_EXEC},
    {"ceil(CAST(99.5 AS DECIMAL(3,1)))", GLV_E_SQL_EXEC},
    {"gcd(1.5,2)", GLV_E_SQL_PLAN},
    {"pi(1)", GLV_E_SQL_PLAN},
    {"sin('1')", GLV_E_SQL_PLAN},
    {"abs('x')", GLV_E_SQL_PLAN},
    {"sqrt(true)", GLV_E_SQL_PLAN},
    {"round('x')", GLV_E_SQL_PLAN},
    {"power('x',1)", GLV_E_SQL_PLAN},
    {"log()", GLV_E_SQL_PLAN},
    {"log(1,2,3)", GLV_E_SQL_PLAN},
    {"round(1,2,3)", GLV_E_SQL_PLAN},
    {"isnan('x')", GLV_E_SQL_PLAN},
    {"nanvl(true,1)", GLV_E_SQL_PLAN},
    {"nullif(1,'x')", GLV_E_SQL_PLAN},
    {"greatest(1,'x')", GLV_E_SQL_PLAN},
    {"greatest()", GLV_E_SQL_PLAN},
    {"least(1,true)", GLV_E_SQL_PLAN},
    {"arrow_cast(300,'Int8')", GLV_E_SQL_PLAN},
    {"arrow_cast(12345,'Decimal128(5, 2)')", GLV_E_SQL_PLAN},
    {"arrow_cast(5,'nosuch')", GLV_E_SQL_PLAN},
    {"arrow_cast(5,'Int8x')", GLV_E_SQL_PLAN},
    {"arrow_cast(5,'')", GLV_E_SQL_PLAN},
    {"arrow_cast(5,'Timestamp(')", GLV_E_SQL_PLAN},
    {"arrow_cast(5,'Timestamp(s, \"Nowhere/X\")')", GLV_E_SQL_PLAN},
    {"arrow_cast(5,'Decimal128(0, 2)')", GLV_E_SQL_PLAN},
    {"arrow_cast(5,'Time32(us)')", GLV_E_SQL_PLAN},
    {"arrow_cast(5,NULL)", GLV_E_SQL_PLAN},
    {"arrow_cast(5)", GLV_E_SQL_PLAN},
    {"arrow_cast(true,'Binary')", GLV_E_SQL_PLAN},
    {"random(1)", GLV_E_SQL_PLAN},
    {"cosine_distance(1,2)", GLV_E_SQL_PLAN},
};

static void test_cases(void **state) {
  (void)state;
  assert_sql_cases(CASES);
  assert_sql_failures(CASES_FAILURES);
}

static void test_columns(void **state) {
  static const char *const values[] = {"1.5", NULL, "-2.5", "nan"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 4);
  assert_sql(&s, "round(CAST(x AS DOUBLE))", "2.0|NULL|-3.0|NaN");
  assert_sql(&s, "trunc(CAST(x AS DOUBLE))", "1.0|NULL|-2.0|NaN");
  assert_sql(&s, "trunc(CAST(x AS DOUBLE) * 0)", "0.0|NULL|0.0|NaN");
  assert_sql(&s, "trunc(CAST(x AS DOUBLE) * 0, 0)", "0.0|NULL|-0.0|NaN");
  assert_sql(&s, "nanvl(CAST(x AS DOUBLE), CAST('7' AS DOUBLE))", "1.5|NULL|-2.5|7.0");
  assert_sql(&s, "greatest(CAST(x AS DOUBLE), 0)", "1.5|0.0|0.0|NaN");
  assert_sql(&s, "least(x, '2')", "1.5|2|-2.5|2");
  assert_sql(&s, "nullif(x, 'nan')", "1.5|NULL|-2.5|NULL");
  assert_sql(&s, "arrow_typeof(x)", "Utf8|Utf8|Utf8|Utf8");
  sql_text_close(&s);
}

/* Random numbers differ from row to row and between runs. */
static void test_random(void **state) {
  static const char *const values[] = {"a", "b"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 2);
  const char *first = sql_text_eval(&s, "random()");
  const char *second = sql_text_eval(&s, "random()");
  assert_string_not_equal(first, second);
  assert_true(strncmp(first, strchr(first, '|') + 1, 6) != 0);
  sql_text_close(&s);
}

static void test_suggestions(void **state) {
  (void)state;
  assert_string_equal(function_suggest(STR("uper")), "upper");
  assert_string_equal(function_suggest(STR("regexp_lik")), "regexp_like");
  assert_null(function_suggest(STR("zzzzzz")));
  assert_null(function_suggest(STR("a_name_that_is_longer_than_every_name_of_a_function_could_"
                                   "possibly_be")));
  assert_null(function_find(STR("UPPER")));
  assert_ptr_equal(function_find(STR("pow")), function_find(STR("power")));
}

static void test_out_of_memory(void **state) {
  static const char *const rows[] = {"1", NULL, "2"};
  static const char *const texts[] = {
      "round(sqrt(CAST(x AS INT)), 2) + power(abs(CAST(x AS INT)), 2)",
      "greatest(x, 'b', nullif(x, '2'))",
      "arrow_cast(x, 'Int8') = 1 AND arrow_typeof(x) = 'Utf8'",
      ("arrow_typeof(arrow_cast(NULL, 'FixedSizeBinary(3)')) || "
       "arrow_typeof(arrow_cast(NULL, 'Duration(ms)')) || "
       "arrow_typeof(arrow_cast(NULL, 'Decimal256(50, 3)'))"),
      ("arrow_typeof(arrow_cast(NULL, 'Timestamp(us, Some(\"UTC\"))')) || "
       "arrow_typeof(arrow_cast(NULL, 'List(Time64(ns))')) || "
       "arrow_typeof(arrow_cast(NULL, 'Dictionary(Int8, Utf8)'))"),
  };
  (void)state;
  assert_sql_starves(rows, texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),         cmocka_unit_test(test_columns),
      cmocka_unit_test(test_random),        cmocka_unit_test(test_suggestions),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
