/* Pins and claims: a claim excludes pins, pins exclude a claim. */
#include "base/pin.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static void pins_and_claims(void **state) {
  test_env *t = *state;
  const uint64_t key[3] = {1, 2, 3};
  const uint64_t other[3] = {1, 2, 4};
  pin a = {0};
  pin b = {0};
  pin c = {0};
  pin d = {0};
  assert_true(pin_acquire(t->env, key, &a));
  assert_true(pin_acquire(t->env, key, &b));
  assert_true(pin_is_held(t->env, key));
  assert_false(pin_is_held(t->env, other));
  assert_false(pin_claim(t->env, key, &c));
  assert_true(pin_claim(t->env, other, &c));
  assert_false(pin_claim(t->env, other, &d));
  assert_false(pin_acquire(t->env, other, &d));
  pin_release(&a);
  assert_false(pin_claim(t->env, key, &d));
  pin_release(&b);
  pin_release(&b); /* not held any more: fine */
  assert_true(pin_claim(t->env, key, &d));
  pin_release_claim(&c);
  assert_true(pin_acquire(t->env, other, &a));
  pin_release(&a);
  pin_release_claim(&d);
  assert_false(pin_is_held(t->env, key));
}

/* Any order of release. */
static void order(void **state) {
  test_env *t = *state;
  const uint64_t key[3] = {7, 7, 7};
  for (int skip = 1; skip < 7; skip++) {
    pin pins[7] = {0};
    for (int i = 0; i < 7; i++) {
      assert_true(pin_acquire(t->env, key, &pins[i]));
    }
    for (int i = 0; i < 7; i++) {
      assert_true(pin_is_held(t->env, key));
      pin_release(&pins[(i * skip) % 7]);
    }
    assert_false(pin_is_held(t->env, key));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pins_and_claims),
      cmocka_unit_test(order),
  };
  return cmocka_run_group_tests(tests, test_env_setup, test_env_teardown);
}
