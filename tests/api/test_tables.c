/* Tables through the exported functions: create, append, overwrite, versions, scans, counts,
 * queries. */
#include <fcntl.h>
#include <sys/stat.h>

#include "support/suite.h"

static const char columns[] = "id int64 | name utf8 | score float64";

static void life_of_a_table(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    suite s;
    suite_open_on(&s, store);
    glv_table *table = create_table(&s, ID("t"), columns, "1 | ada | 1.5\n2 | null | null");
    assert_int_equal(glv_table_version(table), 1);
    assert_table(&s, table, "1 | ada | 1.5\n2 | null | null");
    append_rows(&s, table, columns, "3 | alan | -0.0");
    assert_int_equal(glv_table_version(table), 2);
    assert_table(&s, table, "1 | ada | 1.5\n2 | null | null\n3 | alan | -0.0");
    append_rows(&s, table, "score float64 | id int64", "9.0 | 4");
    assert_table(&s, table, "1 | ada | 1.5\n2 | null | null\n3 | alan | -0.0\n4 | null | 9.0");

    glv_open_options old = GLV_OPTIONS(glv_open_options);
    old.version = 1;
    must(&s, glv_table_checkout(table, &old, &s.err));
    assert_int_equal(count_rows(&s, table), 2);
    struct ArrowArrayStream data;
    rows_stream(s.env, columns, "5 | x | 1", &data);
    must_fail(&s, GLV_E_BAD_STATE, "version 1", glv_table_append(table, &data, NULL, NULL, &s.err));
    must(&s, glv_table_checkout(table, NULL, &s.err));
    assert_int_equal(count_rows(&s, table), 4);
    old.version = 99;
    must_fail(&s, GLV_E_VERSION_NOT_FOUND, "99", glv_table_checkout(table, &old, &s.err));

    rows_stream(s.env, "other int32", "7", &data);
    glv_write_result result = GLV_OPTIONS(glv_write_result);
    must(&s, glv_table_overwrite(table, &data, NULL, &result, &s.err));
    assert_int_equal(result.version, 4);
    assert_int_equal(result.rows_inserted, 1);
    assert_table(&s, table, "7");
    struct ArrowArrayStream versions;
    must(&s, glv_table_versions(table, &versions, &s.err));
    char *text = rows_text(s.env, &versions);
    int lines = 1;
    for (const char *c = text; *c != '\0'; c++) {
      lines += *c == '\n';
    }
    assert_int_equal(lines, 4);
    assert_non_null(strstr(text, "Append"));
    mem_free(s.env, text);
    must(&s, glv_table_drop(s.conn, ID("t"), NULL, &s.err));
    must_fail(&s, GLV_E_TABLE_NOT_FOUND, "t", glv_table_drop(s.conn, ID("t"), NULL, &s.err));
    glv_table_free(table);
    suite_close(&s);
  }
}

static void assert_latest(suite *s, glv_table *table, int expected) {
  int is_latest = -1;
  must(s, glv_table_is_latest(table, &is_latest, &s->err));
  assert_int_equal(is_latest, expected);
}

/* As if nothing had happened to the table for a while, so that a listing of its versions counts. */
static void age(const suite *s, const char *directory) {
  const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
  char path[256];
  snprintf(path, sizeof path, "%s/%s/_versions", s->t.root, directory);
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void later_versions_are_noticed(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    suite s;
    suite_open_on(&s, store);
    glv_table *table = create_table(&s, ID("t"), columns, "1 | ada | 1.5");
    glv_table *other = NULL;
    assert_latest(&s, table, 1);
    if (store == 1) {
      age(&s, "t.lance");
    }
    assert_latest(&s, table, 1);
    assert_latest(&s, table, 1);
    must(&s, glv_table_open(s.conn, ID("t"), NULL, &other, &s.err));
    append_rows(&s, other, columns, "2 | x | 1.0");
    assert_latest(&s, other, 1);
    assert_latest(&s, table, 0);
    must(&s, glv_table_checkout(table, NULL, &s.err));
    assert_latest(&s, table, 1);
    glv_table_free(other);

    must(&s, glv_table_drop(s.conn, ID("t"), NULL, &s.err));
    assert_latest(&s, table, 0);
    other = create_table(&s, ID("t"), columns, "1 | ada | 1.5\n2 | x | 1.0");
    append_rows(&s, other, columns, "3 | y | 1.0"); /* version 2, as the dropped one */
    assert_latest(&s, table, 0);
    assert_latest(&s, other, 1);
    glv_table_free(other);
    glv_table_free(table);
    suite_close(&s);
  }
}

