/*
 * Calls: table functions, the lazy functions and CASE, and the forms with words of their own
 * (EXTRACT, TRIM, ...), which are calls written differently.
 *
 * Arguments are planned in context D. coalesce, nvl, nvl2 and CASE become nodes of their own
 * because they evaluate an operand only for the rows that need it.
 */
#include "expr/coerce.h"
#include "expr/group_private.h"
#include "expr/lists.h"

/* Names that exist as aggregates or window functions only. */
static bool is_aggregate(const char *name) {
  static const char *const window_names[] = {
      "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead",
  };
  for (size_t i = 0; i < sizeof window_names / sizeof *window_names; i++) {
    if (str_is(str_of(name), window_names[i])) {
      return true;
    }
  }
  return aggregate_find(str_of(name)) != NULL;
}

static glv_status unknown_function(const char *name, glv_error *err) {
  const char *near = function_suggest(str_of(name));
  if (near != NULL) {
    return FAIL(err, GLV_E_SQL_PLAN, "Invalid function '%s'. Did you mean '%s'?", name, near);
  }
  return FAIL(err, GLV_E_SQL_PLAN, "Invalid function '%s'.", name);
}

/* 15.5: what a view calls must give the same value at every refresh, even where it would fold. */
static glv_status check_view(const planner *p, const function *f, const char *name,
                             glv_error *err) {
  if ((p->flags & EXPR_VIEW) != 0 &&
      (f->volatility != FUNCTION_IMMUTABLE || (f->flags & FUNCTION_NOT_IN_VIEWS) != 0)) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "function '%s' is not immutable and would evaluate differently across refreshes",
                name);
  }
  return GLV_OK;
}

static glv_status bind(planner *p, const function *f, const char *name, const node **arguments,
                       size_t count, function_binding **ret, glv_error *err) {
  function_binding *b = ARENA_NEW(p->arena, function_binding);
  function_argument *seen = ARENA_ARRAY(p->arena, function_argument, count);
  const type **targets = ARENA_ARRAY(p->arena, const type *, count);
  if (b == NULL || seen == NULL || targets == NULL) {
    return error_nomem(err, count * sizeof *seen);
  }
  for (size_t i = 0; i < count; i++) {
    const node *n = arguments[i];
    seen[i] = (function_argument){.type = n->type,
                                  .constant = node_is_constant(n) ? n->constant : NULL,
                                  .is_literal = n->is_literal};
    targets[i] = n->type;
  }
  *b = (function_binding){.env = p->env,
                          .arena = p->arena,
                          .function = f,
                          .name = str_of(name),
                          .count = count,
                          .arguments = seen,
                          .targets = targets};
  TRY(plan_own_binding(p, b, err)); /* first: what bind makes is then disposed of in every case */
  TRY(f->bind(b, err));
  *ret = b;
  return GLV_OK;
}

static glv_status plan_table_function(planner *p, const function *f, const char *name,
                                      const node **arguments, size_t count, const node **ret,
                                      glv_error *err) {
  function_binding *b = NULL;
  TRY(check_view(p, f, name, err));
  TRY(bind(p, f, name, arguments, count, &b, err));
  node *n = plan_new(p, NODE_CALL, b->result, count);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->call = b;
  n->is_volatile = f->volatility == FUNCTION_VOLATILE;
  for (size_t i = 0; i < count; i++) {
    TRY(plan_cast(p, arguments[i], b->targets[i], false, &n->child[i], err));
  }
  return plan_finish(p, n, ret, err);
}

static glv_status wrong_count(const char *name, const char *expected, size_t count,
                              glv_error *err) {
  return FAIL(err, GLV_E_SQL_PLAN, "Function '%s' expects %s arguments but received %zu", name,
              expected, count);
}

static glv_status no_common_type(const char *name, const type *l, const type *r, glv_error *err) {
  return FAIL(err, GLV_E_SQL_PLAN,
              "Failed to coerce arguments to satisfy a call to '%s' function: %s and %s", name,
              TYPE_TEXT(l), TYPE_TEXT(r));
}

