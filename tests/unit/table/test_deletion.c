/* Deletion files in both forms (checklist 11). */
#include "arrow/ipc.h"
#include "base/bitmap.h"
#include "table/deletion.h"
#include "tables.h"

/* Files with the values 3 and 1 in one uint32 column, as pyarrow writes them with compression, and
 * as Lance writes them. */
static const unsigned char arrow_zstd[] = {
    65,  82,  82,  79, 87,  49,  0,  0, 255, 255, 255, 255, 120, 0,   0,   0,   16,  0,   0,   0,
    0,   0,   10,  0,  12,  0,   6,  0, 5,   0,   8,   0,   10,  0,   0,   0,   0,   1,   4,   0,
    12,  0,   0,   0,  8,   0,   8,  0, 0,   0,   4,   0,   8,   0,   0,   0,   4,   0,   0,   0,
    1,   0,   0,   0,  20,  0,   0,  0, 16,  0,   20,  0,   8,   0,   0,   0,   7,   0,   12,  0,
    0,   0,   16,  0,  16,  0,   0,  0, 0,   0,   0,   2,   16,  0,   0,   0,   32,  0,   0,   0,
    4,   0,   0,   0,  0,   0,   0,  0, 6,   0,   0,   0,   114, 111, 119, 95,  105, 100, 0,   0,
    0,   0,   6,   0,  8,   0,   4,  0, 6,   0,   0,   0,   32,  0,   0,   0,   255, 255, 255, 255,
    160, 0,   0,   0,  20,  0,   0,  0, 0,   0,   0,   0,   12,  0,   24,  0,   6,   0,   5,   0,
    8,   0,   12,  0,  12,  0,   0,  0, 0,   3,   4,   0,   28,  0,   0,   0,   32,  0,   0,   0,
    0,   0,   0,   0,  0,   0,   0,  0, 12,  0,   30,  0,   16,  0,   4,   0,   8,   0,   12,  0,
    12,  0,   0,   0,  80,  0,   0,  0, 36,  0,   0,   0,   24,  0,   0,   0,   2,   0,   0,   0,
    0,   0,   0,   0,  0,   0,   0,  0, 0,   0,   6,   0,   8,   0,   7,   0,   6,   0,   0,   0,
    0,   0,   0,   1,  2,   0,   0,  0, 0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,  0,   0,   0,  0, 0,   0,   0,   0,   25,  0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,  1,   0,   0,  0, 2,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,  8,   0,   0,  0, 0,   0,   0,   0,   40,  181, 47,  253, 32,  8,   65,  0,
    0,   3,   0,   0,  0,   1,   0,  0, 0,   0,   0,   0,   0,   0,   0,   0,   255, 255, 255, 255,
    0,   0,   0,   0,  16,  0,   0,  0, 12,  0,   20,  0,   6,   0,   8,   0,   12,  0,   16,  0,
    12,  0,   0,   0,  0,   0,   4,  0, 52,  0,   0,   0,   36,  0,   0,   0,   4,   0,   0,   0,
    1,   0,   0,   0,  136, 0,   0,  0, 0,   0,   0,   0,   168, 0,   0,   0,   0,   0,   0,   0,
    32,  0,   0,   0,  0,   0,   0,  0, 0,   0,   0,   0,   8,   0,   8,   0,   0,   0,   4,   0,
    8,   0,   0,   0,  4,   0,   0,  0, 1,   0,   0,   0,   20,  0,   0,   0,   16,  0,   20,  0,
    8,   0,   0,   0,  7,   0,   12, 0, 0,   0,   16,  0,   16,  0,   0,   0,   0,   0,   0,   2,
    16,  0,   0,   0,  32,  0,   0,  0, 4,   0,   0,   0,   0,   0,   0,   0,   6,   0,   0,   0,
    114, 111, 119, 95, 105, 100, 0,  0, 0,   0,   6,   0,   8,   0,   4,   0,   6,   0,   0,   0,
    32,  0,   0,   0,  160, 0,   0,  0, 65,  82,  82,  79,  87,  49};
