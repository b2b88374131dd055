/* Regular expressions: the syntax that is accepted and refused, flags, replacement texts. */
#include <stdio.h>

#include "support/rng.h"
#include "unit/expr/sql_text.h"

static const struct sql_case CASES[] = {
    {"regexp_instr('héllo','l')", "3"},
    {"regexp_instr('hello','l',1,2)", "4"},
    {"regexp_instr('hello','l',4)", "4"},
    {"regexp_instr('hello','L',1,1,'i')", "3"},
    {"regexp_instr('hello','(h)(e)',1,1,'',2)", "2"},
    {"regexp_instr('hello','z')", "0"},
    {"regexp_instr('hello','l',100)", "0"},
    {"regexp_instr('hello','h',1,1,'',9)", "0"},
    {"regexp_instr(x,'')", "0"},
    {"regexp_instr(x,'a')", "NULL"},
    {"regexp_instr('a',NULL)", "NULL"},
    {"regexp_match('foobar','(o)(b)')", "[o, b]"},
    {"regexp_match('foobar','o.')", "[oo]"},
    {"regexp_match('foobar','(z)?(f)')", "[f]"},
    {"regexp_match('foobar','')", "[]"},
    {"regexp_match('foobar','q')", "NULL"},
    {"regexp_match('foobar','O','i')", "[o]"},
    {"regexp_match('foobar','o',NULL)", "[o]"},
    {"arrow_typeof(regexp_match(arrow_cast('a','LargeUtf8'),'a'))", "List(Utf8View)"},
    {"regexp_like('apple','^a.*e$')", "true"},
    {"regexp_like('a\nb','a.b')", "false"},
    {"regexp_like('a\nb','a.b','s')", "true"},
    {"regexp_like('a\nb','^b','m')", "true"},
    {"regexp_like('AB','ab','i')", "true"},
    {"regexp_like('é','^\\w$')", "true"},
    {"regexp_like('é','(?-u)^\\w')", "false"},
    {"regexp_like('a','\\ba\\b')", "true"},
    {"regexp_like('à','^[[:alpha:]]$')", "false"},
    {"regexp_like('क्ष','^\\w+$')", "true"},
    {"regexp_like('a',' a ','x')", "true"},
    {"regexp_like('a','(?x) a # c')", "true"},
    {"regexp_like('x','[a-z&&[^b-y]]')", "false"},
    {"regexp_like('z','[a-z&&[^b-y]]')", "true"},
    {"regexp_like('e','[a-z--[aeiou]]')", "false"},
    {"regexp_like('f','[a-z--[aeiou]]')", "true"},
    {"regexp_like('b','[a-c~~b-d]')", "false"},
    {"regexp_like('d','[a-c~~b-d]')", "true"},
    {"regexp_like(']','[]a]')", "true"},
    {"regexp_like('-','[--a]')", "true"},
    {"regexp_like('a','[^\\W]')", "true"},
    {"regexp_like(' ','[\\W]')", "true"},
    {"regexp_like('Σ','\\p{Greek}')", "true"},
    {"regexp_like('Σ','\\p{Uppercase_Letter}')", "true"},
    {"regexp_like('a','\\P{L}')", "false"},
    {"regexp_like('A','\\x41\\z')", "true"},
    {"regexp_like('A','\\u{41}')", "true"},
    {"regexp_like('aa','^a++$')", "true"},
    {"regexp_like('aaaa','^(?:a{2}){2}$')", "true"},
    {"regexp_like('a','a',NULL)", "true"},
    {"regexp_like(NULL,'.*')", "NULL"},
    {"regexp_like('a',NULL)", "NULL"},
    {"regexp_replace('apple','p','X')", "aXple"},
    {"regexp_replace('apple','p','X','g')", "aXXle"},
    {"regexp_replace('ab','(a)(b)','\\2\\1')", "ba"},
    {"regexp_replace('ab','(a)(b)','\\\\2$1')", "ba"},
    {"regexp_replace('ab','(?P<x>a)','[$x|${x}y|$xy]')", "[a|ay|]b"},
    {"regexp_replace('a','a','$$1')", "$1"},
    {"regexp_replace('a','(a)','$9|$|${|\\&|\\')", "|$|${|\\&|\\"},
    {"regexp_replace('abc','','-','g')", "-a-b-c-"},
    {"regexp_replace('abc','b*','-','g')", "-a-c-"},
    {"regexp_replace('aé','','-','g')", "-a-é-"},
    {"regexp_replace('aAa','A','x','gi')", "xxx"},
    {"regexp_replace('a\nb','^','>','gm')", ">a\n>b"},
    {"regexp_replace('a',NULL,'b')", "NULL"},
    {"regexp_replace('aaa','a+?','x')", "xaa"},
    {"regexp_replace('aaa','(?U)a+','x')", "xaa"},
    {"regexp_count('banana','a')", "3"},
    {"regexp_count('banana','a',3)", "2"},
    {"regexp_count('banana','A',1,'i')", "3"},
    {"regexp_count('abc','')", "4"},
    {"regexp_count('abc','',4)", "1"},
    {"regexp_count('abc','',5)", "0"},
    {"regexp_count(NULL,'a')", "0"},
    {"regexp_count('a',NULL)", "0"},
};

