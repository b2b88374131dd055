/* One row per element of a list column (UNNEST): the columns that expressions see, and a window of
 * rows expanded.
 *
 * The columns of the table are still read for the rows that are left, each once, and their values
 * are repeated by position; the elements are the items of the lists as they lie, unless there are
 * gaps between them.
 */
#include "expr/type_name.h"
#include "table/scan_private.h"

/* ---- columns ---- */

static glv_status check_alias(const table_snapshot *t, str alias, glv_error *err) {
  if (schema_find(table_schema(t), alias) != SIZE_MAX) {
    return FAIL(err, GLV_E_SQL_PLAN, "UNNEST alias '%.*s' collides with a source column",
                STR_ARG(alias));
  }
  if (scan_is_system_name(alias)) {
    return FAIL(err, GLV_E_SQL_PLAN, "UNNEST alias '%.*s' is reserved", STR_ARG(alias));
  }
  if (alias.size == 0 || memchr(alias.data, '.', alias.size) != NULL ||
      memchr(alias.data, '\0', alias.size) != NULL) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "UNNEST alias '%.*s' cannot name a column: it is empty, or holds a period or a NUL",
                STR_ARG(alias));
  }
  return GLV_OK;
}

static glv_status find_list(const table_snapshot *t, str column, size_t *ret, glv_error *err) {
  *ret = schema_find(table_schema(t), column);
  if (*ret == SIZE_MAX) {
    TRY(lance_schema_find(table_lance_schema(t), column) != NULL ? table_check_supported(t, err)
                                                                 : GLV_OK);
    return FAIL(err, GLV_E_SQL_PLAN, "UNNEST column '%.*s' is not a column of the source",
                STR_ARG(column));
  }
  const type *found = table_schema(t)->fields[*ret].type;
  if (found->kind == TYPE_LIST) {
    return GLV_OK;
  }
  CLEANUP(buf_dispose) buf name;
  buf_init(&name, table_env(t), SIZE_MAX / 2);
  TRY(type_name_print(found, &name, err));
  return FAIL(err, GLV_E_SQL_PLAN, "UNNEST column '%.*s' is %.*s, not a list", STR_ARG(column),
              STR_ARG(buf_str(&name)));
}

glv_status table_scan_schema(const table_snapshot *t, const scan_unnest *u, schema **ret,
                             size_t *ret_column, glv_error *err) {
  size_t column = SIZE_MAX;
  if (u->column.data == NULL) {
    *ret = schema_ref(table_schema(t));
    *ret_column = column;
    return GLV_OK;
  }
  TRY(find_list(t, u->column, &column, err));
  TRY(check_alias(t, u->alias, err));
  const schema *from = table_schema(t);
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table_env(t));
  field *fields = ARENA_ARRAY(&a, field, from->field_count);
  const char *alias = arena_strdup(&a, u->alias);
  if (fields == NULL || alias == NULL) {
    return error_nomem(err, from->field_count * sizeof *fields);
  }
  memcpy(fields, from->fields, from->field_count * sizeof *fields);
  fields[column] =
      (field){.name = alias, .type = from->fields[column].type->children[0].type, .nullable = true};
  *ret_column = column;
  return schema_new(table_env(t), fields, from->field_count, (metadata){0}, ret, err);
}

/* ---- rows ---- */

/* Number of elements of list i, and the first of them. */
static size_t elements(const array *lists, size_t i, size_t *ret_first) {
  return array_is_valid(lists, i) ? array_list_items(lists, i, ret_first) : 0;
}

glv_status scan_unnest_drop_empty(scan_work *w, glv_error *err) {
  const array *lists = &w->columns.columns[w->plan->unnest];
  uint32_t *kept = ARENA_ARRAY(&w->memory, uint32_t, lists->length);
  if (kept == NULL) {
    return error_nomem(err, lists->length * sizeof *kept);
  }
  size_t count = 0;
  size_t ignored = 0;
  for (size_t i = 0; i < lists->length; i++) {
    kept[count] = (uint32_t)i;
    count += elements(lists, i, &ignored) > 0;
  }
  return count < lists->length ? scan_work_keep(w, kept, count, err) : GLV_OK;
}

