/* The operations that change rows, columns and files, through the commit itself: row ids and
 * versions of rows that move, deletions joined with those of others, column files, compaction with
 * reserved ids, restore, metadata. */
#include "table/deletion.h"
#include "table/transaction.h"
#include "tables.h"

/* Rows 0..3 and 4..7 in fragments 0 and 1, version 2. */
static table_snapshot *open_two(test_env *t, bool stable) {
  test_env_open_mem(t);
  table_snapshot *s = create_rows(t->env, test_env_path(t, "t"), 0, 4, stable);
  append_rows(&s, 4, 4);
  return s;
}

static bitmap *rows_of(uint32_t first, uint32_t end) {
  bitmap *b = bitmap_new();
  bitmap_add_range(b, first, end);
  return b;
}

static staged *stage(const table_snapshot *t, int64_t first, size_t count) {
  batch_reader r = make_rows(table_env(t), first, count, 100);
  staged *rows;
  OK(table_stage(t, &r, NULL, &rows, err));
  return rows;
}

/* Commits and moves *t to the new version. */
static void commit(table_snapshot **t, const operation *op) {
  table_snapshot *next;
  OK(table_commit(*t, op, NULL, &next, NULL, err));
  table_unref(*t);
  *t = next;
}

static void delete_rows(table_snapshot **t, uint64_t id, uint32_t first, uint32_t end) {
  bitmap *b = rows_of(first, end);
  const deletion_update d = {id, b};
  const operation op = {
      .kind = OPERATION_DELETE, .updated = &d, .updated_count = 1, .predicate = STR("id < 3")};
  commit(t, &op);
  bitmap_free(b);
}

#define NUMBERS(t, name, ...)                                                                      \
  do {                                                                                             \
    uint64_t found[64];                                                                            \
    const uint64_t wanted[] = {__VA_ARGS__};                                                       \
    assert_int_equal(scan_numbers((t), (name), found, 64), sizeof wanted / sizeof wanted[0]);      \
    assert_memory_equal(found, wanted, sizeof wanted);                                             \
  } while (0)

static void close_two(test_env *t, table_snapshot *s) {
  table_unref(s);
  test_env_close(t);
}

/* ---- delete ---- */

static void test_delete(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_two(&t, true);
  delete_rows(&s, 0, 1, 3);
  EXPECT_IDS(s, NULL, 0, 3, 4, 5, 6, 7);
  arena a;
  arena_init(&a, t.env);
  transaction *x;
  OK(transaction_read(s, 3, &a, &x, err));
  assert_int_equal(x->kind, OPERATION_DELETE);
  assert_int_equal(x->updated_fragment_count, 1);
  arena_dispose(&a);
  assert_int_equal(table_reader_flags(s) & TABLE_FLAG_DELETIONS, TABLE_FLAG_DELETIONS);
  delete_rows(&s, 0, 0, 1);
  EXPECT_IDS(s, NULL, 3, 4, 5, 6, 7);
  assert_int_equal(table_fragment(s, 0)->deletions.count, 3);
  delete_rows(&s, 0, 2, 4); /* row 2 is gone already; with row 3 the fragment is empty */
  assert_null(table_fragment(s, 0));
  EXPECT_IDS(s, NULL, 4, 5, 6, 7);
  assert_int_equal(table_reader_flags(s) & TABLE_FLAG_DELETIONS, 0);
  const uint64_t all = 1;
  const operation op = {.kind = OPERATION_DELETE, .removed = &all, .removed_count = 1};
  commit(&s, &op);
  assert_int_equal(table_live_rows(s), 0);
  close_two(&t, s);
}

/* Two handles of one version delete: other rows of the same fragment, the last rows, the same row.
 */
static void test_joined_deletions(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_two(&t, true);
  table_snapshot *other = table_ref(s);
  delete_rows(&s, 0, 0, 1);
  table_snapshot *third = table_ref(other);
  delete_rows(&other, 0, 2, 3);
  assert_int_equal(table_version(other), 4);
  EXPECT_IDS(other, NULL, 1, 3, 4, 5, 6, 7);
  const fragment *f = table_fragment(other, 0);
  assert_int_equal(f->deletions.read_version, 3);
  assert_int_equal(f->deletions.count, 2);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_deletions")), 2);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_transactions")), 4);
  arena a;
  arena_init(&a, t.env);
  transaction *x;
  OK(transaction_read(other, 4, &a, &x, err));
  assert_int_equal(x->read_version, 3);
  arena_dispose(&a);
  /* The same row. */
  bitmap *b = rows_of(2, 4);
  const deletion_update d = {0, b};
  const operation op = {.kind = OPERATION_DELETE, .updated = &d, .updated_count = 1};
  glv_error err = {0};
  assert_int_equal(table_commit(third, &op, NULL, NULL, NULL, &err), GLV_E_CONFLICT);
  assert_int_equal(err.flags, GLV_ERROR_MAY_RETRY);
  assert_non_null(strstr(err.message, "both modified row 2 of fragment 0"));
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_deletions")), 2);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_transactions")), 4);
  bitmap_free(b);
  /* What is left of the fragment. */
  b = rows_of(1, 2);
  bitmap_add(b, 3);
  const deletion_update rest = {0, b};
  const operation last = {.kind = OPERATION_DELETE, .updated = &rest, .updated_count = 1};
  commit(&third, &last);
  assert_null(table_fragment(third, 0));
  EXPECT_IDS(third, NULL, 4, 5, 6, 7);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_deletions")), 2);
  bitmap_free(b);
  table_unref(third);
  table_unref(other);
  close_two(&t, s);
}

