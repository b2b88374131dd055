/**
 * @file migrate.h
 * Stable row ids for a table that was made without them.
 */
#ifndef GLAIVE_TABLE_MIGRATE_H
#define GLAIVE_TABLE_MIGRATE_H

#include "table/table.h"

/**
 * Give every row a stable row id; on top of what others commit meanwhile. A table that has them
 * already is fine: nothing is committed.
 *
 * @param ret  the latest version afterwards.
 * Errors: GLV_E_UNSUPPORTED when the table has indexes: they name rows by their addresses, and must
 * be dropped first and built again afterwards; those of table_retry. Thread class: T.
 */
glv_status table_migrate_row_ids(const table_snapshot *t, cancel_token *cancel,
                                 table_snapshot **ret, glv_error *err);

#endif
