/**
 * @file page_write_private.h
 * From the rows of one page of one column to the bytes of the page: what the encoding files of this
 * folder share. A page is encoded by one thread; its input is immutable and its output its own.
 *
 * Errors of all functions here, unless said otherwise: GLV_E_NOMEM.
 */
#ifndef GLAIVE_FORMAT_PAGE_WRITE_PRIVATE_H
#define GLAIVE_FORMAT_PAGE_WRITE_PRIVATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "format/page_leaf_private.h"
#include "pb/lance_encodings21.pb-c.h"

typedef Lance__Encodings21__CompressiveEncoding encoding_message;
typedef Lance__Encodings21__PageLayout layout_message;
typedef Lance__Encodings21__RepDefLayer layer_message;

/* ---- the values of a page ---- */

/** Bits of a bitmap from `first` on; NULL: all ones. */
typedef struct run_bits {
  const uint8_t *bits;
  size_t first;
} run_bits;

/** Values of a page that lie in one array, and the levels of the entries around them. */
typedef struct page_run {
  array kept;        /* owns the memory */
  buffer *owners[5]; /* own what was made for this run; NULL where nothing was */
  size_t count;      /* values */
  size_t null_count;
  const uint8_t *validity;     /* NULL: all values valid */
  size_t validity_first;       /* bit of value 0 */
  bool is_null_empty;          /* LEAF_VARIABLE with nulls: no null value has bytes */
  run_bits items[SHAPE_DEPTH]; /* validity of the items of each level of fixed-size lists */
  const uint8_t *values; /* of value 0; LEAF_VARIABLE: its offset; LEAF_BITS: see bits_first */
  size_t bits_first;
  const uint8_t *data; /* LEAF_VARIABLE */
  size_t entries;
  const uint16_t *rep; /* see shred_private.h */
  const uint16_t *def;
} page_run;

/** The levels of a page as they are stored: numbered from the inside out (lance-file-format 6), the
 * kinds of layers chosen from the data. */
typedef struct page_levels {
  glv_env *env;          /* borrowed */
  layer_message *layers; /* leaf first */
  size_t layer_count;
  unsigned max_rep; /* 0: no repetition levels */
  unsigned max_def; /* 0: no definition levels */
  unsigned visible; /* entries with a higher definition level have no value */
  size_t entries;
  uint16_t *rep;           /* with max_rep */
  uint16_t *def;           /* with max_def, but NULL when the validity of the values tells */
  uint32_t *value_entries; /* entry of each value; NULL: entry i has value i */
  bool is_sparse; /* two neighbouring values may lie too many entries apart for a mini-block */
} page_levels;

/** The rows of a page. */
typedef struct page_input {
  glv_env *env; /* borrowed */
  const page_leaf *leaf;
  page_run *runs;
  size_t run_count;
  size_t rows;       /* of the top-level column; of the fixed-size lists of structs its items */
  size_t count;      /* values */
  size_t null_count; /* among the values */
  bool has_item_nulls[SHAPE_DEPTH];
  page_levels levels;
} page_input;

/** Fill *ret for a narrowed array, which is taken over. Errors: those of shred. */
glv_status page_run_init(glv_env *env, const page_leaf *leaf, array *taken, page_run *ret,
                         glv_error *err);
void page_run_dispose(page_run *r);
/** Complete an input whose env, leaf, runs and rows are set: counts and levels. */
glv_status page_input_finish(page_input *in, glv_error *err);
/** Releases runs and levels. */
void page_input_dispose(page_input *in);

/** Number of entries of the first `values` values: up to and with the last of them, and at the end
 * all that follow. */
static inline size_t page_entries_of(const page_input *in, size_t values) {
  const page_levels *l = &in->levels;
  if (values == in->count) {
    return l->entries;
  }
  return l->value_entries == NULL || values == 0 ? values : l->value_entries[values - 1] + 1u;
}

/** A position in a page. */
typedef struct page_cursor {
  const page_input *in;
  size_t run;
  size_t row; /* value in that run */
} page_cursor;

static inline page_cursor page_cursor_at_start(const page_input *in) {
  return (page_cursor){in, 0, 0};
}
/**
 * The next values that lie in one run; the cursor moves behind them. "Row" is a value here and
 * below: encoders do not see where top-level rows begin, but in levels.
 *
 * @param want    at least 1, and at most the values that are left.
 * @param ret_run the run.
 * @param ret_row first value in it.
 * @return number of values, 1 .. want.
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
/** 1 for each null among the next count values, else 0. */
void page_next_nulls(page_cursor *c, size_t count, uint16_t *ret);
/** Definition levels of entries [first, first + count): in memory of the page, or in scratch. c: a
 * cursor of their own that moves along. */
