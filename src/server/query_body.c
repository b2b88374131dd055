/* Members of a query body become options of a scan or a search. */
#include "server/query_body.h"

#include <strings.h>

#include "base/checked.h"
#include "wire/members.h"

static bool has(const json *body, const char *key) {
  const json *member = js_member(body, key);
  return member != NULL && js_kind_of(member) != JS_NULL;
}

static glv_status read_names(request *r, const json *names, glv_pairs *ret, glv_error *err) {
  glv_pair *pairs = ARENA_ARRAY(r->memory, glv_pair, js_count(names));
  if (pairs == NULL) {
    return error_nomem(err, js_count(names) * sizeof *pairs);
  }
  for (size_t i = 0; i < js_count(names); i++) {
    TRY(wire_expect(js_item(names, i), JS_STRING, "an item of 'columns'", err));
    pairs[i] = (glv_pair){arena_strdup(r->memory, js_string(js_item(names, i))), NULL};
    if (pairs[i].name == NULL) {
      return error_nomem(err, 0);
    }
  }
  *ret = (glv_pairs){pairs, js_count(names)};
  return GLV_OK;
}

static glv_status read_aliases(request *r, const json *aliases, glv_pairs *ret, glv_error *err) {
  glv_pair *pairs = ARENA_ARRAY(r->memory, glv_pair, js_count(aliases));
  if (pairs == NULL) {
    return error_nomem(err, js_count(aliases) * sizeof *pairs);
  }
  for (size_t i = 0; i < js_count(aliases); i++) {
    str name;
    const json *value = js_member_at(aliases, i, &name);
    TRY(wire_expect(value, JS_STRING, "an expression of 'columns'", err));
    pairs[i] = (glv_pair){arena_strdup(r->memory, name), arena_strdup(r->memory, js_string(value))};
    if (pairs[i].name == NULL || pairs[i].value == NULL) {
      return error_nomem(err, 0);
    }
  }
  *ret = (glv_pairs){pairs, js_count(aliases)};
  return GLV_OK;
}

/* Names, an object of aliases, or one of the two in an envelope of the namespace dialect. */
static glv_status read_columns(request *r, const json *body, glv_pairs *ret, glv_error *err) {
  const json *columns = js_member(body, "columns");
  *ret = (glv_pairs){NULL, 0};
  if (columns != NULL && js_kind_of(columns) == JS_OBJECT) {
    const json *names = js_member(columns, "column_names");
    const json *aliases = js_member(columns, "column_aliases");
    columns = names != NULL && js_kind_of(names) == JS_ARRAY        ? names
              : aliases != NULL && js_kind_of(aliases) == JS_OBJECT ? aliases
                                                                    : columns;
  }
  if (columns == NULL || js_kind_of(columns) == JS_NULL) {
    return GLV_OK;
  }
  if (js_kind_of(columns) == JS_ARRAY) {
    return read_names(r, columns, ret, err);
  }
  TRY(wire_expect(columns, JS_OBJECT, "'columns'", err));
  return read_aliases(r, columns, ret, err);
}

static glv_status read_order(request *r, const json *body, const glv_order **ret, size_t *ret_count,
                             glv_error *err) {
  const json *order_by = js_member(body, "order_by");
  if (order_by == NULL || js_kind_of(order_by) == JS_NULL) {
    return GLV_OK;
  }
  TRY(wire_expect(order_by, JS_ARRAY, "'order_by'", err));
  glv_order *order = ARENA_ARRAY(r->memory, glv_order, js_count(order_by));
  if (order == NULL) {
    return error_nomem(err, js_count(order_by) * sizeof *order);
  }
  for (size_t i = 0; i < js_count(order_by); i++) {
    bool ascending = true;
    bool nulls_first = false;
    TRY(wire_expect(js_item(order_by, i), JS_OBJECT, "an item of 'order_by'", err));
    TRY(wire_text_required(js_item(order_by, i), "column_name", &order[i].column, err));
    TRY(wire_bool(js_item(order_by, i), "ascending", &ascending, err));
    TRY(wire_bool(js_item(order_by, i), "nulls_first", &nulls_first, err));
    order[i].flags =
        (ascending ? 0 : GLV_ORDER_DESCENDING) | (nulls_first ? GLV_ORDER_NULLS_FIRST : 0);
  }
  *ret = order;
  *ret_count = js_count(order_by);
  return GLV_OK;
}

static glv_status read_vector(const json *values, size_t dimension, float *ret, glv_error *err) {
  TRY(wire_expect(values, JS_ARRAY, "a query vector", err));
  if (js_count(values) != dimension) {
    return FAIL(err, GLV_E_INVALID_INPUT, "query vectors have %zu and %zu dimensions", dimension,
                js_count(values));
  }
  for (size_t i = 0; i < dimension; i++) {
    const json *value = js_item(values, i);
    const enum js_kind kind = js_kind_of(value);
    if (kind != JS_INT && kind != JS_REAL) {
      return FAIL(err, GLV_E_INVALID_INPUT, "an element of a query vector is not a number");
    }
    ret[i] = kind == JS_INT ? (float)js_int(value) : (float)js_real(value);
  }
  return GLV_OK;
}

/* An array of numbers, one of such arrays, or one of the two in an envelope of the namespace
 * dialect. */
