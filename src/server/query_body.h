/**
 * @file query_body.h
 * What a body asks for that queries a table (rest-protocol 8): a scan, or a search by vector.
 */
#ifndef GLAIVE_SERVER_QUERY_BODY_H
#define GLAIVE_SERVER_QUERY_BODY_H

#include <glaive/search.h>

#include "base/json.h"
#include "server/request.h"

typedef struct query_vectors {
  const float *values;
  size_t count; /* 0 = no search by vector */
  size_t dimension;
} query_vectors;

typedef struct query_body {
  query_vectors vectors;
  glv_scan_options scan;
  glv_search_options search; /* when there are vectors */
} query_body;

/**
 * Read a query. How an index is to be searched (nprobes, ef, refine_factor, fast_search, ...) makes
 * no difference to an exact answer.
 *
 * @param ret  lives as long as the request and body.
 * Errors: GLV_E_INVALID_INPUT naming the key; GLV_E_UNSUPPORTED for full-text search.
 */
glv_status query_body_read(request *r, const json *body, query_body *ret, glv_error *err);

#endif