const uint16_t *page_next_def(page_cursor *c, size_t first, size_t count, uint16_t *scratch);
/** Validity of the items of list level `level` of the next count rows from bit 0 of ret on; items
 * of null rows count as valid. The last byte is filled up with zeros. */
void page_next_item_validity(page_cursor *c, size_t level, size_t count, uint8_t *ret);

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

enum {
  PAGE_MAX_BUFFERS = SHAPE_DEPTH + 2,
  PAGE_ALIGN = 64,
  PAGE_MAX_GAPS = PAGE_MAX_BUFFERS * PAGE_ALIGN
};

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
/** table: as stored, borrowed. */
encoding_message *encoding_fsst(arena *a, uint8_t *table, size_t size, encoding_message *inner);
encoding_message *encoding_fixed_size_list(arena *a, uint64_t items, bool has_validity,
                                           encoding_message *inner);
/** Values of a packed struct of variable width. */
encoding_message *encoding_variable_packed(arena *a, const page_leaf *leaf);
/** Values of a page as they are: Flat, FixedSizeList of Flat, or PackedStruct. */
encoding_message *encoding_of_values(arena *a, const page_input *in);

/* ---- pages ---- */

/**
 * Encode a page: choose (lance-file-format 11.2) and write.
 *
 * @param in  rows >= 1.
 * @param out initialised; disposed of by the caller in every case.
 */
glv_status page_encode(const page_input *in, page_output *out, glv_error *err);

/** Collect the extremes of the page that out holds. in is a page of a uint64 column. */
glv_status page_summarise(const page_input *in, page_output *out, glv_error *err);

/** No values, or only null ones: a page of levels alone. */
glv_status constant_write_null(const page_input *in, page_output *out, glv_error *err);
/** Write a constant page if all valid values are equal and that is a good way to store them.
 * *ret_done tells. */
glv_status constant_try(const page_input *in, page_output *out, bool *ret_done, glv_error *err);

/** LEAF_FIXED and LEAF_BITS as mini-blocks: bit packed when that saves an eighth, else flat.
 * Mini-blocks are for pages that are not sparse. */
glv_status fixed_write(const page_input *in, page_output *out, glv_error *err);
/** LEAF_VARIABLE as mini-blocks of text. values: as for fullzip_write_variable. */
glv_status variable_write(const page_input *in, encoding_message *values, page_output *out,
                          glv_error *err);
/** Wide values, one after another. */
glv_status fullzip_write_fixed(const page_input *in, page_output *out, glv_error *err);
/** values: the message of how the text of the input is coded. */
glv_status fullzip_write_variable(const page_input *in, encoding_message *values, page_output *out,
                                  glv_error *err);
/** LEAF_VARIABLE: dictionary, codes or as it is. */
glv_status text_write(const page_input *in, page_output *out, glv_error *err);
/** Whether values of at most `width` bytes go into a full-zip page. */
bool page_is_zipped(const page_input *in, uint64_t width);
/** The children of a packed struct become the values of the run. Errors: also GLV_E_UNSUPPORTED
 * when a child has nulls. */
glv_status packed_run(glv_env *env, const page_leaf *leaf, page_run *r, glv_error *err);
/** A page of a column of dictionary type. All runs have the same dictionary. */
glv_status dictionary_write_given(const page_input *in, page_output *out, glv_error *err);

/** Text bytes and longest value of the valid rows of a LEAF_VARIABLE page. */
typedef struct variable_measure {
  uint64_t bytes;
  uint64_t longest;
} variable_measure;
variable_measure variable_measure_page(const page_input *in);

/* ---- mini-blocks ---- */

enum { CHUNK_MAX_VALUES = 4096, CHUNK_MAX_BUFFERS = SHAPE_DEPTH + 1 };

typedef struct mini_chunk {
  uint32_t count;   /* values: a power of two, at least 2, but for the last */
  uint32_t entries; /* levels */
  uint32_t sizes[CHUNK_MAX_BUFFERS];
} mini_chunk;

/** Levels of a chunk are kept below this where that is possible, and always below
 * CHUNK_MOST_ENTRIES. */
size_t mini_entry_limit(const page_leaf *leaf);
enum { CHUNK_MOST_ENTRIES = 32768 };

/** A page of mini-blocks whose shape is known and whose values are produced chunk by chunk. */
typedef struct mini_page {
  const page_input *in;
  mini_chunk *chunks;
  size_t chunk_count;
  size_t buffer_count; /* value buffers of a chunk */
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

/** Cut a page into chunks of `step` values each, the rest in the last; of fewer values, down to 2,
 * where they have too many levels. The page is not sparse. Sizes are not filled. Released with
 * mem_free. */
glv_status mini_chunks_new(const page_input *in, size_t step, mini_chunk **ret, size_t *ret_count,
                           glv_error *err);

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
