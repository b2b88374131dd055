/*
 * From ArrayEncoding messages to trees. A message says for each level how many values it has only
 * through the levels above it, so the number goes down with the recursion, and every buffer is
 * checked to hold so many values. What a tree means for a type is checked when rows are read.
 */
#include "format/old_encoding.h"

#include "base/limits.h"
#include "format/bitpack.h"
#include "format/old_page.h"
#include "pb/lance_encodings.pb-c.h"
#include "pb/pb.h"

typedef Lance__Encodings__ArrayEncoding message;

/* Widest value of a Flat encoding, in bits. */
#define MAX_BITS ((uint64_t)1 << 31)
/* The number of values is what the buffer holds. */
#define COUNT_OPEN UINT64_MAX

/* What a page is read from, and what became of it. */
typedef struct loader {
  decoder *d;
  arena *memory;
  const page_place *where;
  size_t bytes;
} loader;

static glv_status read_encoding(loader *l, const message *m, uint64_t count, unsigned depth,
                                old_encoding **ret, glv_error *err);

static glv_status find_buffer(const loader *l, const Lance__Encodings__Buffer *b, extent *ret,
                              glv_error *err) {
  const page_place *w = l->where;
  const struct {
    const char *name;
    const extent *buffers;
    size_t count;
  } sets[] = {{"page", w->buffers, w->buffer_count},
              {"column", w->column_buffers, w->column_buffer_count},
              {"file", w->file_buffers, w->file_buffer_count}};
  if (b == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "an encoding names no buffer");
  }
  if (b->buffer_type < 0 || b->buffer_type > 2) {
    return FAIL(err, GLV_E_CORRUPT, "a buffer of the unknown kind %d", (int)b->buffer_type);
  }
  if (b->buffer_index >= sets[b->buffer_type].count) {
    return FAIL(err, GLV_E_CORRUPT, "buffer %u of the %s is wanted, which has %zu", b->buffer_index,
                sets[b->buffer_type].name, sets[b->buffer_type].count);
  }
  *ret = sets[b->buffer_type].buffers[b->buffer_index];
  return GLV_OK;
}

static glv_status check_room(uint64_t size, uint64_t count, uint64_t bits, glv_error *err) {
  uint64_t total = 0;
  if (!u64_mul(count, bits, &total) || total / 8 + (total % 8 != 0) > size) {
    return FAIL(err, GLV_E_CORRUPT, "%llu bytes are too few for %llu values of %llu bits",
                (unsigned long long)size, (unsigned long long)count, (unsigned long long)bits);
  }
  return GLV_OK;
}

/* ---- buffers ---- */

static glv_status read_scheme(const Lance__Encodings__Compression *m, bool *ret_is_compressed,
                              general_scheme *ret, glv_error *err) {
  const str scheme = m != NULL ? str_of(m->scheme) : STR("none");
  *ret_is_compressed = !str_is(scheme, "none");
  if (*ret_is_compressed && !str_is(scheme, "zstd") && !str_is(scheme, "lz4")) {
    return FAIL(err, GLV_E_UNSUPPORTED, "compression scheme '%.*s' is not supported",
                (int)size_min(scheme.size, 64), scheme.data);
  }
  *ret = str_is(scheme, "lz4") ? GENERAL_LZ4 : GENERAL_ZSTD;
  return GLV_OK;
}

static glv_status decompress(loader *l, general_scheme scheme, old_encoding *e, glv_error *err) {
  size_t size = 0;
  span in = {0};
  if (!to_size(e->where.size, &size)) {
    return error_nomem(err, SIZE_MAX);
  }
  TRY(decoder_fetch(l->d, e->where.offset, size, &in, err));
  TRY(general_size(scheme, in, &e->data_size, err));
  uint8_t *data = arena_alloc(l->memory, e->data_size);
  if (data == NULL) {
    return error_nomem(err, e->data_size);
  }
  TRY(general_decompress(&l->d->general, scheme, in, data, e->data_size, err));
  e->data = data;
  l->bytes += e->data_size;
  return GLV_OK;
}

static glv_status read_flat(loader *l, const Lance__Encodings__Flat *m, uint64_t count,
                            old_encoding *e, glv_error *err) {
  const uint64_t bits = m->bits_per_value;
  if (bits != 1 && (bits % 8 != 0 || bits == 0 || bits > MAX_BITS)) {
    return FAIL(err, GLV_E_UNSUPPORTED, "Flat values of %llu bits are not supported",
                (unsigned long long)bits);
  }
  e->kind = OLD_FLAT;
  e->bits = (unsigned)bits;
  TRY(find_buffer(l, m->buffer, &e->where, err));
  bool is_compressed = false;
  general_scheme scheme;
  TRY(read_scheme(m->compression, &is_compressed, &scheme, err));
  if (is_compressed && bits != 1) { /* bitmaps are never compressed, whatever is said of them */
    TRY(decompress(l, scheme, e, err));
  }
  return count == COUNT_OPEN ? GLV_OK : check_room(old_encoding_size(e), count, bits, err);
}

