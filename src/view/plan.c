/*
 * A plan turns the texts of a definition into typed columns. Order of checks per projection:
 * duplicate name, reserved name, expression. Names are compared case-sensitively. An output that is
 * exactly a source column keeps its nullability, and its metadata as a part of a struct does;
 * everything else is nullable and bare.
 */
#include "view/plan.h"

#include <stdlib.h>

#include "expr/expr.h"
#include "expr/type_name.h"
#include "io/io.h"
#include "view/lineage.h"
#include "view/plan_private.h"

/* ---- outputs ---- */

static bool is_reserved(const char *name) {
  static const char *const names[] = {VIEW_SOURCE_ROW_ID,
                                      "_rowid",
                                      "_rowaddr",
                                      "_rowoffset",
                                      "_row_created_at_version",
                                      "_row_last_updated_at_version"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) {
      return true;
    }
  }
  return false;
}

glv_status planner_check_output(const struct planner *p, size_t index, glv_error *err) {
  const char *name = p->projections[index].output;
  for (size_t i = 0; i < index; i++) {
    if (strcmp(p->projections[i].output, name) == 0) {
      return FAIL(err, GLV_E_COLUMN_EXISTS, "Column '%s' already exists", name);
    }
  }
  const bool internal = strncmp(name, VIEW_INPUT_PREFIX, sizeof VIEW_INPUT_PREFIX - 1) == 0;
  if (is_reserved(name) || (internal && p->purpose != PLAN_REFRESH)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "view column name '%s' is reserved", name);
  }
  if (name[0] == '\0') {
    return FAIL(err, GLV_E_INVALID_INPUT, "a view column has an empty name");
  }
  if (strchr(name, '.') != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "view column name '%s' must not contain a period", name);
  }
  return GLV_OK;
}

/* Rewrite the report of the expression engine; `what` names the column. */
static glv_status expression_failed(const struct planner *p, glv_status status, const char *output,
                                    glv_error *err) {
  if (status != GLV_E_SQL_PARSE && status != GLV_E_SQL_PLAN && status != GLV_E_SQL_EXEC) {
    return status;
  }
  if (p->purpose == PLAN_REFRESH) {
    error_prefix(
        err, status,
        "view column '%s' no longer plans against '%s' (a source column was dropped or renamed): ",
        output, p->plan->definition.source_table);
    status = GLV_E_SCHEMA;
  } else {
    error_prefix(err, status, "Invalid expression for column '%s': ", output);
    status = p->purpose == PLAN_FIELDS ? GLV_E_INVALID_EXPRESSION : status;
  }
  if (err != NULL) {
    err->code = status;
  }
  return status;
}

/* A deep copy of the type with the declarations of its source removed from the metadata of every
 * child. */
static const type *without_declarations(arena *a, const type *t,
                                        int depth) { /* NOLINT(misc-no-recursion) */
  if (t->child_count == 0 || depth == 0) {
    return type_copy(a, t);
  }
  field *children = ARENA_ARRAY(a, field, t->child_count);
  type *copy = ARENA_NEW(a, type);
  bool ok = children != NULL && copy != NULL;
  for (size_t i = 0; i < t->child_count && ok; i++) {
    children[i].nullable = t->children[i].nullable;
    children[i].name = arena_strdup(a, str_of(t->children[i].name));
    children[i].metadata = lineage_field_metadata(a, t->children[i].metadata, &ok);
    children[i].type = ok ? without_declarations(a, t->children[i].type, depth - 1) : NULL;
    ok = children[i].name != NULL && children[i].type != NULL;
  }
  if (!ok) {
    return NULL;
  }
  *copy = *t;
  copy->children = children;
  return copy;
}

