/* Paths are followed as far as they name one child; a name that fits two children, or none, ends
 * the path at their parent, of which everything is then an input. Names alone prove nothing:
 * columns may have been swapped or dropped and added again, children of a struct too.
 */
#include "view/inputs.h"

#include <stdlib.h>

#include "base/limits.h"

/* Whether the path goes on with this name; *rest is what follows. */
static bool leads_through(str path, const char *name, str *rest) {
  const str n = str_of(name);
  if (!str_starts_with(path, n) || (path.size > n.size && path.data[n.size] != '.')) {
    return false;
  }
  const size_t used = path.size > n.size ? n.size + 1 : n.size;
  *rest = str_slice(path.data + used, path.size - used);
  return true;
}

/* The one field that the path goes on with, or NULL. */
static const lance_field *follow(const lance_field *fields, size_t count, str *path) {
  const lance_field *found = NULL;
  str rest = {0};
  for (size_t i = 0; i < count && path->size > 0; i++) {
    if (leads_through(*path, fields[i].arrow.name, &rest)) {
      if (found != NULL) {
        return NULL;
      }
      found = &fields[i];
    }
  }
  if (found != NULL) {
    (void)leads_through(*path, found->arrow.name, path);
  }
  return found;
}

/* ---- relevant fields ---- */

struct collection {
  glv_env *env;
  int32_t *ids;
  size_t count;
  size_t capacity;
};

static glv_status collect(struct collection *c, const lance_field *f, glv_error *err) {
  TRY(vec_reserve(c->env, &c->ids, &c->capacity, c->count + 1, sizeof *c->ids, err));
  c->ids[c->count++] = f->id;
  return GLV_OK;
}

/* NOLINTNEXTLINE(misc-no-recursion): depth is counted */
static glv_status collect_below(struct collection *c, const lance_field *f, int depth,
                                glv_error *err) {
  if (depth == 0) {
    return FAIL(err, GLV_E_LIMIT, "column '%s' is nested too deeply", f->arrow.name);
  }
  TRY(collect(c, f, err));
  for (size_t i = 0; i < f->child_count; i++) {
    TRY(collect_below(c, &f->children[i], depth - 1, err));
  }
  return GLV_OK;
}

static glv_status collect_path(struct collection *c, const lance_schema *s, const char *path,
                               glv_error *err) {
  str rest = str_of(path);
  const lance_field *f = follow(s->fields, s->field_count, &rest);
  while (f != NULL) {
    const lance_field *next = follow(f->children, f->child_count, &rest);
    if (next == NULL) {
      return collect_below(c, f, LIMIT_TYPE_DEPTH, err);
    }
    TRY(collect(c, f, err));
    f = next;
  }
  return GLV_OK;
}

static int compare_ids(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a;
  const int32_t y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static glv_status keep(struct collection *c, arena *a, view_inputs *ret, glv_error *err) {
  int32_t *ids = ARENA_ARRAY(a, int32_t, c->count);
  if (ids == NULL) {
    return error_nomem(err, c->count * sizeof *ids);
  }
  if (c->count > 1) {
    qsort(c->ids, c->count, sizeof *c->ids, compare_ids);
  }
  size_t kept = 0;
  for (size_t i = 0; i < c->count; i++) {
    if (kept == 0 || ids[kept - 1] != c->ids[i]) {
      ids[kept++] = c->ids[i];
    }
  }
  ret->fields = ids;
  ret->field_count = kept;
  return GLV_OK;
}

glv_status view_inputs_find(const lance_schema *s, const view_plan *plan, arena *a,
                            view_inputs *ret, glv_error *err) {
  const view_definition *d = &plan->definition;
  struct collection c = {.env = a->env};
  *ret = (view_inputs){.schema = s, .paths = d->inputs, .path_count = d->input_count};
  glv_status status = GLV_OK;
  for (size_t i = 0; i < d->input_count && status == GLV_OK; i++) {
    status = collect_path(&c, s, d->inputs[i], err);
  }
  status = status == GLV_OK ? keep(&c, a, ret, err) : status;
  mem_free(a->env, c.ids);
  return status;
}

bool view_inputs_have(const view_inputs *in, int32_t field_id) {
  return in->field_count > 0 &&
         bsearch(&field_id, in->fields, in->field_count, sizeof field_id, compare_ids) != NULL;
}

bool view_inputs_in_file(const view_inputs *in, const data_file *f) {
  for (size_t i = 0; i < f->count; i++) {
    if (view_inputs_have(in, f->fields[i])) {
      return true;
    }
  }
  return false;
}

/* ---- identity ---- */

static bool same_field(const lance_field *a, const lance_field *b) {
  return a->id == b->id && strcmp(a->arrow.name, b->arrow.name) == 0 &&
         strcmp(a->logical_type, b->logical_type) == 0 && a->blob == b->blob &&
         a->is_packed == b->is_packed;
}

/* NOLINTNEXTLINE(misc-no-recursion): depth is counted */
static bool same_below(const lance_field *a, const lance_field *b, int depth) {
  if (depth == 0 || a->child_count != b->child_count || !same_field(a, b)) {
    return false;
  }
  for (size_t i = 0; i < a->child_count; i++) {
    if (!same_below(&a->children[i], &b->children[i], depth - 1)) {
      return false;
    }
  }
  return true;
}

static bool same_path(const lance_schema *a, const lance_schema *b, const char *path) {
  str rest_a = str_of(path);
  str rest_b = rest_a;
  const lance_field *x = follow(a->fields, a->field_count, &rest_a);
  const lance_field *y = follow(b->fields, b->field_count, &rest_b);
  while (x != NULL && y != NULL && same_field(x, y)) {
    const lance_field *next_x = follow(x->children, x->child_count, &rest_a);
    const lance_field *next_y = follow(y->children, y->child_count, &rest_b);
    if (next_x == NULL || next_y == NULL) {
      return next_x == next_y && same_below(x, y, LIMIT_TYPE_DEPTH);
    }
    x = next_x;
    y = next_y;
  }
  return false;
}

bool view_inputs_same(const view_inputs *in, const lance_schema *s) {
  for (size_t i = 0; i < in->path_count; i++) {
    if (!same_path(in->schema, s, in->paths[i])) {
      return false;
    }
  }
  return true;
}
