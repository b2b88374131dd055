/*
 * Fixed-width values and bits of 2.0 pages, and the loop over runs. Plain values that follow each
 * other are read from the file right into the result.
 */
#include "format/old_page.h"

#include "arrow/bits.h"
#include "format/bitpack.h"
#include "io/io.h"

/* ---- runs ---- */

old_run old_run_next(const wanted *w, size_t at, uint64_t row_bits) {
  row_bits = u64_max(row_bits, 1); /* an estimate from the file */
  const size_t most = (size_t)u64_max(8 * FETCH_BYTES / row_bits, 1);
  const size_t first = wanted_row(w, at);
  if (w->rows == NULL) {
    const size_t count = size_min(w->count - at, most);
    return (old_run){first, count, {.count = count}};
  }
  const size_t gap = (size_t)(8 * FETCH_GAP / row_bits) + 1;
  size_t count = 1;
  size_t last = first;
  while (at + count < w->count) {
    const size_t row = wanted_row(w, at + count);
    if (row - last > gap || row - first >= most) {
      break;
    }
    last = row;
    count++;
  }
  const wanted rows = {.rows = w->rows + at, .count = count, .base = w->base + (uint32_t)first};
  return (old_run){first, last - first + 1, wanted_simplify(rows)};
}

/* About how many bits one row takes in the file. */
static uint64_t row_bits(const old_encoding *e, uint64_t page_rows) {
  switch (e->kind) {
  case OLD_VECTOR:
    return u64_max(e->items, 1) * row_bits(e->values, page_rows * u64_max(e->items, 1));
  case OLD_TEXT:
    return e->ends->bits + 8 * (old_encoding_size(e->values) / u64_max(page_rows, 1));
  case OLD_EQUAL_TEXT:
    return 8 * e->items + 1;
  case OLD_FSST:
    return row_bits(e->values, page_rows);
  case OLD_DICTIONARY:
    return e->ends->bits;
  case OLD_FLAT:
  case OLD_PACKED:
  case OLD_STREAM:
    return e->bits;
  case OLD_ROWS:
    return 8 * (e->where.size / u64_max(page_rows, 1)) + 1;
  case OLD_LIST:
  case OLD_HEADER:
  case OLD_NULLS:
    break;
  }
  return 1;
}

/* ---- values ---- */

glv_status old_bytes(decoder *d, const old_encoding *e, uint64_t offset, size_t size, span *ret,
                     glv_error *err) {
  if (e->data != NULL) {
    *ret = span_of(e->data + offset, size);
    return GLV_OK;
  }
  return decoder_fetch(d, e->where.offset + offset, size, ret, err);
}

static glv_status unpack_groups(decoder *d, const old_encoding *e, size_t first, size_t count,
                                const uint8_t **ret, glv_error *err) {
  const size_t group = first / BITPACK_GROUP;
  const size_t groups = (first + count - 1) / BITPACK_GROUP - group + 1;
  const size_t packed = bitpack_group_bytes(e->packed_bits);
  const size_t plain = (size_t)BITPACK_GROUP / 8 * e->bits;
  span in = {0};
  TRY(old_bytes(d, e, (uint64_t)group * packed, groups * packed, &in, err));
  TRY(decoder_reserve(d, &d->values, groups * plain, err));
  for (size_t i = 0; i < groups; i++) {
    bitpack_unpack(e->bits, e->packed_bits, in.data + i * packed, d->values.data + i * plain);
  }
  *ret = d->values.data + first % BITPACK_GROUP * (e->bits / 8);
  return GLV_OK;
}

/* The `width` bits from bit `at` on; up to 16 bytes from the first one may be looked at. */
static uint64_t bits_at(const uint8_t *from, size_t at, unsigned width) {
  const uint8_t *p = from + at / 8;
  const unsigned shift = at % 8;
  uint64_t v = load_le64(p) >> shift;
  if (shift + width > 64) {
    v |= (uint64_t)p[8] << (64 - shift);
  }
  return width == 64 ? v : v & ((UINT64_C(1) << width) - 1);
}

static glv_status unpack_stream(decoder *d, const old_encoding *e, size_t first, size_t count,
                                const uint8_t **ret, glv_error *err) {
  const unsigned width = e->packed_bits;
  const uint64_t start = (uint64_t)first * width;
  const uint64_t end = start + (uint64_t)count * width;
  span in = {0};
  TRY(old_bytes(d, e, start / 8, bits_size((size_t)(end - start / 8 * 8)), &in, err));
  TRY(decoder_reserve(d, &d->values, count * sizeof(uint64_t), err));
  const uint64_t sign = e->is_signed && width != 0 ? UINT64_C(1) << (width - 1) : 0;
  const size_t bytes = e->bits / 8;
  for (size_t i = 0; i < count; i++) {
    const uint64_t v = bits_at(in.data, start % 8 + i * width, width);
    const uint64_t extended = (v ^ sign) - sign;
    memcpy(d->values.data + i * bytes, &extended, bytes);
  }
  *ret = d->values.data;
  return GLV_OK;
}

