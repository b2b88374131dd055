/* Maps (sql-expressions 13.3): made of a list of keys and a list of values; their keys, values and
 * entries as lists, which share the memory of the map; the value of one key. */
#include "arrow/bits.h"
#include "expr/compare.h"
#include "expr/function_private.h"
#include "expr/lists.h"
#include "expr/row_set.h"

static const type *entries_of(const type *t) { return t->children[0].type; }
static const type *key_of(const type *t) { return entries_of(t)->children[0].type; }
static const type *value_of(const type *t) { return entries_of(t)->children[1].type; }

/* ---- map(keys, values) ---- */

/* Fails on a null key, or a key that its map has twice. keys: those of all rows, side by side. */
static glv_status check_keys(glv_env *env, const array *keys, const list_builder *b,
                             glv_error *err) {
  if (array_has_nulls(keys)) {
    return FAIL(err, GLV_E_SQL_EXEC, "map key cannot be null");
  }
  CLEANUP(row_set_dispose) row_set set;
  CLEANUP(buffer_cleanup) buffer *numbers = NULL;
  CLEANUP(buffer_cleanup) buffer *seen = NULL; /* by number: the last row that had it, + 1 */
  row_set_init(&set, env, &keys->type, 1);
  TRY(buffer_new(env, keys->length * sizeof(uint32_t), &numbers, err));
  TRY(buffer_new_zeroed(env, keys->length * sizeof(uint32_t), &seen, err));
  uint32_t *number = (uint32_t *)(void *)numbers->data;
  uint32_t *last = (uint32_t *)(void *)seen->data;
  TRY(row_set_add(&set, keys, 1, keys->length, number, NULL, NULL, err));
  const int32_t *offsets = (const int32_t *)(const void *)b->offsets->data;
  for (size_t i = 0; i < b->rows; i++) {
    for (int32_t k = offsets[i]; k < offsets[i + 1]; k++) {
      if (last[number[k]] == i + 1) {
        return FAIL(err, GLV_E_SQL_EXEC, "map key must be unique, a duplicate key was found");
      }
      last[number[k]] = (uint32_t)i + 1;
    }
  }
  return GLV_OK;
}

static glv_status unequal_lengths(glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC, "map requires key and value lists to have the same length");
}

/* Which keys and which values the rows have, in step. */
static glv_status pick_pairs(const lists *keys, const lists *values, list_builder *kb,
                             list_builder *vb, glv_error *err) {
  for (size_t i = 0; i < kb->rows; i++) {
    if (!lists_is_valid(keys, i)) {
      TRY(list_builder_end_null(kb, err));
      continue;
    }
    const span k = lists_at(keys, i);
    const span v = lists_at(values, i);
    if (!lists_is_valid(values, i) || k.count != v.count) {
      return unequal_lengths(err);
    }
    TRY(list_builder_reserve(kb, k.count, err));
    TRY(list_builder_reserve(vb, v.count, err));
    list_builder_pick_span(kb, k.first, k.count);
    list_builder_pick_span(vb, v.first, v.count);
    TRY(list_builder_end(kb, err));
  }
  return GLV_OK;
}

static glv_status make_map(const function_frame *f, const operand *arguments, size_t rows,
                           array *ret, glv_error *err) {
  if (arguments[0].is_scalar != arguments[1].is_scalar) {
    return unequal_lengths(err); /* as the reference, which does not repeat a constant here */
  }
  const type *t = f->binding->result;
  const lists keys = lists_of(&arguments[0]);
  const lists values = lists_of(&arguments[1]);
  CLEANUP(list_builder_dispose) list_builder kb = {0};
  CLEANUP(list_builder_dispose) list_builder vb = {0};
  CLEANUP(array_unref) array entries = {.type = entries_of(t)};
  TRY(list_builder_init(&kb, f->env, t, rows, err));
  TRY(list_builder_init(&vb, f->env, t, 0, err));
  TRY(pick_pairs(&keys, &values, &kb, &vb, err));
  entries.length = kb.pick_count;
  TRY(array_new_children(f->env, 2, &entries, err));
  TRY(lists_take(f->env, keys.items, kb.picks, kb.pick_count, false, key_of(t),
                 &entries.children[0], err));
  TRY(lists_take(f->env, values.items, vb.picks, vb.pick_count, false, value_of(t),
                 &entries.children[1], err));
  TRY(check_keys(f->env, &entries.children[0], &kb, err));
  return list_builder_finish_items(&kb, &entries, ret, err);
}

