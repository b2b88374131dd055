/**
 * @file fsst_private.h
 * Making FSST symbol tables and coding text with them (lance-file-format sections 8.5 and 11.5);
 * decoding is in fsst.h.
 */
#ifndef GLAIVE_FORMAT_FSST_PRIVATE_H
#define GLAIVE_FORMAT_FSST_PRIVATE_H

#include "base/checked.h"
#include "base/env.h"
#include "base/str.h"
#include "format/fsst.h"

enum { FSST_MAX_SYMBOLS = 255, FSST_ESCAPE = 255, FSST_HASH_SLOTS = 2048 };

/** A symbol of three bytes or more, found by a hash of its first three; of symbols with the same
 * hash only the best is in the table. */
typedef struct fsst_slot {
  uint64_t value;
  uint64_t mask;   /* of the bytes of value */
  uint32_t length; /* more than any text has: empty */
  uint32_t code;
} fsst_slot;

/**
 * Symbols, arranged for finding the longest one that text begins with.
 *
 * pairs and singles: code in the lower 9 bits, length above; a code of 256 + byte is an escape.
 */
typedef struct fsst_coder {
  unsigned count;
  uint64_t symbols[FSST_MAX_SYMBOLS];
  uint8_t lengths[FSST_MAX_SYMBOLS];
  uint16_t singles[256];
  uint16_t pairs[65536]; /* of two bytes, or the single of the first */
  fsst_slot slots[FSST_HASH_SLOTS];
} fsst_coder;

/**
 * Find symbols for text.
 *
 * @param values  sampled values, together at most FSST_SAMPLE_BYTES.
 * @param ret     made here, released with mem_free.
 * @param ret_coded  bytes of the sample when it is coded.
 * Errors: GLV_E_NOMEM.
 */
glv_status fsst_train(glv_env *env, const str *values, size_t count, fsst_coder **ret,
                      uint64_t *ret_coded, glv_error *err);
enum { FSST_SAMPLE_BYTES = 16384 };

/**
 * Code one value.
 *
 * @param readable  end of the memory that may be read behind the text; at least its own end.
 * @param out       room for 2 * text.size bytes.
 * @return number of bytes written.
 */
size_t fsst_encode(const fsst_coder *c, str text, const char *readable, uint8_t *out);

/** The stored form: FSST_TABLE_BYTES. */
void fsst_store(const fsst_coder *c, uint8_t *ret);

/* ---- what coding and training share ---- */

static inline unsigned fsst_hash(uint64_t word) {
  return (unsigned)((word & 0xFFFFFF) * UINT64_C(0x9E3779B97F4A7C15) >> 53) & (FSST_HASH_SLOTS - 1);
}

static inline uint64_t fsst_load(const char *at, const char *readable) {
  if (readable - at >= 8) {
    return load_le64(at);
  }
  uint64_t word = 0;
  memcpy(&word, at, (size_t)(readable - at));
  return word;
}

/** The symbol that `left` bytes of text, the first 8 of which are in word, begin with.
 * @return its code, or 256 + byte; *ret_length: its bytes. */
static inline unsigned fsst_match(const fsst_coder *c, uint64_t word, size_t left,
                                  size_t *ret_length) {
  const fsst_slot *s = &c->slots[fsst_hash(word)];
  if (s->length <= left && ((word ^ s->value) & s->mask) == 0) {
    *ret_length = s->length;
    return s->code;
  }
  const unsigned entry = left >= 2 ? c->pairs[word & 0xFFFF] : c->singles[word & 0xFF];
  *ret_length = entry >> 9;
  return entry & 511;
}

#endif
