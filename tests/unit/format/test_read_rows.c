/*
 * Windows and selections over written files: what is read must equal the same rows of the original,
 * from any number of threads; and what happens when memory or storage fails.
 */
#include <string.h>

#include "base/thread.h"
#include "support/rng.h"
#include "write_support.h"

enum { ROWS = 150000, WINDOWS = 12, MAX_SELECTED = 3000 };

/* Rows just before, at and after chunk borders are always among the selected. */
static size_t select_rows(rng *g, size_t count, uint32_t *rows) {
  static const size_t steps[] = {1, 2, 10, 300, 5000};
  const size_t step = steps[rng_below(g, 5)];
  size_t n = 0;
  size_t row = rng_below(g, step);
  while (row < count && n < MAX_SELECTED) {
    rows[n++] = (uint32_t)row;
    row += 1 + rng_below(g, step);
  }
  return n;
}

typedef struct reading {
  glv_env *env;
  file_reader *reader;
  const field *f;
  const array *original;
  uint64_t seed;
} reading;

static glv_status compare(const reading *r, uint64_t first, uint64_t count, const uint32_t *rows,
                          size_t selected, glv_error *err) {
  CLEANUP(array_unref) array got = {0};
  CLEANUP(array_unref) array part = array_slice(r->original, first, count);
  CLEANUP(array_unref) array expected = {0};
  TRY(file_reader_read(r->reader, 0, r->f, first, count, rows, selected, &got, err));
  if (rows != NULL) {
    TRY(array_take(r->env, &part, rows, selected, &expected, err));
  } else {
    expected = array_ref(&part);
  }
  if (!array_equal(&got, &expected) || array_null_count(&got) != array_null_count(&expected)) {
    return FAIL(err, GLV_E_DIFFERS, "rows %llu + %llu (%zu selected) differ",
                (unsigned long long)first, (unsigned long long)count, selected);
  }
  return GLV_OK;
}

static glv_status read_parts(void *context, size_t i, glv_error *err) {
  const reading *r = context;
  rng g = rng_of(r->seed + i);
  const size_t length = r->original->length;
  const uint64_t first = rng_below(&g, length);
  const uint64_t count = 1 + rng_below(&g, length - first);
  TRY(compare(r, first, count, NULL, 0, err));
  uint32_t *rows = mem_calloc(r->env, MAX_SELECTED, sizeof *rows);
  if (rows == NULL) {
    return error_nomem(err, MAX_SELECTED);
  }
  const size_t selected = select_rows(&g, count, rows);
  const glv_status status = compare(r, first, count, rows, selected, err);
  mem_free(r->env, rows);
  return status;
}

static void check_column(test_env *t, const type *ty, enum column_values how, size_t null_every) {
  const field f = {.name = "c", .type = ty, .nullable = true};
  const char *path = test_env_path(t, "rows.lance");
  array a = column_new(t->env, ty, ROWS, how, null_every);
  file_written written;
  ASSERT_OK(write_column(t->env, path, &f, &a, 1, NULL, &written, &err));
  reading r = {.env = t->env, .f = &f, .original = &a, .seed = null_every + 7 * (uint64_t)how};
  ASSERT_OK(file_reader_open(t->env, NULL, path, &r.reader, &err));
  ASSERT_OK(parallel_for(t->env, WINDOWS, read_parts, &r, &err));
  file_reader_unref(r.reader);
  array_unref(&a);
  ASSERT_OK(io_remove(t->env, NULL, path, &err));
}

static void check_type(void **state, const type *ty) {
  static const enum column_values all[] = {VALUES_RANDOM, VALUES_SMALL, VALUES_SEQUENCE,
                                           VALUES_EQUAL};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    check_column(*state, ty, all[i], 0);
    check_column(*state, ty, all[i], 13);
  }
}

static void integers(void **state) {
  check_type(state, type_simple(TYPE_INT64));
  check_type(state, type_simple(TYPE_UINT8));
}
static void floats(void **state) { check_type(state, type_simple(TYPE_FLOAT32)); }
static void booleans(void **state) { check_type(state, type_simple(TYPE_BOOL)); }

static void text(void **state) {
  check_type(state, type_simple(TYPE_UTF8));
  check_column(*state, type_simple(TYPE_LARGE_UTF8), VALUES_RANDOM, 5);
  check_column(*state, type_simple(TYPE_BINARY), VALUES_RANDOM, 5);
}

/* ---- failures ---- */

enum { FEW_ROWS = 6000 };

static const char *write_few(test_env *t, const field *f, array *ret) {
  const char *path = test_env_path(t, "few.lance");
  *ret = column_new(t->env, f->type, FEW_ROWS, VALUES_SMALL, 7);
  file_written written;
  ASSERT_OK(write_column(t->env, path, f, ret, 1, NULL, &written, &err));
  return path;
}

static glv_status read_few(test_env *t, const char *path, const field *f, const array *original,
                           glv_error *err) {
  reading r = {.env = t->env, .f = f, .original = original};
  TRY(file_reader_open(t->env, NULL, path, &r.reader, err));
  static const uint32_t rows[] = {0, 1, 2000, 5998};
  glv_status status = compare(&r, 0, FEW_ROWS, NULL, 0, err);
  if (status == GLV_OK) {
    status = compare(&r, 1, FEW_ROWS - 1, rows, 4, err);
  }
  file_reader_unref(r.reader);
  return status;
}

/* Every allocation and every read fails once: an error, nothing lost, and the next try works. */
static void failures(void **state) {
  test_env *t = *state;
  static const type_kind kinds[] = {TYPE_UTF8, TYPE_INT32};
  for (size_t k = 0; k < 2; k++) {
    const field f = {.name = "c", .type = type_simple(kinds[k]), .nullable = true};
    array a;
    const char *path = write_few(t, &f, &a);
    glv_error err = {0};
    bool fired = true;
    for (uint64_t n = 1; fired; n++) {
      alloc_fault_arm(&t->alloc, n, false);
      const glv_status status = read_few(t, path, &f, &a, &err);
      fired = t->alloc.fired;
      alloc_fault_arm(&t->alloc, 0, false);
      assert_true(status == GLV_OK || status == GLV_E_NOMEM);
      assert_true(n < 1000);
    }
    fired = true;
    for (uint64_t n = 1; fired; n++) {
      io_fault_arm(&t->io, (io_fault_plan){.mask = IO_MASK_ALL, .nth = n, .number = 5});
      const glv_status status = read_few(t, path, &f, &a, &err);
      fired = t->io.fired;
      io_fault_arm(&t->io, (io_fault_plan){0});
      assert_true(status == GLV_OK || status == GLV_E_IO);
    }
    assert_int_equal(read_few(t, path, &f, &a, &err), GLV_OK);
    array_unref(&a);
    assert_int_equal(io_remove(t->env, NULL, path, &err), GLV_OK);
  }
}

static int open_env(void **state) {
  static test_env t;
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.threads = 4;
  test_env_open_mem_with(&t, &options);
  *state = &t;
  return 0;
}

static int close_env(void **state) {
  test_env_close(*state);
  return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_env, close_env)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(integers), TEST(floats), TEST(booleans), TEST(text), TEST(failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
