/* A scan delivers the vectors, the row ids and the addresses of all rows (of those that the filter
 * lets through, unless it is applied afterwards); each batch is compared with every query. */
#include "search/search.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/checked.h"
#include "search/search_private.h"
#include "table/scan_explain.h"
#include "table/table.h"

/* One search. */
typedef struct search {
  const table_snapshot *table;
  const search_options *options;
  glv_env *env;
  arena memory;
  vector_column column;
  query_vector *queries;
  nearest *sets; /* one per query; for rows of several vectors one in all */
  size_t set_count;
  float *distances; /* room for capacity of them */
  size_t capacity;
} search;

static void search_dispose(search *s) {
  for (size_t i = 0; i < s->set_count; i++) {
    nearest_dispose(&s->sets[i]);
  }
  mem_free(s->env, s->distances);
  arena_dispose(&s->memory);
}

/* ---- what is asked ---- */

static glv_status make_queries(search *s, enum metric metric, glv_error *err) {
  const search_options *o = s->options;
  s->queries = ARENA_ARRAY(&s->memory, query_vector, o->vector_count);
  s->sets = ARENA_ARRAY(&s->memory, nearest, o->vector_count);
  if (s->queries == NULL || s->sets == NULL) {
    return error_nomem(err, o->vector_count * sizeof *s->queries);
  }
  for (size_t i = 0; i < o->vector_count; i++) {
    TRY(query_vector_init(&s->memory, metric, s->column.kind, o->vectors + i * o->dimension,
                          o->dimension, &s->queries[i], err));
  }
  const uint64_t wanted = o->limit <= UINT64_MAX - o->offset ? o->limit + o->offset : UINT64_MAX;
  s->set_count = s->column.is_multi ? 1 : o->vector_count;
  for (size_t i = 0; i < s->set_count; i++) {
    nearest_init(&s->sets[i], s->env, wanted);
  }
  return GLV_OK;
}

static glv_status prepare(search *s, glv_error *err) {
  const search_options *o = s->options;
  if (o->limit == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "Limit is required for ANN/KNN queries: a search by vector needs one above 0");
  }
  CLEANUP(schema_cleanup) schema *columns = NULL;
  const scan_unnest none = {0};
  size_t ignored;
  TRY(table_scan_schema(s->table, &none, &columns, &ignored, err));
  TRY(vector_column_find(&s->memory, columns, o->column, o->dimension, &s->column, err));
  const enum metric metric = o->has_metric ? o->metric : vector_column_metric(&s->column);
  TRY(vector_column_check_metric(&s->column, metric, err));
  char *name = arena_strdup(&s->memory, s->column.name);
  if (name == NULL) {
    return error_nomem(err, s->column.name.size);
  }
  s->column.name = str_of(name);
  return make_queries(s, metric, err);
}

/* ---- comparing ---- */

static glv_status reserve(search *s, size_t count, glv_error *err) {
  return vec_reserve(s->env, &s->distances, &s->capacity, count, sizeof *s->distances, err);
}

static bool is_in_range(const search_options *o, float distance) {
  return !isnan(distance) && (!o->has_lower || distance >= o->lower) &&
         (!o->has_upper || distance < o->upper);
}

/* The rows of a batch, whose distances are known, for one set. */
static glv_status offer(search *s, size_t set, const batch *b, glv_error *err) {
  const array *vectors = &b->columns[0];
  const uint64_t *ids = ARRAY_VALUES(&b->columns[1], uint64_t);
  const uint64_t *addresses = ARRAY_VALUES(&b->columns[2], uint64_t);
  for (size_t i = 0; i < b->length; i++) {
    const float distance = s->distances[i];
    if (!nearest_may_take(&s->sets[set], distance) || !is_in_range(s->options, distance) ||
        !array_is_valid(vectors, i)) {
      continue;
    }
    const neighbor row = {distance, (uint32_t)set, ids[i], addresses[i]};
    TRY(nearest_add(&s->sets[set], &row, err));
  }
  return GLV_OK;
}

/* The sum over the query vectors of the distance of the nearest vector of a row. */
static float sum_of_nearest(const search *s, const float *distances, size_t stride, size_t first,
                            size_t count) {
  float sum = count > 0 ? 0 : NAN;
  for (size_t q = 0; q < s->options->vector_count; q++) {
    const float *here = distances + q * stride + first;
    float least = count > 0 ? here[0] : NAN;
    for (size_t i = 1; i < count; i++) {
      least = here[i] < least || isnan(least) ? here[i] : least;
    }
    sum += least;
  }
  return sum;
}

