/*
 * The console: a page for browsers, and the files it needs, out of the program itself. They hold no
 * data, so they need no key; what the page shows it asks for as any client does, with the key that
 * it was told.
 *
 * The policy lets the page load its own files and talk to its own server, and nothing else: text
 * that comes from tables could do no harm even if it became part of the page.
 */
#include "server/routes.h"
#include "server/server_private.h"

#define SCRIPT "text/javascript; charset=utf-8"

/* The files of src/server/console: X(name, symbol, type). */
#define FILES(X)                                                                                   \
  X("index.html", console_index_html, "text/html; charset=utf-8")                                  \
  X("console.css", console_console_css, "text/css; charset=utf-8")                                 \
  X("catalog.js", console_catalog_js, SCRIPT)                                                      \
  X("chart.js", console_chart_js, SCRIPT)                                                          \
  X("console.js", console_console_js, SCRIPT)                                                      \
  X("elements.js", console_elements_js, SCRIPT)                                                    \
  X("jobs.js", console_jobs_js, SCRIPT)                                                            \
  X("lineage.js", console_lineage_js, SCRIPT)                                                      \
  X("query.js", console_query_js, SCRIPT)                                                          \
  X("requests.js", console_requests_js, SCRIPT)                                                    \
  X("state.js", console_state_js, SCRIPT)                                                          \
  X("views.js", console_views_js, SCRIPT)                                                          \
  X("console.svg", console_console_svg, "image/svg+xml")

#define DECLARE(name, symbol, type)                                                                \
  extern const unsigned char symbol[];                                                             \
  extern const size_t symbol##_size;                                                               \
  extern const char symbol##_digest[];
FILES(DECLARE)
#undef DECLARE

typedef struct console_file {
  const char *name;
  const char *type;
  const unsigned char *bytes;
  const size_t *size;
  const char *digest;
} console_file;

#define ENTRY(name, symbol, type) {name, type, symbol, &symbol##_size, symbol##_digest},
static const console_file files[] = {FILES(ENTRY)};
#undef ENTRY

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const console_file *find_file(const char *name) {
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    if (strcmp(files[i].name, name) == 0) {
      return &files[i];
    }
  }
  return NULL;
}

/* Whether If-None-Match has the digest, which is in no other tag. */
static bool client_has(const request *r, const console_file *f) {
  const char *known = request_header(r, "if-none-match");
  return known != NULL && strstr(known, f->digest) != NULL;
}

/* The tag is weak: the same file may go out compressed. It is kept by the browser, and asked for
 * again by its tag. */
static glv_status answer_headers(request *r, const console_file *f, glv_error *err) {
  const char *tag = arena_printf(r->memory, "W/\"%s\"", f->digest);
  if (tag == NULL) {
    return error_nomem(err, 0);
  }
  TRY(answer_header(r, "content-security-policy", policy, err));
  TRY(answer_header(r, "x-content-type-options", "nosniff", err));
  TRY(answer_header(r, "referrer-policy", "no-referrer", err));
  TRY(answer_header(r, "cross-origin-resource-policy", "same-origin", err));
  TRY(answer_header(r, "cache-control", "no-cache", err));
  TRY(answer_header(r, "vary", "accept-encoding", err));
  return answer_header(r, "etag", tag, err);
}

static glv_status answer_file(request *r, const char *name, glv_error *err) {
  const console_file *f = find_file(name);
  if (f == NULL) {
    const glv_status status = FAIL(err, GLV_E_UNSUPPORTED, "the console has no file '%s'", name);
    err->http_status = 404;
    return status;
  }
  TRY(answer_headers(r, f, err));
  const bool is_known = client_has(r, f);
  const str body = str_slice((const char *)f->bytes, is_known ? 0 : *f->size);
  return answer_bytes(r, is_known ? 304 : 200, f->type, body, err);
}

static glv_status page(request *r, glv_error *err) { return answer_file(r, "index.html", err); }
static glv_status file(request *r, glv_error *err) { return answer_file(r, r->name, err); }

const route console_routes[] = {
    {"/", ROUTE_GET | ROUTE_OPEN, ACCESS_NONE, page, "The console, a page for browsers."},
    {"/console/{name}", ROUTE_GET | ROUTE_OPEN, ACCESS_NONE, file, "A file of the console."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
