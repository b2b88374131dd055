/**
 * @file file_reader_private.h
 * The state of an open data file: what its metadata says, and the pages that were loaded lately.
 */
#ifndef GLAIVE_FORMAT_FILE_READER_PRIVATE_H
#define GLAIVE_FORMAT_FILE_READER_PRIVATE_H

#include "base/thread.h"
#include "format/footer.h"
#include "format/page.h"

/** A page that is kept, and when it was used last. */
typedef struct cached_page {
  page *page;    /* NULL: not loaded */
  uint64_t used; /* value of file_reader.clock */
} cached_page;

/** A column's metadata and its most recent pages. */
typedef struct column_state {
  arena memory; /* of the metadata */
  const page_place *places;
  size_t page_count;
  const uint64_t *starts; /* page_count + 1 first rows */
  const uint64_t *items;  /* lists of 2.0: page_count + 1 first items of the child; else NULL */
  mutex loading;          /* held while a page is being loaded */
  cached_page *cached;    /* page_count of them */
  size_t cached_count;    /* pages that are there */
} column_state;

/**
 * T: `lock` guards columns[], `clock`, `cached_bytes` and the cached pages; the metadata of a
 * column is immutable once the column is in columns[]. Order: column_state.loading, then lock.
 */
struct file_reader {
  glv_env *env; /* a reference */
  atomic_size_t refs;
  char *name;
  void *file;
  uint64_t size;
  footer footer;
  uint64_t rows;
  extent *column_places; /* metadata of each column */
  extent *globals;
  uint8_t *tail; /* the last bytes of the file, for metadata that lies there */
  uint64_t tail_offset;
  mutex lock;
  uint64_t clock;
  column_state **columns;
  size_t cached_bytes;
  arena schema_memory;
  lance_schema *schema; /* NULL until asked for */
};

/** Bytes of the file into out, from the tail when they are there. The range was checked. */
glv_status reader_bytes(file_reader *r, extent where, uint8_t *out, glv_error *err);
/** The metadata of a column, loaded on first use. */
glv_status reader_column(file_reader *r, uint32_t column, column_state **ret, glv_error *err);
/** Parse a column's metadata into c. */
glv_status column_load(file_reader *r, uint32_t column, column_state *c, glv_error *err);
/** A reference to a loaded page. */
glv_status reader_page(file_reader *r, decoder *d, column_state *c, size_t number, page **ret,
                       glv_error *err);
void column_free(file_reader *r, column_state *c); /* NULL is fine */

#endif
