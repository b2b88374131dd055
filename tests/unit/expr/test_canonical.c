/*
 * The recorded cases of the reference: which texts parse, the canonical text of view definitions,
 * byte for byte, and which of these plan, with which types. The folder of the cases is named by the
 * environment variable GLAIVE_CASES; without it the tests are skipped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "expr/ast.h"
#include "expr/expr.h"
#include "expr/group.h"
#include "expr/select.h"
#include "support/cmocka.h"
#include "support/test_env.h"

typedef struct fixture {
  test_env t;
  size_t cases;
  size_t failures;
} fixture;

/* The whole file of cases, or NULL; the caller frees it. */
static char *read_cases(const char *name) {
  const char *folder = getenv("GLAIVE_CASES");
  char path[1024];
  if (folder == NULL ||
      snprintf(path, sizeof path, "%s/sql/%s", folder, name) >= (int)sizeof path) {
    return NULL;
  }
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    return NULL;
  }
  assert_int_equal(fseek(f, 0, SEEK_END), 0);
  const long size = ftell(f);
  assert_int_equal(fseek(f, 0, SEEK_SET), 0);
  char *text = malloc((size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, f), (size_t)size);
  text[size] = '\0';
  fclose(f);
  return text;
}

typedef void (*case_function)(fixture *f, size_t line, const json *c);

/* Call test for every line of a file; fails the test when one of them added to failures. */
static void for_each_case(const char *name, case_function test) {
  char *text = read_cases(name);
  if (text == NULL) {
    print_message(
        "SKIPPED: no recorded cases; GLAIVE_CASES must name the folder that holds sql/%s\n", name);
    skip();
  }
  fixture f = {.cases = 0};
  test_env_open_mem(&f.t);
  size_t line = 0;
  for (char *at = text; *at != '\0';) {
    char *end = at + strcspn(at, "\n");
    char *next = *end != '\0' ? end + 1 : end;
    *end = '\0';
    char *values = strstr(at, ", \"values\": "); /* not needed, and with numbers of 64 bits */
    if (values != NULL) {
      memcpy(values, "}", 2);
    }
    json *c;
    glv_error err;
    assert_int_equal(js_parse(str_of(at), &c, &err), GLV_OK);
    test(&f, ++line, c);
    js_free(c);
    at = next;
  }
  test_env_close(&f.t);
  free(text);
  print_message("%zu cases of %s, %zu failures\n", f.cases, name, f.failures);
  assert_int_equal(f.failures, 0);
}

static str member(const json *c, const char *key) {
  const json *value = js_member(c, key);
  return value != NULL ? js_string(value) : (str){NULL, 0};
}

static void report(fixture *f, size_t line, str text, const char *what) {
  f->failures++;
  print_error("line %zu: %.*s: %s\n", line, STR_ARG(text), what);
}

/* ---- which texts parse ---- */

static void check_class(fixture *f, size_t line, const json *c) {
  const str text = member(c, "expr");
  if (str_is(text, "1st")) {
    return; /* the name of a column as the whole text: the planner's business */
  }
  f->cases++;
  arena a;
  arena_init(&a, f->t.env);
  const ast *root;
  glv_error err = {0};
  const unsigned flags = str_is(member(c, "mode"), "group") ? AST_PARSE_AGGREGATES : 0;
  const glv_status status = ast_parse(&a, text, flags, LIMIT_SQL_DEPTH, &root, &err);
  const bool must_fail = str_is(member(c, "error_kind"), "parse");
  if (status != (must_fail ? GLV_E_SQL_PARSE : GLV_OK)) {
    report(f, line, text, must_fail ? "parses" : err.message);
  }
  if (status == GLV_OK) {
    buf first;
    buf again;
    buf_init(&first, f->t.env, 1 << 20);
    buf_init(&again, f->t.env, 1 << 20);
    assert_int_equal(ast_print(root, &first, &err), GLV_OK);
    if (ast_parse(&a, buf_str(&first), flags, LIMIT_SQL_DEPTH, &root, &err) != GLV_OK ||
        ast_print(root, &again, &err) != GLV_OK || !str_equal(buf_str(&first), buf_str(&again))) {
      report(f, line, text, "its canonical text does not read back as itself");
    }
    buf_dispose(&first);
    buf_dispose(&again);
  }
  arena_dispose(&a);
}

static void test_parse_classes(void **state) {
  (void)state;
  for_each_case("cases.jsonl", check_class);
}

/* ---- canonical texts ---- */

/* Up to the first `;`, where the sentence about the accepted shape begins. */
static str first_phrase(str text) {
  const char *end = memchr(text.data, ';', text.size);
  return end != NULL ? str_slice(text.data, (size_t)(end - text.data)) : text;
}

static bool contains(const char *message, str phrase) {
  for (const char *at = message; *at != '\0'; at++) {
    if (strncmp(at, phrase.data, phrase.size) == 0) {
      return true;
    }
  }
  return false;
}

