/* Planning over elements of lists and over groups: columns, inputs, refusals
 * (materialized-views 9.1 and 9.2). Rows: tests/interop/test_view_shapes.py. */
#include "support/arena_fixture.h"
#include "support/cmocka.h"
#include "table/write.h"
#include "view/plan.h"

/* id int64 not null, k int32, note utf8, tags list<utf8>, items list<struct<n int32, s utf8>>, big
 * large_list<int32>; k and the fields of items carry metadata. */
static table_snapshot *make_source(fixture *f) {
  arena *a = &f->a;
  static const pair marks[] = {{{"unit", 4}, {"m", 1}}, {{"lance-schema:x", 14}, {"1", 1}}};
  const field text = {.name = "item", .type = type_simple(TYPE_UTF8), .nullable = true};
  const field number = {.name = "item", .type = type_simple(TYPE_INT32), .nullable = true};
  const field parts[] = {
      {.name = "n", .type = type_simple(TYPE_INT32), .nullable = true, .metadata = {marks, 2}},
      {.name = "s", .type = type_simple(TYPE_UTF8)}};
  const field item = {.name = "item", .type = type_struct(a, parts, 2), .metadata = {marks, 2}};
  const field fields[] = {
      {.name = "id", .type = type_simple(TYPE_INT64)},
      {.name = "k", .type = type_simple(TYPE_INT32), .nullable = true, .metadata = {marks, 2}},
      {.name = "note", .type = type_simple(TYPE_UTF8), .nullable = true},
      {.name = "tags", .type = type_list(a, TYPE_LIST, &text), .nullable = true},
      {.name = "items", .type = type_list(a, TYPE_LIST, &item), .nullable = true},
      {.name = "big", .type = type_list(a, TYPE_LARGE_LIST, &number), .nullable = true}};
  CLEANUP(schema_cleanup) schema *s = NULL;
  table_snapshot *t = NULL;
  assert_int_equal(schema_new(f->t.env, fields, 6, (metadata){0}, &s, &f->err), GLV_OK);
  const char *path = test_env_path(&f->t, "t");
  if (table_create(f->t.env, path, "t", s, NULL, NULL, &t, &f->err) != GLV_OK) {
    fail_msg("%s", f->err.message);
  }
  return t;
}

static glv_status plan(fixture *f, const table_snapshot *t, const char *query, plan_purpose purpose,
                       view_plan **ret, glv_error *err) {
  view_definition d;
  TRY(definition_from_sql(&f->a, str_of(query), DEFINITION_ANY, &d, err));
  return view_plan_make(t, &d, purpose, ret, err);
}

static view_plan *planned(fixture *f, const table_snapshot *t, const char *query) {
  view_plan *p = NULL;
  if (plan(f, t, query, PLAN_SQL, &p, &f->err) != GLV_OK) {
    fail_msg("%s: %s", query, f->err.message);
  }
  return p;
}

/* "name type[!], ..." of the columns, provenance included; then the inputs. */
static void expect_plan(fixture *f, const table_snapshot *t, const char *query, const char *columns,
                        const char *inputs) {
  CLEANUP(view_plan_cleanup) view_plan *p = planned(f, t, query);
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, f->t.env, 1 << 16);
  for (size_t i = 0; i < p->columns->field_count; i++) {
    const field *c = &p->columns->fields[i];
    assert_int_equal(buf_printf(&text, &f->err, "%s%s %s%s", i == 0 ? "" : ", ", c->name,
                                TYPE_TEXT(c->type), c->nullable ? "" : "!"),
                     GLV_OK);
  }
  assert_string_equal(text.data, columns);
  buf_clear(&text);
  for (size_t i = 0; i < p->definition.input_count; i++) {
    assert_int_equal(buf_printf(&text, &f->err, "%s%s", i == 0 ? "" : " ", p->definition.inputs[i]),
                     GLV_OK);
  }
  assert_string_equal(text.size == 0 ? "" : text.data, inputs);
}

