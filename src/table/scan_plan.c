/* What a scan reads: names are resolved, texts planned, columns sorted into those of the filter
 * and those of the result.
 *
 * The scope of expressions is the columns of the table followed by the system columns. A result
 * column that is just a column of the scope is copied, not evaluated; its arrays are read with the
 * type of the result schema, so that a batch keeps every type it points to alive through its own
 * schema. A column that is expanded stands in the scope as its element, and is read as list of it.
 */
#include "expr/json_columns.h"
#include "table/scan_private.h"

static const char *const system_names[SYSTEM_COUNT] = {
    "_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"};

const char *scan_system_column(size_t i) { return i < SYSTEM_COUNT ? system_names[i] : NULL; }

bool scan_is_system_name(str name) {
  for (size_t i = 0; i < SYSTEM_COUNT; i++) {
    if (str_is(name, system_names[i])) {
      return true;
    }
  }
  return false;
}

static glv_status build_scope(scan_plan *p, const scan_options *o, glv_error *err) {
  CLEANUP(schema_cleanup) schema *columns = NULL;
  TRY(table_scan_schema(p->table, &o->unnest, &columns, &p->unnest, err));
  p->column_count = columns->field_count;
  const size_t count = p->column_count + SYSTEM_COUNT;
  field *fields = ARENA_ARRAY(&p->memory, field, count);
  p->stored = ARENA_ARRAY(&p->memory, const lance_field *, p->column_count);
  p->in_filter = ARENA_ARRAY(&p->memory, bool, count);
  p->in_output = ARENA_ARRAY(&p->memory, bool, count);
  p->read_as = ARENA_ARRAY(&p->memory, const field *, count);
  if (fields == NULL || p->stored == NULL || p->in_filter == NULL || p->in_output == NULL ||
      p->read_as == NULL) {
    return error_nomem(err, count * sizeof *fields);
  }
  for (size_t i = 0; i < p->column_count; i++) {
    fields[i] = columns->fields[i];
    p->stored[i] = lance_schema_find(p->table->lance, str_of(p->table->arrow->fields[i].name));
  }
  for (size_t i = 0; i < SYSTEM_COUNT; i++) {
    fields[p->column_count + i] =
        (field){.name = system_names[i], .type = type_simple(TYPE_UINT64)};
  }
  TRY(schema_new(p->env, fields, count, (metadata){0}, &p->scope, err));
  for (size_t i = 0; i < count; i++) {
    p->read_as[i] = &p->scope->fields[i];
  }
  return GLV_OK;
}

/* A path below the alias as one below the list: alias.field is column.item.field. */
static glv_status list_path(scan_plan *p, const char **path, glv_error *err) {
  if (p->unnest == SIZE_MAX) {
    return GLV_OK;
  }
  const str alias = str_of(p->scope->fields[p->unnest].name); /* without a period */
  const char *rest = *path + alias.size;
  if (strncmp(*path, alias.data, alias.size) != 0 || (*rest != '\0' && *rest != '.')) {
    return GLV_OK;
  }
  const field *list = &p->table->arrow->fields[p->unnest];
  *path = *rest == '\0'
              ? list->name
              : arena_printf(&p->memory, "%s.%s%s", list->name, list->type->children[0].name, rest);
  return *path != NULL ? GLV_OK : error_nomem(err, strlen(rest));
}

static glv_status note_paths(scan_plan *p, const char *const *paths, size_t count, glv_error *err) {
  TRY(vec_reserve(p->env, &p->paths, &p->path_capacity, p->path_count + count, sizeof *p->paths,
                  err));
  for (size_t i = 0; i < count; i++) {
    p->paths[p->path_count] = paths[i];
    TRY(list_path(p, &p->paths[p->path_count], err));
    p->path_count++;
  }
  return GLV_OK;
}

static glv_status note_columns(scan_plan *p, const expr *e, bool *used, glv_error *err) {
  size_t count;
  const size_t *columns = expr_columns(e, &count);
  for (size_t i = 0; i < count; i++) {
    used[columns[i]] = true;
  }
  const char *const *paths = expr_paths(e, &count);
  return note_paths(p, paths, count, err);
}