static void check_query(fixture *f, size_t line, const json *c) {
  const str text = member(c, "sql");
  const str canonical = member(c, "canonical");
  arena a;
  arena_init(&a, f->t.env);
  select_statement s;
  glv_error err = {0};
  const glv_status status = select_parse_view(&a, text, &s, &err);
  const bool is_refused = !js_bool(js_member(c, "accepted")) && str_is(member(c, "stage"), "parse");
  if (is_refused &&
      (status != GLV_E_SQL_PARSE || !contains(err.message, first_phrase(member(c, "error"))))) {
    report(f, line, text, status == GLV_OK ? "is accepted" : err.message);
  } else if (!is_refused && status != GLV_OK) {
    report(f, line, text, err.message);
  } else if (!is_refused && canonical.size != 0 && !str_is(canonical, s.canonical)) {
    report(f, line, text, s.canonical);
  }
  arena_dispose(&a);
}

/* An expression as column or filter of a view: `query` is the stored text. */
static void check_expression(fixture *f, size_t line, const json *c) {
  const str text = member(c, "sql");
  const str query = member(c, "query");
  const bool is_filter = str_is(member(c, "kind"), "where");
  buf out;
  buf_init(&out, f->t.env, 1 << 20);
  glv_error err = {0};
  assert_int_equal(
      buf_append_str(&out, is_filter ? STR("SELECT id FROM t WHERE ") : STR("SELECT "), &err),
      GLV_OK);
  const glv_status status =
      expr_print_canonical(f->t.env, text, EXPR_DQUOTE_IDENTIFIER | EXPR_VIEW, &out, &err);
  if (!is_filter) {
    assert_int_equal(buf_append_str(&out, STR(" AS out FROM t"), &err), GLV_OK);
  }
  if (query.size == 0) {
    const bool is_parse_error =
        contains(js_string(js_member(c, "error")).data, STR("parser error"));
    if (is_parse_error && status != GLV_E_SQL_PARSE) {
      report(f, line, text, "parses");
    }
  } else if (status != GLV_OK || !str_equal(buf_str(&out), query)) {
    report(f, line, text, status != GLV_OK ? err.message : out.data);
  }
  buf_dispose(&out);
  if (query.size != 0) { /* and the stored text reads back as itself */
    arena a;
    arena_init(&a, f->t.env);
    select_statement s;
    if (select_parse_view(&a, query, &s, &err) != GLV_OK || !str_is(query, s.canonical)) {
      report(f, line, query, "does not read back as itself");
    }
    arena_dispose(&a);
  }
}

static void check_canonical(fixture *f, size_t line, const json *c) {
  f->cases++;
  if (str_is(member(c, "kind"), "query")) {
    check_query(f, line, c);
  } else {
    check_expression(f, line, c);
  }
}

static void test_canonical_texts(void **state) {
  (void)state;
  for_each_case("canon_cases.jsonl", check_canonical);
}

/* ---- planned ---- */

/* Columns of the table that the recorded definitions read; `c` is what UNNEST(tags) gives. */
static schema *source_schema(test_env *t, bool is_unnested) {
  static const type microseconds = {.kind = TYPE_TIMESTAMP, .unit = UNIT_MICRO};
  arena a;
  arena_init(&a, t->env);
  const field n = {.name = "n", .type = type_simple(TYPE_INT64), .nullable = true};
  const field meta[] = {{.name = "title", .type = type_simple(TYPE_UTF8), .nullable = true},
                        {.name = "Sub", .type = type_struct(&a, &n, 1), .nullable = true}};
  const field item = {.name = "item", .type = type_simple(TYPE_UTF8), .nullable = true};
  const field fields[] = {
      {.name = "id", .type = type_simple(TYPE_INT64), .nullable = true},
      {.name = "x", .type = type_simple(TYPE_INT32), .nullable = true},
      {.name = "y", .type = type_simple(TYPE_FLOAT64), .nullable = true},
      {.name = "name", .type = type_simple(TYPE_UTF8), .nullable = true},
      {.name = "Name", .type = type_simple(TYPE_UTF8), .nullable = true},
      {.name = "when", .type = &microseconds, .nullable = true},
      {.name = "dt", .type = type_simple(TYPE_DATE32), .nullable = true},
      {.name = "b", .type = type_simple(TYPE_BOOL), .nullable = true},
      is_unnested
          ? (field){.name = "c", .type = type_simple(TYPE_UTF8), .nullable = true}
          : (field){.name = "tags", .type = type_list(&a, TYPE_LIST, &item), .nullable = true},
      {.name = "meta", .type = type_struct(&a, meta, 2), .nullable = true},
      {.name = "sp ace", .type = type_simple(TYPE_INT32), .nullable = true},
      {.name = "select", .type = type_simple(TYPE_INT32), .nullable = true},
      {.name = "bin", .type = type_simple(TYPE_BINARY), .nullable = true}};
  schema *s = NULL;
  assert_int_equal(
      schema_new(t->env, fields, sizeof fields / sizeof *fields, (metadata){0}, &s, NULL), GLV_OK);
  arena_dispose(&a);
  return s;
}

