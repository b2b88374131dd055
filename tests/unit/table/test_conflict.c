/* The conflict matrix: every cell against transactions made by hand (checklist 21), through the
 * commit itself; and the filters of inserted keys (checklist 25). */
#include <stdlib.h>

#include "table/bloom.h"
#include "tables.h"

#define V2 "18446744073709551613.manifest"

enum ours {
  APPEND,
  OVERWRITE,
  METADATA,
  DELETE,
  UPDATE,
  REWRITE,
  MERGE,
  PROJECT,
  PROJECT_NULLABILITY, /* a column stops accepting nulls */
  RESERVE,
  RESTORE,
  OURS
};

/* Their operations as serialized bodies of a Transaction, by number. */
struct theirs {
  const char *name;
  const char *bytes; /* key and body of the operation */
  size_t size;
  const char *verdicts; /* one for each of ours: '.', 'R', 'X' */
};
#define BODY(text) (text), sizeof(text) - 1

/* Bitmap of fragment 0. */
#define ZERO "\x3a\x30\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x00"

static const struct theirs all[] = {
    /* No fragment in common. */
    {"Append", BODY("\xa2\x06\x00"), "......R.R.."},
    {"Delete", BODY("\xaa\x06\x00"), "......R...."},
    {"Update", BODY("\xe2\x06\x00"), "......R.R.."},
    {"Rewrite", BODY("\xc2\x06\x00"), "......R...."},
    {"Merge", BODY("\xca\x06\x02\x20\x01"), "..RRRRRRR.."}, /* preserves nullability */
    {"Merge", BODY("\xca\x06\x00"), "R.RRRRRRR.."},
    {"Project", BODY("\xea\x06\x02\x10\x01"), "......XRR.."},
    {"Project", BODY("\xea\x06\x00"), "R...R.XRR.."},
    {"Overwrite", BODY("\xb2\x06\x00"), "XRXXXXXXXX."},
    {"CreateIndex", BODY("\xba\x06\x00"), "..........."},
    {"UpdateConfig", BODY("\xf2\x06\x00"), "..........."},
    {"UpdateConfig", BODY("\xf2\x06\x06\x32\x04\x0a\x02\x0a\x00"), "..........."}, /* config */
    {"UpdateConfig", BODY("\xf2\x06\x06\x42\x04\x0a\x02\x0a\x00"), "..X...R...X"}, /* schema */
    {"UpdateConfig", BODY("\xf2\x06\x04\x1a\x02\x0a\x00"), "..X...R...X"}, /* older encoding */
    {"UpdateConfig", BODY("\xf2\x06\x04\x0a\x02\x0a\x00"), "..........."},
    {"DataReplacement", BODY("\xfa\x06\x00"), "......R.R.."},
    {"DataOverlay", BODY("\x9a\x07\x00"), "......R.R.."},
    {"ReserveFragments", BODY("\xda\x06\x02\x08\x03"), "..........."},
    {"Restore", BODY("\xd2\x06\x00"), "X.XXXXXXXX."},
    {"Clone", BODY("\x8a\x07\x00"), "..........."},
    {"UpdateBases", BODY("\x92\x07\x00"), "..........."},
    {"UpdateMemWalState", BODY("\x82\x07\x00"), "XX.X..XXX.X"},
    {"Unknown", BODY("\xb2\x09\x00"), "XXXXXXXXXXX"},
    {"Unknown", BODY(""), "XXXXXXXXXXX"},
    /* Fragment 0, as ours. */
    {"Delete", BODY("\xaa\x06\x03\x12\x01\x00"), "...RRRR...."},
    {"Update", BODY("\xe2\x06\x03\x0a\x01\x00"), "...RRRR.R.."},
    {"Rewrite", BODY("\xc2\x06\x04\x1a\x02\x0a\x00"), "...RRRR...."},
    {"DataReplacement", BODY("\xfa\x06\x07\x0a\x05\x12\x03\x0a\x01x"), "...RRRR.R.."},
    {"DataOverlay", BODY("\x9a\x07\x09\x0a\x07\x12\x05\x0a\x03\x0a\x01x"), "....RRR.R.."},
    {"CreateIndex", BODY("\xba\x06\x19\x0a\x17\x1a\x01i\x2a\x12" ZERO), ".....R....."},
    {"CreateIndex", BODY("\xba\x06\x05\x0a\x03\x1a\x01i"), ".....R....."}, /* coverage unknown */
};

