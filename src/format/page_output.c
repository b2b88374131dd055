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

/* ---- messages ---- */

/* An encoding of one kind; the caller fills in the member of that kind. */
static encoding_message *
new_encoding(arena *a, Lance__Encodings21__CompressiveEncoding__CompressionCase kind) {
  encoding_message *e = ARENA_NEW(a, encoding_message);
  if (e != NULL) {
    lance__encodings21__compressive_encoding__init(e);
    e->compression_case = kind;
  }
  return e;
}

encoding_message *encoding_flat(arena *a, uint64_t bits) {
  encoding_message *e = new_encoding(a, LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT);
  Lance__Encodings21__Flat *m = ARENA_NEW(a, Lance__Encodings21__Flat);
  if (e == NULL || m == NULL) {
    return NULL;
  }
  lance__encodings21__flat__init(m);
  m->bits_per_value = bits;
  e->flat = m;
  return e;
}

encoding_message *encoding_variable(arena *a, uint64_t offset_bits) {
  encoding_message *e =
      new_encoding(a, LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_VARIABLE);
  Lance__Encodings21__Variable *m = ARENA_NEW(a, Lance__Encodings21__Variable);
  if (e == NULL || m == NULL) {
    return NULL;
  }
  lance__encodings21__variable__init(m);
  m->offsets = encoding_flat(a, offset_bits);
  e->variable = m;
  return m->offsets != NULL ? e : NULL;
}

encoding_message *encoding_inline_bitpacking(arena *a, uint64_t bits) {
  encoding_message *e =
      new_encoding(a, LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_INLINE_BITPACKING);
  Lance__Encodings21__InlineBitpacking *m = ARENA_NEW(a, Lance__Encodings21__InlineBitpacking);
  if (e == NULL || m == NULL) {
    return NULL;
  }
  lance__encodings21__inline_bitpacking__init(m);
  m->uncompressed_bits_per_value = bits;
  e->inline_bitpacking = m;
  return e;
}

encoding_message *encoding_out_of_line(arena *a, uint64_t bits, uint64_t width) {
  encoding_message *e =
      new_encoding(a, LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_OUT_OF_LINE_BITPACKING);
  Lance__Encodings21__OutOfLineBitpacking *m =
      ARENA_NEW(a, Lance__Encodings21__OutOfLineBitpacking);
  if (e == NULL || m == NULL) {
    return NULL;
  }
  lance__encodings21__out_of_line_bitpacking__init(m);
  m->uncompressed_bits_per_value = bits;
  m->values = encoding_flat(a, width);
  e->out_of_line_bitpacking = m;
  return m->values != NULL ? e : NULL;
}

encoding_message *encoding_general(arena *a, enum leaf_compression scheme,
                                   encoding_message *inner) {
  encoding_message *e =
      new_encoding(a, LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_GENERAL);
  Lance__Encodings21__General *m = ARENA_NEW(a, Lance__Encodings21__General);
  Lance__Encodings21__BufferCompression *how = ARENA_NEW(a, Lance__Encodings21__BufferCompression);
  if (e == NULL || m == NULL || how == NULL || inner == NULL) {
    return NULL;
  }
  lance__encodings21__buffer_compression__init(how);
  how->scheme = scheme == COMPRESS_LZ4 ? LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_LZ4
                                       : LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ZSTD;
  lance__encodings21__general__init(m);
  m->compression = how;
  m->values = inner;
  e->general = m;
  return e;
}

encoding_message *encoding_fsst(arena *a, uint8_t *table, size_t size, encoding_message *inner) {
  encoding_message *e = new_encoding(a, LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FSST);
  Lance__Encodings21__Fsst *m = ARENA_NEW(a, Lance__Encodings21__Fsst);
  if (e == NULL || m == NULL || inner == NULL) {
    return NULL;
  }
  lance__encodings21__fsst__init(m);
  m->symbol_table = (ProtobufCBinaryData){size, table};
  m->values = inner;
  e->fsst = m;
  return e;
}

encoding_message *encoding_fixed_size_list(arena *a, uint64_t items, bool has_validity,
                                           encoding_message *inner) {
  encoding_message *e =
      new_encoding(a, LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FIXED_SIZE_LIST);
  Lance__Encodings21__FixedSizeList *m = ARENA_NEW(a, Lance__Encodings21__FixedSizeList);
  if (e == NULL || m == NULL || inner == NULL) {
    return NULL;
  }
  lance__encodings21__fixed_size_list__init(m);
  m->items_per_value = items;
  m->has_validity = has_validity;
  m->values = inner;
  e->fixed_size_list = m;
  return e;
}

static encoding_message *encoding_packed(arena *a, const page_leaf *leaf) {
  encoding_message *e =
      new_encoding(a, LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_PACKED_STRUCT);
  Lance__Encodings21__PackedStruct *m = ARENA_NEW(a, Lance__Encodings21__PackedStruct);
  const size_t count = leaf->type->child_count;
  if (e == NULL || m == NULL) {
    return NULL;
  }
  lance__encodings21__packed_struct__init(m);
  m->bits_per_value = ARENA_ARRAY(a, uint64_t, count);
  m->values = encoding_flat(a, (uint64_t)leaf->width * 8);
  if (m->bits_per_value == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    m->bits_per_value[i] = (uint64_t)leaf_packed_width(leaf->type->children[i].type) * 8;
  }
  m->n_bits_per_value = count;
  e->packed_struct = m;
  return m->values != NULL ? e : NULL;
}

encoding_message *encoding_of_values(arena *a, const page_input *in) {
  const page_leaf *leaf = in->leaf;
  if (leaf->is_packed) {
    return encoding_packed(a, leaf);
  }
  encoding_message *e = encoding_flat(a, leaf->item_bits);
  for (size_t i = leaf->depth; i-- != 0;) {
    e = encoding_fixed_size_list(a, leaf->list_items[i], in->has_item_nulls[i], e);
  }
  return e;
}
