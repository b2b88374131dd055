/* Scanning, unpacking, packing and walking messages, with well-formed, hostile and random bytes. */
#include "base/limits.h"
#include "pb/lance_encodings.pb-c.h"
#include "pb/lance_table.pb-c.h"
#include "pb/pb.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "support/test_env.h"

#define FRAGMENT (&lance__table__data_fragment__descriptor)

static str bytes_of(const char *data, size_t size) { return str_slice(data, size); }
#define BYTES(text) bytes_of((text), sizeof(text) - 1)

static void expect_corrupt(str bytes, const ProtobufCMessageDescriptor *d, const char *part) {
  glv_error err = {0};
  assert_int_equal(pb_scan(bytes, d, "message", &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "message"));
  assert_non_null(strstr(err.message, part));
}

static void test_round_trip(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  glv_error err;
  int32_t fields[] = {0, 1, -2, 300};
  Lance__Table__DataFile file = LANCE__TABLE__DATA_FILE__INIT;
  file.path = (char *)(uintptr_t) "x.lance";
  file.n_fields = 4;
  file.fields = fields;
  Lance__Table__DataFile *files[] = {&file};
  Lance__Table__DataFragment m = LANCE__TABLE__DATA_FRAGMENT__INIT;
  m.id = 7;
  m.n_files = 1;
  m.files = files;
  m.physical_rows = 10;
  m.row_ids_case = LANCE__TABLE__DATA_FRAGMENT__ROW_IDS_INLINE_ROW_IDS; /* present and empty */
  str packed;
  assert_int_equal(pb_pack_arena(&a, &m.base, &packed, &err), GLV_OK);

  /* An unknown field and an unpacked element of a packed list are kept and accepted. */
  buf more;
  buf_init(&more, t.env, 1000);
  assert_int_equal(buf_append_str(&more, packed, &err), GLV_OK);
  assert_int_equal(buf_append(&more, "\xba\x3e\x03zzz", 6, &err), GLV_OK); /* field 999 */
  ProtobufCMessage *message;
  assert_int_equal(pb_unpack(&a, buf_str(&more), FRAGMENT, "fragment", &message, &err), GLV_OK);
  const Lance__Table__DataFragment *read = (Lance__Table__DataFragment *)message;
  assert_int_equal(read->id, 7);
  assert_int_equal(read->n_files, 1);
  assert_int_equal(read->files[0]->fields[2], -2);
  assert_int_equal(read->row_ids_case, LANCE__TABLE__DATA_FRAGMENT__ROW_IDS_INLINE_ROW_IDS);
  assert_int_equal(read->created_at_case, LANCE__TABLE__DATA_FRAGMENT__CREATED_AT__NOT_SET);
  buf again;
  buf_init(&again, t.env, 1000);
  assert_int_equal(pb_pack(message, &again, &err), GLV_OK);
  assert_true(str_equal(buf_str(&again), buf_str(&more)));
  buf_dispose(&again);
  buf_dispose(&more);
  arena_dispose(&a);
  test_env_close(&t);
}

static void test_packed_and_not(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  glv_error err;
  ProtobufCMessage *message;
  const str mixed = BYTES("\x12\x02\x01\x02\x10\x03\x12\x00");
  assert_int_equal(
      pb_unpack(&a, mixed, &lance__table__data_file__descriptor, "file", &message, &err), GLV_OK);
  const Lance__Table__DataFile *file = (Lance__Table__DataFile *)message;
  assert_int_equal(file->n_fields, 3);
  assert_int_equal(file->fields[2], 3);
  arena_dispose(&a);
  test_env_close(&t);
}

static void test_refusals(void **state) {
  (void)state;
  expect_corrupt(BYTES("\x08"), FRAGMENT, "past the end");       /* no value */
  expect_corrupt(BYTES("\x12\x05xx"), FRAGMENT, "past the end"); /* length too large */
  expect_corrupt(BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), FRAGMENT, "past the end");
  expect_corrupt(BYTES("\x80"), FRAGMENT, "key");                       /* cut key */
  expect_corrupt(BYTES("\x00\x01"), FRAGMENT, "key");                   /* field 0 */
  expect_corrupt(BYTES("\x0b\x0c"), FRAGMENT, "wire type");             /* group */
  expect_corrupt(BYTES("\x0e\x01"), FRAGMENT, "wire type");             /* 6 */
  expect_corrupt(BYTES("\x0a\x00"), FRAGMENT, "malformed");             /* id as bytes */
  expect_corrupt(BYTES("\x12\x04\x0a\x02\xff\xfe"), FRAGMENT, "UTF-8"); /* path */
  expect_corrupt(BYTES("\x12\x05\x0a\x03"
                       "a\0b"),
                 FRAGMENT, "UTF-8");
  expect_corrupt(BYTES("\x12\x03\x12\x01\x80"), FRAGMENT, "malformed"); /* cut packed number */
  expect_corrupt(BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), FRAGMENT, "past the end");
  assert_int_equal(pb_scan(BYTES(""), FRAGMENT, "message", NULL), GLV_OK);
}

