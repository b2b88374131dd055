/*
 * Planning grouped queries: context G of sql-expressions section 5, and section 14.
 *
 * Order: the items, each aggregate noted as it is met; the keys, which may be named by an item;
 * then every item is rewritten to the row of groups, which is where a column that is neither key
 * nor aggregate shows. Equal aggregates are computed once.
 */
#include "base/limits.h"
#include "expr/group_private.h"
#include "expr/unicode.h"

void group_plan_free(group_plan *p) {
  if (p != NULL) {
    glv_env *env = p->nodes->env;
    schema_unref(p->result);
    expr *nodes = p->nodes;
    env_ref(env);
    mem_free(env, p);
    expr_free(nodes);
    env_unref(env);
  }
}

void group_plan_cleanup(group_plan **p) {
  group_plan_free(*p);
  *p = NULL;
}

const schema *group_plan_schema(const group_plan *p) { return p->result; }

const size_t *group_plan_columns(const group_plan *p, size_t *ret_count) {
  return expr_columns(p->nodes, ret_count);
}

const char *const *group_plan_paths(const group_plan *p, size_t *ret_count) {
  return expr_paths(p->nodes, ret_count);
}

/* ---- aggregate calls ---- */

static glv_status plan_filter(planner *p, const ast *a, aggregate *g, glv_error *err) {
  if (a->call->filter == NULL) {
    return GLV_OK;
  }
  TRY(plan_node(p, a->call->filter, place_inner(), &g->filter, err));
  if (g->filter->type->kind != TYPE_BOOL && g->filter->type->kind != TYPE_NULL) {
    return FAIL(err, GLV_E_SQL_PLAN, "FILTER of %s must be a boolean, not %s", g->name,
                TYPE_TEXT(g->filter->type));
  }
  return plan_cast(p, g->filter, type_simple(TYPE_BOOL), false, &g->filter, err);
}

static glv_status plan_order(planner *p, const ast *a, aggregate *g, glv_error *err) {
  const size_t count = a->call->order_count;
  g->order = ARENA_ARRAY(p->arena, const node *, count);
  g->descending = ARENA_ARRAY(p->arena, bool, count);
  g->nulls_first = ARENA_ARRAY(p->arena, bool, count);
  if (g->order == NULL || g->descending == NULL || g->nulls_first == NULL) {
    return error_nomem(err, count * sizeof *g->order);
  }
  for (size_t i = 0; i < count; i++) {
    const ast_order *o = &a->call->order[i];
    TRY(plan_node(p, o->key, place_inner(), &g->order[i], err));
    if (g->order[i]->type->kind == TYPE_DICTIONARY) {
      TRY(plan_cast(p, g->order[i], g->order[i]->type->children[0].type, false, &g->order[i], err));
    }
    g->descending[i] = o->descending;
    g->nulls_first[i] = o->has_nulls ? o->nulls_first : o->descending;
  }
  g->order_count = count;
  return GLV_OK;
}

static glv_status plan_arguments(planner *p, const ast *a, aggregate *g, glv_error *err) {
  const bool is_star = a->child_count == 1 && a->child[0]->kind == AST_WILDCARD &&
                       a->child[0]->name_count == 0 && g->function->kind == AGGREGATE_COUNT;
  g->args = ARENA_ARRAY(p->arena, const node *, a->child_count + 1);
  if (g->args == NULL) {
    return error_nomem(err, a->child_count * sizeof *g->args);
  }
  if (is_star && g->distinct) {
    return FAIL(err, GLV_E_SQL_PLAN, "count(DISTINCT *) is not supported; name a column");
  }
  for (uint32_t i = 0; i < a->child_count && !is_star; i++) {
    const ast *child = a->child[i];
    if (child->kind == AST_WILDCARD || child->kind == AST_NAMED_ARG) {
      return FAIL(err, GLV_E_SQL_PLAN, "Aggregate function '%s' does not take %s", g->name,
                  child->kind == AST_WILDCARD ? "`*`" : "named arguments");
    }
    TRY(plan_node(p, child, place_inner(), &g->args[g->arg_count++], err));
  }
  return GLV_OK;
}

