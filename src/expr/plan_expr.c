/*
 * From the syntax tree to the typed tree: which construct stands where (sql-expressions section 5)
 * and which literals take a column's type (section 8).
 *
 * Chains that lean to the left are walked in a loop (ast_spine): the places of all nodes of the
 * chain are found from the top, then the nodes are planned from the left-most operand up.
 * Everything else recurses; the parser has bounded that depth.
 *
 * A `place` is what a node must know of its surroundings: its context, whether section 8 reaches
 * it, and the type that literals take there.
 */
#include "base/buf.h"
#include "expr/lists.h"
#include "expr/plan_private.h"

enum { MESSAGE_BYTES = 200 };

glv_status plan_refuse(planner *p, const ast *a, glv_error *err) {
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, p->env, SIZE_MAX);
  TRY(ast_print(a, &out, err));
  const str sql = buf_str(&out);
  return FAIL(err, GLV_E_SQL_PLAN, "Expression '%.*s%s' is not supported SQL in lance",
              (int)size_min(sql.size, MESSAGE_BYTES), sql.data != NULL ? sql.data : "",
              sql.size > MESSAGE_BYTES ? ".." : "");
}

/* Where the right operand of left OP right stands: literals of arithmetic take a column's type. */
static place right_place(place at, const node *left, const ast *right) {
  if (at.literal_type != NULL) {
    return (place){.inner = at.inner, .literal_type = at.literal_type};
  }
  if (at.resolves && left->is_path && plan_is_literal_tree(right)) {
    return (place){.inner = at.inner, .literal_type = left->type};
  }
  return place_plain(at);
}

static bool may_be_path(const ast *a) {
  return a->kind == AST_COLUMN || a->kind == AST_SUBSCRIPT || a->kind == AST_FIELD;
}

/* Where the left operand of a node stands: as above, the other way round. */
static glv_status left_place(planner *p, const ast *a, place at, place *ret, glv_error *err) {
  *ret = place_plain(at);
  if (a->kind != AST_BINARY && a->kind != AST_IS_DISTINCT) {
    return GLV_OK;
  }
  if (at.literal_type != NULL) {
    ret->literal_type = at.literal_type;
    return GLV_OK;
  }
  const ast *right = ast_strip(a->child[1]);
  if (at.resolves && plan_is_literal(a->child[0]) && may_be_path(right)) {
    const node *column = NULL;
    TRY(plan_node(p, right, place_plain(at), &column, err));
    if (column->is_path) {
      ret->literal_type = column->type;
    }
  }
  return GLV_OK;
}

static glv_status plan_regex(planner *p, const node *l, const node *r, bool ignore_case,
                             bool negated, const node **ret, glv_error *err) {
  const node *arguments[3] = {l, r, NULL};
  if (ignore_case) {
    TRY(plan_string(p, STR("i"), &arguments[2], err));
  }
  TRY(plan_function(p, "regexp_like", arguments, ignore_case ? 3 : 2, ret, err));
  return negated ? plan_not(p, *ret, ret, err) : GLV_OK;
}

/* l || r of D: lists are joined, or take the other side as an item when it is less deep. */
static glv_status plan_join(planner *p, const node *l, const node *r, const node **ret,
                            glv_error *err) {
  const size_t left = list_dimensions(l->type);
  const size_t right = list_dimensions(r->type);
  if (left == 0 && right == 0) {
    return plan_concat(p, l, r, ret, err);
  }
  const char *name = left == right  ? "array_concat"
                     : left > right ? "array_append"
                                    : "array_prepend";
  return plan_function(p, name, (const node *[]){l, r}, 2, ret, err);
}

