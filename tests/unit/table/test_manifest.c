/* Manifest files: the worked example byte for byte, damaged files, names and hints, feature flags,
 * where the transaction stands (checklist 1 to 4, 8, 9 of lance-table-format). */
#include <stdlib.h>

#include "support/rng.h"
#include "table/row_ids.h"
#include "table/transaction.h"
#include "tables.h"

/* Section 2.1: an empty table with stable row ids, columns id int64 and name string. */
static const unsigned char example[] =
    "\x66\x00\x00\x00\x12\x24\x31\x31\x31\x31\x31\x31\x31\x31\x2d\x32\x32\x32\x32\x2d\x34\x33"
    "\x33\x33\x2d\x38\x34\x34\x34\x2d\x35\x35\x35\x35\x35\x35\x35\x35\x35\x35\x35\x35\xb2\x06"
    "\x3d\x12\x1a\x12\x02\x69\x64\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x2a\x05\x69\x6e"
    "\x74\x36\x34\x30\x01\x38\x01\x12\x1f\x12\x04\x6e\x61\x6d\x65\x18\x01\x20\xff\xff\xff\xff"
    "\xff\xff\xff\xff\xff\x01\x2a\x06\x73\x74\x72\x69\x6e\x67\x30\x01\x38\x02\xab\x00\x00\x00"
    "\x0a\x1a\x12\x02\x69\x64\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x2a\x05\x69\x6e\x74"
    "\x36\x34\x30\x01\x38\x01\x0a\x1f\x12\x04\x6e\x61\x6d\x65\x18\x01\x20\xff\xff\xff\xff\xff"
    "\xff\xff\xff\xff\x01\x2a\x06\x73\x74\x72\x69\x6e\x67\x30\x01\x38\x02\x18\x01\x2a\x0e\x0a"
    "\x05\x68\x65\x6c\x6c\x6f\x12\x05\x77\x6f\x72\x6c\x64\x3a\x08\x08\x80\xf2\xd6\xca\x06\x10"
    "\x05\x48\x02\x50\x02\x62\x2a\x30\x2d\x31\x31\x31\x31\x31\x31\x31\x31\x2d\x32\x32\x32\x32"
    "\x2d\x34\x33\x33\x33\x2d\x38\x34\x34\x34\x2d\x35\x35\x35\x35\x35\x35\x35\x35\x35\x35\x35"
    "\x35\x2e\x74\x78\x6e\x6a\x0f\x0a\x06\x67\x6c\x61\x69\x76\x65\x12\x05\x30\x2e\x31\x2e\x30"
    "\x7a\x0c\x0a\x05\x6c\x61\x6e\x63\x65\x12\x03\x32\x2e\x32\xb8\x01\x00\x6a\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x02\x00\x4c\x41\x4e\x43";
enum { EXAMPLE_SIZE = sizeof example - 1 };
#define V1 "18446744073709551614.manifest"
#define V2 "18446744073709551613.manifest"
#define V3 "18446744073709551612.manifest"

static void put(test_env *t, const char *name, const void *data, size_t size) {
  write_file(t->env, test_env_path(t, "t/_versions"), name, data, size);
}

