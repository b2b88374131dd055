/**
 * @file column.h
 * The column of vectors that a search looks into.
 */
#ifndef GLAIVE_SEARCH_COLUMN_H
#define GLAIVE_SEARCH_COLUMN_H

#include "arrow/type.h"
#include "search/distance.h"

/** A column of vectors: fixed_size_list of numbers, or a list of these (several vectors a row). */
typedef struct vector_column {
  str name;       /* as asked for: a column, or a path into a struct */
  str expression; /* of the path; size 0 = a column of the table */
  enum vector_kind kind;
  size_t dimension;
  bool is_multi;
} vector_column;

/**
 * Find the column for query vectors.
 *
 * @param name       size 0 = the only column of vectors of that dimension.
 * @param dimension  of the query vectors.
 * @param ret        texts live in a or in name and columns.
 * Errors: GLV_E_COLUMN_NOT_FOUND; GLV_E_INVALID_INPUT for a column that does not hold vectors, or
 * of another dimension, or when none is named and not exactly one fits; GLV_E_NOMEM.
 */
glv_status vector_column_find(arena *a, const schema *columns, str name, size_t dimension,
                              vector_column *ret, glv_error *err);

/** The metric for a column when the caller names none. */
enum metric vector_column_metric(const vector_column *c);
/** Errors: GLV_E_INVALID_INPUT when the metric is not for the elements of the column. */
glv_status vector_column_check_metric(const vector_column *c, enum metric metric, glv_error *err);

#endif
