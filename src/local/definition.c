/* Definitions across the public boundary: glv_view_def structs in, and out. */
#include "view/definition.h"

#include "base/json.h"
#include "local/local_private.h"

/* ---- out ---- */

glv_status local_definition_out(arena *a, const view_definition *d, glv_view_def *ret,
                                glv_error *err) {
  const bool is_select = definition_is_select(d); /* else only the query tells what it is */
  const size_t count = is_select ? d->projection_count : 0;
  glv_pair *pairs = ARENA_ARRAY(a, glv_pair, count);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    pairs[i] = (glv_pair){d->projections[i].output, d->projections[i].expression};
  }
  *ret = (glv_view_def){
      .struct_size = sizeof *ret,
      .flags = d->has_limit ? GLV_VIEW_DEF_LIMIT : 0,
      .source_table = d->source_table,
      .source_namespace = {d->source_namespace, d->namespace_count},
      .projections = {pairs, count},
      .filter = is_select ? d->filter : NULL,
      .limit = d->limit,
      .query = d->query,
      .form = (int32_t)d->form,
      .inputs = {d->inputs, d->input_count},
  };
  return GLV_OK;
}

/* A select form whose texts do not parse has no canonical text; it is shown all the same, and
 * refused by refresh. */
glv_status local_definition_query(arena *a, view_definition *d, glv_error *err) {
  if (d->form == DEFINITION_QUERY || d->projection_count == 0) {
    return GLV_OK;
  }
  const glv_status status = definition_make_query(a, d, err);
  return status == GLV_E_SQL_PARSE ? GLV_OK : status;
}

/* A parsed definition owns its arena; the public struct is the first member. */
struct parsed_definition {
  glv_view_def def;
  glv_env *env; /* a reference */
  arena memory;
};

static glv_status parse(struct parsed_definition *p, str text, const char *view_name,
                        bool parse_only, glv_error *err) {
  view_definition d;
  TRY(definition_parse(&p->memory, text, view_name, parse_only, &d, err));
  TRY(local_definition_query(&p->memory, &d, err));
  return local_definition_out(&p->memory, &d, &p->def, err);
}

glv_status local_view_def_parse(str text, const char *view_name, bool parse_only,
                                glv_view_def **ret, glv_error *err) {
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = local_io();
  glv_env *env = NULL;
  TRY(env_new(&options, &env, err));
  struct parsed_definition *p = mem_zalloc(env, sizeof *p);
  if (p == NULL) {
    env_unref(env);
    return error_nomem(err, sizeof *p);
  }
  p->env = env;
  arena_init(&p->memory, env);
  const glv_status status = parse(p, text, view_name, parse_only, err);
  if (status != GLV_OK) {
    local_view_def_free(&p->def);
    return status;
  }
  *ret = &p->def;
  return GLV_OK;
}

void local_view_def_free(glv_view_def *def) {
  if (def != NULL) {
    struct parsed_definition *p = (struct parsed_definition *)def;
    glv_env *env = p->env;
    arena_dispose(&p->memory);
    mem_free(env, p);
    env_unref(env);
  }
}

/* ---- in ---- */

/* An expression that cannot be stored is one that does not parse; lack of memory stays what it is.
 */
static glv_status store_projection(arena *a, const glv_pair *p, view_projection *ret,
                                   glv_error *err) {
  ret->output = p->name;
  if (p->value == NULL) {
    ret->expression = definition_quote_column(a, str_of(p->name));
    return ret->expression != NULL ? GLV_OK : error_nomem(err, strlen(p->name));
  }
  const glv_status status = definition_store_expression(a, str_of(p->value), &ret->expression, err);
  if (status == GLV_OK || status == GLV_E_NOMEM) {
    return status;
  }
  error_prefix(err, GLV_E_INVALID_EXPRESSION, "Invalid expression for column '%s': ", p->name);
  if (err != NULL) {
    err->code = GLV_E_INVALID_EXPRESSION;
  }
  return GLV_E_INVALID_EXPRESSION;
}

static glv_status store_projections(arena *a, const glv_view_def *def, view_definition *ret,
                                    glv_error *err) {
  view_projection *projections = ARENA_ARRAY(a, view_projection, def->projections.count);
  if (projections == NULL) {
    return error_nomem(err, def->projections.count * sizeof *projections);
  }
  for (size_t i = 0; i < def->projections.count; i++) {
    TRY(store_projection(a, &def->projections.items[i], &projections[i], err));
  }
  ret->projections = projections;
  ret->projection_count = def->projections.count;
  ret->star = def->projections.count == 0;
  return GLV_OK;
}

static glv_status store_filter(arena *a, const char *filter, const char **ret, glv_error *err) {
  if (filter == NULL) {
    return GLV_OK;
  }
  const glv_status status = definition_store_expression(a, str_of(filter), ret, err);
  if (status == GLV_OK || status == GLV_E_NOMEM) {
    return status;
  }
  error_prefix(err, GLV_E_INVALID_INPUT, "invalid view filter: ");
  if (err != NULL) {
    err->code = GLV_E_INVALID_INPUT;
  }
  return GLV_E_INVALID_INPUT;
}

static glv_status from_fields(arena *a, const glv_view_def *def, view_definition *ret,
                              glv_error *err) {
  *ret = (view_definition){.source_table = def->source_table,
                           .source_namespace = def->source_namespace.items,
                           .namespace_count = def->source_namespace.count,
                           .has_limit = (def->flags & GLV_VIEW_DEF_LIMIT) != 0,
                           .limit = def->limit};
  TRY(store_projections(a, def, ret, err));
  TRY(store_filter(a, def->filter, &ret->filter, err));
  ret->form = def->stored_form == GLV_STORED_QUERY ? DEFINITION_QUERY
              : def->source_namespace.count > 0    ? DEFINITION_NAMESPACED_SELECT
                                                   : DEFINITION_SELECT;
  ret->format = ret->form == DEFINITION_QUERY ? 1 : 0;
  return GLV_OK;
}

glv_status local_definition_in(arena *a, const glv_view_def *def, view_definition *ret,
                               bool *ret_is_sql, glv_error *err) {
  *ret_is_sql = def->query != NULL;
  if (!*ret_is_sql) {
    return from_fields(a, def, ret, err);
  }
  const definition_form form = def->stored_form == GLV_STORED_QUERY    ? DEFINITION_QUERY
                               : def->stored_form == GLV_STORED_SELECT ? DEFINITION_SELECT
                                                                       : DEFINITION_ANY;
  return definition_from_sql(a, str_of(def->query), form, ret, err);
}
