#include "unit/expr/sql_fixture.h"

#include <math.h>
#include <string.h>

#include "arrow/builder.h"
#include "support/cmocka.h"
#include "support/rng.h"

enum { COLUMN_COUNT = 21 };

static const struct {
  const char *name;
  type_kind kind;
} columns[COLUMN_COUNT] = {{"i8", TYPE_INT8},     {"i16", TYPE_INT16},     {"i32", TYPE_INT32},
                           {"i64", TYPE_INT64},   {"u8", TYPE_UINT8},      {"u16", TYPE_UINT16},
                           {"u32", TYPE_UINT32},  {"u64", TYPE_UINT64},    {"f32", TYPE_FLOAT32},
                           {"f64", TYPE_FLOAT64}, {"f64b", TYPE_FLOAT64},  {"b", TYPE_BOOL},
                           {"s", TYPE_UTF8},      {"ls", TYPE_LARGE_UTF8}, {"bin", TYPE_BINARY},
                           {"d32", TYPE_DATE32},  {"ts", TYPE_TIMESTAMP},  {"z", TYPE_INT32},
                           {"n", TYPE_INT32},     {"Name", TYPE_INT32},    {"_rowid", TYPE_UINT64}};

static const type microseconds = {.kind = TYPE_TIMESTAMP, .unit = UNIT_MICRO};

static void append(builder *b, rng *r, const char *name) {
  static const char *const words[] = {"", "a", "apple", "Banana", "50%_\\", "zz", "été", "a\nb"};
  static const double odd[] = {0.0, -0.0, 1.5, -1.5, 1e300, -1e300};
  const uint64_t bits = rng_next(r);
  const type_kind kind = b->type->kind;
  const bool never_null = strcmp(name, "z") == 0 || strcmp(name, "_rowid") == 0;
  if (!never_null && rng_below(r, strcmp(name, "n") == 0 ? 2 : 8) == 0) {
    assert_int_equal(builder_append_null(b, NULL), GLV_OK);
    return;
  }
  if (kind == TYPE_BOOL) {
    assert_int_equal(builder_append_bool(b, bits & 1, NULL), GLV_OK);
  } else if (type_is_string(kind) || type_is_binary(kind)) {
    assert_int_equal(builder_append_str(b, str_of(words[bits % 8]), NULL), GLV_OK);
  } else if (kind == TYPE_FLOAT64) {
    double v = bits % 16 < 6 ? odd[bits % 16] : (double)(int)(bits % 2001) / 10 - 100;
    v = bits % 16 == 7 ? (double)NAN : bits % 16 == 8 ? (double)INFINITY : v;
    assert_int_equal(builder_append_fixed(b, &v, NULL), GLV_OK);
  } else if (kind == TYPE_FLOAT32) {
    const float v = bits % 16 < 6 ? (float)odd[bits % 4] : (float)(int)(bits % 2001) / 10 - 100;
    assert_int_equal(builder_append_fixed(b, &v, NULL), GLV_OK);
  } else if (strcmp(name, "z") == 0) {
    const int32_t v = (int32_t)(bits % 9) - 10;
    assert_int_equal(builder_append_fixed(b, &v, NULL), GLV_OK);
  } else {
    const int64_t small = (int64_t)(bits % 41) - 20;
    const int64_t v = bits % 4 == 0 ? (int64_t)bits : small;
    assert_int_equal(builder_append_fixed(b, &v, NULL), GLV_OK);
  }
}

void sql_open(sql_fixture *f, size_t rows, uint64_t seed) {
  field fields[COLUMN_COUNT];
  rng r = rng_of(seed);
  test_env_open_mem(&f->t);
  f->env = f->t.env;
  for (size_t i = 0; i < COLUMN_COUNT; i++) {
    const type_kind kind = columns[i].kind;
    fields[i] = (field){.name = columns[i].name,
                        .type = kind == TYPE_TIMESTAMP ? &microseconds : type_simple(kind),
                        .nullable = strcmp(columns[i].name, "z") != 0};
  }
  assert_int_equal(schema_new(f->env, fields, COLUMN_COUNT, (metadata){0}, &f->schema, NULL),
                   GLV_OK);
  assert_int_equal(batch_new(f->env, f->schema, rows, COLUMN_COUNT, &f->b, NULL), GLV_OK);
  for (size_t i = 0; i < COLUMN_COUNT; i++) {
    builder b;
    builder_init(&b, f->env, f->schema->fields[i].type);
    for (size_t k = 0; k < rows; k++) {
      append(&b, &r, columns[i].name);
    }
    assert_int_equal(builder_finish(&b, &f->b.columns[i], NULL), GLV_OK);
  }
  f->scope = (expr_scope){f->schema, COLUMN_COUNT - 1};
}

void sql_close(sql_fixture *f) {
  batch_dispose(&f->b);
  schema_unref(f->schema);
  test_env_close(&f->t);
}

glv_status sql_plan(sql_fixture *f, const char *text, unsigned flags, expr **ret, glv_error *err) {
  return expr_plan_value(f->env, str_of(text), &f->scope, flags, ret, err);
}

glv_status sql_plan_filter(sql_fixture *f, const char *text, unsigned flags, expr **ret,
                           glv_error *err) {
  return expr_plan_filter(f->env, str_of(text), &f->scope, flags, ret, err);
}

array sql_value(sql_fixture *f, const char *text) {
  glv_error err = {0};
  expr *e = NULL;
  array a = {0};
  if (sql_plan(f, text, 0, &e, &err) != GLV_OK ||
      expr_eval(e, &f->b, (selection){NULL, f->b.length}, &a, &err) != GLV_OK) {
    fail_msg("%s: %s", text, err.message);
  }
  assert_int_equal(a.length, f->b.length);
  assert_true(type_equal(a.type, expr_type(e)));
  /* the type lives in the plan; these tests only look at simple ones afterwards */
  a.type = a.type->kind == TYPE_TIMESTAMP ? &microseconds : type_simple(a.type->kind);
  expr_free(e);
  return a;
}

glv_status sql_status(sql_fixture *f, const char *text, unsigned flags) {
  glv_error err = {0};
  expr *e = NULL;
  array a = {0};
  glv_status status = sql_plan(f, text, flags, &e, &err);
  if (status == GLV_OK) {
    status = expr_eval(e, &f->b, (selection){NULL, f->b.length}, &a, &err);
  }
  if (status != GLV_OK) {
    assert_int_equal(err.code, status);
    assert_true(err.message[0] != '\0');
    assert_null(strchr(err.message, '\n'));
  }
  array_unref(&a);
  expr_free(e);
  return status;
}

const char *sql_type(sql_fixture *f, const char *text) {
  static char name[TYPE_TEXT_SIZE];
  glv_error err = {0};
  expr *e = NULL;
  if (sql_plan(f, text, 0, &e, &err) != GLV_OK) {
    fail_msg("%s: %s", text, err.message);
  }
  (void)type_text(expr_type(e), name, sizeof name);
  expr_free(e);
  return name;
}

const array *sql_column(const sql_fixture *f, const char *name) {
  return &f->b.columns[schema_find(f->schema, str_of(name))];
}
