/*
 * A small commit (write a temporary file in two pieces, sync, close, publish, sync the directory)
 * with every operation failing in every way: after each run the outcome that was reported and the
 * file that is there must fit together.
 */
#include <errno.h>

#include "support/cmocka.h"
#include "support/test_env.h"

enum outcome { DONE, FAILED, UNKNOWN };

static glv_status stage(glv_env *env, void *dir, glv_error *err) {
  void *file;
  TRY(io_create(env, dir, "temp", &file, err));
  glv_status status = io_write(env, file, "first half, ", 12, err);
  status = status == GLV_OK ? io_write(env, file, "second half", 11, err) : status;
  status = status == GLV_OK ? io_sync(env, file, err) : status;
  const glv_status closed = io_close(env, file, status == GLV_OK ? err : NULL);
  return status == GLV_OK ? closed : status;
}

static enum outcome commit(glv_env *env, const char *root, glv_error *err) {
  void *dir;
  if (io_dir_open(env, root, &dir, err) != GLV_OK) {
    return FAILED;
  }
  enum outcome outcome = FAILED;
  if (stage(env, dir, err) == GLV_OK) {
    if (io_publish(env, dir, "temp", "final", true, err) != GLV_OK) {
      outcome = UNKNOWN;
    } else {
      outcome = io_dir_sync(env, dir, err) == GLV_OK ? DONE : UNKNOWN;
    }
  }
  (void)io_remove(env, dir, "temp", NULL);
  io_dir_close(env, dir);
  return outcome;
}

/* -1 = absent, 0 = torn, 1 = complete. */
static int look(test_env *t) {
  CLEANUP(buf_dispose) buf b;
  buf_init(&b, t->env, 100);
  glv_error err;
  if (io_read_file(t->env, NULL, test_env_path(t, "final"), 100, &b, &err) != GLV_OK) {
    assert_true(io_is_missing(&err));
    return -1;
  }
  return str_is(buf_str(&b), "first half, second half");
}

static bool run_once(int store, io_fault_plan plan, int outcomes[3]) {
  test_env t;
  test_env_open(&t, store);
  io_fault_arm(&t.io, plan);
  glv_error err = {0};
  const enum outcome outcome = commit(t.env, t.root, &err);
  const bool fired = t.io.fired;
  outcomes[outcome]++;
  io_fault_arm(&t.io, (io_fault_plan){0});
  const int seen = look(&t);
  assert_int_not_equal(seen, 0);
  if (outcome == DONE) {
    assert_int_equal(seen, 1);
  } else {
    assert_true(fired);
    assert_int_equal(err.sys_errno, plan.number);
    assert_true(outcome == UNKNOWN || seen == -1);
    if (seen == -1) { /* and the next try succeeds */
      void *dir;
      assert_int_equal(io_dir_open(t.env, t.root, &dir, &err), GLV_OK);
      (void)io_remove(t.env, dir, "temp", NULL);
      io_dir_close(t.env, dir);
      assert_int_equal(commit(t.env, t.root, &err), DONE);
    }
  }
  test_env_close(&t);
  return fired;
}

static void every_operation_fails_once(void **state) {
  (void)state;
  const int numbers[] = {EIO, ENOSPC, EMFILE, EACCES};
  for (int store = 0; store < 2; store++) {
    int outcomes[3] = {0, 0, 0};
    for (unsigned variant = 0; variant < 32; variant++) {
      uint64_t n = 1;
      io_fault_plan plan = {.mask = IO_MASK_ALL,
                            .number = numbers[variant & 3],
                            .persistent = (variant & 4) != 0,
                            .short_write = (variant & 8) != 0,
                            .after = (variant & 16) != 0};
      do {
        plan.nth = n++;
      } while (run_once(store, plan, outcomes));
      assert_true(n > 8);
    }
    assert_true(outcomes[DONE] > 0 && outcomes[FAILED] > 0 && outcomes[UNKNOWN] > 0);
  }
}

static void every_allocation_of_the_helpers_fails_once(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  glv_error err;
  assert_int_equal(io_make_dirs(t.env, test_env_path(&t, "a/b"), &err), GLV_OK);
  for (uint64_t n = 1;; n++) {
    alloc_fault_arm(&t.alloc, n, false);
    arena names;
    arena_init(&names, t.env);
    const char **list;
    size_t count;
    glv_status status = io_list_sorted(t.env, NULL, t.root, &names, &list, NULL, &count, &err);
    arena_dispose(&names);
    const bool fired = atomic_load(&t.alloc.fired);
    assert_int_equal(status, fired ? GLV_E_NOMEM : GLV_OK);
    if (!fired) {
      break;
    }
  }
  for (uint64_t n = 1;; n++) {
    alloc_fault_arm(&t.alloc, n, false);
    const glv_status status = io_remove_tree(t.env, test_env_path(&t, "a"), &err);
    if (status == GLV_OK) {
      break;
    }
    assert_int_equal(status, GLV_E_NOMEM);
  }
  test_env_close(&t);
}

static void a_full_memory_store_says_so(void **state) {
  (void)state;
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = io_local();
  options.memory_limit_bytes = 100000;
  glv_env *memory;
  glv_error err;
  assert_int_equal(env_new(&options, &memory, &err), GLV_OK);
  io_mem *m;
  assert_int_equal(io_mem_new(memory, &m, &err), GLV_OK);
  glv_env *env = test_env_over(io_mem_table(m));
  void *dir;
  assert_int_equal(io_dir_open(env, "/", &dir, &err), GLV_OK);
  void *file;
  assert_int_equal(io_create(env, dir, "f", &file, &err), GLV_OK);
  char block[4096] = {0};
  glv_status status = GLV_OK;
  for (int i = 0; i < 100 && status == GLV_OK; i++) {
    status = io_write(env, file, block, sizeof block, &err);
  }
  assert_int_equal(status, GLV_E_NOMEM);
  assert_int_equal(io_close(env, file, &err), GLV_OK);
  io_dir_close(env, dir);
  env_unref(env);
  io_mem_free(m);
  env_unref(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_fails_once),
      cmocka_unit_test(every_allocation_of_the_helpers_fails_once),
      cmocka_unit_test(a_full_memory_store_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
