/**
 * @file row_set.h
 * Rows told apart by the values of some columns of any type: the groups of GROUP BY, what
 * DISTINCT lets through, the keys of a merge.
 *
 * Two rows are the same when all their values are: nulls are one value, NaN is one value whatever
 * its bits, -0.0 and 0.0 are two; lists and structs by their parts; dictionaries by what their
 * indices stand for.
 */
#ifndef GLAIVE_EXPR_ROW_SET_H
#define GLAIVE_EXPR_ROW_SET_H

#include "arrow/array.h"

/** Zeroed by row_set_init. Not thread-safe. */
typedef struct row_set {
  glv_env *env;   /* borrowed */
  bool has_words; /* one fixed-width column of at most 64 bits: rows are words, else bytes */
  uint64_t
      *slots; /* open addressing: high half of the hash, then number of the row + 1; 0 = free */
  size_t slot_count; /* 0 or a power of two */
  size_t count;      /* rows in the set */
  uint64_t *words;
  size_t word_capacity;
  size_t null_row; /* the row of the null among words, or SIZE_MAX */
  uint8_t *bytes;  /* encoded rows, one behind the other */
  size_t byte_capacity;
  size_t *ends; /* where row i ends in bytes */
  size_t end_capacity;
  uint64_t *hashes; /* of the bytes of row i */
  size_t hash_capacity;
} row_set;

/** @param columns of the types that row_set_add is given; only the types matter here. */
void row_set_init(row_set *s, glv_env *env, const type *const *columns, size_t count);
void row_set_dispose(row_set *s); /* usable with CLEANUP */

/**
 * Number the rows of some columns, adding those that are not in the set yet.
 *
 * @param columns     count >= 1 arrays of `rows` values each.
 * @param ret_numbers per row: its number, in the order in which rows came into the set.
 * @param ret_new     room for `rows`: the rows that were new, ascending; may be NULL.
 * @param ret_new_count how many; may be NULL.
 * Errors: GLV_E_NOMEM; GLV_E_LIMIT for more than 2^32 - 2 different rows.
 */
glv_status row_set_add(row_set *s, const array *columns, size_t count, size_t rows,
                       uint32_t *ret_numbers, uint32_t *ret_new, size_t *ret_new_count,
                       glv_error *err);

/** The number of a row that is not in the set. */
#define ROW_SET_NONE UINT32_MAX

/** As row_set_add for a set that stays as it is: ROW_SET_NONE for rows that are not in it. Errors:
 * GLV_E_NOMEM. */
glv_status row_set_find(const row_set *s, const array *columns, size_t count, size_t rows,
                        uint32_t *ret_numbers, glv_error *err);

/** Hashes of rows by the same rule: equal rows have equal hashes. Errors: GLV_E_NOMEM. */
glv_status row_hashes(glv_env *env, const array *columns, size_t count, size_t rows,
                      uint64_t *ret_hashes, glv_error *err);

#endif
