/*
 * Every row of the reading procedure of stored definitions (materialized-views 2.4), through
 * listing, opening, refreshing and dropping a real view whose metadata holds the text.
 */
#include "support/suite.h"
#include "table/commit.h"

static const char columns[] = "name utf8 | age int32";

/* Put a text into the metadata of the view, as another writer could. */
static void store(suite *s, const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s.lance", s->t.root, name);
  table_snapshot *t = NULL;
  must(s, table_open(s->env, path, NULL, 0, &t, &s->err));
  const metadata_change change = {STR("mv.definition"), str_of(text)};
  const operation op = {.kind = OPERATION_UPDATE_CONFIG, .changes = &change, .change_count = 1};
  must(s, table_commit(t, &op, NULL, NULL, NULL, &s->err));
  table_unref(t);
}

enum outcome { IS_VIEW, IS_NEWER, IS_UNREADABLE };

static const struct {
  const char *stored;
  enum outcome outcome;
  const char *text; /* of the state in a listing, and part of the messages */
} cases[] = {
    {"{\"kind\":\"join\",\"projections\":[],\"source_table\":\"t\"}", IS_NEWER, "kind 'join'"},
    {"{\"kind\":\"select_v3\",\"source_table\":\"t\"}", IS_NEWER, "kind 'select_v3'"},
    {"{\"projections\":[],\"source_table\":\"t\"}", IS_UNREADABLE,
     "missing kind tag and format tag"},
    {"{\"kind\":7,\"projections\":[],\"source_table\":\"t\"}", IS_UNREADABLE,
     "missing kind tag and format tag"},
    {"{\"kind\":\"select\",\"projections\":[],\"source_namespace\":[\"ns\"],\"source_table\":"
     "\"t\"}",
     IS_UNREADABLE, "kind 'select' does not match its source namespace [\"ns\"]"},
    {"{\"kind\":\"namespaced_select\",\"projections\":[],\"source_table\":\"t\"}", IS_UNREADABLE,
     "kind 'namespaced_select' does not match its source namespace []"},
    {"{\"kind\":\"select\",\"source_table\":\"t\"}", IS_UNREADABLE, "missing field `projections`"},
    {"{\"kind\":\"select\",\"projections\":[]}", IS_UNREADABLE, "missing field `source_table`"},
    {"{\"extra\":1,\"kind\":\"select\",\"projections\":[{\"expression\":\"`name`\",\"output\":"
     "\"name\"}],\"source_table\":\"t\"}",
     IS_VIEW, NULL},
    {"{\"kind\":\"join\",\"kind\":\"select\",\"projections\":[{\"expression\":\"`name`\","
     "\"output\":\"name\"}],\"source_table\":\"t\"}",
     IS_VIEW, NULL},
    {"{\"filter\":null,\"kind\":\"select\",\"limit\":null,\"projections\":[{\"expression\":"
     "\"name\",\"output\":\"name\"}],"
     "\"source_table\":\"t\"}",
     IS_VIEW, NULL},
    {"{\"kind\":\"select\",\"limit\":1.0,\"projections\":[],\"source_table\":\"t\"}", IS_UNREADABLE,
     ""},
    {"{\"kind\":\"select\",\"limit\":-1,\"projections\":[],\"source_table\":\"t\"}", IS_UNREADABLE,
     ""},
    {"{\"kind\":\"select\",\"projections\":[],\"source_namespace\":null,\"source_table\":\"t\"}",
     IS_UNREADABLE, ""},
    {"{\"format\":5,\"kind\":\"query\",\"query\":\"SELECT name FROM t\"}", IS_NEWER, "5"},
    {"{\"format\":3,\"kind\":\"query\",\"query\":\"x\"}", IS_NEWER, "3"},
    {"{\"format\":\"one\",\"kind\":\"query\",\"query\":\"SELECT name FROM t\"}", IS_UNREADABLE,
     "is not a number"},
    {"{\"format\":-1,\"kind\":\"query\",\"query\":\"SELECT name FROM t\"}", IS_UNREADABLE,
     "is not a number"},
    {"{\"format\":1,\"kind\":\"query\"}", IS_UNREADABLE, "missing query"},
    {"{\"format\":1,\"kind\":\"query\",\"query\":\"SELECT name, count(*) AS n FROM t GROUP BY "
     "name\"}",
     IS_UNREADABLE, "format 1 cannot carry this query; it needs 2"},
    {"{\"format\":0,\"kind\":\"query\",\"query\":\"SELECT name FROM t\"}", IS_UNREADABLE,
     "format 0 cannot carry this query"},
    {"{\"format\":2,\"kind\":\"query\",\"query\":\"SELECT name FROM t\"}", IS_VIEW, NULL},
    {"{\"format\":1,\"kind\":\"query\",\"query\":\"SELECT name FROM t ORDER BY name\"}",
     IS_UNREADABLE, "unsupported clause"},
    {"{\"format\":1,\"kind\":\"select\",\"query\":\"SELECT name FROM t\"}", IS_VIEW, NULL},
    {"not json", IS_UNREADABLE, ""},
    {"[1]", IS_UNREADABLE, "missing kind tag and format tag"},
    {"1", IS_UNREADABLE, "missing kind tag and format tag"},
    {"{\"kind\":\"query\",\"query\":\"SELECT name FROM t\"}", IS_NEWER, "kind 'query'"},
    {"{\"kind\":\"select\",\"limit\":99999999999999999999,\"projections\":[],\"source_table\":"
     "\"t\"}",
     IS_UNREADABLE, "number too large"},
};

