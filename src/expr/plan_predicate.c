/*
 * Comparisons, IN, BETWEEN, LIKE, IS and the logical connectives: common types
 * (sql-expressions 9.3, 9.6), the rewrite for zeros of floats (10.3), and constants in AND and OR.
 *
 * Zeros: floats compare in total order, where -0.0 < 0.0. A comparison with a constant zero must
 * not see that difference, so it is made with the zero that lies on the right side of both, and
 * equality becomes membership in {-0.0, 0.0}.
 */
#include "expr/coerce.h"
#include "expr/plan_private.h"

static const char *const compare_text[] = {"=", "<>", "<", "<=", ">", ">="};

static bool is_zero(const node *n) {
  if (n->kind != NODE_CONSTANT || node_is_null(n)) {
    return false;
  }
  switch (n->type->kind) {
  case TYPE_FLOAT64:
    return ARRAY_VALUES(n->constant, double)[0] == 0;
  case TYPE_FLOAT32:
    return ARRAY_VALUES(n->constant, float)[0] == 0;
  case TYPE_FLOAT16:
    return (ARRAY_VALUES(n->constant, uint16_t)[0] & 0x7fff) == 0;
  default:
    return false;
  }
}

/* A zero of a float type with the sign wanted. */
static glv_status zero(planner *p, const type *t, bool negative, const node **ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  TRY(array_new_fixed(p->env, t, 1, &a, &values, err));
  const size_t width = type_width(t);
  memset(values, 0, width);
  if (negative) {
    ((uint8_t *)values)[width - 1] = 0x80;
  }
  a.null_count = 0;
  return plan_constant(p, &a, false, ret, err);
}

/* The constants among items as one set; the others stay in items. */
static glv_status split(planner *p, const type *t, const node **items, size_t *count,
                        const struct in_set **ret, glv_error *err) {
  array *constants = ARENA_ARRAY(p->arena, array, *count);
  size_t found = 0;
  size_t kept = 0;
  if (constants == NULL) {
    return error_nomem(err, *count * sizeof *constants);
  }
  for (size_t i = 0; i < *count; i++) {
    if (items[i]->kind == NODE_CONSTANT && in_set_takes(t)) {
      constants[found++] = *items[i]->constant;
    } else {
      items[kept++] = items[i];
    }
  }
  *count = kept;
  if (found == 0) {
    return GLV_OK;
  }
  CLEANUP(array_unref) array values = {0};
  TRY(array_concat(p->env, constants, found, &values, err));
  values.type = t;
  return in_set_new(p->arena, &values, ret, err);
}

/* items: of the type of x; their memory is the arena's and is written to. */
static glv_status in_node(planner *p, bool negated, const node *x, const node **items, size_t count,
                          const node **ret, glv_error *err) {
  if (node_is_null(x)) {
    return plan_null(p, type_simple(TYPE_BOOL), ret, err);
  }
  const struct in_set *set = NULL;
  TRY(split(p, x->type, items, &count, &set, err));
  node *n = plan_new(p, NODE_IN, type_simple(TYPE_BOOL), count + 1);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->set = set;
  n->negated = negated;
  n->child[0] = x;
  memcpy(n->child + 1, items, count * sizeof *items);
  return plan_finish(p, n, ret, err);
}

/* x IN (-0.0, 0.0) */
static glv_status in_zeros(planner *p, bool negated, const node *x, const node **ret,
                           glv_error *err) {
  const node *zeros[2] = {0};
  TRY(zero(p, x->type, true, &zeros[0], err));
  TRY(zero(p, x->type, false, &zeros[1], err));
  return in_node(p, negated, x, zeros, 2, ret, err);
}

static enum compare_op flip(enum compare_op op) {
  static const enum compare_op flipped[] = {COMPARE_EQ, COMPARE_NE, COMPARE_GT,
                                            COMPARE_GE, COMPARE_LT, COMPARE_LE};
  return flipped[op];
}

static glv_status new_pair(planner *p, enum node_kind kind, const node *l, const node *r,
                           node **ret, glv_error *err) {
  node *n = plan_new(p, kind, type_simple(TYPE_BOOL), 2);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->child[0] = l;
  n->child[1] = r;
  *ret = n;
  return GLV_OK;
}

