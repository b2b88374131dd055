/* Evaluation against values computed here row by row (sql-expressions section 10). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/rng.h"
#include "unit/expr/sql_fixture.h"

#define ROWS 1000

static int open_fixture(void **state) {
  static sql_fixture f;
  sql_open(&f, ROWS, 42);
  *state = &f;
  return 0;
}

static int close_fixture(void **state) {
  sql_close(*state);
  return 0;
}

/* The order that SQL compares with, for numbers of any column. */
static int order_of(const array *a, size_t i, const array *b, size_t j) {
  if (a->type->kind == TYPE_FLOAT64) {
    int64_t x = ARRAY_VALUES(a, int64_t)[i];
    int64_t y = ARRAY_VALUES(b, int64_t)[j];
    x ^= x < 0 ? INT64_MAX : 0;
    y ^= y < 0 ? INT64_MAX : 0;
    return (x > y) - (x < y);
  }
  if (a->type->kind == TYPE_UTF8) {
    return str_compare(array_str(a, i), array_str(b, j));
  }
  if (a->type->kind == TYPE_BOOL) {
    return (int)array_bool(a, i) - (int)array_bool(b, j);
  }
  const int32_t x = ARRAY_VALUES(a, int32_t)[i];
  const int32_t y = ARRAY_VALUES(b, int32_t)[j];
  return (x > y) - (x < y);
}

static bool holds(const char *op, int order) {
  switch (op[0]) {
  case '=':
    return order == 0;
  case '<':
    return op[1] == '>' ? order != 0 : op[1] == '=' ? order <= 0 : order < 0;
  default:
    return op[1] == '=' ? order >= 0 : order > 0;
  }
}

static const char *const operators[] = {"=", "<>", "<", "<=", ">", ">="};

/* Columns with columns of the same type. */
static void test_comparisons(void **state) {
  sql_fixture *f = *state;
  static const char *const pairs[][2] = {{"i32", "n"}, {"f64", "f64b"}, {"s", "s"}, {"b", "b"}};
  for (size_t p = 0; p < 4; p++) {
    const array *l = sql_column(f, pairs[p][0]);
    const array *r = sql_column(f, pairs[p][1]);
    for (size_t o = 0; o < 6; o++) {
      char text[64];
      (void)snprintf(text, sizeof text, "%s %s %s", pairs[p][0], operators[o], pairs[p][1]);
      array got = sql_value(f, text);
      for (size_t i = 0; i < ROWS; i++) {
        const bool valid = array_is_valid(l, i) && array_is_valid(r, i);
        assert_int_equal(array_is_valid(&got, i), valid);
        if (valid && array_bool(&got, i) != holds(operators[o], order_of(l, i, r, i))) {
          fail_msg("%s: row %zu", text, i);
        }
      }
      array_unref(&got);
    }
  }
}

