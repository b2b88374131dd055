/*
 * CRoaring behind a small interface. Its safe reader bounds every access but accepts unsorted and
 * repeated values; its validator refuses them, so bitmap_read always runs both, and compares the
 * bytes consumed with the bytes given.
 */
#include "base/bitmap.h"

#include <roaring.h>

#include "base/checked.h"

static roaring_bitmap_t *in(const bitmap *b) { return (roaring_bitmap_t *)(uintptr_t)b; }
static bitmap *out(roaring_bitmap_t *b) { return (bitmap *)b; }

bitmap *bitmap_new(void) { return out(roaring_bitmap_create()); }

void bitmap_free(bitmap *b) {
  if (b != NULL) {
    roaring_bitmap_free(in(b));
  }
}

void bitmap_cleanup(bitmap **b) { bitmap_free(*b); }

bitmap *bitmap_copy(const bitmap *b) { return out(roaring_bitmap_copy(in(b))); }

glv_status bitmap_read(const void *data, size_t size, bitmap **ret, glv_error *err) {
  roaring_bitmap_t *b = roaring_bitmap_portable_deserialize_safe(data, size);
  if (b == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "a Roaring bitmap of %zu bytes is cut or malformed", size);
  }
  const char *reason = NULL;
  if (roaring_bitmap_portable_size_in_bytes(b) != size) {
    reason = "its length does not fit";
  } else if (!roaring_bitmap_internal_validate(b, &reason) && reason == NULL) {
    reason = "it is not valid";
  }
  if (reason != NULL) {
    roaring_bitmap_free(b);
    return FAIL(err, GLV_E_CORRUPT, "a Roaring bitmap of %zu bytes is malformed: %s", size, reason);
  }
  *ret = out(b);
  return GLV_OK;
}

glv_status bitmap_write(bitmap *b, bool run_optimize, buf *out_buf, glv_error *err) {
  if (run_optimize) {
    roaring_bitmap_run_optimize(in(b));
  }
  const size_t size = roaring_bitmap_portable_size_in_bytes(in(b));
  TRY(buf_reserve(out_buf, size, err));
  roaring_bitmap_portable_serialize(in(b), out_buf->data + out_buf->size);
  out_buf->size += size;
  out_buf->data[out_buf->size] = '\0';
  return GLV_OK;
}

void bitmap_add(bitmap *b, uint32_t value) { roaring_bitmap_add(in(b), value); }
void bitmap_add_many(bitmap *b, const uint32_t *values, size_t count) {
  roaring_bitmap_add_many(in(b), count, values);
}
void bitmap_add_range(bitmap *b, uint64_t first, uint64_t end) {
  roaring_bitmap_add_range(in(b), first, end);
}
bool bitmap_contains(const bitmap *b, uint32_t value) {
  return roaring_bitmap_contains(in(b), value);
}
uint64_t bitmap_count(const bitmap *b) { return roaring_bitmap_get_cardinality(in(b)); }

uint64_t bitmap_count_range(const bitmap *b, uint64_t first, uint64_t end) {
  return roaring_bitmap_range_cardinality(in(b), first, end);
}

bool bitmap_equal(const bitmap *a, const bitmap *b) { return roaring_bitmap_equals(in(a), in(b)); }
void bitmap_or(bitmap *into, const bitmap *other) {
  roaring_bitmap_or_inplace(in(into), in(other));
}
void bitmap_and(bitmap *into, const bitmap *other) {
  roaring_bitmap_and_inplace(in(into), in(other));
}
void bitmap_andnot(bitmap *into, const bitmap *other) {
  roaring_bitmap_andnot_inplace(in(into), in(other));
}
bool bitmap_select(const bitmap *b, uint64_t rank, uint32_t *ret) {
  return rank <= UINT32_MAX && roaring_bitmap_select(in(b), (uint32_t)rank, ret);
}
uint32_t bitmap_max(const bitmap *b) { return roaring_bitmap_maximum(in(b)); }

size_t bitmap_values(const bitmap *b, uint64_t first, uint64_t end, uint32_t *values, size_t room) {
  if (first > UINT32_MAX) {
    return 0;
  }
  roaring_uint32_iterator_t iterator;
  roaring_iterator_init(in(b), &iterator);
  roaring_uint32_iterator_move_equalorlarger(&iterator, (uint32_t)first);
  const size_t read =
      roaring_uint32_iterator_read(&iterator, values, (uint32_t)size_min(room, UINT32_MAX));
  size_t count = read;
  while (count > 0 && values[count - 1] >= end) {
    count--;
  }
  return count;
}
