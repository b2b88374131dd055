/**
 * @file unicode.h
 * Text by code points. Every text is well-formed UTF-8.
 */
#ifndef GLAIVE_EXPR_UNICODE_H
#define GLAIVE_EXPR_UNICODE_H

#include "base/buf.h"
#include "base/str.h"

/** True iff every byte is below 0x80. */
bool unicode_is_ascii(const void *data, size_t size);
/** Number of code points. */
size_t unicode_count(str text);
/** The code point that begins at *at < text.size; *at moves behind it. */
uint32_t unicode_next(str text, size_t *at);
/** The byte at which code point n begins; text.size when there are not that many. */
size_t unicode_offset(str text, size_t n);
/** Bytes of the encoding of a code point, written to text. */
size_t unicode_encode(uint32_t code_point, char text[4]);

/** Alphabetic or numeric. */
bool unicode_is_alphanumeric(uint32_t code_point);
/** Without White_Space at either end. */
str unicode_trim_space(str text);

/** One character in upper or lower case, at most three, without regard to its neighbours. @return
 * how many. */
size_t unicode_upper_of(uint32_t code_point, uint32_t ret[3]);
size_t unicode_lower_of(uint32_t code_point, uint32_t ret[3]);
/** Append text in full upper or lower case; a sigma that ends a word becomes a final one. Errors:
 * GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status unicode_upper(str text, buf *out, glv_error *err);
glv_status unicode_lower(str text, buf *out, glv_error *err);

/** The case of A-Z changed in size bytes; to and from may be the same. @return whether all bytes
 * are ASCII. */
bool unicode_ascii_upper(char *to, const char *from, size_t size);
bool unicode_ascii_lower(char *to, const char *from, size_t size);

#endif
