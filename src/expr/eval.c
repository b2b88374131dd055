/*
 * The evaluator: nodes, columns, constants, casts and calls; and the two entry points.
 *
 * Chains of left operands are evaluated in a loop from the left-most up, so their length needs no
 * stack. A strict operation over scalars gives a scalar. Nothing is evaluated for no rows.
 *
 * A node with several parents (plan_share.c) is evaluated once: its value is kept until the end,
 * for the selection of the whole evaluation only. Below a lazy branch, which sees other rows,
 * nothing is kept or taken.
 */
#include "expr/cast.h"
#include "expr/eval_private.h"

void operand_dispose(operand *o) {
  array_unref(&o->a);
  o->is_scalar = false;
}

size_t eval_rows(const eval *v, const operand *l, const operand *r, bool *ret_is_scalar) {
  *ret_is_scalar = l->is_scalar && (r == NULL || r->is_scalar);
  return *ret_is_scalar ? 1 : v->rows.count;
}

static glv_status eval_column(const eval *v, const node *n, operand *ret, glv_error *err) {
  const array *column =
      v->b != NULL && n->index < v->b->column_count ? &v->b->columns[n->index] : NULL;
  if (column == NULL || column->type == NULL) {
    return FAIL(err, GLV_E_INTERNAL, "column '%s' is not in the batch",
                v->plan->schema->fields[n->index].name);
  }
  ret->is_scalar = false;
  if (v->rows.rows == NULL) {
    ret->a = array_ref(column);
  } else {
    TRY(array_take(v->env, column, v->rows.rows, v->rows.count, &ret->a, err));
  }
  ret->a.type = n->type;
  return GLV_OK;
}

static glv_status eval_call(const eval *v, const node *n, operand *ret, glv_error *err) {
  const function_binding *b = n->call;
  operand *arguments = ARENA_ARRAY(v->scratch, operand, b->count);
  if (arguments == NULL) {
    return error_nomem(err, b->count * sizeof *arguments);
  }
  glv_status status = GLV_OK;
  bool is_scalar = b->function->volatility != FUNCTION_VOLATILE;
  for (size_t i = 0; status == GLV_OK && i < b->count; i++) {
    status = eval_node(v, n->child[i], &arguments[i], err);
    is_scalar = is_scalar && arguments[i].is_scalar;
  }
  if (status == GLV_OK) {
    const function_frame f = {.env = v->env, .binding = b, .now_ns = v->plan->now_ns};
    status = b->function->kernel(&f, arguments, is_scalar ? 1 : v->rows.count, &ret->a, err);
    ret->a.type = n->type;
    ret->is_scalar = is_scalar;
  }
  for (size_t i = 0; i < b->count; i++) {
    operand_dispose(&arguments[i]);
  }
  return status;
}

static glv_status eval_cast(const eval *v, const node *n, const operand *x, operand *ret,
                            glv_error *err) {
  TRY(cast_array(v->env, &x->a, n->type, n->negated, &ret->a, err));
  ret->is_scalar = x->is_scalar;
  ret->a.type = n->type;
  return GLV_OK;
}

/* Null where the child is, and where the struct is unless the node looks through that. */
static glv_status eval_field(const eval *v, const node *n, const operand *x, operand *ret,
                             glv_error *err) {
  CLEANUP(array_unref) array a = array_ref(&x->a.children[n->index]);
  TRY(n->negated ? GLV_OK : kernel_mask(v->env, &a, &x->a, err));
  *ret = (operand){.a = a, .is_scalar = x->is_scalar};
  a = (array){0};
  return GLV_OK;
}

/* By what the operands are: a difference of dates is an integer. */
static glv_status eval_sum(const eval *v, const node *n, const operand *left, const operand *right,
                           operand *ret, glv_error *err) {
  if (type_is_decimal(n->type->kind)) {
    return eval_decimal(v, n, left, right, ret, err);
  }
  if (type_is_temporal(n->type->kind) || type_is_temporal(n->child[0]->type->kind)) {
    return eval_temporal(v, n, left, right, ret, err);
  }
  return eval_division(v, n, left, right, ret, err);
}

