/* Names without data, data without names: declared, registered and deregistered tables. */
#include <glaive/place.h>

#include "support/suite.h"

static char *text_of(suite *s, glv_buf *text) {
  char *copy = mem_alloc(s->env, text->size + 1);
  memcpy(copy, text->data, text->size);
  copy[text->size] = '\0';
  glv_buf_dispose(text);
  return copy;
}

static void declared(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_buf text = {0};
  glv_table *t = NULL;
  int is_declared = 0;
  const glv_pair owner = {"owner", "me"};
  must(&s, glv_namespace_create(s.conn, ID("ns"), NO_PAIRS, NULL, &s.err));
  must(&s, glv_table_declare(s.conn, ID("ns", "d"), (glv_pairs){&owner, 1}, NULL, &text, &s.err));
  char *first = text_of(&s, &text);
  assert_non_null(strstr(first, "_ns$d"));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "'ns.d' was not found",
            glv_table_open(s.conn, ID("ns", "d"), NULL, &t, &s.err));
  must_fail(&s, GLV_E_TABLE_EXISTS, "d",
            glv_table_declare(s.conn, ID("ns", "d"), NO_PAIRS, NULL, &text, &s.err));
  must(&s, glv_table_locate(s.conn, ID("ns", "d"), NULL, &text, &is_declared, &s.err));
  char *second = text_of(&s, &text);
  assert_string_equal(first, second);
  assert_int_equal(is_declared, 1);
  t = create_table(&s, ID("ns", "d"), "id int64", "1");
  glv_table_free(t);
  must(&s, glv_table_locate(s.conn, ID("ns", "d"), NULL, &text, &is_declared, &s.err));
  glv_buf_dispose(&text);
  assert_int_equal(is_declared, 0);
  must(&s, glv_table_declare(s.conn, ID("r"), NO_PAIRS, NULL, &text, &s.err));
  glv_buf_dispose(&text);
  must_fail(&s, GLV_E_UNSUPPORTED, "properties",
            glv_table_declare(s.conn, ID("q"), (glv_pairs){&owner, 1}, NULL, &text, &s.err));
  must_fail(&s, GLV_E_NAMESPACE_NOT_FOUND, "no",
            glv_table_declare(s.conn, ID("no", "d"), NO_PAIRS, NULL, &text, &s.err));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "nobody",
            glv_table_locate(s.conn, ID("nobody"), NULL, &text, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "ret_location",
            glv_table_locate(s.conn, ID("r"), NULL, NULL, NULL, &s.err));
  mem_free(s.env, first);
  mem_free(s.env, second);
  suite_close(&s);
}

static void registered(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_buf text = {0};
  glv_table *t = create_table(&s, ID("t"), "id int64", "7");
  glv_table_free(t);
  must(&s, glv_namespace_create(s.conn, ID("ns"), NO_PAIRS, NULL, &s.err));
  must(&s, glv_table_register(s.conn, ID("ns", "x"), "t.lance", NULL, &text, &s.err));
  char *path = text_of(&s, &text);
  assert_non_null(strstr(path, "/t.lance"));
  must(&s, glv_table_open(s.conn, ID("ns", "x"), NULL, &t, &s.err));
  assert_table(&s, t, "7");
  glv_table_free(t);
  must_fail(&s, GLV_E_TABLE_EXISTS, "x",
            glv_table_register(s.conn, ID("ns", "x"), "t.lance", NULL, &text, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "../t",
            glv_table_register(s.conn, ID("ns", "y"), "../t", NULL, &text, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "location",
            glv_table_register(s.conn, ID("ns", "y"), NULL, NULL, &text, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "root",
            glv_table_register(s.conn, ID("y"), "t.lance", NULL, &text, &s.err));
  must(&s, glv_table_deregister(s.conn, ID("ns", "x"), NULL, &text, &s.err));
  glv_buf_dispose(&text);
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "x",
            glv_table_open(s.conn, ID("ns", "x"), NULL, &t, &s.err));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "x",
            glv_table_deregister(s.conn, ID("ns", "x"), NULL, &text, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "root",
            glv_table_deregister(s.conn, ID("t"), NULL, &text, &s.err));
  must(&s, glv_table_open(s.conn, ID("t"), NULL, &t, &s.err));
  glv_table_free(t);
  mem_free(s.env, path);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(declared), cmocka_unit_test(registered)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
