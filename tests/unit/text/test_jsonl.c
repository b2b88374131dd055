/* Reading and writing JSON Lines: found types, places of errors, round trips. */
#include "support/cmocka.h"
#include "unit/text/reading.h"

static batch read_text(test_env *t, const char *text, const text_read_options *o) {
  return reading_text(t, jsonl_reader_open, text, 5, o);
}

static void refuse(test_env *t, const char *text, const text_read_options *o, glv_status want,
                   const char *part) {
  reading_refused(t, jsonl_reader_open, text, o, want, part);
}

static void found_types(void **state) {
  test_env *t = *state;
  batch b = read_text(
      t,
      "{\"b\":true,\"i\":1,\"f\":1,\"big\":18446744073709551615,\"s\":\"x\",\"d\":\"2020-01-01\","
      "\"z\":\"2020-01-01T00:00:00Z\",\"v\":[1,2.5],\"l\":[1],\"o\":{\"a\":1},\"n\":null}\n"
      "\n"
      "  {\"late\" : [\"x\", null], \"f\": 2.5e3, \"big\": 1, \"o\": {\"b\": [], \"a\": null}, "
      "\"v\": [3, 4], \"l\": [], \"i\": -1}\r\n",
      NULL);
  assert_int_equal(b.length, 2);
  assert_string_equal(reading_type(&b, "b"), "bool");
  assert_string_equal(reading_type(&b, "i"), "int64");
  assert_string_equal(reading_type(&b, "f"), "double");
  assert_string_equal(reading_type(&b, "big"), "uint64");
  assert_string_equal(reading_type(&b, "s"), "string");
  assert_string_equal(reading_type(&b, "d"), "date32[day]");
  assert_string_equal(reading_type(&b, "z"), "timestamp[us, tz=UTC]");
  assert_string_equal(reading_type(&b, "v"), "fixed_size_list<item: float>[2]");
  assert_string_equal(reading_type(&b, "l"), "list<item: int64>");
  assert_string_equal(reading_type(&b, "o"), "struct<a: int64, b: list<item: string>>");
  assert_string_equal(reading_type(&b, "n"), "string");
  assert_string_equal(reading_type(&b, "late"), "list<item: string>");
  assert_true(ARRAY_VALUES(reading_column(&b, "f"), double)[1] == 2500.0);
  assert_false(array_is_valid(reading_column(&b, "b"), 1));
  assert_false(array_is_valid(reading_column(&b, "late"), 0));
  assert_false(array_is_valid(&reading_column(&b, "o")->children[0], 1));
  batch_dispose(&b);
}

static void special_numbers(void **state) {
  test_env *t = *state;
  batch b = read_text(t,
                      "{\"f\":\"NaN\",\"s\":\"NaN\"}\n{\"f\":1,\"s\":\"x\"}\n"
                      "{\"f\":\"-Infinity\",\"s\":\"Infinity\"}\n",
                      NULL);
  assert_string_equal(reading_type(&b, "f"), "double");
  assert_string_equal(reading_type(&b, "s"), "string");
  const double *f = ARRAY_VALUES(reading_column(&b, "f"), double);
  assert_true(f[0] != f[0]);
  assert_true(f[2] < -1e308);
  batch_dispose(&b);
  refuse(t, "{\"f\":\"NaN\"}\n{\"f\":true}\n", NULL, GLV_E_INVALID_INPUT, "line 2, column 'f'");
}

