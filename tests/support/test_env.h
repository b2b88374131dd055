/**
 * @file test_env.h
 * An environment and an empty directory for one test.
 *
 * `test_env_open_mem(&t); ... t.env, t.root ...; test_env_close(&t);` The close asserts that
 * nothing allocated under the environment is left and no file stayed open, and removes the
 * directory.
 */
#ifndef GLAIVE_TESTS_TEST_ENV_H
#define GLAIVE_TESTS_TEST_ENV_H

#include <stdbool.h>

#include "base/env.h"
#include "io/io.h"
#include "support/alloc_fault.h"
#include "support/io_fault.h"

typedef struct test_env {
  glv_env *env;      /* the one to use */
  char root[64];     /* an existing empty directory of env's store */
  alloc_fault alloc; /* allocator of env; alloc_fault_arm makes it fail */
  io_fault io;       /* I/O table of env; io_fault_arm makes it fail */
  io_mem *mem;       /* the store of test_env_open_mem, else NULL */
  glv_env *memory;   /* what mem allocates from */
  bool owns_store;   /* the close removes it */
} test_env;

/** Options for both: memory_limit_bytes, threads, log; io and allocator are set here. NULL =
 * defaults. */
void test_env_open_mem_with(test_env *t, const glv_env_options *options);
void test_env_open_local_with(test_env *t, const glv_env_options *options);
static inline void test_env_open_mem(test_env *t) { test_env_open_mem_with(t, NULL); }
static inline void test_env_open_local(test_env *t) { test_env_open_local_with(t, NULL); }
/** Both stores by number: 0 = memory, 1 = local. */
static inline void test_env_open(test_env *t, int store) {
  store == 0 ? test_env_open_mem(t) : test_env_open_local(t);
}
void test_env_close(test_env *t);

/** Fixture of cmocka: *state is a test_env in memory, one for each program. */
int test_env_setup(void **state);
int test_env_teardown(void **state);

/** A second environment over the store of other, with its own accounting and faults; close it
 * before other. */
void test_env_share(test_env *t, const test_env *other);

/** An environment over any table, for crash tests; env_unref. */
glv_env *test_env_over(const glv_io *io);

/** root + "/" + name, in a ring of 16 static buffers. */
const char *test_env_path(const test_env *t, const char *name);

#endif
