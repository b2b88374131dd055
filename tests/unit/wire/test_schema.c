/* Schemas as JSON, both ways: every type, nesting, metadata, the words of the namespace dialect,
 * and what is refused. */
#include <stdio.h>

#include "arrow/type.h"
#include "support/arena_fixture.h"
#include "support/cmocka.h"
#include "wire/members.h"
#include "wire/schema.h"

static json *parse(const char *text) {
  json *root = NULL;
  assert_int_equal(js_parse(str_of(text), &root, NULL), GLV_OK);
  return root;
}

/* The type reads as `text` (NULL: refused) and prints as `json` again. */
static void check_type(fixture *f, const char *json_text, const char *text) {
  const type *t = NULL;
  json *node = parse(json_text);
  const glv_status status = wire_type_read(&f->a, node, &t, &f->err);
  js_free(node);
  if (text == NULL) {
    assert_int_not_equal(status, GLV_OK);
    return;
  }
  if (status != GLV_OK) {
    fail_msg("%s: %s", json_text, f->err.message);
  }
  assert_string_equal(TYPE_TEXT(t), text);
  json *again = NULL;
  buf out;
  buf_init(&out, f->t.env, 1 << 16);
  assert_int_equal(wire_type_write(t, &again, &f->err), GLV_OK);
  assert_int_equal(js_print(again, 0, 0, &out, &f->err), GLV_OK);
  js_free(again);
  assert_string_equal(out.data, json_text);
  buf_dispose(&out);
}

static void plain_types(void **state) {
  fixture *f = *state;
  static const char *const words[][2] = {
      {"null", "null"},
      {"bool", "bool"},
      {"int8", "int8"},
      {"int16", "int16"},
      {"int32", "int32"},
      {"int64", "int64"},
      {"uint8", "uint8"},
      {"uint16", "uint16"},
      {"uint32", "uint32"},
      {"uint64", "uint64"},
      {"halffloat", "halffloat"},
      {"float", "float"},
      {"double", "double"},
      {"string", "string"},
      {"large_string", "large_string"},
      {"binary", "binary"},
      {"large_binary", "large_binary"},
      {"date32:day", "date32[day]"},
      {"date64:ms", "date64[ms]"},
      {"time32:s", "time32[s]"},
      {"time32:ms", "time32[ms]"},
      {"time64:us", "time64[us]"},
      {"time64:ns", "time64[ns]"},
      {"timestamp:s:-", "timestamp[s]"},
      {"timestamp:us:-", "timestamp[us]"},
      {"timestamp:ns:UTC", "timestamp[ns, tz=UTC]"},
      {"timestamp:ms:+05:30", "timestamp[ms, tz=+05:30]"},
      {"timestamp:us:Europe/Berlin", "timestamp[us, tz=Europe/Berlin]"},
      {"duration:s", "duration[s]"},
      {"duration:ns", "duration[ns]"},
      {"decimal:128:10:2", "decimal128(10, 2)"},
      {"decimal:128:38:-3", "decimal128(38, -3)"},
      {"decimal:256:76:0", "decimal256(76, 0)"},
      {"dict:string:int32:false", "dictionary<values=string, indices=int32, ordered=0>"},
      {"dict:timestamp:us:-:uint8:true",
       "dictionary<values=timestamp[us], indices=uint8, ordered=1>"},
      {"interval", "month_day_nano_interval"},
      {"utf8_view", "string_view"},
      {"binary_view", "binary_view"},
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "{\"type\":\"%s\"}", words[i][0]);
    check_type(f, text, words[i][1]);
  }
}

#define ITEM "{\"name\":\"item\",\"type\":{\"type\":\"float\"},\"nullable\":true}"

static void nested_types(void **state) {
  fixture *f = *state;
  check_type(f, "{\"type\":\"list\",\"fields\":[" ITEM "]}", "list<item: float>");
  check_type(f, "{\"type\":\"large_list\",\"fields\":[" ITEM "]}", "large_list<item: float>");
  check_type(f, "{\"type\":\"fixed_size_list\",\"fields\":[" ITEM "],\"length\":4}",
             "fixed_size_list<item: float>[4]");
  check_type(f, "{\"type\":\"fixed_size_binary\",\"length\":16}", "fixed_size_binary[16]");
  check_type(f, "{\"type\":\"struct\",\"fields\":[]}", "struct<>");
  check_type(f,
             "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"list\","
             "\"fields\":[" ITEM "]},\"nullable\":false}," ITEM "]}",
             "struct<a: list<item: float> not null, item: float>");
  check_type(f,
             "{\"type\":\"map\",\"fields\":[{\"name\":\"entries\",\"type\":{\"type\":\"struct\","
             "\"fields\":[{\"name\":\"key\",\"type\":{\"type\":\"string\"},\"nullable\":false},"
             "{\"name\":\"value\",\"type\":{\"type\":\"int32\"},\"nullable\":true}]},"
             "\"nullable\":false}]}",
             "map<string, int32>");
}

