/**
 * @file page_write_private.h
 * From the rows of one page of one column to the bytes of the page: what the encoding files of this
 * folder share. A page is encoded by one thread; its input is immutable and its output its own.
 *
 * Errors of all functions here, unless said otherwise: GLV_E_NOMEM.
 */
#ifndef GLAIVE_FORMAT_PAGE_WRITE_PRIVATE_H
#define GLAIVE_FORMAT_PAGE_WRITE_PRIVATE_H

#include "arrow/array.h"
#include "base/arena.h"
#include "base/buf.h"
#include "pb/lance_encodings21.pb-c.h"

typedef Lance__Encodings21__CompressiveEncoding encoding_message;
typedef Lance__Encodings21__PageLayout layout_message;

/* ---- what is written: leaves and the rows of a page ---- */

enum leaf_form {
  LEAF_NULL,     /* the type `null`: no values */
  LEAF_BITS,     /* bool: bits in memory, `items` of them a row */
  LEAF_FIXED,    /* `width` bytes a row */
  LEAF_VARIABLE, /* offsets and bytes */
  LEAF_LIST,     /* below one list; only lists without any item can be written so far */
};

enum leaf_compression { COMPRESS_NONE = 0, COMPRESS_LZ4 = 1, COMPRESS_ZSTD = 2 };

/** How the values of a column are laid out; fixed for the file. */
typedef struct page_leaf {
  const char *name; /* of the column, for messages; borrowed */
  const type *type; /* of the column; borrowed */
  enum leaf_form form;
  bool is_vector;                    /* a fixed-size list: its items are what is stored */
  size_t items;                      /* items of a row: 1 unless is_vector */
  unsigned item_bits;                /* LEAF_BITS: 1; LEAF_FIXED: a multiple of 8 */
  size_t width;                      /* LEAF_FIXED: bytes of a row, items included */
  unsigned pack_bits;                /* 8, 16, 32 or 64 when bit packing may pay, else 0 */
  unsigned offset_width;             /* LEAF_VARIABLE: 4 or 8 */
  enum leaf_compression compression; /* asked for by the metadata of the field */
  int compression_level;             /* of zstd */
  bool is_summarised; /* minima and maxima of its chunks are wanted; a uint64 column */
} page_leaf;

/** Fill *ret for a column. Errors: GLV_E_UNSUPPORTED naming column and type. */
glv_status page_leaf_init(const field *f, page_leaf *ret, glv_error *err);
/** Bytes that count as the raw size of the rows [first, first + rows) of an array of the leaf. */
uint64_t page_leaf_raw_bytes(const page_leaf *leaf, const array *a, size_t first, size_t rows);
/** Rows of a full page of a column whose values all have the same size: a multiple of step unless
 * that is too much. */
size_t page_leaf_page_rows(const page_leaf *leaf, uint64_t raw_bytes, size_t step, size_t most);
/** The most leading rows of a, from row first on, whose raw size stays below limit, plus one; at
 * most rows and at least 1 (when rows is). */
size_t page_leaf_rows_within(const page_leaf *leaf, const array *a, size_t first, size_t rows,
                             uint64_t limit);

/** Rows of a page that lie in one array. */
typedef struct page_run {
  array kept; /* owns the memory */
  size_t rows;
  const uint8_t *validity;      /* NULL: all rows valid */
  size_t validity_first;        /* bit of row 0 */
  bool is_null_empty;           /* LEAF_VARIABLE with nulls: no null row has bytes */
  const uint8_t *item_validity; /* is_vector: NULL = all items valid */
  size_t item_validity_first;   /* bit of item 0 of row 0 */
  const uint8_t *values;        /* of row 0; LEAF_VARIABLE: its offset; LEAF_BITS: see bits_first */
  size_t bits_first;
  const uint8_t *data; /* LEAF_VARIABLE */
} page_run;

/** The rows of a page. */
typedef struct page_input {
  glv_env *env; /* borrowed */
  const page_leaf *leaf;
  page_run *runs;
  size_t run_count;
  size_t rows;
  size_t null_count;
  bool has_item_nulls;
} page_input;

/** Fill *ret for an array, which it takes over. */
void page_run_init(const page_leaf *leaf, array *taken, page_run *ret);

/** A position in a page. */
typedef struct page_cursor {
  const page_input *in;
  size_t run;
  size_t row; /* in that run */
} page_cursor;

static inline page_cursor page_cursor_at_start(const page_input *in) {
  return (page_cursor){in, 0, 0};
}
/**
 * The next rows that lie in one run; the cursor moves behind them.
 *
 * @param want    at least 1, and at most the rows that are left.
 * @param ret_run the run.
 * @param ret_row first row in it.
 * @return number of rows, 1 .. want.
 */
size_t page_cursor_span(page_cursor *c, size_t want, const page_run **ret_run, size_t *ret_row);

