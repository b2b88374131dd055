/*
 * Every I/O operation of every scenario fails, once or from then on, with each errno. Afterwards
 * the state is the old or the new one: OK means new, unknown outcome means either, anything else
 * old. A repeated call succeeds.
 */
#include <errno.h>
#include <stdlib.h>

#include "support/scenario.h"

static const int numbers[] = {EIO, ENOSPC, EMFILE, EACCES};

static void check_state(const scenario *sc, glv_env *env, const char *root, glv_status status,
                        const glv_error *err, const char *how) {
  char state[1024];
  scenario_state(env, root, state, sizeof state);
  const bool is_old = strcmp(state, sc->before) == 0;
  const bool is_new = strcmp(state, sc->after) == 0;
  const bool is_between = sc->between != NULL && strcmp(state, sc->between) == 0;
  const bool fits = status == GLV_OK                  ? is_new
                    : status == GLV_E_UNKNOWN_OUTCOME ? is_old || is_new || is_between
                                                      : is_old || is_between;
  if (!fits) {
    fail_msg("%s, %s: %s (%s) but the state is: %s", sc->name, how, glv_status_name(status),
             err->message, state);
  }
  if (status != GLV_OK && (err->code != status || err->message[0] == '\0')) {
    fail_msg("%s, %s: %s without a report", sc->name, how, glv_status_name(status));
  }
}

/* One run with a fault at operation nth. @return whether the fault fired. */
static bool run_once(const scenario *sc, io_fault_plan plan, const char *how) {
  test_env t;
  test_env clean;
  glv_error err = {0};
  test_env_open_mem(&t);
  test_env_share(&clean, &t);
  scenario_prepare(clean.env, t.root);
  io_fault_arm(&t.io, plan);
  const glv_status status = sc->act(t.env, t.root, &err);
  const bool fired = t.io.fired;
  io_fault_arm(&t.io, (io_fault_plan){0});
  check_state(sc, clean.env, t.root, status, &err, how);
  const glv_status again = sc->act(t.env, t.root, &err);
  const bool exists = again == GLV_E_TABLE_EXISTS &&
                      (status == GLV_OK || status == GLV_E_UNKNOWN_OUTCOME || sc->between != NULL);
  if (again != GLV_OK && !exists) {
    fail_msg("%s, %s: the repeated call failed: %s", sc->name, how, err.message);
  }
  test_env_close(&clean);
  test_env_close(&t);
  return fired;
}

static void every_operation_fails(const scenario *sc, bool all) {
  for (size_t e = 0; e < sizeof numbers / sizeof numbers[0]; e++) {
    for (int persistent = 0; persistent < 2; persistent++) {
      for (uint64_t nth = 1; e == 0 || all || nth < 200; nth += all ? 1 : 1 + e) {
        char how[128];
        const io_fault_plan plan = {.mask = (1u << IO_OP_COUNT) - 1,
                                    .nth = nth,
                                    .number = numbers[e],
                                    .persistent = persistent == 1,
                                    .short_write = nth % 2 == 0};
        snprintf(how, sizeof how, "operation %llu fails with errno %d%s", (unsigned long long)nth,
                 numbers[e], persistent == 1 ? " and all after it" : "");
        if (!run_once(sc, plan, how)) {
          break;
        }
      }
    }
  }
}

/* The operation is carried out and only its report is lost. */
static void every_report_is_lost(const scenario *sc) {
  char how[128];
  for (uint64_t nth = 1;; nth++) {
    const io_fault_plan plan = {.mask = IO_MASK(IO_OP_PUBLISH) | IO_MASK(IO_OP_DIR_SYNC) |
                                        IO_MASK(IO_OP_SYNC) | IO_MASK(IO_OP_CLOSE),
                                .nth = nth,
                                .number = EIO,
                                .after = true};
    snprintf(how, sizeof how, "operation %llu is carried out and reported as failed",
             (unsigned long long)nth);
    if (!run_once(sc, plan, how)) {
      break;
    }
  }
}

static void faults(void **state) {
  const scenario *sc = *state;
  every_operation_fails(sc, getenv("GLAIVE_LONG") != NULL);
  every_report_is_lost(sc);
}

int main(void) {
  struct CMUnitTest tests[64];
  for (size_t i = 0; i < scenario_count; i++) {
    tests[i] = (struct CMUnitTest){scenarios[i].name, faults, NULL, NULL,
                                   (void *)(uintptr_t)&scenarios[i]};
  }
  return _cmocka_run_group_tests("io faults", tests, scenario_count, NULL, NULL);
}
