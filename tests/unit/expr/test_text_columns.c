/* Casts and functions that handle whole columns of texts at once, against the same done text by
 * text here. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/builder.h"
#include "expr/cast.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "unit/expr/sql_fixture.h"

#define ROWS 700

typedef size_t (*make_text)(rng *r, char *text); /* at most 64 bytes */

/* Texts with nulls, as rows [7, 7 + ROWS) of a longer column. */
static array make_column(glv_env *env, rng *r, type_kind kind, make_text make) {
  builder b;
  array a = {0};
  builder_init(&b, env, type_simple(kind));
  for (size_t i = 0; i < ROWS + 10; i++) {
    char text[64];
    if (rng_below(r, 8) == 0) {
      assert_int_equal(builder_append_null(&b, NULL), GLV_OK);
    } else {
      assert_int_equal(builder_append_str(&b, str_slice(text, make(r, text)), NULL), GLV_OK);
    }
  }
  assert_int_equal(builder_finish(&b, &a, NULL), GLV_OK);
  array part = array_slice(&a, 7, ROWS);
  array_unref(&a);
  return part;
}

/* ---- numbers ---- */

static size_t number_text(rng *r, char *text) {
  static const char *const odd[] = {
      "",    "-",    "+",         "+7",  "-0",          " 1",
      "1 ",  "12a",  "/1",        ":1",  "123456789",   "00000000000000012",
      "1.5", "-128", "99999999x", "255", "-2147483648", "1\xc3\xa9"};
  if (rng_below(r, 3) == 0) {
    const char *one = odd[rng_below(r, sizeof odd / sizeof *odd)];
    memcpy(text, one, strlen(one));
    return strlen(one);
  }
  const uint64_t value = rng_next(r) >> rng_below(r, 64);
  const char *sign = rng_below(r, 4) == 0 ? "-" : "";
  return (size_t)snprintf(text, 64, "%s%" PRIu64, sign, value);
}

/* [sign] digits, in [-low, high]. */
static bool parse(str text, uint64_t low, uint64_t high, uint64_t *ret) {
  char copy[65];
  memcpy(copy, text.data, text.size);
  copy[text.size] = '\0';
  const bool negative = copy[0] == '-';
  const char *digits = copy + (negative || copy[0] == '+');
  if (*digits == '\0' || strspn(digits, "0123456789") != strlen(digits)) {
    return false;
  }
  errno = 0;
  const uint64_t value = strtoull(digits, NULL, 10);
  *ret = negative ? 0 - value : value;
  return errno == 0 && value <= (negative ? low : high);
}

static void check_numbers(glv_env *env, const array *a, type_kind kind) {
  const type *t = type_simple(kind);
  const size_t width = type_width(t);
  const uint64_t all = UINT64_MAX >> (64 - 8 * width);
  const bool is_signed = type_is_signed(kind);
  array got = {0};
  assert_int_equal(cast_array(env, a, t, true, &got, NULL), GLV_OK);
  for (size_t i = 0; i < a->length; i++) {
    uint64_t want = 0;
    const bool ok = array_is_valid(a, i) && parse(array_str(a, i), is_signed ? all / 2 + 1 : 0,
                                                  is_signed ? all / 2 : all, &want);
    assert_int_equal(array_is_valid(&got, i), ok);
    if (ok) {
      assert_memory_equal((const uint8_t *)got.values + i * width, &want, width);
    }
  }
  array_unref(&got);
}

static void test_numbers_of_texts(void **state) {
  sql_fixture *f = *state;
  rng r = rng_of(1);
  for (size_t round = 0; round < 20; round++) {
    array a = make_column(f->env, &r, round % 2 == 0 ? TYPE_UTF8 : TYPE_LARGE_UTF8, number_text);
    for (type_kind kind = TYPE_INT8; kind <= TYPE_UINT64; kind++) {
      check_numbers(f->env, &a, kind);
    }
    array_unref(&a);
  }
}

