/* Cleanup: what stays (latest, tagged, kept, read by somebody), which files go, and every failure
 * on the way. */
#include <errno.h>
#include <pthread.h>

#include "base/bitmap.h"
#include "support/rng.h"
#include "table/cleanup.h"
#include "table/tags.h"
#include "tables.h"

/* Versions 1 to 5: rows 0..2, an append, a delete of row 0 with a deletion file, two appends. */
static table_snapshot *make_versions(const test_env *e, const char *name, bool stable) {
  table_snapshot *t = create_rows(e->env, test_env_path(e, name), 0, 3, stable);
  append_rows(&t, 3, 1);
  bitmap *b = bitmap_new();
  bitmap_add(b, 0);
  const deletion_update updated = {0, b};
  const operation op = {.kind = OPERATION_DELETE, .updated = &updated, .updated_count = 1};
  table_snapshot *next;
  OK(table_commit(t, &op, NULL, &next, NULL, err));
  bitmap_free(b);
  table_unref(t);
  append_rows(&next, 4, 1);
  append_rows(&next, 5, 1);
  return next;
}

static void expect_versions(const table_snapshot *t, const char *expected) {
  arena a;
  arena_init(&a, table_env(t));
  version_entry *entries;
  size_t count;
  char text[64] = "";
  OK(table_versions(t, &a, &entries, &count, err));
  for (size_t i = 0; i < count; i++) {
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%llu", i > 0 ? " " : "",
             (unsigned long long)entries[i].version);
  }
  assert_string_equal(text, expected);
  arena_dispose(&a);
}

static size_t files_in(const table_snapshot *t, const char *folder) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", table_path(t), folder);
  return count_files(table_env(t), path);
}

static void what_stays(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env e;
    test_env_open(&e, store);
    table_snapshot *t = make_versions(&e, "t", store == 0);
    cleanup_result r;
    const cleanup_options young = {.older_than_ns = INT64_MAX};
    OK(table_cleanup_versions(t, &young, &r, err));
    assert_int_equal(r.versions, 0);
    OK(table_tag_set(t, "one", 1, false, err));
    const uint64_t keep[] = {3};
    cleanup_options o = {.keep = keep, .keep_count = 1, .dry_run = true};
    cleanup_result plan;
    OK(table_cleanup_versions(t, &o, &plan, err));
    expect_versions(t, "1 2 3 4 5");
    o.dry_run = false;
    OK(table_cleanup_versions(t, &o, &r, err));
    expect_versions(t, "1 3 5");
    assert_int_equal(r.versions, 2);
    assert_int_equal(r.transaction_files, 2);
    assert_int_equal(r.data_files, 0);
    assert_memory_equal(&r, &plan, sizeof r);
    o.refuse_tagged = true;
    EXPECT(GLV_E_BAD_STATE, "the tag 'one'", table_cleanup_versions(t, &o, &r, err));
    o = (cleanup_options){.keep_from = 3};
    OK(table_tag_drop(t, "one", err));
    OK(table_cleanup_versions(t, &o, &r, err));
    expect_versions(t, "3 5");
    EXPECT_IDS(t, NULL, 1, 2, 3, 4, 5);
    table_unref(t);
    test_env_close(&e);
  }
}

/* Files that only removed versions refer to. */
static void files_go(void **state) {
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = make_versions(&e, "t", true);
  batch_reader rows = make_rows(e.env, 100, 2, 10);
  table_snapshot *next;
  OK(table_overwrite(t, &rows, NULL, &next, NULL, err));
  table_unref(t);
  write_file(e.env, test_env_path(&e, "t/data"), "young.lance", "x", 1);
  write_file(e.env, test_env_path(&e, "t/data"), "notes.txt", "x", 1);
  write_file(e.env, test_env_path(&e, "t/_fri"), "x.lance", "x", 1);
  assert_int_equal(files_in(next, "_deletions"), 1);
  cleanup_result r;
  OK(table_cleanup_versions(next, &(cleanup_options){0}, &r, err));
  assert_int_equal(r.versions, 5);
  assert_int_equal(r.data_files, 4);
  assert_int_equal(r.deletion_files, 1);
  assert_int_equal(r.transaction_files, 5);
  assert_int_equal(r.index_files, 0);
  assert_true(r.bytes > 1000);
  assert_int_equal(files_in(next, "data"), 3);
  assert_int_equal(files_in(next, "_deletions"), 0);
  assert_int_equal(files_in(next, "_transactions"), 1);
  assert_int_equal(files_in(next, "_fri"), 1);
  EXPECT_IDS(next, NULL, 100, 101);
  table_unref(next);
  test_env_close(&e);
}

