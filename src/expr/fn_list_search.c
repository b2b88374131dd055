/*
 * Looking for a value in lists (sql-expressions 13.1, 13.2): array_has, array_position(s),
 * array_remove, array_replace.
 *
 * All items of a column are compared with what is looked for in one go; then each row looks at the
 * bits of its items.
 */
#include "arrow/bits.h"
#include "expr/compare.h"
#include "expr/eval_private.h"
#include "expr/function_private.h"
#include "expr/lists.h"

/* Lists, and which of their items are what is looked for. */
typedef struct search {
  operand list; /* owned */
  lists l;
  array hits; /* a bool for each item from `base` on; nulls do not occur */
  size_t base;
} search;

static void search_dispose(search *s) {
  array_unref(&s->list.a);
  array_unref(&s->hits);
}

static bool is_hit(const search *s, size_t item) { return array_bool(&s->hits, item - s->base); }

/* For each item of the lists the row that it belongs to. */
static glv_status item_rows(glv_env *env, const lists *l, size_t rows, span all, buffer **ret,
                            glv_error *err) {
  TRY(buffer_new_zeroed(env, all.count * sizeof(uint32_t), ret, err));
  uint32_t *out = (uint32_t *)(void *)(*ret)->data;
  for (size_t i = 0; i < rows; i++) {
    const span s = lists_at(l, i);
    for (size_t k = 0; k < s.count; k++) {
      out[s.first - all.first + k] = (uint32_t)i;
    }
  }
  return GLV_OK;
}

/* What each item is compared with: the needle itself when it is one for all, else that of its row.
 */
static glv_status needles(glv_env *env, const lists *l, const operand *needle, size_t rows,
                          span all, operand *ret, glv_error *err) {
  CLEANUP(buffer_cleanup) buffer *picks = NULL;
  ret->is_scalar = needle->is_scalar;
  if (needle->is_scalar) {
    ret->a = array_ref(&needle->a);
    return GLV_OK;
  }
  TRY(item_rows(env, l, rows, all, &picks, err));
  return array_take(env, &needle->a, (const uint32_t *)(const void *)picks->data, all.count,
                    &ret->a, err);
}

/* hits &= where the comparison is not null. Both have bits from 0 on. */
static void drop_nulls(const array *compared, uint8_t *hits) {
  for (size_t i = 0; i < bits_size(compared->length); i++) {
    hits[i] = (uint8_t)(hits[i] & compared->validity[i]);
  }
}

/* Where both sides are null is a hit, too. */
static void add_nulls(const array *items, const operand *needle, uint8_t *hits) {
  for (size_t i = 0; i < items->length; i++) {
    if (!operand_is_valid(needle, i) && !array_is_valid(items, i)) {
      bit_put(hits, i, true);
    }
  }
}

static glv_status compare_items(glv_env *env, const array *items, const operand *needle,
                                bool nulls_equal, array *ret, glv_error *err) {
  CLEANUP(array_unref) array compared = {0};
  CLEANUP(array_unref) array hits = {0};
  void *bits = NULL;
  const operand o = {.a = *items};
  TRY(compare_operands(env, COMPARE_EQ, &o, needle, items->length, &compared, err));
  TRY(array_new_fixed(env, type_simple(TYPE_BOOL), items->length, &hits, &bits, err));
  if (items->length != 0) {
    memcpy(bits, compared.values, bits_size(items->length)); /* comparisons begin at bit 0 */
  }
  if (compared.validity != NULL) {
    drop_nulls(&compared, bits);
  }
  if (nulls_equal && (needle->a.type->kind == TYPE_NULL || array_has_nulls(&needle->a))) {
    add_nulls(items, needle, bits);
  }
  *ret = hits;
  hits = (array){0};
  return GLV_OK;
}

/* Compare all items of a list argument with the needle. */
static glv_status search_init(search *s, const function_frame *f, const operand *list,
                              const operand *needle, size_t rows, bool nulls_equal,
                              glv_error *err) {
  TRY(lists_require(f, list, err));
  s->list.is_scalar = list->is_scalar && needle->is_scalar;
  if (s->list.is_scalar) {
    s->list.a = array_ref(&list->a);
  } else {
    TRY(kernel_column(f->env, list, list->a.type, rows, &s->list.a, err));
  }
  s->l = lists_of(&s->list);
  const span all = lists_extent(&s->l);
  s->base = all.first;
  CLEANUP(array_unref) array items = array_slice(s->l.items, all.first, all.count);
  if (items.type == NULL) {
    return error_nomem(err, sizeof items);
  }
  CLEANUP(operand_dispose) operand wanted = {0};
  TRY(needles(f->env, &s->l, needle, rows, all, &wanted, err));
  if (nulls_equal && type_is_list(wanted.a.type->kind)) {
    wanted.a.validity = NULL; /* the reference takes a null list for an empty one here */
    wanted.a.null_count = 0;
    nulls_equal = false;
  }
  return compare_items(f->env, &items, &wanted, nulls_equal, &s->hits, err);
}