static void names_in_namespaces_move(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  must(&s, glv_namespace_create(s.conn, ID("ns"), NO_PAIRS, NULL, &s.err));
  glv_table *table = create_table(&s, ID("ns", "t"), columns, "1 | ada | 1.5");
  int is_latest = -1;
  assert_latest(&s, table, 1);
  must(&s, glv_table_drop(s.conn, ID("ns", "t"), NULL, &s.err));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "t", glv_table_is_latest(table, &is_latest, &s.err));
  glv_table *other = create_table(&s, ID("ns", "t"), columns, "1 | ada | 1.5");
  assert_latest(&s, table, 0);
  assert_latest(&s, other, 1);
  glv_table_free(other);
  glv_table_free(table);
  suite_close(&s);
}

/* The version of new data files is the caller's choice, and where pages end too; rows are the same.
 */
static void create_storage(void **state) {
  static const char *const versions[] = {NULL, "2.2", "2.1"};
  (void)state;
  suite s;
  suite_open(&s);
  glv_table_options options = GLV_OPTIONS(glv_table_options);
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    char name[16];
    struct ArrowArrayStream data;
    glv_table *t;
    snprintf(name, sizeof name, "stored%zu", i);
    options.storage_version = versions[i];
    options.page_bytes = i == 0 ? 0 : 4096;
    rows_people(s.env, 0, 5000, &data);
    must(&s, glv_table_create(s.conn, ID(name), &data, &options, &t, &s.err));
    assert_int_equal(count_rows(&s, t), 5000);
    glv_buf text = {0};
    must(&s, glv_table_describe(t, &text, &s.err));
    assert_non_null(strstr((const char *)text.data, i == 2 ? "\"2.1\"" : "\"2.2\""));
    glv_buf_dispose(&text);
    glv_table_free(t);
  }
  struct ArrowArrayStream data;
  rows_people(s.env, 0, 5, &data);
  options.storage_version = "2.3";
  must_fail(&s, GLV_E_INVALID_INPUT, "storage version '2.3'",
            glv_table_create(s.conn, ID("other"), &data, &options, NULL, &s.err));
  rows_people(s.env, 0, 5, &data);
  options.storage_version = NULL;
  options.page_bytes = 100;
  must_fail(&s, GLV_E_INVALID_INPUT, "page_bytes 100",
            glv_table_create(s.conn, ID("other"), &data, &options, NULL, &s.err));
  suite_close(&s);
}

static void create_modes(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  glv_table *table = create_table(&s, ID("t"), "id int64", "1\n2");
  glv_table_free(table);
  rows_stream(s.env, "id int64", "3", &data);
  must_fail(&s, GLV_E_TABLE_EXISTS, "already exists",
            glv_table_create(s.conn, ID("t"), &data, NULL, &table, &s.err));
  glv_table_options options = GLV_OPTIONS(glv_table_options);
  options.mode = GLV_TABLE_EXIST_OK;
  rows_stream(s.env, "id int64", "3", &data);
  must(&s, glv_table_create(s.conn, ID("t"), &data, &options, &table, &s.err));
  assert_int_equal(count_rows(&s, table), 2);
  glv_table_free(table);
  rows_stream(s.env, "id int32", "3", &data);
  must_fail(&s, GLV_E_SCHEMA, "t",
            glv_table_create(s.conn, ID("t"), &data, &options, &table, &s.err));
  options.mode = GLV_TABLE_OVERWRITE;
  rows_stream(s.env, "id int32", "3", &data);
  must(&s, glv_table_create(s.conn, ID("t"), &data, &options, &table, &s.err));
  assert_int_equal(glv_table_version(table), 2);
  assert_table(&s, table, "3");
  glv_table_free(table);
  suite_close(&s);
}

static void data_must_fit_the_table(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  glv_table *table = create_table(&s, ID("t"), "id int64! | name utf8", "1 | a");
  rows_stream(s.env, "id int64 | name utf8", "null | a", &data);
  must_fail(&s, GLV_E_SCHEMA, "id", glv_table_append(table, &data, NULL, NULL, &s.err));
  rows_stream(s.env, "name utf8", "b", &data);
  must_fail(&s, GLV_E_SCHEMA, "id", glv_table_append(table, &data, NULL, NULL, &s.err));
  rows_stream(s.env, "id float64", "2", &data);
  must_fail(&s, GLV_E_SCHEMA, "id", glv_table_append(table, &data, NULL, NULL, &s.err));
  rows_stream(s.env, "id int64! | what utf8", "2 | c", &data);
  must_fail(&s, GLV_E_SCHEMA, "what", glv_table_append(table, &data, NULL, NULL, &s.err));
  assert_table(&s, table, "1 | a");
  glv_table_free(table);
  suite_close(&s);
}

