/* Compaction: which fragments are joined, who the rows are afterwards, what others commit
 * meanwhile. */
#include <stdlib.h>

#include "base/bitmap.h"
#include "support/rng.h"
#include "table/compact_private.h"
#include "table/restore.h"
#include "tables.h"

enum { MOST = 4096 };

/* Replaces *t by the version in which the rows at these offsets of a fragment are deleted. */
static void delete_rows(table_snapshot **t, uint64_t fragment_id, const uint32_t *offsets,
                        size_t count) {
  bitmap *b = bitmap_new();
  bitmap_add_many(b, offsets, count);
  const deletion_update updated = {fragment_id, b};
  const operation op = {.kind = OPERATION_DELETE, .updated = &updated, .updated_count = 1};
  table_snapshot *next;
  OK(table_commit(*t, &op, NULL, &next, NULL, err));
  bitmap_free(b);
  table_unref(*t);
  *t = next;
}
#define DELETE(t, id, ...)                                                                         \
  delete_rows((t), (id), (const uint32_t[]){__VA_ARGS__},                                          \
              sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Everything about the live rows: value, row id, versions. */
struct rows {
  size_t count;
  struct {
    int64_t id;
    uint64_t row_id;
    uint64_t created;
    uint64_t updated;
  } list[MOST];
};

static int compare_rows(const void *a, const void *b) {
  return memcmp(a, b, 8); /* ids are small and not negative: any fixed order will do */
}

static void read_rows(const table_snapshot *t, bool with_identity, struct rows *ret) {
  const scan_column id = {.name = STR("id")};
  const scan_options o = {.columns = &id,
                          .column_count = 1,
                          .with_row_id = with_identity,
                          .with_created_at = with_identity,
                          .with_last_updated_at = with_identity};
  batch_reader r;
  memset(ret, 0, sizeof *ret);
  OK(table_scan(t, &o, &r, err));
  for (;;) {
    batch b = {0};
    bool at_end = false;
    OK(r.next(r.state, &b, &at_end, err));
    if (at_end) {
      break;
    }
    for (size_t i = 0; i < b.length; i++) {
      assert_true(ret->count < MOST);
      ret->list[ret->count].id = ARRAY_VALUES(&b.columns[0], int64_t)[i];
      if (with_identity) {
        ret->list[ret->count].row_id = ARRAY_VALUES(&b.columns[1], uint64_t)[i];
        ret->list[ret->count].created = ARRAY_VALUES(&b.columns[2], uint64_t)[i];
        ret->list[ret->count].updated = ARRAY_VALUES(&b.columns[3], uint64_t)[i];
      }
      ret->count++;
    }
    batch_dispose(&b);
  }
  batch_reader_dispose(&r);
  qsort(ret->list, ret->count, sizeof ret->list[0], compare_rows);
}

static void expect_fragments(const table_snapshot *t, const char *expected) {
  char text[512] = "";
  size_t count;
  const fragment *f = table_fragments(t, &count);
  for (size_t i = 0; i < count; i++) {
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%llu:%llu", i > 0 ? " " : "",
             (unsigned long long)f[i].id, (unsigned long long)f[i].physical_rows);
    assert_int_equal(f[i].has_row_ids, table_has_stable_row_ids(t));
  }
  assert_string_equal(text, expected);
}

static void compact(table_snapshot **t, uint64_t target, compact_result *ret) {
  const compact_options o = {.target_rows = target};
  table_snapshot *next;
  compact_result ignored;
  OK(table_compact(*t, &o, &next, ret != NULL ? ret : &ignored, err));
  table_unref(*t);
  *t = next;
}