static void test_example(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  put(&t, V1, example, EXAMPLE_SIZE);
  table_snapshot *s;
  OK(table_open(t.env, test_env_path(&t, "t"), "ops.t", 0, &s, err));
  assert_int_equal(table_version(s), 1);
  assert_int_equal(table_timestamp_ns(s), INT64_C(1767225600000000005));
  assert_int_equal(table_reader_flags(s), 2);
  assert_int_equal(table_writer_flags(s), 2);
  assert_true(table_has_stable_row_ids(s));
  assert_int_equal(table_next_row_id(s), 0);
  assert_int_equal(table_schema(s)->field_count, 2);
  assert_string_equal(table_schema(s)->fields[1].name, "name");
  assert_int_equal(table_schema(s)->fields[0].type->kind, TYPE_INT64);
  assert_true(str_is(table_metadata_get(s, STR("hello"), NULL), "world"));
  assert_int_equal(table_data_version(s), FORMAT_2_2);
  assert_string_equal(table_name(s), "ops.t");
  OK(table_check_writable(s, err));
  size_t count;
  (void)table_fragments(s, &count);
  assert_int_equal(count, 0);
  arena a;
  arena_init(&a, t.env);
  transaction *x;
  OK(transaction_read(s, 1, &a, &x, err));
  assert_int_equal(x->kind, OPERATION_OVERWRITE);
  assert_string_equal(x->uuid, "11111111-2222-4333-8444-555555555555");
  assert_int_equal(x->schema->field_count, 2);
  arena_dispose(&a);
  table_unref(s);
  test_env_close(&t);
}

static void keep(Lance__Table__Manifest *m, void *context) {
  (void)m;
  (void)context;
}

static void test_reencode(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  put(&t, V1, example, EXAMPLE_SIZE);
  edit_manifest(t.env, test_env_path(&t, "t"), V1, keep, NULL);
  buf bytes;
  read_file(t.env, test_env_path(&t, "t/_versions/" V1), &bytes);
  assert_int_equal(bytes.size, EXAMPLE_SIZE);
  assert_memory_equal(bytes.data, example, EXAMPLE_SIZE);
  buf_dispose(&bytes);
  test_env_close(&t);
}

static void expect_open(test_env *t, glv_status status, const char *part) {
  table_snapshot *s;
  EXPECT(status, part, table_open(t->env, test_env_path(t, "t"), "t", 0, &s, err));
}

static void test_damage(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  put(&t, V1, example, EXAMPLE_SIZE - 1);
  expect_open(&t, GLV_E_CORRUPT, "magic number does not match");
  unsigned char bytes[EXAMPLE_SIZE];
  memcpy(bytes, example, EXAMPLE_SIZE);
  bytes[EXAMPLE_SIZE - 1] = 'D';
  put(&t, V1, bytes, EXAMPLE_SIZE);
  expect_open(&t, GLV_E_CORRUPT, "magic number does not match");
  memcpy(bytes, example, EXAMPLE_SIZE);
  bytes[106]++;
  put(&t, V1, bytes, EXAMPLE_SIZE);
  expect_open(&t, GLV_E_CORRUPT, "manifest length does not match");
  memcpy(bytes, example, EXAMPLE_SIZE);
  bytes[EXAMPLE_SIZE - 9] = 0xff; /* a huge offset */
  put(&t, V1, bytes, EXAMPLE_SIZE);
  expect_open(&t, GLV_E_CORRUPT, "manifest length does not match");
  memcpy(bytes, example, EXAMPLE_SIZE);
  bytes[3] = 0x7f; /* the transaction reaches past its end */
  put(&t, V1, bytes, EXAMPLE_SIZE);
  expect_open(&t, GLV_E_CORRUPT, "section");
  put(&t, V1, "", 0);
  expect_open(&t, GLV_E_CORRUPT, "magic number does not match");
  put(&t, V2, example, EXAMPLE_SIZE); /* says it is version 1 */
  expect_open(&t, GLV_E_CORRUPT, "says it is version 1");
  test_env_close(&t);
}

