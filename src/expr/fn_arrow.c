/* arrow_typeof: the Arrow name of a type. */
#include "arrow/builder.h"
#include "expr/function_private.h"
#include "expr/type_name.h"

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
    {.name = "arrow_typeof",
     .flags = FUNCTION_NOT_IN_VIEWS,
     .bind = bind_typeof,
     .kernel = arrow_typeof},
    {0},
};
