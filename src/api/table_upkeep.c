/* Upkeep of tables: tags, restore, compaction, cleanup: the exported functions. They check
 * arguments, read options and dispatch. */
#include <glaive/table.h>

#include "api/options.h"
#include "arrow/cdata.h"

glv_status glv_table_tags(glv_table *table, struct ArrowArrayStream *ret, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(ret, "ret", err));
  batch_reader reader;
  TRY(table->ops->table_tags(table, &reader, err));
  return cdata_export_stream(table->handle.env, &reader, ret, err);
}

glv_status glv_table_tag_set(glv_table *table, const char *tag, uint64_t version,
                             const glv_call_options *options, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(tag, "tag", err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_TAG_MOVE, err));
  return table->ops->table_tag_set(table, tag, version, &known, err);
}

glv_status glv_table_tag_drop(glv_table *table, const char *tag, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(tag, "tag", err));
  return table->ops->table_tag_drop(table, tag, err);
}

glv_status glv_table_compact(glv_table *table, const glv_compact_options *options,
                             glv_compact_result *ret, glv_error *err) {
  TRY(check_table(table, err));
  glv_compact_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, 0, err));
  if (!(known.deletion_threshold >= 0 && known.deletion_threshold <= 1)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "deletion_threshold %g is not between 0 and 1",
                known.deletion_threshold);
  }
  glv_compact_result result = {0};
  TRY(table->ops->table_compact(table, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

glv_status glv_table_restore(glv_table *table, const glv_call_options *options, glv_error *err) {
  TRY(check_table(table, err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_WRITE_VIEW, err));
  return table->ops->table_restore(table, &known, err);
}

glv_status glv_table_migrate(glv_table *table, const glv_call_options *options, glv_error *err) {
  TRY(check_table(table, err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_MIGRATE_STABLE_ROW_IDS, err));
  if (known.flags == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "options say nothing to migrate to");
  }
  return table->ops->table_migrate(table, &known, err);
}

glv_status glv_table_cleanup(glv_table *table, int64_t older_than_ms,
                             const glv_call_options *options, glv_cleanup_result *ret,
                             glv_error *err) {
  static const int64_t default_ms = INT64_C(7) * 24 * 3600 * 1000;
  TRY(check_table(table, err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_CLEANUP_DRY_RUN | GLV_CLEANUP_REFUSE_TAGGED, err));
  glv_cleanup_result result = {0};
  TRY(table->ops->table_cleanup(table, older_than_ms >= 0 ? older_than_ms : default_ms, &known,
                                &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}