/* Random damage never does more than fail. */
static void test_random_damage(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 10, true);
  append_rows(&s, 10, 10);
  table_unref(s);
  buf good;
  read_file(t.env, test_env_path(&t, "t/_versions/" V2), &good);
  rng r = rng_of(3);
  size_t opened = 0;
  for (int round = 0; round < 3000; round++) {
    char *bytes = malloc(good.size);
    memcpy(bytes, good.data, good.size);
    const size_t changes = 1 + rng_below(&r, 3);
    for (size_t i = 0; i < changes; i++) {
      bytes[rng_below(&r, good.size)] = (char)rng_next(&r);
    }
    put(&t, V2, bytes, good.size);
    if (table_open(t.env, test_env_path(&t, "t"), "t", 0, &s, NULL) == GLV_OK) {
      arena a;
      arena_init(&a, t.env);
      transaction *x;
      size_t count;
      const fragment *f = table_fragments(s, &count);
      for (size_t i = 0; i < count; i++) {
        row_id_sequence *ids;
        row_versions versions;
        (void)fragment_row_ids(s, &f[i], &a, &ids, NULL);
        (void)fragment_created_at(s, &f[i], &a, &versions, NULL);
      }
      (void)transaction_read(s, 2, &a, &x, NULL);
      arena_dispose(&a);
      table_unref(s);
      opened++;
    }
    free(bytes);
  }
  assert_true(opened > 0);
  buf_dispose(&good);
  test_env_close(&t);
}

static void test_names(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  const char *root = test_env_path(&t, "t");
  expect_open(&t, GLV_E_TABLE_NOT_FOUND, "was not found");
  bool exists = true;
  OK(table_exists(t.env, root, &exists, err));
  assert_false(exists);
  put(&t, "foo.manifest", "x", 1);
  expect_open(&t, GLV_E_TABLE_NOT_FOUND, "was not found");
  OK(table_exists(t.env, root, &exists, err));
  assert_false(exists);
  put(&t, V1, example, EXAMPLE_SIZE);
  put(&t, V3 "#1", "x", 1);
  put(&t, "d16527213213937789900.manifest", "x", 1);
  put(&t, "latest_version_hint.json", "{\"version\":99}", 14);
  OK(table_exists(t.env, root, &exists, err));
  assert_true(exists);
  table_snapshot *s;
  OK(table_open(t.env, root, NULL, 0, &s, err));
  assert_int_equal(table_version(s), 1);
  arena a;
  arena_init(&a, t.env);
  version_entry *versions;
  size_t count;
  OK(table_versions(s, &a, &versions, &count, err));
  assert_int_equal(count, 1);
  assert_string_equal(versions[0].operation, "Overwrite");
  arena_dispose(&a);
  table_snapshot *other;
  EXPECT(GLV_E_VERSION_NOT_FOUND, "has no version 5", table_open_version(s, 5, &other, err));
  EXPECT(GLV_E_VERSION_NOT_FOUND, "has no version 5", table_open(t.env, root, "t", 5, &other, err));
  OK(table_open_version(s, 0, &other, err));
  assert_ptr_equal(s, other);
  table_unref(other);
  table_unref(s);
  put(&t, "2.manifest", example, EXAMPLE_SIZE);
  expect_open(&t, GLV_E_CORRUPT, "Found multiple manifest naming schemes in the same directory");
  test_env_close(&t);
}

static void expect_hint(test_env *t, const char *text) {
  buf bytes;
  read_file(t->env, test_env_path(t, "t/_versions/latest_version_hint.json"), &bytes);
  assert_true(str_is(buf_str(&bytes), text));
  buf_dispose(&bytes);
}

static void test_hint(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 3, true);
  expect_hint(&t, "{\"version\":1}");
  static const char *const hints[] = {"{\"version\":99}", "garbage", "{\"version\":1}", NULL};
  for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
    if (hints[i] != NULL) {
      put(&t, "latest_version_hint.json", hints[i], strlen(hints[i]));
    } else {
      remove_file(t.env, test_env_path(&t, "t/_versions"), "latest_version_hint.json");
    }
    table_snapshot *found;
    OK(table_open(t.env, test_env_path(&t, "t"), NULL, 0, &found, err));
    assert_int_equal(table_version(found), i + 1);
    table_unref(found);
    append_rows(&s, 3, 1);
    char expected[32];
    snprintf(expected, sizeof expected, "{\"version\":%zu}", i + 2);
    expect_hint(&t, expected);
  }
  table_unref(s);
  test_env_close(&t);
}

