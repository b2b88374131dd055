/*
 * Arithmetic, bit operations, concatenation: which types they take, what they give (sql-expressions
 * 9.2, 9.5, 9.6), and the nodes for them.
 *
 * Operands are cast to one common type, except that decimals keep their own scales and that times
 * meet durations. An operation with a constant null is that null.
 */
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/plan_private.h"

static const char *const arithmetic_text[] = {"+", "-", "*", "/", "%"};
static const char *const bitwise_text[] = {"&", "|", "^", "<<", ">>"};

static glv_status refuse(enum arithmetic_op op, const node *l, const node *r, glv_error *err) {
  return FAIL(err, GLV_E_SQL_PLAN, "Cannot coerce arithmetic expression %s %s %s to valid types",
              TYPE_TEXT(l->type), arithmetic_text[op], TYPE_TEXT(r->type));
}

/* l op r, both already of the types the kernel takes. */
static glv_status make_pair(planner *p, enum node_kind kind, unsigned op, const type *t,
                            const node *l, const node *r, const node **ret, glv_error *err) {
  if (node_is_null(l) || node_is_null(r)) {
    return plan_null(p, t, ret, err);
  }
  node *n = plan_new(p, kind, t, 2);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->op = op;
  n->child[0] = l;
  n->child[1] = r;
  return plan_finish(p, n, ret, err);
}

/* Both sides cast, then the operation. */
static glv_status cast_pair(planner *p, enum node_kind kind, unsigned op, const type *result,
                            const node *l, const type *lt, const node *r, const type *rt,
                            const node **ret, glv_error *err) {
  TRY(plan_cast(p, l, lt, false, &l, err));
  TRY(plan_cast(p, r, rt, false, &r, err));
  return make_pair(p, kind, op, result, l, r, ret, err);
}

static bool is_date(const type *t) { return t->kind == TYPE_DATE32 || t->kind == TYPE_DATE64; }

static const type *stamp(planner *p, time_unit unit, const char *zone) {
  return type_timestamp(p->arena, unit, zone);
}

/* A difference of two timestamps, or of a timestamp and a date, as a duration. */
static glv_status stamp_difference(planner *p, const node *l, const node *r, const node **ret,
                                   glv_error *err) {
  const bool dates = is_date(l->type) || is_date(r->type);
  time_unit unit = UNIT_NANO;
  if (!dates) {
    unit = l->type->unit < r->type->unit ? l->type->unit : r->type->unit;
    if (l->type->timezone != NULL && r->type->timezone != NULL &&
        !str_is(str_of(l->type->timezone), r->type->timezone)) {
      return refuse(ARITHMETIC_SUB, l, r, err);
    }
  }
  const type *lt = stamp(p, unit, dates ? NULL : l->type->timezone);
  const type *rt = stamp(p, unit, dates ? NULL : r->type->timezone);
  const type *result = type_with_unit(p->arena, TYPE_DURATION, unit);
  if (lt == NULL || rt == NULL || result == NULL) {
    return error_nomem(err, sizeof(type));
  }
  return cast_pair(p, NODE_ARITHMETIC, ARITHMETIC_SUB, result, l, lt, r, rt, ret, err);
}

static glv_status date_difference(planner *p, const node *l, const node *r, const node **ret,
                                  glv_error *err) {
  const type *days = type_simple(TYPE_DATE32);
  return cast_pair(p, NODE_ARITHMETIC, ARITHMETIC_SUB, type_simple(TYPE_INT64), l, days, r, days,
                   ret, err);
}

/* A timestamp and a duration, in the unit of the timestamp. */
static glv_status stamp_duration(planner *p, enum arithmetic_op op, const node *l, const node *r,
                                 const node **ret, glv_error *err) {
  const type *t = l->type->kind == TYPE_TIMESTAMP ? l->type : r->type;
  const type *d = type_with_unit(p->arena, TYPE_DURATION, t->unit);
  if (d == NULL) {
    return error_nomem(err, sizeof(type));
  }
  const bool first = l->type->kind == TYPE_TIMESTAMP;
  return cast_pair(p, NODE_ARITHMETIC, op, t, l, first ? t : d, r, first ? d : t, ret, err);
}

/* Days and a number of days. */
static glv_status date_number(planner *p, enum arithmetic_op op, const node *l, const node *r,
                              const node **ret, glv_error *err) {
  const type *number = type_simple(TYPE_INT64);
  const bool first = is_date(l->type);
  return cast_pair(p, NODE_ARITHMETIC, op, first ? l->type : r->type, l, first ? l->type : number,
                   r, first ? number : r->type, ret, err);
}

