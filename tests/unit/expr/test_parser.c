/*
 * The parser and the printer of expressions: structure, limits, hostile texts, and what is easily
 * printed wrongly (sql-expressions sections 3, 4 and 15.3).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "expr/ast.h"
#include "expr/expr.h"
#include "support/arena_fixture.h"
#include "support/cmocka.h"

static const ast *parse(fixture *f, const char *text, unsigned flags) {
  const ast *root;
  if (ast_parse(&f->a, str_of(text), flags, LIMIT_SQL_DEPTH, &root, &f->err) != GLV_OK) {
    fail_msg("%s: %s", text, f->err.message);
  }
  return root;
}

static const char *print(fixture *f, const char *text, unsigned flags) {
  buf out;
  buf_init(&out, f->t.env, 1 << 26);
  assert_int_equal(ast_print(parse(f, text, flags), &out, &f->err), GLV_OK);
  const char *copy = arena_strdup(&f->a, buf_str(&out));
  buf_dispose(&out);
  return copy;
}

/* The structure as fully parenthesised text: (a op b). */
static void put_structure(const ast *node, buf *out) {
  if (node->kind != AST_BINARY && node->kind != AST_AND && node->kind != AST_OR &&
      node->kind != AST_UNARY && node->kind != AST_IS_DISTINCT && node->kind != AST_IS &&
      node->kind != AST_LIKE && node->kind != AST_CAST) {
    assert_int_equal(ast_print(node, out, NULL), GLV_OK);
    return;
  }
  const char *op = node->kind == AST_AND           ? "AND"
                   : node->kind == AST_OR          ? "OR"
                   : node->kind == AST_UNARY       ? "u"
                   : node->kind == AST_IS_DISTINCT ? "IDF"
                   : node->kind == AST_IS          ? "IS"
                   : node->kind == AST_LIKE        ? "LIKE"
                   : node->kind == AST_CAST        ? "::"
                                                   : ast_binary_text(node->op);
  assert_int_equal(buf_printf(out, NULL, "(%s", op), GLV_OK);
  for (uint32_t i = 0; i < node->child_count; i++) {
    assert_int_equal(buf_append_char(out, ' ', NULL), GLV_OK);
    put_structure(node->child[i], out);
  }
  assert_int_equal(buf_append_char(out, ')', NULL), GLV_OK);
}

static void assert_structure(fixture *f, const char *text, const char *expected) {
  buf out;
  buf_init(&out, f->t.env, 1 << 20);
  put_structure(parse(f, text, 0), &out);
  assert_string_equal(out.data, expected);
  buf_dispose(&out);
}

static void test_precedence(void **state) {
  fixture *f = *state;
  assert_structure(f, "1 + s || 'x'", "(+ 1 (|| s 'x'))");
  assert_structure(f, "1 << 2 + 1", "(<< 1 (+ 2 1))");
  assert_structure(f, "1 = 1 = true", "(= (= 1 1) true)");
  assert_structure(f, "s LIKE 'a' = true", "(LIKE s (= 'a' true))");
  assert_structure(f, "i = 5 IS NULL", "(IS (= i 5))");
  assert_structure(f, "NOT a = b", "(u (= a b))");
  assert_structure(f, "-1::int", "(u (:: 1))");
  assert_structure(f, "-a * b", "(* (u a) b)");
  assert_structure(f, "~a * b", "(u (* a b))");
  assert_structure(f, "a IS DISTINCT FROM b AND c", "(IDF a (AND b c))");
  assert_structure(f, "a OR b AND c OR d", "(OR a (AND b c) d)");
  assert_structure(f, "a AND b AND (c AND d)", "(AND a b (c AND d))");
  assert_structure(f, "a - b - c", "(- (- a b) c)");
  assert_structure(f, "a | b ^ c & d", "(| a (^ b (& c d)))");
  assert_structure(f, "a -> 'b' IS NULL", "(-> a (IS 'b'))");
}