static glv_status read_widths(uint64_t packed, uint64_t bits, old_encoding *e, glv_error *err) {
  if (!bitpack_is_word(bits) || packed > bits) {
    return FAIL(err, GLV_E_CORRUPT, "bitpacking of %llu bits into %llu", (unsigned long long)bits,
                (unsigned long long)packed);
  }
  e->bits = (unsigned)bits;
  e->packed_bits = (unsigned)packed;
  return GLV_OK;
}

static glv_status read_stream(loader *l, const Lance__Encodings__Bitpacked *m, uint64_t count,
                              old_encoding *e, glv_error *err) {
  e->kind = OLD_STREAM;
  e->is_signed = m->is_signed;
  TRY(read_widths(m->compressed_bits_per_value, m->uncompressed_bits_per_value, e, err));
  TRY(find_buffer(l, m->buffer, &e->where, err));
  return check_room(e->where.size, count, e->packed_bits, err);
}

static glv_status read_packed(loader *l, const Lance__Encodings__BitpackedForNonNeg *m,
                              uint64_t count, old_encoding *e, glv_error *err) {
  e->kind = OLD_PACKED;
  TRY(read_widths(m->compressed_bits_per_value, m->uncompressed_bits_per_value, e, err));
  TRY(find_buffer(l, m->buffer, &e->where, err));
  const uint64_t groups = count / BITPACK_GROUP + (count % BITPACK_GROUP != 0);
  return check_room(e->where.size, groups, 8 * (uint64_t)bitpack_group_bytes(e->packed_bits), err);
}

/* ---- numbers, bytes, bitmaps inside other encodings ---- */

static bool is_numbers(const old_encoding *e) {
  const bool is_plain = e->kind == OLD_FLAT || e->kind == OLD_PACKED || e->kind == OLD_STREAM;
  return is_plain && bitpack_is_word(e->bits);
}

static glv_status read_numbers(loader *l, const message *m, uint64_t count, unsigned depth,
                               const char *where, const old_encoding **ret, glv_error *err) {
  old_encoding *e = NULL;
  TRY(read_encoding(l, m, count, depth + 1, &e, err));
  if (!is_numbers(e)) {
    return FAIL(err, GLV_E_UNSUPPORTED, "%s does not support numbers encoded as %s", where,
                old_encoding_name(e));
  }
  *ret = e;
  return GLV_OK;
}

static glv_status read_ends(loader *l, const message *m, uint64_t count, unsigned depth,
                            const char *where, const old_encoding **ret, glv_error *err) {
  TRY(read_numbers(l, m, count, depth, where, ret, err));
  return (*ret)->validity == NULL
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED, "%s does not support ends that are null", where);
}

static glv_status read_bytes(loader *l, const message *m, uint64_t count, unsigned depth,
                             const char *where, const old_encoding **ret, glv_error *err) {
  old_encoding *e = NULL;
  TRY(read_encoding(l, m, count, depth + 1, &e, err));
  if (e->kind != OLD_FLAT || e->bits != 8 || e->validity != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED, "%s does not support bytes encoded as %s", where,
                old_encoding_name(e));
  }
  *ret = e;
  return GLV_OK;
}

/* ---- levels ---- */

static glv_status read_some_nulls(loader *l, const Lance__Encodings__SomeNull *m, uint64_t count,
                                  unsigned depth, old_encoding **ret, glv_error *err) {
  old_encoding *validity = NULL;
  TRY(read_encoding(l, m->validity, count, depth + 1, &validity, err));
  TRY(read_encoding(l, m->values, count, depth + 1, ret, err));
  if (validity->kind != OLD_FLAT || validity->bits != 1 || validity->validity != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED, "validity encoded as %s is not supported",
                old_encoding_name(validity));
  }
  if ((*ret)->validity != NULL) {
    return FAIL(err, GLV_E_CORRUPT, "two levels of nulls for the same values");
  }
  (*ret)->validity = validity;
  return GLV_OK;
}

