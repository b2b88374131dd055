/*
 * Stored definitions: reading in both strengths, writing byte for byte, and the ways between SQL
 * text and fields (materialized-views sections 2 and 13, items 1 to 4, 8 and 49).
 */
#include <string.h>

#include "base/error.h"
#include "support/arena_fixture.h"
#include "support/cmocka.h"
#include "view/definition.h"

/* The stored text of d, in the arena. */
static const char *written(fixture *f, const view_definition *d) {
  buf out;
  buf_init(&out, f->t.env, 1 << 20);
  assert_int_equal(definition_write(d, &out, &f->err), GLV_OK);
  const char *text = arena_strdup(&f->a, buf_str(&out));
  buf_dispose(&out);
  return text;
}

static view_definition parsed(fixture *f, const char *json) {
  view_definition d;
  const glv_status status = definition_parse(&f->a, str_of(json), "v", false, &d, &f->err);
  if (status != GLV_OK) {
    fail_msg("%s: %s", json, f->err.message);
  }
  return d;
}

/* ---- bytes ---- */

static const char S1[] =
    "{\"filter\":\"age >= 18\",\"inputs\":[\"age\",\"name\"],\"kind\":\"select\",\"limit\":10,"
    "\"projections\":[{\"expression\":\"`name`\",\"output\":\"name\"},{\"expression\":\"upper(name)"
    "\",\"output\":\"shout\"}],\"source_table\":\"people\"}";
static const char S2[] =
    "{\"inputs\":[\"x\"],\"kind\":\"namespaced_select\",\"projections\":[{\"expression\":\"`x`\","
    "\"output\":\"x\"}],\"source_namespace\":[\"ns\"],\"source_table\":\"people\"}";
static const char Q1[] =
    "{\"format\":1,\"kind\":\"query\",\"query\":\"SELECT name, upper(name) AS shout FROM people "
    "WHERE age >= 18\"}";

static void test_worked_examples(void **state) {
  fixture *f = *state;
  assert_int_equal(strlen(S1), 199); /* the lengths whose digests the design gives */
  assert_int_equal(strlen(S2), 143);
  assert_int_equal(strlen(Q1), 99);
  const char *const inputs[] = {"age", "name"};
  const view_projection items[] = {{"name", "`name`"}, {"shout", "upper(name)"}};
  const view_definition s1 = {.form = DEFINITION_SELECT,
                              .source_table = "people",
                              .projections = items,
                              .projection_count = 2,
                              .filter = "age >= 18",
                              .has_limit = true,
                              .limit = 10,
                              .inputs = inputs,
                              .input_count = 2};
  assert_string_equal(written(f, &s1), S1);
  const char *const x[] = {"x"};
  const char *const ns[] = {"ns"};
  const view_projection one[] = {{"x", "`x`"}};
  const view_definition s2 = {.form = DEFINITION_NAMESPACED_SELECT,
                              .source_table = "people",
                              .source_namespace = ns,
                              .namespace_count = 1,
                              .projections = one,
                              .projection_count = 1,
                              .inputs = x,
                              .input_count = 1};
  assert_string_equal(written(f, &s2), S2);
  const view_definition q1 = {.form = DEFINITION_QUERY,
                              .format = 1,
                              .query =
                                  "SELECT name, upper(name) AS shout FROM people WHERE age >= 18"};
  assert_string_equal(written(f, &q1), Q1);
}

static void test_examples_read_back_and_write_equal(void **state) {
  fixture *f = *state;
  static const char *const texts[] = {
      S1,
      S2,
      Q1,
      "{\"inputs\":[],\"kind\":\"select\",\"projections\":[],\"source_table\":\"people\"}",
      "{\"inputs\":[],\"kind\":\"select\",\"limit\":0,\"projections\":[],\"source_table\":\"t\"}",
      "{\"format\":2,\"kind\":\"query\",\"query\":\"SELECT b, count(*) AS n FROM t GROUP BY b\"}",
      "{\"format\":2,\"kind\":\"query\",\"query\":\"SELECT id FROM t\"}"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const view_definition d = parsed(f, texts[i]);
    assert_string_equal(written(f, &d), texts[i]);
  }
}

