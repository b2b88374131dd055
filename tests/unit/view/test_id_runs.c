/* Sets of ids as runs, against sets of bits. */
#include "support/rng.h"
#include "unit/table/tables.h"
#include "view/id_runs.h"

enum { IDS = 64 };

static uint64_t bits_of(const id_runs *r) {
  uint64_t bits = 0;
  for (size_t i = 0; i < r->count; i++) {
    assert_true(r->runs[i].first < r->runs[i].end);
    assert_true(i == 0 || r->runs[i - 1].end < r->runs[i].first);
    for (uint64_t id = r->runs[i].first; id < r->runs[i].end; id++) {
      bits |= UINT64_C(1) << id;
    }
  }
  return bits;
}

static uint64_t fill(id_runs *r, rng *random) {
  uint64_t bits = 0;
  for (size_t i = rng_below(random, 12); i > 0; i--) {
    const uint64_t first = rng_below(random, IDS - 8);
    const uint64_t count = rng_below(random, 8);
    OK(id_runs_add(r, first, count, err));
    bits |= ((UINT64_C(1) << count) - 1) << first;
  }
  id_runs_sort(r);
  assert_int_equal(bits_of(r), bits);
  return bits;
}

static void random_sets(void **state) {
  test_env *t = *state;
  rng random = {7};
  for (int round = 0; round < 2000; round++) {
    id_runs a;
    id_runs b;
    id_runs_init(&a, t->env);
    id_runs_init(&b, t->env);
    const uint64_t x = fill(&a, &random);
    const uint64_t y = fill(&b, &random);
    assert_int_equal(id_runs_size(&a), __builtin_popcountll(x));
    for (uint64_t id = 0; id < IDS; id++) {
      const size_t at = id_runs_find(&a, id);
      const bool found = at < a.count && a.runs[at].first <= id;
      assert_int_equal(found, (x >> id) & 1);
      const uint64_t most = id + rng_below(&random, IDS - id);
      const uint64_t range =
          (most - id == IDS - 1 ? UINT64_MAX : (UINT64_C(1) << (most - id + 1)) - 1) << id;
      assert_int_equal(id_runs_meet(&a, id, most), (x & range) != 0);
    }
    if (round % 2 == 0) {
      OK(id_runs_subtract(&a, &b, err));
      assert_int_equal(bits_of(&a), x & ~y);
    } else {
      OK(id_runs_unite(&a, &b, err));
      assert_int_equal(bits_of(&a), x | y);
    }
    id_runs_dispose(&a);
    id_runs_dispose(&b);
  }
}

static void rows_in_order_leave_one_run(void **state) {
  test_env *t = *state;
  id_runs r;
  id_runs_init(&r, t->env);
  for (uint64_t id = 5; id < 1000; id++) {
    OK(id_runs_add(&r, id, 1, err));
  }
  OK(id_runs_add(&r, 1000, 0, err));
  assert_int_equal(r.count, 1);
  assert_int_equal(id_runs_size(&r), 995);
  id_runs_dispose(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_sets),
      cmocka_unit_test(rows_in_order_leave_one_run),
  };
  return cmocka_run_group_tests(tests, test_env_setup, test_env_teardown);
}
