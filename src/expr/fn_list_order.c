/*
 * Lists by the order of their items (sql-expressions 13.1): array_sort, array_max, array_min.
 *
 * Items of up to 64 bits are compared by keys, unsigned numbers in the same order, made for the
 * whole column at once; others value by value.
 */
#include "expr/compare.h"
#include "expr/function_private.h"
#include "expr/lists.h"

/* The items of a column and what is needed to order them. */
typedef struct order {
  const array *items;
  size_t base;  /* of the item that has the first key */
  buffer *keys; /* one for each item, or NULL */
  bool descends;
  bool nulls_first;
  bool inner_last; /* nulls inside of items: where they stand before a descending turn */
} order;

static void order_dispose(order *o) { buffer_cleanup(&o->keys); }

#define SIGN64 (UINT64_C(1) << 63)

/* Total order of floats: the bits of negative ones run the other way. */
static uint64_t float_key(uint64_t bits) { return (bits & SIGN64) != 0 ? ~bits : bits | SIGN64; }

#define KEY_LOOP(ctype, key)                                                                       \
  do {                                                                                             \
    const ctype *v = (const ctype *)items->values + first;                                         \
    for (size_t i = 0; i < count; i++) {                                                           \
      to[i] = (key);                                                                               \
    }                                                                                              \
  } while (false)

/* false: items of this type have no keys. */
static bool fill_keys(const array *items, size_t first, size_t count, uint64_t *to) {
  switch (items->type->kind) {
  case TYPE_INT8:
    KEY_LOOP(int8_t, (uint64_t)(int64_t)v[i] ^ SIGN64);
    return true;
  case TYPE_INT16:
    KEY_LOOP(int16_t, (uint64_t)(int64_t)v[i] ^ SIGN64);
    return true;
  case TYPE_INT32:
  case TYPE_DATE32:
  case TYPE_TIME32:
    KEY_LOOP(int32_t, (uint64_t)(int64_t)v[i] ^ SIGN64);
    return true;
  case TYPE_INT64:
  case TYPE_DATE64:
  case TYPE_TIME64:
  case TYPE_TIMESTAMP:
  case TYPE_DURATION:
    KEY_LOOP(int64_t, (uint64_t)v[i] ^ SIGN64);
    return true;
  case TYPE_UINT8:
    KEY_LOOP(uint8_t, v[i]);
    return true;
  case TYPE_UINT16:
    KEY_LOOP(uint16_t, v[i]);
    return true;
  case TYPE_UINT32:
    KEY_LOOP(uint32_t, v[i]);
    return true;
  case TYPE_UINT64:
    KEY_LOOP(uint64_t, v[i]);
    return true;
  case TYPE_FLOAT16:
    KEY_LOOP(uint16_t, float_key((uint64_t)v[i] << 48));
    return true;
  case TYPE_FLOAT32:
    KEY_LOOP(uint32_t, float_key((uint64_t)v[i] << 32));
    return true;
  case TYPE_FLOAT64:
    KEY_LOOP(uint64_t, float_key(v[i]));
    return true;
  default:
    return false;
  }
}

static glv_status order_init(order *o, glv_env *env, const lists *l, glv_error *err) {
  const span all = lists_extent(l);
  o->items = l->items;
  o->base = all.first;
  TRY(buffer_new(env, all.count * sizeof(uint64_t), &o->keys, err));
  if (!fill_keys(l->items, all.first, all.count, (uint64_t *)(void *)o->keys->data)) {
    buffer_unref(o->keys);
    o->keys = NULL;
  }
  return GLV_OK;
}

/* ---- array_sort ---- */

/* Keys in the order wanted. */
static void turn_keys(const order *o, size_t count) {
  uint64_t *keys = (uint64_t *)(void *)o->keys->data;
  for (size_t i = 0; i < count; i++) {
    keys[i] = ~keys[i];
  }
}

/* Whether item a may stand before item b; the keys are turned when they descend. */
static inline bool in_order(const order *o, size_t a, size_t b) {
  if (o->keys != NULL) {
    const uint64_t *keys = (const uint64_t *)(const void *)o->keys->data;
    return keys[a - o->base] <= keys[b - o->base];
  }
  const int c = compare_values_nulls(o->items, a, o->items, b, o->inner_last);
  return o->descends ? c >= 0 : c <= 0;
}