static glv_status fail_column(const scan_plan *p, str name, glv_error *err) {
  const lance_field *stored = lance_schema_find(p->table->lance, name);
  if (stored != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s': column '%s' has type '%s', which this release does not read",
                table_name(p->table), stored->arrow.name, stored->logical_type);
  }
  return FAIL(err, GLV_E_COLUMN_NOT_FOUND, "table '%s' has no column '%.*s'", table_name(p->table),
              STR_ARG(name));
}

/* Of text that is going to be parsed as JSON. */
static const pair json_text_pair = {{JSON_EXTENSION_KEY, sizeof JSON_EXTENSION_KEY - 1},
                                    {JSON_SHOWN_EXTENSION, sizeof JSON_SHOWN_EXTENSION - 1}};
static const metadata json_text_metadata = {&json_text_pair, 1};

static glv_status plan_output(scan_plan *p, const scan_column *c, unsigned flags, bool with_blobs,
                              scan_output *out, field *ret, glv_error *err) {
  char *name = arena_strdup(&p->memory, c->name);
  if (name == NULL) {
    return error_nomem(err, c->name.size);
  }
  size_t depth = 1;
  if (c->expression.data == NULL) {
    out->column = schema_find(p->scope, c->name);
    if (out->column == SIZE_MAX) {
      return fail_column(p, c->name, err);
    }
  } else {
    const expr_scope scope = {p->scope, p->column_count};
    TRY(c->assigned_to != NULL
            ? expr_plan_assigned(p->env, c->expression, &scope, flags, c->assigned_to, &out->expr,
                                 err)
            : expr_plan_value(p->env, c->expression, &scope, flags, &out->expr, err));
    if (expr_is_column(out->expr, &out->column, &depth) && depth == 1) {
      expr_free(out->expr);
      out->expr = NULL;
    }
  }
  if (out->expr == NULL) {
    *ret = p->scope->fields[out->column];
    ret->name = name;
    p->in_output[out->column] = true;
    TRY(note_paths(p, &p->scope->fields[out->column].name, 1, err));
    if (with_blobs && out->column < p->column_count && p->stored[out->column]->blob != BLOB_NONE) {
      out->is_blob = true;
      ret->type = type_simple(TYPE_LARGE_BINARY);
      ret->metadata = (metadata){0};
    }
  } else {
    *ret =
        (field){.name = name, .type = expr_type(out->expr), .nullable = expr_nullable(out->expr)};
    TRY(note_columns(p, out->expr, p->in_output, err));
  }
  if (c->assigned_to != NULL && json_is_column(c->assigned_to, JSON_SHOW) &&
      type_is_string(ret->type->kind)) {
    ret->metadata = json_text_metadata;
  }
  return GLV_OK;
}

/* A result column that is a system column. */
static void add_system(scan_plan *p, enum system_column which, const char *name, bool nullable,
                       field *fields) {
  const size_t column = p->column_count + which;
  fields[p->output_count] = p->scope->fields[column];
  fields[p->output_count].name = name;
  fields[p->output_count].nullable = nullable;
  p->outputs[p->output_count].column = column;
  p->in_output[column] = true;
  p->output_count++;
}

static void add_systems(scan_plan *p, const scan_options *o, field *fields) {
  if (o->with_row_id) {
    const bool is_renamed = o->row_id_name != NULL;
    add_system(p, SYSTEM_ROW_ID, is_renamed ? o->row_id_name : system_names[SYSTEM_ROW_ID],
               !is_renamed, fields);
  }
  if (o->with_row_address) {
    add_system(p, SYSTEM_ROW_ADDRESS, system_names[SYSTEM_ROW_ADDRESS], true, fields);
  }
  if (o->with_created_at) {
    add_system(p, SYSTEM_CREATED_AT, system_names[SYSTEM_CREATED_AT], true, fields);
  }
  if (o->with_last_updated_at) {
    add_system(p, SYSTEM_LAST_UPDATED_AT, system_names[SYSTEM_LAST_UPDATED_AT], true, fields);
  }
}

