/* Every I/O operation and every allocation of the operations that change rows, columns and files
 * failing, each while another writer has deleted a row of the same fragment, and the loss of power
 * at every operation: the old or the new version, never between; after a failure nothing is left
 * behind, and the next try succeeds. */
#include <errno.h>

#include "support/io_crash.h"
#include "tables.h"

/* Rows 0..3 at version 1; version 2 deletes row 3. Ours is computed from version 1 where it can be
 * joined with that, else from version 2. */
static const enum operation_kind kinds[] = {
    OPERATION_DELETE,  OPERATION_UPDATE,  OPERATION_REWRITE,      OPERATION_MERGE,
    OPERATION_PROJECT, OPERATION_RESTORE, OPERATION_UPDATE_CONFIG};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool is_joined(enum operation_kind kind) {
  return kind == OPERATION_DELETE || kind == OPERATION_UPDATE || kind == OPERATION_UPDATE_CONFIG;
}

static void delete_row(glv_env *env, const char *root, uint32_t row) {
  table_snapshot *t;
  OK(table_open(env, root, "t", 0, &t, err));
  bitmap *b = bitmap_new();
  bitmap_add(b, row);
  const deletion_update d = {0, b};
  const operation op = {.kind = OPERATION_DELETE, .updated = &d, .updated_count = 1};
  OK(table_commit(t, &op, NULL, NULL, NULL, err));
  bitmap_free(b);
  table_unref(t);
}

static void prepare(glv_env *env, const char *root, enum operation_kind kind) {
  table_unref(create_rows(env, root, 0, 4, true));
  delete_row(env, root, 3);
  if (kind == OPERATION_REWRITE) {
    table_snapshot *t;
    OK(table_open(env, root, "t", 0, &t, err));
    const operation op = {.kind = OPERATION_RESERVE_FRAGMENTS, .reserved = 1};
    OK(table_commit(t, &op, NULL, NULL, NULL, err));
    table_unref(t);
  }
}

static uint64_t version_before(enum operation_kind kind) {
  return kind == OPERATION_REWRITE ? 3 : 2;
}

/* The one-file staging that kind needs: rows that move or are copied, or a column. */
static glv_status stage_for(const table_snapshot *t, enum operation_kind kind,
                            const lance_schema *column, staged **ret, glv_error *err) {
  if (kind == OPERATION_UPDATE || kind == OPERATION_REWRITE) {
    batch_reader r = make_rows(table_env(t), 0, kind == OPERATION_UPDATE ? 1 : 3, 10);
    return table_stage(t, &r, NULL, ret, err);
  }
  if (kind == OPERATION_MERGE) { /* the column "text" once more, under another id */
    batch_reader r = make_rows(table_env(t), 0, 4, 10);
    return table_stage_as(t, column, &r, NULL, ret, err);
  }
  return GLV_OK;
}

static glv_status commit_kind(const table_snapshot *t, enum operation_kind kind,
                              const lance_schema *s, const staged *rows, glv_error *err) {
  CLEANUP(bitmap_cleanup) bitmap *row = bitmap_new();
  if (row == NULL) {
    return error_nomem(err, 0);
  }
  bitmap_add(row, 0);
  const deletion_update d = {0, row};
  const uint64_t zero = 0;
  const uint64_t ids[] = {0, 1, 2};
  const version_run all[] = {{3, 1}};
  const version_run one[] = {{1, 1}};
  const row_origin moved = {ids, 1, one, 1, NULL, 0};
  const row_origin copied = {ids, 3, all, 1, all, 1};
  const rewrite_group group = {&zero, 1, 1};
  const metadata_change change = {STR("glaive.k"), STR("v")};
  const bool deletes = kind == OPERATION_DELETE || kind == OPERATION_UPDATE;
  const operation op = {.kind = kind,
                        .rows = rows,
                        .origin = kind == OPERATION_UPDATE    ? &moved
                                  : kind == OPERATION_REWRITE ? &copied
                                                              : NULL,
                        .schema = s,
                        .preserves_nullability = true,
                        .targets = &zero,
                        .updated = &d,
                        .updated_count = deletes,
                        .groups = &group,
                        .group_count = 1,
                        .first_id = 1,
                        .restored_version = 1,
                        .config = {true, false, &change, 1}};
  return table_commit(t, &op, NULL, NULL, NULL, err);
}

