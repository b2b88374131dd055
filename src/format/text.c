/*
 * Finding the strings in a chunk or block. A view only borrows; offsets are checked for the values
 * that are wanted, in one pass without branches.
 */
#include "format/text.h"

enum { HEADER32_BYTES = 8, HEADER64_BYTES = 16 };

static glv_status refuse(glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT,
              "binary mini-block: offsets decrease, point outside or overlap the offset table");
}

/* Room for count + 1 offsets at the start of `in` from position start on. */
static bool has_offsets(span in, size_t start, unsigned width, size_t count) {
  return in.size >= start && count < (in.size - start) / width;
}

glv_status text_of_chunk(span in, unsigned offset_bits, size_t count, text_view *ret,
                         glv_error *err) {
  const unsigned width = offset_bits / 8;
  if (!has_offsets(in, 0, width, count)) {
    return FAIL(err, GLV_E_CORRUPT, "binary mini-block: %zu bytes are too few for %zu values",
                in.size, count);
  }
  *ret = (text_view){.offsets = in.data,
                     .offset_width = width,
                     .count = count,
                     .bytes = in,
                     .least = (count + 1) * width};
  return GLV_OK;
}

glv_status text_of_block(span in, size_t count, text_view *ret, glv_error *err) {
  const uint32_t bits = in.size >= HEADER32_BYTES ? load_le32(in.data) : 0;
  if (bits != 32 && (bits != 64 || in.size < HEADER64_BYTES)) {
    return FAIL(err, GLV_E_CORRUPT, "a block of text has no valid header");
  }
  const unsigned width = bits / 8;
  const size_t header = bits == 32 ? HEADER32_BYTES : HEADER64_BYTES;
  const uint64_t start = bits == 32 ? load_le32(in.data + 4) : load_le64(in.data + 8);
  if (!has_offsets(in, header, width, count) || start != header + (count + 1) * (size_t)width ||
      start > in.size) {
    return FAIL(err, GLV_E_CORRUPT, "a block of text does not hold %zu values", count);
  }
  *ret = (text_view){.offsets = in.data + header,
                     .offset_width = width,
                     .count = count,
                     .bytes = span_of(in.data + start, in.size - (size_t)start)};
  return GLV_OK;
}

static bool is_monotone32(const uint8_t *offsets, size_t count) {
  const uint32_t *o = (const uint32_t *)(const void *)offsets;
  uint32_t bad = 0;
  for (size_t i = 0; i < count; i++) {
    bad |= o[i + 1] < o[i];
  }
  return bad == 0;
}

static bool is_monotone64(const uint8_t *offsets, size_t count) {
  bool ok = true;
  for (size_t i = 0; i < count; i++) {
    ok &= load_le64(offsets + 8 * i) <= load_le64(offsets + 8 * i + 8);
  }
  return ok;
}

glv_status text_check(const text_view *v, size_t first, size_t count, glv_error *err) {
  const uint8_t *offsets = v->offsets + first * v->offset_width;
  const bool is_monotone =
      v->offset_width == 4 ? is_monotone32(offsets, count) : is_monotone64(offsets, count);
  if (!is_monotone || text_offset(v, first) < v->least ||
      text_offset(v, first + count) > v->bytes.size) {
    return refuse(err);
  }
  return GLV_OK;
}
