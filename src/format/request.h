/**
 * @file request.h
 * Which rows of a column a read wants, and how they fall into its pages.
 */
#ifndef GLAIVE_FORMAT_REQUEST_H
#define GLAIVE_FORMAT_REQUEST_H

#include "format/file_reader_private.h"

/** count rows from first on, or those at ascending offsets relative to first. */
typedef struct read_request {
  uint64_t first;
  uint64_t count;
  const uint32_t *rows; /* NULL = all */
  size_t selected;
} read_request;

/** Rows of the result; they fit into memory sizes once the request was checked. */
static inline size_t request_rows(const read_request *q) {
  return q->rows != NULL ? q->selected : (size_t)q->count;
}

/** The part of a request, from its `done`-th row on, that lies in the page of its next row;
 * *ret_page is the number of the page. */
wanted request_part(const column_state *c, const read_request *q, size_t done, size_t *ret_page);

#endif
