/**
 * @file bloom.h
 * The key-existence filter of updates: a split-block Bloom filter of fixed size (lance-table-format
 * 13.3).
 */
#ifndef GLAIVE_TABLE_BLOOM_H
#define GLAIVE_TABLE_BLOOM_H

#include "base/env.h"
#include "base/str.h"

#define BLOOM_BYTES 32768
#define BLOOM_BITS 262144
#define BLOOM_ITEMS 8192
#define BLOOM_PROBABILITY 0.00057

typedef struct bloom {
  uint8_t bytes[BLOOM_BYTES]; /* as stored; zero = empty */
} bloom;

/** Record a key given as bytes. */
void bloom_add(bloom *b, str key);
/** Record an integer key: 8 bytes little-endian. */
void bloom_add_u64(bloom *b, uint64_t key);
/** False = certainly never added. */
bool bloom_may_contain_u64(const bloom *b, uint64_t key);
/** The same for the hash of a key, in the BLOOM_BYTES bytes of a filter. */
bool bloom_may_contain_hash(const uint8_t *bytes, uint64_t hash);
static inline str bloom_bytes(const bloom *b) {
  return str_slice((const char *)b->bytes, BLOOM_BYTES);
}

#endif
