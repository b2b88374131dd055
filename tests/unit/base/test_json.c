/* JSON both ways, and the canonical strings of stored definitions. */
#include <stdio.h>

#include "base/json.h"
#include "base/json_canonical.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static test_env t;

static int open_env(void **state) {
  (void)state;
  test_env_open_mem(&t);
  return 0;
}

static int close_env(void **state) {
  (void)state;
  test_env_close(&t);
  return 0;
}

static json *parse(const char *text) {
  json *root = NULL;
  glv_error err;
  if (js_parse(str_of(text), &root, &err) != GLV_OK) {
    fail_msg("%s: %s", text, err.message);
  }
  return root;
}

static void check_print(const json *node, unsigned digits, const char *expected) {
  buf out;
  buf_init(&out, t.env, 1 << 20);
  glv_error err;
  assert_int_equal(js_print(node, 0, digits, &out, &err), GLV_OK);
  assert_string_equal(out.data, expected);
  buf_dispose(&out);
}

static void integers_are_exact(void **state) {
  (void)state;
  const char *text = "[9007199254740993,9223372036854775807,-9223372036854775808]";
  json *root = parse(text);
  assert_true(js_int(js_item(root, 0)) == INT64_C(9007199254740993));
  assert_true(js_int(js_item(root, 1)) == INT64_MAX);
  assert_true(js_int(js_item(root, 2)) == INT64_MIN);
  check_print(root, 0, text);
  js_free(root);
  glv_error err;
  json *none = NULL;
  assert_int_equal(js_parse(STR("9223372036854775808"), &none, &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "number too large"));
  assert_null(none);
}

static void reals(void **state) {
  (void)state;
  json *root = parse("[0.1, 1e300, -0.5]");
  assert_int_equal(js_kind_of(js_item(root, 0)), JS_REAL);
  check_print(js_item(root, 0), 15, "0.1");
  assert_true(js_real(js_item(root, 1)) == 1e300);
  js_free(root);
}

static void kinds_and_members(void **state) {
  (void)state;
  json *root = parse("{\"b\":null,\"a\":true,\"s\":\"x\\u0000y\",\"o\":{},\"i\":1,\"i\":2}");
  assert_int_equal(js_kind_of(root), JS_OBJECT);
  assert_int_equal(js_count(root), 5);
  str key;
  assert_int_equal(js_kind_of(js_member_at(root, 0, &key)), JS_NULL);
  assert_true(str_is(key, "b")); /* stored order is kept */
  assert_null(js_member_at(root, 5, &key));
  assert_true(js_bool(js_member(root, "a")));
  assert_true(str_equal(js_string(js_member(root, "s")), STR("x\0y")));
  assert_int_equal(js_kind_of(js_member(root, "o")), JS_OBJECT);
  assert_int_equal(js_int(js_member(root, "i")), 2);
  assert_null(js_member(root, "absent"));
  js_free(root);
  js_free(NULL);
}

static void bad_texts(void **state) {
  (void)state;
  const char *bad[] = {"",    "{",           "[1,]", "{\"a\"}", "nul", "1 2", "\"\xC3\"", "01",
                       "[1}", "\"\\ud800\"", "'a'",  "{a:1}",   "\"",  "-",   "[NaN]"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    json *root = NULL;
    glv_error err = {0};
    assert_int_equal(js_parse(str_of(bad[i]), &root, &err), GLV_E_CORRUPT);
    assert_non_null(strstr(err.message, "line "));
    assert_null(root);
  }
  json *root = NULL;
  assert_int_equal(js_parse(str_of(NULL), &root, NULL), GLV_E_CORRUPT);
}

static void depth(void **state) {
  (void)state;
  char text[6001];
  memset(text, '[', 3000);
  memset(text + 3000, ']', 3000);
  text[6000] = '\0';
  json *root = NULL;
  glv_error err;
  assert_int_equal(js_parse(str_of(text), &root, &err), GLV_E_CORRUPT);
  json *fine = NULL;
  assert_int_equal(js_parse(str_slice(text + 2000, 2000), &fine, &err), GLV_OK);
  js_free(fine);
}

static void building(void **state) {
  (void)state;
  json *root = js_new_object();
  glv_error err;
  json *list = js_new_array();
  assert_int_equal(js_push(list, js_new_int(1), &err), GLV_OK);
  assert_int_equal(js_push(list, js_new_null(), &err), GLV_OK);
  assert_int_equal(js_put(root, "list", list, &err), GLV_OK);
  assert_int_equal(js_put(root, "t", js_new_bool(true), &err), GLV_OK);
  assert_int_equal(js_put(root, "s", js_new_string(STR("\x1f\"")), &err), GLV_OK);
  assert_int_equal(js_put(root, "bad", js_new_string(STR("\xFF")), &err), GLV_E_NOMEM);
  assert_int_equal(js_put(root, "r", js_new_real(2.5), &err), GLV_OK);
  check_print(root, 0, "{\"list\":[1,null],\"t\":true,\"s\":\"\\u001F\\\"\",\"r\":2.5}");
  buf small;
  buf_init(&small, t.env, 5);
  assert_int_equal(js_print(root, 2, 0, &small, &err), GLV_E_LIMIT);
  buf_dispose(&small);
  js_free(root);
}

static void canonical(void **state) {
  (void)state;
  buf out;
  buf_init(&out, t.env, 1000);
  glv_error err;
  assert_int_equal(json_canonical_string(&out, STR("a\x1f\"\\/\b\f\n\r\t\x7f\xC3\xA9\0z"), &err),
                   GLV_OK);
  assert_string_equal(out.data, "\"a\\u001f\\\"\\\\/\\b\\f\\n\\r\\t\x7f\xC3\xA9\\u0000z\"");
  assert_int_equal(json_canonical_string(&out, STR("\xC3"), &err), GLV_E_INVALID_INPUT);
  buf_dispose(&out);
}

/* A text is whole or not there, whichever piece of it found no room. */
static void printing_without_memory(void **state) {
  (void)state;
  json *node = js_new_object();
  glv_error err;
  for (int i = 0; i < 40; i++) {
    char key[16];
    snprintf(key, sizeof key, "k%d", i);
    assert_int_equal(js_put(node, key, js_new_real(i + 0.5), &err), GLV_OK);
  }
  glv_status status = GLV_E_NOMEM;
  for (uint64_t n = 1; status != GLV_OK; n++) {
    buf out;
    buf_init(&out, t.env, 1 << 20);
    alloc_fault_arm(&t.alloc, n, false);
    status = js_print(node, 0, 0, &out, &err);
    alloc_fault_arm(&t.alloc, 0, false);
    assert_true(status == GLV_E_NOMEM || out.data[out.size - 1] == '}');
    assert_true(n > 1 || status == GLV_E_NOMEM);
    buf_dispose(&out);
  }
  js_free(node);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_are_exact),
      cmocka_unit_test(reals),
      cmocka_unit_test(kinds_and_members),
      cmocka_unit_test(bad_texts),
      cmocka_unit_test(depth),
      cmocka_unit_test(building),
      cmocka_unit_test(canonical),
      cmocka_unit_test(printing_without_memory),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
