/*
 * Chunks that double from 64 KiB to 1 MiB; a request that does not fit into a chunk of the current
 * size gets one of its own. With GLAIVE_DEBUG_ARENA every item is a chunk of its own, so that a
 * sanitizer sees overruns between items.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/checked.h"

enum { ITEM_ALIGN = 16, SMALL_CHUNK = 1 << 10, FIRST_CHUNK = 64 << 10, LARGEST_CHUNK = 1 << 20 };

struct arena_chunk {
  struct arena_chunk *previous;
  size_t capacity;
  size_t pad[2]; /* keeps data at a multiple of 16 */
  unsigned char data[];
};

void arena_init(arena *a, glv_env *env) { *a = (arena){.env = env, .next_size = FIRST_CHUNK}; }

void arena_init_small(arena *a, glv_env *env) {
  *a = (arena){.env = env, .next_size = SMALL_CHUNK};
}

void arena_dispose(arena *a) {
  arena_reset_to(a, (arena_mark){NULL, 0});
  a->next_size = FIRST_CHUNK;
}

static bool add_chunk(arena *a, size_t need) {
#ifdef GLAIVE_DEBUG_ARENA
  const size_t capacity = need;
#else
  const size_t capacity = size_max(need, a->next_size);
#endif
  size_t size;
  if (!size_add(capacity, sizeof(struct arena_chunk), &size)) {
    return false;
  }
  struct arena_chunk *chunk = mem_alloc(a->env, size);
  if (chunk == NULL) {
    return false;
  }
  chunk->previous = a->chunk;
  chunk->capacity = capacity;
  a->chunk = chunk;
  a->used = 0;
  a->next_size = size_min(a->next_size * 2, LARGEST_CHUNK);
  return true;
}

void *arena_alloc(arena *a, size_t size) {
  if (size > SIZE_MAX - ITEM_ALIGN) {
    return NULL;
  }
  const size_t need = size == 0 ? ITEM_ALIGN : (size_t)align_up(size, ITEM_ALIGN);
  if ((a->chunk == NULL || need > a->chunk->capacity - a->used) && !add_chunk(a, need)) {
    return NULL;
  }
  void *item = a->chunk->data + a->used;
  a->used += need;
  memset(item, 0, need);
  return item;
}

void *arena_calloc(arena *a, size_t count, size_t width) {
  size_t size;
  return size_mul(count, width, &size) ? arena_alloc(a, size) : NULL;
}

char *arena_strdup(arena *a, str text) {
  char *copy = text.size < SIZE_MAX ? arena_alloc(a, text.size + 1) : NULL;
  if (copy != NULL && text.size != 0) {
    memcpy(copy, text.data, text.size);
  }
  return copy;
}

char *arena_printf(arena *a, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = length < 0 ? NULL : arena_alloc(a, (size_t)length + 1);
  if (text != NULL) {
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
  }
  return text;
}

arena_mark arena_mark_get(const arena *a) { return (arena_mark){a->chunk, a->used}; }

void arena_reset_to(arena *a, arena_mark mark) {
  while (a->chunk != mark.chunk) {
    struct arena_chunk *previous = a->chunk->previous;
    mem_free(a->env, a->chunk);
    a->chunk = previous;
  }
  a->used = mark.used;
}
