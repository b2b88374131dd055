/* Stored definitions as creation writes them, and every refusal of planning
 * (materialized-views 2.2, 3.2 to 3.5). */
#include "support/suite.h"

static const char columns[] = "name utf8! | age int32 | flag bool | score float64";
static const char rows[] = "ada | 36 | true | 1.5";

static void assert_stored(suite *s, const glv_view_def *def, const char *expected) {
  glv_view *view = NULL;
  must(s, glv_view_create(s->conn, ID("v"), def, NULL, &view, &s->err));
  assert_string_equal(glv_view_stored_definition(view), expected);
  assert_string_equal(metadata_value(s, glv_view_table(view), "mv.definition"), expected);
  glv_view_free(view);
  must(s, glv_view_drop(s->conn, ID("v"), NULL, &s->err));
}

static void select_forms_byte_for_byte(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  must(&s, glv_namespace_create(s.conn, ID("ns"), NO_PAIRS, NULL, &s.err));
  glv_table_free(create_table(&s, ID("people"), columns, rows));
  glv_table_free(create_table(&s, ID("ns", "people"), "x int64", "1"));
  const glv_pair pairs[] = {{"name", NULL}, {"shout", "upper(name)"}};
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.source_table = "people";
  def.projections = (glv_pairs){pairs, 2};
  def.filter = "age >= 18";
  def.limit = 10;
  def.flags = GLV_VIEW_DEF_LIMIT;
  assert_stored(
      &s, &def,
      "{\"filter\":\"age >= "
      "18\",\"inputs\":[\"age\",\"name\"],\"kind\":\"select\",\"limit\":10,\"projections\":["
      "{\"expression\":\"`name`\",\"output\":\"name\"},{\"expression\":\"upper(name)\",\"output\":"
      "\"shout\"}],"
      "\"source_table\":\"people\"}");
  const char *ns[] = {"ns"};
  def = GLV_OPTIONS(glv_view_def);
  def.source_table = "people";
  def.source_namespace = (glv_strs){ns, 1};
  assert_stored(&s, &def,
                "{\"inputs\":[\"x\"],\"kind\":\"namespaced_select\",\"projections\":[{"
                "\"expression\":\"`x`\",\"output\":"
                "\"x\"}],\"source_namespace\":[\"ns\"],\"source_table\":\"people\"}");
  def.source_namespace = (glv_strs){NULL, 0};
  def.stored_form = GLV_STORED_QUERY;
  def.projections = (glv_pairs){pairs, 2};
  def.filter = "age >= 18";
  assert_stored(&s, &def,
                "{\"format\":1,\"kind\":\"query\",\"query\":\"SELECT name, upper(name) AS shout "
                "FROM people WHERE age >= "
                "18\"}");
  suite_close(&s);
}

static void sql_text_is_cut_into_parts(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table_free(create_table(&s, ID("t"), "Name utf8 | x int32", "a | 1"));
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.query = "SELECT Name AS n, x*2  AS twice FROM t WHERE \"x\" > 1";
  assert_stored(
      &s, &def,
      "{\"filter\":\"`x` > "
      "1\",\"inputs\":[\"Name\",\"x\"],\"kind\":\"select\",\"projections\":[{\"expression\":"
      "\"`Name`\",\"output\":\"n\"},{\"expression\":\"x*2\",\"output\":\"twice\"}],\"source_"
      "table\":\"t\"}");
  def.query = "SELECT CASE WHEN x > 1 THEN 'big' ELSE 'small' END AS size FROM t";
  assert_stored(&s, &def,
                "{\"inputs\":[\"x\"],\"kind\":\"select\",\"projections\":[{\"expression\":"
                "\"coalesce(CASE WHEN x > 1 THEN "
                "'big' ELSE 'small' END, NULL)\",\"output\":\"size\"}],\"source_table\":\"t\"}");
  suite_close(&s);
}

/* A definition with one projection, or one filter, that is refused. */
static void refuse(suite *s, const char *output, const char *expression, const char *filter,
                   glv_status code, const char *text) {
  const glv_pair pair_in = {output, expression};
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view *view = NULL;
  glv_list *list = NULL;
  def.source_table = "t";
  def.filter = filter;
  def.projections = (glv_pairs){&pair_in, output != NULL ? 1 : 0};
  must_fail(s, code, text, glv_view_create(s->conn, ID("v"), &def, NULL, &view, &s->err));
  must(s, glv_table_list(s->conn, ROOT, NULL, &list, &s->err));
  assert_int_equal(glv_list_count(list), 1); /* nothing was created */
  glv_list_free(list);
}

