/*
 * Every I/O operation and every allocation failing, the process dying at each operation, and loss
 * of power, while a table is created in a namespace, a namespace is created, and a table is
 * dropped. Afterwards the old or the new state is there, and the repeated call succeeds.
 */
#include <errno.h>
#include <stdlib.h>

#include "catalog_fixture.h"
#include "support/io_crash.h"

/* A database with namespace ns, table ns/old and root table root. */
static void prepare(void) {
  OK(catalog_namespace_create(db, ID("ns"), NO_PROPERTIES, CATALOG_CREATE, &err));
  create_table(ID("ns", "old"));
  create_table(ID("root"));
}

typedef glv_status (*action)(catalog *c, glv_error *report);

static glv_status create_one(catalog *c, glv_error *report) {
  return create_table_in(c, ID("ns", "new"), report);
}
static glv_status create_namespace(catalog *c, glv_error *report) {
  return catalog_namespace_create(c, ID("ns", "space"), NO_PROPERTIES, CATALOG_CREATE, report);
}
static glv_status drop_one(catalog *c, glv_error *report) {
  return catalog_table_drop(c, ID("ns", "old"), false, report);
}
static glv_status create_root(catalog *c, glv_error *report) {
  return create_table_in(c, ID("newroot"), report);
}
static glv_status drop_root(catalog *c, glv_error *report) {
  return catalog_table_drop(c, ID("root"), false, report);
}
static glv_status rename_one(catalog *c, glv_error *report) {
  return catalog_table_rename(c, ID("ns", "old"), ID("ns", "renamed"), report);
}
static glv_status rename_root(catalog *c, glv_error *report) {
  return catalog_table_rename(c, ID("root"), ID("newroot"), report);
}
static glv_status drop_all(catalog *c, glv_error *report) {
  return catalog_namespace_drop(c, ID("ns"), false, true, report);
}

enum { OLD = 1, NEW = 2, SPACE = 4, ROOT_OLD = 8, ROOT_NEW = 16, RENAMED = 32 };

/* An action, what is there after it (before it: OLD and ROOT_OLD), and what a repetition reports.
 */
static const struct {
  action run;
  int after;
  glv_status repeated;
} ACTIONS[] = {
    {create_one, OLD | ROOT_OLD | NEW, GLV_E_TABLE_EXISTS},
    {create_namespace, OLD | ROOT_OLD | SPACE, GLV_E_NAMESPACE_EXISTS},
    {drop_one, ROOT_OLD, GLV_E_TABLE_NOT_FOUND},
    {create_root, OLD | ROOT_OLD | ROOT_NEW, GLV_E_TABLE_EXISTS},
    {drop_root, OLD, GLV_E_TABLE_NOT_FOUND},
    {rename_one, RENAMED | ROOT_OLD, GLV_E_TABLE_NOT_FOUND},
    {rename_root, OLD | ROOT_NEW, GLV_E_TABLE_NOT_FOUND},
    {drop_all, ROOT_OLD, GLV_E_NAMESPACE_NOT_FOUND},
};
enum { ACTION_COUNT = sizeof ACTIONS / sizeof *ACTIONS };

/* The bits of the tables of a namespace that open. A declared one may be left, and an empty
 * directory at the root; what cannot be opened for another reason is broken. */
static int look_at(catalog *c, glv_env *env, catalog_id ns) {
  static const struct {
    const char *name;
    int bit;
  } known[] = {
      {"old", OLD}, {"new", NEW}, {"root", ROOT_OLD}, {"newroot", ROOT_NEW}, {"renamed", RENAMED}};
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  catalog_list list;
  OK(catalog_table_list(c, ns, NULL, &a, &list, &err));
  int bits = 0;
  for (size_t i = 0; i < list.count; i++) {
    table_snapshot *s = NULL;
    const glv_status status = table_open(env, list.entries[i].path, NULL, 0, &s, &err);
    table_unref(s);
    assert_true(status == GLV_OK || status == GLV_E_TABLE_NOT_FOUND);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
      bits |=
          status == GLV_OK && strcmp(known[k].name, list.entries[i].name) == 0 ? known[k].bit : 0;
    }
  }
  return bits;
}

