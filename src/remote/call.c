/*
 * The loop of attempts. A request is sent at most `attempts` times; failures to connect, answers
 * that ask to come again and silence are counted apart, and the pause grows with the answers
 * (rest-protocol.md 5).
 */
#include "remote/call.h"

#include "base/encoding.h"
#include "base/limits.h"
#include "wire/members.h"
#include "wire/status.h"

enum {
  PAUSE_MS = 250,      /* doubled with every answer that asks to come again */
  PAUSE_SLICE_MS = 20, /* how soon a cancel token is seen */
  MAX_DOUBLINGS = 10
};

#define JSON_TYPE "application/json"
#define ARROW_STREAM_TYPE "application/vnd.apache.arrow.stream"

glv_status call_begin(call *c, client *http, const route *r, wire_target target,
                      cancel_token *cancel, glv_error *err) {
  *c = (call){.http = http, .route = r, .cancel = cancel};
  buf_init(&c->target, http->env, SIZE_MAX / 2);
  return wire_path(r->pattern, &target, &c->target, err);
}

void call_dispose(call *c) {
  buf_dispose(&c->target);
  js_free(c->body);
  remote_upload_free(c->upload);
  *c = (call){0};
}

/* ---- attempts ---- */

typedef struct attempts {
  uint32_t refused; /* answers that ask to come again */
  uint32_t unconnected;
  uint32_t silent;
} attempts;

