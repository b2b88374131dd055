/* Arithmetic evaluated whole trees at a time, and the loops below it, against numbers computed
 * here. */
#include <string.h>

#include "expr/number_kernel.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "unit/expr/sql_fixture.h"

#define ROWS 1500 /* three blocks, the last of them short */

static int open_fixture(void **state) {
  static sql_fixture f;
  sql_open(&f, ROWS, 5);
  *state = &f;
  return 0;
}

static int close_fixture(void **state) {
  sql_close(*state);
  return 0;
}

/* ---- loops ---- */

enum { RUN = 64 };

/* Numbers around the multiples of d: below 2^bits, and some of any size and sign when `is_wide`. */
static void fill(rng *r, int64_t d, unsigned bits, bool is_wide, int64_t *to) {
  for (size_t i = 0; i < RUN; i++) {
    const uint64_t any = rng_next(r) >> (64 - bits + rng_below(r, bits));
    const uint64_t near = any / (uint64_t)d * (uint64_t)d + rng_below(r, 3) - 1;
    to[i] = (int64_t)(near >> bits != 0 ? any : near);
    if (is_wide && i % 5 == 0) {
      to[i] = (int64_t)rng_next(r);
    }
  }
}

#define CHECK_DIVISION(kind, ctype)                                                                \
  do {                                                                                             \
    ctype in[RUN];                                                                                 \
    ctype got[RUN];                                                                                \
    const ctype by = (ctype)d;                                                                     \
    for (size_t k = 0; by > 0 && k < 2; k++) {                                                     \
      const divider divides = divider_of((uint64_t)by);                                            \
      for (size_t i = 0; i < RUN; i++) {                                                           \
        in[i] = (ctype)numbers[i];                                                                 \
      }                                                                                            \
      number_divide(kind, k == 1, in, &divides, RUN, got);                                         \
      for (size_t i = 0; i < RUN; i++) {                                                           \
        assert_true(got[i] == (ctype)(k == 1 ? in[i] % by : in[i] / by));                          \
      }                                                                                            \
    }                                                                                              \
  } while (0)

static void test_division(void **state) {
  (void)state;
  static const int64_t divisors[] = {1,
                                     2,
                                     3,
                                     5,
                                     7,
                                     10,
                                     64,
                                     100,
                                     127,
                                     255,
                                     641,
                                     1000,
                                     65535,
                                     86400,
                                     1000003,
                                     1 << 30,
                                     INT32_MAX,
                                     1 + (int64_t)INT32_MAX,
                                     INT64_C(3600000000),
                                     (INT64_C(1) << 45) - 1,
                                     INT64_C(1) << 45,
                                     INT64_MAX};
  rng r = rng_of(3);
  for (size_t i = 0; i < sizeof divisors / sizeof *divisors; i++) {
    const int64_t d = divisors[i];
    for (size_t k = 0; k < 200; k++) {
      static const unsigned bits[] = {7, 31, 45, 63};
      int64_t numbers[RUN];
      fill(&r, d, bits[k % 4], k % 8 > 4, numbers);
      CHECK_DIVISION(TYPE_INT8, int8_t);
      CHECK_DIVISION(TYPE_INT16, int16_t);
      CHECK_DIVISION(TYPE_INT32, int32_t);
      CHECK_DIVISION(TYPE_INT64, int64_t);
      CHECK_DIVISION(TYPE_UINT8, uint8_t);
      CHECK_DIVISION(TYPE_UINT16, uint16_t);
      CHECK_DIVISION(TYPE_UINT32, uint32_t);
      CHECK_DIVISION(TYPE_UINT64, uint64_t);
    }
  }
}