/* Operators of D only. */
static glv_status inner_binary(planner *p, const ast *a, const node *l, const node *r,
                               const node **ret, glv_error *err) {
  switch (a->op) {
  case AST_BIT_AND:
    return plan_bitwise(p, BITWISE_AND, l, r, ret, err);
  case AST_BIT_OR:
    return plan_bitwise(p, BITWISE_OR, l, r, ret, err);
  case AST_BIT_XOR:
    return plan_bitwise(p, BITWISE_XOR, l, r, ret, err);
  case AST_REGEX:
  case AST_REGEX_I:
  case AST_NOT_REGEX:
  case AST_NOT_REGEX_I:
    return plan_regex(p, l, r, a->op == AST_REGEX_I || a->op == AST_NOT_REGEX_I,
                      a->op == AST_NOT_REGEX || a->op == AST_NOT_REGEX_I, ret, err);
  case AST_LIKE_OP:
  case AST_ILIKE_OP:
  case AST_NOT_LIKE_OP:
  case AST_NOT_ILIKE_OP:
    return plan_like(p, a->op == AST_ILIKE_OP || a->op == AST_NOT_ILIKE_OP,
                     a->op == AST_NOT_LIKE_OP || a->op == AST_NOT_ILIKE_OP, l, r, ret, err);
  case AST_SPACESHIP:
    return plan_distinct(p, true, l, r, ret, err);
  case AST_CONTAINS:
    return plan_function(p, "array_has_all", (const node *[]){l, r}, 2, ret, err);
  case AST_CONTAINED:
    return plan_function(p, "array_has_all", (const node *[]){r, l}, 2, ret, err);
  default:
    return plan_refuse(p, a, err);
  }
}

static glv_status plan_binary(planner *p, const ast *a, place at, const node *l, const node **ret,
                              glv_error *err) {
  if (!at.inner && a->op > AST_SHR) {
    return plan_refuse(p, a, err);
  }
  const node *r = NULL;
  TRY(plan_node(p, a->child[1], right_place(at, l, a->child[1]), &r, err));
  switch (a->op) {
  case AST_ADD:
  case AST_SUB:
  case AST_MUL:
  case AST_DIV:
  case AST_MOD:
    return plan_arithmetic(p, (enum arithmetic_op)(a->op - AST_ADD), l, r, ret, err);
  case AST_EQ:
  case AST_NE:
  case AST_LT:
  case AST_LE:
  case AST_GT:
  case AST_GE:
    return plan_compare(p, (enum compare_op)(a->op - AST_EQ), l, r, ret, err);
  case AST_CONCAT:
    return at.inner ? plan_join(p, l, r, ret, err) : plan_concat(p, l, r, ret, err);
  case AST_SHL:
    return plan_bitwise(p, BITWISE_SHL, l, r, ret, err);
  case AST_SHR:
    return plan_bitwise(p, BITWISE_SHR, l, r, ret, err);
  default:
    return inner_binary(p, a, l, r, ret, err);
  }
}

static glv_status plan_is_node(planner *p, const ast *a, place at, const node *l, const node **ret,
                               glv_error *err) {
  const bool negated = (a->flags & AST_NOT) != 0;
  switch (a->op) {
  case AST_IS_NULL:
    return plan_is(p, IS_NULL, negated, l, ret, err);
  case AST_IS_TRUE:
    return plan_is(p, IS_TRUE, negated, l, ret, err);
  case AST_IS_FALSE:
    return plan_is(p, IS_FALSE, negated, l, ret, err);
  case AST_IS_UNKNOWN:
    if (!at.inner) {
      return plan_refuse(p, a, err);
    }
    if (l->type->kind != TYPE_BOOL && l->type->kind != TYPE_NULL) {
      return FAIL(err, GLV_E_SQL_PLAN, "IS UNKNOWN needs a boolean, not %s", TYPE_TEXT(l->type));
    }
    return plan_is(p, IS_NULL, negated, l, ret, err);
  default:
    return plan_refuse(p, a, err);
  }
}

static glv_status plan_distinct_node(planner *p, const ast *a, place at, const node *l,
                                     const node **ret, glv_error *err) {
  if (!at.inner && (p->flags & EXPR_VIEW) != 0) {
    return plan_refuse(p, a, err); /* what reads stored views does not know it (16.3) */
  }
  const node *r = NULL;
  TRY(plan_node(p, a->child[1], right_place(at, l, a->child[1]), &r, err));
  return plan_distinct(p, (a->flags & AST_NOT) != 0, l, r, ret, err);
}