/* l op r of the same types, or what the planner made of times. */
static glv_status eval_pair(const eval *v, const node *n, const operand *left, operand *ret,
                            glv_error *err) {
  CLEANUP(operand_dispose) operand right = {0};
  TRY(eval_node(v, n->child[1], &right, err));
  switch (n->kind) {
  case NODE_ARITHMETIC:
    return eval_sum(v, n, left, &right, ret, err);
  case NODE_BITWISE:
    return eval_bitwise(v, n, left, &right, ret, err);
  case NODE_CONCAT:
    return eval_concat(v, n, left, &right, ret, err);
  case NODE_LIKE:
    return eval_like(v, n, left, &right, ret, err);
  default: {
    const size_t rows = eval_rows(v, left, &right, &ret->is_scalar);
    return compare_operands(v->env, (enum compare_op)n->op, left, &right, rows, &ret->a, err);
  }
  }
}

/* One step up a chain: a node whose left operand has a value. */
static glv_status eval_step(const eval *v, const node *n, const operand *left, operand *ret,
                            glv_error *err) {
  switch (n->kind) {
  case NODE_FIELD:
    return eval_field(v, n, left, ret, err);
  case NODE_CAST:
    return eval_cast(v, n, left, ret, err);
  case NODE_NEGATE:
    return type_is_decimal(n->type->kind) ? eval_decimal(v, n, left, NULL, ret, err)
                                          : eval_negate(v, n, left, ret, err);
  case NODE_NOT:
    return eval_not(v, left, ret, err);
  case NODE_IS:
    return eval_is(v, n, left, ret, err);
  case NODE_BETWEEN:
    return eval_between(v, n, left, ret, err);
  case NODE_IN:
    return eval_in(v, n, left, ret, err);
  case NODE_DISTINCT:
    return eval_distinct(v, n, left, ret, err);
  default:
    return eval_pair(v, n, left, ret, err);
  }
}

/* The left-most node of a chain. */
static glv_status eval_first(const eval *v, const node *n, operand *ret, glv_error *err) {
  switch (n->kind) {
  case NODE_COLUMN:
    return eval_column(v, n, ret, err);
  case NODE_CONSTANT:
    *ret = (operand){array_ref(n->constant), true};
    return GLV_OK;
  case NODE_CALL:
    return eval_call(v, n, ret, err);
  case NODE_CASE:
    return eval_case(v, n, ret, err);
  case NODE_COALESCE:
    return eval_coalesce(v, n, ret, err);
  default:
    return eval_junction(v, n, ret, err);
  }
}

/* The left-most node of a chain, or one before it that is kept. */
static const node *chain_start(const eval *v, const node *n, size_t *ret_steps) {
  *ret_steps = 0;
  do {
    n = n->child[0];
    ++*ret_steps;
  } while (n->spine != 0 && !eval_is_kept(v, n));
  return n;
}

static glv_status eval_chain(const eval *v, const node *n, operand *ret, glv_error *err) {
  size_t count = 0;
  const node *first = chain_start(v, n, &count);
  const node **steps = ARENA_ARRAY(v->scratch, const node *, count);
  if (steps == NULL) {
    return error_nomem(err, count * sizeof *steps);
  }
  for (size_t i = count; i > 0; i--) {
    steps[i - 1] = n;
    n = n->child[0];
  }
  CLEANUP(operand_dispose) operand left = {0};
  TRY(eval_is_kept(v, first) ? eval_node(v, first, &left, err) : eval_first(v, first, &left, err));
  for (size_t i = 0, done = 1; i < count; i += done) {
    operand next = {0};
    done = 1;
    TRY(fused_takes(steps[i]) ? eval_fused(v, steps + i, count - i, &left, &next, &done, err)
                              : eval_step(v, steps[i], &left, &next, err));
    operand_dispose(&left);
    left = next;
  }
  *ret = operand_move(&left);
  return GLV_OK;
}