static void test_doubles_of_integers(void **state) {
  (void)state;
  static const int64_t edges[] = {0,
                                  1,
                                  -1,
                                  INT64_MAX,
                                  INT64_MIN,
                                  UINT32_MAX,
                                  -(int64_t)UINT32_MAX,
                                  (INT64_C(1) << 53) + 1,
                                  (INT64_C(1) << 53) + 3,
                                  -(INT64_C(1) << 53) - 1,
                                  INT64_MAX - 511,
                                  INT64_MAX - 512};
  enum { EDGES = sizeof edges / sizeof *edges };
  rng r = rng_of(4);
  for (size_t k = 0; k < 1000; k++) {
    int64_t in[RUN];
    double got[RUN];
    for (size_t i = 0; i < RUN; i++) {
      in[i] = i < EDGES ? edges[i] : (int64_t)rng_next(&r) >> rng_below(&r, 64);
    }
    number_widen(TYPE_INT64, TYPE_FLOAT64, in, RUN, got);
    for (size_t i = 0; i < RUN; i++) {
      const double want = (double)in[i];
      assert_memory_equal(&got[i], &want, sizeof want);
    }
  }
}

/* ---- trees ---- */

/* The columns that the trees use. */
typedef struct values {
  const array *i32, *i64, *f64, *z;
} values;

static values columns_of(const sql_fixture *f) {
  return (values){sql_column(f, "i32"), sql_column(f, "i64"), sql_column(f, "f64"),
                  sql_column(f, "z")};
}

/* To the right there are more operations than registers. */
static void test_nested(void **state) {
  sql_fixture *f = *state;
  const values v = columns_of(f);
  array got = sql_value(f, "i64 - (i64 * 3 + (i64 - (i32 + (z * 5 - (i64 - (i32 * (z + 7)))))))");
  assert_int_equal(got.length, ROWS);
  for (size_t i = 0; i < ROWS; i++) {
    assert_int_equal(array_is_valid(&got, i), array_is_valid(v.i32, i) && array_is_valid(v.i64, i));
    if (array_is_valid(&got, i)) {
      const uint64_t a = (uint64_t)(int64_t)ARRAY_VALUES(v.i32, int32_t)[i];
      const uint64_t b = ARRAY_VALUES(v.i64, uint64_t)[i];
      const uint64_t c = (uint64_t)(int64_t)ARRAY_VALUES(v.z, int32_t)[i];
      const uint64_t want = b - (b * 3 + (b - (a + (c * 5 - (b - (a * (c + 7)))))));
      assert_true(ARRAY_VALUES(&got, uint64_t)[i] == want);
    }
  }
  array_unref(&got);
}

/* Casts on either side, the value of one row on either side, and a division that looks at every row
 * above and below what does not. */
static void test_mixed(void **state) {
  sql_fixture *f = *state;
  const values v = columns_of(f);
  array ratio = sql_value(f, "1.5 - f64 / (z * 2 + 1.0)");
  array whole = sql_value(f, "((i64 - z) / z * 10 + 1) % (z + 0) - i64 % 10");
  for (size_t i = 0; i < ROWS; i++) {
    const double z = ARRAY_VALUES(v.z, int32_t)[i];
    assert_int_equal(array_is_valid(&ratio, i), array_is_valid(v.f64, i));
    assert_int_equal(array_is_valid(&whole, i), array_is_valid(v.i64, i));
    if (array_is_valid(&ratio, i)) {
      const double want = 1.5 - ARRAY_VALUES(v.f64, double)[i] / (z * 2 + 1.0);
      const double is = ARRAY_VALUES(&ratio, double)[i];
      assert_true(is == want || (is != is && want != want));
    }
    if (array_is_valid(&whole, i)) {
      const int64_t x = ARRAY_VALUES(v.i64, int64_t)[i];
      const int64_t by = ARRAY_VALUES(v.z, int32_t)[i];
      const int64_t less = (int64_t)((uint64_t)x - (uint64_t)by);
      const int64_t more = (int64_t)((uint64_t)(less / by) * 10 + 1);
      assert_true(ARRAY_VALUES(&whole, int64_t)[i] ==
                  (int64_t)((uint64_t)(more % by) - (uint64_t)(x % 10)));
    }
  }
  array_unref(&ratio);
  array_unref(&whole);
}

