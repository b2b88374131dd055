/* Writers at the same time: appends all land, strict commits exclude each other (checklist 26). */
#include <pthread.h>
#include <stdlib.h>

#include "table/rows.h"
#include "tables.h"

enum { WRITERS = 4, ROUNDS = 10 };

struct writer {
  const test_env *shared;
  char path[100]; /* of the table */
  int number;
  bool strict;
  int committed;
};

static struct writer make_writer(const test_env *t, const char *name, int number, bool strict) {
  struct writer w = {.shared = t, .number = number, .strict = strict};
  snprintf(w.path, sizeof w.path, "%s/%s", t->root, name);
  return w;
}

/* One append, or one strict change of metadata; false = somebody else was first. */
static bool write_once(test_env *t, table_snapshot **s, const struct writer *w, int round) {
  table_snapshot *next = NULL;
  glv_error err = {0};
  glv_status status;
  if (w->strict) {
    const metadata_change change = {STR("k"), STR("v")};
    const operation op = {.kind = OPERATION_UPDATE_CONFIG, .changes = &change, .change_count = 1};
    status = table_commit(*s, &op, &(commit_options){.strict = true}, &next, NULL, &err);
  } else {
    batch_reader r = make_rows(t->env, 1000 * w->number + round, 1, 1);
    status = table_append(*s, &r, NULL, &next, NULL, &err);
  }
  if (status != GLV_OK) {
    assert_int_equal(status, GLV_E_CONFLICT);
    assert_int_equal(err.flags, GLV_ERROR_MAY_RETRY);
    OK(table_open_version(*s, 0, &next, err));
  }
  table_unref(*s);
  *s = next;
  return status == GLV_OK;
}

static void *run_writer(void *context) {
  struct writer *w = context;
  test_env t;
  test_env_share(&t, w->shared);
  table_snapshot *s;
  OK(table_open(t.env, w->path, "t", 0, &s, err));
  for (int round = 0; round < ROUNDS; round++) {
    w->committed += write_once(&t, &s, w, round);
  }
  table_unref(s);
  test_env_close(&t);
  return NULL;
}

static int run_all(test_env *t, bool strict) {
  struct writer writers[WRITERS];
  pthread_t threads[WRITERS];
  int committed = 0;
  for (int i = 0; i < WRITERS; i++) {
    writers[i] = make_writer(t, "t", i + 1, strict);
    assert_int_equal(pthread_create(&threads[i], NULL, run_writer, &writers[i]), 0);
  }
  for (int i = 0; i < WRITERS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    committed += writers[i].committed;
  }
  return committed;
}

static int compare_numbers(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a;
  const uint64_t y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void test_appends(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env t;
    test_env_open(&t, store);
    table_unref(create_rows(t.env, test_env_path(&t, "t"), 0, 1, true));
    assert_int_equal(run_all(&t, false), WRITERS * ROUNDS);
    table_snapshot *s;
    OK(table_open(t.env, test_env_path(&t, "t"), "t", 0, &s, err));
    const size_t rows = WRITERS * ROUNDS + 1;
    assert_int_equal(table_version(s), rows);
    assert_int_equal(table_live_rows(s), rows);
    assert_int_equal(table_next_row_id(s), rows);
    uint64_t ids[WRITERS * ROUNDS + 1];
    assert_int_equal(scan_numbers(s, "_rowid", ids, rows), rows);
    qsort(ids, rows, sizeof *ids, compare_numbers);
    for (size_t i = 0; i < rows; i++) {
      assert_int_equal(ids[i], i);
    }
    assert_int_equal(scan_numbers(s, "id", ids, rows), rows);
    qsort(ids, rows, sizeof *ids, compare_numbers);
    for (size_t i = 1; i < rows; i++) {
      assert_true(ids[i - 1] < ids[i]);
    }
    assert_int_equal(count_files(t.env, test_env_path(&t, "t/_versions")), rows + 1);
    assert_int_equal(count_files(t.env, test_env_path(&t, "t/_transactions")), rows);
    table_unref(s);
    test_env_close(&t);
  }
}

static void test_strict(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env t;
    test_env_open(&t, store);
    table_unref(create_rows(t.env, test_env_path(&t, "t"), 0, 1, true));
    const int committed = run_all(&t, true);
    assert_true(committed >= ROUNDS && committed <= WRITERS * ROUNDS);
    table_snapshot *s;
    OK(table_open(t.env, test_env_path(&t, "t"), "t", 0, &s, err));
    assert_int_equal(table_version(s), committed + 1);
    assert_int_equal(count_files(t.env, test_env_path(&t, "t/_transactions")), committed + 1);
    table_unref(s);
    test_env_close(&t);
  }
}

