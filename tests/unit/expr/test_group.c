/*
 * Grouped queries: results against sums made here, the same rows in one batch and in many, keys of
 * every type, what is refused, and failing allocations.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/group.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "unit/expr/sql_fixture.h"

enum { ROWS = 3000 };

/* Items named by number. */
static group_query query_of(const char *const *items, size_t item_count, group_item *room,
                            const str *keys, size_t key_count) {
  static const char *const names[] = {"c0",  "c1",  "c2",  "c3",  "c4",  "c5",  "c6",
                                      "c7",  "c8",  "c9",  "c10", "c11", "c12", "c13",
                                      "c14", "c15", "c16", "c17", "c18", "c19", "c20",
                                      "c21", "c22", "c23", "c24", "c25", "c26", "c27"};
  assert_true(item_count <= sizeof names / sizeof *names);
  for (size_t i = 0; i < item_count; i++) {
    room[i] = (group_item){str_of(names[i]), str_of(items[i])};
  }
  return (group_query){.items = room,
                       .item_count = item_count,
                       .keys = keys,
                       .key_count = key_count,
                       .row_id = SIZE_MAX};
}

/* Feed the rows of the fixture in pieces of at most `step` rows; the whole result. */
static glv_status run_query(sql_fixture *f, const group_query *q, size_t step, batch *ret,
                            glv_error *err) {
  CLEANUP(group_plan_cleanup) group_plan *plan = NULL;
  CLEANUP(group_run_cleanup) group_run *run = NULL;
  bool end = false;
  TRY(group_plan_new(f->env, &f->scope, q, 0, &plan, err));
  TRY(group_run_new(plan, &run, err));
  for (size_t at = 0; at < f->b.length; at += step) {
    glv_status status = GLV_OK;
    const size_t count = size_min(step, f->b.length - at);
    CLEANUP(batch_dispose) batch part = batch_slice(f->env, &f->b, at, count, err, &status);
    TRY(status);
    TRY(group_feed(run, &part, (selection){NULL, count}, err));
  }
  TRY(group_next(run, ret, &end, err));
  if (end) {
    return batch_new(f->env, group_plan_schema(plan), 0, 0, ret, err);
  }
  return GLV_OK;
}

static batch grouped(sql_fixture *f, const char *const *items, size_t count, const char *key,
                     size_t step) {
  group_item room[32];
  const str keys[] = {key != NULL ? str_of(key) : (str){NULL, 0}};
  const group_query q = query_of(items, count, room, keys, key != NULL ? 1 : 0);
  batch ret = {0};
  glv_error err = {0};
  if (run_query(f, &q, step, &ret, &err) != GLV_OK) {
    fail_msg("%s", err.message);
  }
  return ret;
}

/* ---- values ---- */

