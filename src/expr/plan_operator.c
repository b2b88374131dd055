/*
 * Arithmetic, bit operations, concatenation: which types they take, what they give (sql-expressions
 * 9.2, 9.6), and the nodes for them.
 *
 * Operands are cast to one common type, except that decimals keep their own scales. An operation
 * with a constant null is that null.
 */
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/plan_private.h"

enum { DECIMAL128_MAX = 38, DECIMAL256_MAX = 76 };

static const char *const bitwise_text[] = {"&", "|", "^", "<<", ">>"};

glv_status plan_refuse_arithmetic(enum arithmetic_op op, const node *l, const node *r,
                                  glv_error *err) {
  static const char *const text[] = {"+", "-", "*", "/", "%"};
  return FAIL(err, GLV_E_SQL_PLAN, "Cannot coerce arithmetic expression %s %s %s to valid types",
              TYPE_TEXT(l->type), text[op], TYPE_TEXT(r->type));
}

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

glv_status plan_arithmetic_as(planner *p, enum arithmetic_op op, const type *result, const node *l,
                              const type *lt, const node *r, const type *rt, const node **ret,
                              glv_error *err) {
  return cast_pair(p, NODE_ARITHMETIC, op, result, l, lt, r, rt, ret, err);
}

/* An integer as the decimal of a width that holds it; a decimal as itself; NULL for others. */
static const type *as_decimal(planner *p, const type *t, type_kind kind) {
  if (type_is_decimal(t->kind)) {
    return t;
  }
  if (!type_is_integer(t->kind)) {
    return NULL;
  }
  static const int32_t digits[] = {[1] = 3, [2] = 5, [4] = 10, [8] = 20};
  return type_decimal(p->arena, kind, digits[type_width(t)], 0);
}

static int32_t max32(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }

/* Precision and scale of a result (9.2), before capping to `most` digits. */
static void decimal_result(enum arithmetic_op op, const type *l, const type *r, int32_t most,
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
    *ret_scale = min32(l->scale + 4, most);
    *ret_precision = l->precision + *ret_scale - l->scale + r->scale;
    return;
  case ARITHMETIC_MOD:
    *ret_scale = scale;
    *ret_precision = scale + min32(l_whole, r_whole);
    return;
  }
}

/* The decimals that both sides become: their own, but a common one for different widths. */
static glv_status decimal_operands(planner *p, const type *l, const type *r, const type **ret_l,
                                   const type **ret_r, glv_error *err) {
  const bool wide = l->kind == TYPE_DECIMAL256 || r->kind == TYPE_DECIMAL256;
  if (!type_is_decimal(l->kind) && !type_is_decimal(r->kind)) {
    TRY(coerce_numeric(p->arena, l, r, ret_l, err)); /* uint64 with a signed integer */
    *ret_r = *ret_l;
    return GLV_OK;
  }
  *ret_l = as_decimal(p, l, wide ? TYPE_DECIMAL256 : TYPE_DECIMAL128);
  *ret_r = as_decimal(p, r, wide ? TYPE_DECIMAL256 : TYPE_DECIMAL128);
  if (*ret_l == NULL || *ret_r == NULL) {
    return error_nomem(err, sizeof(type));
  }
  if ((*ret_l)->kind != (*ret_r)->kind) {
    TRY(coerce_numeric(p->arena, l, r, ret_l, err));
    *ret_r = *ret_l;
  }
  return GLV_OK;
}

static glv_status decimal(planner *p, enum arithmetic_op op, const node *l, const node *r,
                          const node **ret, glv_error *err) {
  const type *lt = NULL;
  const type *rt = NULL;
  TRY(decimal_operands(p, l->type, r->type, &lt, &rt, err));
  if (lt == NULL || !type_is_decimal(lt->kind)) {
    return plan_refuse_arithmetic(op, l, r, err);
  }
  const int32_t most = lt->kind == TYPE_DECIMAL256 ? DECIMAL256_MAX : DECIMAL128_MAX;
  int32_t precision = 0;
  int32_t scale = 0;
  decimal_result(op, lt, rt, most, &precision, &scale);
  if (scale > most) {
    return FAIL(err, GLV_E_SQL_PLAN, "The scale %d of an operation on %s and %s is past %d", scale,
                TYPE_TEXT(lt), TYPE_TEXT(rt), most);
  }
  const type *t = type_decimal(p->arena, lt->kind, min32(precision, most), scale);
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

/* Dictionaries of numbers are computed with as numbers. */
static glv_status without_dictionary(planner *p, const node **n, glv_error *err) {
  const type *t = (*n)->type;
  if (t->kind != TYPE_DICTIONARY || !type_is_numeric(t->children[0].type->kind)) {
    return GLV_OK;
  }
  return plan_cast(p, *n, t->children[0].type, false, n, err);
}

glv_status plan_arithmetic(planner *p, enum arithmetic_op op, const node *l, const node *r,
                           const node **ret, glv_error *err) {
  *ret = NULL;
  TRY(plan_temporal(p, op, l, r, ret, err));
  if (*ret != NULL) {
    return GLV_OK;
  }
  TRY(without_dictionary(p, &l, err));
  TRY(without_dictionary(p, &r, err));
  if (type_is_decimal(l->type->kind) && r->type->kind == TYPE_NULL) {
    TRY(plan_cast(p, r, l->type, false, &r, err));
  } else if (type_is_decimal(r->type->kind) && l->type->kind == TYPE_NULL) {
    TRY(plan_cast(p, l, r->type, false, &l, err));
  }
  if (is_decimal_pair(l->type, r->type)) {
    return decimal(p, op, l, r, ret, err);
  }
  const type *t = coerce_arithmetic(l->type, r->type);
  if (t == NULL) {
    return plan_refuse_arithmetic(op, l, r, err);
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

static bool is_bytes(const type *t) {
  return type_is_binary(t->kind) || t->kind == TYPE_FIXED_SIZE_BINARY;
}

/* The type that both sides of || become, or NULL. An untyped null is of the other's type. */
static const type *concat_type(const type *l, const type *r) {
  l = l->kind == TYPE_NULL ? r : l;
  r = r->kind == TYPE_NULL ? l : r;
  if (l->kind == TYPE_DICTIONARY && r->kind == TYPE_DICTIONARY) {
    return coerce_strings(l->children[0].type, r->children[0].type);
  }
  const bool l_string = type_is_string(l->kind);
  const bool r_string = type_is_string(r->kind);
  if (l_string && r_string) {
    return coerce_strings(l, r);
  }
  if (l_string || r_string) {
    const type *other = l_string ? r : l;
    const type *t = l_string ? l : r;
    return !is_bytes(other) && cast_is_supported(other, t) ? t : NULL;
  }
  if (!is_bytes(l) || !is_bytes(r)) {
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
