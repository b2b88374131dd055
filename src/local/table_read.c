/* Reading rows of tables: a handle's snapshot is read without its lock. */
#include <inttypes.h>

#include "expr/expr.h"
#include "expr/json_columns.h"
#include "local/local_private.h"
#include "search/search.h"
#include "table/scan_explain.h"
#include "table/scan_order.h"
#include "table/take.h"

glv_status local_predicate(arena *a, const char *text, uint32_t flags, const char **ret,
                           glv_error *err) {
  *ret = text;
  if (text == NULL || (flags & GLV_SQL_LANCE) != 0 || strchr(text, '"') == NULL) {
    return GLV_OK;
  }
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, a->env, SIZE_MAX / 2);
  TRY(expr_requote(str_of(text), &out, err));
  *ret = arena_strdup(a, buf_str(&out));
  return *ret != NULL ? GLV_OK : error_nomem(err, out.size);
}

glv_status local_explain(const table_snapshot *t, glv_status status, str filter,
                         const scan_column *columns, size_t count, glv_error *err) {
  if (status != GLV_E_SQL_PLAN) {
    return status;
  }
  TRY(table_check_names(t, filter, false, err));
  for (size_t i = 0; columns != NULL && i < count; i++) {
    TRY(table_check_names(t, columns[i].expression, false, err));
  }
  return status;
}

glv_status local_table_count(glv_table *table, const char *filter, const glv_call_options *options,
                             uint64_t *ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  const char *predicate = NULL;
  TRY(local_predicate(&a, filter, options->flags, &predicate, err));
  const glv_status status = table_count(
      snapshot, str_of(predicate), local_expr_flags(options->flags), options->cancel, ret, err);
  return local_explain(snapshot, status, str_of(predicate), NULL, 0, err);
}

static glv_status result_columns(arena *a, glv_pairs items, const scan_column **ret,
                                 glv_error *err) {
  scan_column *columns = ARENA_ARRAY(a, scan_column, items.count);
  if (columns == NULL) {
    return error_nomem(err, items.count * sizeof *columns);
  }
  for (size_t i = 0; i < items.count; i++) {
    columns[i] = (scan_column){.name = str_of(items.items[i].name),
                               .expression = str_of(items.items[i].value)};
  }
  *ret = items.count > 0 ? columns : NULL;
  return GLV_OK;
}

static glv_status order_of(arena *a, const glv_order *order, size_t count, const sort_by **ret,
                           glv_error *err) {
  sort_by *keys = ARENA_ARRAY(a, sort_by, count);
  if (keys == NULL) {
    return error_nomem(err, count * sizeof *keys);
  }
  for (size_t i = 0; i < count; i++) {
    keys[i] = (sort_by){str_of(order[i].column), (order[i].flags & GLV_ORDER_DESCENDING) != 0,
                        (order[i].flags & GLV_ORDER_NULLS_FIRST) != 0};
  }
  *ret = keys;
  return GLV_OK;
}

/* Options of a scan; texts live in a or in from. */
static glv_status fill_scan(arena *a, const glv_scan_options *from, scan_options *to,
                            const sort_by **ret_order, glv_error *err) {
  const char *predicate = NULL;
  *to = (scan_options){.column_count = from->columns.count,
                       .expr_flags = local_expr_flags(from->flags),
                       .has_limit = (from->flags & GLV_SCAN_LIMIT) != 0,
                       .limit = from->limit,
                       .offset = from->offset,
                       .with_row_id = (from->flags & GLV_SCAN_ROW_ID) != 0,
                       .with_blobs = (from->flags & GLV_SCAN_BLOBS) != 0,
                       .batch_rows = from->batch_rows,
                       .cancel = from->cancel};
  TRY(result_columns(a, from->columns, &to->columns, err));
  TRY(order_of(a, from->order, from->order_count, ret_order, err));
  TRY(local_predicate(a, from->filter, from->flags, &predicate, err));
  to->filter = str_of(predicate);
  return GLV_OK;
}

glv_status local_table_scan(glv_table *table, const glv_scan_options *options, batch_reader *ret,
                            glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  scan_options scan;
  const sort_by *order = NULL;
  TRY(fill_scan(&a, options, &scan, &order, err));
  const glv_status status =
      table_scan_ordered(snapshot, &scan, order, options->order_count, ret, err);
  TRY(local_explain(snapshot, status, scan.filter, scan.columns, scan.column_count, err));
  return json_reader(table->handle.env, JSON_SHOW, ret, err);
}

