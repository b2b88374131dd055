/**
 * @file bitmap.h
 * Sets of 32-bit numbers in the portable Roaring form: deletion files, fragment sets. Bytes from
 * outside are always validated. The only file that sees CRoaring is bitmap.c.
 */
#ifndef GLAIVE_BASE_BITMAP_H
#define GLAIVE_BASE_BITMAP_H

#include "base/buf.h"
#include "base/env.h"

typedef struct bitmap bitmap;

/** NULL = no memory. */
bitmap *bitmap_new(void);
void bitmap_free(bitmap *b); /* NULL is fine */
void bitmap_cleanup(bitmap **b);
bitmap *bitmap_copy(const bitmap *b);
/** Errors: GLV_E_CORRUPT for anything that is not exactly one valid bitmap; GLV_E_NOMEM. */
glv_status bitmap_read(const void *data, size_t size, bitmap **ret, glv_error *err);
/** Append the portable form; run_optimize packs runs first, as Lance does for fragment sets. */
glv_status bitmap_write(bitmap *b, bool run_optimize, buf *out, glv_error *err);

void bitmap_add(bitmap *b, uint32_t value);
void bitmap_add_many(bitmap *b, const uint32_t *values, size_t count);
void bitmap_add_range(bitmap *b, uint64_t first, uint64_t end); /* [first, end), end <= 2^32 */
bool bitmap_contains(const bitmap *b, uint32_t value);
uint64_t bitmap_count(const bitmap *b);
/** Values in [first, end). */
uint64_t bitmap_count_range(const bitmap *b, uint64_t first, uint64_t end);
bool bitmap_equal(const bitmap *a, const bitmap *b);
void bitmap_or(bitmap *into, const bitmap *other);
void bitmap_and(bitmap *into, const bitmap *other);
void bitmap_andnot(bitmap *into, const bitmap *other);
/** The value that has `rank` smaller ones in the set; false when there is none. */
bool bitmap_select(const bitmap *b, uint64_t rank, uint32_t *ret);
/** Largest value; the set must not be empty. */
uint32_t bitmap_max(const bitmap *b);
/**
 * The values in [first, end) in ascending order, at most `room` of them, into values.
 * @return how many were written; fewer than room means there are no more.
 */
size_t bitmap_values(const bitmap *b, uint64_t first, uint64_t end, uint32_t *values, size_t room);

#endif
