/**
 * @file decoder.h
 * What one call of file_reader_read carries through the decoders: where bytes come from, working
 * memory, and which rows are wanted.
 */
#ifndef GLAIVE_FORMAT_DECODER_H
#define GLAIVE_FORMAT_DECODER_H

#include "base/env.h"
#include "format/general.h"
#include "format/span.h"

/** Working memory that grows and forgets its content when it does. */
typedef struct scratch {
  uint8_t *data; /* aligned to 16 */
  size_t capacity;
} scratch;

/** One column being read by one thread. */
typedef struct decoder {
  glv_env *env;         /* borrowed */
  void *file;           /* handle of the I/O table */
  scratch raw;          /* bytes of the file */
  scratch plain;        /* a decompressed buffer */
  scratch values;       /* decoded values or dictionary indices */
  scratch numbers;      /* dictionary indices as 32-bit numbers */
  scratch levels;       /* definition levels */
  scratch reps;         /* repetition levels */
  scratch value_levels; /* definition levels of the entries that own a value */
  scratch picks;        /* numbers of values */
  scratch rows;         /* numbers of entries */
  scratch tasks;        /* what to read next */
  general_context general;
} decoder;

void decoder_dispose(decoder *d); /* usable with CLEANUP */

/** Make s hold at least size bytes. Errors: GLV_E_NOMEM. */
glv_status decoder_reserve(decoder *d, scratch *s, size_t size, glv_error *err);
/** Ranges closer than this are read together. */
#define FETCH_GAP ((uint64_t)4 << 10)
/** A read of several ranges ends at about this size: small enough to stay in the cache until it is
 * decoded. */
#define FETCH_BYTES ((uint64_t)128 << 10)

/** Read a range of the file into raw[0..size). Errors: GLV_E_IO, GLV_E_NOMEM. */
glv_status decoder_fetch(decoder *d, uint64_t offset, size_t size, span *ret, glv_error *err);
/** Decompress into plain. */
glv_status decoder_decompress(decoder *d, general_scheme scheme, span in, span *ret,
                              glv_error *err);

/** Rows of a chunk or page that are wanted, ascending. */
typedef struct wanted {
  size_t first; /* rows NULL: the rows [first, first + count) */
  size_t count;
  const uint32_t *rows; /* else row i is rows[i] - base, modulo 2^32 */
  uint32_t base;
} wanted;

static inline size_t wanted_row(const wanted *w, size_t i) {
  return w->rows == NULL ? w->first + i : (uint32_t)(w->rows[i] - w->base);
}
static inline bool wanted_is_all(const wanted *w, size_t rows) {
  return w->rows == NULL && w->first == 0 && w->count == rows;
}
/** How many rows from the i-th on follow each other without a gap; i < count. */
static inline size_t wanted_run(const wanted *w, size_t i) {
  size_t n = w->rows == NULL ? w->count - i : 1;
  while (w->rows != NULL && i + n < w->count && w->rows[i + n] == w->rows[i] + n) {
    n++;
  }
  return n;
}
/** Give up the list when its rows follow each other. */
static inline wanted wanted_simplify(wanted w) {
  if (w.rows != NULL && w.count != 0 && w.rows[w.count - 1] - w.rows[0] == w.count - 1) {
    return (wanted){.first = wanted_row(&w, 0), .count = w.count};
  }
  return w;
}

#endif