/* Replaces the transaction of version 2, which is an append. */
static void set_transaction(test_env *t, const struct theirs *theirs) {
  buf old;
  read_file(t->env, test_env_path(t, "t/_versions/" V2), &old);
  const size_t at = (size_t)load_le64(old.data + old.size - 16);
  buf file;
  buf_init(&file, t->env, SIZE_MAX);
  uint8_t word[4];
  store_le32(word, (uint32_t)(5 + theirs->size));
  OK(buf_append(&file, word, 4, err));
  OK(buf_append(&file, "\x08\x01\x12\x01x", 5, err));
  OK(buf_append(&file, theirs->bytes, theirs->size, err));
  const size_t start = file.size;
  OK(buf_append(&file, old.data + at, old.size - at, err));
  store_le64(file.data + file.size - 16, start);
  write_file(t->env, test_env_path(t, "t/_versions"), V2, file.data, file.size);
  buf_dispose(&file);
  buf_dispose(&old);
}

static glv_status commit_ours(test_env *t, const table_snapshot *s, enum ours which,
                              glv_error *err) {
  static const enum operation_kind kinds[] = {[METADATA] = OPERATION_UPDATE_CONFIG,
                                              [DELETE] = OPERATION_DELETE,
                                              [UPDATE] = OPERATION_UPDATE,
                                              [REWRITE] = OPERATION_REWRITE,
                                              [MERGE] = OPERATION_MERGE,
                                              [PROJECT] = OPERATION_PROJECT,
                                              [PROJECT_NULLABILITY] = OPERATION_PROJECT,
                                              [RESERVE] = OPERATION_RESERVE_FRAGMENTS,
                                              [RESTORE] = OPERATION_RESTORE};
  batch_reader r = {0};
  if (which == APPEND || which == OVERWRITE) {
    r = make_rows(t->env, 9, 1, 1);
    return which == APPEND ? table_append(s, &r, NULL, NULL, NULL, err)
                           : table_overwrite(s, &r, NULL, NULL, NULL, err);
  }
  const metadata_change change = {STR("k"), STR("v")};
  CLEANUP(bitmap_cleanup) bitmap *row = bitmap_new();
  bitmap_add(row, 0);
  const deletion_update updated = {0, row};
  const uint64_t old = 0;
  const rewrite_group group = {&old, 1, 0};
  const bool deletes = which == DELETE || which == UPDATE;
  const operation op = {.kind = kinds[which],
                        .changes = &change,
                        .change_count = which == METADATA,
                        .updated = &updated,
                        .updated_count = deletes,
                        .groups = &group,
                        .group_count = which == REWRITE,
                        .schema = table_lance_schema(s),
                        .preserves_nullability = which != PROJECT_NULLABILITY,
                        .reserved = 1,
                        .restored_version = 1};
  return table_commit(s, &op, NULL, NULL, NULL, err);
}

static void check(const struct theirs *theirs, enum ours which) {
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 2, true);
  table_snapshot *later = table_ref(s);
  append_rows(&later, 2, 1);
  table_unref(later);
  set_transaction(&t, theirs);
  glv_error err = {0};
  const glv_status status = commit_ours(&t, s, which, &err);
  const char expected = theirs->verdicts[which];
  if (status != (expected == '.' ? GLV_OK : GLV_E_CONFLICT)) {
    fail_msg("ours %d, theirs %s: %s %s", (int)which, theirs->name, error_name(status),
             err.message);
  }
  if (status != GLV_OK) {
    assert_int_equal(err.flags, expected == 'R' ? GLV_ERROR_MAY_RETRY : 0);
    assert_non_null(strstr(err.message, theirs->name));
    assert_non_null(
        strstr(err.message, expected == 'R' ? "Please retry." : "is incompatible with"));
  }
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_versions")), status == GLV_OK ? 4 : 3);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_transactions")),
                   status == GLV_OK ? 3 : 2);
  table_unref(s);
  test_env_close(&t);
}