/* What is done under fire. */
static glv_status act(glv_env *env, const char *root, enum operation_kind kind, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *t = NULL;
  TRY(table_open(env, root, "t", is_joined(kind) ? 1 : version_before(kind), &t, err));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  const field fields[] = {{.name = "id", .type = type_simple(TYPE_INT64)},
                          {.name = "text", .type = type_simple(TYPE_UTF8), .nullable = true}};
  int32_t next_id = 2;
  lance_schema *column = NULL;
  if (kind == OPERATION_MERGE) { /* both columns under new ids */
    TRY(lance_schema_from_arrow(&a, fields, 2, (metadata){0}, &next_id, &column, err));
  }
  staged *rows = NULL;
  TRY(stage_for(t, kind, column, &rows, err));
  const lance_schema *s = column != NULL ? column : table_lance_schema(t);
  const glv_status status = commit_kind(t, kind, s, rows, err);
  if (status == GLV_OK || status == GLV_E_UNKNOWN_OUTCOME) {
    staged_free(rows);
  } else {
    staged_discard(rows);
  }
  return status;
}

static void expect(const int64_t *found, size_t count, const char *text) {
  char line[64] = "";
  for (size_t i = 0; i < count; i++) {
    snprintf(line + strlen(line), sizeof line - strlen(line), "%lld ", (long long)found[i]);
  }
  assert_string_equal(line, text);
}

/* True when the new version is there; anything but old and new fails the test. */
static bool look(glv_env *env, const char *root, enum operation_kind kind) {
  table_snapshot *t;
  OK(table_open(env, root, "t", 0, &t, err));
  const bool is_new = table_version(t) > version_before(kind);
  assert_int_equal(table_version(t), version_before(kind) + is_new);
  int64_t ids[8];
  const size_t count = scan_ids(t, NULL, ids, 8);
  const char *old_rows = "0 1 2 ";
  const char *new_rows = kind == OPERATION_DELETE    ? "1 2 "
                         : kind == OPERATION_UPDATE  ? "1 2 0 "
                         : kind == OPERATION_RESTORE ? "0 1 2 3 "
                                                     : old_rows;
  expect(ids, count, is_new ? new_rows : old_rows);
  uint64_t row_ids[8];
  const size_t found = scan_numbers(t, "_rowid", row_ids, 8);
  assert_int_equal(found, count);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(row_ids[i], ids[i]);
  }
  table_unref(t);
  return is_new;
}

static size_t count_all(glv_env *env, const char *root) {
  static const char *const folders[] = {"data", "_transactions", "_deletions", "_versions"};
  size_t count = 0;
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    char folder[200];
    snprintf(folder, sizeof folder, "%s/%s", root, folders[i]);
    count += count_files(env, folder);
  }
  return count;
}

/* ---- I/O ---- */

static bool run_io(enum operation_kind kind, io_fault_plan plan) {
  test_env t;
  test_env_open(&t, 0);
  const char *root = test_env_path(&t, "t");
  prepare(t.env, root, kind);
  const size_t files = count_all(t.env, root);
  io_fault_arm(&t.io, plan);
  glv_error err = {0};
  const glv_status status = act(t.env, root, kind, &err);
  const bool fired = t.io.fired;
  io_fault_arm(&t.io, (io_fault_plan){0});
  if (status != GLV_OK) {
    assert_true(fired);
    assert_true(err.message[0] != '\0');
  }
  const bool is_certain = status != GLV_OK && status != GLV_E_UNKNOWN_OUTCOME;
  if (is_certain && !plan.persistent && !plan.after) {
    assert_int_equal(count_all(t.env, root), files);
  }
  const bool is_new = look(t.env, root, kind);
  assert_true(status == GLV_OK ? is_new : status == GLV_E_UNKNOWN_OUTCOME || !is_new);
  if (!is_new) {
    OK(act(t.env, root, kind, err));
    assert_true(look(t.env, root, kind));
  }
  test_env_close(&t);
  return fired;
}