/* WITHIN GROUP (ORDER BY x), and ORDER BY x within the parentheses of the same functions: x is the
 * value. */
static glv_status move_ordered_value(planner *p, const ast *a, aggregate *g, glv_error *err) {
  if ((g->function->flags & AGGREGATE_WITHIN_GROUP) == 0) {
    return !a->call->within_group
               ? GLV_OK
               : FAIL(err, GLV_E_SQL_PLAN,
                      "WITHIN GROUP is only supported for ordered-set aggregate functions");
  }
  if (g->order_count == 0) {
    return GLV_OK;
  }
  if (g->order_count > 1) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Only a single ordering expression is permitted in WITHIN GROUP clause");
  }
  (void)p;
  if (a->call->within_group || g->arg_count < 2) {
    memmove(g->args + 1, g->args, g->arg_count * sizeof *g->args);
    g->arg_count++;
  }
  g->args[0] = g->order[0];
  return GLV_OK;
}

static bool lists_equal(const node **a, size_t a_count, const node **b, size_t b_count) {
  if (a_count != b_count) {
    return false;
  }
  for (size_t i = 0; i < a_count; i++) {
    if (!node_equal(a[i], b[i])) {
      return false;
    }
  }
  return true;
}

static bool orders_equal(const aggregate *a, const aggregate *b) {
  for (size_t i = 0; i < a->order_count && i < b->order_count; i++) {
    if (a->descending[i] != b->descending[i] || a->nulls_first[i] != b->nulls_first[i]) {
      return false;
    }
  }
  return lists_equal(a->order, a->order_count, b->order, b->order_count);
}

static bool aggregates_equal(const aggregate *a, const aggregate *b) {
  return a->function->kind == b->function->kind &&
         a->function->statistic == b->function->statistic && a->distinct == b->distinct &&
         a->ignore_nulls == b->ignore_nulls && a->n == b->n && a->fraction == b->fraction &&
         str_equal(a->separator, b->separator) && a->refusal == b->refusal &&
         type_equal(a->result, b->result) &&
         (a->filter == b->filter ||
          (a->filter != NULL && b->filter != NULL && node_equal(a->filter, b->filter))) &&
         lists_equal(a->args, a->arg_count, b->args, b->arg_count) && orders_equal(a, b);
}

/* The number of an aggregate, which is the number of an equal one if there is one. */
static glv_status note(planner *p, const aggregate *a, size_t *ret, glv_error *err) {
  struct group_scope *s = p->group;
  for (size_t i = 0; i < s->aggregate_count; i++) {
    if (aggregates_equal(a, s->aggregates[i])) {
      *ret = i;
      return GLV_OK;
    }
  }
  const size_t count = s->aggregate_count;
  if (count == 0 || (count & (count - 1)) == 0) { /* the capacity is the power of two above */
    const aggregate **list = ARENA_ARRAY(p->arena, const aggregate *, count == 0 ? 1 : 2 * count);
    if (list == NULL) {
      return error_nomem(err, 2 * count * sizeof *list);
    }
    if (count != 0) {
      memcpy(list, s->aggregates, count * sizeof *list);
    }
    s->aggregates = list;
  }
  s->aggregates[s->aggregate_count] = a;
  *ret = s->aggregate_count++;
  return GLV_OK;
}

static glv_status add_aggregate(planner *p, const aggregate *a, const node **ret, glv_error *err) {
  size_t number = 0;
  TRY(note(p, a, &number, err));
  node *n = plan_new(p, NODE_COLUMN, a->result, 0);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->index = p->schema->field_count + number;
  n->nullable =
      a->function->kind != AGGREGATE_COUNT || (a->function->flags & AGGREGATE_APPROXIMATE) != 0;
  *ret = n;
  return GLV_OK;
}

/* In an aggregate with DISTINCT the order may only be that of the value itself. */
static void check_distinct_order(aggregate *a) {
  const bool holds = !a->distinct || a->order_count == 0 ||
                     (a->order_count == 1 && node_equal(a->order[0], a->args[0]));
  if (!holds && a->refusal == NULL) {
    a->refusal = "In an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
  }
}

