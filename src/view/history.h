/**
 * @file history.h
 * What the commits between two versions of a source say about its rows: whether ids and versions of
 * rows tell which of them changed (materialized-views 7.4 step 2).
 */
#ifndef GLAIVE_VIEW_HISTORY_H
#define GLAIVE_VIEW_HISTORY_H

#include "view/inputs.h"

typedef enum history_verdict {
  HISTORY_TRUSTED,   /* a row whose versions are old has the values that it had */
  HISTORY_UNTRUSTED, /* rows outside of unchanged fragments may have changed unseen */
  HISTORY_BROKEN,    /* an input was another column for a while, or nobody can tell */
} history_verdict;

/**
 * Judge the commits behind `from` up to `to`.
 *
 * @param in  the inputs, which are the same in both. A `to` that is not newer, an interval of more
 * than 4096 versions and one with versions that are gone are not walked: HISTORY_UNTRUSTED.
 * Errors: GLV_E_IO, GLV_E_NOMEM. Thread class: T.
 */
glv_status source_history_judge(const table_snapshot *from, const table_snapshot *to,
                                const view_inputs *in, history_verdict *ret, glv_error *err);

#endif