static glv_status plan_outputs(scan_plan *p, const scan_options *o, glv_error *err) {
  const bool is_all = o->columns == NULL;
  const size_t count = is_all ? p->column_count : o->column_count;
  if (is_all) {
    TRY(table_check_supported(p->table, err));
  }
  field *fields = ARENA_ARRAY(&p->memory, field, count + SYSTEM_COUNT);
  p->outputs = ARENA_ARRAY(&p->memory, scan_output, count + SYSTEM_COUNT);
  if (fields == NULL || p->outputs == NULL) {
    return error_nomem(err, count * sizeof *fields);
  }
  for (; p->output_count < count; p->output_count++) {
    const size_t i = p->output_count;
    const scan_column whole = {.name = str_of(is_all ? p->scope->fields[i].name : "")};
    const scan_column *c = is_all ? &whole : &o->columns[i];
    const glv_status status =
        plan_output(p, c, o->expr_flags, o->with_blobs, &p->outputs[i], &fields[i], err);
    if (status != GLV_OK) {
      p->output_count += p->outputs[i].expr != NULL; /* for scan_plan_free */
      return status;
    }
  }
  add_systems(p, o, fields);
  TRY(schema_new(p->env, fields, p->output_count, (metadata){0}, &p->result, err));
  for (size_t i = 0; i < p->output_count; i++) {
    if (p->outputs[i].expr == NULL && !p->outputs[i].is_blob) {
      p->read_as[p->outputs[i].column] = &p->result->fields[i];
    }
  }
  return GLV_OK;
}

/* The lists are read whether or not anything asks for their elements, which tell how many rows
 * there are. */
static glv_status plan_list(scan_plan *p, glv_error *err) {
  if (p->unnest == SIZE_MAX) {
    return GLV_OK;
  }
  p->list = p->table->arrow->fields[p->unnest];
  if (!p->in_filter[p->unnest] && !p->in_output[p->unnest]) {
    TRY(note_paths(p, &p->list.name, 1, err));
  }
  p->filters_elements = p->in_filter[p->unnest];
  p->in_output[p->unnest] = true;
  field item = p->list.type->children[0];
  item.type = p->read_as[p->unnest]->type;
  p->list.type = type_list(&p->memory, TYPE_LIST, &item);
  return p->list.type != NULL ? GLV_OK : error_nomem(err, sizeof item);
}

static glv_status fill(scan_plan *p, const scan_options *o, bool counting, glv_error *err) {
  TRY(build_scope(p, o, err));
  if (o->filter.size > 0) {
    const expr_scope scope = {p->scope, p->column_count};
    TRY(expr_plan_filter(p->env, o->filter, &scope, o->expr_flags, &p->filter, err));
    TRY(note_columns(p, p->filter, p->in_filter, err));
  }
  TRY(counting ? GLV_OK : plan_outputs(p, o, err));
  return plan_list(p, err);
}

glv_status scan_plan_new(const table_snapshot *t, const scan_options *o, bool counting,
                         scan_plan **ret, glv_error *err) {
  CLEANUP(scan_plan_cleanup) scan_plan *p = mem_zalloc(table_env(t), sizeof *p);
  if (p == NULL) {
    return error_nomem(err, sizeof *p);
  }
  p->env = env_ref(table_env(t));
  p->table = table_ref(t);
  arena_init(&p->memory, p->env);
  p->keep_open = o->keep_open;
  p->cancel = cancel_ref(o->cancel);
  atomic_init(&p->is_stopped, false);
  TRY(fill(p, o, counting, err));
  *ret = p;
  p = NULL;
  return GLV_OK;
}

void scan_plan_free(scan_plan *p) {
  if (p == NULL) {
    return;
  }
  for (size_t i = 0; i < p->output_count; i++) {
    expr_free(p->outputs[i].expr);
  }
  expr_free(p->filter);
  mem_free(p->env, p->paths);
  schema_unref(p->result);
  schema_unref(p->scope);
  cancel_unref(p->cancel);
  table_unref(p->table);
  arena_dispose(&p->memory);
  glv_env *env = p->env;
  mem_free(env, p);
  env_unref(env);
}

void scan_plan_cleanup(scan_plan **p) { scan_plan_free(*p); }
