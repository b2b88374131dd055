/* What views tell: explain, status, verify. */
#include "support/suite.h"

static const char columns[] = "name utf8 | age int32";

static glv_buf explain(suite *s, glv_view *view, const glv_refresh_options *options) {
  glv_buf text = {0};
  must(s, glv_view_explain(view, options, &text, &s->err));
  return text;
}

static glv_buf status(suite *s, glv_view *view) {
  glv_buf text = {0};
  must(s, glv_view_status(view, NULL, &text, &s->err));
  return text;
}

/* The text contains every part; the text is released. */
#define CONTAINS(text, ...)                                                                        \
  do {                                                                                             \
    glv_buf contains_text_ = (text);                                                               \
    const char *const contains_parts_[] = {__VA_ARGS__};                                           \
    for (size_t i_ = 0; i_ < sizeof contains_parts_ / sizeof contains_parts_[0]; i_++) {           \
      if (strstr(contains_text_.data, contains_parts_[i_]) == NULL) {                              \
        fail_msg("no '%s' in %s", contains_parts_[i_], contains_text_.data);                       \
      }                                                                                            \
    }                                                                                              \
    glv_buf_dispose(&contains_text_);                                                              \
  } while (0)

static void explained(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1\nb | 2");
  glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t WHERE age > 1");
  CONTAINS(explain(&s, view, NULL), "\"mode\":\"no_op\"", "\"rows\":null",
           "\"ids_to_remove\":null");
  append_rows(&s, t, columns, "c | 3\nd | 0");
  CONTAINS(explain(&s, view, NULL), "\"mode\":\"incremental\"", "\"reason\":\"\"",
           "\"source_version\":2", "\"version\":2", "\"rows_to_compute\":2",
           "{\"same\":1,\"deleted\":0,\"changed\":0,\"new\":1,\"gone\":0}",
           "{\"fresh\":2,\"touched\":0,\"revived\":0,\"removed\":0}");
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  options.full = 1;
  options.require = 1; /* not looked at */
  CONTAINS(explain(&s, view, &options), "\"mode\":\"rebuild\"", "\"reason\":\"full\"",
           "\"rows_to_compute\":4");
  assert_int_equal(refresh(&s, view).mode, GLV_REFRESH_INCREMENTAL);
  options.flags = GLV_REFRESH_SOURCE_VERSION;
  options.source_version = 9;
  must_fail(&s, GLV_E_VERSION_NOT_FOUND, "9",
            glv_view_explain(view, &options, &(glv_buf){0}, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "ret_json", glv_view_explain(view, NULL, NULL, &s.err));
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

static void told(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  must(&s, glv_namespace_create(s.conn, ID("ns"), NO_PAIRS, NULL, &s.err));
  glv_table *t = create_table(&s, ID("ns", "t"), columns, "a | 1\nb | 2");
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view_options no_data = GLV_OPTIONS(glv_view_options);
  glv_view *view = NULL;
  def.query = "SELECT name FROM ns.t WHERE age > 1";
  no_data.flags = GLV_VIEW_NO_DATA;
  must(&s, glv_view_create(s.conn, ID("v"), &def, &no_data, &view, &s.err));
  CONTAINS(status(&s, view), "\"state\":\"unfilled\"", "\"rows_behind\":null",
           "\"reason\":\"first\"", "\"refreshed_at_ms\":null", "\"source_version\":null",
           "\"source\":\"t\"", "\"source_namespace\":[\"ns\"]", "\"source_head\":1");
  must_fail(&s, GLV_E_BAD_STATE, "never filled",
            glv_view_verify(view, NULL, &(glv_buf){0}, &s.err));
  refresh(&s, view);
  append_rows(&s, t, columns, "c | 3\nd | 0\ne | 0");
  append_rows(&s, t, columns, "f | 3");
  CONTAINS(status(&s, view), "\"state\":\"ok\"", "\"rows_behind\":4", "\"versions_behind\":2",
           "\"intact\":true", "\"reason\":\"\"");
  must(&s, glv_table_drop(s.conn, ID("ns", "t"), NULL, &s.err));
  CONTAINS(status(&s, view), "\"source_head\":null", "\"rows_behind\":null", "was not found");
  glv_table *again = create_table(&s, ID("ns", "t"), columns, "z | 9");
  CONTAINS(status(&s, view), "\"reason\":\"source_recreated\"");
  must_fail(&s, GLV_E_BAD_STATE, "made again", glv_view_verify(view, NULL, &(glv_buf){0}, &s.err));
  must(&s, glv_table_drop(s.conn, ID("ns", "t"), NULL, &s.err));
  glv_table_free(again);
  again = create_table(&s, ID("ns", "t"), "other utf8", "z");
  CONTAINS(status(&s, view), "\"source_head\":1", "\"rows_behind\":null", "dropped or renamed");
  glv_table_free(again);
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

/* A view that somebody wrote to differs, and the report names the rows. */
static void verified(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1\nb | 2\nc | 3");
  glv_view *view = create_view(&s, ID("v"), "SELECT name, age * 10 AS tens FROM t WHERE age > 1");
  glv_view *some = create_view(&s, ID("some"), "SELECT name FROM t LIMIT 2");
  append_rows(&s, t, columns, "d | 4"); /* what is behind is not wrong */
  glv_buf text = {0};
  must(&s, glv_view_verify(view, NULL, &text, &s.err));
  CONTAINS(text, "\"equal\": true", "\"rows_expected\": 2", "\"expected\": []");
  must(&s, glv_view_verify(some, NULL, &text, &s.err));
  CONTAINS(text, "\"equal\": true", "\"rows_expected\": 2", "\"rows_found\": 2");

  glv_write_options options = GLV_OPTIONS(glv_write_options);
  options.flags = GLV_WRITE_VIEW;
  struct ArrowArrayStream data;
  rows_stream(s.env, "name utf8 | tens int32 | __source_row_id uint64!", "x\"y | 5 | 7\nB | 20 | 1",
              &data);
  must(&s, glv_table_append(glv_view_table(view), &data, &options, NULL, &s.err));
  must_fail(&s, GLV_E_DIFFERS, "0 rows missing, 2 extra, 0 different",
            glv_view_verify(view, NULL, &text, &s.err));
  CONTAINS(text, "\"equal\": false", "\"rows_found\": 4", "\"extra\": 2", "\"expected\": []",
           "{\"name\": \"x\\\"y\", \"tens\": 5, \"__source_row_id\": 7}, {\"name\": \"B\"");
  assert_int_equal(refresh(&s, view).mode, GLV_REFRESH_REBUILD);
  must(&s, glv_view_verify(view, NULL, &text, &s.err));
  CONTAINS(text, "\"equal\": true", "\"rows_expected\": 3");
  glv_table_free(t);
  glv_view_free(some);
  glv_view_free(view);
  suite_close(&s);
}

/* Every allocation of the three failing: GLV_E_NOMEM or the answer. */
static void memory(void **state) {
  (void)state;
  for (int which = 0; which < 3; which++) {
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
      suite s;
      suite_open(&s);
      glv_table *t = create_table(&s, ID("t"), columns, "a | 1\nb | 2");
      glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t WHERE age > 1");
      append_rows(&s, t, columns, "c | 3");
      glv_buf text = {0};
      alloc_fault_arm(&s.t.alloc, nth, false);
      const glv_status status = which == 0   ? glv_view_explain(view, NULL, &text, &s.err)
                                : which == 1 ? glv_view_status(view, NULL, &text, &s.err)
                                             : glv_view_verify(view, NULL, &text, &s.err);
      fired = s.t.alloc.fired;
      alloc_fault_arm(&s.t.alloc, 0, false);
      if (status != GLV_OK && (status != GLV_E_NOMEM || !fired)) {
        fail_msg("%d: %s %s", which, glv_status_name(status), s.err.message);
      }
      glv_buf_dispose(&text);
      glv_table_free(t);
      glv_view_free(view);
      suite_close(&s);
      assert_true(nth < 5000);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(explained),
      cmocka_unit_test(told),
      cmocka_unit_test(verified),
      cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
