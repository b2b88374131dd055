/**
 * @file page_type.h
 * A column from fuzzer bytes: its field, and values for it.
 */
#ifndef GLAIVE_TESTS_FUZZ_PAGE_TYPE_H
#define GLAIVE_TESTS_FUZZ_PAGE_TYPE_H

#include "arrow/array.h"

/** The bytes of an input that are left; zeros follow them. */
typedef struct stream {
  const uint8_t *at;
  size_t left;
} stream;

static inline unsigned take_byte(stream *s) {
  if (s->left == 0) {
    return 0;
  }
  s->left--;
  return *s->at++;
}
static inline unsigned take_u16(stream *s) {
  const unsigned low = take_byte(s);
  return low | take_byte(s) << 8;
}
/** The next size bytes, or as many as there are. */
static inline str take_bytes(stream *s, size_t size) {
  const str taken = str_slice((const char *)s->at, size < s->left ? size : s->left);
  s->at += taken.size;
  s->left -= taken.size;
  return taken;
}

/**
 * A field named `name`, in an arena. Bytes: flags (bit 0 nullable, bits 1.. an entry of the table
 * of metadata), then the type: its number, for nested types what that kind needs (number of
 * children or items), and the fields of its children. make_page_corpus.py knows the same numbers.
 */
field take_field(arena *a, stream *s, const char *name);

/** Values of a field: bytes that say how nulls, lengths and values are chosen, level by level. */
array take_values(glv_env *env, const field *f, size_t rows, stream *s);

#endif
