/* The migration is a Merge whose fragments are those of the table with a row id sequence each, and
 * a manifest with flag 2 and the number of ids given, as Lance's own migration makes it. There are
 * no version sequences: rows from before it read as of version 1. It is strict, since ids must be
 * given to exactly the rows that the new version has.
 */
#include "table/migrate.h"

#include "table/commit.h"
#include "table/retry.h"

static glv_status migrate(void *context, const table_snapshot *base, table_snapshot **ret,
                          uint32_t *ret_attempts, glv_error *err) {
  *ret_attempts = 0;
  if (table_has_stable_row_ids(base)) {
    *ret = table_ref(base);
    return GLV_OK;
  }
  const operation op = {.kind = OPERATION_MERGE, .enables_row_ids = true};
  const commit_options how = {.strict = true, .cancel = context};
  return table_commit(base, &op, &how, ret, ret_attempts, err);
}

glv_status table_migrate_row_ids(const table_snapshot *t, cancel_token *cancel,
                                 table_snapshot **ret, glv_error *err) {
  return table_retry(t, migrate, cancel, cancel, ret, NULL, err);
}