/* A fragment that goes whole against rows deleted in it, both ways round. */
static void test_whole_against_rows(void **state) {
  (void)state;
  for (int order = 0; order < 2; order++) {
    test_env t;
    table_snapshot *s = open_two(&t, true);
    table_snapshot *later = table_ref(s);
    const uint64_t id = 0;
    bitmap *b = rows_of(0, 1);
    const deletion_update d = {0, b};
    const operation rows = {.kind = OPERATION_DELETE, .updated = &d, .updated_count = 1};
    const operation whole = {.kind = OPERATION_DELETE, .removed = &id, .removed_count = 1};
    commit(&later, order == 0 ? &rows : &whole);
    glv_error err = {0};
    assert_int_equal(table_commit(s, order == 0 ? &whole : &rows, NULL, NULL, NULL, &err),
                     GLV_E_CONFLICT);
    assert_int_equal(err.flags, GLV_ERROR_MAY_RETRY);
    bitmap_free(b);
    table_unref(later);
    close_two(&t, s);
  }
}

/* ---- update ---- */

static void test_update(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_two(&t, true);
  delete_rows(&s, 1, 3, 4); /* version 3, so that created_at of rows differs from this */
  table_snapshot *stale = table_ref(s);
  append_rows(&s, 20, 1);
  /* Rows 5 and 1 move, and a new one comes, in files of two rows. */
  batch_reader r = make_rows(t.env, 100, 3, 100);
  const stage_options two = {.file_rows = 2};
  staged *rows;
  OK(table_stage(stale, &r, &two, &rows, err));
  bitmap *first = rows_of(1, 2);
  bitmap *second = rows_of(1, 2);
  const deletion_update updated[] = {{0, first}, {1, second}};
  const uint64_t ids[] = {5, 1};
  const version_run created[] = {{1, 2}, {1, 1}};
  const row_origin origin = {ids, 2, created, 2, NULL, 0};
  const uint32_t set[] = {1};
  operation op = {.kind = OPERATION_UPDATE,
                  .rows = rows,
                  .origin = &origin,
                  .updated = updated,
                  .updated_count = 2,
                  .fields_set = set,
                  .fields_set_count = 1};
  commit(&stale, &op);
  staged_free(rows);
  assert_int_equal(table_version(stale), 5);
  EXPECT_IDS(stale, NULL, 0, 2, 3, 4, 6, 20, 100, 101, 102);
  NUMBERS(stale, "_rowid", 0, 2, 3, 4, 6, 8, 5, 1, 9);
  NUMBERS(stale, "_row_created_at_version", 1, 1, 1, 2, 2, 4, 2, 1, 5);
  NUMBERS(stale, "_row_last_updated_at_version", 1, 1, 1, 2, 2, 4, 5, 5, 5);
  assert_int_equal(table_next_row_id(stale), 10);
  /* A table whose rows have no ids of their own. */
  bitmap_free(first);
  bitmap_free(second);
  table_unref(stale);
  close_two(&t, s);
  s = open_two(&t, false);
  rows = stage(s, 100, 2);
  op.rows = rows;
  EXPECT(GLV_E_INVALID_INPUT, "identity", table_commit(s, &op, NULL, NULL, NULL, err));
  staged_discard(rows);
  close_two(&t, s);
}

/* ---- columns ---- */

/* The schema of s with one more int64 column, field 2, and that column alone. */
static void more_columns(const table_snapshot *s, arena *a, lance_schema **all,
                         lance_schema **added) {
  const field extra = {.name = "extra", .type = type_simple(TYPE_INT64), .nullable = true};
  int32_t next_id = 2;
  OK(lance_schema_from_arrow(a, &extra, 1, (metadata){0}, &next_id, added, err));
  lance_field *fields = ARENA_ARRAY(a, lance_field, 3);
  fields[0] = table_lance_schema(s)->fields[0];
  fields[1] = table_lance_schema(s)->fields[1];
  fields[2] = (*added)->fields[0];
  lance_schema *joined = ARENA_NEW(a, lance_schema);
  *joined = (lance_schema){.fields = fields, .field_count = 3};
  *all = joined;
}

