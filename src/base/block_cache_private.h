/**
 * @file block_cache_private.h
 * Large blocks that were freed lately, kept for the next request of about their size.
 *
 * Fresh memory costs a page fault for every 4 KiB that is touched, which is more than most kernels
 * need for the same bytes; a scan asks for blocks of the same few sizes again and again. The cache
 * lies under the default allocator of an environment only: a caller's allocator sees every request.
 *
 * What it is worth, in page faults over 5 million rows of four columns on two threads: 15 scans
 * take 3,100 with 16 MiB, 30,000 with 4 MiB, 43,000 to 68,000 without it, and the process peaks at
 * 16, 30 and 25 to 29 MB; `score * 2 + age` over them in memory, 15 times, takes 83,000 with it
 * (all of them of reading the rows) and 357,000 without, in a fifth of the time. Filling a view
 * gains nothing and pays a few MB: its pages are larger than what is kept. Keeping no more than
 * lies between what is in use and its peak saved nothing there and tripled the faults of a scan.
 */
#ifndef GLAIVE_BASE_BLOCK_CACHE_PRIVATE_H
#define GLAIVE_BASE_BLOCK_CACHE_PRIVATE_H

#include <glaive/env.h>

#include "base/thread.h"

/** Blocks of more than BLOCK_CACHE_LEAST and at most BLOCK_CACHE_MOST bytes are kept; four sizes
 * between neighbouring powers of two. */
#define BLOCK_CACHE_LEAST ((size_t)16 << 10)
#define BLOCK_CACHE_MOST ((size_t)4 << 20)
enum { BLOCK_CACHE_SIZES = 32 };

struct cached_block;

typedef struct block_cache {
  glv_allocator below; /* where blocks come from and go to */
  size_t limit;        /* most bytes kept */
  mutex lock;          /* guards what follows; a leaf */
  size_t bytes;
  struct cached_block *of_size[BLOCK_CACHE_SIZES]; /* the one freed last first */
  struct cached_block *newest;
  struct cached_block *oldest;
} block_cache;

void block_cache_init(block_cache *c, const glv_allocator *below, size_t limit);
/** Gives back every kept block. */
void block_cache_dispose(block_cache *c);
/** Gives back every kept block; the cache can be used on. Thread class: T. */
void block_cache_clear(block_cache *c);
/** Bytes kept. Thread class: T. */
size_t block_cache_bytes(block_cache *c);

/** The functions of a glv_allocator whose user is the cache. Thread class: T. */
void *block_cache_alloc(void *cache, size_t size, size_t align);
void *block_cache_resize(void *cache, void *old, size_t old_size, size_t size, size_t align);
void block_cache_free(void *cache, void *block, size_t size);

#endif
