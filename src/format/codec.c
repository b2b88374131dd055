/*
 * From CompressiveEncoding messages to codec trees. Everything that does not depend on a page's
 * sizes is checked here: word sizes, widths, children that must be Flat, compression schemes,
 * symbol tables, depth. Where a codec may stand is checked by its users.
 */
#include "format/codec.h"

#include "format/bitpack.h"
#include "pb/lance_encodings21.pb-c.h"

typedef Lance__Encodings21__CompressiveEncoding message;

static glv_status read_codec(arena *a, const message *m, unsigned depth, codec **ret,
                             glv_error *err);

static glv_status refuse_buffer_compression(const Lance__Encodings21__BufferCompression *c,
                                            const char *where, glv_error *err) {
  return c == NULL
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED, "buffer compression inside %s is not supported", where);
}

/* The width of a child that must be Flat. */
static glv_status flat_bits(const message *m, const char *where, uint64_t *ret, glv_error *err) {
  if (m == NULL ||
      m->compression_case != LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT) {
    return FAIL(err, GLV_E_CORRUPT, "%s needs a Flat child", where);
  }
  *ret = m->flat->bits_per_value;
  return refuse_buffer_compression(m->flat->data, where, err);
}

static glv_status read_flat(const Lance__Encodings21__Flat *m, codec *c, glv_error *err) {
  TRY(refuse_buffer_compression(m->data, "Flat", err));
  const uint64_t bits = m->bits_per_value;
  if (bits != 1 && (bits % 8 != 0 || bits == 0 || bits > INT32_MAX)) {
    return FAIL(err, GLV_E_UNSUPPORTED, "Flat values of %llu bits are not supported",
                (unsigned long long)bits);
  }
  c->kind = CODEC_FLAT;
  c->bits = (unsigned)bits;
  return GLV_OK;
}

static glv_status read_variable(const Lance__Encodings21__Variable *m, codec *c, glv_error *err) {
  TRY(refuse_buffer_compression(m->values, "Variable", err));
  uint64_t bits = 0;
  TRY(flat_bits(m->offsets, "Variable", &bits, err));
  if (bits != 32 && bits != 64) {
    return FAIL(err, GLV_E_CORRUPT, "Variable with offsets of %llu bits", (unsigned long long)bits);
  }
  c->kind = CODEC_VARIABLE;
  c->bits = (unsigned)bits;
  return GLV_OK;
}

static glv_status read_word(uint64_t bits, const char *what, codec *c, glv_error *err) {
  if (!bitpack_is_word(bits)) {
    return FAIL(err, GLV_E_CORRUPT, "%s of words of %llu bits", what, (unsigned long long)bits);
  }
  c->bits = (unsigned)bits;
  return GLV_OK;
}

static glv_status read_inline(const Lance__Encodings21__InlineBitpacking *m, codec *c,
                              glv_error *err) {
  TRY(refuse_buffer_compression(m->values, "InlineBitpacking", err));
  c->kind = CODEC_INLINE;
  return read_word(m->uncompressed_bits_per_value, "Inline bitpacking", c, err);
}

static glv_status read_out_of_line(const Lance__Encodings21__OutOfLineBitpacking *m, codec *c,
                                   glv_error *err) {
  uint64_t width = 0;
  TRY(flat_bits(m->values, "OutOfLineBitpacking", &width, err));
  TRY(read_word(m->uncompressed_bits_per_value, "Out-of-line bitpacking", c, err));
  if (width > c->bits) {
    return FAIL(err, GLV_E_CORRUPT, "out-of-line bitpacking of %u bits into %llu", c->bits,
                (unsigned long long)width);
  }
  c->kind = CODEC_OUT_OF_LINE;
  c->packed_bits = (unsigned)width;
  return GLV_OK;
}

static glv_status read_rle(const Lance__Encodings21__Rle *m, codec *c, glv_error *err) {
  uint64_t values = 0;
  uint64_t lengths = 0;
  TRY(flat_bits(m->values, "Rle", &values, err));
  TRY(flat_bits(m->run_lengths, "Rle", &lengths, err));
  if (lengths != 8) {
    return FAIL(err, GLV_E_UNSUPPORTED, "RLE with lengths of %llu bits is not supported",
                (unsigned long long)lengths);
  }
  c->kind = CODEC_RLE;
  return read_word(values, "RLE", c, err);
}

