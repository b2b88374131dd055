/* Scans that expand a list column, and groups of rows: against the rows computed here.
 *
 * Table: id int64, text utf8, items list<struct<n int64, s utf8>>. Row i has i % 4 items, none of
 * them where i % 5 is 4, for then the list is null; item k is {10 i + k, "t<i>"}, null where k
 * is 2.
 */
#include "arrow/bits.h"
#include "base/bitmap.h"
#include "expr/expr.h"
#include "table/scan_group.h"
#include "tables.h"

#define UNNEST(c, a)                                                                               \
  { .column = STR(c), .alias = STR(a) }

enum { MOST = 4 };

static bool is_null_list(int64_t row) { return row % 5 == 4; }
static int64_t items_of(int64_t row) { return is_null_list(row) ? 0 : row % MOST; }

static schema *list_schema(arena *a) {
  const field parts[] = {{.name = "n", .type = type_simple(TYPE_INT64), .nullable = true},
                         {.name = "s", .type = type_simple(TYPE_UTF8), .nullable = true}};
  const field item = {.name = "item", .type = type_struct(a, parts, 2), .nullable = true};
  const field fields[] = {
      {.name = "id", .type = type_simple(TYPE_INT64)},
      {.name = "text", .type = type_simple(TYPE_UTF8), .nullable = true},
      {.name = "items", .type = type_list(a, TYPE_LIST, &item), .nullable = true}};
  schema *s;
  OK(schema_new(a->env, fields, 3, (metadata){0}, &s, err));
  return s;
}

static void put_bits(glv_env *env, array *a, size_t count, bool (*is_valid)(size_t i)) {
  buffer *bits;
  OK(buffer_new_zeroed(env, bits_size(count), &bits, err));
  for (size_t i = 0; i < count; i++) {
    bit_put(bits->data, i, is_valid(i));
  }
  a->validity = bits->data;
  a->owners[0] = bits;
  a->null_count = NULLS_UNKNOWN;
}

/* The items of the rows from `first` on, before nulls are put in. */
static void make_items(glv_env *env, const type *t, int64_t first, size_t count, array *ret,
                       size_t *k_of) {
  builder n;
  builder s;
  builder_init(&n, env, t->children[0].type);
  builder_init(&s, env, t->children[1].type);
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    const int64_t row = first + (int64_t)i;
    for (int64_t k = 0; k < items_of(row); k++) {
      const int64_t value = 10 * row + k;
      char text[32];
      snprintf(text, sizeof text, "t%lld", (long long)row);
      OK(builder_append_fixed(&n, &value, err));
      OK(builder_append_str(&s, str_of(text), err));
      k_of[total++] = (size_t)k;
    }
  }
  *ret = (array){.type = t, .length = total};
  OK(array_new_children(env, 2, ret, err));
  OK(builder_finish(&n, &ret->children[0], err));
  OK(builder_finish(&s, &ret->children[1], err));
}

static int64_t base; /* first row of the lists that are being made */
static const size_t *places;
static bool list_is_valid(size_t i) { return !is_null_list(base + (int64_t)i); }
static bool item_is_valid(size_t i) { return places[i] != 2; }

static void make_lists(glv_env *env, const type *t, int64_t first, size_t count, array *ret) {
  *ret = (array){.type = t, .length = count};
  OK(buffer_new(env, (count + 1) * sizeof(int32_t), &ret->owners[1], err));
  int32_t *offsets = (int32_t *)(void *)ret->owners[1]->data;
  offsets[0] = 0;
  for (size_t i = 0; i < count; i++) {
    offsets[i + 1] = offsets[i] + (int32_t)items_of(first + (int64_t)i);
  }
  ret->values = offsets;
  base = first;
  put_bits(env, ret, count, list_is_valid);
  OK(array_new_children(env, 1, ret, err));
  size_t *k_of = mem_alloc(env, (count * MOST + 1) * sizeof *k_of);
  make_items(env, t->children[0].type, first, count, &ret->children[0], k_of);
  places = k_of;
  put_bits(env, &ret->children[0], ret->children[0].length, item_is_valid);
  mem_free(env, k_of);
}

static batch_reader make_list_rows(glv_env *env, const schema *s, int64_t first, size_t count) {
  batch b = {0};
  OK(batch_new(env, s, count, 3, &b, err));
  batch_reader plain = make_rows(env, first, count, count);
  batch rows = {0};
  bool end = false;
  OK(plain.next(plain.state, &rows, &end, err));
  for (size_t c = 0; c < 2; c++) {
    OK(array_retype(env, &rows.columns[c], s->fields[c].type, &b.columns[c], err));
  }
  batch_dispose(&rows);
  batch_reader_dispose(&plain);
  make_lists(env, s->fields[2].type, first, count, &b.columns[2]);
  batch_reader r;
  OK(batch_reader_of(env, s, &b, 1, &r, err));
  batch_dispose(&b);
  return r;
}