/* Merge from[first, middle) and from[middle, end), both sorted, into `to`. */
static void merge(const order *o, const uint32_t *from, size_t first, size_t middle, size_t end,
                  uint32_t *to) {
  size_t l = first;
  size_t r = middle;
  for (size_t k = first; k < end; k++) {
    const bool left = r == end || (l < middle && in_order(o, from[l], from[r]));
    to[k] = left ? from[l++] : from[r++];
  }
}

enum { RUN = 8 };

static void sort_run(const order *o, uint32_t *items, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const uint32_t item = items[i];
    size_t k = i;
    for (; k > 0 && !in_order(o, items[k - 1], item); k--) {
      items[k] = items[k - 1];
    }
    items[k] = item;
  }
}

/* Stable; other: room for as many. */
static void sort_items(const order *o, uint32_t *items, size_t count, uint32_t *other) {
  for (size_t i = 0; i < count; i += RUN) {
    sort_run(o, items + i, size_min(RUN, count - i));
  }
  uint32_t *from = items;
  for (size_t width = RUN; width < count; width *= 2) {
    for (size_t i = 0; i < count; i += 2 * width) {
      merge(o, from, i, size_min(i + width, count), size_min(i + 2 * width, count), other);
    }
    uint32_t *swap = from;
    from = other;
    other = swap;
  }
  if (from != items) {
    memcpy(items, from, count * sizeof *items);
  }
}

/* The items of a list in order; there is room for twice as many picks. */
static void pick_sorted(const order *o, list_builder *b, span s) {
  uint32_t *picks = b->picks + b->pick_count;
  size_t nulls = 0;
  size_t valid = 0;
  uint32_t *spare = picks + s.count;
  for (size_t k = s.first; k < s.first + s.count; k++) {
    if (array_is_valid(o->items, k)) {
      picks[valid++] = (uint32_t)k;
    } else {
      spare[nulls++] = (uint32_t)k;
    }
  }
  if (nulls != 0) {
    uint32_t *place = o->nulls_first ? picks : picks + valid;
    if (o->nulls_first) {
      memmove(picks + nulls, picks, valid * sizeof *picks);
      picks += nulls;
    }
    memcpy(place, spare, nulls * sizeof *place);
  }
  sort_items(o, picks, valid, spare);
  b->pick_count += s.count;
}

/* How to sort is said by row 0 of the optional arguments. *ret_known false = by a null. */
static glv_status read_options(const function_frame *f, const operand *arguments, size_t rows,
                               order *o, bool *ret_known, glv_error *err) {
  const size_t count = rows != 0 ? f->binding->count : 1;
  o->nulls_first = true;
  *ret_known = true;
  for (size_t i = 1; i < count; i++) {
    *ret_known = *ret_known && operand_is_valid(&arguments[i], 0);
  }
  if (!*ret_known || count == 1) {
    return GLV_OK;
  }
  const str direction = operand_str(&arguments[1], 0);
  o->descends = str_equal_ascii_case(direction, STR("DESC"));
  if (!o->descends && !str_equal_ascii_case(direction, STR("ASC"))) {
    return FAIL(err, GLV_E_SQL_EXEC, "the second parameter of array_sort expects DESC or ASC");
  }
  if (count == 2) {
    return GLV_OK;
  }
  const str nulls = operand_str(&arguments[2], 0);
  o->nulls_first = str_equal_ascii_case(nulls, STR("NULLS FIRST"));
  if (!o->nulls_first && !str_equal_ascii_case(nulls, STR("NULLS LAST"))) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "the third parameter of array_sort expects NULLS FIRST or NULLS LAST");
  }
  return GLV_OK;
}

