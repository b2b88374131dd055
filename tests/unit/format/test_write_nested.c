/*
 * Nested columns: the levels that lists and structs become, what a round trip through a file gives
 * back, what is refused, and memory that runs out.
 */
#include "arrow/bits.h"
#include "write_support.h"

static test_env env;

static int open_env(void **state) {
  (void)state;
  test_env_open_mem(&env);
  return 0;
}

static int close_env(void **state) {
  (void)state;
  test_env_close(&env);
  return 0;
}

static bool is_list(const type *t) { return t->kind == TYPE_LIST || t->kind == TYPE_LARGE_LIST; }

static bool is_nested(const type *t) {
  return is_list(t) || t->kind == TYPE_STRUCT ||
         (t->kind == TYPE_FIXED_SIZE_LIST && t->children[0].type->kind == TYPE_STRUCT);
}

/* Lengths 0 to 3, for null lists as well. @return number of items. */
static size_t put_lengths(array *a, rng *r) {
  int64_t at = 0;
  for (size_t i = 0; i < a->length; i++) {
    at += (int64_t)rng_below(r, 4);
    if (a->type->kind == TYPE_LARGE_LIST) {
      ((int64_t *)(void *)a->owners[1]->data)[i + 1] = at;
    } else {
      ((int32_t *)(void *)a->owners[1]->data)[i + 1] = (int32_t)at;
    }
  }
  return (size_t)at;
}

/* Random values of a nested type; every few are null on each level. */
static array nested_new(glv_env *e, const type *t, size_t n, rng *r) {
  if (!is_nested(t)) {
    return column_new(e, t, n, (enum column_values)rng_below(r, 3), (size_t)rng_below(r, 3) * 3);
  }
  array a;
  ASSERT_OK(array_new_null(e, t, n, &a, &err));
  a.null_count = NULLS_UNKNOWN;
  for (size_t i = 0; i < n; i++) {
    bit_put(a.owners[0]->data, i, rng_below(r, 6) != 0);
  }
  const size_t items = is_list(t)               ? put_lengths(&a, r)
                       : t->kind == TYPE_STRUCT ? n
                                                : n * (size_t)t->width;
  for (size_t i = 0; i < t->child_count; i++) {
    array_unref(&a.children[i]);
    a.children[i] = nested_new(e, t->children[i].type, items, r);
  }
  return a;
}

/* The types that are tried. */
enum { TYPE_COUNT = 10 };
static void make_types(arena *a, const type **ret) {
  const field number = {.name = "n", .type = type_simple(TYPE_INT64), .nullable = true};
  const field text = {.name = "t", .type = type_simple(TYPE_UTF8), .nullable = true};
  const field flag = {.name = "f", .type = type_simple(TYPE_BOOL), .nullable = true};
  const field item = {.name = "item", .type = type_simple(TYPE_FLOAT32), .nullable = true};
  const field wide = {.name = "w", .type = type_fixed_size_list(a, &item, 70), .nullable = true};
  const field pair_of[] = {number, text};
  const field both = {.name = "s", .type = type_struct(a, pair_of, 2), .nullable = true};
  const field numbers = {.name = "l", .type = type_list(a, TYPE_LIST, &number), .nullable = true};
  const field flags = {.name = "l", .type = type_list(a, TYPE_LIST, &flag), .nullable = true};
  const field inner[] = {numbers, both, flag};
  const field deep = {.name = "d", .type = type_struct(a, inner, 3), .nullable = true};
  ret[0] = both.type;
  ret[1] = numbers.type;
  ret[2] = type_list(a, TYPE_LARGE_LIST, &text);
  ret[3] = type_list(a, TYPE_LIST, &flags);
  ret[4] = type_list(a, TYPE_LIST, &both);
  ret[5] = deep.type;
  ret[6] = type_list(a, TYPE_LIST, &deep);
  ret[7] = type_list(a, TYPE_LIST, &wide);
  ret[8] = type_struct(a, &wide, 1);
  ret[9] = type_fixed_size_list(a, &both, 3);
}