/* A snapshot that somebody holds keeps its version, also while another environment's does not. */
static void readers(void **state) {
  (void)state;
  test_env e;
  test_env_open_local(&e);
  table_snapshot *t = make_versions(&e, "t", true);
  table_snapshot *old;
  OK(table_open_version(t, 2, &old, err));
  batch_reader reading;
  OK(table_scan(old, NULL, &reading, err));
  table_unref(old); /* the scan holds it on */
  cleanup_result r;
  const cleanup_options plan = {.dry_run = true};
  OK(table_cleanup_versions(t, &plan, &r, err));
  assert_int_equal(r.versions, 3);
  OK(table_cleanup_versions(t, &(cleanup_options){0}, &r, err));
  expect_versions(t, "2 5");
  int64_t ids[8];
  assert_int_equal(read_ids(&reading, ids, 8), 4);
  batch_reader_dispose(&reading);
  OK(table_cleanup_versions(t, &(cleanup_options){0}, &r, err));
  expect_versions(t, "5");
  EXPECT(GLV_E_VERSION_NOT_FOUND, "no version 2", table_open_version(t, 2, &old, err));
  table_unref(t);
  test_env_close(&e);
}

/* Manifests outside of the chain keep their files; what cannot be read ends the cleanup. */
static void detached_and_unreadable(void **state) {
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = make_versions(&e, "t", true);
  buf bytes;
  char path[200];
  char name[64];
  snprintf(name, sizeof name, "%020llu.manifest", (unsigned long long)(UINT64_MAX - 3));
  snprintf(path, sizeof path, "%s/_versions/%s", table_path(t), name);
  read_file(e.env, path, &bytes);
  const char *folder = test_env_path(&e, "t/_versions");
  write_file(e.env, folder, "d9223372036854775811.manifest", bytes.data, bytes.size);
  batch_reader rows = make_rows(e.env, 100, 2, 10);
  table_snapshot *next;
  OK(table_overwrite(t, &rows, NULL, &next, NULL, err));
  table_unref(t);
  cleanup_result r;
  write_file(e.env, folder, name, bytes.data, bytes.size - 1);
  EXPECT(GLV_E_CORRUPT, name, table_cleanup_versions(next, &(cleanup_options){0}, &r, err));
  assert_int_equal(files_in(next, "data"), 5);
  write_file(e.env, folder, name, bytes.data, bytes.size);
  const char *tags = test_env_path(&e, "t/_refs/tags");
  write_file(e.env, tags, "bad.json", "{", 1);
  EXPECT(GLV_E_CORRUPT, "bad", table_cleanup_versions(next, &(cleanup_options){0}, &r, err));
  remove_file(e.env, tags, "bad.json");
  const char *branches = test_env_path(&e, "t/_refs/branches");
  write_file(e.env, branches, "b.json", "{}", 2);
  EXPECT(GLV_E_CORRUPT, "branch", table_cleanup_versions(next, &(cleanup_options){0}, &r, err));
  write_file(e.env, branches, "b.json", "{\"parentVersion\": 2}", 20);
  OK(table_cleanup_versions(next, &(cleanup_options){0}, &r, err));
  expect_versions(next, "2 6");
  assert_int_equal(files_in(next, "data"), 3); /* version 3 had two files, and so has version 2 */
  buf_dispose(&bytes);
  table_unref(next);
  test_env_close(&e);
}

