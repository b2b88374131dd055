/* What tables tell about themselves: their versions as rows, and a description as JSON. */
#include <stdlib.h>

#include "backend/rows.h"
#include "base/calendar.h"
#include "base/json.h"
#include "local/local_private.h"
#include "table/index_list.h"

/* ---- versions ---- */

glv_status local_table_versions(glv_table *table, batch_reader *ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  version_entry *versions = NULL;
  size_t count = 0;
  TRY(table_versions(snapshot, &a, &versions, &count, err));
  version_row *rows = ARENA_ARRAY(&a, version_row, count);
  if (rows == NULL) {
    return error_nomem(err, count * sizeof *rows);
  }
  for (size_t i = 0; i < count; i++) {
    const version_entry *v = &versions[i];
    rows[i] = (version_row){v->version, v->timestamp_ns, true, v->live_rows, v->operation};
  }
  return version_rows_reader(table->handle.env, rows, count, ret, err);
}

/* ---- describe ---- */

static glv_status put_int(json *o, const char *key, uint64_t value, glv_error *err) {
  return js_put(o, key, js_new_int((int64_t)value), err);
}

static glv_status put_metadata(json *o, arena *a, const char *key, metadata m, glv_error *err) {
  json *inner = js_new_object();
  glv_status status = inner != NULL ? GLV_OK : error_nomem(err, 0);
  for (size_t i = 0; i < m.count && status == GLV_OK; i++) {
    const char *name = arena_strdup(a, m.pairs[i].key);
    /* Values are bytes; those that are not text cannot go into JSON and are left out. */
    if (name != NULL && str_is_utf8(m.pairs[i].value) && str_is_utf8(m.pairs[i].key)) {
      status = js_put(inner, name, js_new_string(m.pairs[i].value), err);
    }
  }
  if (status != GLV_OK) {
    js_free(inner);
    return status;
  }
  return js_put(o, key, inner, err);
}

static glv_status describe_column(const lance_field *f, arena *a, json *ret, glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, a->env, SIZE_MAX / 2);
  TRY(f->is_supported ? type_print(f->arrow.type, &text, err)
                      : buf_append_str(&text, str_of(f->logical_type), err));
  TRY(js_put(ret, "name", js_new_string(str_of(f->arrow.name)), err));
  TRY(js_put(ret, "type", js_new_string(buf_str(&text)), err));
  return js_put(ret, "nullable", js_new_bool(f->arrow.nullable), err);
}

static glv_status put_columns(json *o, arena *a, const lance_schema *s, glv_error *err) {
  json *columns = js_new_array();
  glv_status status = columns != NULL ? GLV_OK : error_nomem(err, 0);
  for (size_t i = 0; i < s->field_count && status == GLV_OK; i++) {
    json *column = js_new_object();
    status = column != NULL ? describe_column(&s->fields[i], a, column, err) : error_nomem(err, 0);
    if (status != GLV_OK) {
      js_free(column);
    } else {
      status = js_push(columns, column, err);
    }
  }
  if (status != GLV_OK) {
    js_free(columns);
    return status;
  }
  return js_put(o, "columns", columns, err);
}

static int compare_rows(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a;
  const uint64_t y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* sorted: count rows of fragments, and one number more. */
static glv_status put_lengths(json *o, const uint64_t *sorted, size_t count, uint64_t all,
                              glv_error *err) {
  static const struct {
    const char *key;
    size_t part; /* of 100 */
  } parts[] = {{"p25", 25}, {"p50", 50}, {"p75", 75}, {"p99", 99}};
  TRY(put_int(o, "min", sorted[0], err));
  TRY(put_int(o, "max", sorted[count > 0 ? count - 1 : 0], err));
  TRY(put_int(o, "mean", count > 0 ? all / count : 0, err));
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    TRY(put_int(o, parts[i].key, sorted[count * parts[i].part / 100], err));
  }
  return GLV_OK;
}