static void test_fields_of_the_examples(void **state) {
  fixture *f = *state;
  const view_definition s1 = parsed(f, S1);
  assert_int_equal(s1.form, DEFINITION_SELECT);
  assert_string_equal(s1.source_table, "people");
  assert_int_equal(s1.namespace_count, 0);
  assert_int_equal(s1.projection_count, 2);
  assert_string_equal(s1.projections[1].output, "shout");
  assert_string_equal(s1.projections[1].expression, "upper(name)");
  assert_string_equal(s1.filter, "age >= 18");
  assert_true(s1.has_limit);
  assert_int_equal(s1.limit, 10);
  assert_int_equal(s1.input_count, 2);
  assert_string_equal(s1.inputs[0], "age");
  const view_definition s2 = parsed(f, S2);
  assert_int_equal(s2.form, DEFINITION_NAMESPACED_SELECT);
  assert_int_equal(s2.namespace_count, 1);
  assert_string_equal(s2.source_namespace[0], "ns");
  const view_definition q1 = parsed(f, Q1);
  assert_int_equal(q1.form, DEFINITION_QUERY);
  assert_int_equal(q1.format, 1);
  assert_string_equal(q1.source_table, "people");
  assert_int_equal(q1.projection_count, 2);
  assert_string_equal(q1.projections[0].expression, "name");
  assert_string_equal(q1.filter, "age >= 18");
  assert_false(q1.has_limit);
  assert_int_equal(q1.input_count, 0);
}

static void test_query_shapes(void **state) {
  fixture *f = *state;
  const view_definition star =
      parsed(f, "{\"format\":1,\"query\":\"SELECT * FROM a.b.t WHERE x > 1 LIMIT 5\"}");
  assert_true(star.star);
  assert_int_equal(star.projection_count, 0);
  assert_int_equal(star.namespace_count, 2);
  assert_string_equal(star.source_namespace[1], "b");
  assert_string_equal(star.filter, "x > 1");
  assert_int_equal(star.limit, 5);
  const view_definition unnest = parsed(
      f, "{\"format\":1,\"query\":\"SELECT id, c FROM t, UNNEST(tags) AS c WHERE c > 'a'\"}");
  assert_string_equal(unnest.unnest_column, "tags");
  assert_string_equal(unnest.unnest_alias, "c");
  assert_int_equal(unnest.projection_count, 2);
  assert_string_equal(unnest.filter, "c > 'a'");
  assert_string_equal(unnest.source_table, "t");
  const view_definition grouped = parsed(
      f, "{\"format\":2,\"query\":\"SELECT b, sum(x) FILTER (WHERE x > 1) AS n FROM t GROUP BY "
         "b\"}");
  assert_int_equal(grouped.group_count, 1);
  assert_string_equal(grouped.groups[0], "b");
  assert_int_equal(grouped.projection_count, 2);
  assert_string_equal(grouped.projections[1].expression, "sum(x) FILTER (WHERE x > 1)");
  const view_definition function =
      parsed(f, "{\"format\":1,\"query\":\"SELECT id FROM t, chunk(name) AS c\"}");
  assert_string_equal(function.function, "chunk");
  assert_int_equal(function.projection_count, 0);
}