static bool clean_under_fire(uint64_t nth, bool memory, bool persistent) {
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = make_versions(&e, "t", true);
  batch_reader rows = make_rows(e.env, 100, 2, 10);
  table_snapshot *next;
  OK(table_overwrite(t, &rows, NULL, &next, NULL, err));
  table_unref(t);
  glv_error err = {0};
  cleanup_result r;
  if (memory) {
    alloc_fault_arm(&e.alloc, nth, persistent);
  } else {
    io_fault_arm(
        &e.io,
        (io_fault_plan){.mask = IO_MASK_ALL, .nth = nth, .number = EIO, .persistent = persistent});
  }
  const glv_status status = table_cleanup_versions(next, &(cleanup_options){0}, &r, &err);
  const bool fired = memory ? e.alloc.fired : e.io.fired;
  alloc_fault_arm(&e.alloc, 0, false);
  io_fault_arm(&e.io, (io_fault_plan){0});
  if (status != GLV_OK) {
    assert_true(fired);
    assert_int_equal(err.code, status);
  }
  arena a;
  arena_init(&a, e.env);
  version_entry *entries;
  size_t count;
  OK(table_versions(next, &a, &entries, &count, err));
  for (size_t i = 0; i < count; i++) { /* what is listed is whole */
    table_snapshot *old;
    int64_t ids[16];
    OK(table_open_version(next, entries[i].version, &old, err));
    assert_true(scan_ids(old, NULL, ids, 16) > 0);
    table_unref(old);
  }
  arena_dispose(&a);
  OK(table_cleanup_versions(next, &(cleanup_options){0}, &r, err));
  expect_versions(next, "6");
  EXPECT_IDS(next, NULL, 100, 101);
  table_unref(next);
  test_env_close(&e);
  return fired;
}

static void every_failure(void **state) {
  (void)state;
  for (int how = 0; how < 4; how++) {
    for (uint64_t nth = 1; clean_under_fire(nth, how % 2 == 0, how / 2 == 1); nth++) {
    }
  }
}

/* ---- readers and cleanups at once, in one environment ---- */

enum { RACE_VERSIONS = 60, RACE_READERS = 3 };

struct reader {
  const table_snapshot *table;
  atomic_bool *stop;
  uint64_t seed;
  unsigned read;
};

/* Opens versions at random: one that opens can be read to its end, whatever the cleanup does. */
static void *run_reader(void *context) {
  struct reader *r = context;
  rng random = rng_of(r->seed);
  while (!atomic_load(r->stop)) {
    uint64_t latest;
    table_snapshot *t;
    glv_error err = {0};
    int64_t ids[2 * RACE_VERSIONS];
    OK(table_latest_version(r->table, &latest, err));
    const uint64_t back = rng_below(&random, 4);
    const uint64_t version = latest > back ? latest - back : latest;
    const glv_status status = table_open_version(r->table, version, &t, &err);
    if (status == GLV_OK) {
      assert_int_equal(scan_ids(t, NULL, ids, 2 * RACE_VERSIONS), version);
      table_unref(t);
      r->read++;
    } else {
      assert_int_equal(status, GLV_E_VERSION_NOT_FOUND);
    }
  }
  return NULL;
}

static void readers_race(void **state) {
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 1, true);
  atomic_bool stop = false;
  struct reader readers[RACE_READERS];
  pthread_t threads[RACE_READERS];
  for (size_t i = 0; i < RACE_READERS; i++) {
    readers[i] = (struct reader){t, &stop, i + 1, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, run_reader, &readers[i]), 0);
  }
  table_snapshot *latest = table_ref(t);
  for (int i = 1; i < RACE_VERSIONS; i++) { /* version v has v rows, in v files */
    cleanup_result r;
    append_rows(&latest, i, 1);
    OK(table_cleanup_versions(latest, &(cleanup_options){0}, &r, err));
  }
  atomic_store(&stop, true);
  for (size_t i = 0; i < RACE_READERS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  }
  table_unref(latest);
  table_unref(t);
  test_env_close(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_stays),    cmocka_unit_test(files_go),
      cmocka_unit_test(readers),       cmocka_unit_test(detached_and_unreadable),
      cmocka_unit_test(every_failure), cmocka_unit_test(readers_race),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
