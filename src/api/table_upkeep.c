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
