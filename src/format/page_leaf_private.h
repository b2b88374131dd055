/**
 * @file page_leaf_private.h
 * Leaves: what a column of a file stores, and where in a top-level array it is found
 * (lance-file-format sections 4 and 5). Fixed for the file, made once when it is begun.
 */
#ifndef GLAIVE_FORMAT_PAGE_LEAF_PRIVATE_H
#define GLAIVE_FORMAT_PAGE_LEAF_PRIVATE_H

#include "arrow/array.h"
#include "format/file_reader.h"
#include "format/lance_schema.h"
#include "format/shape.h"

enum leaf_form {
  LEAF_NULL,     /* the type `null`: no values */
  LEAF_BITS,     /* bool: bits in memory, `items` of them a value */
  LEAF_FIXED,    /* `width` bytes a value */
  LEAF_VARIABLE, /* offsets and bytes */
};

enum leaf_compression { COMPRESS_NONE = 0, COMPRESS_LZ4 = 1, COMPRESS_ZSTD = 2 };

/** Coding of text that the metadata of a field asks for. */
enum leaf_text { TEXT_ANY, TEXT_PLAIN, TEXT_FSST };

/** Layout that the metadata of a field asks for. */
enum leaf_structure { STRUCTURE_ANY, STRUCTURE_MINIBLOCK, STRUCTURE_FULLZIP };

/** What columns of version 2.0 hold, where every field owns one. */
enum leaf_old {
  LEAF_OLD_VALUES,
  LEAF_OLD_LENGTHS, /* of lists, as uint64; the items are rows of the next columns */
  LEAF_OLD_HEADER,  /* of structs: nothing */
};

enum step_kind {
  STEP_STRUCT, /* to a child with the same number of values */
  STEP_LIST,   /* to the items of a list or map */
  STEP_REPEAT, /* to the items of a fixed-size list of structs: `type->width` a value */
};

/** One nesting level above a leaf. It is a layer of its pages: an item layer or a list layer. */
typedef struct leaf_step {
  enum step_kind kind;
  const char *name; /* of the field, for messages; borrowed */
  const type *type; /* borrowed */
  bool is_nullable;
  size_t child; /* STEP_STRUCT: which one */
} leaf_step;

typedef struct page_leaf {
  const char *name;  /* of the column, its path included, for messages */
  const char *field; /* of the leaf alone */
  const type *type;  /* of the leaf; borrowed */
  bool is_nullable;
  format_version version;
  enum leaf_old old;
  const leaf_step *steps; /* from the top-level field inwards, the leaf not among them */
  size_t step_count;
  size_t list_count; /* STEP_LIST among them */
  size_t repeat;     /* entries that a row becomes by STEP_REPEAT; 1 without */
  enum leaf_form form;
  size_t depth;                   /* levels of fixed-size lists that are part of a value */
  size_t list_items[SHAPE_DEPTH]; /* items of one list of each level, outermost first */
  size_t row_items[SHAPE_DEPTH];  /* items of that level in one value */
  size_t items;                   /* leaf values of one value: 1 when depth is 0 */
  unsigned item_bits;             /* LEAF_BITS: 1; LEAF_FIXED: a multiple of 8 */
  size_t width;                   /* LEAF_FIXED: bytes of a value, items included */
  unsigned pack_bits;             /* 8, 16, 32 or 64 when bit packing may pay, else 0 */
  unsigned offset_width;          /* LEAF_VARIABLE: 4 or 8 */
  bool is_dictionary;             /* LEAF_FIXED: values are indices into a dictionary */
  bool is_packed;                 /* the children of a struct, one after another */
  enum leaf_text text;
  enum leaf_structure structure;
  enum leaf_compression compression; /* asked for by the metadata of the field */
  int compression_level;             /* of zstd */
  bool is_summarised; /* minima and maxima of its chunks are wanted; a uint64 column */
} page_leaf;

/** Fill *ret for a leaf that is a column of its own: no steps. Errors: GLV_E_UNSUPPORTED naming
 * column and type. */
glv_status page_leaf_init(const field *f, page_leaf *ret, glv_error *err);

/** Bytes of a child of a packed struct in each value; 0 when they vary. */
size_t leaf_packed_width(const type *t);

/** A column of a file: a leaf below a top-level field. */
typedef struct leaf_column {
  size_t field; /* index of the top-level field */
  page_leaf leaf;
} leaf_column;

/**
 * The columns of a file, in order. In version 2.0 their leaves have no steps: what is above a field
 * is in columns of its own.
 *
 * @param a  where they live; what they point to besides belongs to s.
 * Errors: GLV_E_UNSUPPORTED naming column and type.
 */
glv_status leaf_columns_of(arena *a, const lance_schema *s, format_version version,
                           leaf_column **ret, size_t *ret_count, glv_error *err);

/**
 * The part of a top-level array that a leaf needs: at each step the one child that leads to it,
 * with types of the schema instead of those of the batch, which may go before the array does.
 */
glv_status leaf_narrow(glv_env *env, const page_leaf *leaf, const array *column, array *ret,
                       glv_error *err);
/** The array of a leaf at the end of a narrowed one; borrowed. */
const array *leaf_array(const page_leaf *leaf, const array *narrow);

/** Bytes that count as the raw size of the rows [first, first + rows) of a narrowed array. */
uint64_t page_leaf_raw_bytes(const page_leaf *leaf, const array *a, size_t first, size_t rows);
/** True when all rows have the same raw size. */
static inline bool page_leaf_is_even(const page_leaf *leaf) {
  return leaf->form != LEAF_VARIABLE && leaf->list_count == 0;
}
/** The most raw bytes of a page of the leaf, of a file whose pages may have `usual` bytes. */
uint64_t page_leaf_page_bytes(const page_leaf *leaf, uint64_t usual);
/** Rows of a full page of an even leaf: a multiple of step unless that is too much. */
size_t page_leaf_page_rows(const page_leaf *leaf, uint64_t raw_bytes, size_t step, size_t most);
/** The most leading rows of a, from row first on, whose raw size stays below limit, plus one; at
 * most rows and at least 1 (when rows is). */
size_t page_leaf_rows_within(const page_leaf *leaf, const array *a, size_t first, size_t rows,
                             uint64_t limit);

#endif