static void test_escapes(void **state) {
  fixture *f = *state;
  const view_projection items[] = {{"a\"b\\c\x01\x1f\x7f\xc3\xa9/\n", "`x`"}};
  const view_definition d = {
      .form = DEFINITION_SELECT, .source_table = "t", .projections = items, .projection_count = 1};
  const char *text = written(f, &d);
  assert_string_equal(text, "{\"inputs\":[],\"kind\":\"select\",\"projections\":[{\"expression\":"
                            "\"`x`\",\"output\":\"a\\\"b\\\\c\\u0001\\u001f\x7f\xc3\xa9/\\n\"}],"
                            "\"source_table\":\"t\"}");
  const view_definition again = parsed(f, text);
  assert_string_equal(again.projections[0].output, items[0].output);
  const view_projection broken[] = {{"\xff", "x"}};
  const view_definition bad = {
      .form = DEFINITION_SELECT, .source_table = "t", .projections = broken, .projection_count = 1};
  buf out;
  buf_init(&out, f->t.env, 1 << 20);
  assert_int_equal(definition_write(&bad, &out, &f->err), GLV_E_INVALID_INPUT);
  buf_dispose(&out);
}

/* ---- the reading procedure ---- */

typedef struct reading {
  const char *json;
  definition_state strict;
  definition_state loose; /* parse-only */
  const char *text;       /* tag, or part of the text of "unreadable" */
} reading;

#define OK DEFINITION_OK
#define NEWER DEFINITION_NEWER
#define BAD DEFINITION_UNREADABLE
#define SELECT_OF(rest) "{\"kind\":\"select\",\"source_table\":\"t\"," rest "}"
#define QUERY_OF(format, query) "{\"format\":" format ",\"kind\":\"query\",\"query\":\"" query "\"}"

