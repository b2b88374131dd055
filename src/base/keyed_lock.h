/**
 * @file keyed_lock.h
 * Locks named by two numbers, within one environment: who refreshes a view holds the lock of its
 * directory (device, inode), and who drops the view cancels the holder and waits for the lock.
 */
#ifndef GLAIVE_BASE_KEYED_LOCK_H
#define GLAIVE_BASE_KEYED_LOCK_H

#include "base/cancel.h"
#include "base/env.h"

/** One holder or waiter; in the caller's memory until released. */
typedef struct keyed_lock {
  glv_env *env; /* borrowed; NULL = not held */
  uint64_t key[2];
  cancel_token *cancel; /* borrowed; asked by keyed_lock_cancel */
  bool held;
  struct keyed_lock *next;
} keyed_lock;

/**
 * Wait until nobody in this environment holds the key, then hold it.
 *
 * @param cancel  may be NULL; a request ends the wait with GLV_E_CANCELLED.
 */
glv_status keyed_lock_acquire(glv_env *env, uint64_t a, uint64_t b, cancel_token *cancel,
                              keyed_lock *ret, glv_error *err);
/** A lock that is not held is fine; usable with CLEANUP. */
void keyed_lock_release(keyed_lock *l);
/** Ask the tokens of all holders and waiters of the key. */
void keyed_lock_cancel(glv_env *env, uint64_t a, uint64_t b);

#endif