/* `parts` fragments of `count` rows each. */
static table_snapshot *create_lists(test_env *t, size_t parts, size_t count) {
  test_env_open_mem(t);
  arena a;
  arena_init(&a, t->env);
  schema *s = list_schema(&a);
  batch_reader r = make_list_rows(t->env, s, 0, count);
  table_snapshot *table;
  OK(table_create(t->env, test_env_path(t, "t"), "t", s, &r, NULL, &table, err));
  for (size_t i = 1; i < parts; i++) {
    r = make_list_rows(t->env, s, (int64_t)(i * count), count);
    table_snapshot *next;
    OK(table_append(table, &r, NULL, &next, NULL, err));
    table_unref(table);
    table = next;
  }
  schema_unref(s);
  arena_dispose(&a);
  return table;
}

static void close_table(test_env *t, table_snapshot *s) {
  table_unref(s);
  test_env_close(t);
}

/* ---- expectations ---- */

/* Which elements are wanted: of row `row`, number k, null where k is 2. */
typedef bool (*wanted)(int64_t row, int64_t k);

static bool every(int64_t row, int64_t k) {
  (void)row;
  (void)k;
  return true;
}
static bool of_large_rows(int64_t row, int64_t k) {
  (void)k;
  return row > 7 && row != 10;
}
static bool not_first(int64_t row, int64_t k) {
  (void)row;
  return k != 0;
}
static bool second_of_large_rows(int64_t row, int64_t k) { return row > 7 && k == 1; }
static bool null_ones(int64_t row, int64_t k) {
  (void)row;
  return k == 2;
}
static bool none(int64_t row, int64_t k) {
  (void)row;
  (void)k;
  return false;
}

/* Columns: id, e.n, the text of the row, `_rowid`, e.s. */
static const scan_column columns[] = {{.name = STR("id")},
                                      {.name = STR("n"), .expression = STR("e.n")},
                                      {.name = STR("text")},
                                      {.name = STR("_rowid")},
                                      {.name = STR("s"), .expression = STR("upper(e.s)")}};

static void check_row(const batch *b, size_t i, int64_t row, int64_t k) {
  assert_int_equal(ARRAY_VALUES(&b->columns[0], int64_t)[i], row);
  assert_int_equal(array_is_valid(&b->columns[1], i), k != 2);
  assert_int_equal(array_is_valid(&b->columns[4], i), k != 2);
  if (k != 2) {
    char text[32];
    snprintf(text, sizeof text, "T%lld", (long long)row);
    assert_int_equal(ARRAY_VALUES(&b->columns[1], int64_t)[i], 10 * row + k);
    assert_true(str_is(array_str(&b->columns[4], i), text));
  }
  assert_int_equal(array_is_valid(&b->columns[2], i), row % 7 != 0);
  assert_int_equal(ARRAY_VALUES(&b->columns[3], uint64_t)[i], row);
}

static void expect_elements(const table_snapshot *t, const scan_options *o, int64_t rows,
                            wanted is_wanted) {
  batch_reader r;
  OK(table_scan(t, o, &r, err));
  batch b = {0};
  size_t at = 0;
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t k = 0; k < items_of(row); k++) {
      if (!is_wanted(row, k)) {
        continue;
      }
      if (at == b.length) {
        bool end = false;
        batch_dispose(&b);
        b = (batch){0};
        OK(r.next(r.state, &b, &end, err));
        assert_false(end);
        at = 0;
      }
      check_row(&b, at++, row, k);
    }
  }
  assert_int_equal(at, b.length);
  batch_dispose(&b);
  b = (batch){0};
  bool end = false;
  OK(r.next(r.state, &b, &end, err));
  assert_true(end);
  batch_reader_dispose(&r);
}

#define EXPECT_ELEMENTS(t, rows, is_wanted, ...)                                                   \
  expect_elements(                                                                                 \
      (t),                                                                                         \
      &(scan_options){                                                                             \
          .columns = columns, .column_count = 5, .unnest = UNNEST("items", "e"), __VA_ARGS__},     \
      (rows), (is_wanted))

/* ---- tests ---- */

