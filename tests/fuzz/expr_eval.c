/*
 * Fuzz target: any text as an expression over a table with columns of every type. The low bits of
 * the first byte choose between a value and a filter, and whether it is planned as the reference
 * does.
 *
 * What evaluates over all rows must be a valid array of the planned type, and must give the same
 * for each row alone, unless the text names a function that is different each time or that looks at
 * other rows.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arrow/builder.h"
#include "base/env.h"
#include "expr/expr.h"
#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_LIMIT ((uint64_t)64 << 20)

static void require(bool ok) {
  if (!ok) {
    abort();
  }
}

static const char *const TEXTS[] = {"1", "-2",         NULL,  "7.5",  "apple",
                                    "",  "2021-01-02", "é😀b", "true", "0"};
enum { ROWS = sizeof TEXTS / sizeof *TEXTS };

/* The columns, each made of those before it. The names are those of the recorded cases. */
static const struct column {
  const char *name;
  const char *sql;
} COLUMNS[] = {
    {"id", "coalesce(TRY_CAST(s AS BIGINT), 0)"},
    {"b", "TRY_CAST(s AS BOOLEAN)"},
    {"b2", "s > 'a'"},
    {"i8", "TRY_CAST(s AS TINYINT)"},
    {"i16", "TRY_CAST(s AS SMALLINT)"},
    {"i32", "TRY_CAST(s AS INT)"},
    {"i64", "TRY_CAST(s AS BIGINT)"},
    {"u8", "TRY_CAST(s AS TINYINT UNSIGNED)"},
    {"u16", "TRY_CAST(s AS SMALLINT UNSIGNED)"},
    {"u32", "TRY_CAST(s AS INT UNSIGNED)"},
    {"u64", "TRY_CAST(s AS BIGINT UNSIGNED)"},
    {"f64", "TRY_CAST(s AS DOUBLE)"},
    {"f32", "TRY_CAST(s AS FLOAT)"},
    {"f16", "arrow_cast(f32, 'Float16')"},
    {"g", "f64 / 0"},
    {"dec", "TRY_CAST(s AS DECIMAL(10, 2))"},
    {"dec38", "TRY_CAST(s AS DECIMAL(38, 10))"},
    {"d256", "arrow_cast(dec38, 'Decimal256(50, 5)')"},
    {"s2", "CAST(reverse(s) AS STRING)"},
    {"sn", "replace(s, 'a', '1')"},
    {"sd", "concat(s, ' 01:02:03')"},
    {"ls", "arrow_cast(s, 'LargeUtf8')"},
    {"bin", "CAST(s AS BINARY)"},
    {"lbin", "arrow_cast(s, 'LargeBinary')"},
    {"js",
     "CASE WHEN s <> '' THEN arrow_cast(x'400000011000000120000002615001', 'LargeBinary') END"},
    {"fsb", "CASE WHEN s > 'a' THEN arrow_cast(x'61626364', 'FixedSizeBinary(4)') END"},
    {"d32", "TRY_CAST(s AS DATE)"},
    {"d64", "arrow_cast(d32, 'Date64')"},
    {"t32", "arrow_cast(abs(i32), 'Time32(Second)')"},
    {"t32m", "arrow_cast(abs(i32), 'Time32(Millisecond)')"},
    {"t64", "arrow_cast(abs(i64), 'Time64(Microsecond)')"},
    {"t64n", "arrow_cast(abs(i64), 'Time64(Nanosecond)')"},
    {"ts_s", "arrow_cast(i64, 'Timestamp(Second, None)')"},
    {"ts_ms", "arrow_cast(i64 * 1000001, 'Timestamp(Millisecond, None)')"},
    {"ts", "CAST(d32 AS TIMESTAMP(6))"},
    {"ts_ns", "arrow_cast(d32, 'Timestamp(Nanosecond, None)')"},
    {"tz", "arrow_cast(ts, 'Timestamp(Microsecond, Some(\"UTC\"))')"},
    {"tny", "arrow_cast(ts, 'Timestamp(Millisecond, Some(\"America/New_York\"))')"},
    {"du_s", "arrow_cast(i64, 'Duration(Second)')"},
    {"du_ms", "arrow_cast(i64, 'Duration(Millisecond)')"},
    {"du", "arrow_cast(i64, 'Duration(Microsecond)')"},
    {"dict", "arrow_cast(s, 'Dictionary(Int32, Utf8)')"},
    {"li", "make_array(i32, 3, NULL)"},
    {"li2", "CASE WHEN b2 THEN make_array(i32) END"},
    {"lstr", "make_array(s, s2)"},
    {"lf", "make_array(f64, 0.5)"},
    {"ll", "make_array(li, li2)"},
    {"lst", "make_array(named_struct('a', i32, 'b', s))"},
    {"lli", "arrow_cast(li, 'LargeList(Int64)')"},
    {"fsl", "arrow_cast(make_array(f32, 1, 2), 'FixedSizeList(3 x Float32)')"},
    {"fsl2", "arrow_cast(make_array(2, f32, 1), 'FixedSizeList(3 x Float32)')"},
    {"st", "named_struct('x', i32, 'y', s, 'z', named_struct('w', f64))"},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };

static glv_env *new_env(uint64_t limit) {
  const glv_env_options options = {
      .struct_size = sizeof options, .memory_limit_bytes = limit, .io = io_local()};
  glv_env *env;
  require(env_new(&options, &env, NULL) == GLV_OK);
  return env;
}

