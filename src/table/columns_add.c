/* Adding columns (lance-table-format 5.2, 9, 15.1).
 *
 * Expressions are evaluated for the live rows of a scan and written to one more file for each
 * fragment. Nulls need no file: a field that no file of a fragment has is null. A struct for a name
 * that is a struct already is merged into that one, field by field; files hold only what is new.
 */
#include "expr/expr.h"
#include "table/columns_private.h"
#include "table/scan.h"

struct adding {
  const column_definition *columns; /* NULL = nulls */
  const field *nulls;
  size_t count;
  const column_options *options;
  /* of one run */
  const table_snapshot *table;
  arena memory;
  schema_edit edit;
  bool needs_required; /* a new field that rows of other writers lack must not be null */
};

/* ---- the schema ---- */

static glv_status fail_exists(const struct adding *a, size_t at, const field *f, glv_error *err) {
  const lance_field *old = lance_schema_find_id(a->table->lance, a->edit.fields[at].message->id);
  const char *path = edit_path(&a->edit, at);
  if (old == NULL || !old->is_supported || type_equal(old->arrow.type, f->type)) {
    return FAIL(err, GLV_E_COLUMN_EXISTS, "table '%s': Column %s already exists in the dataset",
                table_name(a->table), path);
  }
  return FAIL(err, GLV_E_COLUMN_EXISTS, "table '%s': Type conflicts between %s(%s) and %s(%s)",
              table_name(a->table), path, TYPE_TEXT(old->arrow.type), path, TYPE_TEXT(f->type));
}

/* True for types whose fields can be added to one by one. */
static bool is_open(const lance_field *old, const field *f) {
  const type_kind kind = f->type->kind;
  return old != NULL && old->is_supported && !old->is_leaf && old->arrow.type->kind == kind &&
         (kind == TYPE_STRUCT || kind == TYPE_LIST || kind == TYPE_LARGE_LIST);
}

/* Merges the parts of f, whose name is that of the field at `at`, into it. Nesting is bounded
 * (LIMIT_TYPE_DEPTH). */
static glv_status merge_field(struct adding *a, size_t at, const field *f, glv_error *err) {
  schema_edit *e = &a->edit;
  const lance_field *old = lance_schema_find_id(a->table->lance, e->fields[at].message->id);
  if (!is_open(old, f)) {
    return fail_exists(a, at, f, err);
  }
  if (table_data_version(a->table) < FORMAT_2_2) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s': Column %s is a struct col, add sub column is not supported in Lance "
                "file version %s",
                table_name(a->table), edit_path(e, at), table_data_version_text(a->table));
  }
  for (size_t i = 0; i < f->type->child_count; i++) {
    const field *part = &f->type->children[i];
    const size_t child = edit_child(e, at, part->name);
    if (child != SIZE_MAX) {
      TRY(merge_field(a, child, part, err));
    } else if (f->type->kind != TYPE_STRUCT) {
      return fail_exists(a, at, f, err);
    } else {
      a->needs_required |= !part->nullable || !e->fields[edit_root(e, at)].message->nullable;
      TRY(edit_insert(e, edit_end(e, at), at, part, err));
    }
  }
  return GLV_OK;
}

static glv_status add_field(struct adding *a, const field *fields, size_t i, glv_error *err) {
  schema_edit *e = &a->edit;
  const field *f = &fields[i];
  for (size_t k = 0; k < i; k++) {
    if (strcmp(fields[k].name, f->name) == 0) {
      return FAIL(err, GLV_E_COLUMN_EXISTS, "table '%s': two columns '%s' are to be added",
                  table_name(a->table), f->name);
    }
  }
  const size_t at = edit_child(e, SIZE_MAX, f->name);
  if (at != SIZE_MAX) {
    return merge_field(a, at, f, err);
  }
  a->needs_required |= !f->nullable;
  return edit_insert(e, e->count, SIZE_MAX, f, err);
}

static glv_status add_fields(struct adding *a, const field *fields, const lance_schema **ret,
                             glv_error *err) {
  TRY(edit_begin(a->table, &a->memory, &a->edit, err));
  for (size_t i = 0; i < a->count; i++) {
    TRY(add_field(a, fields, i, err));
  }
  return edit_finish(&a->edit, ret, err);
}