static glv_status read_vectors(request *r, const json *body, query_vectors *ret, glv_error *err) {
  const json *vector = js_member(body, "vector");
  *ret = (query_vectors){NULL, 0, 0};
  if (vector != NULL && js_kind_of(vector) == JS_OBJECT) {
    const json *several = js_member(vector, "multi_vector");
    vector = several != NULL ? several : js_member(vector, "single_vector");
  }
  if (vector == NULL || js_kind_of(vector) == JS_NULL) {
    return GLV_OK;
  }
  TRY(wire_expect(vector, JS_ARRAY, "'vector'", err));
  if (js_count(vector) == 0) {
    return GLV_OK;
  }
  const bool is_several = js_kind_of(js_item(vector, 0)) == JS_ARRAY;
  ret->count = is_several ? js_count(vector) : 1;
  ret->dimension = js_count(is_several ? js_item(vector, 0) : vector);
  size_t all = 0;
  float *values = size_mul(ret->count, ret->dimension, &all) && all > 0
                      ? ARENA_ARRAY(r->memory, float, all)
                      : NULL;
  ret->values = values;
  if (values == NULL) {
    return all == 0 ? FAIL(err, GLV_E_INVALID_INPUT, "a query vector has no elements")
                    : error_nomem(err, all * sizeof(float));
  }
  for (size_t i = 0; i < ret->count; i++) {
    TRY(read_vector(is_several ? js_item(vector, i) : vector, ret->dimension,
                    values + i * ret->dimension, err));
  }
  return GLV_OK;
}

/* A number, which may be left out or null. */
static glv_status read_bound(const json *body, const char *key, uint32_t flag, float *ret,
                             uint32_t *flags, glv_error *err) {
  const json *value = js_member(body, key);
  if (value == NULL || js_kind_of(value) == JS_NULL) {
    return GLV_OK;
  }
  if (js_kind_of(value) != JS_INT && js_kind_of(value) != JS_REAL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'%s' must be a number", key);
  }
  *ret = js_kind_of(value) == JS_INT ? (float)js_int(value) : (float)js_real(value);
  *flags |= flag;
  return GLV_OK;
}

static glv_status read_metric(const json *body, int32_t *ret, glv_error *err) {
  static const struct {
    const char *name;
    int32_t metric;
  } known[] = {{"l2", GLV_METRIC_L2},
               {"euclidean", GLV_METRIC_L2},
               {"cosine", GLV_METRIC_COSINE},
               {"dot", GLV_METRIC_DOT},
               {"hamming", GLV_METRIC_HAMMING}};
  const char *name = NULL;
  TRY(wire_text(body, "distance_type", &name, err));
  if (name == NULL) {
    return GLV_OK;
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcasecmp(name, known[i].name) == 0) {
      *ret = known[i].metric;
      return GLV_OK;
    }
  }
  return FAIL(err, GLV_E_INVALID_INPUT,
              "'distance_type' must be l2, cosine, dot or hamming, not '%s'", name);
}

static glv_status read_search(request *r, const json *body, query_body *a, glv_error *err) {
  glv_search_options *s = &a->search;
  bool prefilter = true;
  *s = GLV_OPTIONS(glv_search_options);
  s->vectors = a->vectors.values;
  s->vector_count = a->vectors.count;
  s->dimension = a->vectors.dimension;
  s->flags = a->scan.flags;
  s->columns = a->scan.columns;
  s->filter = a->scan.filter;
  s->limit = a->scan.limit;
  s->offset = a->scan.offset;
  s->order = a->scan.order;
  s->order_count = a->scan.order_count;
  s->cancel = r->cancel;
  TRY(wire_text(body, "vector_column", &s->column, err));
  TRY(read_metric(body, &s->metric, err));
  TRY(wire_bool(body, "prefilter", &prefilter, err));
  s->flags |= prefilter ? 0 : GLV_SEARCH_POSTFILTER;
  TRY(read_bound(body, "lower_bound", GLV_SEARCH_LOWER, &s->lower, &s->flags, err));
  return read_bound(body, "upper_bound", GLV_SEARCH_UPPER, &s->upper, &s->flags, err);
}

glv_status query_body_read(request *r, const json *body, query_body *ret, glv_error *err) {
  bool with_row_id = false;
  glv_scan_options *s = &ret->scan;
  *s = GLV_OPTIONS(glv_scan_options);
  if (has(body, "full_text_query")) {
    return FAIL(err, GLV_E_UNSUPPORTED, "full-text search is not offered");
  }
  TRY(read_vectors(r, body, &ret->vectors, err));
  TRY(read_columns(r, body, &s->columns, err));
  TRY(wire_text(body, "filter", &s->filter, err));
  TRY(wire_uint(body, "offset", &s->offset, err));
  TRY(wire_bool(body, "with_row_id", &with_row_id, err));
  TRY(read_order(r, body, &s->order, &s->order_count, err));
  s->flags = with_row_id ? GLV_SCAN_ROW_ID : 0;
  if (has(body, "k")) {
    s->flags |= GLV_SCAN_LIMIT;
    TRY(wire_uint(body, "k", &s->limit, err));
  }
  s->cancel = r->cancel;
  return ret->vectors.count > 0 ? read_search(r, body, ret, err) : GLV_OK;
}
