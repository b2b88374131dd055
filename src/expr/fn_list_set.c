/*
 * Lists as sets (sql-expressions 13.1): array_has_all, array_has_any, array_distinct, array_union,
 * array_intersect, array_except.
 *
 * The items of a whole column are numbered once, equal items alike; what a row has seen is then a
 * table by number, stamped with the row, which needs no clearing between rows.
 */
#include "expr/function_private.h"
#include "expr/lists.h"
#include "expr/row_set.h"

enum { SIDES = 2 };

/* One or two columns of lists and the numbers of their items. */
typedef struct sets {
  glv_env *env;
  lists l[SIDES];
  size_t base[SIDES]; /* of the items that have a number */
  buffer *numbers[SIDES];
  buffer *stamps; /* by number */
  uint32_t *stamp;
  uint32_t next; /* never used before */
} sets;

static void sets_dispose(sets *s) {
  buffer_cleanup(&s->numbers[0]);
  buffer_cleanup(&s->numbers[1]);
  buffer_cleanup(&s->stamps);
}

static glv_status number_items(sets *s, row_set *set, size_t side, glv_error *err) {
  const span all = lists_extent(&s->l[side]);
  s->base[side] = all.first;
  CLEANUP(array_unref) array items = array_slice(s->l[side].items, all.first, all.count);
  if (items.type == NULL) {
    return error_nomem(err, sizeof items);
  }
  TRY(buffer_new(s->env, all.count * sizeof(uint32_t), &s->numbers[side], err));
  uint32_t *numbers = (uint32_t *)(void *)s->numbers[side]->data;
  return row_set_add(set, &items, 1, all.count, numbers, NULL, NULL, err);
}

static glv_status sets_init(sets *s, const function_frame *f, const operand *arguments,
                            size_t count, glv_error *err) {
  CLEANUP(row_set_dispose) row_set set;
  s->env = f->env;
  row_set_init(&set, f->env, (const type *[]){list_item(arguments[0].a.type)}, 1);
  for (size_t side = 0; side < count; side++) {
    s->l[side] = lists_of(&arguments[side]);
    TRY(number_items(s, &set, side, err));
  }
  TRY(buffer_new_zeroed(f->env, set.count * sizeof(uint32_t), &s->stamps, err));
  s->stamp = (uint32_t *)(void *)s->stamps->data;
  s->next = 1;
  return GLV_OK;
}

static uint32_t *stamp_of(const sets *s, size_t side, size_t item) {
  const uint32_t *numbers = (const uint32_t *)(const void *)s->numbers[side]->data;
  return &s->stamp[numbers[item - s->base[side]]];
}

/* Stamp the items of row i. */
static void stamp_row(const sets *s, size_t side, size_t i, uint32_t stamp) {
  const span at = lists_at(&s->l[side], i);
  for (size_t k = at.first; k < at.first + at.count; k++) {
    *stamp_of(s, side, k) = stamp;
  }
}

static bool row_is_valid(const sets *s, size_t sides, size_t i) {
  return lists_is_valid(&s->l[0], i) && (sides == 1 || lists_is_valid(&s->l[1], i));
}

/* ---- array_has_all, array_has_any ---- */

/* Whether all, or any, of the items of row i of the second side are in the first. */
static bool covers(sets *s, bool all, size_t i) {
  const uint32_t stamp = s->next++;
  stamp_row(s, 0, i, stamp);
  const span at = lists_at(&s->l[1], i);
  for (size_t k = at.first; k < at.first + at.count; k++) {
    if ((*stamp_of(s, 1, k) == stamp) != all) {
      return !all;
    }
  }
  return all;
}

static bool has_no_items(const operand *o) {
  const lists l = lists_of(o);
  return lists_extent(&l).count == 0;
}

/* Whether the answer is the same for all rows, null ones too, as the reference has it when there is
 * nothing to look for in the whole batch. */
static bool is_settled(const operand *arguments, bool all) {
  if (all || arguments[0].is_scalar == arguments[1].is_scalar) {
    return has_no_items(&arguments[1]);
  }
  return has_no_items(&arguments[arguments[1].is_scalar ? 1 : 0]);
}

/* A null on either side of array_has_any is not looked behind. */
static bool is_null_constant(const operand *o) { return o->is_scalar && !array_is_valid(&o->a, 0); }

