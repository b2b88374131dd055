/*
 * A struct whose fields lie in two files, and a list of structs: what is null and what differs.
 */
#include "arrow/bits.h"
#include "format/field_parts.h"
#include "write_support.h"

enum { ROWS = 700 };

static test_env env;

/* The types of a test: a struct of both fields, and of each alone; or lists of these. */
typedef struct split {
  arena memory;
  field whole;
  field halves[2];
} split;

static void split_init(split *s, bool is_list) {
  arena_init(&s->memory, env.env);
  const field number = {.name = "a", .type = type_simple(TYPE_INT32), .nullable = true};
  const field text = {.name = "b", .type = type_simple(TYPE_UTF8), .nullable = true};
  const field both[] = {number, text};
  field *made[] = {&s->whole, &s->halves[0], &s->halves[1]};
  for (size_t i = 0; i < 3; i++) {
    const field *children = i == 2 ? &both[1] : both;
    field f = field_of(type_struct(&s->memory, children, i == 0 ? 2 : 1));
    if (is_list) {
      f.name = "item";
      f = field_of(type_list(&s->memory, TYPE_LIST, &f));
    }
    *made[i] = f;
  }
}

/* A struct of one field, null where row % null_every is 0. */
static array half_struct(const type *t, size_t rows, size_t null_every) {
  array a;
  ASSERT_OK(array_new_null(env.env, t, rows, &a, &err));
  array_unref(&a.children[0]);
  a.children[0] = column_new(env.env, t->children[0].type, rows, VALUES_SEQUENCE, 0);
  a.null_count = NULLS_UNKNOWN;
  for (size_t i = 0; i < rows; i++) {
    bit_put(a.owners[0]->data, i, i % null_every != 0);
  }
  return a;
}

/* Lists of `items` such structs each, none null. */
static array half_list(const type *t, size_t rows, int32_t items) {
  array a;
  ASSERT_OK(array_new_null(env.env, t, rows, &a, &err));
  array_unref(&a.children[0]);
  a.children[0] = half_struct(t->children[0].type, rows * (size_t)items, 3);
  a.null_count = 0;
  bits_fill(a.owners[0]->data, 0, rows, true);
  for (size_t i = 0; i <= rows; i++) {
    ((int32_t *)(void *)a.owners[1]->data)[i] = (int32_t)i * items;
  }
  return a;
}

/* The places of the whole in a file that holds the k-th field alone, as its column 0. */
static void place_half(const field *whole, size_t k, field_place *at, field_place *ret) {
  *ret = (field_place){.field = whole, .column = COLUMN_NONE, .is_wanted = true};
  field_place *up = ret;
  if (whole->type->kind == TYPE_LIST) {
    up->children = at;
    up->child_count = 1;
    up = at++;
    *up =
        (field_place){.field = &whole->type->children[0], .column = COLUMN_NONE, .is_wanted = true};
  }
  for (size_t i = 0; i < 2; i++) {
    at[i] = (field_place){.field = &up->field->type->children[i],
                          .column = i == k ? 0 : COLUMN_NONE,
                          .is_wanted = true};
  }
  up->children = at;
  up->child_count = 2;
}

/* Write both halves and read the whole from them. */
static glv_status read_whole(const split *s, const array *halves, array *ret, glv_error *err) {
  const char *names[] = {"a.lance", "b.lance"};
  field_part parts[2];
  field_place places[2][3];
  for (size_t i = 0; i < 2; i++) {
    const char *path = test_env_path(&env, names[i]);
    file_written written;
    ASSERT_OK(write_column(env.env, path, &s->halves[i], &halves[i], 1, NULL, &written, &err));
    ASSERT_OK(file_reader_open(env.env, NULL, path, &parts[i].reader, &err));
    place_half(&s->whole, i, places[i], &parts[i].place);
  }
  glv_status status = GLV_E_NOMEM;
  for (uint64_t nth = 1; status == GLV_E_NOMEM; nth++) {
    alloc_fault_arm(&env.alloc, nth, false);
    status = field_parts_read(env.env, parts, 2, 0, ROWS, NULL, 0, ret, err);
    alloc_fault_arm(&env.alloc, 0, false);
  }
  for (size_t i = 0; i < 2; i++) {
    file_reader_unref(parts[i].reader);
    void *dir;
    ASSERT_OK(io_dir_open(env.env, env.root, &dir, &err));
    ASSERT_OK(io_remove(env.env, dir, names[i], &err));
    io_dir_close(env.env, dir);
  }
  return status;
}

/* A struct is null where it is null in both files, and its fields where their file says so. */
static void structs(void **state) {
  (void)state;
  split s;
  split_init(&s, false);
  array halves[] = {half_struct(s.halves[0].type, ROWS, 2), half_struct(s.halves[1].type, ROWS, 3)};
  CLEANUP(array_unref) array got = {0};
  ASSERT_OK(read_whole(&s, halves, &got, &err));
  for (size_t i = 0; i < ROWS; i++) {
    assert_int_equal(array_is_valid(&got, i), i % 6 != 0);
    assert_int_equal(array_is_valid(&got.children[0], i), i % 2 != 0);
    assert_int_equal(array_is_valid(&got.children[1], i), i % 3 != 0);
  }
  assert_int_equal(ARRAY_VALUES(&got.children[0], int32_t)[5], 5);
  assert_true(str_is(array_str(&got.children[1], 7), "r7"));
  array_unref(&halves[0]);
  array_unref(&halves[1]);
  arena_dispose(&s.memory);
}

static void lists(void **state) {
  (void)state;
  split s;
  split_init(&s, true);
  array halves[] = {half_list(s.halves[0].type, ROWS, 2), half_list(s.halves[1].type, ROWS, 2)};
  CLEANUP(array_unref) array got = {0};
  ASSERT_OK(read_whole(&s, halves, &got, &err));
  assert_int_equal(got.children[0].length, 2 * ROWS);
  assert_int_equal(array_null_count(&got.children[0]), (2 * ROWS + 2) / 3);
  array_unref(&halves[1]);
  halves[1] = half_list(s.halves[1].type, ROWS, 1);
  array none = {0};
  glv_error err;
  assert_int_equal(read_whole(&s, halves, &none, &err), GLV_E_CORRUPT);
  assert_string_equal(err.message, "the lists of 'c' differ between the files that hold them");
  array_unref(&halves[0]);
  array_unref(&halves[1]);
  arena_dispose(&s.memory);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(structs), cmocka_unit_test(lists)};
  return cmocka_run_group_tests(tests, open_env, close_env);
}
