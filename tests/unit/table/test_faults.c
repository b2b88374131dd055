/* Every I/O operation and every allocation of create, append and a strict update failing, and the
 * loss of power at every operation: the old or the new version, never between, and the next try
 * succeeds. */
#include <errno.h>

#include "base/bitmap.h"
#include "support/io_crash.h"
#include "support/rng.h"
#include "tables.h"

enum action { CREATE, APPEND, UPDATE, ACTIONS };

/* What is done under fire. Before: two rows at version 1 (but for CREATE). */
static glv_status act(glv_env *env, const char *root, enum action action, glv_error *err) {
  if (action == CREATE) {
    batch_reader r = make_rows(env, 0, 2, 10);
    schema *s = schema_ref(r.schema);
    table_snapshot *t = NULL;
    const glv_status status = table_create(env, root, "t", s, &r, NULL, &t, err);
    schema_unref(s);
    table_unref(t);
    return status;
  }
  CLEANUP(table_cleanup) table_snapshot *t = NULL;
  CLEANUP(table_cleanup) table_snapshot *next = NULL;
  TRY(table_open(env, root, "t", 0, &t, err));
  batch_reader r = make_rows(env, 10, 1, 10);
  if (action == APPEND) {
    return table_append(t, &r, NULL, &next, NULL, err);
  }
  staged *rows = NULL;
  TRY(table_stage(t, &r, NULL, &rows, err));
  bitmap *b = bitmap_new();
  bitmap_add(b, 0);
  const deletion_update updated = {0, b};
  const metadata_change change = {STR("mv.k"), STR("v")};
  const operation op = {.kind = OPERATION_UPDATE,
                        .rows = rows,
                        .updated = &updated,
                        .updated_count = 1,
                        .changes = &change,
                        .change_count = 1};
  const glv_status status =
      table_commit(t, &op, &(commit_options){.strict = true}, &next, NULL, err);
  bitmap_free(b);
  if (status == GLV_OK || status == GLV_E_UNKNOWN_OUTCOME) {
    staged_free(rows);
  } else {
    staged_discard(rows);
  }
  return status;
}

/* The state that is there: 0 = no table, 1 = before, 2 = after; anything else fails the test. */
static int look(glv_env *env, const char *root, enum action action) {
  table_snapshot *t;
  glv_error err = {0};
  const glv_status status = table_open(env, root, "t", 0, &t, &err);
  if (status != GLV_OK) {
    if (status != GLV_E_TABLE_NOT_FOUND) {
      fail_msg("%s", err.message);
    }
    return 0;
  }
  const uint64_t version = table_version(t);
  int64_t ids[8];
  const size_t count = scan_ids(t, NULL, ids, 8);
  bool has_key;
  (void)table_metadata_get(t, STR("mv.k"), &has_key);
  if (version == 1) {
    assert_int_equal(count, 2);
    assert_int_equal(ids[1], 1);
    assert_false(has_key);
  } else {
    assert_int_equal(version, 2);
    assert_int_equal(count, action == APPEND ? 3 : 2);
    assert_int_equal(ids[count - 1], 10);
    assert_int_equal(has_key, action == UPDATE);
  }
  table_unref(t);
  return action == CREATE ? 2 : (int)version;
}

static void prepare(glv_env *env, const char *root, enum action action) {
  if (action != CREATE) {
    table_unref(create_rows(env, root, 0, 2, true));
  }
}

static void check_state(glv_env *env, const char *root, enum action action, glv_status status) {
  const int before = action == CREATE ? 0 : 1;
  const int state = look(env, root, action);
  if (status == GLV_OK) {
    assert_int_equal(state, 2);
  } else if (status != GLV_E_UNKNOWN_OUTCOME) {
    assert_int_equal(state, before);
  }
  if (state == before) { /* the next try succeeds */
    OK(act(env, root, action, err));
    assert_int_equal(look(env, root, action), 2);
  }
}

/* ---- I/O ---------------------------------------------------------------------------------------
 */

static bool run_io(int store, enum action action, io_fault_plan plan, size_t *ok, size_t *unknown) {
  test_env t;
  test_env_open(&t, store);
  const char *root = test_env_path(&t, "t");
  prepare(t.env, root, action);
  io_fault_arm(&t.io, plan);
  glv_error err = {0};
  const glv_status status = act(t.env, root, action, &err);
  const bool fired = t.io.fired;
  io_fault_arm(&t.io, (io_fault_plan){0});
  if (status != GLV_OK) {
    assert_true(fired);
    assert_int_equal(err.code, status);
    assert_true(err.message[0] != '\0');
  }
  *ok += fired && status == GLV_OK;
  *unknown += status == GLV_E_UNKNOWN_OUTCOME;
  if (status != GLV_OK && status != GLV_E_UNKNOWN_OUTCOME && !plan.persistent && !plan.after) {
    /* Nothing of it is left. */
    const size_t had = action == CREATE ? 0 : 1;
    char folder[100];
    snprintf(folder, sizeof folder, "%s/data", root);
    assert_int_equal(count_files(t.env, folder), had);
    snprintf(folder, sizeof folder, "%s/_transactions", root);
    assert_int_equal(count_files(t.env, folder), had);
    snprintf(folder, sizeof folder, "%s/_deletions", root);
    assert_int_equal(count_files(t.env, folder), 0);
    snprintf(folder, sizeof folder, "%s/_versions", root);
    assert_int_equal(count_files(t.env, folder), 2 * had);
  }
  check_state(t.env, root, action, status);
  test_env_close(&t);
  return fired;
}

