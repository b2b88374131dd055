/*
 * What all requests of a connection share. A line is a pair of handles of libcurl, with the
 * connections to the server that it keeps open: a request takes a line for itself, so that no two
 * threads ever meet in libcurl.
 */
#include "remote/client_private.h"

/* ---- options ---- */

/* What may stand in a header, so that a value cannot end it and begin another one. */
static bool is_header_text(const char *text, bool is_name) {
  for (const char *c = text; *c != '\0'; c++) {
    const unsigned char u = (unsigned char)*c;
    if (u < 0x20 || u == 0x7F || (is_name && (u <= ' ' || u >= 0x7F || u == ':'))) {
      return false;
    }
  }
  return !is_name || text[0] != '\0';
}

static glv_status copy_text(arena *memory, const char *text, const char **ret, glv_error *err) {
  if (text == NULL) {
    *ret = NULL;
    return GLV_OK;
  }
  *ret = arena_strdup(memory, str_of(text));
  return *ret != NULL ? GLV_OK : error_nomem(err, strlen(text));
}

static glv_status copy_headers(client *c, const client_options *options, glv_error *err) {
  http_header *headers = ARENA_ARRAY(&c->memory, http_header, options->header_count);
  if (headers == NULL) {
    return error_nomem(err, options->header_count * sizeof *headers);
  }
  for (size_t i = 0; i < options->header_count; i++) {
    const http_header *h = &options->headers[i];
    if (!is_header_text(h->name, true)) {
      return FAIL(err, GLV_E_INVALID_INPUT, "'%s' cannot be the name of a header", h->name);
    }
    if (!is_header_text(h->value, false)) { /* the value may be a secret: it is not shown */
      return FAIL(err, GLV_E_INVALID_INPUT, "the header '%s' has a control character", h->name);
    }
    TRY(copy_text(&c->memory, h->name, &headers[i].name, err));
    TRY(copy_text(&c->memory, h->value, &headers[i].value, err));
  }
  c->options.headers = headers;
  return GLV_OK;
}

glv_status client_init(client *c, glv_env *env, const client_options *options, glv_error *err) {
  *c = (client){.env = env, .options = *options};
  arena_init_small(&c->memory, env);
  mutex_init(&c->lock);
  TRY(curl_api_get(&c->curl, err));
  TRY(copy_text(&c->memory, options->base_url, &c->options.base_url, err));
  TRY(copy_text(&c->memory, options->ca_file, &c->options.ca_file, err));
  TRY(copy_text(&c->memory, options->user_agent, &c->options.user_agent, err));
  if (!is_header_text(options->user_agent, false)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "user_agent has a control character");
  }
  return copy_headers(c, options, err);
}

/* ---- lines ---- */

static void line_free(client *c, line *l) {
  if (l->easy != NULL) {
    c->curl->easy_cleanup(l->easy);
  }
  if (l->multi != NULL) {
    c->curl->multi_cleanup(l->multi);
  }
  mem_free(c->env, l);
}

void client_dispose(client *c) {
  if (c->env == NULL) {
    return;
  }
  while (c->idle != NULL) {
    line *l = c->idle;
    c->idle = l->next;
    line_free(c, l);
  }
  mutex_dispose(&c->lock);
  arena_dispose(&c->memory);
  *c = (client){0};
}

glv_status client_take_line(client *c, line **ret, glv_error *err) {
  mutex_lock(&c->lock);
  line *l = c->idle;
  c->idle = l != NULL ? l->next : NULL;
  mutex_unlock(&c->lock);
  if (l == NULL) {
    l = mem_zalloc(c->env, sizeof *l);
    if (l == NULL) {
      return error_nomem(err, sizeof *l);
    }
    l->easy = c->curl->easy_init();
    l->multi = c->curl->multi_init();
    if (l->easy == NULL || l->multi == NULL) {
      line_free(c, l);
      return error_nomem(err, sizeof *l);
    }
  }
  *ret = l;
  return GLV_OK;
}

void client_give_line(client *c, line *l) {
  c->curl->easy_reset(l->easy); /* the connection stays with multi */
  mutex_lock(&c->lock);
  l->next = c->idle;
  c->idle = l;
  mutex_unlock(&c->lock);
}
