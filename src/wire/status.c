/*
 * The table of rest-protocol.md 4, both ways. The HTTP statuses are chosen so that no client of the
 * protocol repeats what is hopeless: 409, 429 and 5xx are repeated on most routes.
 */
#include "wire/status.h"

#include "base/arena.h"
#include "wire/members.h"

enum { NAMESPACE_CODES = 100, LAST_NAMESPACE_CODE = 23 };

static bool is_namespace_status(glv_status status) {
  return status >= NAMESPACE_CODES && status <= NAMESPACE_CODES + LAST_NAMESPACE_CODE;
}

int wire_code(glv_status status) {
  if (is_namespace_status(status)) {
    return status - NAMESPACE_CODES;
  }
  switch (status) {
  case GLV_E_JOB_NOT_FOUND:
    return GLV_E_TABLE_NOT_FOUND - NAMESPACE_CODES;
  case GLV_E_NOT_A_VIEW:
    return GLV_E_INVALID_TABLE_STATE - NAMESPACE_CODES;
  case GLV_E_SCHEMA:
    return GLV_E_SCHEMA_VALIDATION - NAMESPACE_CODES;
  case GLV_E_STALE_VIEW:
    return GLV_E_CONFLICT - NAMESPACE_CODES;
  case GLV_E_SQL_PARSE:
  case GLV_E_SQL_PLAN:
  case GLV_E_SQL_EXEC:
  case GLV_E_INVALID_EXPRESSION:
  case GLV_E_COLUMN_EXISTS:
  case GLV_E_LIMIT:
    return GLV_E_INVALID_INPUT - NAMESPACE_CODES;
  case GLV_E_NOMEM:
  case GLV_E_CANCELLED:
  case GLV_E_TIMEOUT:
    return GLV_E_UNAVAILABLE - NAMESPACE_CODES;
  default: /* I/O, corrupt, unknown outcome, network, job failed, bad state, differs */
    return GLV_E_INTERNAL - NAMESPACE_CODES;
  }
}

unsigned wire_http_status(const glv_error *error) {
  if (error->http_status != 0) {
    return (unsigned)error->http_status;
  }
  switch (error->code) {
  case GLV_E_JOB_NOT_FOUND:
  case GLV_E_NAMESPACE_NOT_FOUND:
  case GLV_E_TABLE_NOT_FOUND:
  case GLV_E_INDEX_NOT_FOUND:
  case GLV_E_TAG_NOT_FOUND:
  case GLV_E_TRANSACTION_NOT_FOUND:
  case GLV_E_VERSION_NOT_FOUND:
  case GLV_E_BRANCH_NOT_FOUND:
    return 404;
  case GLV_E_NAMESPACE_EXISTS:
  case GLV_E_NAMESPACE_NOT_EMPTY:
  case GLV_E_BRANCH_EXISTS:
    return 409;
  case GLV_E_CONFLICT:
    return (error->flags & GLV_ERROR_MAY_RETRY) != 0 ? 409 : 412;
  case GLV_E_UNKNOWN_OUTCOME:
  case GLV_E_STALE_VIEW:
    return 412;
  case GLV_E_UNSUPPORTED:
    return 501;
  case GLV_E_UNAUTHENTICATED:
    return 401;
  case GLV_E_PERMISSION_DENIED:
    return 403;
  case GLV_E_NOMEM:
  case GLV_E_CANCELLED:
  case GLV_E_TIMEOUT:
  case GLV_E_UNAVAILABLE:
  case GLV_E_THROTTLED:
    return 503;
  case GLV_E_IO:
  case GLV_E_INTERNAL:
  case GLV_E_NETWORK:
    return 500;
  default: /* whatever is wrong with the request, or with what it names */
    return 400;
  }
}

bool wire_status_by_name(str name, glv_status *ret) {
#define BY_NAME(symbol, value, text)                                                               \
  if (str_is(name, #symbol)) {                                                                     \
    *ret = symbol;                                                                                 \
    return symbol != GLV_OK;                                                                       \
  }
  GLV_STATUS_MAP(BY_NAME)
#undef BY_NAME
  return false;
}

glv_status wire_error_write(const glv_error *error, const char *instance, json **ret,
                            glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_text(body, "error", error->message, err));
  TRY(wire_put_int(body, "code", wire_code(error->code), err));
  TRY(wire_put_text(body, "detail", error_name(error->code), err));
  TRY(wire_put_text(body, "instance", instance != NULL ? instance : "", err));
  *ret = body;
  body = NULL;
  return GLV_OK;
}

/* ---- reading ---- */