static const unsigned char arrow_lz4[] = {
    65, 82, 82, 79, 87, 49, 0,   0,   255, 255, 255, 255, 120, 0,   0,   0,   16,  0,  0,  0,   0,
    0,  10, 0,  12, 0,  6,  0,   5,   0,   8,   0,   10,  0,   0,   0,   0,   1,   4,  0,  12,  0,
    0,  0,  8,  0,  8,  0,  0,   0,   4,   0,   8,   0,   0,   0,   4,   0,   0,   0,  1,  0,   0,
    0,  20, 0,  0,  0,  16, 0,   20,  0,   8,   0,   0,   0,   7,   0,   12,  0,   0,  0,  16,  0,
    16, 0,  0,  0,  0,  0,  0,   2,   16,  0,   0,   0,   32,  0,   0,   0,   4,   0,  0,  0,   0,
    0,  0,  0,  6,  0,  0,  0,   114, 111, 119, 95,  105, 100, 0,   0,   0,   0,   6,  0,  8,   0,
    4,  0,  6,  0,  0,  0,  32,  0,   0,   0,   255, 255, 255, 255, 152, 0,   0,   0,  20, 0,   0,
    0,  0,  0,  0,  0,  12, 0,   24,  0,   6,   0,   5,   0,   8,   0,   12,  0,   12, 0,  0,   0,
    0,  3,  4,  0,  28, 0,  0,   0,   32,  0,   0,   0,   0,   0,   0,   0,   0,   0,  0,  0,   12,
    0,  28, 0,  16, 0,  4,  0,   8,   0,   12,  0,   12,  0,   0,   0,   72,  0,   0,  0,  28,  0,
    0,  0,  20, 0,  0,  0,  2,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,  4,  0,   4,
    0,  4,  0,  0,  0,  2,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,  0,  0,   0,
    0,  0,  0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   31,  0,   0,   0,   0,   0,  0,  0,   0,
    0,  0,  0,  1,  0,  0,  0,   2,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,  0,  0,   0,
    0,  0,  8,  0,  0,  0,  0,   0,   0,   0,   4,   34,  77,  24,  96,  64,  130, 8,  0,  0,   128,
    3,  0,  0,  0,  1,  0,  0,   0,   0,   0,   0,   0,   0,   255, 255, 255, 255, 0,  0,  0,   0,
    16, 0,  0,  0,  12, 0,  20,  0,   6,   0,   8,   0,   12,  0,   16,  0,   12,  0,  0,  0,   0,
    0,  4,  0,  52, 0,  0,  0,   36,  0,   0,   0,   4,   0,   0,   0,   1,   0,   0,  0,  136, 0,
    0,  0,  0,  0,  0,  0,  160, 0,   0,   0,   0,   0,   0,   0,   32,  0,   0,   0,  0,  0,   0,
    0,  0,  0,  0,  0,  8,  0,   8,   0,   0,   0,   4,   0,   8,   0,   0,   0,   4,  0,  0,   0,
    1,  0,  0,  0,  20, 0,  0,   0,   16,  0,   20,  0,   8,   0,   0,   0,   7,   0,  12, 0,   0,
    0,  16, 0,  16, 0,  0,  0,   0,   0,   0,   2,   16,  0,   0,   0,   32,  0,   0,  0,  4,   0,
    0,  0,  0,  0,  0,  0,  6,   0,   0,   0,   114, 111, 119, 95,  105, 100, 0,   0,  0,  0,   6,
    0,  8,  0,  4,  0,  6,  0,   0,   0,   32,  0,   0,   0,   160, 0,   0,   0,   65, 82, 82,  79,
    87, 49};