/**
 * The next count rows of a LEAF_FIXED page one after another, null rows and items as zeros.
 * @param scratch room for count * width bytes.
 * @return the values: in scratch, or where they are anyway. Aligned to 8 or to the input's own
 * alignment.
 */
const uint8_t *page_next_values(page_cursor *c, size_t count, uint8_t *scratch);
/** The same for LEAF_BITS: count * items bits, written to ret from bit 0 on; the last byte is
 * filled up with zeros. */
void page_next_bits(page_cursor *c, size_t count, uint8_t *ret);
/** Definition levels of the next count rows: 1 = null. */
void page_next_levels(page_cursor *c, size_t count, uint16_t *ret);
/** Validity of the items of the next count rows from bit 0 of ret on; items of null rows count as
 * valid. The last byte is filled up with zeros. */
void page_next_item_validity(page_cursor *c, size_t count, uint8_t *ret);

/** Offset of row i (0 .. rows) of a variable-width run. */
static inline uint64_t page_run_offset(const page_run *r, unsigned offset_width, size_t i) {
  if (offset_width == 8) {
    return load_le64(r->values + i * 8);
  }
  return load_le32(r->values + i * 4);
}
static inline str page_run_text(const page_run *r, unsigned offset_width, size_t i) {
  const uint64_t begin = page_run_offset(r, offset_width, i);
  return str_slice((const char *)r->data + begin,
                   (size_t)(page_run_offset(r, offset_width, i + 1) - begin));
}
static inline bool page_run_is_valid(const page_run *r, size_t i) {
  return r->validity == NULL || bit_get(r->validity, r->validity_first + i);
}

/* ---- what comes out ---- */

enum { PAGE_MAX_BUFFERS = 4, PAGE_ALIGN = 64, PAGE_MAX_GAPS = PAGE_MAX_BUFFERS * PAGE_ALIGN };

/** Filler of gaps between buffers, and inside chunks; any value may stand there, these are what
 * the reference writes. */
enum { PAGE_FILLER = 0x48, CHUNK_FILLER = 0xFE };

/** One entry of a file_summary, rows relative to the page. */
typedef struct page_extreme {
  uint64_t first_row;
  uint64_t minimum;
  uint64_t maximum;
} page_extreme;

/**
 * The bytes of an encoded page: its buffers one after another, each at a multiple of PAGE_ALIGN,
 * and the layout message.
 */
typedef struct page_output {
  glv_env *env;   /* borrowed */
  arena messages; /* of the layout while it is put together */
  uint8_t *bytes;
  size_t size; /* a multiple of PAGE_ALIGN */
  size_t capacity;
  size_t buffer_count;
  size_t offsets[PAGE_MAX_BUFFERS]; /* relative to bytes */
  size_t sizes[PAGE_MAX_BUFFERS];
  buf layout;             /* serialized PageLayout */
  size_t chunk_rows;      /* rows of a mini-block chunk when all but the last have the same number;
                             0: the page is no such page */
  page_extreme *extremes; /* filled when the leaf is summarised */
  size_t extreme_count;
  bool has_values; /* summarised: some row is not null */
  bool is_sorted;  /* the values do not decrease */
  uint64_t first_value;
  uint64_t last_value;
} page_output;

void page_output_init(page_output *o, glv_env *env);
void page_output_dispose(page_output *o);
/** Make room for that many bytes of buffers; spares moving them later. */
glv_status page_output_reserve(page_output *o, size_t size, glv_error *err);
/** Add a buffer of size bytes, uninitialised; *ret is valid until the next one is added. */
glv_status page_output_add(page_output *o, size_t size, uint8_t **ret, glv_error *err);
/** Serialize the layout; NULL stands for a message that there was no memory for. */
glv_status page_output_layout(page_output *o, const layout_message *m, glv_error *err);

/* ---- messages; all return NULL when there is no memory or an argument is NULL ---- */

encoding_message *encoding_flat(arena *a, uint64_t bits);
encoding_message *encoding_variable(arena *a, uint64_t offset_bits);
encoding_message *encoding_inline_bitpacking(arena *a, uint64_t bits);
encoding_message *encoding_out_of_line(arena *a, uint64_t bits, uint64_t width);
encoding_message *encoding_general(arena *a, enum leaf_compression scheme, encoding_message *inner);
encoding_message *encoding_fixed_size_list(arena *a, uint64_t items, bool has_validity,
                                           encoding_message *inner);
/** Values of the leaf as they are: Flat, or FixedSizeList of Flat. */
encoding_message *encoding_of_leaf(arena *a, const page_leaf *leaf, bool has_item_nulls);
/** The one layer of a page without lists. */
Lance__Encodings21__RepDefLayer *layout_item_layer(arena *a, bool has_nulls);

/* ---- pages ---- */

/**
 * Encode a page: choose (lance-file-format 11.2) and write.
 *
 * @param in  rows >= 1.
 * @param out initialised; disposed of by the caller in every case.
 * Errors: GLV_E_NOMEM; GLV_E_UNSUPPORTED naming the column when a list has items.
 */
