/**
 * @file pin.h
 * Things in use, named by three numbers, within one environment: who reads a version of a table
 * pins it; who is about to remove the version claims it first, which fails while anybody has a pin,
 * and then no new pin is given.
 */
#ifndef GLAIVE_BASE_PIN_H
#define GLAIVE_BASE_PIN_H

#include <stdbool.h>

#include "base/env.h"

/** A pin or a claim; in the caller's memory until released. All zero = not held. */
typedef struct pin {
  glv_env *env; /* borrowed; NULL = not held */
  uint64_t key[3];
  struct pin *next;
  struct pin *previous;
} pin;

/** Hold a pin; any number may be held at once. @return false when the thing is claimed. Thread
 * class: T. */
bool pin_acquire(glv_env *env, const uint64_t key[3], pin *ret);
/** Hold the claim. @return false when somebody holds a pin or the claim. Thread class: T. */
bool pin_claim(glv_env *env, const uint64_t key[3], pin *ret);
/** Whether somebody holds a pin. Thread class: T. */
bool pin_is_held(glv_env *env, const uint64_t key[3]);
/** Give up a pin, or a claim. One that is not held is fine. */
void pin_release(pin *p);
void pin_release_claim(pin *p);

#endif
