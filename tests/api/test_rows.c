/* Deletes, updates and merges through the exported functions: results, handles, dialects, views,
 * arguments. */
#include "support/suite.h"

static const char columns[] = "id int64 | name utf8 | score float64";
static const char people[] = "1 | ada | 1.5\n2 | bob | null\n3 | eve | 3.0\n4 | null | 4.0";

static void check_result(const glv_write_result *r, uint64_t version, uint64_t inserted,
                         uint64_t updated, uint64_t deleted) {
  assert_int_equal(r->version, version);
  assert_int_equal(r->rows_inserted, inserted);
  assert_int_equal(r->rows_updated, updated);
  assert_int_equal(r->rows_deleted, deleted);
}

static void deletes(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    suite s;
    suite_open_on(&s, store);
    glv_table *table = create_table(&s, ID("t"), columns, people);
    glv_write_result r = GLV_OPTIONS(glv_write_result);
    must(&s, glv_table_delete(table, "\"score\" > 2 and name = 'eve'", NULL, &r, &s.err));
    check_result(&r, 2, 0, 0, 1);
    assert_int_equal(r.attempts, 1);
    assert_int_equal(glv_table_version(table), 2);
    assert_table(&s, table, "1 | ada | 1.5\n2 | bob | null\n4 | null | 4.0");
    must(&s, glv_table_delete(table, "id > 10", NULL, &r, &s.err));
    check_result(&r, 2, 0, 0, 0);
    assert_int_equal(r.attempts, 0);
    glv_write_options lance = GLV_OPTIONS(glv_write_options);
    lance.flags = suite_is_remote() ? 0 : GLV_SQL_LANCE; /* "x" is a text; servers have one way */
    const char *bob = suite_is_remote() ? "name = 'bob'" : "name = \"bob\"";
    must(&s, glv_table_delete(table, bob, &lance, NULL, &s.err));
    assert_table(&s, table, "1 | ada | 1.5\n4 | null | 4.0");
    must_fail(&s, GLV_E_INVALID_INPUT, "empty predicate",
              glv_table_delete(table, "", NULL, NULL, &s.err));
    must_fail(&s, GLV_E_SQL_PARSE, "", glv_table_delete(table, "id >", NULL, NULL, &s.err));
    must_fail(&s, GLV_E_SQL_PLAN, "nope", glv_table_delete(table, "nope > 1", NULL, NULL, &s.err));
    must(&s, glv_table_delete(table, NULL, NULL, &r, &s.err));
    check_result(&r, 4, 0, 0, 2);
    assert_int_equal(count_rows(&s, table), 0);
    glv_table_free(table);
    suite_close(&s);
  }
}

static void updates(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    suite s;
    suite_open_on(&s, store);
    glv_table *table = create_table(&s, ID("t"), columns, people);
    glv_table *other = NULL;
    must(&s, glv_table_open(s.conn, ID("t"), NULL, &other, &s.err));
    const glv_pair set[] = {{"score", "id * 10"}, {"name", "concat(name, \"!\")"}};
    const glv_pair swap[] = {{"id", "score"}, {"score", "id"}};
    glv_write_result r = GLV_OPTIONS(glv_write_result);
    must(&s, glv_table_update(table, (glv_pairs){set, 2}, "id in (1, 3)", NULL, &r, &s.err));
    check_result(&r, 2, 0, 2, 0);
    assert_table(&s, table, "2 | bob | null\n4 | null | 4.0\n1 | ada! | 10.0\n3 | eve! | 30.0");
    /* A handle that stands at an older version writes to the latest. */
    must(&s, glv_table_update(other, (glv_pairs){swap, 2}, "\"id\" = 3", NULL, &r, &s.err));
    check_result(&r, 3, 0, 1, 0);
    assert_table(&s, other, "2 | bob | null\n4 | null | 4.0\n1 | ada! | 10.0\n30 | eve! | 3.0");
    must_fail(&s, GLV_E_INVALID_INPUT, "No updates",
              glv_table_update(table, NO_PAIRS, NULL, NULL, NULL, &s.err));
    const glv_pair bad[] = {{"nope", "1"}, {"name", NULL}};
    must_fail(&s, GLV_E_COLUMN_NOT_FOUND, "nope",
              glv_table_update(table, (glv_pairs){bad, 1}, NULL, NULL, NULL, &s.err));
    must_fail(&s, GLV_E_INVALID_INPUT, "'assignments'",
              glv_table_update(table, (glv_pairs){bad, 2}, NULL, NULL, NULL, &s.err));
    glv_table_free(other);
    glv_table_free(table);
    suite_close(&s);
  }
}

static glv_status merge(glv_table *table, glv_env *env, const char *names, const char *rows,
                        glv_merge_options options, glv_write_result *ret, glv_error *err) {
  static const char *const on[] = {"id"};
  struct ArrowArrayStream data;
  rows_stream(env, names, rows, &data);
  options.struct_size = sizeof options;
  options.on = (glv_strs){on, 1};
  const glv_status status = glv_table_merge(table, &data, &options, ret, err);
  assert_null(data.release);
  return status;
}

