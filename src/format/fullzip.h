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

/** The definition level of an entry that starts at p. */
static inline unsigned zip_level(const zip_layout *z, const uint8_t *p) {
  const unsigned word = z->control == 0 ? 0 : z->control == 1 ? p[0] : load_le16(p);
  return word & ((1u << z->def_bits) - 1);
}

/** Rows [i, i + n) of w that follow each other with at most `gap` rows between two of them and span
 * at most `most` rows. */
size_t zip_run(const wanted *w, size_t i, size_t gap, size_t most);

#endif