static void assert_scan(suite *s, glv_table *table, const glv_scan_options *options,
                        const char *expected) {
  struct ArrowArrayStream out;
  must(s, glv_table_scan(table, options, &out, &s->err));
  assert_rows(s->env, &out, expected);
}

static void scans(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *table = create_table(&s, ID("t"), columns,
                                  "1 | ada | 1.5\n2 | bob | null\n3 | cyd | 2.5\n4 | dan | 9.0");
  append_rows(&s, table, columns, "5 | eve | 0.5");
  glv_scan_options options = GLV_OPTIONS(glv_scan_options);
  options.filter = "score > 1";
  assert_scan(&s, table, &options, "1 | ada | 1.5\n3 | cyd | 2.5\n4 | dan | 9.0");
  const glv_pair pairs[] = {{"name", NULL}, {"double", "id * 2"}, {"shout", "upper(name)"}};
  options.columns = (glv_pairs){pairs, 3};
  options.flags = GLV_SCAN_LIMIT;
  options.limit = 2;
  options.offset = 1;
  assert_scan(&s, table, &options, "cyd | 6 | CYD\ndan | 8 | DAN");
  options.filter = "\"name\" = 'eve'";
  options.offset = 0;
  options.flags |= GLV_SCAN_ROW_ID;
  assert_scan(&s, table, &options, "eve | 10 | EVE | 4");
  const uint32_t lance = suite_is_remote() ? 0 : GLV_SQL_LANCE; /* servers have one way */
  options.flags |= lance; /* a text that no row is compared with */
  assert_scan(&s, table, &options, lance != 0 ? "" : "eve | 10 | EVE | 4");
  options.flags &= ~lance;
  options.limit = 0;
  assert_scan(&s, table, &options, "");
  const glv_pair missing[] = {{"nothing", NULL}};
  struct ArrowArrayStream out;
  options.columns = (glv_pairs){missing, 1};
  must_fail(&s, GLV_E_COLUMN_NOT_FOUND, "nothing", glv_table_scan(table, &options, &out, &s.err));
  options.columns = NO_PAIRS;
  options.filter = "nothing > 1";
  must_fail(&s, GLV_E_SQL_PLAN, "nothing", glv_table_scan(table, &options, &out, &s.err));
  options.filter = "id >";
  must_fail(&s, GLV_E_SQL_PARSE, "", glv_table_scan(table, &options, &out, &s.err));
  uint64_t count = 0;
  must(&s, glv_table_count(table, "score IS NULL", NULL, &count, &s.err));
  assert_int_equal(count, 1);
  glv_table_free(table);
  suite_close(&s);
}

