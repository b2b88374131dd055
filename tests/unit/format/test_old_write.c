/*
 * Files of version 2.0 written and read back: every form of column, nested ones, many pages; what
 * cannot be stored; every allocation failing once.
 */
#include <string.h>

#include "arrow/bits.h"
#include "write_support.h"

static test_env env;

/* ---- flat columns ---- */

static void flat_columns(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const field number = {.name = "item", .type = type_simple(TYPE_FLOAT32), .nullable = true};
  const field bit = {.name = "item", .type = type_simple(TYPE_BOOL), .nullable = true};
  const type *const types[] = {
      type_simple(TYPE_BOOL),
      type_simple(TYPE_INT8),
      type_simple(TYPE_UINT16),
      type_simple(TYPE_INT32),
      type_simple(TYPE_INT64),
      type_simple(TYPE_FLOAT64),
      type_simple(TYPE_UTF8),
      type_simple(TYPE_LARGE_UTF8),
      type_simple(TYPE_BINARY),
      type_fixed_size_list(&a, &number, 5),
      type_fixed_size_list(&a, &bit, 3),
  };
  static const size_t nulls[] = {0, 7, 1};
  for (size_t i = 0; i < 3 * sizeof types / sizeof *types; i++) {
    const field f = field_of(types[i / 3]);
    CLEANUP(array_unref)
    array c = column_new(env.env, f.type, 6000, VALUES_RANDOM, nulls[i % 3]);
    CLEANUP(pieces_dispose) pieces p = pieces_of(&c, (const size_t[]){1, 8, 3001}, 3);
    check_round_trip_as(&env, FORMAT_2_0, &f, p.items, p.count);
  }
  arena_dispose(&a);
}

static void many_pages(void **state) {
  (void)state;
  const type_kind kinds[] = {TYPE_INT32, TYPE_UTF8, TYPE_BOOL};
  for (size_t i = 0; i < 3; i++) {
    const field f = field_of(type_simple(kinds[i]));
    CLEANUP(array_unref) array c = column_new(env.env, f.type, 50000, VALUES_RANDOM, 11);
    const char *path = test_env_path(&env, "pages.lance");
    const file_writer_options options = {
        .version = FORMAT_2_0, .page_bytes = 1000, .summary_leaf = SIZE_MAX};
    file_written written;
    ASSERT_OK(write_column(env.env, path, &f, &c, 1, &options, &written, &err));
    assert_int_equal(written.major, 2);
    assert_int_equal(written.minor, 0);
    file_reader *r;
    ASSERT_OK(file_reader_open(env.env, NULL, path, &r, &err));
    assert_int_equal(file_reader_version(r), FORMAT_2_0);
    uint32_t rows[1000];
    for (uint32_t k = 0; k < 1000; k++) {
      rows[k] = k * 49 + k % 3;
    }
    CLEANUP(array_unref) array got = {0};
    CLEANUP(array_unref) array expected = {0};
    ASSERT_OK(file_reader_read(r, 0, &f, 0, 50000, rows, 1000, &got, &err));
    ASSERT_OK(array_take(env.env, &c, rows, 1000, &expected, &err));
    assert_true(array_equal(&got, &expected));
    file_reader_unref(r);
    void *dir;
    ASSERT_OK(io_dir_open(env.env, env.root, &dir, &err));
    ASSERT_OK(io_remove(env.env, dir, "pages.lance", &err));
    io_dir_close(env.env, dir);
  }
}

/* ---- nested columns ---- */

/* A struct of the children. */
static array struct_of(glv_env *e, const type *t, const array *children) {
  array a = {.type = t, .length = children[0].length};
  ASSERT_OK(array_new_children(e, t->child_count, &a, &err));
  for (size_t i = 0; i < t->child_count; i++) {
    a.children[i] = children[i];
  }
  return a;
}

/* Lists of 0 to 3 items; every fifth is null although it has items. The items become theirs. */
static array lists_of(glv_env *e, const type *t, array items, size_t count) {
  array a = {.type = t, .length = count, .null_count = NULLS_UNKNOWN};
  ASSERT_OK(buffer_new(e, (count + 1) * sizeof(int32_t), &a.owners[1], &err));
  ASSERT_OK(buffer_new_zeroed(e, bits_size(count), &a.owners[0], &err));
  int32_t *offsets = (int32_t *)(void *)a.owners[1]->data;
  offsets[0] = 0;
  for (size_t i = 0; i < count; i++) {
    const int32_t next = offsets[i] + (int32_t)(i * 7 % 4);
    offsets[i + 1] = next <= (int32_t)items.length ? next : offsets[i];
    bit_put(a.owners[0]->data, i, i % 5 != 2);
  }
  a.values = offsets;
  a.validity = a.owners[0]->data;
  ASSERT_OK(array_new_children(e, 1, &a, &err));
  a.children[0] = items;
  return a;
}