glv_status old_values(decoder *d, const old_encoding *e, size_t first, size_t count,
                      const uint8_t **ret, glv_error *err) {
  if (count == 0) {
    *ret = NULL;
    return GLV_OK;
  }
  if (e->kind == OLD_PACKED) {
    return unpack_groups(d, e, first, count, ret, err);
  }
  if (e->kind == OLD_STREAM) {
    return unpack_stream(d, e, first, count, ret, err);
  }
  const size_t width = e->bits / 8;
  span in = {0};
  TRY(old_bytes(d, e, (uint64_t)first * width, count * width, &in, err));
  *ret = in.data;
  return GLV_OK;
}

#define DEFINE_WIDEN(T)                                                                            \
  static void widen##T(const uint8_t *restrict from, size_t count, uint64_t *restrict to) {        \
    for (size_t i = 0; i < count; i++) {                                                           \
      uint##T##_t v;                                                                               \
      memcpy(&v, from + i * sizeof v, sizeof v);                                                   \
      to[i] = v;                                                                                   \
    }                                                                                              \
  }
DEFINE_WIDEN(8)
DEFINE_WIDEN(16)
DEFINE_WIDEN(32)
DEFINE_WIDEN(64)

glv_status old_numbers(decoder *d, const old_encoding *e, size_t first, size_t count, uint64_t *ret,
                       glv_error *err) {
  const uint8_t *values = NULL;
  TRY(old_values(d, e, first, count, &values, err));
  switch (e->bits) {
  case 8:
    widen8(values, count, ret);
    return GLV_OK;
  case 16:
    widen16(values, count, ret);
    return GLV_OK;
  case 32:
    widen32(values, count, ret);
    return GLV_OK;
  default:
    widen64(values, count, ret);
    return GLV_OK;
  }
}

glv_status old_bits(decoder *d, const old_encoding *e, size_t first, size_t count, scratch *into,
                    glv_error *err) {
  TRY(decoder_reserve(d, into, bits_size(count), err));
  memset(into->data, 0, bits_size(count));
  if (e->kind == OLD_NULLS || count == 0) {
    return GLV_OK;
  }
  span in = {0};
  TRY(old_bytes(d, e, first / 8, bits_size(first % 8 + count), &in, err));
  bits_copy(into->data, 0, in.data, first % 8, count);
  return GLV_OK;
}

/* ---- ends ---- */

glv_status old_ends_reserve(decoder *d, const old_run *r, old_ends *ret, glv_error *err) {
  TRY(decoder_reserve(d, &d->numbers, (r->count + 1) * sizeof(uint64_t), err));
  TRY(decoder_reserve(d, &d->levels, r->count * sizeof(uint16_t), err));
  *ret = (old_ends){(uint64_t *)(void *)d->numbers.data, (uint16_t *)(void *)d->levels.data};
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

/* Ends are stored without a first 0, and an end that is at least the page's adjustment belongs to a
 * null. */
glv_status old_ends_read(decoder *d, const old_encoding *e, const old_run *r, old_ends *ret,
                         glv_error *err) {
  TRY(old_ends_reserve(d, r, ret, err));
  const size_t before = r->first != 0 ? 1 : 0; /* the end of the row before the run */
  uint64_t *offsets = ret->offsets;
  offsets[0] = 0;
  TRY(old_numbers(d, e->ends, r->first - before, r->count + before, offsets + 1 - before, err));
  if (offsets[0] >= e->null_adjustment) {
    offsets[0] -= e->null_adjustment;
  }
  take_nulls_off(offsets + 1, r->count, e->null_adjustment, ret->levels);
  return GLV_OK;
}

/* ---- rows ---- */

static glv_status refuse_type(const old_encoding *e, const sink *s, glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT, "a page encoded as %s does not hold values of type %s",
              old_encoding_name(e), TYPE_TEXT(s->f->type));
}

