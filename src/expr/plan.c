/*
 * Planning one text: parse, plan in context L, and what belongs to the whole expression: the
 * shortcut for column names, the boolean type of filters, the columns and paths that are read, and
 * the life of the result.
 *
 * A text with a construct that only D knows is planned again as a whole in D, as if it were written
 * coalesce(<text>, NULL) (decision D1), unless EXPR_STRICT asks to refuse it.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "expr/json_columns.h"
#include "expr/plan_private.h"

void expr_free(expr *e) {
  if (e == NULL) {
    return;
  }
  for (const owned *o = e->owned; o != NULL; o = o->next) {
    if (o->a != NULL) {
      array_unref(o->a);
    }
    if (o->binding != NULL && o->binding->dispose != NULL) {
      o->binding->dispose(o->binding->state);
    }
  }
  glv_env *env = e->env;
  schema_unref(e->schema);
  arena_dispose(&e->arena);
  mem_free(env, e);
  env_unref(env);
}

void expr_cleanup(expr **e) {
  expr_free(*e);
  *e = NULL;
}

glv_status plan_new_expr(glv_env *env, const schema *s, expr **ret, glv_error *err) {
  expr *e = mem_zalloc(env, sizeof *e);
  if (e == NULL) {
    return error_nomem(err, sizeof *e);
  }
  e->env = env_ref(env);
  e->schema = schema_ref(s);
  e->now_ns = env_now_ns(env);
  arena_init(&e->arena, env);
  *ret = e;
  return GLV_OK;
}

/* Nodes still to be looked at. */
struct walk {
  const node **stack;
  size_t count;
  size_t capacity;
};

static glv_status push(planner *p, struct walk *w, const node *n, glv_error *err) {
  TRY(vec_reserve(p->env, &w->stack, &w->capacity, w->count + 1, sizeof *w->stack, err));
  w->stack[w->count++] = n;
  return GLV_OK;
}

/* The dotted name of a path, such as "metadata.age". NULL = no memory. */
static const char *path_text(planner *p, const node *n) {
  const char *text = NULL;
  for (; n->kind == NODE_FIELD; n = n->child[0]) {
    const char *name = n->child[0]->type->children[n->index].name;
    text = text == NULL ? name : arena_printf(p->arena, "%s.%s", name, text);
    if (text == NULL) {
      return NULL;
    }
  }
  const char *name = p->schema->fields[n->index].name;
  return text == NULL ? name : arena_printf(p->arena, "%s.%s", name, text);
}

struct paths {
  const char **items;
  size_t count;
  size_t capacity;
  bool *used; /* by column */
};

static glv_status add_path(planner *p, struct paths *found, const node *n, glv_error *err) {
  const char *text = path_text(p, n);
  if (text == NULL) {
    return error_nomem(err, 64);
  }
  TRY(vec_reserve(p->env, &found->items, &found->capacity, found->count + 1, sizeof *found->items,
                  err));
  found->items[found->count++] = text;
  while (n->kind == NODE_FIELD) {
    n = n->child[0];
  }
  found->used[n->index] = true;
  return GLV_OK;
}

static bool is_plain_path(const node *n) {
  while (n->kind == NODE_FIELD) {
    n = n->child[0];
  }
  return n->kind == NODE_COLUMN;
}

static glv_status find_paths(planner *p, struct walk *w, struct paths *found, glv_error *err) {
  while (w->count > 0) {
    const node *n = w->stack[--w->count];
    if (is_plain_path(n)) {
      TRY(add_path(p, found, n, err));
      continue;
    }
    for (size_t i = 0; i < n->child_count; i++) {
      TRY(push(p, w, n->child[i], err));
    }
  }
  return GLV_OK;
}

static int compare_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sort, drop doubles, move into the plan. */
static glv_status keep_paths(planner *p, struct paths *found, glv_error *err) {
  expr *e = p->plan;
  e->paths = ARENA_ARRAY(p->arena, const char *, found->count);
  e->columns = ARENA_ARRAY(p->arena, size_t, p->schema->field_count);
  if (e->paths == NULL || e->columns == NULL) {
    return error_nomem(err, found->count * sizeof(char *));
  }
  if (found->count > 0) {
    qsort(found->items, found->count, sizeof *found->items, compare_text);
  }
  for (size_t i = 0; i < found->count; i++) {
    if (i == 0 || strcmp(found->items[i], found->items[i - 1]) != 0) {
      e->paths[e->path_count++] = found->items[i];
    }
  }
  for (size_t i = 0; i < p->schema->field_count; i++) {
    if (found->used[i]) {
      e->columns[e->column_count++] = i;
    }
  }
  return GLV_OK;
}

glv_status plan_collect(planner *p, const node *const *roots, size_t count, glv_error *err) {
  struct walk w = {0};
  struct paths found = {.used = ARENA_ARRAY(p->arena, bool, p->schema->field_count)};
  if (found.used == NULL) {
    return error_nomem(err, p->schema->field_count);
  }
  glv_status status = GLV_OK;
  for (size_t i = 0; i < count && status == GLV_OK; i++) {
    status = push(p, &w, roots[i], err);
  }
  if (status == GLV_OK) {
    status = find_paths(p, &w, &found, err);
  }
  if (status == GLV_OK) {
    status = keep_paths(p, &found, err);
  }
  mem_free(p->env, w.stack);
  mem_free(p->env, found.items);
  return status;
}

/* The tree of the parsed text: in L, or as a whole in D where L refuses a construct and D may not.
 */
