/* Deleting rows: a scan of what the predicate reads finds them, the commit writes their offsets. */
#include "table/rows_private.h"
#include "table/table_private.h"
#include "table/write.h"

struct job {
  str filter;
  const row_options *options;
  row_result result; /* of the last attempt */
};

/* Every row of the table. */
static glv_status remove_all(const table_snapshot *t, arena *a, operation *op, glv_error *err) {
  uint64_t *ids = ARENA_ARRAY(a, uint64_t, t->fragment_count);
  if (ids == NULL) {
    return error_nomem(err, t->fragment_count * sizeof *ids);
  }
  for (size_t i = 0; i < t->fragment_count; i++) {
    ids[i] = t->fragments[i].id;
  }
  op->removed = ids;
  op->removed_count = t->fragment_count;
  op->predicate = STR("true");
  return GLV_OK;
}

static glv_status attempt(void *context, const table_snapshot *t, table_snapshot **ret,
                          uint32_t *ret_attempts, glv_error *err) {
  struct job *j = context;
  j->result = (row_result){0};
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(t));
  CLEANUP(row_marks_dispose) row_marks m = {0};
  TRY(row_marks_init(&m, &a, t, err));
  operation op = {.kind = OPERATION_DELETE, .predicate = j->filter};
  if (j->filter.size == 0) {
    TRY(remove_all(t, &a, &op, err));
    j->result.deleted = table_live_rows(t);
  } else {
    scan_options scan = {
        .filter = j->filter, .expr_flags = j->options->expr_flags, .cancel = j->options->cancel};
    TRY(row_marks_scan(&m, &scan, err));
    TRY(row_marks_delete(&m, &a, &op, err));
    j->result.deleted = m.rows;
  }
  if (op.removed_count == 0 && op.updated_count == 0) {
    *ret = table_ref(t);
    return GLV_OK;
  }
  staged *none = NULL;
  return row_commit(t, &op, &none, j->options->cancel, ret, ret_attempts, err);
}

glv_status table_delete(const table_snapshot *t, str filter, const row_options *options,
                        table_snapshot **ret, row_result *ret_result, glv_error *err) {
  static const row_options defaults = {0};
  TRY(table_check_writable(t, err));
  struct job j = {.filter = filter, .options = options != NULL ? options : &defaults};
  uint32_t attempts = 0;
  TRY(table_retry(t, attempt, &j, j.options->cancel, ret, &attempts, err));
  row_done(&j.result, attempts, ret_result);
  return GLV_OK;
}