static void test_elements(void **state) {
  fixture *f = *state;
  CLEANUP(table_cleanup) table_snapshot *t = make_source(f);
  expect_plan(f, t, "SELECT id, e FROM t, UNNEST(tags) AS e WHERE k > 1",
              "id int64!, e string, __source_row_id uint64!", "id k tags");
  expect_plan(f, t, "SELECT note FROM t, UNNEST(tags) AS e", /* decides how many rows there are */
              "note string, __source_row_id uint64!", "note tags");
  expect_plan(f, t, "SELECT e.n, e.s AS x, upper(e.s) AS u FROM t, UNNEST(items) AS e",
              "n int32, x string, u string, __source_row_id uint64!", "items");
  expect_plan(f, t, "SELECT * FROM t, UNNEST(tags) AS e",
              "id int64!, k int32, note string, e string, items list<item: struct<n: int32, s: "
              "string not null> not null>, big large_list<item: int32>, __source_row_id uint64!",
              "big id items k note tags");
  expect_plan(f, t, "SELECT named_struct('a', e) AS made FROM t, UNNEST(tags) AS e",
              "made struct<a: string>, __source_row_id uint64!", "tags");
  CLEANUP(view_plan_cleanup) view_plan *p = planned(f, t, "SELECT e.n, e FROM t, UNNEST(items) e");
  assert_int_equal(p->input_column_count, 1);
  assert_int_equal(p->input_columns[0], 4);
  assert_int_equal(p->columns->fields[0].metadata.count, 1); /* without the declaration */
  assert_true(str_is(p->columns->fields[0].metadata.pairs[0].key, "unit"));
  assert_int_equal(p->columns->fields[1].metadata.count,
                   0); /* the item's own is not its column's */
  assert_int_equal(p->columns->fields[1].type->children[0].metadata.count, 1);
  assert_false(view_plan_is_grouped(p));
}

static void test_groups(void **state) {
  fixture *f = *state;
  CLEANUP(table_cleanup) table_snapshot *t = make_source(f);
  expect_plan(f, t, "SELECT k, count(*) AS n, sum(k) AS s, avg(k) AS a FROM t GROUP BY k",
              "k int32, n int64!, s int64, a double, __source_row_id uint64!", "k");
  expect_plan(f, t, "SELECT k + 1 AS kk, array_agg(note) AS l FROM t WHERE id > 1 GROUP BY kk",
              "kk int64, l list<item: string>, __source_row_id uint64!", "id k note");
  expect_plan(f, t, "SELECT count(*) AS n FROM t GROUP BY id", /* the key need not be selected */
              "n int64!, __source_row_id uint64!", "id");
  expect_plan(f, t, "SELECT id, min(_rowid) AS r FROM t GROUP BY id",
              "id int64!, r uint64, __source_row_id uint64!", "id");
  expect_plan(f, t, "SELECT CASE WHEN k > 0 THEN 'p' ELSE 'n' END AS s FROM t GROUP BY s",
              "s string!, __source_row_id uint64!", "k");
  CLEANUP(view_plan_cleanup) view_plan *p = planned(f, t, "SELECT k FROM t GROUP BY k, _rowid");
  assert_int_equal(p->input_column_count, 1);
  assert_int_equal(p->input_columns[0], 1);
  assert_true(view_plan_is_grouped(p));
  assert_int_equal(p->columns->fields[0].metadata.count, 1); /* without the declaration */
  CLEANUP(view_plan_cleanup)
  view_plan *computed = planned(f, t, "SELECT k + 1 AS k, max(k) AS m FROM t GROUP BY k");
  assert_int_equal(computed->columns->fields[0].metadata.count, 0);
  assert_int_equal(computed->columns->fields[1].metadata.count, 0);
}

