/**
 * @file page.h
 * One page of a column: its layout, parsed and checked, with what reading it needs again and again
 * (chunk table, dictionary, symbol tables). Immutable once loaded, counted, shared by threads.
 */
#ifndef GLAIVE_FORMAT_PAGE_H
#define GLAIVE_FORMAT_PAGE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "format/codec.h"
#include "format/decoder.h"
#include "format/file_reader.h"
#include "format/sink.h"
#include "format/text.h"
#include "pb/lance_encodings21.pb-c.h"

/** A range of the file. */
typedef struct extent {
  uint64_t offset;
  uint64_t size;
} extent;

/** Where a page is, from the column's metadata. All extents lie inside the file. */
typedef struct page_place {
  uint64_t rows;
  const extent *buffers;
  size_t buffer_count;
  str layout;                   /* serialized PageLayout, or ArrayEncoding (2.0) */
  const extent *column_buffers; /* those of the column and of the file; 2.0 only */
  size_t column_buffer_count;
  const extent *file_buffers;
  size_t file_buffer_count;
} page_place;

/** Values that chunks refer to by number. The entry number `count` is zero or empty. */
typedef struct dictionary {
  uint64_t count;
  unsigned width; /* bytes of a fixed-width value; 0: text, or bits */
  bool is_bits;   /* booleans */
  bool is_utf8;   /* text: all entries are */
  const uint8_t *values;
  text_view text; /* offsets of 4 bytes, checked, one more than a block has; bytes have slack */
} dictionary;

/** Most value buffers of a chunk. */
#define CHUNK_BUFFERS 16

typedef struct mini_layout {
  const codec *rep; /* NULL: no such stream */
  const codec *def;
  const codec *values;
  unsigned buffers; /* of values, in each chunk */
  bool is_large;    /* sizes of 32 bits */
  uint64_t data;    /* where chunk 0 is in the file */
  size_t chunk_count;
  const uint64_t *offsets; /* chunk i is [offsets[i], offsets[i + 1]) from data on */
  const uint64_t *sums;    /* and holds the values [sums[i], sums[i + 1]) */
  const uint64_t *rows;    /* the rows [rows[i], rows[i + 1]) start in it; without lists: values */
  const uint8_t *is_open;  /* lists: bit i: the last row of chunk i goes on in the next one */
  unsigned row_shift;      /* not 0: every chunk but the last has 1 << row_shift rows */
  const dictionary *dictionary;
} mini_layout;

typedef struct zip_layout {
  const codec *values;
  unsigned control; /* bytes of a control word: 0, 1, 2 or 4 */
  unsigned rep_bits;
  unsigned def_bits;
  bool is_variable;
  unsigned width; /* bytes of a value, or of a length */
  extent data;
  extent index;         /* is_variable, or lists: rows + 1 positions */
  unsigned index_width; /* 1, 2, 4 or 8 */
} zip_layout;

typedef struct constant_layout {
  bool has_value;
  span value;             /* of fixed width, or one string */
  bool all_null;          /* every row, without exception; there are no levels */
  const uint16_t *rep;    /* of the entries; NULL without lists */
  const uint16_t *def;    /* NULL: all 0 */
  const uint32_t *starts; /* lists: entries of row i are [starts[i], starts[i + 1]) */
} constant_layout;

typedef enum page_kind { PAGE_MINI, PAGE_ZIP, PAGE_CONSTANT, PAGE_BLOB, PAGE_OLD } page_kind;

struct old_encoding;

typedef struct page {
  glv_env *env; /* a reference */
  atomic_size_t refs;
  arena memory;
  size_t memory_bytes; /* about what it holds */
  uint64_t rows;       /* with fixed_size_lists of structs: rows times their sizes */
  uint64_t items;      /* entries that own a value; without lists the rows */
  page_levels levels;
  page_kind kind;
  union {
    mini_layout mini;
    zip_layout zip;
    constant_layout constant;
    struct page *blob;              /* of the descriptors; never PAGE_BLOB */
    const struct old_encoding *old; /* version 2.0 */
  };
} page;

/**
 * Read and check the layout of a page, its chunk table and dictionary.
 * Errors: GLV_E_CORRUPT, GLV_E_UNSUPPORTED, GLV_E_IO, GLV_E_NOMEM; they do not name file and
 * column. Thread class: one thread a decoder.
 */
glv_status page_load(decoder *d, format_version version, const page_place *where, page **ret,
                     glv_error *err);
page *page_ref(page *p);
void page_unref(page *p); /* NULL is fine */
void page_cleanup(page **p);

/**
 * Decode rows of a page into s and advance it.
 *
 * @param w  rows of the page.
 * Errors: as page_load.
 */
glv_status page_read(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err);

/* ---- the layouts; each load fills its member of p, whose rows and arena are set ---- */

glv_status mini_load(decoder *d, format_version version, const page_place *where,
                     const Lance__Encodings21__MiniBlockLayout *m, page *p, glv_error *err);
glv_status mini_read(decoder *d, const mini_layout *m, const page_levels *levels, const wanted *w,
                     sink *s, glv_error *err);

glv_status zip_load(const page_place *where, const Lance__Encodings21__FullZipLayout *m, page *p,
                    glv_error *err);
glv_status zip_read(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err);

glv_status constant_load(decoder *d, format_version version, const page_place *where,
                         const Lance__Encodings21__ConstantLayout *m, page *p, glv_error *err);
glv_status constant_read(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err);

glv_status blob_load(decoder *d, format_version version, const page_place *where,
                     const Lance__Encodings21__BlobLayout *m, page *p, glv_error *err);
glv_status blob_read(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err);

/** An empty page with one reference; NULL = no memory. */
page *page_new(glv_env *env, const page_place *where);
/** Fill p from a layout message, which lives in its arena or outlives it. */
glv_status page_load_layout(decoder *d, format_version version, const page_place *where,
                            const Lance__Encodings21__PageLayout *m, page *p, glv_error *err);

/** Read a dictionary of count values. */
glv_status dictionary_load(decoder *d, arena *a, const codec *c, extent where, uint64_t count,
                           const dictionary **ret, glv_error *err);
/** Find out whether the text of a dictionary whose offsets were checked is UTF-8. */
glv_status dictionary_check_utf8(dictionary *t, glv_error *err);
/** Append the values with these numbers; number `count` stands for null. numbers are checked. */
glv_status dictionary_append(const dictionary *t, const uint32_t *numbers, size_t count, sink *s,
                             glv_error *err);

/** All values of a dictionary, as an array of the type of f. Errors: GLV_E_CORRUPT when they are of
 * another type; GLV_E_NOMEM. */
glv_status dictionary_values(glv_env *env, const dictionary *t, const field *f, array *ret,
                             glv_error *err);

/** page_levels_init from the layers of a message. */
glv_status page_read_layers(page *p, const Lance__Encodings21__RepDefLayer *layers, size_t count,
                            glv_error *err);
/** Check the number of entries that a page claims to have, and keep it. Errors: GLV_E_CORRUPT. */
glv_status page_set_items(page *p, uint64_t items, glv_error *err);

#endif