/* Go down through the levels of fixed_size_list and read the validity of their items. */
static glv_status read_item_validity(decoder *d, const old_encoding **e, const old_run *r, sink *s,
                                     glv_error *err) {
  for (size_t level = 0; level < s->s.depth; level++) {
    if ((*e)->kind != OLD_VECTOR || (*e)->items != s->s.items[level]) {
      return refuse_type(*e, s, err);
    }
    *e = (*e)->values;
    const old_encoding *validity = (*e)->kind == OLD_NULLS ? *e : (*e)->validity;
    if (validity != NULL) {
      const size_t row = s->s.leaves[level];
      TRY(old_bits(d, validity, r->first * row, r->count * row, &d->levels, err));
      TRY(sink_items_valid(s, level, d->levels.data, &r->rows, err));
    }
    if ((*e)->kind == OLD_NULLS) {
      return GLV_OK;
    }
  }
  return GLV_OK;
}

static bool is_plain(const old_encoding *e) {
  return e->kind == OLD_FLAT || e->kind == OLD_PACKED || e->kind == OLD_STREAM;
}

static glv_status read_fixed(decoder *d, const old_encoding *e, const old_run *r, sink *s,
                             glv_error *err) {
  if (e->validity != NULL) {
    TRY(old_bits(d, e->validity, r->first, r->count, &d->levels, err));
    TRY(sink_bits_valid(s, d->levels.data, &r->rows, err));
  }
  TRY(read_item_validity(d, &e, r, s, err));
  if (e->kind == OLD_NULLS) {
    return sink_zeros(s, r->rows.count, err);
  }
  const unsigned bits = s->s.kind == SHAPE_BITS ? 1 : 8 * (unsigned)s->s.width;
  if (!is_plain(e) || e->bits != bits) {
    return refuse_type(e, s, err);
  }
  const size_t first = r->first * s->s.row_leaves;
  const size_t count = r->count * s->s.row_leaves;
  if (bits == 1) {
    TRY(old_bits(d, e, first, count, &d->values, err));
    sink_fixed(s, d->values.data, &r->rows);
    return GLV_OK;
  }
  if (e->kind == OLD_FLAT && e->data == NULL && r->rows.rows == NULL) {
    return io_read_at(d->env, d->file, e->where.offset + (uint64_t)first * s->s.width, sink_next(s),
                      count * s->s.width, err);
  }
  const uint8_t *values = NULL;
  TRY(old_values(d, e, first, count, &values, err));
  sink_fixed(s, values, &r->rows);
  return GLV_OK;
}

static glv_status read_packed(decoder *d, const old_encoding *e, uint64_t page_rows,
                              const old_run *r, sink *s, glv_error *err) {
  size_t width = 0;
  uint64_t size = 0;
  for (size_t i = 0; i < s->part_count; i++) {
    width += s->parts[i].s.width * s->parts[i].s.row_leaves; /* each below 28 bits */
  }
  if (!u64_mul(page_rows, width, &size) || size > e->where.size) {
    return FAIL(err, GLV_E_CORRUPT, "%llu bytes are too few for %llu rows of %zu bytes",
                (unsigned long long)e->where.size, (unsigned long long)page_rows, width);
  }
  span in = {0};
  TRY(old_bytes(d, e, (uint64_t)r->first * width, r->count * width, &in, err));
  return sink_packed(s, in.data, width, &r->rows, err);
}

static glv_status read_run(decoder *d, const old_encoding *e, uint64_t page_rows, const old_run *r,
                           sink *s, glv_error *err) {
  if (e->kind == OLD_DICTIONARY && (s->s.is_dictionary || s->s.kind == SHAPE_TEXT)) {
    return old_dictionary_read(d, e, r, s, err);
  }
  if (s->s.is_dictionary) {
    return refuse_type(e, s, err);
  }
  if (s->s.kind == SHAPE_BITS || s->s.kind == SHAPE_FIXED) {
    return read_fixed(d, e, r, s, err);
  }
  if (s->s.kind == SHAPE_TEXT &&
      (e->kind == OLD_TEXT || e->kind == OLD_EQUAL_TEXT || e->kind == OLD_FSST)) {
    return old_text_read(d, e, r, s, err);
  }
  if (s->s.kind == SHAPE_PACKED && e->kind == OLD_ROWS && e->validity == NULL) {
    return read_packed(d, e, page_rows, r, s, err);
  }
  return refuse_type(e, s, err);
}

glv_status old_page_read(decoder *d, const old_encoding *e, uint64_t page_rows, const wanted *w,
                         sink *s, glv_error *err) {
  if (e->kind == OLD_NULLS) {
    TRY(sink_null_rows(s, w->count, err));
    TRY(sink_zeros(s, w->count, err));
    sink_advance(s, w->count);
    return GLV_OK;
  }
  const uint64_t bits = row_bits(e, page_rows);
  for (size_t at = 0; at < w->count;) {
    const old_run r = old_run_next(w, at, bits);
    TRY(read_run(d, e, page_rows, &r, s, err));
    sink_advance(s, r.rows.count);
    at += r.rows.count;
  }
  return GLV_OK;
}
