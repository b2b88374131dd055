/* Taking rows by place and by row id: order, repetitions, deletions, updated rows, many windows,
 * refusals, failing allocations. */
#include "base/bitmap.h"
#include "support/rng.h"
#include "table/readers.h"
#include "table/take.h"
#include "tables.h"

#define TAKE(...) (&(take_options){__VA_ARGS__})

/* Column `id` of the rows taken; checks the text beside it. @return how many. */
static size_t take_ids(const table_snapshot *t, const take_options *o, const uint64_t *numbers,
                       size_t count, int64_t *ids, size_t room) {
  batch_reader r;
  OK(table_take(t, numbers, count, o, &r, err));
  const size_t found = read_ids(&r, ids, room);
  batch_reader_dispose(&r);
  return found;
}

static void expect_taken(const table_snapshot *t, const take_options *o, const uint64_t *numbers,
                         size_t count, const int64_t *ids, size_t id_count) {
  int64_t found[64];
  assert_int_equal(take_ids(t, o, numbers, count, found, 64), id_count);
  assert_memory_equal(found, ids, id_count * sizeof *ids);
}
#define NUMBERS(...)                                                                               \
  (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define IDS(...)                                                                                   \
  (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

/* Three fragments: ids 0..9, 10..19 of which 12 and 13 are deleted, 20..24. */
static table_snapshot *open_rows(test_env *t, bool stable) {
  test_env_open_mem(t);
  table_snapshot *s = create_rows(t->env, test_env_path(t, "t"), 0, 10, stable);
  append_rows(&s, 10, 10);
  append_rows(&s, 20, 5);
  CLEANUP(bitmap_cleanup) bitmap *deleted = bitmap_new();
  bitmap_add(deleted, 2);
  bitmap_add(deleted, 3);
  const deletion_update updated = {1, deleted};
  const operation op = {.kind = OPERATION_UPDATE, .updated = &updated, .updated_count = 1};
  table_snapshot *next;
  OK(table_commit(s, &op, &(commit_options){.strict = true}, &next, NULL, err));
  table_unref(s);
  return next;
}

static void close_rows(test_env *t, table_snapshot *s) {
  table_unref(s);
  test_env_close(t);
}

static void test_places(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t, true);
  expect_taken(s, NULL, NUMBERS(5, 1, 1, 22, 5), IDS(5, 1, 1, 24, 5));
  expect_taken(s, NULL, NUMBERS(9, 10, 11, 12, 13, 17, 18), IDS(9, 10, 11, 14, 15, 19, 20));
  assert_int_equal(take_ids(s, NULL, NULL, 0, NULL, 0), 0);
  batch_reader r;
  EXPECT(GLV_E_INVALID_INPUT, "row 23 is wanted, table 't' has 23 rows",
         table_take(s, NUMBERS(0, 23), NULL, &r, err));
  EXPECT(GLV_E_INVALID_INPUT, "18446744073709551615 is wanted",
         table_take(s, NUMBERS(UINT64_MAX, 1), NULL, &r, err));
  close_rows(&t, s);
}

static void test_row_ids(void **state) {
  (void)state;
  for (int stable = 0; stable < 2; stable++) {
    const uint64_t in_second = stable ? 10 : UINT64_C(1) << 32;
    const uint64_t in_third = stable ? 20 : UINT64_C(2) << 32;
    test_env t;
    table_snapshot *s = open_rows(&t, stable);
    /* 12 and 13 are deleted, others never were. */
    expect_taken(s, TAKE(.by = TAKE_BY_ROW_ID),
                 NUMBERS(in_third + 4, in_second + 2, 3, 3, 999, in_second + 3, in_second + 4,
                         UINT64_MAX, 0),
                 IDS(24, 3, 3, 14, 0));
    assert_int_equal(take_ids(s, TAKE(.by = TAKE_BY_ROW_ID), NUMBERS(in_second + 2), NULL, 0), 0);
    close_rows(&t, s);
  }
}

static void test_columns(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t, true);
  const scan_column columns[] = {{.name = STR("id")},
                                 {.name = STR("twice"), .expression = STR("id * 2")}};
  batch_reader r;
  OK(table_take(s, NUMBERS(12, 0), TAKE(.columns = columns, .column_count = 2, .with_row_id = true),
                &r, err));
  batch b = {0};
  bool at_end = false;
  OK(r.next(r.state, &b, &at_end, err));
  batch_reader_dispose(&r);
  assert_int_equal(b.length, 2);
  assert_string_equal(b.schema->fields[2].name, "_rowid");
  assert_int_equal(ARRAY_VALUES(&b.columns[1], int64_t)[0], 28);
  assert_int_equal(ARRAY_VALUES(&b.columns[2], uint64_t)[0], 14);
  assert_int_equal(ARRAY_VALUES(&b.columns[2], uint64_t)[1], 0);
  batch_dispose(&b);
  const scan_column missing = {.name = STR("nope")};
  EXPECT(GLV_E_COLUMN_NOT_FOUND, "'nope'",
         table_take(s, NUMBERS(0), TAKE(.columns = &missing, .column_count = 1), &r, err));
  cancel_token *c = NULL;
  OK(cancel_new(t.env, NULL, &c, err));
  cancel_request(c);
  EXPECT(GLV_E_CANCELLED, "", table_take(s, NUMBERS(0), TAKE(.cancel = c), &r, err));
  cancel_unref(c);
  close_rows(&t, s);
}