static void round_trips(void **state) {
  (void)state;
  static const size_t rows[] = {1, 3, 700, 5000};
  arena a;
  arena_init(&a, env.env);
  const type *types[TYPE_COUNT];
  make_types(&a, types);
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    for (size_t k = 0; k < 4; k++) {
      rng r = rng_of(i * 10 + k);
      const field f = field_of(types[i]);
      CLEANUP(array_unref) array all = nested_new(env.env, types[i], rows[k], &r);
      const size_t cuts[] = {rows[k] / 3, rows[k] / 3 + 1, rows[k] / 2};
      CLEANUP(pieces_dispose) pieces p = pieces_of(&all, cuts, 3);
      check_round_trip(&env, &f, p.items, p.count);
    }
  }
  arena_dispose(&a);
}

/* [[[1, 2], [3]], [], null, [[], null, [4]]], the example of the format's description. */
static void levels(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const field number = {.name = "item", .type = type_simple(TYPE_INT32), .nullable = true};
  const field list = {.name = "item", .type = type_list(&a, TYPE_LIST, &number), .nullable = true};
  const field f = field_of(type_list(&a, TYPE_LIST, &list));
  static const int32_t values[] = {1, 2, 3, 4};
  static const int32_t inner_offsets[] = {0, 2, 3, 3, 3, 4};
  static const int32_t outer_offsets[] = {0, 2, 2, 2, 5};
  static const uint8_t inner_validity = 0x17;
  static const uint8_t outer_validity = 0x0B;
  array leaf = {.type = number.type, .length = 4, .values = values};
  array inner = {.type = list.type,
                 .length = 5,
                 .null_count = 1,
                 .validity = &inner_validity,
                 .values = inner_offsets,
                 .children = &leaf,
                 .child_count = 1};
  const array outer = {.type = f.type,
                       .length = 4,
                       .null_count = 1,
                       .validity = &outer_validity,
                       .values = outer_offsets,
                       .children = &inner,
                       .child_count = 1};
  page_output o;
  const layout_message *m = encode_page(env.env, &f, &outer, 1, &o);
  const Lance__Encodings21__MiniBlockLayout *mini = m->mini_block;
  assert_int_equal(mini->n_layers, 3);
  assert_int_equal(mini->layers[0], LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM);
  assert_int_equal(mini->layers[1], LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST);
  assert_int_equal(mini->layers[2], LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST);
  assert_int_equal(mini->num_items, 4);
  assert_int_equal(mini->repetition_index_depth, 1);
  static const uint16_t rep[] = {2, 0, 1, 2, 2, 2, 1, 1};
  static const uint16_t def[] = {0, 0, 0, 4, 3, 2, 1, 0};
  const uint8_t *chunk = o.bytes + o.offsets[1];
  assert_int_equal(load_le16(chunk), 8);
  assert_memory_equal(chunk + 16, rep, sizeof rep);
  assert_memory_equal(chunk + 32, def, sizeof def);
  assert_int_equal(o.buffer_count, 3);
  assert_int_equal(load_le64(o.bytes + o.offsets[2]), 4);
  assert_int_equal(load_le64(o.bytes + o.offsets[2] + 8), 0);
  page_output_dispose(&o);
  arena_dispose(&a);
}

/* A row that goes on in the next chunk, and one that ends where a chunk does. */
static void repetition_index(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const field number = {.name = "item", .type = type_simple(TYPE_INT64), .nullable = true};
  const field f = field_of(type_list(&a, TYPE_LIST, &number));
  static const int32_t offsets[] = {0, 1000, 3072, 3080};
  CLEANUP(array_unref)
  array leaf = column_new(env.env, number.type, 3080, VALUES_SEQUENCE, 0);
  const array lists = {
      .type = f.type, .length = 3, .values = offsets, .children = &leaf, .child_count = 1};
  page_output o;
  (void)encode_page(env.env, &f, &lists, 1, &o);
  static const uint64_t expected[] = {1, 24, 0, 1024, 1, 0, 1, 0};
  assert_int_equal(o.sizes[2], sizeof expected);
  for (size_t i = 0; i < 8; i++) {
    assert_int_equal(load_le64(o.bytes + o.offsets[2] + i * 8), expected[i]);
  }
  page_output_dispose(&o);
  arena_dispose(&a);
}