static void merges(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    suite s;
    suite_open_on(&s, store);
    glv_table *table = create_table(&s, ID("t"), columns, people);
    glv_write_result r = GLV_OPTIONS(glv_write_result);
    must(&s, merge(table, s.env, columns, "9 | new | 9\n2 | bo | 2\n4 | x | 1",
                   (glv_merge_options){.flags = GLV_MERGE_UPDATE | GLV_MERGE_INSERT,
                                       .update_if = "coalesce(target.score, 0) < source.score"},
                   &r, &s.err));
    check_result(&r, 2, 1, 1, 0);
    assert_table(&s, table,
                 "1 | ada | 1.5\n3 | eve | 3.0\n4 | null | 4.0\n2 | bo | 2.0\n9 | new | 9.0");
    must(&s,
         merge(table, s.env, "name utf8 | id int64", "EVE | 3\nX | 17",
               (glv_merge_options){.flags = GLV_MERGE_UPDATE | GLV_MERGE_INSERT | GLV_MERGE_DELETE,
                                   .delete_if = "\"id\" < 3"},
               &r, &s.err));
    check_result(&r, 3, 1, 1, 2);
    assert_table(&s, table, "4 | null | 4.0\n9 | new | 9.0\n3 | EVE | 3.0\n17 | X | null");
    must(&s, merge(table, s.env, columns, "3 | y | 1",
                   (glv_merge_options){.flags = GLV_MERGE_INSERT}, &r, &s.err));
    check_result(&r, 3, 0, 0, 0);
    glv_table_free(table);
    suite_close(&s);
  }
}

static void merge_arguments(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *table = create_table(&s, ID("t"), columns, people);
  must_fail(&s, GLV_E_INVALID_INPUT, "not configured",
            merge(table, s.env, columns, "1 | a | 1", (glv_merge_options){0}, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'update_if'",
            merge(table, s.env, columns, "1 | a | 1",
                  (glv_merge_options){.flags = GLV_MERGE_INSERT, .update_if = "true"}, NULL,
                  &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'delete_if'",
            merge(table, s.env, columns, "1 | a | 1",
                  (glv_merge_options){.flags = GLV_MERGE_DELETE, .delete_if = ""}, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "unknown flags",
            merge(table, s.env, columns, "1 | a | 1",
                  (glv_merge_options){.flags = GLV_MERGE_INSERT | 1u << 10}, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "(id = 1)",
            merge(table, s.env, columns, "1 | a | 1\n1 | b | 2",
                  (glv_merge_options){.flags = GLV_MERGE_UPDATE}, NULL, &s.err));
  must_fail(&s, GLV_E_SCHEMA, "score",
            merge(table, s.env, "id int64 | score int64", "1 | 1",
                  (glv_merge_options){.flags = GLV_MERGE_UPDATE}, NULL, &s.err));
  struct ArrowArrayStream data;
  rows_stream(s.env, columns, "1 | a | 1", &data);
  must_fail(&s, GLV_E_INVALID_INPUT, "'options'",
            glv_table_merge(table, &data, NULL, NULL, &s.err));
  assert_null(data.release);
  rows_stream(s.env, columns, "1 | a | 1", &data);
  glv_merge_options options = GLV_OPTIONS(glv_merge_options);
  options.flags = GLV_MERGE_UPDATE;
  must_fail(&s, GLV_E_INVALID_INPUT, "names no primary key",
            glv_table_merge(table, &data, &options, NULL, &s.err));
  options.on.count = 1;
  rows_stream(s.env, columns, "1 | a | 1", &data);
  must_fail(&s, GLV_E_INVALID_INPUT, "'on'", glv_table_merge(table, &data, &options, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'data'",
            glv_table_merge(table, NULL, &options, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'table'", glv_table_delete(NULL, NULL, NULL, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'table'",
            glv_table_update(NULL, NO_PAIRS, NULL, NULL, NULL, &s.err));
  assert_int_equal(glv_table_version(table), 1);
  glv_table_free(table);
  suite_close(&s);
}

/* Views and handles at old versions are not written, views unless that is asked for. */
static void refusals(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *table = create_table(&s, ID("t"), columns, people);
  glv_view *view = create_view(&s, ID("v"), "SELECT id, name FROM t WHERE id > 2");
  glv_table *rows = glv_view_table(view);
  const glv_pair set[] = {{"name", "'x'"}};
  must_fail(&s, GLV_E_UNSUPPORTED,
            "cannot delete from 'v': it is a materialized view, which only refresh writes",
            glv_table_delete(rows, "id = 3", NULL, NULL, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "cannot update 'v'",
            glv_table_update(rows, (glv_pairs){set, 1}, NULL, NULL, NULL, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "cannot merge insert into 'v'",
            merge(rows, s.env, "id int64", "3", (glv_merge_options){.flags = GLV_MERGE_INSERT},
                  NULL, &s.err));
  glv_write_options repair = GLV_OPTIONS(glv_write_options);
  repair.flags = GLV_WRITE_VIEW;
  must(&s, glv_table_delete(rows, "id = 3", &repair, NULL, &s.err));
  must(&s, glv_table_update(rows, (glv_pairs){set, 1}, NULL, &repair, NULL, &s.err));
  must(&s, merge(rows, s.env, "id int64 | name utf8", "4 | y",
                 (glv_merge_options){.flags = GLV_MERGE_UPDATE | GLV_WRITE_VIEW}, NULL, &s.err));
  assert_int_equal(count_rows(&s, rows), 1);
  must(&s, glv_table_delete(table, "id = 1", NULL, NULL, &s.err));
  glv_open_options old = GLV_OPTIONS(glv_open_options);
  old.version = 1;
  must(&s, glv_table_checkout(table, &old, &s.err));
  must_fail(&s, GLV_E_BAD_STATE, "version 1", glv_table_delete(table, NULL, NULL, NULL, &s.err));
  must_fail(&s, GLV_E_BAD_STATE, "version 1",
            glv_table_update(table, (glv_pairs){set, 1}, NULL, NULL, NULL, &s.err));
  glv_view_free(view);
  glv_table_free(table);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(deletes),         cmocka_unit_test(updates),  cmocka_unit_test(merges),
      cmocka_unit_test(merge_arguments), cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
