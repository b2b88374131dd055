/* Refreshes that give up and compute rows: thresholds, forecasts, every allocation and every
 * operation of the store failing. Source and view are tables of unit/view/sources.h. */
#include <errno.h>

#include "sources.h"
#include "view/create.h"
#include "view/refresh.h"

enum { FRAGMENTS = 10, ROWS = 4 * FRAGMENTS };

/* A database of one table. */
static glv_status open_source(void *context, const char *const *names, size_t name_count,
                              const char *table, uint64_t version, table_snapshot **ret,
                              glv_error *err) {
  const test_env *t = context;
  (void)names;
  (void)name_count;
  return table_open(t->env, test_env_path(t, "t"), table, version, ret, err);
}

struct views {
  test_env t;
  table_snapshot *source;
  view_database db;
};

static const refresh_options plain = {0};

static glv_status try_refresh(struct views *v, const refresh_options *o, refresh_result *ret,
                              glv_error *err) {
  return view_refresh(v->t.env, &v->db, test_env_path(&v->t, "v"), "v", o, ret, err);
}

static refresh_result refresh(struct views *v, const refresh_options *o) {
  refresh_result r;
  OK(try_refresh(v, o, &r, err));
  return r;
}

static void begin_with(struct views *v, const glv_env_options *options) {
  test_env_open_mem_with(&v->t, options);
  v->source = make_source(&v->t, FRAGMENTS);
  v->db = (view_database){open_source, &v->t};
  view_plan *plan = plan_view(v->source, "SELECT id, text FROM t WHERE id < 30");
  table_snapshot *view;
  OK(view_create_table(plan, test_env_path(&v->t, "v"), "v", &view, err));
  table_unref(view);
  view_plan_free(plan);
  assert_int_equal(refresh(v, &plain).rows_written, 30);
}

static void begin(struct views *v) { begin_with(v, NULL); }

static void end(struct views *v) {
  table_unref(v->source);
  test_env_close(&v->t);
}

/* The rows of a table below id 30, as sorted numbers. */
static size_t numbers_of(const table_snapshot *t, int64_t *ids) {
  const scan_column column = {.name = STR("id")};
  const scan_options o = {.columns = &column, .column_count = 1, .filter = STR("id < 30")};
  const size_t count = scan_ids(t, &o, ids, 256);
  for (size_t i = 1; i < count; i++) {
    for (size_t k = i; k > 0 && ids[k - 1] > ids[k]; k--) {
      const int64_t id = ids[k];
      ids[k] = ids[k - 1];
      ids[k - 1] = id;
    }
  }
  return count;
}

/* Whether the view is what its definition says of the source at that version. */
static bool reflects(struct views *v, uint64_t version) {
  table_snapshot *view;
  table_snapshot *source;
  int64_t have[256];
  int64_t want[256];
  OK(table_open(v->t.env, test_env_path(&v->t, "v"), "v", 0, &view, err));
  OK(table_open(v->t.env, test_env_path(&v->t, "t"), "t", version, &source, err));
  const size_t count = numbers_of(view, have);
  const bool same = count == numbers_of(source, want) &&
                    memcmp(have, want, count * sizeof *have) == 0 && count == table_live_rows(view);
  table_unref(view);
  table_unref(source);
  return same;
}

/* Explain, then refresh: the forecast was right, and so are the rows. */
static refresh_result follow(struct views *v, const refresh_options *o) {
  refresh_outlook outlook;
  OK(view_explain(v->t.env, &v->db, test_env_path(&v->t, "v"), "v", o, &outlook, err));
  const refresh_result r = refresh(v, o);
  assert_int_equal(outlook.mode, r.mode);
  assert_string_equal(outlook.reason, r.reason);
  assert_int_equal(outlook.source_version, r.source_version);
  assert_true(outlook.additions >= r.rows_written);
  assert_true(r.mode != REFRESH_INCREMENTAL || outlook.evicted >= r.rows_removed);
  assert_true(reflects(v, r.source_version));
  return r;
}

static void expect(refresh_result r, refresh_mode mode, const char *reason, uint64_t written,
                   uint64_t removed) {
  assert_int_equal(r.mode, mode);
  assert_string_equal(r.reason, reason);
  assert_int_equal(r.rows_written, written);
  assert_int_equal(r.rows_removed, removed);
}

static void changes_are_followed(void **state) {
  (void)state;
  struct views v;
  begin(&v);
  expect(follow(&v, &plain), REFRESH_NO_OP, "", 0, 0);
  delete_range(&v.source, 1, 0, 3);
  update_row(&v.source, 2, 1, 9, 3); /* its number is past the filter then */
  expect(follow(&v, &plain), REFRESH_INCREMENTAL, "", 0, 4);
  append_rows(&v.source, 4, 2); /* the same numbers again */
  compact_all(&v.source);
  expect(follow(&v, &plain), REFRESH_INCREMENTAL, "", 2, 0);
  delete_range(&v.source, FRAGMENTS + 2, 0, 30); /* most of the view: whole files of it go */
  const refresh_result r = follow(&v, &plain);
  assert_int_equal(r.mode, REFRESH_INCREMENTAL);
  assert_true(r.rows_removed > 20);
  refresh_options back = plain;
  back.has_source_version = true;
  back.source_version = FRAGMENTS;
  assert_int_equal(follow(&v, &back).source_version, FRAGMENTS);
  end(&v);
}

