/* A Restore is computed from the latest version, not from the restored one: the counters and the
 * features of the table go on from there. The commit itself looks after them. */
#include "table/restore.h"

#include "table/commit.h"

glv_status table_restore(const table_snapshot *t, uint64_t version, cancel_token *cancel,
                         table_snapshot **ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  TRY(table_open_version(t, 0, &latest, err));
  if (table_version(latest) == version) {
    *ret = latest;
    latest = NULL;
    return GLV_OK;
  }
  const operation op = {.kind = OPERATION_RESTORE, .restored_version = version};
  const commit_options how = {.cancel = cancel};
  return table_commit(latest, &op, &how, ret, NULL, err);
}
