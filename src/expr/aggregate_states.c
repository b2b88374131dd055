/* State per group in memory that can become a column of the result without a copy. */
#include "arrow/bits.h"
#include "expr/aggregate_private.h"

void states_dispose(states *s) {
  buffer_unref(s->b);
  s->b = NULL;
  s->count = s->capacity = 0;
}

glv_status states_grow(states *s, size_t groups, glv_error *err) {
  if (groups <= s->count && s->b != NULL) {
    return GLV_OK;
  }
  if (s->b == NULL || groups > s->capacity) {
    const size_t capacity = size_max(size_max(groups, 2 * s->capacity), 64);
    size_t size = 0;
    if (!size_mul(capacity, s->width, &size)) {
      return error_nomem(err, SIZE_MAX);
    }
    TRY(s->b == NULL ? buffer_new(s->env, size, &s->b, err) : buffer_resize(s->b, size, err));
    s->capacity = capacity;
  }
  memset(s->b->data + s->count * s->width, 0, (groups - s->count) * s->width);
  s->count = groups;
  return GLV_OK;
}

glv_status states_mark_nulls(glv_env *env, const states *seen, size_t groups, array *a,
                             glv_error *err) {
  if (seen->b == NULL) {
    return GLV_OK; /* there are no groups */
  }
  const uint8_t *bytes = seen->b->data;
  size_t valid = 0;
  for (size_t i = 0; i < groups; i++) {
    valid += bytes[i] != 0;
  }
  if (valid == groups) {
    return GLV_OK;
  }
  TRY(buffer_new_zeroed(env, bits_size(groups), &a->owners[0], err));
  for (size_t i = 0; i < groups; i++) {
    bit_put(a->owners[0]->data, i, bytes[i] != 0);
  }
  a->validity = a->owners[0]->data;
  a->null_count = groups - valid;
  return GLV_OK;
}

glv_status states_finish(states *s, const type *t, const states *seen, size_t groups, array *ret,
                         glv_error *err) {
  TRY(states_grow(s, groups, err));
  CLEANUP(array_unref) array a = {.type = t, .length = groups};
  TRY(buffer_resize(s->b, groups * s->width, err));
  a.values = s->b->data;
  a.owners[1] = s->b;
  s->b = NULL;
  if (seen != NULL) {
    TRY(states_mark_nulls(s->env, seen, groups, &a, err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}