/* The first hit among items [from, end), or end. */
static size_t next_hit(const search *s, size_t from, size_t end) {
  while (from < end) {
    const uint64_t word = bits_word(s->hits.values, from - s->base, end - from);
    if (word != 0) {
      return from + (size_t)__builtin_ctzll(word);
    }
    from += 64;
  }
  return end;
}

/* ---- array_has ---- */

static glv_status array_has(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  CLEANUP(search_dispose) search s = {0};
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  if (arguments[0].a.type->kind == TYPE_NULL) {
    return array_new_null(f->env, f->binding->result, rows, ret, err);
  }
  TRY(search_init(&s, f, &arguments[0], &arguments[1], rows, false, err));
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    const span at = lists_at(&s.l, i);
    const size_t end = at.first + at.count;
    bit_put(values, i, next_hit(&s, at.first, end) < end);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_has(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_lists(b, "ae", false, err));
  b->result = type_simple(TYPE_BOOL);
  return GLV_OK;
}

/* ---- array_position, array_positions ---- */

/* Where row i begins to look; a list that ends before is an error. */
static glv_status start_at(const operand *from, size_t i, span s, size_t *ret, glv_error *err) {
  if (!operand_is_valid(from, i)) {
    return FAIL(err, GLV_E_SQL_EXEC, "array_position expected a number to start from, got NULL");
  }
  const int64_t start = OPERAND_VALUE(from, int64_t, i);
  if (start < 1 || (uint64_t)start - 1 > s.count) {
    return FAIL(err, GLV_E_SQL_EXEC, "start_from out of bounds: %lld", (long long)start);
  }
  *ret = s.first + (size_t)start - 1;
  return GLV_OK;
}

