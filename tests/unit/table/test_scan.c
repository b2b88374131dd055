/* Scans: columns, expressions, filters, limits, fragments with wanted offsets, system columns,
 * windows and batches, cancellation. */
#include "base/bitmap.h"
#include "expr/expr.h"
#include "tables.h"

#define SCAN(...) (&(scan_options){__VA_ARGS__})

static table_snapshot *open_rows(test_env *t) {
  test_env_open_mem(t);
  table_snapshot *s = create_rows(t->env, test_env_path(t, "t"), 0, 10, true);
  append_rows(&s, 10, 10);
  return s;
}

static void close_rows(test_env *t, table_snapshot *s) {
  table_unref(s);
  test_env_close(t);
}

static void test_filter(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t);
  EXPECT_IDS(s, SCAN(.filter = STR("id > 7 AND id < 12")), 8, 9, 10, 11);
  EXPECT_IDS(s, SCAN(.filter = STR("text IS NULL")), 0, 7, 14);
  EXPECT_IDS(s, SCAN(.filter = STR("text = 't13'")), 13);
  assert_int_equal(scan_ids(s, SCAN(.filter = STR("id > 100")), NULL, 0), 0);
  uint64_t count;
  OK(table_count(s, STR("id % 3 = 0"), 0, NULL, &count, err));
  assert_int_equal(count, 7);
  OK(table_count(s, STR(""), 0, NULL, &count, err));
  assert_int_equal(count, 20);
  EXPECT(GLV_E_SQL_PARSE, "", table_count(s, STR("id >"), 0, NULL, &count, err));
  EXPECT(GLV_E_SQL_PLAN, "nope", table_count(s, STR("nope = 1"), 0, NULL, &count, err));
  EXPECT(GLV_E_SQL_EXEC, "", table_count(s, STR("1 / (id - id) = 1"), 0, NULL, &count, err));
  close_rows(&t, s);
}

static void test_columns(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t);
  const scan_column columns[] = {{.name = STR("twice"), .expression = STR("id * 2")},
                                 {.name = STR("name"), .expression = STR("text")},
                                 {.name = STR("id")},
                                 {.name = STR("one"), .expression = STR("1")},
                                 {.name = STR("upper"), .expression = STR("upper(text)")}};
  const scan_options o = {.columns = columns, .column_count = 5, .filter = STR("id >= 18")};
  batch_reader r;
  OK(table_scan(s, &o, &r, err));
  assert_int_equal(r.schema->field_count, 5);
  assert_string_equal(r.schema->fields[0].name, "twice");
  assert_string_equal(r.schema->fields[1].name, "name");
  assert_true(r.schema->fields[1].nullable);
  assert_false(r.schema->fields[2].nullable);
  batch b = {0};
  bool at_end = false;
  OK(r.next(r.state, &b, &at_end, err));
  batch_reader_dispose(&r); /* a batch outlives its reader, plan and table */
  table_unref(s);
  assert_int_equal(b.length, 2);
  assert_int_equal(ARRAY_VALUES(&b.columns[0], int64_t)[1], 38);
  assert_true(str_is(array_str(&b.columns[1], 0), "t18"));
  assert_int_equal(ARRAY_VALUES(&b.columns[2], int64_t)[0], 18);
  assert_int_equal(ARRAY_VALUES(&b.columns[3], int64_t)[1], 1);
  assert_true(str_is(array_str(&b.columns[4], 1), "T19"));
  for (size_t i = 0; i < 5; i++) {
    assert_ptr_equal(b.columns[i].type, b.schema->fields[i].type);
  }
  batch_dispose(&b);
  OK(table_open(t.env, test_env_path(&t, "t"), "t", 0, &s, err));
  const scan_column missing = {.name = STR("nope")};
  EXPECT(GLV_E_COLUMN_NOT_FOUND, "'nope'",
         table_scan(s, SCAN(.columns = &missing, .column_count = 1), &r, err));
  const scan_column wrong = {.name = STR("x"), .expression = STR("nope + 1")};
  EXPECT(GLV_E_SQL_PLAN, "nope",
         table_scan(s, SCAN(.columns = &wrong, .column_count = 1), &r, err));
  const scan_column mixed[] = {{.name = STR("y"), .expression = STR("id + 1")},
                               {.name = STR("x"), .expression = STR("id +")}};
  EXPECT(GLV_E_SQL_PARSE, "", table_scan(s, SCAN(.columns = mixed, .column_count = 2), &r, err));
  close_rows(&t, s);
}

static void test_no_columns(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t);
  const scan_column none = {0};
  const scan_options o = {.columns = &none,
                          .column_count = 0,
                          .with_row_id = true,
                          .row_id_name = "__source_row_id",
                          .filter = STR("id = 11")};
  batch_reader r;
  OK(table_scan(s, &o, &r, err));
  assert_int_equal(r.schema->field_count, 1);
  assert_string_equal(r.schema->fields[0].name, "__source_row_id");
  assert_false(r.schema->fields[0].nullable);
  batch_reader_dispose(&r);
  EXPECT_IDS(s, &o, 11);
  close_rows(&t, s);
}