static glv_status read_nullable(loader *l, const Lance__Encodings__Nullable *m, uint64_t count,
                                unsigned depth, old_encoding **ret, glv_error *err) {
  switch (m->nullability_case) {
  case LANCE__ENCODINGS__NULLABLE__NULLABILITY_NO_NULLS:
    return read_encoding(l, m->no_nulls->values, count, depth + 1, ret, err);
  case LANCE__ENCODINGS__NULLABLE__NULLABILITY_SOME_NULLS:
    return read_some_nulls(l, m->some_nulls, count, depth, ret, err);
  case LANCE__ENCODINGS__NULLABLE__NULLABILITY_ALL_NULLS:
    *ret = ARENA_NEW(l->memory, old_encoding);
    if (*ret == NULL) {
      return error_nomem(err, sizeof **ret);
    }
    (*ret)->kind = OLD_NULLS;
    return GLV_OK;
  case LANCE__ENCODINGS__NULLABLE__NULLABILITY__NOT_SET:
  case _LANCE__ENCODINGS__NULLABLE__NULLABILITY__CASE_IS_INT_SIZE:
    break;
  }
  return FAIL(err, GLV_E_CORRUPT, "a Nullable encoding does not say what is null");
}

static glv_status read_vector(loader *l, const Lance__Encodings__FixedSizeList *m, uint64_t count,
                              unsigned depth, old_encoding *e, glv_error *err) {
  uint64_t items = 0;
  if (m->has_validity || !u64_mul(count, m->dimension, &items) || items >= COUNT_OPEN) {
    return FAIL(err, GLV_E_CORRUPT, "a FixedSizeList of dimension %u%s", m->dimension,
                m->has_validity ? " with validity" : "");
  }
  e->kind = OLD_VECTOR;
  e->items = m->dimension;
  old_encoding *values = NULL;
  TRY(read_encoding(l, m->items, items, depth + 1, &values, err));
  e->values = values;
  return GLV_OK;
}

static glv_status read_text(loader *l, const Lance__Encodings__Binary *m, uint64_t count,
                            unsigned depth, old_encoding *e, glv_error *err) {
  e->kind = OLD_TEXT;
  e->null_adjustment = m->null_adjustment;
  TRY(read_ends(l, m->indices, count, depth, "Binary", &e->ends, err));
  return read_bytes(l, m->bytes, COUNT_OPEN, depth, "Binary", &e->values, err);
}

static glv_status read_equal_text(loader *l, const Lance__Encodings__FixedSizeBinary *m,
                                  uint64_t count, unsigned depth, old_encoding *e, glv_error *err) {
  uint64_t size = 0;
  if (!u64_mul(count, m->byte_width, &size) || size >= COUNT_OPEN) {
    return FAIL(err, GLV_E_CORRUPT, "strings of %u bytes", m->byte_width);
  }
  e->kind = OLD_EQUAL_TEXT;
  e->items = m->byte_width;
  return read_bytes(l, m->bytes, size, depth, "FixedSizeBinary", &e->values, err);
}

static glv_status read_fsst(loader *l, const Lance__Encodings__Fsst *m, uint64_t count,
                            unsigned depth, old_encoding *e, glv_error *err) {
  fsst_table *t = ARENA_NEW(l->memory, fsst_table);
  old_encoding *values = NULL;
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  TRY(fsst_table_read(span_of(m->symbol_table.data, m->symbol_table.len), t, err));
  TRY(read_encoding(l, m->binary, count, depth + 1, &values, err));
  if ((values->kind != OLD_TEXT && values->kind != OLD_EQUAL_TEXT) || values->validity != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED, "Fsst does not support text encoded as %s",
                old_encoding_name(values));
  }
  e->kind = OLD_FSST;
  e->symbols = t;
  e->values = values;
  return GLV_OK;
}

static glv_status read_dictionary(loader *l, const Lance__Encodings__Dictionary *m, uint64_t count,
                                  unsigned depth, old_encoding *e, glv_error *err) {
  e->kind = OLD_DICTIONARY;
  e->items = m->num_dictionary_items;
  old_encoding *values = NULL;
  TRY(read_numbers(l, m->indices, count, depth, "Dictionary", &e->ends, err));
  TRY(read_encoding(l, m->items, e->items, depth + 1, &values, err));
  e->values = values;
  return old_dictionary_load(l->d, l->memory, values, e, &l->bytes, err);
}

static glv_status read_list(loader *l, const Lance__Encodings__List *m, uint64_t count,
                            unsigned depth, old_encoding *e, glv_error *err) {
  if (m->null_offset_adjustment <= m->num_items && count != 0) {
    return FAIL(err, GLV_E_CORRUPT, "a List of %llu items with the null adjustment %llu",
                (unsigned long long)m->num_items, (unsigned long long)m->null_offset_adjustment);
  }
  e->kind = OLD_LIST;
  e->items = m->num_items;
  e->null_adjustment = m->null_offset_adjustment;
  return read_ends(l, m->offsets, count, depth, "List", &e->ends, err);
}