/* Rows of several vectors: all are compared, then added up row by row. */
static glv_status visit_lists(search *s, const batch *b, glv_error *err) {
  const array *lists = &b->columns[0];
  const array *vectors = &lists->children[0];
  const size_t stride = vectors->length;
  size_t all;
  if (!size_mul(stride, s->options->vector_count, &all) || all > SIZE_MAX - b->length) {
    return error_nomem(err, SIZE_MAX);
  }
  TRY(reserve(s, all + b->length, err));
  float *each = s->distances + b->length;
  for (size_t q = 0; q < s->options->vector_count; q++) {
    query_vector_distances(&s->queries[q], vectors->children[0].values, stride, each + q * stride);
  }
  for (size_t i = 0; i < b->length; i++) {
    size_t first = 0;
    const size_t count = array_is_valid(lists, i) ? array_list_items(lists, i, &first) : 0;
    s->distances[i] = sum_of_nearest(s, each, stride, first, count);
  }
  return offer(s, 0, b, err);
}

static glv_status visit(search *s, const batch *b, glv_error *err) {
  if (s->column.is_multi) {
    return visit_lists(s, b, err);
  }
  TRY(reserve(s, b->length, err));
  for (size_t q = 0; q < s->options->vector_count; q++) {
    query_vector_distances(&s->queries[q], b->columns[0].children[0].values, b->length,
                           s->distances);
    TRY(offer(s, q, b, err));
  }
  return GLV_OK;
}

/* The scan of the vectors. column: of its result; used as long as the options. */
static scan_options vector_scan(const search *s, scan_column *column) {
  const search_options *o = s->options;
  *column = (scan_column){.name = s->column.name, .expression = s->column.expression};
  return (scan_options){.columns = column,
                        .column_count = 1,
                        .filter = o->postfilter ? (str){0} : o->filter,
                        .expr_flags = o->expr_flags,
                        .with_row_id = true,
                        .with_row_address = true,
                        .keep_open = true,
                        .cancel = o->cancel};
}

static glv_status compare_all(search *s, glv_error *err) {
  scan_column column;
  const scan_options scan = vector_scan(s, &column);
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(table_scan(s->table, &scan, &r, err));
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool is_end = false;
    TRY(r.next(r.state, &b, &is_end, err));
    if (is_end) {
      return GLV_OK;
    }
    TRY(visit(s, &b, err));
  }
}

/* ---- the result ---- */

/* The rows of all sets, one set after the other. A filter that comes afterwards also comes before
 * the offset. */
static glv_status gather(search *s, neighbor **ret, size_t *ret_count, glv_error *err) {
  const size_t skip = s->options->postfilter ? 0 : (size_t)u64_min(s->options->offset, SIZE_MAX);
  size_t count = 0;
  for (size_t i = 0; i < s->set_count; i++) {
    count += s->sets[i].count - size_min(skip, s->sets[i].count);
  }
  neighbor *all = ARENA_ARRAY(&s->memory, neighbor, count);
  if (all == NULL) {
    return error_nomem(err, count * sizeof *all);
  }
  *ret = all;
  *ret_count = count;
  for (size_t i = 0; i < s->set_count; i++) {
    nearest_sort(&s->sets[i]);
    const size_t first = size_min(skip, s->sets[i].count);
    const size_t here = s->sets[i].count - first;
    if (here > 0) {
      memcpy(all, s->sets[i].rows + first, here * sizeof *all);
      all += here;
    }
  }
  return GLV_OK;
}

glv_status search_vectors(const table_snapshot *t, const search_options *o, batch_reader *ret,
                          glv_error *err) {
  CLEANUP(search_dispose) search s = {.table = t, .options = o, .env = table_env(t)};
  arena_init(&s.memory, s.env);
  neighbor *found = NULL;
  size_t count = 0;
  TRY(prepare(&s, err));
  TRY(compare_all(&s, err));
  TRY(gather(&s, &found, &count, err));
  return search_result(t, o, s.set_count > 1, found, count, ret, err);
}

/* ---- explaining ---- */

static glv_status explain_range(const search_options *o, buf *out, glv_error *err) {
  if (o->has_lower) {
    TRY(explain_line(out, err, 1, "distances from %g on", (double)o->lower));
  }
  return o->has_upper ? explain_line(out, err, 1, "distances below %g", (double)o->upper) : GLV_OK;
}

glv_status search_explain(const table_snapshot *t, const search_options *o, buf *out,
                          glv_error *err) {
  CLEANUP(search_dispose) search s = {.table = t, .options = o, .env = table_env(t)};
  arena_init(&s.memory, s.env);
  TRY(prepare(&s, err));
  scan_column column;
  const scan_options scan = vector_scan(&s, &column);
  TRY(explain_line(out, err, 0,
                   "Search: exact, column=%.*s, distance=%s, dimension=%zu, queries=%zu, "
                   "rows=%" PRIu64 ", offset=%" PRIu64,
                   STR_ARG(s.column.name), metric_name(s.queries[0].metric), o->dimension,
                   s.set_count, o->limit, o->offset));
  TRY(explain_range(o, out, err));
  TRY(o->postfilter && o->filter.size > 0
          ? explain_line(out, err, 1, "filter afterwards: %.*s", STR_ARG(o->filter))
          : GLV_OK);
  return table_scan_explain(t, &scan, NULL, 0, 1, out, err);
}