static glv_status plan_text(planner *p, const ast *a, glv_error *err) {
  const place outer = {.resolves = true};
  const glv_status status = plan_node(p, a, outer, &p->plan->root, err);
  if (status != GLV_E_SQL_PLAN || (p->flags & EXPR_STRICT) != 0) {
    return status;
  }
  bool is_wide = false;
  glv_error ignored = {0};
  const glv_status wide = expr_needs_wrap(p->env, p->text, p->flags, &is_wide, &ignored);
  if (wide == GLV_E_NOMEM) {
    return error_nomem(err, p->text.size);
  }
  if (wide != GLV_OK || !is_wide) {
    return status;
  }
  return plan_node(p, a, place_inner(), &p->plan->root, err);
}

static glv_status plan_parsed(planner *p, glv_error *err) {
  if (!p->is_filter) {
    const size_t column = plan_whole_text(p);
    if (column != SIZE_MAX) {
      return plan_column_node(p, column, &p->plan->root, err);
    }
  }
  const ast *a = NULL;
  const size_t depth = (p->flags & EXPR_VIEW) != 0 ? LIMIT_SQL_VIEW_DEPTH : LIMIT_SQL_DEPTH;
  TRY(ast_parse(p->arena, p->text, p->flags, depth, &a, err));
  p->root = ast_strip(a);
  TRY(plan_text(p, a, err));
  return plan_condition(p, a, (place){0}, &p->plan->root, err);
}

/* A value takes the type of the column it is assigned to. Text for a JSON column is a document yet
 * to be parsed. */
static glv_status plan_assignment(planner *p, glv_error *err) {
  const node **root = &p->plan->root;
  const field *to = p->assigned_to;
  if (json_is_column(to, JSON_SHOW) && type_is_string((*root)->type->kind)) {
    return GLV_OK;
  }
  return plan_cast(p, *root, to->type, false, root, err);
}

static glv_status plan_whole(planner *p, glv_error *err) {
  expr *e = p->plan;
  const glv_status status = plan_parsed(p, err);
  if (status == GLV_E_SQL_PLAN && p->is_filter) {
    return error_prefix(err, status, "Error resolving filter expression %.*s: ",
                        (int)size_min(p->text.size, 100), p->text.data);
  }
  if (status != GLV_OK) {
    return status;
  }
  if (p->is_filter && e->root->type->kind != TYPE_BOOL) {
    return FAIL(err, GLV_E_SQL_PLAN, "The filter %.*s does not return a boolean, but %s",
                (int)size_min(p->text.size, 100), p->text.data, TYPE_TEXT(e->root->type));
  }
  TRY(p->assigned_to != NULL ? plan_assignment(p, err) : GLV_OK);
  e->nullable = e->root->kind != NODE_COLUMN || !e->root->is_path ||
                e->schema->fields[e->root->index].nullable;
  TRY(plan_collect(p, &e->root, 1, err));
  return plan_share(p, &e->root, err);
}

/* What a text is for. */
struct use {
  bool is_filter;
  const field *assigned_to;
};

static glv_status plan_any(glv_env *env, str text, const expr_scope *scope, unsigned flags,
                           struct use use, expr **ret, glv_error *err) {
  CLEANUP(expr_cleanup) expr *e = NULL;
  if (text.size > LIMIT_SQL_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "The SQL text of %zu bytes is longer than %u", text.size,
                LIMIT_SQL_BYTES);
  }
  TRY(plan_new_expr(env, scope->schema, &e, err));
  const char *kept = arena_strdup(&e->arena, text);
  if (kept == NULL) {
    return error_nomem(err, text.size);
  }
  planner p = {.plan = e,
               .env = env,
               .arena = &e->arena,
               .text = str_slice(kept, text.size),
               .schema = scope->schema,
               .system_first = scope->system_first,
               .flags = flags,
               .is_filter = use.is_filter,
               .assigned_to = use.assigned_to};
  TRY(plan_whole(&p, err));
  *ret = e;
  e = NULL;
  return GLV_OK;
}

glv_status expr_plan_value(glv_env *env, str text, const expr_scope *scope, unsigned flags,
                           expr **ret, glv_error *err) {
  return plan_any(env, text, scope, flags, (struct use){0}, ret, err);
}

glv_status expr_plan_filter(glv_env *env, str text, const expr_scope *scope, unsigned flags,
                            expr **ret, glv_error *err) {
  return plan_any(env, text, scope, flags, (struct use){.is_filter = true}, ret, err);
}

glv_status expr_plan_assigned(glv_env *env, str text, const expr_scope *scope, unsigned flags,
                              const field *to, expr **ret, glv_error *err) {
  return plan_any(env, text, scope, flags, (struct use){.assigned_to = to}, ret, err);
}

const type *expr_type(const expr *e) { return e->root->type; }

bool expr_nullable(const expr *e) { return e->nullable; }

const size_t *expr_columns(const expr *e, size_t *ret_count) {
  *ret_count = e->column_count;
  return e->columns;
}

const char *const *expr_paths(const expr *e, size_t *ret_count) {
  *ret_count = e->path_count;
  return e->paths;
}

bool expr_is_column(const expr *e, size_t *ret_column, size_t *ret_depth) {
  size_t depth = 1;
  const node *n = e->root;
  if (!n->is_path) {
    return false;
  }
  for (; n->kind == NODE_FIELD; n = n->child[0]) {
    depth++;
  }
  *ret_column = n->index;
  *ret_depth = depth;
  return true;
}

const field *plan_path_field(const node *n, const schema *s) {
  if (!n->is_path) {
    return NULL;
  }
  return n->kind == NODE_FIELD ? &n->child[0]->type->children[n->index] : &s->fields[n->index];
}

const field *expr_field(const expr *e) { return plan_path_field(e->root, e->schema); }

bool expr_may_be_null(const expr *e) { return e->root->nullable; }

bool expr_is_null(const expr *e) { return node_is_null(e->root); }
