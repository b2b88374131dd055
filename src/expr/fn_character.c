/* Characters and numbers as texts of each other: ascii, chr, to_hex (sql-expressions 13.2). */
#include "expr/function_private.h"
#include "expr/unicode.h"

/* The code point of the first character; 0 for an empty text. */
static glv_status ascii(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    size_t at = 0;
    const bool has_text = operand_is_valid(&arguments[0], i);
    const str text = has_text ? operand_str(&arguments[0], i) : str_slice(NULL, 0);
    ((int32_t *)values)[i] = text.size == 0 ? 0 : (int32_t)unicode_next(text, &at);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status chr_row(const function_frame *f, const operand *arguments, size_t i,
                          text_writer *w, glv_error *err) {
  (void)f;
  const int64_t c = OPERAND_VALUE(&arguments[0], int64_t, i);
  if (c < 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
    return FAIL(err, GLV_E_SQL_EXEC, "invalid Unicode scalar value: %lld", (long long)c);
  }
  char text[4];
  return builder_append_str(&w->b, str_slice(text, unicode_encode((uint32_t)c, text)), err);
}

static glv_status chr(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                      glv_error *err) {
  return function_text_rows(f, arguments, rows, chr_row, ret, err);
}

static glv_status hex_row(const function_frame *f, const operand *arguments, size_t i,
                          text_writer *w, glv_error *err) {
  static const char DIGITS[] = "0123456789abcdef";
  (void)f;
  char text[16];
  size_t begin = sizeof text;
  uint64_t rest = OPERAND_VALUE(&arguments[0], uint64_t, i);
  do {
    text[--begin] = DIGITS[rest & 15];
    rest >>= 4;
  } while (rest != 0);
  return builder_append_str(&w->b, str_slice(text + begin, sizeof text - begin), err);
}

static glv_status to_hex(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  return function_text_rows(f, arguments, rows, hex_row, ret, err);
}

static glv_status bind_ascii(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_string(b, 0, err));
  b->result = type_simple(TYPE_INT32);
  return GLV_OK;
}

static glv_status bind_chr(function_binding *b, glv_error *err) {
  static const signature INTEGER = {{TYPE_INT64}};
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_signature(b, &INTEGER, 1, err));
  b->result = type_simple(TYPE_UTF8);
  return GLV_OK;
}

/* Negative numbers of every width show their 64 bits. */
static glv_status bind_hex(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_int64(b, 0, err));
  if (b->arguments[0].type->kind == TYPE_UINT64) {
    b->targets[0] = b->arguments[0].type;
  }
  b->result = type_simple(TYPE_UTF8);
  return GLV_OK;
}

const function functions_character[] = {
    {.name = "ascii", .bind = bind_ascii, .kernel = ascii},
    {.name = "chr", .bind = bind_chr, .kernel = chr},
    {.name = "to_hex", .bind = bind_hex, .kernel = to_hex},
    {0},
};
