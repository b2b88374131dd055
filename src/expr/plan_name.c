/*
 * Names of columns and struct fields (sql-expressions section 6).
 *
 * L and D resolve differently: L looks at the quoting and folds ASCII case, D compares exactly.
 * System columns are the fields of the schema from system_first on; in a projection they may only
 * be the whole expression, in a view they do not exist.
 */
#include "expr/plan_private.h"

static bool is_visible(const planner *p, size_t column) {
  return column < p->system_first || (p->flags & EXPR_VIEW) == 0;
}

static size_t find_column(const planner *p, str name, bool fold_case) {
  for (size_t i = 0; i < p->schema->field_count; i++) {
    if (is_visible(p, i) && str_is(name, p->schema->fields[i].name)) {
      return i;
    }
  }
  for (size_t i = 0; fold_case && i < p->schema->field_count; i++) {
    if (is_visible(p, i) && str_equal_ascii_case(name, str_of(p->schema->fields[i].name))) {
      return i;
    }
  }
  return SIZE_MAX;
}

size_t plan_whole_text(const planner *p) { return find_column(p, p->text, true); }

glv_status plan_column_node(planner *p, size_t column, const node **ret, glv_error *err) {
  node *n = plan_new(p, NODE_COLUMN, p->schema->fields[column].type, 0);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  n->index = column;
  n->is_path = true;
  n->nullable = p->schema->fields[column].nullable;
  *ret = n;
  return GLV_OK;
}

glv_status plan_field(planner *p, const node *n, str name, const node **ret, glv_error *err) {
  if (n->type->kind == TYPE_MAP) {
    const node *arguments[2] = {n, NULL};
    TRY(plan_string(p, name, &arguments[1], err));
    return plan_function(p, "get_field", arguments, 2, ret, err);
  }
  if (n->type->kind != TYPE_STRUCT) {
    return FAIL(err, GLV_E_SQL_PLAN, "The expression has no field '%.*s': it is of type %s",
                STR_ARG(name), TYPE_TEXT(n->type));
  }
  for (size_t i = 0; i < n->type->child_count; i++) {
    if (str_is(name, n->type->children[i].name)) {
      node *f = plan_new(p, NODE_FIELD, n->type->children[i].type, 1);
      if (f == NULL) {
        return error_nomem(err, sizeof *f);
      }
      f->child[0] = n;
      f->index = i;
      f->is_path = n->is_path;
      return plan_finish(p, f, ret, err);
    }
  }
  return FAIL(err, GLV_E_SQL_PLAN, "Field %.*s not found in struct", STR_ARG(name));
}

static glv_status missing(const planner *p, str name, glv_error *err) {
  if ((p->flags & EXPR_VIEW) != 0) {
    return FAIL(err, GLV_E_SQL_PLAN, "unknown column '%.*s'", STR_ARG(name));
  }
  return FAIL(err, GLV_E_SQL_PLAN, "Schema error: No field named %.*s.", STR_ARG(name));
}

glv_status plan_column(planner *p, const ast *a, place at, const node **ret, glv_error *err) {
  const ast_name *first = &a->names[0];
  /* a lone backtick name is exact in L; the first part of a path never is */
  const bool fold_case = !at.inner && (first->quote == AST_BARE || a->name_count > 1);
  const size_t column = find_column(p, first->text, fold_case);
  if (column == SIZE_MAX) {
    return missing(p, first->text, err);
  }
  if (column >= p->system_first && !p->is_filter && a != p->root) {
    return missing(p, first->text, err);
  }
  const node *n = NULL;
  TRY(plan_column_node(p, column, &n, err));
  for (uint32_t i = 1; i < a->name_count; i++) {
    TRY(plan_field(p, n, a->names[i].text, &n, err));
  }
  *ret = n;
  return GLV_OK;
}