static void test_nodes(void **state) {
  fixture *f = *state;
  const ast *n = parse(f, "  a . `b` . 'c'  ", 0);
  assert_int_equal(n->kind, AST_COLUMN);
  assert_int_equal(n->name_count, 3);
  assert_int_equal(n->names[1].quote, AST_BACKTICK);
  assert_int_equal(n->names[2].quote, AST_SINGLE);
  assert_int_equal(n->begin, 2);
  assert_int_equal(n->end, 15);
  n = parse(f, "\"a\"\"b\"", 0);
  assert_int_equal(n->kind, AST_STRING);
  assert_true(str_is(n->text, "a\"b"));
  n = parse(f, "\"a\"\"b\"", EXPR_DQUOTE_IDENTIFIER);
  assert_int_equal(n->kind, AST_COLUMN);
  assert_int_equal(n->names[0].quote, AST_DOUBLE);
  n = parse(f, "7L", 0);
  assert_int_equal(n->kind, AST_NUMBER);
  assert_true(str_is(n->text, "7"));
  n = parse(f, "CAST(x AS decimal(10, -2))", 0);
  assert_int_equal(n->kind, AST_CAST);
  assert_true(str_is(n->type->name, "DECIMAL"));
  assert_int_equal(n->type->number_count, 2);
  assert_int_equal(n->type->number[1], -2);
  assert_true(str_is(n->type->canonical, "DECIMAL(10,-2)"));
  n = parse(f, "x::timestamptz(3)", 0);
  assert_true(str_is(n->type->name, "TIMESTAMP"));
  assert_int_equal(n->type->zone, AST_ZONE_TZ);
  n = parse(f, "CAST(x AS int unsigned)", 0);
  assert_true(n->type->is_unsigned);
  n = parse(f, "timestamp(3) with time zone '2020-01-01'", 0);
  assert_int_equal(n->kind, AST_TYPED_STRING);
  assert_int_equal(n->type->zone, AST_ZONE_WITH);
  n = parse(f, "?1", 0);
  assert_int_equal(n->kind, AST_ODD_VALUE);
  n = parse(f, "a[1:2]", 0);
  assert_int_equal(n->kind, AST_SLICE);
  assert_null(n->child[3]);
  n = parse(f, "(st).x", 0);
  assert_int_equal(n->kind, AST_FIELD);
  n = parse(f, "current_date", 0);
  assert_int_equal(n->kind, AST_CALL);
  assert_false(n->call->has_parentheses);
  n = parse(f, "a.f(x, DISTINCT)", 0);
  assert_int_equal(n->kind, AST_CALL);
  assert_int_equal(n->name_count, 2);
}

static void test_words_are_not_reserved(void **state) {
  fixture *f = *state;
  static const char *const columns[] = {
      "case", "end",  "cast",      "left",    "value",  "date",      "array", "select", "position",
      "user", "when", "interval_", "extract", "substr", "ceil",      "map",   "not",    "year",
      "all",  "any",  "convert",   "floor",   "key",    "timestamp", "int",   "group",  "order"};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    assert_int_equal(parse(f, columns[i], 0)->kind, AST_COLUMN);
  }
  assert_structure(f, "case + 1", "(+ case 1)");
  assert_structure(f, "date - 1", "(- date 1)");
  assert_int_equal(parse(f, "case - case", 0)->kind, AST_BINARY);
  assert_int_equal(parse(f, "left(s, 1)", 0)->kind, AST_CALL);
  assert_int_equal(parse(f, "position(a, b)", 0)->kind, AST_CALL);
  assert_int_equal(parse(f, "position(a in b)", 0)->kind, AST_POSITION);
  assert_int_equal(parse(f, "overlay(a, b, 1)", 0)->kind, AST_CALL);
  assert_int_equal(parse(f, "convert(a, b + 1)", 0)->kind, AST_CALL);
  assert_int_equal(parse(f, "convert(a, int)", 0)->kind, AST_CONVERT);
  assert_int_equal(parse(f, "ceil(a, b)", 0)->kind, AST_CALL);
  assert_int_equal(parse(f, "ceil(a, 2)", 0)->kind, AST_CEIL);
  assert_int_equal(parse(f, "timestamp(3)", 0)->kind, AST_CALL);
}

