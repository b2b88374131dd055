/*
 * Lists made of values and of other lists (sql-expressions 13.1, 13.2): make_array, array_append,
 * array_prepend, array_concat, array_repeat, array_resize.
 */
#include "base/limits.h"
#include "expr/coerce.h"
#include "expr/function_private.h"
#include "expr/lists.h"

/* Arguments laid end to end: their items, or they themselves as items. */
typedef struct parts {
  glv_env *env;
  const operand *arguments;
  size_t count;
  uint32_t *starts;
  array *items; /* owned */
} parts;

static void parts_dispose(parts *p) {
  for (size_t k = 0; p->items != NULL && k < p->count; k++) {
    array_unref(&p->items[k]);
  }
  mem_free(p->env, p->items);
  mem_free(p->env, p->starts);
}

/* Whether a list argument is less deep than the result, and so an item of it. */
static bool is_item(const operand *o, const type *result) { return !type_equal(o->a.type, result); }

static glv_status parts_init(parts *p, const function_frame *f, const operand *arguments,
                             bool are_lists, list_builder *b, glv_error *err) {
  const type *t = f->binding->result;
  *p = (parts){.env = f->env, .arguments = arguments, .count = f->binding->count};
  p->starts = mem_calloc(f->env, p->count, sizeof *p->starts);
  p->items = mem_calloc(f->env, p->count, sizeof *p->items);
  if (p->starts == NULL || p->items == NULL) {
    return error_nomem(err, p->count * sizeof *p->items);
  }
  for (size_t k = 0; k < p->count; k++) {
    if (!are_lists) {
      p->items[k] = array_ref(&arguments[k].a);
    } else if (is_item(&arguments[k], t)) {
      TRY(lists_wrap(f->env, &arguments[k].a, list_item(t), &p->items[k], err));
    } else {
      p->items[k] = array_ref(&arguments[k].a.children[0]);
    }
  }
  return list_builder_sources(b, p->items, p->count, p->starts, err);
}

/* ---- make_array ---- */

