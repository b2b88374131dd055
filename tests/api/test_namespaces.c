/* Namespaces and the places of tables, on both stores. */
#include "support/suite.h"

static const char *names_of(glv_list *list, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < glv_list_count(list); i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "",
                             glv_list_name(list, i));
  }
  return text;
}

static void life_of_a_namespace(suite *s) {
  char text[256];
  glv_list *list = NULL;
  glv_buf json = {0};
  const glv_pair pairs[] = {{"owner", "x"}, {"k", "v"}};
  must(s, glv_namespace_create(s->conn, ID("ops"), (glv_pairs){pairs, 2}, NULL, &s->err));
  must_fail(s, GLV_E_NAMESPACE_EXISTS, "ops",
            glv_namespace_create(s->conn, ID("ops"), NO_PAIRS, NULL, &s->err));
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.flags = GLV_CALL_IF_NEEDED;
  must(s, glv_namespace_create(s->conn, ID("ops"), NO_PAIRS, &options, &s->err));
  must_fail(s, GLV_E_NAMESPACE_NOT_FOUND, "nope",
            glv_namespace_create(s->conn, ID("nope", "x"), NO_PAIRS, NULL, &s->err));
  must(s, glv_namespace_create(s->conn, ID("ops", "nyc"), NO_PAIRS, NULL, &s->err));
  must(s, glv_namespace_describe(s->conn, ID("ops"), NULL, &json, &s->err));
  assert_non_null(strstr(json.data, "\"owner\":\"x\""));
  glv_buf_dispose(&json);
  must(s, glv_namespace_list(s->conn, ROOT, NULL, &list, &s->err));
  assert_string_equal(names_of(list, text, sizeof text), "ops");
  glv_list_free(list);
  must_fail(s, GLV_E_NAMESPACE_NOT_EMPTY, "",
            glv_namespace_drop(s->conn, ID("ops"), NULL, &s->err));
  must(s, glv_namespace_drop(s->conn, ID("ops", "nyc"), NULL, &s->err));
  must(s, glv_namespace_drop(s->conn, ID("ops"), NULL, &s->err));
  must_fail(s, GLV_E_NAMESPACE_NOT_FOUND, "ops",
            glv_namespace_drop(s->conn, ID("ops"), NULL, &s->err));
  must(s, glv_namespace_drop(s->conn, ID("ops"), &options, &s->err));
  must_fail(s, GLV_E_INVALID_INPUT, "", glv_namespace_drop(s->conn, ROOT, NULL, &s->err));
  must_fail(s, GLV_E_NAMESPACE_EXISTS, "",
            glv_namespace_create(s->conn, ROOT, NO_PAIRS, NULL, &s->err));
}

static void namespaces_on_both_stores(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    suite s;
    suite_open_on(&s, store);
    life_of_a_namespace(&s);
    suite_close(&s);
  }
}

static void bad_names_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"", "a$b", "a b", "..", ".", "\xc3\xa9", "a/b", "%2e%2e"};
  suite s;
  suite_open(&s);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct ArrowArrayStream data;
    assert_int_equal(glv_namespace_create(s.conn, ID(names[i]), NO_PAIRS, NULL, &s.err),
                     GLV_E_INVALID_INPUT);
    rows_stream(s.env, "id int64", "1", &data);
    assert_int_equal(glv_table_create(s.conn, ID(names[i]), &data, NULL, NULL, &s.err),
                     GLV_E_INVALID_INPUT);
  }
  glv_table_free(create_table(&s, ID("a.b-c_D"), "id int64", "1"));
  suite_close(&s);
}

static void tables_are_listed_page_by_page(void **state) {
  (void)state;
  static const char *const names[] = {"b", "C", "a", "A", "d"};
  suite s;
  suite_open(&s);
  char text[256];
  glv_list *list = NULL;
  for (size_t i = 0; i < 5; i++) {
    glv_table_free(create_table(&s, ID(names[i]), "id int64", "1"));
  }
  must(&s, glv_table_list(s.conn, ROOT, NULL, &list, &s.err));
  assert_string_equal(names_of(list, text, sizeof text), "A C a b d");
  assert_null(glv_list_token(list));
  assert_string_equal(glv_list_state(list, 0), "ok");
  glv_list_free(list);
  glv_page_options page_options = GLV_OPTIONS(glv_page_options);
  page_options.flags = GLV_PAGE_LIMIT;
  page_options.limit = 2;
  char token[64] = "";
  char all[256] = "";
  do {
    page_options.page_token = token;
    must(&s, glv_table_list(s.conn, ROOT, &page_options, &list, &s.err));
    strcat(strcat(all, names_of(list, text, sizeof text)), "|");
    snprintf(token, sizeof token, "%s", glv_list_token(list) != NULL ? glv_list_token(list) : "");
    glv_list_free(list);
  } while (token[0] != '\0');
  assert_string_equal(all, "A C|a b|d|");
  page_options.limit = 0;
  page_options.page_token = NULL;
  must(&s, glv_table_list(s.conn, ROOT, &page_options, &list, &s.err));
  assert_int_equal(glv_list_count(list), 0);
  assert_null(glv_list_token(list));
  glv_list_free(list);
  suite_close(&s);
}

static void dropping_with_cascade(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  must(&s, glv_namespace_create(s.conn, ID("a"), NO_PAIRS, NULL, &s.err));
  must(&s, glv_namespace_create(s.conn, ID("a", "b"), NO_PAIRS, NULL, &s.err));
  glv_table_free(create_table(&s, ID("a", "b", "t"), "id int64", "1"));
  must_fail(&s, GLV_E_NAMESPACE_NOT_EMPTY, "",
            glv_namespace_drop(s.conn, ID("a", "b"), NULL, &s.err));
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.flags = GLV_CALL_CASCADE;
  must(&s, glv_namespace_drop(s.conn, ID("a"), &options, &s.err));
  glv_table *table = NULL;
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "a.b.t",
            glv_table_open(s.conn, ID("a", "b", "t"), NULL, &table, &s.err));
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(namespaces_on_both_stores),
      cmocka_unit_test(bad_names_are_refused),
      cmocka_unit_test(tables_are_listed_page_by_page),
      cmocka_unit_test(dropping_with_cascade),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
