/*
 * Whole files: the worked example of lance-file-format 13.1 byte for byte, values of every type
 * back through file_reader, pages in several pieces, summaries and global buffers, refusals, and
 * failures of storage and memory.
 */
#include <errno.h>
#include <stdio.h>

#include "arrow/builder.h"
#include "format/file_reader.h"
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

/* ---- the worked example ---- */

static const uint8_t example[645] = {
    0x30, 0x00, 0x00, 0x00, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x03, 0x00, 0x06, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xfe, 0xfe,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0xfe, 0xfe, 0xfe, 0xfe,
    0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x40, 0x00, 0x00, 0x00, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x03, 0x00, 0x06, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xfe, 0xfe,
    0x10, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x13, 0x00, 0x00, 0x00,
    0x78, 0x79, 0x7a, 0x48, 0xfe, 0xfe, 0xfe, 0xfe, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48,
    0x0a, 0x39, 0x0a, 0x19, 0x12, 0x01, 0x61, 0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0x01, 0x2a, 0x05, 0x69, 0x6e, 0x74, 0x33, 0x32, 0x30, 0x01, 0x38, 0x01, 0x0a, 0x1c, 0x12,
    0x01, 0x73, 0x18, 0x01, 0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x2a,
    0x06, 0x73, 0x74, 0x72, 0x69, 0x6e, 0x67, 0x30, 0x01, 0x38, 0x02, 0x10, 0x03, 0x0a, 0x29, 0x12,
    0x27, 0x0a, 0x25, 0x0a, 0x1f, 0x2f, 0x6c, 0x61, 0x6e, 0x63, 0x65, 0x2e, 0x65, 0x6e, 0x63, 0x6f,
    0x64, 0x69, 0x6e, 0x67, 0x73, 0x2e, 0x43, 0x6f, 0x6c, 0x75, 0x6d, 0x6e, 0x45, 0x6e, 0x63, 0x6f,
    0x64, 0x69, 0x6e, 0x67, 0x12, 0x02, 0x0a, 0x00, 0x12, 0x48, 0x0a, 0x02, 0x00, 0x40, 0x12, 0x02,
    0x04, 0x20, 0x18, 0x03, 0x22, 0x3c, 0x12, 0x3a, 0x0a, 0x38, 0x0a, 0x1d, 0x2f, 0x6c, 0x61, 0x6e,
    0x63, 0x65, 0x2e, 0x65, 0x6e, 0x63, 0x6f, 0x64, 0x69, 0x6e, 0x67, 0x73, 0x32, 0x31, 0x2e, 0x50,
    0x61, 0x67, 0x65, 0x4c, 0x61, 0x79, 0x6f, 0x75, 0x74, 0x12, 0x17, 0x0a, 0x15, 0x12, 0x04, 0x0a,
    0x02, 0x08, 0x10, 0x1a, 0x04, 0x0a, 0x02, 0x08, 0x20, 0x32, 0x01, 0x03, 0x38, 0x01, 0x48, 0x03,
    0x50, 0x01, 0x0a, 0x29, 0x12, 0x27, 0x0a, 0x25, 0x0a, 0x1f, 0x2f, 0x6c, 0x61, 0x6e, 0x63, 0x65,
    0x2e, 0x65, 0x6e, 0x63, 0x6f, 0x64, 0x69, 0x6e, 0x67, 0x73, 0x2e, 0x43, 0x6f, 0x6c, 0x75, 0x6d,
    0x6e, 0x45, 0x6e, 0x63, 0x6f, 0x64, 0x69, 0x6e, 0x67, 0x12, 0x02, 0x0a, 0x00, 0x12, 0x4e, 0x0a,
    0x04, 0x80, 0x01, 0xc0, 0x01, 0x12, 0x02, 0x04, 0x28, 0x18, 0x03, 0x22, 0x40, 0x12, 0x3e, 0x0a,
    0x3c, 0x0a, 0x1d, 0x2f, 0x6c, 0x61, 0x6e, 0x63, 0x65, 0x2e, 0x65, 0x6e, 0x63, 0x6f, 0x64, 0x69,
    0x6e, 0x67, 0x73, 0x32, 0x31, 0x2e, 0x50, 0x61, 0x67, 0x65, 0x4c, 0x61, 0x79, 0x6f, 0x75, 0x74,
    0x12, 0x1b, 0x0a, 0x19, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x10, 0x1a, 0x08, 0x12, 0x06, 0x0a, 0x04,
    0x0a, 0x02, 0x08, 0x20, 0x32, 0x01, 0x03, 0x38, 0x01, 0x48, 0x03, 0x50, 0x01, 0x3d, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x75, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xb2, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x7b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x3d, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3d, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x2d, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x4d, 0x02, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x00, 0x02,
    0x00, 0x4c, 0x41, 0x4e, 0x43,
};

