/*
 * The result of a search:
 *
 *   the rows found, nearest first -> the columns that outputs and a late filter read, taken by
 *   address -> a batch of the scope: table columns, `_distance`, system columns -> the rows that
 *   the filter, offset and limit leave -> the outputs -> their order, if another one is wanted
 */
#include "arrow/cdata.h"
#include "expr/expr.h"
#include "search/search_private.h"
#include "table/scan_order.h"
#include "table/table.h"
#include "table/take.h"

/* One column of the result. */
typedef struct output {
  expr *expr; /* NULL = the column of the scope */
  size_t column;
} output;

typedef struct shaping {
  const table_snapshot *table;
  const search_options *options;
  glv_env *env;
  arena memory;
  const neighbor *found;
  size_t count;
  schema *scope;
  size_t distance; /* its place in the scope, the first after those of the table */
  expr *filter;
  output *outputs;
  size_t output_count;
  schema *result;
  bool *used; /* per column of the scope */
  batch read; /* what was taken; the types of rows point into its schema */
  batch rows; /* of the scope */
} shaping;

static void shaping_dispose(shaping *s) {
  for (size_t i = 0; i < s->output_count; i++) {
    expr_free(s->outputs[i].expr);
  }
  expr_free(s->filter);
  batch_dispose(&s->rows);
  batch_dispose(&s->read);
  schema_unref(s->result);
  schema_unref(s->scope);
  arena_dispose(&s->memory);
}

/* ---- planning ---- */

static glv_status build_scope(shaping *s, glv_error *err) {
  CLEANUP(schema_cleanup) schema *columns = NULL;
  const scan_unnest none = {0};
  size_t ignored;
  TRY(table_scan_schema(s->table, &none, &columns, &ignored, err));
  size_t count = columns->field_count + 1;
  while (scan_system_column(count - columns->field_count - 1) != NULL) {
    count++;
  }
  field *fields = ARENA_ARRAY(&s->memory, field, count);
  s->used = ARENA_ARRAY(&s->memory, bool, count);
  if (fields == NULL || s->used == NULL) {
    return error_nomem(err, count * sizeof *fields);
  }
  s->distance = columns->field_count;
  for (size_t i = 0; i < s->distance; i++) {
    fields[i] = columns->fields[i];
  }
  fields[s->distance] =
      (field){.name = SEARCH_DISTANCE, .type = type_simple(TYPE_FLOAT32), .nullable = true};
  for (size_t i = s->distance + 1; i < count; i++) {
    fields[i] = (field){.name = scan_system_column(i - s->distance - 1),
                        .type = type_simple(TYPE_UINT64),
                        .nullable = true};
  }
  return schema_new(s->env, fields, count, (metadata){0}, &s->scope, err);
}

static void note_columns(shaping *s, const expr *e) {
  size_t count;
  const size_t *columns = expr_columns(e, &count);
  for (size_t i = 0; i < count; i++) {
    s->used[columns[i]] = true;
  }
}

static glv_status plan_expression(shaping *s, const scan_column *c, output *out, field *ret,
                                  glv_error *err) {
  const expr_scope scope = {s->scope, s->distance + 1};
  size_t depth = 0;
  TRY(expr_plan_value(s->env, c->expression, &scope, s->options->expr_flags, &out->expr, err));
  note_columns(s, out->expr);
  if (expr_is_column(out->expr, &out->column, &depth) && depth == 1) {
    *ret = s->scope->fields[out->column];
    expr_free(out->expr);
    out->expr = NULL;
  } else {
    *ret = (field){.type = expr_type(out->expr), .nullable = expr_nullable(out->expr)};
  }
  return GLV_OK;
}

static glv_status plan_output(shaping *s, const scan_column *c, field *ret, glv_error *err) {
  output *out = &s->outputs[s->output_count];
  char *name = arena_strdup(&s->memory, c->name);
  if (name == NULL) {
    return error_nomem(err, c->name.size);
  }
  if (c->expression.data != NULL) {
    s->output_count++; /* for shaping_dispose */
    TRY(plan_expression(s, c, out, ret, err));
  } else {
    out->column = schema_find(s->scope, c->name);
    if (out->column == SIZE_MAX) {
      return FAIL(err, GLV_E_COLUMN_NOT_FOUND, "table '%s' has no column '%s'",
                  table_name(s->table), name);
    }
    s->output_count++;
    s->used[out->column] = true;
    *ret = s->scope->fields[out->column];
  }
  ret->name = name;
  return GLV_OK;
}

/* A column that the caller need not name. */
static glv_status add_output(shaping *s, const char *name, field *fields, glv_error *err) {
  const scan_column c = {.name = str_of(name)};
  return plan_output(s, &c, &fields[s->output_count], err);
}

