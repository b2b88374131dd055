/* Search by vector in a server's tables. */
#include <math.h>

#include "arrow/cdata.h"
#include "remote/query.h"
#include "wire/members.h"

#define DISTANCE "_distance"
#define QUERY_INDEX "query_index"

static glv_status make_vector(const float *values, size_t count, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *vector = js_new_array();
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i])) {
      return FAIL(
          err, GLV_E_UNSUPPORTED,
          "a query vector with an infinity or NaN cannot be sent: JSON has no such numbers");
    }
    TRY(js_push(vector, js_new_real((double)values[i]), err));
  }
  *ret = vector;
  vector = NULL;
  return GLV_OK;
}

/* One vector as an array of numbers, several as an array of these. */
static glv_status put_vectors(json *body, const glv_search_options *o, glv_error *err) {
  json *vector = NULL;
  if (o->vector_count == 1) {
    TRY(make_vector(o->vectors, o->dimension, &vector, err));
    return js_put(body, "vector", vector, err);
  }
  CLEANUP(js_cleanup) json *all = js_new_array();
  for (size_t i = 0; i < o->vector_count; i++) {
    TRY(make_vector(o->vectors + i * o->dimension, o->dimension, &vector, err));
    TRY(js_push(all, vector, err));
  }
  json *taken = all;
  all = NULL;
  return js_put(body, "vector", taken, err);
}

static glv_status put_bound(json *body, const char *name, bool is_set, float value,
                            glv_error *err) {
  return js_put(body, name, is_set ? js_new_real((double)value) : js_new_null(), err);
}

glv_status query_put_search(json *body, const glv_search_options *o, glv_error *err) {
  static const char *const metrics[] = {NULL, "l2", "cosine", "dot", "hamming"};
  TRY(remote_check_dialect(o->flags, err));
  TRY(put_vectors(body, o, err));
  TRY(query_put(body, o->columns, o->filter, o->limit, (o->flags & GLV_SCAN_ROW_ID) != 0, err));
  TRY(wire_put_bool(body, "prefilter", (o->flags & GLV_SEARCH_POSTFILTER) == 0, err));
  TRY(wire_put_bool(body, "bypass_vector_index", true, err)); /* the answer is exact */
  TRY(put_bound(body, "lower_bound", (o->flags & GLV_SEARCH_LOWER) != 0, o->lower, err));
  TRY(put_bound(body, "upper_bound", (o->flags & GLV_SEARCH_UPPER) != 0, o->upper, err));
  TRY(o->column != NULL ? wire_put_text(body, "vector_column", o->column, err) : GLV_OK);
  TRY(o->metric != GLV_METRIC_DEFAULT
          ? wire_put_text(body, "distance_type", metrics[o->metric], err)
          : GLV_OK);
  TRY(o->offset > 0 ? wire_put_uint(body, "offset", o->offset, err) : GLV_OK);
  return query_put_order(body, o->order, o->order_count, err);
}

glv_status remote_table_search(glv_table *table, const glv_search_options *options,
                               batch_reader *ret, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  const bool with_row_id = (options->flags & GLV_SCAN_ROW_ID) != 0;
  TRY(query_begin(&tc, table, options->cancel, err));
  TRY(query_put_search(tc.c.body, options, err));
  batch_reader r = {0};
  TRY(query_run(&tc, &r, err));
  const bool has_number = schema_find(r.schema, STR(QUERY_INDEX)) != SIZE_MAX;
  const char *first = options->vector_count > 1 && has_number ? QUERY_INDEX : NULL;
  const char *const last[] = {DISTANCE, with_row_id ? ROW_ID : NULL, NULL};
  TRY(query_arrange(table->handle.env, options->columns, first, last, &r, err));
  *ret = r;
  return GLV_OK;
}