static void worked_example(void **state) {
  (void)state;
  arena memory;
  arena_init(&memory, env.env);
  const field fields[] = {{.name = "a", .type = type_simple(TYPE_INT32), .nullable = true},
                          {.name = "s", .type = type_simple(TYPE_UTF8), .nullable = true}};
  static const int32_t numbers[] = {1, 99, 3};
  static const int32_t offsets[] = {0, 1, 1, 3};
  static const uint8_t validity = 5;
  array columns[] = {{.type = fields[0].type,
                      .length = 3,
                      .null_count = 1,
                      .validity = &validity,
                      .values = numbers},
                     {.type = fields[1].type,
                      .length = 3,
                      .null_count = 1,
                      .validity = &validity,
                      .values = offsets,
                      .data = (const uint8_t *)"xyz"}};
  const batch b = {.length = 3, .columns = columns, .column_count = 2};
  lance_schema *s;
  int32_t next_id = 0;
  ASSERT_OK(lance_schema_from_arrow(&memory, fields, 2, (metadata){0}, &next_id, &s, &err));
  void *dir;
  ASSERT_OK(io_dir_open(env.env, env.root, &dir, &err));
  const file_writer_options options = {.summary_leaf = SIZE_MAX};
  file_writer *w;
  ASSERT_OK(file_writer_new(env.env, dir, "example.lance", s, &options, &w, &err));
  ASSERT_OK(file_writer_write(w, &b, &err));
  assert_int_equal(file_writer_rows(w), 3);
  file_written written;
  ASSERT_OK(file_writer_finish(w, &written, &err));
  assert_int_equal(written.size_bytes, sizeof example);
  assert_int_equal(written.major, 2);
  assert_int_equal(written.minor, 2);
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, env.env, 4096);
  ASSERT_OK(io_read_file(env.env, dir, "example.lance", 4096, &bytes, &err));
  assert_int_equal(bytes.size, sizeof example);
  assert_memory_equal(bytes.data, example, sizeof example);
  io_dir_close(env.env, dir);
  arena_dispose(&memory);
}

/* ---- values back ---- */

static void check_type(const type *t, size_t n) {
  const field f = field_of(t);
  static const size_t null_every[] = {0, 1, 2, 7, 1000};
  for (int how = VALUES_RANDOM; how <= VALUES_LONG; how++) {
    for (size_t i = 0; i < sizeof null_every / sizeof *null_every; i++) {
      CLEANUP(array_unref)
      array a = column_new(env.env, t, n, (enum column_values)how, null_every[i]);
      const size_t cuts[] = {n / 7, n / 7 + 13, n / 2, n / 2};
      CLEANUP(pieces_dispose) pieces p = pieces_of(&a, cuts, i % 2 == 0 ? 0 : 4);
      check_round_trip(&env, &f, p.items, p.count);
      if (p.count == 5) {
        check_round_trip(&env, &f, p.items + 2, 1); /* values begin within a byte of validity */
      }
    }
  }
}

static const type_kind plain_kinds[] = {
    TYPE_BOOL,   TYPE_INT8,   TYPE_INT16,  TYPE_INT32,      TYPE_INT64,   TYPE_UINT8,
    TYPE_UINT16, TYPE_UINT32, TYPE_UINT64, TYPE_FLOAT16,    TYPE_FLOAT32, TYPE_FLOAT64,
    TYPE_DATE32, TYPE_DATE64, TYPE_UTF8,   TYPE_LARGE_UTF8, TYPE_BINARY,  TYPE_LARGE_BINARY};