/* A table with V1 names goes on with V1 names. */
static void test_v1_names(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  put(&t, "1.manifest", example, EXAMPLE_SIZE);
  table_snapshot *s;
  OK(table_open(t.env, test_env_path(&t, "t"), NULL, 0, &s, err));
  const metadata_change change = {STR("k"), STR("v")};
  const operation op = {.kind = OPERATION_UPDATE_CONFIG, .changes = &change, .change_count = 1};
  table_snapshot *next;
  OK(table_commit(s, &op, NULL, &next, NULL, err));
  assert_int_equal(table_version(next), 2);
  bool exists;
  OK(io_exists(t.env, NULL, test_env_path(&t, "t/_versions/2.manifest"), &exists, err));
  assert_true(exists);
  table_unref(s);
  OK(table_open(t.env, test_env_path(&t, "t"), NULL, 1, &s, err));
  assert_int_equal(table_version(s), 1);
  table_unref(s);
  table_unref(next);
  test_env_close(&t);
}

/* ---- where the transaction stands ---- */

static void move_to_old_field(Lance__Table__Manifest *m, void *context) {
  (void)context;
  m->opt_transaction_section_old_case =
      LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION_OLD_TRANSACTION_SECTION_OLD;
  m->transaction_section_old = m->transaction_section;
  m->opt_transaction_section_case = LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION__NOT_SET;
}

static void remove_sections(Lance__Table__Manifest *m, void *context) {
  (void)context;
  m->opt_transaction_section_old_case =
      LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION_OLD__NOT_SET;
  m->opt_transaction_section_case = LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION__NOT_SET;
}

static void forget_file(Lance__Table__Manifest *m, void *context) {
  (void)context;
  m->transaction_file = (char *)(uintptr_t) "";
}

static glv_status read_kind(test_env *t, enum operation_kind *ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *s = NULL;
  TRY(table_open(t->env, test_env_path(t, "t"), "t", 0, &s, err));
  arena a;
  arena_init(&a, t->env);
  transaction *x;
  const glv_status status = transaction_read(s, table_version(s), &a, &x, err);
  if (status == GLV_OK) {
    *ret = x->kind;
  }
  arena_dispose(&a);
  return status;
}

static void test_transaction_places(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  const char *root = test_env_path(&t, "t");
  table_snapshot *s = create_rows(t.env, root, 0, 3, true);
  append_rows(&s, 3, 3);
  enum operation_kind kind = OPERATION_UNKNOWN;
  OK(read_kind(&t, &kind, err)); /* field 23 */
  assert_int_equal(kind, OPERATION_APPEND);
  edit_manifest(t.env, root, V2, move_to_old_field, NULL); /* field 21 */
  kind = OPERATION_UNKNOWN;
  OK(read_kind(&t, &kind, err));
  assert_int_equal(kind, OPERATION_APPEND);
  edit_manifest(t.env, root, V2, remove_sections, NULL); /* the file */
  kind = OPERATION_UNKNOWN;
  OK(read_kind(&t, &kind, err));
  assert_int_equal(kind, OPERATION_APPEND);
  edit_manifest(t.env, root, V2, forget_file, NULL);
  EXPECT(GLV_E_TRANSACTION_NOT_FOUND, "does not have a transaction file",
         read_kind(&t, &kind, err));
  table_unref(s);
  test_env_close(&t);
}

/* ---- feature flags ---- */

struct words {
  uint64_t reader;
  uint64_t writer;
};

static void set_words(Lance__Table__Manifest *m, void *context) {
  const struct words *w = context;
  m->reader_feature_flags = w->reader;
  m->writer_feature_flags = w->writer;
}

/* 'y' usable, 'w' readable only, 'n' not openable, 'c' corrupt, for bit i in reader, writer, both.
 */
static const char *const outcomes[] = {"yyy", "yyy", "yyy", "yyy", "yyy", "yyy", "nwn",
                                       "yyy", "ccy", "nwn", "ccw", "nwn", "nwn", "nwn",
                                       "ccn", "ccc", "ccn", "www", "nwn", "nwn"};

