/*
 * Comparisons of a cast with a constant: the constant is cast the other way round, and what stood
 * under the cast is compared. That spares the cast, which for columns beside literals is the usual
 * case, and it is what the reference does, where it can be seen: a value that the cast would refuse
 * compares like any other (`CAST(i64 AS INT) = 5`), a failing TRY_CAST is not null, and timestamps
 * are compared in their own unit, to which the constant is rounded toward zero.
 *
 * Only integers, dates, timestamps and decimals of 128 bits are unwrapped, all of which are whole
 * numbers with a scale; between dates and other times there is no such step. A constant that the
 * inner type cannot hold exactly stays.
 */
#include "base/int128.h"
#include "expr/plan_private.h"

static bool is_date(const type *t) { return t->kind == TYPE_DATE32 || t->kind == TYPE_DATE64; }

static bool is_scaled(const type *t) {
  return type_is_integer(t->kind) || is_date(t) || t->kind == TYPE_TIMESTAMP ||
         (t->kind == TYPE_DECIMAL128 && t->scale >= 0);
}

static bool is_unwrappable(const type *from, const type *to) {
  const bool loses = (is_date(from) && type_is_temporal(to->kind)) ||
                     (is_date(to) && type_is_temporal(from->kind));
  return is_scaled(from) && is_scaled(to) && !loses;
}

static int128 load(const array *a) {
  const bool is_signed = type_is_signed(a->type->kind) || !type_is_integer(a->type->kind);
  switch (type_width(a->type)) {
  case 1:
    return is_signed ? ARRAY_VALUES(a, int8_t)[0] : ARRAY_VALUES(a, uint8_t)[0];
  case 2:
    return is_signed ? ARRAY_VALUES(a, int16_t)[0] : ARRAY_VALUES(a, uint16_t)[0];
  case 4:
    return is_signed ? (int128)ARRAY_VALUES(a, int32_t)[0] : (int128)ARRAY_VALUES(a, uint32_t)[0];
  case 8:
    return is_signed ? (int128)ARRAY_VALUES(a, int64_t)[0] : (int128)ARRAY_VALUES(a, uint64_t)[0];
  default:
    return int128_load(a->values);
  }
}

static bool fits(int128 v, const type *t) {
  const size_t bits = 8 * type_width(t);
  if (t->kind == TYPE_DECIMAL128) {
    return int128_magnitude(v) < (uint128)int128_power10(t->precision);
  }
  if (type_is_integer(t->kind) && !type_is_signed(t->kind)) {
    return v >= 0 && v >> bits == 0;
  }
  return v >= -((int128)1 << (bits - 1)) && v < (int128)1 << (bits - 1);
}

/* Ticks of one unit in another. */
static bool change_unit(int128 *v, time_unit from, time_unit to) {
  static const int64_t rates[] = {1, 1000, 1000000, 1000000000};
  if (to < from) {
    *v /= rates[from - to];
    return true;
  }
  return !__builtin_mul_overflow(*v, (int128)rates[to - from], v);
}

/* The number that stands for v in another type; false when there is none. */
static bool rescale(int128 *v, const type *from, const type *to) {
  const int change = (to->kind == TYPE_DECIMAL128 ? to->scale : 0) -
                     (from->kind == TYPE_DECIMAL128 ? from->scale : 0);
  if (change >= 0) {
    if (!int128_scale_up(*v, change, v)) {
      return false;
    }
  } else {
    const int128 power = int128_power10(-change);
    if (*v % power != 0) {
      return false;
    }
    *v /= power;
  }
  if (from->kind == TYPE_TIMESTAMP && to->kind == TYPE_TIMESTAMP) {
    return change_unit(v, from->unit, to->unit);
  }
  return true;
}

static glv_status scaled_constant(planner *p, int128 v, const type *t, const node **ret,
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
  *ret = NULL;
  if (!node_is_constant(c) || !is_unwrappable(t, c->type)) {
    return GLV_OK;
  }
  if (node_is_null(c)) {
    return plan_null(p, t, ret, err);
  }
  int128 v = load(c->constant);
  if (!rescale(&v, c->type, t) || !fits(v, t)) {
    return GLV_OK;
  }
  return scaled_constant(p, v, t, ret, err);
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
