/*
 * SELECT statements of views and of ad-hoc queries (sql-expressions section 15, overview: query).
 */
#include <string.h>

#include "base/error.h"
#include "expr/select.h"
#include "support/arena_fixture.h"
#include "support/cmocka.h"

static select_statement view(fixture *f, const char *text) {
  select_statement s;
  if (select_parse_view(&f->a, str_of(text), &s, &f->err) != GLV_OK) {
    fail_msg("%s: %s", text, f->err.message);
  }
  return s;
}

static select_statement query(fixture *f, const char *text) {
  select_statement s;
  if (select_parse_query(&f->a, str_of(text), &s, &f->err) != GLV_OK) {
    fail_msg("%s: %s", text, f->err.message);
  }
  return s;
}

static void test_view_parts(void **state) {
  fixture *f = *state;
  const select_statement s = view(
      f, "select \"Na`me\", a.b, x*2 as `T w`, c d from ns.`My T` where x > 1 -- c\n limit 5;");
  assert_int_equal(s.item_count, 4);
  assert_true(s.items[0].is_identifier);
  assert_true(str_is(s.items[0].name, "Na`me"));
  assert_true(str_is(s.items[0].output, "Na`me"));
  assert_true(str_is(s.items[0].expression, "\"Na`me\""));
  assert_false(s.items[1].is_identifier);
  assert_true(str_is(s.items[1].output, "b"));
  assert_true(str_is(s.items[2].expression, "x*2"));
  assert_true(str_is(s.items[2].output, "T w"));
  assert_true(s.items[3].is_identifier);
  assert_true(str_is(s.items[3].output, "d"));
  assert_int_equal(s.table_parts, 2);
  assert_true(str_is(s.table[1], "My T"));
  assert_true(str_is(s.filter, "x > 1"));
  assert_true(s.has_limit);
  assert_int_equal(s.limit, 5);
  assert_string_equal(s.canonical, "SELECT `Na``me`, a.b, x * 2 AS `T w`, c AS d FROM ns.`My T` "
                                   "WHERE x > 1 LIMIT 5");
}

static void test_view_shapes(void **state) {
  fixture *f = *state;
  assert_true(view(f, "SELECT * FROM t").star);
  const select_statement u = view(f, "SELECT id, e FROM t CROSS JOIN UNNEST(`tags`) e");
  assert_true(u.has_unnest);
  assert_true(str_is(u.unnest_column, "tags"));
  assert_true(str_is(u.unnest_alias, "e"));
  assert_string_equal(u.canonical, "SELECT id, e FROM t, UNNEST(tags) AS e");
  const select_statement g = view(f, "SELECT a k, count(*) n FROM t GROUP BY a, b + 1");
  assert_true(g.is_grouped);
  assert_string_equal(g.canonical, "SELECT a AS k, count(*) AS n FROM t GROUP BY a, b + 1");
  const select_statement c = view(f, "SELECT id FROM t, LATERAL chunk(a, 1 + 2) AS c");
  assert_true(c.has_function);
  assert_true(str_is(c.function_name, "chunk"));
  assert_string_equal(c.canonical, "SELECT id FROM t, chunk(a, 1 + 2) AS c");
  assert_string_equal(view(f, ";; SELECT id, FROM t LIMIT ALL;;").canonical, "SELECT id FROM t");
}