static void plain_types(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 2, 3, 99, 100, 1023, 1024, 1025, 4097, 9000};
  for (size_t k = 0; k < sizeof plain_kinds / sizeof *plain_kinds; k++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      check_type(type_simple(plain_kinds[k]), sizes[i]);
    }
  }
}

static void types_with_parameters(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const type *types[] = {type_timestamp(&a, UNIT_MICRO, NULL),
                         type_timestamp(&a, UNIT_NANO, "UTC"),
                         type_with_unit(&a, TYPE_TIME32, UNIT_SECOND),
                         type_with_unit(&a, TYPE_TIME64, UNIT_MICRO),
                         type_with_unit(&a, TYPE_DURATION, UNIT_MILLI),
                         type_decimal(&a, TYPE_DECIMAL128, 20, 2),
                         type_decimal(&a, TYPE_DECIMAL256, 40, 2),
                         type_fixed_size_binary(&a, 7),
                         type_fixed_size_binary(&a, 300)};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    check_type(types[i], 5000);
  }
  arena_dispose(&a);
}

static void vector_types(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  static const struct {
    type_kind item;
    int32_t items;
  } cases[] = {{TYPE_FLOAT32, 1},  {TYPE_FLOAT32, 5},   {TYPE_INT8, 3}, {TYPE_FLOAT32, 63},
               {TYPE_FLOAT32, 64}, {TYPE_FLOAT64, 100}, {TYPE_BOOL, 11}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const field item = {.name = "item", .type = type_simple(cases[i].item), .nullable = true};
    const type *t = type_fixed_size_list(&a, &item, cases[i].items);
    check_type(t, 1);
    check_type(t, 700);
  }
  arena_dispose(&a);
}

static void zero_rows(void **state) {
  (void)state;
  const field f = field_of(type_simple(TYPE_UTF8));
  const char *path = test_env_path(&env, "zero.lance");
  file_written written;
  ASSERT_OK(write_column(env.env, path, &f, NULL, 0, NULL, &written, &err));
  assert_int_equal(written.rows, 0);
  file_reader *r;
  ASSERT_OK(file_reader_open(env.env, NULL, path, &r, &err));
  assert_int_equal(file_reader_rows(r), 0);
  assert_int_equal(file_reader_column_count(r), 1);
  file_reader_unref(r);
  file_layouts l = layouts_of(&env, "zero.lance", 0);
  assert_int_equal(l.count, 0);
  layouts_dispose(&l);
}

/* ---- pages, memory, summaries ---- */

static array sequence(glv_env *e, type_kind kind, uint64_t first, size_t n) {
  array a;
  void *values;
  ASSERT_OK(array_new_fixed(e, type_simple(kind), n, &a, &values, &err));
  for (size_t i = 0; i < n; i++) {
    ((uint64_t *)values)[i] = first + i;
  }
  return a;
}

static void several_pages(void **state) {
  (void)state;
  const field f = field_of(type_simple(TYPE_UINT64));
  CLEANUP(array_unref) array a = sequence(env.env, TYPE_UINT64, 0, 2500000);
  const size_t cuts[] = {1, 1000000, 1000001, 1048576};
  CLEANUP(pieces_dispose) pieces p = pieces_of(&a, cuts, 4);
  file_written written;
  ASSERT_OK(write_column(env.env, test_env_path(&env, "pages.lance"), &f, p.items, p.count, NULL,
                         &written, &err));
  file_layouts l = layouts_of(&env, "pages.lance", 0);
  assert_int_equal(l.count, 3);
  assert_int_equal(l.rows[0], 1048576);
  assert_int_equal(l.rows[1], 1048576);
  assert_int_equal(l.rows[2], 2500000 - 2 * 1048576);
  layouts_dispose(&l);
  check_round_trip(&env, &f, p.items, p.count);
}

