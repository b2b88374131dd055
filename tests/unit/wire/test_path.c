/* Paths: ids and names both ways, parameters, and what is refused. */
#include "support/arena_fixture.h"
#include "support/cmocka.h"
#include "wire/path.h"

static const char *const deep[] = {"ns 1", "n\xC3\xA4", "t"};

static void check_path(fixture *f, const char *pattern, wire_target target, const char *expected) {
  buf out;
  buf_init(&out, f->t.env, 4096);
  assert_int_equal(wire_path(pattern, &target, &out, &f->err), GLV_OK);
  assert_string_equal(out.data, expected);
  buf_dispose(&out);
}

static void paths_are_filled_in(void **state) {
  fixture *f = *state;
  check_path(f, "/v1/table/{id}/insert/", (wire_target){deep, 3, NULL},
             "/v1/table/ns%201$n%C3%A4$t/insert/");
  check_path(f, "/v1/namespace/{id}/list", (wire_target){NULL, 0, NULL}, "/v1/namespace/$/list");
  check_path(f, "/v1/table/{id}/index/{name}/drop/", (wire_target){deep + 2, 1, "a%b"},
             "/v1/table/t/index/a%25b/drop/");
}

static void paths_refuse_names(void **state) {
  fixture *f = *state;
  static const char *const bad[] = {"", ".", "..", "a/b", "a$b", "a\\b", "a\nb", "\x7F"};
  buf out;
  buf_init(&out, f->t.env, 4096);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const wire_target target = {&bad[i], 1, NULL};
    assert_int_equal(wire_path("/v1/table/{id}/x", &target, &out, &f->err), GLV_E_INVALID_INPUT);
  }
  assert_int_equal(wire_path("/v1/{what}", &(wire_target){NULL, 0, NULL}, &out, &f->err),
                   GLV_E_INTERNAL);
  buf_dispose(&out);
}

static void parameters(void **state) {
  fixture *f = *state;
  buf out;
  buf_init(&out, f->t.env, 4096);
  assert_int_equal(buf_append_str(&out, STR("/v1/x"), &f->err), GLV_OK);
  assert_int_equal(wire_param(&out, "page_token", STR("a&b=c d/\xE2\x82\xAC"), &f->err), GLV_OK);
  assert_int_equal(wire_param_uint(&out, "limit", UINT64_MAX, &f->err), GLV_OK);
  assert_int_equal(wire_param_bool(&out, "full", true, &f->err), GLV_OK);
  assert_string_equal(out.data, "/v1/x?page_token=a%26b%3Dc%20d%2F%E2%82%AC"
                                "&limit=18446744073709551615&full=true");
  buf_dispose(&out);
}

static void decoding(void **state) {
  fixture *f = *state;
  char *text;
  assert_int_equal(wire_percent_decode(&f->a, STR("a%2fb+%C3%A4"), false, &text, &f->err), GLV_OK);
  assert_string_equal(text, "a/b+\xC3\xA4");
  assert_int_equal(wire_percent_decode(&f->a, STR("a+b"), true, &text, &f->err), GLV_OK);
  assert_string_equal(text, "a b");
  static const char *const bad[] = {"%", "%4", "%zz", "a%00", "%FF", "%C3", "%e2%28%a1"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(wire_percent_decode(&f->a, str_of(bad[i]), false, &text, &f->err),
                     GLV_E_INVALID_INPUT);
  }
}

static size_t split(fixture *f, const char *id, const char *delimiter, const char *const **parts,
                    glv_status expected) {
  size_t count = 0;
  char *text = arena_strdup(&f->a, str_of(id));
  assert_non_null(text);
  assert_int_equal(wire_id_split(&f->a, text, delimiter, parts, &count, &f->err), expected);
  return count;
}

static void ids_are_split(void **state) {
  fixture *f = *state;
  const char *const *parts;
  assert_int_equal(split(f, "$", "$", &parts, GLV_OK), 0);
  assert_int_equal(split(f, "a$b$c", "$", &parts, GLV_OK), 3);
  assert_string_equal(parts[0], "a");
  assert_string_equal(parts[2], "c");
  assert_int_equal(split(f, "a.b", ".", &parts, GLV_OK), 2);
  assert_int_equal(split(f, "a::b", "::", &parts, GLV_OK), 2);
  split(f, "a", "", &parts, GLV_E_INVALID_INPUT);
  split(f, "a$", "$", &parts, GLV_E_INVALID_INPUT);
  split(f, "$a", "$", &parts, GLV_E_INVALID_INPUT);
  split(f, "", "$", &parts, GLV_E_INVALID_INPUT);
  split(f, "a$..$b", "$", &parts, GLV_E_INVALID_INPUT);
  char many[2 * WIRE_MAX_ID_PARTS + 2];
  for (size_t i = 0; i + 1 < sizeof many; i += 2) {
    many[i] = 'a';
    many[i + 1] = '$';
  }
  many[sizeof many - 1] = '\0';
  split(f, many, "$", &parts, GLV_E_INVALID_INPUT);
  many[2 * WIRE_MAX_ID_PARTS - 1] = '\0';
  assert_int_equal(split(f, many, "$", &parts, GLV_OK), WIRE_MAX_ID_PARTS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(paths_are_filled_in, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(paths_refuse_names, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(parameters, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(decoding, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(ids_are_split, fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