/* Whether the action shows; asserts that everything is as before it or as after it. */
static bool look(catalog *c, glv_env *env, size_t k) {
  bool has_space;
  OK(catalog_namespace_exists(c, ID("ns", "space"), &has_space, &err));
  const int seen = look_at(c, env, ID("ns")) | look_at(c, env, ROOT) | (has_space ? SPACE : 0);
  const bool is_before = seen == (OLD | ROOT_OLD);
  if (!is_before && seen != ACTIONS[k].after) {
    fail_msg("action %d left the state %d", (int)k, seen);
  }
  return !is_before;
}

/* The state after a try that reported `status`, and a second try without faults. */
static void check_and_repeat(catalog *c, glv_env *env, size_t k, glv_status status) {
  const bool done = look(c, env, k);
  if (status == GLV_OK) {
    assert_true(done);
  }
  const glv_status again = ACTIONS[k].run(c, &err);
  if (again != GLV_OK && !(again == ACTIONS[k].repeated && done)) {
    fail_msg("action %d repeated: %s: %s", (int)k, error_name(again), err.message);
  }
  assert_true(look(c, env, k));
}

static void every_operation_fails(void **state) {
  (void)state;
  const int numbers[] = {EIO, ENOSPC};
  for (size_t k = 0; k < ACTION_COUNT; k++) {
    for (unsigned variant = 0; variant < 6; variant++) {
      bool fired = true;
      for (uint64_t n = 1; fired; n++) {
        open_store(0, CATALOG_DIRECTORY);
        prepare();
        io_fault_arm(&t.io, (io_fault_plan){.mask = IO_MASK_ALL,
                                            .nth = n,
                                            .number = numbers[variant & 1],
                                            .persistent = variant / 2 == 1,
                                            .short_write = true,
                                            .after = variant / 2 == 2});
        const glv_status status = ACTIONS[k].run(db, &err);
        fired = t.io.fired;
        io_fault_arm(&t.io, (io_fault_plan){0});
        check_and_repeat(db, t.env, k, status);
        close_all(NULL);
      }
    }
  }
}

static void every_allocation_fails(void **state) {
  (void)state;
  for (size_t k = 0; k < ACTION_COUNT; k++) {
    bool fired = true;
    for (uint64_t n = 1; fired; n += 1 + n / 40) {
      open_store(0, CATALOG_DIRECTORY);
      prepare();
      alloc_fault_arm(&t.alloc, n, false);
      const glv_status status = ACTIONS[k].run(db, &err);
      fired = atomic_load(&t.alloc.fired);
      alloc_fault_arm(&t.alloc, 0, false);
      check_and_repeat(db, t.env, k, status);
      close_all(NULL);
    }
  }
}

/* One crash; power = loss of power, else death of the process. */
static bool crash_once(size_t k, uint64_t at, bool power, uint64_t seed) {
  open_store(0, CATALOG_DIRECTORY);
  prepare();
  io_crash *crash = io_crash_new(io_mem_table(t.mem), t.root);
  io_crash_at(crash, at);
  glv_env *env = test_env_over(io_crash_table(crash));
  catalog *c = NULL;
  glv_status status = catalog_open(env, t.root, CATALOG_DIRECTORY, &c, &err);
  status = status == GLV_OK ? ACTIONS[k].run(c, &err) : status;
  const bool happened = io_crash_happened(crash);
  catalog_unref(c);
  env_unref(env);
  const char *root = t.root;
  if (power) {
    io_crash_materialise(crash, seed, t.env, "/after");
    root = "/after";
  }
  io_crash_free(crash);
  OK(catalog_open(t.env, root, CATALOG_DIRECTORY, &c, &err));
  check_and_repeat(c, t.env, k, status);
  catalog_unref(c);
  close_all(NULL);
  return happened;
}

static void the_process_dies_at_every_operation(void **state) {
  (void)state;
  for (size_t k = 0; k < ACTION_COUNT; k++) {
    for (uint64_t at = 1; crash_once(k, at, false, 0); at++) {
    }
  }
}

static void power_is_lost_at_every_operation(void **state) {
  (void)state;
  const uint64_t seeds = getenv("GLAIVE_LONG") != NULL ? 20 : 3;
  for (size_t k = 0; k < ACTION_COUNT; k++) {
    for (uint64_t seed = 1; seed <= seeds; seed++) {
      for (uint64_t at = 1; crash_once(k, at, true, seed * 1000 + at); at++) {
      }
      (void)crash_once(k, 0, true, seed);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_fails),
      cmocka_unit_test(every_allocation_fails),
      cmocka_unit_test(the_process_dies_at_every_operation),
      cmocka_unit_test(power_is_lost_at_every_operation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
