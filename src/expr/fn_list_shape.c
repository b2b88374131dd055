/* Lists of other shape with the same items (sql-expressions 13.2): flatten, array_compact,
 * arrays_zip. */
#include "base/limits.h"
#include "expr/function_private.h"
#include "expr/lists.h"

/* ---- flatten ---- */

/* The items of the lists in each list, by the offsets of both. */
static glv_status flatten_lists(const function_frame *f, const lists *outer, size_t rows,
                                array *ret, glv_error *err) {
  const operand o = {.a = *outer->items};
  const lists inner = lists_of(&o);
  CLEANUP(list_builder_dispose) list_builder b = {0};
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(list_builder_source(&b, inner.items, err));
  for (size_t i = 0; i < rows; i++) {
    if (!lists_is_valid(outer, i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    const span s = lists_at(outer, i);
    for (size_t k = s.first; k < s.first + s.count; k++) {
      const span items = lists_at(&inner, k);
      TRY(list_builder_reserve(&b, items.count, err));
      list_builder_pick_span(&b, items.first, items.count);
    }
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static glv_status flatten(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  const type *t = arguments[0].a.type;
  if (t->kind == TYPE_NULL || !type_is_list(list_item(t)->kind)) {
    return kernel_column(f->env, &arguments[0], f->binding->result, rows, ret, err);
  }
  const lists outer = lists_of(&arguments[0]);
  return flatten_lists(f, &outer, rows, ret, err);
}

static glv_status bind_flatten(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_lists(b, "a", false, err));
  const type *t = b->targets[0];
  b->result = t;
  if (t->kind == TYPE_NULL || !type_is_list(list_item(t)->kind)) {
    return GLV_OK;
  }
  const type *inner = list_item(t);
  const bool large = t->kind == TYPE_LARGE_LIST || inner->kind == TYPE_LARGE_LIST;
  return list_type_new(b->arena, large ? TYPE_LARGE_LIST : TYPE_LIST, list_item(inner),
                       inner->children[0].nullable, &b->result, err);
}

/* ---- array_compact ---- */

static glv_status array_compact(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  const type *t = arguments[0].a.type;
  if (t->kind == TYPE_NULL ||
      (list_item(t)->kind != TYPE_NULL && !array_has_nulls(&arguments[0].a.children[0]))) {
    return kernel_column(f->env, &arguments[0], f->binding->result, rows, ret, err);
  }
  const lists l = lists_of(&arguments[0]);
  CLEANUP(list_builder_dispose) list_builder b = {0};
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(list_builder_source(&b, l.items, err));
  for (size_t i = 0; i < rows; i++) {
    if (!lists_is_valid(&l, i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    const span s = lists_at(&l, i);
    TRY(list_builder_reserve(&b, s.count, err));
    for (size_t k = s.first; k < s.first + s.count; k++) {
      if (array_is_valid(l.items, k)) {
        list_builder_pick(&b, (uint32_t)k);
      }
    }
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

/* ---- arrays_zip ---- */

static bool is_list_at(const operand *o, size_t i) {
  if (o->a.type->kind == TYPE_NULL) {
    return false;
  }
  const lists l = lists_of(o);
  return lists_is_valid(&l, i);
}

/* The length of the longest list of row i; *ret_valid false = all are null. */
static size_t longest(const operand *arguments, size_t count, size_t i, bool *ret_valid) {
  size_t most = 0;
  *ret_valid = false;
  for (size_t k = 0; k < count; k++) {
    if (is_list_at(&arguments[k], i)) {
      const lists l = lists_of(&arguments[k]);
      most = size_max(most, lists_at(&l, i).count);
      *ret_valid = true;
    }
  }
  return most;
}

/* The rows of the result: as long as the longest list. */
static glv_status zip_rows(const operand *arguments, size_t count, list_builder *b,
                           glv_error *err) {
  for (size_t i = 0; i < b->rows; i++) {
    bool valid = false;
    b->pick_count += longest(arguments, count, i, &valid);
    TRY((valid ? list_builder_end : list_builder_end_null)(b, err));
  }
  return GLV_OK;
}

/* One argument as a field: its items, and nulls up to the length of the row. */
static glv_status zip_field(glv_env *env, const operand *o, const list_builder *rows, const type *t,
                            array *ret, glv_error *err) {
  if (o->a.type->kind == TYPE_NULL) {
    return array_new_null(env, t, rows->pick_count, ret, err);
  }
  CLEANUP(list_builder_dispose) list_builder b = {0};
  const lists l = lists_of(o);
  const int32_t *ends = (const int32_t *)(const void *)rows->offsets->data;
  TRY(list_builder_init(&b, env, rows->type, 0, err));
  TRY(list_builder_source(&b, l.items, err));
  TRY(list_builder_reserve(&b, rows->pick_count, err));
  for (size_t i = 0; i < rows->rows; i++) {
    const size_t wanted = (size_t)(ends[i + 1] - ends[i]);
    const span s = lists_is_valid(&l, i) ? lists_at(&l, i) : (span){0};
    list_builder_pick_span(&b, s.first, s.count);
    list_builder_pick_nulls(&b, wanted - s.count);
  }
  return lists_take(env, &b.source, b.picks, b.pick_count, b.has_holes, t, ret, err);
}

static glv_status arrays_zip(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  const type *t = f->binding->result;
  const size_t count = f->binding->count;
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(array_unref) array items = {.type = list_item(t)};
  TRY(list_builder_init(&b, f->env, t, rows, err));
  TRY(zip_rows(arguments, count, &b, err));
  items.length = b.pick_count;
  TRY(array_new_children(f->env, count, &items, err));
  for (size_t k = 0; k < count; k++) {
    TRY(zip_field(f->env, &arguments[k], &b, items.type->children[k].type, &items.children[k],
                  err));
  }
  return list_builder_finish_items(&b, &items, ret, err);
}

static glv_status bind_zip(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, SIZE_MAX, err));
  field *fields = ARENA_ARRAY(b->arena, field, b->count);
  if (fields == NULL) {
    return error_nomem(err, b->count * sizeof *fields);
  }
  for (size_t i = 0; i < b->count; i++) {
    const type *t = b->arguments[i].type;
    const char *name = arena_printf(b->arena, "%zu", i + 1);
    if (name == NULL) {
      return error_nomem(err, sizeof *fields);
    }
    if (t->kind != TYPE_NULL && !type_is_list(t->kind)) {
      return bind_refuse(b, i, "List", err);
    }
    fields[i] =
        (field){.name = name, .type = t->kind == TYPE_NULL ? t : list_item(t), .nullable = true};
  }
  const type *item = type_struct(b->arena, fields, b->count);
  if (item == NULL) {
    return error_nomem(err, sizeof *item);
  }
  return list_type_new(b->arena, TYPE_LIST, item, true, &b->result, err);
}

static const char *const compact_names[] = {"list_compact", NULL};
static const char *const zip_names[] = {"list_zip", NULL};

const function functions_list_shape[] = {
    {.name = "flatten", .bind = bind_flatten, .kernel = flatten},
    {.name = "array_compact",
     .aliases = compact_names,
     .bind = bind_list_to_list,
     .kernel = array_compact},
    {.name = "arrays_zip", .aliases = zip_names, .bind = bind_zip, .kernel = arrays_zip},
    {0},
};
