/**
 * @file metadata.h
 * Changing the metadata maps of a table (lance-table-format 3.1, 3.2, 17).
 */
#ifndef GLAIVE_TABLE_METADATA_H
#define GLAIVE_TABLE_METADATA_H

#include "table/columns.h"
#include "table/commit.h"

enum metadata_target {
  METADATA_SCHEMA, /* of the schema: what Arrow calls its metadata */
  METADATA_TABLE,  /* of the table, apart from its schema */
  METADATA_CONFIG, /* settings of the table */
  METADATA_FIELD,  /* of one column */
};

/**
 * Change keys of one map.
 *
 * @param path     METADATA_FIELD: the column (table/columns.h).
 * @param update   no key twice; value.data NULL = remove the key.
 * @param ret      the new version, or a further reference to t without anything to change; may be
 *                 NULL.
 * @param ret_result  only the attempts are set; may be NULL.
 * Errors: GLV_E_INVALID_INPUT for a key that is empty or given twice, and for keys that say which
 * columns are key columns when there are such columns already, or with a value that means nothing;
 * GLV_E_COLUMN_NOT_FOUND; those of table_commit: a key that somebody else changed meanwhile is a
 * conflict. Thread class: T.
 */
glv_status table_set_metadata(const table_snapshot *t, enum metadata_target target, str path,
                              const metadata_update *update, cancel_token *cancel,
                              table_snapshot **ret, write_result *ret_result, glv_error *err);

#endif
