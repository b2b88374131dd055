/* arrow_cast, arrow_try_cast, arrow_typeof: types by their Arrow names. */
#include "arrow/builder.h"
#include "expr/cast.h"
#include "expr/function_private.h"
#include "expr/type_name.h"

static glv_status cast_operand(const function_frame *f, const operand *o, bool is_try, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  TRY(kernel_column(f->env, o, o->a.type, rows, &a, err));
  return cast_array(f->env, &a, f->binding->result, is_try, ret, err);
}

static glv_status arrow_cast(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  return cast_operand(f, &arguments[0], false, rows, ret, err);
}
static glv_status arrow_try_cast(const function_frame *f, const operand *arguments, size_t rows,
                                 array *ret, glv_error *err) {
  return cast_operand(f, &arguments[0], true, rows, ret, err);
}

static glv_status bind_cast(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  const function_argument *name = &b->arguments[1];
  if (!type_is_string(name->type->kind) || name->constant == NULL ||
      !array_is_valid(name->constant, 0)) {
    return FAIL(err, GLV_E_SQL_PLAN, "%.*s requires its second argument to be a constant string",
                STR_ARG(b->name));
  }
  TRY(type_name_parse(b->arena, array_str(name->constant, 0), &b->result, err));
  if (!cast_is_supported(b->arguments[0].type, b->result)) {
    return FAIL(err, GLV_E_SQL_PLAN, "Unsupported CAST from %s to %s",
                TYPE_TEXT(b->arguments[0].type), TYPE_TEXT(b->result));
  }
  return GLV_OK;
}

static glv_status arrow_typeof(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(buf_dispose) buf name;
  CLEANUP(builder_dispose) builder b;
  buf_init(&name, f->env, INT32_MAX);
  builder_init(&b, f->env, f->binding->result);
  TRY(type_name_print(arguments[0].a.type, &name, err));
  for (size_t i = 0; i < rows; i++) {
    TRY(builder_append_str(&b, buf_str(&name), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status bind_typeof(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  b->result = type_simple(TYPE_UTF8);
  return GLV_OK;
}

const function functions_arrow[] = {
    {.name = "arrow_cast", .bind = bind_cast, .kernel = arrow_cast},
    {.name = "arrow_try_cast", .bind = bind_cast, .kernel = arrow_try_cast},
    {.name = "arrow_typeof",
     .flags = FUNCTION_NOT_IN_VIEWS,
     .bind = bind_typeof,
     .kernel = arrow_typeof},
    {0},
};