static const reading READINGS[] = {
    {"{\"kind\":\"select_v3\",\"source_table\":\"people\"}", NEWER, NEWER, "kind 'select_v3'"},
    {"{\"kind\":\"join\"}", NEWER, NEWER, "kind 'join'"},
    {"{\"kind\":\"query\",\"query\":\"SELECT id FROM t\"}", NEWER, NEWER, "kind 'query'"},
    {"{\"source_table\":\"t\",\"projections\":[]}", BAD, BAD, "missing kind tag and format tag"},
    {"{\"kind\":5}", BAD, BAD, "missing kind tag and format tag"},
    {"{\"kind\":null}", BAD, BAD, "missing kind tag and format tag"},
    {"[1]", BAD, BAD, "missing kind tag and format tag"},
    {"\"x\"", BAD, BAD, "missing kind tag and format tag"},
    {"1", BAD, BAD, "missing kind tag and format tag"},
    {"not json", BAD, BAD, "line 1 column"},
    {"", BAD, BAD, "line 1 column"},
    {"{", BAD, BAD, "line 1 column"},
    {SELECT_OF("\"projections\":[],\"limit\":99999999999999999999"), BAD, BAD, "number too large"},
    {SELECT_OF("\"source_namespace\":[\"ns\"],\"projections\":[]"), BAD, BAD,
     "kind 'select' does not match its source namespace [\"ns\"]"},
    {SELECT_OF("\"source_namespace\":[\"a\",\"b\"],\"projections\":[]"), BAD, BAD,
     "kind 'select' does not match its source namespace [\"a\", \"b\"]"},
    {"{\"kind\":\"namespaced_select\",\"source_table\":\"t\",\"projections\":[]}", BAD, BAD,
     "kind 'namespaced_select' does not match its source namespace []"},
    {"{\"kind\":\"namespaced_select\",\"source_table\":\"people\",\"source_namespace\":[\"ns\"]}",
     BAD, OK, "missing field `projections`"},
    {"{\"kind\":\"namespaced_select\",\"source_table\":\"people\",\"source_namespace\":[]}", BAD,
     BAD, NULL},
    {"{\"kind\":\"select\",\"source_table\":\"t\"}", BAD, OK, "missing field `projections`"},
    {"{\"kind\":\"select\",\"projections\":[]}", BAD, BAD, "missing field `source_table`"},
    {"{\"kind\":\"select\",\"source_table\":5,\"projections\":[]}", BAD, BAD,
     "invalid type: integer `5`, expected a string"},
    {"{\"kind\":\"select\",\"source_table\":null,\"projections\":[]}", BAD, BAD,
     "invalid type: null, expected a string"},
    {"{\"kind\":\"select\",\"source_table\":true,\"projections\":[]}", BAD, BAD,
     "invalid type: boolean `true`, expected a string"},
    {"{\"kind\":\"select\",\"source_table\":{},\"projections\":[]}", BAD, BAD,
     "invalid type: map, expected a string"},
    {"{\"kind\":\"select\",\"source_table\":1.5,\"projections\":[]}", BAD, BAD,
     "invalid type: floating point `1.5`, expected a string"},
    {"{\"kind\":\"select\",\"source_table\":\"a\\u0000b\",\"projections\":[]}", BAD, BAD, "NUL"},
    {SELECT_OF("\"projections\":{}"), BAD, BAD, "invalid type: map, expected a sequence"},
    {SELECT_OF("\"projections\":null"), BAD, BAD, "invalid type: null, expected a sequence"},
    {SELECT_OF("\"projections\":[5]"), BAD, BAD,
     "invalid type: integer `5`, expected struct ViewProjection"},
    {SELECT_OF("\"projections\":[\"x\"]"), BAD, BAD,
     "invalid type: string \"x\", expected struct ViewProjection"},
    {SELECT_OF("\"projections\":[{\"output\":\"x\"}]"), BAD, BAD, "missing field `expression`"},
    {SELECT_OF("\"projections\":[{\"expression\":\"x\"}]"), BAD, BAD, "missing field `output`"},
    {SELECT_OF("\"projections\":[{\"output\":1,\"expression\":\"x\"}]"), BAD, BAD,
     "invalid type: integer `1`, expected a string"},
    {SELECT_OF("\"projections\":[],\"limit\":1.0"), BAD, BAD,
     "invalid type: floating point `1.0`, expected u64"},
    {SELECT_OF("\"projections\":[],\"limit\":-1"), BAD, BAD,
     "invalid value: integer `-1`, expected u64"},
    {SELECT_OF("\"projections\":[],\"limit\":\"5\""), BAD, BAD,
     "invalid type: string \"5\", expected u64"},
    {SELECT_OF("\"projections\":[],\"filter\":5"), BAD, BAD,
     "invalid type: integer `5`, expected a string"},
    {SELECT_OF("\"projections\":[],\"source_namespace\":null"), BAD, BAD,
     "invalid type: null, expected a sequence"},
    {SELECT_OF("\"projections\":[],\"source_namespace\":\"ns\""), BAD, BAD,
     "invalid type: string \"ns\", expected a sequence"},
    {SELECT_OF("\"projections\":[],\"limit\":null,\"filter\":null"), OK, OK, NULL},
    {SELECT_OF("\"projections\":[],\"source_namespace\":[]"), OK, OK, NULL},
    {SELECT_OF("\"projections\":[],\"inputs\":null"), OK, OK, NULL},
    {SELECT_OF("\"projections\":[],\"inputs\":[1]"), OK, OK, NULL},
    {SELECT_OF("\"projections\":[],\"extra\":1"), OK, OK, NULL},
    {"{\"kind\":\"join\",\"kind\":\"select\",\"source_table\":\"t\",\"projections\":[]}", OK, OK,
     NULL},
    {SELECT_OF("\"projections\":[{\"output\":\"x\",\"expression\":\"x y\"}]"), OK, OK, NULL},
    {QUERY_OF("5", "SELECT id FROM t"), NEWER, NEWER, "5"},
    {QUERY_OF("3", "SELECT * FROM vector_dedup(t)"), NEWER, NEWER, "3"},
    {QUERY_OF("4", "SELECT id FROM t"), NEWER, NEWER, "4"},
    {QUERY_OF("\"one\"", "SELECT id FROM t"), BAD, BAD, "format tag \"one\" is not a number"},
    {QUERY_OF("-1", "SELECT id FROM t"), BAD, BAD, "format tag -1 is not a number"},
    {QUERY_OF("1.5", "SELECT id FROM t"), BAD, BAD, "format tag 1.5 is not a number"},
    {QUERY_OF("null", "SELECT id FROM t"), BAD, BAD, "format tag null is not a number"},
    {"{\"format\":1,\"kind\":\"query\"}", BAD, BAD, "missing query"},
    {"{\"format\":1,\"query\":5}", BAD, BAD, "missing query"},
    {QUERY_OF("1", "SELECT b, count(*) AS n FROM t GROUP BY b"), BAD, BAD,
     "format 1 cannot carry this query; it needs 2"},
    {QUERY_OF("0", "SELECT id FROM t"), BAD, BAD, "format 0 cannot carry this query; it needs 1"},
    {QUERY_OF("1", "SELECT id FROM t ORDER BY id"), BAD, BAD,
     "unsupported clause in the view query"},
    {QUERY_OF("1", "SELECT  FROM people"), BAD, BAD, "unsupported clause in the view query"},
    {QUERY_OF("1", "SELECT 'a\\u0000b' AS x FROM t"), BAD, BAD, "NUL"},
    {QUERY_OF("2", "SELECT id FROM t"), OK, OK, NULL},
    {"{\"format\":1,\"kind\":\"select\",\"query\":\"SELECT id FROM t\"}", OK, OK, NULL},
};

