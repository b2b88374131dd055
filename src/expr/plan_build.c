/*
 * Nodes of the typed tree: memory, constants, casts, and the folding that happens as each node is
 * completed (sql-expressions 10.6).
 *
 * Folding is bottom-up: a node whose children are all constant and that is not volatile is
 * evaluated once. When that fails, the node stays as it is and fails again when rows are evaluated,
 * except for a cast directly over a constant, which fails the plan. Constants are arrays of one row
 * and belong to the plan.
 */
#include "expr/cast.h"
#include "expr/plan_private.h"

node *plan_new(planner *p, enum node_kind kind, const type *t, size_t child_count) {
  node *n = ARENA_NEW(p->arena, node);
  if (n == NULL) {
    return NULL;
  }
  n->kind = kind;
  n->type = t;
  n->child_count = child_count;
  n->child = ARENA_ARRAY(p->arena, const node *, child_count);
  return n->child != NULL ? n : NULL;
}

static owned *own(planner *p, glv_error *err) {
  owned *o = ARENA_NEW(p->arena, owned);
  if (o == NULL) {
    (void)error_nomem(err, sizeof *o);
    return NULL;
  }
  o->next = p->plan->owned;
  p->plan->owned = o;
  return o;
}

glv_status plan_own_binding(planner *p, function_binding *b, glv_error *err) {
  owned *o = own(p, err);
  if (o == NULL) {
    return GLV_E_NOMEM;
  }
  o->binding = b;
  return GLV_OK;
}

glv_status plan_constant(planner *p, array *a, bool is_literal, const node **ret, glv_error *err) {
  CLEANUP(array_unref) array taken = *a;
  *a = (array){0};
  node *n = plan_new(p, NODE_CONSTANT, taken.type, 0);
  array *kept = ARENA_NEW(p->arena, array);
  if (n == NULL || kept == NULL) {
    return error_nomem(err, sizeof *n);
  }
  owned *o = own(p, err);
  if (o == NULL) {
    return GLV_E_NOMEM;
  }
  *kept = taken;
  taken = (array){0};
  o->a = kept;
  n->constant = kept;
  n->nullable = !array_is_valid(kept, 0);
  n->is_literal = is_literal;
  *ret = n;
  return GLV_OK;
}

bool node_is_null(const node *n) {
  return n->kind == NODE_CONSTANT && !array_is_valid(n->constant, 0);
}

/* Kinds whose first child is the left operand of a chain. */
static bool has_left(enum node_kind kind) { return kind >= NODE_FIELD && kind <= NODE_LIKE; }

/* Operations that may raise for some row, or cost much more than looking at a row. */
static bool raises(const node *n) {
  switch (n->kind) {
  case NODE_CAST:
    return !n->negated;
  case NODE_ARITHMETIC:
    return n->op == ARITHMETIC_DIV || n->op == ARITHMETIC_MOD ||
           !(type_is_integer(n->type->kind) || type_is_float(n->type->kind));
  case NODE_CALL:
  case NODE_LIKE:
  case NODE_CASE:
  case NODE_COALESCE:
    return true;
  case NODE_NEGATE:
    return !(type_is_integer(n->type->kind) || type_is_float(n->type->kind));
  case NODE_COLUMN:
  case NODE_CONSTANT:
  case NODE_FIELD:
  case NODE_BITWISE:
  case NODE_COMPARE:
  case NODE_DISTINCT:
  case NODE_CONCAT:
  case NODE_NOT:
  case NODE_IS:
  case NODE_BETWEEN:
  case NODE_IN:
  case NODE_AND:
  case NODE_OR:
    return false;
  }
  return true;
}

/* int -> wider int or float casts cannot fail. */
static bool is_safe_cast(const node *n) {
  if (n->kind != NODE_CAST) {
    return false;
  }
  const type_kind from = n->child[0]->type->kind;
  const type_kind to = n->type->kind;
  return type_is_integer(from) &&
         (to == TYPE_FLOAT32 || to == TYPE_FLOAT64 ||
          (type_is_integer(to) && type_is_signed(from) == type_is_signed(to) &&
           type_width(n->type) >= type_width(n->child[0]->type)));
}

