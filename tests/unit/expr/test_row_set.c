/* Looking up rows in a set: found with the number they got, whatever their types; failing
 * allocations. Adding rows is tested by GROUP BY and DISTINCT. */
#include "expr/row_set.h"
#include "support/alloc_fault.h"
#include "support/cmocka.h"
#include "unit/expr/sql_fixture.h"

enum { ROWS = 500, HALF = 250 };

static const char *const key_lists[][4] = {
    {"i64"}, {"f64"}, {"s"}, {"b"}, {"i8"}, {"d32"}, {"i8", "s"}, {"ls"}, {"bin", "n", "f32"}};

static glv_status fill(sql_fixture *f, row_set *s, const char *const *names, size_t rows,
                       array *columns, size_t *ret_count, uint32_t *numbers, glv_error *err) {
  const type *types[4];
  size_t count = 0;
  for (; count < 4 && names[count] != NULL; count++) {
    columns[count] = *sql_column(f, names[count]);
    types[count] = columns[count].type;
  }
  *ret_count = count;
  row_set_init(s, f->env, types, count);
  array first[4];
  for (size_t i = 0; i < count; i++) {
    first[i] = array_slice(&columns[i], 0, rows);
  }
  const glv_status status = row_set_add(s, first, count, rows, numbers, NULL, NULL, err);
  for (size_t i = 0; i < count; i++) {
    array_unref(&first[i]);
  }
  return status;
}

static void test_found(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, ROWS, 3);
  for (size_t k = 0; k < sizeof key_lists / sizeof *key_lists; k++) {
    array columns[4];
    uint32_t added[ROWS];
    uint32_t again[ROWS];
    uint32_t found[ROWS];
    size_t count;
    CLEANUP(row_set_dispose) row_set s;
    assert_int_equal(fill(&f, &s, key_lists[k], HALF, columns, &count, added, NULL), GLV_OK);
    const size_t known = s.count;
    assert_int_equal(row_set_find(&s, columns, count, ROWS, found, NULL), GLV_OK);
    assert_int_equal(s.count, known);
    assert_memory_equal(found, added, sizeof(uint32_t) * HALF);
    assert_int_equal(row_set_add(&s, columns, count, ROWS, again, NULL, NULL, NULL), GLV_OK);
    for (size_t i = 0; i < ROWS; i++) {
      assert_int_equal(found[i], again[i] < known ? again[i] : ROW_SET_NONE);
    }
  }
  sql_close(&f);
}

static void test_empty_set(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, ROWS, 3);
  array columns[4];
  uint32_t numbers[ROWS];
  size_t count;
  CLEANUP(row_set_dispose) row_set s;
  assert_int_equal(fill(&f, &s, key_lists[0], 0, columns, &count, numbers, NULL), GLV_OK);
  assert_int_equal(row_set_find(&s, columns, count, ROWS, numbers, NULL), GLV_OK);
  for (size_t i = 0; i < ROWS; i++) {
    assert_int_equal(numbers[i], ROW_SET_NONE);
  }
  assert_int_equal(row_set_find(&s, columns, count, 0, numbers, NULL), GLV_OK);
  sql_close(&f);
}

static void test_memory(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, ROWS, 3);
  for (size_t k = 0; k < 3; k += 2) { /* words, bytes */
    array columns[4];
    uint32_t numbers[ROWS];
    size_t count;
    CLEANUP(row_set_dispose) row_set s;
    assert_int_equal(fill(&f, &s, key_lists[k], HALF, columns, &count, numbers, NULL), GLV_OK);
    glv_status status = GLV_E_NOMEM;
    for (size_t n = 1; status == GLV_E_NOMEM; n++) {
      alloc_fault_arm(&f.t.alloc, n, 1);
      glv_error err = {0};
      status = row_set_find(&s, columns, count, ROWS, numbers, &err);
      alloc_fault_arm(&f.t.alloc, 0, 0);
      assert_int_equal(err.code, status);
    }
    assert_int_equal(status, GLV_OK);
  }
  sql_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_found),
      cmocka_unit_test(test_empty_set),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
