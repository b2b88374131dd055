/* Adding joins what continues the run added last, so that walks over rows in order leave few runs;
 * sorting joins the rest.
 */
#include "view/id_runs.h"

#include <stdlib.h>

#include "base/checked.h"

void id_runs_init(id_runs *r, glv_env *env) { *r = (id_runs){.env = env}; }

void id_runs_dispose(id_runs *r) {
  mem_free(r->env, r->runs);
  *r = (id_runs){.env = r->env};
}

glv_status id_runs_add(id_runs *r, uint64_t first, uint64_t count, glv_error *err) {
  if (count == 0) {
    return GLV_OK;
  }
  if (r->count > 0 && r->runs[r->count - 1].end == first) {
    r->runs[r->count - 1].end += count;
    return GLV_OK;
  }
  TRY(vec_reserve(r->env, &r->runs, &r->capacity, r->count + 1, sizeof *r->runs, err));
  r->runs[r->count++] = (id_run){first, first + count};
  return GLV_OK;
}

static int compare_runs(const void *a, const void *b) {
  const id_run *x = a;
  const id_run *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

static bool is_sorted(const id_runs *r) {
  for (size_t i = 1; i < r->count; i++) {
    if (r->runs[i].first < r->runs[i - 1].first) {
      return false;
    }
  }
  return true;
}

void id_runs_sort(id_runs *r) {
  if (!is_sorted(r)) {
    qsort(r->runs, r->count, sizeof *r->runs, compare_runs);
  }
  size_t kept = 0;
  for (size_t i = 0; i < r->count; i++) {
    if (kept > 0 && r->runs[i].first <= r->runs[kept - 1].end) {
      r->runs[kept - 1].end = u64_max(r->runs[kept - 1].end, r->runs[i].end);
    } else {
      r->runs[kept++] = r->runs[i];
    }
  }
  r->count = kept;
}

uint64_t id_runs_size(const id_runs *r) {
  uint64_t size = 0;
  for (size_t i = 0; i < r->count; i++) {
    size += r->runs[i].end - r->runs[i].first;
  }
  return size;
}

glv_status id_runs_subtract(id_runs *r, const id_runs *other, glv_error *err) {
  id_runs left;
  id_runs_init(&left, r->env);
  glv_status status = GLV_OK;
  size_t k = 0;
  for (size_t i = 0; i < r->count && status == GLV_OK; i++) {
    id_run run = r->runs[i];
    while (k < other->count && other->runs[k].end <= run.first) {
      k++;
    }
    for (size_t j = k; j < other->count && other->runs[j].first < run.end && status == GLV_OK;
         j++) {
      if (other->runs[j].first > run.first) {
        status = id_runs_add(&left, run.first, other->runs[j].first - run.first, err);
      }
      run.first = u64_min(other->runs[j].end, run.end);
    }
    if (status == GLV_OK) {
      status = id_runs_add(&left, run.first, run.end - run.first, err);
    }
  }
  if (status != GLV_OK) {
    id_runs_dispose(&left);
    return status;
  }
  id_runs_dispose(r);
  *r = left;
  return GLV_OK;
}

glv_status id_runs_unite(id_runs *r, const id_runs *other, glv_error *err) {
  for (size_t i = 0; i < other->count; i++) {
    TRY(id_runs_add(r, other->runs[i].first, other->runs[i].end - other->runs[i].first, err));
  }
  id_runs_sort(r);
  return GLV_OK;
}

size_t id_runs_find(const id_runs *r, uint64_t id) {
  size_t low = 0;
  size_t high = r->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (r->runs[middle].end <= id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool id_runs_meet(const id_runs *r, uint64_t least, uint64_t most) {
  const size_t i = id_runs_find(r, least);
  return i < r->count && r->runs[i].first <= most;
}
