/*
 * Answers: what a handler says becomes a response of the HTTP library, which http.c sends. The
 * bytes of a body belong to the response, which outlives the exchange; a block of them begins with
 * the environment that releases it.
 */
#include <microhttpd.h>

#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "server/server_private.h"
#include "wire/status.h"

enum { BLOCK_START = 16 }; /* room for the environment */

/* A body to append to; takes the place of buf_init. */
static glv_status block_init(buf *b, glv_env *env, glv_error *err) {
  buf_init(b, env, SIZE_MAX / 2);
  TRY(buf_append_fill(b, 0, BLOCK_START, err));
  memcpy(b->data, &env, sizeof env);
  return GLV_OK;
}

static void block_free(void *block) {
  glv_env *env;
  memcpy(&env, block, sizeof env);
  mem_free(env, block);
}

/* Takes over what is in b. */
static glv_status answer_block(exchange *x, unsigned status, const char *content_type, buf *b,
                               glv_error *err) {
  const size_t size = b->size - BLOCK_START;
  char *block = buf_detach(b);
  struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
      size, block + BLOCK_START, block_free, block);
  if (response == NULL) {
    block_free(block);
    return error_nomem(err, size);
  }
  if (x->response != NULL) {
    MHD_destroy_response(x->response);
  }
  x->response = response;
  x->status = status;
  x->content_type = content_type;
  x->bytes_out = size;
  return GLV_OK;
}

glv_status answer_json(request *r, unsigned status, json *body, glv_error *err) {
  CLEANUP(js_cleanup) json *owned = body;
  CLEANUP(buf_dispose) buf b;
  TRY(block_init(&b, r->env, err));
  TRY(owned != NULL ? js_print(owned, 0, 0, &b, err) : buf_append_str(&b, STR("{}"), err));
  return answer_block(exchange_of(r), status, "application/json", &b, err);
}

glv_status answer_bytes(request *r, unsigned status, const char *content_type, str bytes,
                        glv_error *err) {
  CLEANUP(buf_dispose) buf b;
  const char *copy = arena_strdup(r->memory, str_of(content_type));
  if (copy == NULL) {
    return error_nomem(err, strlen(content_type));
  }
  TRY(block_init(&b, r->env, err));
  TRY(buf_append_str(&b, bytes, err));
  return answer_block(exchange_of(r), status, copy, &b, err);
}

glv_status answer_arrow(request *r, struct ArrowArrayStream *rows, bool as_file, glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader reader = {0};
  CLEANUP(buf_dispose) buf b;
  TRY(cdata_import_stream(r->env, rows, &reader, err));
  TRY(block_init(&b, r->env, err));
  TRY(ipc_write(r->env, &reader, as_file, ipc_buf_sink(&b), err));
  return answer_block(exchange_of(r), 200,
                      as_file ? "application/vnd.apache.arrow.file"
                              : "application/vnd.apache.arrow.stream",
                      &b, err);
}

glv_status answer_header(request *r, const char *name, const char *value, glv_error *err) {
  exchange *x = exchange_of(r);
  header *h = ARENA_NEW(r->memory, header);
  const char *name_copy = arena_strdup(r->memory, str_of(name));
  const char *value_copy = arena_strdup(r->memory, str_of(value));
  if (h == NULL || name_copy == NULL || value_copy == NULL) {
    return error_nomem(err, sizeof *h);
  }
  *h = (header){name_copy, value_copy, x->answer_headers};
  x->answer_headers = h;
  return GLV_OK;
}

static glv_status error_body(exchange *x, unsigned http_status, const glv_error *error) {
  json *body = NULL;
  TRY(wire_error_write(error, x->request.id_text, &body, NULL));
  return answer_json(&x->request, http_status, body, NULL);
}

void answer_error(exchange *x, unsigned http_status, const glv_error *error) {
  x->answer_headers = NULL;
  if (error_body(x, http_status, error) != GLV_OK) {
    if (x->response != NULL) {
      MHD_destroy_response(x->response);
    }
    x->response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    x->status = http_status;
    x->content_type = NULL;
    x->bytes_out = 0;
  }
}