static void test_limits(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t);
  EXPECT_IDS(s, SCAN(.has_limit = true, .limit = 3), 0, 1, 2);
  EXPECT_IDS(s, SCAN(.has_limit = true, .limit = 3, .offset = 8), 8, 9, 10);
  EXPECT_IDS(s, SCAN(.offset = 18), 18, 19);
  EXPECT_IDS(s, SCAN(.has_limit = true, .limit = 2, .offset = 1, .filter = STR("id % 5 = 4")), 9,
             14);
  assert_int_equal(scan_ids(s, SCAN(.has_limit = true), NULL, 0), 0);
  assert_int_equal(scan_ids(s, SCAN(.offset = 20), NULL, 0), 0);
  assert_int_equal(scan_ids(s, SCAN(.offset = UINT64_MAX), NULL, 0), 0);
  close_rows(&t, s);
}

static void test_batches(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t);
  batch_reader r;
  OK(table_scan(s, SCAN(.batch_rows = 4, .offset = 1), &r, err));
  static const size_t sizes[] = {4, 4, 1, 4, 4, 2};
  int64_t next = 1;
  for (size_t i = 0; i < 6; i++) {
    batch b = {0};
    bool at_end = false;
    OK(r.next(r.state, &b, &at_end, err));
    assert_false(at_end);
    assert_int_equal(b.length, sizes[i]);
    assert_int_equal(ARRAY_VALUES(&b.columns[0], int64_t)[0], next);
    next += (int64_t)b.length;
    batch_dispose(&b);
  }
  batch b = {0};
  bool at_end = false;
  OK(r.next(r.state, &b, &at_end, err));
  assert_true(at_end);
  OK(r.next(r.state, &b, &at_end, err));
  assert_true(at_end);
  batch_reader_dispose(&r);
  OK(table_scan(s, SCAN(.batch_rows = 4), &r, err)); /* given up in the middle */
  OK(r.next(r.state, &b, &at_end, err));
  batch_dispose(&b);
  batch_reader_dispose(&r);
  close_rows(&t, s);
}

static void test_fragments(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t);
  bitmap *offsets = bitmap_new();
  bitmap_add(offsets, 2);
  bitmap_add(offsets, 9);
  const scan_fragment chosen[] = {{1, offsets}, {0, NULL}};
  EXPECT_IDS(s, SCAN(.fragments = chosen, .fragment_count = 2, .filter = STR("id > 5")), 12, 19, 6,
             7, 8, 9);
  EXPECT_IDS(s, SCAN(.fragments = chosen, .fragment_count = 1), 12, 19);
  assert_int_equal(scan_ids(s, SCAN(.fragments = chosen, .fragment_count = 0), NULL, 0), 0);
  /* Deleted rows are left out of the wanted ones. */
  bitmap *deleted = bitmap_new();
  bitmap_add(deleted, 2);
  bitmap_add(deleted, 3);
  const deletion_update updated = {1, deleted};
  const operation op = {.kind = OPERATION_UPDATE, .updated = &updated, .updated_count = 1};
  table_snapshot *next;
  OK(table_commit(s, &op, &(commit_options){.strict = true}, &next, NULL, err));
  EXPECT_IDS(next, SCAN(.fragments = chosen, .fragment_count = 1), 19);
  EXPECT_IDS(next, SCAN(.filter = STR("id BETWEEN 11 AND 15")), 11, 14, 15);
  uint64_t count;
  OK(table_count(next, STR("id > 10"), 0, NULL, &count, err));
  assert_int_equal(count, 7);
  uint64_t offs[20];
  assert_int_equal(scan_numbers(next, "_rowoffset", offs, 20), 18);
  for (size_t i = 0; i < 18; i++) {
    assert_int_equal(offs[i], i);
  }
  const scan_fragment unknown = {7, NULL};
  batch_reader r;
  EXPECT(GLV_E_INVALID_INPUT, "no fragment 7",
         table_scan(next, SCAN(.fragments = &unknown, .fragment_count = 1), &r, err));
  bitmap_free(offsets);
  bitmap_free(deleted);
  table_unref(next);
  close_rows(&t, s);
}

static void test_system_columns(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t);
  const scan_options o = {.with_row_id = true,
                          .with_row_address = true,
                          .with_created_at = true,
                          .with_last_updated_at = true,
                          .filter = STR("_rowid >= 9 AND _row_created_at_version = 2 AND id < 12")};
  batch_reader r;
  OK(table_scan(s, &o, &r, err));
  static const char *const names[] = {"id",
                                      "text",
                                      "_rowid",
                                      "_rowaddr",
                                      "_row_created_at_version",
                                      "_row_last_updated_at_version"};
  assert_int_equal(r.schema->field_count, 6);
  for (size_t i = 0; i < 6; i++) {
    assert_string_equal(r.schema->fields[i].name, names[i]);
  }
  batch b = {0};
  bool at_end = false;
  OK(r.next(r.state, &b, &at_end, err));
  assert_int_equal(b.length, 2);
  assert_int_equal(ARRAY_VALUES(&b.columns[2], uint64_t)[1], 11);
  assert_int_equal(ARRAY_VALUES(&b.columns[3], uint64_t)[1], (UINT64_C(1) << 32) + 1);
  assert_int_equal(ARRAY_VALUES(&b.columns[4], uint64_t)[1], 2);
  assert_int_equal(ARRAY_VALUES(&b.columns[5], uint64_t)[1], 2);
  batch_dispose(&b);
  batch_reader_dispose(&r);
  close_rows(&t, s);
}