static void test_sums(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, ROWS, 7);
  static const char *const items[] = {"z",        "count(*)", "count(i32)", "sum(i32)",
                                      "min(i64)", "max(u8)",  "avg(i16)"};
  batch got = grouped(&f, items, 7, "z", ROWS);
  const array *z = sql_column(&f, "z");
  const array *i32 = sql_column(&f, "i32");
  const array *i64 = sql_column(&f, "i64");
  const array *u8 = sql_column(&f, "u8");
  const array *i16 = sql_column(&f, "i16");
  for (size_t g = 0; g < got.length; g++) {
    const int32_t key = ARRAY_VALUES(&got.columns[0], int32_t)[g];
    int64_t rows = 0;
    int64_t count = 0;
    uint64_t sum = 0;
    int64_t least = INT64_MAX;
    uint8_t most = 0;
    double total = 0;
    int64_t n16 = 0;
    for (size_t i = 0; i < ROWS; i++) {
      if (ARRAY_VALUES(z, int32_t)[i] != key) {
        continue;
      }
      rows++;
      count += array_is_valid(i32, i);
      sum += array_is_valid(i32, i) ? (uint64_t)(int64_t)ARRAY_VALUES(i32, int32_t)[i] : 0;
      if (array_is_valid(i64, i) && ARRAY_VALUES(i64, int64_t)[i] < least) {
        least = ARRAY_VALUES(i64, int64_t)[i];
      }
      if (array_is_valid(u8, i) && ARRAY_VALUES(u8, uint8_t)[i] > most) {
        most = ARRAY_VALUES(u8, uint8_t)[i];
      }
      if (array_is_valid(i16, i)) {
        total += ARRAY_VALUES(i16, int16_t)[i];
        n16++;
      }
    }
    assert_int_equal(ARRAY_VALUES(&got.columns[1], int64_t)[g], rows);
    assert_int_equal(ARRAY_VALUES(&got.columns[2], int64_t)[g], count);
    assert_int_equal(ARRAY_VALUES(&got.columns[3], uint64_t)[g], sum);
    assert_int_equal(ARRAY_VALUES(&got.columns[4], int64_t)[g], least);
    assert_int_equal(ARRAY_VALUES(&got.columns[5], uint8_t)[g], most);
    assert_true(fabs(ARRAY_VALUES(&got.columns[6], double)[g] - total / (double)n16) < 1e-9);
  }
  assert_int_equal(got.length, 9);
  assert_false(got.schema->fields[0].nullable);
  assert_false(got.schema->fields[1].nullable);
  assert_true(got.schema->fields[3].nullable);
  batch_dispose(&got);
  sql_close(&f);
}

/* ---- one batch and many ---- */

static const char *const all_kinds[] = {
    "count(DISTINCT i8)",
    "sum(u32)",
    "sum(DISTINCT i8)",
    "avg(f32)",
    "min(s)",
    "max(ls)",
    "min(f64)",
    "max(bin)",
    "first_value(s)",
    "last_value(s) IGNORE NULLS",
    "first_value(i32 ORDER BY s, i64 DESC)",
    "last_value(i32 ORDER BY f64 DESC NULLS LAST)",
    "nth_value(i32, 3)",
    "nth_value(i32, -2)",
    "array_agg(s ORDER BY i64, s)",
    "array_agg(DISTINCT s ORDER BY s)",
    "array_agg(i8) FILTER (WHERE i8 > 0)",
    "string_agg(s, ', ')",
    "bool_and(b)",
    "bool_or(b)",
    "bit_xor(i16)",
    "median(f64)",
    "percentile_cont(0.3) WITHIN GROUP (ORDER BY i32 DESC)",
    "stddev(i16)",
    "covar_pop(i16, f32)",
    "corr(i16, u16)",
    "regr_r2(i16, u16)",
    "coalesce(max(d32) - min(d32), 0) + count(*)",
};
enum { KIND_COUNT = sizeof all_kinds / sizeof *all_kinds };

static void check_steps(sql_fixture *f, const char *key) {
  batch whole = grouped(f, all_kinds, KIND_COUNT, key, ROWS);
  static const size_t steps[] = {1, 7, 40, 1000};
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
    batch parts = grouped(f, all_kinds, KIND_COUNT, key, steps[s]);
    assert_int_equal(parts.length, whole.length);
    for (size_t c = 0; c < KIND_COUNT; c++) {
      if (!array_equal(&parts.columns[c], &whole.columns[c])) {
        fail_msg("%s by %s differs in batches of %zu", all_kinds[c], key != NULL ? key : "nothing",
                 steps[s]);
      }
    }
    batch_dispose(&parts);
  }
  batch_dispose(&whole);
}

static void test_batches(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, ROWS, 11);
  check_steps(&f, "z");
  check_steps(&f, "n");
  check_steps(&f, "s || 'x'");
  check_steps(&f, NULL);
  sql_close(&f);
}

/* ---- keys ---- */