static void check_reading(fixture *f, const reading *c, bool parse_only) {
  definition_read read;
  assert_int_equal(definition_examine(&f->a, str_of(c->json), parse_only, &read, &f->err), GLV_OK);
  const definition_state expected = parse_only ? c->loose : c->strict;
  if (read.state != expected) {
    fail_msg("%s: state %d, not %d (%s)", c->json, (int)read.state, (int)expected,
             read.text != NULL ? read.text : "");
  }
  if (expected == NEWER) {
    assert_string_equal(read.tag, c->text);
  }
  if (expected == BAD && c->text != NULL && strstr(read.text, c->text) == NULL) {
    fail_msg("%s: %s", c->json, read.text);
  }
}

static void test_reading_procedure(void **state) {
  fixture *f = *state;
  for (size_t i = 0; i < sizeof READINGS / sizeof READINGS[0]; i++) {
    check_reading(f, &READINGS[i], false);
    check_reading(f, &READINGS[i], true);
  }
}

static void test_errors_of_parse(void **state) {
  fixture *f = *state;
  view_definition d;
  assert_int_equal(definition_parse(&f->a, STR("{\"kind\":\"join\"}"), "v", false, &d, &f->err),
                   GLV_E_UNSUPPORTED);
  assert_string_equal(f->err.message,
                      "materialized view 'v' is stored in format kind 'join', which "
                      "this version of glaive cannot refresh");
  assert_int_equal(definition_parse(&f->a, STR("{\"format\":5}"), "v", false, &d, &f->err),
                   GLV_E_UNSUPPORTED);
  assert_string_equal(f->err.message, "materialized view 'v' is stored in format 5, which this "
                                      "version of glaive cannot refresh");
  assert_int_equal(definition_parse(&f->a, STR("{}"), "v", false, &d, &f->err), GLV_E_CORRUPT);
  assert_string_equal(f->err.message, "unreadable materialized view definition: missing kind tag "
                                      "and format tag");
}

static void test_parse_only_reads_the_bindings_text(void **state) {
  fixture *f = *state;
  view_definition d;
  assert_int_equal(definition_parse(&f->a,
                                    STR("{\"kind\":\"namespaced_select\",\"source_table\":"
                                        "\"people\",\"source_namespace\":[\"ns\"]}"),
                                    "v", true, &d, &f->err),
                   GLV_OK);
  assert_int_equal(d.projection_count, 0);
  assert_string_equal(d.source_table, "people");
  assert_string_equal(d.source_namespace[0], "ns");
}