/* A branch that can be chosen has a null; conditions only choose. */
static bool case_may_be_null(const node *n) {
  bool any = n->child[n->child_count - 1]->nullable;
  for (size_t i = n->has_operand ? 2 : 1; i < n->child_count; i += 2) {
    any = any || n->child[i]->nullable;
  }
  return any;
}

/* Whether some value can be null, judged by the children. */
static bool may_be_null(const node *n) {
  bool any = false;
  bool all = true;
  for (size_t i = 0; i < n->child_count; i++) {
    any = any || n->child[i]->nullable;
    all = all && n->child[i]->nullable;
  }
  switch (n->kind) {
  case NODE_IS:
  case NODE_DISTINCT:
    return false;
  case NODE_CALL:
    return true;
  case NODE_COALESCE:
    return all;
  case NODE_CAST:
    return any || n->negated;
  case NODE_FIELD:
    return any || n->child[0]->type->children[n->index].nullable;
  case NODE_IN:
    return any || (n->set != NULL && in_set_has_null(n->set));
  case NODE_COLUMN:
  case NODE_CONSTANT:
  case NODE_ARITHMETIC:
  case NODE_BITWISE:
  case NODE_COMPARE:
  case NODE_CONCAT:
  case NODE_NEGATE:
  case NODE_NOT:
  case NODE_BETWEEN:
  case NODE_LIKE:
  case NODE_AND:
  case NODE_OR:
    return any;
  case NODE_CASE:
    return case_may_be_null(n);
  }
  return true;
}

static glv_status fold(planner *p, node *n, const node **ret, glv_error *err) {
  CLEANUP(array_unref) array value = {0};
  const glv_status status = eval_constant(p->plan, n, &value, err);
  if (status == GLV_OK) {
    return plan_constant(p, &value, false, ret, err);
  }
  if (status != GLV_E_SQL_EXEC) {
    return status;
  }
  if (n->kind == NODE_CAST && node_is_constant(n->child[0])) {
    if (err != NULL) {
      err->code = GLV_E_SQL_PLAN;
    }
    return GLV_E_SQL_PLAN;
  }
  *ret = n;
  return GLV_OK;
}

glv_status plan_finish(planner *p, node *n, const node **ret, glv_error *err) {
  bool constant = true;
  n->is_fallible = raises(n) && !is_safe_cast(n);
  for (size_t i = 0; i < n->child_count; i++) {
    constant = constant && node_is_constant(n->child[i]);
    n->is_fallible = n->is_fallible || n->child[i]->is_fallible;
    n->is_volatile = n->is_volatile || n->child[i]->is_volatile;
  }
  n->nullable = may_be_null(n);
  if (has_left(n->kind)) {
    n->spine = n->child[0]->spine + 1;
  }
  if (constant && !n->is_volatile && n->kind != NODE_COLUMN) {
    return fold(p, n, ret, err);
  }
  *ret = n;
  return GLV_OK;
}

glv_status plan_cast(planner *p, const node *n, const type *t, bool is_try, const node **ret,
                     glv_error *err) {
  if (type_equal(n->type, t)) {
    *ret = n;
    return GLV_OK;
  }
  if (!cast_is_supported(n->type, t)) {
    return FAIL(err, GLV_E_SQL_PLAN, "Unsupported CAST from %s to %s", TYPE_TEXT(n->type),
                TYPE_TEXT(t));
  }
  if (n->kind == NODE_CONSTANT && n->type->kind == TYPE_NULL) {
    return plan_null(p, t, ret, err);
  }
  node *cast = plan_new(p, NODE_CAST, t, 1);
  if (cast == NULL) {
    return error_nomem(err, sizeof *cast);
  }
  cast->child[0] = n;
  cast->negated = is_try;
  return plan_finish(p, cast, ret, err);
}
