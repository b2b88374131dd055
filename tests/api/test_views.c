/* Views through the exported functions: creation, refresh modes, pins, identity, listing, drop. */
#include <stdlib.h>

#include "support/suite.h"

static const char columns[] = "name utf8 | age int32";

static void first_light(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    suite s;
    suite_open_on(&s, store);
    must(&s, glv_namespace_create(s.conn, ID("ns"), NO_PAIRS, NULL, &s.err));
    glv_table *people =
        create_table(&s, ID("ns", "people"), columns, "ada | 36\nbob | 12\ngrace | 85");
    glv_table *decoy = create_table(&s, ID("people"), columns, "mallory | 42");
    glv_view *view =
        create_view(&s, ID("ns", "adults"),
                    "SELECT upper(name) AS shout, age + 1 AS next FROM ns.people WHERE age >= 18");
    assert_table(&s, glv_view_table(view), "ADA | 37 | 0\nGRACE | 86 | 2");
    glv_refresh_result r = refresh(&s, view);
    assert_int_equal(r.mode, GLV_REFRESH_NO_OP);
    assert_int_equal(r.version, 2);
    append_rows(&s, people, columns, "alan | 41\nkid | 3");
    r = refresh(&s, view);
    assert_int_equal(r.mode, GLV_REFRESH_INCREMENTAL);
    assert_int_equal(r.rows_written, 1);
    assert_int_equal(r.rows_removed, 0);
    assert_int_equal(r.source_version, 2);
    assert_int_equal(r.version, 3);
    assert_string_equal(r.reason, "");
    assert_table(&s, glv_view_table(view), "ADA | 37 | 0\nGRACE | 86 | 2\nALAN | 42 | 3");
    append_rows(&s, people, columns, "tot | 1");
    r = refresh(&s, view);
    assert_int_equal(r.mode, GLV_REFRESH_INCREMENTAL);
    assert_int_equal(r.rows_written, 0);
    assert_int_equal(refresh(&s, view).mode, GLV_REFRESH_NO_OP);
    glv_table_free(people);
    glv_table_free(decoy);
    glv_view_free(view);
    suite_close(&s);
  }
}

