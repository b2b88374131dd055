/* Names, texts of paths, pages, properties: what needs no table. */
#include "catalog_fixture.h"

static void name_rule(void **state) {
  (void)state;
  const char *good[] = {"a", "a.b-c_D", "...", ".a", "0", "__manifest", "-"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    OK(catalog_check_name("table", str_of(good[i]), &err));
  }
  const char *bad[] = {"",    "a$b",    "a b", ".",    "..",  "\xC3\xA9",
                       "a/b", "%2e%2e", "a\n", "a\"b", "\x01"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    FAILS(GLV_E_INVALID_INPUT, catalog_check_name("table", str_of(bad[i]), &err));
    FAILS(GLV_E_INVALID_INPUT,
          catalog_namespace_create(db, ID(bad[i]), NO_PROPERTIES, CATALOG_CREATE, &err));
    FAILS(GLV_E_INVALID_INPUT, create_table_in(db, ID(bad[i]), &err));
    FAILS(GLV_E_INVALID_INPUT, create_table_in(db, ID("ns", bad[i]), &err));
    FAILS(GLV_E_INVALID_INPUT, create_table_in(db, ID(bad[i], "x"), &err));
  }
  FAILS(GLV_E_INVALID_INPUT, catalog_check_name("table", STR("a b"), &err));
  assert_string_equal(err.message,
                      "Invalid table name (\"a b\"): it may contain only alphanumeric characters, "
                      "underscores, hyphens and periods");
  assert_string_equal(tables(ROOT), "");
  assert_false(exists("__manifest"));
}

static void long_names(void **state) {
  (void)state;
  char name[300];
  memset(name, 'n', sizeof name);
  name[249] = '\0';
  create_table(ID(name));
  name[249] = 'n';
  name[250] = '\0';
  FAILS(GLV_E_INVALID_INPUT, create_table_in(db, ID(name), &err));
  OK(catalog_namespace_create(db, ID("s"), NO_PROPERTIES, CATALOG_CREATE, &err));
  name[244] = '\0'; /* 8 + 1 + 1 + 1 + 244 = 255 */
  create_table(ID("s", name));
  name[244] = 'n';
  name[245] = '\0';
  FAILS(GLV_E_INVALID_INPUT, create_table_in(db, ID("s", name), &err));
}

static void texts(void **state) {
  (void)state;
  assert_string_equal(catalog_id_text(&mem, ID("ops", "nyc", "flights")), "ops.nyc.flights");
  assert_string_equal(catalog_id_text(&mem, ID("ops", "a.b", "")), "ops.\"a.b\".\"\"");
  assert_string_equal(catalog_id_text(&mem, ID("say \"x\"")), "\"say \"\"x\"\"\"");
  assert_string_equal(catalog_id_text(&mem, ROOT), "");
  assert_string_equal(id_object(&mem, ID("a", "b", "t")), "a$b$t");
  assert_string_equal(id_object(&mem, ROOT), "");
  str name;
  assert_true(id_is_below(STR("a$b"), STR("a"), &name) && str_is(name, "b"));
  assert_true(id_is_below(STR("a"), STR(""), &name) && str_is(name, "a"));
  assert_false(id_is_below(STR("ab"), STR("a"), &name));
  assert_false(id_is_below(STR("a"), STR("a"), &name));
  assert_false(id_is_below(STR("a$"), STR("a"), &name));
}

static void locations(void **state) {
  (void)state;
  const char *good[] = {"82259e15_ns$child", "people.lance", "sub/dir/other", "x__manifest"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(location_is_safe(str_of(good[i])));
    assert_false(location_is_escaped(str_of(good[i])));
  }
  const char *bad[] = {
      "",        "/abs",         "../x",   "a/../../x", "__manifest", "__manifest/data",
      ".glaive", ".glaive/jobs", "s3://x", "a//b"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(location_is_safe(str_of(bad[i])));
  }
  assert_true(location_is_escaped(STR("a b")));
  assert_true(location_is_escaped(STR("a%20")));
  assert_true(location_is_escaped(STR("\xC3\xA9")));
}

