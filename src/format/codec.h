/**
 * @file codec.h
 * How the bytes of a page are encoded: the tree of CompressiveEncoding messages, checked and in a
 * compact form that the decoders walk (lance-file-format sections 3 and 8).
 */
#ifndef GLAIVE_FORMAT_CODEC_H
#define GLAIVE_FORMAT_CODEC_H

#include "base/arena.h"
#include "format/fsst.h"
#include "format/general.h"
#include "format/span.h"

typedef enum codec_kind {
  CODEC_FLAT,        /* bits */
  CODEC_VARIABLE,    /* bits: of an offset, 32 or 64 */
  CODEC_CONSTANT,    /* constant; data NULL = nulls */
  CODEC_OUT_OF_LINE, /* bits: T, packed_bits: W */
  CODEC_INLINE,      /* bits: T */
  CODEC_FSST,        /* symbols, inner */
  CODEC_RLE,         /* bits: of a value */
  CODEC_SPLIT,       /* byte stream split; bits: of a value */
  CODEC_GENERAL,     /* scheme, inner */
  CODEC_LIST,        /* fixed_size_list: items, has_validity, inner */
  CODEC_STRUCT,      /* fields of fixed width in rows; inner: the rows */
  CODEC_FIELDS,      /* fields one after another, some of them with lengths */
} codec_kind;

/** One field of a packed struct. */
typedef struct codec_field {
  const struct codec *values; /* CODEC_FIELDS */
  bool is_variable;
  unsigned bits; /* of a value, or of its length: multiples of 8 */
} codec_field;

typedef struct codec {
  codec_kind kind;
  unsigned bits;
  unsigned packed_bits;
  general_scheme scheme;
  uint64_t items;
  bool has_validity;
  span constant;
  const fsst_table *symbols;
  const struct codec *inner;
  const codec_field *fields; /* CODEC_STRUCT, CODEC_FIELDS */
  size_t field_count;
} codec;

/** Nesting of encodings; a fixed_size_list of lists counts each level. */
#define CODEC_DEPTH 16

struct Lance__Encodings21__CompressiveEncoding;

/**
 * Read a message into an arena; the message must outlive the arena's use. NULL gives NULL.
 * Errors: GLV_E_CORRUPT, GLV_E_UNSUPPORTED naming the encoding, GLV_E_NOMEM.
 */
glv_status codec_read(arena *a, const struct Lance__Encodings21__CompressiveEncoding *message,
                      const codec **ret, glv_error *err);

/** Name for messages, e.g. "InlineBitpacking". */
const char *codec_name(const codec *c);

/** The report that a codec may not stand where it stands, e.g. "Rle is not supported for mini-block
 * decompression". */
glv_status codec_refuse(const codec *c, const char *where, glv_error *err);

#endif