/* Batches that belong to nobody else: what the writer keeps is all there is. */
static void bounded_memory(void **state) {
  (void)state;
  glv_env_options limits = GLV_OPTIONS(glv_env_options);
  limits.memory_limit_bytes = 48 << 20;
  limits.threads = 2;
  test_env small;
  test_env_open_local_with(&small, &limits);
  arena memory;
  arena_init(&memory, small.env);
  const field f = field_of(type_simple(TYPE_UINT64));
  lance_schema *s;
  int32_t next_id = 0;
  ASSERT_OK(lance_schema_from_arrow(&memory, &f, 1, (metadata){0}, &next_id, &s, &err));
  void *dir;
  ASSERT_OK(io_dir_open(small.env, small.root, &dir, &err));
  const file_writer_options options = {.summary_leaf = SIZE_MAX};
  file_writer *w;
  ASSERT_OK(file_writer_new(small.env, dir, "big.lance", s, &options, &w, &err));
  for (size_t i = 0; i < 100; i++) {
    CLEANUP(array_unref) array a = sequence(small.env, TYPE_UINT64, i << 40, 100000);
    const batch b = {.length = a.length, .columns = &a, .column_count = 1};
    ASSERT_OK(file_writer_write(w, &b, &err));
  }
  file_written written;
  ASSERT_OK(file_writer_finish(w, &written, &err));
  assert_int_equal(written.rows, 10000000);
  io_dir_close(small.env, dir);
  arena_dispose(&memory);
  test_env_close(&small);
}

/* What the callback saw. */
struct seen {
  uint64_t first_rows[4000];
  uint64_t minima[4000];
  uint64_t maxima[4000];
  size_t count;
  uint64_t rows;
  bool sorted;
};

static glv_status see(void *context, file_writer *w, glv_error *err) {
  struct seen *s = context;
  const file_summary *f = file_writer_summary(w);
  assert_true(f->count <= 4000);
  memcpy(s->first_rows, f->first_rows, f->count * 8);
  memcpy(s->minima, f->minima, f->count * 8);
  memcpy(s->maxima, f->maxima, f->count * 8);
  s->count = f->count;
  s->rows = f->rows;
  s->sorted = f->sorted;
  TRY(file_writer_add_global(w, "GLVP first", 10, err));
  return file_writer_add_global(w, "second", 6, err);
}

/* Rows of mini-block chunks as file_reader sees them are not exposed; the numbers follow from the
 * layouts: 1024 when packed, 4096 when flat, one entry for a constant page. */
static void summaries(void **state) {
  (void)state;
  static struct seen s;
  const field f = field_of(type_simple(TYPE_UINT64));
  CLEANUP(array_unref) array ascending = sequence(env.env, TYPE_UINT64, 5, 1500000);
  const file_writer_options options = {.summary_leaf = 0, .globals = see, .globals_context = &s};
  file_written written;
  const char *path = test_env_path(&env, "summary.lance");
  ASSERT_OK(write_column(env.env, path, &f, &ascending, 1, &options, &written, &err));
  assert_int_equal(s.rows, 1500000);
  assert_true(s.sorted);
  assert_int_equal(s.count, (1500000 + 1023) / 1024);
  for (size_t i = 0; i < s.count; i++) {
    const uint64_t last = size_min((i + 1) * 1024, 1500000) - 1;
    assert_int_equal(s.first_rows[i], i * 1024);
    assert_int_equal(s.minima[i], 5 + i * 1024);
    assert_int_equal(s.maxima[i], 5 + last);
  }
  file_reader *r;
  ASSERT_OK(file_reader_open(env.env, NULL, path, &r, &err));
  assert_int_equal(file_reader_global_count(r), 3);
  buffer *b;
  ASSERT_OK(file_reader_global(r, 1, 1000, &b, &err));
  assert_int_equal(b->size, 10);
  assert_memory_equal(b->data, "GLVP first", 10);
  buffer_unref(b);
  ASSERT_OK(file_reader_global(r, 2, 1000, &b, &err));
  assert_memory_equal(b->data, "second", 6);
  buffer_unref(b);
  file_reader_unref(r);

  /* Two rows swapped across the border of two pages; numbers too large to be packed. */
  CLEANUP(array_unref)
  array large = sequence(env.env, TYPE_UINT64, UINT64_C(1) << 63, 1048576 + 10);
  uint64_t *values = (void *)large.owners[1]->data;
  values[1048575] = values[1048576] + 1;
  ASSERT_OK(write_column(env.env, test_env_path(&env, "large.lance"), &f, &large, 1, &options,
                         &written, &err));
  assert_int_equal(s.count, 1048576 / 4096 + 1);
  assert_false(s.sorted);
  assert_int_equal(s.first_rows[1], 4096);
  assert_int_equal(s.first_rows[256], 1048576);
  assert_true(s.maxima[255] == values[1048576] + 1);

  CLEANUP(array_unref) array equal = column_new(env.env, f.type, 3000, VALUES_EQUAL, 0);
  ASSERT_OK(write_column(env.env, test_env_path(&env, "equal.lance"), &f, &equal, 1, &options,
                         &written, &err));
  assert_int_equal(s.count, 1);
  assert_true(s.sorted);
  assert_int_equal(s.minima[0], 7);
  assert_int_equal(s.maxima[0], 7);

  CLEANUP(array_unref) array nulls = column_new(env.env, f.type, 3000, VALUES_SMALL, 2);
  ASSERT_OK(write_column(env.env, test_env_path(&env, "nulls.lance"), &f, &nulls, 1, &options,
                         &written, &err));
  assert_int_equal(s.count, 3);
  assert_false(s.sorted);
}