/* The elements of all lists together. */
typedef struct extent {
  size_t count;
  size_t first;
  bool has_gaps; /* other items lie between them */
} extent;

static extent measure(const array *lists) {
  extent all = {0};
  for (size_t i = 0; i < lists->length; i++) {
    size_t first = 0;
    const size_t size = elements(lists, i, &first);
    if (size > 0) {
      all.first = all.count == 0 ? first : all.first;
      all.has_gaps = all.has_gaps || first != all.first + all.count;
      all.count += size;
    }
  }
  return all;
}

static glv_status take_elements(scan_work *w, const extent *all, array *ret, glv_error *err) {
  const array *lists = &w->columns.columns[w->plan->unnest];
  if (!all->has_gaps) {
    *ret = array_slice(&lists->children[0], all->first, all->count);
    return ret->type != NULL ? GLV_OK : error_nomem(err, sizeof *ret);
  }
  const arena_mark mark = arena_mark_get(&w->memory);
  uint32_t *rows = ARENA_ARRAY(&w->memory, uint32_t, all->count);
  if (rows == NULL) {
    return error_nomem(err, all->count * sizeof *rows);
  }
  size_t at = 0;
  for (size_t i = 0; i < lists->length; i++) {
    size_t first = 0;
    const size_t size = elements(lists, i, &first);
    for (size_t k = 0; k < size; k++) {
      rows[at++] = (uint32_t)(first + k);
    }
  }
  const glv_status status =
      array_take(w->plan->env, &lists->children[0], rows, all->count, ret, err);
  arena_reset_to(&w->memory, mark);
  return status;
}

static glv_status set_parents(scan_work *w, size_t count, glv_error *err) {
  const array *lists = &w->columns.columns[w->plan->unnest];
  uint32_t *parents = ARENA_ARRAY(&w->memory, uint32_t, count);
  if (parents == NULL) {
    return error_nomem(err, count * sizeof *parents);
  }
  size_t at = 0;
  for (size_t i = 0; i < lists->length; i++) {
    size_t ignored = 0;
    for (const size_t end = at + elements(lists, i, &ignored); at < end; at++) {
      parents[at] = (uint32_t)i;
    }
  }
  w->parents = parents;
  return GLV_OK;
}

glv_status scan_unnest_expand(scan_work *w, glv_error *err) {
  const scan_plan *p = w->plan;
  array *lists = &w->columns.columns[p->unnest];
  const extent all = measure(lists);
  CLEANUP(array_unref) array items = {0};
  TRY(take_elements(w, &all, &items, err));
  TRY(set_parents(w, all.count, err));
  array_unref(lists);
  *lists = items;
  items = (array){0};
  w->columns.length = all.count;
  for (size_t i = 0; i < p->scope->field_count; i++) {
    if (i != p->unnest && w->columns.columns[i].type != NULL) {
      TRY(scan_unnest_repeat(w, &w->columns.columns[i], err));
    }
  }
  return GLV_OK;
}

glv_status scan_unnest_keep(scan_work *w, const uint32_t *kept, size_t count, glv_error *err) {
  uint32_t *parents = ARENA_ARRAY(&w->memory, uint32_t, count);
  uint32_t *list = ARENA_ARRAY(&w->memory, uint32_t, count);
  if (parents == NULL || list == NULL) {
    return error_nomem(err, count * sizeof *parents);
  }
  size_t rows = 0;
  for (size_t i = 0; i < count; i++) {
    const uint32_t parent = w->parents[kept[i]];
    const bool is_next = i == 0 || parent != w->parents[kept[i - 1]];
    list[rows] = w->rows.list != NULL ? w->rows.list[parent] : parent;
    rows += is_next;
    parents[i] = (uint32_t)(rows - 1);
  }
  w->parents = parents;
  w->rows = (scan_rows){list, rows};
  return GLV_OK;
}

glv_status scan_unnest_repeat(const scan_work *w, array *values, glv_error *err) {
  if (w->parents == NULL || values->length == w->columns.length) { /* one element in each list */
    return GLV_OK;
  }
  array repeated = {0};
  TRY(array_take(w->plan->env, values, w->parents, w->columns.length, &repeated, err));
  array_unref(values);
  *values = repeated;
  return GLV_OK;
}