enum { VIEW_FLAGS = EXPR_DQUOTE_IDENTIFIER | EXPR_VIEW | EXPR_STRICT };

/* Views of text are kept as text. */
static const char *stored_type(const type *t, char *text, size_t size) {
  return t->kind == TYPE_UTF8_VIEW ? "string" : type_text(t, text, size);
}

static void check_planned_expression(fixture *f, size_t line, const json *c) {
  const str text = member(c, "sql");
  const bool is_filter = str_is(member(c, "kind"), "where");
  const bool is_refused = member(c, "error").size != 0;
  schema *s = source_schema(&f->t, false);
  const expr_scope scope = {s, SIZE_MAX};
  expr *e = NULL;
  glv_error err = {0};
  const glv_status status = (is_filter ? expr_plan_filter : expr_plan_value)(f->t.env, text, &scope,
                                                                             VIEW_FLAGS, &e, &err);
  char name[TYPE_TEXT_SIZE];
  if ((status == GLV_OK) == is_refused) {
    report(f, line, text, is_refused ? "plans" : err.message);
  } else if (!is_refused && !is_filter &&
             !str_is(member(c, "type"), stored_type(expr_type(e), name, sizeof name))) {
    report(f, line, text, name);
  }
  expr_free(e);
  schema_unref(s);
}

static glv_status plan_groups(fixture *f, const select_statement *s, const expr_scope *scope,
                              glv_error *err) {
  group_item items[16];
  group_plan *plan = NULL;
  assert_true(s->item_count <= 16);
  for (size_t i = 0; i < s->item_count; i++) {
    items[i] = (group_item){s->items[i].output, s->items[i].expression};
  }
  const group_query q = {.items = items,
                         .item_count = s->item_count,
                         .keys = s->groups,
                         .key_count = s->group_count,
                         .row_id = SIZE_MAX};
  const glv_status status = group_plan_new(f->t.env, scope, &q, VIEW_FLAGS, &plan, err);
  group_plan_free(plan);
  return status;
}

static glv_status plan_items(fixture *f, const select_statement *s, const expr_scope *scope,
                             glv_error *err) {
  for (size_t i = 0; i < s->item_count; i++) {
    expr *e = NULL;
    TRY(expr_plan_value(f->t.env, s->items[i].expression, scope, VIEW_FLAGS, &e, err));
    expr_free(e);
  }
  return GLV_OK;
}

static glv_status plan_statement(fixture *f, const select_statement *s, glv_error *err) {
  schema *source = source_schema(&f->t, s->has_unnest);
  const expr_scope scope = {source, SIZE_MAX};
  glv_status status =
      s->is_grouped ? plan_groups(f, s, &scope, err) : plan_items(f, s, &scope, err);
  if (status == GLV_OK && s->filter.size != 0) {
    expr *e = NULL;
    status = expr_plan_filter(f->t.env, s->filter, &scope, VIEW_FLAGS, &e, err);
    expr_free(e);
  }
  schema_unref(source);
  return status;
}

/* What the module of views refuses, and its tests cover: names of outputs and tables, limits, and
 * what stands behind FROM. */
static bool is_refused_by_views(str error) {
  static const char *const phrases[] = {
      "already exists",      "is reserved",          "exceeds the maximum", "was not found",
      "Namespace not found", "together with UNNEST", "in FROM position"};
  for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
    if (error.size != 0 && contains(error.data, str_of(phrases[i]))) {
      return true;
    }
  }
  return false;
}

static void check_planned_query(fixture *f, size_t line, const json *c) {
  const str text = member(c, "sql");
  const bool is_accepted = js_bool(js_member(c, "accepted"));
  if (is_refused_by_views(member(c, "error"))) {
    return;
  }
  arena a;
  arena_init(&a, f->t.env);
  select_statement s;
  glv_error err = {0};
  glv_status status = select_parse_view(&a, text, &s, &err);
  status = status == GLV_OK ? plan_statement(f, &s, &err) : status;
  if ((status == GLV_OK) != is_accepted) {
    report(f, line, text, is_accepted ? err.message : "plans");
  }
  arena_dispose(&a);
}

static void check_planned(fixture *f, size_t line, const json *c) {
  f->cases++;
  if (str_is(member(c, "kind"), "query")) {
    check_planned_query(f, line, c);
  } else {
    check_planned_expression(f, line, c);
  }
}

static void test_planned_views(void **state) {
  (void)state;
  for_each_case("canon_cases.jsonl", check_planned);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parse_classes),
      cmocka_unit_test(test_canonical_texts),
      cmocka_unit_test(test_planned_views),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