static void test_form_names(void **state) {
  (void)state;
  assert_string_equal(definition_form_name(DEFINITION_SELECT), "select");
  assert_string_equal(definition_form_name(DEFINITION_NAMESPACED_SELECT), "namespaced_select");
  assert_string_equal(definition_form_name(DEFINITION_QUERY), "query");
}

/* ---- SQL text into fields ---- */

static view_definition from_sql(fixture *f, const char *text, definition_form form) {
  view_definition d;
  if (definition_from_sql(&f->a, str_of(text), form, &d, &f->err) != GLV_OK) {
    fail_msg("%s: %s", text, f->err.message);
  }
  return d;
}

static void test_cutting_a_text(void **state) {
  fixture *f = *state;
  const view_definition d =
      from_sql(f,
               "SELECT Name AS n, x*2  AS twice, meta.title, \"My Col\", x /* c */ + 1 AS z FROM t "
               "WHERE  \"x\" > 1  LIMIT 7;",
               DEFINITION_SELECT);
  assert_int_equal(d.form, DEFINITION_SELECT);
  assert_int_equal(d.projection_count, 5);
  const view_projection expected[] = {{"n", "`Name`"},
                                      {"twice", "x*2"},
                                      {"title", "meta.title"},
                                      {"My Col", "`My Col`"},
                                      {"z", "x /* c */ + 1"}};
  for (size_t i = 0; i < 5; i++) {
    assert_string_equal(d.projections[i].output, expected[i].output);
    assert_string_equal(d.projections[i].expression, expected[i].expression);
  }
  assert_string_equal(d.filter, "`x` > 1");
  assert_int_equal(d.limit, 7);
  assert_string_equal(
      written(f, &d),
      "{\"filter\":\"`x` > 1\",\"inputs\":[],\"kind\":\"select\",\"limit\":7,"
      "\"projections\":[{\"expression\":\"`Name`\",\"output\":\"n\"},{"
      "\"expression\":\"x*2\",\"output\":\"twice\"},{\"expression\":\"meta.title\","
      "\"output\":\"title\"},{\"expression\":\"`My Col`\",\"output\":\"My Col\"},{"
      "\"expression\":\"x /* c */ + 1\",\"output\":\"z\"}],\"source_table\":\"t\"}");
}

static void test_cutting_with_namespace_and_wrapping(void **state) {
  fixture *f = *state;
  const view_definition d = from_sql(f,
                                     "select case when b then 1 end as k, ceil(y) as c from "
                                     "hr.eu.people where substr(\"s\", 1, 1) = 'a'",
                                     DEFINITION_SELECT);
  assert_int_equal(d.form, DEFINITION_NAMESPACED_SELECT);
  assert_int_equal(d.namespace_count, 2);
  assert_string_equal(d.source_table, "people");
  assert_string_equal(d.projections[0].expression, "coalesce(case when b then 1 end, NULL)");
  assert_string_equal(d.projections[1].expression, "coalesce(ceil(y), NULL)");
  assert_string_equal(d.filter, "coalesce(substr(`s`, 1, 1) = 'a', NULL)");
  const view_definition star = from_sql(f, "SELECT * FROM t", DEFINITION_SELECT);
  assert_true(star.star);
  assert_int_equal(star.projection_count, 0);
}

static void test_query_form_of_a_text(void **state) {
  fixture *f = *state;
  const view_definition d = from_sql(
      f, "select \"Name\", x*2 as twice from ns.docs where x > 1 limit 5", DEFINITION_QUERY);
  assert_string_equal(d.query, "SELECT `Name`, x * 2 AS twice FROM ns.docs WHERE x > 1 LIMIT 5");
  assert_int_equal(d.format, 1);
  assert_string_equal(d.projections[0].expression, "`Name`");
  assert_string_equal(d.projections[1].expression, "x * 2");
  const view_definition grouped =
      from_sql(f, "select k, count(*) n from t group by k", DEFINITION_QUERY);
  assert_int_equal(grouped.format, 2);
  assert_string_equal(grouped.query, "SELECT k, count(*) AS n FROM t GROUP BY k");
  assert_true(definition_is_select(&d));
  assert_false(definition_is_select(&grouped));
}

