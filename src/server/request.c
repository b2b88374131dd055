/* What a handler reads of its request. */
#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "base/error.h"
#include "base/name.h"
#include "server/server_private.h"
#include "wire/members.h"

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

bool request_covers(const request *r, glv_id ns) {
  return key_covers(exchange_of_const(r)->key, ns);
}

bool request_shows(const request *r, glv_id ns) {
  return request_covers(r, ns) || key_leads_to(exchange_of_const(r)->key, ns);
}

glv_status request_check_namespace(const request *r, glv_id ns, glv_error *err) {
  if (request_covers(r, ns)) {
    return GLV_OK;
  }
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, r->env, SIZE_MAX / 2);
  TRY(name_print(ns.parts, ns.count, &text, err));
  return FAIL(err, GLV_E_PERMISSION_DENIED, "the key '%s' is not for the namespace '%.*s'",
              exchange_of_const(r)->key->id, STR_ARG(buf_str(&text)));
}

glv_status request_json(request *r, const json **ret, glv_error *err) {
  exchange *x = exchange_of(r);
  if (x->document == NULL) {
    TRY(wire_parse_object(buf_str(&x->body), &x->document, err));
  }
  *ret = x->document;
  return GLV_OK;
}

bool request_has_arrow(const request *r) {
  static const char wanted[] = "application/vnd.apache.arrow.stream";
  const char *given = request_header(r, "content-type");
  if (given == NULL) {
    return false;
  }
  const size_t size = strcspn(given, "; \t");
  return str_equal_ascii_case(str_slice(given, size), STR(wanted));
}

bool request_wants_json(const request *r) {
  const char *given = request_header(r, "accept");
  return given != NULL &&
         str_equal_ascii_case(str_slice(given, strcspn(given, ",; \t")), STR("application/json"));
}

static glv_status body_source(exchange *x, byte_source *ret, glv_error *err) {
  if (x->upload != NULL) {
    *ret = upload_source(x->upload);
    return GLV_OK;
  }
  struct ipc_memory *memory = ARENA_NEW(&x->memory, struct ipc_memory);
  if (memory == NULL) {
    return error_nomem(err, sizeof *memory);
  }
  *memory = (struct ipc_memory){(const uint8_t *)x->body.data, x->body.size, 0};
  *ret = ipc_memory_source(memory);
  return GLV_OK;
}

/* Rows of a body: what is wrong with its bytes is the client's fault, not a damaged file. */
typedef struct body_reader {
  glv_env *env;
  batch_reader inner;
} body_reader;

static glv_status blame_client(glv_status status, glv_error *err) {
  if (status != GLV_E_CORRUPT) {
    return status;
  }
  if (err != NULL) {
    err->code = GLV_E_INVALID_INPUT;
  }
  return GLV_E_INVALID_INPUT;
}

static glv_status body_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  body_reader *b = state;
  return blame_client(b->inner.next(b->inner.state, ret, ret_end, err), err);
}

static void body_dispose(void *state) {
  body_reader *b = state;
  batch_reader_dispose(&b->inner);
  mem_free(b->env, b);
}

glv_status request_arrow(request *r, struct ArrowArrayStream *ret, glv_error *err) {
  byte_source source;
  TRY(body_source(exchange_of(r), &source, err));
  body_reader *b = mem_zalloc(r->env, sizeof *b);
  if (b == NULL) {
    return error_nomem(err, sizeof *b);
  }
  b->env = r->env;
  const glv_status status = ipc_reader_open(r->env, source, &b->inner, err);
  if (status != GLV_OK) {
    mem_free(r->env, b);
    return blame_client(status, err);
  }
  batch_reader reader = {.schema = schema_ref(b->inner.schema),
                         .next = body_next,
                         .dispose = body_dispose,
                         .state = b};
  return cdata_export_stream(r->env, &reader, ret, err);
}

glv_status request_pairs(request *r, const json *object, const char *what, glv_pairs *ret,
                         glv_error *err) {
  const size_t count = object != NULL ? js_count(object) : 0;
  glv_pair *pairs = ARENA_ARRAY(r->memory, glv_pair, count);
  void *position = NULL;
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    str key;
    const json *value = js_next_member(object, &position, &key);
    TRY(wire_expect(value, JS_STRING, what, err));
    pairs[i] = (glv_pair){arena_strdup(r->memory, key), arena_strdup(r->memory, js_string(value))};
    if (pairs[i].name == NULL || pairs[i].value == NULL) {
      return error_nomem(err, key.size);
    }
  }
  *ret = (glv_pairs){pairs, count};
  return GLV_OK;
}

glv_status request_name_taken(glv_status status, glv_error *err) {
  if (status == GLV_E_TABLE_EXISTS) {
    err->http_status = 409;
  }
  return status;
}