static void check_listing(suite *s, enum outcome outcome, const char *text) {
  glv_list *list = NULL;
  must(s, glv_view_list(s->conn, ROOT, NULL, &list, &s->err));
  assert_int_equal(glv_list_count(list), 2); /* the others are not disturbed */
  assert_string_equal(glv_list_name(list, 0), "fine");
  assert_string_equal(glv_list_state(list, 0), "ok");
  const char *state = glv_list_state(list, 1);
  static const char *const prefixes[] = {"ok", "newer:", "unreadable:"};
  assert_int_equal(strncmp(state, prefixes[outcome], strlen(prefixes[outcome])), 0);
  assert_true(text == NULL || strstr(state, text) != NULL);
  assert_int_equal(glv_list_form(list, 1) != NULL, outcome == IS_VIEW);
  glv_list_free(list);
}

static void every_stored_text(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table_free(create_table(&s, ID("t"), columns, "ada | 36\nbob | 12"));
  glv_view_free(create_view(&s, ID("fine"), "SELECT age FROM t"));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    glv_view *old = create_view(&s, ID("v"), "SELECT name FROM t");
    store(&s, "v", cases[i].stored);
    check_listing(&s, cases[i].outcome, cases[i].text);
    glv_view *view = NULL;
    if (cases[i].outcome == IS_VIEW) {
      must(&s, glv_view_open(s.conn, ID("v"), NULL, &view, &s.err));
      assert_string_equal(glv_view_stored_definition(view), cases[i].stored);
      assert_string_equal(glv_view_definition(view)->source_table, "t");
      refresh(&s, view);
      assert_string_equal(metadata_value(&s, glv_view_table(view), "mv.definition"),
                          cases[i].stored);
      assert_int_equal(count_rows(&s, glv_view_table(view)), 2);
      glv_view_free(view);
    } else {
      const glv_status code = cases[i].outcome == IS_NEWER ? GLV_E_UNSUPPORTED : GLV_E_CORRUPT;
      must_fail(&s, code, cases[i].text, glv_view_open(s.conn, ID("v"), NULL, &view, &s.err));
      must_fail(&s, code, cases[i].text, glv_view_refresh(old, NULL, NULL, &s.err));
      must_fail(&s, code,
                code == GLV_E_UNSUPPORTED ? "cannot refresh"
                                          : "unreadable materialized view definition",
                glv_view_open(s.conn, ID("v"), NULL, &view, &s.err));
    }
    glv_view_free(old);
    must(&s, glv_view_drop(s.conn, ID("v"), NULL, &s.err));
  }
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_stored_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