static const unsigned char arrow_lance[] = {
    65, 82, 82, 79, 87,  49,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  255, 255, 255, 255, 120, 0,   0,   0,   16,  0,   0,   0,   0,   0, 10, 0,
    12, 0,  10, 0,  9,   0,   4,   0,   10,  0,   0,   0,   16,  0,   0,   0,   0,   1, 4,  0,
    8,  0,  8,  0,  0,   0,   4,   0,   8,   0,   0,   0,   4,   0,   0,   0,   1,   0, 0,  0,
    20, 0,  0,  0,  16,  0,   22,  0,   16,  0,   0,   0,   15,  0,   4,   0,   0,   0, 8,  0,
    16, 0,  0,  0,  24,  0,   0,   0,   28,  0,   0,   0,   0,   0,   0,   2,   24,  0, 0,  0,
    0,  0,  6,  0,  8,   0,   4,   0,   6,   0,   0,   0,   32,  0,   0,   0,   0,   0, 0,  0,
    6,  0,  0,  0,  114, 111, 119, 95,  105, 100, 0,   0,   255, 255, 255, 255, 184, 0, 0,  0,
    16, 0,  0,  0,  12,  0,   20,  0,   18,  0,   17,  0,   4,   0,   8,   0,   12,  0, 0,  0,
    28, 0,  0,  0,  128, 0,   0,   0,   0,   0,   0,   0,   0,   3,   4,   0,   12,  0, 28, 0,
    16, 0,  12, 0,  8,   0,   4,   0,   12,  0,   0,   0,   92,  0,   0,   0,   44,  0, 0,  0,
    16, 0,  0,  0,  2,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   1,   0, 0,  0,
    2,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,  0,
    2,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   9,   0,   0,   0,   0,   0, 0,  0,
    64, 0,  0,  0,  0,   0,   0,   0,   16,  0,   0,   0,   0,   0,   0,   0,   0,   0, 6,  0,
    8,  0,  7,  0,  6,   0,   0,   0,   0,   0,   0,   1,   0,   0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  255, 255, 255, 255, 255, 255, 255, 255, 255, 0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  0,   0,   0,   0,   255, 255, 255, 255, 255, 255, 255, 255, 1,   0, 0,  0,
    3,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   255, 255, 255, 255, 0,   0, 0,  0,
    20, 0,  0,  0,  0,   0,   0,   0,   12,  0,   20,  0,   18,  0,   12,  0,   8,   0, 4,  0,
    12, 0,  0,  0,  108, 0,   0,   0,   136, 0,   0,   0,   16,  0,   0,   0,   0,   0, 4,  0,
    8,  0,  8,  0,  0,   0,   4,   0,   8,   0,   0,   0,   4,   0,   0,   0,   1,   0, 0,  0,
    20, 0,  0,  0,  16,  0,   22,  0,   16,  0,   0,   0,   15,  0,   4,   0,   0,   0, 8,  0,
    16, 0,  0,  0,  24,  0,   0,   0,   28,  0,   0,   0,   0,   0,   0,   2,   24,  0, 0,  0,
    0,  0,  6,  0,  8,   0,   4,   0,   6,   0,   0,   0,   32,  0,   0,   0,   0,   0, 0,  0,
    6,  0,  0,  0,  114, 111, 119, 95,  105, 100, 0,   0,   1,   0,   0,   0,   192, 0, 0,  0,
    0,  0,  0,  0,  192, 0,   0,   0,   0,   0,   0,   0,   128, 0,   0,   0,   0,   0, 0,  0,
    0,  0,  0,  0,  0,   0,   0,   0,   168, 0,   0,   0,   65,  82,  82,  79,  87,  49};

#define V1 "18446744073709551614.manifest"

struct stamp {
  arena *memory;
  Lance__Table__DeletionFile file;
};

/* Gives fragment 0 the deletion file. */
static void set_deletions(Lance__Table__Manifest *m, void *context) {
  struct stamp *x = context;
  ProtobufCMessage *message;
  OK(pb_unpack(x->memory, str_slice((const char *)m->fragments[0].data, m->fragments[0].len),
               &lance__table__data_fragment__descriptor, "f", &message, err));
  ((Lance__Table__DataFragment *)message)->deletion_file = &x->file;
  str packed;
  OK(pb_pack_arena(x->memory, message, &packed, err));
  m->fragments[0] = (ProtobufCBinaryData){packed.size, (uint8_t *)(uintptr_t)packed.data};
  m->reader_feature_flags |= 1;
  m->writer_feature_flags |= 1;
}