/* A difference with an untyped null is one of two values of the same type. */
static glv_status temporal_null(planner *p, const node **l, const node **r, glv_error *err) {
  const type *lt = (*l)->type;
  const type *rt = (*r)->type;
  if (rt->kind == TYPE_NULL && (is_date(lt) || lt->kind == TYPE_TIMESTAMP)) {
    return plan_cast(p, *r, lt, false, r, err);
  }
  if (lt->kind == TYPE_NULL && (is_date(rt) || rt->kind == TYPE_TIMESTAMP)) {
    return plan_cast(p, *l, rt, false, l, err);
  }
  return GLV_OK;
}

/* 9.5. *ret stays NULL when the pair is none of the table. */
static glv_status temporal(planner *p, enum arithmetic_op op, const node *l, const node *r,
                           const node **ret, glv_error *err) {
  if (op == ARITHMETIC_SUB) {
    TRY(temporal_null(p, &l, &r, err));
  }
  const type *lt = l->type;
  const type *rt = r->type;
  const bool sum = op == ARITHMETIC_ADD || op == ARITHMETIC_SUB;
  const bool l_stamp = lt->kind == TYPE_TIMESTAMP;
  const bool r_stamp = rt->kind == TYPE_TIMESTAMP;
  if (!sum) {
    return GLV_OK;
  }
  if (op == ARITHMETIC_SUB && is_date(lt) && is_date(rt)) {
    return date_difference(p, l, r, ret, err);
  }
  if (op == ARITHMETIC_SUB && (l_stamp || r_stamp) && (l_stamp || is_date(lt)) &&
      (r_stamp || is_date(rt))) {
    return stamp_difference(p, l, r, ret, err);
  }
  if ((l_stamp && rt->kind == TYPE_DURATION) ||
      (op == ARITHMETIC_ADD && r_stamp && lt->kind == TYPE_DURATION)) {
    return stamp_duration(p, op, l, r, ret, err);
  }
  if (lt->kind == TYPE_DURATION && type_equal(lt, rt)) {
    return make_pair(p, NODE_ARITHMETIC, op, lt, l, r, ret, err);
  }
  if ((lt->kind == TYPE_DATE32 && type_is_integer(rt->kind)) ||
      (op == ARITHMETIC_ADD && rt->kind == TYPE_DATE32 && type_is_integer(lt->kind))) {
    return date_number(p, op, l, r, ret, err);
  }
  return GLV_OK;
}

/* An integer as the decimal that holds it; a decimal as itself; NULL for others. */
static const type *as_decimal(planner *p, const type *t) {
  if (type_is_decimal(t->kind)) {
    return t;
  }
  if (!type_is_integer(t->kind)) {
    return NULL;
  }
  static const int32_t digits[] = {[1] = 3, [2] = 5, [4] = 10, [8] = 20};
  return type_decimal(p->arena, TYPE_DECIMAL128, digits[type_width(t)], 0);
}

static int32_t max32(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }

/* Precision and scale of a result (9.2), before capping. */
static void decimal_result(enum arithmetic_op op, const type *l, const type *r,
                           int32_t *ret_precision, int32_t *ret_scale) {
  const int32_t scale = max32(l->scale, r->scale);
  const int32_t l_whole = l->precision - l->scale;
  const int32_t r_whole = r->precision - r->scale;
  switch (op) {
  case ARITHMETIC_ADD:
  case ARITHMETIC_SUB:
    *ret_scale = scale;
    *ret_precision = scale + max32(l_whole, r_whole) + 1;
    return;
  case ARITHMETIC_MUL:
    *ret_scale = l->scale + r->scale;
    *ret_precision = l->precision + r->precision + 1;
    return;
  case ARITHMETIC_DIV:
    *ret_scale = min32(l->scale + 4, 38);
    *ret_precision = l->precision + *ret_scale - l->scale + r->scale;
    return;
  case ARITHMETIC_MOD:
    *ret_scale = scale;
    *ret_precision = scale + min32(l_whole, r_whole);
    return;
  }
}

static glv_status decimal(planner *p, enum arithmetic_op op, const node *l, const node *r,
                          const node **ret, glv_error *err) {
  const type *lt = as_decimal(p, l->type);
  const type *rt = as_decimal(p, r->type);
  if (lt == NULL || rt == NULL || lt->kind != TYPE_DECIMAL128 || rt->kind != TYPE_DECIMAL128) {
    return refuse(op, l, r, err);
  }
  int32_t precision = 0;
  int32_t scale = 0;
  decimal_result(op, lt, rt, &precision, &scale);
  if (scale > 38) {
    return FAIL(err, GLV_E_SQL_PLAN, "The scale %d of %s %s %s is past that of Decimal128", scale,
                TYPE_TEXT(lt), arithmetic_text[op], TYPE_TEXT(rt));
  }
  const type *t = type_decimal(p->arena, TYPE_DECIMAL128, min32(precision, 38), scale);
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  return cast_pair(p, NODE_ARITHMETIC, op, t, l, lt, r, rt, ret, err);
}