/* Ids, versions and values are those of before; no deletion file is left. */
static void rows_stay(void **state) {
  static struct rows before;
  static struct rows after;
  (void)state;
  for (int how = 0; how < 4; how++) {
    const bool stable = how % 2 == 0;
    test_env e;
    test_env_open(&e, how / 2);
    table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 100, stable);
    append_rows(&t, 100, 50);
    append_rows(&t, 150, 1);
    DELETE(&t, 0, 0, 1, 2, 50, 99);
    DELETE(&t, 1, 49);
    append_rows(&t, 151, 10);
    assert_int_equal(table_reader_flags(t) & TABLE_FLAG_DELETIONS, TABLE_FLAG_DELETIONS);
    const uint64_t version = table_version(t);
    read_rows(t, stable, &before);
    compact_result r;
    compact(&t, 0, &r);
    expect_fragments(t, "4:155");
    assert_int_equal(table_version(t), version + 2);
    const uint64_t flags = stable ? TABLE_FLAG_STABLE_ROW_IDS : 0; /* that of deletions is gone */
    assert_int_equal(table_reader_flags(t), flags);
    assert_int_equal(table_writer_flags(t), flags);
    assert_int_equal(r.fragments_removed, 4);
    assert_int_equal(r.fragments_added, 1);
    assert_int_equal(r.files_removed, 4);
    assert_int_equal(r.rows, 155);
    assert_int_equal(r.attempts, 2);
    read_rows(t, stable, &after);
    assert_memory_equal(&before, &after, sizeof before);
    compact(&t, 0, &r); /* nothing to do makes no version */
    assert_int_equal(table_version(t), version + 2);
    assert_int_equal(r.attempts, 0);
    append_rows(&t, 500, 5); /* ids go on counting */
    expect_fragments(t, "4:155 5:5");
    if (stable) {
      read_rows(t, true, &after);
      assert_int_equal(after.count, 160);
      assert_int_equal(table_next_row_id(t), 166);
    }
    table_unref(t);
    test_env_close(&e);
  }
}

static void groups(void **state) {
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 10, true);
  for (int i = 1; i < 6; i++) {
    append_rows(&t, 10 * i, 10);
  }
  compact(&t, 10, NULL); /* all are large enough */
  expect_fragments(t, "0:10 1:10 2:10 3:10 4:10 5:10");
  DELETE(&t, 2, 0); /* one in ten is not more than a tenth */
  compact(&t, 10, NULL);
  expect_fragments(t, "0:10 1:10 2:10 3:10 4:10 5:10");
  DELETE(&t, 2, 5); /* by itself */
  compact(&t, 10, NULL);
  expect_fragments(t, "0:10 1:10 3:10 4:10 5:10 6:8");
  compact(&t, 10, NULL); /* small, but alone between large ones */
  expect_fragments(t, "0:10 1:10 3:10 4:10 5:10 6:8");
  compact(&t, 11, NULL); /* bins of 20 rows and more are split at 11: after two fragments each */
  expect_fragments(t, "7:20 8:20 9:18");
  compact(&t, 1000, NULL);
  expect_fragments(t, "10:58");
  compact(&t, 5, NULL);
  expect_fragments(t, "10:58");
  int64_t ids[64];
  assert_int_equal(scan_ids(t, NULL, ids, 64), 58);
  table_unref(t);
  test_env_close(&e);
}

/* A bitmap over these fragments, as an index in the manifest that the plan looks at. */
static void indexes_divide(void **state) {
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 10, true);
  for (int i = 1; i < 5; i++) {
    append_rows(&t, 10 * i, 10);
  }
  CLEANUP(bitmap_cleanup) bitmap *covered = bitmap_new();
  bitmap_add_range(covered, 0, 3);
  buf bytes;
  buf_init(&bytes, e.env, SIZE_MAX);
  OK(bitmap_write(covered, true, &bytes, err));
  Lance__Table__IndexMetadata m = LANCE__TABLE__INDEX_METADATA__INIT;
  Lance__Table__IndexMetadata unknown = LANCE__TABLE__INDEX_METADATA__INIT;
  Lance__Table__IndexMetadata *list[] = {&m, &unknown};
  m.name = (char *)(uintptr_t) "i";
  unknown.name = (char *)(uintptr_t) "j";
  m.fragment_bitmap = binary_of_str(buf_str(&bytes));
  t->index_messages = list;
  t->index_count = 2;
  arena a;
  arena_init(&a, e.env);
  compact_group *found;
  size_t count;
  const compact_options o = {.target_rows = 1000, .deletion_threshold = 0.1};
  OK(compact_plan(t, &o, &a, &found, &count, err));
  assert_int_equal(count, 2);
  assert_int_equal(found[0].count, 3);
  assert_int_equal(found[1].count, 2);
  assert_int_equal(found[1].fragments[0]->id, 3);
  assert_int_equal(found[1].live_rows, 20);
  arena_dispose(&a);
  t->index_count = 0;
  buf_dispose(&bytes);
  table_unref(t);
  test_env_close(&e);
}

