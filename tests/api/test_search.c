/* Search by vector: what comes out in which form; refusals of arguments; failing allocations. That
 * the right rows are found is for tests/interop/test_search.py to say. */
#include <glaive/search.h>

#include "arrow/array.h"
#include "arrow/cdata.h"
#include "support/suite.h"

/* Vectors (i, i) for i of 1 to 4; the third is null. */
static void make_vectors(glv_env *env, const type *t, array *ret) {
  void *values = NULL;
  uint8_t *bits = NULL;
  *ret = (array){.type = t, .length = 4, .null_count = 1};
  assert_int_equal(array_new_children(env, 1, ret, NULL), GLV_OK);
  assert_int_equal(array_new_fixed(env, t->children[0].type, 8, &ret->children[0], &values, NULL),
                   GLV_OK);
  for (size_t i = 0; i < 8; i++) {
    ((float *)values)[i] = (float)(i / 2 + 1);
  }
  assert_int_equal(buffer_new_zeroed(env, 1, &ret->owners[0], NULL), GLV_OK);
  bits = ret->owners[0]->data;
  bits[0] = 1 | 2 | 8;
  ret->validity = bits;
}

/* Column `id` of 1 to 4, and `vec`. */
static glv_table *make_table(suite *s) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, s->env);
  const field item = {.name = "item", .type = type_simple(TYPE_FLOAT32), .nullable = true};
  const field fields[] = {
      {.name = "id", .type = type_simple(TYPE_INT64), .nullable = true},
      {.name = "vec", .type = type_fixed_size_list(&a, &item, 2), .nullable = true}};
  CLEANUP(schema_cleanup) schema *columns = NULL;
  CLEANUP(batch_dispose) batch b = {0};
  batch_reader r = {0};
  void *ids = NULL;
  struct ArrowArrayStream data;
  glv_table *t = NULL;
  must(s, schema_new(s->env, fields, 2, (metadata){0}, &columns, &s->err));
  must(s, batch_new(s->env, columns, 4, 2, &b, &s->err));
  must(s, array_new_fixed(s->env, columns->fields[0].type, 4, &b.columns[0], &ids, &s->err));
  for (int64_t i = 0; i < 4; i++) {
    ((int64_t *)ids)[i] = i + 1;
  }
  make_vectors(s->env, columns->fields[1].type, &b.columns[1]);
  must(s, batch_reader_of(s->env, columns, &b, 1, &r, &s->err));
  must(s, cdata_export_stream(s->env, &r, &data, &s->err));
  must(s, glv_table_create(s->conn, ID("t"), &data, NULL, &t, &s->err));
  return t;
}

static const float one[] = {1, 1};
static const glv_pair shown[] = {{"id", NULL}, {"_distance", "CAST(_distance AS DOUBLE)"}};

static glv_search_options options_for(const float *vectors, size_t count) {
  glv_search_options o = GLV_OPTIONS(glv_search_options);
  o.vectors = vectors;
  o.vector_count = count;
  o.dimension = 2;
  o.columns = (glv_pairs){shown, 2};
  return o;
}

static void expect_rows(suite *s, glv_table *t, const glv_search_options *o, const char *wanted) {
  struct ArrowArrayStream rows;
  must(s, glv_table_search(t, o, &rows, &s->err));
  char *text = rows_text(s->env, &rows);
  assert_string_equal(text, wanted);
  mem_free(s->env, text);
}

/* Of a first batch; its nested types have to outlive the search. */
static void expect_count(suite *s, glv_table *t, const glv_search_options *o, int64_t wanted) {
  struct ArrowArrayStream rows;
  struct ArrowArray batch;
  must(s, glv_table_search(t, o, &rows, &s->err));
  assert_int_equal(rows.get_next(&rows, &batch), 0);
  assert_int_equal(batch.length, wanted);
  batch.release(&batch);
  rows.release(&rows);
}

static void nearest_first(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = make_table(&s);
  const float two[] = {1, 1, 4, 4};
  glv_search_options o = options_for(one, 1);
  expect_rows(&s, t, &o, "1 | 0.0\n2 | 2.0\n4 | 18.0");
  o.flags = GLV_SCAN_LIMIT;
  o.limit = 1;
  o.offset = 1;
  expect_rows(&s, t, &o, "2 | 2.0");
  o.offset = 1000;
  expect_rows(&s, t, &o, "");
  o = options_for(two, 2);
  o.flags = GLV_SCAN_LIMIT;
  o.limit = 2;
  expect_rows(&s, t, &o, "0 | 1 | 0.0\n0 | 2 | 2.0\n1 | 4 | 0.0\n1 | 2 | 8.0");
  o.columns = (glv_pairs){NULL, 0};
  expect_count(&s, t, &o, 4);
  o = options_for(one, 1);
  o.metric = GLV_METRIC_DOT;
  o.flags = GLV_SEARCH_LOWER | GLV_SEARCH_UPPER;
  o.lower = -7;
  o.upper = -1;
  expect_rows(&s, t, &o, "4 | -7.0\n2 | -3.0");
  const glv_order order = {"id", 0};
  o.order = &order;
  o.order_count = 1;
  expect_rows(&s, t, &o, "2 | -3.0\n4 | -7.0");
  o = options_for(one, 1);
  o.filter = "_distance < 2 OR id = 4";
  o.flags = GLV_SEARCH_POSTFILTER;
  expect_rows(&s, t, &o, "1 | 0.0\n4 | 18.0");
  glv_table_free(t);
  suite_close(&s);
}

