/*
 * One request and its answer. libcurl calls back while remote_exchange_open and
 * remote_exchange_read run, and only then: bytes of the answer wait in `in` until they are asked
 * for, and when many wait, the transfer pauses, so that a large result is never held whole.
 *
 * Bodies are given by a callback that cannot go back: libcurl then never repeats a request by
 * itself on a connection that turned out to be dead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/checked.h"
#include "remote/client_private.h"

enum {
  MAX_WAITING = 256 << 10, /* bytes of the answer that wait to be read */
  BUFFER_BYTES = 256 << 10,
  POLL_MS = 1000,
  POLL_CANCEL_MS = 20 /* how soon a cancel token is seen */
};

struct exchange {
  client *c;
  line *l;
  struct curl_slist *headers;
  cancel_token *cancel; /* a reference */
  upload *upload;       /* borrowed while the request is sent */
  str body;             /* the rest of it */
  buf in;
  size_t position; /* of the next byte in `in` that was not read */
  http_head head;
  bool head_done;
  bool paused;
  bool running; /* added to multi */
  bool done;
  CURLcode result; /* when done */
  int64_t started_ns;
  int64_t active_ns; /* of the last byte */
  glv_status status; /* of a failure inside of a callback */
  glv_error error;
};

static void set_status(exchange *e, glv_status status) {
  e->status = e->status == GLV_OK ? status : e->status;
}

static void touch(exchange *e) { e->active_ns = env_now_ns(e->c->env); }

/* ---- callbacks ---- */

static size_t on_send(char *data, size_t width, size_t count, void *context) {
  exchange *e = context;
  size_t size = width * count;
  touch(e);
  if (e->upload != NULL) {
    set_status(e, remote_upload_read(e->upload, data, size, &size, &e->error));
    return e->status == GLV_OK ? size : CURL_READFUNC_ABORT;
  }
  size = size_min(size, e->body.size);
  if (size > 0) {
    memcpy(data, e->body.data, size);
  }
  e->body = str_slice(e->body.data + size, e->body.size - size);
  return size;
}

static size_t on_body(char *data, size_t width, size_t count, void *context) {
  exchange *e = context;
  const size_t size = width * count;
  touch(e);
  if (e->in.size - e->position > MAX_WAITING) {
    e->paused = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  set_status(e, buf_append(&e->in, data, size, &e->error));
  return e->status == GLV_OK ? size : 0;
}

static bool is_header(str text, const char *name, str *ret_value) {
  const size_t size = strlen(name);
  if (text.size <= size || text.data[size] != ':' || strncasecmp(text.data, name, size) != 0) {
    return false;
  }
  str value = str_slice(text.data + size + 1, text.size - size - 1);
  while (value.size > 0 && (value.data[0] == ' ' || value.data[0] == '\t')) {
    value = str_slice(value.data + 1, value.size - 1);
  }
  *ret_value = value;
  return true;
}

static void read_header(http_head *head, str text) {
  str value;
  uint64_t version;
  if (is_header(text, "content-type", &value)) {
    snprintf(head->content_type, sizeof head->content_type, "%.*s", STR_ARG(value));
  } else if (is_header(text, "x-lancedb-version", &value) && str_to_u64(value, &version)) {
    head->table_version = version;
  }
}

/* Called once a line; an empty one ends the head, which may be that of an interim answer. */
static size_t on_header(char *data, size_t width, size_t count, void *context) {
  exchange *e = context;
  const size_t size = width * count;
  str text = str_slice(data, size);
  touch(e);
  while (text.size > 0 && (text.data[text.size - 1] == '\n' || text.data[text.size - 1] == '\r')) {
    text.size--;
  }
  if (e->head_done) { /* after the body */
    return size;
  }
  if (str_starts_with(text, STR("HTTP/"))) {
    const char *space = memchr(text.data, ' ', text.size);
    e->head = (http_head){0};
    e->head.status = space != NULL ? (unsigned)strtoul(space, NULL, 10) : 0;
  } else if (text.size == 0) {
    e->head_done = e->head.status >= 200;
  } else {
    read_header(&e->head, text);
  }
  return size;
}

/* ---- setting up ---- */

static glv_status add_header(exchange *e, glv_error *err, const char *name, const char *value) {
  const curl_api *curl = e->c->curl;
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, e->c->env, SIZE_MAX / 2);
  /* "name:" alone would remove a header that libcurl makes; "name;" sends an empty one */
  TRY(buf_printf(&text, err, value[0] != '\0' ? "%s: %s" : "%s;%s", name, value));
  struct curl_slist *longer = curl->slist_append(e->headers, text.data);
  if (longer == NULL) {
    return error_nomem(err, text.size);
  }
  e->headers = longer;
  return GLV_OK;
}

