/*
 * Columns and metadata of tables. A materialized view takes its columns from its definition; what
 * its owner added as computed columns may change.
 */
#include "base/json.h"
#include "expr/json_columns.h"
#include "local/local_private.h"
#include "table/columns.h"
#include "table/metadata.h"

/* What every call does at its end: let the handle see the version made. */
static void finish(local_table *t, table_snapshot *made, const write_result *result,
                   glv_write_result *ret) {
  ret->attempts = result->attempts;
  ret->version = table_version(made);
  local_table_advance(t, made);
}

static column_options options_of(const glv_write_options *options) {
  return (column_options){.expr_flags = local_expr_flags(options->flags),
                          .cancel = options->cancel};
}

/* ---- views ---- */

/* A declaration of a column that something else than the definition of the view fills. */
static glv_status check_computed(const table_snapshot *t, const str *paths, size_t count, bool *ret,
                                 glv_error *err) {
  *ret = true;
  for (size_t i = 0; i < count; i++) {
    metadata m;
    TRY(table_column_metadata(t, paths[i], &m, err));
    *ret = *ret && str_is(metadata_get(m, STR("computed_column"), NULL), "true");
  }
  return GLV_OK;
}

/* As local_latest_for_write, but the computed columns of a view may change. */
static glv_status latest_for_columns(local_table *t, const char *what, const str *paths,
                                     size_t count, uint32_t flags, table_snapshot **ret,
                                     glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  TRY(local_latest_for_write(t, what, flags | GLV_WRITE_VIEW, &latest, err));
  if (local_is_view(latest)) {
    bool are_computed;
    TRY(check_computed(latest, paths, count, &are_computed, err));
    TRY(local_check_not_view(latest, what, are_computed ? GLV_WRITE_VIEW : flags, err));
  }
  *ret = latest;
  latest = NULL;
  return GLV_OK;
}

/* ---- adding ---- */

glv_status local_table_add_columns(glv_table *table, glv_pairs columns,
                                   const glv_write_options *options, glv_write_result *ret,
                                   glv_error *err) {
  local_table *t = table_of(table);
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  TRY(local_latest_for_write(t, "add columns to", options->flags, &latest, err));
  column_definition *definitions = ARENA_ARRAY(&a, column_definition, columns.count);
  scan_column *texts = ARENA_ARRAY(&a, scan_column, columns.count);
  if (definitions == NULL || texts == NULL) {
    return error_nomem(err, columns.count * sizeof *definitions);
  }
  for (size_t i = 0; i < columns.count; i++) {
    definitions[i].name = str_of(columns.items[i].name);
    definitions[i].expression = str_of(columns.items[i].value);
    texts[i].name = definitions[i].name;
    texts[i].expression = definitions[i].expression;
  }
  const column_options how = options_of(options);
  table_snapshot *made = NULL;
  write_result result = {0};
  const glv_status status =
      table_add_columns(latest, definitions, columns.count, &how, &made, &result, err);
  TRY(local_explain(latest, status, (str){0}, texts, columns.count, err));
  finish(t, made, &result, ret);
  return GLV_OK;
}

glv_status local_table_add_null_columns(glv_table *table, const schema *columns,
                                        const glv_write_options *options, glv_write_result *ret,
                                        glv_error *err) {
  local_table *t = table_of(table);
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  CLEANUP(schema_cleanup) schema *stored = NULL;
  TRY(local_latest_for_write(t, "add columns to", options->flags, &latest, err));
  TRY(json_schema(table->handle.env, columns, JSON_STORE, &stored, err));
  const column_options how = options_of(options);
  table_snapshot *made = NULL;
  write_result result = {0};
  TRY(table_add_null_columns(latest, stored->fields, stored->field_count, &how, &made, &result,
                             err));
  finish(t, made, &result, ret);
  return GLV_OK;
}

/* ---- altering ---- */

static glv_status bad_changes(const char *why, glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT, "the changes of columns %s", why);
}

/* The text of a member; data NULL = absent. */
static glv_status read_text(const json *object, const char *key, str *ret, glv_error *err) {
  const json *node = js_member(object, key);
  *ret = (str){0};
  if (node == NULL || js_kind_of(node) == JS_NULL) {
    return GLV_OK;
  }
  if (js_kind_of(node) != JS_STRING) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the member '%s' of a change is not a string", key);
  }
  *ret = js_string(node);
  return GLV_OK;
}

static glv_status check_members(const json *object, glv_error *err) {
  static const char *const known[] = {"path", "rename", "nullable", "data_type"};
  for (size_t i = 0; i < js_count(object); i++) {
    str key;
    bool is_known = false;
    (void)js_member_at(object, i, &key);
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
      is_known |= str_is(key, known[k]);
    }
    if (!is_known) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "a change has the member '%.*s'; path, rename, nullable and data_type are known",
                  STR_ARG(key));
    }
  }
  return GLV_OK;
}