/* `count` numbers from 1000 on as the column extra. */
static batch_reader make_extra(glv_env *env, const lance_schema *added, size_t count) {
  schema *s;
  OK(schema_new(env, &added->fields[0].arrow, 1, (metadata){0}, &s, err));
  builder values;
  builder_init(&values, env, s->fields[0].type);
  for (size_t i = 0; i < count; i++) {
    const int64_t value = 1000 + (int64_t)i;
    OK(builder_append_fixed(&values, &value, err));
  }
  batch b;
  OK(batch_new(env, s, count, 1, &b, err));
  OK(builder_finish(&values, &b.columns[0], err));
  builder_dispose(&values);
  batch_reader r;
  OK(batch_reader_of(env, s, &b, 1, &r, err));
  batch_dispose(&b);
  schema_unref(s);
  return r;
}

static void test_columns(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_two(&t, true);
  delete_rows(&s, 0, 1, 2);
  arena a;
  arena_init(&a, t.env);
  lance_schema *all;
  lance_schema *added;
  more_columns(s, &a, &all, &added);
  batch_reader r = make_extra(t.env, added, 4);
  staged *rows;
  OK(table_stage_as(s, added, &r, NULL, &rows, err));
  const uint64_t target = 1;
  operation op = {.kind = OPERATION_MERGE,
                  .schema = all,
                  .preserves_nullability = true,
                  .rows = rows,
                  .targets = &target};
  table_snapshot *before = table_ref(s);
  commit(&s, &op);
  const scan_column extra = {.name = STR("extra")};
  const scan_options o = {.columns = &extra, .column_count = 1, .filter = STR("extra IS NOT NULL")};
  EXPECT_IDS(s, &o, 1000, 1001, 1002, 1003);
  EXPECT_IDS(s, NULL, 0, 2, 3, 4, 5, 6, 7);
  NUMBERS(s, "_row_last_updated_at_version", 1, 1, 1, 4, 4, 4, 4);
  NUMBERS(s, "_row_created_at_version", 1, 1, 1, 2, 2, 2, 2);
  assert_int_equal(table_fragment(s, 1)->file_count, 2);
  /* A second column file from the same base is a conflict, and so is an unknown fragment. */
  glv_error err = {0};
  assert_int_equal(table_commit(before, &op, NULL, NULL, NULL, &err), GLV_E_CONFLICT);
  const uint64_t nobody = 7;
  op.targets = &nobody;
  EXPECT(GLV_E_INVALID_INPUT, "does not fit", table_commit(s, &op, NULL, NULL, NULL, err));
  staged_free(rows);
  /* Without the column again: its file leaves the fragment. */
  const lance_schema fewer = {.fields = all->fields, .field_count = 2};
  const operation drop = {
      .kind = OPERATION_PROJECT, .schema = &fewer, .preserves_nullability = true};
  commit(&s, &drop);
  assert_int_equal(table_schema(s)->field_count, 2);
  assert_int_equal(table_fragment(s, 1)->file_count, 1);
  NUMBERS(s, "_row_last_updated_at_version", 1, 1, 1, 4, 4, 4, 4);
  table_unref(before);
  arena_dispose(&a);
  close_two(&t, s);
}

/* ---- compaction ---- */

static void test_rewrite(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_two(&t, true);
  delete_rows(&s, 0, 0, 2);
  delete_rows(&s, 1, 3, 4);
  const operation reserve = {.kind = OPERATION_RESERVE_FRAGMENTS, .reserved = 2};
  commit(&s, &reserve);
  assert_int_equal(table_fragment_mark(s), 3);
  batch_reader r = make_rows(t.env, 2, 5, 100);
  const stage_options three = {.file_rows = 3};
  staged *rows;
  OK(table_stage(s, &r, &three, &rows, err));
  const uint64_t ids[] = {2, 3, 4, 5, 6};
  const version_run runs[] = {{2, 1}, {3, 2}};
  const row_origin origin = {ids, 5, runs, 2, runs, 2};
  const uint64_t old[] = {0, 1};
  const rewrite_group group = {old, 2, 2};
  operation op = {.kind = OPERATION_REWRITE,
                  .rows = rows,
                  .origin = &origin,
                  .groups = &group,
                  .group_count = 1,
                  .first_id = 2};
  table_snapshot *base = table_ref(s);
  commit(&s, &op);
  EXPECT_IDS(s, NULL, 2, 3, 4, 5, 6);
  NUMBERS(s, "_rowid", 2, 3, 4, 5, 6);
  NUMBERS(s, "_row_created_at_version", 1, 1, 2, 2, 2);
  NUMBERS(s, "_row_last_updated_at_version", 1, 1, 2, 2, 2);
  assert_int_equal(table_fragment(s, 2)->physical_rows, 3);
  assert_int_equal(table_fragment(s, 3)->physical_rows, 2);
  assert_null(table_fragment(s, 0));
  assert_int_equal(table_reader_flags(s) & TABLE_FLAG_DELETIONS, 0);
  glv_error err = {0};
  assert_int_equal(table_commit(base, &op, NULL, NULL, NULL, &err), GLV_E_CONFLICT);
  assert_int_equal(err.flags, GLV_ERROR_MAY_RETRY);
  op.first_id = 9;
  EXPECT(GLV_E_CONFLICT, "Rewrite", table_commit(base, &op, NULL, NULL, NULL, err));
  op.origin = NULL;
  EXPECT(GLV_E_INVALID_INPUT, "row ids", table_commit(base, &op, NULL, NULL, NULL, err));
  staged_free(rows);
  table_unref(base);
  close_two(&t, s);
}