/* Words of the namespace dialect read as the types they mean. */
static void other_words(void **state) {
  fixture *f = *state;
  static const char *const words[][2] = {
      {"\"float16\"", "halffloat"},
      {"\"float32\"", "float"},
      {"\"float64\"", "double"},
      {"\"utf8\"", "string"},
      {"\"large_utf8\"", "large_string"},
      {"\"date32\"", "date32[day]"},
      {"\"date64\"", "date64[ms]"},
      {"\"timestamp\"", "timestamp[us]"},
      {"\"duration\"", "duration[us]"},
      {"\"boolean\"", "bool"},
      {"\"time32\"", "time32[ms]"},
      {"\"time64\"", "time64[us]"},
      {"\"decimal128\",\"length\":10002", "decimal128(10, 2)"},
      {"\"decimal256\",\"length\":76000", "decimal256(76, 0)"},
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    char text[128];
    const type *t = NULL;
    snprintf(text, sizeof text, "{\"type\":%s}", words[i][0]);
    json *node = parse(text);
    assert_int_equal(wire_type_read(&f->a, node, &t, &f->err), GLV_OK);
    assert_string_equal(TYPE_TEXT(t), words[i][1]);
    js_free(node);
  }
}

static void refused_types(void **state) {
  fixture *f = *state;
  static const char *const bad[] = {
      "\"int64\"",
      "{}",
      "{\"type\":\"\"}",
      "{\"type\":5}",
      "{\"type\":\"int128\"}",
      "{\"type\":\"timestamp:xs:-\"}",
      "{\"type\":\"time32:us\"}",
      "{\"type\":\"time64:ms\"}",
      "{\"type\":\"duration:m\"}",
      "{\"type\":\"decimal:128:39:0\"}",
      "{\"type\":\"decimal:128:0:0\"}",
      "{\"type\":\"decimal:64:5:0\"}",
      "{\"type\":\"decimal:128:5:\"}",
      "{\"type\":\"decimal:128:5:99999999999999999999\"}",
      "{\"type\":\"dict:string:int32\"}",
      "{\"type\":\"dict:string:float:false\"}",
      "{\"type\":\"dict:dict:string:int8:false:int32:false\"}",
      "{\"type\":\"dict:string:int32:maybe\"}",
      "{\"type\":\"list\"}",
      "{\"type\":\"list\",\"fields\":[" ITEM "," ITEM "]}",
      "{\"type\":\"list\",\"fields\":{}}",
      "{\"type\":\"fixed_size_list\",\"fields\":[" ITEM "]}",
      "{\"type\":\"fixed_size_list\",\"fields\":[" ITEM "],\"length\":-1}",
      "{\"type\":\"fixed_size_list\",\"fields\":[" ITEM "],\"length\":2147483648}",
      "{\"type\":\"fixed_size_binary\"}",
      "{\"type\":\"fixed_size_binary\",\"length\":4294967296}",
      "{\"type\":\"map\",\"fields\":[" ITEM "]}",
      "{\"type\":\"struct\",\"fields\":[5]}",
      "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\"}]}",
      "{\"type\":\"struct\",\"fields\":[{\"type\":{\"type\":\"int8\"}}]}",
      "{\"type\":\"timestamp:us:a\\u0000b\"}",
      "{\"type\":\"decimal128\",\"length\":-5}",
      "{\"type\":\"decimal128\",\"length\":9223372036854775807}"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    check_type(f, bad[i], NULL);
    assert_int_equal(f->err.code, GLV_E_INVALID_INPUT);
  }
}

static void deep_types_are_refused(void **state) {
  fixture *f = *state;
  enum { DEPTH = 500 };
  static char text[DEPTH * 80];
  size_t used = 0;
  for (int i = 0; i < DEPTH; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "{\"type\":\"list\",\"fields\":[{\"name\":\"i\",\"type\":");
  }
  used += (size_t)snprintf(text + used, sizeof text - used, "{\"type\":\"int8\"}");
  for (int i = 0; i < DEPTH; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "}]}");
  }
  check_type(f, text, NULL);
  assert_int_equal(f->err.code, GLV_E_LIMIT);
}

