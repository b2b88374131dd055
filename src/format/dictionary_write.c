/*
 * Dictionary pages of text (lance-file-format 11.4): the distinct values of the page in order of
 * appearance as one block, and for every row the number of its value, packed.
 */
#include "format/bitpack_pack_private.h"
#include "format/dictionary_build_private.h"
#include "format/page_write_private.h"

enum { FEWEST_ROWS = 100 };

/* ---- the block ---- */

static size_t block_size(const dictionary *d, unsigned offset_width) {
  return (size_t)offset_width * (2 + d->count + 1) + d->text.size;
}

static void put_number(char *at, unsigned offset_width, uint64_t value) {
  memcpy(at, &value, offset_width);
}

/* Bits of an offset, where the text begins, offsets from 0 on, text. */
static glv_status make_block(const dictionary *d, unsigned offset_width, buf *out, glv_error *err) {
  TRY(buf_reserve(out, block_size(d, offset_width), err));
  out->size = block_size(d, offset_width);
  put_number(out->data, offset_width, (uint64_t)offset_width * 8);
  put_number(out->data + offset_width, offset_width, (uint64_t)offset_width * (2 + d->count + 1));
  char *offsets = out->data + (size_t)2 * offset_width;
  for (size_t i = 0; i < d->count; i++) {
    put_number(offsets + i * offset_width, offset_width, d->begins[i]);
  }
  put_number(offsets + d->count * offset_width, offset_width, d->text.size);
  memcpy(offsets + (d->count + 1) * offset_width, d->text.data, d->text.size);
  return GLV_OK;
}

/* Replaces the block by its compressed form when that saves a tenth. */
static glv_status squeeze(buf *block, bool *ret_done, glv_error *err) {
  const size_t room = compress_bound(COMPRESS_LZ4, block->size);
  CLEANUP(buf_dispose) buf squeezed;
  buf_init(&squeezed, block->env, room);
  TRY(buf_reserve(&squeezed, room, err));
  TRY(compress_write(COMPRESS_LZ4, 0, block->data, block->size, squeezed.data, room, &squeezed.size,
                     err));
  *ret_done = squeezed.size <= block->size - block->size / 10;
  if (*ret_done) {
    const buf plain = *block;
    *block = squeezed;
    squeezed = plain;
  }
  return GLV_OK;
}

/* ---- the page ---- */

static unsigned number_bits(size_t count) { return count <= 256 ? 8 : count <= 65536 ? 16 : 32; }

/* Upper bound of the bytes of the numbers of all rows. */
static uint64_t numbers_size(const dictionary *d, size_t rows) {
  const unsigned bits = number_bits(d->count);
  const uint64_t groups = (rows + BITPACK_GROUP - 1) / BITPACK_GROUP;
  const uint64_t packed = groups * (bits / 8 + bitpack_size(bitpack_width(d->count - 1)));
  return u64_min(packed, (uint64_t)rows * (bits / 8));
}

static bool pays(const dictionary *d, const page_input *in, uint64_t text_bytes) {
  const unsigned offset_width = in->leaf->offset_width;
  const uint64_t plain = text_bytes + (uint64_t)offset_width * (in->rows + 1);
  return (block_size(d, offset_width) + numbers_size(d, in->rows)) * 5 < plain * 4;
}

static glv_status write_page(const page_input *in, dictionary *d, page_output *out,
                             glv_error *err) {
  const unsigned offset_width = in->leaf->offset_width;
  CLEANUP(buf_dispose) buf block;
  buf_init(&block, in->env, SIZE_MAX / 2);
  TRY(make_block(d, offset_width, &block, err));
  mini_page m = {.in = in, .dictionary_items = d->count};
  m.dictionary = encoding_variable(&out->messages, (uint64_t)offset_width * 8);
  bool is_squeezed;
  TRY(squeeze(&block, &is_squeezed, err));
  if (is_squeezed) {
    m.dictionary = encoding_general(&out->messages, COMPRESS_LZ4, m.dictionary);
  }
  if (m.dictionary == NULL) {
    return error_nomem(err, sizeof *m.dictionary);
  }
  m.dictionary_block = buf_str(&block);
  const unsigned bits = number_bits(d->count);
  value_source numbers = {.numbers = d->numbers, .bits = bits, .width = bits / 8};
  return fixed_write_values(&m, &numbers, true, out, err);
}

glv_status dictionary_try(const page_input *in, uint64_t text_bytes, page_output *out,
                          bool *ret_done, glv_error *err) {
  *ret_done = false;
  if (in->rows < FEWEST_ROWS) {
    return GLV_OK;
  }
  CLEANUP(dictionary_dispose) dictionary d = {.env = in->env};
  bool fits;
  TRY(dictionary_build(in, &d, &fits, err));
  if (!fits || !pays(&d, in, text_bytes)) {
    return GLV_OK;
  }
  dictionary_trim(&d);
  *ret_done = true;
  return write_page(in, &d, out, err);
}