static void test_keys(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, ROWS, 13);
  for (size_t c = 0; c < f.scope.system_first; c++) {
    char key[64];
    (void)snprintf(key, sizeof key, "`%s`", f.schema->fields[c].name);
    const char *items[] = {key, "count(*)", "min(z)"};
    batch got = grouped(&f, items, 3, key, 100);
    int64_t rows = 0;
    size_t nulls = 0;
    for (size_t g = 0; g < got.length; g++) {
      rows += ARRAY_VALUES(&got.columns[1], int64_t)[g];
      nulls += !array_is_valid(&got.columns[0], g);
      for (size_t h = 0; h < g && got.length < 200; h++) { /* no two keys are the same */
        array one = array_slice(&got.columns[0], g, 1);
        array other = array_slice(&got.columns[0], h, 1);
        assert_false(array_equal(&one, &other));
        array_unref(&one);
        array_unref(&other);
      }
    }
    assert_int_equal(rows, ROWS);
    assert_int_equal(nulls, strcmp(f.schema->fields[c].name, "z") == 0 ? 0 : 1);
    batch_dispose(&got);
  }
  sql_close(&f);
}

static void test_aliases_and_positions(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, ROWS, 17);
  group_item items[] = {{STR("k"), STR("i32 % 3")}, {STR("n"), STR("count(*)")}};
  const str texts[] = {STR("i32%3"), STR("k"), STR("1"), STR("(i32 % 3)"), STR("`k`")};
  batch first = {0};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const group_query q = {
        .items = items, .item_count = 2, .keys = &texts[i], .key_count = 1, .row_id = SIZE_MAX};
    batch got = {0};
    glv_error err = {0};
    if (run_query(&f, &q, ROWS, &got, &err) != GLV_OK) {
      fail_msg("%s: %s", texts[i].data, err.message);
    }
    if (i == 0) {
      first = got;
      continue;
    }
    assert_true(array_equal(&got.columns[0], &first.columns[0]));
    assert_true(array_equal(&got.columns[1], &first.columns[1]));
    batch_dispose(&got);
  }
  batch_dispose(&first);
  sql_close(&f);
}

static void test_row_ids(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, ROWS, 19);
  const str key = STR("z");
  const group_item item = {STR("z"), STR("z")};
  const size_t row_id = schema_find(f.schema, STR("_rowid"));
  const group_query q = {.items = &item,
                         .item_count = 1,
                         .keys = &key,
                         .key_count = 1,
                         .row_id = row_id,
                         .row_id_name = "__source_row_id"};
  CLEANUP(batch_dispose) batch got = {0};
  glv_error err = {0};
  assert_int_equal(run_query(&f, &q, 64, &got, &err), GLV_OK);
  assert_int_equal(got.column_count, 2);
  assert_string_equal(got.schema->fields[1].name, "__source_row_id");
  assert_false(got.schema->fields[1].nullable);
  for (size_t g = 0; g < got.length; g++) {
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < ROWS; i++) {
      if (ARRAY_VALUES(sql_column(&f, "z"), int32_t)[i] ==
          ARRAY_VALUES(&got.columns[0], int32_t)[g]) {
        least = u64_min(least, ARRAY_VALUES(&f.b.columns[row_id], uint64_t)[i]);
      }
    }
    assert_int_equal(ARRAY_VALUES(&got.columns[1], uint64_t)[g], least);
  }
  batch_dispose(&got);
  sql_close(&f);
}

/* ---- the types of a batch go with it ---- */

static void feed_lists(sql_fixture *f, group_run *run, const field *column) {
  schema *s = NULL;
  assert_int_equal(schema_new(f->env, column, 1, (metadata){0}, &s, NULL), GLV_OK);
  expr *e = NULL;
  array lists = {0};
  assert_int_equal(sql_plan(f, "make_array(i32, z)", 0, &e, NULL), GLV_OK);
  assert_int_equal(expr_eval(e, &f->b, (selection){NULL, f->b.length}, &lists, NULL), GLV_OK);
  batch b = {0};
  assert_int_equal(batch_new(f->env, s, lists.length, 1, &b, NULL), GLV_OK);
  assert_int_equal(array_retype(f->env, &lists, s->fields[0].type, &b.columns[0], NULL), GLV_OK);
  assert_int_equal(group_feed(run, &b, (selection){NULL, lists.length}, NULL), GLV_OK);
  batch_dispose(&b);
  array_unref(&lists);
  expr_free(e);
  schema_unref(s);
}

