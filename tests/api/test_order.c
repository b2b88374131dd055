/* Handles may be released in any order: a scan keeps its table, a table its connection, a
 * connection its environment. */
#include "support/suite.h"

enum { HANDLES = 4 };

/* Release the four handles in the order of a permutation; the sanitizer and the leak count of the
 * environment judge. */
static void release_in_order(const int *order) {
  test_env t;
  test_env_open_local(&t);
  glv_env *env = env_ref(t.env);
  glv_conn *conn = NULL;
  glv_table *table = NULL;
  struct ArrowArrayStream data;
  struct ArrowArrayStream scan;
  assert_int_equal(glv_connect(env, t.root, NULL, &conn, NULL), GLV_OK);
  rows_stream(env, "id int64 | name utf8", "1 | a\n2 | null", &data);
  assert_int_equal(glv_table_create(conn, ID("t"), &data, NULL, &table, NULL), GLV_OK);
  assert_int_equal(glv_table_scan(table, NULL, &scan, NULL), GLV_OK);
  for (int i = 0; i < HANDLES; i++) {
    switch (order[i]) {
    case 0:
      glv_env_free(env);
      break;
    case 1:
      glv_conn_free(conn);
      break;
    case 2:
      glv_table_free(table);
      break;
    default: {
      struct ArrowArray batch_out;
      assert_int_equal(scan.get_next(&scan, &batch_out), 0);
      assert_int_equal(batch_out.length, 2);
      scan.release(&scan);
      batch_out.release(&batch_out);
    }
    }
  }
  test_env_close(&t);
}

static void all_24_orders(void **state) {
  (void)state;
  for (int a = 0; a < HANDLES; a++) {
    for (int b = 0; b < HANDLES; b++) {
      for (int c = 0; c < HANDLES; c++) {
        const int d = 6 - a - b - c;
        if (a != b && a != c && b != c) {
          release_in_order((const int[]){a, b, c, d});
        }
      }
    }
  }
}

static void a_plan_outlives_its_connection(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *table = create_table(&s, ID("t"), "id int64", "1\n2");
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.source_table = "t";
  glv_view_plan *plan = NULL;
  must(&s, glv_view_prepare(s.conn, &def, NULL, &plan, &s.err));
  glv_table_free(table);
  glv_conn_free(s.conn);
  s.conn = NULL;
  glv_view *view = NULL;
  must(&s, glv_view_plan_create(plan, ID("v"), NULL, &view, &s.err));
  glv_view_plan_free(plan);
  assert_int_equal(count_rows(&s, glv_view_table(view)), 2);
  glv_view_free(view);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_24_orders),
      cmocka_unit_test(a_plan_outlives_its_connection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
