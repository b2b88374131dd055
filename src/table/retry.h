/**
 * @file retry.h
 * Operations that are computed from a snapshot, and computed again when somebody else's commit
 * took away what they were computed from (lance-table-format 12.1).
 */
#ifndef GLAIVE_TABLE_RETRY_H
#define GLAIVE_TABLE_RETRY_H

#include "base/cancel.h"
#include "table/table.h"

/**
 * Computes an operation from base and commits it.
 *
 * @param ret           the new version; a further reference to base when there was nothing to do.
 * @param ret_attempts  commits tried; 0 when there was nothing to do.
 */
typedef glv_status (*table_work)(void *context, const table_snapshot *base, table_snapshot **ret,
                                 uint32_t *ret_attempts, glv_error *err);

/**
 * Run work on t, and again on the latest version as long as it ends in a conflict that may be
 * retried: LIMIT_RECOMPUTATIONS times more, and for 30 seconds, at most.
 *
 * @param cancel        polled before each run; may be NULL.
 * @param ret           the new version; may be NULL.
 * @param ret_attempts  commits tried in all runs; may be NULL.
 * Errors: those of work and of table_open_version; GLV_E_CONFLICT (may retry) when the limits are
 * reached. Thread class: T.
 */
glv_status table_retry(const table_snapshot *t, table_work work, void *context,
                       cancel_token *cancel, table_snapshot **ret, uint32_t *ret_attempts,
                       glv_error *err);

#endif