/* The first that is not null, of arguments cast to one type. */
static glv_status plan_first_valid(planner *p, const type *t, const node **arguments, size_t count,
                                   const node **ret, glv_error *err) {
  node *n = plan_new(p, NODE_COALESCE, t, 0);
  const node **kept = ARENA_ARRAY(p->arena, const node *, count);
  if (n == NULL || kept == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->child = kept;
  for (size_t i = 0; i < count; i++) {
    const node *x = NULL;
    TRY(plan_cast(p, arguments[i], t, false, &x, err));
    if (!node_is_null(x) && (n->child_count == 0 || kept[n->child_count - 1]->nullable)) {
      kept[n->child_count++] = x;
    }
  }
  if (n->child_count == 0) {
    return plan_null(p, t, ret, err);
  }
  if (n->child_count == 1) {
    *ret = kept[0];
    return GLV_OK;
  }
  return plan_finish(p, n, ret, err);
}

static bool is_bytes(const type *t) {
  return type_is_binary(t->kind) || t->kind == TYPE_FIXED_SIZE_BINARY;
}

static glv_status plan_coalesce(planner *p, const char *name, const node **arguments, size_t count,
                                const node **ret, glv_error *err) {
  if (count == 0) {
    return wrong_count(name, "at least 1", count, err);
  }
  const type *t = arguments[0]->type;
  for (size_t i = 1; i < count; i++) {
    const type *joined = NULL;
    const type *next = arguments[i]->type;
    TRY(coerce_union(p->arena, next, t, &joined, err)); /* the zone of the last one counts */
    const bool bytes = is_bytes(t) || is_bytes(next);
    if (joined == NULL || (bytes && !type_equal(t, next))) {
      return no_common_type(name, t, next, err);
    }
    t = joined;
  }
  return plan_first_valid(p, t, arguments, count, ret, err);
}

static glv_status plan_nvl(planner *p, const char *name, const node **arguments, size_t count,
                           const node **ret, glv_error *err) {
  if (count != 2) {
    return wrong_count(name, "2", count, err);
  }
  const type *t = coerce_nvl(arguments[0]->type, arguments[1]->type);
  if (t == NULL) {
    return no_common_type(name, arguments[0]->type, arguments[1]->type, err);
  }
  return plan_first_valid(p, t, arguments, count, ret, err);
}

/* Children of the CASE node: the operand, if any, then pairs, then ELSE. */
struct case_parts {
  size_t first; /* index of the first WHEN */
  size_t pairs;
  const node **child;
  size_t count;
};

/* Conditions that are constant: false ones go, a true one ends the list. */
static void prune_case(struct case_parts *c) {
  size_t kept = 0;
  for (size_t i = 0; i < c->pairs; i++) {
    const node *when = c->child[2 * i];
    const node *then = c->child[2 * i + 1];
    const bool known = node_is_constant(when) && !node_is_null(when);
    if (known && array_bool(when->constant, 0)) {
      c->child[c->count - 1] = then;
      break;
    }
    if (!known) {
      c->child[2 * kept] = when;
      c->child[2 * kept + 1] = then;
      kept++;
    }
  }
  c->child[2 * kept] = c->child[c->count - 1];
  c->pairs = kept;
  c->count = 2 * kept + 1;
}

/* The node for children of the right types. */
static glv_status finish_case(planner *p, const type *t, struct case_parts *c, const node **ret,
                              glv_error *err) {
  if (c->first == 0) {
    prune_case(c);
  }
  if (c->count == 1) {
    *ret = c->child[0];
    return GLV_OK;
  }
  node *n = plan_new(p, NODE_CASE, t, 0);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->child = c->child;
  n->child_count = c->count;
  n->has_operand = c->first != 0;
  return plan_finish(p, n, ret, err);
}

/* CASE WHEN test IS NOT NULL THEN a ELSE b END, all three of one type, to which the test is cast,
 * too. */
static glv_status plan_nvl2(planner *p, const char *name, const node **arguments, size_t count,
                            const node **ret, glv_error *err) {
  if (count != 3) {
    return wrong_count(name, "3", count, err);
  }
  const type *t = arguments[0]->type;
  for (size_t i = 1; i < count; i++) {
    const type *joined = NULL;
    TRY(coerce_branches(p->arena, t, arguments[i]->type, &joined, err));
    if (joined == NULL) {
      TRY(coerce_comparison(p->arena, t, arguments[i]->type, &joined, err));
    }
    if (joined == NULL) {
      return no_common_type(name, t, arguments[i]->type, err);
    }
    t = joined;
  }
  struct case_parts c = {.pairs = 1, .count = 3, .child = ARENA_ARRAY(p->arena, const node *, 3)};
  if (c.child == NULL) {
    return error_nomem(err, 3 * sizeof *c.child);
  }
  TRY(plan_cast(p, arguments[0], t, false, &arguments[0], err));
  TRY(plan_is(p, IS_NULL, true, arguments[0], &c.child[0], err));
  TRY(plan_cast(p, arguments[1], t, false, &c.child[1], err));
  TRY(plan_cast(p, arguments[2], t, false, &c.child[2], err));
  return finish_case(p, t, &c, ret, err);
}

/* One step of a path: the field of a struct, or the value of a key of a map. */
static glv_status plan_step_into(planner *p, const char *name, const node *x, const node *key,
                                 const node **ret, glv_error *err) {
  if (x->type->kind == TYPE_MAP) {
    return plan_table_function(p, function_find(STR("get_field")), name, (const node *[]){x, key},
                               2, ret, err);
  }
  const bool is_name = node_is_constant(key) && type_is_string(key->type->kind) &&
                       array_is_valid(key->constant, 0) && array_str(key->constant, 0).size != 0;
  if (!is_name) {
    return FAIL(err, GLV_E_SQL_PLAN, "Function '%s': a field name must be a non-empty string",
                name);
  }
  return plan_field(p, x, array_str(key->constant, 0), ret, err);
}

/* get_field(x, 'a', 'b'): a path, so that the plan knows which fields are read. */
static glv_status plan_get_field(planner *p, const char *name, const node **arguments, size_t count,
                                 const node **ret, glv_error *err) {
  if (count < 2) {
    return wrong_count(name, "at least 2", count, err);
  }
  const node *x = arguments[0];
  for (size_t i = 1; i < count && x->type->kind != TYPE_NULL; i++) {
    TRY(plan_step_into(p, name, x, arguments[i], &x, err));
  }
  *ret = x;
  return GLV_OK;
}

/* The items of a constant list as constants. */
static glv_status constant_items(planner *p, const node *list, const node ***ret, size_t *ret_count,
                                 glv_error *err) {
  const operand o = {.a = *list->constant};
  const lists l = lists_of(&o);
  const span s = lists_at(&l, 0);
  const node **items = ARENA_ARRAY(p->arena, const node *, s.count);
  if (items == NULL) {
    return error_nomem(err, s.count * sizeof *items);
  }
  for (size_t k = 0; k < s.count; k++) {
    CLEANUP(array_unref) array item = array_slice(l.items, s.first + k, 1);
    if (item.type == NULL) {
      return error_nomem(err, sizeof item);
    }
    TRY(plan_constant(p, &item, false, &items[k], err));
  }
  *ret = items;
  *ret_count = s.count;
  return GLV_OK;
}

static bool is_call_of(const node *n, const char *name) {
  return n->kind == NODE_CALL && str_is(str_of(n->call->function->name), name);
}

/* array_has: of items that do not depend on the row it is IN, with what IN makes of nulls. */
static glv_status plan_array_has(planner *p, const char *name, const node **arguments, size_t count,
                                 const node **ret, glv_error *err) {
  const node *call = NULL;
  TRY(plan_table_function(p, function_find(STR("array_has")), name, arguments, count, &call, err));
  *ret = call;
  if (call->kind != NODE_CALL) {
    return GLV_OK;
  }
  const node *list = call->child[0];
  const node **items = NULL;
  size_t item_count = 0;
  if (node_is_constant(list) && !node_is_null(list) && type_is_list(list->type->kind)) {
    TRY(constant_items(p, list, &items, &item_count, err));
  } else if (is_call_of(list, "make_array")) {
    item_count = list->child_count;
    items = list->child;
  } else {
    return GLV_OK;
  }
  return item_count == 0 ? plan_bool(p, false, ret, err)
                         : plan_in(p, false, call->child[1], items, item_count, ret, err);
}

/* cast_to_type(x, y), try_cast_to_type: x in the type of y. */
static glv_status plan_cast_to_type(planner *p, const char *name, const node **arguments,
                                    size_t count, const node **ret, glv_error *err) {
  if (count != 2) {
    return wrong_count(name, "2", count, err);
  }
  return plan_cast(p, arguments[0], arguments[1]->type, name[0] == 't', ret, err);
}

glv_status plan_function(planner *p, const char *name, const node **arguments, size_t count,
                         const node **ret, glv_error *err) {
  static const struct {
    const char *name;
    glv_status (*plan)(planner *, const char *, const node **, size_t, const node **, glv_error *);
  } own[] = {{"coalesce", plan_coalesce},
             {"nvl", plan_nvl},
             {"ifnull", plan_nvl},
             {"nvl2", plan_nvl2},
             {"get_field", plan_get_field},
             {"arrow_cast", plan_arrow_cast},
             {"arrow_try_cast", plan_arrow_cast},
             {"cast_to_type", plan_cast_to_type},
             {"try_cast_to_type", plan_cast_to_type},
             {"array_has", plan_array_has},
             {"array_contains", plan_array_has},
             {"list_has", plan_array_has},
             {"list_contains", plan_array_has}};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    if (str_is(str_of(name), own[i].name)) {
      return own[i].plan(p, name, arguments, count, ret, err);
    }
  }
  const function *f = function_find(str_of(name));
  if (f != NULL) {
    return plan_table_function(p, f, name, arguments, count, ret, err);
  }
  if (is_aggregate(name)) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Physical plan does not support logical expression AggregateFunction(%s)", name);
  }
  return unknown_function(name, err);
}

