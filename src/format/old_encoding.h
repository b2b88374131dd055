/**
 * @file old_encoding.h
 * How the pages of version 2.0 are encoded: the tree of ArrayEncoding messages, checked and in a
 * compact form that the readers walk (lance-file-format sections 3 and 10).
 */
#ifndef GLAIVE_FORMAT_OLD_ENCODING_H
#define GLAIVE_FORMAT_OLD_ENCODING_H

#include "format/page.h"

typedef enum old_kind {
  OLD_FLAT,       /* bits; in the buffer or in memory */
  OLD_PACKED,     /* BitpackedForNonNeg: FastLanes groups of packed_bits; bits: of a value */
  OLD_STREAM,     /* Bitpacked: packed_bits one after another, perhaps signed; bits: of a value */
  OLD_VECTOR,     /* FixedSizeList: items a row, values */
  OLD_TEXT,       /* Binary: ends (null_adjustment), values: the bytes */
  OLD_EQUAL_TEXT, /* FixedSizeBinary: items bytes each, values: the bytes */
  OLD_FSST,       /* symbols, values: OLD_TEXT or OLD_EQUAL_TEXT */
  OLD_DICTIONARY, /* ends: indices; dictionary */
  OLD_ROWS,       /* PackedStruct: rows of fixed width in the buffer */
  OLD_LIST,       /* ends (null_adjustment), items in the page */
  OLD_HEADER,     /* SimpleStruct: nothing */
  OLD_NULLS,      /* no value is valid; nothing is stored */
} old_kind;

typedef struct old_encoding {
  old_kind kind;
  bool is_signed;
  unsigned bits;
  unsigned packed_bits;
  extent where;        /* the buffer */
  const uint8_t *data; /* its bytes when it was compressed, else NULL */
  size_t data_size;
  uint64_t items;
  uint64_t null_adjustment;
  const struct old_encoding *validity; /* OLD_FLAT of 1 bit; NULL: all valid, or OLD_NULLS */
  const struct old_encoding *ends;     /* unsigned numbers without nulls */
  const struct old_encoding *values;
  const fsst_table *symbols;
  const dictionary *dictionary; /* items values; NULL when values are OLD_NULLS */
  const uint8_t *item_validity; /* of the values of the dictionary; NULL: all valid */
} old_encoding;

/**
 * Read the encoding of a page and check that its buffers hold as many values as it has rows.
 * Compressed buffers and dictionaries are loaded.
 *
 * @param a          keeps the result.
 * @param ret_bytes  is increased by what was loaded.
 * Errors: GLV_E_CORRUPT, GLV_E_UNSUPPORTED naming the encoding, GLV_E_LIMIT, GLV_E_IO, GLV_E_NOMEM.
 * Thread class: one thread a decoder.
 */
glv_status old_encoding_load(decoder *d, arena *a, const page_place *where, size_t *ret_bytes,
                             const old_encoding **ret, glv_error *err);

/**
 * Whether a page is one of lists, and how many items of its child columns it refers to.
 * Errors: GLV_E_CORRUPT, GLV_E_NOMEM.
 */
glv_status old_encoding_items(arena *a, str layout, bool *ret_is_list, uint64_t *ret,
                              glv_error *err);

/** Bytes that a list or text page has to offer to its ends: the size of the buffer, decompressed.
 */
static inline uint64_t old_encoding_size(const old_encoding *e) {
  return e->data != NULL ? e->data_size : e->where.size;
}

/** Name for messages, e.g. "Bitpacked". */
const char *old_encoding_name(const old_encoding *e);

#endif
