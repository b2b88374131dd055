/* Locks by two numbers: equal keys exclude each other however they were spelled, others do not; a
 * cancelled wait ends; nothing is left behind. */
#include <pthread.h>

#include "base/keyed_lock.h"
#include "support/cmocka.h"
#include "support/test_env.h"

struct waiter {
  glv_env *env;
  cancel_token *cancel;
  glv_status status;
};

static void *wait_for(void *argument) {
  struct waiter *w = argument;
  keyed_lock lock = {0};
  glv_error err = {0};
  w->status = keyed_lock_acquire(w->env, 1, 2, w->cancel, &lock, &err);
  keyed_lock_release(&lock);
  return NULL;
}

static void equal_keys_exclude_each_other(void **state) {
  test_env *t = *state;
  glv_error err = {0};
  keyed_lock held = {0};
  keyed_lock other = {0};
  assert_int_equal(keyed_lock_acquire(t->env, 1, 2, NULL, &held, &err), GLV_OK);
  assert_int_equal(keyed_lock_acquire(t->env, 2, 1, NULL, &other, &err), GLV_OK);
  pthread_t threads[8];
  struct waiter waiters[8];
  for (size_t i = 0; i < 8; i++) {
    waiters[i] = (struct waiter){t->env, NULL, GLV_E_BAD_STATE};
    assert_int_equal(pthread_create(&threads[i], NULL, wait_for, &waiters[i]), 0);
  }
  keyed_lock_release(&held);
  for (size_t i = 0; i < 8; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(waiters[i].status, GLV_OK);
  }
  keyed_lock_release(&other);
  keyed_lock_release(&other); /* not held any more: fine */
}

static void a_wait_can_be_cancelled(void **state) {
  test_env *t = *state;
  glv_error err = {0};
  keyed_lock held = {0};
  struct waiter w = {t->env, NULL, GLV_OK};
  assert_int_equal(cancel_new(t->env, NULL, &w.cancel, &err), GLV_OK);
  assert_int_equal(keyed_lock_acquire(t->env, 1, 2, NULL, &held, &err), GLV_OK);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, wait_for, &w), 0);
  cancel_request(w.cancel);
  pthread_join(thread, NULL);
  assert_int_equal(w.status, GLV_E_CANCELLED);
  keyed_lock_release(&held);
  cancel_unref(w.cancel);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_keys_exclude_each_other),
      cmocka_unit_test(a_wait_can_be_cancelled),
  };
  return cmocka_run_group_tests(tests, test_env_setup, test_env_teardown);
}