static const char *page_of(const char *const *names, size_t count, bool is_root,
                           const catalog_page *page) {
  CLEANUP(name_set_dispose) name_set s = {.env = t.env};
  for (size_t i = 0; i < count; i++) {
    OK(name_set_add(&s, (catalog_entry){.name = names[i]}, &err));
  }
  catalog_list list;
  OK(name_set_page(&s, page, is_root, &mem, &list, &err));
  const char *text = joined(&list);
  return list.token != NULL ? arena_printf(&mem, "%s%s", text, list.token) : text;
}

static void pages(void **state) {
  (void)state;
  const char *names[] = {"b", "C", "a", "A", "d", "a"};
#define PAGE(...) page_of(names, 6, true, &(catalog_page){__VA_ARGS__})
  assert_string_equal(page_of(names, 6, true, NULL), "A C a b d");
  assert_string_equal(PAGE(false, 1, NULL), "A C a b d");
  assert_string_equal(PAGE(true, 2, NULL), "A C +C");
  assert_string_equal(PAGE(true, 2, "C"), "a b +b");
  assert_string_equal(PAGE(true, 2, "C.lance/"), "a b +b");
  assert_string_equal(PAGE(true, 2, "C.lance"), "a b +b");
  assert_string_equal(PAGE(true, 2, "b"), "d");
  assert_string_equal(PAGE(true, 2, "B"), "C a +a"); /* need not exist */
  assert_string_equal(PAGE(true, 2, "z"), "");
  assert_string_equal(PAGE(true, 0, NULL), "");
  assert_string_equal(PAGE(true, 5, NULL), "A C a b d");
  assert_string_equal(PAGE(true, UINT64_MAX, ""), "A C a b d");
  assert_string_equal(page_of(names, 6, false, &(catalog_page){true, 9, "C.lance/"}), "a b d");
  const char *odd[] = {"x", "x.lance", "y"};
  assert_string_equal(page_of(odd, 3, true, &(catalog_page){true, 2, NULL}),
                      "x x.lance +x.lance.lance/");
  assert_string_equal(page_of(odd, 3, true, &(catalog_page){true, 2, "x.lance.lance/"}), "y");
  assert_string_equal(page_of(odd, 0, true, NULL), "");
}

static void properties(void **state) {
  (void)state;
  str text;
  OK(properties_to_text(t.env, NO_PROPERTIES, &mem, &text, &err));
  assert_null(text.data);
  const pair pairs[] = {{STR("k"), STR("v")}, {STR("q\"\x1f"), STR("")}};
  OK(properties_to_text(t.env, (metadata){pairs, 2}, &mem, &text, &err));
  assert_true(str_is(text, "{\"k\":\"v\",\"q\\\"\\u001f\":\"\"}"));
  metadata back;
  OK(properties_from_text(text, STR("x"), &mem, &back, &err));
  assert_int_equal(back.count, 2);
  assert_true(str_equal(back.pairs[1].key, pairs[1].key));
  const char *bad[] = {"", "[]", "{\"a\":1}", "{\"a\":null}", "nope", "\"x\"", "{\"a\":{}}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    FAILS(GLV_E_INTERNAL, properties_from_text(str_of(bad[i]), STR("x"), &mem, &back, &err));
  }
  const pair not_text = {STR("k"), STR("\xFF")};
  FAILS(GLV_E_INVALID_INPUT,
        properties_to_text(t.env, (metadata){&not_text, 1}, &mem, &text, &err));
}

#define T(test)                                                                                    \
  { #test, test, open_mem, close_all, NULL }
int main(void) {
  const struct CMUnitTest tests[] = {T(name_rule), T(long_names), T(texts),
                                     T(locations), T(pages),      T(properties)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