/* ---- restore ---- */

static void test_restore(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_two(&t, true);
  delete_rows(&s, 0, 0, 1);
  append_rows(&s, 8, 1);
  const operation op = {.kind = OPERATION_RESTORE, .restored_version = 2};
  commit(&s, &op);
  assert_int_equal(table_version(s), 5);
  EXPECT_IDS(s, NULL, 0, 1, 2, 3, 4, 5, 6, 7);
  assert_int_equal(table_next_row_id(s), 9);
  assert_int_equal(table_fragment_mark(s), 2);
  assert_int_equal(table_reader_flags(s), TABLE_FLAG_STABLE_ROW_IDS);
  append_rows(&s, 9, 1);
  NUMBERS(s, "_rowid", 0, 1, 2, 3, 4, 5, 6, 7, 9);
  assert_non_null(table_fragment(s, 3));
  const operation missing = {.kind = OPERATION_RESTORE, .restored_version = 99};
  EXPECT(GLV_E_VERSION_NOT_FOUND, "99", table_commit(s, &missing, NULL, NULL, NULL, err));
  close_two(&t, s);
}

/* ---- metadata ---- */

static void test_metadata(void **state) {
  (void)state;
  test_env t;
  table_snapshot *s = open_two(&t, true);
  table_snapshot *other = table_ref(s);
  const metadata_change set[] = {{STR("glaive.a"), STR("1")}, {STR("glaive.b"), STR("2")}};
  const int32_t fields[] = {1};
  const metadata_update maps[] = {{true, false, set, 1}};
  const operation op = {.kind = OPERATION_UPDATE_CONFIG,
                        .config = {true, false, set, 2},
                        .table_metadata = {true, false, set, 1},
                        .metadata_fields = fields,
                        .field_metadata = maps,
                        .metadata_field_count = 1};
  commit(&s, &op);
  assert_int_equal(table_config(s).count, 2);
  assert_int_equal(table_writer_flags(s), TABLE_FLAG_STABLE_ROW_IDS | TABLE_FLAG_CONFIG);
  const metadata of_text = table_lance_schema(s)->fields[1].arrow.metadata;
  assert_int_equal(of_text.count, 1);
  assert_true(str_is(of_text.pairs[0].key, "glaive.a"));
  /* Another key goes through, a common one does not. */
  const metadata_change c = {STR("glaive.c"), STR("3")};
  const operation apart = {.kind = OPERATION_UPDATE_CONFIG, .config = {true, false, &c, 1}};
  table_snapshot *third = table_ref(other);
  commit(&other, &apart);
  assert_int_equal(table_config(other).count, 3);
  const metadata_change b = {STR("glaive.b"), {0}};
  const operation common = {.kind = OPERATION_UPDATE_CONFIG, .config = {true, false, &b, 1}};
  EXPECT(GLV_E_CONFLICT, "incompatible", table_commit(third, &common, NULL, NULL, NULL, err));
  commit(&other, &common);
  assert_int_equal(table_config(other).count, 2);
  const operation none = {.kind = OPERATION_UPDATE_CONFIG, .config = {true, true, NULL, 0}};
  commit(&other, &none);
  assert_int_equal(table_writer_flags(other), TABLE_FLAG_STABLE_ROW_IDS);
  const int32_t nobody[] = {77};
  const operation bad = {.kind = OPERATION_UPDATE_CONFIG,
                         .metadata_fields = nobody,
                         .field_metadata = maps,
                         .metadata_field_count = 1};
  EXPECT(GLV_E_INVALID_INPUT, "field 77", table_commit(other, &bad, NULL, NULL, NULL, err));
  table_unref(third);
  table_unref(other);
  close_two(&t, s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_delete),
      cmocka_unit_test(test_joined_deletions),
      cmocka_unit_test(test_whole_against_rows),
      cmocka_unit_test(test_update),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_rewrite),
      cmocka_unit_test(test_restore),
      cmocka_unit_test(test_metadata),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
