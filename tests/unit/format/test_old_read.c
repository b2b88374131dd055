/*
 * Pages of version 2.0: every encoding of section 10 from hand-made bytes, those that only old
 * writers produced too, and what must be refused. Nested fields are tested with files that were
 * written (test_old_write.c) and by the interoperability tests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read_support.h"

/* Messages. A buffer is `12 { 08 n }`; number 0 may be left out. */
#define FLAT(bits, buffer) "0a{08" bits " 12{08" buffer "}}"
#define NO_NULLS(values) "12{0a{0a{" values "}}}"
#define SOME_NULLS(validity, values) "12{12{0a{" validity "} 12{" values "}}}"
#define ALL_NULLS "12{1a{}}"
#define BINARY(ends, bytes, adjustment) "32{0a{" ends "} 12{" bytes "} 18" adjustment "}"
#define VECTOR(items, values) "1a{08" items " 12{" values "}}"
#define DICTIONARY(indices, items, count) "3a{0a{" indices "} 12{" items "} 18" count "}"
#define U64(byte) byte "00000000000000"

static void read_made(test_env *t, const char *type_name, const made_page *p, file_reader **r,
                      array *a) {
  const made_file f = {type_name, 0, 3, p->rows, p, 1, NULL, 1};
  made_file_read(t, &f, r, a);
}

static void check_int32(test_env *t, const made_page *p, const int32_t *values, const char *valid) {
  file_reader *r;
  array a;
  read_made(t, "int32", p, &r, &a);
  assert_int32(&a, values, valid);
  array_unref(&a);
  file_reader_unref(r);
}

static void check_text(test_env *t, const made_page *p, const char *const *values) {
  file_reader *r;
  array a;
  read_made(t, "string", p, &r, &a);
  assert_int_equal(a.length, p->rows);
  assert_text(&a, values);
  array_unref(&a);
  file_reader_unref(r);
}

static void refused(test_env *t, const char *type_name, const made_page *p, glv_status code,
                    const char *text) {
  const made_file f = {type_name, 0, 3, p->rows, p, 1, NULL, 0};
  made_file_fails(t, &f, code, text);
}

static void plain_values(void **state) {
  test_env *t = *state;
  const made_page flat = {3, NO_NULLS(FLAT("20", "00")), {"01000000 02000000 ffffffff"}};
  check_int32(t, &flat, (const int32_t[]){1, 2, -1}, "111");
  const made_page nulls = {
      3, SOME_NULLS(FLAT("01", "00"), FLAT("20", "01")), {"05", "01000000 00000000 03000000"}};
  check_int32(t, &nulls, (const int32_t[]){1, 0, 3}, "101");
  const made_page none = {2, ALL_NULLS, {NULL}};
  check_int32(t, &none, (const int32_t[]){0, 0}, "00");
  /* zstd: a length of 64 bits and a frame of one raw block */
  const made_page zstd = {2,
                          NO_NULLS("0a{0820 12{} 1a{0a{7a737464}}}"),
                          {"0800000000000000 28b52ffd 2008 410000 07000000 ffffffff"}};
  check_int32(t, &zstd, (const int32_t[]){7, -1}, "11");
  const made_page lz4 = {
      2, NO_NULLS("0a{0820 12{} 1a{0a{6c7a34}}}"), {"08000000 80 07000000 ffffffff"}};
  check_int32(t, &lz4, (const int32_t[]){7, -1}, "11");
}

static void packed_values(void **state) {
  test_env *t = *state;
  /* 3 bits each, least significant first: 1, -1, -4, 3 */
  const made_page stream = {4, NO_NULLS("52{0803 1020 1a{} 2001}"), {"3907"}};
  check_int32(t, &stream, (const int32_t[]){1, -1, -4, 3}, "1111");
  const made_page as_unsigned = {4, NO_NULLS("52{0803 1020 1a{}}"), {"3907"}};
  check_int32(t, &as_unsigned, (const int32_t[]){1, 7, 4, 3}, "1111");
  const made_page zeros = {3, NO_NULLS("62{1020 1a{}}"), {""}};
  check_int32(t, &zeros, (const int32_t[]){0, 0, 0}, "111");
  char *group = calloc(1, 2 * 4096 + 1); /* of 32 bits in 32: plain words */
  for (size_t i = 0; i < 1024; i++) {
    memcpy(group + 8 * i, i == 0 ? "05000000" : "00000000", 8);
  }
  const made_page words = {2, NO_NULLS("62{0820 1020 1a{}}"), {group}};
  check_int32(t, &words, (const int32_t[]){5, 0}, "11");
  free(group);
  const made_page few = {4, NO_NULLS("52{0803 1020 1a{}}"), {"39"}};
  refused(t, "int32", &few, GLV_E_CORRUPT, "too few");
  const made_page short_group = {1, NO_NULLS("62{0801 1020 1a{}}"), {"00"}};
  refused(t, "int32", &short_group, GLV_E_CORRUPT, "too few");
  const made_page wide = {1, NO_NULLS("62{0821 1020 1a{}}"), {"00"}};
  refused(t, "int32", &wide, GLV_E_CORRUPT, "bitpacking");
}

