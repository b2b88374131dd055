/* Columns and metadata through the exported functions. */
#include "arrow/cdata.h"
#include "support/suite.h"

static const char columns[] = "id int64! | name utf8";
static const char rows[] = "1 | ada\n2 | bob\n3 | null";

#define PAIRS(...)                                                                                 \
  ((glv_pairs){(const glv_pair[]){__VA_ARGS__},                                                    \
               sizeof((const glv_pair[]){__VA_ARGS__}) / sizeof(glv_pair)})
#define STRINGS(...)                                                                               \
  ((glv_strs){(const char *[]){__VA_ARGS__},                                                       \
              sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)})

/* The description of a table holds the text. */
static void assert_described(suite *s, glv_table *table, const char *text, bool holds) {
  glv_buf json;
  must(s, glv_table_describe(table, &json, &s->err));
  if ((strstr(json.data, text) != NULL) != holds) {
    fail_msg("'%s' in: %s", text, json.data);
  }
  glv_buf_dispose(&json);
}

static void add_nulls(suite *s, glv_table *table, const char *name, bool nullable,
                      glv_status expected) {
  const field f = {.name = name, .type = type_simple(TYPE_INT32), .nullable = nullable};
  schema *made = NULL;
  struct ArrowSchema exported;
  must(s, schema_new(s->env, &f, 1, (metadata){0}, &made, &s->err));
  must(s, cdata_export_schema(s->env, made, &exported, &s->err));
  assert_int_equal(glv_table_add_null_columns(table, &exported, NULL, NULL, &s->err), expected);
  exported.release(&exported);
  schema_unref(made);
}

static void changes(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    suite s;
    suite_open_on(&s, store);
    glv_table *t = create_table(&s, ID("t"), columns, rows);
    glv_write_result r = GLV_OPTIONS(glv_write_result);
    must(&s, glv_table_add_columns(t, PAIRS({"tens", "id * 10"}, {"up", "upper(name)"}), NULL, &r,
                                   &s.err));
    assert_int_equal(r.version, 2);
    assert_int_equal(r.attempts, 1);
    assert_table(&s, t, "1 | ada | 10 | ADA\n2 | bob | 20 | BOB\n3 | null | 30 | null");
    add_nulls(&s, t, "n", true, GLV_OK);
    add_nulls(&s, t, "m", false, GLV_E_INVALID_INPUT);
    must(&s, glv_table_alter_columns(
                 t,
                 "[{\"path\": \"tens\", \"data_type\": \"int16\"}, {\"path\": \"up\", \"rename\": "
                 "\"big\", \"nullable\": null}, {\"path\": \"id\", \"nullable\": true}]",
                 NULL, &r, &s.err));
    assert_int_equal(r.version, 4);
    assert_described(&s, t, "{\"name\":\"tens\",\"type\":\"int16\",\"nullable\":false}", true);
    assert_described(&s, t, "{\"name\":\"id\",\"type\":\"int64\",\"nullable\":true}", true);
    must(&s, glv_table_drop_columns(t, STRINGS("n", "name"), NULL, &r, &s.err));
    assert_table(&s, t, "1 | 10 | ADA\n2 | 20 | BOB\n3 | 30 | null");
    must(&s, glv_table_drop_columns(t, (glv_strs){NULL, 0}, NULL, &r, &s.err));
    assert_int_equal(r.version, 5);
    assert_int_equal(r.attempts, 0);
    glv_table_free(t);
    suite_close(&s);
  }
}