/* Arguments, filter and order of a call, planned over the rows. */
static glv_status plan_parts(planner *p, const ast *call, aggregate *a, glv_error *err) {
  struct group_scope *s = p->group;
  s->in_argument = true;
  p->keeps_casts = false;
  s->has_nested = false;
  TRY(plan_arguments(p, call, a, err));
  TRY(plan_order(p, call, a, err));
  TRY(plan_filter(p, call, a, err));
  s->in_argument = false;
  p->keeps_casts = true;
  TRY(move_ordered_value(p, call, a, err));
  check_distinct_order(a);
  TRY(aggregate_bind(p, a, err));
  if (s->has_nested) { /* planned, but no row may reach it */
    a->refusal = "an aggregate cannot be the argument of another";
  }
  if (a->refusal != NULL) {
    a->arg_count = a->order_count = 0;
    a->filter = NULL;
  }
  return GLV_OK;
}

glv_status plan_aggregate(planner *p, const aggregate_function *f, const char *name, const ast *a,
                          const node **ret, glv_error *err) {
  struct group_scope *s = p->group;
  if (s->items != NULL) {
    return FAIL(err, GLV_E_SQL_PLAN, "aggregate functions are not allowed in GROUP BY: %s", name);
  }
  if (s->in_argument) {
    s->has_nested = true; /* of any type that lets the outer call be planned */
    return a->child_count > 0 && a->child[0]->kind != AST_WILDCARD
               ? plan_node(p, a->child[0], place_inner(), ret, err)
               : plan_int64(p, 0, ret, err);
  }
  aggregate *planned = ARENA_NEW(p->arena, aggregate);
  if (planned == NULL) {
    return error_nomem(err, sizeof *planned);
  }
  planned->function = f;
  planned->name = name;
  planned->distinct = a->call->distinct;
  planned->ignore_nulls = a->call->ignore_nulls;
  if (a->call->respect_nulls && (f->flags & AGGREGATE_NULLS_CLAUSE) == 0) {
    return FAIL(err, GLV_E_SQL_PLAN, "[IGNORE | RESPECT] NULLS are not permitted for %s", name);
  }
  TRY(plan_parts(p, a, planned, err));
  return add_aggregate(p, planned, ret, err);
}

/* ---- keys and items ---- */

static bool has_aggregate(const planner *p, const node *n) {
  for (;;) {
    if (n->kind == NODE_COLUMN && n->index >= p->schema->field_count) {
      return true;
    }
    for (size_t i = 1; i < n->child_count; i++) {
      if (has_aggregate(p, n->child[i])) {
        return true;
      }
    }
    if (n->child_count == 0) {
      return false;
    }
    n = n->child[0];
  }
}

static glv_status item_as_key(planner *p, size_t i, const node **ret, glv_error *err) {
  const struct group_scope *s = p->group;
  if (has_aggregate(p, s->items[i])) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "aggregate functions are not allowed in GROUP BY: column '%.*s' has one",
                STR_ARG(s->query->items[i].name));
  }
  *ret = s->items[i];
  return GLV_OK;
}

glv_status group_alias(planner *p, str name, const node **ret, glv_error *err) {
  const struct group_scope *s = p->group;
  *ret = NULL;
  for (size_t i = 0; s->items != NULL && i < s->query->item_count; i++) {
    if (str_equal(s->query->items[i].name, name)) {
      return item_as_key(p, i, ret, err);
    }
  }
  return GLV_OK;
}

/* GROUP BY 2 */
static glv_status resolve_position(planner *p, const node **key, glv_error *err) {
  const node *n = *key;
  const struct group_scope *s = p->group;
  if (!n->is_literal || n->type->kind != TYPE_INT64 || node_is_null(n)) {
    return GLV_OK;
  }
  const int64_t position = ARRAY_VALUES(n->constant, int64_t)[0];
  if (position < 1 || (uint64_t)position > s->query->item_count) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Cannot find column with position %lld in SELECT clause. Valid columns: 1 to %zu",
                (long long)position, s->query->item_count);
  }
  return item_as_key(p, (size_t)position - 1, key, err);
}