static void strings(void **state) {
  test_env *t = *state;
  const made_page plain = {3,
                           BINARY(NO_NULLS(FLAT("40", "00")), FLAT("08", "01"), "04"),
                           {U64("01") U64("05") U64("03"), "78797a"}};
  check_text(t, &plain, (const char *const[]){"x", NULL, "yz"});
  const made_page equal = {3, "5a{0a{" FLAT("08", "00") "} 1002}", {"616263646566"}};
  check_text(t, &equal, (const char *const[]){"ab", "cd", "ef"});
  const made_page equal_nulls = {
      3, SOME_NULLS(FLAT("01", "01"), "5a{0a{" FLAT("08", "00") "} 1002}"), {"616263646566", "05"}};
  check_text(t, &equal_nulls, (const char *const[]){"ab", NULL, "ef"});
  const made_page dictionary = {4,
                                DICTIONARY(NO_NULLS(FLAT("08", "00")),
                                           BINARY(FLAT("40", "01"), FLAT("08", "02"), "04"), "02"),
                                {"01 00 02 01", U64("01") U64("03"), "616262"}};
  check_text(t, &dictionary, (const char *const[]){"a", NULL, "bb", "a"});
  const made_page outside = {1,
                             DICTIONARY(NO_NULLS(FLAT("08", "00")),
                                        BINARY(FLAT("40", "01"), FLAT("08", "02"), "04"), "02"),
                             {"03", U64("01") U64("03"), "616262"}};
  refused(t, "string", &outside, GLV_E_CORRUPT, "index 2 of a dictionary of 2 values");
  const made_page decreasing = {
      2, BINARY(FLAT("40", "00"), FLAT("08", "01"), "04"), {U64("02") U64("01"), "78797a"}};
  refused(t, "string", &decreasing, GLV_E_CORRUPT, "offsets decrease");
  const made_page beyond = {
      1, BINARY(FLAT("40", "00"), FLAT("08", "01"), "09"), {U64("04"), "78797a"}};
  refused(t, "string", &beyond, GLV_E_CORRUPT, "lie outside");
  const made_page not_text = {
      1, BINARY(FLAT("40", "00"), FLAT("08", "01"), "09"), {U64("01"), "ff"}};
  refused(t, "string", &not_text, GLV_E_CORRUPT, "UTF-8");
}

static void vectors(void **state) {
  test_env *t = *state;
  const made_page p = {2,
                       SOME_NULLS(FLAT("01", "00"), VECTOR("02", NO_NULLS(FLAT("20", "01")))),
                       {"02", "00000000 00000000 01000000 02000000"}};
  file_reader *r;
  array a;
  read_made(t, "fixed_size_list:int32:2", &p, &r, &a);
  assert_false(array_is_valid(&a, 0));
  assert_int_equal(ARRAY_VALUES(&a.children[0], int32_t)[3], 2);
  array_unref(&a);
  file_reader_unref(r);
  refused(t, "fixed_size_list:int32:3", &p, GLV_E_CORRUPT, "does not hold values of type");
  refused(t, "int32", &p, GLV_E_CORRUPT, "FixedSizeList does not hold values of type int32");
}

