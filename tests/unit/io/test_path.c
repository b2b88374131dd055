/* Paths as text. */
#include "base/limits.h"
#include "io/path.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static test_env t;
static arena a;

static int open_env(void **state) {
  (void)state;
  test_env_open_mem(&t);
  arena_init(&a, t.env);
  return 0;
}

static int close_env(void **state) {
  (void)state;
  arena_dispose(&a);
  test_env_close(&t);
  return 0;
}

static void joining(void **state) {
  (void)state;
  assert_string_equal(path_join(&a, STR("a"), STR("b")), "a/b");
  assert_string_equal(path_join(&a, STR("/"), STR("b")), "/b");
  assert_string_equal(path_join(&a, STR("a/"), STR("b/c")), "a/b/c");
  assert_string_equal(path_join(&a, STR(""), STR("b")), "b");
}

static void normalising(void **state) {
  (void)state;
  const char *cases[][2] = {{"", "."},    {".", "."},           {"/", "/"},
                            {"//", "/"},  {"a/", "a"},          {"/a//b/./c/", "/a/b/c"},
                            {"./a", "a"}, {"a/../b", "a/../b"}, {"/./", "/"},
                            {"a/.", "a"}, {"...", "..."},       {"./..", ".."}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_string_equal(path_normalise(&a, str_of(cases[i][0])), cases[i][1]);
  }
}

static void names(void **state) {
  (void)state;
  assert_true(str_is(path_name(STR("/a/b")), "b"));
  assert_true(str_is(path_name(STR("b")), "b"));
  assert_true(str_is(path_name(STR("/")), ""));
  assert_true(str_is(path_name(STR("")), ""));
}

static void inside(void **state) {
  (void)state;
  const char *good[] = {"a",  "a/b", "82259e15_ns$child", "sub/dir/other", "..a", "a..",
                        ".x", "a:b"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(path_is_inside(str_of(good[i])));
  }
  const char *bad[] = {"",       "/",    "/abs", "..",  ".",        "../x",      "a/..",
                       "a/../b", "a//b", "a/",   "./a", "s3://b/x", "file:///x", "a/./b"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(path_is_inside(str_of(bad[i])));
  }
  assert_false(path_is_inside(STR("a\0b")));
}

static void uris(void **state) {
  (void)state;
  const char *cases[][2] = {{"/db/", "/db"},
                            {"db", "db"},
                            {"file:///db/x%20y/", "/db/x y"},
                            {"FILE:///db", "/db"},
                            {"file://localhost/db", "/db"},
                            {"file:///a%2Fb", "/a/b"},
                            {"a:b/c", "a:b/c"},
                            {"/a://b", "/a:/b"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *path = NULL;
    glv_error err;
    assert_int_equal(path_from_uri(&a, str_of(cases[i][0]), &path, &err), GLV_OK);
    assert_string_equal(path, cases[i][1]);
  }
  char *path = NULL;
  glv_error err;
  assert_int_equal(path_from_uri(&a, STR("s3://bucket/x"), &path, &err), GLV_E_UNSUPPORTED);
  assert_non_null(strstr(err.message, "'s3'"));
  const char *bad[] = {
      "", "file://", "file://host/x", "file:///a%2", "file:///a%zz", "file:///a%00b"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(path_from_uri(&a, str_of(bad[i]), &path, &err), GLV_E_INVALID_INPUT);
  }
  char long_path[LIMIT_PATH_BYTES + 1];
  memset(long_path, 'x', sizeof long_path);
  assert_int_equal(path_from_uri(&a, str_slice(long_path, sizeof long_path), &path, &err),
                   GLV_E_INVALID_INPUT);
  assert_null(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joining), cmocka_unit_test(normalising), cmocka_unit_test(names),
      cmocka_unit_test(inside),  cmocka_unit_test(uris),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