static void test_io(void **state) {
  (void)state;
  for (int k = 0; k < KINDS; k++) {
    for (int mode = 0; mode < 4; mode++) { /* transient, short, persistent, carried out */
      bool fired = true;
      for (uint64_t nth = 1; fired; nth++) {
        const io_fault_plan plan = {.mask = IO_MASK_ALL,
                                    .nth = nth,
                                    .number = nth % 2 == 0 ? EIO : ENOSPC,
                                    .short_write = mode == 1,
                                    .persistent = mode == 2,
                                    .after = mode == 3};
        fired = run_io(kinds[k], plan);
        assert_true(nth < 1000);
      }
    }
  }
}

/* ---- memory ---- */

static void test_memory(void **state) {
  (void)state;
  for (int k = 0; k < KINDS; k++) {
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
      test_env t;
      test_env_open_mem_with(
          &t, &(glv_env_options){.struct_size = sizeof(glv_env_options), .threads = 1});
      const char *root = test_env_path(&t, "t");
      prepare(t.env, root, kinds[k]);
      table_snapshot *s;
      OK(table_open(t.env, root, "t", is_joined(kinds[k]) ? 1 : version_before(kinds[k]), &s, err));
      staged *rows = NULL;
      const bool needs_rows = kinds[k] == OPERATION_UPDATE || kinds[k] == OPERATION_REWRITE;
      if (needs_rows) {
        OK(stage_for(s, kinds[k], NULL, &rows, err));
      }
      alloc_fault_arm(&t.alloc, nth, false);
      glv_error err = {0};
      const glv_status status = commit_kind(s, kinds[k], table_lance_schema(s), rows, &err);
      fired = t.alloc.fired;
      alloc_fault_arm(&t.alloc, 0, false);
      if (status != GLV_OK && status != GLV_E_NOMEM) {
        fail_msg("%s: %s", error_name(status), err.message);
      }
      if (status == GLV_OK) {
        staged_free(rows);
      } else {
        assert_true(fired);
        staged_discard(rows);
      }
      table_unref(s);
      assert_int_equal(look(t.env, root, kinds[k]), status == GLV_OK);
      test_env_close(&t);
      assert_true(nth < 5000);
    }
  }
}

/* ---- loss of power ---- */

/* *ret_stopped: the power went before the end. */
static void run_crash(enum operation_kind kind, uint64_t nth, uint64_t seeds, bool *ret_stopped) {
  test_env t;
  test_env_open_mem(&t);
  const char *root = test_env_path(&t, "r");
  char table[100];
  snprintf(table, sizeof table, "%s/t", root);
  OK(io_make_dirs(t.env, root, err));
  prepare(t.env, table, kind);
  io_crash *c = io_crash_new(env_io(t.env), root);
  glv_env *env = test_env_over(io_crash_table(c));
  io_crash_at(c, nth);
  glv_error err = {0};
  const glv_status status = act(env, table, kind, &err);
  *ret_stopped = status != GLV_OK;
  for (uint64_t seed = 0; seed < seeds; seed++) {
    char target[100];
    snprintf(target, sizeof target, "%s-%llu", root, (unsigned long long)seed);
    io_crash_materialise(c, seed, t.env, target);
    char copy[120];
    snprintf(copy, sizeof copy, "%s/t", target);
    const bool is_new = look(t.env, copy, kind);
    assert_true(is_new || status != GLV_OK);
    OK(io_remove_tree(t.env, target, err));
  }
  env_unref(env);
  io_crash_free(c);
  test_env_close(&t);
}

static void test_power_loss(void **state) {
  (void)state;
  for (int k = 0; k < KINDS; k++) {
    bool stopped = true;
    for (uint64_t nth = 1; nth < 200 && (stopped || nth < 20); nth++) {
      run_crash(kinds[k], nth, 8, &stopped);
    }
    run_crash(kinds[k], 0, 20, &stopped);
    assert_false(stopped);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_io), cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_power_loss)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
