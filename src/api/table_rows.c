/* Changing rows of tables: the exported functions. They check arguments, read options and dispatch.
 */
#include <glaive/table.h>

#include "api/options.h"

enum { MERGE_ACTIONS = GLV_MERGE_UPDATE | GLV_MERGE_INSERT | GLV_MERGE_DELETE };

/* An empty predicate is a slip more often than it means all rows. */
static glv_status check_filter(const char *filter, const char *parameter, glv_error *err) {
  return filter == NULL || filter[0] != '\0'
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT, "parameter '%s' is an empty predicate", parameter);
}

static glv_status check_change(const glv_table *table, const char *filter,
                               const glv_write_options *options, glv_write_options *known,
                               glv_error *err) {
  TRY(check_table(table, err));
  TRY(OPTIONS_READ(options, known, err));
  TRY(require_flags(known->flags, GLV_WRITE_VIEW | SQL_FLAGS, err));
  return check_filter(filter, "filter", err);
}

glv_status glv_table_delete(glv_table *table, const char *filter, const glv_write_options *options,
                            glv_write_result *ret, glv_error *err) {
  glv_write_options known;
  TRY(check_change(table, filter, options, &known, err));
  glv_write_result result = {0};
  TRY(table->ops->table_delete(table, filter, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

glv_status glv_table_update(glv_table *table, glv_pairs assignments, const char *filter,
                            const glv_write_options *options, glv_write_result *ret,
                            glv_error *err) {
  glv_write_options known;
  TRY(check_change(table, filter, options, &known, err));
  TRY(require_pairs(assignments, "assignments", false, err));
  glv_write_result result = {0};
  TRY(table->ops->table_update(table, assignments, filter, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

static glv_status check_condition(const char *condition, const char *parameter, bool is_used,
                                  glv_error *err) {
  TRY(check_filter(condition, parameter, err));
  return condition == NULL || is_used
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT, "'%s' is given, but not the flag that it belongs to",
                    parameter);
}

static glv_status check_merge(const glv_table *table, const glv_merge_options *options,
                              glv_merge_options *known, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(options, "options", err));
  TRY(OPTIONS_READ(options, known, err));
  TRY(require_flags(known->flags, MERGE_ACTIONS | GLV_WRITE_VIEW | SQL_FLAGS, err));
  TRY(check_condition(known->update_if, "update_if", (known->flags & GLV_MERGE_UPDATE) != 0, err));
  TRY(check_condition(known->delete_if, "delete_if", (known->flags & GLV_MERGE_DELETE) != 0, err));
  TRY(known->on.count > 0 ? require_pointer(known->on.items, "on", err) : GLV_OK);
  for (size_t i = 0; i < known->on.count; i++) {
    TRY(require_pointer(known->on.items[i], "on", err));
  }
  return GLV_OK;
}

glv_status glv_table_merge(glv_table *table, struct ArrowArrayStream *data,
                           const glv_merge_options *options, glv_write_result *ret,
                           glv_error *err) {
  TRY(require_pointer(data, "data", err));
  glv_merge_options known;
  const glv_status status = check_merge(table, options, &known, err);
  if (status != GLV_OK) {
    discard_stream(data);
    return status;
  }
  batch_reader reader;
  TRY(import_data(table->handle.env, data, &reader, err));
  glv_write_result result = {0};
  TRY(table->ops->table_merge(table, &reader, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}