static const struct sql_failure CASES_FAILURES[] = {
    {"regexp_instr('a','a',0)", GLV_E_SQL_EXEC},
    {"regexp_instr('a','a',1,0)", GLV_E_SQL_EXEC},
    {"regexp_instr('a','(')", GLV_E_SQL_EXEC},
    {"regexp_instr('a','a',1,1,'g')", GLV_E_SQL_EXEC},
    {"regexp_match('a','a','g')", GLV_E_SQL_EXEC},
    {"regexp_match('a','a','')", GLV_E_SQL_EXEC},
    {"regexp_match('a','(')", GLV_E_SQL_EXEC},
    {"regexp_like('a','(')", GLV_E_SQL_PLAN},
    {"regexp_like('a','(',NULL)", GLV_E_SQL_EXEC},
    {"regexp_like('a','a','q')", GLV_E_SQL_EXEC},
    {"regexp_like('a','a','ii')", GLV_E_SQL_EXEC},
    {"regexp_like('a','a','g')", GLV_E_SQL_EXEC},
    {"regexp_like('a','a(?=b)')", GLV_E_SQL_PLAN},
    {"regexp_like('a','(?<!b)a')", GLV_E_SQL_PLAN},
    {"regexp_like('a','(a)\\1')", GLV_E_SQL_PLAN},
    {"regexp_like('a','(?>a)')", GLV_E_SQL_PLAN},
    {"regexp_like('a','(?R')", GLV_E_SQL_PLAN},
    {"regexp_like('a','(?P>n)')", GLV_E_SQL_PLAN},
    {"regexp_like('a','a{')", GLV_E_SQL_PLAN},
    {"regexp_like('a','a{2,1}')", GLV_E_SQL_PLAN},
    {"regexp_like('a','*a')", GLV_E_SQL_PLAN},
    {"regexp_like('a','[b-a]')", GLV_E_SQL_PLAN},
    {"regexp_like('a','[a')", GLV_E_SQL_PLAN},
    {"regexp_like('a','a)')", GLV_E_SQL_PLAN},
    {"regexp_like('a','\\Z')", GLV_E_SQL_PLAN},
    {"regexp_like('a','\\Qa\\E')", GLV_E_SQL_PLAN},
    {"regexp_like('a','\\p{Nope}')", GLV_E_SQL_PLAN},
    {"regexp_like('a','\\p{L&}')", GLV_E_SQL_PLAN},
    {"regexp_like('a','(?<n>a)(?<n>b)')", GLV_E_SQL_PLAN},
    {"regexp_like('a','(?#c)')", GLV_E_SQL_PLAN},
    {"regexp_like('a','a(*ACCEPT)')", GLV_E_SQL_PLAN},
    {"regexp_like('a','(?-u:.)')", GLV_E_SQL_PLAN},
    {"regexp_like('a','\\x{110000}')", GLV_E_SQL_PLAN},
    {"regexp_like('a','a\\')", GLV_E_SQL_PLAN},
    {"regexp_like(1,'1')", GLV_E_SQL_PLAN},
    {"regexp_like('a')", GLV_E_SQL_PLAN},
    {"regexp_replace('a','a','b','')", GLV_E_SQL_EXEC},
    {"regexp_replace('a','a','b','gg')", GLV_E_SQL_EXEC},
    {"regexp_replace('a','(','b')", GLV_E_SQL_EXEC},
    {"regexp_replace('a','a')", GLV_E_SQL_PLAN},
    {"regexp_count('a','a',0)", GLV_E_SQL_EXEC},
    {"regexp_count('a','(')", GLV_E_SQL_EXEC},
    {"regexp_count('a','a',1,'g')", GLV_E_SQL_EXEC},
};

static void test_cases(void **state) {
  (void)state;
  assert_sql_cases(CASES);
  assert_sql_failures(CASES_FAILURES);
}

/* Patterns that change from row to row. */
static void test_columns(void **state) {
  static const char *const values[] = {"a+", NULL, "b", "b", "aab"};
  (void)state;
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, values, 5);
  assert_sql(&s, "regexp_like('aab', x)", "true|NULL|true|true|true");
  assert_sql(&s, "regexp_replace('aab', x, '<$0>')", "<aa>b|NULL|aa<b>|aa<b>|<aab>");
  assert_sql(&s, "regexp_count(x, 'a', 2)", "0|0|0|0|1");
  assert_sql(&s, "regexp_like(x, '.*')", "true|false|true|true|true"); /* is not null */
  assert_sql(&s, "regexp_like(x, 'a+')", "true|NULL|false|false|true");
  assert_sql(&s, "regexp_like(x, 'a.*b$')", "false|NULL|false|false|true");
  assert_sql(&s, "regexp_like(x, 'A', 'i')", "true|NULL|false|false|true");
  assert_sql_fails(&s, "regexp_like('a', x, x)", GLV_E_SQL_EXEC);
  assert_sql_fails(&s, "regexp_like('a', concat('(', x))", GLV_E_SQL_EXEC);
  sql_text_close(&s);
}