static void check_filters(const table_snapshot *t, int64_t rows) {
  EXPECT_ELEMENTS(t, rows, every, .filter = {0});
  EXPECT_ELEMENTS(t, rows, of_large_rows, .filter = STR("id > 7 AND id <> 10"));
  EXPECT_ELEMENTS(t, rows, of_large_rows, .filter = STR("_rowid > 7 AND _rowid <> 10"));
  EXPECT_ELEMENTS(t, rows, not_first, .filter = STR("e.n IS NULL OR e.n % 10 <> 0"));
  EXPECT_ELEMENTS(t, rows, second_of_large_rows, .filter = STR("e.n % 10 = 1 AND id > 7"));
  EXPECT_ELEMENTS(t, rows, null_ones, .filter = STR("e IS NULL"));
  EXPECT_ELEMENTS(t, rows, none, .filter = STR("e.n < 0"));
  EXPECT_ELEMENTS(t, rows, none, .filter = STR("id < 0"));
  /* fails for rows 0 and 4, which have no elements */
  EXPECT_ELEMENTS(t, rows, every, .filter = STR("100 / (id * (id - 4)) IS NOT NULL"));
}

static void test_elements(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 2, 20);
  check_filters(s, 40);
  EXPECT_ELEMENTS(s, 40, every, .batch_rows = 7);
  close_table(&t, s);
}

static void test_no_elements(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 2, 1); /* an empty list, and a single element */
  EXPECT_ELEMENTS(s, 1, none, .fragments = &((scan_fragment){0, NULL}), .fragment_count = 1);
  EXPECT_ELEMENTS(s, 2, every, .filter = STR("id >= 0"));
  close_table(&t, s);
}

static void test_many_windows(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 3, 20000);
  check_filters(s, 60000);
  close_table(&t, s);
}

static bool from_the_fifth(int64_t row, int64_t k) { return row > 3 || (row == 3 && k > 0); }
static bool until_row_five(int64_t row, int64_t k) { return row < 5 || (row == 5 && k == 0); }

static void test_limits_count_elements(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 1, 20); /* rows 1 to 3 have 6 elements, row 5 has one */
  EXPECT_ELEMENTS(s, 20, until_row_five, .has_limit = true, .limit = 7);
  EXPECT_ELEMENTS(s, 20, from_the_fifth, .offset = 4);
  close_table(&t, s);
}

static bool of_rows_six_and_seven(int64_t row, int64_t k) {
  (void)k;
  return row == 6 || row == 7;
}

static void test_wanted_rows(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 2, 20);
  bitmap *b = bitmap_new();
  bitmap_add(b, 4);
  bitmap_add(b, 6);
  bitmap_add(b, 7);
  const scan_fragment part = {0, b};
  EXPECT_ELEMENTS(s, 40, of_rows_six_and_seven, .fragments = &part, .fragment_count = 1);
  bitmap_free(b);
  close_table(&t, s);
}

static void test_a_column_that_nobody_reads(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 1, 8);
  EXPECT_IDS(
      s, &((scan_options){.columns = columns, .column_count = 1, .unnest = UNNEST("items", "e")}),
      1, 2, 2, 3, 3, 3, 5, 6, 6, 7, 7, 7);
  batch_reader r;
  OK(table_scan(s, &(scan_options){.unnest = UNNEST("items", "e")}, &r, err));
  assert_int_equal(r.schema->field_count, 3); /* `*`: the element in place of the list */
  assert_string_equal(r.schema->fields[2].name, "e");
  assert_int_equal(r.schema->fields[2].type->kind, TYPE_STRUCT);
  assert_true(r.schema->fields[2].nullable);
  batch b = {0};
  bool end = false;
  OK(r.next(r.state, &b, &end, err));
  batch_reader_dispose(&r);
  table_unref(s); /* a batch outlives its reader, plan and table */
  assert_int_equal(b.length, 12);
  assert_ptr_equal(b.columns[2].type, b.schema->fields[2].type);
  assert_int_equal(ARRAY_VALUES(&b.columns[2].children[0], int64_t)[11 - 2], 70);
  assert_false(array_is_valid(&b.columns[2], 11));
  batch_dispose(&b);
  test_env_close(&t);
}

