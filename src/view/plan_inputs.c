/* What the expressions of a view read, copies of definitions, and type names for messages. */
#include <stdlib.h>

#include "view/plan_private.h"

/* Room for more entries; doubling keeps the memory in proportion to the number of columns. */
static void *grow(arena *a, const void *old, size_t used, size_t wanted, size_t width,
                  size_t *capacity) {
  const size_t room = size_max(wanted, *capacity * 2);
  void *all = arena_calloc(a, room, width);
  if (all != NULL) {
    if (old != NULL) {
      memcpy(all, old, used * width);
    }
    *capacity = room;
  }
  return all;
}

static glv_status append_paths(struct planner *p, const char *const *paths, size_t count,
                               glv_error *err) {
  arena *a = &p->plan->memory;
  const size_t wanted = p->path_count + count;
  if (wanted > p->path_capacity || p->paths == NULL) {
    const char **all =
        grow(a, p->paths, p->path_count, wanted, sizeof *p->paths, &p->path_capacity);
    if (all == NULL) {
      return error_nomem(err, wanted * sizeof *all);
    }
    p->paths = all;
  }
  for (size_t i = 0; i < count; i++) {
    const char *copy = arena_strdup(a, str_of(paths[i]));
    if (copy == NULL) {
      return error_nomem(err, strlen(paths[i]));
    }
    p->paths[p->path_count++] = copy;
  }
  return GLV_OK;
}

static glv_status append_columns(struct planner *p, const size_t *columns, size_t count,
                                 glv_error *err) {
  const size_t wanted = p->column_count + count;
  if (wanted > p->column_capacity || p->columns == NULL) {
    size_t *all = grow(&p->plan->memory, p->columns, p->column_count, wanted, sizeof *p->columns,
                       &p->column_capacity);
    if (all == NULL) {
      return error_nomem(err, wanted * sizeof *all);
    }
    p->columns = all;
  }
  for (size_t i = 0; i < count; i++) {
    p->columns[p->column_count++] = columns[i];
  }
  return GLV_OK;
}

glv_status planner_add_inputs(struct planner *p, const expr *e, glv_error *err) {
  size_t count = 0;
  const char *const *paths = expr_paths(e, &count);
  TRY(append_paths(p, paths, count, err));
  const size_t *columns = expr_columns(e, &count);
  return append_columns(p, columns, count, err);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_number(const void *a, const void *b) {
  const size_t x = *(const size_t *)a;
  const size_t y = *(const size_t *)b;
  return (x > y) - (x < y);
}

glv_status planner_finish_inputs(struct planner *p, glv_error *err) {
  (void)err;
  size_t kept = 0;
  if (p->path_count > 0) {
    qsort(p->paths, p->path_count, sizeof *p->paths, by_text);
  }
  for (size_t i = 0; i < p->path_count; i++) {
    if (kept == 0 || strcmp(p->paths[i], p->paths[kept - 1]) != 0) {
      p->paths[kept++] = p->paths[i];
    }
  }
  p->plan->definition.inputs = p->paths;
  p->plan->definition.input_count = kept;
  kept = 0;
  if (p->column_count > 0) {
    qsort(p->columns, p->column_count, sizeof *p->columns, by_number);
  }
  for (size_t i = 0; i < p->column_count; i++) {
    if (kept == 0 || p->columns[i] != p->columns[kept - 1]) {
      p->columns[kept++] = p->columns[i];
    }
  }
  p->plan->input_columns = p->columns;
  p->plan->input_column_count = kept;
  return GLV_OK;
}

static bool copy_text(arena *a, const char *from, const char **to) {
  *to = from == NULL ? NULL : arena_strdup(a, str_of(from));
  return from == NULL || *to != NULL;
}

static bool copy_texts(arena *a, const char *const *from, size_t count, const char *const **to) {
  const char **copy = ARENA_ARRAY(a, const char *, count);
  bool ok = copy != NULL;
  for (size_t i = 0; i < count && ok; i++) {
    ok = copy_text(a, from[i], &copy[i]);
  }
  *to = copy;
  return ok;
}

glv_status planner_copy_definition(arena *a, const view_definition *from, view_definition *to,
                                   glv_error *err) {
  *to = *from;
  view_projection *projections = ARENA_ARRAY(a, view_projection, from->projection_count);
  bool ok = projections != NULL && copy_text(a, from->source_table, &to->source_table) &&
            copy_text(a, from->filter, &to->filter) && copy_text(a, from->query, &to->query) &&
            copy_texts(a, from->source_namespace, from->namespace_count, &to->source_namespace) &&
            copy_texts(a, from->inputs, from->input_count, &to->inputs);
  for (size_t i = 0; i < from->projection_count && ok; i++) {
    ok = copy_text(a, from->projections[i].output, &projections[i].output) &&
         copy_text(a, from->projections[i].expression, &projections[i].expression);
  }
  to->projections = projections;
  return ok ? GLV_OK : error_nomem(err, sizeof *from);
}

const char *planner_type_name(const type *t) {
  switch (t->kind) {
  case TYPE_NULL:
    return "Null";
  case TYPE_BOOL:
    return "Boolean";
  case TYPE_INT8:
    return "Int8";
  case TYPE_INT16:
    return "Int16";
  case TYPE_INT32:
    return "Int32";
  case TYPE_INT64:
    return "Int64";
  case TYPE_UINT8:
    return "UInt8";
  case TYPE_UINT16:
    return "UInt16";
  case TYPE_UINT32:
    return "UInt32";
  case TYPE_UINT64:
    return "UInt64";
  case TYPE_FLOAT16:
    return "Float16";
  case TYPE_FLOAT32:
    return "Float32";
  case TYPE_FLOAT64:
    return "Float64";
  case TYPE_DECIMAL128:
    return "Decimal128";
  case TYPE_DECIMAL256:
    return "Decimal256";
  case TYPE_DATE32:
    return "Date32";
  case TYPE_DATE64:
    return "Date64";
  case TYPE_TIME32:
    return "Time32";
  case TYPE_TIME64:
    return "Time64";
  case TYPE_TIMESTAMP:
    return "Timestamp";
  case TYPE_DURATION:
    return "Duration";
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return "Interval(MonthDayNano)";
  case TYPE_UTF8:
    return "Utf8";
  case TYPE_LARGE_UTF8:
    return "LargeUtf8";
  case TYPE_UTF8_VIEW:
    return "Utf8View";
  case TYPE_BINARY:
    return "Binary";
  case TYPE_LARGE_BINARY:
    return "LargeBinary";
  case TYPE_BINARY_VIEW:
    return "BinaryView";
  case TYPE_FIXED_SIZE_BINARY:
    return "FixedSizeBinary";
  case TYPE_DICTIONARY:
    return "Dictionary";
  case TYPE_LIST:
    return "List";
  case TYPE_LARGE_LIST:
    return "LargeList";
  case TYPE_FIXED_SIZE_LIST:
    return "FixedSizeList";
  case TYPE_STRUCT:
    return "Struct";
  case TYPE_MAP:
    return "Map";
  case TYPE_NONE:
    break;
  }
  return "Unknown";
}