/* list<struct<list<utf8>, int64>> */
static const type *nested_type(arena *a) {
  const field text = {.name = "item", .type = type_simple(TYPE_UTF8), .nullable = true};
  const field children[] = {
      {.name = "texts", .type = type_list(a, TYPE_LIST, &text), .nullable = true},
      {.name = "number", .type = type_simple(TYPE_INT64), .nullable = true}};
  const field item = {.name = "item", .type = type_struct(a, children, 2), .nullable = true};
  return type_list(a, TYPE_LIST, &item);
}

static array nested_column(glv_env *e, const type *t, size_t count) {
  const type *item = t->children[0].type;
  const array texts = column_new(e, type_simple(TYPE_UTF8), 4 * count, VALUES_RANDOM, 6);
  const array children[] = {lists_of(e, item->children[0].type, texts, 2 * count),
                            column_new(e, type_simple(TYPE_INT64), 2 * count, VALUES_RANDOM, 4)};
  return lists_of(e, t, struct_of(e, item, children), count);
}

static void nested_columns(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const field f = field_of(nested_type(&a));
  CLEANUP(array_unref) array c = nested_column(env.env, f.type, 7000);
  CLEANUP(pieces_dispose) pieces p = pieces_of(&c, (const size_t[]){3, 2000, 2001}, 3);
  check_round_trip_as(&env, FORMAT_2_0, &f, p.items, p.count);
  arena_dispose(&a);
}

/* ---- dictionaries ---- */

static array dictionary_of(const type *t, size_t values, size_t rows, size_t null_every) {
  CLEANUP(array_unref)
  array indices = column_new(env.env, type_simple(t->index), rows, VALUES_SEQUENCE, null_every);
  array a = array_ref(&indices);
  a.type = t;
  int8_t *numbers = (int8_t *)a.owners[1]->data;
  for (size_t i = 0; i < rows; i++) {
    numbers[i] = (int8_t)(i * 5 % values);
  }
  ASSERT_OK(array_new_children(env.env, 1, &a, &err));
  a.children[0] =
      column_new(env.env, t->children[0].type, values, VALUES_SEQUENCE, values == 9 ? 4 : 0);
  return a;
}

/* The value of a row, as an array of one; rows that refer to a null value are null. */
static array value_at(const array *a, size_t row) {
  const array *values = &a->children[0];
  const size_t index = array_dictionary_index(a, row);
  return array_slice(values, index, array_is_valid(a, row) && array_is_valid(values, index));
}

static void compare_dictionaries(const array *got, const array *expected) {
  assert_int_equal(got->length, expected->length);
  for (size_t i = 0; i < got->length; i++) {
    CLEANUP(array_unref) array a = value_at(got, i);
    CLEANUP(array_unref) array b = value_at(expected, i);
    assert_true(array_equal(&a, &b));
  }
}

static void dictionaries(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const type *const values[] = {type_simple(TYPE_UTF8), type_simple(TYPE_INT64)};
  for (size_t i = 0; i < 6; i++) {
    const field f = field_of(type_dictionary(&a, TYPE_INT8, values[i % 2]));
    CLEANUP(array_unref) array c = dictionary_of(f.type, i < 4 ? 100 : 9, 3000, i % 3 * 4);
    const char *path = test_env_path(&env, "dictionary.lance");
    const file_writer_options options = {.version = FORMAT_2_0, .summary_leaf = SIZE_MAX};
    file_written written;
    ASSERT_OK(write_column(env.env, path, &f, &c, 1, &options, &written, &err));
    file_reader *r;
    CLEANUP(array_unref) array got = {0};
    ASSERT_OK(file_reader_open(env.env, NULL, path, &r, &err));
    ASSERT_OK(file_reader_read(r, 0, &f, 0, 3000, NULL, 0, &got, &err));
    compare_dictionaries(&got, &c);
    file_reader_unref(r);
    void *dir;
    ASSERT_OK(io_dir_open(env.env, env.root, &dir, &err));
    ASSERT_OK(io_remove(env.env, dir, "dictionary.lance", &err));
    io_dir_close(env.env, dir);
  }
  const field f = field_of(type_dictionary(&a, TYPE_INT8, values[0]));
  CLEANUP(array_unref) array full = dictionary_of(f.type, 128, 3000, 4);
  const file_writer_options options = {.version = FORMAT_2_0, .summary_leaf = SIZE_MAX};
  glv_error err = {0};
  file_written written;
  assert_int_equal(write_column(env.env, test_env_path(&env, "bad.lance"), &f, &full, 1, &options,
                                &written, &err),
                   GLV_E_LIMIT);
  assert_non_null(strstr(err.message, "no index of type int8 is left for nulls"));
  arena_dispose(&a);
}

