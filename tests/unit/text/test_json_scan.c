/* The JSON scanner: strict grammar, escapes, skipping. */
#include <stdlib.h>

#include "support/cmocka.h"
#include "support/rng.h"
#include "support/test_env.h"
#include "text/json_scan.h"

static bool skips(const char *text) {
  /* at an exact size, so that a sanitizer sees reading past the end */
  const size_t size = strlen(text);
  char *exact = malloc(size != 0 ? size : 1);
  memcpy(exact, text, size);
  json_scan s = json_scan_of(str_slice(exact, size));
  str all;
  const bool ok = json_scan_skip(&s, &all) && json_scan_at_end(&s);
  assert_true(ok == (s.problem == NULL) || !json_scan_at_end(&s));
  free(exact);
  return ok;
}

static void grammar(void **state) {
  (void)state;
  static const char *const good[] = {"null",
                                     "true",
                                     " false ",
                                     "0",
                                     "-0",
                                     "10",
                                     "1.5",
                                     "1e5",
                                     "1E+5",
                                     "-1.25e-7",
                                     "\"\"",
                                     "\"a\\\"b\"",
                                     "[]",
                                     "[ ]",
                                     "{}",
                                     "{ }",
                                     "[1,2]",
                                     "[1,[2,{\"a\":[]}]]",
                                     "{\"a\":1,\"b\":{\"c\":[null]}}"};
  static const char *const bad[] = {
      "",          " ",       "nul",      "nulll",      "tru",   "01",    "-",         "1.",
      ".5",        "1e",      "+1",       "\"",         "\"a",   "\"\\",  "\"\x01\"",  "[",
      "]",         "[1",      "[1,",      "[1,]",       "[,1]",  "[1 2]", "{",         "}",
      "{\"a\"",    "{\"a\":", "{\"a\":1", "{\"a\":1,}", "{a:1}", "{1:2}", "{\"a\" 1}", "[1}",
      "{\"a\":1]", "1 2",     "'a'",      "NaN"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_true(skips(good[i]));
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_false(skips(bad[i]));
  }
}

static void strings(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  buf scratch;
  buf_init(&scratch, t.env, 1000);
  static const char *const good[][2] = {
      {"\"plain\"", "plain"},
      {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
      {"\"\\u0041\\u00e9\\u65e5\\ud83d\\uDE00!\"", "Aé日😀!"},
      {"\"é\\n日\"", "é\n日"},
  };
  static const char *const bad[] = {
      "\"\\x\"",      "\"\\u12\"",          "\"\\u12g4\"", "\"\\ud83d\"", "\"\\ude00\"",
      "\"\\ud83dx\"", "\"\\ud83d\\u0041\"", "\"\\",        "\"\\u",       "\"a\nb\""};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    json_scan s = json_scan_of(str_of(good[i][0]));
    str text;
    assert_true(json_scan_string(&s, &scratch, &text));
    assert_true(str_is(text, good[i][1]));
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    json_scan s = json_scan_of(str_of(bad[i]));
    str text;
    assert_false(json_scan_string(&s, &scratch, &text));
    assert_non_null(s.problem);
  }
  buf_dispose(&scratch);
  test_env_close(&t);
}

static void any_bytes(void **state) {
  (void)state;
  static const char alphabet[] = "{}[]\",:\\u01-.eE+ntfalsru \n\x01\xC3";
  rng r = rng_of(41);
  for (int round = 0; round < 200000; round++) {
    char text[24];
    const size_t size = (size_t)rng_below(&r, sizeof text);
    for (size_t i = 0; i < size; i++) {
      text[i] = alphabet[rng_below(&r, sizeof alphabet - 1)];
    }
    text[size] = '\0';
    (void)skips(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(grammar), cmocka_unit_test(strings),
                                     cmocka_unit_test(any_bytes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
