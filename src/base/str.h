/**
 * @file str.h
 * Borrowed text: a pointer and a length, not NUL-terminated, never owned.
 */
#ifndef GLAIVE_BASE_STR_H
#define GLAIVE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct str {
  const char *data; /* may be NULL when size is 0 */
  size_t size;
} str;

/** A str of a string literal, and the two arguments for "%.*s". */
#define STR(literal) ((str){(literal), sizeof(literal) - 1})
#define STR_ARG(s) (int)(s).size, ((s).data != NULL ? (s).data : "")

static inline str str_of(const char *text) { return (str){text, text != NULL ? strlen(text) : 0}; }
static inline str str_slice(const char *data, size_t size) { return (str){data, size}; }
static inline bool str_equal(str a, str b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool str_is(str a, const char *text) { return str_equal(a, str_of(text)); }

/** Order of unsigned bytes; a proper prefix is less. @return < 0, 0, > 0. */
int str_compare(str a, str b);
/** Equal but for the case of A-Z. */
bool str_equal_ascii_case(str a, str b);
bool str_starts_with(str s, str prefix);
bool str_ends_with(str s, str suffix);

/** Decimal digits only, no sign, at least one; false when text is anything else or the number does
 * not fit. */
bool str_to_u64(str text, uint64_t *ret);

/** True iff text is well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). */
bool str_is_utf8(str text);

#endif
