/*
 * A short list of holders and waiters under one mutex of the environment. Locks are held for whole
 * refreshes and there are few of them, so a list is enough; waiters wake up every 50 ms to look at
 * their cancel token.
 */
#include "base/keyed_lock.h"

#include "base/lock_table_private.h"

enum { POLL_MS = 50 };

static bool is_key(const keyed_lock *l, uint64_t a, uint64_t b) {
  return l->key[0] == a && l->key[1] == b;
}

static bool is_held(const struct lock_table *t, uint64_t a, uint64_t b) {
  for (const keyed_lock *l = t->first; l != NULL; l = l->next) {
    if (l->held && is_key(l, a, b)) {
      return true;
    }
  }
  return false;
}

static void remove_entry(struct lock_table *t, keyed_lock *entry) {
  keyed_lock **link = &t->first;
  while (*link != entry) {
    link = &(*link)->next;
  }
  *link = entry->next;
}

glv_status keyed_lock_acquire(glv_env *env, uint64_t a, uint64_t b, cancel_token *cancel,
                              keyed_lock *ret, glv_error *err) {
  struct lock_table *t = env_lock_table(env);
  *ret = (keyed_lock){.env = env, .key = {a, b}, .cancel = cancel};
  mutex_lock(&t->lock);
  ret->next = t->first;
  t->first = ret;
  while (is_held(t, a, b) && !cancel_is_requested(cancel)) {
    condition_wait_ms(&t->changed, &t->lock, POLL_MS);
  }
  ret->held = !cancel_is_requested(cancel);
  if (!ret->held) {
    remove_entry(t, ret);
    ret->env = NULL;
  }
  mutex_unlock(&t->lock);
  return cancel_check(cancel, err);
}

void keyed_lock_release(keyed_lock *l) {
  if (l->env == NULL) {
    return;
  }
  struct lock_table *t = env_lock_table(l->env);
  mutex_lock(&t->lock);
  remove_entry(t, l);
  condition_signal_all(&t->changed);
  mutex_unlock(&t->lock);
  l->env = NULL;
  l->held = false;
}

void keyed_lock_cancel(glv_env *env, uint64_t a, uint64_t b) {
  struct lock_table *t = env_lock_table(env);
  mutex_lock(&t->lock);
  for (keyed_lock *l = t->first; l != NULL; l = l->next) {
    if (is_key(l, a, b) && l->cancel != NULL) {
      cancel_request(l->cancel);
    }
  }
  condition_signal_all(&t->changed);
  mutex_unlock(&t->lock);
}