static void test_the_form_that_can_hold_a_text(void **state) {
  fixture *f = *state;
  assert_int_equal(from_sql(f, "SELECT x FROM t", DEFINITION_ANY).form, DEFINITION_SELECT);
  assert_int_equal(from_sql(f, "SELECT x FROM n.t", DEFINITION_ANY).form,
                   DEFINITION_NAMESPACED_SELECT);
  view_definition d = from_sql(f, "SELECT k FROM t GROUP BY k", DEFINITION_ANY);
  assert_int_equal(d.form, DEFINITION_QUERY);
  assert_int_equal(d.format, 2);
  d = from_sql(f,
               "select \"Id\", e.a as b from n.t cross join unnest(\"L i\") as \"E\" "
               "where \"E\".a>1",
               DEFINITION_ANY);
  assert_int_equal(d.form, DEFINITION_QUERY);
  assert_int_equal(d.format, 1);
  assert_string_equal(d.query,
                      "SELECT `Id`, e.a AS b FROM n.t, UNNEST(`L i`) AS `E` WHERE `E`.a > 1");
  assert_string_equal(d.unnest_column, "L i");
  assert_string_equal(d.unnest_alias, "E");
  assert_string_equal(d.filter, "`E`.a > 1");
  const view_projection planned[] = {{"Id", "`Id`"}, {"E", "`E`"}};
  d.projections = planned;
  assert_int_equal(definition_make_query(&f->a, &d, &f->err), GLV_OK);
  assert_string_equal(d.query, "SELECT `Id`, `E` FROM n.t, UNNEST(`L i`) AS `E` WHERE `E`.a > 1");
}

static void test_refusals_of_a_text(void **state) {
  fixture *f = *state;
  view_definition d;
  assert_int_equal(definition_from_sql(&f->a, STR("SELECT id, c FROM t, UNNEST(tags) AS c"),
                                       DEFINITION_SELECT, &d, &f->err),
                   GLV_E_UNSUPPORTED);
  assert_int_equal(
      definition_from_sql(&f->a, STR("SELECT b FROM t GROUP BY b"), DEFINITION_SELECT, &d, &f->err),
      GLV_E_UNSUPPORTED);
  assert_int_equal(
      definition_from_sql(&f->a, STR("SELECT id FROM t JOIN t"), DEFINITION_SELECT, &d, &f->err),
      GLV_E_SQL_PARSE);
  assert_non_null(strstr(f->err.message, "unsupported clause in the view query"));
  assert_int_equal(
      definition_from_sql(&f->a, STR("SELECT x + 1 FROM t"), DEFINITION_SELECT, &d, &f->err),
      GLV_E_SQL_PARSE);
}

