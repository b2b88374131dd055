/* The cache of freed blocks: reuse, limits, the books of the allocator below, failures. */
#include "base/block_cache_private.h"
#include "base/env.h"
#include "io/io.h"
#include "support/alloc_fault.h"
#include "support/cmocka.h"
#include "support/rng.h"

enum { ALIGN = 64, LIMIT = 1 << 20 };

typedef struct fixture {
  alloc_fault below;
  block_cache cache;
} fixture;

static void open_cache(fixture *f) {
  alloc_fault_init(&f->below);
  block_cache_init(&f->cache, &f->below.table, LIMIT);
}

static void close_cache(fixture *f) {
  block_cache_dispose(&f->cache);
  assert_int_equal(atomic_load(&f->below.live_blocks), 0);
  assert_int_equal(atomic_load(&f->below.live_bytes), 0);
}

static void a_freed_block_comes_back(void **state) {
  (void)state;
  fixture f;
  open_cache(&f);
  void *a = block_cache_alloc(&f.cache, 100000, ALIGN);
  assert_int_equal((uintptr_t)a % ALIGN, 0);
  block_cache_free(&f.cache, a, 100000);
  assert_int_equal(atomic_load(&f.below.live_blocks), 1);
  const size_t kept = block_cache_bytes(&f.cache);
  assert_true(kept >= 100000 && kept <= 125000);
  void *b = block_cache_alloc(&f.cache, kept, 16); /* the largest that fits */
  assert_ptr_equal(a, b);
  assert_int_equal(block_cache_bytes(&f.cache), 0);
  void *c = block_cache_alloc(&f.cache, kept + 1, ALIGN);
  assert_ptr_not_equal(b, c);
  memset(c, 'x', kept + 1);
  block_cache_free(&f.cache, b, kept);
  block_cache_free(&f.cache, c, kept + 1);
  block_cache_clear(&f.cache);
  assert_int_equal(atomic_load(&f.below.live_blocks), 0);
  close_cache(&f);
}

static void small_and_huge_blocks_are_not_kept(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 64, BLOCK_CACHE_LEAST, BLOCK_CACHE_MOST + 1};
  fixture f;
  open_cache(&f);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    block_cache_free(&f.cache, block_cache_alloc(&f.cache, sizes[i], 16), sizes[i]);
    assert_int_equal(block_cache_bytes(&f.cache), 0);
    assert_int_equal(atomic_load(&f.below.live_blocks), 0);
  }
  close_cache(&f);
}

static void the_oldest_blocks_make_room(void **state) {
  (void)state;
  enum { BLOCKS = 20, SIZE = LIMIT / 8 };
  fixture f;
  void *blocks[BLOCKS];
  open_cache(&f);
  for (size_t i = 0; i < BLOCKS; i++) {
    blocks[i] = block_cache_alloc(&f.cache, SIZE, ALIGN);
  }
  for (size_t i = 0; i < BLOCKS; i++) {
    block_cache_free(&f.cache, blocks[i], SIZE);
  }
  assert_int_equal(block_cache_bytes(&f.cache), LIMIT);
  assert_int_equal(atomic_load(&f.below.live_blocks), 8);
  for (size_t i = 0; i < 8; i++) {
    assert_ptr_equal(block_cache_alloc(&f.cache, SIZE, ALIGN), blocks[BLOCKS - 1 - i]);
  }
  for (size_t i = 0; i < 8; i++) {
    block_cache_free(&f.cache, blocks[BLOCKS - 1 - i], SIZE);
  }
  void *large = block_cache_alloc(&f.cache, 2 * LIMIT, ALIGN); /* more than all of the cache */
  block_cache_free(&f.cache, large, 2 * LIMIT);
  assert_int_equal(block_cache_bytes(&f.cache), 0);
  close_cache(&f);
}

static void resizing_keeps_the_bytes(void **state) {
  (void)state;
  static const size_t sizes[] = {100, 20000, 20480, 70000, 69000, 5 << 20, 4 << 20, 17000, 90};
  fixture f;
  open_cache(&f);
  size_t size = 50;
  unsigned char *block = block_cache_alloc(&f.cache, size, ALIGN);
  memset(block, 7, size);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    block = block_cache_resize(&f.cache, block, size, sizes[i], ALIGN);
    assert_int_equal((uintptr_t)block % ALIGN, 0);
    size = sizes[i];
    for (size_t k = 0; k < 50; k++) {
      assert_int_equal(block[k], 7);
    }
    block[size - 1] = 7;
  }
  block_cache_free(&f.cache, block, size);
  close_cache(&f);
}

