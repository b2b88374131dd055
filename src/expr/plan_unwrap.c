/*
 * Comparisons of a cast with a constant: the constant is cast the other way round, and what stood
 * under the cast is compared. That spares the cast, which for columns beside literals is the usual
 * case, and it is what the reference does, where it can be seen: a value that the cast would refuse
 * compares like any other (`CAST(i64 AS INT) = 5`), a failing TRY_CAST is not null, and timestamps
 * are compared in their own unit, to which the constant is rounded toward zero.
 *
 * Only integers, days and timestamps are unwrapped, all of which are ticks; between days and
 * timestamps there is no such step. A constant that does not fit the inner type stays.
 */
#include "expr/plan_private.h"

static bool is_ticks(const type *t) {
  return type_is_integer(t->kind) || t->kind == TYPE_DATE32 || t->kind == TYPE_TIMESTAMP;
}

static bool is_unwrappable(const type *from, const type *to) {
  const bool dates = from->kind == TYPE_DATE32 || to->kind == TYPE_DATE32;
  const bool stamps = from->kind == TYPE_TIMESTAMP || to->kind == TYPE_TIMESTAMP;
  return is_ticks(from) && is_ticks(to) && !(dates && stamps);
}

/* The value of a constant; false when it does not fit int64. */
static bool load(const array *a, int64_t *ret) {
  switch (type_width(a->type)) {
  case 1:
    *ret = type_is_signed(a->type->kind) ? ARRAY_VALUES(a, int8_t)[0] : ARRAY_VALUES(a, uint8_t)[0];
    return true;
  case 2:
    *ret =
        type_is_signed(a->type->kind) ? ARRAY_VALUES(a, int16_t)[0] : ARRAY_VALUES(a, uint16_t)[0];
    return true;
  case 4:
    *ret = a->type->kind == TYPE_UINT32 ? (int64_t)ARRAY_VALUES(a, uint32_t)[0]
                                        : ARRAY_VALUES(a, int32_t)[0];
    return true;
  default:
    *ret = ARRAY_VALUES(a, int64_t)[0];
    return a->type->kind != TYPE_UINT64 || *ret >= 0;
  }
}

static bool fits(int64_t v, const type *t) {
  const size_t bits = 8 * type_width(t);
  if (type_is_integer(t->kind) && !type_is_signed(t->kind)) {
    return v >= 0 && (bits == 64 || v >> bits == 0);
  }
  return bits == 64 || (v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1));
}

/* Ticks of one unit in another. */
static bool rescale(int64_t v, const type *from, const type *to, int64_t *ret) {
  static const int64_t rates[] = {1, 1000, 1000000, 1000000000};
  *ret = v;
  if (from->kind != TYPE_TIMESTAMP || to->kind != TYPE_TIMESTAMP) {
    return true;
  }
  if (to->unit < from->unit) {
    *ret = v / rates[from->unit - to->unit];
    return true;
  }
  return !__builtin_mul_overflow(v, rates[to->unit - from->unit], ret);
}

static glv_status ticks_constant(planner *p, int64_t v, const type *t, const node **ret,
                                 glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  TRY(array_new_fixed(p->env, t, 1, &a, &values, err));
  memcpy(values, &v, type_width(t)); /* little-endian: the low bytes */
  a.null_count = 0;
  return plan_constant(p, &a, false, ret, err);
}

glv_status plan_unwrap_constant(planner *p, const node *c, const type *t, const node **ret,
                                glv_error *err) {
  int64_t v = 0;
  *ret = NULL;
  if (p->keeps_casts || !node_is_constant(c) || !is_unwrappable(t, c->type)) {
    return GLV_OK;
  }
  if (node_is_null(c)) {
    return plan_null(p, t, ret, err);
  }
  if (!load(c->constant, &v) || !rescale(v, c->type, t, &v) || !fits(v, t)) {
    return GLV_OK;
  }
  return ticks_constant(p, v, t, ret, err);
}

glv_status plan_unwrap(planner *p, const node **x, const node **c, glv_error *err) {
  while ((*x)->kind == NODE_CAST && !node_is_constant(*x)) {
    const node *inner = (*x)->child[0];
    const node *converted = NULL;
    TRY(plan_unwrap_constant(p, *c, inner->type, &converted, err));
    if (converted == NULL) {
      break;
    }
    *x = inner;
    *c = converted;
  }
  return GLV_OK;
}

bool plan_is_cheap(const node *n) {
  while (n->kind == NODE_CAST) {
    n = n->child[0];
  }
  return n->kind == NODE_COLUMN || n->kind == NODE_CONSTANT;
}
