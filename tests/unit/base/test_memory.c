/* Accounting, limits, arenas, buffers, arrays, maps. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "support/test_env.h"

static uint64_t used(const glv_env *env) {
  uint64_t n;
  env_memory(env, &n, NULL);
  return n;
}

static void accounting(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  const uint64_t before = used(t.env);
  char *a = mem_alloc(t.env, 1000);
  assert_int_equal((uintptr_t)a % 16, 0);
  assert_int_equal(used(t.env), before + 1016);
  memset(a, 'q', 1000);
  a = mem_resize(t.env, a, 5000);
  assert_int_equal(a[999], 'q');
  char *b = mem_alloc_aligned(t.env, 100);
  assert_int_equal((uintptr_t)b % 64, 0);
  memset(b, 'r', 100);
  b = mem_resize_aligned(t.env, b, 100, 70000);
  assert_int_equal((uintptr_t)b % 64, 0);
  assert_int_equal(b[99], 'r');
  assert_int_equal(used(t.env), before + 5016 + 70000);
  char *c = mem_strndup(t.env, "abcdef", 3);
  assert_string_equal(c, "abc");
  int *d = mem_calloc(t.env, 10, sizeof(int));
  assert_int_equal(d[9], 0);
  mem_free(t.env, d);
  mem_free(t.env, c);
  mem_free(t.env, a);
  mem_free_aligned(t.env, b, 70000);
  mem_free(t.env, NULL);
  mem_free_aligned(t.env, NULL, 0);
  mem_free(t.env, mem_alloc(t.env, 0));
  assert_int_equal(used(t.env), before);
  uint64_t peak;
  env_memory(t.env, NULL, &peak);
  assert_true(peak >= 75016);
  test_env_close(&t);
}

static void overflow_is_refused(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  assert_null(mem_alloc(t.env, SIZE_MAX));
  assert_null(mem_alloc(t.env, SIZE_MAX - 15));
  assert_null(mem_calloc(t.env, SIZE_MAX / 2, 3));
  assert_null(mem_strndup(t.env, "", SIZE_MAX));
  void *block = mem_alloc(t.env, 1);
  assert_null(mem_resize(t.env, block, SIZE_MAX));
  mem_free(t.env, block);
  test_env_close(&t);
}

static void limit(void **state) {
  (void)state;
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.memory_limit_bytes = 10000;
  test_env t;
  test_env_open_mem_with(&t, &options);
  void *a = mem_alloc(t.env, 9000);
  assert_non_null(a);
  assert_null(mem_alloc(t.env, 1000));
  assert_null(mem_resize(t.env, a, 9999));
  assert_null(mem_alloc_aligned(t.env, 985));
  void *b = mem_alloc_aligned(t.env, 984);
  assert_non_null(b);
  uint64_t peak;
  env_memory(t.env, NULL, &peak);
  assert_int_equal(peak, 10000);
  mem_free_aligned(t.env, b, 984);
  mem_free(t.env, a);
  assert_int_equal(used(t.env), 0);
  test_env_close(&t);
}

static void failing_allocator_keeps_the_books(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  alloc_fault_arm(&t.alloc, 2, false);
  void *a = mem_alloc(t.env, 10);
  assert_null(mem_resize(t.env, a, 20));
  assert_int_equal(used(t.env), 26);
  a = mem_resize(t.env, a, 20);
  mem_free(t.env, a);
  assert_int_equal(used(t.env), 0);
  test_env_close(&t);
}

static void arena_basics(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  assert_int_equal(used(t.env), 0);
  char *first = arena_alloc(&a, 3);
  char *second = arena_alloc(&a, 3);
  assert_int_equal((uintptr_t)second % 16, 0);
  assert_ptr_not_equal(first, second);
  assert_non_null(arena_alloc(&a, 0));
  assert_string_equal(arena_printf(&a, "%s-%d", "x", 5), "x-5");
  assert_string_equal(arena_strdup(&a, STR("")), "");
  const arena_mark mark = arena_mark_get(&a);
  const uint64_t at_mark = used(t.env);
  for (int i = 0; i < 100; i++) {
    char *block = arena_alloc(&a, 100000);
    for (size_t k = 0; k < 100000; k += 999) {
      assert_int_equal(block[k], 0);
    }
    memset(block, 'x', 100000);
  }
  arena_reset_to(&a, mark);
  assert_int_equal(used(t.env), at_mark);
  int *zeroed = ARENA_ARRAY(&a, int, 100);
  for (int i = 0; i < 100; i++) {
    assert_int_equal(zeroed[i], 0);
  }
  assert_null(arena_alloc(&a, SIZE_MAX));
  assert_null(arena_calloc(&a, SIZE_MAX / 4, 8));
  assert_null(arena_strdup(&a, str_slice("", SIZE_MAX)));
  arena_dispose(&a);
  assert_int_equal(used(t.env), 0);
  assert_non_null(arena_alloc(&a, 1)); /* usable again */
  arena_dispose(&a);
  test_env_close(&t);
}

