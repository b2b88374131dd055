/*
 * Ad-hoc queries: a scan with the statement's items, filter, order, limit and offset. A grouped
 * statement can be sorted by its result columns only.
 */
#include <stdlib.h>

#include "arrow/builder.h"
#include "arrow/cdata.h"
#include "expr/expr.h"
#include "expr/json_columns.h"
#include "expr/select.h"
#include "local/local_private.h"
#include "table/scan_group.h"
#include "table/scan_order.h"

/* ---- scanning ---- */

static glv_status requoted(arena *a, str text, str *ret, glv_error *err) {
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, a->env, SIZE_MAX / 2);
  TRY(expr_requote(text, &out, err));
  char *copy = arena_strdup(a, buf_str(&out));
  *ret = str_slice(copy, out.size);
  return copy != NULL ? GLV_OK : error_nomem(err, out.size);
}

static scan_unnest unnest_of(const select_statement *s) {
  return s->has_unnest ? (scan_unnest){s->unnest_column, s->unnest_alias} : (scan_unnest){0};
}

static int by_text(const void *a, const void *b) {
  return str_compare(*(const str *)a, *(const str *)b);
}

/* Two columns of one name could not be told apart by whoever reads the result. */
static glv_status check_outputs(const select_statement *s, arena *a, glv_error *err) {
  str *names = ARENA_ARRAY(a, str, s->item_count);
  if (names == NULL) {
    return error_nomem(err, s->item_count * sizeof *names);
  }
  for (size_t i = 0; i < s->item_count; i++) {
    names[i] = s->items[i].output;
  }
  if (s->item_count > 0) {
    qsort(names, s->item_count, sizeof *names, by_text);
  }
  for (size_t i = 1; i < s->item_count; i++) {
    if (str_equal(names[i - 1], names[i])) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "the query gives two columns the name '%.*s'; rename one: expr AS name",
                  STR_ARG(names[i]));
    }
  }
  return GLV_OK;
}

/* The scan's columns; NULL for `*`. */
static glv_status make_columns(const select_statement *s, arena *a, scan_column **ret,
                               glv_error *err) {
  *ret = NULL;
  if (s->star) {
    return GLV_OK;
  }
  scan_column *all = ARENA_ARRAY(a, scan_column, s->item_count);
  if (all == NULL) {
    return error_nomem(err, s->item_count * sizeof *all);
  }
  for (size_t i = 0; i < s->item_count; i++) {
    all[i].name = s->items[i].output;
    TRY(requoted(a, s->items[i].expression, &all[i].expression, err));
  }
  *ret = all;
  return GLV_OK;
}

/* The filter as it is planned. */
static glv_status filter_of(const select_statement *s, arena *a, str *ret, glv_error *err) {
  *ret = (str){NULL, 0};
  return s->filter.size > 0 ? requoted(a, s->filter, ret, err) : GLV_OK;
}

static glv_status run_plain(const select_statement *s, const table_snapshot *t,
                            const glv_call_options *options, arena *a, batch_reader *ret,
                            glv_error *err) {
  scan_column *columns = NULL;
  TRY(make_columns(s, a, &columns, err));
  scan_options scan = {.columns = columns,
                       .column_count = columns != NULL ? s->item_count : 0,
                       .unnest = unnest_of(s),
                       .expr_flags = local_expr_flags(options->flags),
                       .has_limit = s->has_limit,
                       .limit = s->limit,
                       .offset = s->has_offset ? s->offset : 0,
                       .cancel = options->cancel};
  TRY(filter_of(s, a, &scan.filter, err));
  const glv_status status = table_scan_ordered(t, &scan, s->order, s->order_count, ret, err);
  return local_explain(t, status, scan.filter, columns, scan.column_count, err);
}

/* ---- count(*) ---- */

static glv_status one_number(arena *a, str name, uint64_t number, batch_reader *ret,
                             glv_error *err) {
  glv_env *env = a->env;
  const field f = {.name = arena_strdup(a, name), .type = type_simple(TYPE_INT64)};
  if (f.name == NULL) {
    return error_nomem(err, name.size);
  }
  CLEANUP(schema_cleanup) schema *s = NULL;
  TRY(schema_new(env, &f, 1, (metadata){NULL, 0}, &s, err));
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(env, s, 1, 1, &b, err));
  CLEANUP(builder_dispose) builder column;
  builder_init(&column, env, s->fields[0].type);
  const int64_t value = (int64_t)number;
  TRY(builder_append_fixed(&column, &value, err));
  TRY(builder_finish(&column, &b.columns[0], err));
  return batch_reader_of(env, s, &b, 1, ret, err);
}