static void test_refusals(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 1, 8);
  static const struct {
    scan_unnest unnest;
    const char *message;
  } cases[] = {
      {UNNEST("nope", "e"), "UNNEST column 'nope' is not a column of the source"},
      {UNNEST("id", "e"), "UNNEST column 'id' is Int64, not a list"},
      {UNNEST("items", "id"), "UNNEST alias 'id' collides with a source column"},
      {UNNEST("items", "items"), "UNNEST alias 'items' collides with a source column"},
      {UNNEST("items", "_rowid"), "UNNEST alias '_rowid' is reserved"},
      {UNNEST("items", "a.b"), "cannot name a column"},
      {UNNEST("items", ""), "cannot name a column"},
  };
  batch_reader r;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    EXPECT(GLV_E_SQL_PLAN, cases[i].message,
           table_scan(s, &(scan_options){.unnest = cases[i].unnest}, &r, err));
  }
  const scan_column hidden = {.name = STR("x"), .expression = STR("items IS NULL")};
  EXPECT(GLV_E_SQL_PLAN, "items",
         table_scan(
             s,
             &(scan_options){.columns = &hidden, .column_count = 1, .unnest = UNNEST("items", "e")},
             &r, err));
  close_table(&t, s);
}

/* ---- groups ---- */

static const group_item group_items[] = {
    {STR("k"), STR("id % 3")}, {STR("c"), STR("count(*)")}, {STR("m"), STR("max(e.n)")}};
static const str group_keys[] = {STR("k")};

static void test_groups(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 2, 10);
  const group_options o = {.items = group_items,
                           .item_count = 3,
                           .keys = group_keys,
                           .key_count = 1,
                           .unnest = UNNEST("items", "e"),
                           .row_id_name = "first",
                           .filter = STR("id <> 1")};
  batch_reader r;
  OK(table_scan_groups(s, &o, &r, err));
  assert_int_equal(r.schema->field_count, 4);
  assert_string_equal(r.schema->fields[3].name, "first");
  assert_false(r.schema->fields[3].nullable);
  batch b = {0};
  OK(batch_collect(t.env, &r, &b, err));
  batch_reader_dispose(&r);
  int64_t counts[3] = {0};
  int64_t largest[3] = {0};
  uint64_t first[3] = {99, 99, 99};
  for (int64_t row = 0; row < 20; row++) {
    for (int64_t k = 0; k < items_of(row) && row != 1; k++) {
      counts[row % 3]++;
      largest[row % 3] = k != 2 ? 10 * row + k : largest[row % 3];
      first[row % 3] = first[row % 3] == 99 ? (uint64_t)row : first[row % 3];
    }
  }
  assert_int_equal(b.length, 3);
  for (size_t i = 0; i < 3; i++) {
    const int64_t k = ARRAY_VALUES(&b.columns[0], int64_t)[i];
    assert_int_equal(ARRAY_VALUES(&b.columns[1], int64_t)[i], counts[k]);
    assert_int_equal(ARRAY_VALUES(&b.columns[2], int64_t)[i], largest[k]);
    assert_int_equal(ARRAY_VALUES(&b.columns[3], uint64_t)[i], first[k]);
  }
  batch_dispose(&b);
  close_table(&t, s);
}

static void test_groups_of_row_ids(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 1, 10);
  const group_item items[] = {{STR("n"), STR("count(*)")}, {STR("r"), STR("max(_rowid)")}};
  const group_options o = {
      .items = items, .item_count = 2, .row_id_name = "first", .filter = STR("id > 2")};
  group_plan *p;
  size_t count = 0;
  OK(table_group_plan(s, &o, &p, err));
  assert_int_equal(group_plan_columns(p, &count)[0], 3); /* behind the columns of the table */
  assert_int_equal(count, 1);
  group_plan_free(p);
  batch_reader r;
  batch b = {0};
  OK(table_scan_groups(s, &o, &r, err));
  OK(batch_collect(t.env, &r, &b, err));
  batch_reader_dispose(&r);
  assert_int_equal(b.length, 1);
  assert_int_equal(ARRAY_VALUES(&b.columns[0], int64_t)[0], 7);
  assert_int_equal(ARRAY_VALUES(&b.columns[1], uint64_t)[0], 9);
  assert_int_equal(ARRAY_VALUES(&b.columns[2], uint64_t)[0], 3);
  batch_dispose(&b);
  const group_item bad = {STR("n"), STR("text")};
  EXPECT(GLV_E_SQL_PLAN, "neither",
         table_scan_groups(s, &(group_options){.items = &bad, .item_count = 1, .keys = group_keys},
                           &r, err));
  close_table(&t, s);
}

/* ---- memory ---- */