/* Two values with 40,000 empty lists between them do not fit into a chunk. */
static void sparse_lists(void **state) {
  (void)state;
  enum { ROWS = 90000 };
  arena a;
  arena_init(&a, env.env);
  const field number = {.name = "item", .type = type_simple(TYPE_INT64), .nullable = true};
  const field f = field_of(type_list(&a, TYPE_LIST, &number));
  array lists;
  ASSERT_OK(array_new_null(env.env, f.type, ROWS, &lists, &err));
  array_unref(&lists.children[0]);
  lists.children[0] = column_new(env.env, number.type, 2, VALUES_SEQUENCE, 0);
  bits_fill(lists.owners[0]->data, 0, ROWS, true);
  lists.null_count = 0;
  int32_t *offsets = (void *)lists.owners[1]->data;
  for (size_t i = 0; i < ROWS; i++) {
    offsets[i + 1] = (i >= 10) + (i >= 50000);
  }
  page_output o;
  const layout_message *m = encode_page(env.env, &f, &lists, 1, &o);
  assert_int_equal(m->layout_case, LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP);
  assert_int_equal(m->full_zip->num_items, ROWS);
  assert_int_equal(m->full_zip->num_visible_items, 2);
  page_output_dispose(&o);
  check_round_trip(&env, &f, &lists, 1);
  array_unref(&lists);
  arena_dispose(&a);
}

/* Nulls where the schema has none; a null struct around them is fine. */
static void refused_nulls(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const field strict = {.name = "a", .type = type_simple(TYPE_INT32)};
  const field f = field_of(type_struct(&a, &strict, 1));
  CLEANUP(array_unref) array s = {0};
  ASSERT_OK(array_new_null(env.env, f.type, 9, &s, &err));
  check_round_trip(&env, &f, &s, 1);
  bit_put(s.owners[0]->data, 4, true);
  s.null_count = 8;
  glv_error err = {0};
  file_written written;
  assert_int_equal(
      write_column(env.env, test_env_path(&env, "bad.lance"), &f, &s, 1, NULL, &written, &err),
      GLV_E_SCHEMA);
  assert_string_equal(err.message,
                      "The field `a` contained null values even though the field is marked "
                      "non-null in the schema");
  arena_dispose(&a);
}

static void failing_memory(void **state) {
  (void)state;
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.threads = 1;
  arena a;
  arena_init(&a, env.env);
  const type *types[TYPE_COUNT];
  make_types(&a, types);
  for (size_t i = 4; i < TYPE_COUNT; i += 2) {
    test_env other;
    test_env_open_mem_with(&other, &options);
    const char *path = test_env_path(&other, "x.lance");
    const field f = field_of(types[i]);
    rng r = rng_of(i);
    array column = nested_new(other.env, f.type, 300, &r);
    glv_status status = GLV_E_NOMEM;
    for (uint64_t nth = 1; status == GLV_E_NOMEM; nth++) {
      glv_error err = {0};
      file_written written;
      alloc_fault_arm(&other.alloc, nth, false);
      status = write_column(other.env, path, &f, &column, 1, NULL, &written, &err);
      alloc_fault_arm(&other.alloc, 0, false);
    }
    assert_int_equal(status, GLV_OK);
    array_unref(&column);
    test_env_close(&other);
  }
  arena_dispose(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trips),      cmocka_unit_test(levels),
      cmocka_unit_test(repetition_index), cmocka_unit_test(sparse_lists),
      cmocka_unit_test(refused_nulls),    cmocka_unit_test(failing_memory),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
