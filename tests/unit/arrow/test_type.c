/* Names, equality and copies of types; schemas. */
#include "arrow/type.h"
#include "support/cmocka.h"
#include "support/test_env.h"
#include "unit/arrow/arrays.h"

static const char *print(buf *out, const type *t) {
  buf_clear(out);
  assert_int_equal(type_print(t, out, NULL), GLV_OK);
  assert_string_equal(TYPE_TEXT(t), out->data);
  return out->data;
}

static void names(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  buf out;
  arena_init(&a, t.env);
  buf_init(&out, t.env, 10000);
  const field *f = sample_fields(&a);
  static const char *const want[SAMPLE_TYPES] = {
      "null",
      "bool",
      "int8",
      "int16",
      "int32",
      "int64",
      "uint8",
      "uint16",
      "uint32",
      "uint64",
      "halffloat",
      "float",
      "double",
      "date32[day]",
      "date64[ms]",
      "month_day_nano_interval",
      "string",
      "large_string",
      "binary",
      "large_binary",
      "decimal128(38, 10)",
      "decimal256(76, -2)",
      "time32[s]",
      "time32[ms]",
      "time64[us]",
      "time64[ns]",
      "duration[s]",
      "timestamp[us]",
      "timestamp[ns, tz=Europe/Paris]",
      "fixed_size_binary[3]",
      "fixed_size_binary[0]",
      "dictionary<values=string, indices=int8, ordered=0>",
      "dictionary<values=double, indices=uint64, ordered=0>",
      "list<item: int32>",
      "large_list<item: string not null>",
      "fixed_size_list<item: float>[4]",
      "fixed_size_list<item: bool>[3]",
      "fixed_size_list<item: float>[0]",
      "struct<key: string not null, value: list<item: int32>>",
      "struct<>",
      "list<item: fixed_size_list<item: bool>[3]>",
      ("fixed_size_list<entries: struct<key: string not null, value: list<item: int32>> not "
       "null>[2]"),
      "map<string, list<item: int32>>",
      "large_list<item: map<string, list<item: int32>>>"};
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    if (strlen(want[i]) < TYPE_TEXT_SIZE) {
      assert_string_equal(print(&out, f[i].type), want[i]);
    }
  }
  assert_string_equal(print(&out, type_simple(TYPE_UTF8_VIEW)), "string_view");
  assert_string_equal(print(&out, type_simple(TYPE_BINARY_VIEW)), "binary_view");
  char small[12];
  assert_string_equal(type_text(f[28].type, small, sizeof small), "timestamp[n");
  const field wide = {.name = "é", .type = type_simple(TYPE_INT8), .nullable = true};
  assert_string_equal(type_text(type_struct(&a, &wide, 1), small, 9), "struct<");
  assert_string_equal(type_text(type_struct(&a, &wide, 1), small, 10), "struct<é");
  buf_dispose(&out);
  arena_dispose(&a);
  test_env_close(&t);
}

static void equality(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena b;
  arena_init(&a, t.env);
  arena_init(&b, t.env);
  const field *f = sample_fields(&a);
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    const type *copy = type_copy(&b, f[i].type);
    for (size_t j = 0; j < SAMPLE_TYPES; j++) {
      assert_true(type_equal(copy, f[j].type) == (i == j));
    }
  }
  const field other = {.name = "element", .type = type_simple(TYPE_INT32), .nullable = true};
  assert_false(type_equal(type_list(&a, TYPE_LIST, &other), f[33].type));
  arena_dispose(&a);
  arena_dispose(&b);
  test_env_close(&t);
}

static void schemas(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  const field *f = sample_fields(&a);
  const pair pairs[] = {{STR("k"), STR("v")}, {STR("bytes"), str_slice("a\0b", 3)}};
  schema *s;
  assert_int_equal(schema_new(t.env, f, SAMPLE_TYPES, (metadata){pairs, 2}, &s, NULL), GLV_OK);
  arena_dispose(&a);
  bool found;
  assert_true(str_equal(metadata_get(s->metadata, STR("bytes"), &found), str_slice("a\0b", 3)));
  assert_true(found);
  (void)metadata_get(s->metadata, STR("K"), &found);
  assert_false(found);
  assert_int_equal(schema_find(s, STR("f12")), 12);
  assert_true(schema_find(s, STR("F12")) == SIZE_MAX);
  schema *more = schema_ref(s);
  schema *first;
  assert_int_equal(schema_new(t.env, s->fields, 3, (metadata){0}, &first, NULL), GLV_OK);
  assert_false(schema_equal(s, first));
  assert_true(schema_equal(s, more));
  schema_unref(s);
  assert_string_equal(more->fields[3].name, "f3");
  schema_unref(more);
  schema_unref(first);
  schema *empty;
  assert_int_equal(schema_new(t.env, NULL, 0, (metadata){0}, &empty, NULL), GLV_OK);
  schema_unref(empty);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(equality),
                                     cmocka_unit_test(schemas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