/* How many rows fragments have, deleted ones included: as LanceDB reckons it. */
static glv_status put_fragment_rows(json *o, const table_snapshot *t, arena *a, glv_error *err) {
  enum { SMALL = 100000 };
  size_t count = 0;
  size_t small = 0;
  const fragment *fragments = table_fragments(t, &count);
  uint64_t *rows = ARENA_ARRAY(a, uint64_t, count + 1);
  CLEANUP(js_cleanup) json *stats = js_new_object();
  if (rows == NULL || stats == NULL) {
    return error_nomem(err, count * sizeof *rows);
  }
  for (size_t i = 0; i < count; i++) {
    rows[i] = fragments[i].physical_rows;
    small += rows[i] < SMALL;
  }
  qsort(rows, count, sizeof *rows, compare_rows);
  TRY(put_int(stats, "small", small, err));
  TRY(put_lengths(stats, rows, count, table_physical_rows(t), err));
  json *taken = stats;
  stats = NULL;
  return js_put(o, "fragment_rows", taken, err);
}

static glv_status put_index(json *into, const table_index *x, glv_error *err) {
  CLEANUP(js_cleanup) json *o = js_new_object();
  CLEANUP(js_cleanup) json *columns = js_new_array();
  TRY(js_put(o, "name", js_new_string(str_of(x->name)), err));
  for (size_t i = 0; i < x->column_count; i++) {
    TRY(js_push(columns, js_new_string(str_of(x->columns[i])), err));
  }
  json *taken = columns;
  columns = NULL;
  TRY(js_put(o, "columns", taken, err));
  TRY(js_put(o, "uuid", js_new_string(str_of(x->uuid)), err));
  TRY(js_put(o, "type_url", js_new_string(str_of(x->type_url)), err));
  TRY(put_int(o, "rows_indexed", x->rows_indexed, err));
  TRY(put_int(o, "rows_unindexed", x->rows_unindexed, err));
  TRY(put_int(o, "segments", x->segments, err));
  TRY(js_put(o, "version", js_new_int(x->version), err));
  TRY(js_put(o, "created_ms", js_new_int(x->created_ms), err));
  taken = o;
  o = NULL;
  return js_push(into, taken, err);
}

static glv_status put_indexes(json *o, const table_snapshot *t, arena *a, glv_error *err) {
  table_index *indexes = NULL;
  size_t count = 0;
  CLEANUP(js_cleanup) json *list = js_new_array();
  TRY(table_indexes(t, a, &indexes, &count, err));
  for (size_t i = 0; i < count; i++) {
    TRY(put_index(list, &indexes[i], err));
  }
  json *taken = list;
  list = NULL;
  return js_put(o, "indexes", taken, err);
}

static glv_status describe(const table_snapshot *t, arena *a, json *o, glv_error *err) {
  char time[CALENDAR_TEXT_SIZE + 1];
  const int64_t ns = table_timestamp_ns(t);
  size_t size =
      calendar_print_timestamp(floor_div(ns, 1000000000), (int32_t)floor_mod(ns, 1000000000), time);
  time[size++] = 'Z';
  size_t fragments = 0;
  table_fragments(t, &fragments);
  TRY(js_put(o, "name", js_new_string(str_of(table_name(t))), err));
  TRY(js_put(o, "location", js_new_string(str_of(table_path(t))), err));
  TRY(put_int(o, "version", table_version(t), err));
  TRY(js_put(o, "created_at", js_new_string(str_slice(time, size)), err));
  TRY(put_int(o, "rows", table_live_rows(t), err));
  TRY(put_int(o, "deleted_rows", table_physical_rows(t) - table_live_rows(t), err));
  TRY(put_int(o, "fragments", fragments, err));
  TRY(put_fragment_rows(o, t, a, err));
  TRY(put_int(o, "size_bytes", table_data_bytes(t), err));
  TRY(js_put(o, "stable_row_ids", js_new_bool(table_has_stable_row_ids(t)), err));
  TRY(js_put(o, "data_format", js_new_string(str_of(table_data_version_text(t))), err));
  TRY(js_put(o, "view", js_new_bool(local_is_view(t)), err));
  TRY(put_columns(o, a, table_lance_schema(t), err));
  TRY(put_indexes(o, t, a, err));
  TRY(put_metadata(o, a, "metadata", table_metadata(t), err));
  TRY(put_metadata(o, a, "table_metadata", table_own_metadata(t), err));
  return put_metadata(o, a, "config", table_config(t), err);
}

glv_status local_table_describe(glv_table *table, buf *ret_json, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  CLEANUP(js_cleanup) json *document = js_new_object();
  if (document == NULL) {
    return error_nomem(err, 0);
  }
  TRY(describe(snapshot, &a, document, err));
  return js_print(document, 0, 0, ret_json, err);
}
