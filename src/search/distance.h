/**
 * @file distance.h
 * Distances of vectors to a query vector, as LanceDB defines them (search-indexes 1.3).
 *
 * Sums are made in 16 lanes of a fixed order and then in a fixed tree, so that a distance is the
 * same on every processor and for every cut of the rows. Vectors of 16-bit floats and of int8 are
 * widened to float; those of double are computed in double. The result is a float.
 */
#ifndef GLAIVE_SEARCH_DISTANCE_H
#define GLAIVE_SEARCH_DISTANCE_H

#include "base/arena.h"

enum metric {
  METRIC_L2,      /* the sum of squared differences, without a root */
  METRIC_COSINE,  /* 1 - x.q / (|x| |q|); NaN when one of the two has no length */
  METRIC_DOT,     /* 1 - x.q */
  METRIC_HAMMING, /* bits that differ */
};

/** As LanceDB names them. */
const char *metric_name(enum metric metric);

/** Elements of the vectors of a column. */
enum vector_kind {
  VECTOR_FLOAT16,
  VECTOR_BFLOAT16,
  VECTOR_FLOAT32,
  VECTOR_FLOAT64,
  VECTOR_INT8,
  VECTOR_UINT8, /* bits; for METRIC_HAMMING only, and the other metrics are not for it */
};

/** A query vector, ready to be compared with vectors of one kind. Immutable. */
typedef struct query_vector {
  enum metric metric;
  enum vector_kind kind;
  size_t dimension;
  const float *floats;
  const double *doubles; /* VECTOR_FLOAT64 */
  const uint8_t *bytes;  /* VECTOR_UINT8 */
  double length;         /* METRIC_COSINE */
  float *widened;        /* room for one vector */
} query_vector;

/** Bytes of one element. */
size_t vector_element_bytes(enum vector_kind kind);

/**
 * @param values  dimension elements; borrowed as long as ret is used.
 * @param ret     lives in a. Errors: GLV_E_INVALID_INPUT for VECTOR_UINT8 and a value that is no
 * whole number from 0 to 255; GLV_E_NOMEM.
 */
glv_status query_vector_init(arena *a, enum metric metric, enum vector_kind kind,
                             const float *values, size_t dimension, query_vector *ret,
                             glv_error *err);

/** Distances of count vectors that lie one behind the other. Not at once in several threads with
 * one query. */
void query_vector_distances(const query_vector *q, const void *vectors, size_t count, float *ret);

#endif