/* Keep libcurl from sending a header that it would make by itself. */
static glv_status omit_header(exchange *e, const char *name_and_colon, glv_error *err) {
  struct curl_slist *longer = e->c->curl->slist_append(e->headers, name_and_colon);
  e->headers = longer != NULL ? longer : e->headers;
  return longer != NULL ? GLV_OK : error_nomem(err, strlen(name_and_colon));
}

static glv_status make_headers(exchange *e, const http_request *request, glv_error *err) {
  const client_options *options = &e->c->options;
  for (size_t i = 0; i < options->header_count; i++) {
    TRY(add_header(e, err, options->headers[i].name, options->headers[i].value));
  }
  for (size_t i = 0; i < request->header_count; i++) {
    TRY(add_header(e, err, request->headers[i].name, request->headers[i].value));
  }
  TRY(add_header(e, err, "x-request-id", request->request_id));
  TRY(omit_header(e, "Expect:", err));
  if (request->upload != NULL) {
    TRY(add_header(e, err, "Transfer-Encoding", "chunked"));
  }
  return request->content_type != NULL ? add_header(e, err, "Content-Type", request->content_type)
                                       : omit_header(e, "Content-Type:", err);
}

#define SET(option, value)                                                                         \
  do {                                                                                             \
    code = code == CURLE_OK ? curl->easy_setopt(easy, (option), (value)) : code;                   \
  } while (0)

static CURLcode set_body(const curl_api *curl, CURL *easy, exchange *e,
                         const http_request *request) {
  CURLcode code = CURLE_OK;
  SET(CURLOPT_POST, 1L);
  SET(CURLOPT_READFUNCTION, on_send);
  SET(CURLOPT_READDATA, (void *)e);
  SET(CURLOPT_UPLOAD_BUFFERSIZE, (long)BUFFER_BYTES);
  SET(CURLOPT_POSTFIELDSIZE_LARGE,
      request->upload != NULL ? (curl_off_t)-1 : (curl_off_t)request->body.size);
  /* A POST without a body could be repeated by libcurl on a new connection, see above. */
  SET(CURLOPT_FRESH_CONNECT,
      request->changes && request->upload == NULL && request->body.size == 0 ? 1L : 0L);
  return code;
}

static CURLcode set_options(exchange *e, const http_request *request, const char *url) {
  const curl_api *curl = e->c->curl;
  const client_options *options = &e->c->options;
  CURL *easy = e->l->easy;
  CURLcode code = CURLE_OK;
  SET(CURLOPT_URL, url);
  SET(CURLOPT_NOSIGNAL, 1L);
  (void)curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https"); /* 7.85 and later */
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CURLOPT_TCP_KEEPALIVE, 1L);
  SET(CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
  SET(CURLOPT_ACCEPT_ENCODING, "gzip");
  SET(CURLOPT_USERAGENT, options->user_agent);
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_timeout_ms);
  SET(CURLOPT_HTTPHEADER, e->headers);
  SET(CURLOPT_HEADERFUNCTION, on_header);
  SET(CURLOPT_HEADERDATA, (void *)e);
  SET(CURLOPT_WRITEFUNCTION, on_body);
  SET(CURLOPT_WRITEDATA, (void *)e);
  if (options->ca_file != NULL) {
    SET(CURLOPT_CAINFO, options->ca_file);
  }
  if (code == CURLE_OK && request->is_post) {
    code = set_body(curl, easy, e, request);
  }
  return code;
}

