/* Jobs run in order and one at a time per key; they are cancelled, waited for, found, and given up
 * with their runner; every change of state is told once and in time. */
#include <pthread.h>

#include "base/thread.h"
#include "job/job.h"
#include "support/cmocka.h"
#include "support/test_env.h"

/* A job that waits until it is let go, and what became of it. */
typedef struct gate {
  mutex lock;
  condition changed;
  bool is_open;
  size_t running;
  size_t most_running;
  size_t order; /* of runs */
} gate;

typedef struct probe {
  gate *gate;
  glv_status outcome;
  size_t ran_as; /* 1 = first; 0 = never */
  size_t told[JOB_CANCELLED + 1];
  size_t disposed;
} probe;

static glv_status pass(void *context, cancel_token *cancel, glv_error *err) {
  probe *p = context;
  gate *g = p->gate;
  cancel_expect(cancel, 10);
  mutex_lock(&g->lock);
  p->ran_as = ++g->order;
  g->running++;
  g->most_running = g->running > g->most_running ? g->running : g->most_running;
  condition_signal_all(&g->changed);
  while (!g->is_open && !cancel_is_requested(cancel)) {
    condition_wait_ms(&g->changed, &g->lock, 5);
  }
  g->running--;
  mutex_unlock(&g->lock);
  cancel_advance(cancel, 10);
  TRY(cancel_check(cancel, err));
  return p->outcome == GLV_OK ? GLV_OK : FAIL(err, p->outcome, "as planned");
}

static void tell(void *context, job_state state, const glv_error *error) {
  probe *p = context;
  p->told[state]++;
  assert_int_equal(error != NULL, state > JOB_DONE);
}

static void dispose(void *context) { ((probe *)context)->disposed++; }

static void gate_init(gate *g) {
  *g = (gate){0};
  mutex_init(&g->lock);
  condition_init(&g->changed);
}

static void gate_open(gate *g) {
  mutex_lock(&g->lock);
  g->is_open = true;
  condition_signal_all(&g->changed);
  mutex_unlock(&g->lock);
}

static void gate_await(gate *g, size_t running) {
  mutex_lock(&g->lock);
  while (g->running < running) {
    condition_wait_ms(&g->changed, &g->lock, 5);
  }
  mutex_unlock(&g->lock);
}

static job_item *submit(job_runner *r, probe *p, const char *key, const char *identity) {
  const job_work work = {pass, tell, dispose, p, NULL, key, identity};
  glv_error err = {0};
  job_item *j = NULL;
  assert_int_equal(job_submit(r, &work, &j, &err), GLV_OK);
  return j;
}

static job_info look(job_item *j) {
  job_info info;
  job_look(j, &info);
  return info;
}

static job_runner *runner(const test_env *t, size_t threads) {
  glv_error err = {0};
  job_runner *r = NULL;
  assert_int_equal(job_runner_new(t->env, threads, &r, &err), GLV_OK);
  return r;
}

static void one_at_a_time_per_key(void **state) {
  gate g;
  gate_init(&g);
  job_runner *r = runner(*state, 3);
  probe p[6];
  job_item *jobs[6];
  for (size_t i = 0; i < 6; i++) {
    p[i] = (probe){.gate = &g};
    jobs[i] = submit(r, &p[i], i % 2 == 0 ? "even" : "odd", NULL);
  }
  gate_await(&g, 2);
  size_t queued = 0;
  size_t running = 0;
  job_runner_counts(r, &queued, &running);
  assert_int_equal(queued, 4);
  assert_int_equal(running, 2);
  assert_int_equal(look(jobs[0]).state, JOB_RUNNING);
  assert_int_equal(look(jobs[2]).state, JOB_QUEUED);
  glv_error err = {0};
  assert_int_equal(job_wait(jobs[5], 20, &err), GLV_E_TIMEOUT);
  gate_open(&g);
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(job_wait(jobs[i], 0, &err), GLV_OK);
    const job_info info = look(jobs[i]);
    assert_int_equal(info.state, JOB_DONE);
    assert_int_equal(info.done, 10);
    assert_int_equal(info.total, 10);
    assert_true(info.created_ms <= info.started_ms && info.started_ms <= info.finished_ms);
    assert_int_equal(p[i].told[JOB_RUNNING], 1);
    assert_int_equal(p[i].told[JOB_DONE], 1);
    job_unref(jobs[i]);
  }
  assert_int_equal(g.most_running, 2);
  assert_true(p[0].ran_as < p[2].ran_as && p[2].ran_as < p[4].ran_as);
  assert_true(p[1].ran_as < p[3].ran_as && p[3].ran_as < p[5].ran_as);
  job_runner_free(r);
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(p[i].disposed, 1);
  }
}