static void planning_refusals(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table_free(create_table(&s, ID("t"), columns, rows));
  refuse(&s, "x", "missing + 1", NULL, GLV_E_INVALID_EXPRESSION, "missing");
  refuse(&s, "x", "missing + 1", NULL, GLV_E_INVALID_EXPRESSION, "column 'x'");
  refuse(&s, "x", "age +", NULL, GLV_E_INVALID_EXPRESSION, "column 'x'");
  refuse(&s, "x", "sum(age)", NULL, GLV_E_INVALID_EXPRESSION, "column 'x'");
  refuse(&s, "x", "_rowid", NULL, GLV_E_INVALID_EXPRESSION, "_rowid");
  static const char *const volatiles[] = {"random()",       "uuid()",    "now()",
                                          "current_date()", "version()", "arrow_typeof(age)"};
  for (size_t i = 0; i < sizeof volatiles / sizeof volatiles[0]; i++) {
    refuse(&s, "x", volatiles[i], NULL, GLV_E_INVALID_EXPRESSION,
           strcmp(volatiles[i], "uuid()") == 0 || strcmp(volatiles[i], "version()") == 0
               ? "x"
               : "not immutable");
  }
  static const char *const reserved[] = {"_rowid", "_rowaddr", "__source_row_id", "__input_x"};
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
    refuse(&s, reserved[i], "age", NULL, GLV_E_INVALID_INPUT, "is reserved");
  }
  refuse(&s, "a.b", "age", NULL, GLV_E_INVALID_INPUT, "a.b");
  refuse(&s, "", "age", NULL, GLV_E_INVALID_INPUT, "empty");
  refuse(&s, "x", "left(name, 1)", NULL, GLV_E_INVALID_INPUT, "CAST(<expr> AS STRING)");
  refuse(&s, NULL, NULL, "missing > 1", GLV_E_INVALID_INPUT, "invalid view filter: ");
  refuse(&s, NULL, NULL, "age + 1", GLV_E_INVALID_INPUT,
         "view filter must be a boolean predicate, not Int32");
  refuse(&s, NULL, NULL, "NULL", GLV_E_INVALID_INPUT,
         "view filter must be a boolean predicate, not Null");
  refuse(&s, NULL, NULL, "random() > 0.5", GLV_E_INVALID_INPUT, "not immutable");
  suite_close(&s);
}

static void outputs_and_limits(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table_free(create_table(&s, ID("t"), columns, rows));
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view *view = NULL;
  const glv_pair twice[] = {{"d", "age"}, {"d", "score"}};
  const glv_pair cases[] = {{"d", "age"}, {"D", "score"}, {"name", NULL}, {"two words", "flag"}};
  def.source_table = "t";
  def.projections = (glv_pairs){twice, 2};
  must_fail(&s, GLV_E_COLUMN_EXISTS, "Column 'd' already exists",
            glv_view_create(s.conn, ID("v"), &def, NULL, &view, &s.err));
  def.projections = (glv_pairs){cases, 4};
  must(&s, glv_view_create(s.conn, ID("v"), &def, NULL, &view, &s.err));
  assert_table(&s, glv_view_table(view), "36 | 1.5 | ada | true | 0");
  struct ArrowSchema schema_out;
  must(&s, glv_table_schema(glv_view_table(view), &schema_out, &s.err));
  static const int nullable[] = {1, 1, 0, 1, 0}; /* columns keep it, provenance never is */
  for (int i = 0; i < 5; i++) {
    assert_int_equal((schema_out.children[i]->flags & ARROW_FLAG_NULLABLE) != 0, nullable[i]);
  }
  schema_out.release(&schema_out);
  glv_view_free(view);
  def.limit = (uint64_t)INT64_MAX + 1;
  def.flags = GLV_VIEW_DEF_LIMIT;
  must_fail(&s, GLV_E_INVALID_INPUT, "exceeds the maximum of 9223372036854775807",
            glv_view_create(s.conn, ID("w"), &def, NULL, &view, &s.err));
  def.limit = INT64_MAX;
  must(&s, glv_view_create(s.conn, ID("w"), &def, NULL, &view, &s.err));
  glv_view_free(view);
  suite_close(&s);
}

static void odd_names_are_escaped(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table_free(create_table(&s, ID("t"), "x int32", "1"));
  const glv_pair pair_in = {"q\" b\\ \x01 \x1f \x7f \xc3\xa9 /", "x"};
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.source_table = "t";
  def.projections = (glv_pairs){&pair_in, 1};
  assert_stored(&s, &def,
                "{\"inputs\":[\"x\"],\"kind\":\"select\",\"projections\":[{\"expression\":\"x\","
                "\"output\":\"q\\\" b\\\\ "
                "\\u0001 \\u001f \x7f \xc3\xa9 /\"}],\"source_table\":\"t\"}");
  suite_close(&s);
}