static void test_types_of_batches(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, 50, 37);
  arena a;
  arena_init(&a, f.env);
  const field item = {.name = "item", .type = type_simple(TYPE_INT32), .nullable = true};
  const field column = {.name = "li", .type = type_list(&a, TYPE_LIST, &item), .nullable = true};
  schema *s = NULL;
  assert_int_equal(schema_new(f.env, &column, 1, (metadata){0}, &s, NULL), GLV_OK);
  static const char *const items[] = {"li", "first_value(li)", "max(li)", "array_agg(li)"};
  group_item room[4];
  const str key = STR("li");
  const group_query q = query_of(items, 4, room, &key, 1);
  const expr_scope scope = {s, SIZE_MAX};
  group_plan *plan = NULL;
  group_run *run = NULL;
  assert_int_equal(group_plan_new(f.env, &scope, &q, 0, &plan, NULL), GLV_OK);
  schema_unref(s);
  assert_int_equal(group_run_new(plan, &run, NULL), GLV_OK);
  feed_lists(&f, run, &column);
  feed_lists(&f, run, &column);
  arena_dispose(&a);
  batch got = {0};
  bool end = false;
  assert_int_equal(group_next(run, &got, &end, NULL), GLV_OK);
  group_run_free(run);
  group_plan_free(plan);
  assert_true(type_equal(got.columns[0].children[0].type, type_simple(TYPE_INT32)));
  assert_true(array_equal(&got.columns[0], &got.columns[1]));
  assert_true(array_equal(&got.columns[0], &got.columns[2]));
  batch_dispose(&got);
  sql_close(&f);
}

/* ---- floats: NaN is one value, zeros are two ---- */

static void test_float_keys(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, 6, 1);
  static const double values[] = {0.0, -0.0, (double)NAN, -(double)NAN, 1, 2};
  buffer *b = NULL;
  assert_int_equal(buffer_new(f.env, sizeof values, &b, NULL), GLV_OK);
  memcpy(b->data, values, sizeof values);
  array *column = &f.b.columns[schema_find(f.schema, STR("f64"))];
  array_unref(column);
  *column = (array){.type = type_simple(TYPE_FLOAT64), .length = 6, .values = b->data};
  column->owners[1] = b;
  static const char *const keys[] = {"f64", "nullif(f64, 7)"};
  for (size_t i = 0; i < 2; i++) {
    const char *items[] = {keys[i], "count(*)", "count(DISTINCT f64)"};
    batch got = grouped(&f, items, 3, keys[i], 4);
    assert_int_equal(got.length, 5);
    batch_dispose(&got);
  }
  static const char *const distinct[] = {"count(DISTINCT f64)", "count(DISTINCT make_array(f64))"};
  batch got = grouped(&f, distinct, 2, NULL, 4);
  assert_int_equal(ARRAY_VALUES(&got.columns[0], int64_t)[0], 5);
  assert_int_equal(ARRAY_VALUES(&got.columns[1], int64_t)[0], 5);
  batch_dispose(&got);
  sql_close(&f);
}

/* ---- no rows ---- */

static void test_no_rows(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, 0, 1);
  static const char *const items[] = {"count(*)",       "sum(i32)",    "min(s)",     "array_agg(s)",
                                      "median(f64)",    "stddev(z)",   "bool_or(b)", "avg(z)",
                                      "first_value(s)", "1 + count(z)"};
  batch one = grouped(&f, items, 10, NULL, 1);
  assert_int_equal(one.length, 1);
  assert_int_equal(ARRAY_VALUES(&one.columns[0], int64_t)[0], 0);
  for (size_t c = 1; c < 9; c++) {
    assert_false(array_is_valid(&one.columns[c], 0));
  }
  assert_int_equal(ARRAY_VALUES(&one.columns[9], int64_t)[0], 1);
  batch_dispose(&one);
  batch none = grouped(&f, items, 10, "i32", 1);
  assert_int_equal(none.length, 0);
  batch_dispose(&none);
  sql_close(&f);
}

