/* Deletes, updates and merges: rows and their identity, nothing to do, computing again after
 * somebody else's commit, every I/O operation and every allocation failing. What the reference does
 * is compared in tests/interop/test_rows.py. */
#include <errno.h>

#include "table/rows.h"
#include "tables.h"

/* Rows 0 .. 9 and 10 .. 19 in two fragments, version 2. */
static table_snapshot *open_rows(test_env *t, bool stable) {
  table_snapshot *s = create_rows(t->env, test_env_path(t, "t"), 0, 10, stable);
  append_rows(&s, 10, 10);
  return s;
}

static void move_to(table_snapshot **t, table_snapshot *next) {
  table_unref(*t);
  *t = next;
}

static row_result delete_where(table_snapshot **t, const char *where) {
  table_snapshot *next = NULL;
  row_result r;
  OK(table_delete(*t, str_of(where), NULL, &next, &r, err));
  move_to(t, next);
  return r;
}

static row_result update_where(table_snapshot **t, const char *column, const char *value,
                               const char *where) {
  const row_assignment set = {str_of(column), str_of(value)};
  table_snapshot *next = NULL;
  row_result r;
  OK(table_update(*t, &set, 1, str_of(where), NULL, &next, &r, err));
  move_to(t, next);
  return r;
}

/* A source with the column id alone, in batches of three rows; UINT32_MAX is null. */
static batch_reader source_of(glv_env *env, const uint32_t *ids, size_t count) {
  const field f = {.name = "id", .type = type_simple(TYPE_INT64), .nullable = true};
  schema *s;
  batch batches[16] = {0};
  size_t batch_count = 0;
  OK(schema_new(env, &f, 1, (metadata){0}, &s, err));
  for (size_t done = 0; done < count; batch_count++) {
    const size_t part = size_min(count - done, 3);
    builder b;
    builder_init(&b, env, s->fields[0].type);
    for (size_t i = 0; i < part; i++, done++) {
      const int64_t id = ids[done];
      OK(ids[done] == UINT32_MAX ? builder_append_null(&b, err)
                                 : builder_append_fixed(&b, &id, err));
    }
    OK(batch_new(env, s, part, 1, &batches[batch_count], err));
    OK(builder_finish(&b, &batches[batch_count].columns[0], err));
    builder_dispose(&b);
  }
  batch_reader r;
  OK(batch_reader_of(env, s, batches, batch_count, &r, err));
  for (size_t i = 0; i < batch_count; i++) {
    batch_dispose(&batches[i]);
  }
  schema_unref(s);
  return r;
}
#define SOURCE(env, ...)                                                                           \
  source_of((env), (const uint32_t[]){__VA_ARGS__},                                                \
            sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static const str id_key[] = {{"id", 2}};

static row_result merge(table_snapshot **t, batch_reader *in, merge_options o) {
  o.on = id_key;
  o.on_count = 1;
  table_snapshot *next = NULL;
  row_result r;
  OK(table_merge(*t, in, &o, &next, &r, err));
  assert_null(in->next);
  move_to(t, next);
  return r;
}

#define NUMBERS(t, name, ...)                                                                      \
  do {                                                                                             \
    uint64_t found[64];                                                                            \
    const uint64_t wanted[] = {__VA_ARGS__};                                                       \
    assert_int_equal(scan_numbers((t), (name), found, 64), sizeof wanted / sizeof wanted[0]);      \
    assert_memory_equal(found, wanted, sizeof wanted);                                             \
  } while (0)

static void check_result(row_result r, uint64_t inserted, uint64_t updated, uint64_t deleted,
                         uint32_t attempts) {
  assert_int_equal(r.inserted, inserted);
  assert_int_equal(r.updated, updated);
  assert_int_equal(r.deleted, deleted);
  assert_int_equal(r.attempts, attempts);
}

/* ---- what they do ---- */

static void test_delete(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_rows(t, true);
  check_result(delete_where(&s, "id > 3"), 0, 0, 16, 1);
  EXPECT_IDS(s, NULL, 0, 1, 2, 3);
  assert_int_equal(table_version(s), 3);
  assert_null(table_fragment(s, 1)); /* gone whole, and without a deletion file */
  assert_int_equal(count_files(t->env, test_env_path(t, "t/_deletions")), 1);
  check_result(delete_where(&s, "id > 3"), 0, 0, 0, 0);
  assert_int_equal(table_version(s), 3);
  check_result(delete_where(&s, "id < 2"), 0, 0, 2, 1);
  EXPECT_IDS(s, NULL, 2, 3);
  check_result(delete_where(&s, ""), 0, 0, 2, 1);
  assert_int_equal(table_live_rows(s), 0);
  assert_int_equal(table_version(s), 5);
  check_result(delete_where(&s, ""), 0, 0, 0, 0);
  assert_int_equal(table_version(s), 5);
  EXPECT(GLV_E_SQL_PLAN, "nope", table_delete(s, STR("nope"), NULL, NULL, NULL, err));
  table_unref(s);
}

static void test_update(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_rows(t, true);
  check_result(update_where(&s, "id", "id + 70", "id % 7 = 0"), 0, 3, 0, 1);
  EXPECT_IDS(s, NULL, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 70, 77, 84);
  NUMBERS(s, "_rowid", 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 0, 7, 14);
  NUMBERS(s, "_row_created_at_version", 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 2);
  NUMBERS(s, "_row_last_updated_at_version", 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3,
          3, 3);
  assert_int_equal(table_next_row_id(s), 20);
  check_result(update_where(&s, "id", "1", "id > 100"), 0, 0, 0, 0);
  assert_int_equal(table_version(s), 3);
  assert_int_equal(count_files(t->env, test_env_path(t, "t/data")), 3); /* none for nothing */
  check_result(delete_where(&s, "id < 70"), 0, 0, 17, 1);
  check_result(update_where(&s, "text", "concat('t', id)", "id = 84"), 0, 1, 0, 1);
  check_result(update_where(&s, "text", "NULL", ""), 0, 3, 0, 1);
  EXPECT_IDS(s, NULL, 70, 77, 84);
  NUMBERS(s, "_rowid", 0, 7, 14);
  table_unref(s);
}

static void test_refused_updates(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_rows(t, true);
  const row_assignment twice[] = {{STR("id"), STR("1")}, {STR("id"), STR("2")}};
  const row_assignment unknown = {STR("nope"), STR("1")};
  const row_assignment nested = {STR("id.x"), STR("1")};
  const row_assignment null = {STR("id"), STR("NULL")};
  const row_assignment broken = {STR("id"), STR("1 +")};
  table_snapshot *n = NULL;
  EXPECT(GLV_E_INVALID_INPUT, "No updates", table_update(s, NULL, 0, STR(""), NULL, &n, NULL, err));
  EXPECT(GLV_E_INVALID_INPUT, "set twice", table_update(s, twice, 2, STR(""), NULL, &n, NULL, err));
  EXPECT(GLV_E_COLUMN_NOT_FOUND, "no column 'nope'",
         table_update(s, &unknown, 1, STR(""), NULL, &n, NULL, err));
  EXPECT(GLV_E_UNSUPPORTED, "whole columns",
         table_update(s, &nested, 1, STR(""), NULL, &n, NULL, err));
  EXPECT(GLV_E_SCHEMA, "`id`", table_update(s, &null, 1, STR(""), NULL, &n, NULL, err));
  EXPECT(GLV_E_SQL_PARSE, "", table_update(s, &broken, 1, STR(""), NULL, &n, NULL, err));
  assert_int_equal(count_files(t->env, test_env_path(t, "t/data")), 2);
  table_unref(s);
}

static void test_merge(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_rows(t, true);
  batch_reader r = SOURCE(t->env, 100, 17, 3, UINT32_MAX, 12, 1, 200);
  check_result(merge(&s, &r, (merge_options){.update_matched = true}), 0, 4, 0, 1);
  EXPECT_IDS(s, NULL, 0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 18, 19, 1, 3, 12, 17);
  NUMBERS(s, "_rowid", 0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 18, 19, 1, 3, 12, 17);
  r = SOURCE(t->env, 700, 17, 3, 1400);
  check_result(merge(&s, &r,
                     (merge_options){.update_matched = true,
                                     .update_if = STR("source.id > 10 and target.text = 't17'"),
                                     .insert_unmatched = true,
                                     .delete_unmatched = true,
                                     .delete_if = STR("id > 2 and id < 19")}),
               2, 1, 14, 1);
  EXPECT_IDS(s, NULL, 0, 2, 19, 1, 3, 17, 700, 1400);
  NUMBERS(s, "_rowid", 0, 2, 19, 1, 3, 17, 20, 21);
  NUMBERS(s, "_row_created_at_version", 1, 1, 2, 1, 1, 2, 4, 4);
  NUMBERS(s, "_row_last_updated_at_version", 1, 1, 2, 3, 3, 4, 4, 4);
  r = SOURCE(t->env, 0, 2);
  check_result(merge(&s, &r, (merge_options){.insert_unmatched = true}), 0, 0, 0, 0);
  assert_int_equal(table_version(s), 4);
  r = source_of(t->env, NULL, 0);
  check_result(merge(&s, &r, (merge_options){.delete_unmatched = true, .delete_if = STR("id < 3")}),
               0, 0, 3, 1);
  EXPECT_IDS(s, NULL, 19, 3, 17, 700, 1400);
  r = SOURCE(t->env, 700, 7);
  check_result(merge(&s, &r, (merge_options){.delete_unmatched = true}), 0, 0, 4, 1);
  EXPECT_IDS(s, NULL, 700);
  table_unref(s);
}

static void test_merge_without_stable_ids(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_rows(t, false);
  batch_reader r = make_rows(t->env, 8, 14, 4);
  check_result(merge(&s, &r, (merge_options){.update_matched = true, .insert_unmatched = true}), 2,
               12, 0, 1);
  EXPECT_IDS(s, NULL, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21);
  assert_null(table_fragment(s, 1));
  assert_false(table_fragment(s, 2)->has_row_ids);
  table_unref(s);
}

static void test_refused_merges(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_rows(t, true);
  table_snapshot *n = NULL;
  const str nope = STR("nope");
  const merge_options update = {.on = id_key, .on_count = 1, .update_matched = true};
  merge_options o = {.on = id_key, .on_count = 1};
  batch_reader r = SOURCE(t->env, 1);
  EXPECT(GLV_E_INVALID_INPUT, "not configured", table_merge(s, &r, &o, &n, NULL, err));
  o = (merge_options){.update_matched = true};
  r = SOURCE(t->env, 1);
  EXPECT(GLV_E_INVALID_INPUT, "names no primary key", table_merge(s, &r, &o, &n, NULL, err));
  o = (merge_options){.on = &nope, .on_count = 1, .update_matched = true};
  r = SOURCE(t->env, 1);
  EXPECT(GLV_E_COLUMN_NOT_FOUND, "'nope'", table_merge(s, &r, &o, &n, NULL, err));
  r = SOURCE(t->env, 5, 6, 7, 8, 6);
  EXPECT(GLV_E_INVALID_INPUT, "the same target row on (id = 6)",
         table_merge(s, &r, &update, &n, NULL, err));
  o = update;
  o.update_if = STR("source.id < 8");
  r = SOURCE(t->env, 5, 6, 7, 8, 6);
  EXPECT(GLV_E_INVALID_INPUT, "(id = 6)", table_merge(s, &r, &o, &n, NULL, err));
  o.update_if = STR("source.text = 'x'"); /* the source has no such column */
  r = SOURCE(t->env, 5);
  EXPECT(GLV_E_SQL_PLAN, "text", table_merge(s, &r, &o, &n, NULL, err));
  o.update_if = STR("1 / (target.id - 5) > 0");
  r = SOURCE(t->env, 5, 6);
  EXPECT(GLV_E_SQL_EXEC, "", table_merge(s, &r, &o, &n, NULL, err));
  assert_int_equal(count_files(t->env, test_env_path(t, "t/data")), 2);
  table_unref(s);
}

/* ---- others ---- */

/* The version that was opened is not the latest: what others did is joined or met. */
static void test_computed_again(void **state) {
  test_env *t = *state;
  table_snapshot *old = open_rows(t, true);
  table_snapshot *s = table_ref(old);
  delete_where(&s, "id in (1, 11)");
  update_where(&s, "id", "id + 100", "id in (2, 12)");
  append_rows(&s, 20, 2);
  table_snapshot *d = table_ref(old);
  check_result(delete_where(&d, "id in (0, 10)"), 0, 0, 2, 1); /* other rows: joined */
  assert_int_equal(table_version(d), 6);
  check_result(delete_where(&old, "id % 10 < 3"), 0, 0, 4, 2); /* 102, 112 and 20, 21 came */
  EXPECT_IDS(old, NULL, 3, 4, 5, 6, 7, 8, 9, 13, 14, 15, 16, 17, 18, 19);
  table_unref(d);
  table_unref(s);
  table_unref(old);
}

static void test_merged_again(void **state) {
  test_env *t = *state;
  table_snapshot *old = open_rows(t, true);
  table_snapshot *s = table_ref(old);
  update_where(&s, "id", "id + 100", "id in (2, 12)");
  batch_reader r = SOURCE(t->env, 12, 5, 2);
  table_snapshot *m = table_ref(old);
  /* 2 and 12 are not there any more: what was an update is an insert now. */
  check_result(merge(&m, &r, (merge_options){.update_matched = true, .insert_unmatched = true}), 2,
               1, 0, 2);
  NUMBERS(m, "id", 0, 1, 3, 4, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 102, 112, 5, 12, 2);
  NUMBERS(m, "_rowid", 0, 1, 3, 4, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 2, 12, 5, 20,
          21);
  check_result(update_where(&old, "id", "id - 100", "id in (2, 12) or id > 100"), 0, 2 + 2, 0, 2);
  table_unref(m);
  table_unref(s);
  table_unref(old);
}

/* ---- failures ---- */

enum action { DELETE, UPDATE, MERGE, MERGE_PART, ACTIONS };

static glv_status act(const table_snapshot *s, enum action action, batch_reader *in,
                      table_snapshot **ret, glv_error *err) {
  const row_assignment set = {STR("text"), STR("concat(text, '')")};
  merge_options o = {.on = id_key, .on_count = 1, .update_matched = true, .insert_unmatched = true};
  switch (action) {
  case DELETE:
    return table_delete(s, STR("id % 4 = 1"), NULL, ret, NULL, err);
  case UPDATE:
    return table_update(s, &set, 1, STR("id % 4 = 1"), NULL, ret, NULL, err);
  case MERGE:
    o.update_if = STR("source.id > 2 and target.text <> 'x'");
    return table_merge(s, in, &o, ret, NULL, err);
  default:
    o.delete_unmatched = true;
    o.delete_if = STR("id > 15");
    o.insert_unmatched = false;
    return table_merge(s, in, &o, ret, NULL, err);
  }
}

static batch_reader source_for(glv_env *env, enum action action) {
  return action == MERGE        ? make_rows(env, 15, 10, 4)
         : action == MERGE_PART ? SOURCE(env, 17, 3, 99, 8, 2)
                                : (batch_reader){0};
}

static void check_rows(const table_snapshot *s, enum action action) {
  switch (action) {
  case DELETE:
    EXPECT_IDS(s, NULL, 0, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 15, 16, 18, 19);
    return;
  case UPDATE:
    EXPECT_IDS(s, NULL, 0, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 15, 16, 18, 19, 1, 5, 9, 13, 17);
    return;
  case MERGE:
    EXPECT_IDS(s, NULL, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
               21, 22, 23, 24);
    return;
  default:
    EXPECT_IDS(s, NULL, 0, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 2, 3, 8, 17);
  }
}

static void check_nothing_left(test_env *t) {
  assert_int_equal(count_files(t->env, test_env_path(t, "t/data")), 2);
  assert_int_equal(count_files(t->env, test_env_path(t, "t/_transactions")), 2);
  assert_int_equal(count_files(t->env, test_env_path(t, "t/_deletions")), 0);
}

/* What is there is the old or the new version; the next try succeeds. */
static void check_state(test_env *t, enum action action, glv_status status) {
  CLEANUP(table_cleanup) table_snapshot *s = NULL;
  CLEANUP(table_cleanup) table_snapshot *next = NULL;
  OK(table_open(t->env, test_env_path(t, "t"), "t", 0, &s, err));
  const bool is_new = table_version(s) == 3;
  if (status == GLV_OK || is_new) {
    assert_true(status == GLV_OK || status == GLV_E_UNKNOWN_OUTCOME);
    assert_true(is_new);
    check_rows(s, action);
    return;
  }
  assert_int_equal(table_version(s), 2);
  assert_int_equal(table_live_rows(s), 20);
  batch_reader r = source_for(t->env, action);
  OK(act(s, action, &r, &next, err));
  check_rows(next, action);
}

static bool run_io(enum action action, io_fault_plan plan) {
  test_env t;
  test_env source;
  test_env_open_mem(&t);
  test_env_open_mem(&source);
  table_snapshot *s = open_rows(&t, true);
  table_snapshot *next = NULL;
  batch_reader r = source_for(source.env, action);
  io_fault_arm(&t.io, plan);
  glv_error err = {0};
  const glv_status status = act(s, action, &r, &next, &err);
  const bool fired = t.io.fired;
  io_fault_arm(&t.io, (io_fault_plan){0});
  if (status != GLV_OK) {
    assert_true(fired);
    assert_int_equal(err.code, status);
    assert_true(err.message[0] != '\0');
  }
  if (status != GLV_OK && status != GLV_E_UNKNOWN_OUTCOME && !plan.persistent && !plan.after) {
    check_nothing_left(&t);
  }
  check_state(&t, action, status);
  table_unref(next);
  table_unref(s);
  test_env_close(&source);
  test_env_close(&t);
  return fired;
}

static void test_io(void **state) {
  (void)state;
  static const int numbers[] = {EIO, ENOSPC};
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
        fired = run_io((enum action)action, plan);
        assert_true(nth < 1000);
      }
    }
  }
}

