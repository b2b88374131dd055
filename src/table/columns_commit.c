/* The commits of changed columns: Merge where there are new ones, Project where there are none. */
#include "table/columns_private.h"

glv_status columns_check_settled(const table_snapshot *t, const char *what, glv_error *err) {
  if (!table_has_index(t, "__lance_mem_wal")) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_UNSUPPORTED,
              "table '%s' has rows in a write-ahead log, which the change would not see: cannot %s",
              table_name(t), what);
}

static glv_status commit(const table_snapshot *t, const operation *op,
                         const column_options *options, table_snapshot **ret,
                         uint32_t *ret_attempts, glv_error *err) {
  const commit_options how = {.cancel = options->cancel};
  return table_commit(t, op, &how, ret, ret_attempts, err);
}

glv_status columns_commit_merge(const table_snapshot *t, const lance_schema *s, staged *files,
                                bool preserves_nullability, const column_options *options,
                                table_snapshot **ret, uint32_t *ret_attempts, glv_error *err) {
  CLEANUP(staged_cleanup) staged *owned = files;
  uint64_t *targets = NULL;
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(t));
  if (files != NULL) {
    targets = ARENA_ARRAY(&a, uint64_t, t->fragment_count);
    if (targets == NULL) {
      return error_nomem(err, t->fragment_count * sizeof *targets);
    }
    for (size_t i = 0; i < t->fragment_count; i++) {
      targets[i] = t->fragments[i].id;
    }
  }
  const operation op = {.kind = OPERATION_MERGE,
                        .schema = s,
                        .preserves_nullability = preserves_nullability,
                        .rows = files,
                        .targets = targets};
  const glv_status status = commit(t, &op, options, ret, ret_attempts, err);
  if (status == GLV_OK || status == GLV_E_UNKNOWN_OUTCOME) {
    staged_free(owned);
    owned = NULL;
  }
  return status;
}

glv_status columns_commit_project(const table_snapshot *t, const lance_schema *s,
                                  bool preserves_nullability, const column_options *options,
                                  table_snapshot **ret, uint32_t *ret_attempts, glv_error *err) {
  const operation op = {
      .kind = OPERATION_PROJECT, .schema = s, .preserves_nullability = preserves_nullability};
  return commit(t, &op, options, ret, ret_attempts, err);
}

glv_status columns_run(const table_snapshot *t, size_t count, table_work work, void *context,
                       const column_options *options, table_snapshot **ret,
                       write_result *ret_result, glv_error *err) {
  uint32_t attempts = 0;
  TRY(table_check_writable(t, err));
  if (count > 0) {
    TRY(table_retry(t, work, context, options->cancel, ret, &attempts, err));
  } else if (ret != NULL) {
    *ret = table_ref(t);
  }
  if (ret_result != NULL) {
    *ret_result = (write_result){.attempts = attempts};
  }
  return GLV_OK;
}