static void test_stored_expressions(void **state) {
  fixture *f = *state;
  static const struct {
    const char *given;
    const char *stored;
  } cases[] = {
      {"upper(name)", "upper(name)"},
      {"\"a\"\"b`c\" = 'x\"y'", "`a\"b``c` = 'x\"y'"},
      {"  x  +1 /* \"c\" */", "  x  +1 /* \"c\" */"},
      {"CASE WHEN b THEN 1 END", "coalesce(CASE WHEN b THEN 1 END, NULL)"},
      {"upper(substr(s, 1))", "upper(substr(s, 1))"},
      {"x + ceil(y)", "coalesce(x + ceil(y), NULL)"},
      {"x & 1", "coalesce(x & 1, NULL)"},
      {"coalesce(x & 1, 0)", "coalesce(x & 1, 0)"},
      {"+x", "coalesce(+x, NULL)"},
      {"CAST(x AS VARCHAR)", "coalesce(CAST(x AS VARCHAR), NULL)"},
      {"CAST(x AS STRING)", "CAST(x AS STRING)"},
      {"x IS DISTINCT FROM 1", "coalesce(x IS DISTINCT FROM 1, NULL)"},
      {"[1, -2]", "[1, -2]"},
      {"[1, x]", "coalesce([1, x], NULL)"},
      {"is_valid(x & 1)", "coalesce(is_valid(x & 1), NULL)"},
      {"ceil(y) -- up", "coalesce(ceil(y) -- up\n, NULL)"},
      {"substr(s, 1) = '--'", "coalesce(substr(s, 1) = '--', NULL)"},
      {"tags[1:2]", "coalesce(tags[1:2], NULL)"},
      {"5 = ANY(li)", "coalesce(5 = ANY(li), NULL)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *stored;
    if (definition_store_expression(&f->a, str_of(cases[i].given), &stored, &f->err) != GLV_OK) {
      fail_msg("%s: %s", cases[i].given, f->err.message);
    }
    assert_string_equal(stored, cases[i].stored);
  }
  const char *stored;
  assert_int_equal(definition_store_expression(&f->a, STR("x y"), &stored, &f->err),
                   GLV_E_SQL_PARSE);
  assert_int_equal(definition_store_expression(&f->a, STR("'a"), &stored, &f->err),
                   GLV_E_SQL_PARSE);
  assert_string_equal(definition_quote_column(&f->a, STR("a`b")), "`a``b`");
}

static void test_canonical_query_of_fields(void **state) {
  fixture *f = *state;
  view_definition d = parsed(f, S1);
  assert_int_equal(definition_make_query(&f->a, &d, &f->err), GLV_OK);
  assert_string_equal(d.query,
                      "SELECT name, upper(name) AS shout FROM people WHERE age >= 18 LIMIT 10");
  view_definition s2 = parsed(f, S2);
  assert_int_equal(definition_make_query(&f->a, &s2, &f->err), GLV_OK);
  assert_string_equal(s2.query, "SELECT x FROM ns.people");
  view_definition broken =
      parsed(f, SELECT_OF("\"projections\":[{\"output\":\"x\",\"expression\":\"x y\"}]"));
  assert_int_equal(definition_make_query(&f->a, &broken, &f->err), GLV_E_SQL_PARSE);
  view_definition empty = parsed(f, SELECT_OF("\"projections\":[]"));
  assert_int_equal(definition_make_query(&f->a, &empty, &f->err), GLV_E_INVALID_INPUT);
}

/* ---- memory ---- */

static void test_every_allocation_may_fail(void **state) {
  fixture *f = *state;
  for (uint64_t n = 1; n < 200; n++) {
    arena a;
    arena_init(&a, f->t.env);
    view_definition d;
    glv_error err = {0};
    alloc_fault_arm(&f->t.alloc, n, false);
    const glv_status status = definition_parse(&a, str_of(Q1), "v", false, &d, &err);
    const bool fired = f->t.alloc.fired;
    alloc_fault_arm(&f->t.alloc, 0, false);
    arena_dispose(&a);
    if (!fired) {
      assert_int_equal(status, GLV_OK);
      return;
    }
    assert_int_equal(status, GLV_E_NOMEM);
  }
  fail_msg("the fault never stopped firing");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_worked_examples, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_examples_read_back_and_write_equal, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(test_fields_of_the_examples, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_query_shapes, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_escapes, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_reading_procedure, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_errors_of_parse, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_parse_only_reads_the_bindings_text, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(test_form_names, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_cutting_a_text, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_cutting_with_namespace_and_wrapping, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(test_query_form_of_a_text, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_the_form_that_can_hold_a_text, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(test_refusals_of_a_text, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_stored_expressions, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_canonical_query_of_fields, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, fixture_setup,
                                      fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
