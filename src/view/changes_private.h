/**
 * @file changes_private.h
 * The comparisons of fragments and rows, shared by the state diff (changes.c) and the upper bound
 * of it (behind.c).
 */
#ifndef GLAIVE_VIEW_CHANGES_PRIVATE_H
#define GLAIVE_VIEW_CHANGES_PRIVATE_H

#include "table/row_spans.h"
#include "view/inputs.h"

/** Whether a fragment of both versions has the inputs in the same places, under the same row ids.
 */
bool fragment_same_columns(const view_inputs *in, const fragment *old, const fragment *now);

/** What a row of a fragment that was not there at the watermark is. */
enum row_class {
  ROW_MOVED,       /* it has the values that it had */
  ROW_FRESH,       /* nobody had its id at the watermark */
  ROW_FRESH_AGAIN, /* made since, under an id that was in use */
  ROW_TOUCHED,     /* it may have other values */
};

/**
 * Classify the first rows of a span.
 *
 * @param from     the source at the watermark.
 * @param lineage  versions of rows can be trusted, and the fragment has them.
 * @param ret_rest what stands behind these rows; count 0 = nothing.
 */
enum row_class row_span_classify(const table_snapshot *from, const row_span *span, bool lineage,
                                 row_span *ret_rest);

#endif