static void check_texts(glv_env *env, rng *r, type_kind kind, type_kind to) {
  const type *t = type_simple(kind);
  const size_t width = type_width(t);
  const bool is_signed = type_is_signed(kind);
  builder b;
  array a = {0};
  array got = {0};
  builder_init(&b, env, t);
  for (size_t i = 0; i < ROWS; i++) {
    const uint64_t value = rng_next(r) >> rng_below(r, 64);
    const uint64_t put = rng_below(r, 3) == 0 ? 0 - value : value;
    assert_int_equal(rng_below(r, 9) == 0 ? builder_append_null(&b, NULL)
                                          : builder_append_fixed(&b, &put, NULL),
                     GLV_OK);
  }
  assert_int_equal(builder_finish(&b, &a, NULL), GLV_OK);
  assert_int_equal(cast_array(env, &a, type_simple(to), false, &got, NULL), GLV_OK);
  for (size_t i = 0; i < ROWS; i++) {
    char want[32] = "";
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)a.values + i * width, width);
    const unsigned unused = (unsigned)(64 - 8 * width);
    if (array_is_valid(&a, i) && is_signed) {
      (void)snprintf(want, sizeof want, "%" PRId64, (int64_t)(value << unused) >> unused);
    } else if (array_is_valid(&a, i)) {
      (void)snprintf(want, sizeof want, "%" PRIu64, value);
    }
    assert_int_equal(array_is_valid(&got, i), array_is_valid(&a, i));
    assert_true(str_is(array_str(&got, i), want));
  }
  array_unref(&got);
  array_unref(&a);
}

static void test_texts_of_numbers(void **state) {
  sql_fixture *f = *state;
  rng r = rng_of(2);
  for (size_t round = 0; round < 10; round++) {
    for (type_kind kind = TYPE_INT8; kind <= TYPE_UINT64; kind++) {
      check_texts(f->env, &r, kind, round % 2 == 0 ? TYPE_UTF8 : TYPE_LARGE_UTF8);
    }
  }
}

/* ---- functions of column s ---- */

static size_t letters(rng *r, char *text) {
  const size_t size = (size_t)rng_below(r, rng_below(r, 4) == 0 ? 60 : 12);
  for (size_t i = 0; i < size; i++) {
    text[i] = "aAbz7_9|$"[rng_below(r, 9)];
  }
  return size;
}

/* Some of them not ASCII. */
static size_t any_letters(rng *r, char *text) {
  const size_t size = letters(r, text);
  if (rng_below(r, 50) == 0) {
    memcpy(text + size, "\xc3\xa9", 2);
    return size + 2;
  }
  return size;
}

static void put_texts(sql_fixture *f, rng *r, make_text make) {
  array *s = &f->b.columns[schema_find(f->schema, STR("s"))];
  array_unref(s);
  *s = make_column(f->env, r, TYPE_UTF8, make);
}

static void test_slices(void **state) {
  sql_fixture *f = *state;
  rng r = rng_of(3);
  for (size_t round = 0; round < 60; round++) {
    const int first = (int)rng_below(&r, 20) - 2;
    const int count = (int)rng_below(&r, 24);
    const bool open = round % 3 == 0;
    char sql[64];
    put_texts(f, &r, letters);
    (void)snprintf(sql, sizeof sql, open ? "substr(s, %d)" : "substr(s, %d, %d)", first, count);
    array got = sql_value(f, sql);
    const array *s = sql_column(f, "s");
    for (size_t i = 0; i < ROWS; i++) {
      const str text = array_str(s, i);
      const int size = (int)text.size;
      const int begin = first < 1 ? 0 : first - 1 > size ? size : first - 1;
      int end = open || first + count - 1 > size ? size : first + count - 1;
      end = end < begin ? begin : end;
      assert_int_equal(array_is_valid(&got, i), array_is_valid(s, i));
      assert_true(
          str_equal(array_str(&got, i), str_slice(text.data + begin, (size_t)(end - begin))));
    }
    array_unref(&got);
  }
}

static void test_cases(void **state) {
  sql_fixture *f = *state;
  rng r = rng_of(4);
  for (size_t round = 0; round < 20; round++) {
    put_texts(f, &r, round % 2 == 0 ? letters : any_letters);
    array got = sql_value(f, "upper(s)");
    const array *s = sql_column(f, "s");
    for (size_t i = 0; i < ROWS; i++) {
      const str text = array_str(s, i);
      const str upper = array_str(&got, i);
      assert_int_equal(text.size, upper.size);
      for (size_t k = 0; k < text.size; k++) {
        const char c = text.data[k];
        const char want = c >= 'a' && c <= 'z' ? (char)(c - 32) : c == '\xa9' ? '\x89' : c;
        assert_int_equal(upper.data[k], want);
      }
    }
    array_unref(&got);
  }
}

