/* The counters and the decision stand before malloc; nothing else is changed. */
#include "support/alloc_fault.h"

#include <stdlib.h>
#include <string.h>

static bool refuse(alloc_fault *f) {
  const uint64_t n = atomic_fetch_add(&f->requests, 1) + 1;
  const bool hit = f->fail_at != 0 && (n == f->fail_at || (f->persistent && n > f->fail_at));
  if (hit) {
    atomic_store(&f->fired, true);
  }
  return hit;
}

static void *take(alloc_fault *f, size_t size, size_t align) {
  void *block = NULL;
  if (posix_memalign(&block, align < sizeof(void *) ? sizeof(void *) : align, size) != 0) {
    return NULL;
  }
  atomic_fetch_add(&f->live_blocks, 1);
  atomic_fetch_add(&f->live_bytes, size);
  return block;
}

static void fault_free(void *user, void *block, size_t size) {
  alloc_fault *f = user;
  atomic_fetch_sub(&f->live_blocks, 1);
  atomic_fetch_sub(&f->live_bytes, size);
  free(block);
}

static void *fault_alloc(void *user, size_t size, size_t align) {
  return refuse(user) ? NULL : take(user, size, align);
}

static void *fault_resize(void *user, void *old, size_t old_size, size_t size, size_t align) {
  void *block = refuse(user) ? NULL : take(user, size, align);
  if (block != NULL) {
    memcpy(block, old, old_size < size ? old_size : size);
    fault_free(user, old, old_size);
  }
  return block;
}

void alloc_fault_init(alloc_fault *f) {
  memset(f, 0, sizeof *f);
  f->table = (glv_allocator){fault_alloc, fault_resize, fault_free, f};
}

void alloc_fault_arm(alloc_fault *f, uint64_t nth, bool persistent) {
  atomic_store(&f->requests, 0);
  atomic_store(&f->fired, false);
  f->fail_at = nth;
  f->persistent = persistent;
}