/* The bytes of a file do not depend on the number of threads. */
static void same_bytes(void **state) {
  (void)state;
  buf bytes[2];
  const field f = field_of(type_simple(TYPE_UTF8));
  for (uint32_t i = 0; i < 2; i++) {
    glv_env_options options = GLV_OPTIONS(glv_env_options);
    options.threads = i == 0 ? 1 : 5;
    test_env other;
    test_env_open_mem_with(&other, &options);
    array a = column_new(other.env, f.type, 300000, VALUES_RANDOM, 9);
    const array repeated[] = {a, a, a, a};
    file_written written;
    const char *path = test_env_path(&other, "x.lance");
    ASSERT_OK(write_column(other.env, path, &f, repeated, 4, NULL, &written, &err));
    buf_init(&bytes[i], env.env, SIZE_MAX / 2);
    ASSERT_OK(io_read_file(other.env, NULL, path, UINT64_MAX, &bytes[i], &err));
    array_unref(&a);
    test_env_close(&other);
  }
  assert_true(str_equal(buf_str(&bytes[0]), buf_str(&bytes[1])));
  buf_dispose(&bytes[0]);
  buf_dispose(&bytes[1]);
}

/* ---- refusals ---- */

static void expect(glv_status status, const glv_error *err, glv_status code, const char *message) {
  assert_int_equal(status, code);
  assert_string_equal(err->message, message);
}

static bool exists(const char *name) {
  bool found;
  ASSERT_OK(io_exists(env.env, NULL, test_env_path(&env, name), &found, &err));
  return found;
}

static glv_status write_one(const field *f, const array *a, const file_writer_options *options,
                            glv_error *err) {
  file_written written;
  return write_column(env.env, test_env_path(&env, "bad.lance"), f, a, 1, options, &written, err);
}

static void refused_data(void **state) {
  (void)state;
  glv_error err = {0};
  field f = field_of(type_simple(TYPE_INT32));
  f.nullable = false;
  CLEANUP(array_unref) array nulls = column_new(env.env, f.type, 10, VALUES_RANDOM, 3);
  expect(write_one(&f, &nulls, NULL, &err), &err, GLV_E_SCHEMA,
         "The field `c` contained null values even though the field is marked non-null in the "
         "schema");
  CLEANUP(array_unref)
  array other = column_new(env.env, type_simple(TYPE_INT64), 10, VALUES_RANDOM, 0);
  expect(write_one(&f, &other, NULL, &err), &err, GLV_E_SCHEMA,
         "column 'c' has type int32, but the data has type int64");
  const array absent = {.length = 10};
  expect(write_one(&f, &absent, NULL, &err), &err, GLV_E_SCHEMA,
         "column 'c' is missing from the data");
  assert_false(exists("bad.lance"));
}