static void buf_growth_and_limit(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  glv_error err;
  buf b;
  buf_init(&b, t.env, 100);
  assert_int_equal(buf_str(&b).size, 0);
  assert_int_equal(buf_append(&b, NULL, 0, &err), GLV_OK);
  assert_int_equal(buf_append(&b, "hello", 5, &err), GLV_OK);
  assert_int_equal(buf_append_char(&b, '!', &err), GLV_OK);
  assert_int_equal(buf_printf(&b, &err, " %d%%", 42), GLV_OK);
  assert_string_equal(b.data, "hello! 42%");
  assert_int_equal(buf_append_fill(&b, 'z', 90, &err), GLV_OK);
  assert_int_equal(b.size, 100);
  assert_int_equal(buf_append_char(&b, 'z', &err), GLV_E_LIMIT);
  assert_int_equal(buf_printf(&b, &err, "z"), GLV_E_LIMIT);
  assert_int_equal(buf_append_fill(&b, 'z', SIZE_MAX, &err), GLV_E_LIMIT);
  assert_int_equal(b.size, 100);
  buf_clear(&b);
  assert_int_equal(b.size, 0);
  assert_int_equal(buf_append_str(&b, STR("x"), &err), GLV_OK);
  char *detached = buf_detach(&b);
  assert_string_equal(detached, "x");
  mem_free(t.env, detached);
  assert_null(buf_detach(&b));
  buf_dispose(&b);
  test_env_close(&t);
}

static void vec_growth(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  glv_error err;
  int64_t *items = NULL;
  size_t capacity = 0;
  for (size_t i = 0; i < 10000; i++) {
    assert_int_equal(vec_reserve(t.env, &items, &capacity, i + 1, sizeof *items, &err), GLV_OK);
    items[i] = (int64_t)i;
  }
  for (size_t i = 0; i < 10000; i++) {
    assert_int_equal(items[i], i);
  }
  assert_int_equal(vec_reserve(t.env, &items, &capacity, SIZE_MAX / 2, sizeof *items, &err),
                   GLV_E_LIMIT);
  mem_free(t.env, items);
  test_env_close(&t);
}

static void map_against_an_array(void **state) {
  (void)state;
  enum { KEYS = 5000 };
  test_env t;
  test_env_open_mem(&t);
  glv_error err;
  arena names;
  arena_init(&names, t.env);
  map m;
  map_init(&m, t.env);
  assert_null(map_get(&m, STR("x")));
  str keys[KEYS];
  for (size_t i = 0; i < KEYS; i++) {
    char *text = arena_printf(&names, "key%zu", i * 7919);
    keys[i] = i == 0 ? STR("") : str_of(text);
    uint64_t *value;
    bool is_new;
    assert_int_equal(map_put(&m, keys[i], &value, &is_new, &err), GLV_OK);
    assert_true(is_new);
    assert_int_equal(*value, 0);
    *value = i + 1;
  }
  assert_int_equal(m.count, KEYS);
  for (size_t i = 0; i < KEYS; i++) {
    assert_int_equal(*map_get(&m, keys[i]), i + 1);
    uint64_t *value;
    bool is_new;
    assert_int_equal(map_put(&m, keys[i], &value, &is_new, &err), GLV_OK);
    assert_false(is_new);
  }
  assert_null(map_get(&m, STR("absent")));
  map_dispose(&m);
  arena_dispose(&names);
  test_env_close(&t);
}

static void every_refused_allocation_is_reported(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  for (uint64_t n = 1;; n++) {
    alloc_fault_arm(&t.alloc, n, false);
    arena a;
    arena_init(&a, t.env);
    buf b;
    buf_init(&b, t.env, 1000);
    map m;
    map_init(&m, t.env);
    glv_error err = {0};
    uint64_t *value;
    const bool ok = arena_alloc(&a, 10) != NULL && arena_alloc(&a, 1 << 20) != NULL &&
                    buf_append_fill(&b, 'x', 10, &err) == GLV_OK &&
                    buf_append_fill(&b, 'x', 900, &err) == GLV_OK &&
                    map_put(&m, STR("k"), &value, NULL, &err) == GLV_OK;
    const bool fired = atomic_load(&t.alloc.fired);
    map_dispose(&m);
    buf_dispose(&b);
    arena_dispose(&a);
    assert_true(ok != fired);
    assert_int_equal(used(t.env), 0);
    if (!fired) {
      assert_true(n > 4);
      break;
    }
  }
  test_env_close(&t);
}

static void fork_is_noticed(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  glv_error err = {0};
  assert_int_equal(env_check_fork(t.env, &err), GLV_OK);
  const pid_t child = fork();
  if (child == 0) {
    const glv_status status = env_check_fork(t.env, &err);
    _exit(status == GLV_E_BAD_STATE && strstr(err.message, "fork") != NULL ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accounting),
      cmocka_unit_test(overflow_is_refused),
      cmocka_unit_test(limit),
      cmocka_unit_test(failing_allocator_keeps_the_books),
      cmocka_unit_test(arena_basics),
      cmocka_unit_test(buf_growth_and_limit),
      cmocka_unit_test(vec_growth),
      cmocka_unit_test(map_against_an_array),
      cmocka_unit_test(every_refused_allocation_is_reported),
      cmocka_unit_test(fork_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