static glv_status map_type(arena *a, const type *key, const type *value, const type **ret,
                           glv_error *err) {
  const field parts[] = {{.name = "key", .type = key},
                         {.name = "value", .type = value, .nullable = true}};
  const type *entries = type_struct(a, parts, 2);
  field *child = ARENA_NEW(a, field);
  type *t = ARENA_NEW(a, type);
  if (entries == NULL || child == NULL || t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  *child = (field){.name = "entries", .type = entries};
  *t = (type){.kind = TYPE_MAP, .children = child, .child_count = 1};
  *ret = t;
  return GLV_OK;
}

static glv_status bind_make(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  for (size_t i = 0; i < 2; i++) {
    if (!type_is_list(b->arguments[i].type->kind)) {
      return bind_refuse(b, i, "List", err);
    }
  }
  return map_type(b->arena, list_item(b->arguments[0].type), list_item(b->arguments[1].type),
                  &b->result, err);
}

/* ---- the parts of maps ---- */

/* A list with the offsets and nulls of the map and the items given. */
static glv_status share_offsets(const function_frame *f, const operand *map, const array *items,
                                size_t rows, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  TRY(kernel_column(f->env, map, map->a.type, rows, &a, err));
  CLEANUP(array_unref)
  array list = {.type = f->binding->result,
                .length = rows,
                .null_count = a.null_count,
                .validity = a.validity,
                .bit_offset = a.bit_offset,
                .values = a.values};
  list.owners[0] = buffer_ref(a.owners[0]);
  list.owners[1] = buffer_ref(a.owners[1]);
  TRY(array_new_children(f->env, 1, &list, err));
  list.children[0] = kernel_retype(items, list_item(list.type));
  *ret = list;
  list = (array){0};
  return GLV_OK;
}

static glv_status map_keys(const function_frame *f, const operand *arguments, size_t rows,
                           array *ret, glv_error *err) {
  return share_offsets(f, arguments, &arguments[0].a.children[0].children[0], rows, ret, err);
}
static glv_status map_values(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  return share_offsets(f, arguments, &arguments[0].a.children[0].children[1], rows, ret, err);
}
static glv_status map_entries(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  return share_offsets(f, arguments, &arguments[0].a.children[0], rows, ret, err);
}

static glv_status bind_map(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  return b->arguments[0].type->kind == TYPE_MAP ? GLV_OK : bind_refuse(b, 0, "Map", err);
}
static glv_status bind_keys(function_binding *b, glv_error *err) {
  TRY(bind_map(b, err));
  return list_type_new(b->arena, TYPE_LIST, key_of(b->arguments[0].type), true, &b->result, err);
}
static glv_status bind_values(function_binding *b, glv_error *err) {
  TRY(bind_map(b, err));
  const type *t = b->arguments[0].type;
  return list_type_new(b->arena, TYPE_LIST, value_of(t), entries_of(t)->children[1].nullable,
                       &b->result, err);
}
static glv_status bind_entries(function_binding *b, glv_error *err) {
  TRY(bind_map(b, err));
  const type *map = NULL;
  const type *t = b->arguments[0].type;
  TRY(map_type(b->arena, key_of(t), value_of(t), &map, err));
  return list_type_new(b->arena, TYPE_LIST, entries_of(map), false, &b->result, err);
}

/* ---- the value of a key ---- */

/* For every row the first entry whose key is that of the row, or ITEM_NULL. */
static glv_status find_entries(const function_frame *f, const operand *arguments, size_t rows,
                               uint32_t *picks, bool *ret_has_holes, glv_error *err) {
  const lists map = lists_of(&arguments[0]);
  const array *keys = &arguments[0].a.children[0].children[0];
  const operand *key = &arguments[1];
  (void)f;
  TRY(lists_check_items(keys, err));
  for (size_t i = 0; i < rows; i++) {
    picks[i] = ITEM_NULL;
    const span s = lists_at(&map, i);
    const bool known = lists_is_valid(&map, i) && operand_is_valid(key, i);
    for (size_t k = s.first; known && k < s.first + s.count; k++) {
      if (compare_values(keys, k, &key->a, operand_row(key, i)) == 0) {
        picks[i] = (uint32_t)k;
        break;
      }
    }
    *ret_has_holes = *ret_has_holes || picks[i] == ITEM_NULL;
  }
  return GLV_OK;
}

static glv_status value_at(const function_frame *f, const operand *arguments, size_t rows,
                           const type *t, array *ret, glv_error *err) {
  CLEANUP(buffer_cleanup) buffer *picks = NULL;
  bool has_holes = false;
  TRY(buffer_new(f->env, rows * sizeof(uint32_t), &picks, err));
  uint32_t *rows_of_values = (uint32_t *)(void *)picks->data;
  TRY(find_entries(f, arguments, rows, rows_of_values, &has_holes, err));
  return lists_take(f->env, &arguments[0].a.children[0].children[1], rows_of_values, rows,
                    has_holes, t, ret, err);
}

static glv_status get_field(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  const type *key = key_of(arguments[0].a.type);
  if (!type_equal(key, arguments[1].a.type)) {
    return FAIL(err, GLV_E_SQL_EXEC, "Invalid comparison operation: %s == %s",
                TYPE_TEXT(arguments[1].a.type), TYPE_TEXT(key));
  }
  return value_at(f, arguments, rows, f->binding->result, ret, err);
}

/* The value as a list of one, which holds a null when there is none. */
static glv_status map_extract(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  const type *t = f->binding->result;
  if (t->kind == TYPE_NULL) {
    return array_new_null(f->env, t, rows, ret, err);
  }
  CLEANUP(array_unref) array values = {0};
  CLEANUP(list_builder_dispose) list_builder b = {0};
  TRY(value_at(f, arguments, rows, list_item(t), &values, err));
  TRY(list_builder_init(&b, f->env, t, rows, err));
  for (size_t i = 0; i < rows; i++) {
    b.pick_count++;
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish_items(&b, &values, ret, err);
}

static glv_status bind_key(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  const type *t = b->arguments[0].type;
  if (t->kind != TYPE_MAP) {
    return bind_refuse(b, 0, "Map", err);
  }
  b->result = value_of(t);
  return GLV_OK;
}

/* m['a'], m[1]: integers meet, everything else must be of the type of the keys. */
static glv_status bind_get(function_binding *b, glv_error *err) {
  TRY(bind_key(b, err));
  const type *key = key_of(b->arguments[0].type);
  const bool integers = type_is_integer(key->kind) && type_is_integer(b->arguments[1].type->kind);
  if (integers || bind_is_null(b, 1)) {
    b->targets[1] = key;
  }
  return GLV_OK;
}

static glv_status bind_extract(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  if (bind_is_null(b, 0)) {
    b->result = type_simple(TYPE_NULL);
    return GLV_OK;
  }
  TRY(bind_key(b, err));
  TRY(bind_castable(b, 1, key_of(b->arguments[0].type), "the type of the keys", err));
  return list_type_new(b->arena, TYPE_LIST, b->result, true, &b->result, err);
}

static const char *const extract_names[] = {"element_at", NULL};

const function functions_map[] = {
    {.name = "map", .bind = bind_make, .kernel = make_map},
    {.name = "map_keys", .bind = bind_keys, .kernel = map_keys},
    {.name = "map_values", .bind = bind_values, .kernel = map_values},
    {.name = "map_entries", .bind = bind_entries, .kernel = map_entries},
    {.name = "map_extract", .aliases = extract_names, .bind = bind_extract, .kernel = map_extract},
    /* of a map; the planner makes structs a path */
    {.name = "get_field", .bind = bind_get, .kernel = get_field},
    {0},
};
