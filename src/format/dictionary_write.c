/*
 * Dictionary pages (lance-file-format 11.4): the distinct values as one block, and for every value
 * of the page its number, packed. Text is looked through for such values; columns of a dictionary
 * type bring theirs along.
 */
#include "format/bitpack_pack_private.h"
#include "format/dictionary_build_private.h"
#include "format/page_write_private.h"

enum { FEWEST_VALUES = 100 };

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

/* Sets the dictionary of a page: a block of which `how` says how it is coded, compressed when that
 * pays. */
static glv_status set_dictionary(mini_page *m, buf *block, encoding_message *how, size_t count,
                                 page_output *out, glv_error *err) {
  bool is_squeezed;
  TRY(squeeze(block, &is_squeezed, err));
  m->dictionary = is_squeezed ? encoding_general(&out->messages, COMPRESS_LZ4, how) : how;
  m->dictionary_items = count;
  m->dictionary_block = buf_str(block);
  return m->dictionary != NULL ? GLV_OK : error_nomem(err, sizeof *m->dictionary);
}

glv_status dictionary_write(const page_input *in, dictionary *d, page_output *out, glv_error *err) {
  dictionary_trim(d);
  const unsigned offset_width = in->leaf->offset_width;
  CLEANUP(buf_dispose) buf block;
  buf_init(&block, in->env, SIZE_MAX / 2);
  TRY(make_block(d, offset_width, &block, err));
  mini_page m = {.in = in};
  encoding_message *how = encoding_variable(&out->messages, (uint64_t)offset_width * 8);
  TRY(set_dictionary(&m, &block, how, d->count, out, err));
  const unsigned bits = number_bits(d->count);
  value_source numbers = {.numbers = d->numbers, .bits = bits, .width = bits / 8};
  return fixed_write_values(&m, &numbers, true, out, err);
}

glv_status dictionary_look(const page_input *in, dictionary *ret, uint64_t *ret_size,
                           glv_error *err) {
  bool fits = false;
  if (in->count >= FEWEST_VALUES) {
    TRY(dictionary_build(in, ret, &fits, err));
  }
  *ret_size =
      fits ? block_size(ret, in->leaf->offset_width) + numbers_size(ret, in->count) : UINT64_MAX;
  return GLV_OK;
}

/* ---- dictionary types ---- */

/* The block of text: offsets are counted from the first value on. */
static glv_status text_block(const array *values, unsigned offset_width, buf *out, glv_error *err) {
  CLEANUP(dictionary_dispose) dictionary d = {.env = out->env};
  buf_init(&d.text, out->env, SIZE_MAX / 2);
  TRY(vec_reserve(d.env, &d.begins, &d.begin_capacity, values->length + 1, sizeof *d.begins, err));
  for (size_t i = 0; i < values->length; i++) {
    const str text = array_is_valid(values, i) ? array_str(values, i) : (str){0};
    d.begins[d.count++] = (uint32_t)d.text.size;
    TRY(buf_append(&d.text, text.data, text.size, err));
    if (d.text.size > UINT32_MAX) {
      return FAIL(err, GLV_E_LIMIT, "a dictionary has more than 4 GiB of text");
    }
  }
  return make_block(&d, offset_width, out, err);
}

static glv_status values_block(const page_input *in, const array *values, buf *block,
                               page_output *out, encoding_message **ret_how, glv_error *err) {
  const type *t = in->leaf->type->children[0].type;
  const unsigned offset_width = (unsigned)type_offset_width(t->kind);
  if (offset_width != 0) {
    *ret_how = encoding_variable(&out->messages, (uint64_t)offset_width * 8);
    return text_block(values, offset_width, block, err);
  }
  *ret_how = encoding_flat(&out->messages, (uint64_t)type_width(t) * 8);
  return buf_append(block, values->values, values->length * type_width(t), err);
}

glv_status dictionary_write_given(const page_input *in, page_output *out, glv_error *err) {
  const array *values = &in->runs[0].kept.children[0];
  CLEANUP(buf_dispose) buf block;
  buf_init(&block, in->env, SIZE_MAX / 2);
  encoding_message *how = NULL;
  TRY(values_block(in, values, &block, out, &how, err));
  mini_page m = {.in = in};
  TRY(set_dictionary(&m, &block, how, values->length, out, err));
  value_source source = {.bits = in->leaf->pack_bits, .width = in->leaf->width};
  return fixed_write_values(&m, &source, true, out, err);
}
