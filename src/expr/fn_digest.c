/* md5, sha224 to sha512, digest (sql-expressions 13.2). */
#include "base/digest.h"
#include "base/encoding.h"
#include "expr/function_private.h"

/* The name of a method, as the second argument of digest. */
static const char *const METHODS[DIGEST_KINDS] = {
    [DIGEST_MD5] = "md5",         [DIGEST_SHA224] = "sha224", [DIGEST_SHA256] = "sha256",
    [DIGEST_SHA384] = "sha384",   [DIGEST_SHA512] = "sha512", [DIGEST_BLAKE2B] = "blake2b",
    [DIGEST_BLAKE2S] = "blake2s",
};

/* Digests of the first argument: bytes, or their hexadecimal digits when the result is text. */
static glv_status digest_rows(const function_frame *f, const operand *o, enum digest_kind kind,
                              size_t rows, array *ret, glv_error *err) {
  CLEANUP(digest_cleanup) digest *d = NULL;
  CLEANUP(builder_dispose) builder b;
  const size_t size = digest_size(kind);
  const bool is_text = f->binding->result->kind == TYPE_UTF8_VIEW;
  builder_init(&b, f->env, f->binding->result);
  TRY(digest_new(f->env, kind, &d, err));
  TRY(builder_reserve(&b, rows, rows * size * (is_text ? 2 : 1), err));
  for (size_t i = 0; i < rows; i++) {
    uint8_t bytes[DIGEST_SIZE_MAX];
    char digits[2 * DIGEST_SIZE_MAX];
    if (!operand_is_valid(o, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    digest_of(d, operand_str(o, i), bytes);
    if (is_text) {
      hex_encode(bytes, size, digits);
      TRY(builder_append_str(&b, str_slice(digits, 2 * size), err));
    } else {
      TRY(builder_append_str(&b, str_slice((const char *)bytes, size), err));
    }
  }
  return builder_finish(&b, ret, err);
}

#define DIGEST_KERNEL(name, kind)                                                                  \
  static glv_status name(const function_frame *f, const operand *arguments, size_t rows,           \
                         array *ret, glv_error *err) {                                             \
    return digest_rows(f, arguments, kind, rows, ret, err);                                        \
  }

DIGEST_KERNEL(md5, DIGEST_MD5)
DIGEST_KERNEL(sha224, DIGEST_SHA224)
DIGEST_KERNEL(sha256, DIGEST_SHA256)
DIGEST_KERNEL(sha384, DIGEST_SHA384)
DIGEST_KERNEL(sha512, DIGEST_SHA512)

static glv_status find_method(const operand *o, enum digest_kind *ret, glv_error *err) {
  if (!o->is_scalar || !array_is_valid(&o->a, 0)) {
    return FAIL(err, GLV_E_SQL_EXEC, "the method of digest must be a constant text");
  }
  const str name = array_str(&o->a, 0);
  for (size_t k = 0; k < DIGEST_KINDS; k++) {
    if (str_is(name, METHODS[k])) {
      *ret = (enum digest_kind)k;
      return GLV_OK;
    }
  }
  return FAIL(err, GLV_E_SQL_EXEC,
              "There is no built-in digest algorithm named '%.*s', currently supported algorithms "
              "are: md5, sha224, sha256, sha384, sha512, blake2s, blake2b",
              STR_ARG(name));
}

static glv_status by_method(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  enum digest_kind kind = DIGEST_MD5;
  if (rows > 0) {
    TRY(find_method(&arguments[1], &kind, err));
  }
  return digest_rows(f, arguments, kind, rows, ret, err);
}

static glv_status bind_digest(function_binding *b, type_kind result, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_string_or_binary(b, 0, err));
  b->result = type_simple(result);
  return GLV_OK;
}

static glv_status bind_md5(function_binding *b, glv_error *err) {
  return bind_digest(b, TYPE_UTF8_VIEW, err);
}
static glv_status bind_sha(function_binding *b, glv_error *err) {
  return bind_digest(b, TYPE_BINARY, err);
}

static glv_status bind_method(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_string_or_binary(b, 0, err));
  TRY(bind_string(b, 1, err));
  const array *method = b->arguments[1].constant;
  if (method != NULL && type_is_string(method->type->kind) && array_is_valid(method, 0) &&
      str_is(array_str(method, 0), "blake3")) {
    return FAIL(err, GLV_E_SQL_PLAN,
                "digest method 'blake3' is not supported; blake2b and blake2s are");
  }
  b->result = type_simple(TYPE_BINARY);
  return GLV_OK;
}

const function functions_digest[] = {
    {.name = "md5", .bind = bind_md5, .kernel = md5},
    {.name = "sha224", .bind = bind_sha, .kernel = sha224},
    {.name = "sha256", .bind = bind_sha, .kernel = sha256},
    {.name = "sha384", .bind = bind_sha, .kernel = sha384},
    {.name = "sha512", .bind = bind_sha, .kernel = sha512},
    {.name = "digest", .bind = bind_method, .kernel = by_method},
    {0},
};