static void refused_types(void **state) {
  (void)state;
  glv_error err = {0};
  arena a;
  arena_init(&a, env.env);
  const field item = field_of(type_simple(TYPE_INT32));
  const field text = field_of(type_simple(TYPE_UTF8));
  const field cases[] = {
      field_of(type_struct(&a, &item, 0)),
      field_of(type_fixed_size_list(&a, &text, 2)),
      field_of(type_simple(TYPE_INTERVAL_MONTH_DAY_NANO)),
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const array none = {.type = cases[i].type};
    assert_int_equal(write_one(&cases[i], &none, NULL, &err), GLV_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "column 'c' has type "));
    assert_non_null(strstr(err.message, ", which "));
  }
  const pair blob = {STR("lance-encoding:blob"), STR("true")};
  field f = field_of(type_simple(TYPE_LARGE_BINARY));
  f.metadata = (metadata){&blob, 1};
  const array none = {.type = f.type};
  expect(write_one(&f, &none, NULL, &err), &err, GLV_E_UNSUPPORTED,
         "column 'c' is a blob column, which this release does not write; append with pylance, or "
         "store the bytes in a large_binary column without the metadata of blobs");
  const file_writer_options wrong = {.summary_leaf = 0};
  assert_int_equal(write_one(&item, &none, &wrong, &err), GLV_E_INVALID_INPUT);
  assert_false(exists("bad.lance"));
  arena_dispose(&a);
}

/* ---- failures ---- */

static void file_exists(void **state) {
  (void)state;
  glv_error err = {0};
  const field f = field_of(type_simple(TYPE_INT64));
  CLEANUP(array_unref) array a = column_new(env.env, f.type, 10, VALUES_RANDOM, 0);
  assert_int_equal(write_one(&f, &a, NULL, &err), GLV_OK);
  assert_int_equal(write_one(&f, &a, NULL, &err), GLV_E_IO);
  assert_int_equal(err.sys_errno, EEXIST);
  assert_true(exists("bad.lance")); /* it is somebody else's */
  void *dir;
  ASSERT_OK(io_dir_open(env.env, env.root, &dir, &err));
  ASSERT_OK(io_remove(env.env, dir, "bad.lance", &err));
  io_dir_close(env.env, dir);
}

/* Every write, sync and close fails once, or the disk stays full: no file is left. */
static void failing_storage(void **state) {
  (void)state;
  const field f = field_of(type_simple(TYPE_UTF8));
  CLEANUP(array_unref) array a = column_new(env.env, f.type, 400000, VALUES_RANDOM, 5);
  static const uint32_t masks[] = {IO_MASK(IO_OP_WRITE), IO_MASK(IO_OP_SYNC), IO_MASK(IO_OP_CLOSE),
                                   IO_MASK(IO_OP_CREATE)};
  for (size_t i = 0; i < 8; i++) {
    for (uint64_t nth = 1;; nth++) {
      glv_error err = {0};
      io_fault_arm(&env.io,
                   (io_fault_plan){.mask = masks[i % 4],
                                   .nth = nth,
                                   .number = ENOSPC,
                                   .short_write = true,
                                   .persistent = i >= 4 && masks[i % 4] == IO_MASK(IO_OP_WRITE)});
      const glv_status status = write_one(&f, &a, NULL, &err);
      const bool fired = env.io.fired;
      io_fault_arm(&env.io, (io_fault_plan){0});
      if (!fired) {
        assert_int_equal(status, GLV_OK);
        break;
      }
      assert_int_equal(status, GLV_E_IO);
      assert_int_equal(err.sys_errno, ENOSPC);
      assert_false(exists("bad.lance"));
    }
    void *dir;
    ASSERT_OK(io_dir_open(env.env, env.root, &dir, &err));
    ASSERT_OK(io_remove(env.env, dir, "bad.lance", &err));
    io_dir_close(env.env, dir);
  }
}

