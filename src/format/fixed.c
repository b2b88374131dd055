/*
 * Fixed-width values. A chunk of Flat values is used where it lies; every other encoding produces
 * its values in the place the caller offers, or in working memory. Blocks always produce a copy.
 *
 * Room is asked for in whole groups of 1024 values because bit-packed groups are unpacked whole.
 */
#include "format/fixed.h"

#include "base/checked.h"
#include "format/bss.h"
#include "format/rle.h"

size_t fixed_room(size_t count, unsigned bits) {
  size_t groups = 0;
  size_t room = 0;
  if (!size_add(count, BITPACK_GROUP - 1, &groups) ||
      !size_mul(groups / BITPACK_GROUP * (BITPACK_GROUP / 8), bits, &room)) {
    return SIZE_MAX;
  }
  return room;
}

static size_t bits_to_bytes(size_t count, unsigned bits) {
  size_t total = 0;
  return size_mul(count, bits, &total) ? total / 8 + (total % 8 != 0) : SIZE_MAX;
}

unsigned fixed_bits(const codec *c) {
  switch (c->kind) {
  case CODEC_FLAT:
  case CODEC_OUT_OF_LINE:
  case CODEC_INLINE:
  case CODEC_RLE:
  case CODEC_SPLIT:
    return c->bits;
  case CODEC_CONSTANT:
    return c->constant.size <= 32 ? 8 * (unsigned)c->constant.size : 0;
  case CODEC_GENERAL:
    return c->inner->kind == CODEC_GENERAL ? 0 : fixed_bits(c->inner);
  case CODEC_VARIABLE:
  case CODEC_FSST:
  case CODEC_LIST:
  case CODEC_STRUCT:
  case CODEC_FIELDS:
    break;
  }
  return 0;
}

static glv_status check_bits(const codec *c, unsigned bits, glv_error *err) {
  if (c->bits != bits) {
    return FAIL(err, GLV_E_CORRUPT, "%s of values of %u bits where values of %u bits are expected",
                codec_name(c), c->bits, bits);
  }
  return GLV_OK;
}

static glv_status check_flat(span in, size_t count, unsigned bits, glv_error *err) {
  if (in.size < bits_to_bytes(count, bits)) {
    return FAIL(err, GLV_E_CORRUPT, "%zu bytes are too few for %zu values of %u bits", in.size,
                count, bits);
  }
  return GLV_OK;
}

static glv_status unpack_inline(span in, size_t count, unsigned bits, uint8_t *out,
                                glv_error *err) {
  if (count > BITPACK_GROUP) {
    return FAIL(err, GLV_E_CORRUPT, "Inline bitpacking of %zu values in one chunk", count);
  }
  if (count == 0) {
    return GLV_OK;
  }
  if (in.size < bits / 8) {
    return FAIL(err, GLV_E_CORRUPT, "Inline bitpacking without a width");
  }
  uint64_t width = 0;
  memcpy(&width, in.data, bits / 8);
  if (width > bits || in.size - bits / 8 != bitpack_group_bytes((unsigned)width)) {
    return FAIL(err, GLV_E_CORRUPT, "Inline bitpacking of width %llu in %zu bytes",
                (unsigned long long)width, in.size);
  }
  bitpack_unpack(bits, (unsigned)width, in.data + bits / 8, out);
  return GLV_OK;
}

glv_status fixed_chunk(decoder *d, const codec *c, const chunk_buffers *b, size_t at, size_t count,
                       unsigned bits, uint8_t *dest, const uint8_t **ret, glv_error *err) {
  const size_t needed = c->kind == CODEC_RLE ? 2 : 1;
  if (b->count != at + needed) {
    return FAIL(err, GLV_E_CORRUPT, "%s with %zu buffers", codec_name(c), b->count - at);
  }
  const span in = b->buffers[at];
  if (c->kind == CODEC_FLAT) {
    TRY(check_bits(c, bits, err));
    *ret = in.data;
    return check_flat(in, count, bits, err);
  }
  if (c->kind != CODEC_INLINE && c->kind != CODEC_RLE && c->kind != CODEC_SPLIT) {
    return codec_refuse(c, "mini-block", err);
  }
  TRY(check_bits(c, bits, err));
  if (dest == NULL) {
    TRY(decoder_reserve(d, &d->values, fixed_room(count, bits), err));
    dest = d->values.data;
  }
  *ret = dest;
  if (c->kind == CODEC_INLINE) {
    return unpack_inline(in, count, bits, dest, err);
  }
  if (c->kind == CODEC_RLE) {
    return rle_expand(bits, in, b->buffers[at + 1], count, false, dest, err);
  }
  TRY(check_flat(in, count, bits, err));
  bss_join(in.data, bits / 8, count, dest);
  return GLV_OK;
}