/* Many windows and files, decoded by several threads, arrive in order. */
static void test_order(void **state) {
  (void)state;
  enum { ROWS = 50000 };
  test_env t;
  test_env_open_mem_with(&t,
                         &(glv_env_options){.struct_size = sizeof(glv_env_options), .threads = 4});
  const char *root = test_env_path(&t, "t");
  batch_reader r = make_rows(t.env, 0, ROWS, 1000);
  schema *c = schema_ref(r.schema);
  const create_options o = {.stage = {.file_rows = 2300}};
  table_snapshot *s;
  OK(table_create(t.env, root, "t", c, &r, &o, &s, err));
  schema_unref(c);
  size_t fragments;
  (void)table_fragments(s, &fragments);
  assert_int_equal(fragments, (ROWS + 2299) / 2300);
  int64_t *ids = mem_alloc(t.env, ROWS * sizeof *ids);
  assert_int_equal(scan_ids(s, NULL, ids, ROWS), ROWS);
  for (int64_t i = 0; i < ROWS; i++) {
    assert_int_equal(ids[i], i);
  }
  assert_int_equal(scan_ids(s, SCAN(.filter = STR("id % 2 = 0")), ids, ROWS), ROWS / 2);
  for (int64_t i = 0; i < ROWS / 2; i++) {
    assert_int_equal(ids[i], 2 * i);
  }
  uint64_t count;
  OK(table_count(s, STR("text IS NOT NULL"), 0, NULL, &count, err));
  assert_int_equal(count, ROWS - (ROWS + 6) / 7);
  mem_free(t.env, ids);
  close_rows(&t, s);
}

static void test_cancel(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t);
  cancel_token *c;
  OK(cancel_new(t.env, NULL, &c, err));
  batch_reader r;
  OK(table_scan(s, SCAN(.cancel = c), &r, err));
  cancel_request(c);
  batch b = {0};
  bool at_end = false;
  EXPECT(GLV_E_CANCELLED, "", r.next(r.state, &b, &at_end, err));
  batch_reader_dispose(&r);
  uint64_t count;
  EXPECT(GLV_E_CANCELLED, "", table_count(s, STR("id = 1"), 0, c, &count, err));
  batch_reader rows = make_rows(t.env, 0, 1, 1);
  EXPECT(GLV_E_CANCELLED, "",
         table_append(s, &rows, &(stage_options){.cancel = c}, NULL, NULL, err));
  cancel_unref(c);
  close_rows(&t, s);
}

/* A data file that is gone, or has other rows than the manifest says. */
static void test_bad_files(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_rows(&t);
  const data_file *first = &table_fragment(s, 0)->files[0];
  const data_file *second = &table_fragment(s, 1)->files[0];
  char path[200];
  snprintf(path, sizeof path, "t/data/%s", second->path);
  buf bytes;
  read_file(t.env, test_env_path(&t, path), &bytes);
  table_snapshot *other = create_rows(t.env, test_env_path(&t, "u"), 0, 3, true);
  char wrong[200];
  snprintf(wrong, sizeof wrong, "u/data/%s", table_fragment(other, 0)->files[0].path);
  buf few;
  read_file(t.env, test_env_path(&t, wrong), &few);
  write_file(t.env, test_env_path(&t, "t/data"), first->path, few.data, few.size);
  uint64_t count;
  EXPECT(GLV_E_CORRUPT, "has 3 rows, the manifest says 10",
         table_count(s, STR("id = 1"), 0, NULL, &count, err));
  write_file(t.env, test_env_path(&t, "t/data"), first->path, bytes.data, bytes.size / 2);
  EXPECT(GLV_E_CORRUPT, first->path, table_count(s, STR("id = 1"), 0, NULL, &count, err));
  remove_file(t.env, test_env_path(&t, "t/data"), first->path);
  EXPECT(GLV_E_IO, first->path, table_count(s, STR("id = 1"), 0, NULL, &count, err));
  buf_dispose(&bytes);
  buf_dispose(&few);
  table_unref(other);
  close_rows(&t, s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_filter),         cmocka_unit_test(test_columns),
      cmocka_unit_test(test_no_columns),     cmocka_unit_test(test_limits),
      cmocka_unit_test(test_batches),        cmocka_unit_test(test_fragments),
      cmocka_unit_test(test_system_columns), cmocka_unit_test(test_order),
      cmocka_unit_test(test_cancel),         cmocka_unit_test(test_bad_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
