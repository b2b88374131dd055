/*
 * Comparing typed trees, and moving an item of a grouped query from the columns of its source to
 * those of a row of groups.
 *
 * Left-leaning chains are walked in a loop, everything else recurses as deep as the parser allowed.
 */
#include "expr/group_private.h"

static bool constants_equal(const array *a, const array *b) {
  return a == b || (a != NULL && b != NULL && array_equal(a, b));
}

static bool calls_equal(const function_binding *a, const function_binding *b) {
  return a == b ||
         (a != NULL && b != NULL && a->function == b->function && type_equal(a->result, b->result));
}

bool node_head_equal(const node *a, const node *b) {
  return a->kind == b->kind && a->op == b->op && a->negated == b->negated &&
         a->has_operand == b->has_operand && a->index == b->index &&
         a->child_count == b->child_count && type_equal(a->type, b->type) &&
         constants_equal(a->constant, b->constant) && calls_equal(a->call, b->call) &&
         in_set_equal(a->set, b->set);
}

bool node_equal(const node *a, const node *b) {
  for (;;) {
    if (a == b) {
      return true;
    }
    if (!node_head_equal(a, b)) {
      return false;
    }
    for (size_t i = 1; i < a->child_count; i++) {
      if (!node_equal(a->child[i], b->child[i])) {
        return false;
      }
    }
    if (a->child_count == 0) {
      return true;
    }
    a = a->child[0];
    b = b->child[0];
  }
}

static glv_status column(planner *p, const node *n, size_t index, const node **ret,
                         glv_error *err) {
  node *c = plan_new(p, NODE_COLUMN, n->type, 0);
  if (c == NULL) {
    return error_nomem(err, sizeof *c);
  }
  c->index = index;
  c->nullable = n->nullable;
  *ret = c;
  return GLV_OK;
}

/* A node that stands for a whole column of the row of groups; *ret NULL = it has to be looked
 * into. */
static glv_status whole(planner *p, const group_plan *g, const node *n, const node **ret,
                        glv_error *err) {
  const size_t columns = p->schema->field_count;
  *ret = NULL;
  for (size_t k = 0; k < g->key_count; k++) {
    if (node_equal(n, g->keys[k])) {
      return column(p, n, k, ret, err);
    }
  }
  if (n->kind == NODE_COLUMN && n->index >= columns) {
    return column(p, n, g->key_count + (n->index - columns), ret, err);
  }
  if (n->kind == NODE_COLUMN) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Column in SELECT must be in GROUP BY or an aggregate function: column \"%s\" is "
                "neither",
                p->schema->fields[n->index].name);
  }
  if (n->child_count == 0) {
    *ret = n;
  }
  return GLV_OK;
}

static glv_status rebase_children(planner *p, const group_plan *g, const node *n, size_t from,
                                  node *copy, glv_error *err) {
  for (size_t i = from; i < n->child_count; i++) {
    TRY(plan_rebase(p, g, n->child[i], &copy->child[i], err));
  }
  return GLV_OK;
}

static glv_status copy_node(planner *p, const node *n, node **ret, glv_error *err) {
  node *copy = plan_new(p, n->kind, n->type, n->child_count);
  if (copy == NULL) {
    return error_nomem(err, sizeof *copy);
  }
  const node **children = copy->child;
  *copy = *n;
  copy->child = children;
  *ret = copy;
  return GLV_OK;
}

glv_status plan_rebase(planner *p, const group_plan *g, const node *n, const node **ret,
                       glv_error *err) {
  const node **to = ret;
  for (;;) {
    TRY(whole(p, g, n, to, err));
    if (*to != NULL) {
      return GLV_OK;
    }
    node *copy = NULL;
    TRY(copy_node(p, n, &copy, err));
    *to = copy;
    const size_t left = n->spine != 0 ? 1 : 0; /* the left operand is the next round's */
    TRY(rebase_children(p, g, n, left, copy, err));
    if (left == 0) {
      return GLV_OK;
    }
    to = &copy->child[0];
    n = n->child[0];
  }
}
