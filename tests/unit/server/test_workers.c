/* Workers do everything that was submitted, in order, on several threads. */
#include <stdatomic.h>

#include "server/workers.h"
#include "support/cmocka.h"
#include "support/test_env.h"

enum { ITEMS = 1000 };

typedef struct counted {
  work work;
  atomic_uint *done;
  workers *workers;
  struct counted *then; /* submitted from within */
} counted;

static void run(void *context) {
  counted *c = context;
  atomic_fetch_add(c->done, 1);
  if (c->then != NULL) {
    workers_submit(c->workers, &c->then->work);
  }
}

static void everything_is_done(void **state) {
  (void)state;
  static counted items[ITEMS];
  static counted more[ITEMS];
  for (size_t threads = 1; threads <= 4; threads++) {
    test_env t;
    workers *w = NULL;
    atomic_uint done = 0;
    test_env_open_mem(&t);
    assert_int_equal(workers_new(t.env, threads, &w, NULL), GLV_OK);
    for (size_t i = 0; i < ITEMS; i++) {
      more[i] = (counted){{run, &more[i], NULL}, &done, w, NULL};
      items[i] = (counted){{run, &items[i], NULL}, &done, w, &more[i]};
      workers_submit(w, &items[i].work);
    }
    workers_free(w);
    assert_int_equal(atomic_load(&done), 2 * ITEMS);
    test_env_close(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(everything_is_done)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