/* ---- running ---- */

/* Whether the request went out, at least in part. */
static bool was_sent(const exchange *e) {
  long sent = 0;
  (void)e->c->curl->easy_getinfo(e->l->easy, CURLINFO_REQUEST_SIZE, &sent);
  return sent > 0;
}

static glv_status time_is_over(exchange *e, const char *what, uint32_t limit_ms, glv_error *err) {
  return FAIL(err, GLV_E_TIMEOUT, "%s: %s within %u ms", e->c->options.base_url, what, limit_ms);
}

static glv_status check_time(exchange *e, glv_error *err) {
  const client_options *options = &e->c->options;
  const int64_t now = env_now_ns(e->c->env);
  if (options->timeout_ms != 0 && now - e->started_ns > (int64_t)options->timeout_ms * 1000000) {
    return time_is_over(e, "the request was not done", options->timeout_ms, err);
  }
  if (was_sent(e) && now - e->active_ns > (int64_t)options->read_timeout_ms * 1000000) {
    return time_is_over(e, "the server sent nothing", options->read_timeout_ms, err);
  }
  return GLV_OK;
}

static void take_result(exchange *e) {
  int left;
  for (CURLMsg *m; (m = e->c->curl->multi_info_read(e->l->multi, &left)) != NULL;) {
    if (m->msg == CURLMSG_DONE) {
      e->done = true;
      e->result = m->data.result;
    }
  }
}

/* One step: let libcurl work, or wait for the network for a moment. */
static glv_status step(exchange *e, glv_error *err) {
  const curl_api *curl = e->c->curl;
  int running = 0;
  TRY(cancel_check(e->cancel, err));
  CURLMcode code = curl->multi_perform(e->l->multi, &running);
  take_result(e);
  if (code == CURLM_OK && !e->done && !e->paused) {
    const uint32_t limit = e->c->options.read_timeout_ms / 4 + 1;
    const int wait = e->cancel != NULL ? POLL_CANCEL_MS : POLL_MS;
    TRY(check_time(e, err));
    code = curl->multi_poll(e->l->multi, NULL, 0, (uint32_t)wait < limit ? wait : (int)limit, NULL);
  }
  return code == CURLM_OK ? GLV_OK
                          : FAIL(err, GLV_E_NETWORK, "libcurl: %s", curl->multi_strerror(code));
}

/* The report of a transfer that libcurl ended with an error. */
static glv_status transfer_failed(exchange *e, glv_error *err) {
  if (e->status != GLV_OK) {
    return error_pass(err, &e->error);
  }
  const char *base = e->c->options.base_url;
  const char *why = e->c->curl->easy_strerror(e->result);
  if (e->result == CURLE_OUT_OF_MEMORY) {
    return error_nomem(err, BUFFER_BYTES);
  }
  if (e->result == CURLE_OPERATION_TIMEDOUT) {
    return time_is_over(e, "no connection", e->c->options.connect_timeout_ms, err);
  }
  if (e->head_done) {
    return FAIL(err, GLV_E_NETWORK, "%s: the answer was cut off: %s", base, why);
  }
  return FAIL(err, GLV_E_NETWORK,
              was_sent(e) ? "%s: the connection was closed without an answer: %s"
                          : "%s: no connection: %s",
              base, why);
}

static http_failure classify(const exchange *e, glv_status status) {
  if (e->status != GLV_OK || (status != GLV_E_NETWORK && status != GLV_E_TIMEOUT)) {
    return HTTP_FAILED_HERE;
  }
  if (!was_sent(e)) {
    return HTTP_NOT_CONNECTED;
  }
  return status == GLV_E_TIMEOUT ? HTTP_TOO_SLOW : HTTP_LOST;
}

static glv_status wait_for_head(exchange *e, glv_error *err) {
  while (!e->head_done && !e->done) {
    TRY(step(e, err));
  }
  return e->head_done ? GLV_OK : transfer_failed(e, err);
}

