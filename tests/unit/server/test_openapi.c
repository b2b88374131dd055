/* The description of the interface: every route is in openapi.json, and nothing else. */
#include <stdio.h>

#include "server/openapi.h"
#include "server/router.h"
#include "support/cmocka.h"
#include "support/test_env.h"

typedef struct fixture {
  test_env t;
  json *source;
  json *document;
} fixture;

static void open_fixture(fixture *f) {
  glv_error err;
  test_env_open_mem(&f->t);
  assert_int_equal(js_parse(openapi_source(), &f->source, NULL), GLV_OK);
  if (openapi_document(f->t.env, &f->document, &err) != GLV_OK) {
    fail_msg("%s; describe it there", err.message);
  }
}

static void close_fixture(fixture *f) {
  js_free(f->source);
  js_free(f->document);
  test_env_close(&f->t);
}

static const json *member(const json *object, const char *key) {
  const json *found = object != NULL ? js_member(object, key) : NULL;
  if (found == NULL) {
    fail_msg("'%s' is missing", key);
  }
  return found;
}

/* @return whether rows may come in the body. */
static bool check_operation(const fixture *f, const route *one, const char *method,
                            const char *word) {
  char key[200];
  snprintf(key, sizeof key, "%s %s", word, one->pattern);
  const json *entry = member(member(f->source, "routes"), key);
  const json *operation = member(member(member(f->document, "paths"), one->pattern), method);
  assert_true(str_equal(js_string(member(operation, "summary")), str_of(one->summary)));
  assert_true(js_count(member(operation, "responses")) >= 4);
  const json *body = js_member(entry, "body");
  return js_member(entry, "or_rows") != NULL || (body != NULL && js_kind_of(body) == JS_STRING);
}

static void every_route_is_described_and_nothing_else(void **state) {
  (void)state;
  fixture f;
  size_t tables = 0;
  size_t operations = 0;
  open_fixture(&f);
  for (; router_table(tables) != NULL; tables++) {
    for (const route *one = router_table(tables); one->pattern != NULL; one++) {
      bool rows = false;
      if ((one->flags & ROUTE_GET) != 0) {
        rows = check_operation(&f, one, "get", "GET") || rows;
        operations++;
      }
      if ((one->flags & ROUTE_POST) != 0) {
        rows = check_operation(&f, one, "post", "POST") || rows;
        operations++;
      }
      assert_int_equal(rows, (one->flags & ROUTE_ARROW) != 0);
    }
  }
  assert_int_equal(js_count(member(f.source, "routes")), operations);
  assert_int_equal(js_count(member(f.source, "tags")), tables);
  close_fixture(&f);
}

/* Every "$ref" of the document names something. */
static void check_references(const json *document, const json *node) {
  const str start = STR("#/components/");
  str key;
  void *position = NULL;
  if (js_kind_of(node) == JS_ARRAY) {
    for (size_t i = 0; i < js_count(node); i++) {
      check_references(document, js_item(node, i));
    }
  }
  if (js_kind_of(node) != JS_OBJECT) {
    return;
  }
  for (const json *value; (value = js_next_member(node, &position, &key)) != NULL;) {
    if (!str_is(key, "$ref")) {
      check_references(document, value);
      continue;
    }
    char path[200];
    assert_true(str_starts_with(js_string(value), start));
    snprintf(path, sizeof path, "%s", js_string(value).data + start.size);
    char *slash = strchr(path, '/');
    assert_non_null(slash);
    *slash = '\0';
    (void)member(member(member(document, "components"), path), slash + 1);
  }
}

static void references_lead_somewhere(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  check_references(f.document, f.document);
  close_fixture(&f);
}

static void names_and_access_come_from_the_route(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  const json *paths = member(f.document, "paths");
  const json *stats = member(member(paths, "/v1/table/{id}/index/{name}/stats"), "post");
  assert_true(str_is(js_string(member(stats, "operationId")), "table_index_stats"));
  assert_true(str_is(js_string(member(stats, "x-scope")), "read"));
  assert_int_equal(js_count(member(stats, "parameters")), 4); /* id, name, branch, delimiter */
  assert_null(js_member(stats, "security"));
  const json *count = member(paths, "/v1/table/{id}/count_rows");
  assert_true(
      str_is(js_string(member(member(count, "get"), "operationId")), "table_count_rows_get"));
  assert_true(str_is(js_string(member(member(count, "post"), "operationId")), "table_count_rows"));
  const json *health = member(member(paths, "/health"), "get");
  assert_int_equal(js_count(member(health, "security")), 0);
  assert_null(js_member(member(health, "responses"), "401"));
  close_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_route_is_described_and_nothing_else),
      cmocka_unit_test(references_lead_somewhere),
      cmocka_unit_test(names_and_access_come_from_the_route),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