#define SCHEMA                                                                                     \
  "{\"fields\":[{\"name\":\"id\",\"type\":{\"type\":\"int64\"},\"nullable\":false,\"metadata\":"   \
  "{\"unit\":\"years\",\"\xC3\xA4\":\"\"}},{\"name\":\"v\",\"type\":{\"type\":"                    \
  "\"fixed_size_list\",\"fields\":[" ITEM "],\"length\":3},\"nullable\":true}],"                   \
  "\"metadata\":{\"a\":\"1\"}}"

static void schemas(void **state) {
  fixture *f = *state;
  json *node = parse(SCHEMA);
  schema *s = NULL;
  assert_int_equal(wire_schema_read(f->t.env, node, &s, &f->err), GLV_OK);
  js_free(node);
  assert_int_equal(s->field_count, 2);
  assert_string_equal(s->fields[0].name, "id");
  assert_false(s->fields[0].nullable);
  assert_true(str_is(metadata_get(s->fields[0].metadata, STR("unit"), NULL), "years"));
  assert_true(str_is(metadata_get(s->metadata, STR("a"), NULL), "1"));
  buf out;
  buf_init(&out, f->t.env, 1 << 16);
  assert_int_equal(wire_schema_write(s, &node, &f->err), GLV_OK);
  assert_int_equal(js_print(node, 0, 0, &out, &f->err), GLV_OK);
  assert_string_equal(out.data, SCHEMA);
  js_free(node);
  buf_dispose(&out);
  schema_unref(s);
}

/* Metadata that is not text has no form in JSON; everything else stays. */
static void bytes_in_metadata_are_left_out(void **state) {
  fixture *f = *state;
  const pair pairs[] = {{STR("a"), STR("\xFF\xFE")}, {STR("b"), STR("2")}};
  const field one = {"x", type_simple(TYPE_INT8), true, {pairs, 2}};
  schema *s = NULL;
  json *node = NULL;
  assert_int_equal(schema_new(f->t.env, &one, 1, (metadata){NULL, 0}, &s, &f->err), GLV_OK);
  assert_int_equal(wire_schema_write(s, &node, &f->err), GLV_OK);
  const json *map = js_member(js_item(js_member(node, "fields"), 0), "metadata");
  assert_int_equal(js_count(map), 1);
  js_free(node);
  schema_unref(s);
}

static void bad_schemas(void **state) {
  fixture *f = *state;
  static const char *const bad[] = {
      "[]",
      "{\"fields\":5}",
      "{\"fields\":[],\"metadata\":[]}",
      "{\"fields\":[],\"metadata\":{\"a\":1}}",
      "{\"fields\":[{\"name\":\"x\",\"type\":{\"type\":\"int8\"},\"nullable\":1}]}",
      "{\"fields\":[{\"name\":\"x\\u0000\",\"type\":{\"type\":\"int8\"},\"nullable\":true}]}"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    json *node = parse(bad[i]);
    schema *s = NULL;
    assert_int_equal(wire_schema_read(f->t.env, node, &s, &f->err), GLV_E_INVALID_INPUT);
    assert_null(s);
    js_free(node);
  }
  json *node = parse("{\"fields\":[{\"name\":\"age\",\"type\":{\"type\":\"what\"}}]}");
  schema *s = NULL;
  assert_int_equal(wire_schema_read(f->t.env, node, &s, &f->err), GLV_E_INVALID_INPUT);
  assert_string_equal(f->err.message, "field 'age': unknown type 'what'");
  js_free(node);
}

static void no_memory(void **state) {
  fixture *f = *state;
  json *node = parse(SCHEMA);
  uint64_t nth = 0;
  for (;; nth++) {
    schema *s = NULL;
    alloc_fault_arm(&f->t.alloc, nth + 1, false);
    const glv_status status = wire_schema_read(f->t.env, node, &s, &f->err);
    alloc_fault_arm(&f->t.alloc, 0, false);
    schema_unref(s);
    if (status == GLV_OK) {
      break;
    }
    assert_int_equal(status, GLV_E_NOMEM);
  }
  assert_true(nth > 0);
  js_free(node);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(plain_types, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(nested_types, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(other_words, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(refused_types, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(deep_types_are_refused, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(schemas, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(bytes_in_metadata_are_left_out, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(bad_schemas, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(no_memory, fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