static void test_refused_texts(void **state) {
  fixture *f = *state;
  static const char *const texts[] = {"",
                                      " ",
                                      "a = = b",
                                      "a IN ()",
                                      "a IN (1,)",
                                      "f(1,)",
                                      "[1,]",
                                      "'a",
                                      "\"a",
                                      "`a",
                                      "a b",
                                      "a AS b",
                                      "a;",
                                      "a,b",
                                      "a)",
                                      "(a",
                                      "a /* x",
                                      "trim(s, 'a')",
                                      "extract('month' from x)",
                                      "interval",
                                      "exists",
                                      "st.\"x\"",
                                      "a.",
                                      ".a",
                                      "a..b",
                                      "1e",
                                      "0b1",
                                      "1_000",
                                      "{'a': 1}",
                                      "a[",
                                      "a[]",
                                      "a[1",
                                      "a[1::2]",
                                      "x::int[1]",
                                      "CAST(a AS)",
                                      "CAST(a INT)",
                                      "CASE WHEN a END",
                                      "a IS b",
                                      "a NOT b",
                                      "a LIKE 'b' ESCAPE",
                                      "a BETWEEN 1",
                                      "a DIV b",
                                      "a GLOB b",
                                      "!a",
                                      "a ! b",
                                      "a # b",
                                      "@ a",
                                      "\\",
                                      "f(a) FILTER (WHERE b)",
                                      "f(a IGNORE NULLS)",
                                      "f(a) OVER",
                                      "f(a) OVER (",
                                      "(SELECT 1",
                                      "E'a'",
                                      "(st)._x",
                                      "a\xff",
                                      "\xc3\x28",
                                      "f(*",
                                      "f(DISTINCT)",
                                      "NOT EXISTS (1)",
                                      "a = ANY b",
                                      "a + ANY(b)",

                                      "x::array<int",
                                      "x::char(",
                                      "$$a",
                                      "a\x01",
                                      "x'1"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const ast *root;
    f->err = (glv_error){0};
    const glv_status status =
        ast_parse(&f->a, str_of(texts[i]), 0, LIMIT_SQL_DEPTH, &root, &f->err);
    if (status != GLV_E_SQL_PARSE) {
      fail_msg("%s: status %d", texts[i], status);
    }
    assert_int_not_equal(strlen(f->err.message), 0);
    assert_true(str_is_utf8(str_of(f->err.message)));
    assert_null(strchr(f->err.message, '\n'));
  }
  const ast *root;
  assert_int_equal(ast_parse(&f->a, str_slice("a\0b", 3), 0, LIMIT_SQL_DEPTH, &root, &f->err),
                   GLV_E_SQL_PARSE);
}

static void test_positions_in_messages(void **state) {
  fixture *f = *state;
  const ast *root;
  assert_int_equal(
      ast_parse(&f->a, STR("a = 1\n  AND \xc3\xa9 = = 2"), 0, LIMIT_SQL_DEPTH, &root, &f->err),
      GLV_E_SQL_PARSE);
  assert_string_equal(f->err.message, "SQL: expected an expression, found = at line 2, column 11");
  assert_int_equal(ast_parse(&f->a, STR("a +"), 0, LIMIT_SQL_DEPTH, &root, &f->err),
                   GLV_E_SQL_PARSE);
  assert_string_equal(f->err.message,
                      "SQL: expected an expression, found the end at line 1, column 4");
  assert_int_equal(ast_parse(&f->a, STR("a = 'b"), 0, LIMIT_SQL_DEPTH, &root, &f->err),
                   GLV_E_SQL_PARSE);
  assert_string_equal(f->err.message, "SQL: a quote is not closed at line 1, column 5");
}