static void bad_texts(void **state) {
  test_env *t = *state;
  static const char *const bad[][2] = {
      {"{\"a\":1}\n[1]\n", "line 2: the line is not a JSON object"},
      {"{\"a\":1}\n{\"a\":\"x\"}\n",
       "line 2, column 'a': a string, where earlier lines have a number"},
      {"{\"a\":1} x\n", "line 1: text after the object"},
      {"{\"a\":1,}\n", "line 1: a JSON string is missing"},
      {"{\"a\":1 \"b\":2}\n", "line 1: `,` or `}` is missing"},
      {"{\"a\":[1 2]}\n", "line 1, column 'a': `,` or `]` is missing"},
      {"{\"a\":01}\n", "line 1, column 'a': malformed JSON number"},
      {"{\"a\":nul}\n", "line 1, column 'a': unknown JSON word"},
      {"{\"a\":\"x\n", "line 1, column 'a': a JSON string does not end"},
      {"{\"a\":1,\"a\":2}\n", "line 1, column 'a': the member is there twice"},
      {"{\"a\":\"\xFF\"}\n", "line 1: the text is not UTF-8"},
      {"{\"\":1}\n", "line 1: a member has no name"},
      {"{\"o\":{\"a\":1,\"a\":2}}\n", "line 1, column 'o': the member 'a' is there twice"},
      {"\n", "has no columns"},
      {"{}\n", "has no columns"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    refuse(t, bad[i][0], NULL, GLV_E_INVALID_INPUT, bad[i][1]);
  }
}

static void deep(void **state) {
  test_env *t = *state;
  buf text;
  buf_init(&text, t->env, 1 << 20);
  assert_int_equal(buf_append_str(&text, STR("{\"a\":"), NULL), GLV_OK);
  assert_int_equal(buf_append_fill(&text, '[', 100000, NULL), GLV_OK);
  refuse(t, text.data, NULL, GLV_E_LIMIT, "nest deeper");
  buf_dispose(&text);
}

static void appending(void **state) {
  test_env *t = *state;
  arena memory;
  arena_init(&memory, t->env);
  const field item = {.name = "item", .type = type_simple(TYPE_FLOAT32), .nullable = true};
  const field fields[] = {
      {.name = "id", .type = type_simple(TYPE_UINT8), .nullable = false},
      {.name = "v", .type = type_fixed_size_list(&memory, &item, 2), .nullable = true},
      {.name = "s", .type = type_simple(TYPE_UTF8), .nullable = true}};
  schema *s;
  assert_int_equal(schema_new(t->env, fields, 3, (metadata){0}, &s, NULL), GLV_OK);
  const text_read_options o = {.columns = s};
  batch b = read_text(t, "{\"v\":[1,null],\"id\":7}\n{\"id\":255,\"s\":1.50}\n", &o);
  assert_int_equal(ARRAY_VALUES(&b.columns[0], uint8_t)[1], 255);
  assert_false(array_is_valid(&b.columns[1].children[0], 1));
  assert_false(array_is_valid(&b.columns[1], 1));
  assert_int_equal(b.columns[1].children[0].length, 4);
  assert_true(str_is(array_str(&b.columns[2], 1), "1.50"));
  batch_dispose(&b);
  refuse(t, "{\"id\":256}\n", &o, GLV_E_INVALID_INPUT, "'256' is not of type uint8");
  refuse(t, "{\"id\":1.0}\n", &o, GLV_E_INVALID_INPUT, "'1.0' is not of type uint8");
  refuse(t, "{\"id\":\"1\"}\n", &o, GLV_E_INVALID_INPUT, "'1' is not of type uint8");
  refuse(t, "{\"id\":null}\n", &o, GLV_E_INVALID_INPUT, "must not be null");
  refuse(t, "{\"s\":\"x\"}\n", &o, GLV_E_INVALID_INPUT, "line 1, column 'id'");
  refuse(t, "{\"id\":1,\"x\":1}\n", &o, GLV_E_COLUMN_NOT_FOUND, "no column 'x'");
  refuse(t, "{\"id\":1,\"v\":[1]}\n", &o, GLV_E_INVALID_INPUT, "a list of 1 values instead of 2");
  refuse(t, "{\"id\":1,\"v\":[1,\"x\"]}\n", &o, GLV_E_INVALID_INPUT, "'x' is not of type float");
  refuse(t, "{\"id\":1,\"s\":[1]}\n", &o, GLV_E_INVALID_INPUT, "'[1]' is not of type string");
  refuse(t, "{\"id\":{\"a\":[1,{}]}}\n", &o, GLV_E_INVALID_INPUT, "is not of type uint8");
  schema_unref(s);
  arena_dispose(&memory);
}

static void overrides(void **state) {
  test_env *t = *state;
  const text_type types[] = {{STR("a"), type_simple(TYPE_UTF8)}};
  const text_read_options o = {.types = types, .type_count = 1};
  batch b = read_text(t, "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":false}\n", &o);
  assert_true(str_is(array_str(&b.columns[0], 0), "1"));
  assert_true(str_is(array_str(&b.columns[0], 1), "x"));
  assert_true(str_is(array_str(&b.columns[0], 2), "false"));
  batch_dispose(&b);
}

static void written(void **state) {
  test_env *t = *state;
  static const char text[] =
      "{\"a\":1,\"b\":\"q\\\"\\u0001\\n/"
      "é\",\"v\":[0.5,1.0],\"o\":{\"x\":null,\"y\":[true,false]}}\n"
      "{\"a\":null,\"b\":null,\"v\":null,\"o\":null}\n"
      "{\"a\":-5,\"b\":\"\",\"v\":[-0.0,1e300],\"o\":{\"x\":\"2020-01-01\",\"y\":[]}}\n";
  arena memory;
  arena_init(&memory, t->env);
  text_type types[] = {{STR("v"), NULL}};
  assert_int_equal(type_parse(&memory, STR("list<double>"), &types[0].type, NULL), GLV_OK);
  const text_read_options o = {.types = types, .type_count = 1};
  reading r = {.text = str_of(text), .piece = 11};
  batch_reader reader;
  buf out;
  buf_init(&out, t->env, 1 << 20);
  assert_int_equal(jsonl_reader_open(t->env, reading_source(&r), &o, &reader, NULL), GLV_OK);
  assert_int_equal(jsonl_write(t->env, &reader, ipc_buf_sink(&out), NULL), GLV_OK);
  assert_string_equal(out.data, text);
  batch_reader_dispose(&reader);
  buf_dispose(&out);
  arena_dispose(&memory);
}

static void out_of_memory(void **state) {
  test_env *t = *state;
  static const char text[] = "{\"a\":1,\"b\":\"q\\\"x\",\"v\":[0.5,1.0],\"o\":{\"x\":null}}\n{}\n";
  for (uint64_t n = 1;; n++) {
    reading r = {.text = str_of(text), .piece = 10};
    batch_reader reader = {0};
    buf out;
    buf_init(&out, t->env, 1 << 20);
    alloc_fault_arm(&t->alloc, n, false);
    glv_status status = jsonl_reader_open(t->env, reading_source(&r), NULL, &reader, NULL);
    if (status == GLV_OK) {
      status = jsonl_write(t->env, &reader, ipc_buf_sink(&out), NULL);
    }
    const bool fired = t->alloc.fired;
    alloc_fault_arm(&t->alloc, 0, false);
    assert_int_equal(status, fired ? GLV_E_NOMEM : GLV_OK);
    batch_reader_dispose(&reader);
    buf_dispose(&out);
    if (!fired) {
      break;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(found_types), cmocka_unit_test(special_numbers), cmocka_unit_test(bad_texts),
      cmocka_unit_test(deep),        cmocka_unit_test(appending),       cmocka_unit_test(overrides),
      cmocka_unit_test(written),     cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests(tests, reading_setup, reading_teardown);
}