/* Wider results than what they are made of, twice in a tree. */
static void test_widening(void **state) {
  sql_fixture *f = *state;
  const values v = columns_of(f);
  const array *f32 = sql_column(f, "f32");
  array got = sql_value(f, "(f32 + f32) + (z + (f32 * f32 + f64))");
  array whole = sql_value(f, "CAST(CAST(z + z AS BIGINT) + i64 AS DOUBLE) - CAST(z AS DOUBLE)");
  for (size_t i = 0; i < ROWS; i++) {
    const float x = ARRAY_VALUES(f32, float)[i];
    const double z = ARRAY_VALUES(v.z, int32_t)[i];
    if (array_is_valid(&got, i)) {
      const double want =
          (double)(x + x) + (z + ((double)(x * x) + ARRAY_VALUES(v.f64, double)[i]));
      const double is = ARRAY_VALUES(&got, double)[i];
      assert_true(is == want || (is != is && want != want));
    }
    if (array_is_valid(&whole, i)) {
      const uint64_t sum = ARRAY_VALUES(v.i64, uint64_t)[i] + (uint64_t)(int64_t)(2 * z);
      assert_true(ARRAY_VALUES(&whole, double)[i] == (double)(int64_t)sum - z);
    }
  }
  array_unref(&got);
  array_unref(&whole);
}

/* A cast that may fail above a tree: what does not fit fails, or is null, and only that. */
static void test_narrowing(void **state) {
  sql_fixture *f = *state;
  const values v = columns_of(f);
  array fine = sql_value(f, "CAST((z * 1.5 - 0.25) * 2 AS BIGINT) + 1");
  array some = sql_value(f, "TRY_CAST(f64 * 3e8 AS INT)");
  for (size_t i = 0; i < ROWS; i++) {
    const double z = ARRAY_VALUES(v.z, int32_t)[i];
    assert_true(ARRAY_VALUES(&fine, int64_t)[i] == (int64_t)((z * 1.5 - 0.25) * 2) + 1);
    const double x = ARRAY_VALUES(v.f64, double)[i] * 3e8;
    const bool fits = array_is_valid(v.f64, i) && x > -2147483649.0 && x < 2147483648.0;
    assert_int_equal(array_is_valid(&some, i), fits);
    assert_true(!fits || ARRAY_VALUES(&some, int32_t)[i] == (int32_t)x);
  }
  array_unref(&fine);
  array_unref(&some);
  assert_int_equal(sql_status(f, "CAST(z * 1e300 AS INT)", 0), GLV_E_SQL_EXEC);
  assert_int_equal(sql_status(f, "CAST(z * 9223372036854775808.0 AS BIGINT)", 0), GLV_E_SQL_EXEC);
  assert_int_equal(sql_status(f, "CAST(z / z * -9223372036854775808.0 AS BIGINT)", 0), GLV_OK);
}

/* A null operand of one row makes all rows null; a division by zero beside it is still seen. */
static void test_nulls(void **state) {
  sql_fixture *f = *state;
  array got = sql_value(f, "i64 * 2 + CASE WHEN true THEN NULL ELSE i64 END");
  assert_int_equal(got.length, ROWS);
  assert_int_equal(array_null_count(&got), ROWS);
  array_unref(&got);
  assert_int_equal(sql_status(f, "z + 1 / (z - z)", 0), GLV_E_SQL_EXEC);
}

static void test_no_memory(void **state) {
  sql_fixture *f = *state;
  glv_error err = {0};
  expr *e = NULL;
  assert_int_equal(sql_plan(f, "TRY_CAST(i64 * 3 - i32 / (f64 + 1) AS BIGINT)", 0, &e, &err),
                   GLV_OK);
  glv_status status = GLV_E_NOMEM;
  for (uint64_t n = 1; status == GLV_E_NOMEM; n++) {
    array a = {0};
    alloc_fault_arm(&f->t.alloc, n, false);
    status = expr_eval(e, &f->b, (selection){NULL, ROWS}, &a, &err);
    alloc_fault_arm(&f->t.alloc, 0, false);
    assert_true(status == GLV_OK ? n > 4 : status == GLV_E_NOMEM);
    array_unref(&a);
  }
  expr_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_division), cmocka_unit_test(test_doubles_of_integers),
      cmocka_unit_test(test_nested),   cmocka_unit_test(test_mixed),
      cmocka_unit_test(test_widening), cmocka_unit_test(test_narrowing),
      cmocka_unit_test(test_nulls),    cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