static void parsed_definitions(void **state) {
  (void)state;
  glv_view_def *def = NULL;
  glv_error err = {0};
  static const char seed[] =
      "{\"kind\":\"namespaced_select\",\"source_table\":\"people\",\"source_namespace\":[\"ns\"]}";
  assert_int_equal(glv_view_def_parse(seed, strlen(seed), "v", GLV_DEF_PARSE_ONLY, &def, &err),
                   GLV_OK);
  assert_string_equal(def->source_table, "people");
  assert_int_equal(def->source_namespace.count, 1);
  assert_string_equal(def->source_namespace.items[0], "ns");
  assert_int_equal(def->projections.count, 0);
  assert_int_equal(def->form, GLV_VIEW_NAMESPACED_SELECT);
  assert_null(def->query);
  glv_view_def_free(def);
  assert_int_equal(glv_view_def_parse(seed, strlen(seed), "v", 0, &def, &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "missing field `projections`"));
  static const char unknown[] = "{\"kind\":\"select_v3\",\"source_table\":\"people\"}";
  assert_int_equal(
      glv_view_def_parse(unknown, strlen(unknown), "v", GLV_DEF_PARSE_ONLY, &def, &err),
      GLV_E_UNSUPPORTED);
  assert_non_null(strstr(err.message, "cannot refresh"));
  static const char mismatch[] = "{\"kind\":\"select\",\"projections\":[],\"source_namespace\":["
                                 "\"ns\"],\"source_table\":\"t\"}";
  assert_int_equal(glv_view_def_parse(mismatch, strlen(mismatch), "v", 0, &def, &err),
                   GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "does not match its source namespace [\"ns\"]"));
}

/* Only the query tells what a view over groups or elements is (8.3). */
static void shapes_that_only_a_query_can_tell(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table_free(create_table(&s, ID("t"), "k utf8 | x int32", "a | 1\nb | 2\na | 3\nnull | 4"));
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.query = "select k, count(*) as n from t where x<4 group by k";
  def.stored_form = GLV_STORED_SELECT;
  glv_view *view = NULL;
  must_fail(&s, GLV_E_UNSUPPORTED, "GROUP BY cannot be stored in the select form",
            glv_view_create(s.conn, ID("v"), &def, NULL, &view, &s.err));
  def.stored_form = GLV_STORED_DEFAULT;
  must(&s, glv_view_create(s.conn, ID("v"), &def, NULL, &view, &s.err));
  assert_string_equal(glv_view_stored_definition(view),
                      "{\"format\":2,\"kind\":\"query\",\"query\":\"SELECT k, count(*) AS n FROM t "
                      "WHERE x < 4 GROUP BY k\"}");
  const glv_view_def *out = glv_view_definition(view);
  assert_string_equal(out->query, "SELECT k, count(*) AS n FROM t WHERE x < 4 GROUP BY k");
  assert_string_equal(out->source_table, "t");
  assert_int_equal(out->form, GLV_VIEW_QUERY);
  assert_int_equal(out->projections.count, 0);
  assert_null(out->filter);
  assert_table(&s, glv_view_table(view), "a | 2 | 0\nb | 1 | 1");
  glv_view_free(view);
  static const char elements[] =
      "{\"format\":1,\"query\":\"SELECT id, e.n FROM ns.t, UNNEST(xs) AS e WHERE e.n > 1\"}";
  glv_view_def *parsed = NULL;
  must(&s, glv_view_def_parse(elements, strlen(elements), "v", 0, &parsed, &s.err));
  assert_string_equal(parsed->query, "SELECT id, e.n FROM ns.t, UNNEST(xs) AS e WHERE e.n > 1");
  assert_string_equal(parsed->source_table, "t");
  assert_string_equal(parsed->source_namespace.items[0], "ns");
  assert_int_equal(parsed->projections.count, 0);
  assert_null(parsed->filter);
  glv_view_def_free(parsed);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(select_forms_byte_for_byte),
      cmocka_unit_test(sql_text_is_cut_into_parts),
      cmocka_unit_test(planning_refusals),
      cmocka_unit_test(outputs_and_limits),
      cmocka_unit_test(odd_names_are_escaped),
      cmocka_unit_test(parsed_definitions),
      cmocka_unit_test(shapes_that_only_a_query_can_tell),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
