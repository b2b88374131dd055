/* length, octet_length, bit_length: int32, or int64 for large_utf8. */
#include "expr/function_private.h"
#include "expr/unicode.h"

typedef size_t (*measure)(str text);

static size_t octets(str text) { return text.size; }
static size_t bits(str text) { return text.size * 8; }

static glv_status measure_all(const function_frame *f, const operand *o, measure fn, size_t rows,
                              array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, o, 1, rows, &a, &values, err));
  const bool wide = f->binding->result->kind == TYPE_INT64;
  for (size_t i = 0; i < rows; i++) {
    const size_t n = operand_is_valid(o, i) ? fn(operand_str(o, i)) : 0;
    if (wide) {
      ((int64_t *)values)[i] = (int64_t)n;
    } else if (n <= INT32_MAX) {
      ((int32_t *)values)[i] = (int32_t)n;
    } else {
      return FAIL(err, GLV_E_SQL_EXEC, "%s of a text of %zu bytes does not fit int32",
                  f->binding->function->name, operand_str(o, i).size);
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status length(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  return measure_all(f, arguments, unicode_count, rows, ret, err);
}
static glv_status octet_length(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  return measure_all(f, arguments, octets, rows, ret, err);
}
static glv_status bit_length(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  return measure_all(f, arguments, bits, rows, ret, err);
}

static glv_status bind_length(function_binding *b, glv_error *err) {
  static const type_kind KINDS[] = {TYPE_UTF8, TYPE_LARGE_UTF8, TYPE_UTF8_VIEW};
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_variadic(b, KINDS, 3, err));
  b->result = bind_position_result(b);
  return GLV_OK;
}

static glv_status bind_octets(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_string(b, 0, err));
  b->result = bind_position_result(b);
  return GLV_OK;
}

static const char *const length_names[] = {"char_length", "character_length", NULL};

const function functions_length[] = {
    {.name = "length", .aliases = length_names, .bind = bind_length, .kernel = length},
    {.name = "octet_length", .bind = bind_octets, .kernel = octet_length},
    {.name = "bit_length", .bind = bind_octets, .kernel = bit_length},
    {0},
};