static void test_matrix(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    assert_int_equal(strlen(all[i].verdicts), OURS);
    for (int which = 0; which < OURS; which++) {
      check(&all[i], (enum ours)which);
    }
  }
}

/* ---- filters of inserted keys ---- */

/* An Update that only says which keys it inserted; key < 0: nothing about them. */
static glv_status insert_key(const table_snapshot *s, int64_t key, int32_t field, glv_error *err) {
  bloom *b = calloc(1, sizeof *b);
  assert_non_null(b);
  bloom_add_u64(b, (uint64_t)key);
  const operation op = {.kind = OPERATION_UPDATE,
                        .filter_fields = key >= 0 ? &field : NULL,
                        .filter_field_count = key >= 0,
                        .filter_bloom = bloom_bytes(b)};
  const glv_status status = table_commit(s, &op, NULL, NULL, NULL, err);
  free(b);
  return status;
}

struct keys_case {
  const char *what;
  int64_t theirs;
  int32_t field;
  int64_t ours;
  bool is_ok;
};

static void test_keys(void **state) {
  (void)state;
  static const struct keys_case cases[] = {
      {"the same key", 7, 0, 7, false}, {"another key", 8, 0, 7, true},
      {"no filter", -1, 0, 7, false},   {"another field", 8, 1, 7, false},
      {"ours without", 7, 0, -1, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    test_env t;
    test_env_open_mem(&t);
    table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 2, true);
    OK(insert_key(s, cases[i].theirs, cases[i].field, err));
    glv_error err = {0};
    const glv_status status = insert_key(s, cases[i].ours, 0, &err);
    if (status != (cases[i].is_ok ? GLV_OK : GLV_E_CONFLICT)) {
      fail_msg("%s: %s %s", cases[i].what, error_name(status), err.message);
    }
    assert_int_equal(err.flags, cases[i].is_ok ? 0 : GLV_ERROR_MAY_RETRY);
    table_unref(s);
    test_env_close(&t);
  }
}

/* Filters of other sizes, exact hashes, and an append: ours cannot know. */
static void test_foreign_keys(void **state) {
  (void)state;
  /* inserted_rows{field_ids=[0], ...} of an Update */
  static const struct theirs foreign[] = {
      {"other parameters", BODY("\xe2\x06\x0c\x42\x0a\x0a\x01\x00\x1a\x05\x0a\x01\x00\x18\x05"),
       "R"},
      {"exact, another key", BODY("\xe2\x06\x09\x42\x07\x0a\x01\x00\x12\x02\x0a\x00"), "."},
      {"append", BODY("\xa2\x06\x00"), "R"},
  };
  for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
    test_env t;
    test_env_open_mem(&t);
    table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 2, true);
    table_snapshot *later = table_ref(s);
    append_rows(&later, 2, 1);
    table_unref(later);
    set_transaction(&t, &foreign[i]);
    glv_error err = {0};
    const glv_status status = insert_key(s, 7, 0, &err);
    if (status != (foreign[i].verdicts[0] == 'R' ? GLV_E_CONFLICT : GLV_OK)) {
      fail_msg("%s: %s %s", foreign[i].name, error_name(status), err.message);
    }
    table_unref(s);
    test_env_close(&t);
  }
}

/* A version that a cleanup removed between ours and the latest is skipped. */
static void test_gap(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 1, true);
  table_snapshot *later = table_ref(s);
  append_rows(&later, 1, 1);
  append_rows(&later, 2, 1);
  table_unref(later);
  remove_file(t.env, test_env_path(&t, "t/_versions"), V2);
  append_rows(&s, 3, 1);
  assert_int_equal(table_version(s), 4);
  EXPECT_IDS(s, NULL, 0, 1, 2, 3);
  arena a;
  arena_init(&a, t.env);
  version_entry *versions;
  size_t count;
  OK(table_versions(s, &a, &versions, &count, err));
  assert_int_equal(count, 3);
  assert_int_equal(versions[1].version, 3);
  assert_int_equal(versions[2].live_rows, 4);
  arena_dispose(&a);
  table_unref(s);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrix), cmocka_unit_test(test_keys),
                                     cmocka_unit_test(test_foreign_keys),
                                     cmocka_unit_test(test_gap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