/* ---- refusals and failures ---- */

static void null_structs(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const field child = {.name = "x", .type = type_simple(TYPE_INT64), .nullable = true};
  const field f = field_of(type_struct(&a, &child, 1));
  const array number = column_new(env.env, child.type, 10, VALUES_RANDOM, 0);
  CLEANUP(array_unref) array c = struct_of(env.env, f.type, &number);
  ASSERT_OK(buffer_new_zeroed(env.env, 2, &c.owners[0], &err));
  bits_fill(c.owners[0]->data, 0, 7, true);
  c.validity = c.owners[0]->data;
  c.null_count = NULLS_UNKNOWN;
  const file_writer_options options = {.version = FORMAT_2_0, .summary_leaf = SIZE_MAX};
  glv_error err = {0};
  file_written written;
  assert_int_equal(
      write_column(env.env, test_env_path(&env, "bad.lance"), &f, &c, 1, &options, &written, &err),
      GLV_E_SCHEMA);
  assert_string_equal(err.message,
                      "The struct field `c` contains 3 null value(s), but Lance file version 2.0 "
                      "does not encode struct validity; use file version 2.1 or later");
  arena_dispose(&a);
}

static glv_status write_and_read(test_env *t, const field *f, const array *c, glv_error *err) {
  const char *path = test_env_path(t, "x.lance");
  const file_writer_options options = {.version = FORMAT_2_0, .summary_leaf = SIZE_MAX};
  file_written written;
  TRY(write_column(t->env, path, f, c, 1, &options, &written, err));
  file_reader *r = NULL;
  array got = {0};
  glv_status status = file_reader_open(t->env, NULL, path, &r, err);
  arena memory;
  arena_init(&memory, t->env);
  field_place place;
  const lance_schema *s;
  const uint32_t rows[] = {0, 5, 6, 90};
  if (status == GLV_OK) {
    status = file_reader_schema(r, &s, err);
  }
  if (status == GLV_OK) {
    status = file_reader_place(r, s, &s->fields[0], &memory, &place, err);
  }
  if (status == GLV_OK) {
    status = file_reader_read_field(r, &place, 0, c->length, rows, 4, &got, err);
  }
  array_unref(&got);
  file_reader_unref(r);
  arena_dispose(&memory);
  void *dir;
  TRY(io_dir_open(t->env, t->root, &dir, NULL));
  (void)io_remove(t->env, dir, "x.lance", NULL);
  io_dir_close(t->env, dir);
  return status;
}

static void failing_memory(void **state) {
  (void)state;
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.threads = 1;
  arena a;
  arena_init(&a, env.env);
  test_env other;
  test_env_open_mem_with(&other, &options);
  const field f = field_of(nested_type(&a));
  array column = nested_column(other.env, f.type, 100);
  bool fired = true;
  for (uint64_t nth = 1; fired; nth++) {
    glv_error err = {0};
    alloc_fault_arm(&other.alloc, nth, false);
    const glv_status status = write_and_read(&other, &f, &column, &err);
    fired = other.alloc.fired;
    alloc_fault_arm(&other.alloc, 0, false);
    assert_true(status == GLV_E_NOMEM || status == GLV_OK);
    void *dir;
    ASSERT_OK(io_dir_open(other.env, other.root, &dir, &err));
    (void)io_remove(other.env, dir, "x.lance", NULL);
    io_dir_close(other.env, dir);
  }
  array_unref(&column);
  test_env_close(&other);
  arena_dispose(&a);
}

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_env, close_env)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(flat_columns), TEST(many_pages),   TEST(nested_columns),
      TEST(dictionaries), TEST(null_structs), TEST(failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
