/* Row id and row version sequences (checklist 13 and 14 of lance-table-format): every encoding by
 * hand, refusals, positional reads against a full expansion, and encoding back. */
#include "support/rng.h"
#include "table/row_ids.h"
#include "tables.h"

#define BYTES(text) str_slice((text), sizeof(text) - 1)

static void expect_list(str bytes, const uint64_t *ids, size_t count) {
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  row_id_sequence *s;
  OK(row_ids_decode(&a, bytes, "sequence", &s, err));
  assert_int_equal(row_ids_count(s), count);
  uint64_t found[64];
  row_ids_read(s, 0, count, found);
  assert_memory_equal(found, ids, count * sizeof *ids);
  for (size_t first = 0; first < count; first++) {
    for (size_t n = 0; first + n <= count; n++) {
      row_ids_read(s, first, n, found);
      assert_memory_equal(found, ids + first, n * sizeof *ids);
    }
  }
  for (uint64_t id = 0; id < 100; id++) {
    const uint64_t wanted[] = {id, id + 1000, UINT64_C(1) << 56};
    uint64_t rows[3];
    row_ids_locate(s, wanted, 3, rows);
    for (size_t k = 0; k < 3; k++) {
      size_t row = 0;
      while (row < count && ids[row] != wanted[k]) {
        row++;
      }
      assert_int_equal(rows[k], row < count ? row : UINT64_MAX);
    }
  }
  arena_dispose(&a);
  test_env_close(&t);
}
#define EXPECT_LIST(bytes, ...)                                                                    \
  expect_list((bytes), (const uint64_t[]){__VA_ARGS__},                                            \
              sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void test_encodings(void **state) {
  (void)state;
  /* range 0..10 */
  EXPECT_LIST(BYTES("\x0a\x04\x0a\x02\x10\x0a"), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  /* sorted array u16 {5, 21} */
  EXPECT_LIST(BYTES("\x0a\x0c\x22\x0a\x0a\x08\x08\x05\x12\x04\x00\x00\x10\x00"), 5, 21);
  /* bitmap {5, 21}: range 5..22, 3 bytes */
  EXPECT_LIST(BYTES("\x0a\x0b\x1a\x09\x08\x05\x10\x16\x1a\x03\x01\x00\x01"), 5, 21);
  /* bitmap, least significant bit first: 0, 1, 9 of 0..10 */
  EXPECT_LIST(BYTES("\x0a\x08\x1a\x06\x10\x0a\x1a\x02\x03\x02"), 0, 1, 9);
  /* holes u16 {2, 3} of 0..6 */
  EXPECT_LIST(BYTES("\x0a\x0e\x12\x0c\x10\x06\x1a\x08\x0a\x06\x12\x04\x02\x00\x03\x00"), 0, 1, 4,
              5);
  /* holes u64 {1} of 0..3 */
  EXPECT_LIST(
      BYTES("\x0a\x12\x12\x10\x10\x03\x1a\x0c\x1a\x0a\x12\x08\x01\x00\x00\x00\x00\x00\x00\x00"), 0,
      2);
  /* sorted array u32 and u64 */
  EXPECT_LIST(BYTES("\x0a\x0e\x22\x0c\x12\x0a\x12\x08\x01\x00\x00\x00\x00\x00\x01\x00"), 1, 65536);
  EXPECT_LIST(BYTES("\x0a\x16\x22\x14\x1a\x12\x12\x10\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
                    "\x00\x00\x00\x00\x01"),
              1, UINT64_C(1) << 56);
  /* array in any order */
  EXPECT_LIST(BYTES("\x0a\x0c\x2a\x0a\x0a\x08\x08\x05\x12\x04\x09\x00\x00\x00"), 14, 5);
  /* several segments, the first one empty */
  EXPECT_LIST(BYTES("\x0a\x02\x0a\x00\x0a\x04\x0a\x02\x10\x02\x0a\x06\x0a\x04\x08\x07\x10\x09"), 0,
              1, 7, 8);
}

static void refuse(str bytes, const char *part) {
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  row_id_sequence *s;
  EXPECT(GLV_E_CORRUPT, part, row_ids_decode(&a, bytes, "sequence", &s, err));
  arena_dispose(&a);
  test_env_close(&t);
}

static void test_refusals(void **state) {
  (void)state;
  refuse(BYTES("\x0a\x06\x0a\x04\x08\x05\x10\x04"), "ends before it starts");
  refuse(BYTES("\x0a\x07\x1a\x05\x10\x0a\x1a\x01\x03"), "wrong length");
  refuse(BYTES("\x0a\x09\x1a\x07\x10\x0a\x1a\x03\x03\x02\x00"), "wrong length");
  refuse(BYTES("\x0a\x08\x1a\x06\x10\x0a\x1a\x02\x03\x06"), "past the end");
  refuse(BYTES("\x0a\x0c\x22\x0a\x0a\x08\x08\x05\x12\x04\x09\x00\x00\x00"), "says it is sorted");
  refuse(BYTES("\x0a\x0c\x22\x0a\x0a\x08\x08\x05\x12\x04\x09\x00\x09\x00"), "says it is sorted");
  refuse(BYTES("\x0a\x0b\x22\x09\x0a\x07\x08\x05\x12\x03\x09\x00\x00"), "wrong length");
  refuse(BYTES("\x0a\x0e\x12\x0c\x10\x06\x1a\x08\x0a\x06\x12\x04\x03\x00\x02\x00"), "out of order");
  refuse(BYTES("\x0a\x0e\x12\x0c\x10\x06\x1a\x08\x0a\x06\x12\x04\x02\x00\x06\x00"),
         "outside its range");
  refuse(BYTES("\x0a\x04\x12\x02\x10\x06"), "no numbers");
  refuse(BYTES("\x0a\x00"), "unknown kind");
  refuse(BYTES("\x0a\x02\x32\x00"), "unknown kind");
  refuse(BYTES("\x0a\x0b\x0a\x09\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "past the end");
  /* two ranges of 2^63 and more rows */
  refuse(BYTES("\x0a\x0d\x0a\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
               "\x0a\x0d\x0a\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
         "too many rows");
}

static void check_encode(test_env *t, const uint64_t *ids, size_t count, size_t most_bytes) {
  arena a;
  arena_init(&a, t->env);
  buf bytes;
  buf_init(&bytes, t->env, SIZE_MAX);
  OK(row_ids_encode(ids, count, &bytes, err));
  assert_true(bytes.size <= most_bytes);
  row_id_sequence *s;
  OK(row_ids_decode(&a, buf_str(&bytes), "sequence", &s, err));
  assert_int_equal(row_ids_count(s), count);
  uint64_t *found = ARENA_ARRAY(&a, uint64_t, count + 1);
  row_ids_read(s, 0, count, found);
  assert_memory_equal(found, ids, count * sizeof *ids);
  for (size_t i = 0; i < count; i += 1 + count / 13) {
    row_ids_read(s, i, count - i, found);
    assert_memory_equal(found, ids + i, (count - i) * sizeof *ids);
  }
  uint64_t least;
  uint64_t most;
  assert_int_equal(row_ids_bounds(s, &least, &most), count > 0);
  for (size_t i = 0; i < count; i++) {
    assert_true(ids[i] >= least && ids[i] <= most);
  }
  buf_dispose(&bytes);
  arena_dispose(&a);
}

static void test_encode(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  check_encode(&t, NULL, 0, 4);
  check_encode(&t, (uint64_t[]){5, 21}, 2, 13);
  check_encode(&t, (uint64_t[]){7, 6, 30}, 3, 24);
  check_encode(&t, (uint64_t[]){6, 6}, 2, 24);
  check_encode(&t, (uint64_t[]){0, UINT64_MAX}, 2, 40);
  check_encode(&t, (uint64_t[]){UINT64_MAX - 1, UINT64_MAX}, 2, 40);
  check_encode(&t, (uint64_t[]){UINT64_MAX}, 1, 40);
  enum { MANY = 20000 };
  uint64_t *ids = mem_alloc(t.env, MANY * sizeof *ids);
  rng r = rng_of(5);
  for (int density = 0; density < 4; density++) { /* from no hole to almost only holes */
    static const uint64_t steps[] = {1, 3, 40, 100000};
    uint64_t id = 1000;
    for (size_t i = 0; i < MANY; i++) {
      id += 1 + (steps[density] > 1 && (density > 1 || rng_below(&r, 500) == 0)
                     ? rng_below(&r, steps[density])
                     : 0);
      ids[i] = id;
    }
    check_encode(&t, ids, MANY, 9 * MANY);
  }
  mem_free(t.env, ids);
  test_env_close(&t);
}

static void test_hex(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  buf b;
  buf_init(&b, t.env, 1000);
  OK(row_ids_encode_range(0, 10, &b, err));
  assert_true(str_equal(buf_str(&b), BYTES("\x0a\x04\x0a\x02\x10\x0a")));
  buf_clear(&b);
  OK(row_ids_encode((uint64_t[]){5, 21}, 2, &b, err));
  assert_true(
      str_equal(buf_str(&b), BYTES("\x0a\x0b\x1a\x09\x08\x05\x10\x16\x1a\x03\x01\x00\x01")));
  buf_clear(&b);
  OK(row_versions_encode((version_run[]){{10, 1}}, 1, &b, err));
  assert_true(str_equal(buf_str(&b), BYTES("\x0a\x08\x0a\x04\x0a\x02\x10\x0a\x10\x01")));
  buf_clear(&b);
  OK(row_versions_encode((version_run[]){{1, 1}, {1, 5}}, 2, &b, err));
  assert_true(str_equal(buf_str(&b), BYTES("\x0a\x08\x0a\x04\x0a\x02\x10\x01\x10\x01"
                                           "\x0a\x0a\x0a\x06\x0a\x04\x08\x01\x10\x02\x10\x05")));
  buf_dispose(&b);
  test_env_close(&t);
}

static void test_versions(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  row_versions v;
  /* spans [7, 9) of version 3 and the bitmap {0, 9} of version 9: only the lengths count */
  OK(row_versions_decode(&a,
                         BYTES("\x0a\x0a\x0a\x06\x0a\x04\x08\x07\x10\x09\x10\x03"
                               "\x0a\x0c\x0a\x08\x1a\x06\x10\x0a\x1a\x02\x01\x02\x10\x09"),
                         "versions", &v, err));
  assert_int_equal(v.rows, 4);
  uint64_t found[4];
  row_versions_read(&v, 0, 4, found);
  assert_memory_equal(found, ((uint64_t[]){3, 3, 9, 9}), sizeof found);
  row_versions_read(&v, 1, 2, found);
  assert_memory_equal(found, ((uint64_t[]){3, 9}), 2 * sizeof *found);
  row_versions_read(&v, 3, 1, found);
  assert_int_equal(found[0], 9);
  EXPECT(GLV_E_CORRUPT, "missing",
         row_versions_decode(&a, BYTES("\x0a\x02\x10\x03"), "v", &v, err));
  arena_dispose(&a);
  test_env_close(&t);
}

static void drop_sequences(Lance__Table__Manifest *m, void *context) {
  arena *a = context;
  ProtobufCMessage *message;
  OK(pb_unpack(a, str_slice((const char *)m->fragments[0].data, m->fragments[0].len),
               &lance__table__data_fragment__descriptor, "f", &message, err));
  Lance__Table__DataFragment *f = (Lance__Table__DataFragment *)message;
  f->created_at_case = LANCE__TABLE__DATA_FRAGMENT__CREATED_AT__NOT_SET;
  static uint8_t short_ids[] = {0x0a, 0x04, 0x0a, 0x02, 0x10, 0x03};
  f->inline_row_ids = (ProtobufCBinaryData){sizeof short_ids, short_ids};
  str packed;
  OK(pb_pack_arena(a, message, &packed, err));
  m->fragments[0] = (ProtobufCBinaryData){packed.size, (uint8_t *)(uintptr_t)packed.data};
}

static void test_fragment(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  const char *root = test_env_path(&t, "t");
  table_unref(create_rows(t.env, root, 0, 4, true));
  edit_manifest(t.env, root, "18446744073709551614.manifest", drop_sequences, &a);
  table_snapshot *s;
  OK(table_open(t.env, root, "t", 0, &s, err));
  const fragment *f = table_fragment(s, 0);
  row_versions v;
  OK(fragment_created_at(s, f, &a, &v, err)); /* absent: version 1 */
  assert_int_equal(v.rows, 4);
  assert_int_equal(v.runs[0].version, 1);
  row_id_sequence *ids;
  EXPECT(GLV_E_CORRUPT, "row ids for 3", fragment_row_ids(s, f, &a, &ids, err));
  table_unref(s);
  arena_dispose(&a);
  test_env_close(&t);
}

/* Without stable row ids the id is the address. */
static void test_addresses(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 3, false);
  append_rows(&s, 3, 2);
  assert_false(table_has_stable_row_ids(s));
  uint64_t ids[5];
  assert_int_equal(scan_numbers(s, "_rowid", ids, 5), 5);
  const uint64_t second = UINT64_C(1) << 32;
  assert_memory_equal(ids, ((uint64_t[]){0, 1, 2, second, second + 1}), sizeof ids);
  table_unref(s);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_encodings), cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_encode),    cmocka_unit_test(test_hex),
      cmocka_unit_test(test_versions),  cmocka_unit_test(test_fragment),
      cmocka_unit_test(test_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
