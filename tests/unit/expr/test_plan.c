/* Planning: names, contexts, literals, types, errors (sql-expressions sections 5 to 9 and 15.5). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"
#include "unit/expr/sql_fixture.h"

#define ROWS 64

static int open_fixture(void **state) {
  static sql_fixture f;
  sql_open(&f, ROWS, 7);
  *state = &f;
  return 0;
}

static int close_fixture(void **state) {
  sql_close(*state);
  return 0;
}

#define ASSERT_TYPE(text, expected) assert_string_equal(sql_type(f, text), expected)
#define ASSERT_PLAN_ERROR(text) assert_int_equal(sql_status(f, text, EXPR_STRICT), GLV_E_SQL_PLAN)
#define ASSERT_PARSE_ERROR(text) assert_int_equal(sql_status(f, text, EXPR_STRICT), GLV_E_SQL_PARSE)
#define ASSERT_OK(text) assert_int_equal(sql_status(f, text, EXPR_STRICT), GLV_OK)

static void test_types_of_arithmetic(void **state) {
  sql_fixture *f = *state;
  ASSERT_TYPE("i32 + 1", "int32");
  ASSERT_TYPE("(i32 + 1) * 2", "int64");
  ASSERT_TYPE("u8 - 10", "uint8");
  ASSERT_TYPE("i8 + i16", "int16");
  ASSERT_TYPE("u8 + i8", "int16");
  ASSERT_TYPE("u16 + i8", "int32");
  ASSERT_TYPE("u32 + i8", "int64");
  ASSERT_TYPE("u32 + u8", "uint32");
  ASSERT_TYPE("i64 + u64", "decimal128(21, 0)");
  ASSERT_TYPE("f32 + i64", "float");
  ASSERT_TYPE("f32 + f64", "double");
  ASSERT_TYPE("d32 - d32", "int64");
  ASSERT_TYPE("ts - ts", "duration[us]");
  ASSERT_TYPE("i8 << i16", "int16");
  ASSERT_TYPE("-i8", "int8");
  ASSERT_TYPE("CAST(i32 AS INT) + 1", "int64"); /* the cast is no column */
  ASSERT_PLAN_ERROR("-u8");
  ASSERT_PLAN_ERROR("s + 1");
  ASSERT_PLAN_ERROR("b + b");
  ASSERT_PLAN_ERROR("ts + ts");
  ASSERT_PLAN_ERROR("f64 << 1");
}

static void test_literals_take_column_types(void **state) {
  sql_fixture *f = *state;
  ASSERT_PLAN_ERROR("i8 = 300");
  ASSERT_PLAN_ERROR("(i8) = (300)");
  ASSERT_PLAN_ERROR("300 = i8");
  ASSERT_PLAN_ERROR("b OR (i8 = 300)");
  ASSERT_PLAN_ERROR("u8 > -1");
  ASSERT_PLAN_ERROR("i32 = 5.0");
  ASSERT_PLAN_ERROR("i32 * 1.5");
  ASSERT_PLAN_ERROR("s = 5");
  ASSERT_PLAN_ERROR("d32 = '2021-01-02'");
  ASSERT_PLAN_ERROR("i8 IN (1, 300)");
  ASSERT_PLAN_ERROR("i8 BETWEEN 0 AND 300");
  ASSERT_PLAN_ERROR("i8 IS DISTINCT FROM 300");
  ASSERT_PLAN_ERROR("i8 = 1 + 300");
  ASSERT_OK("NOT (i8 = 300)");
  ASSERT_OK("(i8 = 300) IS TRUE");
  ASSERT_OK("i8 = -(300)");
  ASSERT_OK("i8 = i64 + 300");
  ASSERT_OK("i8 = NULL");
  ASSERT_OK("f32 = 1e300");
  ASSERT_OK("(d32 = '2021-01-02') IS TRUE");
}

