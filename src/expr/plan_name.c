/*
 * Names of columns and struct fields (sql-expressions section 6).
 *
 * L and D resolve differently: L looks at the quoting and folds ASCII case, D compares
 * exactly, G too but takes bare words in lower case.
 * System columns are the fields of the schema from system_first on; in a projection they may only
 * be the whole expression, in a view and in a grouped query they do not exist.
 */
#include "expr/group_private.h"
#include "expr/unicode.h"

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
      f->negated = p->group != NULL; /* G looks through a null struct, which files store as nulls */
      return plan_finish(p, f, ret, err);
    }
  }
  return FAIL(err, GLV_E_SQL_PLAN, "Field %.*s not found in struct", STR_ARG(name));
}

static glv_status missing(const planner *p, str name, glv_error *err) {
  if ((p->flags & EXPR_VIEW) != 0) {
    return FAIL(err, GLV_E_SQL_PLAN, "unknown column '%.*s'", STR_ARG(name));
  }
  const size_t folded = p->group != NULL ? find_column(p, name, true) : SIZE_MAX;
  if (folded != SIZE_MAX) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "Schema error: No field named %.*s: a grouped query takes bare words in lower "
                "case; write `%s`",
                STR_ARG(name), p->schema->fields[folded].name);
  }
  return FAIL(err, GLV_E_SQL_PLAN, "Schema error: No field named %.*s.", STR_ARG(name));
}

/* A part of a name as it is looked up: in G, bare words are taken in lower case. */
static glv_status name_part(planner *p, const ast_name *name, str *ret, glv_error *err) {
  *ret = name->text;
  if (p->group == NULL || name->quote != AST_BARE) {
    return GLV_OK;
  }
  CLEANUP(buf_dispose) buf lower;
  buf_init(&lower, p->env, SIZE_MAX / 2);
  TRY(unicode_lower(name->text, &lower, err));
  const char *kept = arena_strdup(p->arena, buf_str(&lower));
  if (kept == NULL) {
    return error_nomem(err, lower.size);
  }
  *ret = str_slice(kept, lower.size);
  return GLV_OK;
}

/* Fields of a column, or of an item of a grouped query, from the second part of the name on. */
static glv_status name_fields(planner *p, const ast *a, const node *n, const node **ret,
                              glv_error *err) {
  for (uint32_t i = 1; i < a->name_count; i++) {
    str part;
    TRY(name_part(p, &a->names[i], &part, err));
    TRY(plan_field(p, n, part, &n, err));
  }
  *ret = n;
  return GLV_OK;
}

static glv_status plan_group_column(planner *p, const ast *a, const node **ret, glv_error *err) {
  str name;
  const node *n = NULL;
  TRY(name_part(p, &a->names[0], &name, err));
  const size_t column = find_column(p, name, false);
  if (column < p->system_first && column != SIZE_MAX) {
    TRY(plan_column_node(p, column, &n, err));
  } else {
    TRY(group_alias(p, name, &n, err));
  }
  return n != NULL ? name_fields(p, a, n, ret, err) : missing(p, name, err);
}

glv_status plan_column(planner *p, const ast *a, place at, const node **ret, glv_error *err) {
  if (p->group != NULL) {
    return plan_group_column(p, a, ret, err);
  }
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
  return name_fields(p, a, n, ret, err);
}