static void rows_by_number(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream out;
  glv_table *table = create_table(&s, ID("t"), columns, "1 | ada | 1.5\n2 | bob | null");
  append_rows(&s, table, columns, "5 | eve | 0.5");
  const uint64_t rows[] = {2, 0, 2};
  must(&s, glv_table_take(table, rows, 3, NULL, &out, &s.err));
  assert_rows(s.env, &out, "5 | eve | 0.5\n1 | ada | 1.5\n5 | eve | 0.5");
  glv_take_options options = GLV_OPTIONS(glv_take_options);
  const glv_pair pairs[] = {{"shout", "upper(name)"}};
  options.columns = (glv_pairs){pairs, 1};
  options.flags = GLV_TAKE_ROW_IDS | GLV_SCAN_ROW_ID;
  const uint64_t ids[] = {1, 77, 2};
  must(&s, glv_table_take(table, ids, 3, &options, &out, &s.err));
  assert_rows(s.env, &out, "BOB | 1\nEVE | 2");
  must(&s, glv_table_take(table, NULL, 0, &options, &out, &s.err));
  assert_rows(s.env, &out, "");
  must_fail(&s, GLV_E_INVALID_INPUT, "row 3",
            glv_table_take(table, (const uint64_t[]){3}, 1, NULL, &out, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'rows' is NULL",
            glv_table_take(table, NULL, 1, NULL, &out, &s.err));
  options.flags = GLV_SCAN_LIMIT;
  must_fail(&s, GLV_E_INVALID_INPUT, "flags",
            glv_table_take(table, ids, 1, &options, &out, &s.err));
  const glv_pair missing[] = {{"x", "nothing + 1"}};
  options.flags = 0;
  options.columns = (glv_pairs){missing, 1};
  must_fail(&s, GLV_E_SQL_PLAN, "nothing", glv_table_take(table, ids, 1, &options, &out, &s.err));
  glv_table_free(table);
  suite_close(&s);
}

static void stream_errors_are_told_in_full(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *table = create_table(&s, ID("t"), "id int64", "1\n0");
  const glv_pair pairs[] = {{"x", "10 / id"}};
  glv_scan_options options = GLV_OPTIONS(glv_scan_options);
  options.columns = (glv_pairs){pairs, 1};
  struct ArrowArrayStream out;
  struct ArrowArray batch_out;
  must(&s, glv_table_scan(table, &options, &out, &s.err));
  assert_int_equal(out.get_next(&out, &batch_out), 22); /* EINVAL */
  assert_non_null(strstr(out.get_last_error(&out), "Divide by zero"));
  glv_stream_error(&out, &s.err);
  assert_int_equal(s.err.code, GLV_E_SQL_EXEC);
  out.release(&out);
  glv_table_free(table);
  suite_close(&s);
}

static void assert_query(suite *s, const char *sql, const char *expected) {
  struct ArrowArrayStream out;
  must(s, glv_query(s->conn, sql, NULL, &out, &s->err));
  assert_rows(s->env, &out, expected);
}

static void queries(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream out;
  must(&s, glv_namespace_create(s.conn, ID("a"), NO_PAIRS, NULL, &s.err));
  glv_table *table = create_table(&s, ID("a", "t"), columns,
                                  "1 | ada | 1.5\n2 | bob | null\n3 | cyd | 2.5\n4 | dan | 1.5");
  assert_query(&s, "SELECT * FROM a.t",
               "1 | ada | 1.5\n2 | bob | null\n3 | cyd | 2.5\n4 | dan | 1.5");
  assert_query(&s, "SELECT id + 1 AS n, \"name\" FROM a.t WHERE id > 2 LIMIT 1", "4 | cyd");
  assert_query(&s, "SELECT name FROM a.t ORDER BY score DESC, id DESC", "bob\ncyd\ndan\nada");
  assert_query(&s, "SELECT name FROM a.t ORDER BY score NULLS LAST, name LIMIT 2 OFFSET 1",
               "dan\ncyd");
  assert_query(&s, "SELECT count(*) FROM a.t WHERE score = 1.5", "2");
  must_fail(&s, GLV_E_SQL_PARSE, "", glv_query(s.conn, "SELECT FROM a.t", NULL, &out, &s.err));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "a.x",
            glv_query(s.conn, "SELECT * FROM a.x", NULL, &out, &s.err));
  must_fail(&s, GLV_E_COLUMN_NOT_FOUND, "zz",
            glv_query(s.conn, "SELECT name FROM a.t ORDER BY zz", NULL, &out, &s.err));
  glv_table_free(table);
  suite_close(&s);
}

static void memory_stays_bounded(void **state) {
  (void)state;
  suite s;
  memset(&s, 0, sizeof s);
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.memory_limit_bytes = 96u << 20;
  test_env_open_local_with(&s.t, &options);
  s.env = s.t.env;
  must(&s, glv_connect(s.env, s.t.root, NULL, &s.conn, &s.err));
  struct ArrowArrayStream data;
  glv_table *table = NULL;
  rows_people(s.env, 0, 1000000, &data);
  must(&s, glv_table_create(s.conn, ID("t"), &data, NULL, &table, &s.err));
  uint64_t count = 0;
  must(&s, glv_table_count(table, "age >= 50 AND name LIKE 'name_9%'", NULL, &count, &s.err));
  assert_int_equal(count, 60000);
  glv_table_free(table);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(life_of_a_table),
      cmocka_unit_test(later_versions_are_noticed),
      cmocka_unit_test(names_in_namespaces_move),
      cmocka_unit_test(create_modes),
      cmocka_unit_test(create_storage),
      cmocka_unit_test(data_must_fit_the_table),
      cmocka_unit_test(scans),
      cmocka_unit_test(rows_by_number),
      cmocka_unit_test(stream_errors_are_told_in_full),
      cmocka_unit_test(queries),
      cmocka_unit_test(memory_stays_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
