/**
 * @file nearest.h
 * The rows nearest to a query: a set of bounded size from which the farthest falls out.
 */
#ifndef GLAIVE_SEARCH_NEAREST_H
#define GLAIVE_SEARCH_NEAREST_H

#include "base/env.h"

/** A row that was found. Rows of equal distance are ordered by their ids. */
typedef struct neighbor {
  float distance; /* not NaN */
  uint32_t query; /* which of the query vectors */
  uint64_t row_id;
  uint64_t address;
} neighbor;

typedef struct nearest {
  glv_env *env;
  uint64_t limit;
  neighbor *rows; /* a heap: the farthest first; sorted by nearest_sort */
  size_t count;
  size_t capacity;
} nearest;

/** The set of the `limit` nearest rows, empty. */
void nearest_init(nearest *n, glv_env *env, uint64_t limit);
void nearest_dispose(nearest *n);

/** Take a row in, if it belongs there. Errors: GLV_E_NOMEM. */
glv_status nearest_add(nearest *n, const neighbor *row, glv_error *err);

/** Whether a row of that distance could still belong there. */
static inline bool nearest_may_take(const nearest *n, float distance) {
  return n->count < n->limit || (n->count > 0 && distance <= n->rows[0].distance);
}

/** Put rows into their order, the nearest first; nothing is added afterwards. */
void nearest_sort(nearest *n);

#endif