static char *repeated(const char *before, const char *middle, const char *after, size_t count) {
  char *text = malloc(count * (strlen(before) + strlen(after)) + strlen(middle) + 1);
  assert_non_null(text);
  char *at = text;
  for (size_t i = 0; i < count; i++) {
    at = stpcpy(at, before);
  }
  at = stpcpy(at, middle);
  for (size_t i = 0; i < count; i++) {
    at = stpcpy(at, after);
  }
  return text;
}

static glv_status parse_repeated(fixture *f, const char *before, const char *middle,
                                 const char *after, size_t count, size_t depth) {
  char *text = repeated(before, middle, after, count);
  const ast *root;
  const glv_status status = ast_parse(&f->a, str_of(text), 0, depth, &root, &f->err);
  free(text);
  return status;
}

static void test_depth_limits(void **state) {
  fixture *f = *state;
  static const struct {
    const char *before;
    const char *middle;
    const char *after;
    size_t levels; /* of max_depth that one repetition takes */
  } forms[] = {{"(", "a", ")", 1},
               {"f(", "a", ")", 1},
               {"NOT ", "a", "", 1},
               {"- ", "a", "", 1},
               {"a + (", "a", ")", 2},
               {"[", "1", "]", 1},
               {"CAST(", "a", " AS INT)", 1},
               {"CASE WHEN a THEN ", "1", " END", 1},
               {"a[", "1", "]", 1},
               {"INTERVAL ", "'1'", "", 1},
               {"a IN (", "1", ")", 1},
               {"a BETWEEN (", "1", ") AND 2", 2}};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    const size_t most = LIMIT_SQL_VIEW_DEPTH / forms[i].levels;
    assert_int_equal(parse_repeated(f, forms[i].before, forms[i].middle, forms[i].after, most,
                                    LIMIT_SQL_VIEW_DEPTH),
                     GLV_OK);
    assert_int_equal(parse_repeated(f, forms[i].before, forms[i].middle, forms[i].after, most + 2,
                                    LIMIT_SQL_VIEW_DEPTH),
                     GLV_E_SQL_PARSE);
    assert_non_null(strstr(f->err.message, "expression nested too deeply"));
    assert_int_equal(
        parse_repeated(f, forms[i].before, forms[i].middle, forms[i].after, 20000, LIMIT_SQL_DEPTH),
        GLV_E_SQL_PARSE);
  }
  assert_int_equal(parse_repeated(f, "x::array<", "int", ">", 5000, LIMIT_SQL_DEPTH),
                   GLV_E_SQL_PARSE);
}

static void test_long_chains(void **state) {
  fixture *f = *state;
  static const char *const links[] = {" + a",     " AND a",  " OR a = 1",      " || a", "[1]",
                                      " IS NULL", "::INT",   " - a",           ".a",    " IN (1)",
                                      " = a",     " LIKE a", " AT TIME ZONE a"};
  for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
    char *text = repeated("", "a", links[i], 5000);
    const ast *root;
    if (ast_parse(&f->a, str_of(text), 0, LIMIT_SQL_VIEW_DEPTH, &root, &f->err) != GLV_OK) {
      fail_msg("%s: %s", links[i], f->err.message);
    }
    buf out;
    buf_init(&out, f->t.env, 1 << 26);
    assert_int_equal(ast_print(root, &out, &f->err), GLV_OK);
    assert_string_equal(out.data, text);
    buf_dispose(&out);
    bool wraps;
    assert_int_equal(expr_needs_wrap(f->t.env, str_of(text), 0, &wraps, &f->err), GLV_OK);
    free(text);
  }
  const ast *root = parse(f, "a OR b OR c OR d", 0);
  assert_int_equal(root->child_count, 4);
}

