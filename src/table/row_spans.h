/**
 * @file row_spans.h
 * The live rows of a fragment as spans: what asks about ids and versions of many rows looks at runs
 * of them instead of at each row.
 */
#ifndef GLAIVE_TABLE_ROW_SPANS_H
#define GLAIVE_TABLE_ROW_SPANS_H

#include "table/deletion.h"
#include "table/row_ids.h"

/** Live rows that stand next to each other, whose ids ascend by one and whose versions are equal.
 */
typedef struct row_span {
  uint64_t offset; /* of the first in the fragment */
  uint64_t count;
  uint64_t id; /* of the first */
  uint64_t created;
  uint64_t updated;
} row_span;

/** Walks the rows of a fragment in order. Neighbouring spans may continue each other. */
typedef struct row_spans {
  const row_id_sequence *ids;
  row_versions created;
  row_versions updated;
  bitmap *deleted; /* owned; NULL = nothing is deleted */
  uint64_t rows;
  uint64_t next;
  /* the current run of ids: rows [run_row, run_end), the first has run_id */
  uint64_t run_row;
  uint64_t run_end;
  uint64_t run_id;
  /* the current runs of versions end before these rows */
  size_t created_run;
  uint64_t created_end;
  size_t updated_run;
  uint64_t updated_end;
  /* some deleted offsets from `next` on */
  uint32_t dead[64];
  size_t dead_next;
  size_t dead_count;
} row_spans;

/**
 * Start at the first row.
 *
 * @param a  keeps the decoded sequences; must outlive the walk.
 * Errors: as fragment_row_ids and deletion_load. row_spans_close, after a failure too. Thread
 * class: P.
 */
glv_status row_spans_open(const table_snapshot *t, const fragment *f, arena *a, row_spans *ret,
                          glv_error *err);
/** The same, deleted rows included; reads no deletion file. */
glv_status row_spans_open_all(const table_snapshot *t, const fragment *f, arena *a, row_spans *ret,
                              glv_error *err);
/** false = there are no more. */
bool row_spans_next(row_spans *s, row_span *ret);
void row_spans_close(row_spans *s);

#endif
