/* encode and decode: bytes as hexadecimal or base64 text and back (sql-expressions 13.2). */
#include "base/encoding.h"
#include "expr/function_private.h"

enum encoding { ENCODING_HEX, ENCODING_BASE64, ENCODING_BASE64_PADDED };

/* The encoding is one for all rows. */
static glv_status find_encoding(const operand *o, enum encoding *ret, glv_error *err) {
  static const char *const NAMES[] = {"hex", "base64", "base64pad"};
  if (!o->is_scalar || !array_is_valid(&o->a, 0)) {
    return FAIL(err, GLV_E_SQL_EXEC, "the encoding must be a constant text");
  }
  const str name = array_str(&o->a, 0);
  for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
    if (str_is(name, NAMES[k])) {
      *ret = (enum encoding)k;
      return GLV_OK;
    }
  }
  return FAIL(err, GLV_E_SQL_EXEC,
              "There is no built-in encoding named '%.*s', currently supported encodings are: "
              "base64, base64pad, hex",
              STR_ARG(name));
}

/* Room for one value behind what text holds. */
static glv_status reserve(buf *text, size_t size, glv_error *err) {
  buf_clear(text);
  return buf_reserve(text, size, err);
}

static glv_status encode_value(enum encoding encoding, str bytes, buf *text, glv_error *err) {
  if (bytes.size > INT32_MAX / 2) {
    return FAIL(err, GLV_E_LIMIT, "encode: %zu bytes do not fit into one text", bytes.size);
  }
  if (encoding == ENCODING_HEX) {
    TRY(reserve(text, 2 * bytes.size, err));
    hex_encode(bytes.data, bytes.size, text->data);
    text->size = 2 * bytes.size;
    return GLV_OK;
  }
  const bool pads = encoding == ENCODING_BASE64_PADDED;
  TRY(reserve(text, base64_size(bytes.size, pads), err));
  base64_encode(bytes.data, bytes.size, pads, text->data);
  text->size = base64_size(bytes.size, pads);
  return GLV_OK;
}

static glv_status decode_value(enum encoding encoding, str text, buf *bytes, glv_error *err) {
  TRY(reserve(bytes, text.size, err));
  bool is_good;
  if (encoding == ENCODING_HEX) {
    is_good = hex_decode(text, (uint8_t *)bytes->data);
    bytes->size = text.size / 2;
  } else {
    is_good = base64_decode(text, (uint8_t *)bytes->data, &bytes->size);
  }
  return is_good ? GLV_OK
                 : FAIL(err, GLV_E_SQL_EXEC, "Failed to decode a value of %zu bytes using %s",
                        text.size, encoding == ENCODING_HEX ? "hex" : "base64");
}

typedef glv_status (*convert)(enum encoding encoding, str value, buf *ret, glv_error *err);

/* Value i, also of a column of fixed width. */
static str value_at(const operand *o, size_t i) {
  if (o->a.type->kind == TYPE_FIXED_SIZE_BINARY) {
    const size_t width = (size_t)o->a.type->width;
    return str_slice((const char *)o->a.values + operand_row(o, i) * width, width);
  }
  return operand_str(o, i);
}

static glv_status convert_rows(const function_frame *f, const operand *arguments, convert fn,
                               size_t rows, array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf value;
  enum encoding encoding = ENCODING_HEX;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&value, f->env, INT32_MAX);
  if (rows > 0) {
    TRY(find_encoding(&arguments[1], &encoding, err));
  }
  for (size_t i = 0; i < rows; i++) {
    if (!operand_is_valid(&arguments[0], i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    TRY(fn(encoding, value_at(&arguments[0], i), &value, err));
    TRY(builder_append_str(&b, buf_str(&value), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status encode(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  return convert_rows(f, arguments, encode_value, rows, ret, err);
}
static glv_status decode(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  return convert_rows(f, arguments, decode_value, rows, ret, err);
}

/* Large input gives large output. */
static glv_status bind_encoding(function_binding *b, type_kind small, type_kind large,
                                glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  if (b->arguments[0].type->kind != TYPE_FIXED_SIZE_BINARY) {
    TRY(bind_string_or_binary(b, 0, err));
  }
  TRY(bind_string(b, 1, err));
  const type_kind kind = b->targets[0]->kind;
  b->result = type_simple(kind == TYPE_LARGE_UTF8 || kind == TYPE_LARGE_BINARY ? large : small);
  return GLV_OK;
}

static glv_status bind_encode(function_binding *b, glv_error *err) {
  return bind_encoding(b, TYPE_UTF8, TYPE_LARGE_UTF8, err);
}
static glv_status bind_decode(function_binding *b, glv_error *err) {
  return bind_encoding(b, TYPE_BINARY, TYPE_LARGE_BINARY, err);
}

const function functions_encode[] = {
    {.name = "encode", .bind = bind_encode, .kernel = encode},
    {.name = "decode", .bind = bind_decode, .kernel = decode},
    {0},
};
