/**
 * @file arena_fixture.h
 * For tests of what is parsed into an arena: an environment, the arena, and an error to fill.
 */
#ifndef GLAIVE_TESTS_ARENA_FIXTURE_H
#define GLAIVE_TESTS_ARENA_FIXTURE_H

#include <string.h>

#include "base/arena.h"
#include "support/test_env.h"

typedef struct fixture {
  test_env t;
  arena a;
  glv_error err;
} fixture;

/** For cmocka: the state is a fixture. */
static inline int fixture_setup(void **state) {
  static fixture f;
  memset(&f, 0, sizeof f);
  test_env_open_mem(&f.t);
  arena_init(&f.a, f.t.env);
  *state = &f;
  return 0;
}

static inline int fixture_teardown(void **state) {
  fixture *f = *state;
  arena_dispose(&f->a);
  test_env_close(&f->t);
  return 0;
}

#endif