static void test_number_literals(void **state) {
  sql_fixture *f = *state;
  ASSERT_TYPE("1", "int64");
  ASSERT_TYPE("9223372036854775808", "uint64");
  ASSERT_TYPE("18446744073709551616", "double");
  ASSERT_TYPE("-9223372036854775808", "double");
  ASSERT_TYPE("coalesce(-9223372036854775808, NULL)", "int64");
  ASSERT_TYPE("1.", "double");
  ASSERT_TYPE("x'123'", "binary");
  ASSERT_TYPE("NULL", "null");
  ASSERT_TYPE("TIMESTAMP '2021-01-02'", "timestamp[us]");
  ASSERT_TYPE("coalesce(TIMESTAMP '2021-01-02', NULL)", "timestamp[ns]");
  ASSERT_PLAN_ERROR("?");
  ASSERT_PLAN_ERROR("N'a'");
}

static void test_names(void **state) {
  sql_fixture *f = *state;
  ASSERT_OK("name");
  ASSERT_OK("NAME + 1");
  ASSERT_OK("`Name` + 1");
  ASSERT_PLAN_ERROR("`NAME` + 1");
  ASSERT_PLAN_ERROR("abs(name)");
  ASSERT_OK("coalesce(Name, 1)");
  ASSERT_PLAN_ERROR("upper(S)");
  ASSERT_OK("S");
  ASSERT_PLAN_ERROR("`S` = 'a'");
  ASSERT_PLAN_ERROR("nosuch");
  ASSERT_PLAN_ERROR("i32.x");
}

static void test_double_quotes(void **state) {
  sql_fixture *f = *state;
  ASSERT_TYPE("\"s\"", "string");
  expr *e = NULL;
  assert_int_equal(sql_plan(f, "\"i32\"", 0, &e, NULL), GLV_OK);
  assert_string_equal(TYPE_TEXT(expr_type(e)), "string");
  expr_free(e);
  assert_int_equal(sql_plan(f, "\"i32\"", EXPR_DQUOTE_IDENTIFIER, &e, NULL), GLV_OK);
  assert_string_equal(TYPE_TEXT(expr_type(e)), "int32");
  expr_free(e);
}

static void test_system_columns(void **state) {
  sql_fixture *f = *state;
  expr *e = NULL;
  ASSERT_OK("_rowid");
  ASSERT_PLAN_ERROR("_rowid + 1");
  assert_int_equal(sql_plan_filter(f, "_rowid + 1 > 5", 0, &e, NULL), GLV_OK);
  expr_free(e);
  e = NULL;
  glv_error err = {0};
  assert_int_equal(sql_plan(f, "_rowid", EXPR_VIEW, &e, &err), GLV_E_SQL_PLAN);
  assert_non_null(strstr(err.message, "unknown column '_rowid'"));
}

/* Constructs of D only: refused under EXPR_STRICT, else planned as a whole in D. */
static void test_wide_constructs(void **state) {
  sql_fixture *f = *state;
  static const char *const wide[] = {"CASE WHEN b THEN 1 ELSE 2 END",
                                     "i32 & 3",
                                     "+i32",
                                     "b IS UNKNOWN",
                                     "s ~ 'a'",
                                     "SUBSTR(s, 1, 2)",
                                     "TRIM(s)",
                                     "CEIL(f64)",
                                     "EXTRACT(YEAR FROM DATE '2021-01-02')",
                                     "CAST(i32 AS INT8)",
                                     "s SIMILAR TO 'a'",
                                     "POSITION('a' IN s)"};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
    assert_int_equal(sql_status(f, wide[i], EXPR_STRICT), GLV_E_SQL_PLAN);
    assert_int_equal(sql_status(f, wide[i], 0), GLV_OK);
  }
  assert_int_equal(sql_status(f, "CAST(i32 AS NOSUCH)", 0), GLV_E_SQL_PLAN);
  assert_int_equal(sql_status(f, "s RLIKE 'a'", 0), GLV_E_SQL_PLAN);
  /* names and literals follow D then */
  assert_int_equal(sql_status(f, "I32 & 3", 0), GLV_E_SQL_PLAN);
  assert_int_equal(sql_status(f, "(i8 = 300) AND (i32 & 1 = 1)", 0), GLV_OK);
}

