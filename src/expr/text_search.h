/**
 * @file text_search.h
 * Searching all texts of a column at once.
 */
#ifndef GLAIVE_EXPR_TEXT_SEARCH_H
#define GLAIVE_EXPR_TEXT_SEARCH_H

#include "arrow/array.h"

/**
 * Which texts contain a word, as bits. The bytes of all texts lie one behind the other and are
 * searched in one go: many texts are short, so that looking into each would be mostly beginning and
 * ending.
 *
 * @param a      strings or binaries, at least one; null ones may hold anything.
 * @param word   at least one byte.
 * @param words  room for a->length bits in words of 64; the bits behind are 0.
 */
void text_rows_with(const array *a, str word, uint64_t *words);

/** Which texts hold each of `count` bytes, anywhere; for bytes that are frequent. As above. */
void text_rows_with_bytes(const array *a, const char *bytes, size_t count, uint64_t *words);
/** Which texts end with a byte. As above. */
void text_rows_ending(const array *a, char byte, uint64_t *words);

#endif
