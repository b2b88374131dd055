/**
 * @file shape.h
 * How the values of a column are laid out: what decoders need to know of an Arrow type.
 */
#ifndef GLAIVE_FORMAT_SHAPE_H
#define GLAIVE_FORMAT_SHAPE_H

#include "arrow/type.h"

typedef enum shape_kind {
  SHAPE_NULL,   /* no values */
  SHAPE_BITS,   /* bool */
  SHAPE_FIXED,  /* width bytes */
  SHAPE_TEXT,   /* offsets and bytes */
  SHAPE_PACKED, /* a struct whose fields are stored together */
} shape_kind;

/** Levels of fixed_size_list around a leaf. */
#define SHAPE_DEPTH 8

/** A leaf inside `depth` levels of fixed_size_list. */
typedef struct shape {
  shape_kind kind; /* of the leaf */
  bool is_utf8;
  bool is_dictionary;         /* SHAPE_FIXED: numbers of 32 bits of values kept aside */
  size_t width;               /* SHAPE_FIXED: bytes of a leaf value */
  size_t offset_width;        /* SHAPE_TEXT: 4 or 8 */
  size_t depth;               /* levels of fixed_size_list */
  size_t items[SHAPE_DEPTH];  /* of each level, outermost first */
  size_t leaves[SHAPE_DEPTH]; /* items of that level in one row */
  size_t row_leaves;          /* leaf values of one row: 1 when depth is 0 */
} shape;

/** Errors: GLV_E_UNSUPPORTED naming the column and its type. */
glv_status shape_of(const field *f, shape *ret, glv_error *err);

/** Bits of one row of leaf values; SHAPE_BITS and SHAPE_FIXED. */
static inline size_t shape_row_bits(const shape *s) {
  return s->row_leaves * (s->kind == SHAPE_BITS ? 1 : 8 * s->width);
}

#endif
