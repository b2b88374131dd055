/*
 * Views of list columns, and lists built from picked items.
 *
 * A builder only writes offsets and row numbers; the items themselves are moved by one array_take
 * at the end. Nulls among picked items are a sentinel that becomes row 0, and a bitmap that says so
 * afterwards, so that a source needs no null to pick.
 */
#include "expr/lists.h"

#include "arrow/bits.h"
#include "base/buf.h"
#include "base/limits.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/function_private.h"

lists lists_of(const operand *o) {
  const type *t = o->a.type;
  lists l = {.a = &o->a, .items = &o->a.children[0], .step = o->is_scalar ? 0 : 1};
  if (t->kind == TYPE_FIXED_SIZE_LIST) {
    l.width = (size_t)t->width;
  } else if (type_offset_width(t->kind) == 8) {
    l.wide = (const int64_t *)o->a.values;
  } else {
    l.narrow = (const int32_t *)o->a.values;
  }
  return l;
}

glv_status lists_require(const function_frame *f, const operand *o, glv_error *err) {
  if (type_is_list(o->a.type->kind)) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_SQL_EXEC, "%.*s does not support type %s", STR_ARG(f->binding->name),
              TYPE_TEXT(o->a.type));
}

span lists_extent(const lists *l) {
  const size_t rows = l->a->length;
  if (l->narrow != NULL) {
    return (span){(size_t)l->narrow[0], (size_t)(l->narrow[rows] - l->narrow[0])};
  }
  if (l->wide != NULL) {
    return (span){(size_t)l->wide[0], (size_t)(l->wide[rows] - l->wide[0])};
  }
  return (span){0, rows * l->width};
}

/* ---- building ---- */

glv_status list_builder_init(list_builder *b, glv_env *env, const type *t, size_t rows,
                             glv_error *err) {
  *b = (list_builder){.env = env, .type = t, .rows = rows};
  return buffer_new_zeroed(env, (rows + 1) * type_offset_width(t->kind), &b->offsets, err);
}

void list_builder_dispose(list_builder *b) {
  array_unref(&b->source);
  mem_free(b->env, b->picks);
  b->picks = NULL;
  buffer_cleanup(&b->offsets);
  buffer_cleanup(&b->validity);
}

glv_status lists_check_items(const array *items, glv_error *err) {
  return items->length < ITEM_NULL
             ? GLV_OK
             : FAIL(err, GLV_E_LIMIT, "lists with %zu items in one batch are too large",
                    items->length);
}

glv_status lists_too_many(const function_frame *f, glv_error *err) {
  return FAIL(err, GLV_E_LIMIT, "%.*s would make lists of more than %u items in one batch",
              STR_ARG(f->binding->name), LIMIT_SQL_LIST_ITEMS);
}

glv_status list_builder_source(list_builder *b, const array *items, glv_error *err) {
  TRY(lists_check_items(items, err));
  b->source = array_ref(items);
  return GLV_OK;
}

glv_status list_builder_sources(list_builder *b, const array *parts, size_t count,
                                uint32_t *ret_starts, glv_error *err) {
  TRY(array_concat(b->env, parts, count, &b->source, err));
  TRY(lists_check_items(&b->source, err));
  size_t start = 0;
  for (size_t k = 0; k < count; k++) {
    ret_starts[k] = (uint32_t)start;
    start += parts[k].length;
  }
  return GLV_OK;
}

glv_status list_builder_reserve(list_builder *b, size_t more, glv_error *err) {
  size_t wanted;
  if (!size_add(b->pick_count, more, &wanted)) {
    return error_nomem(err, SIZE_MAX);
  }
  return vec_reserve(b->env, &b->picks, &b->pick_capacity, wanted, sizeof *b->picks, err);
}

void list_builder_pick_nulls(list_builder *b, size_t count) {
  for (size_t k = 0; k < count; k++) {
    b->picks[b->pick_count + k] = ITEM_NULL;
  }
  b->pick_count += count;
  b->has_holes = b->has_holes || count != 0;
}

glv_status list_builder_end(list_builder *b, glv_error *err) {
  const size_t row = ++b->row_count;
  if (type_offset_width(b->type->kind) == 8) {
    ((int64_t *)(void *)b->offsets->data)[row] = (int64_t)b->pick_count;
    return GLV_OK;
  }
  if (b->pick_count > INT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "%zu items do not fit into one batch of lists", b->pick_count);
  }
  ((int32_t *)(void *)b->offsets->data)[row] = (int32_t)b->pick_count;
  return GLV_OK;
}

