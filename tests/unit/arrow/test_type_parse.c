/* Types by name. */
#include "arrow/type.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static void names(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena memory;
  arena_init(&memory, t.env);
  static const char *const good[][2] = {
      {"int64", "int64"},
      {" double ", "double"},
      {"float64", "double"},
      {"float", "float"},
      {"boolean", "bool"},
      {"utf8", "string"},
      {"large_utf8", "large_string"},
      {"date32", "date32[day]"},
      {"date32[day]", "date32[day]"},
      {"date64[ms]", "date64[ms]"},
      {"timestamp", "timestamp[us]"},
      {"timestamp[ns]", "timestamp[ns]"},
      {"timestamp[us, UTC]", "timestamp[us, tz=UTC]"},
      {"timestamp[us,tz=Europe/Paris]", "timestamp[us, tz=Europe/Paris]"},
      {"time32[ms]", "time32[ms]"},
      {"time64[ns]", "time64[ns]"},
      {"duration[s]", "duration[s]"},
      {"decimal128(10, -2)", "decimal128(10, -2)"},
      {"fixed_size_binary[16]", "fixed_size_binary[16]"},
      {"fixed_size_list<item: float>[3]", "fixed_size_list<item: float>[3]"},
      {"fixed_size_list<float32>[128]", "fixed_size_list<item: float>[128]"},
      {"list<element: int8 not null>", "list<element: int8 not null>"},
      {"decimal256(76, 5)", "decimal256(76, 5)"},
      {"struct<a: int8>", "struct<a: int8>"},
      {"struct<a:int8 not null,b: list<struct<c: string, d: utf8>>>",
       "struct<a: int8 not null, b: list<item: struct<c: string, d: string>>>"},
      {"large_list<list<string>>", "large_list<item: list<item: string>>"},
  };
  static const char *const bad[] = {"",
                                    "in64",
                                    "int64 x",
                                    "int64[ms]",
                                    "date32[ms]",
                                    "timestamp[",
                                    "timestamp[x]",
                                    "timestamp[us",
                                    "timestamp[us,]",
                                    "time32[ns]",
                                    "time64[s]",
                                    "duration",
                                    "decimal128(39,0)",
                                    "decimal128(5)",
                                    "fixed_size_list<float>",
                                    "fixed_size_list<float>[0]",
                                    "fixed_size_list<float>[-1]",
                                    "list<",
                                    "list<>",
                                    "list<int8",
                                    "struct<>",
                                    "struct<int8>",
                                    "struct<a: int8",
                                    "struct<a: int8; b: int8>",
                                    "fixed_size_binary[99999999999]"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    const type *found;
    assert_int_equal(type_parse(&memory, str_of(good[i][0]), &found, NULL), GLV_OK);
    assert_string_equal(TYPE_TEXT(found), good[i][1]);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const type *found;
    glv_error err = {0};
    assert_int_equal(type_parse(&memory, str_of(bad[i]), &found, &err), GLV_E_INVALID_INPUT);
    assert_non_null(strstr(err.message, "is not a type"));
  }
  buf deep;
  const type *found;
  buf_init(&deep, t.env, 1 << 20);
  for (int i = 0; i < 20000; i++) {
    assert_int_equal(buf_append_str(&deep, STR("list<"), NULL), GLV_OK);
  }
  assert_int_equal(type_parse(&memory, buf_str(&deep), &found, NULL), GLV_E_INVALID_INPUT);
  buf_dispose(&deep);
  arena_dispose(&memory);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
