/* named_struct, struct, row: columns side by side (sql-expressions section 12). The struct itself
 * is never null. */
#include "base/limits.h"
#include "expr/function_private.h"
#include "expr/lists.h"

/* The arguments from `first` on, every `step`-th, as the fields of the result. */
static glv_status collect(const function_frame *f, const operand *arguments, size_t first,
                          size_t step, size_t rows, array *ret, glv_error *err) {
  const type *t = f->binding->result;
  CLEANUP(array_unref) array a = {.type = t, .length = rows};
  TRY(array_new_children(f->env, t->child_count, &a, err));
  for (size_t i = 0; i < t->child_count; i++) {
    TRY(kernel_column(f->env, &arguments[first + i * step], t->children[i].type, rows,
                      &a.children[i], err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status named_struct(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  return collect(f, arguments, 1, 2, rows, ret, err);
}

static glv_status make_struct(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  return collect(f, arguments, 0, 1, rows, ret, err);
}

static glv_status set_result(function_binding *b, const field *fields, size_t count,
                             glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    if (type_depth(fields[i].type) >= LIMIT_TYPE_DEPTH) {
      return FAIL(err, GLV_E_LIMIT, "types are nested deeper than %d", LIMIT_TYPE_DEPTH);
    }
  }
  b->result = type_struct(b->arena, fields, count);
  return b->result != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static bool has_name(const field *fields, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (str_is(str_of(name), fields[i].name)) {
      return true;
    }
  }
  return false;
}

static glv_status bind_named(function_binding *b, glv_error *err) {
  if (b->count == 0 || b->count % 2 != 0) {
    return FAIL(err, GLV_E_SQL_PLAN, "%.*s needs pairs of a name and a value, got %zu arguments",
                STR_ARG(b->name), b->count);
  }
  field *fields = ARENA_ARRAY(b->arena, field, b->count / 2);
  if (fields == NULL) {
    return error_nomem(err, b->count * sizeof *fields);
  }
  for (size_t i = 0; i < b->count / 2; i++) {
    const function_argument *name = &b->arguments[2 * i];
    if (!type_is_string(name->type->kind) || name->constant == NULL ||
        !array_is_valid(name->constant, 0)) {
      return FAIL(err, GLV_E_SQL_PLAN, "%.*s requires its argument %zu to be a constant string",
                  STR_ARG(b->name), 2 * i + 1);
    }
    const char *text = arena_strdup(b->arena, array_str(name->constant, 0));
    if (text == NULL) {
      return error_nomem(err, sizeof *fields);
    }
    if (has_name(fields, i, text)) {
      return FAIL(err, GLV_E_SQL_PLAN, "%.*s has two fields of the name '%s'", STR_ARG(b->name),
                  text);
    }
    fields[i] = (field){.name = text, .type = b->arguments[2 * i + 1].type, .nullable = true};
  }
  return set_result(b, fields, b->count / 2, err);
}

static glv_status bind_struct(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, SIZE_MAX, err));
  field *fields = ARENA_ARRAY(b->arena, field, b->count);
  if (fields == NULL) {
    return error_nomem(err, b->count * sizeof *fields);
  }
  for (size_t i = 0; i < b->count; i++) {
    const char *name = arena_printf(b->arena, "c%zu", i);
    if (name == NULL) {
      return error_nomem(err, sizeof *fields);
    }
    fields[i] = (field){.name = name, .type = b->arguments[i].type, .nullable = true};
  }
  return set_result(b, fields, b->count, err);
}

static const char *const struct_names[] = {"row", NULL};

const function functions_struct[] = {
    {.name = "named_struct", .bind = bind_named, .kernel = named_struct},
    {.name = "struct", .aliases = struct_names, .bind = bind_struct, .kernel = make_struct},
    {0},
};