static glv_status read_split(const Lance__Encodings21__ByteStreamSplit *m, codec *c,
                             glv_error *err) {
  uint64_t bits = 0;
  TRY(flat_bits(m->values, "ByteStreamSplit", &bits, err));
  if (bits % 8 != 0 || bits == 0 || bits > 128) {
    return FAIL(err, GLV_E_CORRUPT, "byte stream split of values of %llu bits",
                (unsigned long long)bits);
  }
  c->kind = CODEC_SPLIT;
  c->bits = (unsigned)bits;
  return GLV_OK;
}

static glv_status read_fsst(arena *a, const Lance__Encodings21__Fsst *m, unsigned depth, codec *c,
                            glv_error *err) {
  fsst_table *t = ARENA_NEW(a, fsst_table);
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  TRY(fsst_table_read(span_of(m->symbol_table.data, m->symbol_table.len), t, err));
  c->kind = CODEC_FSST;
  c->symbols = t;
  codec *inner = NULL;
  TRY(read_codec(a, m->values, depth + 1, &inner, err));
  c->inner = inner;
  return GLV_OK;
}

static glv_status read_general(arena *a, const Lance__Encodings21__General *m, unsigned depth,
                               codec *c, glv_error *err) {
  const int scheme = m->compression != NULL ? (int)m->compression->scheme : 0;
  if (scheme != GENERAL_LZ4 && scheme != GENERAL_ZSTD) {
    return FAIL(err, GLV_E_UNSUPPORTED, "compression scheme %d is not supported", scheme);
  }
  c->kind = CODEC_GENERAL;
  c->scheme = (general_scheme)scheme;
  codec *inner = NULL;
  TRY(read_codec(a, m->values, depth + 1, &inner, err));
  c->inner = inner;
  return GLV_OK;
}

static glv_status read_list(arena *a, const Lance__Encodings21__FixedSizeList *m, unsigned depth,
                            codec *c, glv_error *err) {
  c->kind = CODEC_LIST;
  c->items = m->items_per_value;
  c->has_validity = m->has_validity;
  codec *inner = NULL;
  TRY(read_codec(a, m->values, depth + 1, &inner, err));
  c->inner = inner;
  return GLV_OK;
}

static glv_status read_packed(arena *a, const Lance__Encodings21__PackedStruct *m, unsigned depth,
                              codec *c, glv_error *err) {
  codec_field *fields = ARENA_ARRAY(a, codec_field, m->n_bits_per_value);
  if (fields == NULL) {
    return error_nomem(err, m->n_bits_per_value * sizeof *fields);
  }
  for (size_t i = 0; i < m->n_bits_per_value; i++) {
    const uint64_t bits = m->bits_per_value[i];
    if (bits % 8 != 0 || bits == 0 || bits > INT32_MAX) {
      return FAIL(err, GLV_E_UNSUPPORTED, "packed fields of %llu bits are not supported",
                  (unsigned long long)bits);
    }
    fields[i].bits = (unsigned)bits;
  }
  c->kind = CODEC_STRUCT;
  c->fields = fields;
  c->field_count = m->n_bits_per_value;
  codec *inner = NULL;
  TRY(read_codec(a, m->values, depth + 1, &inner, err));
  c->inner = inner;
  return GLV_OK;
}

static glv_status read_packed_field(arena *a, const Lance__Encodings21__VariablePackedField *m,
                                    unsigned depth, codec_field *f, glv_error *err) {
  uint64_t bits = 0;
  switch (m->width_case) {
  case LANCE__ENCODINGS21__VARIABLE_PACKED_FIELD__WIDTH_BITS_PER_VALUE:
    bits = m->bits_per_value;
    break;
  case LANCE__ENCODINGS21__VARIABLE_PACKED_FIELD__WIDTH_BITS_PER_LENGTH:
    f->is_variable = true;
    bits = m->bits_per_length == 32 || m->bits_per_length == 64 ? m->bits_per_length : 0;
    break;
  default: /* not set */
    break;
  }
  if (bits % 8 != 0 || bits == 0 || bits > INT32_MAX) {
    return FAIL(err, GLV_E_UNSUPPORTED, "packed fields of %llu bits are not supported",
                (unsigned long long)bits);
  }
  f->bits = (unsigned)bits;
  codec *values = NULL;
  TRY(read_codec(a, m->value, depth + 1, &values, err));
  f->values = values;
  return GLV_OK;
}