/* ---- values ---- */

/* Names, types and nullability of what the expressions give; *ret_nulls: each is a typed null. */
static glv_status plan_fields(struct adding *a, field **ret, bool *ret_nulls, glv_error *err) {
  const expr_scope scope = {table_schema(a->table), SIZE_MAX};
  field *fields = ARENA_ARRAY(&a->memory, field, a->count);
  if (fields == NULL) {
    return error_nomem(err, a->count * sizeof *fields);
  }
  *ret_nulls = true;
  for (size_t i = 0; i < a->count; i++) {
    const column_definition *c = &a->columns[i];
    CLEANUP(expr_cleanup) expr *e = NULL;
    TRY(expr_plan_value(table_env(a->table), c->expression, &scope, a->options->expr_flags, &e,
                        err));
    fields[i].name = arena_strdup(&a->memory, c->name);
    fields[i].type = type_copy(&a->memory, expr_type(e));
    fields[i].nullable = expr_may_be_null(e);
    if (fields[i].name == NULL || fields[i].type == NULL) {
      return error_nomem(err, c->name.size);
    }
    *ret_nulls &= expr_is_null(e) && fields[i].type->kind != TYPE_NULL;
  }
  *ret = fields;
  return GLV_OK;
}

static glv_status open_values(struct adding *a, batch_reader *ret, glv_error *err) {
  scan_column *columns = ARENA_ARRAY(&a->memory, scan_column, a->count);
  if (columns == NULL) {
    return error_nomem(err, a->count * sizeof *columns);
  }
  for (size_t i = 0; i < a->count; i++) {
    columns[i].name = a->columns[i].name;
    columns[i].expression = a->columns[i].expression;
  }
  const scan_options o = {.columns = columns,
                          .column_count = a->count,
                          .expr_flags = a->options->expr_flags,
                          .with_row_address = true,
                          .cancel = a->options->cancel};
  return table_scan(a->table, &o, ret, err);
}

static glv_status write_values(struct adding *a, staged **ret, glv_error *err) {
  const lance_schema *files;
  TRY(edit_new_fields(&a->edit, &files, err));
  batch_reader r;
  TRY(open_values(a, &r, err));
  return columns_stage(a->table, files, &r, a->options->cancel, ret, err);
}

/* ---- the operation ---- */

static void adding_cleanup(struct adding *a) { arena_dispose(&a->memory); }

static glv_status add(void *context, const table_snapshot *base, table_snapshot **ret,
                      uint32_t *ret_attempts, glv_error *err) {
  CLEANUP(adding_cleanup) struct adding a = *(const struct adding *)context;
  arena_init(&a.memory, table_env(base));
  a.table = base;
  field *planned = NULL;
  bool only_nulls = a.columns == NULL;
  if (a.columns != NULL) {
    TRY(plan_fields(&a, &planned, &only_nulls, err));
  }
  if (!only_nulls) {
    TRY(columns_check_settled(base, "add a computed column", err));
  }
  const lance_schema *s;
  staged *files = NULL;
  TRY(add_fields(&a, a.columns != NULL ? planned : a.nulls, &s, err));
  if (!only_nulls) {
    TRY(write_values(&a, &files, err));
  }
  return columns_commit_merge(base, s, files, !a.needs_required, a.options, ret, ret_attempts, err);
}

static const column_options defaults = {0};

glv_status table_add_columns(const table_snapshot *t, const column_definition *columns,
                             size_t count, const column_options *options, table_snapshot **ret,
                             write_result *ret_result, glv_error *err) {
  struct adding a = {
      .columns = columns, .count = count, .options = options != NULL ? options : &defaults};
  return columns_run(t, count, add, &a, a.options, ret, ret_result, err);
}

glv_status table_add_null_columns(const table_snapshot *t, const field *columns, size_t count,
                                  const column_options *options, table_snapshot **ret,
                                  write_result *ret_result, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    if (!columns[i].nullable) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "table '%s': All-null columns must be nullable, but field '%s' is not.",
                  table_name(t), columns[i].name);
    }
  }
  struct adding a = {
      .nulls = columns, .count = count, .options = options != NULL ? options : &defaults};
  return columns_run(t, count, add, &a, a.options, ret, ret_result, err);
}
