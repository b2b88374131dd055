/* What a handler reads of its request. */
#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "base/error.h"
#include "server/server_private.h"

glv_conn *request_conn(const request *r) { return r->server->conn; }

const char *request_header(const request *r, const char *name) {
  const str wanted = str_of(name);
  for (const header *h = exchange_of_const(r)->headers; h != NULL; h = h->next) {
    if (str_equal_ascii_case(str_of(h->name), wanted)) {
      return h->value;
    }
  }
  return NULL;
}

const char *request_param_get(const request *r, const char *name) {
  for (size_t i = r->param_count; i-- > 0;) {
    if (strcmp(r->params[i].name, name) == 0) {
      return r->params[i].value;
    }
  }
  return NULL;
}

glv_status request_param_bool(const request *r, const char *name, bool *ret, glv_error *err) {
  const char *value = request_param_get(r, name);
  const bool is_true = value != NULL && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
  if (value != NULL && !is_true && strcmp(value, "false") != 0 && strcmp(value, "0") != 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the parameter '%s' is 'true' or 'false', not '%s'", name,
                value);
  }
  *ret = is_true;
  return GLV_OK;
}

glv_status request_json(request *r, const json **ret, glv_error *err) {
  exchange *x = exchange_of(r);
  if (x->document == NULL) {
    const str body = x->body.size != 0 ? buf_str(&x->body) : STR("{}");
    glv_error cause;
    const glv_status status = js_parse(body, &x->document, &cause);
    if (status == GLV_E_CORRUPT) {
      return FAIL(err, GLV_E_INVALID_INPUT, "the body is not JSON: %s", cause.message);
    }
    if (status != GLV_OK) {
      return error_pass(err, &cause);
    }
  }
  if (js_kind_of(x->document) != JS_OBJECT) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the body is not a JSON object");
  }
  *ret = x->document;
  return GLV_OK;
}

bool request_has_arrow(const request *r) {
  static const char wanted[] = "application/vnd.apache.arrow.stream";
  const char *given = request_header(r, "content-given");
  if (given == NULL) {
    return false;
  }
  const size_t size = strcspn(given, "; \t");
  return str_equal_ascii_case(str_slice(given, size), STR(wanted));
}

glv_status request_arrow(request *r, struct ArrowArrayStream *ret, glv_error *err) {
  exchange *x = exchange_of(r);
  struct ipc_memory *memory = ARENA_NEW(r->memory, struct ipc_memory);
  if (memory == NULL) {
    return error_nomem(err, sizeof *memory);
  }
  *memory = (struct ipc_memory){(const uint8_t *)x->body.data, x->body.size, 0};
  batch_reader reader;
  TRY(ipc_reader_open(r->env, ipc_memory_source(memory), &reader, err));
  return cdata_export_stream(r->env, &reader, ret, err);
}