/* An unquoted name in lower case, a quoted one as it is. NULL = no memory. */
static char *function_name(planner *p, const ast_name *written) {
  char *name = arena_strdup(p->arena, written->text);
  if (name != NULL && written->quote == AST_BARE) {
    for (char *c = name; *c != '\0'; c++) {
      if (*c >= 'A' && *c <= 'Z') {
        *c = (char)(*c | 0x20);
      }
    }
  }
  return name;
}

static glv_status plan_arguments(planner *p, const ast *a, const char *name, const node ***ret,
                                 glv_error *err) {
  const node **arguments = ARENA_ARRAY(p->arena, const node *, a->child_count);
  if (arguments == NULL) {
    return error_nomem(err, a->child_count * sizeof *arguments);
  }
  for (uint32_t i = 0; i < a->child_count; i++) {
    const ast *child = a->child[i];
    if (child->kind == AST_NAMED_ARG) {
      return FAIL(err, GLV_E_SQL_PLAN, "Function '%s' does not support named arguments", name);
    }
    if (child->kind == AST_WILDCARD) {
      return FAIL(err, GLV_E_SQL_PLAN, "Function '%s' does not take `*`", name);
    }
    TRY(plan_node(p, child, place_inner(), &arguments[i], err));
  }
  *ret = arguments;
  return GLV_OK;
}

