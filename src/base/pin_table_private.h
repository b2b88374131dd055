/**
 * @file pin_table_private.h
 * Where an environment keeps its pins and claims.
 */
#ifndef GLAIVE_BASE_PIN_TABLE_PRIVATE_H
#define GLAIVE_BASE_PIN_TABLE_PRIVATE_H

#include "base/thread.h"

struct pin;

struct pin_table {
  mutex lock; /* a leaf */
  struct pin *pins;
  struct pin *claims;
};

struct pin_table *env_pin_table(glv_env *env);

#endif