static glv_status plan_in_node(planner *p, const ast *a, place at, const node *l, const node **ret,
                               glv_error *err) {
  const size_t count = a->child_count - 1;
  const node **items = ARENA_ARRAY(p->arena, const node *, count);
  if (items == NULL) {
    return error_nomem(err, count * sizeof *items);
  }
  place item = place_plain(at);
  if (at.resolves && l->kind == NODE_COLUMN) {
    item.literal_type = l->type;
  }
  for (size_t i = 0; i < count; i++) {
    TRY(plan_node(p, a->child[i + 1], item, &items[i], err));
  }
  return plan_in(p, (a->flags & AST_NOT) != 0, l, items, count, ret, err);
}

static glv_status plan_between_node(planner *p, const ast *a, place at, const node *l,
                                    const node **ret, glv_error *err) {
  place bound = place_plain(at);
  if (at.resolves && l->is_path) {
    bound.literal_type = l->type;
  }
  const node *low = NULL;
  const node *high = NULL;
  TRY(plan_node(p, a->child[1], bound, &low, err));
  TRY(plan_node(p, a->child[2], bound, &high, err));
  return plan_between(p, (a->flags & AST_NOT) != 0, l, low, high, ret, err);
}

static glv_status plan_like_node(planner *p, const ast *a, place at, const node *l,
                                 const node **ret, glv_error *err) {
  const bool negated = (a->flags & AST_NOT) != 0;
  if ((a->flags & AST_ANY) != 0 || a->op > AST_OP_SIMILAR) {
    return plan_refuse(p, a, err);
  }
  if (a->op == AST_OP_SIMILAR && !at.inner) {
    return plan_refuse(p, a, err);
  }
  if ((a->flags & AST_HAS_ESCAPE) != 0 && !str_is(a->text, "\\")) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "LIKE does not support escape_char other than the backslash (\\)");
  }
  const node *r = NULL;
  TRY(plan_node(p, a->child[1], place_plain(at), &r, err));
  if (a->op == AST_OP_SIMILAR) {
    return plan_regex(p, l, r, false, negated, ret, err);
  }
  return plan_like(p, a->op == AST_OP_ILIKE, negated, l, r, ret, err);
}

/* x = ANY(list) */
static glv_status plan_quantified(planner *p, const ast *a, place at, const node *l,
                                  const node **ret, glv_error *err) {
  if (a->op != AST_EQ || (a->flags & AST_ALL) != 0 || a->child[1]->kind == AST_SUBQUERY) {
    return plan_refuse(p, a, err);
  }
  if (!at.inner) {
    return plan_refuse(p, a, err);
  }
  const node *list = NULL;
  TRY(plan_node(p, a->child[1], place_plain(at), &list, err));
  return plan_function(p, "array_has", (const node *[]){list, l}, 2, ret, err);
}

static glv_status plan_at_time_zone(planner *p, const ast *a, place at, const node *l,
                                    const node **ret, glv_error *err) {
  if (!at.inner) {
    return plan_refuse(p, a, err);
  }
  const ast *zone = ast_strip(a->child[1]);
  if (zone->kind != AST_STRING) {
    return plan_refuse(p, a, err);
  }
  const char *name = arena_strdup(p->arena, zone->text);
  const type *t = name != NULL ? type_timestamp(p->arena, UNIT_NANO, name) : NULL;
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  return plan_cast(p, l, t, false, ret, err);
}

static glv_status plan_subscript(planner *p, const ast *a, place at, const node *l,
                                 const node **ret, glv_error *err) {
  const ast *index = ast_strip(a->child[1]);
  if (index->kind == AST_STRING) {
    return plan_field(p, l, index->text, ret, err);
  }
  const node *i = NULL;
  TRY(plan_node(p, index, place_plain(at), &i, err));
  if (l->type->kind == TYPE_MAP) {
    return plan_function(p, "get_field", (const node *[]){l, i}, 2, ret, err);
  }
  return plan_function(p, "array_element", (const node *[]){l, i}, 2, ret, err);
}

