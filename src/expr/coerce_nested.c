/*
 * Common types of lists, structs and maps (sql-expressions 9.3, 9.4): their parts are joined by the
 * rules of the place they stand in. Types are nested at most LIMIT_TYPE_DEPTH deep, which bounds
 * the recursion.
 */
#include "expr/coerce.h"
#include "expr/plan_private.h"

/* The left field with the joined type. *ret_joins false = there is none. */
static glv_status join_field(arena *a, coerce_part part, const field *l, const field *r, field *ret,
                             bool *ret_joins, glv_error *err) {
  const type *t = NULL;
  TRY(part(a, l->type, r->type, &t, err));
  *ret = (field){
      .name = l->name, .type = t, .nullable = l->nullable || r->nullable, .metadata = l->metadata};
  *ret_joins = t != NULL;
  return GLV_OK;
}

static glv_status join_lists(arena *a, coerce_part part, const type *l, const type *r,
                             const type **ret, glv_error *err) {
  field item;
  bool joins = false;
  TRY(join_field(a, part, &l->children[0], &r->children[0], &item, &joins, err));
  if (!joins) {
    return GLV_OK;
  }
  const bool large = l->kind == TYPE_LARGE_LIST || r->kind == TYPE_LARGE_LIST;
  const bool fixed =
      l->kind == TYPE_FIXED_SIZE_LIST && r->kind == TYPE_FIXED_SIZE_LIST && l->width == r->width;
  *ret = fixed ? type_fixed_size_list(a, &item, l->width)
               : type_list(a, large ? TYPE_LARGE_LIST : TYPE_LIST, &item);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof item);
}

/* Whether every field of l has its namesake in r. */
static bool same_names(const type *l, const type *r) {
  for (size_t i = 0; i < l->child_count; i++) {
    if (type_find_child(r, l->children[i].name) == SIZE_MAX) {
      return false;
    }
  }
  return true;
}

static glv_status join_structs(arena *a, coerce_part part, const type *l, const type *r,
                               const type **ret, glv_error *err) {
  if (l->child_count != r->child_count) {
    return GLV_OK;
  }
  const bool by_name = same_names(l, r);
  if (!by_name && part == coerce_union) {
    return GLV_OK;
  }
  field *fields = ARENA_ARRAY(a, field, l->child_count);
  if (fields == NULL) {
    return error_nomem(err, l->child_count * sizeof *fields);
  }
  for (size_t i = 0; i < l->child_count; i++) {
    const size_t other = by_name ? type_find_child(r, l->children[i].name) : i;
    bool joins = false;
    TRY(join_field(a, part, &l->children[i], &r->children[other], &fields[i], &joins, err));
    if (!joins) {
      return GLV_OK;
    }
  }
  *ret = type_struct(a, fields, l->child_count);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status join_maps(arena *a, coerce_part part, const type *l, const type *r,
                            const type **ret, glv_error *err) {
  const type *entries = NULL;
  TRY(join_structs(a, part, l->children[0].type, r->children[0].type, &entries, err));
  if (entries == NULL) {
    return GLV_OK;
  }
  field *child = ARENA_NEW(a, field);
  type *t = ARENA_NEW(a, type);
  if (child == NULL || t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  *child = l->children[0];
  child->type = entries;
  *t = *l;
  t->children = child;
  t->flag = l->flag && r->flag;
  *ret = t;
  return GLV_OK;
}

glv_status coerce_nested(arena *a, coerce_part part, const type *l, const type *r, const type **ret,
                         glv_error *err) {
  *ret = NULL;
  if (type_is_list(l->kind) && type_is_list(r->kind)) {
    return join_lists(a, part, l, r, ret, err);
  }
  if (l->kind == TYPE_STRUCT && r->kind == TYPE_STRUCT) {
    return join_structs(a, part, l, r, ret, err);
  }
  if (l->kind == TYPE_MAP && r->kind == TYPE_MAP) {
    return join_maps(a, part, l, r, ret, err);
  }
  return GLV_OK;
}
