/* Division by multiplication against the machine's division. */
#include "base/divider.h"
#include "support/cmocka.h"
#include "support/rng.h"

static void check(uint64_t divisor, uint64_t n) {
  const divider d = divider_of(divisor);
  if (divider_divide(&d, n) != n / divisor) {
    fail_msg("%llu / %llu", (unsigned long long)n, (unsigned long long)divisor);
  }
  if (divisor > INT64_MAX) {
    return;
  }
  const int64_t s = (int64_t)n;
  const int64_t by = (int64_t)divisor;
  const int64_t down = s / by - (s % by < 0);
  if (divider_divide_signed(&d, s) != s / by || divider_floor(&d, s) != down) {
    fail_msg("%lld / %lld", (long long)s, (long long)by);
  }
}

static void test_edges(void **state) {
  (void)state;
  static const uint64_t edges[] = {1,
                                   2,
                                   3,
                                   5,
                                   6,
                                   7,
                                   10,
                                   1000,
                                   3600,
                                   86400,
                                   1000000,
                                   UINT32_MAX,
                                   INT64_MAX,
                                   INT64_MAX - 1,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX,
                                   UINT64_MAX - 1};
  const size_t count = sizeof edges / sizeof *edges;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < count; k++) {
      for (uint64_t off = 0; off < 5; off++) {
        check(edges[i], edges[k] + off - 2);
        check(edges[i], 0 - edges[k] + off - 2);
        check(edges[i], edges[i] * edges[k] + off - 2);
        check(edges[i], off);
      }
    }
  }
}

static void test_random(void **state) {
  (void)state;
  rng r = rng_of(3);
  for (size_t i = 0; i < 2000000; i++) {
    const uint64_t divisor = rng_next(&r) >> rng_below(&r, 64);
    const uint64_t n = rng_next(&r) >> rng_below(&r, 64);
    if (divisor != 0) {
      check(divisor, n);
      check(divisor, n / divisor * divisor);
      check(divisor, n / divisor * divisor - 1);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges), cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