static glv_status begin(exchange *e, const http_request *request, glv_error *err) {
  client *c = e->c;
  CLEANUP(buf_dispose) buf url;
  buf_init(&url, c->env, SIZE_MAX / 2);
  TRY(client_take_line(c, &e->l, err));
  TRY(make_headers(e, request, err));
  TRY(buf_printf(&url, err, "%s%s", c->options.base_url, request->target));
  const CURLcode code = set_options(e, request, url.data);
  if (code != CURLE_OK) {
    return FAIL(err, code == CURLE_OUT_OF_MEMORY ? GLV_E_NOMEM : GLV_E_INTERNAL, "libcurl: %s",
                c->curl->easy_strerror(code));
  }
  if (c->curl->multi_add_handle(e->l->multi, e->l->easy) != CURLM_OK) {
    return error_nomem(err, sizeof *e);
  }
  e->running = true;
  return wait_for_head(e, err);
}

glv_status remote_exchange_open(client *c, const http_request *request, exchange **ret,
                                http_failure *ret_failure, glv_error *err) {
  CLEANUP(remote_exchange_cleanup) exchange *e = mem_zalloc(c->env, sizeof *e);
  *ret_failure = HTTP_FAILED_HERE;
  if (e == NULL) {
    return error_nomem(err, sizeof *e);
  }
  e->c = c;
  e->cancel = cancel_ref(request->cancel);
  e->upload = request->upload;
  e->body = request->body;
  buf_init(&e->in, c->env, SIZE_MAX / 2);
  e->started_ns = env_now_ns(c->env);
  e->active_ns = e->started_ns;
  const glv_status status = begin(e, request, err);
  if (status != GLV_OK) {
    *ret_failure = e->l != NULL ? classify(e, status) : HTTP_FAILED_HERE;
    return status;
  }
  *ret = e;
  e = NULL;
  return GLV_OK;
}

const http_head *remote_exchange_head(const exchange *e) { return &e->head; }

/* More bytes of the answer into `in`, which has none. */
static glv_status fill(exchange *e, glv_error *err) {
  buf_clear(&e->in);
  e->position = 0;
  touch(e);
  while (e->in.size == 0 && !e->done) {
    if (e->paused) {
      e->paused = false;
      (void)e->c->curl->easy_pause(e->l->easy, CURLPAUSE_CONT);
    }
    TRY(step(e, err));
  }
  return e->in.size > 0 || e->result == CURLE_OK ? GLV_OK : transfer_failed(e, err);
}

glv_status remote_exchange_read(exchange *e, void *data, size_t size, size_t *ret_read,
                                glv_error *err) {
  if (e->position == e->in.size) {
    TRY(e->done && e->result != CURLE_OK ? transfer_failed(e, err) : fill(e, err));
  }
  const size_t count = size_min(size, e->in.size - e->position);
  if (count > 0) {
    memcpy(data, e->in.data + e->position, count);
  }
  e->position += count;
  *ret_read = count;
  return GLV_OK;
}

glv_status remote_exchange_read_all(exchange *e, size_t max, buf *ret, glv_error *err) {
  for (;;) {
    size_t count = 0;
    char part[16384];
    TRY(remote_exchange_read(e, part, sizeof part, &count, err));
    if (count == 0) {
      return GLV_OK;
    }
    if (count > max - ret->size) {
      return FAIL(err, GLV_E_LIMIT, "the answer of the server is longer than %zu bytes", max);
    }
    TRY(buf_append(ret, part, count, err));
  }
}

void remote_exchange_close(exchange *e) {
  if (e == NULL) {
    return;
  }
  client *c = e->c;
  if (e->running) { /* closes the connection unless the answer came to its end */
    (void)c->curl->multi_remove_handle(e->l->multi, e->l->easy);
  }
  if (e->l != NULL) {
    client_give_line(c, e->l);
  }
  c->curl->slist_free_all(e->headers);
  cancel_unref(e->cancel);
  buf_dispose(&e->in);
  mem_free(c->env, e);
}

void remote_exchange_cleanup(exchange **e) { remote_exchange_close(*e); }