/* What would take for ever in a backtracking matcher ends in an error. */
static void test_runaway(void **state) {
  (void)state;
  sql_text s;
  sql_text_open(&s);
  assert_sql_fails(&s, "regexp_like(concat(repeat('x', 40), 'y'), '^(x+x+)+$')", GLV_E_SQL_EXEC);
  assert_sql_fails(&s, "regexp_like(concat(repeat('a', 30), 'c'), '^(a|aa)+$')", GLV_E_SQL_EXEC);
  assert_sql_fails(&s, "regexp_replace(concat(repeat('x', 5000), 'y'), '^((x*)*)*$', 'z', 'g')",
                   GLV_E_SQL_EXEC);
  assert_sql(&s, "regexp_like(repeat('a', 20000), '^(a|b)*$')", "true");
  assert_sql(&s, "regexp_count(repeat('ab', 100000), 'a(?:b|c)')", "100000");
  sql_text_close(&s);
}

static void test_large_patterns(void **state) {
  static char sql[100000];
  (void)state;
  sql_text s;
  sql_text_open(&s);
  const struct {
    const char *open, *close;
  } shapes[] = {{"(", ""}, {"(", ")"}, {"[", "]"}, {"[a~~", "]"}, {"(?:a|", ")*"}, {"a+", ""}};
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
    size_t size = (size_t)sprintf(sql, "coalesce(regexp_like('a', '");
    for (int i = 0; i < 3000; i++) {
      size += (size_t)sprintf(sql + size, "%s", shapes[k].open);
    }
    for (int i = 0; i < 3000; i++) {
      size += (size_t)sprintf(sql + size, "%s", shapes[k].close);
    }
    sprintf(sql + size, "'), false)");
    const glv_status status = sql_text_status(&s, sql);
    assert_true(status == GLV_OK || status == GLV_E_SQL_PLAN);
  }
  assert_sql_fails(&s, "regexp_like('a', repeat('(', 100000))", GLV_E_SQL_PLAN);
  sql_text_close(&s);
}

/* Random patterns neither crash nor read outside, whatever they mean. */
static void test_random_patterns(void **state) {
  static const char alphabet[] = "aab.c*+?()|[]^$\\{}12,-x&~:<>=!PpLudwsbB#i \xc3\xa9";
  (void)state;
  sql_text s;
  sql_text_open(&s);
  rng r = rng_of(7);
  for (int i = 0; i < 20000; i++) {
    char sql[128];
    char pattern[16];
    size_t size = 0;
    for (size_t n = rng_below(&r, 12); size < n;) {
      const size_t at = rng_below(&r, sizeof alphabet - 1);
      if ((uint8_t)alphabet[at] < 0x80) {
        pattern[size++] = alphabet[at];
      }
    }
    snprintf(sql, sizeof sql, "regexp_replace('aab12 xc', '%.*s', '$0$1', 'g')", (int)size,
             pattern);
    const glv_status status = sql_text_status(&s, sql);
    assert_true(status == GLV_OK || status == GLV_E_SQL_EXEC);
  }
  sql_text_close(&s);
}

static void test_out_of_memory(void **state) {
  static const char *const rows[] = {"ab", NULL, "b"};
  static const char *const texts[] = {
      "regexp_replace(x, '(?P<n>[a-z&&[^b]])|[[:alpha:]]', '<$n>', 'g')",
      "regexp_like(x, x) AND regexp_count(x, 'b') > 0",
      "regexp_instr(x, x) + array_length(regexp_match(x, '(a)|(b)'))",
      "regexp_like(x, 'a.*') AND regexp_like(x, 'B', 'i')",
  };
  (void)state;
  assert_sql_starves(rows, texts);
}

/* Planning that fails behind a compiled pattern leaves nothing of it. */
static void test_failed_plans(void **state) {
  static const char *const texts[] = {
      "regexp_like(x, 'a.*') AND no_such(x)",
      "regexp_replace(x, '(a)', '$1') || arrow_cast(x, 'NoType')",
      "regexp_count(x, 'b+') + CAST('z' AS INT)",
      "coalesce(regexp_like(x, '^b$'), regexp_like(x, '(', 'i'))",
  };
  (void)state;
  sql_text s;
  sql_text_open(&s);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const uint64_t blocks = atomic_load(&s.t.alloc.live_blocks);
    assert_int_equal(sql_text_status(&s, texts[i]), GLV_E_SQL_PLAN);
    assert_int_equal(atomic_load(&s.t.alloc.live_blocks), blocks);
  }
  sql_text_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),           cmocka_unit_test(test_columns),
      cmocka_unit_test(test_runaway),         cmocka_unit_test(test_large_patterns),
      cmocka_unit_test(test_random_patterns), cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_failed_plans),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
