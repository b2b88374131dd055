/*
 * The bytes of a page while they are produced. All buffers of a page lie in one block, laid out as
 * they will lie in the file: each begins at a multiple of 64 and the gaps are filled, so that a
 * finished page is one write at an aligned position.
 *
 * The messages that describe a page are small trees of the generated structs in an arena.
 */
#include "format/page_write_private.h"
#include "pb/pb.h"

enum { MAX_LAYOUT = 16 << 20 };

void page_output_init(page_output *o, glv_env *env) {
  *o = (page_output){.env = env};
  arena_init(&o->messages, env);
  buf_init(&o->layout, env, MAX_LAYOUT);
}

void page_output_dispose(page_output *o) {
  arena_dispose(&o->messages);
  mem_free_aligned(o->env, o->bytes, o->capacity);
  mem_free(o->env, o->extremes);
  buf_dispose(&o->layout);
  o->bytes = NULL;
  o->extremes = NULL;
}

glv_status page_output_reserve(page_output *o, size_t size, glv_error *err) {
  if (size <= o->capacity) {
    return GLV_OK;
  }
  size = (size_t)align_up(size, PAGE_ALIGN);
  uint8_t *bytes = o->bytes == NULL ? mem_alloc_aligned(o->env, size)
                                    : mem_resize_aligned(o->env, o->bytes, o->capacity, size);
  if (bytes == NULL) {
    return error_nomem(err, size);
  }
  o->bytes = bytes;
  o->capacity = size;
  return GLV_OK;
}

glv_status page_output_add(page_output *o, size_t size, uint8_t **ret, glv_error *err) {
  const size_t padded = (size_t)align_up(size, PAGE_ALIGN);
  TRY(page_output_reserve(o, o->size + padded, err));
  *ret = o->bytes + o->size;
  if (size != padded) {
    memset(*ret + size, PAGE_FILLER, padded - size);
  }
  o->offsets[o->buffer_count] = o->size;
  o->sizes[o->buffer_count] = size;
  o->buffer_count++;
  o->size += padded;
  return GLV_OK;
}

glv_status page_output_layout(page_output *o, const layout_message *m, glv_error *err) {
  if (m == NULL) {
    return error_nomem(err, sizeof *m);
  }
  return pb_pack(&m->base, &o->layout, err);
}

/* ---- messages ------------------------------------------------------------------------------ */

/* A new message of one kind inside a new CompressiveEncoding `outer`; NULL = no memory. */
#define NEW_ENCODING(a, member, Case, Struct, INIT, outer)                                         \
  Lance__Encodings21__##Struct *member = ARENA_NEW((a), Lance__Encodings21__##Struct);             \
  encoding_message *outer = ARENA_NEW((a), encoding_message);                                      \
  if (member == NULL || outer == NULL) {                                                           \
    return NULL;                                                                                   \
  }                                                                                                \
  lance__encodings21__##INIT##__init(member);                                                      \
  lance__encodings21__compressive_encoding__init(outer);                                           \
  outer->compression_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##Case;          \
  outer->member = member

encoding_message *encoding_flat(arena *a, uint64_t bits) {
  NEW_ENCODING(a, flat, FLAT, Flat, flat, outer);
  flat->bits_per_value = bits;
  return outer;
}

encoding_message *encoding_variable(arena *a, uint64_t offset_bits) {
  NEW_ENCODING(a, variable, VARIABLE, Variable, variable, outer);
  variable->offsets = encoding_flat(a, offset_bits);
  return variable->offsets != NULL ? outer : NULL;
}

encoding_message *encoding_inline_bitpacking(arena *a, uint64_t bits) {
  NEW_ENCODING(a, inline_bitpacking, INLINE_BITPACKING, InlineBitpacking, inline_bitpacking, outer);
  inline_bitpacking->uncompressed_bits_per_value = bits;
  return outer;
}

encoding_message *encoding_out_of_line(arena *a, uint64_t bits, uint64_t width) {
  NEW_ENCODING(a, out_of_line_bitpacking, OUT_OF_LINE_BITPACKING, OutOfLineBitpacking,
               out_of_line_bitpacking, outer);
  out_of_line_bitpacking->uncompressed_bits_per_value = bits;
  out_of_line_bitpacking->values = encoding_flat(a, width);
  return out_of_line_bitpacking->values != NULL ? outer : NULL;
}

encoding_message *encoding_general(arena *a, enum leaf_compression scheme,
                                   encoding_message *inner) {
  NEW_ENCODING(a, general, GENERAL, General, general, outer);
  Lance__Encodings21__BufferCompression *how = ARENA_NEW(a, Lance__Encodings21__BufferCompression);
  if (how == NULL || inner == NULL) {
    return NULL;
  }
  lance__encodings21__buffer_compression__init(how);
  how->scheme = scheme == COMPRESS_LZ4 ? LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_LZ4
                                       : LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ZSTD;
  general->compression = how;
  general->values = inner;
  return outer;
}

encoding_message *encoding_fixed_size_list(arena *a, uint64_t items, bool has_validity,
                                           encoding_message *inner) {
  NEW_ENCODING(a, fixed_size_list, FIXED_SIZE_LIST, FixedSizeList, fixed_size_list, outer);
  fixed_size_list->items_per_value = items;
  fixed_size_list->has_validity = has_validity;
  fixed_size_list->values = inner;
  return inner != NULL ? outer : NULL;
}

encoding_message *encoding_of_leaf(arena *a, const page_leaf *leaf, bool has_item_nulls) {
  encoding_message *flat = encoding_flat(a, leaf->item_bits);
  return leaf->is_vector ? encoding_fixed_size_list(a, leaf->items, has_item_nulls, flat) : flat;
}

Lance__Encodings21__RepDefLayer *layout_item_layer(arena *a, bool has_nulls) {
  Lance__Encodings21__RepDefLayer *layer = ARENA_NEW(a, Lance__Encodings21__RepDefLayer);
  if (layer != NULL) {
    *layer = has_nulls ? LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM
                       : LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM;
  }
  return layer;
}