/* Windows with few rows far apart, and with many, from fragments of several pages. */
static void test_many(void **state) {
  (void)state;
  enum { ROWS = 40000, MOST = 30000 };
  static uint64_t numbers[MOST];
  static int64_t ids[MOST];
  test_env t;
  test_env_open_mem_with(&t,
                         &(glv_env_options){.struct_size = sizeof(glv_env_options), .threads = 3});
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, ROWS, true);
  append_rows(&s, ROWS, ROWS);
  rng r = rng_of(11);
  static const size_t counts[] = {1, 63, 64, 65, 129, 1000, MOST};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    for (size_t k = 0; k < counts[i]; k++) {
      numbers[k] = rng_below(&r, 2 * (uint64_t)ROWS);
    }
    for (int by_id = 0; by_id < 2; by_id++) {
      const take_options *o = TAKE(.by = by_id ? TAKE_BY_ROW_ID : TAKE_BY_PLACE);
      assert_int_equal(take_ids(s, o, numbers, counts[i], ids, MOST), counts[i]);
      for (size_t k = 0; k < counts[i]; k++) {
        assert_int_equal(ids[k], numbers[k]);
      }
    }
  }
  const scan_column row_id = {.name = STR("_rowid")};
  const scan_column version = {.name = STR("_row_created_at_version")};
  const scan_column offset = {.name = STR("_rowoffset")};
  const uint64_t some[] = {70001, 3, 39999};
  const int64_t versions[] = {2, 1, 1};
  assert_int_equal(take_ids(s, TAKE(.columns = &row_id, .column_count = 1), some, 3, ids, 3), 3);
  assert_memory_equal(ids, some, sizeof some);
  assert_int_equal(take_ids(s, TAKE(.columns = &offset, .column_count = 1), some, 3, ids, 3), 3);
  assert_memory_equal(ids, some, sizeof some);
  assert_int_equal(take_ids(s, TAKE(.columns = &version, .column_count = 1), some, 3, ids, 3), 3);
  assert_memory_equal(ids, versions, sizeof versions);
  close_rows(&t, s);
}

/* The files stay open with the snapshot, up to so many of them. */
static void test_open_files(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t, true);
  const uint64_t opened = t.io.counts[IO_OP_OPEN_READ];
  expect_taken(s, NULL, NUMBERS(1, 22), IDS(1, 24));
  assert_int_equal(t.io.counts[IO_OP_OPEN_READ], opened + 2);
  const uint64_t read = t.io.counts[IO_OP_READ_AT];
  expect_taken(s, NULL, NUMBERS(2, 20), IDS(2, 22));
  assert_int_equal(t.io.counts[IO_OP_OPEN_READ], opened + 2);
  assert_true(t.io.counts[IO_OP_READ_AT] <= read + 4); /* values of two columns in two files */
  for (int64_t i = 0; i < 2 * KEPT_READERS; i++) {
    append_rows(&s, 25 + i, 1);
  }
  uint64_t all[23 + 2 * KEPT_READERS];
  int64_t ids[23 + 2 * KEPT_READERS];
  for (size_t i = 0; i < 23 + 2 * KEPT_READERS; i++) {
    all[i] = 22 + 2 * KEPT_READERS - i;
  }
  for (size_t round = 0; round < 2; round++) {
    assert_int_equal(take_ids(s, NULL, all, 23 + 2 * KEPT_READERS, ids, 23 + 2 * KEPT_READERS),
                     23 + 2 * KEPT_READERS);
    assert_int_equal(ids[0], 24 + 2 * KEPT_READERS);
  }
  assert_true(t.io.open_handles <= 1 + KEPT_READERS + 4);
  close_rows(&t, s);
}

static void test_memory(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t, true);
  for (uint64_t n = 1;; n++) {
    glv_error err = {0};
    batch_reader r = {0};
    alloc_fault_arm(&t.alloc, n, false);
    const glv_status status = table_take(s, NUMBERS(3, 22, 11),
                                         TAKE(.by = TAKE_BY_ROW_ID, .with_row_id = true), &r, &err);
    const bool fired = atomic_load(&t.alloc.fired);
    alloc_fault_arm(&t.alloc, 0, false);
    if (status == GLV_OK) {
      int64_t ids[3];
      assert_int_equal(read_ids(&r, ids, 3), 3);
      batch_reader_dispose(&r);
    } else {
      assert_int_equal(status, GLV_E_NOMEM);
    }
    if (!fired) {
      assert_int_equal(status, GLV_OK);
      break;
    }
  }
  close_rows(&t, s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places),     cmocka_unit_test(test_row_ids),
      cmocka_unit_test(test_columns),    cmocka_unit_test(test_many),
      cmocka_unit_test(test_open_files), cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
