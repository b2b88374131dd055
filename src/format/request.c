/*
 * From requested rows to pages, by binary search in the first rows of the pages.
 */
#include "format/request.h"

/* The page that holds a row: the last one that starts at or before it, for pages may be empty. */
static size_t page_of(const column_state *c, uint64_t row) {
  size_t low = 0;
  size_t high = c->page_count - 1;
  while (low < high) {
    const size_t middle = high - (high - low) / 2;
    if (c->starts[middle] <= row) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/* How many of the ascending offsets are below `end`. */
static size_t count_below(const uint32_t *rows, size_t count, uint64_t end) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (rows[middle] < end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

wanted request_part(const column_state *c, const read_request *q, size_t done, size_t *ret_page) {
  const uint64_t row = q->first + (q->rows != NULL ? q->rows[done] : done);
  const size_t number = page_of(c, row);
  const uint64_t start = c->starts[number];
  const uint64_t end = c->starts[number + 1];
  *ret_page = number;
  if (q->rows == NULL) {
    return (wanted){.first = (size_t)(row - start),
                    .count = (size_t)u64_min(end - row, q->count - done)};
  }
  return wanted_simplify(
      (wanted){.rows = q->rows + done,
               .count = count_below(q->rows + done, q->selected - done, end - q->first),
               .base = (uint32_t)(start - q->first)});
}
