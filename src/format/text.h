/**
 * @file text.h
 * Strings as they lie in chunks and dictionaries: offsets of 32 or 64 bits into bytes
 * (lance-file-format sections 8.1 and 8.2, Variable).
 */
#ifndef GLAIVE_FORMAT_TEXT_H
#define GLAIVE_FORMAT_TEXT_H

#include <stdbool.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/span.h"

/** count values; value i is the bytes [offset i, offset i + 1) of bytes. */
typedef struct text_view {
  const uint8_t *offsets; /* count + 1 of them, aligned to their width */
  unsigned offset_width;  /* 4 or 8 */
  size_t count;
  span bytes;
  size_t least; /* no value starts before it */
} text_view;

static inline uint64_t text_offset(const text_view *v, size_t i) {
  return v->offset_width == 4 ? load_le32(v->offsets + 4 * i) : load_le64(v->offsets + 8 * i);
}

/** The values of a mini-block buffer. Errors (of all): GLV_E_CORRUPT, "binary mini-block: ...". */
glv_status text_of_chunk(span in, unsigned offset_bits, size_t count, text_view *ret,
                         glv_error *err);
/** The values of a block. */
glv_status text_of_block(span in, size_t count, text_view *ret, glv_error *err);

/** Check the offsets of the values [first, first + count). */
glv_status text_check(const text_view *v, size_t first, size_t count, glv_error *err);

/** Value i. */
static inline glv_status text_value(const text_view *v, size_t i, span *ret, glv_error *err) {
  const uint64_t start = text_offset(v, i);
  const uint64_t end = text_offset(v, i + 1);
  if (start < v->least || start > end || end > v->bytes.size) {
    TRY(text_check(v, i, 1, err)); /* says what is wrong */
  }
  *ret = span_of(v->bytes.data + start, (size_t)(end - start));
  return GLV_OK;
}

#endif