/* is_valid(x) of L: x IS NOT NULL with x planned in L. */
static glv_status plan_is_valid(planner *p, const ast *a, const node **ret, glv_error *err) {
  if (a->child_count == 0 || a->child[0]->kind == AST_WILDCARD ||
      a->child[0]->kind == AST_NAMED_ARG) {
    return FAIL(err, GLV_E_SQL_PLAN, "Function 'is_valid' expects 1 argument");
  }
  const node *x = NULL;
  TRY(plan_node(p, a->child[0], (place){0}, &x, err));
  return plan_is(p, IS_NULL, true, x, ret, err);
}

glv_status plan_call(planner *p, const ast *a, place at, const node **ret, glv_error *err) {
  if (a->call->over && p->group != NULL) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Window functions such as %.*s(..) OVER (..) are not supported; group the rows "
                "instead",
                STR_ARG(a->names[0].text));
  }
  if (a->call->over) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Physical plan does not support logical expression WindowFunction(%.*s)",
                STR_ARG(a->names[0].text));
  }
  if (a->name_count != 1) {
    return FAIL(err, GLV_E_SQL_PLAN, "Invalid function '%.*s.%.*s'.", STR_ARG(a->names[0].text),
                STR_ARG(a->names[1].text));
  }
  if (!at.inner && str_is(a->names[0].text, "is_valid")) {
    return plan_is_valid(p, a, ret, err);
  }
  const char *name = function_name(p, &a->names[0]);
  if (name == NULL) {
    return error_nomem(err, a->names[0].text.size);
  }
  const aggregate_function *f = p->group != NULL ? aggregate_find(str_of(name)) : NULL;
  if (f != NULL) {
    return plan_aggregate(p, f, name, a, ret, err);
  }
  if (a->call->filter != NULL) {
    return plan_refuse(p, a, err);
  }
  const node **arguments = NULL;
  TRY(plan_arguments(p, a, name, &arguments, err));
  return plan_function(p, name, arguments, a->child_count, ret, err);
}

