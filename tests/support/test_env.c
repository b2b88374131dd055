/* Temporary directories are made under TMPDIR, or /tmp. */
#include "support/test_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"

static void must(glv_status status, const glv_error *err) {
  if (status != GLV_OK) {
    fprintf(stderr, "test environment: %s\n", err->message);
    abort();
  }
}

glv_env *test_env_over(const glv_io *io) {
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = io;
  glv_env *env;
  glv_error err;
  must(env_new(&options, &env, &err), &err);
  return env;
}

static void open_over(test_env *t, const glv_io *io, const glv_env_options *given) {
  alloc_fault_init(&t->alloc);
  io_fault_init(&t->io, io);
  glv_env_options options = given != NULL ? *given : GLV_OPTIONS(glv_env_options);
  options.io = &t->io.table;
  options.allocator = &t->alloc.table;
  glv_error err;
  must(env_new(&options, &t->env, &err), &err);
}

void test_env_open_mem_with(test_env *t, const glv_env_options *options) {
  memset(t, 0, sizeof *t);
  t->memory = test_env_over(io_local());
  glv_error err;
  must(io_mem_new(t->memory, &t->mem, &err), &err);
  t->owns_store = true;
  strcpy(t->root, "/db");
  open_over(t, io_mem_table(t->mem), options);
  must(io_make_dirs(t->env, t->root, &err), &err);
}

void test_env_open_local_with(test_env *t, const glv_env_options *options) {
  memset(t, 0, sizeof *t);
  t->owns_store = true;
  const char *parent = getenv("TMPDIR");
  snprintf(t->root, sizeof t->root, "%s/glaive_XXXXXX", parent != NULL ? parent : "/tmp");
  if (mkdtemp(t->root) == NULL) {
    perror(t->root);
    abort();
  }
  open_over(t, io_local(), options);
}

void test_env_share(test_env *t, const test_env *other) {
  memset(t, 0, sizeof *t);
  strcpy(t->root, other->root);
  open_over(t, &other->io.inner, NULL);
}

static void remove_root(const glv_io *inner, const char *root) {
  glv_error err;
  glv_env *env = test_env_over(inner);
  const glv_status status = io_remove_tree(env, root, &err);
  must(status != GLV_OK && io_is_missing(&err) ? GLV_OK : status, &err);
  env_unref(env);
}

void test_env_close(test_env *t) {
  io_fault_arm(&t->io, (io_fault_plan){0});
  alloc_fault_arm(&t->alloc, 0, false);
  env_unref(t->env);
  const uint64_t blocks = atomic_load(&t->alloc.live_blocks);
  const int64_t handles = t->io.open_handles;
  const glv_io inner = t->io.inner;
  io_fault_dispose(&t->io);
  if (t->owns_store) {
    remove_root(&inner, t->root);
    if (blocks == 0 && handles == 0) { /* else something may still use it */
      io_mem_free(t->mem);
      env_unref(t->memory);
    }
  }
  if (blocks != 0 || handles != 0) {
    fail_msg("%d blocks of memory and %d handles of the environment were not released", (int)blocks,
             (int)handles);
  }
}

const char *test_env_path(const test_env *t, const char *name) {
  static char ring[16][512];
  static unsigned next;
  char *path = ring[next++ % 16];
  snprintf(path, sizeof ring[0], "%s/%s", t->root, name);
  return path;
}

int test_env_setup(void **state) {
  static test_env t;
  test_env_open_mem(&t);
  *state = &t;
  return 0;
}

int test_env_teardown(void **state) {
  test_env_close(*state);
  return 0;
}