/* Every width with one value, on either side. */
static void test_comparisons_with_one(void **state) {
  sql_fixture *f = *state;
  static const char *const names[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
  for (size_t c = 0; c < 8; c++) {
    for (size_t o = 0; o < 6; o++) {
      char text[64];
      char turned[64];
      char wide[96];
      (void)snprintf(text, sizeof text, "%s %s 7", names[c], operators[o]);
      static const char *const back[] = {"=", "<>", ">", ">=", "<", "<="};
      (void)snprintf(turned, sizeof turned, "7 %s %s", back[o], names[c]);
      (void)snprintf(wide, sizeof wide, "CAST(%s AS DOUBLE) %s 7.0", names[c], operators[o]);
      array a = sql_value(f, text);
      array b = sql_value(f, turned);
      array d = sql_value(f, wide);
      assert_true(array_equal(&a, &b));
      assert_true(array_equal(&a, &d));
      array_unref(&a);
      array_unref(&b);
      array_unref(&d);
    }
  }
}

/* 10.3: zeros of both signs are one for a literal zero; NaN is the largest. */
static void test_zeros(void **state) {
  sql_fixture *f = *state;
  const array *x = sql_column(f, "f64");
  static const char *const forms[] = {"f64 %s 0", "f64 %s -0.0", "f64 %s 1 - 1",
                                      "coalesce(f64 %s 0, NULL)"};
  for (size_t k = 0; k < 4; k++) {
    for (size_t o = 0; o < 6; o++) {
      char text[64];
      (void)snprintf(text, sizeof text, forms[k], operators[o]);
      array got = sql_value(f, text);
      for (size_t i = 0; i < ROWS; i++) {
        if (array_is_valid(x, i)) {
          const double v = ARRAY_VALUES(x, double)[i];
          const int order = isnan(v) ? (signbit(v) ? -1 : 1) : (v > 0) - (v < 0);
          assert_int_equal(array_bool(&got, i), holds(operators[o], order));
        }
      }
      array_unref(&got);
    }
  }
  array a = sql_value(f, "f64 BETWEEN 0 AND 0");
  array b = sql_value(f, "f64 = 0");
  array c = sql_value(f, "f64 IN (0)");
  array d = sql_value(f, "0 IN (f64)");
  assert_true(array_equal(&a, &b) && array_equal(&a, &c) && array_equal(&a, &d));
  array_unref(&a);
  array_unref(&b);
  array_unref(&c);
  array_unref(&d);
}

/* Pairs of texts that mean the same. */
static void test_equivalences(void **state) {
  sql_fixture *f = *state;
  static const char *const pairs[][2] = {
      {"i32 BETWEEN n AND z", "i32 >= n AND i32 <= z"},
      {"i32 NOT BETWEEN n AND z", "NOT (i32 >= n AND i32 <= z)"},
      {"i32 IN (1, 2, z)", "i32 = 1 OR i32 = 2 OR i32 = z"},
      {"i32 NOT IN (1, 2, n)", "NOT (i32 = 1 OR i32 = 2 OR i32 = n)"},
      {"i32 IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 0)", "i32 IN (1, 2, 3, 4, 5) OR i32 IN (6, 7, 8, 9, 0)"},
      {"s IN ('a', 'zz', '')", "s = 'a' OR s = 'zz' OR s = ''"},
      {"b IN (true)", "b = true"},
      {"i32 IS DISTINCT FROM n", "coalesce(i32 <> n, (i32 IS NULL) <> (n IS NULL))"},
      {"i32 IS NOT DISTINCT FROM n", "NOT (i32 IS DISTINCT FROM n)"},
      {"b IS TRUE", "coalesce(b, false)"},
      {"b IS NOT FALSE", "coalesce(b, true)"},
      {"NOT (b AND i32 > 0)", "NOT b OR NOT i32 > 0"},
      {"b AND (n > 0 OR s = 'a')", "(b AND n > 0) OR (b AND s = 'a')"},
      {"coalesce(n, i32, 7)", "CASE WHEN n IS NOT NULL THEN CAST(n AS BIGINT) WHEN i32 IS NOT NULL "
                              "THEN CAST(i32 AS BIGINT) ELSE 7 END"},
      {"coalesce(CASE s WHEN 'a' THEN 1 WHEN 'zz' THEN 2 END, 3)",
       "coalesce(CASE WHEN s = 'a' THEN 1 WHEN s = 'zz' THEN 2 ELSE NULL END, 3)"},
      {"nvl2(n, s, 'none')", "CASE WHEN n IS NULL THEN 'none' ELSE s END"},
      {"coalesce(CASE WHEN b THEN i8 END, NULL)", "coalesce(CASE WHEN NOT b THEN NULL WHEN b THEN "
                                                  "i8 END)"},
      {"i64 - z * 2", "i64 + (0 - z - z)"},
      {"z % 3 + z / 3 * 3", "CAST(z AS BIGINT)"},
      {"s || '' || s", "concat(s, CASE WHEN s IS NULL THEN NULL ELSE s END) || CASE WHEN s IS NOT "
                       "NULL THEN '' END"},
      {"s LIKE 'a%'", "starts_with(s, 'a')"},
      {"s LIKE '%e'", "ends_with(s, 'e')"},
      {"s LIKE '%an%'", "contains(s, 'an')"},
      {"s LIKE '%'", "s IS NOT NULL OR NULL"},
      {"s LIKE 'apple'", "s = 'apple'"},
      {"s LIKE '50\\%\\_\\'", "s = '50%_\\'"},
      {"s LIKE '_t_'", "s = 'été'"},
      {"s ILIKE 'ÉTÉ'", "s = 'été'"},
      {"s ILIKE 'bANa%A'", "s = 'Banana'"},
      {"s LIKE s", "s <> '50%_\\' OR s = '50%_\\'"},
      {"s NOT LIKE '%a%'", "NOT s LIKE '%a%'"},
      {"z << 33", "z << 1"},
      {"CAST(i64 AS INT) = 5", "i64 = 5"},
      {"CAST(i64 AS TINYINT) IN (5, 8)", "i64 IN (5, 8)"},
      {"TRY_CAST(u64 AS INT) <> 5", "u64 <> 5"},
      {"CAST(i64 AS TINYINT) BETWEEN 5 AND 7", "i64 BETWEEN 5 AND 7"},
      {"CAST(ts AS TIMESTAMP(0)) >= TIMESTAMP(0) '1970-01-01 00:00:00'",
       "ts >= TIMESTAMP '1970-01-01 00:00:00'"},
      {"s IS DISTINCT FROM NULL", "s IS NOT NULL"},
      {"CAST(s AS DATE) IS NOT DISTINCT FROM CAST(NULL AS DATE)", "s IS NULL"},
      {"coalesce(z, i32, 1 / 0)", "CAST(z AS BIGINT)"},
      {"CAST(z AS STRING) IN ('x', CAST(z AS STRING), CAST(1 / 0 AS STRING))", "z IS NOT NULL"},
      {"coalesce(CASE WHEN false THEN i64 WHEN true THEN z ELSE 1 / 0 END, 0)",
       "CAST(z AS BIGINT)"},
      {"0 BETWEEN f64 AND f64b", "f64 <= 0 AND f64b >= 0"},
      {"coalesce(z & 7 | 8, 0)", "coalesce((z & 7) + 8, 0)"},
      {"coalesce(z ^ z, 1)", "coalesce(CAST(0 AS INT), 1)"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    array a = sql_value(f, pairs[i][0]);
    array b = sql_value(f, pairs[i][1]);
    if (!array_equal(&a, &b)) {
      fail_msg("%s differs from %s", pairs[i][0], pairs[i][1]);
    }
    array_unref(&a);
    array_unref(&b);
  }
}

static void test_integers_wrap(void **state) {
  sql_fixture *f = *state;
  static const char *const texts[] = {"i32 + 2147483647", "i32 * 1000003", "i32 - -2147483647",
                                      "-i32"};
  const array *x = sql_column(f, "i32");
  for (size_t k = 0; k < 4; k++) {
    array got = sql_value(f, texts[k]);
    for (size_t i = 0; i < ROWS; i++) {
      assert_int_equal(array_is_valid(&got, i), array_is_valid(x, i));
      if (array_is_valid(x, i)) {
        const uint32_t v = ARRAY_VALUES(x, uint32_t)[i];
        const uint32_t want[] = {v + 2147483647u, v * 1000003u, v + 2147483647u, 0u - v};
        assert_int_equal(ARRAY_VALUES(&got, uint32_t)[i], want[k]);
      }
    }
    array_unref(&got);
  }
}

static void test_division(void **state) {
  sql_fixture *f = *state;
  assert_int_equal(sql_status(f, "i32 / 0", 0), GLV_E_SQL_EXEC);
  assert_int_equal(sql_status(f, "u8 % 0", 0), GLV_E_SQL_EXEC);
  assert_int_equal(sql_status(f, "i64 / u64", 0), GLV_E_SQL_EXEC);
  assert_int_equal(sql_status(f, "f64 / 0", 0), GLV_OK);
  assert_int_equal(sql_status(f, "NULL / 0 + i32", 0), GLV_OK);
  assert_int_equal(sql_status(f, "(i32 * 0 - 2147483647 - 1) / -1", 0), GLV_OK); /* int64 */
  assert_int_equal(sql_status(f, "CAST(-128 AS TINYINT) / z * 0 / -1", 0), GLV_OK);
  assert_int_equal(
      sql_status(f, "CAST(z * 0 AS TINYINT) + CAST(-128 AS TINYINT) / CAST(-1 AS TINYINT)", 0),
      GLV_E_SQL_EXEC);
  array got = sql_value(f, "i64 / 7");
  array rest = sql_value(f, "i64 % 7");
  array least = sql_value(f, "i64 % -1");
  const array *x = sql_column(f, "i64");
  for (size_t i = 0; i < ROWS; i++) {
    if (array_is_valid(x, i)) {
      const int64_t v = ARRAY_VALUES(x, int64_t)[i];
      assert_true(ARRAY_VALUES(&got, int64_t)[i] == v / 7);
      assert_true(ARRAY_VALUES(&rest, int64_t)[i] == v % 7);
      assert_true(ARRAY_VALUES(&least, int64_t)[i] == 0);
    }
  }
  array_unref(&got);
  array_unref(&rest);
  array_unref(&least);
}

/* D3 and the lazy forms: what a row does not need is not evaluated for it. */
static void test_laziness(void **state) {
  sql_fixture *f = *state;
  static const char *const fine[] = {
      "i32 <> 0 AND 100 / i32 > 1",
      "i32 = 0 OR 100 / i32 > 1",
      "i32 IS NOT NULL AND i32 <> 0 AND 1 / i32 = 1 AND 2 % i32 = 0",
      "coalesce(CASE WHEN i32 = 0 THEN 0 ELSE 100 / i32 END, -1)",
      "coalesce(z, 1 / 0)",
      "nvl(z, 1 / 0)",
      "false AND 1 / 0 = 1",
      "(1 / i32 = 0) OR true",
      "z < 100 OR 1 / 0 = 1",
  };
  for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
    if (sql_status(f, fine[i], 0) != GLV_OK) {
      fail_msg("%s raises", fine[i]);
    }
  }
  assert_int_equal(sql_status(f, "100 / i32 > 1 AND i32 <> 0", 0), GLV_E_SQL_EXEC);
  assert_int_equal(sql_status(f, "coalesce(n, 1 / 0)", 0), GLV_E_SQL_EXEC);
}

static const char *const selectable[] = {"i32",
                                         "s",
                                         "b",
                                         "7",
                                         "NULL",
                                         "i32 + i64 * 2",
                                         "f64 / f32",
                                         "s || ls",
                                         "i32 > n",
                                         "NOT b",
                                         "b AND n > 0",
                                         "b OR s = 'a' OR n < 5",
                                         "i32 IN (1, 2, z)",
                                         "s LIKE '%a%'",
                                         "n IS NULL",
                                         "i32 IS DISTINCT FROM n",
                                         "coalesce(n, i32, 0)",
                                         "coalesce(s, ls, 'x')",
                                         "CASE WHEN b THEN s WHEN n > 3 THEN 'big' END",
                                         "CASE z WHEN -1 THEN 1 WHEN -2 THEN i32 END",
                                         "CAST(i32 AS STRING)",
                                         "upper(s)",
                                         "d32 - d32",
                                         "ts > TIMESTAMP '2021-01-01'",
                                         "n <> 0 AND 100 / n > 2",
                                         "i32 BETWEEN n AND 7",
                                         "bin || x'00'",
                                         "-f64",
                                         "z % 4",
                                         "nvl2(n, i8, u8)",
                                         "b = (n > 2)"};

/* Values over selected rows are the selected values; a slice of the batch gives the slice. */
static void test_selections(void **state) {
  sql_fixture *f = *state;
  rng r = rng_of(3);
  for (size_t k = 0; k < sizeof selectable / sizeof *selectable; k++) {
    glv_error err = {0};
    expr *e = NULL;
    array all = {0};
    assert_int_equal(sql_plan(f, selectable[k], 0, &e, &err), GLV_OK);
    assert_int_equal(expr_eval(e, &f->b, (selection){NULL, ROWS}, &all, &err), GLV_OK);
    for (unsigned round = 0; round < 4; round++) {
      uint32_t rows[ROWS];
      size_t count = 0;
      for (uint32_t i = 0; i < ROWS; i++) {
        rows[count] = i;
        count += rng_below(&r, 1 + 3 * round) == 0;
      }
      count = round == 3 ? 1 : count;
      array want = {0};
      array got = {0};
      assert_int_equal(array_take(f->env, &all, rows, count, &want, &err), GLV_OK);
      assert_int_equal(expr_eval(e, &f->b, (selection){rows, count}, &got, &err), GLV_OK);
      if (!array_equal(&want, &got)) {
        fail_msg("%s over %zu rows", selectable[k], count);
      }
      array_unref(&want);
      array_unref(&got);
    }
    glv_status status = GLV_OK;
    batch part = batch_slice(f->env, &f->b, 13, 700, &err, &status);
    assert_int_equal(status, GLV_OK);
    array want = array_slice(&all, 13, 700);
    array got = {0};
    assert_int_equal(expr_eval(e, &part, (selection){NULL, 700}, &got, &err), GLV_OK);
    if (!array_equal(&want, &got)) {
      fail_msg("%s over a slice", selectable[k]);
    }
    array_unref(&want);
    array_unref(&got);
    batch_dispose(&part);
    array_unref(&all);
    expr_free(e);
  }
}

/* expr_select gives the rows where the value is true, from all rows and from some. */
static void test_select(void **state) {
  sql_fixture *f = *state;
  static const char *const filters[] = {"i32 >= 0",
                                        "n >= 0",
                                        "b",
                                        "b AND n > 0",
                                        "n > 0 AND b AND s LIKE 'a%'",
                                        "b OR n > 0",
                                        "i32 <> 0 AND 100 / i32 > 1",
                                        "n IS NULL",
                                        "NOT b",
                                        "true",
                                        "false",
                                        "b AND NULL",
                                        "i64 > 1000000000000",
                                        "i64 >= 0 AND f64 > 0 AND u8 < 100 AND z < -3",
                                        "s IN ('a', 'zz')",
                                        "i8 < 0 AND 5 / i8 = 0 AND (b OR n > 2)"};
  for (size_t k = 0; k < sizeof filters / sizeof *filters; k++) {
    glv_error err = {0};
    expr *e = NULL;
    uint32_t some[ROWS];
    size_t some_count = 0;
    for (uint32_t i = 0; i < ROWS; i += 1 + i % 3) {
      some[some_count++] = i;
    }
    if (sql_plan_filter(f, filters[k], 0, &e, &err) != GLV_OK) {
      fail_msg("%s: %s", filters[k], err.message);
    }
    for (unsigned round = 0; round < 2; round++) {
      const selection rows = round == 0 ? (selection){NULL, ROWS} : (selection){some, some_count};
      uint32_t got[ROWS];
      size_t count = 0;
      array value = {0};
      assert_int_equal(expr_select(e, &f->b, rows, got, &count, &err), GLV_OK);
      assert_int_equal(expr_eval(e, &f->b, rows, &value, &err), GLV_OK);
      size_t at = 0;
      for (size_t i = 0; i < rows.count; i++) {
        if (array_is_valid(&value, i) && array_bool(&value, i)) {
          assert_true(at < count);
          assert_int_equal(got[at++], round == 0 ? i : some[i]);
        }
      }
      assert_int_equal(at, count);
      array_unref(&value);
    }
    expr_free(e);
  }
}

/* Repeated text: part, joined by link, `times` times. */
static char *repeat(const char *part, const char *link, size_t times) {
  char *text = malloc(times * (strlen(part) + strlen(link)) + 1);
  assert_non_null(text);
  char *at = text;
  for (size_t i = 0; i < times; i++) {
    at += sprintf(at, "%s%s", i == 0 ? "" : link, part);
  }
  return text;
}

/* 19.26: long chains need no stack. */
static void test_long_chains(void **state) {
  sql_fixture *f = *state;
  static const char *const parts[][2] = {{"i32 = 5", " OR "}, {"i32 <> 5", " AND "}, {"i64", " + "},
                                         {"z", " - "},        {"s", " || "},         {"1", " + "},
                                         {"b = b", " = "}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    char *text = repeat(parts[i][0], parts[i][1], i == 4 ? 300 : 10000);
    assert_int_equal(sql_status(f, text, 0), GLV_OK);
    free(text);
  }
  static const char *const suffixes[][2] = {
      {"b", " IS NULL"}, {"i32", "::BIGINT::INT"}, {"i32", " BETWEEN 1 AND 2 = b IS NULL"}};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char *tail = repeat(suffixes[i][1], "", 5000);
    char *text = malloc(strlen(tail) + 16);
    assert_non_null(text);
    (void)sprintf(text, "%s%s", suffixes[i][0], tail);
    const glv_status status = sql_status(f, text, 0);
    assert_true(status == GLV_OK || (i == 1 && status == GLV_E_SQL_EXEC) || i == 2);
    free(tail);
    free(text);
  }
}

