/* Values become text by the engine's own cast, which the corpus checks against the reference. */
#include "unit/expr/sql_text.h"

#include <stdio.h>

#include "arrow/builder.h"
#include "expr/cast.h"

void sql_text_open(sql_text *s) {
  static const char *const one_null[] = {NULL};
  *s = (sql_text){0};
  test_env_open_mem(&s->t);
  const field x = {.name = "x", .type = type_simple(TYPE_UTF8), .nullable = true};
  assert_int_equal(schema_new(s->t.env, &x, 1, (metadata){0}, &s->schema, NULL), GLV_OK);
  sql_text_rows(s, one_null, 1);
}

void sql_text_close(sql_text *s) {
  batch_dispose(&s->rows);
  schema_unref(s->schema);
  test_env_close(&s->t);
}

void sql_text_rows(sql_text *s, const char *const *values, size_t count) {
  builder b;
  batch_dispose(&s->rows);
  assert_int_equal(batch_new(s->t.env, s->schema, count, 1, &s->rows, NULL), GLV_OK);
  builder_init(&b, s->t.env, s->schema->fields[0].type);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(values[i] == NULL ? builder_append_null(&b, NULL)
                                       : builder_append_str(&b, str_of(values[i]), NULL),
                     GLV_OK);
  }
  assert_int_equal(builder_finish(&b, &s->rows.columns[0], NULL), GLV_OK);
}

static glv_status evaluate(sql_text *s, const char *sql, array *ret, expr **ret_plan,
                           glv_error *err) {
  const expr_scope scope = {.schema = s->schema, .system_first = SIZE_MAX};
  TRY(expr_plan_value(s->t.env, str_of(sql), &scope, 0, ret_plan, err));
  return expr_eval(*ret_plan, &s->rows, (selection){.count = s->rows.length}, ret, err);
}

glv_status sql_text_status(sql_text *s, const char *sql) {
  expr *plan = NULL;
  array a = {0};
  glv_error err = {0};
  const glv_status status = evaluate(s, sql, &a, &plan, &err);
  assert_true(status == GLV_OK || (err.code == status && err.message[0] != 0));
  array_unref(&a);
  expr_free(plan);
  return status;
}

const char *sql_text_eval(sql_text *s, const char *sql) {
  enum { RINGS = 8, SIZE = 4096 };
  static char rings[RINGS][SIZE];
  static size_t ring;
  char *text = rings[ring++ % RINGS];
  expr *plan = NULL;
  array a = {0};
  array texts = {0};
  glv_error err = {0};
  if (evaluate(s, sql, &a, &plan, &err) != GLV_OK) {
    fail_msg("%s: %s", sql, err.message);
  }
  assert_int_equal(cast_array(s->t.env, &a, type_simple(TYPE_LARGE_UTF8), false, &texts, NULL),
                   GLV_OK);
  size_t size = 0;
  text[0] = 0;
  for (size_t i = 0; i < texts.length && size < SIZE; i++) {
    const str value = array_is_valid(&texts, i) ? array_str(&texts, i) : STR("NULL");
    size += (size_t)snprintf(text + size, SIZE - size, "%s%.*s", i == 0 ? "" : "|", STR_ARG(value));
  }
  array_unref(&texts);
  array_unref(&a);
  expr_free(plan);
  return text;
}

/* Both kinds were taken from the reference with a cast and a call around them. */
static const char *wrap(const char *sql) {
  static char text[2048];
  snprintf(text, sizeof text, "coalesce(CAST(%s AS STRING), NULL)", sql);
  return text;
}

void sql_text_check(const struct sql_case *cases, size_t count) {
  sql_text s;
  sql_text_open(&s);
  for (size_t i = 0; i < count; i++) {
    const char *text = sql_text_eval(&s, wrap(cases[i].sql));
    if (strcmp(text, cases[i].text) != 0) {
      fail_msg("%s is %s instead of %s", cases[i].sql, text, cases[i].text);
    }
  }
  sql_text_close(&s);
}

void sql_text_check_failures(const struct sql_failure *failures, size_t count) {
  sql_text s;
  sql_text_open(&s);
  for (size_t i = 0; i < count; i++) {
    const struct sql_failure *f = &failures[i];
    const glv_status status = sql_text_status(&s, wrap(f->sql));
    if (status != f->status) {
      fail_msg("%s gives %s instead of %s", f->sql, error_name(status), error_name(f->status));
    }
  }
  sql_text_close(&s);
}

static void starve_one(sql_text *s, const char *sql) {
  for (uint64_t n = 1;; n++) {
    const uint64_t blocks = atomic_load(&s->t.alloc.live_blocks);
    alloc_fault_arm(&s->t.alloc, n, false);
    const glv_status status = sql_text_status(s, sql);
    const bool fired = atomic_load(&s->t.alloc.fired);
    alloc_fault_arm(&s->t.alloc, 0, false);
    if (status != GLV_OK && status != GLV_E_NOMEM) {
      fail_msg("%s: allocation %u failed and gave %s", sql, (unsigned)n, error_name(status));
    }
    assert_int_equal(atomic_load(&s->t.alloc.live_blocks), blocks);
    if (!fired) {
      assert_int_equal(status, GLV_OK);
      return;
    }
  }
}

void sql_text_starve(const char *const *rows, size_t row_count, const char *const *texts,
                     size_t count) {
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, rows, row_count);
  for (size_t i = 0; i < count; i++) {
    starve_one(&s, texts[i]);
  }
  sql_text_close(&s);
}