static glv_status plan_slice(planner *p, const ast *a, place at, const node *l, const node **ret,
                             glv_error *err) {
  if (!at.inner) {
    return plan_refuse(p, a, err);
  }
  if (a->child[1] == NULL || a->child[2] == NULL) {
    return plan_refuse(p, a, err);
  }
  const node *arguments[4] = {l, NULL, NULL, NULL};
  size_t count = 1;
  for (size_t i = 1; i < a->child_count && a->child[i] != NULL; i++) {
    TRY(plan_node(p, a->child[i], place_plain(at), &arguments[count++], err));
  }
  return plan_function(p, "array_slice", arguments, count, ret, err);
}

/* JSONB is a type of context L, and of texts that are written only. */
static bool is_jsonb(const ast_type *t, place at) {
  return !at.inner && t->known && t->element == NULL && str_is(t->name, "JSONB");
}

static glv_status plan_jsonb_cast(planner *p, const ast *a, const node **ret, glv_error *err) {
  if (a->child[0]->kind != AST_STRING) {
    return FAIL(err, GLV_E_SQL_PLAN, "CAST to JSONB only supports string literals");
  }
  return plan_jsonb(p, a->child[0]->text, ret, err);
}

static glv_status plan_cast_node(planner *p, const ast *a, place at, const node *x,
                                 const node **ret, glv_error *err) {
  const type *t = NULL;
  if (is_jsonb(a->type, at)) {
    return plan_jsonb_cast(p, a, ret, err);
  }
  TRY(plan_type(p, a->type, at, &t, err));
  const bool is_try = a->op == AST_CAST_TRY || a->op == AST_CAST_SAFE;
  if (at.inner && !is_try && t->kind == TYPE_TIMESTAMP && t->unit == UNIT_NANO &&
      x->type->kind == TYPE_INT64) { /* DataFusion takes the number for seconds here */
    const type *seconds = type_timestamp(p->arena, UNIT_SECOND, NULL);
    if (seconds == NULL) {
      return error_nomem(err, sizeof *seconds);
    }
    TRY(plan_cast(p, x, seconds, false, &x, err));
  }
  return plan_cast(p, x, t, is_try, ret, err);
}

/* One step up a chain: a node whose left operand is planned. */
static glv_status plan_step(planner *p, const ast *a, place at, const node *l, const node **ret,
                            glv_error *err) {
  switch (a->kind) {
  case AST_BINARY:
    return plan_binary(p, a, at, l, ret, err);
  case AST_IS:
    return plan_is_node(p, a, at, l, ret, err);
  case AST_IS_DISTINCT:
    return plan_distinct_node(p, a, at, l, ret, err);
  case AST_IN:
    return plan_in_node(p, a, at, l, ret, err);
  case AST_BETWEEN:
    return plan_between_node(p, a, at, l, ret, err);
  case AST_LIKE:
    return plan_like_node(p, a, at, l, ret, err);
  case AST_QUANTIFIED:
    return plan_quantified(p, a, at, l, ret, err);
  case AST_AT_TIME_ZONE:
    return plan_at_time_zone(p, a, at, l, ret, err);
  case AST_SUBSCRIPT:
    return plan_subscript(p, a, at, l, ret, err);
  case AST_SLICE:
    return plan_slice(p, a, at, l, ret, err);
  case AST_CAST:
    return plan_cast_node(p, a, at, l, ret, err);
  case AST_FIELD:
    if (at.inner) {
      return FAIL(err, GLV_E_SQL_PLAN, "Dot access not supported for non-string expr");
    }
    return plan_field(p, l, a->names[0].text, ret, err);
  default: /* IN (subquery), MEMBER OF, COLLATE */
    return plan_refuse(p, a, err);
  }
}

