/* Members of bodies: what is absent, what has a wrong type, and building. */
#include "support/arena_fixture.h"
#include "support/cmocka.h"
#include "wire/members.h"

static json *parse(fixture *f, const char *text) {
  json *root = NULL;
  assert_int_equal(wire_parse_object(str_of(text), &root, &f->err), GLV_OK);
  return root;
}

static void values(void **state) {
  fixture *f = *state;
  json *root = parse(f, "{\"t\":\"x\",\"b\":true,\"i\":-5,\"u\":9223372036854775807,\"r\":2,"
                        "\"s\":[\"a\",\"b\"],\"o\":{},\"n\":null}");
  const char *text = NULL;
  bool flag = false;
  int64_t integer = 0;
  uint64_t number = 0;
  double real = 0;
  const char *const *texts = NULL;
  size_t count = 0;
  const json *object = NULL;
  assert_int_equal(wire_text_required(root, "t", &text, &f->err), GLV_OK);
  assert_string_equal(text, "x");
  assert_int_equal(wire_bool(root, "b", &flag, &f->err), GLV_OK);
  assert_true(flag);
  assert_int_equal(wire_int(root, "i", &integer, &f->err), GLV_OK);
  assert_int_equal(integer, -5);
  assert_int_equal(wire_uint(root, "u", &number, &f->err), GLV_OK);
  assert_true(number == INT64_MAX);
  assert_int_equal(wire_real(root, "r", &real, &f->err), GLV_OK);
  assert_true(real == 2);
  assert_int_equal(wire_texts(&f->a, root, "s", &texts, &count, &f->err), GLV_OK);
  assert_int_equal(count, 2);
  assert_string_equal(texts[1], "b");
  assert_int_equal(wire_object(root, "o", &object, &f->err), GLV_OK);
  assert_non_null(object);
  number = 7;
  assert_int_equal(wire_uint(root, "n", &number, &f->err), GLV_OK);
  assert_int_equal(wire_uint(root, "absent", &number, &f->err), GLV_OK);
  assert_int_equal(number, 7);
  js_free(root);
}

static void wrong_types_name_the_key(void **state) {
  fixture *f = *state;
  json *root = parse(f, "{\"a\":[1],\"i\":-1,\"z\":\"x\\u0000y\",\"e\":\"\",\"n\":null,\"r\":1.5}");
  const char *text = NULL;
  bool flag = false;
  uint64_t number = 0;
  const char *const *texts = NULL;
  size_t count = 0;
  assert_int_equal(wire_text(root, "a", &text, &f->err), GLV_E_INVALID_INPUT);
  assert_string_equal(f->err.message, "'a' must be a text, and is an array");
  assert_int_equal(wire_uint(root, "i", &number, &f->err), GLV_E_INVALID_INPUT);
  assert_int_equal(wire_uint(root, "r", &number, &f->err), GLV_E_INVALID_INPUT);
  assert_int_equal(wire_text(root, "z", &text, &f->err), GLV_E_INVALID_INPUT);
  assert_int_equal(wire_text_required(root, "e", &text, &f->err), GLV_E_INVALID_INPUT);
  assert_int_equal(wire_text_required(root, "n", &text, &f->err), GLV_E_INVALID_INPUT);
  assert_int_equal(wire_uint_required(root, "n", &number, &f->err), GLV_E_INVALID_INPUT);
  assert_string_equal(f->err.message, "'n' is missing");
  assert_int_equal(wire_bool(root, "r", &flag, &f->err), GLV_E_INVALID_INPUT);
  assert_int_equal(wire_texts(&f->a, root, "a", &texts, &count, &f->err), GLV_E_INVALID_INPUT);
  js_free(root);
}

static void bodies(void **state) {
  fixture *f = *state;
  json *root = parse(f, "");
  assert_int_equal(js_count(root), 0);
  js_free(root);
  static const char *const bad[] = {"[]", "null", "1", "{", "{\"a\":1} x", "\xFF", "{\"a\":1e999}"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(wire_parse_object(str_of(bad[i]), &root, &f->err), GLV_E_INVALID_INPUT);
  }
}

static void building(void **state) {
  fixture *f = *state;
  static const char *const texts[] = {"x", "y"};
  json *o = js_new_object();
  buf out;
  buf_init(&out, f->t.env, 4096);
  assert_int_equal(wire_put_text(o, "t", NULL, &f->err), GLV_OK);
  assert_int_equal(wire_put_uint(o, "u", INT64_MAX, &f->err), GLV_OK);
  assert_int_equal(wire_put_uint(o, "v", UINT64_MAX, &f->err), GLV_E_LIMIT);
  assert_int_equal(wire_put_bool(o, "b", false, &f->err), GLV_OK);
  assert_int_equal(wire_put_texts(o, "s", texts, 2, &f->err), GLV_OK);
  assert_int_equal(wire_put_text(NULL, "t", "x", &f->err), GLV_E_NOMEM);
  assert_int_equal(js_print(o, 0, 0, &out, &f->err), GLV_OK);
  assert_string_equal(out.data,
                      "{\"t\":null,\"u\":9223372036854775807,\"b\":false,\"s\":[\"x\",\"y\"]}");
  buf_dispose(&out);
  js_free(o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(values, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(wrong_types_name_the_key, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(bodies, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(building, fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
