/* Upkeep through the exported functions: tags and branches. */
#include "support/suite.h"

static const char columns[] = "id int64 | name utf8";

static glv_open_options at_tag(const char *tag) {
  glv_open_options o = GLV_OPTIONS(glv_open_options);
  o.tag = tag;
  return o;
}

static void tags(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    suite s;
    suite_open_on(&s, store);
    glv_table *table = create_table(&s, ID("t"), columns, "1 | ada");
    append_rows(&s, table, columns, "2 | bob");
    must(&s, glv_table_tag_set(table, "now", 0, NULL, &s.err));
    must(&s, glv_table_tag_set(table, "first", 1, NULL, &s.err));
    must_fail(&s, GLV_E_TAG_EXISTS, "first", glv_table_tag_set(table, "first", 2, NULL, &s.err));
    struct ArrowArrayStream out;
    must(&s, glv_table_tags(table, &out, &s.err));
    char *text = rows_text(s.env, &out);
    assert_ptr_equal(strstr(text, "first | 1 | null | "), text);
    assert_non_null(strstr(text, "\nnow | 2 | null | "));
    mem_free(s.env, text);

    glv_open_options o = at_tag("first");
    glv_table *old = NULL;
    must(&s, glv_table_open(s.conn, ID("t"), &o, &old, &s.err));
    assert_table(&s, old, "1 | ada");
    struct ArrowArrayStream data;
    rows_stream(s.env, columns, "5 | x", &data);
    must_fail(&s, GLV_E_BAD_STATE, "version 1", glv_table_append(old, &data, NULL, NULL, &s.err));
    o = at_tag("now");
    must(&s, glv_table_checkout(old, &o, &s.err));
    assert_int_equal(count_rows(&s, old), 2);
    o.version = 1;
    must_fail(&s, GLV_E_INVALID_INPUT, "no version or branch",
              glv_table_open(s.conn, ID("t"), &o, &old, &s.err));
    o = at_tag("nope");
    must_fail(&s, GLV_E_TAG_NOT_FOUND, "nope", glv_table_checkout(old, &o, &s.err));
    o = at_tag(NULL);
    o.branch = "b";
    must_fail(&s, GLV_E_BRANCH_NOT_FOUND, "no branch 'b'",
              glv_table_open(s.conn, ID("t"), &o, &old, &s.err));
    must_fail(&s, GLV_E_INVALID_INPUT, "stays on its branch", glv_table_checkout(old, &o, &s.err));

    glv_call_options move = GLV_OPTIONS(glv_call_options);
    move.flags = GLV_TAG_MOVE;
    must(&s, glv_table_tag_set(old, "first", 2, &move, &s.err));
    must(&s, glv_table_tag_drop(old, "now", &s.err));
    must_fail(&s, GLV_E_TAG_NOT_FOUND, "now", glv_table_tag_drop(old, "now", &s.err));
    must_fail(&s, GLV_E_INVALID_INPUT, "'tag'", glv_table_tag_set(old, NULL, 1, NULL, &s.err));
    move.flags = 4;
    must_fail(&s, GLV_E_INVALID_INPUT, "flags", glv_table_tag_set(old, "x", 1, &move, &s.err));
    glv_table_free(old);
    glv_table_free(table);
    suite_close(&s);
  }
}

static void cleanup(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *table = create_table(&s, ID("t"), columns, "1 | ada");
  glv_view *view = create_view(&s, ID("v"), "SELECT id FROM t");
  for (int i = 0; i < 3; i++) {
    append_rows(&s, table, columns, "2 | bob");
  }
  glv_open_options o = GLV_OPTIONS(glv_open_options);
  glv_table *old = NULL;
  o.version = 3;
  must(&s, glv_table_open(s.conn, ID("t"), &o, &old, &s.err));
  glv_cleanup_result r = GLV_OPTIONS(glv_cleanup_result);
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  must(&s, glv_table_cleanup(table, -1, NULL, &r, &s.err));
  assert_int_equal(r.versions, 0);
  options.flags = GLV_CLEANUP_DRY_RUN;
  must(&s, glv_table_cleanup(table, 0, &options, &r, &s.err));
  assert_int_equal(r.versions, 1); /* the view needs version 1, the handle stands at 3 */
  must(&s, glv_table_cleanup(table, 0, NULL, &r, &s.err));
  assert_int_equal(r.versions, 1);
  assert_int_equal(r.transaction_files, 1);
  must(&s, glv_table_cleanup(old, 0, NULL, NULL, &s.err));
  assert_int_equal(count_rows(&s, old), 3);
  glv_table_free(old);
  must(&s, glv_view_refresh(view, NULL, NULL, &s.err));
  must(&s, glv_table_cleanup(table, 0, NULL, &r, &s.err));
  assert_int_equal(r.versions, 2);
  options.flags = 4;
  must_fail(&s, GLV_E_INVALID_INPUT, "flags", glv_table_cleanup(table, 0, &options, &r, &s.err));
  glv_cancel *cancel = NULL;
  must(&s, glv_cancel_new(s.env, &cancel, &s.err));
  glv_cancel_request(cancel);
  options.flags = 0;
  options.cancel = cancel;
  must_fail(&s, GLV_E_CANCELLED, "cancel", glv_table_cleanup(table, 0, &options, &r, &s.err));
  glv_cancel_free(cancel);
  glv_view_free(view);
  glv_table_free(table);
  suite_close(&s);
}