static bool is_named(const search_options *o, const char *name) {
  for (size_t i = 0; o->columns != NULL && i < o->column_count; i++) {
    if (str_is(o->columns[i].name, name)) {
      return true;
    }
  }
  return false;
}

static glv_status plan_outputs(shaping *s, glv_error *err) {
  const search_options *o = s->options;
  const bool is_all = o->columns == NULL;
  const size_t count = is_all ? s->distance : o->column_count;
  field *fields = ARENA_ARRAY(&s->memory, field, count + 2);
  s->outputs = ARENA_ARRAY(&s->memory, output, count + 2);
  if (fields == NULL || s->outputs == NULL) {
    return error_nomem(err, count * sizeof *fields);
  }
  TRY(is_all ? table_check_supported(s->table, err) : GLV_OK);
  for (size_t i = 0; i < count; i++) {
    TRY(is_all ? add_output(s, s->scope->fields[i].name, fields, err)
               : plan_output(s, &o->columns[i], &fields[i], err));
  }
  TRY(is_named(o, SEARCH_DISTANCE) ? GLV_OK : add_output(s, SEARCH_DISTANCE, fields, err));
  TRY(o->with_row_id ? add_output(s, "_rowid", fields, err) : GLV_OK);
  return schema_new(s->env, fields, s->output_count, (metadata){0}, &s->result, err);
}

static glv_status plan(shaping *s, glv_error *err) {
  const search_options *o = s->options;
  TRY(build_scope(s, err));
  if (o->postfilter && o->filter.size > 0) {
    const expr_scope scope = {s->scope, s->distance + 1};
    TRY(expr_plan_filter(s->env, o->filter, &scope, o->expr_flags, &s->filter, err));
    note_columns(s, s->filter);
  }
  return plan_outputs(s, err);
}

/* ---- reading ---- */

static glv_status put_distances(shaping *s, glv_error *err) {
  void *values = NULL;
  TRY(array_new_fixed(s->env, type_simple(TYPE_FLOAT32), s->count, &s->rows.columns[s->distance],
                      &values, err));
  for (size_t i = 0; i < s->count; i++) {
    ((float *)values)[i] = s->found[i].distance;
  }
  return GLV_OK;
}

/* Takes the columns used, but for the distance, into s->read. */
static glv_status take_columns(shaping *s, const scan_column *columns, size_t count,
                               glv_error *err) {
  uint64_t *addresses = ARENA_ARRAY(&s->memory, uint64_t, s->count);
  if (addresses == NULL) {
    return error_nomem(err, s->count * sizeof *addresses);
  }
  for (size_t i = 0; i < s->count; i++) {
    addresses[i] = s->found[i].address;
  }
  const take_options take = {.columns = columns,
                             .column_count = count,
                             .by = TAKE_BY_ADDRESS,
                             .cancel = s->options->cancel};
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(table_take(s->table, addresses, s->count, &take, &r, err));
  TRY(batch_collect(s->env, &r, &s->read, err));
  return s->read.length == s->count
             ? GLV_OK
             : FAIL(err, GLV_E_INTERNAL, "%zu rows of table '%s' were found, %zu were read",
                    s->count, table_name(s->table), s->read.length);
}

static glv_status read_rows(shaping *s, glv_error *err) {
  scan_column *columns = ARENA_ARRAY(&s->memory, scan_column, s->scope->field_count);
  size_t *places = ARENA_ARRAY(&s->memory, size_t, s->scope->field_count);
  size_t count = 0;
  if (columns == NULL || places == NULL) {
    return error_nomem(err, s->scope->field_count * sizeof *columns);
  }
  for (size_t i = 0; i < s->scope->field_count; i++) {
    if (s->used[i] && i != s->distance) {
      columns[count].name = str_of(s->scope->fields[i].name);
      places[count++] = i;
    }
  }
  TRY(batch_new(s->env, s->scope, s->count, s->scope->field_count, &s->rows, err));
  TRY(put_distances(s, err));
  TRY(count > 0 ? take_columns(s, columns, count, err) : GLV_OK);
  for (size_t i = 0; i < count; i++) {
    s->rows.columns[places[i]] = array_ref(&s->read.columns[i]);
  }
  return GLV_OK;
}

/* ---- choosing ---- */

/* Of ascending rows, those that offset and limit leave of each query, in place; what is written
 * never reaches rows[i - 1] but with its own value. @return how many. */
static size_t cut_queries(const shaping *s, uint32_t *rows, size_t count) {
  size_t kept = 0;
  uint64_t number = 0; /* of the row within its query */
  for (size_t i = 0; i < count; i++) {
    number = i > 0 && s->found[rows[i]].query == s->found[rows[i - 1]].query ? number + 1 : 0;
    if (number >= s->options->offset && number - s->options->offset < s->options->limit) {
      rows[kept++] = rows[i];
    }
  }
  return kept;
}