static glv_status plan_unary(planner *p, const ast *a, place at, const node **ret, glv_error *err) {
  if (a->op == AST_PLUS && !at.inner) {
    return FAIL(err, GLV_E_SQL_PLAN, "Unary operator 'Plus' is not supported");
  }
  if (a->op == AST_TILDE && at.inner) {
    return plan_refuse(p, a, err);
  }
  const node *x = NULL;
  if (a->op == AST_MINUS && a->child[0]->kind == AST_INTERVAL && at.inner) {
    return plan_interval(p, a->child[0], true, ret, err); /* the sign goes to the first amount */
  }
  TRY(plan_node(p, a->child[0], place_plain(at), &x, err));
  if (a->op == AST_MINUS) {
    return plan_negate(p, x, ret, err);
  }
  if (a->op != AST_PLUS) {
    TRY(plan_condition(p, a->child[0], at, &x, err));
    return plan_not(p, x, ret, err);
  }
  if (!type_is_numeric(x->type->kind) && x->type->kind != TYPE_TIMESTAMP &&
      x->type->kind != TYPE_INTERVAL_MONTH_DAY_NANO) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Unary operator '+' only supports numeric, interval and "
                "timestamp types");
  }
  *ret = x;
  return GLV_OK;
}

static glv_status plan_junction_node(planner *p, const ast *a, place at, const node **ret,
                                     glv_error *err) {
  const node **children = ARENA_ARRAY(p->arena, const node *, a->child_count);
  if (children == NULL) {
    return error_nomem(err, a->child_count * sizeof *children);
  }
  for (uint32_t i = 0; i < a->child_count; i++) {
    TRY(plan_node(p, a->child[i], at, &children[i], err));
    TRY(plan_condition(p, a->child[i], at, &children[i], err));
  }
  return plan_junction(p, a->kind == AST_AND, children, a->child_count, ret, err);
}

/* Literals: *ret stays NULL when a is none. */
static glv_status plan_literal(planner *p, const ast *a, place at, const node **ret,
                               glv_error *err) {
  const bool negative = a->kind == AST_UNARY && a->op == AST_MINUS;
  switch (a->kind) {
  case AST_NUMBER:
    TRY(plan_number(p, a, false, at, ret, err));
    break;
  case AST_STRING:
    TRY(plan_string(p, a->text, ret, err));
    break;
  case AST_HEX:
    TRY(plan_hex(p, a, ret, err));
    break;
  case AST_BOOL:
    TRY(plan_bool(p, a->op != 0, ret, err));
    break;
  case AST_NULL:
    TRY(plan_null(p, type_simple(TYPE_NULL), ret, err));
    break;
  case AST_ARRAY:
    if (at.inner) {
      return GLV_OK;
    }
    TRY(plan_array_literal(p, a, ret, err));
    break;
  case AST_UNARY:
    if (!negative || a->child[0]->kind != AST_NUMBER) {
      return GLV_OK;
    }
    TRY(plan_number(p, a->child[0], true, at, ret, err));
    break;
  default:
    return GLV_OK;
  }
  return at.literal_type != NULL ? plan_convert_literal(p, *ret, at.literal_type, ret, err)
                                 : GLV_OK;
}

static glv_status plan_typed_string(planner *p, const ast *a, place at, const node **ret,
                                    glv_error *err) {
  const type *t = NULL;
  const node *text = NULL;
  if (is_jsonb(a->type, at)) {
    return plan_jsonb(p, a->text, ret, err);
  }
  TRY(plan_type(p, a->type, at, &t, err));
  TRY(plan_string(p, a->text, &text, err));
  return plan_cast(p, text, t, false, ret, err);
}

/* An array of D; in L it is a literal. */
static glv_status plan_array(planner *p, const ast *a, place at, const node **ret, glv_error *err) {
  const node **items = ARENA_ARRAY(p->arena, const node *, a->child_count);
  if (items == NULL) {
    return error_nomem(err, a->child_count * sizeof *items);
  }
  for (uint32_t i = 0; i < a->child_count; i++) {
    TRY(plan_node(p, a->child[i], place_plain(at), &items[i], err));
  }
  return plan_function(p, "make_array", items, a->child_count, ret, err);
}

