/**
 * @file search.h
 * Exact search by vector: every row is compared, the nearest are kept.
 */
#ifndef GLAIVE_SEARCH_SEARCH_H
#define GLAIVE_SEARCH_SEARCH_H

#include "base/buf.h"
#include "expr/sort.h"
#include "search/column.h"
#include "table/scan.h"

#define SEARCH_DISTANCE "_distance" /* float32; a column of every result */
#define SEARCH_QUERY                                                                               \
  "query_index" /* int32: of which query vector; there when there are several                      \
                 */

/** Texts and vectors are borrowed for the call. */
typedef struct search_options {
  str column;           /* size 0 = the only one of that dimension */
  const float *vectors; /* one behind the other */
  size_t vector_count;  /* >= 1; over a column of lists of vectors they are one query */
  size_t dimension;
  bool has_metric;
  enum metric metric;
  const scan_column *columns; /* NULL = all; expressions also see `_distance` */
  size_t column_count;
  str filter;      /* size 0 = none */
  bool postfilter; /* the filter looks at the nearest rows only, and also sees `_distance` */
  unsigned expr_flags;
  uint64_t limit; /* rows per query, those skipped not counted */
  uint64_t offset;
  bool has_lower;
  bool has_upper;
  float lower;          /* distances from here on */
  float upper;          /* and below that */
  bool with_row_id;     /* a last column `_rowid` */
  const sort_by *order; /* NULL = by distance */
  size_t order_count;
  cancel_token *cancel; /* NULL or referenced for the call */
} search_options;

/**
 * Search. Rows without a vector, and those whose distance is not a number, are left out.
 *
 * @param ret  the rows of the first query vector, the nearest first (equal ones by row id), then
 * those of the next: the query's number if there are several, the columns, `_distance` unless it is
 * among them, `_rowid` if asked for. Held in memory.
 * Errors: those of vector_column_find, vector_column_check_metric, query_vector_init, table_scan
 * and its reader; GLV_E_INVALID_INPUT without a limit. Thread class: T.
 */
glv_status search_vectors(const table_snapshot *t, const search_options *o, batch_reader *ret,
                          glv_error *err);

/**
 * Append the steps of a search to a text for people (see scan_explain.h). Errors: as
 * search_vectors. Thread class: T.
 */
glv_status search_explain(const table_snapshot *t, const search_options *o, buf *out,
                          glv_error *err);

#endif