/* Creation says the one, a refresh says the other with GLV_E_SCHEMA. */
static const struct {
  const char *query;
  glv_status code;
  const char *message;
} refusals[] = {
    {"SELECT id FROM t, UNNEST(nope) AS e", GLV_E_SQL_PLAN,
     "UNNEST column 'nope' is not a column of the source"},
    {"SELECT id FROM t, UNNEST(id) AS e", GLV_E_SQL_PLAN,
     "UNNEST column 'id' is Int64, not a list"},
    {"SELECT id FROM t, UNNEST(big) AS e", GLV_E_SQL_PLAN,
     "UNNEST column 'big' is LargeList(Int32), not a list"},
    {"SELECT id FROM t, UNNEST(tags) AS id", GLV_E_SQL_PLAN,
     "UNNEST alias 'id' collides with a source column"},
    {"SELECT tags FROM t, UNNEST(tags) AS e", GLV_E_SQL_PLAN, "unknown column 'tags'"},
    {"SELECT e FROM t, UNNEST(tags) AS e LIMIT 1", GLV_E_INVALID_INPUT,
     "LIMIT is not supported together with UNNEST"},
    {"SELECT e FROM t, UNNEST(tags) AS e WHERE tags IS NULL", GLV_E_SQL_PLAN,
     "invalid view filter: unknown column 'tags'"},
    {"SELECT e FROM t, UNNEST(items) AS e WHERE e", GLV_E_INVALID_INPUT,
     "view filter must be a boolean predicate, not Struct("},
    {"SELECT e AS __source_row_id FROM t, UNNEST(tags) AS e", GLV_E_INVALID_INPUT, "is reserved"},
    {"SELECT k, note FROM t GROUP BY k", GLV_E_SQL_PLAN, "invalid grouped view: "},
    {"SELECT k, sum(nope) AS s FROM t GROUP BY k", GLV_E_SQL_PLAN,
     "invalid grouped view: unknown column 'nope'"},
    {"SELECT k, max(random()) AS r FROM t GROUP BY k", GLV_E_SQL_PLAN,
     "invalid grouped view: function 'random' is not immutable"},
    {"SELECT k, count(*) AS k FROM t GROUP BY k", GLV_E_COLUMN_EXISTS, "Column 'k' already exists"},
    {"SELECT k, count(*) AS _rowid FROM t GROUP BY k", GLV_E_INVALID_INPUT, "is reserved"},
    {"SELECT k, max(substr(note, 1)) AS m FROM t GROUP BY k", GLV_E_INVALID_INPUT,
     "CAST(<expr> AS STRING)"},
    {"SELECT k FROM t WHERE nope > 1 GROUP BY k", GLV_E_SQL_PLAN,
     "invalid view filter: unknown column 'nope'"},
};

static void test_refusals(void **state) {
  fixture *f = *state;
  CLEANUP(table_cleanup) table_snapshot *t = make_source(f);
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    view_plan *p = NULL;
    glv_error err = {0};
    assert_int_equal(plan(f, t, refusals[i].query, PLAN_SQL, &p, &err), refusals[i].code);
    if (strstr(err.message, refusals[i].message) == NULL) {
      fail_msg("%s: %s", refusals[i].query, err.message);
    }
    if (refusals[i].code == GLV_E_SQL_PLAN) {
      assert_int_equal(plan(f, t, refusals[i].query, PLAN_REFRESH, &p, &err), GLV_E_SCHEMA);
      assert_int_equal(err.code, GLV_E_SCHEMA);
      assert_non_null(strstr(err.message, "no longer plans against 't'"));
      assert_non_null(strstr(err.message, refusals[i].message));
    }
  }
}

static void test_what_only_others_refresh(void **state) {
  fixture *f = *state;
  CLEANUP(table_cleanup) table_snapshot *t = make_source(f);
  for (plan_purpose purpose = PLAN_SQL; purpose <= PLAN_REFRESH; purpose++) {
    view_plan *p = NULL;
    assert_int_equal(plan(f, t, "SELECT id, c.x FROM t, chunk(note) AS c", purpose, &p, &f->err),
                     GLV_E_UNSUPPORTED);
    assert_non_null(strstr(f->err.message, "'chunk' in FROM position"));
    assert_int_equal(plan(f, t, "SELECT ivf_partition(k) AS p FROM t GROUP BY ivf_partition(k)",
                          purpose, &p, &f->err),
                     GLV_E_UNSUPPORTED);
    assert_non_null(strstr(f->err.message, "function 'ivf_partition' is not supported"));
  }
}

static void test_every_allocation_may_fail(void **state) {
  static const char *const queries[] = {
      "SELECT * FROM t, UNNEST(items) AS e WHERE e.n > 1",
      "SELECT k, count(*) AS n, max(note) AS m FROM t WHERE id > 1 GROUP BY k"};
  fixture *f = *state;
  CLEANUP(table_cleanup) table_snapshot *t = make_source(f);
  for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
    view_definition d;
    assert_int_equal(definition_from_sql(&f->a, str_of(queries[i]), DEFINITION_ANY, &d, &f->err),
                     GLV_OK);
    bool fired = true;
    for (uint64_t n = 1; fired; n++) {
      view_plan *p = NULL;
      alloc_fault_arm(&f->t.alloc, n, false);
      const glv_status status = view_plan_make(t, &d, PLAN_SQL, &p, &f->err);
      fired = atomic_load(&f->t.alloc.fired);
      alloc_fault_arm(&f->t.alloc, 0, false);
      view_plan_free(p);
      assert_int_equal(status, fired ? GLV_E_NOMEM : GLV_OK);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_elements, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_groups, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_refusals, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_what_only_others_refresh, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, fixture_setup,
                                      fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