/* Both sides of equal type. */
static glv_status compare_pair(planner *p, enum compare_op op, const node *l, const node *r,
                               const node **ret, glv_error *err) {
  if (node_is_null(l) || node_is_null(r)) {
    return plan_null(p, type_simple(TYPE_BOOL), ret, err);
  }
  if (is_zero(l) && !is_zero(r)) {
    const node *other = l;
    l = r;
    r = other;
    op = flip(op);
  }
  if (is_zero(r)) {
    if (op == COMPARE_EQ || op == COMPARE_NE) {
      return in_zeros(p, op == COMPARE_NE, l, ret, err);
    }
    TRY(zero(p, r->type, op == COMPARE_LT || op == COMPARE_GE, &r, err));
  }
  TRY(plan_unwrap(p, &l, &r, err));
  TRY(plan_unwrap(p, &r, &l, err));
  node *n = NULL;
  TRY(new_pair(p, NODE_COMPARE, l, r, &n, err));
  n->op = op;
  return plan_finish(p, n, ret, err);
}

static glv_status common(planner *p, const char *op, const node **l, const node **r,
                         glv_error *err) {
  const type *t = NULL;
  TRY(coerce_comparison(p->arena, (*l)->type, (*r)->type, &t, err));
  if (t == NULL) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Cannot infer common argument type for comparison operation %s %s %s",
                TYPE_TEXT((*l)->type), op, TYPE_TEXT((*r)->type));
  }
  TRY(plan_cast(p, *l, t, false, l, err));
  return plan_cast(p, *r, t, false, r, err);
}

glv_status plan_compare(planner *p, enum compare_op op, const node *l, const node *r,
                        const node **ret, glv_error *err) {
  TRY(common(p, compare_text[op], &l, &r, err));
  return compare_pair(p, op, l, r, ret, err);
}

static bool keeps_nulls(const type *t) {
  return type_is_integer(t->kind) || type_is_string(t->kind) || t->kind == TYPE_DATE32 ||
         t->kind == TYPE_TIMESTAMP;
}

/* x IS DISTINCT FROM NULL: what stands under casts that keep a null is looked at. */
static glv_status distinct_null(planner *p, bool negated, const node *x, const node **ret,
                                glv_error *err) {
  while (x->kind == NODE_CAST && keeps_nulls(x->type) && keeps_nulls(x->child[0]->type)) {
    x = x->child[0];
  }
  return plan_is(p, IS_NULL, !negated, x, ret, err);
}

glv_status plan_distinct(planner *p, bool negated, const node *l, const node *r, const node **ret,
                         glv_error *err) {
  TRY(common(p, negated ? "IS NOT DISTINCT FROM" : "IS DISTINCT FROM", &l, &r, err));
  if (is_zero(l) || is_zero(r)) {
    const node *in = NULL;
    TRY(in_zeros(p, false, is_zero(r) ? l : r, &in, err));
    return plan_is(p, IS_TRUE, !negated, in, ret, err);
  }
  if (node_is_null(l) || node_is_null(r)) {
    return distinct_null(p, negated, node_is_null(r) ? l : r, ret, err);
  }
  TRY(plan_unwrap(p, &l, &r, err));
  TRY(plan_unwrap(p, &r, &l, err));
  node *n = NULL;
  TRY(new_pair(p, NODE_DISTINCT, l, r, &n, err));
  n->negated = negated;
  return plan_finish(p, n, ret, err);
}

/* The type of x and all items. */
static glv_status in_type(planner *p, const node *x, const node *const *items, size_t count,
                          const type **ret, glv_error *err) {
  const type *t = x->type;
  for (size_t i = 0; i < count; i++) {
    const type *joined = NULL;
    TRY(coerce_comparison(p->arena, t, items[i]->type, &joined, err));
    if (joined == NULL) {
      return FAIL(err, GLV_E_SQL_PLAN, "Can not find compatible types to compare %s with [%s]",
                  TYPE_TEXT(t), TYPE_TEXT(items[i]->type));
    }
    t = joined;
  }
  *ret = t;
  return GLV_OK;
}

/* `0 IN (a, b)`: a IN (-0.0, 0.0) OR b IN (-0.0, 0.0) */
static glv_status zero_in(planner *p, bool negated, const node **items, size_t count,
                          const node **ret, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    TRY(in_zeros(p, false, items[i], &items[i], err));
  }
  TRY(plan_junction(p, false, items, count, ret, err));
  return negated ? plan_not(p, *ret, ret, err) : GLV_OK;
}

