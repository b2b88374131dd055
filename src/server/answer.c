/*
 * Answers: what a handler says becomes a response of the HTTP library, which http.c sends. The
 * bytes of a body belong to the response, which outlives the exchange; a block of them begins with
 * the environment that releases it.
 */
#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>

#include "server/answer_private.h"
#include "server/gzip.h"
#include "wire/status.h"

enum { LEAST_GZIP_BYTES = 1024 }; /* shorter bodies fit into one packet anyway */

glv_status answer_block_init(buf *b, glv_env *env, glv_error *err) {
  buf_init(b, env, SIZE_MAX / 2);
  TRY(buf_append_fill(b, 0, ANSWER_BLOCK_START, err));
  memcpy(b->data, &env, sizeof env);
  return GLV_OK;
}

static void block_free(void *block) {
  glv_env *env;
  memcpy(&env, block, sizeof env);
  mem_free(env, block);
}

void answer_set(exchange *x, unsigned status, const char *content_type,
                struct MHD_Response *response, uint64_t size) {
  if (x->response != NULL) {
    MHD_destroy_response(x->response);
  }
  x->response = response;
  x->status = status;
  x->content_type = content_type;
  x->bytes_out = size;
}

glv_status answer_block(exchange *x, unsigned status, const char *content_type, buf *b,
                        glv_error *err) {
  const size_t size = b->size - ANSWER_BLOCK_START;
  char *block = buf_detach(b);
  struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
      size, block + ANSWER_BLOCK_START, block_free, block);
  if (response == NULL) {
    block_free(block);
    return error_nomem(err, size);
  }
  answer_set(x, status, content_type, response, size);
  return GLV_OK;
}

bool answer_takes_gzip(const exchange *x, bool is_rows) {
  const server_options *o = &x->server->options;
  if (o->compression == SERVER_COMPRESS_NEVER ||
      (o->compression == SERVER_COMPRESS_DEFAULT && is_rows && x->is_local)) {
    return false;
  }
  return gzip_is_accepted(request_header(&x->request, "accept-encoding"));
}

/* Like answer_block, compressed where that is wanted. */
static glv_status answer_text(exchange *x, unsigned status, const char *content_type, buf *b,
                              glv_error *err) {
  if (b->size - ANSWER_BLOCK_START < LEAST_GZIP_BYTES || !answer_takes_gzip(x, false)) {
    return answer_block(x, status, content_type, b, err);
  }
  CLEANUP(gzip_cleanup) gzip *z = NULL;
  CLEANUP(buf_dispose) buf smaller;
  const str text = str_slice(b->data + ANSWER_BLOCK_START, b->size - ANSWER_BLOCK_START);
  TRY(gzip_new(x->server->env, &z, err));
  TRY(answer_block_init(&smaller, x->server->env, err));
  TRY(gzip_add(z, text, true, &smaller, err));
  TRY(answer_header(&x->request, "content-encoding", "gzip", err));
  return answer_block(x, status, content_type, &smaller, err);
}

glv_status answer_json(request *r, unsigned status, json *body, glv_error *err) {
  CLEANUP(js_cleanup) json *owned = body;
  CLEANUP(buf_dispose) buf b;
  TRY(answer_block_init(&b, r->env, err));
  TRY(owned != NULL ? js_print(owned, 0, 0, &b, err) : buf_append_str(&b, STR("{}"), err));
  return answer_text(exchange_of(r), status, "application/json", &b, err);
}

glv_status answer_bytes(request *r, unsigned status, const char *content_type, str bytes,
                        glv_error *err) {
  CLEANUP(buf_dispose) buf b;
  const char *copy = arena_strdup(r->memory, str_of(content_type));
  if (copy == NULL) {
    return error_nomem(err, strlen(content_type));
  }
  TRY(answer_block_init(&b, r->env, err));
  TRY(buf_append_str(&b, bytes, err));
  return answer_text(exchange_of(r), status, copy, &b, err);
}

glv_status answer_numbers(request *r, const named_number *numbers, size_t count, glv_error *err) {
  char text[512];
  size_t size = 0;
  for (size_t i = 0; i < count && size < sizeof text; i++) {
    size += (size_t)snprintf(text + size, sizeof text - size, "%c\"%s\":%" PRIu64,
                             i == 0 ? '{' : ',', numbers[i].name, numbers[i].value);
  }
  if (count == 0 || size + 1 >= sizeof text) {
    return FAIL(err, GLV_E_INTERNAL, "an answer of %zu numbers is too long", count);
  }
  text[size++] = '}';
  struct MHD_Response *response =
      MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_COPY);
  if (response == NULL) {
    return error_nomem(err, size);
  }
  answer_set(exchange_of(r), 200, "application/json", response, size);
  return GLV_OK;
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
    x->answer_headers = NULL;
    answer_set(x, http_status, NULL,
               MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT), 0);
  }
}