static void thresholds(void **state) {
  (void)state;
  struct views v;
  begin(&v);
  const refresh_options four = {.most_evicted = 4};
  delete_range(&v.source, 0, 0, 4);
  expect(follow(&v, &four), REFRESH_INCREMENTAL, "", 0, 4);
  delete_range(&v.source, 1, 0, 4);
  delete_range(&v.source, 2, 0, 1);
  expect(follow(&v, &four), REFRESH_REBUILD, "too_many_changes", 21, 26);
  const refresh_options few = {.most_touched = 0.04};
  update_row(&v.source, 3, 1, 13, 4);
  expect(follow(&v, &few), REFRESH_INCREMENTAL, "", 0, 1);
  update_row(&v.source, 3, 2, 14, 4);
  update_row(&v.source, 3, 3, 15, 4);
  expect(follow(&v, &few), REFRESH_REBUILD, "too_many_changes", 18, 20);
  /* Fresh rows never count: they have to be computed anyway. */
  append_rows(&v.source, 0, 100);
  expect(follow(&v, &few), REFRESH_INCREMENTAL, "", 30, 0);
  end(&v);
}

/* A forecast reads no data page: it works without data files. */
static void forecasts_read_no_data(void **state) {
  (void)state;
  struct views v;
  begin(&v);
  delete_range(&v.source, 1, 0, 3);
  update_row(&v.source, 2, 1, 9, 3);
  append_rows(&v.source, 100, 2);
  compact_all(&v.source);
  OK(io_remove_tree(v.t.env, test_env_path(&v.t, "t/data"), err));
  OK(io_remove_tree(v.t.env, test_env_path(&v.t, "v/data"), err));
  refresh_outlook o;
  OK(view_explain(v.t.env, &v.db, test_env_path(&v.t, "v"), "v", &plain, &o, err));
  assert_int_equal(o.mode, REFRESH_INCREMENTAL);
  assert_true(o.has_changes);
  assert_int_equal(o.changes.rows_fresh, 2);
  assert_int_equal(o.changes.rows_touched, 1);
  assert_int_equal(o.changes.rows_removed, 3);
  assert_int_equal(o.additions, 3);
  assert_int_equal(o.evicted, 4);
  assert_int_equal(o.changes.fragments_gone, FRAGMENTS);
  end(&v);
}

/* ---- under fire: a refresh that evicts, recomputes and adds ---- */

static void change_source(struct views *v) {
  delete_range(&v->source, 1, 0, 3);
  update_row(&v->source, 2, 1, 9, 3);
  append_rows(&v->source, 4, 2);
}

static void every_allocation_fails(void **state) {
  (void)state;
  bool fired = true;
  for (uint64_t nth = 1; fired; nth++) {
    struct views v;
    begin_with(&v, &(glv_env_options){.struct_size = sizeof(glv_env_options), .threads = 1});
    change_source(&v);
    refresh_result r;
    glv_error err = {0};
    alloc_fault_arm(&v.t.alloc, nth, false);
    const glv_status status = try_refresh(&v, &plain, &r, &err);
    fired = v.t.alloc.fired;
    alloc_fault_arm(&v.t.alloc, 0, false);
    if (status != GLV_OK) {
      assert_int_equal(status, GLV_E_NOMEM);
      assert_true(fired && reflects(&v, FRAGMENTS));
      expect(refresh(&v, &plain), REFRESH_INCREMENTAL, "", 2, 4);
    }
    assert_true(reflects(&v, 0));
    end(&v);
    assert_true(nth < 5000);
  }
}

static bool run_io(io_fault_plan plan) {
  struct views v;
  begin(&v);
  change_source(&v);
  refresh_result r;
  glv_error err = {0};
  io_fault_arm(&v.t.io, plan);
  const glv_status status = try_refresh(&v, &plain, &r, &err);
  const bool fired = v.t.io.fired;
  io_fault_arm(&v.t.io, (io_fault_plan){0});
  const bool is_new = reflects(&v, 0);
  if (status != GLV_OK) {
    assert_true(fired && err.message[0] != '\0');
    assert_true(is_new ? status == GLV_E_UNKNOWN_OUTCOME : reflects(&v, FRAGMENTS));
    (void)refresh(&v, &plain);
  }
  assert_true(reflects(&v, 0));
  end(&v);
  return fired;
}

static void every_operation_fails(void **state) {
  (void)state;
  for (int mode = 0; mode < 4; mode++) { /* transient, short, persistent, carried out */
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
      fired = run_io((io_fault_plan){.mask = IO_MASK_ALL,
                                     .nth = nth,
                                     .number = nth % 2 == 0 ? EIO : ENOSPC,
                                     .short_write = mode == 1,
                                     .persistent = mode == 2,
                                     .after = mode == 3});
      assert_true(nth < 2000);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(changes_are_followed),   cmocka_unit_test(thresholds),
      cmocka_unit_test(forecasts_read_no_data), cmocka_unit_test(every_allocation_fails),
      cmocka_unit_test(every_operation_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