static void compact_and_restore(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *table = create_table(&s, ID("t"), columns, "1 | ada");
  append_rows(&s, table, columns, "2 | bob");
  glv_compact_result r = GLV_OPTIONS(glv_compact_result);
  must(&s, glv_table_compact(table, NULL, &r, &s.err));
  assert_int_equal(r.version, 4);
  assert_int_equal(glv_table_version(table), 4);
  assert_int_equal(r.fragments_removed, 2);
  assert_int_equal(r.fragments_added, 1);
  assert_int_equal(r.rows, 2);
  assert_table(&s, table, "1 | ada\n2 | bob");
  must(&s, glv_table_compact(table, NULL, &r, &s.err));
  assert_int_equal(r.attempts, 0);
  assert_int_equal(r.version, 4);
  glv_compact_options o = GLV_OPTIONS(glv_compact_options);
  o.deletion_threshold = 1.5;
  must_fail(&s, GLV_E_INVALID_INPUT, "threshold", glv_table_compact(table, &o, &r, &s.err));

  glv_open_options at = GLV_OPTIONS(glv_open_options);
  at.version = 1;
  must(&s, glv_table_checkout(table, &at, &s.err));
  must_fail(&s, GLV_E_BAD_STATE, "version 1", glv_table_compact(table, NULL, &r, &s.err));
  must(&s, glv_table_restore(table, NULL, &s.err));
  assert_int_equal(glv_table_version(table), 5);
  assert_table(&s, table, "1 | ada");
  append_rows(&s, table, columns, "3 | eve"); /* the handle stands at the latest version */
  must(&s, glv_table_restore(table, NULL, &s.err));
  assert_int_equal(glv_table_version(table), 6); /* restoring the latest changes nothing */
  glv_table_free(table);
  suite_close(&s);
}

/* A compacted view is stamped, so that a refresh has nothing to do; one that drifted is not. */
static void compact_view(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *table = create_table(&s, ID("t"), columns, "1 | ada");
  glv_view *view = create_view(&s, ID("v"), "SELECT id, name FROM t");
  append_rows(&s, table, columns, "2 | bob");
  assert_int_equal(refresh(&s, view).mode, 2);
  glv_table *rows = NULL;
  must(&s, glv_table_open(s.conn, ID("v"), NULL, &rows, &s.err));
  const uint64_t before = glv_table_version(rows);
  glv_compact_result r = GLV_OPTIONS(glv_compact_result);
  must(&s, glv_table_compact(rows, NULL, &r, &s.err));
  assert_int_equal(r.version, before + 3); /* reservation, rewrite, stamp */
  char number[24];
  snprintf(number, sizeof number, "%llu", (unsigned long long)r.version);
  assert_string_equal(metadata_value(&s, rows, "mv.view_version"), number);
  assert_string_equal(metadata_value(&s, rows, "mv.source_version"), "2");
  assert_int_equal(refresh(&s, view).mode, 3);
  assert_int_equal(refresh(&s, view).version, r.version);
  append_rows(&s, table, columns, "3 | eve");
  assert_int_equal(refresh(&s, view).mode, 2);
  must_fail(&s, GLV_E_UNSUPPORTED, "only refresh writes", glv_table_restore(rows, NULL, &s.err));

  struct ArrowArrayStream data; /* somebody writes to the view: no stamp speaks for that */
  glv_write_options force = GLV_OPTIONS(glv_write_options);
  force.flags = GLV_WRITE_VIEW;
  must(&s, glv_table_checkout(rows, NULL, &s.err));
  rows_stream(s.env, "id int64 | name utf8 | __source_row_id uint64!", "9 | x | 77", &data);
  must(&s, glv_table_append(rows, &data, &force, NULL, &s.err));
  const uint64_t drifted = glv_table_version(rows);
  must(&s, glv_table_compact(rows, NULL, &r, &s.err));
  assert_int_equal(r.version, drifted + 2);
  assert_int_equal(refresh(&s, view).mode, 1);
  glv_table_free(rows);
  glv_view_free(view);
  glv_table_free(table);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tags),
      cmocka_unit_test(cleanup),
      cmocka_unit_test(compact_and_restore),
      cmocka_unit_test(compact_view),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
