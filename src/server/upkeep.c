/* Options and results of upkeep, between bodies and the library. */
#include "server/upkeep.h"

glv_status upkeep_compact(glv_table *table, const wire_compact *how, glv_cancel *cancel, json **ret,
                          glv_error *err) {
  glv_compact_options options = GLV_OPTIONS(glv_compact_options);
  glv_compact_result done = GLV_OPTIONS(glv_compact_result);
  options.target_rows = how->target_rows;
  options.deletion_threshold = how->deletion_threshold;
  options.cancel = cancel;
  TRY(glv_table_compact(table, &options, &done, err));
  const wire_compact_result result = {.attempts = done.attempts,
                                      .version = done.version,
                                      .fragments_removed = done.fragments_removed,
                                      .fragments_added = done.fragments_added,
                                      .files_removed = done.files_removed,
                                      .files_added = done.files_added,
                                      .rows = done.rows,
                                      .bytes = done.bytes};
  return wire_compact_result_write(&result, ret, err);
}

glv_status upkeep_clean_up(glv_table *table, const wire_cleanup *how, glv_cancel *cancel,
                           json **ret, glv_error *err) {
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  glv_cleanup_result done = GLV_OPTIONS(glv_cleanup_result);
  options.cancel = cancel;
  options.flags = (how->dry_run ? GLV_CLEANUP_DRY_RUN : 0) |
                  (how->refuse_tagged ? GLV_CLEANUP_REFUSE_TAGGED : 0);
  TRY(glv_table_cleanup(table, how->older_than_ms, &options, &done, err));
  const wire_cleanup_result result = {.versions = done.versions,
                                      .data_files = done.data_files,
                                      .deletion_files = done.deletion_files,
                                      .transaction_files = done.transaction_files,
                                      .index_files = done.index_files,
                                      .bytes = done.bytes};
  return wire_cleanup_result_write(&result, ret, err);
}
