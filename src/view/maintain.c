/*
 * The stamp of a maintenance is strict, like every commit on a view: version P + 1 with
 * mv.view_version = P + 1, or nothing. A number that is not that of its own version would tell
 * LanceDB nothing.
 */
#include "view/maintain.h"

#include <inttypes.h>
#include <stdio.h>

#include "table/commit.h"
#include "view/intact.h"

enum { TRIES = 3 };

glv_status view_is_intact(const table_snapshot *t, bool *ret, glv_error *err) {
  bool is_view = false;
  table_metadata_get(t, STR(VIEW_KEY_DEFINITION), &is_view);
  *ret = false;
  if (!is_view) {
    return GLV_OK;
  }
  const watermark w = watermark_read(t);
  intact_result result;
  TRY(view_intact(t, &w, false, &result, err));
  *ret = result.state == VIEW_INTACT;
  return GLV_OK;
}

static glv_status commit_stamp(const table_snapshot *t, cancel_token *cancel, table_snapshot **ret,
                               glv_error *err) {
  char number[24];
  snprintf(number, sizeof number, "%" PRIu64, table_version(t) + 1);
  const metadata_change change = {STR(VIEW_KEY_VIEW_VERSION), str_of(number)};
  const operation op = {.kind = OPERATION_UPDATE_CONFIG, .changes = &change, .change_count = 1};
  const commit_options how = {.strict = true, .cancel = cancel};
  return table_commit(t, &op, &how, ret, NULL, err);
}

glv_status view_stamp_maintained(const table_snapshot *t, cancel_token *cancel,
                                 table_snapshot **ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *head = table_ref(t);
  for (int i = 0; i < TRIES; i++) {
    table_snapshot *made = NULL;
    table_snapshot *latest = NULL;
    glv_error report = {0};
    bool is_intact = false;
    TRY(view_is_intact(head, &is_intact, err));
    if (!is_intact) {
      break;
    }
    const glv_status status = commit_stamp(head, cancel, &made, &report);
    if (status == GLV_OK) {
      *ret = made;
      return GLV_OK;
    }
    if (status != GLV_E_CONFLICT) {
      return error_pass(err, &report);
    }
    TRY(table_open_version(head, 0, &latest, err));
    table_unref(head);
    head = latest;
  }
  *ret = head;
  head = NULL;
  return GLV_OK;
}
