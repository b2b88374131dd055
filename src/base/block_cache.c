/*
 * A kept block holds the links of its lists in its own first bytes: one list of blocks of its size,
 * from which requests are served, and one of all blocks by age, from which blocks are given back
 * when the cache is full. The size that a block was made with is rounded up to the next size of the
 * list, so that requests of about the same size share blocks; pages behind the wanted bytes are not
 * touched and cost nothing.
 *
 * To a sanitizer the rest of a kept block is poisoned: use after free is found as ever.
 */
#include <string.h>

#include "base/block_cache_private.h"
#include "base/checked.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define POISON_BLOCKS
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined POISON_BLOCKS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

enum { BLOCK_ALIGN = 64, LEAST_SHIFT = 14, STEPS = 4 };

struct cached_block {
  struct cached_block *next; /* of the same size */
  struct cached_block *previous;
  struct cached_block *newer;
  struct cached_block *older;
  unsigned number; /* of its size */
};

void block_cache_init(block_cache *c, const glv_allocator *below, size_t limit) {
  *c = (block_cache){.below = *below, .limit = limit};
  mutex_init(&c->lock);
}

void block_cache_dispose(block_cache *c) {
  block_cache_clear(c);
  mutex_dispose(&c->lock);
}

size_t block_cache_bytes(block_cache *c) {
  mutex_lock(&c->lock);
  const size_t bytes = c->bytes;
  mutex_unlock(&c->lock);
  return bytes;
}

/* ---- sizes ---- */

static bool is_kept_size(size_t size) {
  return size > BLOCK_CACHE_LEAST && size <= BLOCK_CACHE_MOST;
}

/* Number of the smallest list size that holds `size`, which is a kept size. */
static unsigned size_number(size_t size) {
  const unsigned shift = 63 - (unsigned)__builtin_clzll(size - 1); /* 2^shift < size */
  const size_t step = (size_t)1 << (shift - 2);
  const unsigned steps = (unsigned)((size + step - 1) / step); /* STEPS + 1 .. 2 * STEPS */
  return (shift - LEAST_SHIFT) * STEPS + steps - STEPS - 1;
}

static size_t size_of_number(unsigned number) {
  const size_t step = (size_t)1 << (number / STEPS + LEAST_SHIFT - 2);
  return step * (number % STEPS + STEPS + 1);
}

/* ---- lists; the lock is held ---- */

static void link_block(block_cache *c, struct cached_block *b) {
  b->previous = NULL;
  b->next = c->of_size[b->number];
  if (b->next != NULL) {
    b->next->previous = b;
  }
  c->of_size[b->number] = b;
  b->newer = NULL;
  b->older = c->newest;
  if (b->older != NULL) {
    b->older->newer = b;
  } else {
    c->oldest = b;
  }
  c->newest = b;
  c->bytes += size_of_number(b->number);
}

static void unlink_block(block_cache *c, struct cached_block *b) {
  if (b->previous != NULL) {
    b->previous->next = b->next;
  } else {
    c->of_size[b->number] = b->next;
  }
  if (b->next != NULL) {
    b->next->previous = b->previous;
  }
  if (b->newer != NULL) {
    b->newer->older = b->older;
  } else {
    c->newest = b->older;
  }
  if (b->older != NULL) {
    b->older->newer = b->newer;
  } else {
    c->oldest = b->newer;
  }
  c->bytes -= size_of_number(b->number);
}

/* ---- blocks ---- */

static void poison(struct cached_block *b) {
  ASAN_POISON_MEMORY_REGION((char *)b + sizeof *b, size_of_number(b->number) - sizeof *b);
}

/* b, which is in no list any more, goes to where it came from. */
static void give_back(block_cache *c, struct cached_block *b) {
  const size_t size = size_of_number(b->number);
  ASAN_UNPOISON_MEMORY_REGION(b, size);
  c->below.free(c->below.user, b, size);
}

/* Takes the oldest block out while more than `limit` bytes are kept; NULL: there is none. */
static struct cached_block *take_oldest(block_cache *c, size_t limit) {
  mutex_lock(&c->lock);
  struct cached_block *b = c->bytes > limit ? c->oldest : NULL;
  if (b != NULL) {
    unlink_block(c, b);
  }
  mutex_unlock(&c->lock);
  return b;
}

static void shrink(block_cache *c, size_t limit) {
  for (struct cached_block *b = take_oldest(c, limit); b != NULL; b = take_oldest(c, limit)) {
    give_back(c, b);
  }
}

void block_cache_clear(block_cache *c) { shrink(c, 0); }

void *block_cache_alloc(void *cache, size_t size, size_t align) {
  block_cache *c = cache;
  if (!is_kept_size(size) || align > BLOCK_ALIGN) {
    return c->below.alloc(c->below.user, size, align);
  }
  const unsigned number = size_number(size);
  const size_t whole = size_of_number(number);
  mutex_lock(&c->lock);
  struct cached_block *b = c->of_size[number];
  if (b != NULL) {
    unlink_block(c, b);
  }
  mutex_unlock(&c->lock);
  if (b == NULL) {
    return c->below.alloc(c->below.user, whole, BLOCK_ALIGN);
  }
  ASAN_UNPOISON_MEMORY_REGION(b, size);
  return b;
}

void block_cache_free(void *cache, void *block, size_t size) {
  block_cache *c = cache;
  if (!is_kept_size(size)) {
    c->below.free(c->below.user, block, size);
    return;
  }
  struct cached_block *b = block;
  b->number = size_number(size);
  poison(b);
  mutex_lock(&c->lock);
  link_block(c, b);
  const bool is_full = c->bytes > c->limit;
  mutex_unlock(&c->lock);
  if (is_full) {
    shrink(c, c->limit);
  }
}

void *block_cache_resize(void *cache, void *old, size_t old_size, size_t size, size_t align) {
  block_cache *c = cache;
  const bool was_kept = is_kept_size(old_size);
  if (!was_kept && !is_kept_size(size)) {
    return c->below.resize(c->below.user, old, old_size, size, align);
  }
  if (was_kept && is_kept_size(size) && size_number(old_size) == size_number(size)) {
    ASAN_UNPOISON_MEMORY_REGION(old, size);
    return old;
  }
  void *block = block_cache_alloc(c, size, align);
  if (block != NULL) {
    memcpy(block, old, size_min(old_size, size));
    block_cache_free(c, old, old_size);
  }
  return block;
}
