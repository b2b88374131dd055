/*
 * The process dies at every changing operation of every scenario, and power is lost there: what the
 * disk may hold then is drawn by seed. The state must be the old or the new one; a call that had
 * returned OK is never lost; the next try succeeds.
 */
#include <stdlib.h>

#include "support/io_crash.h"
#include "support/scenario.h"

struct machine {
  test_env disk;  /* what the machine's operations reach */
  test_env after; /* where the states after a loss of power are made */
  io_crash *crash;
  glv_env *env; /* of the process that dies */
};

static void machine_start(struct machine *m) {
  test_env_open_mem(&m->disk);
  test_env_open_mem(&m->after);
  scenario_prepare(m->disk.env, m->disk.root);
  m->crash = io_crash_new(env_io(m->disk.env), m->disk.root);
  m->env = test_env_over(io_crash_table(m->crash));
}

static void machine_stop(struct machine *m) {
  env_unref(m->env);
  io_crash_free(m->crash);
  test_env_close(&m->after);
  test_env_close(&m->disk);
}

static void check(const scenario *sc, glv_env *env, const char *root, bool returned_ok,
                  const char *how) {
  char state[1024];
  glv_error err = {0};
  scenario_state(env, root, state, sizeof state);
  const bool is_new = strcmp(state, sc->after) == 0;
  const bool is_old =
      strcmp(state, sc->before) == 0 || (sc->between != NULL && strcmp(state, sc->between) == 0);
  if (!is_new && (returned_ok || !is_old)) {
    fail_msg("%s, %s%s: the state is: %s", sc->name, how, returned_ok ? " after OK" : "", state);
  }
  const glv_status again = sc->act(env, root, &err);
  if (again != GLV_OK && again != GLV_E_TABLE_EXISTS) {
    fail_msg("%s, %s: the next try failed: %s", sc->name, how, err.message);
  }
}

/* Die at operation nth. @return whether the scenario got that far. */
static bool die_at(const scenario *sc, uint64_t nth, unsigned seeds) {
  struct machine m;
  glv_error err = {0};
  char how[96];
  machine_start(&m);
  io_crash_at(m.crash, nth);
  const bool returned_ok = sc->act(m.env, m.disk.root, &err) == GLV_OK;
  const bool happened = io_crash_happened(m.crash);
  for (unsigned seed = 0; seed < seeds; seed++) {
    char path[96];
    snprintf(path, sizeof path, "%s/%u", m.after.root, seed);
    snprintf(how, sizeof how, "power lost at operation %llu, seed %u", (unsigned long long)nth,
             seed);
    io_crash_materialise(m.crash, seed, m.after.env, path);
    check(sc, m.after.env, path, returned_ok, how);
  }
  snprintf(how, sizeof how, "death at operation %llu", (unsigned long long)nth);
  check(sc, m.disk.env, m.disk.root, returned_ok, how);
  machine_stop(&m);
  return happened;
}

static void every_operation(void **state) {
  const unsigned seeds = getenv("GLAIVE_LONG") != NULL ? 200 : 6;
  for (uint64_t nth = 1; die_at(*state, nth, seeds); nth++) {
  }
}

/* The model bites: when one sync is skipped, some loss of power loses or tears what was
 * acknowledged. */
static void skipped_syncs_are_noticed(void **state) {
  (void)state;
  const scenario *sc = &scenarios[1]; /* append */
  struct machine m;
  glv_error err = {0};
  char text[1024];
  unsigned noticed = 0;
  machine_start(&m);
  assert_int_equal(sc->act(m.env, m.disk.root, &err), GLV_OK);
  const uint64_t syncs = io_crash_syncs(m.crash);
  machine_stop(&m);
  assert_true(syncs >= 3);
  for (uint64_t nth = 1; nth <= syncs; nth++) {
    bool bad = false;
    machine_start(&m);
    io_crash_ignore_sync(m.crash, nth);
    assert_int_equal(sc->act(m.env, m.disk.root, &err), GLV_OK);
    for (unsigned seed = 0; seed < 60 && !bad; seed++) {
      char path[96];
      snprintf(path, sizeof path, "%s/%u", m.after.root, seed);
      io_crash_materialise(m.crash, seed, m.after.env, path);
      glv_conn *conn = NULL;
      glv_table *table = NULL;
      uint64_t count = 0;
      bad = glv_connect(m.after.env, path, NULL, &conn, &err) != GLV_OK ||
            glv_table_open(conn, ID("t"), NULL, &table, &err) != GLV_OK ||
            glv_table_count(table, "id > 0", NULL, &count, &err) != GLV_OK || count != 4;
      glv_table_free(table);
      glv_conn_free(conn);
    }
    noticed += bad;
    machine_stop(&m);
  }
  snprintf(text, sizeof text, "%u of %llu syncs matter", noticed, (unsigned long long)syncs);
  print_message("%s\n", text);
  assert_true(noticed >= 3);
}

int main(void) {
  struct CMUnitTest tests[64];
  size_t count = 0;
  for (; count < scenario_count; count++) {
    tests[count] = (struct CMUnitTest){scenarios[count].name, every_operation, NULL, NULL,
                                       (void *)(uintptr_t)&scenarios[count]};
  }
  tests[count++] =
      (struct CMUnitTest){"skipped syncs are noticed", skipped_syncs_are_noticed, NULL, NULL, NULL};
  return _cmocka_run_group_tests("crashes", tests, count, NULL, NULL);
}