/* Expressions that end with a letter and the end of the text, and others that only look like it. */
static void test_ends(void **state) {
  sql_fixture *f = *state;
  static const char *const same[][2] = {
      {"regexp_like(s, '7$')", "s LIKE '%7'"},
      {"regexp_like(s, 'a.*z$')", "s LIKE '%a%z'"},
      {"regexp_like(s, '^a.*[b]z$')", "s LIKE 'a%bz'"},
      {"regexp_like(s, 'a|z$')", "s LIKE '%a%' OR s LIKE '%z'"},
      {"regexp_like(s, '(a|b)z$')", "s LIKE '%az' OR s LIKE '%bz'"},
      {"regexp_like(s, 'a[z7$]')", "s LIKE '%az%' OR s LIKE '%a7%' OR s LIKE '%a$%'"},
      {"regexp_like(s, 'az*$')", "s LIKE '%a' OR s LIKE '%az' OR regexp_like(s, 'az{2,}$')"},
      {"regexp_like(s, 'a\\d$')", "s LIKE '%a7' OR s LIKE '%a9'"},
      {"regexp_like(s, 'a\\x37$')", "s LIKE '%a7'"},
      {"regexp_like(s, '[|]z$')", "s LIKE '%|z'"},
      {"regexp_like(s, 'a$', 'i')", "s ILIKE '%a'"},
      {"regexp_like(s, '(?i)za$')", "s ILIKE '%za'"},
      {"regexp_like(s, 'z\\pL$')", "s LIKE '%za' OR s LIKE '%zA' OR s LIKE '%zb' OR s LIKE '%zz'"},
  };
  rng r = rng_of(6);
  for (size_t round = 0; round < 10; round++) {
    put_texts(f, &r, letters);
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
      array got = sql_value(f, same[k][0]);
      array want = sql_value(f, same[k][1]);
      for (size_t i = 0; i < ROWS; i++) {
        if (array_is_valid(&want, i) &&
            (!array_is_valid(&got, i) || array_bool(&got, i) != array_bool(&want, i))) {
          fail_msg("%s differs for row %zu", same[k][0], i);
        }
      }
      array_unref(&got);
      array_unref(&want);
    }
  }
}

static bool is_letter(char c) { return c == 'a' || c == 'b' || c == 'z'; }

/* A plain replacement, of the first match only. */
static void test_replacements(void **state) {
  sql_fixture *f = *state;
  rng r = rng_of(7);
  put_texts(f, &r, letters);
  array got = sql_value(f, "regexp_replace(s, '[a-z]+', 'xyz')");
  array dollar = sql_value(f, "regexp_replace(s, '[a-z]+', '$$')");
  const array *s = sql_column(f, "s");
  for (size_t i = 0; i < ROWS; i++) {
    char want[80];
    char with_dollar[80];
    const str text = array_str(s, i);
    size_t begin = 0;
    while (begin < text.size && !is_letter(text.data[begin])) {
      begin++;
    }
    size_t end = begin;
    while (end < text.size && is_letter(text.data[end])) {
      end++;
    }
    const int rest = (int)(text.size - end);
    (void)snprintf(want, sizeof want, "%.*s%s%.*s", (int)begin, text.data, end > begin ? "xyz" : "",
                   rest, text.data + end);
    (void)snprintf(with_dollar, sizeof with_dollar, "%.*s%s%.*s", (int)begin, text.data,
                   end > begin ? "$" : "", rest, text.data + end);
    assert_int_equal(array_is_valid(&got, i), array_is_valid(s, i));
    assert_true(!array_is_valid(s, i) || str_is(array_str(&got, i), want));
    assert_true(!array_is_valid(s, i) || str_is(array_str(&dollar, i), with_dollar));
  }
  array_unref(&got);
  array_unref(&dollar);
}

static int open_fixture(void **state) {
  static sql_fixture f;
  sql_open(&f, ROWS, 9);
  *state = &f;
  return 0;
}

static int close_fixture(void **state) {
  sql_close(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_of_texts),
      cmocka_unit_test(test_texts_of_numbers),
      cmocka_unit_test(test_slices),
      cmocka_unit_test(test_cases),
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_replacements),
  };
  return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