static bool is_regexp_match(const ast *a) {
  a = ast_strip(a);
  return a->kind == AST_CALL && a->name_count == 1 &&
         (a->names[0].quote == AST_BARE
              ? str_equal_ascii_case(a->names[0].text, STR("regexp_match"))
              : str_is(a->names[0].text, "regexp_match"));
}

glv_status plan_condition(planner *p, const ast *a, place at, const node **n, glv_error *err) {
  if (!p->is_filter || at.inner || !is_regexp_match(a)) {
    return GLV_OK;
  }
  return plan_is(p, IS_NULL, true, *n, n, err);
}

static glv_status case_children(planner *p, const ast *a, struct case_parts *ret, glv_error *err) {
  const bool has_else = (a->flags & AST_HAS_ELSE) != 0;
  ret->first = (a->flags & AST_HAS_OPERAND) != 0 ? 1 : 0;
  ret->pairs = (a->child_count - ret->first) / 2;
  ret->count = ret->first + 2 * ret->pairs + 1;
  ret->child = ARENA_ARRAY(p->arena, const node *, ret->count);
  if (ret->child == NULL) {
    return error_nomem(err, ret->count * sizeof *ret->child);
  }
  for (size_t i = 0; i + 1 < ret->count; i++) {
    TRY(plan_node(p, a->child[i], place_inner(), &ret->child[i], err));
  }
  if (has_else) {
    return plan_node(p, a->child[a->child_count - 1], place_inner(), &ret->child[ret->count - 1],
                     err);
  }
  return plan_null(p, type_simple(TYPE_NULL), &ret->child[ret->count - 1], err);
}

/* The operand and all WHEN values of a simple CASE in one type. */
static glv_status case_operand(planner *p, const struct case_parts *c, glv_error *err) {
  const type *t = c->child[0]->type;
  for (size_t i = 0; i < c->pairs; i++) {
    const type *joined = NULL;
    const type *when = c->child[1 + 2 * i]->type;
    TRY(coerce_comparison(p->arena, t, when, &joined, err));
    if (joined == NULL) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "Failed to coerce case (%s) and when (%s) to common types in CASE WHEN "
                  "expression",
                  TYPE_TEXT(t), TYPE_TEXT(when));
    }
    t = joined;
  }
  TRY(plan_cast(p, c->child[0], t, false, &c->child[0], err));
  for (size_t i = 0; i < c->pairs; i++) {
    TRY(plan_cast(p, c->child[1 + 2 * i], t, false, &c->child[1 + 2 * i], err));
  }
  return GLV_OK;
}

