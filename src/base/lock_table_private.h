/**
 * @file lock_table_private.h
 * Where an environment keeps its keyed locks.
 */
#ifndef GLAIVE_BASE_LOCK_TABLE_PRIVATE_H
#define GLAIVE_BASE_LOCK_TABLE_PRIVATE_H

#include "base/thread.h"

struct keyed_lock;

struct lock_table {
  mutex lock;
  condition changed;
  struct keyed_lock *first; /* holders and waiters */
};

struct lock_table *env_lock_table(glv_env *env);

#endif
