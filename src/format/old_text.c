/*
 * Strings of 2.0 pages: their ends become offsets, and they are then read like those of newer
 * pages.
 */
#include "format/old_page.h"

/* Make the first offset 0. */
static void move_to_zero(uint64_t *offsets, size_t count) {
  const uint64_t start = offsets[0];
  for (size_t i = 0; i <= count; i++) {
    offsets[i] -= start;
  }
}

static glv_status read_ends(decoder *d, const old_encoding *e, const old_run *r, old_ends *ret,
                            span *ret_bytes, glv_error *err) {
  TRY(old_ends_read(d, e, r, ret, err));
  const uint64_t start = ret->offsets[0];
  const uint64_t end = ret->offsets[r->count];
  if (start > end || end > old_encoding_size(e->values)) {
    return FAIL(err, GLV_E_CORRUPT, "the ends of strings decrease or lie outside of their bytes");
  }
  TRY(old_bytes(d, e->values, start, (size_t)(end - start), ret_bytes, err));
  move_to_zero(ret->offsets, r->count);
  return GLV_OK;
}

static glv_status make_ends(decoder *d, const old_encoding *e, const old_run *r, old_ends *ret,
                            span *ret_bytes, glv_error *err) {
  TRY(old_ends_reserve(d, r, ret, err));
  for (size_t i = 0; i <= r->count; i++) {
    ret->offsets[i] = i * e->items;
  }
  memset(ret->levels, 0, r->count * sizeof *ret->levels);
  return old_bytes(d, e->values, r->first * e->items, (size_t)ret->offsets[r->count], ret_bytes,
                   err);
}

glv_status old_text_read(decoder *d, const old_encoding *e, const old_run *r, sink *s,
                         glv_error *err) {
  const old_encoding *plain = e->kind == OLD_FSST ? e->values : e;
  text_view v = {.offset_width = sizeof(uint64_t), .count = r->count};
  old_ends ends;
  if (e->validity != NULL) {
    TRY(old_bits(d, e->validity, r->first, r->count, &d->plain, err));
  }
  TRY(plain->kind == OLD_TEXT ? read_ends(d, plain, r, &ends, &v.bytes, err)
                              : make_ends(d, plain, r, &ends, &v.bytes, err));
  v.offsets = (const uint8_t *)ends.offsets;
  for (size_t i = 0; e->validity != NULL && i < r->count; i++) {
    ends.levels[i] |= !bit_get(d->plain.data, i);
  }
  TRY(sink_nulls(s, ends.levels, &r->rows, err));
  return sink_text(s, &v, e->symbols, &r->rows, err);
}