static void wrong_searches(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = make_table(&s);
  struct ArrowArrayStream rows;
  glv_search_options o = options_for(one, 1);
  must_fail(&s, GLV_E_INVALID_INPUT, "options", glv_table_search(t, NULL, &rows, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "ret", glv_table_search(t, &o, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "table", glv_table_search(NULL, &o, &rows, &s.err));
  o.metric = 5;
  must_fail(&s, GLV_E_INVALID_INPUT, "metric", glv_table_search(t, &o, &rows, &s.err));
  o = options_for(one, 0);
  must_fail(&s, GLV_E_INVALID_INPUT, "0 query vectors", glv_table_search(t, &o, &rows, &s.err));
  o = options_for(NULL, 1);
  must_fail(&s, GLV_E_INVALID_INPUT, "vectors", glv_table_search(t, &o, &rows, &s.err));
  o = options_for(one, 1);
  o.order_count = 1;
  must_fail(&s, GLV_E_INVALID_INPUT, "order", glv_table_search(t, &o, &rows, &s.err));
  o = options_for(one, 1);
  o.flags = 1U << 30;
  must_fail(&s, GLV_E_INVALID_INPUT, "flags", glv_table_search(t, &o, &rows, &s.err));
  o.flags = GLV_SCAN_LIMIT;
  must_fail(&s, GLV_E_INVALID_INPUT, "Limit is required", glv_table_search(t, &o, &rows, &s.err));
  o = options_for(one, 1);
  o.column = "id";
  must_fail(&s, GLV_E_INVALID_INPUT, "does not hold vectors",
            glv_table_search(t, &o, &rows, &s.err));
  glv_table_free(t);
  suite_close(&s);
}

/* The text of a plan has a word. */
static void expect_plan(suite *s, glv_table *t, const glv_explain_options *o, const char *word) {
  glv_buf text = {0};
  must(s, glv_table_explain(t, o, &text, &s->err));
  if (strstr(text.data, word) == NULL) {
    fail_msg("no '%s' in:\n%s", word, text.data);
  }
  glv_buf_dispose(&text);
}

static void plans(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = make_table(&s);
  glv_buf text = {0};
  glv_explain_options o = GLV_OPTIONS(glv_explain_options);
  glv_scan_options scan = GLV_OPTIONS(glv_scan_options);
  glv_search_options search = options_for(one, 1);
  const glv_order order = {"id", GLV_ORDER_DESCENDING};
  const glv_pair more = {"more", "id + 1"};
  expect_plan(&s, t, &o, "Scan: table=t, version=1, fragments=1, rows=4");
  expect_plan(&s, t, &o, "reads: id, vec");
  scan.flags = GLV_SCAN_LIMIT;
  scan.limit = 2;
  scan.filter = "id > 1";
  scan.columns = (glv_pairs){&more, 1};
  scan.order = &order;
  scan.order_count = 1;
  o.scan = &scan;
  expect_plan(&s, t, &o, "Limit: rows=2, offset=0\n  Sort: id descending nulls last\n    Scan:");
  expect_plan(&s, t, &o, "filter: id > 1");
  expect_plan(&s, t, &o, "more");
  o.flags = GLV_EXPLAIN_RUN;
  expect_plan(&s, t, &o, "Ran: rows=2, milliseconds=");
  o.search = &search;
  must_fail(&s, GLV_E_INVALID_INPUT, "scan and a search", glv_table_explain(t, &o, &text, &s.err));
  o.scan = NULL;
  expect_plan(&s, t, &o, "Ran: rows=3");
  search.flags = GLV_SEARCH_UPPER | GLV_SEARCH_POSTFILTER;
  search.upper = 3;
  search.filter = "id < 9";
  o.flags = 0;
  expect_plan(&s, t, &o,
              "Search: exact, column=vec, distance=l2, dimension=2, queries=1, rows=10, offset=0");
  expect_plan(&s, t, &o, "distances below 3\n  filter afterwards: id < 9\n  Scan:");
  search.filter = "nobody < 9";
  search.flags = 0;
  must_fail(&s, GLV_E_SQL_PLAN, "nobody", glv_table_explain(t, &o, &text, &s.err));
  o.flags = 2;
  must_fail(&s, GLV_E_INVALID_INPUT, "flags", glv_table_explain(t, &o, &text, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "options", glv_table_explain(t, NULL, &text, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "ret_text", glv_table_explain(t, &o, NULL, &s.err));
  glv_table_free(t);
  suite_close(&s);
}

static void without_memory(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = make_table(&s);
  glv_search_options o = options_for(one, 1);
  const glv_order order = {"x", GLV_ORDER_DESCENDING};
  const glv_pair more[] = {{"id", NULL}, {"x", "id + 1"}, {"y", "id * _distance"}};
  o.columns = (glv_pairs){more, 3};
  o.filter = "_distance > 1";
  o.flags = GLV_SEARCH_POSTFILTER | GLV_SCAN_ROW_ID;
  o.order = &order;
  o.order_count = 1;
  glv_status status = GLV_E_NOMEM;
  for (uint64_t n = 1; status != GLV_OK; n++) {
    struct ArrowArrayStream rows;
    alloc_fault_arm(&s.t.alloc, n, false);
    status = glv_table_search(t, &o, &rows, &s.err);
    alloc_fault_arm(&s.t.alloc, 0, false);
    if (status == GLV_OK) {
      rows.release(&rows);
    } else if (status != GLV_E_NOMEM) {
      fail_msg("allocation %u: %s", (unsigned)n, s.err.message);
    }
  }
  glv_table_free(t);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nearest_first),
                                     cmocka_unit_test(wrong_searches), cmocka_unit_test(plans),
                                     cmocka_unit_test(without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