/* ---- what is refused ---- */

static const struct {
  const char *item;
  const char *key;
  glv_status status;
  const char *message;
} refusals[] = {
    {"i32", "z", GLV_E_SQL_PLAN, "must be in GROUP BY or an aggregate function"},
    {"i32 + count(*)", "z", GLV_E_SQL_PLAN, "column \"i32\""},
    {"count(*)", "count(*)", GLV_E_SQL_PLAN, "not allowed in GROUP BY"},
    {"count(*)", "1", GLV_E_SQL_PLAN, "not allowed in GROUP BY"},
    {"z", "2", GLV_E_SQL_PLAN, "Valid columns: 1 to 1"},
    {"z", "nothing", GLV_E_SQL_PLAN, "No field named nothing"},
    {"sum(Name)", "z", GLV_E_SQL_PLAN, "`Name`"},
    {"sum(s)", "z", GLV_E_SQL_PLAN, "sum"},
    {"sum(*)", "z", GLV_E_SQL_PLAN, "does not take `*`"},
    {"count(DISTINCT *)", "z", GLV_E_SQL_PLAN, "name a column"},
    {"min(z, n)", "z", GLV_E_SQL_PLAN, "expects 1 argument"},
    {"sum(z) IGNORE NULLS", "z", GLV_E_SQL_PLAN, "NULLS are not permitted"},
    {"sum(z) WITHIN GROUP (ORDER BY z)", "z", GLV_E_SQL_PLAN, "WITHIN GROUP is only"},
    {"percentile_cont(z, 1.5)", "z", GLV_E_SQL_PLAN, "between 0.0 and 1.0"},
    {"approx_percentile_cont(z, 0.5, 0)", "z", GLV_E_SQL_PLAN, "centroids"},
    {"percentile_cont(z, i32)", "z", GLV_E_SQL_PLAN, "must be a literal"},
    {"sum(z) FILTER (WHERE z)", "z", GLV_E_SQL_PLAN, "FILTER of sum must be a boolean"},
    {"row_number() OVER ()", "z", GLV_E_SQL_PLAN, "Window functions"},
    {"grouping(n)", "z", GLV_E_SQL_PLAN, "must be in GROUP BY"},
    {"sum(x => z)", "z", GLV_E_SQL_PLAN, "named arguments"},
    {"count(z", "z", GLV_E_SQL_PARSE, ""},
    {"sum(max(z))", "z", GLV_E_SQL_EXEC, "argument of another"},
    {"avg(NULL)", "z", GLV_E_SQL_EXEC, "avg"},
    {"median(NULL)", "z", GLV_E_SQL_EXEC, "median"},
    {"count(DISTINCT z, n)", "z", GLV_E_SQL_EXEC, "multiple arguments"},
    {"array_agg(DISTINCT z ORDER BY n)", "z", GLV_E_SQL_EXEC, "must appear in argument list"},
    {"string_agg(s, s)", "z", GLV_E_SQL_EXEC, "literal"},
    {"nth_value(z, 0)", "z", GLV_E_SQL_EXEC, "counts from 1"},
    {"sum(1 / (z - z))", "z", GLV_E_SQL_EXEC, "Divide by zero"},
    {"1 / (count(*) - count(*))", "z", GLV_E_SQL_EXEC, "Divide by zero"},
};

static void test_refusals(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, 50, 23);
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const group_item item = {STR("out"), str_of(refusals[i].item)};
    const str key = str_of(refusals[i].key);
    const group_query q = {
        .items = &item, .item_count = 1, .keys = &key, .key_count = 1, .row_id = SIZE_MAX};
    batch got = {0};
    glv_error err = {0};
    const glv_status status = run_query(&f, &q, 50, &got, &err);
    batch_dispose(&got);
    if (status != refusals[i].status || strstr(err.message, refusals[i].message) == NULL) {
      fail_msg("%s by %s: %d %s", refusals[i].item, refusals[i].key, (int)status, err.message);
    }
  }
  sql_close(&f);
}