/* A decimal beside an integer or a decimal, or uint64 beside a signed integer. */
static bool is_decimal_pair(const type *l, const type *r) {
  const bool l_decimal = type_is_decimal(l->kind);
  const bool r_decimal = type_is_decimal(r->kind);
  if (l_decimal || r_decimal) {
    return (l_decimal || type_is_integer(l->kind)) && (r_decimal || type_is_integer(r->kind));
  }
  const bool mixed = (l->kind == TYPE_UINT64) != (r->kind == TYPE_UINT64);
  const type_kind other = l->kind == TYPE_UINT64 ? r->kind : l->kind;
  return mixed && type_is_integer(other) && type_is_signed(other);
}

glv_status plan_arithmetic(planner *p, enum arithmetic_op op, const node *l, const node *r,
                           const node **ret, glv_error *err) {
  *ret = NULL;
  TRY(temporal(p, op, l, r, ret, err));
  if (*ret != NULL) {
    return GLV_OK;
  }
  if (is_decimal_pair(l->type, r->type)) {
    return decimal(p, op, l, r, ret, err);
  }
  const type *t = coerce_arithmetic(l->type, r->type);
  if (t == NULL) {
    return refuse(op, l, r, err);
  }
  return cast_pair(p, NODE_ARITHMETIC, op, t, l, t, r, t, ret, err);
}

glv_status plan_bitwise(planner *p, enum bitwise_op op, const node *l, const node *r,
                        const node **ret, glv_error *err) {
  const type *t = coerce_bitwise(l->type, r->type);
  if (t == NULL) {
    return FAIL(err, GLV_E_SQL_PLAN, "Cannot infer common type for bitwise operation %s %s %s",
                TYPE_TEXT(l->type), bitwise_text[op], TYPE_TEXT(r->type));
  }
  return cast_pair(p, NODE_BITWISE, op, t, l, t, r, t, ret, err);
}

/* The type that both sides of || become, or NULL. */
static const type *concat_type(const type *l, const type *r) {
  const bool l_string = type_is_string(l->kind);
  const bool r_string = type_is_string(r->kind);
  if (l_string && r_string) {
    return coerce_strings(l, r);
  }
  const bool l_binary = type_is_binary(l->kind) || l->kind == TYPE_FIXED_SIZE_BINARY;
  const bool r_binary = type_is_binary(r->kind) || r->kind == TYPE_FIXED_SIZE_BINARY;
  if (l_string || r_string) {
    const type *other = l_string ? r : l;
    const type *t = l_string ? l : r;
    return !l_binary && !r_binary && cast_is_supported(other, t) ? t : NULL;
  }
  const bool fits = (l_binary && r_binary) || (l_binary && r->kind == TYPE_NULL) ||
                    (r_binary && l->kind == TYPE_NULL);
  if (!fits) {
    return NULL;
  }
  const bool large = l->kind == TYPE_LARGE_BINARY || r->kind == TYPE_LARGE_BINARY;
  return type_simple(large ? TYPE_LARGE_BINARY : TYPE_BINARY);
}

glv_status plan_concat(planner *p, const node *l, const node *r, const node **ret, glv_error *err) {
  const type *t = concat_type(l->type, r->type);
  if (t == NULL) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Cannot infer common string type for string concat operation %s || %s",
                TYPE_TEXT(l->type), TYPE_TEXT(r->type));
  }
  return cast_pair(p, NODE_CONCAT, 0, t, l, t, r, t, ret, err);
}

glv_status plan_negate(planner *p, const node *x, const node **ret, glv_error *err) {
  const type_kind kind = x->type->kind;
  const bool fits = (type_is_integer(kind) && type_is_signed(kind)) || type_is_float(kind) ||
                    type_is_decimal(kind) || kind == TYPE_TIMESTAMP ||
                    kind == TYPE_INTERVAL_MONTH_DAY_NANO || kind == TYPE_NULL;
  if (!fits) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Negation only supports numeric, interval and timestamp types, not %s",
                TYPE_TEXT(x->type));
  }
  if (node_is_null(x) || kind == TYPE_NULL) {
    *ret = x;
    return GLV_OK;
  }
  node *n = plan_new(p, NODE_NEGATE, x->type, 1);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->child[0] = x;
  return plan_finish(p, n, ret, err);
}
