/* Tags: the stored form, what may be a name, who wins, and every failure on the way. */
#include <errno.h>

#include "table/tags.h"
#include "tables.h"

static void expect_tags(const table_snapshot *t, const char *expected) {
  arena a;
  arena_init(&a, table_env(t));
  table_tag *tags;
  size_t count;
  char text[256] = "";
  OK(table_tags(t, &a, &tags, &count, err));
  for (size_t i = 0; i < count; i++) {
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%s=%s%s%llu", i > 0 ? " " : "", tags[i].name,
             tags[i].branch != NULL ? tags[i].branch : "", tags[i].branch != NULL ? ":" : "",
             (unsigned long long)tags[i].version);
  }
  assert_string_equal(text, expected);
  arena_dispose(&a);
}

static char *tag_folder(const test_env *t) {
  static char folder[100];
  snprintf(folder, sizeof folder, "%s/_refs/tags", test_env_path(t, "t"));
  return folder;
}

static void set_move_drop(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env e;
    test_env_open(&e, store);
    table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 3, true);
    expect_tags(t, "");
    append_rows(&t, 3, 1);
    OK(table_tag_set(t, "v1.0-x_y", 1, false, err));
    OK(table_tag_set(t, "b", 2, true, err)); /* moving what is not there makes it */
    expect_tags(t, "b=2 v1.0-x_y=1");
    EXPECT(GLV_E_TAG_EXISTS, "already has a tag 'b'", table_tag_set(t, "b", 1, false, err));
    EXPECT(GLV_E_VERSION_NOT_FOUND, "9", table_tag_set(t, "new", 9, false, err));
    EXPECT(GLV_E_VERSION_NOT_FOUND, "9", table_tag_set(t, "b", 9, true, err));
    expect_tags(t, "b=2 v1.0-x_y=1");
    OK(table_tag_set(t, "b", 1, true, err));
    expect_tags(t, "b=1 v1.0-x_y=1");
    assert_int_equal(count_files(e.env, tag_folder(&e)), 2);
    OK(table_tag_drop(t, "b", err));
    EXPECT(GLV_E_TAG_NOT_FOUND, "no tag 'b'", table_tag_drop(t, "b", err));
    EXPECT(GLV_E_TAG_NOT_FOUND, "no tag '../x'", table_tag_drop(t, "../x", err));
    expect_tags(t, "v1.0-x_y=1");
    table_unref(t);
    test_env_close(&e);
  }
}

static void names(void **state) {
  static const char *const bad[] = {"",   ".a",  "a.",       "a..b", "a.lock", "a/b",
                                    "..", "a b", "\xc3\xa9", "a#b",  "a\nb"};
  char longest[202];
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 3, true);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    EXPECT(GLV_E_INVALID_INPUT, "cannot name a tag", table_tag_set(t, bad[i], 1, false, err));
  }
  memset(longest, 'a', sizeof longest);
  longest[201] = '\0';
  EXPECT(GLV_E_INVALID_INPUT, "too long", table_tag_set(t, longest, 1, false, err));
  longest[200] = '\0';
  OK(table_tag_set(t, longest, 1, false, err));
  OK(table_tag_drop(t, longest, err));
  expect_tags(t, "");
  table_unref(t);
  test_env_close(&e);
}

/* A tag as pylance wrote it is read; moving it keeps when it was made, and its metadata. */
static void stored_form(void **state) {
  static const char old[] =
      "{\n  \"branch\": null,\n  \"version\": 1,\n  \"createdAt\": \"2026-11-30T20:20:11.736Z\",\n"
      "  \"updatedAt\": \"2026-11-30T20:20:11.736199804Z\",\n  \"manifestSize\": 588,\n"
      "  \"metadata\": {\n    \"who\": \"me\"\n  }\n}";
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 3, true);
  write_file(e.env, tag_folder(&e), "old.json", old, strlen(old));
  append_rows(&t, 3, 1);
  arena a;
  arena_init(&a, e.env);
  table_tag tag;
  OK(table_tag_find(t, "old", &a, &tag, err));
  assert_int_equal(tag.version, 1);
  assert_true(tag.has_created && tag.has_updated);
  assert_int_equal(tag.created_ns, INT64_C(1796070011736000000));
  assert_int_equal(tag.updated_ns, INT64_C(1796070011736199804));
  OK(table_tag_set(t, "old", 2, true, err));
  buf text;
  char path[160];
  snprintf(path, sizeof path, "%s/old.json", tag_folder(&e));
  read_file(e.env, path, &text);
  OK(buf_append(&text, "", 1, err));
  assert_non_null(strstr(text.data, "{\n  \"branch\": null,\n  \"version\": 2,\n  \"createdAt\": "
                                    "\"2026-11-30T20:20:11.736Z\",\n  \"updatedAt\": \""));
  assert_non_null(strstr(text.data, "\"metadata\": {\n    \"who\": \"me\"\n  }\n}"));
  buf_dispose(&text);
  arena_dispose(&a);
  table_unref(t);
  test_env_close(&e);
}