/* Results are joined from ELSE on; one that was not written has no say in the type. */
static glv_status case_results(planner *p, const struct case_parts *c, bool has_else,
                               const type **ret, glv_error *err) {
  const type *t = c->child[has_else ? c->count - 1 : c->first + 1]->type;
  for (size_t i = has_else ? 0 : 1; i < c->pairs; i++) {
    const type *then = c->child[c->first + 2 * i + 1]->type;
    const type *joined = NULL;
    TRY(coerce_branches(p->arena, t, then, &joined, err));
    if (joined == NULL) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "Failed to coerce then (%s) and else (%s) to common types in CASE WHEN "
                  "expression",
                  TYPE_TEXT(then), TYPE_TEXT(t));
    }
    t = joined;
  }
  for (size_t i = 0; i < c->pairs; i++) {
    const node **then = &c->child[c->first + 2 * i + 1];
    TRY(plan_cast(p, *then, t, false, then, err));
  }
  *ret = t;
  return plan_cast(p, c->child[c->count - 1], t, false, &c->child[c->count - 1], err);
}

glv_status plan_case(planner *p, const ast *a, place at, const node **ret, glv_error *err) {
  struct case_parts c = {0};
  const type *t = NULL;
  (void)at;
  TRY(case_children(p, a, &c, err));
  if (c.first != 0) {
    TRY(case_operand(p, &c, err));
  } else {
    for (size_t i = 0; i < c.pairs; i++) {
      TRY(plan_cast(p, c.child[2 * i], type_simple(TYPE_BOOL), false, &c.child[2 * i], err));
    }
  }
  TRY(case_results(p, &c, (a->flags & AST_HAS_ELSE) != 0, &t, err));
  return finish_case(p, t, &c, ret, err);
}

static glv_status plan_extract(planner *p, const ast *a, const node **ret, glv_error *err) {
  const node *arguments[2] = {0};
  TRY(plan_string(p, a->names[0].text, &arguments[0], err));
  TRY(plan_node(p, a->child[0], place_inner(), &arguments[1], err));
  return plan_function(p, "date_part", arguments, 2, ret, err);
}

static glv_status plan_substring(planner *p, const ast *a, const node **arguments, const node **ret,
                                 glv_error *err) {
  if ((a->flags & AST_HAS_FOR) == 0) {
    return plan_function(p, "substr", arguments, a->child_count, ret, err);
  }
  if ((a->flags & AST_HAS_FROM) != 0) {
    return plan_function(p, "substr", arguments, 3, ret, err);
  }
  const node *full[3] = {arguments[0], NULL, arguments[1]};
  TRY(plan_int64(p, 1, &full[1], err));
  return plan_function(p, "substr", full, 3, ret, err);
}

glv_status plan_special(planner *p, const ast *a, place at, const node **ret, glv_error *err) {
  static const char *const trim_names[] = {"btrim", "btrim", "ltrim", "rtrim"};
  if (a->kind == AST_EXTRACT) {
    return plan_extract(p, a, ret, err);
  }
  const node **arguments = NULL;
  if (a->name_count != 0) {
    return plan_refuse(p, a, err); /* CEIL(x TO DAY) */
  }
  (void)at;
  TRY(plan_arguments(p, a, "", &arguments, err));
  switch (a->kind) {
  case AST_CEIL:
    return plan_function(p, "ceil", arguments, a->child_count, ret, err);
  case AST_FLOOR:
    return plan_function(p, "floor", arguments, a->child_count, ret, err);
  case AST_POSITION:
    return plan_function(p, "strpos", (const node *[]){arguments[1], arguments[0]}, 2, ret, err);
  case AST_TRIM:
    return plan_function(p, trim_names[a->op], arguments, a->child_count, ret, err);
  case AST_OVERLAY:
    return plan_function(p, "overlay", arguments, a->child_count, ret, err);
  default:
    return plan_substring(p, a, arguments, ret, err);
  }
}
