/**
 * @file hash.h
 * Hashing: XXH64 where a file format asks for it, and a map from byte strings to numbers.
 */
#ifndef GLAIVE_BASE_HASH_H
#define GLAIVE_BASE_HASH_H

#include "base/env.h"
#include "base/str.h"

/** XXH64 of data[0..size). */
uint64_t hash_xx64(const void *data, size_t size, uint64_t seed);
/** A fast 64-bit hash for tables in memory; may change between releases. */
uint64_t hash_bytes(const void *data, size_t size);

/**
 * Open-addressing map str -> uint64. Keys are borrowed and must stay valid while they are in the
 * map. Iterate over entries[0..capacity) where `used`. Not thread-safe.
 */
typedef struct map_entry {
  str key;
  uint64_t hash;
  uint64_t value;
  bool used;
} map_entry;

typedef struct map {
  glv_env *env; /* borrowed */
  map_entry *entries;
  size_t capacity; /* 0 or a power of two */
  size_t count;
} map;

void map_init(map *m, glv_env *env);
void map_dispose(map *m); /* usable with CLEANUP */
/** NULL when absent; the address is valid until the next map_put. */
uint64_t *map_get(const map *m, str key);
/** Insert, or find: *ret_value is the slot's address; *ret_is_new tells which (its value is then
 * 0). Errors: GLV_E_NOMEM. */
glv_status map_put(map *m, str key, uint64_t **ret_value, bool *ret_is_new, glv_error *err);

#endif
