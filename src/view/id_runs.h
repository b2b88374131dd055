/**
 * @file id_runs.h
 * Sets of row ids as runs of consecutive ids: what happens to rows mostly happens to many
 * neighbours at once.
 */
#ifndef GLAIVE_VIEW_ID_RUNS_H
#define GLAIVE_VIEW_ID_RUNS_H

#include "base/buf.h"
#include "base/env.h"

/** The ids [first, end). */
typedef struct id_run {
  uint64_t first;
  uint64_t end;
} id_run;

/** In the order of adding until id_runs_sort; then ascending, disjoint and not touching. */
typedef struct id_runs {
  glv_env *env; /* borrowed */
  id_run *runs;
  size_t count;
  size_t capacity;
} id_runs;

void id_runs_init(id_runs *r, glv_env *env);
void id_runs_dispose(id_runs *r);
/** Add first .. first + count - 1. Errors: GLV_E_NOMEM. */
glv_status id_runs_add(id_runs *r, uint64_t first, uint64_t count, glv_error *err);
void id_runs_sort(id_runs *r);

/* The others need sorted sets. */

uint64_t id_runs_size(const id_runs *r);
/** Take the ids of `other` out of r. Errors: GLV_E_NOMEM. */
glv_status id_runs_subtract(id_runs *r, const id_runs *other, glv_error *err);
/** Add all of other to r, which is sorted again afterwards. Errors: GLV_E_NOMEM. */
glv_status id_runs_unite(id_runs *r, const id_runs *other, glv_error *err);
/** The first run whose end is above id: the only one that can hold it; r->count = none. */
size_t id_runs_find(const id_runs *r, uint64_t id);
/** Whether some id of the set lies in [least, most]. */
bool id_runs_meet(const id_runs *r, uint64_t least, uint64_t most);

#endif
