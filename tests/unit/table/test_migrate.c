/* Stable row ids for a table without them: which ids, what stands against it, every failure. */
#include <errno.h>

#include "base/bitmap.h"
#include "table/migrate.h"
#include "tables.h"

static void expect_row_ids(const table_snapshot *t, const uint64_t *expected, size_t count) {
  batch_reader r;
  const scan_column id = {.name = STR("id")};
  const scan_options o = {.columns = &id, .column_count = 1, .with_row_id = true};
  size_t found = 0;
  OK(table_scan(t, &o, &r, err));
  for (;;) {
    batch b = {0};
    bool at_end = false;
    OK(r.next(r.state, &b, &at_end, err));
    if (at_end) {
      break;
    }
    for (size_t i = 0; i < b.length; i++) {
      assert_true(found < count);
      assert_int_equal(ARRAY_VALUES(&b.columns[1], uint64_t)[i], expected[found++]);
    }
    batch_dispose(&b);
  }
  assert_int_equal(found, count);
  batch_reader_dispose(&r);
}
#define EXPECT_ROW_IDS(t, ...)                                                                     \
  expect_row_ids((t), (const uint64_t[]){__VA_ARGS__},                                             \
                 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Rows 0, 1, 2 and 3, 4; row 1 is deleted. */
static table_snapshot *make(const test_env *e) {
  table_snapshot *t = create_rows(e->env, test_env_path(e, "t"), 0, 3, false);
  append_rows(&t, 3, 2);
  bitmap *b = bitmap_new();
  bitmap_add(b, 1);
  const deletion_update updated = {0, b};
  const operation op = {.kind = OPERATION_DELETE, .updated = &updated, .updated_count = 1};
  table_snapshot *next;
  OK(table_commit(t, &op, NULL, &next, NULL, err));
  bitmap_free(b);
  table_unref(t);
  return next;
}

static void ids(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env e;
    test_env_open(&e, store);
    table_snapshot *t = make(&e);
    EXPECT_ROW_IDS(t, 0, 2, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1); /* addresses */
    table_snapshot *made;
    OK(table_migrate_row_ids(t, NULL, &made, err));
    assert_int_equal(table_version(made), 4);
    assert_true(table_has_stable_row_ids(made));
    assert_int_equal(table_writer_flags(made), TABLE_FLAG_STABLE_ROW_IDS | TABLE_FLAG_DELETIONS);
    assert_int_equal(table_next_row_id(made), 5);
    EXPECT_ROW_IDS(made, 0, 2, 3, 4);
    append_rows(&made, 5, 1);
    EXPECT_ROW_IDS(made, 0, 2, 3, 4, 5);
    table_snapshot *same;
    OK(table_migrate_row_ids(made, NULL, &same, err));
    assert_int_equal(table_version(same), 5);
    table_unref(same);
    table_unref(made);
    table_unref(t);
    test_env_close(&e);
  }
}

/* Computed again on what somebody else committed. */
static void others_commit(void **state) {
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = make(&e);
  table_snapshot *other = table_ref(t);
  append_rows(&other, 5, 2);
  table_snapshot *made;
  OK(table_migrate_row_ids(t, NULL, &made, err));
  assert_int_equal(table_version(made), 5);
  EXPECT_ROW_IDS(made, 0, 2, 3, 4, 5, 6);
  table_unref(made);
  table_unref(other);
  table_unref(t);
  test_env_close(&e);
}

static bool migrate_under_fire(uint64_t nth, bool memory, bool after) {
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = make(&e);
  if (memory) {
    alloc_fault_arm(&e.alloc, nth, after);
  } else {
    io_fault_arm(&e.io,
                 (io_fault_plan){.mask = IO_MASK_ALL, .nth = nth, .number = EIO, .after = after});
  }
  glv_error err = {0};
  table_snapshot *made = NULL;
  const glv_status status = table_migrate_row_ids(t, NULL, &made, &err);
  const bool fired = memory ? e.alloc.fired : e.io.fired;
  alloc_fault_arm(&e.alloc, 0, false);
  io_fault_arm(&e.io, (io_fault_plan){0});
  assert_true(status == GLV_OK || fired);
  table_unref(made);
  OK(table_migrate_row_ids(t, NULL, &made, err));
  assert_int_equal(table_version(made), 4);
  EXPECT_ROW_IDS(made, 0, 2, 3, 4);
  table_unref(made);
  table_unref(t);
  test_env_close(&e);
  return fired;
}

static void every_failure(void **state) {
  (void)state;
  for (int how = 0; how < 4; how++) {
    for (uint64_t nth = 1; migrate_under_fire(nth, how % 2 == 0, how / 2 == 1); nth++) {
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids),
      cmocka_unit_test(others_commit),
      cmocka_unit_test(every_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