/* A text is refused in views by what it calls. */
static void test_views(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, 1, 1);
  const str key = STR("z");
  const group_item item = {STR("out"), STR("max(now())")};
  const group_query q = {
      .items = &item, .item_count = 1, .keys = &key, .key_count = 1, .row_id = SIZE_MAX};
  group_plan *plan = NULL;
  glv_error err = {0};
  assert_int_equal(group_plan_new(f.env, &f.scope, &q, EXPR_VIEW, &plan, &err), GLV_E_SQL_PLAN);
  assert_non_null(strstr(err.message, "not immutable"));
  sql_close(&f);
}

static void test_columns(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, 1, 1);
  const str key = STR("z + 1");
  const group_item item = {STR("out"), STR("max(s ORDER BY b) FILTER (WHERE i8 > 0)")};
  const group_query q = {
      .items = &item, .item_count = 1, .keys = &key, .key_count = 1, .row_id = SIZE_MAX};
  CLEANUP(group_plan_cleanup) group_plan *plan = NULL;
  assert_int_equal(group_plan_new(f.env, &f.scope, &q, 0, &plan, NULL), GLV_OK);
  size_t count = 0;
  const char *const *paths = group_plan_paths(plan, &count);
  assert_int_equal(count, 3); /* the order of rows means nothing to max */
  assert_string_equal(paths[0], "i8");
  assert_string_equal(paths[1], "s");
  assert_string_equal(paths[2], "z");
  (void)group_plan_columns(plan, &count);
  assert_int_equal(count, 3);
  group_plan_cleanup(&plan);
  sql_close(&f);
}

/* ---- long chains, failing memory ---- */

static void test_long_item(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, 20, 29);
  buf text;
  buf_init(&text, f.env, 1 << 20);
  assert_int_equal(buf_append_str(&text, STR("count(*)"), NULL), GLV_OK);
  for (size_t i = 0; i < 10000; i++) {
    assert_int_equal(buf_append_str(&text, STR(" + z"), NULL), GLV_OK);
  }
  const char *items[] = {text.data};
  batch got = grouped(&f, items, 1, "z", 20);
  assert_true(got.length > 0);
  batch_dispose(&got);
  buf_dispose(&text);
  sql_close(&f);
}

static void fail_memory(sql_fixture *f, const group_query *q) {
  bool done = false;
  for (uint64_t n = 1; !done; n += 1 + n / 50) {
    batch got = {0};
    glv_error err = {0};
    alloc_fault_arm(&f->t.alloc, n, false);
    const glv_status status = run_query(f, q, 15, &got, &err);
    const bool fired = f->t.alloc.fired;
    alloc_fault_arm(&f->t.alloc, 0, false);
    batch_dispose(&got);
    assert_true(status == GLV_OK || status == GLV_E_NOMEM);
    done = status == GLV_OK && !fired;
  }
}

static void test_no_memory(void **state) {
  (void)state;
  sql_fixture f;
  sql_open(&f, 40, 31);
  group_item room[32];
  const str keys[] = {STR("z"), STR("s")};
  const group_query all = query_of(all_kinds, KIND_COUNT, room, keys, 2);
  fail_memory(&f, &all);
  static const char *const digests[] = {"approx_median(f64)",
                                        "approx_percentile_cont(i32, 0.9, 20)"};
  const group_query few = query_of(digests, 2, room, keys, 1);
  fail_memory(&f, &few);
  sql_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sums),
      cmocka_unit_test(test_batches),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_aliases_and_positions),
      cmocka_unit_test(test_types_of_batches),
      cmocka_unit_test(test_float_keys),
      cmocka_unit_test(test_row_ids),
      cmocka_unit_test(test_no_rows),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_views),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_long_item),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