static glv_status array_sort(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  CLEANUP(order_dispose) order o = {0};
  CLEANUP(list_builder_dispose) list_builder b = {0};
  bool known = true;
  if (arguments[0].a.type->kind != TYPE_NULL) {
    TRY(read_options(f, arguments, rows, &o, &known, err));
  }
  if (arguments[0].a.type->kind == TYPE_NULL || !known) {
    return array_new_null(f->env, f->binding->result, rows, ret, err);
  }
  o.inner_last = o.nulls_first == o.descends;
  const lists l = lists_of(&arguments[0]);
  TRY(order_init(&o, f->env, &l, err));
  if (o.keys != NULL && o.descends) {
    turn_keys(&o, lists_extent(&l).count);
  }
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(list_builder_source(&b, l.items, err));
  for (size_t i = 0; i < rows; i++) {
    const span s = lists_at(&l, i);
    TRY(list_builder_reserve(&b, 2 * s.count, err));
    if (!lists_is_valid(&l, i)) {
      list_builder_pick_nulls(&b, s.count); /* array_append would see them */
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    pick_sorted(&o, &b, s);
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static glv_status bind_sort(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 3, err));
  TRY(bind_lists(b, "ass", false, err));
  b->result = b->targets[0];
  return GLV_OK;
}

/* ---- array_max, array_min ---- */

/* The item of the greatest key, or the least, or ITEM_NULL. */
static uint32_t extreme_key(const order *o, span s, bool greatest) {
  const uint64_t *keys = (const uint64_t *)(const void *)o->keys->data + (s.first - o->base);
  const uint64_t turn = greatest ? 0 : UINT64_MAX;
  uint64_t best = 0;
  size_t at = SIZE_MAX;
  for (size_t k = 0; k < s.count; k++) {
    const uint64_t key = keys[k] ^ turn;
    if ((key > best || at == SIZE_MAX) && array_is_valid(o->items, s.first + k)) {
      best = key;
      at = k;
    }
  }
  return at == SIZE_MAX ? ITEM_NULL : (uint32_t)(s.first + at);
}

/* The greatest, or least, item of a list, or ITEM_NULL. */
static uint32_t extreme(const order *o, span s, bool greatest) {
  if (o->keys != NULL) {
    return extreme_key(o, s, greatest);
  }
  const array *items = o->items;
  size_t best = SIZE_MAX;
  for (size_t k = s.first; k < s.first + s.count; k++) {
    if (!array_is_valid(items, k)) {
      continue;
    }
    const int c = best == SIZE_MAX ? 0 : compare_values_nulls(items, k, items, best, true);
    if (best == SIZE_MAX || (greatest ? c > 0 : c < 0)) {
      best = k;
    }
  }
  return best == SIZE_MAX ? ITEM_NULL : (uint32_t)best;
}

static glv_status pick_extremes(const function_frame *f, const operand *arguments, bool greatest,
                                size_t rows, array *ret, glv_error *err) {
  CLEANUP(order_dispose) order o = {0};
  CLEANUP(buffer_cleanup) buffer *chosen = NULL;
  const lists l = lists_of(&arguments[0]);
  TRY(lists_check_items(l.items, err));
  TRY(order_init(&o, f->env, &l, err));
  TRY(buffer_new(f->env, rows * sizeof(uint32_t), &chosen, err));
  uint32_t *picks = (uint32_t *)(void *)chosen->data;
  for (size_t i = 0; i < rows; i++) {
    picks[i] = lists_is_valid(&l, i) ? extreme(&o, lists_at(&l, i), greatest) : ITEM_NULL;
  }
  return lists_take(f->env, l.items, picks, rows, true, f->binding->result, ret, err);
}

static glv_status array_max(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  return pick_extremes(f, arguments, true, rows, ret, err);
}
static glv_status array_min(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  return pick_extremes(f, arguments, false, rows, ret, err);
}

static const char *const sort_names[] = {"list_sort", NULL};
static const char *const max_names[] = {"list_max", NULL};

const function functions_list_order[] = {
    {.name = "array_sort", .aliases = sort_names, .bind = bind_sort, .kernel = array_sort},
    {.name = "array_max", .aliases = max_names, .bind = bind_list_to_item, .kernel = array_max},
    {.name = "array_min", .bind = bind_list_to_item, .kernel = array_min},
    {0},
};
