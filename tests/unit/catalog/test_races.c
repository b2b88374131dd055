/*
 * Several processes at once, played by environments of their own over one store: they create, drop
 * and rename the same few tables. Whatever the order, what is left is whole: every row has a place,
 * every listed table opens or is merely declared, no version is half there.
 */
#include "catalog_fixture.h"
#include "support/rng.h"

enum { RACERS = 3, STEPS = 40 };

struct racer {
  glv_env *env;
  catalog_kind kind;
  uint64_t seed;
  size_t created;
};

/* What losing a race may look like: a directory may be dropped while it is being made. */
static bool is_expected(glv_status status, const glv_error *report) {
  return status == GLV_OK || status == GLV_E_TABLE_EXISTS || status == GLV_E_TABLE_NOT_FOUND ||
         status == GLV_E_CONFLICT || io_is_missing(report);
}

static glv_status run(void *context, glv_error *report) {
  struct racer *r = context;
  catalog *c;
  TRY(catalog_open(r->env, t.root, r->kind, &c, report));
  rng random = rng_of(r->seed);
  glv_status status = GLV_OK;
  for (int i = 0; i < STEPS && status == GLV_OK; i++) {
    const bool is_root = rng_below(&random, 2) == 0;
    const char *names[] = {"a", "b"};
    const char *name = names[rng_below(&random, 2)];
    const catalog_id id = is_root ? ID(name) : ID("ns", name);
    const uint64_t what = rng_below(&random, 4);
    if (what < 2) {
      status = create_table_in(c, id, report);
      r->created += status == GLV_OK;
    } else if (what == 2) {
      status = catalog_table_drop(c, id, false, report);
    } else {
      const catalog_id to =
          is_root ? ID(name[0] == 'a' ? "b" : "a") : ID("ns", name[0] == 'a' ? "b" : "a");
      status = catalog_table_rename(c, id, to, report);
    }
    status = is_expected(status, report) ? GLV_OK : status;
  }
  catalog_unref(c);
  return status;
}

/* Names directories that are left aside, without a row and not root tables. */
static size_t count_orphans(void) {
  const char **names;
  bool *dirs;
  size_t count;
  size_t orphans = 0;
  OK(io_list_sorted(t.env, NULL, t.root, &mem, &names, &dirs, &count, &err));
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  OK(manifest_load(db, &m, &err));
  for (size_t i = 0; i < count; i++) {
    bool has_row =
        str_ends_with(str_of(names[i]), STR(".lance")) || strcmp(names[i], "__manifest") == 0;
    for (size_t k = 0; k < m->count && !has_row; k++) {
      has_row = str_is(m->rows[k].location, names[i]);
    }
    if (!has_row) {
      print_message("left behind: %s\n", names[i]);
      orphans++;
    }
  }
  return orphans;
}

static void check_state(void) {
  const catalog_id spaces[] = {ROOT, ID("ns")};
  for (size_t s = 0; s < 2; s++) {
    catalog_list list;
    OK(catalog_table_list(db, spaces[s], NULL, &mem, &list, &err));
    for (size_t i = 0; i < list.count; i++) {
      table_snapshot *snapshot = NULL;
      const glv_status status = table_open(t.env, list.entries[i].path, NULL, 0, &snapshot, &err);
      assert_true(status == GLV_OK || status == GLV_E_TABLE_NOT_FOUND);
      table_unref(snapshot);
    }
  }
  assert_int_equal(count_orphans(), 0);
}

static void create_drop_rename(void **state) {
  (void)state;
  OK(catalog_namespace_create(db, ID("ns"), NO_PROPERTIES, CATALOG_CREATE, &err));
  static test_env environments[RACERS];
  for (uint64_t round = 0; round < 4; round++) {
    struct racer racers[RACERS];
    task tasks[RACERS];
    for (size_t i = 0; i < RACERS; i++) {
      test_env_share(&environments[i], &t);
      racers[i] =
          (struct racer){environments[i].env, i == 0 ? CATALOG_NAMESPACE : CATALOG_DIRECTORY,
                         round * RACERS + i, 0};
      tasks[i] = (task){.run = run, .context = &racers[i]};
      task_submit(t.env, &tasks[i]);
    }
    glv_status status = GLV_OK;
    size_t created = 0;
    for (size_t i = 0; i < RACERS; i++) {
      const glv_status one = task_wait(t.env, &tasks[i], status == GLV_OK ? &err : NULL);
      status = status == GLV_OK ? one : status;
      created += racers[i].created;
      test_env_close(&environments[i]);
    }
    OK(status);
    assert_true(created > 0);
    check_state();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      {"create_drop_rename (memory)", create_drop_rename, open_mem, close_all, NULL},
      {"create_drop_rename (local)", create_drop_rename, open_local, close_all, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