static void arguments(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, rows);
  static const char *const malformed[][2] = {
      {"[", "not JSON"},
      {"{}", "not an array"},
      {"[1]", "not an object"},
      {"[{\"rename\": \"x\"}]", "no path"},
      {"[{\"path\": 1}]", "'path'"},
      {"[{\"path\": \"id\", \"nullable\": 1}]", "neither true nor false"},
      {"[{\"path\": \"id\", \"data_type\": \"int7\"}]", "'int7' is not a type"},
      {"[{\"path\": \"id\", \"name\": \"x\"}]", "has the member 'name'"},
      {"[{\"path\": \"id\"}]", "nothing is to be altered"},
  };
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    must_fail(&s, GLV_E_INVALID_INPUT, malformed[i][1],
              glv_table_alter_columns(t, malformed[i][0], NULL, NULL, &s.err));
  }
  must_fail(&s, GLV_E_INVALID_INPUT, "changes_json",
            glv_table_alter_columns(t, NULL, NULL, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'table'",
            glv_table_drop_columns(NULL, STRINGS("id"), NULL, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "columns",
            glv_table_add_columns(t, PAIRS({"x", NULL}), NULL, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "columns",
            glv_table_drop_columns(t, STRINGS(NULL), NULL, NULL, &s.err));
  glv_write_options o = GLV_OPTIONS(glv_write_options);
  o.flags = 1u << 9;
  must_fail(&s, GLV_E_INVALID_INPUT, "flags",
            glv_table_drop_columns(t, STRINGS("id"), &o, NULL, &s.err));
  glv_open_options first = GLV_OPTIONS(glv_open_options);
  first.version = 1;
  must(&s, glv_table_checkout(t, &first, &s.err));
  must_fail(&s, GLV_E_BAD_STATE, "checked out",
            glv_table_drop_columns(t, STRINGS("id"), NULL, NULL, &s.err));
  glv_table_free(t);
  suite_close(&s);
}

static void set(suite *s, glv_table *t, int32_t target, const char *column, uint32_t flags,
                glv_pairs items, glv_status expected, const char *text) {
  glv_metadata_options o = GLV_OPTIONS(glv_metadata_options);
  o.target = target;
  o.column = column;
  o.flags = flags;
  if (expected == GLV_OK) {
    must(s, glv_table_set_metadata(t, items, &o, NULL, &s->err));
  } else {
    must_fail(s, expected, text, glv_table_set_metadata(t, items, &o, NULL, &s->err));
  }
}

static void metadata_maps(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, rows);
  set(&s, t, GLV_METADATA_CONFIG, NULL, 0, PAIRS({"lance.auto_cleanup.interval", "20"}), GLV_OK,
      "");
  set(&s, t, GLV_METADATA_TABLE, NULL, 0, PAIRS({"owner", "ada"}, {"x", "1"}), GLV_OK, "");
  set(&s, t, GLV_METADATA_TABLE, NULL, 0, PAIRS({"x", NULL}), GLV_OK, "");
  set(&s, t, GLV_METADATA_SCHEMA, NULL, 0, PAIRS({"note", "one"}, {"more", "two"}), GLV_OK, "");
  set(&s, t, GLV_METADATA_SCHEMA, NULL, GLV_METADATA_REPLACE, PAIRS({"note", "three"}), GLV_OK, "");
  assert_described(&s, t, "\"config\":{\"lance.auto_cleanup.interval\":\"20\"}", true);
  assert_described(&s, t, "\"table_metadata\":{\"owner\":\"ada\"}", true);
  assert_described(&s, t, "\"metadata\":{\"note\":\"three\"}", true);
  set(&s, t, GLV_METADATA_CONFIG, NULL, GLV_METADATA_REPLACE, NO_PAIRS, GLV_OK, "");
  assert_described(&s, t, "\"config\":{}", true);
  const uint64_t version = glv_table_version(t);
  set(&s, t, GLV_METADATA_CONFIG, NULL, 0, NO_PAIRS, GLV_OK, "");
  assert_int_equal(glv_table_version(t), version);

  set(&s, t, GLV_METADATA_FIELD, "name", 0, PAIRS({"unit", "m"}), GLV_OK, "");
  struct ArrowSchema exported;
  must(&s, glv_table_schema(t, &exported, &s.err));
  assert_non_null(exported.children[1]->metadata);
  exported.release(&exported);
  set(&s, t, GLV_METADATA_FIELD, "nope", 0, PAIRS({"a", "b"}), GLV_E_COLUMN_NOT_FOUND, "nope");
  set(&s, t, GLV_METADATA_FIELD, NULL, 0, PAIRS({"a", "b"}), GLV_E_INVALID_INPUT, "column");
  set(&s, t, 4, NULL, 0, PAIRS({"a", "b"}), GLV_E_INVALID_INPUT, "target 4");
  set(&s, t, 0, NULL, 2, PAIRS({"a", "b"}), GLV_E_INVALID_INPUT, "flags");
  set(&s, t, 0, NULL, 0, PAIRS({"a", "b"}, {"a", "c"}), GLV_E_INVALID_INPUT, "twice");
  set(&s, t, 0, NULL, 0, PAIRS({"mv.definition", "{}"}), GLV_E_INVALID_INPUT, "reserved");

  const char *key = "lance-schema:unenforced-primary-key";
  set(&s, t, GLV_METADATA_FIELD, "name", 0, PAIRS({key, "true"}), GLV_E_INVALID_INPUT,
      "must not be nullable");
  set(&s, t, GLV_METADATA_FIELD, "id", 0, PAIRS({key, "perhaps"}), GLV_E_INVALID_INPUT,
      "invalid value");
  set(&s, t, GLV_METADATA_FIELD, "id", 0, PAIRS({key, "true"}), GLV_OK, "");
  set(&s, t, GLV_METADATA_FIELD, "id", 0, PAIRS({key, NULL}), GLV_E_INVALID_INPUT, "once set");
  set(&s, t, GLV_METADATA_FIELD, "id", GLV_METADATA_REPLACE, NO_PAIRS, GLV_E_INVALID_INPUT,
      "once set");
  must_fail(
      &s, GLV_E_INVALID_INPUT, "must not be nullable",
      glv_table_alter_columns(t, "[{\"path\": \"id\", \"nullable\": true}]", NULL, NULL, &s.err));
  glv_table_free(t);
  suite_close(&s);
}

static void views(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, rows);
  glv_view *view = create_view(&s, ID("v"), "SELECT id, name FROM t");
  glv_table *v = glv_view_table(view);
  must_fail(&s, GLV_E_UNSUPPORTED,
            "cannot add columns to 'v': it is a materialized view, which only refresh writes",
            glv_table_add_columns(v, PAIRS({"x", "1"}), NULL, NULL, &s.err));
  must_fail(
      &s, GLV_E_UNSUPPORTED, "cannot alter columns of 'v'",
      glv_table_alter_columns(v, "[{\"path\": \"id\", \"rename\": \"x\"}]", NULL, NULL, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "cannot drop columns of 'v'",
            glv_table_drop_columns(v, STRINGS("name"), NULL, NULL, &s.err));
  set(&s, v, GLV_METADATA_SCHEMA, NULL, GLV_METADATA_REPLACE, NO_PAIRS, GLV_E_UNSUPPORTED,
      "it is a materialized view");
  /* What its owner added as a computed column may go. */
  glv_write_options repair = GLV_OPTIONS(glv_write_options);
  repair.flags = GLV_WRITE_VIEW;
  must(&s, glv_table_add_columns(v, PAIRS({"x", "CAST(NULL AS bigint)"}), &repair, NULL, &s.err));
  set(&s, v, GLV_METADATA_FIELD, "x", 0, PAIRS({"computed_column", "true"}), GLV_OK, "");
  must_fail(&s, GLV_E_UNSUPPORTED, "cannot drop columns of 'v'",
            glv_table_drop_columns(v, STRINGS("x", "name"), NULL, NULL, &s.err));
  must(&s, glv_table_drop_columns(v, STRINGS("x"), NULL, NULL, &s.err));
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

/* What a computed column reads keeps its name and type, and stays, as LanceDB wants it. */
static void computed_columns(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, rows);
  must(&s, glv_table_add_columns(t, PAIRS({"c", "id + 1"}, {"free", "id"}), NULL, NULL, &s.err));
  set(&s, t, GLV_METADATA_FIELD, "c", 0,
      PAIRS({"computed_column", "true"}, {"computed_column.kind", "sql"},
            {"computed_column.expression", "id + 1"}),
      GLV_OK, "");
  for (int kind = 0; kind < 2; kind++) {
    must_fail(
        &s, GLV_E_INVALID_INPUT, "'id' is read by computed column 'c'",
        glv_table_alter_columns(t, "[{\"path\": \"id\", \"rename\": \"x\"}]", NULL, NULL, &s.err));
    must_fail(&s, GLV_E_INVALID_INPUT, "is read by",
              glv_table_alter_columns(t, "[{\"path\": \"id\", \"data_type\": \"int32\"}]", NULL,
                                      NULL, &s.err));
    must_fail(&s, GLV_E_INVALID_INPUT, "is read by",
              glv_table_drop_columns(t, STRINGS("free", "id"), NULL, NULL, &s.err));
    must_fail(&s, GLV_E_INVALID_INPUT, "'c' is computed",
              glv_table_alter_columns(t, "[{\"path\": \"c\", \"data_type\": \"int32\"}]", NULL,
                                      NULL, &s.err));
    set(&s, t, GLV_METADATA_FIELD, "c", 0,
        PAIRS({"computed_column.kind", "function"}, {"computed_column.inputs", "[\"id\"]"}), GLV_OK,
        "");
  }
  must(&s, glv_table_alter_columns(
               t, "[{\"path\": \"c\", \"rename\": \"d\"}, {\"path\": \"id\", \"nullable\": true}]",
               NULL, NULL, &s.err));
  must(&s, glv_table_drop_columns(t, STRINGS("free"), NULL, NULL, &s.err));
  must(&s, glv_table_drop_columns(t, STRINGS("id", "d"), NULL, NULL, &s.err));
  glv_table_free(t);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(changes),          cmocka_unit_test(arguments),
      cmocka_unit_test(metadata_maps),    cmocka_unit_test(views),
      cmocka_unit_test(computed_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
