/* Creating tables and staging rows: what is refused, and that nothing is left behind then. */
#include "tables.h"

static glv_status create_with(test_env *t, const field *fields, size_t count, glv_error *err) {
  schema *s;
  OK(schema_new(t->env, fields, count, (metadata){0}, &s, err));
  const glv_status status =
      table_create(t->env, test_env_path(t, "n"), "n", s, NULL, NULL, NULL, err);
  schema_unref(s);
  return status;
}

static void test_create(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env t;
    test_env_open(&t, store);
    const field f = {.name = "a", .type = type_simple(TYPE_INT8), .nullable = true};
    OK(create_with(&t, &f, 1, err));
    EXPECT(GLV_E_TABLE_EXISTS, "'n' already exists", create_with(&t, &f, 1, err));
    table_snapshot *s;
    OK(table_open(t.env, test_env_path(&t, "n"), "n", 0, &s, err));
    assert_true(table_has_stable_row_ids(s));
    assert_int_equal(table_version(s), 1);
    assert_int_equal(table_live_rows(s), 0);
    assert_string_equal(table_data_version_text(s), "2.2");
    table_unref(s);
    test_env_close(&t);
  }
}

static void test_bad_schemas(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  const field twice[] = {{.name = "a", .type = type_simple(TYPE_INT8)},
                         {.name = "a", .type = type_simple(TYPE_INT8)}};
  EXPECT(GLV_E_INVALID_INPUT, "a", create_with(&t, twice, 2, err));
  const field empty = {.name = "", .type = type_simple(TYPE_INT8)};
  EXPECT(GLV_E_INVALID_INPUT, "", create_with(&t, &empty, 1, err));
  const field interval = {.name = "span", .type = type_simple(TYPE_INTERVAL_MONTH_DAY_NANO)};
  EXPECT(GLV_E_UNSUPPORTED, "span", create_with(&t, &interval, 1, err));
  assert_int_equal(count_files(t.env, test_env_path(&t, "n")), 0);
  bool exists;
  OK(io_exists(t.env, NULL, test_env_path(&t, "n"), &exists, err));
  assert_false(exists);
  test_env_close(&t);
}

/* Appends a batch of nulls with the given columns. */
static glv_status append_nulls(table_snapshot *s, const field *fields, size_t count,
                               glv_error *err) {
  glv_env *env = table_env(s);
  schema *columns;
  OK(schema_new(env, fields, count, (metadata){0}, &columns, err));
  batch b;
  OK(batch_new(env, columns, 2, count, &b, err));
  for (size_t i = 0; i < count; i++) {
    OK(array_new_null(env, columns->fields[i].type, 2, &b.columns[i], err));
  }
  batch_reader r;
  OK(batch_reader_of(env, columns, &b, 1, &r, err));
  batch_dispose(&b);
  schema_unref(columns);
  return table_append(s, &r, NULL, NULL, NULL, err);
}

static void test_mismatches(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 1, true);
  const field text = {.name = "text", .type = type_simple(TYPE_UTF8), .nullable = true};
  EXPECT(GLV_E_SCHEMA, "'id' is missing", append_nulls(s, &text, 1, err));
  const field wrong[] = {{.name = "id", .type = type_simple(TYPE_INT32)}, text};
  EXPECT(GLV_E_SCHEMA, "column 'id' has type int64, the data has int32",
         append_nulls(s, wrong, 2, err));
  const field extra[] = {{.name = "id", .type = type_simple(TYPE_INT64)},
                         {.name = "more", .type = type_simple(TYPE_INT64)}};
  EXPECT(GLV_E_SCHEMA, "has no column 'more'", append_nulls(s, extra, 2, err));
  const field nulls[] = {text, {.name = "id", .type = type_simple(TYPE_INT64), .nullable = true}};
  EXPECT(GLV_E_SCHEMA, "id", append_nulls(s, nulls, 2, err));
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/data")), 1);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_versions")), 2);
  table_unref(s);
  test_env_close(&t);
}

