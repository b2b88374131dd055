/**
 * @file maintain.h
 * Commits on a view that change none of its rows, such as a compaction, and what they owe LanceDB:
 * it takes a view with any commit after its stamp for changed, so maintenance of an intact view
 * ends with a stamp (materialized-views 7.3).
 */
#ifndef GLAIVE_VIEW_MAINTAIN_H
#define GLAIVE_VIEW_MAINTAIN_H

#include "base/cancel.h"
#include "table/table.h"

/** *ret = whether t is a view whose stamp speaks for its rows. Errors: those of view_intact. */
glv_status view_is_intact(const table_snapshot *t, bool *ret, glv_error *err);

/**
 * Stamp a view that was intact before its maintenance: one commit that sets `mv.view_version` to
 * its own version and nothing else. When somebody else commits first, their commits are looked at
 * and the stamp is tried again, three times in all; a view that is not intact any more, or a race
 * that is lost, is no failure: the next refresh sees to it.
 *
 * @param t    the version that the maintenance made.
 * @param ret  the latest version that is known then: one reference.
 * Errors: GLV_E_UNKNOWN_OUTCOME, GLV_E_IO and the like. Thread class: T.
 */
glv_status view_stamp_maintained(const table_snapshot *t, cancel_token *cancel,
                                 table_snapshot **ret, glv_error *err);

#endif
