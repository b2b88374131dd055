/* Common sub-expressions: which nodes of a plan are one, and that values stay what they were, also
 * where branches see some of the rows only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/plan_private.h"
#include "support/cmocka.h"
#include "unit/expr/sql_fixture.h"

#define ROWS 200

static int open_fixture(void **state) {
  static sql_fixture f;
  sql_open(&f, ROWS, 11);
  *state = &f;
  return 0;
}

static int close_fixture(void **state) {
  sql_close(*state);
  return 0;
}

static size_t shared(sql_fixture *f, const char *text) {
  glv_error err = {0};
  expr *e = NULL;
  if (sql_plan(f, text, 0, &e, &err) != GLV_OK) {
    fail_msg("%s: %s", text, err.message);
  }
  const size_t count = e->shared_count;
  expr_free(e);
  return count;
}

static void test_equal_trees_are_one(void **state) {
  sql_fixture *f = *state;
  glv_error err = {0};
  expr *e = NULL;
  assert_int_equal(sql_plan(f, "upper(s) = 'A' OR upper(s) = 'B'", 0, &e, &err), GLV_OK);
  assert_int_equal(e->root->kind, NODE_OR);
  assert_ptr_equal(e->root->child[0]->child[0], e->root->child[1]->child[0]);
  assert_int_equal(e->shared_count, 1);
  expr_free(e);
  assert_int_equal(sql_plan(f, "(i32 * 2 + f64) * (i32 * 2 + f64)", 0, &e, &err), GLV_OK);
  assert_ptr_equal(e->root->child[0], e->root->child[1]);
  assert_int_equal(e->root->child[0]->memo, 1); /* what stands below has one parent then */
  assert_int_equal(e->shared_count, 1);
  expr_free(e);
}

static void test_what_is_shared(void **state) {
  sql_fixture *f = *state;
  assert_int_equal(shared(f, "i32 + i32"), 0);             /* columns cost nothing */
  assert_int_equal(shared(f, "(i32 + 1) * (i32 + 2)"), 1); /* the cast of the column */
  assert_int_equal(shared(f, "(f64 + 1) * (f64 + 2)"), 0);
  assert_int_equal(shared(f, "(f64 + 1) * (f64 - 1)"), 0);
  assert_int_equal(shared(f, "(f64 + 1) * (f64 + 1)"), 1);
  assert_int_equal(shared(f, "concat(s, 'a') || concat(s, 'b')"), 0);
  assert_int_equal(shared(f, "concat(s, 'a') || concat(s, 'a')"), 1);
  assert_int_equal(shared(f, "random() + random()"), 0);
  assert_int_equal(shared(f, "abs(random()) + abs(random())"), 0);
  assert_int_equal(shared(f, "upper(s) IN ('A') OR upper(s) LIKE 'B%' OR lower(s) = 'c'"), 1);
  char text[20000] = "0";
  for (size_t i = 0; i < 300; i++) {
    char part[64];
    snprintf(part, sizeof part, " + abs(f64 + %zu) * abs(f64 + %zu)", i, i);
    strcat(text, part);
  }
  assert_int_equal(shared(f, text), 64); /* bounded */
}

/* Both texts have the same value in every row. */
static void expect_same(sql_fixture *f, const char *text, const char *other) {
  array a = sql_value(f, text);
  array b = sql_value(f, other);
  if (!array_equal(&a, &b)) {
    fail_msg("%s\n%s", text, other);
  }
  array_unref(&a);
  array_unref(&b);
}

static void test_values(void **state) {
  sql_fixture *f = *state;
  expect_same(f, "(f64 * 3) + (f64 * 3) - (f64 * 3)", "f64 * 3 + f64 * 3.0 - (3 * f64)");
  expect_same(f, "(f64 * 3 + 1) - (f64 * 3 + 1) * (f64 * 3)",
              "(f64 * 3 + 1) - (1 + f64 * 3.0) * (3 * f64)");
  expect_same(f, "upper(s) || upper(s)", "upper(s) || concat(upper(s), '')");
  expect_same(f, "-(-(z + 1)) + (z + 1) + (z + 1)", "3 * (z + 1)");
  expect_same(f, "(z + 1) - (z + 1)", "2 * (z + 1) - (1 + z) - (z + 1)");
}

/* Below lazy branches the same tree sees other rows. */
static void test_laziness(void **state) {
  sql_fixture *f = *state;
  static const char *const whole[] = {
      "CASE WHEN n > 0 THEN 10 / n ELSE 0 END + CASE WHEN n > 0 THEN 10 / n ELSE 0 END",
      "CASE WHEN n <> 0 THEN 10 / n WHEN z > 0 THEN z + 1 ELSE z + 1 END + (z + 1)",
      "(z + 1) + CASE WHEN n <> 0 THEN 10 / n WHEN z > 0 THEN z + 1 ELSE z + 1 END",
      "coalesce(n + 1, z + 1) + (z + 1)",
      "(z + 1) + coalesce(n + 1, z + 1)",
  };
  static const char *const plain[] = {
      "2 * CASE WHEN n > 0 THEN 10 / n ELSE 0 END",
      "CASE WHEN n <> 0 THEN 10 / n ELSE z + 1 END + (1 + z)",
      "(1 + z) + CASE WHEN n <> 0 THEN 10 / n ELSE z + 1 END",
      "coalesce(n + 1, z + 1) + (1 + z)",
      "(1 + z) + coalesce(n + 1, z + 1)",
  };
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
    expect_same(f, whole[i], plain[i]);
  }
  static const char *const filters[][2] = {
      {"n <> 0 AND 10 / n > 1 AND 10 / n < 5", "n <> 0 AND 10 / n BETWEEN 2 AND 4"},
      {"n <> 0 AND (10 / n = 2 OR 10 / n = 3) AND 10 / n > 2", "n <> 0 AND 10 / n = 3"},
      {"upper(s) > 'M' OR (z > 3 AND upper(s) < 'C')", "s > 'M' AND upper(s) > 'M' OR z > 3 AND "
                                                       "upper(s) < 'C' OR upper(s) > 'M'"},
  };
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
    expect_same(f, filters[i][0], filters[i][1]);
    uint32_t rows[2][ROWS];
    size_t counts[2];
    for (size_t k = 0; k < 2; k++) {
      glv_error err = {0};
      expr *e = NULL;
      assert_int_equal(sql_plan_filter(f, filters[i][k], 0, &e, &err), GLV_OK);
      assert_int_equal(expr_select(e, &f->b, (selection){NULL, ROWS}, rows[k], &counts[k], &err),
                       GLV_OK);
      expr_free(e);
    }
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(rows[0], rows[1], counts[0] * sizeof(uint32_t));
  }
}

static void test_memory(void **state) {
  sql_fixture *f = *state;
  for (uint64_t n = 1;; n++) {
    glv_error err = {0};
    expr *e = NULL;
    array a = {0};
    alloc_fault_arm(&f->t.alloc, n, false);
    glv_status status = sql_plan(f, "(f64 * 2 + i32) * (f64 * 2 + i32) - f64 * 2", 0, &e, &err);
    if (status == GLV_OK) {
      status = expr_eval(e, &f->b, (selection){NULL, ROWS}, &a, &err);
    }
    const bool fired = atomic_load(&f->t.alloc.fired);
    alloc_fault_arm(&f->t.alloc, 0, false);
    assert_int_equal(status, fired ? GLV_E_NOMEM : GLV_OK);
    array_unref(&a);
    expr_free(e);
    if (!fired) {
      break;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_trees_are_one),
      cmocka_unit_test(test_what_is_shared),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_laziness),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