static void test_spine(void **state) {
  fixture *f = *state;
  const ast *root = parse(f, "f(x)[1].y + 2 IS NULL", 0);
  const ast **nodes;
  size_t count;
  assert_int_equal(ast_spine(&f->a, root, &nodes, &count, &f->err), GLV_OK);
  assert_int_equal(count, 5);
  assert_int_equal(nodes[0]->kind, AST_CALL);
  assert_int_equal(nodes[1]->kind, AST_SUBSCRIPT);
  assert_int_equal(nodes[2]->kind, AST_FIELD);
  assert_int_equal(nodes[3]->kind, AST_BINARY);
  assert_ptr_equal(nodes[4], root);
  assert_false(ast_has_left(nodes[0]));
  assert_int_equal(ast_strip(parse(f, "((a))", 0))->kind, AST_COLUMN);
}

/* Texts that would take exponential time if every failed reading were repeated. */
static void test_no_exponential_time(void **state) {
  fixture *f = *state;
  static const char *const pieces[] = {"case - ",     "case (",     "overlay(",        "position(",
                                       "convert(a, ", "substring(", "case not ",       "array < ",
                                       "timestamp(",  "cast(",      "interval - case "};
  for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
    parse_repeated(f, pieces[i], "a", "", 150, LIMIT_SQL_DEPTH);
  }
}

static void assert_prints(fixture *f, const char *text, const char *expected) {
  assert_string_equal(print(f, text, EXPR_DQUOTE_IDENTIFIER | AST_PARSE_AGGREGATES), expected);
  assert_string_equal(print(f, expected, EXPR_DQUOTE_IDENTIFIER | AST_PARSE_AGGREGATES), expected);
}

static void test_printing(void **state) {
  fixture *f = *state;
  assert_prints(f, "upper(\"name\")", "upper(name)");
  assert_prints(f, "Upper ( name )", "Upper(name)");
  assert_prints(f, "x!=1", "x <> 1");
  assert_prints(f, "x==1", "x = 1");
  assert_prints(f, "- - x", "- -x");
  assert_prints(f, "-(-1)", "-(-1)");
  assert_prints(f, "~ ~x", "~ ~x");
  assert_prints(f, "- ~ + x", "-~+x");
  assert_prints(f, "'a''''b'", "'a''''b'");
  assert_prints(f, "0x1F", "X'1F'");
  assert_prints(f, "struct(a, b)", "STRUCT(a, b)");
  assert_prints(f, "CASE \"when\" WHEN 1 THEN 2 ELSE 3 END",
                "CASE `when` WHEN 1 THEN 2 ELSE 3 END");
  assert_prints(f, "`any` = `some`", "`any` = `some`");
  assert_prints(f, "`array`[1]", "`array`[1]");
  assert_prints(f, "`substr`(a, 1)", "`substr`(a, 1)");
  assert_prints(f, "trim(`both` from x)", "TRIM(`both` FROM x)");
  assert_prints(f, "trim(trailing 'x' from y)", "TRIM(TRAILING 'x' FROM y)");
  assert_prints(f, "a.`_b`", "a._b");
  assert_prints(f, "(a).`_b`", "(a).`_b`");
  assert_prints(f, "a.'x'.`_y`", "a.'x'.`_y`");
  assert_prints(f, "1 .x", "1 .x");
  assert_prints(f, "substring(a from 1 for 2)", "SUBSTRING(a FROM 1 FOR 2)");
  assert_prints(f, "substr(a,1)", "SUBSTR(a, 1)");
  assert_prints(f, "overlay(a placing b from 1 for 2)", "OVERLAY(a PLACING b FROM 1 FOR 2)");
  assert_prints(f, "extract(year from x)", "EXTRACT(YEAR FROM x)");
  assert_prints(f, "ceil(x to day)", "CEIL(x TO DAY)");
  assert_prints(f, "interval '1-1' year to month", "INTERVAL '1-1' YEAR to month");
  assert_prints(f, "x not in (1,2)", "x NOT IN (1, 2)");
  assert_prints(f, "x not null", "x IS NOT NULL");
  assert_prints(f, "a is not distinct from b", "a IS NOT DISTINCT FROM b");
  assert_prints(f, "a similar to 'b' escape '\\'", "a SIMILAR TO 'b' ESCAPE '\\'");
  assert_prints(f, "a like any ('b')", "a LIKE ANY ('b')");
  assert_prints(f, "a = some(b)", "a = SOME(b)");
  assert_prints(f, "a member of(b)", "a MEMBER OF(b)");
  assert_prints(f, "a collate 'c'", "a COLLATE 'c'");
  assert_prints(f, "not exists (SELECT 1)", "NOT EXISTS (SELECT 1)");
  assert_prints(f, "map {'a': 1}", "MAP {'a': 1}");
  assert_prints(f, "{ts '2020-01-01'}", "{ts '2020-01-01'}");
  assert_prints(f, "double precision '1'", "DOUBLE PRECISION '1'");
  assert_prints(f, "a:b.c", "a:b.c");
  assert_prints(f, "x[ : 2]", "x[:2]");
  assert_prints(f, "x[1:2:3]", "x[1:2:3]");
  assert_prints(f, "count ( distinct x ) filter (where y)", "count(DISTINCT x) FILTER (WHERE y)");
  assert_prints(f, "array_agg(x order by y desc nulls first)",
                "array_agg(x ORDER BY y DESC NULLS FIRST)");
  assert_prints(f, "p(0.5) within group (order by x)", "p(0.5) WITHIN GROUP (ORDER BY x)");
  assert_prints(f, "first_value(x) ignore nulls over (order by y)",
                "first_value(x) IGNORE NULLS OVER (order by y)");
  assert_prints(f, "f(a => 1, t.*, *)", "f(a => 1, t.*, *)");
}