glv_status list_builder_end_null(list_builder *b, glv_error *err) {
  if (b->validity == NULL) {
    TRY(buffer_new(b->env, bits_size(b->rows), &b->validity, err));
    bits_fill(b->validity->data, 0, b->rows, true);
  }
  bit_clear(b->validity->data, b->row_count);
  return list_builder_end(b, err);
}

/* Bits that are set where a pick is an item; holes become row 0. */
static glv_status split_holes(glv_env *env, uint32_t *picks, size_t count, buffer **ret,
                              glv_error *err) {
  TRY(buffer_new_zeroed(env, bits_size(count), ret, err));
  uint8_t *bits = (*ret)->data;
  for (size_t i = 0; i < count; i++) {
    const bool is_item = picks[i] != ITEM_NULL;
    bits[i / 8] = (uint8_t)(bits[i / 8] | (unsigned)is_item << (i % 8));
    picks[i] = is_item ? picks[i] : 0;
  }
  return GLV_OK;
}

static bool contains_null(const uint32_t *picks, size_t count) {
  uint32_t found = 0;
  for (size_t i = 0; i < count; i++) {
    found |= picks[i] == ITEM_NULL;
  }
  return found != 0;
}

/* Holes among lists are rows of a null behind them, for a null list must have no items. */
static glv_status take_lists(glv_env *env, const array *items, uint32_t *picks, size_t count,
                             const type *t, array *ret, glv_error *err) {
  CLEANUP(array_unref) array null = {0};
  CLEANUP(array_unref) array all = {0};
  TRY(array_new_null(env, items->type, 1, &null, err));
  TRY(array_concat(env, (const array[]){*items, null}, 2, &all, err));
  for (size_t i = 0; i < count; i++) {
    picks[i] = picks[i] == ITEM_NULL ? (uint32_t)items->length : picks[i];
  }
  TRY(array_take(env, &all, picks, count, ret, err));
  ret->type = t;
  return GLV_OK;
}

glv_status lists_take(glv_env *env, const array *items, uint32_t *picks, size_t count,
                      bool has_holes, const type *t, array *ret, glv_error *err) {
  CLEANUP(buffer_cleanup) buffer *bits = NULL;
  has_holes = has_holes && contains_null(picks, count);
  if (has_holes && items->length == 0) {
    return array_new_null(env, t, count, ret, err);
  }
  if (has_holes && (type_is_list(items->type->kind) || items->type->kind == TYPE_MAP)) {
    return take_lists(env, items, picks, count, t, ret, err);
  }
  if (has_holes) {
    TRY(split_holes(env, picks, count, &bits, err));
  }
  TRY(array_take(env, items, picks, count, ret, err));
  ret->type = t;
  if (has_holes) {
    const array mask = {.type = t, .length = count, .validity = bits->data};
    return kernel_mask(env, ret, &mask, err);
  }
  return GLV_OK;
}