/* Another writer was faster: appends are no matter, a delete in a group makes it plan again. */
static void others_commit(void **state) {
  static struct rows before;
  static struct rows after;
  (void)state;
  for (int how = 0; how < 3; how++) {
    test_env e;
    test_env_open_mem(&e);
    table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 10, true);
    append_rows(&t, 10, 10);
    table_snapshot *other = table_ref(t);
    if (how == 0) {
      append_rows(&other, 20, 10);
    } else if (how == 1) {
      DELETE(&other, 1, 3);
    } else {
      compact(&other, 0, NULL);
    }
    read_rows(other, true, &before);
    compact_result r;
    compact(&t, 0, &r);
    read_rows(t, true, &after);
    assert_memory_equal(&before, &after, sizeof before);
    expect_fragments(t, how == 0 ? "2:10 3:20" : how == 1 ? "3:19" : "2:20");
    assert_int_equal(r.fragments_added, how == 2 ? 0 : 1);
    table_unref(other);
    table_unref(t);
    test_env_close(&e);
  }
}

/* The commit that deleted a row meanwhile has been cleaned up already: nobody can tell what it did,
 * so the compaction is planned again, and a delete is refused. */
static void gone_commits(void **state) {
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 10, true);
  append_rows(&t, 10, 10);
  table_snapshot *other = table_ref(t);
  DELETE(&other, 1, 3);
  append_rows(&other, 20, 1);
  char name[64];
  snprintf(name, sizeof name, "%020llu.manifest", (unsigned long long)(UINT64_MAX - 3));
  remove_file(e.env, test_env_path(&e, "t/_versions"), name);
  bitmap *b = bitmap_new();
  bitmap_add(b, 5);
  const deletion_update updated = {1, b};
  const operation op = {.kind = OPERATION_DELETE, .updated = &updated, .updated_count = 1};
  EXPECT(GLV_E_CONFLICT, "version 3 was removed by a cleanup",
         table_commit(t, &op, NULL, NULL, NULL, err));
  bitmap_free(b);
  compact(&t, 0, NULL);
  int64_t ids[32];
  assert_int_equal(scan_ids(t, NULL, ids, 32), 20);
  for (size_t i = 0; i < 20; i++) {
    assert_int_not_equal(ids[i], 13);
  }
  table_unref(other);
  table_unref(t);
  test_env_close(&e);
}

static void restore(void **state) {
  (void)state;
  test_env e;
  test_env_open_mem(&e);
  table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 3, true);
  append_rows(&t, 3, 2);
  compact(&t, 0, NULL);
  table_snapshot *back;
  OK(table_restore(t, 1, NULL, &back, err));
  assert_int_equal(table_version(back), 5);
  EXPECT_IDS(back, NULL, 0, 1, 2);
  append_rows(&back, 7, 1); /* counters went on */
  expect_fragments(back, "0:3 3:1");
  assert_int_equal(table_next_row_id(back), 6);
  table_snapshot *same;
  OK(table_restore(back, 6, NULL, &same, err));
  assert_int_equal(table_version(same), 6);
  EXPECT(GLV_E_VERSION_NOT_FOUND, "9", table_restore(back, 9, NULL, &same, err));
  table_unref(same);
  table_unref(back);
  table_unref(t);
  test_env_close(&e);
}

/* Random histories: compaction with random targets anywhere never changes a row. */
static void random_histories(void **state) {
  static struct rows before;
  static struct rows after;
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    rng random = rng_of(seed);
    test_env e;
    test_env_open_mem(&e);
    const bool stable = seed % 4 != 0;
    table_snapshot *t = create_rows(e.env, test_env_path(&e, "t"), 0, 20, stable);
    int64_t next = 20;
    for (int step = 0; step < 12; step++) {
      size_t count;
      const fragment *f = table_fragments(t, &count);
      const fragment *chosen = count > 0 ? &f[rng_below(&random, count)] : NULL;
      const uint64_t kind = rng_below(&random, 3);
      read_rows(t, stable, &before);
      if (kind == 0) {
        const size_t rows = 1 + rng_below(&random, 60);
        append_rows(&t, next, rows);
        next += (int64_t)rows;
      } else if (kind == 1 && chosen != NULL) {
        uint32_t offsets[8];
        for (size_t i = 0; i < 8; i++) {
          offsets[i] = (uint32_t)rng_below(&random, chosen->physical_rows);
        }
        delete_rows(&t, chosen->id, offsets, 8);
      } else {
        compact(&t, 1 + rng_below(&random, 100), NULL);
        read_rows(t, stable, &after);
        assert_memory_equal(&before, &after, sizeof before);
      }
    }
    table_unref(t);
    test_env_close(&e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_stay),        cmocka_unit_test(groups),
      cmocka_unit_test(indexes_divide),   cmocka_unit_test(others_commit),
      cmocka_unit_test(gone_commits),     cmocka_unit_test(restore),
      cmocka_unit_test(random_histories),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
