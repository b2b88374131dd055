/*
 * FSST decoding. The stored table is spread into one word and one length per code, so that a code
 * costs an unconditional store of 8 bytes and an addition. Code 255 copies the next byte. Whether
 * every code had a symbol is collected in a sign bit and looked at once per value: a code without
 * symbol has length 0 and does no harm until then.
 *
 * Short values are decoded many at a time: where a value ends is hard to predict for the processor,
 * so the loop runs through them and notes how far it came at each byte.
 */
#include <string.h>

#include "base/checked.h"
#include "format/fsst.h"

enum { ESCAPE = 255, FLAG_ON = 1 << 24, HEADER_BYTES = 8 };
#define FSST_MAGIC 0x46535354u

glv_status fsst_table_read(span stored, fsst_table *ret, glv_error *err) {
  if (stored.size != FSST_TABLE_BYTES) {
    return FAIL(err, GLV_E_CORRUPT, "fsst: the symbol table has %zu bytes instead of %d",
                stored.size, FSST_TABLE_BYTES);
  }
  const uint64_t header = load_le64(stored.data);
  if (header >> 32 != FSST_MAGIC) {
    return FAIL(err, GLV_E_CORRUPT, "fsst: the symbol table has no magic number");
  }
  memset(ret, 0, sizeof *ret);
  ret->is_on = (header & FLAG_ON) != 0;
  ret->count = (unsigned)(header & 255);
  const uint8_t *symbols = stored.data + HEADER_BYTES;
  const uint8_t *lengths = symbols + (size_t)FSST_SYMBOL_BYTES * ret->count;
  for (unsigned i = 0; i < ret->count; i++) {
    if (ret->is_on && (lengths[i] < 1 || lengths[i] > FSST_SYMBOL_BYTES)) {
      return FAIL(err, GLV_E_CORRUPT, "fsst: symbol %u has length %u", i, lengths[i]);
    }
    ret->symbols[i] = load_le64(symbols + (size_t)FSST_SYMBOL_BYTES * i);
    ret->lengths[i] = lengths[i];
  }
  return GLV_OK;
}

glv_status fsst_decode(const fsst_table *t, span code, uint8_t *restrict out, size_t *ret_size,
                       glv_error *err) {
  const uint8_t *in = code.data;
  const uint8_t *const end = in + code.size;
  uint8_t *to = out;
  int known = -1; /* stays negative as long as every code is below count */
  while (in < end) {
    const unsigned c = *in++;
    if (c != ESCAPE) {
      known &= (int)c - (int)t->count;
      store_le64(to, t->symbols[c]);
      to += t->lengths[c];
    } else if (in < end) {
      *to++ = *in++;
    } else {
      return FAIL(err, GLV_E_CORRUPT, "fsst: a value ends inside an escape");
    }
  }
  if (known >= 0) {
    return FAIL(err, GLV_E_CORRUPT, "fsst: a code has no symbol");
  }
  *ret_size = (size_t)(to - out);
  return GLV_OK;
}

glv_status fsst_decode_run(const fsst_table *t, span code, uint8_t *restrict out,
                           uint32_t *restrict positions, glv_error *err) {
  const uint8_t *const in = code.data;
  uint32_t at = 0;
  int known = -1;
  size_t i = 0;
  while (i < code.size) {
    const unsigned c = in[i];
    positions[i++] = at;
    if (c != ESCAPE) {
      known &= (int)c - (int)t->count;
      store_le64(out + at, t->symbols[c]);
      at += t->lengths[c];
    } else if (i < code.size) {
      positions[i] = FSST_INSIDE;
      out[at++] = in[i++];
    } else {
      return FAIL(err, GLV_E_CORRUPT, "fsst: a value ends inside an escape");
    }
  }
  positions[code.size] = at;
  return known < 0 ? GLV_OK : FAIL(err, GLV_E_CORRUPT, "fsst: a code has no symbol");
}