static glv_status read_kind(loader *l, const message *m, uint64_t count, unsigned depth,
                            old_encoding *e, glv_error *err) {
  switch (m->kind_case) {
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_FLAT:
    return read_flat(l, m->flat, count, e, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_FIXED_SIZE_LIST:
    return read_vector(l, m->fixed_size_list, count, depth, e, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_LIST:
    return read_list(l, m->list, count, depth, e, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_SIMPLE_STRUCT:
    e->kind = OLD_HEADER;
    return GLV_OK;
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_BINARY:
    return read_text(l, m->binary, count, depth, e, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_DICTIONARY:
    return read_dictionary(l, m->dictionary, count, depth, e, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_FSST:
    return read_fsst(l, m->fsst, count, depth, e, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_PACKED_STRUCT:
    e->kind = OLD_ROWS;
    return find_buffer(l, m->packed_struct->buffer, &e->where, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_BITPACKED:
    return read_stream(l, m->bitpacked, count, e, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_FIXED_SIZE_BINARY:
    return read_equal_text(l, m->fixed_size_binary, count, depth, e, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_BITPACKED_FOR_NON_NEG:
    return read_packed(l, m->bitpacked_for_non_neg, count, e, err);
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND_NULLABLE:
  case LANCE__ENCODINGS__ARRAY_ENCODING__KIND__NOT_SET:
  case _LANCE__ENCODINGS__ARRAY_ENCODING__KIND__CASE_IS_INT_SIZE:
    break;
  }
  return FAIL(err, GLV_E_UNSUPPORTED, "an unknown array encoding is not supported");
}

static glv_status read_encoding(loader *l, const message *m, uint64_t count, unsigned depth,
                                old_encoding **ret, glv_error *err) {
  if (m == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "an encoding lacks the encoding of its values");
  }
  if (depth >= CODEC_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "encodings are nested deeper than %d levels", CODEC_DEPTH);
  }
  if (m->kind_case == LANCE__ENCODINGS__ARRAY_ENCODING__KIND_NULLABLE) {
    return read_nullable(l, m->nullable, count, depth, ret, err);
  }
  *ret = ARENA_NEW(l->memory, old_encoding);
  if (*ret == NULL) {
    return error_nomem(err, sizeof **ret);
  }
  return read_kind(l, m, count, depth, *ret, err);
}

static glv_status unpack(arena *a, str layout, const message **ret, glv_error *err) {
  ProtobufCMessage *m = NULL;
  TRY(pb_unpack(a, layout, &lance__encodings__array_encoding__descriptor, "array encoding", &m,
                err));
  *ret = (const message *)m;
  return GLV_OK;
}

glv_status old_encoding_load(decoder *d, arena *a, const page_place *where, size_t *ret_bytes,
                             const old_encoding **ret, glv_error *err) {
  loader l = {.d = d, .memory = a, .where = where};
  const message *m = NULL;
  old_encoding *e = NULL;
  TRY(unpack(a, where->layout, &m, err));
  TRY(read_encoding(&l, m, where->rows, 0, &e, err));
  *ret_bytes += l.bytes;
  *ret = e;
  return GLV_OK;
}

glv_status old_encoding_items(arena *a, str layout, bool *ret_is_list, uint64_t *ret,
                              glv_error *err) {
  const message *m = NULL;
  TRY(unpack(a, layout, &m, err));
  *ret_is_list = m->kind_case == LANCE__ENCODINGS__ARRAY_ENCODING__KIND_LIST;
  *ret = *ret_is_list ? m->list->num_items : 0;
  return GLV_OK;
}

const char *old_encoding_name(const old_encoding *e) {
  switch (e->kind) {
  case OLD_FLAT:
    return "Flat";
  case OLD_PACKED:
    return "BitpackedForNonNeg";
  case OLD_STREAM:
    return "Bitpacked";
  case OLD_VECTOR:
    return "FixedSizeList";
  case OLD_TEXT:
    return "Binary";
  case OLD_EQUAL_TEXT:
    return "FixedSizeBinary";
  case OLD_FSST:
    return "Fsst";
  case OLD_DICTIONARY:
    return "Dictionary";
  case OLD_ROWS:
    return "PackedStruct";
  case OLD_LIST:
    return "List";
  case OLD_HEADER:
    return "SimpleStruct";
  case OLD_NULLS:
    return "AllNull";
  }
  return "?";
}