/* A batch of the fields and columns so far. */
static batch make_batch(glv_env *env, const field *fields, const array *columns, size_t count) {
  schema *s;
  batch b;
  require(schema_new(env, fields, count, (metadata){0}, &s, NULL) == GLV_OK);
  require(batch_new(env, s, ROWS, count, &b, NULL) == GLV_OK);
  for (size_t i = 0; i < count; i++) {
    b.columns[i] = array_ref(&columns[i]);
    b.columns[i].type = s->fields[i].type;
  }
  schema_unref(s);
  return b;
}

static array first_column(glv_env *env) {
  builder b;
  array a;
  builder_init(&b, env, type_simple(TYPE_UTF8));
  for (size_t i = 0; i < ROWS; i++) {
    require((TEXTS[i] == NULL ? builder_append_null(&b, NULL)
                              : builder_append_str(&b, str_of(TEXTS[i]), NULL)) == GLV_OK);
  }
  require(builder_finish(&b, &a, NULL) == GLV_OK);
  return a;
}

/* Evaluated over the columns before it; the type belongs to the plan. */
static array next_column(glv_env *env, const batch *b, const char *sql, expr **ret_plan) {
  const expr_scope scope = {b->schema, SIZE_MAX};
  const selection all = {NULL, ROWS};
  expr *e = NULL;
  array a = {0};
  glv_error err = {0};
  if (expr_plan_value(env, str_of(sql), &scope, 0, &e, &err) != GLV_OK ||
      expr_eval(e, b, all, &a, &err) != GLV_OK) {
    (void)fprintf(stderr, "%s: %s\n", sql, err.message);
    abort();
  }
  *ret_plan = e;
  return a;
}

/* Made once, and kept with the plans of its columns. */
static const batch *table(void) {
  static batch made;
  static expr *plans[COLUMN_COUNT];
  static field fields[COLUMN_COUNT + 1] = {{.name = "s", .nullable = true}};
  static array columns[COLUMN_COUNT + 1];
  if (made.columns != NULL) {
    return &made;
  }
  glv_env *env = new_env(0);
  fields[0].type = type_simple(TYPE_UTF8);
  columns[0] = first_column(env);
  for (size_t i = 0; i < COLUMN_COUNT; i++) {
    batch b = make_batch(env, fields, columns, i + 1);
    columns[i + 1] = next_column(env, &b, COLUMNS[i].sql, &plans[i]);
    fields[i + 1] = (field){.name = COLUMNS[i].name, .type = columns[i + 1].type, .nullable = true};
    batch_dispose(&b);
  }
  made = make_batch(env, fields, columns, COLUMN_COUNT + 1);
  return &made;
}

static bool is_memory(glv_status status) { return status == GLV_E_NOMEM || status == GLV_E_LIMIT; }

/* Whether a word stands in the text, in any case. */
static bool mentions(str text, const char *word) {
  const str w = str_of(word);
  for (size_t i = 0; i + w.size <= text.size; i++) {
    if (str_equal_ascii_case(str_slice(text.data + i, w.size), w)) {
      return true;
    }
  }
  return false;
}

/* Some functions are different each time, and some look at other rows, as the reference's do. */
static bool depends_on_rows_alone(str text) {
  static const char *const others[] = {"rand", "uuid", "tokens", "has_a", "overlap", "@>", "<@"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (mentions(text, others[i])) {
      return false;
    }
  }
  return true;
}

static void check_value(const expr *e, str text) {
  const batch *b = table();
  array all = {0};
  if (expr_eval(e, b, (selection){NULL, ROWS}, &all, NULL) != GLV_OK) {
    return;
  }
  require(all.length == ROWS && type_equal(all.type, expr_type(e)));
  require(array_validate(&all, SIZE_MAX, "value", NULL) == GLV_OK);
  for (uint32_t i = 0; i < ROWS && depends_on_rows_alone(text); i++) {
    array one = {0};
    const glv_status status = expr_eval(e, b, (selection){&i, 1}, &one, NULL);
    require(status == GLV_OK || is_memory(status));
    if (status == GLV_OK) {
      array expected = array_slice(&all, i, 1);
      require(expected.type->kind == TYPE_NULL || array_equal(&expected, &one));
      array_unref(&expected);
    }
    array_unref(&one);
  }
  array_unref(&all);
}

static void check_filter(const expr *e, str text) {
  const batch *b = table();
  uint32_t rows[ROWS];
  size_t count = 0;
  if (expr_select(e, b, (selection){NULL, ROWS}, rows, &count, NULL) != GLV_OK) {
    return;
  }
  size_t at = 0;
  for (uint32_t i = 0; i < ROWS && depends_on_rows_alone(text); i++) {
    uint32_t one;
    size_t found = 0;
    const glv_status status = expr_select(e, b, (selection){&i, 1}, &one, &found, NULL);
    const bool is_selected = at < count && rows[at] == i;
    require(is_memory(status) || (status == GLV_OK && found == (is_selected ? 1 : 0)));
    at += is_selected;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const expr_scope scope = {table()->schema, SIZE_MAX};
  const bool is_filter = (data[0] & 1) != 0;
  const unsigned flags = (data[0] & 2) != 0 ? EXPR_STRICT : 0;
  const str text = str_slice((const char *)data + 1, size - 1);
  glv_env *env = new_env(MEMORY_LIMIT);
  expr *e = NULL;
  glv_error err = {0};
  const glv_status status =
      (is_filter ? expr_plan_filter : expr_plan_value)(env, text, &scope, flags, &e, &err);
  require(status == GLV_OK || err.message[0] != '\0');
  if (e != NULL) {
    is_filter ? check_filter(e, text) : check_value(e, text);
    expr_free(e);
  }
  env_unref(env);
  return 0;
}