/* As plan_unwrap, for a list of constants. */
static glv_status unwrap_in(planner *p, const node **x, const node **items, size_t count,
                            glv_error *err) {
  const node **converted = ARENA_ARRAY(p->arena, const node *, count);
  if (converted == NULL) {
    return error_nomem(err, count * sizeof *converted);
  }
  while ((*x)->kind == NODE_CAST) {
    const node *inner = (*x)->child[0];
    for (size_t i = 0; i < count; i++) {
      TRY(plan_unwrap_constant(p, items[i], inner->type, &converted[i], err));
      if (converted[i] == NULL) {
        return GLV_OK;
      }
    }
    memcpy(items, converted, count * sizeof *items);
    *x = inner;
  }
  return GLV_OK;
}

glv_status plan_in(planner *p, bool negated, const node *x, const node **items, size_t count,
                   const node **ret, glv_error *err) {
  const type *t = NULL;
  TRY(in_type(p, x, items, count, &t, err));
  TRY(plan_cast(p, x, t, false, &x, err));
  const node **cast = ARENA_ARRAY(p->arena, const node *, count + 2);
  if (cast == NULL) {
    return error_nomem(err, count * sizeof *cast);
  }
  bool has_zero = false;
  for (size_t i = 0; i < count; i++) {
    TRY(plan_cast(p, items[i], t, false, &cast[i], err));
    has_zero = has_zero || is_zero(cast[i]);
  }
  if (is_zero(x)) {
    return zero_in(p, negated, cast, count, ret, err);
  }
  if (has_zero) {
    TRY(zero(p, t, true, &cast[count++], err));
    TRY(zero(p, t, false, &cast[count++], err));
  }
  TRY(unwrap_in(p, &x, cast, count, err));
  return in_node(p, negated, x, cast, count, ret, err);
}

/* The two comparisons that BETWEEN stands for. */
static glv_status two_bounds(planner *p, bool negated, const node *x, const node *low,
                             const node *high, const node **ret, glv_error *err) {
  const node *both[2] = {0};
  TRY(compare_pair(p, COMPARE_GE, x, low, &both[0], err));
  TRY(compare_pair(p, COMPARE_LE, x, high, &both[1], err));
  TRY(plan_junction(p, true, both, 2, ret, err));
  return negated ? plan_not(p, *ret, ret, err) : GLV_OK;
}

/* Whether one of the comparisons would lose a cast; x, which is evaluated twice then, is cheap. */
static glv_status bounds_unwrap(planner *p, const node *const *c, bool *ret, glv_error *err) {
  for (size_t i = 1; i <= 2 && !*ret && plan_is_cheap(c[0]); i++) {
    const node *x = c[0];
    const node *bound = c[i];
    TRY(plan_unwrap(p, &x, &bound, err));
    TRY(plan_unwrap(p, &bound, &x, err));
    *ret = x != c[0] || bound != c[i];
  }
  return GLV_OK;
}

glv_status plan_between(planner *p, bool negated, const node *x, const node *low, const node *high,
                        const node **ret, glv_error *err) {
  const type *lt = NULL;
  const type *ht = NULL;
  const type *t = NULL;
  TRY(coerce_comparison(p->arena, x->type, low->type, &lt, err));
  TRY(coerce_comparison(p->arena, x->type, high->type, &ht, err));
  if (lt != NULL && ht != NULL) {
    TRY(coerce_comparison(p->arena, lt, ht, &t, err));
  }
  if (t == NULL) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Failed to coerce types %s and %s and %s in BETWEEN expression", TYPE_TEXT(x->type),
                TYPE_TEXT(low->type), TYPE_TEXT(high->type));
  }
  node *n = plan_new(p, NODE_BETWEEN, type_simple(TYPE_BOOL), 3);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->negated = negated;
  TRY(plan_cast(p, x, t, false, &n->child[0], err));
  TRY(plan_cast(p, low, t, false, &n->child[1], err));
  TRY(plan_cast(p, high, t, false, &n->child[2], err));
  const bool half_known = node_is_constant(n->child[0]) &&
                          (node_is_constant(n->child[1]) || node_is_constant(n->child[2]));
  if (is_zero(n->child[0]) || half_known) {
    return two_bounds(p, negated, n->child[0], n->child[1], n->child[2], ret, err);
  }
  bool unwraps = false;
  TRY(bounds_unwrap(p, n->child, &unwraps, err));
  if (unwraps) {
    return two_bounds(p, negated, n->child[0], n->child[1], n->child[2], ret, err);
  }
  if (is_zero(n->child[1])) {
    TRY(zero(p, t, true, &n->child[1], err));
  }
  if (is_zero(n->child[2])) {
    TRY(zero(p, t, false, &n->child[2], err));
  }
  return plan_finish(p, n, ret, err);
}

