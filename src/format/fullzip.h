/**
 * @file fullzip.h
 * The two kinds of full-zip pages, and what they share.
 */
#ifndef GLAIVE_FORMAT_FULLZIP_H
#define GLAIVE_FORMAT_FULLZIP_H

#include "format/page.h"

glv_status zip_read_fixed(decoder *d, const zip_layout *z, const wanted *w, sink *s,
                          glv_error *err);
glv_status zip_read_variable(decoder *d, const zip_layout *z, const wanted *w, sink *s,
                             glv_error *err);
/** Rows of any kind, entry by entry: lists, and packed structs. */
glv_status zip_read_entries(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err);

/* ---- values of fixed width ---- */

/** What the bytes of a value are made of. */
typedef struct value_parts {
  size_t validity[SHAPE_DEPTH]; /* bytes of item validity of each level; 0: none */
  size_t validity_total;
  size_t width;
  bool all_items_null; /* there are no leaves */
  bool is_byte_bool;   /* one byte for each boolean */
} value_parts;

/** Match an encoding of values of `width` bytes with the type of a sink. Errors: GLV_E_CORRUPT,
 * GLV_E_UNSUPPORTED. */
glv_status value_parts_of(const codec *c, size_t width, const sink *s, value_parts *ret,
                          glv_error *err);
/** Put a value at the next row; the caller advances. Errors: GLV_E_NOMEM. */
glv_status value_put(const value_parts *parts, const uint8_t *p, sink *s, glv_error *err);

/* ---- values of variable width ---- */

/** How the bytes of a value become text. */
typedef struct value_coding {
  bool is_compressed;
  general_scheme scheme;
  const fsst_table *symbols; /* NULL: none */
} value_coding;

glv_status value_coding_of(const codec *c, value_coding *ret, glv_error *err);
/** Append the text of a value to that of the sink. Errors: GLV_E_CORRUPT, GLV_E_NOMEM. */
glv_status value_append(decoder *d, const value_coding *k, span value, sink *s, glv_error *err);

/* ---- packed structs ---- */

/** How a field of a packed struct is put into its sink. */
typedef struct field_reader {
  bool is_variable;
  unsigned width; /* bytes of a value, or of its length */
  value_parts parts;
  value_coding coding;
} field_reader;

/** The fields of c for a sink, one a part, in an arena. Errors: GLV_E_CORRUPT, GLV_E_UNSUPPORTED,
 * GLV_E_NOMEM. */
glv_status field_readers_of(const codec *c, const sink *s, arena *a, field_reader **ret,
                            glv_error *err);
/** Put the fields of a row at the next row; the caller advances. Errors: GLV_E_CORRUPT,
 * GLV_E_NOMEM. */
glv_status fields_put(decoder *d, const field_reader *fields, span row, sink *s, glv_error *err);

/* ---- entries ---- */

/** Positions of the entries of the rows [first, first + count], read into d->tasks. */
glv_status zip_read_index(decoder *d, const zip_layout *z, size_t first, size_t count,
                          const uint64_t **ret, glv_error *err);
/** How many rows from i on have entries that are read with one call. positions[0] is row `first`.
 */
size_t zip_group(const wanted *w, size_t i, size_t end, const uint64_t *positions, size_t first);

/** Rows that are looked up in the index at once, and rows in between that are skipped over. */
enum { ZIP_BATCH_ROWS = 4096, ZIP_GAP_ROWS = 1024 };

/** The control word of an entry that starts at p. */
static inline uint32_t zip_word(const zip_layout *z, const uint8_t *p) {
  return z->control == 0   ? 0
         : z->control == 1 ? p[0]
         : z->control == 2 ? load_le16(p)
                           : load_le32(p);
}
/** The definition level of an entry that starts at p. */
static inline unsigned zip_level(const zip_layout *z, const uint8_t *p) {
  return zip_word(z, p) & ((1u << z->def_bits) - 1);
}

/** Rows [i, i + n) of w that follow each other with at most `gap` rows between two of them and span
 * at most `most` rows. */
size_t zip_run(const wanted *w, size_t i, size_t gap, size_t most);

#endif
