/*
 * Environment and memory. Every byte the library allocates passes through here: the allocator table
 * of the environment does the work, this file counts it and enforces the limit. A block of
 * mem_alloc is preceded by a 16-byte header with its size, so that callers need not carry sizes;
 * column buffers (mem_alloc_aligned) have none, their owner knows the size anyway and a header
 * would cost a cache line of alignment.
 *
 * This is the only file that calls malloc and free.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/block_cache_private.h"
#include "base/checked.h"
#include "base/env.h"
#include "base/lock_table_private.h"
#include "base/pin_table_private.h"
#include "base/thread.h"

enum { HEADER_BYTES = 16, BUFFER_ALIGN = 64, MAX_DEFAULT_THREADS = 8, MAX_THREADS = 1024 };

/* Most bytes of freed blocks that are kept, and which part of a memory limit at most. */
#define CACHE_BYTES ((size_t)16 << 20)
enum { CACHE_PART = 8 };

struct glv_env {
  atomic_size_t refs;
  glv_allocator allocator;
  glv_allocator origin; /* made env; `allocator` may be the cache on top of it */
  bool has_cache;
  block_cache cache;
  glv_io io;
  glv_log_callback log;
  void *log_user;
  int32_t log_level;
  uint64_t memory_limit;
  atomic_uint_fast64_t used;
  atomic_uint_fast64_t peak;
  size_t threads;
  pid_t pid;
  mutex pool_lock;
  struct pool *pool; /* guarded by pool_lock until set */
  struct lock_table locks;
  struct pin_table pins;
};

static void *default_alloc(void *user, size_t size, size_t align) {
  (void)user;
  if (align <= HEADER_BYTES) {
    return malloc(size);
  }
  void *block = NULL;
  return posix_memalign(&block, align, size) == 0 ? block : NULL;
}

static void *default_resize(void *user, void *old, size_t old_size, size_t size, size_t align) {
  if (align <= HEADER_BYTES) {
    return realloc(old, size);
  }
  void *block = default_alloc(user, size, align);
  if (block != NULL) {
    memcpy(block, old, size_min(old_size, size));
    free(old);
  }
  return block;
}

static void default_free(void *user, void *block, size_t size) {
  (void)user;
  (void)size;
  free(block);
}

static size_t default_threads(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : size_min((size_t)count, MAX_DEFAULT_THREADS);
}

/* Without an allocator of the caller's, large blocks are kept for the next request. */
static void start_cache(glv_env *env) {
  const uint64_t part = env->memory_limit != 0 ? env->memory_limit / CACHE_PART : CACHE_BYTES;
  block_cache_init(&env->cache, &env->origin, (size_t)u64_min(part, CACHE_BYTES));
  env->allocator =
      (glv_allocator){block_cache_alloc, block_cache_resize, block_cache_free, &env->cache};
  env->has_cache = true;
}

glv_status env_new(const glv_env_options *options, glv_env **ret, glv_error *err) {
  static const glv_allocator default_allocator = {default_alloc, default_resize, default_free,
                                                  NULL};
  const glv_allocator *allocator =
      options->allocator != NULL ? options->allocator : &default_allocator;
  glv_env *env = allocator->alloc(allocator->user, sizeof *env, HEADER_BYTES);
  if (env == NULL) {
    return error_nomem(err, sizeof *env);
  }
  memset(env, 0, sizeof *env);
  env->origin = *allocator;
  env->allocator = *allocator;
  env->io = *options->io;
  env->log = options->log;
  env->log_user = options->log_user;
  env->log_level = options->log_level != 0 ? options->log_level : GLV_LOG_WARNING;
  env->memory_limit = options->memory_limit_bytes;
  if (options->allocator == NULL) {
    start_cache(env);
  }
  env->threads =
      options->threads != 0 ? size_min(options->threads, MAX_THREADS) : default_threads();
  env->pid = getpid();
  atomic_init(&env->refs, 1);
  atomic_init(&env->used, 0);
  atomic_init(&env->peak, 0);
  mutex_init(&env->pool_lock);
  mutex_init(&env->locks.lock);
  condition_init(&env->locks.changed);
  mutex_init(&env->pins.lock);
  *ret = env;
  return GLV_OK;
}

glv_env *env_ref(glv_env *env) {
  atomic_fetch_add_explicit(&env->refs, 1, memory_order_relaxed);
  return env;
}

