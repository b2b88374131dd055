/**
 * @file sink.h
 * The array that a read produces, filled page by page and chunk by chunk in row order.
 *
 * For each piece: first its nulls (sink_levels, sink_null_rows; nothing when all rows are valid),
 * then its values by one of the value functions, then sink_advance. The rows of a sink are the
 * values of a leaf: when there are lists around it, their number is not known, and sink_grow makes
 * room before each piece.
 */
#ifndef GLAIVE_FORMAT_SINK_H
#define GLAIVE_FORMAT_SINK_H

#include "arrow/array.h"
#include "format/decoder.h"
#include "format/fsst.h"
#include "format/levels.h"
#include "format/shape.h"
#include "format/text.h"

typedef struct sink {
  glv_env *env;   /* borrowed */
  const field *f; /* borrowed */
  shape s;
  size_t length;     /* rows in the end; with lists: there is room for so many */
  size_t filled;     /* rows so far */
  size_t null_count; /* among them, and among the piece being added */
  buffer *validity;  /* NULL until the first null */
  buffer *values;    /* values, bits or offsets */
  buffer *data;      /* SHAPE_TEXT */
  size_t data_size;
  buffer *items[SHAPE_DEPTH]; /* validity of the items of each level; NULL = all valid */
  level_list *levels;         /* gets the levels of all entries; NULL = a leaf that stands alone */
  const page_levels *page;    /* what the levels of the piece mean */
  const struct dictionary *dictionary; /* is_dictionary: that of the last page */
  array *values_of_pages;              /* and the values of all */
  size_t values_count;
  size_t values_capacity;
  uint64_t values_base; /* first number of the last page's values */
  uint64_t values_total;
  struct sink *parts; /* SHAPE_PACKED: of each field; `filled` is set before each use */
  size_t part_count;
} sink;

/** Errors: GLV_E_UNSUPPORTED naming column and type; GLV_E_LIMIT; GLV_E_NOMEM. */
glv_status sink_init(sink *s, glv_env *env, const field *f, size_t length, glv_error *err);
void sink_dispose(sink *s); /* usable with CLEANUP */
/** Make room for more rows. Errors: GLV_E_LIMIT, GLV_E_NOMEM. */
glv_status sink_grow(sink *s, size_t more, glv_error *err);
/** The finished array of s->filled rows. The sink keeps nothing. */
glv_status sink_finish(sink *s, array *ret, glv_error *err);

/** Definition levels of the rows of a chunk: other than 0 is null. They are kept in s->levels, too.
 */
glv_status sink_levels(sink *s, const uint16_t *levels, const wanted *w, glv_error *err);
/** The same without keeping them: they were kept together with those of entries without values. */
glv_status sink_nulls(sink *s, const uint16_t *levels, const wanted *w, glv_error *err);
/** A bitmap of a page that has no levels: 1 is valid. */
glv_status sink_bits_valid(sink *s, const uint8_t *bits, const wanted *w, glv_error *err);
/** The next count rows are null. */
glv_status sink_null_rows(sink *s, size_t count, glv_error *err);
/** False when row filled + i was declared null. */
static inline bool sink_is_valid(const sink *s, size_t i) {
  return s->validity == NULL || bit_get(s->validity->data, s->filled + i);
}

/** Values of all rows of a chunk, SHAPE_FIXED (row after row) or SHAPE_BITS; those wanted are
 * taken. */
void sink_fixed(sink *s, const uint8_t *values, const wanted *w);
/** Where the next rows of SHAPE_FIXED go. */
static inline uint8_t *sink_next(sink *s) {
  return s->values->data + s->filled * s->s.width * s->s.row_leaves;
}
/** Bits of one boolean, for encodings that store a byte each: count rows, row i at values + i *
 * stride. */
void sink_bytes_as_bits(sink *s, const uint8_t *values, size_t stride, size_t count);
/** Validity of the items of list level `level`, all rows of a chunk from bit 0 on. */
glv_status sink_items_valid(sink *s, size_t level, const uint8_t *bits, const wanted *w,
                            glv_error *err);
/** Values of all rows of a chunk, SHAPE_PACKED: in each row of `width` bytes the fields follow each
 * other; those wanted are taken. Errors: GLV_E_CORRUPT when the widths do not fit. */
glv_status sink_packed(sink *s, const uint8_t *rows, size_t width, const wanted *w, glv_error *err);
struct dictionary;
/** The values of a page's dictionary with these numbers, is_dictionary; numbers are checked, and
 * the number of the empty entry stands for null. Errors: GLV_E_CORRUPT, GLV_E_NOMEM. */
glv_status sink_numbers(sink *s, const struct dictionary *t, const uint32_t *numbers, size_t count,
                        glv_error *err);
/** The same value count times: bytes of one row, or for SHAPE_BITS a byte whose lowest bit counts.
 */
void sink_repeat(sink *s, const uint8_t *value, size_t count);
/** Zero values, empty strings, null items: what null rows hold. */
glv_status sink_zeros(sink *s, size_t count, glv_error *err);

/** Strings of a chunk, optionally FSST-coded. */
glv_status sink_text(sink *s, const text_view *v, const fsst_table *symbols, const wanted *w,
                     glv_error *err);
/** Make room for more bytes of text, and SINK_SLACK behind them. Errors: GLV_E_LIMIT when they do
 * not fit into the type. */
glv_status sink_text_reserve(sink *s, size_t more, glv_error *err);
/** End of the text of row filled + i: the bytes up to data_size. */
static inline void sink_text_end(sink *s, size_t i) {
  if (s->s.offset_width == 4) {
    ((int32_t *)(void *)s->values->data)[s->filled + i + 1] = (int32_t)s->data_size;
  } else {
    ((int64_t *)(void *)s->values->data)[s->filled + i + 1] = (int64_t)s->data_size;
  }
}
/** Check that the text of the next count rows, which begins at byte `from`, is UTF-8 when the type
 * says so. Null rows may hold anything. */
glv_status sink_text_check(sink *s, size_t from, size_t count, glv_error *err);

static inline void sink_advance(sink *s, size_t count) { s->filled += count; }

/** True iff bytes are ASCII. */
bool text_is_ascii(const uint8_t *data, size_t size);

/** Bytes that may be written past the end of the text that was reserved. */
#define SINK_SLACK 64

#endif