static void test_memory(void **state) {
  (void)state;
  for (int action = 0; action < ACTIONS; action++) {
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
      test_env t;
      test_env_open_mem_with(
          &t, &(glv_env_options){.struct_size = sizeof(glv_env_options), .threads = 1});
      table_snapshot *s = open_rows(&t, action % 2 == 0);
      table_snapshot *next = NULL;
      batch_reader r = source_for(t.env, (enum action)action);
      alloc_fault_arm(&t.alloc, nth, false);
      glv_error err = {0};
      const glv_status status = act(s, (enum action)action, &r, &next, &err);
      fired = t.alloc.fired;
      alloc_fault_arm(&t.alloc, 0, false);
      if (status != GLV_OK) {
        assert_int_equal(status, GLV_E_NOMEM);
        assert_int_equal(err.code, status);
        check_nothing_left(&t);
      }
      check_state(&t, (enum action)action, status);
      table_unref(next);
      table_unref(s);
      test_env_close(&t);
    }
  }
}

static void test_cancelled(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_rows(t, true);
  cancel_token *cancel;
  OK(cancel_new(t->env, NULL, &cancel, err));
  cancel_request(cancel);
  const row_options o = {.cancel = cancel};
  const row_assignment set = {STR("id"), STR("1")};
  const merge_options m = {.on = id_key, .on_count = 1, .update_matched = true, .cancel = cancel};
  table_snapshot *n = NULL;
  EXPECT(GLV_E_CANCELLED, "", table_delete(s, STR("id > 1"), &o, &n, NULL, err));
  EXPECT(GLV_E_CANCELLED, "", table_update(s, &set, 1, STR("id > 1"), &o, &n, NULL, err));
  batch_reader r = SOURCE(t->env, 1);
  EXPECT(GLV_E_CANCELLED, "", table_merge(s, &r, &m, &n, NULL, err));
  check_nothing_left(t);
  cancel_unref(cancel);
  table_unref(s);
}

#define IN_MEMORY(test) cmocka_unit_test_setup_teardown(test, test_env_setup, test_env_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_MEMORY(test_delete),
      IN_MEMORY(test_update),
      IN_MEMORY(test_refused_updates),
      IN_MEMORY(test_merge),
      IN_MEMORY(test_merge_without_stable_ids),
      IN_MEMORY(test_refused_merges),
      IN_MEMORY(test_computed_again),
      IN_MEMORY(test_merged_again),
      IN_MEMORY(test_cancelled),
      cmocka_unit_test(test_io),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
