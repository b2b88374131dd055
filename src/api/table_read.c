/* Exported functions that read rows of tables. */
#include <glaive/search.h>

#include "api/options.h"
#include "arrow/cdata.h"

static glv_status require_order(const glv_order *order, size_t count, glv_error *err) {
  TRY(count > 0 ? require_pointer(order, "order", err) : GLV_OK);
  for (size_t i = 0; i < count; i++) {
    TRY(require_pointer(order[i].column, "order", err));
    TRY(require_flags(order[i].flags, GLV_ORDER_DESCENDING | GLV_ORDER_NULLS_FIRST, err));
  }
  return GLV_OK;
}

glv_status glv_table_count(glv_table *table, const char *filter, const glv_call_options *options,
                           uint64_t *ret, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(ret, "ret", err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, SQL_FLAGS, err));
  return table->ops->table_count(table, filter, &known, ret, err);
}

static glv_status read_scan(const glv_scan_options *options, glv_scan_options *ret,
                            glv_error *err) {
  TRY(OPTIONS_READ(options, ret, err));
  TRY(require_flags(ret->flags, SQL_FLAGS | GLV_SCAN_LIMIT | GLV_SCAN_ROW_ID | GLV_SCAN_BLOBS,
                    err));
  TRY(require_pairs(ret->columns, "columns", true, err));
  return require_order(ret->order, ret->order_count, err);
}

glv_status glv_table_scan(glv_table *table, const glv_scan_options *options,
                          struct ArrowArrayStream *ret, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(ret, "ret", err));
  glv_scan_options known;
  TRY(read_scan(options, &known, err));
  batch_reader reader;
  TRY(table->ops->table_scan(table, &known, &reader, err));
  return cdata_export_stream(table->handle.env, &reader, ret, err);
}

glv_status glv_table_take(glv_table *table, const uint64_t *rows, size_t count,
                          const glv_take_options *options, struct ArrowArrayStream *ret,
                          glv_error *err) {
  TRY(check_table(table, err));
  TRY(count > 0 ? require_pointer(rows, "rows", err) : GLV_OK);
  TRY(require_pointer(ret, "ret", err));
  glv_take_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, SQL_FLAGS | GLV_TAKE_ROW_IDS | GLV_SCAN_ROW_ID | GLV_SCAN_BLOBS,
                    err));
  TRY(require_pairs(known.columns, "columns", true, err));
  batch_reader reader;
  TRY(table->ops->table_take(table, rows, count, &known, &reader, err));
  return cdata_export_stream(table->handle.env, &reader, ret, err);
}

enum { DEFAULT_LIMIT = 10 };

static glv_status check_search(const glv_search_options *o, glv_error *err) {
  TRY(require_flags(o->flags,
                    SQL_FLAGS | GLV_SCAN_LIMIT | GLV_SCAN_ROW_ID | GLV_SEARCH_LOWER |
                        GLV_SEARCH_UPPER | GLV_SEARCH_POSTFILTER,
                    err));
  TRY(require_pointer(o->vectors, "vectors", err));
  TRY(require_pairs(o->columns, "columns", true, err));
  TRY(require_order(o->order, o->order_count, err));
  if (o->vector_count == 0 || o->dimension == 0 ||
      o->dimension > SIZE_MAX / sizeof(float) / o->vector_count || o->vector_count > INT32_MAX) {
    return FAIL(err, GLV_E_INVALID_INPUT, "%zu query vectors of %zu dimensions", o->vector_count,
                o->dimension);
  }
  if (o->metric < GLV_METRIC_DEFAULT || o->metric > GLV_METRIC_HAMMING) {
    return FAIL(err, GLV_E_INVALID_INPUT, "%d is not a metric; see enum glv_metric",
                (int)o->metric);
  }
  return o->reserved == 0 ? GLV_OK : FAIL(err, GLV_E_INVALID_INPUT, "'reserved' must be 0");
}

static glv_status read_search(const glv_search_options *options, glv_search_options *ret,
                              glv_error *err) {
  TRY(OPTIONS_READ(options, ret, err));
  TRY(check_search(ret, err));
  if ((ret->flags & GLV_SCAN_LIMIT) == 0) {
    ret->limit = DEFAULT_LIMIT;
  }
  return GLV_OK;
}

glv_status glv_table_search(glv_table *table, const glv_search_options *options,
                            struct ArrowArrayStream *ret, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(options, "options", err));
  TRY(require_pointer(ret, "ret", err));
  glv_search_options known;
  TRY(read_search(options, &known, err));
  batch_reader reader;
  TRY(table->ops->table_search(table, &known, &reader, err));
  return cdata_export_stream(table->handle.env, &reader, ret, err);
}

glv_status glv_table_explain(glv_table *table, const glv_explain_options *options,
                             glv_buf *ret_text, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(options, "options", err));
  TRY(require_pointer(ret_text, "ret_text", err));
  glv_explain_options known;
  glv_scan_options scan;
  glv_search_options search;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_EXPLAIN_RUN, err));
  if (known.scan != NULL && known.search != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a scan and a search are given; one is explained");
  }
  TRY(read_scan(known.scan, &scan, err));
  TRY(known.search != NULL ? read_search(known.search, &search, err) : GLV_OK);
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, table->handle.env, SIZE_MAX / 2);
  TRY(table->ops->table_explain(table, known.search == NULL ? &scan : NULL,
                                known.search != NULL ? &search : NULL,
                                (known.flags & GLV_EXPLAIN_RUN) != 0, &text, err));
  return buf_hand_out(table->handle.env, &text, ret_text, err);
}
