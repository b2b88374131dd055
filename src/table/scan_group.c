/* Grouped scans. The scope of keys and aggregates is the columns of the table, the expanded one as
 * its element, and `_rowid` behind them; what is scanned is put at its place there, batch by batch,
 * when the first rows are asked for.
 */
#include "table/scan_group.h"

#include "table/scan_private.h"

static const char row_id[] = "_rowid";

typedef struct grouped {
  glv_env *env; /* a reference */
  schema *scope;
  group_plan *plan;
  group_run *run;
  batch_reader
      rows;       /* what the plan reads, in its order; then the row id if it is a result column */
  size_t *places; /* of these columns in the scope */
  size_t place_count;
  arena memory;
  bool is_fed;
} grouped;

static void grouped_dispose(void *state) {
  grouped *g = state;
  group_run_free(g->run);
  group_plan_free(g->plan);
  batch_reader_dispose(&g->rows);
  schema_unref(g->scope);
  arena_dispose(&g->memory);
  glv_env *env = g->env;
  mem_free(env, g);
  env_unref(env);
}

static void grouped_cleanup(grouped **g) {
  if (*g != NULL) {
    grouped_dispose(*g);
  }
}

/* ---- planning ---- */

static glv_status make_scope(const table_snapshot *t, const scan_unnest *u, schema **ret,
                             glv_error *err) {
  CLEANUP(schema_cleanup) schema *columns = NULL;
  size_t ignored;
  TRY(table_scan_schema(t, u, &columns, &ignored, err));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table_env(t));
  field *fields = ARENA_ARRAY(&a, field, columns->field_count + 1);
  if (fields == NULL) {
    return error_nomem(err, columns->field_count * sizeof *fields);
  }
  memcpy(fields, columns->fields, columns->field_count * sizeof *fields);
  fields[columns->field_count] = (field){.name = row_id, .type = type_simple(TYPE_UINT64)};
  return schema_new(table_env(t), fields, columns->field_count + 1, (metadata){0}, ret, err);
}

static glv_status plan(const table_snapshot *t, const schema *scope, const group_options *o,
                       group_plan **ret, glv_error *err) {
  const group_query query = {.items = o->items,
                             .item_count = o->item_count,
                             .keys = o->keys,
                             .key_count = o->key_count,
                             .row_id = o->row_id_name != NULL ? scope->field_count - 1 : SIZE_MAX,
                             .row_id_name = o->row_id_name};
  const expr_scope names = {scope, SIZE_MAX};
  const glv_status status = group_plan_new(table_env(t), &names, &query, o->expr_flags, ret, err);
  if (status != GLV_E_SQL_PLAN) {
    return status;
  }
  for (size_t i = 0; i < o->item_count; i++) {
    TRY(table_check_names(t, o->items[i].expression, false, err));
  }
  return status;
}

glv_status table_group_plan(const table_snapshot *t, const group_options *options, group_plan **ret,
                            glv_error *err) {
  CLEANUP(schema_cleanup) schema *scope = NULL;
  TRY(make_scope(t, &options->unnest, &scope, err));
  return plan(t, scope, options, ret, err);
}

/* ---- running ---- */

static glv_status feed(grouped *g, const batch *from, glv_error *err) {
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(g->env, g->scope, from->length, g->scope->field_count, &b, err));
  for (size_t i = 0; i < g->place_count; i++) {
    b.columns[g->places[i]] = array_ref(&from->columns[i]);
  }
  return group_feed(g->run, &b, (selection){NULL, from->length}, err);
}

static glv_status feed_all(grouped *g, glv_error *err) {
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
  grouped *g = state;
  if (!g->is_fed) {
    TRY(feed_all(g, err));
    g->is_fed = true;
    batch_reader_dispose(&g->rows);
  }
  return group_next(g->run, ret, ret_end, err);
}

/* What the plan reads, and the row id where only the result has it. */
static glv_status choose_columns(grouped *g, const group_options *o, glv_error *err) {
  size_t count = 0;
  const size_t *columns = group_plan_columns(g->plan, &count);
  const size_t last = g->scope->field_count - 1;
  g->places = ARENA_ARRAY(&g->memory, size_t, count + 1);
  if (g->places == NULL) {
    return error_nomem(err, (count + 1) * sizeof *g->places);
  }
  for (; g->place_count < count; g->place_count++) {
    g->places[g->place_count] = columns[g->place_count];
  }
  if (o->row_id_name != NULL && (count == 0 || columns[count - 1] != last)) {
    g->places[g->place_count++] = last;
  }
  return GLV_OK;
}

/* The rows that are grouped; where no column is read, their addresses stand in. */
static glv_status scan(grouped *g, const table_snapshot *t, const group_options *o,
                       glv_error *err) {
  scan_column *wanted = ARENA_ARRAY(&g->memory, scan_column, g->place_count);
  if (wanted == NULL) {
    return error_nomem(err, g->place_count * sizeof *wanted);
  }
  for (size_t i = 0; i < g->place_count; i++) {
    wanted[i] = (scan_column){.name = str_of(g->scope->fields[g->places[i]].name)};
  }
  const scan_options rows = {.columns = wanted,
                             .column_count = g->place_count,
                             .unnest = o->unnest,
                             .filter = o->filter,
                             .expr_flags = o->expr_flags,
                             .with_row_address = g->place_count == 0,
                             .cancel = o->cancel};
  return table_scan(t, &rows, &g->rows, err);
}

static glv_status start(grouped *g, const table_snapshot *t, const group_options *o,
                        glv_error *err) {
  TRY(make_scope(t, &o->unnest, &g->scope, err));
  TRY(plan(t, g->scope, o, &g->plan, err));
  TRY(choose_columns(g, o, err));
  TRY(group_run_new(g->plan, &g->run, err));
  return scan(g, t, o, err);
}

glv_status table_scan_groups(const table_snapshot *t, const group_options *options,
                             batch_reader *ret, glv_error *err) {
  glv_env *env = table_env(t);
  CLEANUP(grouped_cleanup) grouped *g = mem_zalloc(env, sizeof *g);
  if (g == NULL) {
    return error_nomem(err, sizeof *g);
  }
  g->env = env_ref(env);
  arena_init(&g->memory, env);
  TRY(start(g, t, options, err));
  *ret = (batch_reader){.schema = schema_ref(group_plan_schema(g->plan)),
                        .next = grouped_next,
                        .dispose = grouped_dispose,
                        .state = g};
  g = NULL;
  return GLV_OK;
}