glv_status planner_store_type(const struct planner *p, size_t index, const type *t,
                              const type **ret, glv_error *err) {
  const bool is_view = t->kind == TYPE_UTF8_VIEW || t->kind == TYPE_BINARY_VIEW;
  if (is_view && p->purpose != PLAN_REFRESH) {
    return FAIL(
        err, GLV_E_INVALID_INPUT,
        "view column '%s' has type %s, which no table can hold; wrap it: CAST(<expr> AS %s)",
        p->projections[index].output, TYPE_TEXT(t),
        t->kind == TYPE_UTF8_VIEW ? "STRING" : "BINARY");
  }
  const type *stored =
      !is_view ? t : type_simple(t->kind == TYPE_UTF8_VIEW ? TYPE_UTF8 : TYPE_BINARY);
  *ret = without_declarations(&p->plan->memory, stored, LIMIT_TYPE_DEPTH);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status set_field(struct planner *p, size_t index, const expr *e, glv_error *err) {
  arena *a = &p->plan->memory;
  size_t column = 0;
  size_t depth = 0;
  const field *from = expr_field(e);
  field *f = &p->fields[index];
  *f = (field){.name = p->projections[index].output, .nullable = true};
  bool ok = true;
  if (from != NULL) {
    f->metadata = lineage_field_metadata(a, from->metadata, &ok);
  }
  if (expr_is_column(e, &column, &depth) && depth == 1) {
    f->nullable = p->visible->fields[column].nullable;
    p->links[p->link_count++] = (lineage_link){p->visible->fields[column].name, f->name};
  }
  TRY(ok ? GLV_OK : error_nomem(err, sizeof *f));
  return planner_store_type(p, index, expr_type(e), &f->type, err);
}

static glv_status plan_output(struct planner *p, size_t index, glv_error *err) {
  const view_projection *from = &p->projections[index];
  TRY(planner_check_output(p, index, err));
  CLEANUP(expr_cleanup) expr *e = NULL;
  const glv_status status =
      expr_plan_value(p->plan->env, str_of(from->expression), &p->scope, EXPR_VIEW, &e, err);
  if (status != GLV_OK) {
    TRY(status == GLV_E_SQL_PLAN
            ? table_check_names(p->source, str_of(from->expression), false, err)
            : GLV_OK);
    return expression_failed(p, status, from->output, err);
  }
  TRY(set_field(p, index, e, err));
  return planner_add_inputs(p, e, err);
}

/* ---- filter ---- */

glv_status planner_part_failed(const struct planner *p, glv_status status, const char *part,
                               glv_error *err) {
  if (status != GLV_E_SQL_PARSE && status != GLV_E_SQL_PLAN && status != GLV_E_SQL_EXEC) {
    return status;
  }
  error_prefix(err, status, "%s", part);
  glv_status code = p->purpose == PLAN_FIELDS ? GLV_E_INVALID_INPUT : status;
  if (p->purpose == PLAN_REFRESH) {
    error_prefix(
        err, status,
        "the stored query no longer plans against '%s' (a source column was dropped or renamed): ",
        p->plan->definition.source_table);
    code = GLV_E_SCHEMA;
  }
  if (err != NULL) {
    err->code = code;
  }
  return code;
}

static glv_status not_boolean(const struct planner *p, const type *t, glv_error *err) {
  CLEANUP(buf_dispose) buf name;
  buf_init(&name, p->plan->env, SIZE_MAX / 2);
  TRY(type_name_print(t, &name, err));
  const glv_status code = p->purpose == PLAN_REFRESH ? GLV_E_SCHEMA : GLV_E_INVALID_INPUT;
  return FAIL(err, code, "view filter must be a boolean predicate, not %.*s",
              STR_ARG(buf_str(&name)));
}

static glv_status plan_filter(struct planner *p, glv_error *err) {
  const char *filter = p->plan->definition.filter;
  CLEANUP(expr_cleanup) expr *value = NULL;
  glv_status status =
      expr_plan_value(p->plan->env, str_of(filter), &p->scope, EXPR_VIEW, &value, err);
  if (status == GLV_OK && expr_type(value)->kind != TYPE_BOOL) {
    return not_boolean(p, expr_type(value), err);
  }
  CLEANUP(expr_cleanup) expr *e = NULL;
  status = status == GLV_OK
               ? expr_plan_filter(p->plan->env, str_of(filter), &p->scope, EXPR_VIEW, &e, err)
               : status;
  if (status != GLV_OK) {
    TRY(status == GLV_E_SQL_PLAN ? table_check_names(p->source, str_of(filter), false, err)
                                 : GLV_OK);
    return planner_part_failed(p, status, "invalid view filter: ", err);
  }
  return planner_add_inputs(p, e, err);
}

/* ---- the whole ---- */

/* All columns of the source, its provenance column excepted, each under its own name. */
static glv_status expand_star(struct planner *p, glv_error *err) {
  arena *a = &p->plan->memory;
  TRY(table_check_supported(p->source, err));
  const schema *s = p->scope.schema;
  view_projection *all = ARENA_ARRAY(a, view_projection, s->field_count);
  if (all == NULL) {
    return error_nomem(err, s->field_count * sizeof *all);
  }
  size_t count = 0;
  for (size_t i = 0; i < s->field_count; i++) {
    if (strcmp(s->fields[i].name, VIEW_SOURCE_ROW_ID) != 0) {
      all[count] = (view_projection){arena_strdup(a, str_of(s->fields[i].name)),
                                     definition_quote_column(a, str_of(s->fields[i].name))};
      if (all[count].output == NULL || all[count].expression == NULL) {
        return error_nomem(err, 0);
      }
      count++;
    }
  }
  p->projections = all;
  p->projection_count = count;
  return GLV_OK;
}

static glv_status check_shape(const view_definition *d, glv_error *err) {
  if (d->function != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "'%s' in FROM position is a Function; views over Function rows are not supported",
                d->function);
  }
  if (d->has_limit && d->unnest_column != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "LIMIT is not supported together with UNNEST");
  }
  if (d->has_limit && d->limit > (uint64_t)INT64_MAX) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "view limit %llu exceeds the maximum of 9223372036854775807",
                (unsigned long long)d->limit);
  }
  return GLV_OK;
}