static void one_refresh_is_one_version(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t");
  assert_int_equal(glv_table_version(glv_view_table(view)), 2);
  assert_string_equal(metadata_value(&s, glv_view_table(view), "mv.source_version"), "1");
  assert_string_equal(metadata_value(&s, glv_view_table(view), "mv.view_version"), "2");
  assert_string_equal(metadata_value(&s, glv_view_table(view), "mv.incarnation"),
                      glv_view_incarnation(view));
  append_rows(&s, t, columns, "b | 2");
  refresh(&s, view);
  assert_int_equal(glv_table_version(glv_view_table(view)), 3);
  assert_string_equal(metadata_value(&s, glv_view_table(view), "mv.view_version"), "3");
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

static void what_is_refused_is_not_written(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1\nb | 2");
  glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t WHERE age > 1");
  rows_stream(s.env, columns, "c | 3\nd | 4", &data);
  must(&s, glv_table_overwrite(t, &data, NULL, NULL, &s.err));
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  glv_refresh_result r = GLV_OPTIONS(glv_refresh_result);
  options.require = 1;
  must(&s, glv_view_refresh(view, &options, &r, &s.err));
  assert_int_equal(r.mode, GLV_REFRESH_INCREMENTAL);
  assert_int_equal(r.rows_written, 2);
  assert_int_equal(r.rows_removed, 1);
  assert_string_equal(r.reason, "");
  assert_table(&s, glv_view_table(view), "c | 2\nd | 3");
  options.full = 1;
  must_fail(&s, GLV_E_BAD_STATE, "(full)", glv_view_refresh(view, &options, NULL, &s.err));
  assert_int_equal(refresh(&s, view).mode, GLV_REFRESH_NO_OP);
  options.require = 0;
  must(&s, glv_view_refresh(view, &options, &r, &s.err));
  assert_int_equal(r.mode, GLV_REFRESH_REBUILD);
  assert_int_equal(r.rows_removed, 2);
  assert_string_equal(r.reason, "full");
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

static void pins(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  append_rows(&s, t, columns, "b | 2");
  append_rows(&s, t, columns, "c | 3");
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view_options no_data = GLV_OPTIONS(glv_view_options);
  glv_view *view = NULL;
  def.source_table = "t";
  no_data.flags = GLV_VIEW_NO_DATA;
  must(&s, glv_view_create(s.conn, ID("v"), &def, &no_data, &view, &s.err));
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  glv_refresh_result r = GLV_OPTIONS(glv_refresh_result);
  options.flags = GLV_REFRESH_SOURCE_VERSION;
  options.source_version = 2;
  must(&s, glv_view_refresh(view, &options, &r, &s.err));
  assert_string_equal(r.reason, "first");
  assert_int_equal(r.source_version, 2);
  assert_int_equal(r.rows_written, 2);
  options.source_version = 3;
  must(&s, glv_view_refresh(view, &options, &r, &s.err));
  assert_int_equal(r.mode, GLV_REFRESH_INCREMENTAL);
  assert_int_equal(r.rows_written, 1);
  options.source_version = 1;
  must(&s, glv_view_refresh(view, &options, &r, &s.err));
  assert_int_equal(r.mode, GLV_REFRESH_INCREMENTAL);
  assert_int_equal(r.rows_removed, 2);
  assert_table(&s, glv_view_table(view), "a | 1 | 0");
  must(&s, glv_view_refresh(view, &options, &r, &s.err));
  assert_int_equal(r.mode, GLV_REFRESH_NO_OP);
  options.source_version = 9;
  must_fail(&s, GLV_E_VERSION_NOT_FOUND, "9", glv_view_refresh(view, &options, &r, &s.err));
  options.source_version = 0;
  must_fail(&s, GLV_E_INVALID_INPUT, "version 0", glv_view_refresh(view, &options, &r, &s.err));
  assert_table(&s, glv_view_table(view), "a | 1 | 0");
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

static void limits(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1\nb | 2");
  glv_view *three = create_view(&s, ID("three"), "SELECT name FROM t LIMIT 3");
  glv_view *none = create_view(&s, ID("none"), "SELECT name FROM t LIMIT 0");
  assert_int_equal(count_rows(&s, glv_view_table(none)), 0);
  assert_int_equal(refresh(&s, none).mode, GLV_REFRESH_NO_OP);
  append_rows(&s, t, columns, "c | 3\nd | 4");
  assert_int_equal(refresh(&s, three).rows_written, 1);
  append_rows(&s, t, columns, "e | 5");
  glv_refresh_result r = refresh(&s, three);
  assert_int_equal(r.mode, GLV_REFRESH_INCREMENTAL);
  assert_int_equal(r.rows_written, 0);
  assert_table(&s, glv_view_table(three), "a | 0\nb | 1\nc | 2");
  assert_int_equal(refresh(&s, three).mode, GLV_REFRESH_NO_OP);
  glv_table_free(t);
  glv_view_free(three);
  glv_view_free(none);
  suite_close(&s);
}

static void sources_are_checked(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_table_options unstable = GLV_OPTIONS(glv_table_options);
  glv_view *view = NULL;
  unstable.flags = GLV_TABLE_NO_STABLE_ROW_IDS;
  rows_stream(s.env, columns, "a | 1", &data);
  must(&s, glv_table_create(s.conn, ID("u"), &data, &unstable, NULL, &s.err));
  def.source_table = "u";
  must_fail(&s, GLV_E_INVALID_INPUT, "stable row ids",
            glv_view_create(s.conn, ID("v"), &def, NULL, &view, &s.err));
  def.source_table = "missing";
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "missing",
            glv_view_create(s.conn, ID("v"), &def, NULL, &view, &s.err));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "v", glv_view_open(s.conn, ID("v"), NULL, &view, &s.err));
  must_fail(&s, GLV_E_NOT_A_VIEW, "not a materialized view",
            glv_view_open(s.conn, ID("u"), NULL, &view, &s.err));
  must_fail(&s, GLV_E_NOT_A_VIEW, "not a materialized view",
            glv_view_drop(s.conn, ID("u"), NULL, &s.err));
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  glv_table_free(t);
  def.source_table = "t";
  must_fail(&s, GLV_E_TABLE_EXISTS, "u",
            glv_view_create(s.conn, ID("u"), &def, NULL, &view, &s.err));
  suite_close(&s);
}

static void no_views_where_a_namespace_manages_versions(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  const glv_pair items[] = {{"root", s.t.root}, {"table_version_tracking_enabled", "true"}};
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.source_table = "t";
  glv_table_free(create_table(&s, ID("t"), columns, "a | 1"));
  glv_view_free(create_view(&s, ID("v"), "SELECT name FROM t"));
  glv_conn *tracked = NULL;
  glv_view *view = NULL;
  must(&s, glv_connect_namespace(s.env, "dir", (glv_pairs){items, 2}, NULL, &tracked, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "'w' cannot be a materialized view",
            glv_view_create(tracked, ID("w"), &def, NULL, NULL, &s.err));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "w", glv_view_open(s.conn, ID("w"), NULL, &view, &s.err));
  must(&s, glv_view_open(tracked, ID("v"), NULL, &view, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "'v' cannot be a materialized view",
            glv_view_refresh(view, NULL, NULL, &s.err));
  assert_table(&s, glv_view_table(view), "a | 0");
  glv_view_free(view);
  must(&s, glv_view_drop(tracked, ID("v"), NULL, &s.err));
  glv_conn_free(tracked);
  suite_close(&s);
}

static void direct_writes_are_refused(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t");
  rows_stream(s.env, "name utf8", "x", &data);
  must_fail(&s, GLV_E_UNSUPPORTED,
            "cannot add to 'v': it is a materialized view, which only refresh writes",
            glv_table_append(glv_view_table(view), &data, NULL, NULL, &s.err));
  glv_write_options repair = GLV_OPTIONS(glv_write_options);
  repair.flags = GLV_WRITE_VIEW;
  rows_stream(s.env, "name utf8 | __source_row_id uint64!", "x | 77", &data);
  must(&s, glv_table_append(glv_view_table(view), &data, &repair, NULL, &s.err));
  glv_refresh_result r = refresh(&s, view);
  assert_string_equal(r.reason, "drift");
  assert_table(&s, glv_view_table(view), "a | 0");
  assert_int_equal(refresh(&s, view).mode, GLV_REFRESH_NO_OP);
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

static void recreated_sources_and_views(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t");
  glv_table_free(t);
  must(&s, glv_table_drop(s.conn, ID("t"), NULL, &s.err));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "t", glv_view_refresh(view, NULL, NULL, &s.err));
  t = create_table(&s, ID("t"), columns, "z | 1");
  glv_refresh_result r = refresh(&s, view);
  assert_string_equal(r.reason, "source_recreated");
  assert_table(&s, glv_view_table(view), "z | 0");

  char token[64];
  snprintf(token, sizeof token, "%s", glv_view_incarnation(view));
  must(&s, glv_view_drop(s.conn, ID("v"), NULL, &s.err));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "v", glv_view_refresh(view, NULL, NULL, &s.err));
  glv_view *again = create_view(&s, ID("v"), "SELECT name FROM t");
  assert_string_not_equal(glv_view_incarnation(again), token);
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  options.incarnation = token;
  must_fail(&s, GLV_E_STALE_VIEW, "dropped and recreated",
            glv_view_refresh(again, &options, NULL, &s.err));
  glv_table_free(t);
  glv_view_free(view);
  glv_view_free(again);
  suite_close(&s);
}

static void two_creates_of_one_plan(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view_plan *plan = NULL;
  glv_view *one = NULL;
  glv_view *two = NULL;
  struct ArrowSchema schema_out;
  def.source_table = "t";
  must(&s, glv_view_prepare(s.conn, &def, NULL, &plan, &s.err));
  must(&s, glv_view_plan_schema(plan, &schema_out, &s.err));
  assert_int_equal(schema_out.n_children, 3);
  assert_string_equal(schema_out.children[2]->name, "__source_row_id");
  assert_string_equal(schema_out.children[2]->format, "L");
  assert_int_equal(schema_out.children[2]->flags & ARROW_FLAG_NULLABLE, 0);
  schema_out.release(&schema_out);
  must(&s, glv_view_plan_create(plan, ID("one"), NULL, &one, &s.err));
  must(&s, glv_view_plan_create(plan, ID("two"), NULL, &two, &s.err));
  assert_string_not_equal(glv_view_incarnation(one), glv_view_incarnation(two));
  glv_view_plan_free(plan);
  glv_table_free(t);
  glv_view_free(one);
  glv_view_free(two);
  suite_close(&s);
}

static void views_over_views(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1\nb | 2");
  glv_view *first = create_view(&s, ID("first"), "SELECT name, age * 10 AS tenfold FROM t");
  glv_view *second = create_view(&s, ID("second"), "SELECT * FROM first WHERE tenfold > 10");
  assert_table(&s, glv_view_table(second), "b | 20 | 1");
  append_rows(&s, t, columns, "c | 3");
  refresh(&s, first);
  glv_refresh_result r = refresh(&s, second);
  assert_int_equal(r.mode, GLV_REFRESH_INCREMENTAL);
  assert_table(&s, glv_view_table(second), "b | 20 | 1\nc | 30 | 2");

  glv_view *loop = NULL;
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  must(&s, glv_table_drop(s.conn, ID("t"), NULL, &s.err));
  def.query = "SELECT name FROM second";
  must_fail(&s, GLV_E_INVALID_INPUT, "would read itself: t -> second -> first -> t",
            glv_view_create(s.conn, ID("t"), &def, NULL, &loop, &s.err));
  glv_table_free(t);
  glv_view_free(first);
  glv_view_free(second);
  suite_close(&s);
}

static void a_chain_of_32_views(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  char name[16];
  char query[64];
  glv_table_free(create_table(&s, ID("t"), columns, "a | 1"));
  for (int i = 1; i <= 32; i++) {
    snprintf(name, sizeof name, "v%d", i);
    i == 1 ? snprintf(query, sizeof query, "SELECT name FROM t")
           : snprintf(query, sizeof query, "SELECT name FROM v%d", i - 1);
    glv_view_free(create_view(&s, ID(name), query));
  }
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view *view = NULL;
  def.query = "SELECT name FROM v32";
  must_fail(&s, GLV_E_INVALID_INPUT, "deeper than 32 views",
            glv_view_create(s.conn, ID("v33"), &def, NULL, &view, &s.err));
  suite_close(&s);
}

static void lists(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  must(&s, glv_namespace_create(s.conn, ID("ns"), NO_PAIRS, NULL, &s.err));
  glv_table_free(create_table(&s, ID("t"), columns, "a | 1"));
  glv_view_free(create_view(&s, ID("b"), "SELECT name FROM t"));
  glv_view_free(create_view(&s, ID("ns", "c"), "SELECT name FROM t"));
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view_options no_data = GLV_OPTIONS(glv_view_options);
  def.source_table = "t";
  def.stored_form = GLV_STORED_QUERY;
  no_data.flags = GLV_VIEW_NO_DATA;
  must(&s, glv_view_create(s.conn, ID("a"), &def, &no_data, NULL, &s.err));
  glv_list *list = NULL;
  must(&s, glv_view_list(s.conn, ROOT, NULL, &list, &s.err));
  assert_int_equal(glv_list_count(list), 2);
  assert_string_equal(glv_list_name(list, 0), "a");
  assert_string_equal(glv_list_form(list, 0), "query");
  assert_string_equal(glv_list_state(list, 0), "unfilled");
  assert_string_equal(glv_list_form(list, 1), "select");
  assert_string_equal(glv_list_state(list, 1), "ok");
  glv_list_free(list);
  glv_page_options options = GLV_OPTIONS(glv_page_options);
  options.flags = GLV_PAGE_RECURSIVE | GLV_PAGE_LIMIT;
  options.limit = 1;
  char all[64] = "";
  char token[64] = "";
  do {
    options.page_token = token;
    must(&s, glv_view_list(s.conn, ROOT, &options, &list, &s.err));
    assert_int_equal(glv_list_count(list), 1);
    strcat(strcat(all, glv_list_name(list, 0)), glv_list_id(list, 0).count == 2 ? "(ns) " : " ");
    snprintf(token, sizeof token, "%s", glv_list_token(list) != NULL ? glv_list_token(list) : "");
    glv_list_free(list);
  } while (token[0] != '\0');
  assert_string_equal(all, "a b c(ns) ");
  suite_close(&s);
}

/* A value makes the first fill fail: the view stays, empty and unfilled; the message says so. */
static void a_failed_first_fill(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  glv_table *t = create_table(&s, ID("t"), columns, "a | 0");
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view *view = NULL;
  def.query = "SELECT 10 / age AS x FROM t";
  must_fail(&s, GLV_E_SQL_EXEC, "created but is still empty",
            glv_view_create(s.conn, ID("v"), &def, NULL, &view, &s.err));
  must(&s, glv_view_open(s.conn, ID("v"), NULL, &view, &s.err));
  assert_int_equal(count_rows(&s, glv_view_table(view)), 0);
  glv_list *list = NULL;
  must(&s, glv_view_list(s.conn, ROOT, NULL, &list, &s.err));
  assert_string_equal(glv_list_state(list, 0), "unfilled");
  glv_list_free(list);
  rows_stream(s.env, columns, "a | 5", &data);
  must(&s, glv_table_overwrite(t, &data, NULL, NULL, &s.err));
  glv_refresh_result r = refresh(&s, view);
  assert_string_equal(r.reason, "first");
  assert_table(&s, glv_view_table(view), "2 | 1");
  glv_view_free(view);
  must(&s, glv_view_drop(s.conn, ID("v"), NULL, &s.err));
  glv_table_free(t);
  suite_close(&s);
}

static void a_cancelled_refresh_leaves_nothing(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t");
  append_rows(&s, t, columns, "b | 2");
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  must(&s, glv_cancel_new(s.env, &options.cancel, &s.err));
  glv_cancel_request(options.cancel);
  must_fail(&s, GLV_E_CANCELLED, "", glv_view_refresh(view, &options, NULL, &s.err));
  glv_cancel_free(options.cancel);
  assert_int_equal(glv_table_version(glv_view_table(view)), 2);
  assert_int_equal(refresh(&s, view).rows_written, 1);
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

static void a_dropped_input_is_named(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t WHERE age > 0");
  rows_stream(s.env, "name utf8", "b", &data);
  must(&s, glv_table_overwrite(t, &data, NULL, NULL, &s.err));
  must_fail(&s, GLV_E_SCHEMA, "age", glv_view_refresh(view, NULL, NULL, &s.err));
  assert_table(&s, glv_view_table(view), "a | 0");
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_light),
      cmocka_unit_test(one_refresh_is_one_version),
      cmocka_unit_test(what_is_refused_is_not_written),
      cmocka_unit_test(pins),
      cmocka_unit_test(limits),
      cmocka_unit_test(sources_are_checked),
      cmocka_unit_test(no_views_where_a_namespace_manages_versions),
      cmocka_unit_test(direct_writes_are_refused),
      cmocka_unit_test(recreated_sources_and_views),
      cmocka_unit_test(two_creates_of_one_plan),
      cmocka_unit_test(views_over_views),
      cmocka_unit_test(a_chain_of_32_views),
      cmocka_unit_test(lists),
      cmocka_unit_test(a_failed_first_fill),
      cmocka_unit_test(a_cancelled_refresh_leaves_nothing),
      cmocka_unit_test(a_dropped_input_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
