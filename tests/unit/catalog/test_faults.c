/*
 * Every I/O operation and every allocation failing, the process dying at each operation, and loss
 * of power, while a table is created in a namespace, a namespace is created, and a table is
 * dropped. Afterwards the old or the new state is there, and the repeated call succeeds.
 */
#include <errno.h>

#include "catalog_fixture.h"
#include "support/io_crash.h"

/* A database with namespace ns and table ns/old. */
static void prepare(void) {
  OK(catalog_namespace_create(db, ID("ns"), NO_PROPERTIES, CATALOG_CREATE, &err));
  create_table(ID("ns", "old"));
}

typedef glv_status (*action)(catalog *c, glv_error *report);

static glv_status create_one(catalog *c, glv_error *report) {
  return create_table_in(c, ID("ns", "new"), report);
}
static glv_status create_namespace(catalog *c, glv_error *report) {
  return catalog_namespace_create(c, ID("ns", "new"), NO_PROPERTIES, CATALOG_CREATE, report);
}
static glv_status drop_one(catalog *c, glv_error *report) {
  return catalog_table_drop(c, ID("ns", "old"), false, report);
}

/* Whether the action shows; asserts that everything else is as it was. */
static bool look(catalog *c, glv_env *env, action act) {
  arena a;
  arena_init(&a, env);
  catalog_list list;
  OK(catalog_table_list(c, ID("ns"), NULL, &a, &list, &err));
  bool old_is_there = false;
  bool new_is_there = false;
  for (size_t i = 0; i < list.count; i++) {
    table_snapshot *s = NULL;
    const glv_status status = table_open(env, list.entries[i].path, NULL, 0, &s, &err);
    table_unref(s);
    const bool is_new = strcmp(list.entries[i].name, "new") == 0;
    /* a declared table may be left, a broken one must not */
    assert_true(status == GLV_OK || (status == GLV_E_TABLE_NOT_FOUND && is_new));
    old_is_there |= !is_new;
    new_is_there |= is_new && status == GLV_OK;
  }
  if (act == create_namespace) {
    OK(catalog_namespace_exists(c, ID("ns", "new"), &new_is_there, &err));
  }
  assert_true(old_is_there || act == drop_one);
  arena_dispose(&a);
  return act == drop_one ? !old_is_there : new_is_there;
}

static bool is_done_already(action act, glv_status status) {
  return (act == create_one && status == GLV_E_TABLE_EXISTS) ||
         (act == create_namespace && status == GLV_E_NAMESPACE_EXISTS) ||
         (act == drop_one && status == GLV_E_TABLE_NOT_FOUND);
}

/* The state after a try that reported `status`, and a second try without faults. */
static void check_and_repeat(catalog *c, glv_env *env, action act, glv_status status) {
  const bool done = look(c, env, act);
  if (status == GLV_OK) {
    assert_true(done);
  }
  const glv_status again = act(c, &err);
  assert_true(again == GLV_OK || (is_done_already(act, again) && (done || status == GLV_OK)));
  assert_true(look(c, env, act));
}

static const action ACTIONS[] = {create_one, create_namespace, drop_one};

static void every_operation_fails(void **state) {
  (void)state;
  const int numbers[] = {EIO, ENOSPC};
  for (size_t k = 0; k < 3; k++) {
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
        const glv_status status = ACTIONS[k](db, &err);
        fired = t.io.fired;
        io_fault_arm(&t.io, (io_fault_plan){0});
        check_and_repeat(db, t.env, ACTIONS[k], status);
        close_all(NULL);
      }
    }
  }
}

static void every_allocation_fails(void **state) {
  (void)state;
  for (size_t k = 0; k < 3; k++) {
    bool fired = true;
    for (uint64_t n = 1; fired; n += 1 + n / 40) {
      open_store(0, CATALOG_DIRECTORY);
      prepare();
      alloc_fault_arm(&t.alloc, n, false);
      const glv_status status = ACTIONS[k](db, &err);
      fired = atomic_load(&t.alloc.fired);
      alloc_fault_arm(&t.alloc, 0, false);
      check_and_repeat(db, t.env, ACTIONS[k], status);
      close_all(NULL);
    }
  }
}

/* One crash; power = loss of power, else death of the process. */
static bool crash_once(action act, uint64_t at, bool power, uint64_t seed) {
  open_store(0, CATALOG_DIRECTORY);
  prepare();
  io_crash *crash = io_crash_new(io_mem_table(t.mem), t.root);
  io_crash_at(crash, at);
  glv_env *env = test_env_over(io_crash_table(crash));
  catalog *c = NULL;
  glv_status status = catalog_open(env, t.root, CATALOG_DIRECTORY, &c, &err);
  status = status == GLV_OK ? act(c, &err) : status;
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
  check_and_repeat(c, t.env, act, status);
  catalog_unref(c);
  close_all(NULL);
  return happened;
}

static void the_process_dies_at_every_operation(void **state) {
  (void)state;
  for (size_t k = 0; k < 3; k++) {
    for (uint64_t at = 1; crash_once(ACTIONS[k], at, false, 0); at++) {
    }
  }
}

static void power_is_lost_at_every_operation(void **state) {
  (void)state;
  for (size_t k = 0; k < 3; k++) {
    for (uint64_t seed = 1; seed <= 8; seed++) {
      for (uint64_t at = 1; crash_once(ACTIONS[k], at, true, seed * 1000 + at); at++) {
      }
      (void)crash_once(ACTIONS[k], 0, true, seed);
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