glv_status list_builder_finish_items(list_builder *b, const array *items, array *ret,
                                     glv_error *err) {
  CLEANUP(array_unref) array a = {.type = b->type, .length = b->rows};
  TRY(array_new_children(b->env, 1, &a, err));
  a.children[0] = kernel_retype(items, list_item(b->type));
  a.owners[1] = b->offsets;
  a.values = b->offsets->data;
  b->offsets = NULL;
  if (b->validity != NULL) {
    a.owners[0] = b->validity;
    a.validity = b->validity->data;
    a.null_count = NULLS_UNKNOWN;
    b->validity = NULL;
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

glv_status list_builder_finish(list_builder *b, array *ret, glv_error *err) {
  CLEANUP(array_unref) array items = {0};
  const type *t = list_item(b->type);
  if (b->source.type == NULL) {
    TRY(array_new_null(b->env, t, b->pick_count, &items, err));
  } else {
    TRY(lists_take(b->env, &b->source, b->picks, b->pick_count, b->has_holes, t, &items, err));
  }
  return list_builder_finish_items(b, &items, ret, err);
}

/* Values that are items each of its own list: a moves into the list. */
static glv_status wrap_once(glv_env *env, array *a, const type *t, glv_error *err) {
  const size_t count = a->length + 1;
  const bool wide = type_offset_width(t->kind) == 8;
  CLEANUP(array_unref) array list = {.type = t, .length = a->length};
  TRY(array_new_children(env, 1, &list, err));
  TRY(buffer_new(env, count * (wide ? 8 : 4), &list.owners[1], err));
  void *offsets = list.owners[1]->data;
  list.values = offsets;
  for (size_t i = 0; i < count; i++) {
    if (wide) {
      ((int64_t *)offsets)[i] = (int64_t)i;
    } else {
      ((int32_t *)offsets)[i] = (int32_t)i;
    }
  }
  list.children[0] = *a;
  list.children[0].type = list_item(t);
  *a = list;
  list = (array){0};
  return GLV_OK;
}

static glv_status wrap(glv_env *env, array *a, const type *t, glv_error *err) {
  if (type_equal(a->type, t)) {
    return GLV_OK;
  }
  TRY(wrap(env, a, list_item(t), err)); /* as deep as the type */
  return wrap_once(env, a, t, err);
}

glv_status lists_wrap(glv_env *env, const array *a, const type *t, array *ret, glv_error *err) {
  CLEANUP(array_unref) array wrapped = array_ref(a);
  TRY(wrap(env, &wrapped, t, err));
  *ret = wrapped;
  ret->type = t;
  wrapped = (array){0};
  return GLV_OK;
}

/* The items of adjacent lists are adjacent, so this takes no longer than the type is deep. */
uint64_t lists_weight(const array *a, size_t first, size_t count) {
  const operand o = {.a = *a};
  uint64_t weight = count;
  if (count == 0 || a->type->kind == TYPE_NULL) {
    return weight;
  }
  if (type_is_list(a->type->kind) || a->type->kind == TYPE_MAP) {
    const lists l = lists_of(&o);
    const size_t start = lists_at(&l, first).first;
    const span last = lists_at(&l, first + count - 1);
    return weight + lists_weight(l.items, start, last.first + last.count - start);
  }
  if (a->type->kind == TYPE_STRUCT) {
    for (size_t i = 0; i < a->child_count; i++) {
      weight += lists_weight(&a->children[i], first, count);
    }
    return weight;
  }
  if (type_offset_width(a->type->kind) != 0) {
    const str last = array_str(a, first + count - 1);
    return weight + (uint64_t)(last.data + last.size - array_str(a, first).data) / 8;
  }
  return weight + count * (type_width(a->type) / 8);
}

/* ---- types ---- */

size_t type_depth(const type *t) {
  size_t deepest = 0;
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): simple types are never NULL
  for (size_t i = 0; i < t->child_count; i++) {
    deepest = size_max(deepest, type_depth(t->children[i].type));
  }
  return deepest + 1;
}

glv_status list_type_new(arena *a, type_kind kind, const type *item, bool nullable,
                         const type **ret, glv_error *err) {
  if (type_depth(item) >= LIMIT_TYPE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "types are nested deeper than %d", LIMIT_TYPE_DEPTH);
  }
  *ret = type_list(a, kind, &(field){.name = "item", .type = item, .nullable = nullable});
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

/* Whether an integer argument is taken where one of kind `to` is wanted. */
static bool fits_integer(type_kind to, type_kind from) {
  const size_t to_width = type_width(type_simple(to));
  const size_t from_width = type_width(type_simple(from));
  if (type_is_signed(to) == type_is_signed(from)) {
    return from_width <= to_width;
  }
  return type_is_signed(to) && from_width < to_width;
}

size_t list_dimensions(const type *t) {
  size_t depth = 0;
  for (; type_is_list(t->kind); t = list_item(t)) {
    depth++;
  }
  return depth;
}

const type *list_innermost(const type *t) {
  while (type_is_list(t->kind)) {
    t = list_item(t);
  }
  return t;
}

/* Whether an argument of type `from` is taken for an item or list of type `to`: more narrow than
 * what a cast can do. */
static bool takes(const type *to, const type *from) {
  if (type_equal(to, from) || from->kind == TYPE_NULL) {
    return true;
  }
  if (from->kind == TYPE_DICTIONARY) {
    return takes(to, from->children[0].type);
  }
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): simple types are never NULL
  if (to->kind == TYPE_DICTIONARY) {
    return takes(to->children[0].type, from);
  }
  if (type_is_integer(to->kind)) {
    return type_is_integer(from->kind) && fits_integer(to->kind, from->kind);
  }
  switch (to->kind) {
  case TYPE_FLOAT16:
    return type_is_integer(from->kind) && type_width(from) <= 2;
  case TYPE_FLOAT32:
    return type_is_integer(from->kind) || from->kind == TYPE_FLOAT16;
  case TYPE_FLOAT64:
    return type_is_numeric(from->kind);
  case TYPE_TIMESTAMP:
    return (to->timezone != NULL || to->unit == UNIT_NANO) &&
           (from->kind == TYPE_TIMESTAMP || from->kind == TYPE_DATE32 ||
            type_is_string(from->kind)) &&
           (to->timezone != NULL || from->timezone == NULL);
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
    return true;
  case TYPE_UTF8_VIEW:
    return type_is_string(from->kind);
  case TYPE_BINARY_VIEW:
    return type_is_binary(from->kind);
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
    return list_innermost(from)->kind == TYPE_NULL || list_dimensions(from) == list_dimensions(to);
  default:
    return false;
  }
}

