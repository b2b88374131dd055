/*
 * Two lists under one mutex of the environment. Pins are made and given up whenever a version of a
 * table is opened and closed, so both take constant time, but for the look at the claims: these
 * exist only while a cleanup runs.
 */
#include "base/pin.h"

#include "base/pin_table_private.h"

static bool is_listed(const pin *list, const uint64_t key[3]) {
  for (const pin *p = list; p != NULL; p = p->next) {
    if (p->key[0] == key[0] && p->key[1] == key[1] && p->key[2] == key[2]) {
      return true;
    }
  }
  return false;
}

static void put_first(pin **list, glv_env *env, const uint64_t key[3], pin *p) {
  *p = (pin){.env = env, .key = {key[0], key[1], key[2]}, .next = *list};
  if (*list != NULL) {
    (*list)->previous = p;
  }
  *list = p;
}

static void take_out(pin **list, pin *p) {
  if (p->previous != NULL) {
    p->previous->next = p->next;
  } else {
    *list = p->next;
  }
  if (p->next != NULL) {
    p->next->previous = p->previous;
  }
  *p = (pin){0};
}

bool pin_acquire(glv_env *env, const uint64_t key[3], pin *ret) {
  struct pin_table *t = env_pin_table(env);
  mutex_lock(&t->lock);
  const bool is_free = !is_listed(t->claims, key);
  if (is_free) {
    put_first(&t->pins, env, key, ret);
  }
  mutex_unlock(&t->lock);
  return is_free;
}

bool pin_claim(glv_env *env, const uint64_t key[3], pin *ret) {
  struct pin_table *t = env_pin_table(env);
  mutex_lock(&t->lock);
  const bool is_free = !is_listed(t->pins, key) && !is_listed(t->claims, key);
  if (is_free) {
    put_first(&t->claims, env, key, ret);
  }
  mutex_unlock(&t->lock);
  return is_free;
}

bool pin_is_held(glv_env *env, const uint64_t key[3]) {
  struct pin_table *t = env_pin_table(env);
  mutex_lock(&t->lock);
  const bool is_held = is_listed(t->pins, key);
  mutex_unlock(&t->lock);
  return is_held;
}

void pin_release(pin *p) {
  if (p->env != NULL) {
    struct pin_table *t = env_pin_table(p->env);
    mutex_lock(&t->lock);
    take_out(&t->pins, p);
    mutex_unlock(&t->lock);
  }
}

void pin_release_claim(pin *p) {
  if (p->env != NULL) {
    struct pin_table *t = env_pin_table(p->env);
    mutex_lock(&t->lock);
    take_out(&t->claims, p);
    mutex_unlock(&t->lock);
  }
}