/* The rows of the result; NULL = all. */
static glv_status choose_rows(shaping *s, uint32_t **ret, size_t *ret_count, glv_error *err) {
  *ret = NULL;
  *ret_count = s->count;
  if (!s->options->postfilter) {
    return GLV_OK; /* search.c has cut them */
  }
  uint32_t *rows = ARENA_ARRAY(&s->memory, uint32_t, s->count);
  if (rows == NULL) {
    return error_nomem(err, s->count * sizeof *rows);
  }
  const selection all = {NULL, s->count};
  if (s->filter != NULL && s->count > 0) {
    TRY(expr_select(s->filter, &s->rows, all, rows, ret_count, err));
  } else {
    for (size_t i = 0; i < s->count; i++) {
      rows[i] = (uint32_t)i;
    }
  }
  *ret_count = cut_queries(s, rows, *ret_count);
  *ret = rows;
  return GLV_OK;
}

/* ---- the result ---- */

/* t: of the column in the schema that the result keeps. */
static glv_status make_output(const shaping *s, size_t i, const type *t, const selection *rows,
                              array *ret, glv_error *err) {
  const output *o = &s->outputs[i];
  CLEANUP(array_unref) array values = {0};
  if (o->expr != NULL) {
    TRY(expr_eval(o->expr, &s->rows, *rows, &values, err));
  } else if (rows->rows != NULL) {
    TRY(array_take(s->env, &s->rows.columns[o->column], rows->rows, rows->count, &values, err));
  } else {
    values = array_ref(&s->rows.columns[o->column]);
  }
  return array_retype(s->env, &values, t, ret, err);
}

/* The result's schema with the number of the query in front. */
static glv_status with_query_field(shaping *s, schema **ret, glv_error *err) {
  field *fields = ARENA_ARRAY(&s->memory, field, s->output_count + 1);
  if (fields == NULL) {
    return error_nomem(err, s->output_count * sizeof *fields);
  }
  fields[0] = (field){.name = SEARCH_QUERY, .type = type_simple(TYPE_INT32)};
  memcpy(fields + 1, s->result->fields, s->output_count * sizeof *fields);
  return schema_new(s->env, fields, s->output_count + 1, s->result->metadata, ret, err);
}

static glv_status make_query_numbers(const shaping *s, const selection *rows, array *ret,
                                     glv_error *err) {
  void *values = NULL;
  TRY(array_new_fixed(s->env, type_simple(TYPE_INT32), rows->count, ret, &values, err));
  for (size_t i = 0; i < rows->count; i++) {
    const size_t row = rows->rows != NULL ? rows->rows[i] : i;
    ((int32_t *)values)[i] = (int32_t)s->found[row].query;
  }
  return GLV_OK;
}

static glv_status make_result(shaping *s, bool numbers_queries, const selection *rows,
                              batch_reader *ret, glv_error *err) {
  CLEANUP(schema_cleanup) schema *result = NULL;
  CLEANUP(batch_dispose) batch b = {0};
  const size_t first = numbers_queries;
  if (numbers_queries) {
    TRY(with_query_field(s, &result, err));
  } else {
    result = schema_ref(s->result);
  }
  TRY(batch_new(s->env, result, rows->count, first + s->output_count, &b, err));
  TRY(numbers_queries ? make_query_numbers(s, rows, &b.columns[0], err) : GLV_OK);
  for (size_t i = 0; i < s->output_count; i++) {
    TRY(make_output(s, i, result->fields[first + i].type, rows, &b.columns[first + i], err));
  }
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(batch_reader_of(s->env, result, &b, rows->count > 0, &r, err));
  if (s->options->order_count > 0) {
    const order_cut all = {.outputs = first + s->output_count};
    return rows_order(s->env, &r, s->options->order, s->options->order_count, &all, ret, err);
  }
  *ret = r;
  r = (batch_reader){0};
  return GLV_OK;
}

glv_status search_result(const table_snapshot *t, const search_options *o, bool numbers_queries,
                         const neighbor *found, size_t count, batch_reader *ret, glv_error *err) {
  CLEANUP(shaping_dispose)
  shaping s = {.table = t, .options = o, .env = table_env(t), .found = found, .count = count};
  arena_init(&s.memory, s.env);
  uint32_t *chosen = NULL;
  size_t chosen_count = 0;
  TRY(plan(&s, err));
  TRY(read_rows(&s, err));
  TRY(choose_rows(&s, &chosen, &chosen_count, err));
  const selection rows = {chosen, chosen_count};
  return make_result(&s, numbers_queries, &rows, ret, err);
}
