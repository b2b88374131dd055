/**
 * @file search.h
 * Search in tables.
 */
#ifndef GLAIVE_SEARCH_H
#define GLAIVE_SEARCH_H

#include <glaive/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Distances of a vector x to a query q; results are float32. */
enum glv_metric {
  GLV_METRIC_DEFAULT = 0, /**< hamming for columns of uint8, else l2 */
  GLV_METRIC_L2 = 1,      /**< the sum of squared differences, without a root */
  GLV_METRIC_COSINE = 2,  /**< 1 - x.q / (|x| |q|) */
  GLV_METRIC_DOT = 3,     /**< 1 - x.q */
  GLV_METRIC_HAMMING = 4  /**< bits that differ; for columns of uint8 */
};

/** Options of glv_table_search. */
typedef struct glv_search_options {
  uint32_t struct_size;
  uint32_t flags;       /**< GLV_SEARCH_*, GLV_SCAN_LIMIT, GLV_SCAN_ROW_ID and GLV_SQL_* bits */
  const float *vectors; /**< the query vectors, one behind the other */
  size_t vector_count;  /**< how many: at least 1 */
  size_t dimension;     /**< elements of each: at least 1 */
  const char *column;   /**< column of vectors, or a path such as `meta.vector`; NULL = the only one
                           of that dimension */
  int32_t metric;       /**< enum glv_metric */
  float lower;          /**< with GLV_SEARCH_LOWER: only distances from here on */
  float upper;          /**< with GLV_SEARCH_UPPER: only distances below that */
  uint32_t reserved;    /**< 0 */
  glv_pairs columns;    /**< as in glv_scan_options; expressions also see `_distance` */
  const char *filter;   /**< SQL predicate, or NULL */
  uint64_t limit;       /**< rows of each query, with GLV_SCAN_LIMIT; else 10 */
  uint64_t offset;      /**< nearest rows of each query to skip */
  const glv_order *order; /**< what the result is sorted by instead of the distance */
  size_t order_count;
  glv_cancel *cancel; /**< NULL, or what can stop the search */
} glv_search_options;

#define GLV_SEARCH_LOWER 16u /**< `lower` is set */
#define GLV_SEARCH_UPPER 32u /**< `upper` is set */
/** The filter is applied to the nearest rows, of which fewer are left then; it also sees
 * `_distance`. Without it only rows that pass the filter are compared. */
#define GLV_SEARCH_POSTFILTER 64u

/**
 * The rows nearest to query vectors, compared one by one: the answer is exact.
 *
 * A column of vectors is a fixed_size_list of float16, bfloat16, float32, float64, int8 or uint8
 * (bits), or a list of these: then all query vectors together are one query, and the distance of a
 * row is the sum, over the query vectors, of the distance of the nearest of its vectors. Rows
 * without a vector are left out, and those whose distance is not a number (a vector of zeros has no
 * cosine).
 *
 * @param table   the table, in the version it has now.
 * @param options required.
 * @param ret     the rows, nearest first, equal ones in the order of their row ids; after the
 * columns comes `_distance` (float32) unless the columns name it, then `_rowid` if asked for. With
 * several queries the rows of the first come first, and a first column `query_index` (int32) tells
 * which is which. Held in memory; released by the caller.
 * @param err     NULL, or filled on failure. Errors: GLV_E_INVALID_INPUT for a column that does not
 * hold vectors of that dimension, a metric that is not for them, a limit of 0, or when no column is
 * named and not exactly one fits; GLV_E_COLUMN_NOT_FOUND; as glv_table_scan. Thread class: T; the
 * stream S.
 */
GLV_API GLV_CHECKED glv_status glv_table_search(glv_table *table, const glv_search_options *options,
                                                struct ArrowArrayStream *ret, glv_error *err);

/** Options of glv_table_explain: one of the two. */
typedef struct glv_explain_options {
  uint32_t struct_size;
  uint32_t flags;                   /**< GLV_EXPLAIN_RUN */
  const glv_scan_options *scan;     /**< what glv_table_scan would get, or NULL */
  const glv_search_options *search; /**< what glv_table_search would get, or NULL */
} glv_explain_options;

#define GLV_EXPLAIN_RUN 1u /**< do it, and tell how many rows it gave and how long it took */

/**
 * What a scan or a search does, as text for people; its form may change.
 *
 * @param table    the table, in the version it has now.
 * @param options  required; neither scan nor search = a scan of everything.
 * @param ret_text lines of text; glv_buf_dispose. From a server of another make: what it says.
 * @param err      NULL, or filled on failure. Errors: as glv_table_scan and glv_table_search;
 * GLV_E_INVALID_INPUT for both at once. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_table_explain(glv_table *table,
                                                 const glv_explain_options *options,
                                                 glv_buf *ret_text, glv_error *err);

#ifdef __cplusplus
}
#endif
#endif