static void failures_and_stops(void **state) {
  gate g;
  gate_init(&g);
  job_runner *r = runner(*state, 1);
  probe running = {.gate = &g};
  probe failing = {.gate = &g, .outcome = GLV_E_IO};
  probe queued = {.gate = &g};
  job_item *first = submit(r, &running, NULL, NULL);
  job_item *second = submit(r, &failing, NULL, NULL);
  job_item *third = submit(r, &queued, NULL, NULL);
  gate_await(&g, 1);
  assert_true(job_stop(third));
  assert_int_equal(look(third).state, JOB_CANCELLED);
  assert_int_equal(queued.ran_as, 0);
  assert_int_equal(queued.told[JOB_RUNNING], 0);
  assert_int_equal(queued.told[JOB_CANCELLED], 1);
  assert_true(job_stop(first));
  glv_error err = {0};
  assert_int_equal(job_wait(first, 0, &err), GLV_OK);
  assert_int_equal(look(first).state, JOB_CANCELLED);
  assert_int_equal(look(first).error.code, GLV_E_CANCELLED);
  gate_open(&g);
  assert_int_equal(job_wait(second, 0, &err), GLV_OK);
  assert_int_equal(look(second).state, JOB_FAILED);
  assert_int_equal(look(second).error.code, GLV_E_IO);
  assert_false(job_stop(second));
  assert_int_equal(look(second).state, JOB_FAILED);
  job_runner_free(r);
  assert_int_equal(look(first).state, JOB_CANCELLED); /* a job outlives its runner */
  job_unref(first);
  job_unref(second);
  job_unref(third);
}

static void joined_while_queued(void **state) {
  gate g;
  gate_init(&g);
  job_runner *r = runner(*state, 1);
  probe a = {.gate = &g};
  probe b = {.gate = &g};
  job_item *first = submit(r, &a, "v", "v full");
  gate_await(&g, 1);
  assert_null(job_runner_find(r, "v full")); /* it runs */
  job_item *second = submit(r, &b, "v", "v full");
  job_item *found = job_runner_find(r, "v full");
  assert_ptr_equal(found, second);
  assert_ptr_equal(job_context(found), &b);
  assert_null(job_runner_find(r, "v"));
  job_unref(found);
  job_runner_stop_key(r, "v", second);
  assert_int_equal(look(first).state, JOB_CANCELLED);
  gate_open(&g);
  glv_error err = {0};
  assert_int_equal(job_wait(second, 0, &err), GLV_OK);
  assert_int_equal(look(second).state, JOB_DONE);
  job_unref(first);
  job_unref(second);
  job_runner_free(r);
}

static void a_runner_takes_its_jobs_along(void **state) {
  gate g;
  gate_init(&g);
  job_runner *r = runner(*state, 2);
  probe p[5];
  for (size_t i = 0; i < 5; i++) {
    p[i] = (probe){.gate = &g};
    job_unref(submit(r, &p[i], NULL, NULL));
  }
  gate_await(&g, 2);
  job_runner_free(r);
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(p[i].told[JOB_CANCELLED], 1);
    assert_int_equal(p[i].disposed, 1);
  }
  job_runner_free(NULL);
}

static void *stop_it(void *context) {
  job_stop(context);
  return NULL;
}

/* Many stop the same jobs while they begin and end: each is told of one end. */
static void stopped_by_many(void **state) {
  gate g;
  gate_init(&g);
  gate_open(&g);
  job_runner *r = runner(*state, 2);
  enum { JOBS = 40, STOPPERS = 3 };
  probe p[JOBS];
  for (size_t i = 0; i < JOBS; i++) {
    p[i] = (probe){.gate = &g};
    job_item *j = submit(r, &p[i], i % 3 == 0 ? "k" : NULL, NULL);
    pthread_t threads[STOPPERS];
    for (size_t k = 0; k < STOPPERS; k++) {
      assert_int_equal(pthread_create(&threads[k], NULL, stop_it, j), 0);
    }
    glv_error err = {0};
    assert_int_equal(job_wait(j, 0, &err), GLV_OK);
    for (size_t k = 0; k < STOPPERS; k++) {
      pthread_join(threads[k], NULL);
    }
    job_unref(j);
    assert_int_equal(p[i].told[JOB_DONE] + p[i].told[JOB_CANCELLED] + p[i].told[JOB_FAILED], 1);
  }
  job_runner_free(r);
  for (size_t i = 0; i < JOBS; i++) {
    assert_int_equal(p[i].disposed, 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_at_a_time_per_key), cmocka_unit_test(failures_and_stops),
      cmocka_unit_test(joined_while_queued),   cmocka_unit_test(a_runner_takes_its_jobs_along),
      cmocka_unit_test(stopped_by_many),
  };
  return cmocka_run_group_tests(tests, test_env_setup, test_env_teardown);
}