static void test_identifiers(void **state) {
  fixture *f = *state;
  static const char *const bare[] = {"a", "_x1", "when", "case", "date", "user", "and", "between"};
  static const char *const quoted[] = {"A",     "1a",   "a b", "",        "select",
                                       "limit", "view", "a-b", "\xc3\xa9"};
  buf out;
  buf_init(&out, f->t.env, 1 << 20);
  for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++) {
    buf_clear(&out);
    assert_int_equal(expr_print_identifier(str_of(bare[i]), &out, &f->err), GLV_OK);
    assert_true(str_is(buf_str(&out), bare[i]));
  }
  for (size_t i = 0; i < sizeof quoted / sizeof quoted[0]; i++) {
    buf_clear(&out);
    assert_int_equal(expr_print_identifier(str_of(quoted[i]), &out, &f->err), GLV_OK);
    assert_int_equal(out.data[0], '`');
  }
  buf_clear(&out);
  assert_int_equal(expr_print_identifier(STR("a`b"), &out, &f->err), GLV_OK);
  assert_true(str_is(buf_str(&out), "`a``b`"));
  buf_dispose(&out);
}

static void test_requote(void **state) {
  fixture *f = *state;
  buf out;
  buf_init(&out, f->t.env, 1 << 20);
  assert_int_equal(expr_requote(STR(" \"a\"\"b`c\" /* \"x\" */ = 'd\"e' -- \"y\""), &out, &f->err),
                   GLV_OK);
  assert_true(str_is(buf_str(&out), " `a\"b``c` /* \"x\" */ = 'd\"e' -- \"y\""));
  buf_clear(&out);
  assert_int_equal(expr_requote(STR("a = \"b"), &out, &f->err), GLV_E_SQL_PARSE);
  assert_int_equal(expr_requote(STR("\xff"), &out, &f->err), GLV_E_SQL_PARSE);
  buf_clear(&out);
  assert_int_equal(expr_requote(STR(""), &out, &f->err), GLV_OK);
  assert_int_equal(out.size, 0);
  buf_dispose(&out);
}

