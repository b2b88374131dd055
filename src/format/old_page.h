/**
 * @file old_page.h
 * Reading rows of the pages of version 2.0. Rows that lie close to each other are read and decoded
 * together, as one run; the values of the rows that are wanted of it go into the sink.
 */
#ifndef GLAIVE_FORMAT_OLD_PAGE_H
#define GLAIVE_FORMAT_OLD_PAGE_H

#include "format/old_encoding.h"

/** Rows [first, first + count) of a page, and which of them are wanted, relative to first. */
typedef struct old_run {
  size_t first;
  size_t count;
  wanted rows;
} old_run;

/** The next run of w from its row `at` on; row_bits: about how much a row takes in the file. */
old_run old_run_next(const wanted *w, size_t at, uint64_t row_bits);

/**
 * Decode rows of a page of values (not of lists) into s and advance
 * it. page_rows: of the page. Errors: as page_read.
 */
glv_status old_page_read(decoder *d, const old_encoding *e, uint64_t page_rows, const wanted *w,
                         sink *s, glv_error *err);

/** Bytes of a buffer, in d->raw unless it was decompressed. They were checked to lie inside. */
glv_status old_bytes(decoder *d, const old_encoding *e, uint64_t offset, size_t size, span *ret,
                     glv_error *err);
/** Values of OLD_FLAT with bits > 1, OLD_PACKED and OLD_STREAM, valid until the next call with d.
 */
glv_status old_values(decoder *d, const old_encoding *e, size_t first, size_t count,
                      const uint8_t **ret, glv_error *err);
/** The same as numbers of 64 bits; encodings of `ends`. */
glv_status old_numbers(decoder *d, const old_encoding *e, size_t first, size_t count, uint64_t *ret,
                       glv_error *err);
/** Bits of OLD_FLAT with one bit a value, from bit 0 on, in `into`; zeros for OLD_NULLS. */
glv_status old_bits(decoder *d, const old_encoding *e, size_t first, size_t count, scratch *into,
                    glv_error *err);

/** The ends of a run of lists or strings: row i is what lies from offsets[i] to offsets[i + 1]. */
typedef struct old_ends {
  uint64_t *offsets; /* in d->numbers; not checked */
  uint16_t *levels;  /* in d->levels: 1 = null */
} old_ends;

/** Read the ends of OLD_TEXT or OLD_LIST. */
glv_status old_ends_read(decoder *d, const old_encoding *e, const old_run *r, old_ends *ret,
                         glv_error *err);
/** Room for them alone. */
glv_status old_ends_reserve(decoder *d, const old_run *r, old_ends *ret, glv_error *err);

/** Decode a run of OLD_TEXT, OLD_EQUAL_TEXT, OLD_FSST; their nulls, too. */
glv_status old_text_read(decoder *d, const old_encoding *e, const old_run *r, sink *s,
                         glv_error *err);

/**
 * Load the values of a dictionary into e->dictionary.
 * values: how they are encoded. ret_bytes: is increased by their size.
 */
glv_status old_dictionary_load(decoder *d, arena *a, const old_encoding *values, old_encoding *e,
                               size_t *ret_bytes, glv_error *err);
/** Decode a run of strings that are stored as numbers (0 is null, others begin at 1), or of a
 * column of a dictionary type, whose values may be null. */
glv_status old_dictionary_read(decoder *d, const old_encoding *e, const old_run *r, sink *s,
                               glv_error *err);

#endif