/* What expressions see. */
static glv_status make_scope(struct planner *p, glv_error *err) {
  const scan_unnest unnest = planner_unnest(&p->plan->definition);
  const glv_status status = table_scan_schema(p->source, &unnest, &p->visible, &p->unnest, err);
  TRY(planner_part_failed(p, status, "", err));
  p->scope = (expr_scope){p->visible, SIZE_MAX};
  return GLV_OK;
}

static glv_status make_columns(struct planner *p, glv_error *err) {
  view_plan *plan = p->plan;
  p->fields[p->projection_count] =
      (field){.name = VIEW_SOURCE_ROW_ID, .type = type_simple(TYPE_UINT64), .nullable = false};
  metadata m;
  TRY(lineage_schema_metadata(&plan->memory, table_lance_schema(p->source), p->fields,
                              p->projection_count + 1, (lineage){p->links, p->link_count}, &m,
                              err));
  TRY(schema_new(plan->env, p->fields, p->projection_count + 1, m, &plan->columns, err));
  scan_column *outputs = ARENA_ARRAY(&plan->memory, scan_column, p->projection_count);
  if (outputs == NULL) {
    return error_nomem(err, p->projection_count * sizeof *outputs);
  }
  for (size_t i = 0; i < p->projection_count; i++) {
    outputs[i] = (scan_column){.name = str_of(p->projections[i].output),
                               .expression = str_of(p->projections[i].expression)};
  }
  plan->outputs = outputs;
  plan->output_count = p->projection_count;
  return GLV_OK;
}

static glv_status plan_all(struct planner *p, glv_error *err) {
  view_plan *plan = p->plan;
  TRY(make_scope(p, err));
  if (plan->definition.star) {
    TRY(expand_star(p, err));
  }
  if (p->projection_count > LIMIT_FIELDS) {
    return FAIL(err, GLV_E_LIMIT, "a view has at most %d columns, not %zu", LIMIT_FIELDS,
                p->projection_count);
  }
  p->fields = ARENA_ARRAY(&plan->memory, field, p->projection_count + 1);
  p->links = ARENA_ARRAY(&plan->memory, lineage_link, p->projection_count);
  if (p->fields == NULL || p->links == NULL) {
    return error_nomem(err, (p->projection_count + 1) * sizeof(field));
  }
  const bool is_grouped = plan->definition.group_count != 0;
  for (size_t i = 0; i < p->projection_count && !is_grouped; i++) {
    TRY(plan_output(p, i, err));
  }
  TRY(is_grouped ? planner_plan_groups(p, err) : GLV_OK);
  if (plan->definition.filter != NULL) {
    TRY(plan_filter(p, err));
  }
  TRY(make_columns(p, err));
  plan->definition.projections = p->projections;
  plan->definition.projection_count = p->projection_count;
  return planner_finish_inputs(p, err);
}

glv_status view_plan_make(const table_snapshot *source, const view_definition *d,
                          plan_purpose purpose, view_plan **ret, glv_error *err) {
  glv_env *env = table_env(source);
  TRY(check_shape(d, err));
  CLEANUP(view_plan_cleanup) view_plan *plan = mem_zalloc(env, sizeof *plan);
  if (plan == NULL) {
    return error_nomem(err, sizeof *plan);
  }
  plan->env = env_ref(env);
  arena_init(&plan->memory, env);
  TRY(planner_copy_definition(&plan->memory, d, &plan->definition, err));
  struct planner p = {.plan = plan,
                      .source = source,
                      .purpose = purpose,
                      .unnest = SIZE_MAX,
                      .projections = plan->definition.projections,
                      .projection_count = plan->definition.projection_count};
  const glv_status status = plan_all(&p, err);
  schema_unref(p.visible);
  TRY(status);
  *ret = plan;
  plan = NULL;
  return GLV_OK;
}

void view_plan_free(view_plan *p) {
  if (p != NULL) {
    glv_env *env = p->env;
    schema_unref(p->columns);
    arena_dispose(&p->memory);
    mem_free(env, p);
    env_unref(env);
  }
}

void view_plan_cleanup(view_plan **p) { view_plan_free(*p); }