static void test_needs_wrap(void **state) {
  fixture *f = *state;
  static const char *const wide[] = {"CASE WHEN a THEN 1 END",
                                     "ceil(a)",
                                     "a + floor(b)",
                                     "NOT (a ~ 'x')",
                                     "trim(a)",
                                     "a AND b & c = 1",
                                     "position('a' IN b)",
                                     "EXTRACT(YEAR FROM a)",
                                     "INTERVAL '1 day' + a",
                                     "a AT TIME ZONE 'UTC'",
                                     "a IS UNKNOWN",
                                     "a SIMILAR TO 'b'",
                                     "a[1:2]",
                                     "[a]",
                                     "[]",
                                     "[1, NULL]",
                                     "[1, 'a']",
                                     "+a",
                                     "a::VARCHAR",
                                     "TRY_CAST(a AS BOOL)",
                                     "BOOL 'true'",
                                     "a = ANY(b)",
                                     "is_valid(ceil(a))",
                                     "a::DECIMAL",
                                     "st.x @> y",
                                     "a IN (1, ceil(b))",
                                     "CAST(ceil(a) AS INT)"};
  static const char *const narrow[] = {"a",
                                       "a + 1",
                                       "f(ceil(a))",
                                       "coalesce(CASE WHEN a THEN 1 END, 0)",
                                       "a LIKE 'b'",
                                       "~a",
                                       "[1, -2]",
                                       "[1.5, 2]",
                                       "a::INT",
                                       "DATE '2020-01-01'",
                                       "a IS DISTINCT FROM b",
                                       "a IS NOT TRUE",
                                       "a[1]['x'].y",
                                       "a::DECIMAL(10, 2)",
                                       "TIMESTAMP '2020-01-01'",
                                       "a XOR b",
                                       "IS_VALID(ceil(a))",
                                       "a = ALL(b)",
                                       "a << 1"};
  bool wraps;
  for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
    assert_int_equal(expr_needs_wrap(f->t.env, str_of(wide[i]), 0, &wraps, &f->err), GLV_OK);
    if (!wraps) {
      fail_msg("%s", wide[i]);
    }
  }
  for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
    assert_int_equal(expr_needs_wrap(f->t.env, str_of(narrow[i]), 0, &wraps, &f->err), GLV_OK);
    if (wraps) {
      fail_msg("%s", narrow[i]);
    }
  }
  assert_int_equal(
      expr_needs_wrap(f->t.env, STR("a IS DISTINCT FROM b"), EXPR_VIEW, &wraps, &f->err), GLV_OK);
  assert_true(wraps);
}

static void test_every_allocation_may_fail(void **state) {
  fixture *f = *state;
  static const char text[] = "CASE k WHEN case - a.b.`c``d` THEN CAST(x AS TIMESTAMP(3) WITH TIME "
                             "ZONE) ELSE f(x, 'a''b')[1] END";
  for (uint64_t n = 1; n < 100; n++) {
    arena a;
    arena_init(&a, f->t.env);
    buf out;
    buf_init(&out, f->t.env, 1 << 20);
    const ast *root;
    alloc_fault_arm(&f->t.alloc, n, false);
    glv_status status = ast_parse(&a, STR(text), 0, LIMIT_SQL_DEPTH, &root, &f->err);
    if (status == GLV_OK) {
      status = ast_print(root, &out, &f->err);
    }
    const bool fired = f->t.alloc.fired;
    alloc_fault_arm(&f->t.alloc, 0, false);
    buf_dispose(&out);
    arena_dispose(&a);
    if (!fired) {
      assert_int_equal(status, GLV_OK);
      return;
    }
    assert_int_equal(status, GLV_E_NOMEM);
  }
  fail_msg("the fault never stopped firing");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_precedence, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_nodes, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_words_are_not_reserved, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_refused_texts, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_positions_in_messages, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_depth_limits, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_long_chains, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_spine, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_no_exponential_time, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_printing, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_identifiers, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_requote, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_needs_wrap, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, fixture_setup,
                                      fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