static glv_status has_items(const function_frame *f, const operand *arguments, bool all,
                            size_t rows, array *ret, glv_error *err) {
  CLEANUP(sets_dispose) sets s = {0};
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  TRY(lists_require(f, &arguments[0], err));
  TRY(lists_require(f, &arguments[1], err));
  const bool is_fixed = is_settled(arguments, all);
  TRY(kernel_begin(f->env, f->binding->result, arguments, is_fixed ? 0 : 2, rows, &a, &values,
                   err));
  TRY(sets_init(&s, f, arguments, 2, err));
  for (size_t i = 0; i < rows; i++) {
    const bool known = !is_fixed && row_is_valid(&s, 2, i);
    bit_put(values, i, known ? covers(&s, all, i) : all);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status array_has_all(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  return has_items(f, arguments, true, rows, ret, err);
}

static glv_status array_has_any(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  for (size_t i = 0; i < 2; i++) {
    if (arguments[i].a.type->kind == TYPE_NULL || is_null_constant(&arguments[i])) {
      return array_new_null(f->env, f->binding->result, rows, ret, err);
    }
  }
  return has_items(f, arguments, false, rows, ret, err);
}

static glv_status bind_has(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_lists(b, "aa", true, err));
  b->result = type_simple(TYPE_BOOL);
  return GLV_OK;
}

/* ---- lists made of lists ---- */

/* Pick the items of a side of row i that do not have the stamp, and give it to them. */
static void pick_new(const sets *s, list_builder *b, size_t side, uint32_t start, size_t i,
                     uint32_t stamp) {
  const span at = lists_at(&s->l[side], i);
  for (size_t k = at.first; k < at.first + at.count; k++) {
    uint32_t *seen = stamp_of(s, side, k);
    if (*seen != stamp) {
      *seen = stamp;
      list_builder_pick(b, start + (uint32_t)k);
    }
  }
}

/* Items of row i that both sides have, in the order of the longer one. */
static void pick_common(sets *s, list_builder *b, const uint32_t *starts, size_t i) {
  const size_t longer = lists_at(&s->l[0], i).count < lists_at(&s->l[1], i).count ? 1 : 0;
  const uint32_t wanted = s->next++;
  const uint32_t taken = s->next++;
  stamp_row(s, 1 - longer, i, wanted);
  const span at = lists_at(&s->l[longer], i);
  for (size_t k = at.first; k < at.first + at.count; k++) {
    uint32_t *seen = stamp_of(s, longer, k);
    if (*seen == wanted) {
      *seen = taken;
      list_builder_pick(b, starts[longer] + (uint32_t)k);
    }
  }
}

enum set_op { SET_DISTINCT, SET_UNION, SET_INTERSECT, SET_EXCEPT };

static void pick_row(sets *s, enum set_op op, list_builder *b, const uint32_t *starts, size_t i) {
  if (op == SET_INTERSECT) {
    pick_common(s, b, starts, i);
    return;
  }
  const uint32_t stamp = s->next++;
  if (op == SET_EXCEPT) {
    stamp_row(s, 1, i, stamp);
  }
  pick_new(s, b, 0, starts[0], i, stamp);
  if (op == SET_UNION) {
    pick_new(s, b, 1, starts[1], i, stamp);
  }
}

static glv_status combine(const function_frame *f, const operand *arguments, enum set_op op,
                          size_t rows, array *ret, glv_error *err) {
  const size_t sides = f->binding->count;
  CLEANUP(sets_dispose) sets s = {0};
  CLEANUP(list_builder_dispose) list_builder b = {0};
  uint32_t starts[SIDES] = {0};
  array items[SIDES];
  for (size_t k = 0; k < sides; k++) {
    if (arguments[k].a.type->kind == TYPE_NULL) {
      return array_new_null(f->env, f->binding->result, rows, ret, err);
    }
    items[k] = arguments[k].a.children[0];
  }
  TRY(sets_init(&s, f, arguments, sides, err));
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(list_builder_sources(&b, items, sides, starts, err));
  for (size_t i = 0; i < rows; i++) {
    if (!row_is_valid(&s, sides, i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    const size_t most = lists_at(&s.l[0], i).count + (sides > 1 ? lists_at(&s.l[1], i).count : 0);
    TRY(list_builder_reserve(&b, most, err));
    pick_row(&s, op, &b, starts, i);
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

#define SET_KERNEL(name, op)                                                                       \
  static glv_status name(const function_frame *f, const operand *arguments, size_t rows,           \
                         array *ret, glv_error *err) {                                             \
    return combine(f, arguments, op, rows, ret, err);                                              \
  }

SET_KERNEL(array_distinct, SET_DISTINCT)
SET_KERNEL(array_union, SET_UNION)
SET_KERNEL(array_intersect, SET_INTERSECT)
SET_KERNEL(array_except, SET_EXCEPT)

static glv_status bind_pair(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_lists(b, "aa", false, err));
  if (bind_is_null(b, 0) && bind_is_null(b, 1)) {
    return list_type_new(b->arena, TYPE_LIST, type_simple(TYPE_NULL), true, &b->result, err);
  }
  b->result = b->targets[bind_is_null(b, 0) ? 1 : 0];
  return GLV_OK;
}

static const char *const has_all_names[] = {"list_has_all", NULL};
static const char *const has_any_names[] = {"list_has_any", "arrays_overlap", NULL};
static const char *const distinct_names[] = {"list_distinct", NULL};
static const char *const union_names[] = {"list_union", NULL};
static const char *const intersect_names[] = {"list_intersect", NULL};
static const char *const except_names[] = {"list_except", NULL};

const function functions_list_set[] = {
    {.name = "array_has_all", .aliases = has_all_names, .bind = bind_has, .kernel = array_has_all},
    {.name = "array_has_any", .aliases = has_any_names, .bind = bind_has, .kernel = array_has_any},
    {.name = "array_distinct",
     .aliases = distinct_names,
     .bind = bind_list_to_list,
     .kernel = array_distinct},
    {.name = "array_union", .aliases = union_names, .bind = bind_pair, .kernel = array_union},
    {.name = "array_intersect",
     .aliases = intersect_names,
     .bind = bind_pair,
     .kernel = array_intersect},
    {.name = "array_except", .aliases = except_names, .bind = bind_pair, .kernel = array_except},
    {0},
};
