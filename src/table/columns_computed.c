/* Columns that LanceDB computes from others: metadata of the field says by which expression. What
 * such a column reads keeps its name and its type, and stays, as long as the column is there.
 */
#include "base/json.h"
#include "expr/expr.h"
#include "table/columns_private.h"

#define KEY(name) STR("computed_column" name)

static bool is_computed(const lance_field *f) {
  return str_is(metadata_get(f->arrow.metadata, KEY(""), NULL), "true");
}

static glv_status fail_read(const schema_edit *e, size_t at, const lance_field *reader,
                            glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT,
              "table '%s': column '%s' is read by computed column '%s'; drop that column first",
              table_name(e->table), edit_path(e, at), reader->arrow.name);
}

/* Whether the column reads the top-level column of that name, by its expression. */
static glv_status reads_by_expression(const schema_edit *e, const lance_field *f, const char *name,
                                      bool *ret, glv_error *err) {
  const expr_scope scope = {table_schema(e->table), SIZE_MAX};
  const str text = metadata_get(f->arrow.metadata, KEY(".expression"), NULL);
  CLEANUP(expr_cleanup) expr *x = NULL;
  glv_error report = {0};
  if (expr_plan_value(table_env(e->table), text, &scope, 0, &x, &report) != GLV_OK) {
    return report.code == GLV_E_NOMEM
               ? error_pass(err, &report)
               : FAIL(err, GLV_E_INVALID_INPUT,
                      "computed column '%s' has an unevaluable expression (%s); drop it before "
                      "changing the schema",
                      f->arrow.name, report.message);
  }
  size_t count;
  const size_t *columns = expr_columns(x, &count);
  for (size_t i = 0; i < count; i++) {
    *ret |= strcmp(scope.schema->fields[columns[i]].name, name) == 0;
  }
  return GLV_OK;
}

/* The same by the list of its inputs; one that cannot be read stands for every column. */
static glv_status reads_by_inputs(const schema_edit *e, const lance_field *f, const char *name,
                                  bool *ret, glv_error *err) {
  CLEANUP(js_cleanup) json *inputs = NULL;
  const str text = metadata_get(f->arrow.metadata, KEY(".inputs"), NULL);
  glv_error report = {0};
  const glv_status status = js_parse(text, &inputs, &report);
  if (status == GLV_E_NOMEM) {
    return error_pass(err, &report);
  }
  *ret |= status != GLV_OK || js_kind_of(inputs) != JS_ARRAY;
  for (size_t i = 0; !*ret && i < js_count(inputs); i++) {
    const json *input = js_item(inputs, i);
    size_t at;
    const bool is_known =
        js_kind_of(input) == JS_STRING && edit_find(e, js_string(input), &at, NULL) == GLV_OK;
    *ret |= is_known && strcmp(e->fields[edit_root(e, at)].message->name, name) == 0;
  }
  return GLV_OK;
}

static glv_status check_reader(const schema_edit *e, size_t at, const lance_field *f,
                               glv_error *err) {
  const size_t root = edit_root(e, at);
  const char *name = e->fields[root].message->name;
  bool reads = false;
  if (e->fields[root].message->id == f->id) {
    return at == root ? GLV_OK
                      : FAIL(err, GLV_E_INVALID_INPUT,
                             "table '%s': '%s' is part of computed column '%s'; drop the column "
                             "and declare it again",
                             table_name(e->table), edit_path(e, at), name);
  }
  TRY(str_is(metadata_get(f->arrow.metadata, KEY(".kind"), NULL), "sql")
          ? reads_by_expression(e, f, name, &reads, err)
          : reads_by_inputs(e, f, name, &reads, err));
  return reads ? fail_read(e, at, f, err) : GLV_OK;
}

glv_status columns_check_computed(const schema_edit *e, size_t at, const size_t *dropped,
                                  size_t dropped_count, glv_error *err) {
  for (size_t i = 0; i < e->table->lance->field_count; i++) {
    const lance_field *f = &e->table->lance->fields[i];
    bool goes = !is_computed(f);
    for (size_t k = 0; k < dropped_count; k++) {
      goes |= e->fields[dropped[k]].message->id == f->id;
    }
    if (!goes) {
      TRY(check_reader(e, at, f, err));
    }
  }
  return GLV_OK;
}

glv_status columns_check_not_computed(const schema_edit *e, size_t at, glv_error *err) {
  const Lance__File__Field *root = e->fields[edit_root(e, at)].message;
  const lance_field *f = lance_schema_find_id(e->table->lance, root->id);
  return f == NULL || !is_computed(f)
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT,
                    "table '%s': column '%s' is computed; drop it and declare it again to change "
                    "its type",
                    table_name(e->table), root->name);
}
