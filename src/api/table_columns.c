/* Columns and metadata of tables: the exported functions. They check arguments, read options and
 * dispatch. */
#include <glaive/table.h>

#include "api/options.h"
#include "arrow/cdata.h"

static glv_status check(const glv_table *table, const glv_write_options *options, uint32_t allowed,
                        glv_write_options *known, glv_error *err) {
  TRY(check_table(table, err));
  TRY(OPTIONS_READ(options, known, err));
  return require_flags(known->flags, GLV_WRITE_VIEW | allowed, err);
}

glv_status glv_table_add_columns(glv_table *table, glv_pairs columns,
                                 const glv_write_options *options, glv_write_result *ret,
                                 glv_error *err) {
  glv_write_options known;
  TRY(check(table, options, SQL_FLAGS, &known, err));
  TRY(require_pairs(columns, "columns", false, err));
  glv_write_result result = {0};
  TRY(table->ops->table_add_columns(table, columns, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

glv_status glv_table_add_null_columns(glv_table *table, const struct ArrowSchema *columns,
                                      const glv_write_options *options, glv_write_result *ret,
                                      glv_error *err) {
  glv_write_options known;
  TRY(check(table, options, 0, &known, err));
  TRY(require_pointer(columns, "columns", err));
  CLEANUP(schema_cleanup) schema *s = NULL;
  TRY(cdata_import_schema(table->handle.env, columns, &s, err));
  glv_write_result result = {0};
  TRY(table->ops->table_add_null_columns(table, s, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

glv_status glv_table_alter_columns(glv_table *table, const char *changes_json,
                                   const glv_write_options *options, glv_write_result *ret,
                                   glv_error *err) {
  glv_write_options known;
  TRY(check(table, options, 0, &known, err));
  TRY(require_pointer(changes_json, "changes_json", err));
  glv_write_result result = {0};
  TRY(table->ops->table_alter_columns(table, changes_json, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

glv_status glv_table_drop_columns(glv_table *table, glv_strs columns,
                                  const glv_write_options *options, glv_write_result *ret,
                                  glv_error *err) {
  glv_write_options known;
  TRY(check(table, options, 0, &known, err));
  TRY(require_strings(columns, "columns", err));
  glv_write_result result = {0};
  TRY(table->ops->table_drop_columns(table, columns, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

glv_status glv_table_set_metadata(glv_table *table, glv_pairs items,
                                  const glv_metadata_options *options, glv_write_result *ret,
                                  glv_error *err) {
  glv_metadata_options known;
  TRY(check_table(table, err));
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_METADATA_REPLACE, err));
  TRY(require_pairs(items, "items", true, err));
  if (known.target < GLV_METADATA_SCHEMA || known.target > GLV_METADATA_FIELD) {
    return FAIL(err, GLV_E_INVALID_INPUT, "target %d is not one of enum glv_metadata_target",
                (int)known.target);
  }
  if (known.target == GLV_METADATA_FIELD) {
    TRY(require_pointer(known.column, "column", err));
  }
  glv_write_result result = {0};
  TRY(table->ops->table_set_metadata(table, items, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}