static void test_long_in_lists(void **state) {
  sql_fixture *f = *state;
  char *text = malloc(200000);
  assert_non_null(text);
  char *at = text + sprintf(text, "i32 IN (7");
  for (int i = 1000; i < 20000; i++) {
    at += sprintf(at, ",%d", i);
  }
  (void)sprintf(at, ")");
  array got = sql_value(f, text);
  array want = sql_value(f, "i32 = 7 OR (i32 >= 1000 AND i32 < 20000)");
  assert_true(array_equal(&got, &want));
  array_unref(&got);
  array_unref(&want);
  free(text);
}

/* A missing column is an internal error, not a crash. */
static void test_absent_column(void **state) {
  sql_fixture *f = *state;
  batch b = {0};
  expr *e = NULL;
  array a = {0};
  glv_error err = {0};
  assert_int_equal(batch_new(f->env, f->schema, 3, 21, &b, NULL), GLV_OK);
  assert_int_equal(sql_plan(f, "i32 + 1", 0, &e, NULL), GLV_OK);
  assert_int_equal(expr_eval(e, &b, (selection){NULL, 3}, &a, &err), GLV_E_INTERNAL);
  expr_free(e);
  batch_dispose(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_comparisons),   cmocka_unit_test(test_comparisons_with_one),
      cmocka_unit_test(test_zeros),         cmocka_unit_test(test_equivalences),
      cmocka_unit_test(test_integers_wrap), cmocka_unit_test(test_division),
      cmocka_unit_test(test_laziness),      cmocka_unit_test(test_selections),
      cmocka_unit_test(test_select),        cmocka_unit_test(test_long_chains),
      cmocka_unit_test(test_long_in_lists), cmocka_unit_test(test_absent_column),
  };
  return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