static glv_status count_rows(const select_statement *s, const table_snapshot *t,
                             const glv_call_options *options, arena *a, batch_reader *ret,
                             glv_error *err) {
  str filter;
  TRY(filter_of(s, a, &filter, err));
  uint64_t count = 0;
  const glv_status status =
      table_count(t, filter, local_expr_flags(options->flags), options->cancel, &count, err);
  TRY(local_explain(t, status, filter, NULL, 0, err));
  const str name = s->item_count > 0 ? s->items[0].output : STR("count(*)");
  for (size_t i = 0; i < s->order_count; i++) {
    if (!str_equal(s->order[i].name, name)) {
      return FAIL(err, GLV_E_SQL_PLAN, "ORDER BY '%.*s' has no meaning for the one row of count(*)",
                  STR_ARG(s->order[i].name));
    }
  }
  const bool no_row = (s->has_limit && s->limit == 0) || (s->has_offset && s->offset > 0);
  TRY(one_number(a, name, count, ret, err));
  if (no_row) {
    CLEANUP(batch_reader_dispose) batch_reader full = *ret;
    TRY(batch_reader_of(table_env(t), full.schema, NULL, 0, ret, err));
  }
  return GLV_OK;
}

/* ---- the statement ---- */

static glv_status open_table(local_conn *conn, const select_statement *s, arena *a,
                             table_snapshot **ret, glv_error *err) {
  const char **parts = ARENA_ARRAY(a, const char *, s->table_parts);
  if (parts == NULL) {
    return error_nomem(err, s->table_parts * sizeof *parts);
  }
  for (size_t i = 0; i < s->table_parts; i++) {
    parts[i] = arena_strdup(a, s->table[i]);
    if (parts[i] == NULL) {
      return error_nomem(err, s->table[i].size);
    }
  }
  catalog_table at;
  return local_table_find(conn, (glv_id){parts, s->table_parts}, 0, a, &at, ret, err);
}

/* A result column can be sorted by, nothing else. */
static glv_status check_order(const select_statement *s, const schema *result, glv_error *err) {
  for (size_t i = 0; i < s->order_count; i++) {
    if (schema_find(result, s->order[i].name) == SIZE_MAX) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "ORDER BY '%.*s' is not a column of the grouped result; select it, too",
                  STR_ARG(s->order[i].name));
    }
  }
  return GLV_OK;
}

static glv_status start_groups(const select_statement *s, const table_snapshot *t,
                               const glv_call_options *options, arena *a, batch_reader *ret,
                               glv_error *err) {
  group_item *items = ARENA_ARRAY(a, group_item, s->item_count);
  if (items == NULL) {
    return error_nomem(err, s->item_count * sizeof *items);
  }
  for (size_t i = 0; i < s->item_count; i++) {
    items[i] = (group_item){s->items[i].output, s->items[i].expression};
  }
  group_options groups = {.items = items,
                          .item_count = s->item_count,
                          .keys = s->groups,
                          .key_count = s->group_count,
                          .unnest = unnest_of(s),
                          .expr_flags = local_expr_flags(options->flags),
                          .cancel = options->cancel};
  TRY(filter_of(s, a, &groups.filter, err));
  const glv_status status = table_scan_groups(t, &groups, ret, err);
  return local_explain(t, status, groups.filter, NULL, 0, err);
}

static glv_status run_grouped(const select_statement *s, const table_snapshot *t,
                              const glv_call_options *options, arena *a, batch_reader *ret,
                              glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader rows = {0};
  TRY(start_groups(s, t, options, a, &rows, err));
  TRY(check_order(s, rows.schema, err));
  if (s->order_count != 0 || s->has_limit || s->has_offset) {
    const order_cut cut = {s->has_limit, s->limit, s->has_offset ? s->offset : 0, s->item_count};
    return rows_order(a->env, &rows, s->order, s->order_count, &cut, ret, err);
  }
  *ret = rows;
  rows = (batch_reader){0};
  return GLV_OK;
}

static glv_status run_query(glv_conn *conn, const char *sql, const glv_call_options *options,
                            batch_reader *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  select_statement s;
  TRY(select_parse_query(&a, str_of(sql), &s, err));
  CLEANUP(table_cleanup) table_snapshot *t = NULL;
  TRY(open_table(conn_of(conn), &s, &a, &t, err));
  if (s.count_star) {
    return count_rows(&s, t, options, &a, ret, err);
  }
  TRY(check_outputs(&s, &a, err));
  return s.is_grouped ? run_grouped(&s, t, options, &a, ret, err)
                      : run_plain(&s, t, options, &a, ret, err);
}

glv_status local_query(glv_conn *conn, const char *sql, const glv_call_options *options,
                       batch_reader *ret, glv_error *err) {
  TRY(run_query(conn, sql, options, ret, err));
  return json_reader(conn->handle.env, JSON_SHOW, ret, err);
}