static glv_status eval_new(const eval *v, const node *n, operand *ret, glv_error *err) {
  return n->spine == 0 ? eval_first(v, n, ret, err) : eval_chain(v, n, ret, err);
}

glv_status eval_node(const eval *v, const node *n, operand *ret, glv_error *err) {
  if (v->rows.count == 0) {
    ret->is_scalar = false;
    return array_new_null(v->env, n->type, 0, &ret->a, err);
  }
  if (!eval_is_kept(v, n)) {
    return eval_new(v, n, ret, err);
  }
  operand *kept = &v->memo[n->memo - 1];
  if (kept->a.type == NULL) {
    TRY(eval_new(v, n, kept, err));
  }
  *ret = (operand){array_ref(&kept->a), kept->is_scalar};
  return GLV_OK;
}

glv_status eval_memo_init(eval *v, glv_error *err) {
  const size_t count = v->plan->shared_count;
  if (count > 0) {
    v->memo = ARENA_ARRAY(v->scratch, operand, count);
    if (v->memo == NULL) {
      return error_nomem(err, count * sizeof *v->memo);
    }
  }
  return GLV_OK;
}

void eval_memo_dispose(eval *v) {
  for (size_t i = 0; v->memo != NULL && i < v->plan->shared_count; i++) {
    operand_dispose(&v->memo[i]);
  }
}

glv_status eval_at(const eval *v, const node *n, const uint32_t *positions, size_t count,
                   operand *ret, glv_error *err) {
  eval inner = *v;
  inner.rows.count = count;
  if (count < v->rows.count) {
    inner.memo = NULL;
    uint32_t *rows = NULL;
    if (v->rows.rows != NULL) {
      rows = ARENA_ARRAY(v->scratch, uint32_t, count);
      if (rows == NULL) {
        return error_nomem(err, count * sizeof *rows);
      }
      for (size_t i = 0; i < count; i++) {
        rows[i] = v->rows.rows[positions[i]];
      }
    }
    inner.rows.rows = rows != NULL ? rows : positions;
  }
  return eval_node(&inner, n, ret, err);
}

glv_status eval_expand(glv_env *env, const operand *o, size_t rows, array *ret, glv_error *err) {
  if (!o->is_scalar || o->a.length == rows) {
    *ret = array_ref(&o->a);
    return GLV_OK;
  }
  if (!array_is_valid(&o->a, 0)) {
    return array_new_null(env, o->a.type, rows, ret, err);
  }
  uint32_t *zeros = mem_calloc(env, rows, sizeof *zeros);
  if (zeros == NULL) {
    return error_nomem(err, rows * sizeof *zeros);
  }
  const glv_status status = array_take(env, &o->a, zeros, rows, ret, err);
  mem_free(env, zeros);
  return status;
}

glv_status eval_constant(const expr *e, const node *n, array *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena scratch;
  arena_init(&scratch, e->env);
  const eval v = {.plan = e, .env = e->env, .rows = {NULL, 1}, .scratch = &scratch};
  CLEANUP(operand_dispose) operand o = {0};
  TRY(eval_node(&v, n, &o, err));
  *ret = o.a;
  o = (operand){0};
  return GLV_OK;
}

glv_status expr_eval(const expr *e, const batch *b, selection rows, array *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena scratch;
  arena_init(&scratch, e->env);
  CLEANUP(eval_memo_dispose)
  eval v = {.plan = e, .env = e->env, .b = b, .rows = rows, .scratch = &scratch};
  TRY(eval_memo_init(&v, err));
  CLEANUP(operand_dispose) operand o = {0};
  TRY(eval_node(&v, e->root, &o, err));
  return eval_expand(e->env, &o, rows.count, ret, err);
}