static bool asks_to_come_again(unsigned status) {
  return status == 409 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

/* Whether one more attempt is left; counts the failed one. */
static bool may_go_on(const call *c, attempts *made, uint32_t *counter) {
  const uint32_t most = c->http->options.attempts;
  *counter += 1;
  return (c->route->flags & ROUTE_REPEATS) != 0 && made->refused < most &&
         made->unconnected < most && made->silent < most &&
         (c->upload == NULL || remote_upload_rewind(c->upload));
}

static glv_status pause_before_next(const call *c, const attempts *made, glv_error *err) {
  glv_env *env = c->http->env;
  const glv_io *io = env_io(env);
  uint8_t jitter = 0;
  TRY(env_random(env, &jitter, sizeof jitter, err));
  const uint32_t doublings = made->refused < MAX_DOUBLINGS ? made->refused : MAX_DOUBLINGS;
  const int64_t total_ms = ((int64_t)PAUSE_MS << doublings) + jitter * PAUSE_MS / 256;
  for (int64_t passed = 0; passed < total_ms; passed += PAUSE_SLICE_MS) {
    TRY(cancel_check(c->cancel, err));
    io->sleep_ns(io->user, PAUSE_SLICE_MS * INT64_C(1000000));
  }
  return cancel_check(c->cancel, err);
}

static glv_status make_request_id(const call *c, char id[UUID_TEXT_SIZE + 1], glv_error *err) {
  id[UUID_TEXT_SIZE] = '\0';
  return uuid_random(c->http->env, id, err);
}

/* Nobody knows whether a change whose answer did not come was made. */
static glv_status without_answer(const call *c, http_failure failure, glv_status status,
                                 glv_error *err) {
  const bool was_sent = failure == HTTP_TOO_SLOW || failure == HTTP_LOST;
  if (!was_sent || (c->route->flags & ROUTE_CHANGES) == 0) {
    return status;
  }
  if (err != NULL) {
    err->code = GLV_E_UNKNOWN_OUTCOME;
  }
  return error_prefix(err, GLV_E_UNKNOWN_OUTCOME, "whether the change was made is not known: ");
}

/* The error of an answer that is not a success. */
static glv_status read_error(const call *c, exchange *e, glv_error *err) {
  const unsigned http_status = remote_exchange_head(e)->status;
  CLEANUP(buf_dispose) buf body;
  buf_init(&body, c->http->env, LIMIT_JSON_BYTES);
  glv_error ignored;
  (void)remote_exchange_read_all(e, LIMIT_JSON_BYTES, &body, &ignored); /* what came of it */
  const str text = buf_str(&body);
  const bool is_missing = http_status == 404 || http_status == 405 || http_status == 501;
  if (c->route->offer != NULL && is_missing && !wire_error_is_named(text)) {
    const glv_status status =
        FAIL(err, GLV_E_UNSUPPORTED, "the server does not offer %s", c->route->offer);
    if (err != NULL) {
      err->http_status = (int32_t)http_status;
    }
    return status;
  }
  return wire_error_read(http_status, text, c->route->missing, err);
}

static glv_status open_once(const call *c, const char *request_id, const buf *body, exchange **ret,
                            http_failure *ret_failure, glv_error *err) {
  const bool has_body = c->upload != NULL || c->body != NULL;
  const http_request request = {.is_post = (c->route->flags & ROUTE_GET) == 0,
                                .changes = (c->route->flags & ROUTE_CHANGES) != 0,
                                .target = c->target.data,
                                .request_id = request_id,
                                .content_type = !has_body           ? NULL
                                                : c->upload != NULL ? ARROW_STREAM_TYPE
                                                                    : JSON_TYPE,
                                .body = buf_str(body),
                                .upload = c->upload,
                                .headers = c->headers,
                                .header_count = c->header_count,
                                .cancel = c->cancel};
  return remote_exchange_open(c->http, &request, ret, ret_failure, err);
}

/* One attempt. *ret_again: it failed in a way that allows another one. */
static glv_status attempt(call *c, const char *request_id, const buf *body, attempts *made,
                          exchange **ret, bool *ret_again, glv_error *err) {
  CLEANUP(remote_exchange_cleanup) exchange *e = NULL;
  http_failure failure;
  *ret_again = false;
  const glv_status status = open_once(c, request_id, body, &e, &failure, err);
  if (status != GLV_OK) {
    if (failure == HTTP_NOT_CONNECTED) {
      *ret_again = may_go_on(c, made, &made->unconnected);
    } else if (failure == HTTP_TOO_SLOW) {
      *ret_again = may_go_on(c, made, &made->silent);
    }
    return without_answer(c, failure, status, err);
  }
  const unsigned http_status = remote_exchange_head(e)->status;
  if (http_status >= 200 && http_status < 300) {
    *ret = e;
    e = NULL;
    return GLV_OK;
  }
  const glv_status refused = read_error(c, e, err);
  remote_exchange_close(e); /* before the upload is rewound */
  e = NULL;
  *ret_again = asks_to_come_again(http_status) && may_go_on(c, made, &made->refused);
  return refused;
}

glv_status call_send(call *c, exchange **ret, glv_error *err) {
  CLEANUP(buf_dispose) buf body;
  char request_id[UUID_TEXT_SIZE + 1];
  attempts made = {0};
  buf_init(&body, c->http->env, SIZE_MAX / 2);
  if (c->body != NULL) {
    TRY(js_print(c->body, 0, 0, &body, err));
  }
  TRY(make_request_id(c, request_id, err));
  for (;;) {
    bool again;
    const glv_status status = attempt(c, request_id, &body, &made, ret, &again, err);
    if (!again) {
      return status;
    }
    TRY(pause_before_next(c, &made, err));
    if ((c->route->flags & ROUTE_NEW_ID) != 0) {
      TRY(make_request_id(c, request_id, err));
    }
  }
}

/* ---- answers ---- */

void answer_dispose(answer *a) {
  js_free(a->root);
  *a = (answer){0};
}

glv_status call_wrong(const call *c, unsigned http_status, glv_error *err, const char *format,
                      ...) {
  va_list arguments;
  va_start(arguments, format);
  error_set_va(err, GLV_E_CORRUPT, format, arguments);
  va_end(arguments);
  error_prefix(err, GLV_E_CORRUPT, "wrong answer of the server to %s: ", c->route->pattern);
  if (err != NULL) {
    err->http_status = (int32_t)http_status;
  }
  return error_result(GLV_E_CORRUPT, GLV_OK);
}

glv_status call_read(const call *c, const answer *a, glv_status status, glv_error *err) {
  if (status != GLV_E_INVALID_INPUT) {
    return status;
  }
  const glv_error found = err != NULL ? *err : (glv_error){.message = "it cannot be read"};
  return call_wrong(c, a->status, err, "%s", found.message);
}

glv_status call_text(call *c, answer *ret, buf *ret_text, glv_error *err) {
  CLEANUP(remote_exchange_cleanup) exchange *e = NULL;
  TRY(call_send(c, &e, err));
  glv_status status = remote_exchange_read_all(e, LIMIT_JSON_BYTES, ret_text, err);
  if (status == GLV_E_NETWORK || status == GLV_E_TIMEOUT) {
    return without_answer(c, HTTP_LOST, status, err);
  }
  TRY(status);
  const http_head *head = remote_exchange_head(e);
  *ret = (answer){head->status, head->table_version, NULL};
  if (ret_text->size == 0) {
    return GLV_OK;
  }
  glv_error wrong;
  status = js_parse(buf_str(ret_text), &ret->root, &wrong);
  return status == GLV_OK ? GLV_OK : call_wrong(c, ret->status, err, "not JSON: %s", wrong.message);
}

glv_status call_json(call *c, answer *ret, glv_error *err) {
  CLEANUP(buf_dispose) buf body;
  buf_init(&body, c->http->env, LIMIT_JSON_BYTES);
  return call_text(c, ret, &body, err);
}

glv_status call_object(call *c, answer *ret, glv_error *err) {
  TRY(call_json(c, ret, err));
  if (ret->root == NULL) {
    ret->root = js_new_object();
    return ret->root != NULL ? GLV_OK : error_nomem(err, sizeof *ret);
  }
  return call_read(c, ret, wire_expect(ret->root, JS_OBJECT, "the body", err), err);
}
