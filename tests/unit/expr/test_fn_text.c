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

static void test_out_of_memory(void **state) {
  static const char *const rows[] = {"Ab", NULL, "é,x"};
  static const char *const texts[] = {
      "concat(upper(x), lower(x), initcap(x), reverse(x), left(x, 1), lpad(x, 9))",
      "replace(split_part(x, ',', 1), trim(x), repeat(x, 2))",
      "contains_tokens(x, 'x') OR strpos(x, 'abcdefghijklmnopqrstuvwxyz') > 0",
  };
  (void)state;
  assert_sql_starves(rows, texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_slice),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