static char flag_outcome(test_env *t) {
  table_snapshot *s;
  glv_error err = {0};
  const glv_status status = table_open(t->env, test_env_path(t, "t"), "t", 0, &s, &err);
  if (status != GLV_OK) {
    assert_true(status == GLV_E_CORRUPT ||
                strstr(err.message, "cannot be read by this version of Glaive") != NULL);
    return status == GLV_E_CORRUPT ? 'c' : status == GLV_E_UNSUPPORTED ? 'n' : '?';
  }
  const glv_status writable = table_check_writable(s, &err);
  table_unref(s);
  return writable == GLV_OK ? 'y' : writable == GLV_E_UNSUPPORTED ? 'w' : '?';
}

static void test_flags(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  for (unsigned bit = 0; bit < sizeof outcomes / sizeof outcomes[0]; bit++) {
    for (unsigned where = 0; where < 3; where++) {
      const uint64_t value = UINT64_C(1) << bit;
      struct words w = {where != 1 ? value : 0, where != 0 ? value : 0};
      put(&t, V1, example, EXAMPLE_SIZE);
      edit_manifest(t.env, test_env_path(&t, "t"), V1, set_words, &w);
      const char outcome = flag_outcome(&t);
      if (outcome != outcomes[bit][where]) {
        fail_msg("bit %u in %u: %c", bit, where, outcome);
      }
    }
  }
  test_env_close(&t);
}

static void set_field_mark(Lance__Table__Manifest *m, void *context) {
  (void)context;
  m->writer_feature_flags |= TABLE_FLAG_FIELD_IDS;
  m->opt_max_allocated_field_id_case =
      LANCE__TABLE__MANIFEST__OPT_MAX_ALLOCATED_FIELD_ID_MAX_ALLOCATED_FIELD_ID;
  m->max_allocated_field_id = 7;
}

static void test_field_mark(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  const char *root = test_env_path(&t, "t");
  table_snapshot *s = create_rows(t.env, root, 0, 3, true);
  table_unref(s);
  edit_manifest(t.env, root, V1, set_field_mark, NULL);
  OK(table_open(t.env, root, "t", 0, &s, err));
  append_rows(&s, 3, 1);
  assert_int_equal(table_writer_flags(s), 2 | TABLE_FLAG_FIELD_IDS);
  assert_int_equal(table_reader_flags(s), 2);
  batch_reader r = make_rows(t.env, 0, 1, 1);
  EXPECT(GLV_E_UNSUPPORTED, "non-reusable field ids",
         table_overwrite(s, &r, NULL, NULL, NULL, err));
  table_unref(s);
  test_env_close(&t);
}

static void set_format(Lance__Table__Manifest *m, void *context) {
  m->data_format->version = context;
}

static void test_data_format(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  put(&t, V1, example, EXAMPLE_SIZE);
  edit_manifest(t.env, test_env_path(&t, "t"), V1, set_format, (void *)(uintptr_t) "2.3");
  table_snapshot *s;
  OK(table_open(t.env, test_env_path(&t, "t"), "t", 0, &s, err));
  EXPECT(GLV_E_UNSUPPORTED, "version '2.3'", table_check_writable(s, err));
  batch_reader r = make_rows(t.env, 0, 1, 1);
  EXPECT(GLV_E_UNSUPPORTED, "version '2.3'", table_append(s, &r, NULL, NULL, NULL, err));
  table_unref(s);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_example),     cmocka_unit_test(test_reencode),
      cmocka_unit_test(test_damage),      cmocka_unit_test(test_random_damage),
      cmocka_unit_test(test_names),       cmocka_unit_test(test_hint),
      cmocka_unit_test(test_v1_names),    cmocka_unit_test(test_transaction_places),
      cmocka_unit_test(test_flags),       cmocka_unit_test(test_field_mark),
      cmocka_unit_test(test_data_format),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