static void dictionary_types(void **state) {
  test_env *t = *state;
  const made_page pages[] = {
      {2,
       DICTIONARY(NO_NULLS(FLAT("08", "00")), BINARY(FLAT("40", "01"), FLAT("08", "02"), "04"),
                  "02"),
       {"01 00", U64("01") U64("07"), "616262"}}, /* the second value is null */
      {2,
       DICTIONARY(SOME_NULLS(FLAT("01", "03"), FLAT("08", "00")),
                  BINARY(FLAT("40", "01"), FLAT("08", "02"), "04"), "01"),
       {"00 00", U64("01"), "7a", "01"}}};
  const made_file f = {"dict:string:int8:false", 0, 3, 4, pages, 2, NULL, 0};
  file_reader *r;
  array a;
  made_file_read(t, &f, &r, &a);
  assert_int_equal(a.type->kind, TYPE_DICTIONARY);
  static const char *const values[] = {NULL, "a", "z", NULL};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(array_is_valid(&a, i), values[i] != NULL);
    if (values[i] != NULL) {
      assert_true(
          str_is(array_str(&a.children[0], (size_t)ARRAY_VALUES(&a, int8_t)[i]), values[i]));
    }
  }
  array_unref(&a);
  file_reader_unref(r);
  refused(t, "dict:string:int16:false", &pages[0], GLV_E_CORRUPT, "indices of 8 bits");
  refused(t, "dict:int64:int8:false", &pages[0], GLV_E_CORRUPT, "a dictionary of text");
}

static void refusals(void **state) {
  test_env *t = *state;
  const struct {
    made_page page;
    glv_status code;
    const char *text;
  } cases[] = {
      {{2, NO_NULLS(FLAT("20", "00")), {"01000000"}}, GLV_E_CORRUPT, "too few"},
      {{1, NO_NULLS(FLAT("20", "01")), {"01000000"}}, GLV_E_CORRUPT, "buffer 1 of the page"},
      {{1, NO_NULLS("0a{0820 12{1001}}"), {"01000000"}}, GLV_E_CORRUPT, "buffer 0 of the column"},
      {{1, NO_NULLS("0a{0820 12{0807 1002}}"), {""}}, GLV_E_CORRUPT, "buffer 7 of the file"},
      {{1, NO_NULLS("0a{0820 12{1003}}"), {""}}, GLV_E_CORRUPT, "unknown kind 3"},
      {{1, NO_NULLS("0a{0820}"), {""}}, GLV_E_CORRUPT, "names no buffer"},
      {{1, NO_NULLS(FLAT("1f", "00")), {"01000000"}}, GLV_E_UNSUPPORTED, "31 bits"},
      {{1, NO_NULLS(FLAT("40", "00")), {U64("01")}}, GLV_E_CORRUPT, "does not hold values"},
      {{1, "12{}", {""}}, GLV_E_CORRUPT, "does not say what is null"},
      {{1, "6a{}", {""}}, GLV_E_UNSUPPORTED, "unknown array encoding"},
      {{1, "2a{}", {NULL}}, GLV_E_CORRUPT, "SimpleStruct does not hold"},
      {{1, "22{0a{" FLAT("40", "00") "} 1001}", {U64("00")}}, GLV_E_CORRUPT, "List does not hold"},
      {{1, NO_NULLS("0a{0820 12{} 1a{0a{7a7a}}}"), {"00"}}, GLV_E_UNSUPPORTED, "scheme 'zz'"},
      {{1,
        SOME_NULLS(FLAT("01", "00"), SOME_NULLS(FLAT("01", "00"), FLAT("20", "00"))),
        {"00000000"}},
       GLV_E_CORRUPT,
       "two levels of nulls"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    refused(t, "int32", &cases[i].page, cases[i].code, cases[i].text);
  }
  const made_page flat = {2, NO_NULLS(FLAT("20", "00")), {"01000000 02000000"}};
  const made_file more = {"int32", 2, 0, 3, &flat, 1, NULL, 0};
  made_file_fails(t, &more, GLV_E_CORRUPT, "hold 2 rows instead of 3");
  char deep[1024] = FLAT("20", "00");
  for (size_t i = 0; i < 16; i++) {
    char inner[1024];
    snprintf(inner, sizeof inner, "12{0a{0a{%.900s}}}", deep);
    memcpy(deep, inner, sizeof deep);
  }
  const made_page nested = {1, deep, {"01000000"}};
  refused(t, "int32", &nested, GLV_E_LIMIT, "nested deeper");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_env_setup, test_env_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(plain_values), TEST(packed_values),    TEST(strings),
      TEST(vectors),      TEST(dictionary_types), TEST(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