static glv_status parse_and_plan(planner *p, str text, const node **ret, glv_error *err) {
  const ast *a = NULL;
  if (text.size > LIMIT_SQL_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "The SQL text of %zu bytes is longer than %u", text.size,
                LIMIT_SQL_BYTES);
  }
  const char *kept = arena_strdup(p->arena, text);
  if (kept == NULL) {
    return error_nomem(err, text.size);
  }
  p->text = str_slice(kept, text.size);
  const size_t depth = (p->flags & EXPR_VIEW) != 0 ? LIMIT_SQL_VIEW_DEPTH : LIMIT_SQL_DEPTH;
  TRY(ast_parse(p->arena, p->text, EXPR_DQUOTE_IDENTIFIER | AST_PARSE_AGGREGATES, depth, &a, err));
  return plan_node(p, a, place_inner(), ret, err);
}

static glv_status plan_items(planner *p, group_plan *g, glv_error *err) {
  const group_query *q = p->group->query;
  g->items = ARENA_ARRAY(p->arena, const node *, q->item_count + 1);
  if (g->items == NULL) {
    return error_nomem(err, q->item_count * sizeof *g->items);
  }
  for (size_t i = 0; i < q->item_count; i++) {
    TRY(parse_and_plan(p, q->items[i].expression, &g->items[i], err));
  }
  g->item_count = q->item_count;
  p->group->items = g->items;
  return GLV_OK;
}

static glv_status plan_keys(planner *p, group_plan *g, glv_error *err) {
  const group_query *q = p->group->query;
  g->keys = ARENA_ARRAY(p->arena, const node *, q->key_count);
  if (g->keys == NULL) {
    return error_nomem(err, q->key_count * sizeof *g->keys);
  }
  for (size_t i = 0; i < q->key_count; i++) {
    TRY(parse_and_plan(p, q->keys[i], &g->keys[i], err));
    TRY(resolve_position(p, &g->keys[i], err));
  }
  g->key_count = q->key_count;
  return GLV_OK;
}

/* min of the column of row ids, as a last item. */
static glv_status add_row_id(planner *p, group_plan *g, glv_error *err) {
  aggregate *a = ARENA_NEW(p->arena, aggregate);
  const node **args = ARENA_ARRAY(p->arena, const node *, 1);
  if (a == NULL || args == NULL) {
    return error_nomem(err, sizeof *a);
  }
  a->function = aggregate_find(STR("min"));
  a->name = a->function->name;
  a->args = args;
  a->arg_count = 1;
  TRY(plan_column_node(p, p->group->query->row_id, &args[0], err));
  a->result = args[0]->type;
  p->group->row_id = a;
  return add_aggregate(p, a, &g->items[g->item_count++], err);
}

static glv_status rebase_items(planner *p, group_plan *g, glv_error *err) {
  const node **rebased = ARENA_ARRAY(p->arena, const node *, g->item_count);
  if (rebased == NULL) {
    return error_nomem(err, g->item_count * sizeof *rebased);
  }
  for (size_t i = 0; i < g->item_count; i++) {
    TRY(plan_rebase(p, g, g->items[i], &rebased[i], err));
  }
  g->items = rebased;
  return GLV_OK;
}

static glv_status check_grouping(planner *p, const group_plan *g, glv_error *err) {
  for (size_t i = 0; i < g->aggregate_count; i++) {
    const aggregate *a = g->aggregates[i];
    for (size_t k = 0; a->function->kind == AGGREGATE_GROUPING && k < a->arg_count; k++) {
      const node *ignored = NULL;
      TRY(plan_rebase(p, g, a->args[k], &ignored, err));
    }
  }
  return GLV_OK;
}