/* Columns in another order, and one that is missing. */
static void test_matching(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 1, true);
  const field f = {.name = "id", .type = type_simple(TYPE_INT64)};
  schema *columns;
  OK(schema_new(t.env, &f, 1, (metadata){0}, &columns, err));
  batch b;
  OK(batch_new(t.env, columns, 1, 1, &b, err));
  void *values;
  OK(array_new_fixed(t.env, columns->fields[0].type, 1, &b.columns[0], &values, err));
  *(int64_t *)values = 7; /* its text is null */
  batch_reader r;
  OK(batch_reader_of(t.env, columns, &b, 1, &r, err));
  table_snapshot *next;
  OK(table_append(s, &r, NULL, &next, NULL, err));
  EXPECT_IDS(next, NULL, 0, 7);
  batch_dispose(&b);
  schema_unref(columns);
  table_unref(next);
  table_unref(s);
  test_env_close(&t);
}

/* A reader that fails after some rows. */
struct failing {
  batch_reader inner;
  int left;
};

static glv_status next_failing(void *state, batch *ret, bool *ret_end, glv_error *err) {
  struct failing *f = state;
  if (f->left-- == 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "division by zero");
  }
  return f->inner.next(f->inner.state, ret, ret_end, err);
}

static void dispose_failing(void *state) {
  batch_reader_dispose(&((struct failing *)state)->inner);
}

static void test_failing_reader(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 1, true);
  struct failing f = {make_rows(t.env, 1, 2500, 1000), 2};
  batch_reader r = {schema_ref(f.inner.schema), next_failing, dispose_failing, &f};
  const stage_options o = {.file_rows = 600};
  EXPECT(GLV_E_SQL_EXEC, "division by zero", table_append(s, &r, &o, NULL, NULL, err));
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/data")), 1);
  f = (struct failing){make_rows(t.env, 1, 2500, 1000), 2};
  r = (batch_reader){schema_ref(f.inner.schema), next_failing, dispose_failing, &f};
  EXPECT(GLV_E_SQL_EXEC, "division by zero",
         table_create(t.env, test_env_path(&t, "u"), "u", f.inner.schema, &r, NULL, NULL, err));
  bool exists;
  OK(io_exists(t.env, NULL, test_env_path(&t, "u"), &exists, err));
  assert_false(exists);
  table_unref(s);
  test_env_close(&t);
}

static glv_status add_buffer(void *context, file_writer *w, glv_error *err) {
  const file_summary *summary = file_writer_summary(w);
  *(uint64_t *)context += summary->rows;
  return file_writer_add_global(w, "GLVP", 4, err);
}

/* The summary callback sees every file of a uint64 column. */
static void test_summary(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  const field f = {.name = "key", .type = type_simple(TYPE_UINT64)};
  schema *columns;
  OK(schema_new(t.env, &f, 1, (metadata){0}, &columns, err));
  batch b;
  OK(batch_new(t.env, columns, 1000, 1, &b, err));
  void *values;
  OK(array_new_fixed(t.env, columns->fields[0].type, 1000, &b.columns[0], &values, err));
  for (uint64_t i = 0; i < 1000; i++) {
    ((uint64_t *)values)[i] = i;
  }
  batch_reader r;
  OK(batch_reader_of(t.env, columns, &b, 1, &r, err));
  table_snapshot *s;
  OK(table_create(t.env, test_env_path(&t, "t"), "t", columns, NULL, NULL, &s, err));
  uint64_t rows = 0;
  const stage_options o = {
      .file_rows = 600, .summary_column = "key", .globals = add_buffer, .globals_context = &rows};
  table_snapshot *next;
  OK(table_append(s, &r, &o, &next, NULL, err));
  assert_int_equal(rows, 1000);
  size_t count;
  const fragment *fragments = table_fragments(next, &count);
  assert_int_equal(count, 2);
  arena a;
  arena_init(&a, t.env);
  char *path;
  OK(table_data_file_path(next, &fragments[1].files[0], &a, &path, err));
  file_reader *file;
  OK(file_reader_open(t.env, NULL, path, &file, err));
  assert_int_equal(file_reader_global_count(file), 2);
  file_reader_unref(file);
  arena_dispose(&a);
  OK(batch_reader_of(t.env, columns, &b, 1, &r, err));
  EXPECT(GLV_E_COLUMN_NOT_FOUND, "none",
         table_append(s, &r, &(stage_options){.summary_column = "none"}, NULL, NULL, err));
  batch_dispose(&b);
  schema_unref(columns);
  table_unref(next);
  table_unref(s);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_create),         cmocka_unit_test(test_bad_schemas),
      cmocka_unit_test(test_mismatches),     cmocka_unit_test(test_matching),
      cmocka_unit_test(test_failing_reader), cmocka_unit_test(test_summary)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