static glv_status plan_inner(planner *p, const ast *a, place at,
                             glv_status (*plan)(planner *, const ast *, place, const node **,
                                                glv_error *),
                             const node **ret, glv_error *err) {
  return at.inner ? plan(p, a, at, ret, err) : plan_refuse(p, a, err);
}

/* The left-most node of a chain. */
static glv_status plan_first(planner *p, const ast *a, place at, const node **ret, glv_error *err) {
  *ret = NULL;
  TRY(plan_literal(p, a, at, ret, err));
  if (*ret != NULL) {
    return GLV_OK;
  }
  switch (a->kind) {
  case AST_COLUMN:
    return plan_column(p, a, at, ret, err);
  case AST_UNARY:
    return plan_unary(p, a, at, ret, err);
  case AST_AND:
  case AST_OR:
    return plan_junction_node(p, a, at, ret, err);
  case AST_PAREN:
    return plan_node(p, a->child[0], at, ret, err);
  case AST_CAST: {
    const node *x = NULL;
    TRY(plan_node(p, a->child[0], place_plain(at), &x, err));
    return plan_cast_node(p, a, at, x, ret, err);
  }
  case AST_TYPED_STRING:
    return plan_typed_string(p, a, at, ret, err);
  case AST_CALL:
    return plan_call(p, a, at, ret, err);
  case AST_CASE:
    return plan_inner(p, a, at, plan_case, ret, err);
  case AST_EXTRACT:
  case AST_CEIL:
  case AST_FLOOR:
  case AST_POSITION:
  case AST_SUBSTRING:
  case AST_TRIM:
  case AST_OVERLAY:
    return plan_inner(p, a, at, plan_special, ret, err);
  case AST_ARRAY:
    return plan_array(p, a, at, ret, err);
  case AST_ODD_VALUE:
    return FAIL(err, GLV_E_SQL_PLAN, "unsupported literal: %.*s", STR_ARG(a->text));
  case AST_INTERVAL:
    return at.inner ? plan_interval(p, a, false, ret, err) : plan_refuse(p, a, err);
  default:
    return plan_refuse(p, a, err);
  }
}

/* A construct that gave back its operand unchanged, such as a cast to the same type, is no path. */
static glv_status clear_path(planner *p, const ast *a, const node **n, glv_error *err) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the operand was planned, so *n is set
  if (!(*n)->is_path || may_be_path(a) || a->kind == AST_PAREN) {
    return GLV_OK;
  }
  node *copy = ARENA_NEW(p->arena, node);
  if (copy == NULL) {
    return error_nomem(err, sizeof *copy);
  }
  *copy = **n;
  copy->is_path = false;
  *n = copy;
  return GLV_OK;
}

glv_status plan_node(planner *p, const ast *a, place at, const node **ret, glv_error *err) {
  if (a->spine == 0) {
    TRY(plan_first(p, a, at, ret, err));
    return clear_path(p, a, ret, err);
  }
  const ast **steps = NULL;
  size_t count = 0;
  TRY(ast_spine(p->arena, a, &steps, &count, err));
  place *places = ARENA_ARRAY(p->arena, place, count);
  if (places == NULL) {
    return error_nomem(err, count * sizeof *places);
  }
  places[count - 1] = at;
  for (size_t i = count - 1; i > 0; i--) {
    TRY(left_place(p, steps[i], places[i], &places[i - 1], err));
  }
  const node *n = NULL;
  TRY(plan_first(p, steps[0], places[0], &n, err));
  TRY(clear_path(p, steps[0], &n, err));
  for (size_t i = 1; i < count; i++) {
    TRY(plan_step(p, steps[i], places[i], n, &n, err));
    TRY(clear_path(p, steps[i], &n, err));
  }
  *ret = n;
  return GLV_OK;
}