static glv_status scan_all(const table_snapshot *t, bool grouped, size_t *ret_rows,
                           glv_error *err) {
  *ret_rows = 0;
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  if (grouped) {
    const group_options o = {.items = group_items,
                             .item_count = 3,
                             .keys = group_keys,
                             .key_count = 1,
                             .unnest = UNNEST("items", "e"),
                             .row_id_name = "first"};
    TRY(table_scan_groups(t, &o, &r, err));
  } else {
    const scan_options o = {.columns = columns,
                            .column_count = 5,
                            .unnest = UNNEST("items", "e"),
                            .filter = STR("e.n % 10 = 1 AND id > 2")};
    TRY(table_scan(t, &o, &r, err));
  }
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool end = false;
    TRY(r.next(r.state, &b, &end, err));
    if (end) {
      return GLV_OK;
    }
    *ret_rows += b.length;
  }
}

/* A cache that finds no memory does without; everything else fails. */
static void test_memory(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = create_lists(&t, 1, 20);
  for (int grouped = 0; grouped < 2; grouped++) {
    bool fired = true;
    for (uint64_t n = 1; fired; n++) {
      glv_error err = {0};
      alloc_fault_arm(&t.alloc, n, false);
      size_t rows = 0;
      const glv_status status = scan_all(s, grouped != 0, &rows, &err);
      fired = atomic_load(&t.alloc.fired);
      alloc_fault_arm(&t.alloc, 0, false);
      assert_int_equal(status, fired && status != GLV_OK ? GLV_E_NOMEM : GLV_OK);
      if (status == GLV_OK) {
        assert_int_equal(rows, grouped != 0 ? 3 : 7);
      }
    }
  }
  close_table(&t, s);
}

/* 24 rows of a text of 2 KiB and 10,000 elements: 20 MB for each row, half a GB in all. */
static batch_reader make_wide_rows(glv_env *env, const schema *s) {
  enum { ROWS = 24, ELEMENTS = 10000 };
  static char text[2048];
  memset(text, 'x', sizeof text);
  builder texts;
  builder items;
  builder_init(&texts, env, s->fields[0].type);
  builder_init(&items, env, s->fields[1].type->children[0].type);
  batch b = {0};
  OK(batch_new(env, s, ROWS, 2, &b, err));
  array *lists = &b.columns[1];
  *lists = (array){.type = s->fields[1].type, .length = ROWS};
  OK(buffer_new(env, (ROWS + 1) * sizeof(int32_t), &lists->owners[1], err));
  int32_t *offsets = (int32_t *)(void *)lists->owners[1]->data;
  lists->values = offsets;
  offsets[0] = 0;
  for (int32_t i = 0; i < ROWS; i++) {
    OK(builder_append_str(&texts, str_slice(text, sizeof text), err));
    for (int32_t k = 0; k < ELEMENTS; k++) {
      OK(builder_append_fixed(&items, &k, err));
    }
    offsets[i + 1] = (i + 1) * ELEMENTS;
  }
  OK(array_new_children(env, 1, lists, err));
  OK(builder_finish(&items, &lists->children[0], err));
  OK(builder_finish(&texts, &b.columns[0], err));
  batch_reader r;
  OK(batch_reader_of(env, s, &b, 1, &r, err));
  batch_dispose(&b);
  return r;
}

static void test_long_lists_beside_long_texts(void **state) {
  (void)state;
  test_env t;
  const glv_env_options options = {
      .struct_size = sizeof options, .memory_limit_bytes = 200 << 20, .threads = 2};
  test_env_open_mem_with(&t, &options);
  arena a;
  arena_init(&a, t.env);
  const field item = {.name = "item", .type = type_simple(TYPE_INT32), .nullable = true};
  const field fields[] = {{.name = "text", .type = type_simple(TYPE_UTF8)},
                          {.name = "xs", .type = type_list(&a, TYPE_LIST, &item)}};
  schema *s;
  OK(schema_new(t.env, fields, 2, (metadata){0}, &s, err));
  batch_reader r = make_wide_rows(t.env, s);
  table_snapshot *table;
  OK(table_create(t.env, test_env_path(&t, "t"), "t", s, &r, NULL, &table, err));
  OK(table_scan(table, &(scan_options){.unnest = UNNEST("xs", "x")}, &r, err));
  size_t rows = 0;
  for (bool end = false; !end;) {
    batch b = {0};
    OK(r.next(r.state, &b, &end, err));
    rows += b.length;
    batch_dispose(&b);
  }
  assert_int_equal(rows, 240000);
  batch_reader_dispose(&r);
  schema_unref(s);
  arena_dispose(&a);
  close_table(&t, table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_no_elements),
      cmocka_unit_test(test_many_windows),
      cmocka_unit_test(test_limits_count_elements),
      cmocka_unit_test(test_wanted_rows),
      cmocka_unit_test(test_a_column_that_nobody_reads),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_groups_of_row_ids),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_long_lists_beside_long_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
