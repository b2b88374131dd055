/* Linear probing, at most half full. xxHash is used header-only from the system's libxxhash-dev. */
#include "base/hash.h"

#ifndef __clang_analyzer__ /* which need not look into it */
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

enum { SMALLEST_MAP = 16 };

uint64_t hash_xx64(const void *data, size_t size, uint64_t seed) { return XXH64(data, size, seed); }

uint64_t hash_bytes(const void *data, size_t size) { return XXH3_64bits(data, size); }

void map_init(map *m, glv_env *env) { *m = (map){.env = env}; }

void map_dispose(map *m) {
  mem_free(m->env, m->entries);
  m->entries = NULL;
  m->capacity = m->count = 0;
}

/* The entry of key, or the free one where it belongs. */
static map_entry *find(const map *m, str key, uint64_t hash) {
  size_t i = (size_t)hash & (m->capacity - 1);
  while (m->entries[i].used && (m->entries[i].hash != hash || !str_equal(m->entries[i].key, key))) {
    i = (i + 1) & (m->capacity - 1);
  }
  return &m->entries[i];
}

static glv_status grow(map *m, glv_error *err) {
  map larger = {.env = m->env,
                .capacity = m->capacity == 0 ? SMALLEST_MAP : m->capacity * 2,
                .count = m->count};
  larger.entries = mem_calloc(m->env, larger.capacity, sizeof(map_entry));
  if (larger.entries == NULL) {
    return error_nomem(err, larger.capacity * sizeof(map_entry));
  }
  for (size_t i = 0; i < m->capacity; i++) {
    if (m->entries[i].used) {
      *find(&larger, m->entries[i].key, m->entries[i].hash) = m->entries[i];
    }
  }
  mem_free(m->env, m->entries);
  *m = larger;
  return GLV_OK;
}

uint64_t *map_get(const map *m, str key) {
  if (m->count == 0) {
    return NULL;
  }
  map_entry *entry = find(m, key, hash_bytes(key.data, key.size));
  return entry->used ? &entry->value : NULL;
}

glv_status map_put(map *m, str key, uint64_t **ret_value, bool *ret_is_new, glv_error *err) {
  if (m->count * 2 >= m->capacity) {
    TRY(grow(m, err));
  }
  const uint64_t hash = hash_bytes(key.data, key.size);
  map_entry *entry = find(m, key, hash);
  const bool is_new = !entry->used;
  if (is_new) {
    *entry = (map_entry){.key = key, .hash = hash, .used = true};
    m->count++;
  }
  *ret_value = &entry->value;
  if (ret_is_new != NULL) {
    *ret_is_new = is_new;
  }
  return GLV_OK;
}
