/**
 * @file restore.h
 * Bringing back an old version (lance-table-format 16.1).
 */
#ifndef GLAIVE_TABLE_RESTORE_H
#define GLAIVE_TABLE_RESTORE_H

#include "table/table.h"

/**
 * Commit a version with the rows, columns, indexes and metadata of an old one. Numbers of versions,
 * fragments and rows go on counting. What others committed meanwhile is undone too.
 *
 * @param t        any version of the table.
 * @param version  the one to bring back; when it is the latest nothing is committed.
 * @param ret      the latest version afterwards.
 * Errors: GLV_E_VERSION_NOT_FOUND; GLV_E_UNSUPPORTED when it has no stable row ids and the table
 * has them by now, or has features that this release does not write; those of table_commit. Thread
 * class: T.
 */
glv_status table_restore(const table_snapshot *t, uint64_t version, cancel_token *cancel,
                         table_snapshot **ret, glv_error *err);

#endif
