/* The scan delivers the columns of the result and after them the keys that are none of these; all
 * is collected, row numbers are sorted by the keys, and the wanted rows are gathered. */
#include "table/scan_order.h"

#include "arrow/cdata.h"
#include "table/table_private.h"

/* The part of n sorted rows that offset and limit leave. */
static void cut_rows(const order_cut *cut, size_t n, size_t *first, size_t *count) {
  *first = (size_t)u64_min(cut->offset, n);
  *count = n - *first;
  *count = cut->has_limit ? (size_t)u64_min(cut->limit, *count) : *count;
}

static glv_status sort_all(arena *a, const batch *all, const sort_by *by, size_t count,
                           uint32_t **ret, glv_error *err) {
  sort_key *keys = ARENA_ARRAY(a, sort_key, count);
  uint32_t *rows = ARENA_ARRAY(a, uint32_t, all->length);
  uint32_t *spare = ARENA_ARRAY(a, uint32_t, all->length);
  if (keys == NULL || rows == NULL || spare == NULL) {
    return error_nomem(err, all->length * sizeof *rows);
  }
  for (size_t k = 0; k < count; k++) {
    const size_t column = schema_find(all->schema, by[k].name);
    if (column == SIZE_MAX) {
      return FAIL(err, GLV_E_SQL_PLAN, "'%.*s', which rows are to be sorted by, is not a column",
                  STR_ARG(by[k].name));
    }
    keys[k] = (sort_key){&all->columns[column], by[k].descending, by[k].nulls_first};
  }
  for (size_t i = 0; i < all->length; i++) {
    rows[i] = (uint32_t)i;
  }
  sort_rows(keys, count, rows, spare, all->length);
  *ret = rows;
  return GLV_OK;
}

glv_status rows_order(glv_env *env, batch_reader *r, const sort_by *keys, size_t key_count,
                      const order_cut *cut, batch_reader *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  CLEANUP(batch_dispose) batch all = {0};
  TRY(batch_collect(env, r, &all, err));
  uint32_t *rows = NULL;
  TRY(sort_all(&a, &all, keys, key_count, &rows, err));
  size_t first;
  size_t count;
  cut_rows(cut, all.length, &first, &count);
  CLEANUP(schema_cleanup) schema *kept = NULL;
  TRY(schema_new(env, all.schema->fields, cut->outputs, all.schema->metadata, &kept, err));
  CLEANUP(batch_dispose) batch result = {0};
  TRY(batch_new(env, kept, count, cut->outputs, &result, err));
  for (size_t c = 0; c < cut->outputs; c++) {
    CLEANUP(array_unref) array taken = {0};
    TRY(array_take(env, &all.columns[c], rows + first, count, &taken, err));
    TRY(array_retype(env, &taken, kept->fields[c].type, &result.columns[c], err));
  }
  return batch_reader_of(env, kept, &result, 1, ret, err);
}

/* ---- scans ---- */

static bool has_column(const scan_column *columns, size_t count, str name) {
  for (size_t i = 0; i < count; i++) {
    if (str_equal(columns[i].name, name)) {
      return true;
    }
  }
  return false;
}

/* The columns of the result, spelled out, and the keys that are none of them. Names stay those of
 * visible. */
static glv_status make_columns(const schema *visible, const scan_options *o, const sort_by *keys,
                               size_t key_count, arena *a, scan_options *ret, size_t *ret_outputs,
                               glv_error *err) {
  const bool is_all = o->columns == NULL;
  size_t count = is_all ? visible->field_count : o->column_count;
  scan_column *columns = ARENA_ARRAY(a, scan_column, count + 1 + key_count);
  if (columns == NULL) {
    return error_nomem(err, count * sizeof *columns);
  }
  for (size_t i = 0; i < count; i++) {
    columns[i] = is_all ? (scan_column){.name = str_of(visible->fields[i].name)} : o->columns[i];
  }
  if (o->with_row_id) { /* which must come before the keys */
    columns[count++].name = STR("_rowid");
  }
  *ret_outputs = count;
  for (size_t k = 0; k < key_count; k++) {
    if (!has_column(columns, count, keys[k].name)) {
      columns[count++].name = keys[k].name;
    }
  }
  *ret = *o;
  ret->columns = columns;
  ret->column_count = count;
  ret->with_row_id = false;
  ret->has_limit = false;
  ret->offset = 0;
  return GLV_OK;
}

glv_status table_scan_ordered(const table_snapshot *t, const scan_options *options,
                              const sort_by *keys, size_t key_count, batch_reader *ret,
                              glv_error *err) {
  if (key_count == 0) {
    return table_scan(t, options, ret, err);
  }
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table_env(t));
  CLEANUP(schema_cleanup) schema *visible = NULL;
  scan_options scan;
  size_t outputs;
  size_t ignored;
  TRY(options->columns == NULL ? table_check_supported(t, err) : GLV_OK);
  TRY(table_scan_schema(t, &options->unnest, &visible, &ignored, err));
  TRY(make_columns(visible, options, keys, key_count, &a, &scan, &outputs, err));
  CLEANUP(batch_reader_dispose) batch_reader rows = {0};
  TRY(table_scan(t, &scan, &rows, err));
  const order_cut cut = {options->has_limit, options->limit, options->offset, outputs};
  return rows_order(table_env(t), &rows, keys, key_count, &cut, ret, err);
}