static bool is_boolean(const type *t) { return t->kind == TYPE_BOOL || t->kind == TYPE_NULL; }

glv_status plan_is(planner *p, enum is_op op, bool negated, const node *x, const node **ret,
                   glv_error *err) {
  if (op != IS_NULL) {
    if (!is_boolean(x->type)) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "Cannot infer common argument type for comparison operation %s IS DISTINCT FROM "
                  "Boolean",
                  TYPE_TEXT(x->type));
    }
    TRY(plan_cast(p, x, type_simple(TYPE_BOOL), false, &x, err));
  }
  if (op == IS_NULL && !x->nullable) {
    return plan_bool(p, negated, ret, err);
  }
  node *n = plan_new(p, NODE_IS, type_simple(TYPE_BOOL), 1);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->op = op;
  n->negated = negated;
  n->child[0] = x;
  return plan_finish(p, n, ret, err);
}

glv_status plan_not(planner *p, const node *x, const node **ret, glv_error *err) {
  if (!is_boolean(x->type)) {
    return FAIL(err, GLV_E_SQL_PLAN, "NOT needs a boolean, not %s", TYPE_TEXT(x->type));
  }
  TRY(plan_cast(p, x, type_simple(TYPE_BOOL), false, &x, err));
  node *n = plan_new(p, NODE_NOT, type_simple(TYPE_BOOL), 1);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->child[0] = x;
  return plan_finish(p, n, ret, err);
}

/* 0 or 1 for a constant boolean, -1 for anything else. */
static int constant_bool(const node *n) {
  if (n->kind != NODE_CONSTANT || node_is_null(n)) {
    return -1;
  }
  return array_bool(n->constant, 0) ? 1 : 0;
}

static glv_status junction_operands(planner *p, bool is_and, const node **children, size_t count,
                                    const node **into, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    if (!is_boolean(children[i]->type)) {
      const node *other = children[i == 0 && count > 1 ? 1 : 0];
      const node *l = i == 0 ? children[0] : other;
      const node *r = i == 0 ? other : children[i];
      return FAIL(err, GLV_E_SQL_PLAN,
                  "Cannot infer common argument type for logical boolean operation %s %s %s",
                  TYPE_TEXT(l->type), is_and ? "AND" : "OR", TYPE_TEXT(r->type));
    }
    TRY(plan_cast(p, children[i], type_simple(TYPE_BOOL), false, &into[i], err));
  }
  return GLV_OK;
}

/* A constant false decides AND, a constant true OR; the other constant says nothing. */
glv_status plan_junction(planner *p, bool is_and, const node **children, size_t count,
                         const node **ret, glv_error *err) {
  const enum node_kind kind = is_and ? NODE_AND : NODE_OR;
  node *n = plan_new(p, kind, type_simple(TYPE_BOOL), count);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  TRY(junction_operands(p, is_and, children, count, n->child, err));
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    const int value = constant_bool(n->child[i]);
    if (value == (is_and ? 0 : 1)) {
      return plan_bool(p, !is_and, ret, err);
    }
    if (value < 0) {
      n->child[kept++] = n->child[i];
    }
  }
  n->child_count = kept;
  if (kept == 0) {
    return plan_bool(p, is_and, ret, err);
  }
  if (kept == 1) {
    *ret = n->child[0];
    return GLV_OK;
  }
  return plan_finish(p, n, ret, err);
}

glv_status plan_like(planner *p, bool ignore_case, bool negated, const node *l, const node *r,
                     const node **ret, glv_error *err) {
  const type *t = coerce_like(l->type, r->type);
  if (t == NULL) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "There isn't a common type to coerce %s and %s in LIKE expression",
                TYPE_TEXT(l->type), TYPE_TEXT(r->type));
  }
  TRY(plan_cast(p, l, t, false, &l, err));
  TRY(plan_cast(p, r, t, false, &r, err));
  if (type_is_string(t->kind) && (node_is_null(l) || node_is_null(r))) {
    return plan_null(p, type_simple(TYPE_BOOL), ret, err);
  }
  node *n = NULL;
  TRY(new_pair(p, NODE_LIKE, l, r, &n, err));
  n->op = ignore_case ? 1 : 0;
  n->negated = negated;
  return plan_finish(p, n, ret, err);
}
