/* What the expressions of a view read, and copies of definitions. */
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

glv_status planner_add_reads(struct planner *p, const size_t *columns, size_t column_count,
                             const char *const *paths, size_t path_count, glv_error *err) {
  TRY(append_paths(p, paths, path_count, err));
  return append_columns(p, columns, column_count, err);
}

glv_status planner_add_inputs(struct planner *p, const expr *e, glv_error *err) {
  size_t column_count = 0;
  size_t path_count = 0;
  const size_t *columns = expr_columns(e, &column_count);
  const char *const *paths = expr_paths(e, &path_count);
  return planner_add_reads(p, columns, column_count, paths, path_count, err);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_number(const void *a, const void *b) {
  const size_t x = *(const size_t *)a;
  const size_t y = *(const size_t *)b;
  return (x > y) - (x < y);
}

/* The list that is expanded decides how many rows there are, whether or not its elements are read;
 * a read of an element is one of the list. */
static glv_status add_list(struct planner *p, glv_error *err) {
  if (p->unnest == SIZE_MAX) {
    return GLV_OK;
  }
  const view_definition *d = &p->plan->definition;
  const size_t size = strlen(d->unnest_alias);
  for (size_t i = 0; i < p->path_count; i++) {
    const char rest = strncmp(p->paths[i], d->unnest_alias, size) == 0 ? p->paths[i][size] : 'x';
    if (rest == '\0' || rest == '.') {
      p->paths[i] = d->unnest_column;
    }
  }
  return planner_add_reads(p, &p->unnest, 1, &d->unnest_column, 1, err);
}

glv_status planner_finish_inputs(struct planner *p, glv_error *err) {
  TRY(add_list(p, err));
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
            copy_text(a, from->unnest_column, &to->unnest_column) &&
            copy_text(a, from->unnest_alias, &to->unnest_alias) &&
            copy_text(a, from->function, &to->function) &&
            copy_texts(a, from->groups, from->group_count, &to->groups) &&
            copy_texts(a, from->source_namespace, from->namespace_count, &to->source_namespace) &&
            copy_texts(a, from->inputs, from->input_count, &to->inputs);
  for (size_t i = 0; i < from->projection_count && ok; i++) {
    ok = copy_text(a, from->projections[i].output, &projections[i].output) &&
         copy_text(a, from->projections[i].expression, &projections[i].expression);
  }
  to->projections = projections;
  return ok ? GLV_OK : error_nomem(err, sizeof *from);
}
