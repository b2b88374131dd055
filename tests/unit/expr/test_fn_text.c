/* Functions of texts: values as the reference gives them. */
#include "unit/expr/sql_text.h"

static const struct sql_case CASES[] = {
    {"upper('ß')", "SS"},
    {"upper('ŉ ǰ ﬁ')", "ʼN J̌ FI"},
    {"upper('ǆ')", "Ǆ"},
    {"upper('éÿ')", "ÉŸ"},
    {"upper('abcdefghijklmnopqrstuvwxyz{`@[')", "ABCDEFGHIJKLMNOPQRSTUVWXYZ{`@["},
    {"upper('')", ""},
    {"upper(NULL)", "NULL"},
    {"lower('ABCXYZ[@`{ÀÉ')", "abcxyz[@`{àé"},
    {"lower('İ')", "i̇"},
    {"lower('ΑΣ')", "ας"},
    {"lower('ΑΣ ΣΑΣ.')", "ας σας."},
    {"lower('Σ')", "σ"},
    {"lower('ΑΣ'' Α')", "ας' α"},
    {"initcap('foo bar-BAZ_qux 1st éa ßx')", "Foo Bar-Baz_Qux 1st Éa SSx"},
    {"initcap('ÉCOLE ÉTÉ')", "École Été"},
    {"reverse('aé😀')", "😀éa"},
    {"reverse('')", ""},
    {"length('aé😀')", "3"},
    {"octet_length('aé😀')", "7"},
    {"bit_length('é')", "16"},
    {"length(12345)", "5"},
    {"length(true)", "4"},
    {"length(DATE '2021-01-02')", "10"},
    {"trim('  a b  ')", "a b"},
    {"btrim('xxaxyx','yx')", "a"},
    {"ltrim('éàaé','àé')", "aé"},
    {"rtrim('aéé','é')", "a"},
    {"trim('\ta ')", "\ta"},
    {"btrim('aaa','a')", ""},
    {"btrim('abc','')", "abc"},
    {"ltrim('abc',NULL)", "NULL"},
    {"substr('apple',2)", "pple"},
    {"substr('apple',0,3)", "ap"},
    {"substr('apple',-1,3)", "a"},
    {"substr('héllo',2,2)", "él"},
    {"substr('apple',9)", ""},
    {"substr('apple',2,0)", ""},
    {"substr('apple',9223372036854775807)", ""},
    {"substr('apple',2,9223372036854775807)", "pple"},
    {"left('héllo',2)", "hé"},
    {"left('héllo',-2)", "hél"},
    {"left('héllo',-9)", ""},
    {"left('héllo',99)", "héllo"},
    {"right('héllo',2)", "lo"},
    {"right('héllo',-2)", "llo"},
    {"right('héllo',0)", ""},
    {"right('x',-9223372036854775807)", ""},
    {"left(12345,2)", "12"},
    {"lpad('é',3,'*')", "**é"},
    {"lpad('abc',2)", "ab"},
    {"lpad('abc',6,'xy')", "xyxabc"},
    {"lpad('abc',6,'é€')", "é€éabc"},
    {"lpad('abc',5,'')", "abc"},
    {"lpad('abc',-1)", ""},
    {"rpad('abc',6,'xy')", "abcxyx"},
    {"ascii('é')", "233"},
    {"ascii('')", "0"},
    {"chr(128512)", "😀"},
    {"to_hex(255)", "ff"},
    {"to_hex(-1)", "ffffffffffffffff"},
    {"to_hex(0)", "0"},
    {"to_hex(18446744073709551615)", "ffffffffffffffff"},
    {"translate('12345','143','ax')", "a2x5"},
    {"translate('aàb','àa','é')", "éb"},
    {"translate('aa','aa','áx')", "áá"},
    {"translate('xyz','','q')", "xyz"},
    {"overlay('Txxxxas','hom',2,4)", "Thomas"},
    {"overlay('Txxxxas','hom',2)", "Thomxas"},
    {"overlay('é😀z','X',2,0)", "éX😀z"},
    {"overlay('abc','X',9223372036854775807,9223372036854775807)", "abcX"},
    {"overlay('abc','X',3,-2)", "abXabc"},
    {"overlay('abc' PLACING 'é' FROM 2 FOR 1)", "aéc"},
    {"levenshtein('kitten','sitting')", "3"},
    {"levenshtein('héllo','hello')", "1"},
    {"levenshtein('','abc')", "3"},
    {"levenshtein('same','same')", "0"},
    {"levenshtein('abcdef','azced')", "3"},
    {"substr_index('www.apache.org','.',2)", "www.apache"},
    {"substring_index('www.apache.org','.',-2)", "apache.org"},
    {"substr_index('aaaaa','aa',-2)", "aa"},
    {"substr_index('aaaaa','aa',2)", "aa"},
    {"substr_index('abc','',1)", ""},
    {"substr_index('abc','b',0)", ""},
    {"substr_index('abc','b',9223372036854775807)", "abc"},
    {"substr_index('abc','b',-9223372036854775807 - 1)", "abc"},
    {"substr_index('0123456789abcdefghijX0123456789abcdefghijY','0123456789abcdefghij',-1)", "Y"},
    {"find_in_set('b','a,b,c')", "2"},
    {"find_in_set('','a,,c')", "2"},
    {"find_in_set('','')", "1"},
    {"find_in_set('a,b','a,b')", "0"},
    {"md5('')", "d41d8cd98f00b204e9800998ecf8427e"},
    {"md5(x'616263')", "900150983cd24fb0d6963f7d28e17f72"},
    {"encode(sha224('abc'),'hex')", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
    {"encode(digest('abc','blake2s'),'hex')",
     "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"},
    {"octet_length(encode(digest('abc','blake2b'),'hex'))", "128"},
    {"left(encode(digest('abc','blake2b'),'hex'), 16)", "ba80a53f981c4d0d"},
    {"encode('é','base64')", "w6k"},
    {"encode('é','base64pad')", "w6k="},
    {"CAST(decode('w6k','base64') AS STRING)", "é"},
    {"CAST(decode('C3a9','hex') AS STRING)", "é"},
    {"length(uuid())", "36"},
    {"starts_with(version(),'Glaive ')", "true"},
    {"concat(x'c3', x'a9')", "é"},
    {"upper(arrow_cast('b','Dictionary(Int32, Utf8)'))", "B"},
    {"arrow_typeof(upper(arrow_cast('b','Dictionary(Int32, Utf8)')))", "Utf8View"},
    {"arrow_typeof(translate(arrow_cast('b','LargeUtf8'),'b','c'))", "LargeUtf8"},
    {"arrow_typeof(substr_index(arrow_cast('b','LargeUtf8'),'b',1))", "Utf8View"},
    {"arrow_typeof(encode(arrow_cast('b','LargeUtf8'),'hex'))", "LargeUtf8"},
    {"rpad('abc',5)", "abc  "},
    {"repeat('ab',3)", "ababab"},
    {"repeat('ab',0)", ""},
    {"repeat('ab',-1)", ""},
    {"repeat('',9223372036854775807)", ""},
    {"contains('apple','pl')", "true"},
    {"contains('apple','')", "true"},
    {"contains('','a')", "false"},
    {"contains('aaaaaaaaaaaaaaaaaaaab','aaaaaaaaaaaaaaaaab')", "true"},
    {"contains('aaaaaaaaaaaaaaaaaaaab','aaaaaaaaaaaaaaaaac')", "false"},
    {"contains('apple',NULL)", "NULL"},
    {"starts_with('apple','app')", "true"},
    {"starts_with('a','apple')", "false"},
    {"ends_with('apple','le')", "true"},
    {"ends_with('e','le')", "false"},
    {"strpos('héllo','l')", "3"},
    {"strpos('abc','')", "1"},
    {"strpos('abc','x')", "0"},
    {"replace('aXbX','X','é')", "aébé"},
    {"replace('abc','','-')", "-a-b-c-"},
    {"replace('aé','','-')", "-a-é-"},
    {"replace('aaa','aa','b')", "ba"},
    {"replace('abcdefghijklmnopqrstabcdefghijklmnopqrst','abcdefghijklmnopqrst','x')", "xx"},
    {"split_part('a,b,,c',',',2)", "b"},
    {"split_part('a,b,,c',',',3)", ""},
    {"split_part('a,b,,c',',',-1)", "c"},
    {"split_part('a,b,,c',',',9)", ""},
    {"split_part('a,b,,c',',',-9)", ""},
    {"split_part('abc','',1)", "abc"},
    {"split_part('abc','',2)", ""},
    {"split_part('a--b--c','--',2)", "b"},
    {"split_part('a',',',-9223372036854775807)", ""},
    {"concat('a',NULL,1,true)", "a1true"},
    {"concat(NULL,NULL)", ""},
    {"concat(1.5,DATE '2021-01-02')", "1.52021-01-02"},
    {"concat_ws(',','a',NULL,'','b')", "a,,b"},
    {"concat_ws(NULL,'a')", "NULL"},
    {"concat_ws(', ',1,2.5)", "1, 2.5"},
    {"contains_tokens('Hello, wörld-2 foo','wörld 2')", "true"},
    {"contains_tokens('a b','ab')", "false"},
    {"contains_tokens('a b','')", "true"},
    {"contains_tokens('a b',NULL)", "true"},
    {"contains_tokens('a a b','a a a')", "true"},
    {"length(x'61')", "1"},
};

static const struct sql_failure CASES_FAILURES[] = {
    {"substr('a',1,-1)", GLV_E_SQL_EXEC},
    {"lpad('x',3000000000)", GLV_E_SQL_EXEC},
    {"repeat('ab',9223372036854775807)", GLV_E_SQL_EXEC},
    {"split_part('a',',',0)", GLV_E_SQL_EXEC},
    {"concat_ws('-')", GLV_E_SQL_EXEC},
    {"upper(1)", GLV_E_SQL_PLAN},
    {"upper()", GLV_E_SQL_PLAN},
    {"upper('a','b')", GLV_E_SQL_PLAN},
    {"length('a','b')", GLV_E_SQL_PLAN},
    {"contains('a',1)", GLV_E_SQL_PLAN},
    {"left('a','b')", GLV_E_SQL_PLAN},
    {"left('a',1.5)", GLV_E_SQL_PLAN},
    {"substr(1,1)", GLV_E_SQL_PLAN},
    {"octet_length(1)", GLV_E_SQL_PLAN},
    {"replace('a','b')", GLV_E_SQL_PLAN},
    {"split_part('a','b',1.5)", GLV_E_SQL_PLAN},
    {"concat()", GLV_E_SQL_PLAN},
    {"nosuch('a')", GLV_E_SQL_PLAN},
    {"array_length('a')", GLV_E_SQL_PLAN},
    {"trim(x'61')", GLV_E_SQL_PLAN},
    {"length(x'ff')", GLV_E_SQL_PLAN},
};

static void test_cases(void **state) {
  (void)state;
  assert_sql_cases(CASES);
  assert_sql_failures(CASES_FAILURES);
}

/* Columns: the pass over all bytes, nulls, and texts that are not ASCII among others. */
static void test_columns(void **state) {
  static const char *const ascii[] = {"Name_1", NULL, "", "abcdefghijklmnopqrstuvwxyz{", "Z"};
  static const char *const mixed[] = {"Name_1", NULL, "straße", "", "ΑΣ"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, ascii, 5);
  assert_sql(&s, "upper(x)", "NAME_1|NULL||ABCDEFGHIJKLMNOPQRSTUVWXYZ{|Z");
  assert_sql(&s, "lower(x)", "name_1|NULL||abcdefghijklmnopqrstuvwxyz{|z");
  assert_sql(&s, "length(x)", "6|NULL|0|27|1");
  assert_sql(&s, "substr(x, 2, 3)", "ame|NULL||bcd|");
  assert_sql(&s, "split_part(x, '_', 2)", "1|NULL|||");
  assert_sql(&s, "concat(x, '-')", "Name_1-|-|-|abcdefghijklmnopqrstuvwxyz{-|Z-");
  assert_sql(&s, "contains(x, x)", "true|NULL|true|true|true");
  sql_text_rows(&s, mixed, 5);
  assert_sql(&s, "upper(x)", "NAME_1|NULL|STRASSE||ΑΣ");
  assert_sql(&s, "lower(x)", "name_1|NULL|straße||ας");
  assert_sql(&s, "reverse(x)", "1_emaN|NULL|eßarts||ΣΑ");
  assert_sql(&s, "right(x, 2)", "_1|NULL|ße||ΑΣ");
  assert_sql(&s, "strpos(x, 'ß')", "0|NULL|5|0|0");
  assert_sql(&s, "replace(x, x, '')", "|NULL|||");
  sql_text_rows(&s, NULL, 0);
  assert_sql(&s, "upper(x)", "");
  sql_text_close(&s);
}

/* A slice whose bytes do not begin the buffer. */
static void test_slice(void **state) {
  static const char *const values[] = {"one", "two", NULL, "three", "four"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 5);
  glv_status status = GLV_OK;
  batch sliced = batch_slice(s.t.env, &s.rows, 1, 3, NULL, &status);
  assert_int_equal(status, GLV_OK);
  batch_dispose(&s.rows);
  s.rows = sliced;
  assert_sql(&s, "upper(x)", "TWO|NULL|THREE");
  assert_sql(&s, "arrow_cast(x, 'LargeUtf8')", "two|NULL|three");
  assert_sql(&s, "upper(arrow_cast(x, 'LargeUtf8'))", "TWO|NULL|THREE");
  assert_sql(&s, "arrow_cast(arrow_cast(x, 'LargeUtf8'), 'Binary') = x", "true|NULL|true");
  sql_text_close(&s);
}

/* Sizes that nothing can hold, and values that are not there, end in errors. */
static void test_failures(void **state) {
  static const struct sql_failure failures[] = {
      {"repeat('x', 1000000000000000000)", GLV_E_SQL_EXEC},
      {"repeat(repeat('x', 1000000), 1000000)", GLV_E_SQL_EXEC},
      {"lpad('x', 9223372036854775807)", GLV_E_SQL_EXEC},
      {"levenshtein(repeat('ab', 20000), repeat('cd', 20000))", GLV_E_SQL_EXEC},
      {"chr(-1)", GLV_E_SQL_EXEC},
      {"chr(55296)", GLV_E_SQL_EXEC},
      {"chr(1114112)", GLV_E_SQL_EXEC},
      {"overlay('a', 'b', 0)", GLV_E_SQL_EXEC},
      {"digest('a', 'sha1')", GLV_E_SQL_EXEC},
      {"digest('a', 'blake3')", GLV_E_SQL_PLAN},
      {"encode('a', 'rot13')", GLV_E_SQL_EXEC},
      {"decode('a', 'hex')", GLV_E_SQL_EXEC},
      {"decode('Y', 'base64')", GLV_E_SQL_EXEC},
      {"concat(x'ff', x'fe')", GLV_E_SQL_EXEC},
      {"md5(1)", GLV_E_SQL_PLAN},
      {"to_hex(1.5)", GLV_E_SQL_PLAN},
      {"uuid(1)", GLV_E_SQL_PLAN},
  };
  (void)state;
  assert_sql_failures(failures);
}

/* Every row has one of its own. */
static void test_uuid(void **state) {
  static const char *const values[] = {"a", "b"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 2);
  const char *both = sql_text_eval(&s, "uuid()");
  assert_int_equal(strlen(both), 36 + 1 + 36);
  assert_memory_not_equal(both, both + 37, 36);
  assert_string_not_equal(both, sql_text_eval(&s, "uuid()"));
  assert_sql(&s, "translate(x, x, 'é')", "é|é");
  assert_sql(&s, "substr_index(concat(x, x, '-', x), x, -1)", "|");
  assert_sql(&s, "substr_index(concat('1', x, '2', x, '3'), x, -1)", "3|3");
  sql_text_close(&s);
}

static void test_out_of_memory(void **state) {
  static const char *const rows[] = {"Ab", NULL, "é,x"};
  static const char *const texts[] = {
      "concat(upper(x), lower(x), initcap(x), reverse(x), left(x, 1), lpad(x, 9))",
      "replace(split_part(x, ',', 1), trim(x), repeat(x, 2))",
      "concat(translate(x, 'éa', 'b'), overlay(x, 'q', 1), levenshtein(x, 'y'), md5(x))",
      "encode(digest(x, 'sha256'), 'base64pad') || substr_index(x, ',', -1) || uuid()",
      "contains_tokens(x, 'x') OR strpos(x, 'abcdefghijklmnopqrstuvwxyz') > 0",
  };
  (void)state;
  assert_sql_starves(rows, texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases), cmocka_unit_test(test_columns),
      cmocka_unit_test(test_slice), cmocka_unit_test(test_failures),
      cmocka_unit_test(test_uuid),  cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
