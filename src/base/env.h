/**
 * @file env.h
 * The environment behind glv_env: allocator with accounting, I/O table, clock, entropy, log and
 * thread pool. Reference-counted; everything that may outlive its caller holds a reference.
 */
#ifndef GLAIVE_BASE_ENV_H
#define GLAIVE_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glaive/env.h>

#include "base/error.h"

struct pool;

/**
 * Make an environment with one reference.
 *
 * @param options  NULL = defaults; already checked for size by the caller. options->io must be set.
 * Errors: GLV_E_NOMEM. Thread class: T.
 */
glv_status env_new(const glv_env_options *options, glv_env **ret, glv_error *err);
glv_env *env_ref(glv_env *env);
/** NULL is fine. The last reference stops the threads. */
void env_unref(glv_env *env);

/** Bytes in use and their peak. */
void env_memory(const glv_env *env, uint64_t *ret_used, uint64_t *ret_peak);
/** The I/O table; lives as long as env. */
const glv_io *env_io(const glv_env *env);
/** Number of threads that work on tasks, the caller's not counted; at least 1. */
size_t env_threads(const glv_env *env);
/** Started on first use. NULL with GLV_E_NOMEM or GLV_E_IO in err when no thread can be made. */
struct pool *env_pool(glv_env *env, glv_error *err);
/** GLV_E_BAD_STATE in a forked child. Every exported function that may block calls this first. */
glv_status env_check_fork(const glv_env *env, glv_error *err);

/** Wall clock in nanoseconds since the epoch; entropy. */
int64_t env_now_ns(const glv_env *env);
glv_status env_random(const glv_env *env, void *data, size_t size, glv_error *err);

/** True when a line of that level would be seen. */
bool env_log_enabled(const glv_env *env, int32_t level);
void env_log(const glv_env *env, int32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Memory. Blocks of mem_alloc know their size; they are aligned to 16 bytes and come uninitialised,
 * those of mem_zalloc zeroed. size 0 gives a valid block. NULL = no memory or limit reached.
 */
void *mem_alloc(glv_env *env, size_t size) __attribute__((malloc));
void *mem_zalloc(glv_env *env, size_t size) __attribute__((malloc));
/** count * width bytes, zeroed; NULL also when that overflows. */
void *mem_calloc(glv_env *env, size_t count, size_t width) __attribute__((malloc));
/** Like realloc: old may be NULL; on NULL the old block stays. */
void *mem_resize(glv_env *env, void *old, size_t size);
/** NULL is fine. */
void mem_free(glv_env *env, void *block);
/** A NUL-terminated copy of text[0..size). */
char *mem_strndup(glv_env *env, const char *text, size_t size);

/** Blocks without header, aligned to 64 bytes, for column data: the owner keeps the size. size > 0.
 */
void *mem_alloc_aligned(glv_env *env, size_t size);
void *mem_resize_aligned(glv_env *env, void *old, size_t old_size, size_t size);
void mem_free_aligned(glv_env *env, void *block, size_t size);

/** CLEANUP helper: drops the reference in a local `glv_env *`. */
void env_cleanup(glv_env **env);

#endif