/* A table of `rows` rows whose only fragment has these deletions. */
static void make_table(test_env *t, size_t rows, enum deletion_form form, uint64_t count,
                       const void *bytes, size_t size) {
  test_env_open_mem(t);
  const char *root = test_env_path(t, "t");
  table_unref(create_rows(t->env, root, 0, rows, true));
  arena a;
  arena_init(&a, t->env);
  struct stamp x = {&a, LANCE__TABLE__DELETION_FILE__INIT};
  x.file.file_type = form;
  x.file.read_version = 1;
  x.file.id = 42;
  x.file.num_deleted_rows = count;
  edit_manifest(t->env, root, V1, set_deletions, &x);
  arena_dispose(&a);
  if (bytes != NULL) {
    write_file(t->env, test_env_path(t, "t/_deletions"),
               form == DELETION_ARROW ? "0-1-42.arrow" : "0-1-42.bin", bytes, size);
  }
}

static void expect_two(enum deletion_form form, uint64_t count, const void *bytes, size_t size) {
  test_env t;
  make_table(&t, 5, form, count, bytes, size);
  table_snapshot *s;
  OK(table_open(t.env, test_env_path(&t, "t"), "t", 0, &s, err));
  assert_int_equal(table_live_rows(s), 3);
  assert_int_equal(table_physical_rows(s), 5);
  EXPECT_IDS(s, NULL, 0, 2, 4);
  bitmap *deleted;
  OK(deletion_load(s, table_fragment(s, 0), &deleted, err));
  assert_int_equal(bitmap_count(deleted), 2);
  assert_true(bitmap_contains(deleted, 1) && bitmap_contains(deleted, 3));
  bitmap_free(deleted);
  table_unref(s);
  test_env_close(&t);
}

static void expect_refused(enum deletion_form form, uint64_t count, const void *bytes, size_t size,
                           const char *part) {
  test_env t;
  make_table(&t, 5, form, count, bytes, size);
  table_snapshot *s;
  OK(table_open(t.env, test_env_path(&t, "t"), "t", 0, &s, err));
  batch_reader r;
  OK(table_scan(s, NULL, &r, err));
  batch b = {0};
  bool at_end;
  EXPECT(GLV_E_CORRUPT, part, r.next(r.state, &b, &at_end, err));
  batch_reader_dispose(&r);
  table_unref(s);
  test_env_close(&t);
}

/* An IPC file of uint32 or int32 columns. */
static void make_arrow(glv_env *env, const char *name, type_kind kind, bool nullable,
                       size_t batches, bool with_null, buf *out) {
  buf_init(out, env, SIZE_MAX);
  const field f = {.name = name, .type = type_simple(kind), .nullable = nullable};
  schema *s;
  OK(schema_new(env, &f, 1, (metadata){0}, &s, err));
  batch all[2] = {0};
  for (size_t i = 0; i < batches; i++) {
    builder ids;
    builder_init(&ids, env, s->fields[0].type);
    OK(builder_append_fixed(&ids, &(uint32_t){3}, err));
    if (with_null) {
      OK(builder_append_null(&ids, err));
    } else {
      OK(builder_append_fixed(&ids, &(uint32_t){1}, err));
    }
    OK(batch_new(env, s, 2, 1, &all[i], err));
    OK(builder_finish(&ids, &all[i].columns[0], err));
    builder_dispose(&ids);
  }
  batch_reader r;
  OK(batch_reader_of(env, s, all, batches, &r, err));
  OK(ipc_write(env, &r, true, ipc_buf_sink(out), err));
  batch_reader_dispose(&r);
  for (size_t i = 0; i < batches; i++) {
    batch_dispose(&all[i]);
  }
  schema_unref(s);
}

static void refuse_arrow(const char *name, type_kind kind, bool nullable, size_t batches,
                         bool with_null) {
  test_env t;
  test_env_open_mem(&t);
  buf b;
  make_arrow(t.env, name, kind, nullable, batches, with_null, &b);
  expect_refused(DELETION_ARROW, 2, b.data, b.size, "0-1-42.arrow");
  buf_dispose(&b);
  test_env_close(&t);
}