void env_unref(glv_env *env) {
  if (env == NULL || atomic_fetch_sub_explicit(&env->refs, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (env->pid == getpid()) {
    pool_free(env->pool); /* in a forked child the threads do not exist */
  }
  mutex_dispose(&env->pool_lock);
  mutex_dispose(&env->pins.lock);
  condition_dispose(&env->locks.changed);
  mutex_dispose(&env->locks.lock);
  if (env->has_cache) {
    block_cache_dispose(&env->cache);
  }
  const glv_allocator origin = env->origin;
  origin.free(origin.user, env, sizeof *env);
}

void env_cleanup(glv_env **env) { env_unref(*env); }

void env_memory(const glv_env *env, uint64_t *ret_used, uint64_t *ret_peak) {
  if (ret_used != NULL) {
    *ret_used = atomic_load_explicit(&env->used, memory_order_relaxed);
  }
  if (ret_peak != NULL) {
    *ret_peak = atomic_load_explicit(&env->peak, memory_order_relaxed);
  }
}

const glv_io *env_io(const glv_env *env) { return &env->io; }

struct pin_table *env_pin_table(glv_env *env) {
  return &env->pins;
}

struct lock_table *env_lock_table(glv_env *env) {
  return &env->locks;
}

size_t env_threads(const glv_env *env) { return env->threads; }

struct pool *env_pool(glv_env *env, glv_error *err) {
  mutex_lock(&env->pool_lock);
  if (env->pool == NULL) {
    (void)pool_new(env, env->threads, &env->pool, err); /* NULL stays when it fails */
  }
  struct pool *started = env->pool;
  mutex_unlock(&env->pool_lock);
  return started;
}

glv_status env_check_fork(const glv_env *env, glv_error *err) {
  if (env->pid == getpid()) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_BAD_STATE,
              "this process was made by fork after the environment was opened; open a new "
              "environment in it");
}

int64_t env_now_ns(const glv_env *env) { return env->io.now_ns(env->io.user); }

glv_status env_random(const glv_env *env, void *data, size_t size, glv_error *err) {
  return env->io.random(env->io.user, data, size, err);
}

bool env_log_enabled(const glv_env *env, int32_t level) {
  return env->log != NULL && level <= env->log_level;
}

void env_log(const glv_env *env, int32_t level, const char *format, ...) {
  if (!env_log_enabled(env, level)) {
    return;
  }
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length >= 0) {
    env->log(env->log_user, level, text);
  }
}

/* False when `used` bytes pass the limit. What is used and what is kept stay below it together. */
static bool fits(glv_env *env, uint64_t used) {
  if (env->memory_limit == 0) {
    return true;
  }
  if (env->has_cache && used + block_cache_bytes(&env->cache) > env->memory_limit) {
    block_cache_clear(&env->cache);
  }
  return used <= env->memory_limit;
}

/* Account for size more bytes; false when that passes the limit. */
static bool reserve(glv_env *env, size_t size) {
  const uint64_t used = atomic_fetch_add_explicit(&env->used, size, memory_order_relaxed) + size;
  if (!fits(env, used)) {
    atomic_fetch_sub_explicit(&env->used, size, memory_order_relaxed);
    return false;
  }
  uint64_t peak = atomic_load_explicit(&env->peak, memory_order_relaxed);
  while (used > peak && !atomic_compare_exchange_weak_explicit(
                            &env->peak, &peak, used, memory_order_relaxed, memory_order_relaxed)) {
  }
  return true;
}

static void unreserve(glv_env *env, size_t size) {
  atomic_fetch_sub_explicit(&env->used, size, memory_order_relaxed);
}

static void *raw_alloc(glv_env *env, size_t size, size_t align) {
  if (!reserve(env, size)) {
    return NULL;
  }
  void *block = env->allocator.alloc(env->allocator.user, size, align);
  if (block == NULL) {
    unreserve(env, size);
  }
  return block;
}

static void *raw_resize(glv_env *env, void *old, size_t old_size, size_t size, size_t align) {
  if (!reserve(env, size)) {
    return NULL;
  }
  void *block = env->allocator.resize(env->allocator.user, old, old_size, size, align);
  unreserve(env, block != NULL ? old_size : size);
  return block;
}

static void raw_free(glv_env *env, void *block, size_t size) {
  env->allocator.free(env->allocator.user, block, size);
  unreserve(env, size);
}

void *mem_alloc(glv_env *env, size_t size) {
  size_t total;
  if (!size_add(size, HEADER_BYTES, &total)) {
    return NULL;
  }
  char *block = raw_alloc(env, total, HEADER_BYTES);
  if (block == NULL) {
    return NULL;
  }
  memcpy(block, &total, sizeof total);
  return block + HEADER_BYTES;
}

void *mem_zalloc(glv_env *env, size_t size) {
  void *block = mem_alloc(env, size);
  if (block != NULL) {
    memset(block, 0, size);
  }
  return block;
}

void *mem_calloc(glv_env *env, size_t count, size_t width) {
  size_t size;
  return size_mul(count, width, &size) ? mem_zalloc(env, size) : NULL;
}

void *mem_resize(glv_env *env, void *old, size_t size) {
  size_t total;
  if (old == NULL) {
    return mem_alloc(env, size);
  }
  if (!size_add(size, HEADER_BYTES, &total)) {
    return NULL;
  }
  char *header = (char *)old - HEADER_BYTES;
  size_t old_total;
  memcpy(&old_total, header, sizeof old_total);
  char *block = raw_resize(env, header, old_total, total, HEADER_BYTES);
  if (block == NULL) {
    return NULL;
  }
  memcpy(block, &total, sizeof total);
  return block + HEADER_BYTES;
}

void mem_free(glv_env *env, void *block) {
  if (block != NULL) {
    char *header = (char *)block - HEADER_BYTES;
    size_t total;
    memcpy(&total, header, sizeof total);
    raw_free(env, header, total);
  }
}

char *mem_strndup(glv_env *env, const char *text, size_t size) {
  char *copy = size < SIZE_MAX ? mem_alloc(env, size + 1) : NULL;
  if (copy != NULL) {
    memcpy(copy, text, size);
    copy[size] = '\0';
  }
  return copy;
}

void *mem_alloc_aligned(glv_env *env, size_t size) { return raw_alloc(env, size, BUFFER_ALIGN); }

void *mem_resize_aligned(glv_env *env, void *old, size_t old_size, size_t size) {
  return raw_resize(env, old, old_size, size, BUFFER_ALIGN);
}

void mem_free_aligned(glv_env *env, void *block, size_t size) {
  if (block != NULL) {
    raw_free(env, block, size);
  }
}