/* Nesting up to the limit is read, deeper nesting refused. */
static void test_depth(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  /* Messages of tables are shallow; that of a blob column holds one of its own kind. */
  char bytes[4096];
  size_t size = 0;
  for (int depth = 0; depth < 2 * LIMIT_PB_DEPTH; depth++) {
    char outer[4096];
    size_t at = 0;
    outer[at++] = depth % 2 == 0 ? 0x0a : 0x1a;
    if (size >= 128) {
      outer[at++] = (char)((size & 0x7f) | 0x80);
      outer[at++] = (char)(size >> 7);
    } else {
      outer[at++] = (char)size;
    }
    memcpy(outer + at, bytes, size);
    size += at;
    memcpy(bytes, outer, size);
    glv_error err = {0};
    ProtobufCMessage *message;
    if (depth % 2 == 1) { /* a whole ColumnEncoding: depth + 2 messages deep */
      const glv_status status =
          pb_unpack(&a, str_slice(bytes, size), &lance__encodings__column_encoding__descriptor,
                    "encoding", &message, &err);
      assert_int_equal(status, depth + 2 <= LIMIT_PB_DEPTH ? GLV_OK : GLV_E_CORRUPT);
    }
  }
  arena_dispose(&a);
  test_env_close(&t);
}

static void test_walk(void **state) {
  (void)state;
  pb_cursor c = {
      BYTES("\x08\x96\x01\x12\x02hi\x1d\x01\x00\x00\x00\x21\x02\x00\x00\x00\x00\x00\x00\x00")};
  pb_item item;
  bool at_end;
  assert_int_equal(pb_next(&c, "m", &item, &at_end, NULL), GLV_OK);
  assert_int_equal(item.value, 150);
  assert_int_equal(item.whole.size, 3);
  assert_int_equal(pb_next(&c, "m", &item, &at_end, NULL), GLV_OK);
  assert_true(str_is(item.bytes, "hi"));
  assert_int_equal(item.whole.size, 4);
  assert_int_equal(pb_next(&c, "m", &item, &at_end, NULL), GLV_OK);
  assert_int_equal(item.wire, PB_FIXED32);
  assert_int_equal(item.value, 1);
  assert_int_equal(pb_next(&c, "m", &item, &at_end, NULL), GLV_OK);
  assert_int_equal(item.wire, PB_FIXED64);
  assert_int_equal(item.value, 2);
  assert_int_equal(pb_next(&c, "m", &item, &at_end, NULL), GLV_OK);
  assert_true(at_end);
}

/* Whatever the bytes are, what passes the scan unpacks, packs, and unpacks again; under sanitizers.
 */
static void test_random(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  rng r = rng_of(1);
  size_t accepted = 0;
  for (int round = 0; round < 20000; round++) {
    char bytes[64];
    const size_t size = rng_below(&r, sizeof bytes);
    for (size_t i = 0; i < size; i++) {
      static const unsigned char likely[] = {0x08, 0x12, 0x0a, 0x10, 0x18,
                                             0x20, 0x2a, 0x02, 0x01, 0x00};
      bytes[i] = (char)(rng_below(&r, 3) > 0 ? likely[rng_below(&r, sizeof likely)] : rng_next(&r));
    }
    arena a;
    arena_init(&a, t.env);
    ProtobufCMessage *message;
    if (pb_unpack(&a, str_slice(bytes, size), FRAGMENT, "m", &message, NULL) == GLV_OK) {
      str packed;
      assert_int_equal(pb_pack_arena(&a, message, &packed, NULL), GLV_OK);
      assert_int_equal(pb_unpack(&a, packed, FRAGMENT, "m", &message, NULL), GLV_OK);
      accepted++;
    }
    arena_dispose(&a);
  }
  assert_true(accepted > 100);
  test_env_close(&t);
}

static void test_no_memory(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  bool fired = true;
  for (uint64_t n = 1; fired; n++) {
    arena a;
    arena_init(&a, t.env);
    alloc_fault_arm(&t.alloc, n, false);
    ProtobufCMessage *message;
    const glv_status status =
        pb_unpack(&a, BYTES("\x08\x01\x12\x04\x0a\x02hi"), FRAGMENT, "m", &message, NULL);
    fired = t.alloc.fired;
    assert_int_equal(status, fired ? GLV_E_NOMEM : GLV_OK);
    alloc_fault_arm(&t.alloc, 0, false);
    arena_dispose(&a);
  }
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip), cmocka_unit_test(test_packed_and_not),
      cmocka_unit_test(test_refusals),   cmocka_unit_test(test_depth),
      cmocka_unit_test(test_walk),       cmocka_unit_test(test_random),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