glv_status page_encode(const page_input *in, page_output *out, glv_error *err);

/** Collect the extremes of the page that out holds. in is a page of a uint64 column. */
glv_status page_summarise(const page_input *in, page_output *out, glv_error *err);

/** All rows null: a page without values. */
glv_status constant_write_null(const page_input *in, page_output *out, glv_error *err);
/** Lists without items: null or empty. Errors: also GLV_E_UNSUPPORTED when a list has items. */
glv_status constant_write_lists(const page_input *in, page_output *out, glv_error *err);
/** Write a constant page if all valid values are equal and that is a good way to store them.
 * *ret_done tells. */
glv_status constant_try(const page_input *in, page_output *out, bool *ret_done, glv_error *err);

/** LEAF_FIXED and LEAF_BITS as mini-blocks: bit packed when that saves an eighth, else flat. */
glv_status fixed_write(const page_input *in, page_output *out, glv_error *err);
/** LEAF_VARIABLE as mini-blocks of text. */
glv_status variable_write(const page_input *in, page_output *out, glv_error *err);
/** Wide values, one after another. */
glv_status fullzip_write_fixed(const page_input *in, page_output *out, glv_error *err);
glv_status fullzip_write_variable(const page_input *in, page_output *out, glv_error *err);
/** Write a dictionary page of LEAF_VARIABLE if that pays (11.4). *ret_done tells. text_bytes: of
 * all valid values. */
glv_status dictionary_try(const page_input *in, uint64_t text_bytes, page_output *out,
                          bool *ret_done, glv_error *err);

/** Text bytes and longest value of the valid rows of a LEAF_VARIABLE page. */
typedef struct variable_measure {
  uint64_t bytes;
  uint64_t longest;
} variable_measure;
variable_measure variable_measure_page(const page_input *in);

/* ---- mini-blocks ---- */

enum { CHUNK_MAX_VALUES = 4096, CHUNK_MAX_BUFFERS = 2 };

typedef struct mini_chunk {
  uint32_t rows; /* a power of two, at least 2, but for the last */
  uint32_t sizes[CHUNK_MAX_BUFFERS];
} mini_chunk;

/** A page of mini-blocks whose shape is known and whose values are produced chunk by chunk. */
typedef struct mini_page {
  const page_input *in;
  mini_chunk *chunks;
  size_t chunk_count;
  size_t buffer_count; /* value buffers of a chunk: 1 or 2 */
  encoding_message *values;
  encoding_message *dictionary; /* NULL: none */
  str dictionary_block;
  uint64_t dictionary_items;
  /** Write the values of the next chunk: sizes[i] bytes to ret[i]. Called once for each chunk in
   * order; start begins again. */
  void (*start)(void *context);
  void (*fill)(void *context, const mini_chunk *chunk, uint8_t *const *ret);
  void *context;
} mini_page;

/** An array of chunks of `step` rows each, the rest in the last; sizes are not filled. NULL = no
 * memory; released with mem_free. */
mini_chunk *mini_chunks_new(glv_env *env, size_t rows, size_t step, size_t *ret_count);

/** Levels, chunks and layout. */
glv_status mini_write(const mini_page *m, page_output *out, glv_error *err);

/** A source of fixed-width values for chunks: the rows of a page, or numbers in memory. */
typedef struct value_source {
  page_cursor cursor;
  const uint32_t *numbers; /* not NULL: these instead, as values of `bits` bits */
  size_t at;
  unsigned bits; /* of a value of a page of integers, or of a number */
  size_t width;  /* bytes of a value */
} value_source;

void value_source_start(value_source *s, const page_input *in);
/** The next count values; scratch as for page_next_values. */
const uint8_t *value_source_next(value_source *s, size_t count, uint8_t *scratch);

/** Write the values of s as a mini-block page, bit packed when bits is not 0 and that saves an
 * eighth, else flat. m has in and the dictionary set, the rest is filled here. */
glv_status fixed_write_values(mini_page *m, value_source *s, bool may_pack, page_output *out,
                              glv_error *err);

/* ---- levels ---- */

/** Bytes of count levels below 2^width, coded. */
size_t levels_size(size_t count, unsigned width);
/** Code count levels into levels_size bytes. */
void levels_write(const uint16_t *levels, size_t count, unsigned width, uint8_t *ret);
/** The message for a page whose largest chunk has max_count levels. */
encoding_message *levels_encoding(arena *a, size_t max_count, unsigned width);

/* ---- general compression ---- */

/** Largest compressed size of size bytes, frame included; SIZE_MAX = too large. */
size_t compress_bound(enum leaf_compression scheme, size_t size);
/** Compress into room bytes (compress_bound); *ret_size is what was used. Errors: GLV_E_INTERNAL
 * when the library refuses. */
glv_status compress_write(enum leaf_compression scheme, int level, const void *data, size_t size,
                          void *ret, size_t room, size_t *ret_size, glv_error *err);

#endif
