/*
 * Strings of 2.0 pages. The ends are stored without a first 0, and an end that is at least the
 * page's adjustment belongs to a null; so the ends of a run become offsets and levels in one pass,
 * and the strings are then read like those of newer pages.
 */
#include "format/old_page.h"

/* A run of text while it is being read. */
typedef struct text_run {
  const old_run *run;
  uint64_t *offsets; /* run->count + 1 of them */
  uint16_t *levels;  /* of the rows: 1 = null */
} text_run;

static glv_status reserve(decoder *d, const old_run *r, text_run *ret, glv_error *err) {
  TRY(decoder_reserve(d, &d->numbers, (r->count + 1) * sizeof(uint64_t), err));
  TRY(decoder_reserve(d, &d->levels, r->count * sizeof(uint16_t), err));
  *ret = (text_run){r, (uint64_t *)(void *)d->numbers.data, (uint16_t *)(void *)d->levels.data};
  return GLV_OK;
}

static void take_nulls_off(uint64_t *restrict ends, size_t count, uint64_t adjustment,
                           uint16_t *restrict levels) {
  for (size_t i = 0; i < count; i++) {
    const bool is_null = ends[i] >= adjustment;
    ends[i] -= is_null ? adjustment : 0;
    levels[i] = is_null;
  }
}

/* Make the first offset 0. */
static void move_to_zero(uint64_t *offsets, size_t count) {
  const uint64_t start = offsets[0];
  for (size_t i = 0; i <= count; i++) {
    offsets[i] -= start;
  }
}

static glv_status read_ends(decoder *d, const old_encoding *e, text_run *t, span *ret,
                            glv_error *err) {
  const size_t count = t->run->count;
  const size_t before = t->run->first != 0 ? 1 : 0; /* the end of the row before the run */
  uint64_t *offsets = t->offsets;
  offsets[0] = 0;
  TRY(old_numbers(d, e->ends, t->run->first - before, count + before, offsets + 1 - before, err));
  if (offsets[0] >= e->null_adjustment) {
    offsets[0] -= e->null_adjustment;
  }
  take_nulls_off(offsets + 1, count, e->null_adjustment, t->levels);
  const uint64_t start = offsets[0];
  const uint64_t end = offsets[count];
  if (start > end || end > old_encoding_size(e->values)) {
    return FAIL(err, GLV_E_CORRUPT, "the ends of strings decrease or lie outside of their bytes");
  }
  TRY(old_bytes(d, e->values, start, (size_t)(end - start), ret, err));
  move_to_zero(offsets, count);
  return GLV_OK;
}

static glv_status make_ends(decoder *d, const old_encoding *e, text_run *t, span *ret,
                            glv_error *err) {
  const size_t count = t->run->count;
  for (size_t i = 0; i <= count; i++) {
    t->offsets[i] = i * e->items;
  }
  memset(t->levels, 0, count * sizeof *t->levels);
  return old_bytes(d, e->values, t->run->first * e->items, (size_t)t->offsets[count], ret, err);
}

glv_status old_text_read(decoder *d, const old_encoding *e, const old_run *r, sink *s,
                         glv_error *err) {
  const old_encoding *plain = e->kind == OLD_FSST ? e->values : e;
  text_view v = {.offset_width = sizeof(uint64_t), .count = r->count};
  text_run t;
  TRY(reserve(d, r, &t, err));
  if (e->validity != NULL) {
    TRY(old_bits(d, e->validity, r->first, r->count, &d->plain, err));
  }
  TRY(plain->kind == OLD_TEXT ? read_ends(d, plain, &t, &v.bytes, err)
                              : make_ends(d, plain, &t, &v.bytes, err));
  v.offsets = (const uint8_t *)t.offsets;
  for (size_t i = 0; e->validity != NULL && i < r->count; i++) {
    t.levels[i] |= !bit_get(d->plain.data, i);
  }
  TRY(sink_nulls(s, t.levels, &r->rows, err));
  return sink_text(s, &v, e->symbols, &r->rows, err);
}