static void test_errors_of_time(void **state) {
  sql_fixture *f = *state;
  expr *e = NULL;
  ASSERT_PLAN_ERROR("DATE '2021-02-30'");
  ASSERT_PLAN_ERROR("CAST('x' AS INT)");
  ASSERT_PLAN_ERROR("b OR CAST('x' AS INT) = 1 OR true");
  assert_int_equal(sql_status(f, "1 / 0 + i32", 0), GLV_E_SQL_EXEC);
  /* a constant that fails is kept: it raises only when rows are evaluated */
  assert_int_equal(sql_plan(f, "1 / 0 + i32", 0, &e, NULL), GLV_OK);
  array a = {0};
  assert_int_equal(expr_eval(e, &f->b, (selection){NULL, 0}, &a, NULL), GLV_OK);
  array_unref(&a);
  expr_free(e);
}

static void test_parse_errors(void **state) {
  sql_fixture *f = *state;
  ASSERT_PARSE_ERROR("i32 = = 5");
  ASSERT_PARSE_ERROR("i32 IN ()");
  ASSERT_PARSE_ERROR("'a\\''");
  ASSERT_PARSE_ERROR("/* x");
  ASSERT_PARSE_ERROR("`a");
  ASSERT_PARSE_ERROR("i32 > 5 garbage");
  ASSERT_PARSE_ERROR("");
}

static void test_filters_are_boolean(void **state) {
  sql_fixture *f = *state;
  static const char *const refused[] = {"i32", "NULL", "1", "s", "i32 + 1"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    expr *e = NULL;
    glv_error err = {0};
    assert_int_equal(sql_plan_filter(f, refused[i], 0, &e, &err), GLV_E_SQL_PLAN);
    assert_non_null(strstr(err.message, "does not return a boolean"));
  }
}

static void test_views(void **state) {
  sql_fixture *f = *state;
  static const char *const refused[] = {"now()", "random()", "arrow_typeof(i32)", "current_date",
                                        "coalesce(i32, abs(random()))"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    expr *e = NULL;
    glv_error err = {0};
    assert_int_equal(sql_plan(f, refused[i], EXPR_VIEW, &e, &err), GLV_E_SQL_PLAN);
    assert_non_null(strstr(err.message, "is not immutable"));
  }
  expr *e = NULL;
  assert_int_equal(sql_plan(f, "i32 IS DISTINCT FROM i64", EXPR_VIEW | EXPR_STRICT, &e, NULL),
                   GLV_E_SQL_PLAN);
}

static void test_columns_and_paths(void **state) {
  sql_fixture *f = *state;
  expr *e = NULL;
  size_t count = 0;
  size_t column = 0;
  size_t depth = 0;
  assert_int_equal(sql_plan(f, "CASE WHEN b THEN i64 ELSE i8 + abs(i64) END", 0, &e, NULL), GLV_OK);
  const size_t *used = expr_columns(e, &count);
  assert_int_equal(count, 3);
  assert_int_equal(used[0], 0);
  assert_int_equal(used[1], 3);
  assert_int_equal(used[2], 11);
  const char *const *paths = expr_paths(e, &count);
  assert_int_equal(count, 3);
  assert_string_equal(paths[0], "b");
  assert_string_equal(paths[1], "i64");
  assert_string_equal(paths[2], "i8");
  assert_false(expr_is_column(e, &column, &depth));
  assert_true(expr_nullable(e));
  expr_free(e);
  assert_int_equal(sql_plan(f, "z", 0, &e, NULL), GLV_OK);
  assert_true(expr_is_column(e, &column, &depth));
  assert_int_equal(column, 17);
  assert_int_equal(depth, 1);
  assert_false(expr_nullable(e));
  expr_free(e);
  assert_int_equal(sql_plan(f, "CAST(z AS INT)", 0, &e, NULL), GLV_OK);
  assert_false(expr_is_column(e, &column, &depth));
  assert_true(expr_nullable(e));
  expr_free(e);
  assert_int_equal(sql_plan(f, "1 + 2", 0, &e, NULL), GLV_OK);
  (void)expr_columns(e, &count);
  assert_int_equal(count, 0);
  expr_free(e);
}

