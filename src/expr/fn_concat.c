/* concat and concat_ws: the texts of all arguments one after another; null arguments are left out.
 * The result has the type of the arguments if all have the same string type; strings of different
 * types, or beside an untyped NULL, give utf8_view; a value that is no string makes it utf8. */
#include "arrow/builder.h"
#include "expr/function_private.h"

/* Arguments from `first` on; the separator stands between those that are not null. */
static glv_status join(const operand *arguments, size_t first, size_t count, size_t i,
                       str separator, buf *out, glv_error *err) {
  bool is_later = false;
  for (size_t k = first; k < count; k++) {
    if (!operand_is_valid(&arguments[k], i)) {
      continue;
    }
    if (is_later) {
      TRY(buf_append_str(out, separator, err));
    }
    TRY(buf_append_str(out, operand_str(&arguments[k], i), err));
    is_later = true;
  }
  return GLV_OK;
}

static glv_status concat(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, INT32_MAX);
  for (size_t i = 0; i < rows; i++) {
    buf_clear(&text);
    TRY(join(arguments, 0, f->binding->count, i, str_slice(NULL, 0), &text, err));
    if (arguments[0].a.type->kind == TYPE_BINARY && !str_is_utf8(buf_str(&text))) {
      return FAIL(err, GLV_E_SQL_EXEC, "concat: the bytes put together are not UTF-8");
    }
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status concat_ws(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  const size_t count = f->binding->count;
  if (count < 2) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "concat_ws was called with %zu arguments. It requires at "
                "least 2.",
                count);
  }
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, INT32_MAX);
  for (size_t i = 0; i < rows; i++) {
    if (!operand_is_valid(&arguments[0], i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    buf_clear(&text);
    TRY(join(arguments, 1, count, i, operand_str(&arguments[0], i), &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

static const type_kind KINDS[] = {TYPE_UTF8_VIEW, TYPE_UTF8, TYPE_LARGE_UTF8, TYPE_BINARY};

/* Bytes put together are text. */
static glv_status bind_concat(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, SIZE_MAX, err));
  TRY(bind_variadic(b, KINDS, 4, err));
  const type_kind kind = b->targets[0]->kind;
  b->result = type_simple(kind == TYPE_BINARY ? TYPE_UTF8 : kind);
  return GLV_OK;
}

static glv_status bind_concat_ws(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, SIZE_MAX, err));
  TRY(bind_variadic(b, KINDS, 3, err));
  b->result = b->targets[0];
  return GLV_OK;
}

const function functions_concat[] = {
    {.name = "concat", .bind = bind_concat, .kernel = concat},
    {.name = "concat_ws", .bind = bind_concat_ws, .kernel = concat_ws},
    {0},
};