/* Lists of bytes take neither other items nor nulls of no type, although a common type exists. */
bool lists_refuse_bytes(const type *a, const type *b) {
  return a->kind != b->kind && (type_is_binary(a->kind) || type_is_binary(b->kind));
}

/* The common type of the items and lists among the arguments. */
static glv_status join_items(function_binding *b, const char *roles, const type **ret,
                             glv_error *err) {
  const type *joined = type_simple(TYPE_NULL);
  bool seen = false;
  for (size_t i = 0; i < b->count; i++) {
    const type *t = b->arguments[i].type;
    if (roles[i] != 'a' && roles[i] != 'e') {
      continue;
    }
    if (roles[i] == 'a' && t->kind != TYPE_NULL) {
      if (!type_is_list(t->kind)) {
        return bind_refuse(b, i, "List", err);
      }
      t = list_item(t);
    }
    const type *before = joined;
    TRY(coerce_union(b->arena, t, before, &joined, err));
    if (joined == NULL || (seen && lists_refuse_bytes(t, before))) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "Failed to coerce arguments to satisfy a call to '%.*s' function: items of type "
                  "%s and %s have no common type",
                  STR_ARG(b->name), TYPE_TEXT(before), TYPE_TEXT(t));
    }
    seen = true;
  }
  *ret = joined;
  return GLV_OK;
}

/* The kind that all lists among the arguments become. */
static type_kind list_kind(const function_binding *b, const char *roles, bool keeps_fixed) {
  bool large = false;
  bool fixed = keeps_fixed;
  for (size_t i = 0; i < b->count; i++) {
    const type_kind kind = b->arguments[i].type->kind;
    large = large || (roles[i] == 'a' && kind == TYPE_LARGE_LIST);
    fixed = fixed && (roles[i] != 'a' || (kind != TYPE_LIST && kind != TYPE_LARGE_LIST));
  }
  return large ? TYPE_LARGE_LIST : fixed ? TYPE_FIXED_SIZE_LIST : TYPE_LIST;
}

static glv_status list_target(function_binding *b, size_t i, type_kind kind, const type *item,
                              glv_error *err) {
  const type *t = b->arguments[i].type;
  if (t->kind == TYPE_NULL) {
    return GLV_OK;
  }
  const bool nullable = t->children[0].nullable;
  if (kind != TYPE_FIXED_SIZE_LIST) {
    return list_type_new(b->arena, kind, item, nullable, &b->targets[i], err);
  }
  return type_equal(item, list_item(t)) ? GLV_OK : bind_refuse(b, i, TYPE_TEXT(item), err);
}

glv_status bind_lists(function_binding *b, const char *roles, bool keeps_fixed, glv_error *err) {
  const type *item = NULL;
  TRY(join_items(b, roles, &item, err));
  const type_kind kind = list_kind(b, roles, keeps_fixed);
  for (size_t i = 0; i < b->count; i++) {
    const type *t = b->arguments[i].type;
    const type *wanted = roles[i] == 'i'   ? type_simple(TYPE_INT64)
                         : roles[i] == 's' ? type_simple(TYPE_UTF8)
                                           : item;
    if (roles[i] == 'a') {
      TRY(list_target(b, i, kind, item, err));
      continue;
    }
    if (!takes(wanted, t)) {
      return bind_refuse(b, i, TYPE_TEXT(wanted), err);
    }
    TRY(bind_castable(b, i, wanted, TYPE_TEXT(wanted), err));
  }
  return GLV_OK;
}

glv_status bind_list_to_list(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_lists(b, "a", false, err));
  b->result = b->targets[0];
  return GLV_OK;
}

glv_status bind_list_to_item(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_lists(b, "a", false, err));
  if (bind_is_null(b, 0)) {
    return bind_refuse(b, 0, "List", err);
  }
  b->result = list_item(b->targets[0]);
  return GLV_OK;
}