static glv_status make_array(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  const size_t count = f->binding->count;
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(parts_dispose) parts p = {0};
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  if (count != 0) {
    TRY(parts_init(&p, f, arguments, false, &b, err));
  }
  for (size_t i = 0; i < rows; i++) {
    TRY(list_builder_reserve(&b, count, err));
    for (size_t k = 0; k < count; k++) {
      list_builder_pick(&b, p.starts[k] + (uint32_t)operand_row(&arguments[k], i));
    }
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static glv_status no_union(const function_binding *b, const type *l, const type *r,
                           glv_error *err) {
  return FAIL(err, GLV_E_SQL_PLAN, "Failed to unify argument types of %.*s: %s and %s",
              STR_ARG(b->name), TYPE_TEXT(l), TYPE_TEXT(r));
}

static glv_status bind_make(function_binding *b, glv_error *err) {
  const type *item = type_simple(TYPE_NULL);
  for (size_t i = 0; i < b->count; i++) {
    const type *joined = NULL;
    TRY(coerce_union(b->arena, b->arguments[i].type, item, &joined,
                     err)); /* the last names fields */
    if (joined == NULL) {
      return no_union(b, item, b->arguments[i].type, err);
    }
    item = joined;
  }
  for (size_t i = 0; i < b->count; i++) {
    b->targets[i] = item;
  }
  return list_type_new(b->arena, TYPE_LIST, item, true, &b->result, err);
}

/* ---- array_append, array_prepend ---- */

/* An item behind, or in front of, the items of each list. The items of a null list count, too, but
 * for lists of lists: as the reference has it. */
static glv_status add_item(const function_frame *f, const operand *list, const operand *item,
                           bool behind, size_t rows, array *ret, glv_error *err) {
  CLEANUP(list_builder_dispose) list_builder b = {0};
  const bool has_list = list->a.type->kind != TYPE_NULL;
  const lists l = has_list ? lists_of(list) : (lists){0};
  const bool is_nested = type_is_list(item->a.type->kind);
  uint32_t starts[2] = {0};
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  if (has_list) {
    TRY(list_builder_sources(&b, (const array[]){item->a, *l.items}, 2, starts, err));
  } else {
    TRY(list_builder_source(&b, &item->a, err));
  }
  for (size_t i = 0; i < rows; i++) {
    const bool keeps = has_list && (!is_nested || lists_is_valid(&l, i));
    const span s = keeps ? lists_at(&l, i) : (span){0};
    const uint32_t added = (uint32_t)operand_row(item, i);
    TRY(list_builder_reserve(&b, s.count + 1, err));
    if (!behind) {
      list_builder_pick(&b, added);
    }
    list_builder_pick_span(&b, starts[1] + s.first, s.count);
    if (behind) {
      list_builder_pick(&b, added);
    }
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static glv_status array_append(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  return add_item(f, &arguments[0], &arguments[1], true, rows, ret, err);
}
static glv_status array_prepend(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  return add_item(f, &arguments[1], &arguments[0], false, rows, ret, err);
}

static glv_status bind_add(function_binding *b, const char *roles, size_t list, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_lists(b, roles, false, err));
  if (bind_is_null(b, list)) {
    return list_type_new(b->arena, TYPE_LIST, b->targets[1 - list], true, &b->result, err);
  }
  b->result = b->targets[list];
  return GLV_OK;
}

static glv_status bind_append(function_binding *b, glv_error *err) {
  return bind_add(b, "ae", 0, err);
}
static glv_status bind_prepend(function_binding *b, glv_error *err) {
  return bind_add(b, "ea", 1, err);
}

/* ---- array_concat ---- */

/* The lists of row i one behind the other; *ret_valid false = all are null. */
static glv_status pick_all(const parts *p, size_t i, list_builder *b, bool *ret_valid,
                           glv_error *err) {
  *ret_valid = false;
  for (size_t k = 0; k < p->count; k++) {
    const operand *o = &p->arguments[k];
    span s = {operand_row(o, i), 1};
    if (!is_item(o, b->type)) {
      const lists l = lists_of(o);
      if (!lists_is_valid(&l, i)) {
        continue;
      }
      s = lists_at(&l, i);
    }
    *ret_valid = true;
    TRY(list_builder_reserve(b, s.count, err));
    list_builder_pick_span(b, p->starts[k] + s.first, s.count);
  }
  return GLV_OK;
}

static glv_status array_concat_kernel(const function_frame *f, const operand *arguments,
                                      size_t rows, array *ret, glv_error *err) {
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(parts_dispose) parts p = {0};
  if (f->binding->count == 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "array_concat expects at least one argument");
  }
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(parts_init(&p, f, arguments, true, &b, err));
  for (size_t i = 0; i < rows; i++) {
    bool valid = false;
    TRY(pick_all(&p, i, &b, &valid, err));
    TRY((valid ? list_builder_end : list_builder_end_null)(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

/* Lists of lists ... of items, `depth` deep. */
static glv_status nest(const function_binding *b, const type *item, size_t depth, bool large,
                       const type **ret, glv_error *err) {
  *ret = item;
  for (size_t level = 1; level <= depth; level++) {
    const type_kind kind = level == depth && large ? TYPE_LARGE_LIST : TYPE_LIST;
    TRY(list_type_new(b->arena, kind, *ret, true, ret, err));
  }
  return GLV_OK;
}

static glv_status bind_concat(function_binding *b, glv_error *err) {
  size_t depth = 0;
  bool large = false;
  const type *base = type_simple(TYPE_NULL);
  for (size_t i = 0; i < b->count; i++) {
    const type *t = b->arguments[i].type;
    const type *joined = NULL;
    if (!type_is_list(t->kind)) {
      return bind_refuse(b, i, "List", err);
    }
    large = large || t->kind == TYPE_LARGE_LIST;
    depth = size_max(depth, list_dimensions(t));
    TRY(coerce_union(b->arena, base, list_innermost(t), &joined, err));
    if (joined == NULL || (i > 0 && lists_refuse_bytes(base, list_innermost(t)))) {
      return no_union(b, base, list_innermost(t), err);
    }
    base = joined;
  }
  TRY(nest(b, base, depth, large, &b->result, err));
  for (size_t i = 0; i < b->count; i++) {
    const size_t own = list_dimensions(b->arguments[i].type);
    TRY(own == depth ? nest(b, base, depth, large, &b->targets[i], err)
                     : nest(b, base, own, false, &b->targets[i], err));
  }
  return GLV_OK;
}

/* ---- array_repeat, array_resize ---- */

/* Fails before any memory is taken when `count` items of a weight would be too much. */
static glv_status check_total(const function_frame *f, uint64_t *total, uint64_t count,
                              uint64_t weight, glv_error *err) {
  uint64_t more;
  if (__builtin_mul_overflow(count, weight, &more) || more > LIMIT_SQL_LIST_ITEMS - *total) {
    return lists_too_many(f, err);
  }
  *total += more;
  return GLV_OK;
}

static uint64_t repetitions(const operand *count, size_t i) {
  const int64_t n = operand_is_valid(count, i) ? OPERAND_VALUE(count, int64_t, i) : 0;
  return n > 0 ? (uint64_t)n : 0;
}

static glv_status array_repeat(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  const operand *count = &arguments[1];
  CLEANUP(list_builder_dispose) list_builder b = {0};
  uint64_t total = 0;
  for (size_t i = 0; i < rows; i++) {
    const size_t item = operand_row(&arguments[0], i);
    TRY(check_total(f, &total, repetitions(count, i), lists_weight(&arguments[0].a, item, 1), err));
  }
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(list_builder_source(&b, &arguments[0].a, err));
  for (size_t i = 0; i < rows; i++) {
    TRY(list_builder_reserve(&b, (size_t)repetitions(count, i), err));
    if (!operand_is_valid(count, i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    const uint32_t item = (uint32_t)operand_row(&arguments[0], i);
    for (uint64_t k = repetitions(count, i); k > 0; k--) {
      list_builder_pick(&b, item);
    }
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static glv_status bind_repeat(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_int64(b, 1, err));
  const type *t = b->arguments[0].type;
  return list_type_new(b->arena, t->kind == TYPE_LARGE_LIST ? TYPE_LARGE_LIST : TYPE_LIST, t, true,
                       &b->result, err);
}

/* The length that row i is to have. */
static glv_status new_length(const operand *size, size_t i, uint64_t *ret, glv_error *err) {
  const int64_t n = operand_is_valid(size, i) ? OPERAND_VALUE(size, int64_t, i) : 0;
  if (n < 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "array_resize: the size %lld is negative", (long long)n);
  }
  *ret = (uint64_t)n;
  return GLV_OK;
}

/* Fails when the lists would become too long. */
static glv_status check_lengths(const function_frame *f, const lists *l, const operand *size,
                                const operand *value, size_t rows, glv_error *err) {
  uint64_t total = 0;
  for (size_t i = 0; i < rows; i++) {
    uint64_t wanted = 0;
    if (lists_is_valid(l, i)) {
      TRY(new_length(size, i, &wanted, err));
      TRY(check_total(f, &total, wanted, lists_weight(&value->a, operand_row(value, i), 1), err));
    }
  }
  return GLV_OK;
}

/* Each list cut, or filled up with the value of its row. */
static glv_status resize_rows(const lists *l, const operand *size, const operand *value,
                              uint32_t start, list_builder *b, glv_error *err) {
  for (size_t i = 0; i < b->rows; i++) {
    if (!lists_is_valid(l, i)) {
      TRY(list_builder_end_null(b, err));
      continue;
    }
    uint64_t wanted = 0;
    const span s = lists_at(l, i);
    TRY(new_length(size, i, &wanted, err));
    const size_t kept = size_min(s.count, (size_t)wanted);
    TRY(list_builder_reserve(b, (size_t)wanted, err));
    list_builder_pick_span(b, s.first, kept);
    for (size_t k = kept; k < wanted; k++) {
      list_builder_pick(b, start + (uint32_t)operand_row(value, i));
    }
    TRY(list_builder_end(b, err));
  }
  return GLV_OK;
}

static glv_status array_resize(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(array_unref) array filler = {0};
  uint32_t starts[2] = {0};
  TRY(lists_require(f, &arguments[0], err));
  const lists l = lists_of(&arguments[0]);
  if (f->binding->count == 2) {
    TRY(array_new_null(f->env, l.items->type, 1, &filler, err));
  }
  const operand null = {.a = filler, .is_scalar = true};
  const operand *value = f->binding->count == 2 ? &null : &arguments[2];
  TRY(check_lengths(f, &l, &arguments[1], value, rows, err));
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(list_builder_sources(&b, (const array[]){*l.items, value->a}, 2, starts, err));
  TRY(resize_rows(&l, &arguments[1], value, starts[1], &b, err));
  return list_builder_finish(&b, ret, err);
}

static glv_status bind_resize(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 3, err));
  TRY(bind_lists(b, "aie", false, err));
  if (bind_is_null(b, 0)) {
    return list_type_new(b->arena, TYPE_LIST, type_simple(TYPE_INT64), true, &b->result, err);
  }
  b->result = b->targets[0];
  return GLV_OK;
}

static const char *const make_names[] = {"make_list", NULL};
static const char *const append_names[] = {"list_append", "array_push_back", "list_push_back",
                                           NULL};
static const char *const prepend_names[] = {"list_prepend", "array_push_front", "list_push_front",
                                            NULL};
static const char *const concat_names[] = {"array_cat", "list_concat", "list_cat", NULL};
static const char *const repeat_names[] = {"list_repeat", NULL};
static const char *const resize_names[] = {"list_resize", NULL};

const function functions_list_make[] = {
    {.name = "make_array", .aliases = make_names, .bind = bind_make, .kernel = make_array},
    {.name = "array_append", .aliases = append_names, .bind = bind_append, .kernel = array_append},
    {.name = "array_prepend",
     .aliases = prepend_names,
     .bind = bind_prepend,
     .kernel = array_prepend},
    {.name = "array_concat",
     .aliases = concat_names,
     .bind = bind_concat,
     .kernel = array_concat_kernel},
    {.name = "array_repeat", .aliases = repeat_names, .bind = bind_repeat, .kernel = array_repeat},
    {.name = "array_resize", .aliases = resize_names, .bind = bind_resize, .kernel = array_resize},
    {0},
};