static void failures_leave_the_old_block(void **state) {
  (void)state;
  fixture f;
  open_cache(&f);
  char *block = block_cache_alloc(&f.cache, 30000, ALIGN);
  memset(block, 'a', 30000);
  alloc_fault_arm(&f.below, 1, true);
  assert_null(block_cache_alloc(&f.cache, 300000, ALIGN));
  assert_null(block_cache_resize(&f.cache, block, 30000, 300000, ALIGN));
  assert_null(block_cache_resize(&f.cache, block, 30000, 100, ALIGN));
  assert_int_equal(block[29999], 'a');
  block_cache_free(&f.cache, block, 30000);
  assert_ptr_equal(block_cache_alloc(&f.cache, 30000, ALIGN), block); /* needs nothing from below */
  block_cache_free(&f.cache, block, 30000);
  close_cache(&f);
}

/* Random requests against a list of what should be there. */
static void random_requests(void **state) {
  (void)state;
  enum { SLOTS = 40, STEPS = 20000 };
  struct {
    unsigned char *block;
    size_t size;
  } slots[SLOTS] = {{0}};
  fixture f;
  open_cache(&f);
  rng r = rng_of(7);
  for (size_t i = 0; i < STEPS; i++) {
    const size_t at = (size_t)rng_below(&r, SLOTS);
    const size_t size = 1 + (size_t)rng_below(&r, (uint64_t)1 << rng_below(&r, 20));
    const unsigned char mark = (unsigned char)at;
    if (slots[at].block == NULL) {
      slots[at].block = block_cache_alloc(&f.cache, size, ALIGN);
    } else {
      assert_int_equal(slots[at].block[0], mark);
      assert_int_equal(slots[at].block[slots[at].size - 1], mark);
      if (i % 3 == 0) {
        slots[at].block =
            block_cache_resize(&f.cache, slots[at].block, slots[at].size, size, ALIGN);
        assert_int_equal(slots[at].block[0], mark);
      } else {
        block_cache_free(&f.cache, slots[at].block, slots[at].size);
        slots[at].block = NULL;
        continue;
      }
    }
    slots[at].size = size;
    slots[at].block[0] = slots[at].block[size - 1] = mark;
    assert_true(block_cache_bytes(&f.cache) <= LIMIT);
  }
  for (size_t i = 0; i < SLOTS; i++) {
    if (slots[i].block != NULL) {
      block_cache_free(&f.cache, slots[i].block, slots[i].size);
    }
  }
  close_cache(&f);
}

/* Used and kept bytes together stay below the limit of an environment. */
static void a_memory_limit_counts_kept_blocks(void **state) {
  (void)state;
  glv_error err;
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.memory_limit_bytes = 1 << 20;
  options.io = io_local();
  glv_env *env = NULL;
  assert_int_equal(env_new(&options, &env, &err), GLV_OK);
  for (size_t i = 0; i < 100; i++) {
    const size_t size = 40000 + i * 7000;
    void *a = mem_alloc_aligned(env, size);
    assert_non_null(a);
    mem_free_aligned(env, a, size);
    uint64_t used;
    env_memory(env, &used, NULL);
    assert_int_equal(used, 0);
  }
  void *all = mem_alloc_aligned(env, 1 << 20);
  assert_non_null(all);
  assert_null(mem_alloc_aligned(env, 1));
  mem_free_aligned(env, all, 1 << 20);
  env_unref(env);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_freed_block_comes_back),
      cmocka_unit_test(small_and_huge_blocks_are_not_kept),
      cmocka_unit_test(the_oldest_blocks_make_room),
      cmocka_unit_test(resizing_keeps_the_bytes),
      cmocka_unit_test(failures_leave_the_old_block),
      cmocka_unit_test(random_requests),
      cmocka_unit_test(a_memory_limit_counts_kept_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
