/* A binary heap whose first row is the farthest. */
#include "search/nearest.h"

#include <stdlib.h>

#include "base/buf.h"

void nearest_init(nearest *n, glv_env *env, uint64_t limit) {
  *n = (nearest){.env = env, .limit = limit};
}

void nearest_dispose(nearest *n) {
  mem_free(n->env, n->rows);
  n->rows = NULL;
}

static int compare(const neighbor *a, const neighbor *b) {
  if (a->distance != b->distance) {
    return a->distance < b->distance ? -1 : 1;
  }
  return (a->row_id > b->row_id) - (a->row_id < b->row_id);
}

static void swap(neighbor *a, neighbor *b) {
  const neighbor kept = *a;
  *a = *b;
  *b = kept;
}

/* Lets row i rise while it is farther than the one above. */
static void rise(nearest *n, size_t i) {
  while (i > 0 && compare(&n->rows[(i - 1) / 2], &n->rows[i]) < 0) {
    swap(&n->rows[(i - 1) / 2], &n->rows[i]);
    i = (i - 1) / 2;
  }
}

/* Lets the first row sink below those that are farther. */
static void sink(nearest *n) {
  size_t i = 0;
  for (;;) {
    size_t child = 2 * i + 1;
    if (child >= n->count) {
      return;
    }
    if (child + 1 < n->count && compare(&n->rows[child], &n->rows[child + 1]) < 0) {
      child++;
    }
    if (compare(&n->rows[i], &n->rows[child]) >= 0) {
      return;
    }
    swap(&n->rows[i], &n->rows[child]);
    i = child;
  }
}

glv_status nearest_add(nearest *n, const neighbor *row, glv_error *err) {
  if (n->count < n->limit) {
    TRY(vec_reserve(n->env, &n->rows, &n->capacity, n->count + 1, sizeof *n->rows, err));
    n->rows[n->count++] = *row;
    rise(n, n->count - 1);
  } else if (n->count > 0 && compare(row, &n->rows[0]) < 0) {
    n->rows[0] = *row;
    sink(n);
  }
  return GLV_OK;
}

static int by_distance(const void *a, const void *b) { return compare(a, b); }

void nearest_sort(nearest *n) {
  if (n->count > 0) {
    qsort(n->rows, n->count, sizeof *n->rows, by_distance);
  }
}