static void test_unions(void **state) {
  sql_fixture *f = *state;
  ASSERT_TYPE("coalesce(i32, 0)", "int64");
  ASSERT_TYPE("coalesce(u64, i64)", "decimal128(20, 0)");
  ASSERT_TYPE("coalesce(f32, 0)", "float");
  ASSERT_TYPE("coalesce(s, ls)", "large_string");
  ASSERT_TYPE("coalesce(NULL, i32)", "int32");
  ASSERT_TYPE("coalesce(i32, '5')", "int32");
  ASSERT_TYPE("nvl(i32, 'x')", "string");
  ASSERT_TYPE("nvl(u64, i64)", "float");
  ASSERT_TYPE("nvl(d32, d32)", "string");
  ASSERT_TYPE("nvl2(i32, 1, 'x')", "string");
  ASSERT_TYPE("greatest(d32, i32)", "date32[day]");
  ASSERT_TYPE("concat(ls, ls)", "large_string");
  ASSERT_TYPE("concat(ls, 'x')", "string_view");
  ASSERT_TYPE("concat(ls, i32)", "string");
  ASSERT_TYPE("d32 - NULL", "int64");
  ASSERT_TYPE("ts - NULL", "duration[us]");
  ASSERT_TYPE("f32 << u8", "uint8");
  ASSERT_TYPE("coalesce(CASE WHEN b THEN i32 ELSE s END, '')", "string");
  ASSERT_PLAN_ERROR("coalesce(i32, 'x')");
  ASSERT_PLAN_ERROR("coalesce(bin, NULL)");
  ASSERT_PLAN_ERROR("coalesce(b, 'x')");
  ASSERT_PLAN_ERROR("coalesce()");
  ASSERT_PLAN_ERROR("nvl2(b, 1, 2)");
  ASSERT_PLAN_ERROR("coalesce(CASE WHEN b THEN b ELSE 'x' END, b)");
}

static void test_functions(void **state) {
  sql_fixture *f = *state;
  ASSERT_OK("UPPER(s)");
  ASSERT_OK("`upper`(s)");
  ASSERT_OK("upper(DISTINCT s)");
  ASSERT_PLAN_ERROR("`UPPER`(s)");
  ASSERT_PLAN_ERROR("a.upper(s)");
  ASSERT_PLAN_ERROR("upper(x => s)");
  ASSERT_PLAN_ERROR("nosuchfunction(s)");
  ASSERT_PLAN_ERROR("count(i32)");
  ASSERT_PLAN_ERROR("row_number() OVER ()");
  ASSERT_PLAN_ERROR("is_valid()");
  ASSERT_PLAN_ERROR("IS_VALID(i32)");
  ASSERT_OK("is_valid(I32)");
}

/* A name that is reserved gets a message with the way out. */
static void test_reserved_functions(void **state) {
  sql_fixture *f = *state;
  expr *e = NULL;
  glv_error err = {0};
  assert_int_equal(sql_plan(f, "array_transform(s)", 0, &e, &err), GLV_E_SQL_PLAN);
  assert_non_null(strstr(err.message,
                         "function 'array_transform' is not supported; compute it before the "
                         "data is written, or leave it out"));
  /* The reference does not know this one either. */
  assert_int_equal(sql_plan(f, "list_min(s)", 0, &e, &err), GLV_E_SQL_PLAN);
  assert_non_null(strstr(err.message, "Invalid function 'list_min'"));
}