/* Creations at the same path: one wins. */
static void *run_creator(void *context) {
  struct writer *w = context;
  test_env t;
  test_env_share(&t, w->shared);
  batch_reader r = make_rows(t.env, w->number, 1, 1);
  schema *s = schema_ref(r.schema);
  glv_error err = {0};
  const glv_status status = table_create(t.env, w->path, "c", s, &r, NULL, NULL, &err);
  w->committed = status == GLV_OK;
  if (status != GLV_OK && status != GLV_E_TABLE_EXISTS) {
    fail_msg("%s", err.message);
  }
  schema_unref(s);
  test_env_close(&t);
  return NULL;
}

static void test_creations(void **state) {
  (void)state;
  for (int round = 0; round < 20; round++) {
    test_env t;
    test_env_open(&t, round % 2);
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    int committed = 0;
    for (int i = 0; i < WRITERS; i++) {
      writers[i] = make_writer(&t, "c", i + 1, false);
      assert_int_equal(pthread_create(&threads[i], NULL, run_creator, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
      committed += writers[i].committed;
    }
    assert_int_equal(committed, 1);
    table_snapshot *s;
    OK(table_open(t.env, test_env_path(&t, "c"), "c", 0, &s, err));
    assert_int_equal(table_live_rows(s), 1);
    assert_int_equal(count_files(t.env, test_env_path(&t, "c/data")), 1);
    table_unref(s);
    test_env_close(&t);
  }
}

/* Updates of shared rows and deletes of rows beside them: what conflicts is computed again, none is
 * lost, and none done twice. */
static bool change_once(table_snapshot **s, const struct writer *w, int round) {
  const row_assignment set = {STR("id"), STR("id + 100")};
  char shared[32];
  char own[32];
  snprintf(shared, sizeof shared, "id %% 100 = %d", w->number % 2);
  snprintf(own, sizeof own, "id = %d", 10 * w->number + round);
  const bool updates = round % 2 == 0;
  table_snapshot *next = NULL;
  glv_error err = {0};
  row_result r = {0};
  const glv_status status = updates
                                ? table_update(*s, &set, 1, str_of(shared), NULL, &next, &r, &err)
                                : table_delete(*s, str_of(own), NULL, &next, &r, &err);
  if (status != GLV_OK) { /* the limit of computing again */
    assert_int_equal(status, GLV_E_CONFLICT);
    assert_int_equal(err.flags, GLV_ERROR_MAY_RETRY);
    OK(table_open_version(*s, 0, &next, err));
  } else {
    assert_int_equal(updates ? r.updated : r.deleted, 1);
  }
  if (status == GLV_OK && round % 3 == 0) {
    table_unref(next); /* go on from a version that is not the latest */
  } else {
    table_unref(*s);
    *s = next;
  }
  return status == GLV_OK;
}

static void *run_changer(void *context) {
  struct writer *w = context;
  test_env t;
  test_env_share(&t, w->shared);
  table_snapshot *s;
  OK(table_open(t.env, w->path, "t", 0, &s, err));
  for (int round = 0; round < ROUNDS;) {
    round += change_once(&s, w, round);
  }
  table_unref(s);
  test_env_close(&t);
  return NULL;
}

static void test_row_changes(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env t;
    test_env_open(&t, store);
    table_unref(create_rows(t.env, test_env_path(&t, "t"), 0, 60, store == 0));
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
      writers[i] = make_writer(&t, "t", i + 1, false);
      assert_int_equal(pthread_create(&threads[i], NULL, run_changer, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    table_snapshot *s;
    OK(table_open(t.env, test_env_path(&t, "t"), "t", 0, &s, err));
    assert_int_equal(table_version(s), 1 + WRITERS * ROUNDS);
    uint64_t ids[60];
    const size_t rows = 60 - WRITERS * ROUNDS / 2;
    assert_int_equal(scan_numbers(s, "id", ids, 60), rows);
    qsort(ids, rows, sizeof *ids, compare_numbers);
    for (size_t i = 0; i < 2; i++) {
      assert_int_equal(ids[rows - 2 + i], i + 100 * (WRITERS / 2) * (ROUNDS / 2));
    }
    table_unref(s);
    test_env_close(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_appends), cmocka_unit_test(test_strict),
                                     cmocka_unit_test(test_row_changes),
                                     cmocka_unit_test(test_creations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
