/*
 * Coding text with a symbol table: at each position the longest symbol, found by one look at a hash
 * table (three bytes and more) and one at a table of all pairs of bytes.
 */
#include "format/fsst_private.h"

enum { FLAG_ON = 1 << 24 };
#define FSST_MAGIC UINT64_C(0x46535354)

size_t fsst_encode(const fsst_coder *c, str text, const char *readable, uint8_t *out) {
  const char *at = text.data;
  const char *end = at + text.size;
  uint8_t *to = out;
  while (at < end) {
    size_t length;
    const unsigned code = fsst_match(c, fsst_load(at, readable), (size_t)(end - at), &length);
    if (code < 256) {
      *to++ = (uint8_t)code;
    } else {
      *to++ = FSST_ESCAPE;
      *to++ = (uint8_t)*at;
    }
    at += length;
  }
  return (size_t)(to - out);
}

void fsst_store(const fsst_coder *c, uint8_t *ret) {
  memset(ret, 0, FSST_TABLE_BYTES);
  store_le64(ret, FSST_MAGIC << 32 | FLAG_ON | c->count);
  uint8_t *at = ret + 8;
  for (unsigned i = 0; i < c->count; i++, at += FSST_SYMBOL_BYTES) {
    store_le64(at, c->symbols[i]);
  }
  memcpy(at, c->lengths, c->count);
}