static glv_status read_change(arena *a, const json *object, column_change *ret, glv_error *err) {
  if (js_kind_of(object) != JS_OBJECT) {
    return bad_changes("hold something that is not an object", err);
  }
  str type_name;
  const json *nullable = js_member(object, "nullable");
  TRY(check_members(object, err));
  TRY(read_text(object, "path", &ret->path, err));
  TRY(read_text(object, "rename", &ret->rename, err));
  TRY(read_text(object, "data_type", &type_name, err));
  if (ret->path.data == NULL) {
    return bad_changes("name no path", err);
  }
  if (nullable != NULL && js_kind_of(nullable) != JS_NULL) {
    if (js_kind_of(nullable) != JS_BOOL) {
      return bad_changes("have a 'nullable' that is neither true nor false", err);
    }
    ret->sets_nullable = true;
    ret->nullable = js_bool(nullable);
  }
  return type_name.data != NULL ? type_parse(a, type_name, &ret->type, err) : GLV_OK;
}

/* Texts are borrowed from the tree. */
static glv_status read_changes(arena *a, const json *root, column_change **ret, size_t *ret_count,
                               glv_error *err) {
  if (js_kind_of(root) != JS_ARRAY) {
    return bad_changes("are not an array", err);
  }
  const size_t count = js_count(root);
  column_change *changes = ARENA_ARRAY(a, column_change, count);
  if (changes == NULL) {
    return error_nomem(err, count * sizeof *changes);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(read_change(a, js_item(root, i), &changes[i], err));
  }
  *ret = changes;
  *ret_count = count;
  return GLV_OK;
}

glv_status local_table_alter_columns(glv_table *table, const char *changes_json,
                                     const glv_write_options *options, glv_write_result *ret,
                                     glv_error *err) {
  local_table *t = table_of(table);
  CLEANUP(js_cleanup) json *root = NULL;
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  column_change *changes = NULL;
  size_t count = 0;
  const glv_status status = js_parse(str_of(changes_json), &root, err);
  if (status == GLV_E_CORRUPT) {
    return bad_changes("are not JSON", err);
  }
  TRY(status);
  TRY(read_changes(&a, root, &changes, &count, err));
  str *paths = ARENA_ARRAY(&a, str, count);
  if (paths == NULL) {
    return error_nomem(err, count * sizeof *paths);
  }
  for (size_t i = 0; i < count; i++) {
    paths[i] = changes[i].path;
  }
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  TRY(latest_for_columns(t, "alter columns of", paths, count, options->flags, &latest, err));
  const column_options how = options_of(options);
  table_snapshot *made = NULL;
  write_result result = {0};
  TRY(table_alter_columns(latest, changes, count, &how, &made, &result, err));
  finish(t, made, &result, ret);
  return GLV_OK;
}

/* ---- dropping ---- */

glv_status local_table_drop_columns(glv_table *table, glv_strs columns,
                                    const glv_write_options *options, glv_write_result *ret,
                                    glv_error *err) {
  local_table *t = table_of(table);
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  str *paths = ARENA_ARRAY(&a, str, columns.count);
  if (paths == NULL) {
    return error_nomem(err, columns.count * sizeof *paths);
  }
  for (size_t i = 0; i < columns.count; i++) {
    paths[i] = str_of(columns.items[i]);
  }
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  TRY(latest_for_columns(t, "drop columns of", paths, columns.count, options->flags, &latest, err));
  const column_options how = options_of(options);
  table_snapshot *made = NULL;
  write_result result = {0};
  TRY(table_drop_columns(latest, paths, columns.count, &how, &made, &result, err));
  finish(t, made, &result, ret);
  return GLV_OK;
}

/* ---- metadata ---- */

/* The keys that make a table a view, and its state, belong to create and refresh. */
static glv_status check_view_keys(const metadata_change *changes, size_t count, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    if (str_starts_with(changes[i].key, STR("mv."))) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "the key '%.*s' is reserved: only creating and refreshing a view sets it",
                  STR_ARG(changes[i].key));
    }
  }
  return GLV_OK;
}

/* Emptying the schema metadata of a view would make it a table. */
static glv_status check_replace(const table_snapshot *t, const glv_metadata_options *options,
                                glv_error *err) {
  if (options->target == GLV_METADATA_SCHEMA && (options->flags & GLV_METADATA_REPLACE) != 0 &&
      local_is_view(t)) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "cannot replace the metadata of '%s': it is a materialized view", table_name(t));
  }
  return GLV_OK;
}

glv_status local_table_set_metadata(glv_table *table, glv_pairs items,
                                    const glv_metadata_options *options, glv_write_result *ret,
                                    glv_error *err) {
  static const enum metadata_target targets[] = {METADATA_SCHEMA, METADATA_TABLE, METADATA_CONFIG,
                                                 METADATA_FIELD};
  local_table *t = table_of(table);
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  metadata_change *changes = ARENA_ARRAY(&a, metadata_change, items.count);
  if (changes == NULL) {
    return error_nomem(err, items.count * sizeof *changes);
  }
  for (size_t i = 0; i < items.count; i++) {
    changes[i] = (metadata_change){str_of(items.items[i].name), str_of(items.items[i].value)};
  }
  if (options->target == GLV_METADATA_SCHEMA) {
    TRY(check_view_keys(changes, items.count, err));
  }
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  TRY(local_latest_for_write(t, "set the metadata of", GLV_WRITE_VIEW, &latest, err));
  TRY(check_replace(latest, options, err));
  table_snapshot *made = NULL;
  write_result result = {0};
  const metadata_update update = {true, (options->flags & GLV_METADATA_REPLACE) != 0, changes,
                                  items.count};
  TRY(table_set_metadata(latest, targets[options->target], str_of(options->column), &update,
                         options->cancel, &made, &result, err));
  finish(t, made, &result, ret);
  return GLV_OK;
}