static glv_status read_fields(arena *a, const Lance__Encodings21__VariablePackedStruct *m,
                              unsigned depth, codec *c, glv_error *err) {
  codec_field *fields = ARENA_ARRAY(a, codec_field, m->n_fields);
  if (fields == NULL) {
    return error_nomem(err, m->n_fields * sizeof *fields);
  }
  for (size_t i = 0; i < m->n_fields; i++) {
    TRY(read_packed_field(a, m->fields[i], depth, &fields[i], err));
  }
  c->kind = CODEC_FIELDS;
  c->fields = fields;
  c->field_count = m->n_fields;
  return GLV_OK;
}

static glv_status read_constant(const Lance__Encodings21__Constant *m, codec *c) {
  static const uint8_t nothing = 0;
  c->kind = CODEC_CONSTANT;
  if (m->opt_value_case == LANCE__ENCODINGS21__CONSTANT__OPT_VALUE_VALUE) {
    c->constant = span_of(m->value.len != 0 ? m->value.data : &nothing, m->value.len);
  }
  return GLV_OK;
}

static glv_status read_kind(arena *a, const message *m, unsigned depth, codec *c, glv_error *err) {
  switch (m->compression_case) {
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT:
    return read_flat(m->flat, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_VARIABLE:
    return read_variable(m->variable, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_CONSTANT:
    return read_constant(m->constant, c);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_OUT_OF_LINE_BITPACKING:
    return read_out_of_line(m->out_of_line_bitpacking, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_INLINE_BITPACKING:
    return read_inline(m->inline_bitpacking, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FSST:
    return read_fsst(a, m->fsst, depth, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_RLE:
    return read_rle(m->rle, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_BYTE_STREAM_SPLIT:
    return read_split(m->byte_stream_split, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_GENERAL:
    return read_general(a, m->general, depth, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FIXED_SIZE_LIST:
    return read_list(a, m->fixed_size_list, depth, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_PACKED_STRUCT:
    return read_packed(a, m->packed_struct, depth, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_VARIABLE_PACKED_STRUCT:
    return read_fields(a, m->variable_packed_struct, depth, c, err);
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_DICTIONARY:
    return FAIL(err, GLV_E_UNSUPPORTED, "the Dictionary encoding is not supported");
  case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION__NOT_SET:
  case _LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION__CASE_IS_INT_SIZE:
    break;
  }
  return FAIL(err, GLV_E_UNSUPPORTED, "an unknown encoding is not supported");
}

static glv_status read_codec(arena *a, const message *m, unsigned depth, codec **ret,
                             glv_error *err) {
  if (m == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "an encoding lacks the encoding of its values");
  }
  if (depth >= CODEC_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "encodings are nested deeper than %d levels", CODEC_DEPTH);
  }
  codec *c = ARENA_NEW(a, codec);
  if (c == NULL) {
    return error_nomem(err, sizeof *c);
  }
  TRY(read_kind(a, m, depth, c, err));
  *ret = c;
  return GLV_OK;
}

glv_status codec_read(arena *a, const message *m, const codec **ret, glv_error *err) {
  if (m == NULL) {
    *ret = NULL;
    return GLV_OK;
  }
  codec *c = NULL;
  TRY(read_codec(a, m, 0, &c, err));
  *ret = c;
  return GLV_OK;
}

const char *codec_name(const codec *c) {
  switch (c->kind) {
  case CODEC_FLAT:
    return "Flat";
  case CODEC_VARIABLE:
    return "Variable";
  case CODEC_CONSTANT:
    return "Constant";
  case CODEC_OUT_OF_LINE:
    return "OutOfLineBitpacking";
  case CODEC_INLINE:
    return "InlineBitpacking";
  case CODEC_FSST:
    return "Fsst";
  case CODEC_RLE:
    return "Rle";
  case CODEC_SPLIT:
    return "ByteStreamSplit";
  case CODEC_GENERAL:
    return "General";
  case CODEC_LIST:
    return "FixedSizeList";
  case CODEC_STRUCT:
    return "PackedStruct";
  case CODEC_FIELDS:
    return "VariablePackedStruct";
  }
  return "?";
}

glv_status codec_refuse(const codec *c, const char *where, glv_error *err) {
  return FAIL(err, GLV_E_UNSUPPORTED, "%s is not supported for %s decompression", codec_name(c),
              where);
}
