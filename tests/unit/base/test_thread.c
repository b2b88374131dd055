/* The pool: nested waits, full queues, failures, few threads. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/thread.h"
#include "support/cmocka.h"
#include "support/test_env.h"

enum { DEPTH = 6, WIDTH = 3 };

static void open_with_threads(test_env *t, uint32_t threads) {
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.threads = threads;
  test_env_open_mem_with(t, &options);
}

struct nested {
  glv_env *env;
  int depth;
  atomic_int *count;
};

/* A task that waits for tasks which wait for tasks. */
static glv_status run_nested(void *context, glv_error *err) {
  const struct nested *n = context;
  atomic_fetch_add(n->count, 1);
  if (n->depth == 0) {
    return GLV_OK;
  }
  struct nested children[WIDTH];
  task tasks[WIDTH];
  for (int i = 0; i < WIDTH; i++) {
    children[i] = (struct nested){n->env, n->depth - 1, n->count};
    tasks[i] = (task){.run = run_nested, .context = &children[i]};
    task_submit(n->env, &tasks[i]);
  }
  glv_status status = GLV_OK;
  for (int i = 0; i < WIDTH; i++) {
    const glv_status one = task_wait(n->env, &tasks[i], err);
    status = status == GLV_OK ? one : status;
  }
  return status;
}

static void nested_waits(void **state) {
  (void)state;
  for (uint32_t threads = 1; threads <= 4; threads++) {
    test_env t;
    open_with_threads(&t, threads);
    atomic_int count = 0;
    struct nested top = {t.env, DEPTH, &count};
    task first = {.run = run_nested, .context = &top};
    task_submit(t.env, &first);
    glv_error err;
    assert_int_equal(task_wait(t.env, &first, &err), GLV_OK);
    int expected = 0;
    for (int level = 0, n = 1; level <= DEPTH; level++, n *= WIDTH) {
      expected += n;
    }
    assert_int_equal(count, expected);
    test_env_close(&t);
  }
}

struct loop {
  atomic_int calls;
  size_t fail_at;
  atomic_uchar seen[10000];
};

static glv_status visit(void *context, size_t i, glv_error *err) {
  struct loop *l = context;
  atomic_fetch_add(&l->calls, 1);
  atomic_fetch_add(&l->seen[i], 1);
  return i == l->fail_at ? FAIL(err, GLV_E_CORRUPT, "item %zu", i) : GLV_OK;
}

static void parallel_for_visits_each_once(void **state) {
  (void)state;
  static struct loop l;
  for (uint32_t threads = 1; threads <= 4; threads++) {
    test_env t;
    open_with_threads(&t, threads);
    const size_t counts[] = {0, 1, 2, 3, 100, 10000};
    for (size_t c = 0; c < 6; c++) {
      memset(&l, 0, sizeof l);
      l.fail_at = SIZE_MAX;
      glv_error err;
      assert_int_equal(parallel_for(t.env, counts[c], visit, &l, &err), GLV_OK);
      for (size_t i = 0; i < 10000; i++) {
        assert_int_equal(l.seen[i], i < counts[c]);
      }
    }
    test_env_close(&t);
  }
}

static void parallel_for_stops_at_a_failure(void **state) {
  (void)state;
  static struct loop l;
  test_env t;
  open_with_threads(&t, 2);
  const size_t places[] = {0, 1, 5000, 9999};
  for (size_t p = 0; p < 4; p++) {
    memset(&l, 0, sizeof l);
    l.fail_at = places[p];
    glv_error err = {0};
    assert_int_equal(parallel_for(t.env, 10000, visit, &l, &err), GLV_E_CORRUPT);
    char expected[32];
    snprintf(expected, sizeof expected, "item %zu", places[p]);
    assert_string_equal(err.message, expected);
    assert_int_equal(parallel_for(t.env, 10000, visit, &l, NULL), GLV_E_CORRUPT);
  }
  test_env_close(&t);
}

static glv_status nested_loop(void *context, size_t i, glv_error *err) {
  test_env *t = context;
  struct loop l = {0}; /* each outer item has its own: two of them run at once */
  l.fail_at = SIZE_MAX;
  TRY(parallel_for(t->env, 100, visit, &l, err));
  return l.calls == 100 ? GLV_OK : FAIL(err, GLV_E_CORRUPT, "item %zu ran part of its loop", i);
}

static void parallel_for_nests(void **state) {
  (void)state;
  test_env t;
  open_with_threads(&t, 2);
  glv_error err;
  assert_int_equal(parallel_for(t.env, 50, nested_loop, &t, &err), GLV_OK);
  test_env_close(&t);
}

static void works_without_a_pool(void **state) {
  (void)state;
  static struct loop l;
  test_env t;
  open_with_threads(&t, 2);
  alloc_fault_arm(&t.alloc, 1, true); /* the pool cannot be made: the caller does the work */
  memset(&l, 0, sizeof l);
  l.fail_at = SIZE_MAX;
  glv_error err;
  assert_int_equal(parallel_for(t.env, 100, visit, &l, &err), GLV_OK);
  assert_int_equal(l.calls, 100);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nested_waits),
      cmocka_unit_test(parallel_for_visits_each_once),
      cmocka_unit_test(parallel_for_stops_at_a_failure),
      cmocka_unit_test(parallel_for_nests),
      cmocka_unit_test(works_without_a_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
