/* The conflict matrix: every cell of the rows of append, overwrite and metadata changes against
 * transactions made by hand (checklist 21), through the commit itself. */
#include "tables.h"

#define V2 "18446744073709551613.manifest"

/* Their operations as serialized bodies of a Transaction, by number. */
struct theirs {
  const char *name;
  const char *bytes; /* key and body of the operation */
  size_t size;
  const char *verdicts; /* for append, overwrite, metadata change: '.', 'R', 'X' */
};
#define BODY(text) (text), sizeof(text) - 1

static const struct theirs all[] = {
    {"Append", BODY("\xa2\x06\x00"), "..."},
    {"Delete", BODY("\xaa\x06\x00"), "..."},
    {"Update", BODY("\xe2\x06\x00"), "..."},
    {"Rewrite", BODY("\xc2\x06\x00"), "..."},
    {"Merge", BODY("\xca\x06\x02\x20\x01"), "..R"}, /* preserves nullability */
    {"Merge", BODY("\xca\x06\x00"), "R.R"},
    {"Project", BODY("\xea\x06\x02\x10\x01"), "..."},
    {"Project", BODY("\xea\x06\x00"), "R.."},
    {"Overwrite", BODY("\xb2\x06\x00"), "XRX"},
    {"CreateIndex", BODY("\xba\x06\x00"), "..."},
    {"UpdateConfig", BODY("\xf2\x06\x00"), "..."},
    {"UpdateConfig", BODY("\xf2\x06\x06\x32\x04\x0a\x02\x0a\x00"), "..."}, /* configuration */
    {"UpdateConfig", BODY("\xf2\x06\x06\x42\x04\x0a\x02\x0a\x00"), "..X"}, /* schema metadata */
    {"UpdateConfig", BODY("\xf2\x06\x04\x1a\x02\x0a\x00"), "..X"},         /* older encoding */
    {"UpdateConfig", BODY("\xf2\x06\x04\x0a\x02\x0a\x00"), "..."},
    {"DataReplacement", BODY("\xfa\x06\x00"), "..."},
    {"DataOverlay", BODY("\x9a\x07\x00"), "..."},
    {"ReserveFragments", BODY("\xda\x06\x02\x08\x03"), "..."},
    {"Restore", BODY("\xd2\x06\x00"), "X.X"},
    {"Clone", BODY("\x8a\x07\x00"), "..."},
    {"UpdateBases", BODY("\x92\x07\x00"), "..."},
    {"UpdateMemWalState", BODY("\x82\x07\x00"), "XX."},
    {"Unknown", BODY("\xb2\x09\x00"), "XXX"},
    {"Unknown", BODY(""), "XXX"},
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

static glv_status commit_ours(test_env *t, const table_snapshot *s, int which, glv_error *err) {
  if (which == 2) {
    const metadata_change change = {STR("k"), STR("v")};
    const operation op = {.kind = OPERATION_UPDATE_CONFIG, .changes = &change, .change_count = 1};
    return table_commit(s, &op, NULL, NULL, NULL, err);
  }
  batch_reader r = make_rows(t->env, 9, 1, 1);
  return which == 0 ? table_append(s, &r, NULL, NULL, NULL, err)
                    : table_overwrite(s, &r, NULL, NULL, NULL, err);
}

static void check(const struct theirs *theirs, int which) {
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
    fail_msg("ours %d, theirs %s: %s %s", which, theirs->name, error_name(status), err.message);
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
    for (int which = 0; which < 3; which++) {
      check(&all[i], which);
    }
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrix), cmocka_unit_test(test_gap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