static glv_status by_http_status(unsigned http_status, glv_status missing) {
  switch (http_status) {
  case 401:
    return GLV_E_UNAUTHENTICATED;
  case 403:
    return GLV_E_PERMISSION_DENIED;
  case 404:
    return missing;
  case 405:
  case 406:
  case 501:
    return GLV_E_UNSUPPORTED;
  case 408:
  case 504:
    return GLV_E_TIMEOUT;
  case 409:
  case 412:
    return GLV_E_CONFLICT;
  case 413:
    return GLV_E_LIMIT;
  case 429:
    return GLV_E_THROTTLED;
  case 502:
  case 503:
    return GLV_E_UNAVAILABLE;
  default:
    return http_status >= 500   ? GLV_E_INTERNAL
           : http_status >= 400 ? GLV_E_INVALID_INPUT
                                : GLV_E_CORRUPT; /* no error, and not what the call asks for */
  }
}

/* What a body says that is an error body; members of other types count as absent. */
typedef struct error_body {
  str message;
  str detail;
  str instance;
  glv_status status; /* GLV_OK = it does not say */
} error_body;

static str text_member(const json *body, const char *key) {
  const json *node = js_member(body, key);
  return node != NULL && js_kind_of(node) == JS_STRING ? js_string(node) : (str){NULL, 0};
}

static error_body read_body(const json *root) {
  if (root == NULL || js_kind_of(root) != JS_OBJECT) {
    return (error_body){0};
  }
  error_body body = {text_member(root, "error"), text_member(root, "detail"),
                     text_member(root, "instance"), GLV_OK};
  const json *code = js_member(root, "code");
  if (!wire_status_by_name(body.detail, &body.status) && code != NULL &&
      js_kind_of(code) == JS_INT && js_int(code) >= 0 && js_int(code) <= LAST_NAMESPACE_CODE) {
    body.status = NAMESPACE_CODES + (glv_status)js_int(code);
  }
  return body;
}

bool wire_error_is_named(str body) {
  CLEANUP(js_cleanup) json *root = NULL;
  glv_status named;
  return js_parse(body, &root, NULL) == GLV_OK && js_kind_of(root) == JS_OBJECT &&
         wire_status_by_name(text_member(root, "detail"), &named);
}

enum { MAX_EXCERPT = GLV_ERROR_MESSAGE_SIZE };

/* One line for people: control characters become spaces, the end is cut at a character. */
static str one_line(str text, char line[MAX_EXCERPT]) {
  size_t size = text.size < MAX_EXCERPT ? text.size : MAX_EXCERPT;
  while (size > 0 && size < text.size && ((unsigned char)text.data[size] & 0xC0) == 0x80) {
    size--;
  }
  for (size_t i = 0; i < size; i++) {
    const unsigned char c = (unsigned char)text.data[i];
    line[i] = c < 0x20 || c == 0x7F ? ' ' : text.data[i];
  }
  while (size > 0 && line[size - 1] == ' ') {
    size--;
  }
  return str_slice(line, size);
}

static bool may_retry(unsigned http_status, glv_status status) {
  return (http_status == 409 && status == GLV_E_CONFLICT) || http_status == 429 ||
         http_status == 503;
}

glv_status wire_error_read(unsigned http_status, str body, glv_status missing, glv_error *err) {
  CLEANUP(js_cleanup) json *root = NULL;
  const bool is_json = js_parse(body, &root, NULL) == GLV_OK;
  const error_body read = read_body(is_json ? root : NULL);
  const glv_status status =
      read.status != GLV_OK ? read.status : by_http_status(http_status, missing);
  char line[MAX_EXCERPT];
  const str text = one_line(read.message.size > 0 ? read.message : body, line);
  char id[MAX_EXCERPT];
  const bool is_failure = http_status >= 500 && http_status != 501; /* of the server itself */
  const str request = one_line(is_failure ? read.instance : (str){NULL, 0}, id);
  if (text.size == 0 || !str_is_utf8(text)) {
    error_set(err, status, "the server answered HTTP status %u", http_status);
  } else if (read.message.size == 0) {
    error_set(err, status, "the server answered HTTP status %u: %.*s", http_status, STR_ARG(text));
  } else if (request.size > 0) {
    error_set(err, status, "%.*s (request %.*s)", STR_ARG(text), STR_ARG(request));
  } else {
    error_set(err, status, "%.*s", STR_ARG(text));
  }
  if (err != NULL) {
    err->http_status = (int32_t)http_status;
  }
  error_flag(err, may_retry(http_status, status) ? GLV_ERROR_MAY_RETRY : 0);
  return error_result(status, GLV_OK);
}
