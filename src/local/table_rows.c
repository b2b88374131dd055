/* Changing rows of a table: delete, update, merge. */
#include "expr/json_columns.h"
#include "local/local_private.h"
#include "table/rows.h"

/* What a call shares with the others of this file. */
typedef struct change {
  local_table *table;
  arena memory;
  table_snapshot *latest;
  table_snapshot *made;
  row_result result;
} change;

static void change_dispose(change *c) {
  table_unref(c->latest);
  table_unref(c->made);
  arena_dispose(&c->memory);
}

static glv_status change_begin(change *c, glv_table *table, const char *operation, uint32_t flags,
                               glv_error *err) {
  *c = (change){.table = table_of(table)};
  arena_init(&c->memory, table->handle.env);
  return local_latest_for_write(c->table, operation, flags, &c->latest, err);
}

/* Tells what was done, and moves the handle. */
static void change_end(change *c, glv_write_result *ret) {
  ret->attempts = c->result.attempts;
  ret->version = table_version(c->made);
  ret->rows_inserted = c->result.inserted;
  ret->rows_updated = c->result.updated;
  ret->rows_deleted = c->result.deleted;
  local_table_advance(c->table, c->made);
  c->made = NULL;
}

glv_status local_table_delete(glv_table *table, const char *filter,
                              const glv_write_options *options, glv_write_result *ret,
                              glv_error *err) {
  CLEANUP(change_dispose) change c = {0};
  TRY(change_begin(&c, table, "delete from", options->flags, err));
  const char *predicate = NULL;
  TRY(local_predicate(&c.memory, filter, options->flags, &predicate, err));
  const row_options o = {local_expr_flags(options->flags), options->cancel};
  const str where = str_of(predicate);
  const glv_status status = table_delete(c.latest, where, &o, &c.made, &c.result, err);
  TRY(local_explain(c.latest, status, where, NULL, 0, err));
  change_end(&c, ret);
  return GLV_OK;
}

glv_status local_table_update(glv_table *table, glv_pairs assignments, const char *filter,
                              const glv_write_options *options, glv_write_result *ret,
                              glv_error *err) {
  CLEANUP(change_dispose) change c = {0};
  TRY(change_begin(&c, table, "update", options->flags, err));
  const char *predicate = NULL;
  TRY(local_predicate(&c.memory, filter, options->flags, &predicate, err));
  row_assignment *set = ARENA_ARRAY(&c.memory, row_assignment, assignments.count);
  scan_column *columns = ARENA_ARRAY(&c.memory, scan_column, assignments.count);
  if (set == NULL || columns == NULL) {
    return error_nomem(err, assignments.count * sizeof *set);
  }
  for (size_t i = 0; i < assignments.count; i++) {
    const glv_pair *p = &assignments.items[i];
    set[i] = (row_assignment){str_of(p->name), str_of(p->value)};
    columns[i].expression = set[i].expression;
  }
  const row_options o = {local_expr_flags(options->flags), options->cancel};
  const str where = str_of(predicate);
  const glv_status status =
      table_update(c.latest, set, assignments.count, where, &o, &c.made, &c.result, err);
  TRY(local_explain(c.latest, status, where, columns, assignments.count, err));
  change_end(&c, ret);
  return GLV_OK;
}

static glv_status merge_plan_of(change *c, const glv_merge_options *options, merge_options *ret,
                                glv_error *err) {
  const char *update_if = NULL;
  const char *delete_if = NULL;
  TRY(local_predicate(&c->memory, options->update_if, options->flags, &update_if, err));
  TRY(local_predicate(&c->memory, options->delete_if, options->flags, &delete_if, err));
  str *on = ARENA_ARRAY(&c->memory, str, options->on.count);
  if (on == NULL) {
    return error_nomem(err, options->on.count * sizeof *on);
  }
  for (size_t i = 0; i < options->on.count; i++) {
    on[i] = str_of(options->on.items[i]);
  }
  *ret = (merge_options){.on = on,
                         .on_count = options->on.count,
                         .update_matched = (options->flags & GLV_MERGE_UPDATE) != 0,
                         .update_if = str_of(update_if),
                         .insert_unmatched = (options->flags & GLV_MERGE_INSERT) != 0,
                         .delete_unmatched = (options->flags & GLV_MERGE_DELETE) != 0,
                         .delete_if = str_of(delete_if),
                         .expr_flags = local_expr_flags(options->flags),
                         .cancel = options->cancel};
  return GLV_OK;
}

glv_status local_table_merge(glv_table *table, batch_reader *data, const glv_merge_options *options,
                             glv_write_result *ret, glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader in = *data;
  *data = (batch_reader){0};
  CLEANUP(change_dispose) change c = {0};
  TRY(change_begin(&c, table, "merge insert into", options->flags, err));
  merge_options o;
  TRY(merge_plan_of(&c, options, &o, err));
  TRY(json_reader(table->handle.env, JSON_STORE, &in, err));
  const glv_status status = table_merge(c.latest, &in, &o, &c.made, &c.result, err);
  TRY(local_explain(c.latest, status, o.delete_if, NULL, 0, err));
  change_end(&c, ret);
  return GLV_OK;
}