static void damaged_and_foreign(void **state) {
  static const char *const bad[] = {
      "", "{", "[]", "{}", "{\"version\": 0}", "{\"version\": \"1\"}"};
  static const char minimal[] = "{\"branch\":\"feat/x\",\"version\":7,\"manifestSize\":1}";
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 3, true);
  write_file(e.env, tag_folder(&e), "m.json", minimal, strlen(minimal));
  write_file(e.env, tag_folder(&e), "n.json#17", "{", 1);
  expect_tags(t, "m=feat/x:7");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    write_file(e.env, tag_folder(&e), "bad.json", bad[i], strlen(bad[i]));
    arena a;
    arena_init(&a, e.env);
    table_tag *tags;
    size_t count;
    EXPECT(GLV_E_CORRUPT, "bad.json", table_tags(t, &a, &tags, &count, err));
    EXPECT(GLV_E_CORRUPT, "bad.json",
           table_tag_find(t, "bad", &a, tags = arena_alloc(&a, 999), err));
    arena_dispose(&a);
  }
  table_unref(t);
  test_env_close(&e);
}

/* A table that was dropped and made again gets no tag through an old handle. */
static void dropped(void **state) {
  (void)state;
  test_env e;
  test_env_open_local(&e);
  const char *path = test_env_path(&e, "t");
  table_snapshot *t = create_rows(e.env, path, 0, 3, true);
  OK(io_remove_tree(e.env, path, err));
  EXPECT(GLV_E_TABLE_NOT_FOUND, "dropped", table_tag_set(t, "x", 1, false, err));
  table_snapshot *again = create_rows(e.env, path, 0, 5, true);
  EXPECT(GLV_E_TABLE_NOT_FOUND, "dropped", table_tag_set(t, "x", 1, false, err));
  EXPECT(GLV_E_TABLE_NOT_FOUND, "dropped", table_tag_drop(t, "x", err));
  assert_int_equal(count_files(e.env, tag_folder(&e)), 0);
  table_unref(again);
  table_unref(t);
  test_env_close(&e);
}

/* One call of each kind, on a table with the tag "old" at version 1. */
static glv_status act(const table_snapshot *t, int action, glv_error *err) {
  arena a;
  arena_init(&a, table_env(t));
  table_tag *tags;
  size_t count;
  const glv_status status = action == 0   ? table_tag_set(t, "new", 1, false, err)
                            : action == 1 ? table_tag_set(t, "old", 2, true, err)
                            : action == 2 ? table_tag_drop(t, "old", err)
                                          : table_tags(t, &a, &tags, &count, err);
  arena_dispose(&a);
  return status;
}

static bool act_under_fire(int action, uint64_t nth, bool memory, bool persistent) {
  static const char *const after[] = {"new=1 old=1", "old=2", "", "old=1"};
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 3, true);
  append_rows(&t, 3, 1);
  OK(table_tag_set(t, "old", 1, false, err));
  glv_error err = {0};
  if (memory) {
    alloc_fault_arm(&e.alloc, nth, persistent);
  } else {
    io_fault_arm(
        &e.io,
        (io_fault_plan){.mask = IO_MASK_ALL, .nth = nth, .number = EIO, .persistent = persistent});
  }
  const glv_status status = act(t, action, &err);
  const bool fired = memory ? e.alloc.fired : e.io.fired;
  alloc_fault_arm(&e.alloc, 0, false);
  io_fault_arm(&e.io, (io_fault_plan){0});
  if (status != GLV_OK) {
    assert_true(fired);
    assert_int_equal(err.code, status);
    if (!persistent && !(action == 1 && !memory)) {
      assert_true(count_files(e.env, tag_folder(&e)) <= 2); /* nothing half-written is left */
    }
    glv_error again = {0};
    const glv_status second = act(t, action, &again);
    assert_true(second == GLV_OK || second == GLV_E_TAG_EXISTS || second == GLV_E_TAG_NOT_FOUND);
  }
  expect_tags(t, after[action]);
  table_unref(t);
  test_env_close(&e);
  return fired;
}

static void every_failure(void **state) {
  (void)state;
  for (int action = 0; action < 4; action++) {
    for (int how = 0; how < 4; how++) {
      for (uint64_t nth = 1; act_under_fire(action, nth, how % 2 == 0, how / 2 == 1); nth++) {
      }
    }
  }
}

static void branch_paths(void **state) {
  static const char *const bad[] = {"", "..", "a/../b", "/a", "a/", "a//b", "a b", "a%2Fb"};
  test_env *e = *state;
  arena a;
  arena_init(&a, e->env);
  char *path;
  OK(table_branch_path(&a, "/d/t.lance", "feat/x", &path, err));
  assert_string_equal(path, "/d/t.lance/tree/feat/x");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    EXPECT(GLV_E_INVALID_INPUT, "cannot name a branch",
           table_branch_path(&a, "/d", bad[i], &path, err));
  }
  arena_dispose(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(set_move_drop),
      cmocka_unit_test(names),
      cmocka_unit_test(stored_form),
      cmocka_unit_test(damaged_and_foreign),
      cmocka_unit_test(dropped),
      cmocka_unit_test(every_failure),
      cmocka_unit_test_setup_teardown(branch_paths, test_env_setup, test_env_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
