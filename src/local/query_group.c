/*
 * Grouped queries: a scan of the columns that keys and aggregates read, taken in whole by a run of
 * the group plan when the first rows are asked for.
 */
#include "expr/group.h"
#include "local/query_private.h"
#include "table/scan.h"

struct grouped {
  glv_env *env;
  group_plan *plan;
  group_run *run;
  batch_reader rows; /* the columns of the plan, in its order */
  schema *source;    /* where the plan's columns have their places */
  bool is_fed;
};

static void grouped_dispose(void *state) {
  struct grouped *g = state;
  glv_env *env = g->env;
  group_run_free(g->run);
  group_plan_free(g->plan);
  batch_reader_dispose(&g->rows);
  schema_unref(g->source);
  mem_free(env, g);
  env_unref(env);
}

/* The columns of a scanned batch at their places in the schema of the table. */
static glv_status feed(struct grouped *g, const batch *from, glv_error *err) {
  size_t count = 0;
  const size_t *columns = group_plan_columns(g->plan, &count);
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(g->env, g->source, from->length, g->source->field_count, &b, err));
  for (size_t i = 0; i < count; i++) {
    b.columns[columns[i]] = array_ref(&from->columns[i]);
  }
  return group_feed(g->run, &b, (selection){NULL, from->length}, err);
}

static glv_status feed_all(struct grouped *g, glv_error *err) {
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool end = false;
    TRY(g->rows.next(g->rows.state, &b, &end, err));
    if (end) {
      return GLV_OK;
    }
    TRY(feed(g, &b, err));
  }
}

static glv_status grouped_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  struct grouped *g = state;
  if (!g->is_fed) {
    TRY(feed_all(g, err));
    g->is_fed = true;
    batch_reader_dispose(&g->rows);
  }
  return group_next(g->run, ret, ret_end, err);
}

static glv_status plan(const select_statement *s, const table_snapshot *t,
                       const glv_call_options *options, arena *a, group_plan **ret,
                       glv_error *err) {
  group_item *items = ARENA_ARRAY(a, group_item, s->item_count);
  if (items == NULL) {
    return error_nomem(err, s->item_count * sizeof *items);
  }
  for (size_t i = 0; i < s->item_count; i++) {
    items[i] = (group_item){s->items[i].output, s->items[i].expression};
  }
  const group_query query = {.items = items,
                             .item_count = s->item_count,
                             .keys = s->groups,
                             .key_count = s->group_count,
                             .row_id = SIZE_MAX};
  const expr_scope scope = {table_schema(t), SIZE_MAX};
  const glv_status status =
      group_plan_new(table_env(t), &scope, &query, local_expr_flags(options->flags), ret, err);
  if (status != GLV_E_SQL_PLAN) {
    return status;
  }
  for (size_t i = 0; i < s->item_count; i++) {
    TRY(table_check_names(t, s->items[i].expression, false, err));
  }
  return status;
}

/* A result column can be sorted by, nothing else. */
static glv_status check_order(const select_statement *s, const group_plan *p, glv_error *err) {
  for (size_t i = 0; i < s->order_count; i++) {
    if (schema_find(group_plan_schema(p), s->order[i].name) == SIZE_MAX) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "ORDER BY '%.*s' is not a column of the grouped result; select it, too",
                  STR_ARG(s->order[i].name));
    }
  }
  return GLV_OK;
}

/* The rows that are grouped; where no column is read, their addresses stand in. */
static glv_status scan(const struct grouped *g, const table_snapshot *t, str filter,
                       const glv_call_options *options, arena *a, batch_reader *ret,
                       glv_error *err) {
  size_t count = 0;
  const size_t *columns = group_plan_columns(g->plan, &count);
  scan_column *wanted = ARENA_ARRAY(a, scan_column, count);
  if (wanted == NULL) {
    return error_nomem(err, count * sizeof *wanted);
  }
  for (size_t i = 0; i < count; i++) {
    wanted[i] = (scan_column){.name = str_of(g->source->fields[columns[i]].name)};
  }
  const scan_options rows = {.columns = wanted,
                             .column_count = count,
                             .filter = filter,
                             .expr_flags = local_expr_flags(options->flags),
                             .with_row_address = count == 0,
                             .cancel = options->cancel};
  return local_explain(t, table_scan(t, &rows, ret, err), filter, NULL, 0, err);
}

static glv_status open_rows(struct grouped *g, const select_statement *s, const table_snapshot *t,
                            str filter, const glv_call_options *options, arena *a, glv_error *err) {
  g->source = schema_ref(table_schema(t));
  TRY(plan(s, t, options, a, &g->plan, err));
  TRY(check_order(s, g->plan, err));
  TRY(group_run_new(g->plan, &g->run, err));
  return scan(g, t, filter, options, a, &g->rows, err);
}

glv_status query_grouped(const select_statement *s, const table_snapshot *t, str filter,
                         const glv_call_options *options, arena *a, batch_reader *ret,
                         glv_error *err) {
  struct grouped *g = mem_zalloc(a->env, sizeof *g);
  if (g == NULL) {
    return error_nomem(err, sizeof *g);
  }
  g->env = env_ref(a->env);
  const glv_status status = open_rows(g, s, t, filter, options, a, err);
  if (status != GLV_OK) {
    grouped_dispose(g);
    return status;
  }
  *ret = (batch_reader){.schema = schema_ref(group_plan_schema(g->plan)),
                        .next = grouped_next,
                        .dispose = grouped_dispose,
                        .state = g};
  return GLV_OK;
}
