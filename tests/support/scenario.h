/**
 * @file scenario.h
 * The operations that fault and crash tests interrupt, each with what may be seen afterwards. Every
 * scenario starts from the same database: table `t` (three rows), table `ns.s` with a view `v` over
 * it, an update and an append behind, and table `lists` with a list column.
 */
#ifndef GLAIVE_TESTS_SCENARIO_H
#define GLAIVE_TESTS_SCENARIO_H

#include "support/suite.h"

typedef struct scenario {
  const char *name;
  glv_status (*act)(glv_env *env, const char *root, glv_error *err);
  /** What is visible before and after, as scenario_state prints it; `between` may be seen too (NULL
   * = nothing). */
  const char *before;
  const char *after;
  const char *between;
} scenario;

extern const scenario scenarios[];
extern const size_t scenario_count;

/** Make the database that every scenario starts from. */
void scenario_prepare(glv_env *env, const char *root);
/** What is visible: rows of the tables and views, or what cannot be opened. Fails the test when
 * something is broken. */
void scenario_state(glv_env *env, const char *root, char *text, size_t size);

#endif
