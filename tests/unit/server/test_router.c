/* Targets of requests: which route they mean, and what is refused. The routes are the server's own:
 * /health, and namespaces, which are there as long as the protocol is. */
#include <stdio.h>

#include "server/router.h"
#include "support/cmocka.h"
#include "support/test_env.h"

typedef struct fixture {
  test_env t;
  router *router;
  arena memory;
  target target;
  glv_error err;
} fixture;

static void open_fixture(fixture *f) {
  test_env_open_mem(&f->t);
  arena_init_small(&f->memory, f->t.env);
  assert_int_equal(router_new(f->t.env, &f->router, NULL), GLV_OK);
}

static void close_fixture(fixture *f) {
  router_free(f->router);
  arena_dispose(&f->memory);
  test_env_close(&f->t);
}

static glv_status find(fixture *f, const char *text) {
  return router_find(f->router, ROUTE_GET, text, &f->memory, &f->target, &f->err);
}

static void words_are_compared_as_they_come(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  assert_int_equal(find(&f, "/health"), GLV_OK);
  assert_non_null(f.target.route);
  assert_string_equal(f.target.route->pattern, "/health");
  assert_string_equal(f.target.path, "/health");
  assert_false(f.target.has_slash);
  assert_ptr_equal(router_route(f.router, f.target.number), f.target.route);
  assert_int_equal(find(&f, "/health/"), GLV_OK);
  assert_non_null(f.target.route);
  assert_true(f.target.has_slash);
  assert_int_equal(find(&f, "/health?x=1"), GLV_OK);
  assert_non_null(f.target.route);
  assert_string_equal(f.target.path, "/health");
  static const char *const others[] = {"/healt",
                                       "/health//",
                                       "//health",
                                       "/Health",
                                       "/%68ealth",
                                       "health",
                                       "",
                                       "*",
                                       "/health/x",
                                       "//",
                                       "http://x/health",
                                       "/./health",
                                       "/x/../health",
                                       "/a/b/c/d/e/f/g/h/i/j/k/l/m"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    assert_int_equal(find(&f, others[i]), GLV_OK);
    assert_null(f.target.route);
    assert_int_equal(f.target.methods, 0);
    assert_int_equal(f.target.number, SIZE_MAX);
  }
  assert_int_equal(router_find(f.router, ROUTE_POST, "/health", &f.memory, &f.target, &f.err),
                   GLV_OK);
  assert_null(f.target.route);
  assert_int_equal(f.target.methods, ROUTE_GET);
  close_fixture(&f);
}

static void parameters_are_decoded(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  assert_int_equal(find(&f, "/health?a=1&b=x%20y+z&&c&=d&a=%C3%A9"), GLV_OK);
  assert_int_equal(f.target.param_count, 5);
  assert_string_equal(f.target.params[0].name, "a");
  assert_string_equal(f.target.params[1].value, "x y z");
  assert_string_equal(f.target.params[2].name, "c");
  assert_string_equal(f.target.params[2].value, "");
  assert_string_equal(f.target.params[3].value, "d");
  assert_string_equal(f.target.params[4].value, "\xC3\xA9");
  static const char *const bad[] = {"/health?a=%",   "/health?a=%4",  "/health?a=%zz",
                                    "/health?a=%00", "/health?%ff=1", "/health?a=%C3"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(find(&f, bad[i]), GLV_E_INVALID_INPUT);
  }
  char many[600] = "/health?";
  for (int i = 0; i < 65; i++) {
    strcat(many, "p=1&");
  }
  assert_int_equal(find(&f, many), GLV_E_INVALID_INPUT);
  close_fixture(&f);
}

/* A pattern is one when it begins with a slash and has no more parts than a path may. */
static void every_route_can_be_reached(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  for (size_t i = 0; i < router_count(f.router); i++) {
    const route *r = router_route(f.router, i);
    assert_int_equal(r->pattern[0], '/');
    assert_non_null(r->handle);
    assert_true(strlen(r->summary) > 3);
    assert_true((r->flags & (ROUTE_GET | ROUTE_POST)) != 0);
    char path[256] = "";
    for (const char *c = r->pattern; *c != '\0';) {
      const bool is_id = strncmp(c, "{id}", 4) == 0;
      const bool is_name = strncmp(c, "{name}", 6) == 0;
      strncat(path, is_id ? "a$b" : is_name ? "n" : c, is_id || is_name ? 4 : 1);
      c += is_id ? 4 : is_name ? 6 : 1;
    }
    const unsigned method = (r->flags & ROUTE_GET) != 0 ? ROUTE_GET : ROUTE_POST;
    assert_int_equal(router_find(f.router, method, path, &f.memory, &f.target, &f.err), GLV_OK);
    assert_ptr_equal(f.target.route, r);
    assert_int_equal(f.target.id.count, strstr(r->pattern, "{id}") != NULL ? 2 : 0);
    assert_true((f.target.name != NULL) == (strstr(r->pattern, "{name}") != NULL));
  }
  close_fixture(&f);
}

/* A table or view has a name: handlers rely on it. */
static void only_namespaces_may_be_the_root(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  for (size_t n = 0; n < router_count(f.router); n++) {
    const route *r = router_route(f.router, n);
    const char *id = strstr(r->pattern, "{id}");
    if (id == NULL || strstr(r->pattern, "{name}") != NULL) {
      continue;
    }
    char text[200];
    snprintf(text, sizeof text, "%.*s%s%s", (int)(id - r->pattern), r->pattern, "%24",
             id + strlen("{id}"));
    const bool is_namespace = strncmp(r->pattern, "/v1/namespace/", strlen("/v1/namespace/")) == 0;
    assert_int_equal(router_find(f.router, r->flags & (ROUTE_GET | ROUTE_POST), text, &f.memory,
                                 &f.target, &f.err),
                     is_namespace ? GLV_OK : GLV_E_INVALID_INPUT);
  }
  close_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_compared_as_they_come),
      cmocka_unit_test(parameters_are_decoded),
      cmocka_unit_test(every_route_can_be_reached),
      cmocka_unit_test(only_namespaces_may_be_the_root),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