glv_status local_table_take(glv_table *table, const uint64_t *rows, size_t count,
                            const glv_take_options *options, batch_reader *ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  const scan_column *columns = NULL;
  TRY(result_columns(&a, options->columns, &columns, err));
  const take_options take = {.columns = columns,
                             .column_count = options->columns.count,
                             .expr_flags = local_expr_flags(options->flags),
                             .by = (options->flags & GLV_TAKE_ROW_IDS) != 0 ? TAKE_BY_ROW_ID
                                                                            : TAKE_BY_PLACE,
                             .with_row_id = (options->flags & GLV_SCAN_ROW_ID) != 0,
                             .with_blobs = (options->flags & GLV_SCAN_BLOBS) != 0,
                             .cancel = options->cancel};
  const glv_status status = table_take(snapshot, rows, count, &take, ret, err);
  TRY(local_explain(snapshot, status, (str){0}, columns, take.column_count, err));
  return json_reader(table->handle.env, JSON_SHOW, ret, err);
}

/* ---- search ---- */

static enum metric metric_of(int32_t metric) {
  return metric == GLV_METRIC_COSINE    ? METRIC_COSINE
         : metric == GLV_METRIC_DOT     ? METRIC_DOT
         : metric == GLV_METRIC_HAMMING ? METRIC_HAMMING
                                        : METRIC_L2;
}

static glv_status fill_search(arena *a, const glv_search_options *from, search_options *to,
                              glv_error *err) {
  const char *predicate = NULL;
  *to = (search_options){.column = str_of(from->column),
                         .vectors = from->vectors,
                         .vector_count = from->vector_count,
                         .dimension = from->dimension,
                         .has_metric = from->metric != GLV_METRIC_DEFAULT,
                         .metric = metric_of(from->metric),
                         .column_count = from->columns.count,
                         .postfilter = (from->flags & GLV_SEARCH_POSTFILTER) != 0,
                         .expr_flags = local_expr_flags(from->flags),
                         .limit = from->limit,
                         .offset = from->offset,
                         .has_lower = (from->flags & GLV_SEARCH_LOWER) != 0,
                         .has_upper = (from->flags & GLV_SEARCH_UPPER) != 0,
                         .lower = from->lower,
                         .upper = from->upper,
                         .with_row_id = (from->flags & GLV_SCAN_ROW_ID) != 0,
                         .order_count = from->order_count,
                         .cancel = from->cancel};
  TRY(result_columns(a, from->columns, &to->columns, err));
  TRY(order_of(a, from->order, from->order_count, &to->order, err));
  TRY(local_predicate(a, from->filter, from->flags, &predicate, err));
  to->filter = str_of(predicate);
  return GLV_OK;
}

glv_status local_table_search(glv_table *table, const glv_search_options *options,
                              batch_reader *ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  search_options search;
  TRY(fill_search(&a, options, &search, err));
  const glv_status status = search_vectors(snapshot, &search, ret, err);
  TRY(local_explain(snapshot, status, search.filter, search.columns, search.column_count, err));
  return json_reader(table->handle.env, JSON_SHOW, ret, err);
}

/* ---- explaining ---- */

static glv_status explain_steps(glv_table *table, const glv_scan_options *scan,
                                const glv_search_options *search, buf *out, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  if (search != NULL) {
    search_options o;
    TRY(fill_search(&a, search, &o, err));
    const glv_status status = search_explain(snapshot, &o, out, err);
    return local_explain(snapshot, status, o.filter, o.columns, o.column_count, err);
  }
  scan_options o;
  const sort_by *order = NULL;
  TRY(fill_scan(&a, scan, &o, &order, err));
  const glv_status status = table_scan_explain(snapshot, &o, order, scan->order_count, 0, out, err);
  return local_explain(snapshot, status, o.filter, o.columns, o.column_count, err);
}

/* Rows that a reader gives. */
static glv_status count_all(batch_reader *r, uint64_t *ret, glv_error *err) {
  *ret = 0;
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool is_end = false;
    TRY(r->next(r->state, &b, &is_end, err));
    if (is_end) {
      return GLV_OK;
    }
    *ret += b.length;
  }
}

glv_status local_table_explain(glv_table *table, const glv_scan_options *scan,
                               const glv_search_options *search, bool run, buf *ret_text,
                               glv_error *err) {
  if (run) {
    CLEANUP(batch_reader_dispose) batch_reader r = {0};
    uint64_t rows = 0;
    const int64_t start = env_now_ns(table->handle.env);
    TRY(search != NULL ? local_table_search(table, search, &r, err)
                       : local_table_scan(table, scan, &r, err));
    TRY(count_all(&r, &rows, err));
    const int64_t took = env_now_ns(table->handle.env) - start;
    TRY(explain_line(ret_text, err, 0, "Ran: rows=%" PRIu64 ", milliseconds=%.3f", rows,
                     (double)took / 1e6));
  }
  return explain_steps(table, scan, search, ret_text, err);
}
