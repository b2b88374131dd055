/**
 * @file arena.h
 * Memory that is released all at once: plans, syntax trees, decoded manifests. Nothing in an arena
 * may need a destructor of its own. Not thread-safe.
 */
#ifndef GLAIVE_BASE_ARENA_H
#define GLAIVE_BASE_ARENA_H

#include "base/env.h"
#include "base/str.h"

struct arena_chunk;

typedef struct arena {
  glv_env *env; /* borrowed: the owner of the arena keeps it */
  struct arena_chunk *chunk;
  size_t used;
  size_t next_size;
} arena;

typedef struct arena_mark {
  struct arena_chunk *chunk;
  size_t used;
} arena_mark;

/** The first memory is taken by the first allocation. */
void arena_init(arena *a, glv_env *env);
/** The same, for arenas of which there are many: begins with 1 KiB instead of 64 KiB. */
void arena_init_small(arena *a, glv_env *env);
/** Releases everything; the arena is then empty and usable again. */
void arena_dispose(arena *a);

/** size bytes aligned to 16, zeroed; NULL = no memory. size 0 gives a valid address. */
void *arena_alloc(arena *a, size_t size);
/** count * width bytes, zeroed; NULL also when that overflows. */
void *arena_calloc(arena *a, size_t count, size_t width);
/** NUL-terminated copy. */
char *arena_strdup(arena *a, str text);
char *arena_printf(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Everything allocated after arena_mark_get is released by arena_reset_to. */
arena_mark arena_mark_get(const arena *a);
void arena_reset_to(arena *a, arena_mark mark);

/** `ARENA_NEW(a, type)`, `ARENA_ARRAY(a, type, count)`: zeroed, typed. */
#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, count) ((type *)arena_calloc((a), (count), sizeof(type)))

#endif