/* Full groups, then a tail that is raw when its size says so, else one more group. */
static glv_status unpack_out_of_line(const codec *c, span in, size_t count, uint8_t *out,
                                     glv_error *err) {
  const unsigned word = c->bits;
  const size_t group = bitpack_group_bytes(c->packed_bits);
  const size_t full = count / BITPACK_GROUP;
  const size_t tail = count % BITPACK_GROUP;
  size_t packed = 0;
  if (!size_mul(full, group, &packed) || packed > in.size) {
    return FAIL(err, GLV_E_CORRUPT, "%zu bytes are too few for %zu packed values", in.size, count);
  }
  for (size_t i = 0; i < full; i++) {
    bitpack_unpack(word, c->packed_bits, in.data + i * group, out + i * (BITPACK_GROUP / 8) * word);
  }
  const span rest = span_of(in.data + packed, in.size - packed);
  uint8_t *const to = out + full * (BITPACK_GROUP / 8) * word;
  if (tail != 0 && rest.size == tail * (word / 8)) {
    memcpy(to, rest.data, rest.size);
  } else if (tail != 0 && rest.size == group) {
    bitpack_unpack(word, c->packed_bits, rest.data, to);
  } else if (tail != 0 || rest.size != 0) {
    return FAIL(err, GLV_E_CORRUPT, "%zu bytes of packed values are too many or too few", in.size);
  }
  return GLV_OK;
}

static glv_status split_runs(span in, span *ret_values, span *ret_lengths, glv_error *err) {
  if (in.size < 8 || load_le64(in.data) > in.size - 8) {
    return FAIL(err, GLV_E_CORRUPT, "an RLE block of %zu bytes has no valid size", in.size);
  }
  const size_t size = (size_t)load_le64(in.data);
  *ret_values = span_of(in.data + 8, size);
  *ret_lengths = span_of(in.data + 8 + size, in.size - 8 - size);
  return GLV_OK;
}

static glv_status expand_block(span in, size_t count, unsigned bits, uint8_t *out, glv_error *err) {
  span values;
  span lengths;
  TRY(split_runs(in, &values, &lengths, err));
  return rle_expand(bits, values, lengths, count, true, out, err);
}

glv_status fixed_block_runs(const codec *c, span in, uint64_t *ret, glv_error *err) {
  *ret = 0;
  if (c->kind != CODEC_RLE) {
    return GLV_OK;
  }
  span values;
  span lengths;
  TRY(split_runs(in, &values, &lengths, err));
  for (size_t i = 0; i < lengths.size; i++) {
    *ret += lengths.data[i];
  }
  return GLV_OK;
}

static glv_status repeat(span value, size_t count, unsigned bits, uint8_t *out, glv_error *err) {
  if (value.data == NULL || value.size != bits / 8) {
    return FAIL(err, GLV_E_CORRUPT, "a constant of %zu bytes for values of %u bits", value.size,
                bits);
  }
  for (size_t i = 0; i < count; i++) {
    memcpy(out + i * value.size, value.data, value.size);
  }
  return GLV_OK;
}

glv_status fixed_block(decoder *d, const codec *c, span in, size_t count, unsigned bits,
                       uint8_t *out, glv_error *err) {
  if (c->kind == CODEC_GENERAL) {
    TRY(decoder_decompress(d, c->scheme, in, &in, err));
    c = c->inner;
  }
  switch (c->kind) {
  case CODEC_CONSTANT:
    return repeat(c->constant, count, bits, out, err);
  case CODEC_FLAT:
    TRY(check_bits(c, bits, err));
    TRY(check_flat(in, count, bits, err));
    memcpy(out, in.data, bits_to_bytes(count, bits));
    return GLV_OK;
  case CODEC_INLINE:
    TRY(check_bits(c, bits, err));
    return unpack_inline(in, count, bits, out, err);
  case CODEC_OUT_OF_LINE:
    TRY(check_bits(c, bits, err));
    return unpack_out_of_line(c, in, count, out, err);
  case CODEC_RLE:
    TRY(check_bits(c, bits, err));
    return expand_block(in, count, bits, out, err);
  case CODEC_VARIABLE:
  case CODEC_FSST:
  case CODEC_SPLIT:
  case CODEC_GENERAL:
  case CODEC_LIST:
  case CODEC_STRUCT:
  case CODEC_FIELDS:
    break;
  }
  return codec_refuse(c, "block", err);
}
