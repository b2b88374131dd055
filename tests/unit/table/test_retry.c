/* Computing again after a conflict: how often, from which version, and what ends it. */
#include "base/limits.h"
#include "table/retry.h"
#include "tables.h"

/* Fails `failures` times in the way said, while somebody else appends a row each time. */
struct work {
  unsigned failures;
  uint32_t flags; /* of the conflict */
  cancel_token *cancel;
  unsigned runs;
  uint64_t base_version; /* of the last run */
};

static glv_status run(void *context, const table_snapshot *base, table_snapshot **ret,
                      uint32_t *ret_attempts, glv_error *err) {
  struct work *w = context;
  w->base_version = table_version(base);
  *ret_attempts = 1;
  if (w->runs++ < w->failures) {
    table_snapshot *other = table_ref(base);
    append_rows(&other, 100, 1);
    table_unref(other);
    if (w->cancel != NULL) {
      cancel_request(w->cancel);
    }
    error_set(err, GLV_E_CONFLICT, "somebody was first");
    error_flag(err, w->flags);
    return GLV_E_CONFLICT;
  }
  *ret = table_ref(base);
  return GLV_OK;
}

static void test_success(void **state) {
  test_env *t = *state;
  table_snapshot *s = create_rows(t->env, test_env_path(t, "a"), 0, 2, true);
  struct work w = {.failures = 3, .flags = GLV_ERROR_MAY_RETRY};
  table_snapshot *made = NULL;
  uint32_t attempts = 0;
  OK(table_retry(s, run, &w, NULL, &made, &attempts, err));
  assert_int_equal(w.runs, 4);
  assert_int_equal(attempts, 4);
  assert_int_equal(w.base_version, 4);
  assert_int_equal(table_version(made), 4);
  table_unref(made);
  w = (struct work){0};
  OK(table_retry(s, run, &w, NULL, NULL, NULL, err)); /* from the version given, not the latest */
  assert_int_equal(w.base_version, 1);
  table_unref(s);
}

static void test_end(void **state) {
  test_env *t = *state;
  table_snapshot *s = create_rows(t->env, test_env_path(t, "b"), 0, 2, true);
  struct work w = {.failures = 1};
  EXPECT(GLV_E_CONFLICT, "somebody was first", table_retry(s, run, &w, NULL, NULL, NULL, err));
  assert_int_equal(w.runs, 1);
  w = (struct work){.failures = 100, .flags = GLV_ERROR_MAY_RETRY};
  glv_error report = {0};
  assert_int_equal(table_retry(s, run, &w, NULL, NULL, NULL, &report), GLV_E_CONFLICT);
  assert_non_null(strstr(report.message, "Too many concurrent writers. Attempted 10 retries."));
  assert_int_equal(report.flags, GLV_ERROR_MAY_RETRY);
  assert_int_equal(w.runs, 1 + LIMIT_RECOMPUTATIONS);
  cancel_token *cancel;
  OK(cancel_new(t->env, NULL, &cancel, err));
  w = (struct work){.failures = 100, .flags = GLV_ERROR_MAY_RETRY, .cancel = cancel};
  EXPECT(GLV_E_CANCELLED, "", table_retry(s, run, &w, cancel, NULL, NULL, err));
  assert_int_equal(w.runs, 1);
  cancel_unref(cancel);
  table_unref(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_success, test_env_setup, test_env_teardown),
      cmocka_unit_test_setup_teardown(test_end, test_env_setup, test_env_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