static glv_status array_position(const function_frame *f, const operand *arguments, size_t rows,
                                 array *ret, glv_error *err) {
  CLEANUP(search_dispose) search s = {0};
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  TRY(search_init(&s, f, &arguments[0], &arguments[1], rows, true, err));
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  uint64_t *positions = values;
  for (size_t i = 0; i < rows; i++) {
    const span at = lists_at(&s.l, i);
    size_t from = at.first;
    positions[i] = 0;
    if (!lists_is_valid(&s.l, i)) {
      continue;
    }
    if (f->binding->count == 3) {
      TRY(start_at(&arguments[2], i, at, &from, err));
    }
    const size_t hit = next_hit(&s, from, at.first + at.count);
    if (hit == at.first + at.count) {
      TRY(kernel_set_null(f->env, &a, i, err));
    } else {
      positions[i] = hit - at.first + 1;
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_position(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 3, err));
  TRY(bind_lists(b, "aei", false, err));
  b->result = type_simple(TYPE_UINT64);
  return GLV_OK;
}

/* The numbers 1, 2, ... up to the length of the longest list, for positions to be picked from. */
static glv_status ordinals(glv_env *env, const search *s, array *ret, glv_error *err) {
  size_t longest = 0;
  for (size_t i = 0; i < s->list.a.length; i++) {
    longest = size_max(longest, lists_at(&s->l, i).count);
  }
  void *values = NULL;
  TRY(array_new_fixed(env, type_simple(TYPE_UINT64), longest, ret, &values, err));
  for (size_t k = 0; k < longest; k++) {
    ((uint64_t *)values)[k] = k + 1;
  }
  return GLV_OK;
}

static glv_status array_positions(const function_frame *f, const operand *arguments, size_t rows,
                                  array *ret, glv_error *err) {
  CLEANUP(search_dispose) search s = {0};
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(array_unref) array numbers = {0};
  TRY(search_init(&s, f, &arguments[0], &arguments[1], rows, true, err));
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(ordinals(f->env, &s, &numbers, err));
  TRY(list_builder_source(&b, &numbers, err));
  for (size_t i = 0; i < rows; i++) {
    if (!lists_is_valid(&s.l, i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    const span at = lists_at(&s.l, i);
    TRY(list_builder_reserve(&b, at.count, err));
    for (size_t k = 0; k < at.count; k++) {
      if (is_hit(&s, at.first + k)) {
        list_builder_pick(&b, (uint32_t)k);
      }
    }
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static glv_status bind_positions(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_lists(b, "ae", false, err));
  return list_type_new(b->arena, TYPE_LIST, type_simple(TYPE_UINT64), true, &b->result, err);
}

/* ---- array_remove, array_replace ---- */

/* How many hits of row i are acted on: as many as the argument says, or `otherwise`. */
static size_t hit_limit(const operand *n, size_t otherwise, size_t i) {
  if (n == NULL) {
    return otherwise;
  }
  const int64_t most = operand_is_valid(n, i) ? OPERAND_VALUE(n, int64_t, i) : 0;
  return most > 0 ? (size_t)most : 0;
}

/* Items [first, first + count) but for the first `limit` hits, which become `instead`, or nothing
 * when that is ITEM_NULL. There is room for them. */
static void pick_others(const search *s, list_builder *b, span at, size_t limit, uint32_t instead) {
  for (size_t k = at.first; k < at.first + at.count; k++) {
    if (limit == 0 || !is_hit(s, k)) {
      list_builder_pick(b, (uint32_t)k);
      continue;
    }
    limit--;
    if (instead != ITEM_NULL) {
      list_builder_pick(b, instead);
    }
  }
}

static glv_status remove_items(const function_frame *f, const operand *arguments, size_t limit,
                               size_t rows, array *ret, glv_error *err) {
  const operand *n = f->binding->count > 2 ? &arguments[2] : NULL;
  CLEANUP(search_dispose) search s = {0};
  CLEANUP(list_builder_dispose) list_builder b = {0};
  TRY(search_init(&s, f, &arguments[0], &arguments[1], rows, true, err));
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(list_builder_source(&b, s.l.items, err));
  for (size_t i = 0; i < rows; i++) {
    if (!lists_is_valid(&s.l, i) || !operand_is_valid(&arguments[1], i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    const span at = lists_at(&s.l, i);
    TRY(list_builder_reserve(&b, at.count, err));
    pick_others(&s, &b, at, hit_limit(n, limit, i), ITEM_NULL);
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static glv_status replace_items(const function_frame *f, const operand *arguments, size_t limit,
                                size_t rows, array *ret, glv_error *err) {
  const operand *n = f->binding->count > 3 ? &arguments[3] : NULL;
  if (arguments[0].a.type->kind == TYPE_NULL && rows == 1) { /* more rows fail in the reference */
    return array_new_null(f->env, f->binding->result, rows, ret, err);
  }
  CLEANUP(search_dispose) search s = {0};
  CLEANUP(list_builder_dispose) list_builder b = {0};
  const operand *to = &arguments[2];
  uint32_t starts[2];
  TRY(search_init(&s, f, &arguments[0], &arguments[1], rows, true, err));
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(list_builder_sources(&b, (const array[]){*s.l.items, to->a}, 2, starts, err));
  for (size_t i = 0; i < rows; i++) {
    if (!lists_is_valid(&s.l, i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    const span at = lists_at(&s.l, i);
    TRY(list_builder_reserve(&b, at.count, err));
    pick_others(&s, &b, at, hit_limit(n, limit, i), starts[1] + (uint32_t)operand_row(to, i));
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

#define CHANGE_KERNEL(name, change, limit)                                                         \
  static glv_status name(const function_frame *f, const operand *arguments, size_t rows,           \
                         array *ret, glv_error *err) {                                             \
    return change(f, arguments, limit, rows, ret, err);                                            \
  }

CHANGE_KERNEL(array_remove, remove_items, 1)
CHANGE_KERNEL(array_remove_all, remove_items, SIZE_MAX)
CHANGE_KERNEL(array_replace, replace_items, 1)
CHANGE_KERNEL(array_replace_all, replace_items, SIZE_MAX)

static glv_status bind_change(function_binding *b, const char *roles, glv_error *err) {
  const size_t count = strlen(roles);
  TRY(bind_count(b, count, count, err));
  TRY(bind_lists(b, roles, false, err));
  b->result = b->targets[0];
  return GLV_OK;
}

static glv_status bind_remove(function_binding *b, glv_error *err) {
  return bind_change(b, "ae", err);
}
static glv_status bind_remove_n(function_binding *b, glv_error *err) {
  return bind_change(b, "aei", err);
}
static glv_status bind_replace(function_binding *b, glv_error *err) {
  return bind_change(b, "aee", err);
}
static glv_status bind_replace_n(function_binding *b, glv_error *err) {
  return bind_change(b, "aeei", err);
}

#define NAMES(variable, ...) static const char *const variable[] = {__VA_ARGS__, NULL}
NAMES(has_names, "array_contains", "list_has", "list_contains");
NAMES(position_names, "list_position", "array_indexof", "list_indexof");
NAMES(positions_names, "list_positions");
NAMES(remove_names, "list_remove");
NAMES(remove_n_names, "list_remove_n");
NAMES(remove_all_names, "list_remove_all");
NAMES(replace_names, "list_replace");
NAMES(replace_n_names, "list_replace_n");
NAMES(replace_all_names, "list_replace_all");

const function functions_list_search[] = {
    {.name = "array_has", .aliases = has_names, .bind = bind_has, .kernel = array_has},
    {.name = "array_position",
     .aliases = position_names,
     .bind = bind_position,
     .kernel = array_position},
    {.name = "array_positions",
     .aliases = positions_names,
     .bind = bind_positions,
     .kernel = array_positions},
    {.name = "array_remove", .aliases = remove_names, .bind = bind_remove, .kernel = array_remove},
    {.name = "array_remove_n",
     .aliases = remove_n_names,
     .bind = bind_remove_n,
     .kernel = array_remove},
    {.name = "array_remove_all",
     .aliases = remove_all_names,
     .bind = bind_remove,
     .kernel = array_remove_all},
    {.name = "array_replace",
     .aliases = replace_names,
     .bind = bind_replace,
     .kernel = array_replace},
    {.name = "array_replace_n",
     .aliases = replace_n_names,
     .bind = bind_replace_n,
     .kernel = array_replace},
    {.name = "array_replace_all",
     .aliases = replace_all_names,
     .bind = bind_replace,
     .kernel = array_replace_all},
    {0},
};
