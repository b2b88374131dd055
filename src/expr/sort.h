/**
 * @file sort.h
 * Sorting row numbers by columns: ORDER BY of queries and within aggregates.
 */
#ifndef GLAIVE_EXPR_SORT_H
#define GLAIVE_EXPR_SORT_H

#include "arrow/array.h"

/** A column to sort by. */
typedef struct sort_by {
  str name;
  bool descending;
  bool nulls_first;
} sort_by;

typedef struct sort_key {
  const array *values;
  bool descending;
  bool nulls_first;
} sort_key;

/** Order of two rows by the keys; 0 = they are equal. */
int sort_compare(const sort_key *keys, size_t count, size_t i, size_t j);

/**
 * Sort rows; those that are equal keep their order.
 *
 * @param rows  n row numbers of the keys' columns.
 * @param spare room for n.
 */
void sort_rows(const sort_key *keys, size_t count, uint32_t *rows, uint32_t *spare, size_t n);

#endif