static glv_status make_schema(planner *p, group_plan *g, glv_error *err) {
  const group_query *q = p->group->query;
  field *fields = ARENA_ARRAY(p->arena, field, g->item_count);
  if (fields == NULL) {
    return error_nomem(err, g->item_count * sizeof *fields);
  }
  for (size_t i = 0; i < g->item_count; i++) {
    const bool is_row_id = i == q->item_count;
    const str name = is_row_id ? str_of(q->row_id_name) : q->items[i].name;
    fields[i] = (field){.name = arena_strdup(p->arena, name),
                        .type = g->items[i]->type,
                        .nullable = g->items[i]->nullable && !is_row_id};
    if (fields[i].name == NULL) {
      return error_nomem(err, name.size);
    }
    const field *key = is_row_id ? NULL : plan_path_field(p->group->items[i], p->schema);
    fields[i].metadata = key != NULL ? key->metadata : (metadata){NULL, 0};
  }
  return schema_new(p->env, fields, g->item_count, (metadata){NULL, 0}, &g->result, err);
}

/* All nodes that are evaluated over rows: they tell which columns a run reads. */
static glv_status find_columns(planner *p, const group_plan *g, glv_error *err) {
  size_t count = g->key_count;
  for (size_t i = 0; i < g->aggregate_count; i++) {
    count += g->aggregates[i]->arg_count + g->aggregates[i]->order_count + 1;
  }
  const node **roots = ARENA_ARRAY(p->arena, const node *, count);
  if (roots == NULL) {
    return error_nomem(err, count * sizeof *roots);
  }
  size_t at = 0;
  for (size_t i = 0; i < g->key_count; i++) {
    roots[at++] = g->keys[i];
  }
  for (size_t i = 0; i < g->aggregate_count; i++) {
    const aggregate *a = g->aggregates[i];
    for (size_t k = 0; k < a->arg_count && a != p->group->row_id; k++) {
      roots[at++] = a->args[k];
    }
    for (size_t k = 0; k < a->order_count; k++) {
      roots[at++] = a->order[k];
    }
    if (a->filter != NULL) {
      roots[at++] = a->filter;
    }
  }
  return plan_collect(p, roots, at, err);
}

static glv_status plan_all(planner *p, group_plan *g, glv_error *err) {
  TRY(plan_items(p, g, err));
  TRY(plan_keys(p, g, err));
  TRY(p->group->query->row_id != SIZE_MAX ? add_row_id(p, g, err) : GLV_OK);
  g->aggregates = p->group->aggregates;
  g->aggregate_count = p->group->aggregate_count;
  TRY(rebase_items(p, g, err));
  TRY(check_grouping(p, g, err));
  TRY(find_columns(p, g, err));
  return make_schema(p, g, err);
}

glv_status group_plan_new(glv_env *env, const expr_scope *scope, const group_query *query,
                          unsigned flags, group_plan **ret, glv_error *err) {
  group_plan *g = mem_zalloc(env, sizeof *g);
  if (g == NULL) {
    return error_nomem(err, sizeof *g);
  }
  glv_status status = plan_new_expr(env, scope->schema, &g->nodes, err);
  if (status != GLV_OK) {
    mem_free(env, g);
    return status;
  }
  struct group_scope s = {.query = query};
  planner p = {.plan = g->nodes,
               .env = env,
               .arena = &g->nodes->arena,
               .schema = scope->schema,
               .system_first = scope->system_first,
               .flags = flags,
               .group = &s,
               .keeps_casts = true};
  status = plan_all(&p, g, err);
  if (status != GLV_OK) {
    group_plan_free(g);
    return status;
  }
  *ret = g;
  return GLV_OK;
}

/* ---- which expressions have aggregates ---- */

static bool is_aggregate_call(const ast *a) {
  if (a->kind != AST_CALL || a->name_count != 1 || a->call->over || a->names[0].text.size > 64) {
    return false;
  }
  char lower[64];
  (void)unicode_ascii_lower(lower, a->names[0].text.data, a->names[0].text.size);
  return aggregate_find(str_slice(lower, a->names[0].text.size)) != NULL;
}

/* The depth of everything but left operands is limited by the parser. */
bool ast_calls_aggregate(const ast *a) {
  for (;;) {
    if (is_aggregate_call(a)) {
      return true;
    }
    for (uint32_t i = 1; i < a->child_count; i++) {
      if (a->child[i] != NULL && ast_calls_aggregate(a->child[i])) {
        return true;
      }
    }
    if (a->child_count == 0) {
      return false;
    }
    a = a->child[0];
  }
}
