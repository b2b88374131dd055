/*
 * Allocations of every scenario fail. Afterwards nothing is leaked, the state is the old or the new
 * one, and a repeated call succeeds. In its short form the suite fails every 17th allocation; with
 * GLAIVE_LONG=1 each.
 */
#include <stdlib.h>

#include "support/scenario.h"

static bool run_once(const scenario *sc, uint64_t nth) {
  test_env t;
  test_env clean;
  glv_error err = {0};
  char state[1024];
  test_env_open_mem(&t);
  test_env_share(&clean, &t);
  scenario_prepare(clean.env, t.root);
  alloc_fault_arm(&t.alloc, nth, false);
  const glv_status status = sc->act(t.env, t.root, &err);
  const bool fired = t.alloc.fired;
  alloc_fault_arm(&t.alloc, 0, false);
  scenario_state(clean.env, t.root, state, sizeof state);
  const bool is_old = strcmp(state, sc->before) == 0;
  const bool is_new = strcmp(state, sc->after) == 0;
  const bool is_between = sc->between != NULL && strcmp(state, sc->between) == 0;
  if (status == GLV_OK ? !is_new
                       : !(is_old || is_between || (is_new && status == GLV_E_UNKNOWN_OUTCOME))) {
    fail_msg("%s, allocation %llu: %s (%s) but the state is: %s", sc->name, (unsigned long long)nth,
             glv_status_name(status), err.message, state);
  }
  if (status != GLV_OK && status != GLV_E_NOMEM && status != GLV_E_UNKNOWN_OUTCOME) {
    fail_msg("%s, allocation %llu: %s: %s", sc->name, (unsigned long long)nth,
             glv_status_name(status), err.message);
  }
  const glv_status again = sc->act(t.env, t.root, &err);
  if (again != GLV_OK && !(again == GLV_E_TABLE_EXISTS && (is_new || is_between))) {
    fail_msg("%s, allocation %llu: the repeated call failed: %s", sc->name, (unsigned long long)nth,
             err.message);
  }
  test_env_close(&clean);
  test_env_close(&t);
  return fired;
}

static void faults(void **state) {
  const scenario *sc = *state;
  const uint64_t step = getenv("GLAIVE_LONG") != NULL ? 1 : 17;
  for (uint64_t nth = 1; run_once(sc, nth); nth += step) {
  }
}

int main(void) {
  struct CMUnitTest tests[64];
  for (size_t i = 0; i < scenario_count; i++) {
    tests[i] = (struct CMUnitTest){scenarios[i].name, faults, NULL, NULL,
                                   (void *)(uintptr_t)&scenarios[i]};
  }
  return _cmocka_run_group_tests("allocation faults", tests, scenario_count, NULL, NULL);
}