static void test_view_refusals(void **state) {
  fixture *f = *state;
  static const struct {
    const char *text;
    const char *phrase;
  } cases[] = {
      {"", "expected a single SELECT statement"},
      {"garbage", "expected a single SELECT statement"},
      {"SELECT id FROM t; SELECT id FROM t", "expected a single SELECT statement"},
      {"VALUES (1)", "expected a SELECT"},
      {"(SELECT id FROM t)", "expected a SELECT"},
      {"SELECT id FROM t UNION SELECT 1", "expected a SELECT"},
      {"SELECT DISTINCT id FROM t", "unsupported clause in the view query"},
      {"SELECT id FROM t ORDER BY id", "unsupported clause in the view query"},
      {"SELECT id FROM t TABLESAMPLE (10)", "unsupported clause in the view query"},
      {"SELECT id FROM T", "the name T must be written in backticks"},
      {"SELECT x AS Twice FROM t", "the name Twice must be written in backticks"},
      {"SELECT id FROM t LIMIT 007", "unsupported clause in the view query"},
      {"SELECT 1 AS one", "the view must read one table"},
      {"SELECT id FROM t, t", "the view must read one table"},
      {"SELECT id FROM (SELECT * FROM t)", "the view must read one table"},
      {"SELECT id FROM t, UNNEST(a) AS b, UNNEST(c) AS d", "the view must read one table"},
      {"SELECT id FROM t AS d", "table aliases are not supported (`AS d`)"},
      {"SELECT id FROM f(t)", "a view reads a table"},
      {"SELECT x*2 FROM t", "view column `x * 2` needs a name: `x * 2 AS name`"},
      {"SELECT *, id FROM t", "`*` must be the only column selected"},
      {"SELECT t.* FROM t", "unsupported select item 't.*'"},
      {"SELECT id FROM t LIMIT -1", "view limit must be a plain `LIMIT n`"},
      {"SELECT id FROM t LIMIT 5 OFFSET 2", "view limit must be a plain `LIMIT n`"},
      {"SELECT id FROM t LIMIT '5'", "view limit must be an integer literal"},
      {"SELECT id FROM t LIMIT 1.5", "view limit 1.5 is not a non-negative integer"},
      {"SELECT id FROM t LIMIT 99999999999999999999", "is not a non-negative integer"},
      {"SELECT id FROM t HAVING id > 1", "HAVING is not supported in a view query"},
      {"SELECT b FROM t GROUP BY ALL", "a view groups by a plain `GROUP BY expr, ...` list"},
      {"SELECT b FROM t GROUP BY CUBE (b)", "a view groups by a plain"},
      {"SELECT * FROM t GROUP BY b", "a grouped view selects its keys and aggregates, not `*`"},
      {"SELECT b FROM t GROUP BY b LIMIT 5", "LIMIT is not supported together with GROUP BY"},
      {"SELECT b FROM t, UNNEST(c) AS d GROUP BY b", "GROUP BY cannot be combined"},
      {"SELECT id FROM t, UNNEST(a)", "UNNEST needs an alias"},
      {"SELECT id FROM t, UNNEST(a.b) AS c", "UNNEST takes one top-level list column"},
      {"SELECT id FROM t, f(a)", "'f' in FROM position needs an alias"},
      {"SELECT id FROM t, a.f(b) AS c", "must be a single name, not 'a.f'"},
      {"SELECT id FROM t, f(a => 1) AS c", "'f' takes positional expression arguments"},
      {"SELECT id FROM t WHERE", "expected an expression, found the end at line 1, column 23"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    select_statement s;
    const glv_status status = select_parse_view(&f->a, str_of(cases[i].text), &s, &f->err);
    if (status != GLV_E_SQL_PARSE || strstr(f->err.message, cases[i].phrase) == NULL) {
      fail_msg("%s: %d %s", cases[i].text, status, f->err.message);
    }
  }
}

static void test_query_parts(void **state) {
  fixture *f = *state;
  const select_statement s = query(
      f, "SELECT \"A b\", x*2, y + 1 AS Z FROM Ns.T WHERE x > 1 AND y IN (1, 2) ORDER BY x DESC, "
         "\"A b\" NULLS FIRST, z DESC NULLS LAST LIMIT 10 OFFSET 3;");
  assert_int_equal(s.item_count, 3);
  assert_true(str_is(s.items[0].output, "A b"));
  assert_true(s.items[0].is_identifier);
  assert_true(str_is(s.items[1].output, "x*2"));
  assert_true(str_is(s.items[1].expression, "x*2"));
  assert_true(str_is(s.items[2].output, "Z"));
  assert_true(str_is(s.table[0], "Ns"));
  assert_true(str_is(s.filter, "x > 1 AND y IN (1, 2)"));
  assert_int_equal(s.order_count, 3);
  assert_true(s.order[0].descending && s.order[0].nulls_first);
  assert_true(!s.order[1].descending && s.order[1].nulls_first);
  assert_true(str_is(s.order[1].name, "A b"));
  assert_true(s.order[2].descending && !s.order[2].nulls_first);
  assert_int_equal(s.limit, 10);
  assert_int_equal(s.offset, 3);
}

static void test_query_forms(void **state) {
  fixture *f = *state;
  assert_true(query(f, "select * from t").star);
  const select_statement c = query(f, "select Count ( * ) as n from t offset 1 limit 2");
  assert_true(c.count_star);
  assert_true(str_is(c.items[0].output, "n"));
  assert_true(c.has_offset && c.has_limit);
  assert_false(query(f, "select count(x) from t").count_star);
  assert_false(query(f, "select a from t limit all").has_limit);
}

static void test_query_groups(void **state) {
  fixture *f = *state;
  const select_statement g = query(f, "select a, count(*) filter (where b) n from t where c "
                                      "group by a, date_part('year', d) order by n limit 3");
  assert_true(g.is_grouped);
  assert_false(g.count_star);
  assert_int_equal(g.group_count, 2);
  assert_true(str_is(g.groups[0], "a"));
  assert_true(str_is(g.groups[1], "date_part('year', d)"));
  assert_true(str_is(g.items[1].expression, "count(*) filter (where b)"));
  assert_true(query(f, "select max(a) + 1 as m from t").is_grouped);
  assert_true(query(f, "select count(*), a from t").is_grouped);
  assert_false(query(f, "select count(*) from t group by a").count_star);
  assert_false(query(f, "select a from t").is_grouped);
}

static void test_query_refusals(void **state) {
  fixture *f = *state;
  static const char *const texts[] = {"",
                                      "SELECT",
                                      "SELECT a",
                                      "SELECT a FROM",
                                      "SELECT FROM t",
                                      "DELETE FROM t",
                                      "SELECT * FROM t GROUP BY a",
                                      "SELECT a FROM t JOIN u",
                                      "SELECT a FROM t x",
                                      "SELECT *, a FROM t",
                                      "SELECT a, * FROM t",
                                      "SELECT a FROM t GROUP BY",
                                      "SELECT t.* FROM t",
                                      "SELECT a FROM t LIMIT x",
                                      "SELECT a FROM t LIMIT 1.5",
                                      "SELECT a FROM t LIMIT 1 LIMIT 2",
                                      "SELECT a FROM t OFFSET",
                                      "SELECT a FROM t ORDER BY",
                                      "SELECT a FROM t ORDER BY 1",
                                      "SELECT a FROM t ORDER BY a NULLS",
                                      "SELECT a FROM t WHERE",
                                      "SELECT a FROM t; SELECT b FROM t",
                                      "SELECT a FROM (SELECT 1)",
                                      "SELECT a FROM t HAVING a",
                                      "SELECT a FROM t GROUP BY ROLLUP (a)",
                                      "SELECT a FROM t GROUP BY ALL",
                                      "SELECT DISTINCT a FROM t"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    select_statement s;
    const glv_status status = select_parse_query(&f->a, str_of(texts[i]), &s, &f->err);
    if (status != GLV_E_SQL_PARSE) {
      fail_msg("%s: %d", texts[i], status);
    }
  }
}

static void test_printing_a_view(void **state) {
  fixture *f = *state;
  const select_item items[] = {{.output = STR("name"), .expression = STR("`name`")},
                               {.output = STR("Shout"), .expression = STR("upper(\"Name\")")}};
  const str table[] = {STR("my ns"), STR("t")};
  select_statement s = {.items = items,
                        .item_count = 2,
                        .table = table,
                        .table_parts = 2,
                        .filter = STR("x>1"),
                        .has_limit = true};
  buf out;
  buf_init(&out, f->t.env, 1 << 20);
  assert_int_equal(select_print_view(&f->a, &s, &out, &f->err), GLV_OK);
  assert_string_equal(out.data, "SELECT name, upper(`Name`) AS `Shout` FROM `my ns`.t WHERE x > 1 "
                                "LIMIT 0");
  buf_clear(&out);
  const str groups[] = {STR("`name`"), STR("date_part( 'year',d )")};
  s.groups = groups;
  s.group_count = 2;
  s.has_limit = false;
  assert_int_equal(select_print_view(&f->a, &s, &out, &f->err), GLV_OK);
  assert_string_equal(out.data, "SELECT name, upper(`Name`) AS `Shout` FROM `my ns`.t WHERE x > 1 "
                                "GROUP BY name, date_part('year', d)");
  s.group_count = 0;
  s.has_limit = true;
  buf_clear(&out);
  s.item_count = 0;
  assert_int_equal(select_print_view(&f->a, &s, &out, &f->err), GLV_E_INVALID_INPUT);
  s.star = true;
  buf_clear(&out);
  assert_int_equal(select_print_view(&f->a, &s, &out, &f->err), GLV_OK);
  assert_string_equal(out.data, "SELECT * FROM `my ns`.t WHERE x > 1 LIMIT 0");
  buf_dispose(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_view_parts, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_view_shapes, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_view_refusals, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_query_parts, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_query_groups, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_query_forms, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_query_refusals, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_printing_a_view, fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