static void test_arrow(void **state) {
  (void)state;
  expect_two(DELETION_ARROW, 2, arrow_zstd, sizeof arrow_zstd);
  expect_two(DELETION_ARROW, 2, arrow_lz4, sizeof arrow_lz4);
  expect_two(DELETION_ARROW, 2, arrow_lance, sizeof arrow_lance);
  expect_two(DELETION_ARROW, 0, arrow_lance, sizeof arrow_lance); /* 0 = unknown */
  test_env t;
  test_env_open_mem(&t);
  buf b;
  make_arrow(t.env, "row_id", TYPE_UINT32, false, 1, false, &b);
  expect_two(DELETION_ARROW, 2, b.data, b.size);
  buf_dispose(&b);
  test_env_close(&t);
}

static void test_arrow_refusals(void **state) {
  (void)state;
  refuse_arrow("row_id", TYPE_INT32, false, 1, false);
  refuse_arrow("rows", TYPE_UINT32, false, 1, false);
  refuse_arrow("row_id", TYPE_UINT32, true, 1, false);
  refuse_arrow("row_id", TYPE_UINT32, true, 1, true);
  refuse_arrow("row_id", TYPE_UINT32, false, 2, false);
  refuse_arrow("row_id", TYPE_UINT32, false, 0, false);
  expect_refused(DELETION_ARROW, 3, arrow_lance, sizeof arrow_lance, "the manifest says 3");
  expect_refused(DELETION_ARROW, 2, arrow_lance, sizeof arrow_lance - 100, "0-1-42.arrow");
  expect_refused(DELETION_ARROW, 2, "", 0, "0-1-42.arrow");
  expect_refused(DELETION_ARROW, 2, NULL, 0, "missing");
}

static void test_bitmap(void **state) {
  (void)state;
  static const unsigned char two[] = {0x3a, 0x30, 0,  0, 1, 0, 0, 0, 0, 0,
                                      1,    0,    16, 0, 0, 0, 1, 0, 3, 0};
  expect_two(DELETION_BITMAP, 2, two, sizeof two);
  expect_refused(DELETION_BITMAP, 2, two, sizeof two - 1, "0-1-42.bin");
  expect_refused(DELETION_BITMAP, 2, NULL, 0, "missing");
  unsigned char past[sizeof two];
  memcpy(past, two, sizeof two);
  past[18] = 5;
  expect_refused(DELETION_BITMAP, 2, past, sizeof past, "deletes row 5 of a fragment of 5 rows");
  unsigned char unsorted[sizeof two];
  memcpy(unsorted, two, sizeof two);
  unsorted[16] = 4;
  expect_refused(DELETION_BITMAP, 2, unsorted, sizeof unsorted, "0-1-42.bin");
}

/* 5001 deletions of 12,000 rows: a bitset container, and the same as runs. */
static void test_large_bitmap(void **state) {
  (void)state;
  for (int optimised = 0; optimised < 2; optimised++) {
    test_env t;
    test_env_open_mem(&t);
    bitmap *b = bitmap_new();
    for (uint32_t i = 0; i < 5001; i++) {
      bitmap_add(b, optimised ? i : 2 * i);
    }
    buf bytes;
    buf_init(&bytes, t.env, SIZE_MAX);
    OK(bitmap_write(b, optimised, &bytes, err));
    assert_true(optimised ? bytes.size < 100 : bytes.size > 8192);
    test_env u;
    make_table(&u, 12000, DELETION_BITMAP, 5001, bytes.data, bytes.size);
    table_snapshot *s;
    OK(table_open(u.env, test_env_path(&u, "t"), "t", 0, &s, err));
    assert_int_equal(table_live_rows(s), 6999);
    int64_t *ids = mem_alloc(u.env, 12000 * sizeof *ids);
    assert_int_equal(scan_ids(s, NULL, ids, 12000), 6999);
    assert_int_equal(ids[0], optimised ? 5001 : 1);
    uint64_t count;
    OK(table_count(s, STR("id >= 10001"), 0, NULL, &count, err));
    assert_int_equal(count, 1999);
    mem_free(u.env, ids);
    table_unref(s);
    test_env_close(&u);
    buf_dispose(&bytes);
    bitmap_free(b);
    test_env_close(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrow), cmocka_unit_test(test_arrow_refusals),
      cmocka_unit_test(test_bitmap), cmocka_unit_test(test_large_bitmap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
