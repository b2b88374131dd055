/* Words in all texts of a column, and LIKE, against plain loops over few letters, so that words
 * often begin in one row and end in the next. */
#include "arrow/builder.h"
#include "expr/like.h"
#include "expr/text_search.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "support/test_env.h"

enum { ROWS = 333, LONGEST = 20 };

static str random_text(rng *r, char *text, size_t most, const char *letters) {
  const size_t size = (size_t)rng_below(r, most + 1);
  for (size_t i = 0; i < size; i++) {
    text[i] = letters[rng_below(r, strlen(letters))];
  }
  return str_slice(text, size);
}

static array random_column(glv_env *env, rng *r, type_kind kind) {
  glv_error err;
  builder b;
  array a = {0};
  builder_init(&b, env, type_simple(kind));
  for (size_t i = 0; i < ROWS; i++) {
    char text[LONGEST];
    if (rng_below(r, 10) == 0) {
      assert_int_equal(builder_append_null(&b, &err), GLV_OK);
    } else {
      assert_int_equal(builder_append_str(&b, random_text(r, text, LONGEST, "ab"), &err), GLV_OK);
    }
  }
  assert_int_equal(builder_finish(&b, &a, &err), GLV_OK);
  builder_dispose(&b);
  return a;
}

static bool holds(str text, str word) {
  for (size_t at = 0; at + word.size <= text.size; at++) {
    if (memcmp(text.data + at, word.data, word.size) == 0) {
      return true;
    }
  }
  return false;
}

static void test_rows_with(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  rng r = rng_of(5);
  for (size_t round = 0; round < 200; round++) {
    array whole = random_column(t.env, &r, round % 2 == 0 ? TYPE_UTF8 : TYPE_LARGE_UTF8);
    const size_t first = (size_t)rng_below(&r, 40);
    array a = array_slice(&whole, first, 1 + (size_t)rng_below(&r, ROWS - first));
    char letters[5] = {'a'};
    str word = random_text(&r, letters, 4, "ab");
    word = word.size == 0 ? STR("b") : word;
    uint64_t words[ROWS / 64 + 1];
    text_rows_with(&a, word, words);
    for (size_t i = 0; i < (a.length + 63) / 64 * 64; i++) {
      const bool expected = i < a.length && array_is_valid(&a, i) && holds(array_str(&a, i), word);
      assert_int_equal(words[i / 64] >> (i % 64) & 1, expected);
    }
    const char two[2] = {word.data[0], round % 3 == 0 ? 'b' : word.data[0]};
    text_rows_with_bytes(&a, two, 2, words);
    for (size_t i = 0; i < (a.length + 63) / 64 * 64; i++) {
      const bool expected = i < a.length && holds(array_str(&a, i), str_slice(two, 1)) &&
                            holds(array_str(&a, i), str_slice(two + 1, 1));
      assert_int_equal(words[i / 64] >> (i % 64) & 1, expected);
    }
    text_rows_ending(&a, 'b', words);
    for (size_t i = 0; i < (a.length + 63) / 64 * 64; i++) {
      const bool expected = i < a.length && str_ends_with(array_str(&a, i), STR("b"));
      assert_int_equal(words[i / 64] >> (i % 64) & 1, expected);
    }
    array_unref(&a);
    array_unref(&whole);
  }
  test_env_close(&t);
}

/* By the definition: % takes any number of bytes, here of ASCII, _ one. */
static bool matches(str pattern, str text) {
  if (pattern.size == 0) {
    return text.size == 0;
  }
  const str rest = str_slice(pattern.data + 1, pattern.size - 1);
  if (pattern.data[0] == '%') {
    for (size_t n = 0; n <= text.size; n++) {
      if (matches(rest, str_slice(text.data + n, text.size - n))) {
        return true;
      }
    }
    return false;
  }
  return text.size > 0 && (pattern.data[0] == '_' || pattern.data[0] == text.data[0]) &&
         matches(rest, str_slice(text.data + 1, text.size - 1));
}

static void test_like(void **state) {
  (void)state;
  glv_error err;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  rng r = rng_of(9);
  for (size_t round = 0; round < 20000; round++) {
    char letters[2][LONGEST];
    const str pattern = random_text(&r, letters[0], 7, "ab%_%");
    const str text = random_text(&r, letters[1], 9, "ab");
    like_pattern p;
    assert_int_equal(like_parse(&a, pattern, round % 2 == 0, &p, &err), GLV_OK);
    if (like_matches(&p, text) != matches(pattern, text)) {
      fail_msg("'%.*s' LIKE '%.*s'", STR_ARG(text), STR_ARG(pattern));
    }
  }
  static const struct {
    const char *text;
    const char *pattern;
    bool expected;
  } cases[] = {{"\xc3\xa4x", "_x", true},
               {"\xc3\xa4", "__", false},
               {"a\xc3\xa4"
                "b",
                "a%_b", true},
               {"a\xc3\xa4"
                "b",
                "%_\xc3\xa4_", true},
               {"50%", "50\\%", true},
               {"500", "50\\%", false},
               {"a\\", "a\\", true},
               {"", "%", true},
               {"", "_", false},
               {"\xe2\x82\xac\xe2\x82\xac", "_\xe2\x82\xac", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    like_pattern p;
    assert_int_equal(like_parse(&a, str_of(cases[i].pattern), false, &p, &err), GLV_OK);
    assert_int_equal(like_matches(&p, str_of(cases[i].text)), cases[i].expected);
  }
  arena_dispose(&a);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_with), cmocka_unit_test(test_like)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
