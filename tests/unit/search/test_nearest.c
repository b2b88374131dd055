/* The set of the nearest rows against sorting all of them, with many equal distances. */
#include <stdlib.h>

#include "search/nearest.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "support/test_env.h"

enum { ROWS = 500 };

static int in_order(const void *a, const void *b) {
  const neighbor *x = a;
  const neighbor *y = b;
  return x->distance != y->distance ? (x->distance < y->distance ? -1 : 1)
                                    : (x->row_id > y->row_id) - (x->row_id < y->row_id);
}

static void test_against_sorting(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  rng r = rng_of(3);
  for (uint64_t limit = 0; limit < 40; limit++) {
    nearest n;
    neighbor all[ROWS];
    nearest_init(&n, t.env, limit < 38 ? limit : limit == 38 ? ROWS : UINT64_MAX);
    for (size_t i = 0; i < ROWS; i++) {
      glv_error err;
      all[i] = (neighbor){(float)rng_below(&r, 60), 0, i * 7919 % ROWS, i};
      if (nearest_may_take(&n, all[i].distance)) {
        assert_int_equal(nearest_add(&n, &all[i], &err), GLV_OK);
      }
    }
    nearest_sort(&n);
    qsort(all, ROWS, sizeof *all, in_order);
    assert_int_equal(n.count, limit < 38 ? limit : ROWS);
    for (size_t i = 0; i < n.count; i++) {
      assert_int_equal(n.rows[i].row_id, all[i].row_id);
      assert_int_equal(n.rows[i].address, all[i].address);
    }
    nearest_dispose(&n);
  }
  test_env_close(&t);
}

static void test_without_memory(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  nearest n;
  glv_error err;
  nearest_init(&n, t.env, 10);
  alloc_fault_arm(&t.alloc, 1, false);
  assert_int_equal(nearest_add(&n, &(neighbor){1, 0, 1, 1}, &err), GLV_E_NOMEM);
  alloc_fault_arm(&t.alloc, 0, false);
  assert_int_equal(nearest_add(&n, &(neighbor){1, 0, 1, 1}, &err), GLV_OK);
  assert_int_equal(n.count, 1);
  nearest_dispose(&n);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_sorting),
                                     cmocka_unit_test(test_without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