static void test_nesting_is_limited(void **state) {
  sql_fixture *f = *state;
  char text[1024];
  for (unsigned depth = 100; depth <= 300; depth += 200) {
    memset(text, '(', depth);
    (void)snprintf(text + depth, sizeof text - depth, "i32");
    memset(text + depth + 3, ')', depth);
    text[2 * depth + 3] = '\0';
    assert_int_equal(sql_status(f, text, 0), depth < 200 ? GLV_OK : GLV_E_SQL_PARSE);
  }
}

/* Refusals at every allocation: a clean status, nothing left (checked when the fixture closes). */
static void test_no_memory(void **state) {
  sql_fixture *f = *state;
  static const char *const texts[] = {
      "i32 + 1 > 5 AND s LIKE 'a%' OR i64 IN (1, 2, 3, 4, 5, 6, 7, 8) AND f64 = 0",
      "coalesce(CASE WHEN b THEN s ELSE upper(s) || 'x' END, CAST(i32 AS STRING))",
      "regexp_like(s, 'a.*')"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    for (uint64_t n = 1;; n++) {
      alloc_fault_arm(&f->t.alloc, n, false);
      const glv_status status = sql_status(f, texts[i], 0);
      const bool fired = f->t.alloc.fired;
      alloc_fault_arm(&f->t.alloc, 0, false);
      if (!fired) {
        assert_int_equal(status, GLV_OK);
        break;
      }
      if (status != GLV_OK && status != GLV_E_NOMEM) {
        fail_msg("%s: status %d at request %d", texts[i], status, (int)n);
      }
    }
  }
}

/* The type of a value assigned to a column; NULL when it does not plan. */
static const char *assigned_type(sql_fixture *f, const char *text, const field *to) {
  static char name[64];
  CLEANUP(expr_cleanup) expr *e = NULL;
  if (expr_plan_assigned(f->env, str_of(text), &f->scope, EXPR_STRICT, to, &e, NULL) != GLV_OK) {
    return NULL;
  }
  snprintf(name, sizeof name, "%s", TYPE_TEXT(expr_type(e)));
  return name;
}

static void test_assignments(void **state) {
  sql_fixture *f = *state;
  const field i8 = {.name = "x", .type = type_simple(TYPE_INT8)};
  const pair mark = {STR("ARROW:extension:name"), STR("lance.json")};
  const field json = {.name = "j",
                      .type = type_simple(TYPE_LARGE_BINARY),
                      .nullable = true,
                      .metadata = {&mark, 1}};
  assert_string_equal(assigned_type(f, "i64 + 1", &i8), "int8");
  assert_string_equal(assigned_type(f, "i8", &i8), "int8");
  assert_string_equal(assigned_type(f, "'12'", &i8), "int8");
  assert_string_equal(assigned_type(f, "NULL", &i8), "int8");
  assert_null(assigned_type(f, "300", &i8));
  assert_null(assigned_type(f, "nope", &i8));
  assert_string_equal(assigned_type(f, "s", &json), "string"); /* parsed by whoever takes it */
  assert_string_equal(assigned_type(f, "bin", &json), "large_binary");
  assert_string_equal(assigned_type(f, "NULL", &json), "large_binary");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types_of_arithmetic),
      cmocka_unit_test(test_literals_take_column_types),
      cmocka_unit_test(test_number_literals),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_double_quotes),
      cmocka_unit_test(test_system_columns),
      cmocka_unit_test(test_wide_constructs),
      cmocka_unit_test(test_errors_of_time),
      cmocka_unit_test(test_parse_errors),
      cmocka_unit_test(test_filters_are_boolean),
      cmocka_unit_test(test_views),
      cmocka_unit_test(test_columns_and_paths),
      cmocka_unit_test(test_unions),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_reserved_functions),
      cmocka_unit_test(test_nesting_is_limited),
      cmocka_unit_test(test_assignments),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
