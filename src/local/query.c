/*
 * Ad-hoc queries: a scan with the statement's items, filter, limit and offset; ORDER BY collects
 * the result, sorts row numbers by the key columns, and gathers. A key that is no output of the
 * statement is a column of the table, scanned beside the outputs and left out of the result. A
 * grouped statement can be sorted by its result columns only.
 */
#include <stdlib.h>

#include "arrow/builder.h"
#include "arrow/cdata.h"
#include "expr/expr.h"
#include "expr/json_columns.h"
#include "expr/select.h"
#include "expr/sort.h"
#include "local/local_private.h"
#include "table/scan_group.h"

/* ---- scanning ---- */

static glv_status requoted(arena *a, str text, str *ret, glv_error *err) {
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, a->env, SIZE_MAX / 2);
  TRY(expr_requote(text, &out, err));
  char *copy = arena_strdup(a, buf_str(&out));
  *ret = str_slice(copy, out.size);
  return copy != NULL ? GLV_OK : error_nomem(err, out.size);
}

/* columns: those that `*` stands for. */
static bool is_output(const select_statement *s, const schema *columns, str name) {
  for (size_t i = 0; i < s->item_count; i++) {
    if (str_equal(s->items[i].output, name)) {
      return true;
    }
  }
  return s->star && schema_find(columns, name) != SIZE_MAX;
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

/* The scan's columns: the outputs, then the sort keys that are none of them. */
static glv_status make_columns(const select_statement *s, const schema *columns, arena *a,
                               scan_column **ret, size_t *ret_count, size_t *ret_outputs,
                               glv_error *err) {
  const size_t outputs = s->star ? columns->field_count : s->item_count;
  scan_column *all = ARENA_ARRAY(a, scan_column, outputs + s->order_count);
  if (all == NULL) {
    return error_nomem(err, (outputs + s->order_count) * sizeof *all);
  }
  for (size_t i = 0; i < outputs && s->star; i++) {
    all[i] = (scan_column){.name = str_of(columns->fields[i].name)};
  }
  for (size_t i = 0; i < outputs && !s->star; i++) {
    all[i].name = s->items[i].output;
    TRY(requoted(a, s->items[i].expression, &all[i].expression, err));
  }
  size_t count = outputs;
  for (size_t i = 0; i < s->order_count; i++) {
    if (!is_output(s, columns, s->order[i].name)) {
      all[count++] = (scan_column){.name = s->order[i].name};
    }
  }
  *ret = all;
  *ret_count = count;
  *ret_outputs = outputs;
  return GLV_OK;
}

/* The filter as it is planned. */
static glv_status filter_of(const select_statement *s, arena *a, str *ret, glv_error *err) {
  *ret = (str){NULL, 0};
  return s->filter.size > 0 ? requoted(a, s->filter, ret, err) : GLV_OK;
}

static glv_status start_scan(const select_statement *s, const table_snapshot *t,
                             const glv_call_options *options, arena *a, size_t *ret_outputs,
                             batch_reader *ret, glv_error *err) {
  scan_column *columns = NULL;
  size_t count = 0;
  TRY(s->star ? table_check_supported(t, err) : GLV_OK);
  CLEANUP(schema_cleanup) schema *visible = NULL;
  size_t ignored;
  const scan_unnest unnest = unnest_of(s);
  TRY(table_scan_schema(t, &unnest, &visible, &ignored, err));
  TRY(make_columns(s, visible, a, &columns, &count, ret_outputs, err));
  scan_options scan = {.columns = columns,
                       .column_count = count,
                       .unnest = unnest,
                       .expr_flags = local_expr_flags(options->flags),
                       .cancel = options->cancel};
  TRY(filter_of(s, a, &scan.filter, err));
  if (s->order_count == 0) {
    scan.has_limit = s->has_limit;
    scan.limit = s->limit;
    scan.offset = s->has_offset ? s->offset : 0;
  }
  const glv_status status = table_scan(t, &scan, ret, err);
  return local_explain(t, status, scan.filter, columns, count, err);
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

/* ---- ORDER BY ---- */

/* The part of the sorted row numbers that offset and limit leave. */
static void cut(const select_statement *s, size_t *first, size_t *count) {
  const uint64_t skip = s->has_offset ? u64_min(s->offset, *count) : 0;
  *first = (size_t)skip;
  *count -= (size_t)skip;
  *count = s->has_limit ? (size_t)u64_min(s->limit, *count) : *count;
}

static glv_status sort_all(const select_statement *s, arena *a, const batch *all, uint32_t **ret,
                           glv_error *err) {
  sort_key *keys = ARENA_ARRAY(a, sort_key, s->order_count);
  uint32_t *rows = ARENA_ARRAY(a, uint32_t, all->length);
  uint32_t *spare = ARENA_ARRAY(a, uint32_t, all->length);
  if (keys == NULL || rows == NULL || spare == NULL) {
    return error_nomem(err, all->length * sizeof *rows);
  }
  for (size_t k = 0; k < s->order_count; k++) {
    const size_t column = schema_find(all->schema, s->order[k].name);
    keys[k] = (sort_key){&all->columns[column], s->order[k].descending, s->order[k].nulls_first};
  }
  for (size_t i = 0; i < all->length; i++) {
    rows[i] = (uint32_t)i;
  }
  sort_rows(keys, s->order_count, rows, spare, all->length);
  *ret = rows;
  return GLV_OK;
}

static glv_status sorted(const select_statement *s, arena *a, batch_reader *r, size_t outputs,
                         batch_reader *ret, glv_error *err) {
  glv_env *env = a->env;
  CLEANUP(batch_dispose) batch all = {0};
  TRY(batch_collect(env, r, &all, err));
  uint32_t *rows = NULL;
  TRY(sort_all(s, a, &all, &rows, err));
  size_t first = 0;
  size_t count = all.length;
  cut(s, &first, &count);
  CLEANUP(schema_cleanup) schema *kept = NULL;
  TRY(schema_new(env, all.schema->fields, outputs, all.schema->metadata, &kept, err));
  CLEANUP(batch_dispose) batch result = {0};
  TRY(batch_new(env, kept, count, outputs, &result, err));
  for (size_t c = 0; c < outputs; c++) {
    CLEANUP(array_unref) array taken = {0};
    TRY(array_take(env, &all.columns[c], rows + first, count, &taken, err));
    TRY(array_retype(env, &taken, kept->fields[c].type, &result.columns[c], err));
  }
  return batch_reader_of(env, kept, &result, 1, ret, err);
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

static glv_status run_plain(const select_statement *s, const table_snapshot *t,
                            const glv_call_options *options, arena *a, batch_reader *ret,
                            glv_error *err) {
  size_t outputs = 0;
  CLEANUP(batch_reader_dispose) batch_reader rows = {0};
  TRY(start_scan(s, t, options, a, &outputs, &rows, err));
  if (s->order_count != 0) {
    return sorted(s, a, &rows, outputs, ret, err);
  }
  *ret = rows;
  rows = (batch_reader){0};
  return GLV_OK;
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
    return sorted(s, a, &rows, s->item_count, ret, err);
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