static void test_io(void **state) {
  (void)state;
  static const int numbers[] = {EIO, ENOSPC};
  size_t ok = 0;
  size_t unknown = 0;
  for (int action = 0; action < ACTIONS; action++) {
    for (int mode = 0; mode < 4; mode++) { /* transient, short, persistent, carried out */
      bool fired = true;
      for (uint64_t nth = 1; fired; nth++) {
        const io_fault_plan plan = {.mask = IO_MASK_ALL,
                                    .nth = nth,
                                    .number = numbers[nth % 2],
                                    .short_write = mode == 1,
                                    .persistent = mode == 2,
                                    .after = mode == 3};
        fired = run_io(0, (enum action)action, plan, &ok, &unknown);
        assert_true(nth < 1000);
      }
    }
  }
  assert_true(ok > 0);      /* the hint and other benign operations */
  assert_true(unknown > 0); /* the sync after the publish */
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static void test_memory(void **state) {
  (void)state;
  for (int action = 0; action < ACTIONS; action++) {
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
      test_env t;
      test_env_open_mem_with(
          &t, &(glv_env_options){.struct_size = sizeof(glv_env_options), .threads = 1});
      const char *root = test_env_path(&t, "t");
      prepare(t.env, root, (enum action)action);
      CLEANUP(table_cleanup) table_snapshot *s = NULL;
      batch_reader r = make_rows(t.env, 10, 1, 10);
      if (action != CREATE) {
        OK(table_open(t.env, root, "t", 0, &s, err));
      }
      schema *columns = schema_ref(r.schema);
      alloc_fault_arm(&t.alloc, nth, false);
      glv_error err = {0};
      glv_status status;
      if (action == CREATE) {
        status = table_create(t.env, root, "t", columns, &r, NULL, NULL, &err);
      } else if (action == APPEND) {
        table_snapshot *next = NULL;
        status = table_append(s, &r, NULL, &next, NULL, &err);
        table_unref(next);
      } else {
        table_snapshot *next = NULL;
        const uint64_t removed = 0;
        const operation op = {.kind = OPERATION_UPDATE, .removed = &removed, .removed_count = 1};
        status = table_commit(s, &op, &(commit_options){.strict = true}, &next, NULL, &err);
        table_unref(next);
        batch_reader_dispose(&r);
      }
      fired = t.alloc.fired;
      alloc_fault_arm(&t.alloc, 0, false);
      if (status != GLV_OK) {
        assert_true(fired);
        if (status != GLV_E_NOMEM) {
          fail_msg("%s: %s", error_name(status), err.message);
        }
      }
      schema_unref(columns);
      table_snapshot *now;
      const glv_status opened = table_open(t.env, root, "t", 0, &now, NULL);
      if (action == CREATE) {
        assert_int_equal(opened, status == GLV_OK ? GLV_OK : GLV_E_TABLE_NOT_FOUND);
      } else {
        assert_int_equal(opened, GLV_OK);
        assert_int_equal(table_version(now), status == GLV_OK ? 2 : 1);
      }
      if (opened == GLV_OK) {
        table_unref(now);
      }
      table_unref(s);
      s = NULL;
      test_env_close(&t);
      assert_true(nth < 5000);
    }
  }
}

/* ---- loss of power -----------------------------------------------------------------------------
 */

/* Whatever the disk kept: the table opens at a version that was acknowledged, or a later one. */
static void run_crash(enum action action, uint64_t nth, uint64_t seeds, bool *ret_stopped) {
  test_env t;
  test_env_open_mem(&t);
  const char *root = test_env_path(&t, "r");
  char table[100];
  snprintf(table, sizeof table, "%s/t", root);
  OK(io_make_dirs(t.env, root, err));
  prepare(t.env, table, action);
  io_crash *c = io_crash_new(env_io(t.env), root);
  glv_env *env = test_env_over(io_crash_table(c));
  io_crash_at(c, nth);
  glv_error err = {0};
  const glv_status status = act(env, table, action, &err);
  *ret_stopped = status != GLV_OK;
  for (uint64_t seed = 0; seed < seeds; seed++) {
    char target[100];
    snprintf(target, sizeof target, "%s-%llu", root, (unsigned long long)seed);
    io_crash_materialise(c, seed, t.env, target);
    char copy[120];
    snprintf(copy, sizeof copy, "%s/t", target);
    const int found = look(t.env, copy, action);
    if (status == GLV_OK) {
      assert_int_equal(found, 2);
    }
    assert_true(found >= (action == CREATE ? 0 : 1));
    OK(io_remove_tree(t.env, target, err));
  }
  env_unref(env);
  io_crash_free(c);
  test_env_close(&t);
}

static void test_power_loss(void **state) {
  (void)state;
  for (int action = 0; action < ACTIONS; action++) {
    bool stopped = true;
    for (uint64_t nth = 1; nth < 200 && (stopped || nth < 20); nth++) {
      run_crash((enum action)action, nth, 20, &stopped);
    }
    run_crash((enum action)action, 0, 40, &stopped);
    assert_false(stopped);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_io), cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_power_loss)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