static void failing_memory(void **state) {
  (void)state;
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.threads = 1;
  arena a;
  arena_init(&a, env.env);
  const field item = {.name = "item", .type = type_simple(TYPE_FLOAT32), .nullable = true};
  const type *types[] = {type_simple(TYPE_INT64), type_simple(TYPE_UTF8),
                         type_fixed_size_list(&a, &item, 70), type_simple(TYPE_FLOAT64)};
  const pair zstd = {STR("lance-encoding:compression"), STR("zstd")};
  for (size_t i = 0; i < 8; i++) {
    test_env other;
    test_env_open_mem_with(&other, &options);
    field f = field_of(types[i % 4]);
    f.metadata = i == 3 || i == 5 ? (metadata){&zstd, 1} : (metadata){0};
    array column = column_new(other.env, f.type, i < 6 ? 3000 : 12000,
                              i < 4 ? VALUES_RANDOM : VALUES_SMALL, i % 3 + 3);
    for (uint64_t nth = 1;; nth++) {
      glv_error err = {0};
      file_written written;
      alloc_fault_arm(&other.alloc, nth, false);
      const glv_status status = write_column(other.env, test_env_path(&other, "x.lance"), &f,
                                             &column, 1, NULL, &written, &err);
      const bool fired = other.alloc.fired;
      alloc_fault_arm(&other.alloc, 0, false);
      if (!fired) {
        assert_int_equal(status, GLV_OK);
        break;
      }
      bool found;
      ASSERT_OK(io_exists(other.env, NULL, test_env_path(&other, "x.lance"), &found, &err));
      if (status == GLV_OK) { /* only where no thread was made, or the like */
        void *dir;
        ASSERT_OK(io_dir_open(other.env, other.root, &dir, &err));
        ASSERT_OK(io_remove(other.env, dir, "x.lance", &err));
        io_dir_close(other.env, dir);
      } else {
        assert_int_equal(status, GLV_E_NOMEM);
        assert_false(found);
      }
    }
    array_unref(&column);
    test_env_close(&other);
  }
  arena_dispose(&a);
}

static glv_status refuse(void *context, file_writer *w, glv_error *err) {
  (void)context;
  (void)w;
  return FAIL(err, GLV_E_LIMIT, "no");
}

static void failing_callback(void **state) {
  (void)state;
  glv_error err = {0};
  const field f = field_of(type_simple(TYPE_INT64));
  CLEANUP(array_unref) array a = column_new(env.env, f.type, 10, VALUES_RANDOM, 0);
  const file_writer_options options = {.summary_leaf = SIZE_MAX, .globals = refuse};
  expect(write_one(&f, &a, &options, &err), &err, GLV_E_LIMIT, "no");
  assert_false(exists("bad.lance"));
}

/* Pages are still being encoded when the writer is told to stop. */
static void discard(void **state) {
  (void)state;
  file_writer_discard(NULL);
  arena memory;
  arena_init(&memory, env.env);
  const field f = field_of(type_simple(TYPE_UTF8));
  lance_schema *s;
  int32_t next_id = 0;
  ASSERT_OK(lance_schema_from_arrow(&memory, &f, 1, (metadata){0}, &next_id, &s, &err));
  void *dir;
  ASSERT_OK(io_dir_open(env.env, env.root, &dir, &err));
  CLEANUP(array_unref) array a = column_new(env.env, f.type, 400000, VALUES_RANDOM, 5);
  const file_writer_options options = {.summary_leaf = SIZE_MAX};
  file_writer *w;
  ASSERT_OK(file_writer_new(env.env, dir, "gone.lance", s, &options, &w, &err));
  assert_true(exists("gone.lance"));
  const batch b = {.length = a.length, .columns = &a, .column_count = 1};
  ASSERT_OK(file_writer_write(w, &b, &err));
  ASSERT_OK(file_writer_write(w, &b, &err));
  file_writer_discard(w);
  assert_false(exists("gone.lance"));
  io_dir_close(env.env, dir);
  arena_dispose(&memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worked_example),
      cmocka_unit_test(plain_types),
      cmocka_unit_test(types_with_parameters),
      cmocka_unit_test(vector_types),
      cmocka_unit_test(zero_rows),
      cmocka_unit_test(several_pages),
      cmocka_unit_test(bounded_memory),
      cmocka_unit_test(summaries),
      cmocka_unit_test(same_bytes),
      cmocka_unit_test(refused_data),
      cmocka_unit_test(refused_types),
      cmocka_unit_test(file_exists),
      cmocka_unit_test(failing_storage),
      cmocka_unit_test(failing_memory),
      cmocka_unit_test(failing_callback),
      cmocka_unit_test(discard),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
