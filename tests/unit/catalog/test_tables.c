/* Tables at the root and in namespaces, over both stores and both kinds of connection. */
#include <regex.h>

#include "catalog_fixture.h"

static void make(catalog_id id) {
  OK(catalog_namespace_create(db, id, NO_PROPERTIES, CATALOG_CREATE, &err));
}

static void root_tables_of_a_directory(void **state) {
  (void)state;
  create_table(ID("t"));
  assert_true(exists("t.lance"));
  assert_false(exists("t.lance/.lance-reserved"));
  assert_false(exists("__manifest"));
  assert_string_equal(tables(ROOT), "t");
  assert_true(can_open(ID("t")));
  FAILS(GLV_E_TABLE_EXISTS, create_table_in(db, ID("t"), &err));
  assert_string_equal(err.message, "Table 't' already exists");
  catalog_creation made;
  const pair k = {STR("k"), STR("v")};
  FAILS(GLV_E_UNSUPPORTED, catalog_table_begin(db, ID("u"), (metadata){&k, 1}, &mem, &made, &err));
  OK(catalog_table_drop(db, ID("t"), false, &err));
  assert_false(exists("t.lance"));
  FAILS(GLV_E_TABLE_NOT_FOUND, catalog_table_drop(db, ID("t"), false, &err));
  assert_string_equal(err.message, "Table 't' was not found");
  OK(catalog_table_drop(db, ID("t"), true, &err));
  assert_false(exists("__manifest"));
}

static void listing_of_the_root(void **state) {
  (void)state;
  const char *names[] = {"b", "C", "a", "A", "d"};
  for (size_t i = 0; i < 5; i++) {
    create_table(ID(names[i]));
  }
  OK(io_make_dirs(t.env, test_env_path(&t, "odd name.lance"), &err));
  OK(io_make_dirs(t.env, test_env_path(&t, ".lance"), &err));
  OK(io_make_dirs(t.env, test_env_path(&t, "nothing"), &err));
  OK(io_make_dirs(t.env, test_env_path(&t, "empty.lance"), &err));
  CLEANUP(io_scope_dispose) io_scope s = {t.env, NULL, NULL};
  OK(io_dir_open(t.env, t.root, &s.dir, &err));
  OK(io_write_file(t.env, s.dir, "file.lance", "x", 1, false, &err));
  assert_string_equal(tables(ROOT), "A C a b d empty");
  catalog_list list;
  OK(catalog_table_list(db, ROOT, &(catalog_page){true, 2, "C.lance/"}, &mem, &list, &err));
  assert_string_equal(joined(&list), "a b +");
  assert_string_equal(list.entries[0].path, test_env_path(&t, "a.lance"));
  create_table(ID("empty")); /* over an empty directory */
  assert_true(can_open(ID("empty")));
}

static void root_tables_of_a_namespace(void **state) {
  (void)state;
  open_db(CATALOG_NAMESPACE);
  create_table(ID("r"));
  assert_true(exists("r.lance/.lance-reserved"));
  assert_string_equal(row_text("r"), "r|table|r.lance|");
  assert_string_equal(tables(ROOT), "r");
  const uint64_t version = catalog_version();
  FAILS(GLV_E_TABLE_EXISTS, create_table_in(db, ID("r"), &err));
  assert_int_equal(catalog_version(), version);
  make(ID("n"));
  FAILS(GLV_E_NAMESPACE_EXISTS, create_table_in(db, ID("n"), &err));
  assert_false(exists("n.lance"));
  open_db(CATALOG_DIRECTORY);
  assert_true(can_open(ID("r")));
  OK(catalog_table_drop(db, ID("r"), false, &err)); /* and the row goes too */
  assert_false(exists("r.lance"));
  assert_null(row_text("r"));
  create_table(ID("q")); /* without a row, dropped by the other kind */
  open_db(CATALOG_NAMESPACE);
  assert_string_equal(tables(ROOT), "q");
  OK(catalog_table_drop(db, ID("q"), false, &err));
  assert_false(exists("q.lance"));
}

static void a_refused_create_leaves_nothing(void **state) {
  (void)state;
  create_table(ID("p"));
  open_db(CATALOG_NAMESPACE);
  FAILS(GLV_E_TABLE_EXISTS, create_table_in(db, ID("p"), &err));
  assert_false(exists("p.lance/.lance-reserved"));
  assert_false(exists("__manifest"));
  FAILS(GLV_E_NAMESPACE_NOT_FOUND, create_table_in(db, ID("nope", "t"), &err));
  assert_false(exists("__manifest"));
  assert_string_equal(tables(ROOT), "p");
}

static void child_tables(void **state) {
  (void)state;
  make(ID("ns"));
  make(ID("ns", "sub"));
  create_table(ID("ns", "g"));
  create_table(ID("ns", "sub", "h"));
  create_table(ID("g")); /* same name at the root */
  catalog_table at;
  OK(catalog_table_resolve(db, ID("ns", "g"), &mem, &at, &err));
  assert_string_equal(at.name, "ns.g");
  regex_t pattern;
  assert_int_equal(regcomp(&pattern, "/[0-9a-f]{8}_ns\\$g$", REG_EXTENDED | REG_NOSUB), 0);
  assert_int_equal(regexec(&pattern, at.path, 0, NULL, 0), 0);
  regfree(&pattern);
  const char *marker = path_join(&mem, str_of(at.path), STR(".lance-reserved"));
  CLEANUP(buf_dispose) buf content;
  buf_init(&content, t.env, 100);
  OK(io_read_file(t.env, NULL, marker, 100, &content, &err));
  assert_string_equal(content.data, "reserved");
  assert_string_equal(tables(ID("ns")), "g");
  assert_string_equal(tables(ID("ns", "sub")), "h");
  assert_string_equal(tables(ROOT), "g");
  assert_string_equal(tables(ID("unknown")), "");
  FAILS(GLV_E_TABLE_EXISTS, create_table_in(db, ID("ns", "g"), &err));
  FAILS(GLV_E_NAMESPACE_EXISTS, create_table_in(db, ID("ns", "sub"), &err));
  FAILS(GLV_E_NAMESPACE_NOT_EMPTY, catalog_namespace_drop(db, ID("ns"), false, false, &err));
  OK(catalog_table_drop(db, ID("ns", "g"), false, &err));
  bool found;
  OK(io_exists(t.env, NULL, at.path, &found, &err));
  assert_false(found);
  assert_null(row_text("ns$g"));
  FAILS(GLV_E_TABLE_NOT_FOUND, catalog_table_resolve(db, ID("ns", "g"), &mem, &at, &err));
  assert_string_equal(err.message, "Table 'ns.g' was not found");
  assert_true(can_open(ID("g")));
  assert_true(can_open(ID("ns", "sub", "h")));
}

static void declared_tables(void **state) {
  (void)state;
  catalog_table at;
  make(ID("ns"));
  OK(catalog_table_declare(db, ID("ns", "d"), NO_PROPERTIES, &mem, &at, &err));
  assert_string_equal(tables(ID("ns")), "d");
  assert_false(can_open(ID("ns", "d")));
  assert_int_equal(err.code, GLV_E_TABLE_NOT_FOUND);
  FAILS(GLV_E_TABLE_EXISTS,
        catalog_table_declare(db, ID("ns", "d"), NO_PROPERTIES, &mem, &at, &err));
  const char *row_before = row_text("ns$d");
  create_table(ID("ns", "d"));
  assert_string_equal(row_text("ns$d"), row_before);
  assert_true(can_open(ID("ns", "d")));
  OK(catalog_table_declare(db, ID("q"), NO_PROPERTIES, &mem, &at, &err));
  assert_null(row_text("q")); /* a directory with a marker */
  assert_true(exists("q.lance/.lance-reserved"));
  FAILS(GLV_E_TABLE_EXISTS, catalog_table_declare(db, ID("q"), NO_PROPERTIES, &mem, &at, &err));
  create_table(ID("q"));
  FAILS(GLV_E_TABLE_EXISTS, catalog_table_declare(db, ID("q"), NO_PROPERTIES, &mem, &at, &err));
  open_db(CATALOG_NAMESPACE);
  const pair k = {STR("k"), STR("v")};
  OK(catalog_table_declare(db, ID("r"), (metadata){&k, 1}, &mem, &at, &err));
  assert_string_equal(row_text("r"), "r|table|r.lance|{\"k\":\"v\"}");
  assert_string_equal(tables(ROOT), "q r");
  FAILS(GLV_E_TABLE_EXISTS, catalog_table_declare(db, ID("r"), NO_PROPERTIES, &mem, &at, &err));
  OK(catalog_table_drop(db, ID("r"), false, &err));
  assert_false(exists("r.lance"));
}

static void registered_tables(void **state) {
  (void)state;
  catalog_table at;
  bool is_declared;
  const char *path;
  make(ID("ns"));
  create_table(ID("q"));
  OK(catalog_table_register(db, ID("ns", "x"), "q.lance", &err));
  assert_string_equal(row_text("ns$x"), "ns$x|table|q.lance|");
  assert_true(can_open(ID("ns", "x")));
  FAILS(GLV_E_TABLE_EXISTS, catalog_table_register(db, ID("ns", "x"), "other", &err));
  OK(catalog_table_register(db, ID("ns", "y"), "not/yet", &err));
  OK(catalog_table_locate(db, ID("ns", "y"), &mem, &at, &is_declared, &err));
  assert_true(is_declared && strstr(at.path, "/not/yet") != NULL);
  OK(catalog_table_locate(db, ID("q"), &mem, &at, &is_declared, &err));
  assert_false(is_declared);
  FAILS(GLV_E_TABLE_NOT_FOUND,
        catalog_table_locate(db, ID("nobody"), &mem, &at, &is_declared, &err));
  FAILS(GLV_E_NAMESPACE_NOT_FOUND, catalog_table_register(db, ID("no", "x"), "q.lance", &err));
  FAILS(GLV_E_NAMESPACE_EXISTS,
        (make(ID("ns", "z")), catalog_table_register(db, ID("ns", "z"), "q.lance", &err)));
  FAILS(GLV_E_UNSUPPORTED, catalog_table_register(db, ID("x"), "q.lance", &err));
  const char *const wrong[] = {"",         "/abs",       "../x",     "a/../../x",
                               "s3://b/x", "__manifest", ".glaive/x"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    FAILS(GLV_E_INVALID_INPUT, catalog_table_register(db, ID("ns", "w"), wrong[i], &err));
    assert_non_null(strstr(err.message, "location"));
  }
  OK(catalog_table_deregister(db, ID("ns", "x"), &mem, &path, &err));
  assert_non_null(strstr(path, "/q.lance"));
  assert_null(row_text("ns$x"));
  assert_true(can_open(ID("q")));
  FAILS(GLV_E_TABLE_NOT_FOUND, catalog_table_deregister(db, ID("ns", "x"), &mem, &path, &err));
  FAILS(GLV_E_TABLE_NOT_FOUND, catalog_table_deregister(db, ID("ns", "z"), &mem, &path, &err));
  FAILS(GLV_E_UNSUPPORTED, catalog_table_deregister(db, ID("q"), &mem, &path, &err));
  open_db(CATALOG_NAMESPACE);
  FAILS(GLV_E_UNSUPPORTED, catalog_table_register(db, ID("root"), "q.lance", &err));
}

static void undo(void **state) {
  (void)state;
  make(ID("ns"));
  const size_t rows = row_count();
  catalog_creation made = {0};
  OK(catalog_table_begin(db, ID("ns", "t"), NO_PROPERTIES, &mem, &made, &err));
  assert_int_equal(row_count(), rows + 1);
  catalog_table_undo(db, &made);
  assert_int_equal(row_count(), rows);
  bool found;
  OK(io_exists(t.env, NULL, made.table.path, &found, &err));
  assert_false(found);

  /* filled by somebody else meanwhile: it stays */
  OK(catalog_table_begin(db, ID("ns", "t"), NO_PROPERTIES, &mem, &made, &err));
  create_table(ID("ns", "t"));
  catalog_table_undo(db, &made);
  assert_true(can_open(ID("ns", "t")));

  /* dropped by somebody else between begin and finish: the row comes back */
  OK(catalog_table_begin(db, ID("ns", "u"), NO_PROPERTIES, &mem, &made, &err));
  OK(catalog_table_drop(db, ID("ns", "u"), false, &err));
  OK(write_table_in(t.env, made.table.path, &err));
  assert_false(can_open(ID("ns", "u")));
  OK(catalog_table_finish(db, &made, &err));
  assert_true(can_open(ID("ns", "u")));

  open_db(CATALOG_NAMESPACE);
  OK(catalog_table_begin(db, ID("r"), NO_PROPERTIES, &mem, &made, &err));
  assert_true(exists("r.lance"));
  catalog_table_undo(db, &made);
  assert_false(exists("r.lance"));
  assert_null(row_text("r"));
}

static void stale_root_rows(void **state) {
  (void)state;
  open_db(CATALOG_NAMESPACE);
  make(ID("ns"));
  create_table(ID("t"));
  OK(io_remove_tree(t.env, test_env_path(&t, "t.lance"), &err)); /* as a directory client drops */
  assert_non_null(row_text("t"));
  assert_string_equal(tables(ROOT), "");
  create_table(ID("t"));
  assert_true(can_open(ID("t")));
  OK(io_remove_tree(t.env, test_env_path(&t, "t.lance"), &err));
  open_db(CATALOG_DIRECTORY);
  create_table(ID("t"));
  assert_non_null(row_text("t")); /* valid again */
  OK(catalog_table_drop(db, ID("t"), false, &err));
  assert_null(row_text("t"));
  const row elsewhere[] = {ROW("s", "table", "gone/elsewhere")};
  append_rows(elsewhere, 1);
  create_table(ID("s")); /* a stale row with another location is replaced */
  assert_string_equal(row_text("s"), "s|table|s.lance|");
  OK(io_remove_tree(t.env, test_env_path(&t, "s.lance"), &err));
  OK(catalog_table_drop(db, ID("s"), false, &err)); /* only the row is left: it goes */
  assert_null(row_text("s"));
}

static void deregistered(void **state) {
  (void)state;
  create_table(ID("t"));
  create_table(ID("u"));
  CLEANUP(io_scope_dispose) io_scope s = {t.env, NULL, NULL};
  OK(io_dir_open(t.env, test_env_path(&t, "t.lance"), &s.dir, &err));
  OK(io_write_file(t.env, s.dir, ".lance-deregistered", "reserved", 8, false, &err));
  catalog_list list;
  OK(catalog_table_list(db, ROOT, NULL, &mem, &list, &err));
  assert_string_equal(joined(&list), "t u");
  assert_true(list.entries[0].is_deregistered && !list.entries[1].is_deregistered);
  assert_true(can_open(ID("t")));
  open_db(CATALOG_NAMESPACE);
  assert_string_equal(tables(ROOT), "u");
  assert_false(can_open(ID("t")));
  OK(catalog_table_drop(db, ID("t"), true, &err));
  assert_true(exists("t.lance"));
}

static void renaming(void **state) {
  (void)state;
  make(ID("ns"));
  make(ID("other"));
  create_table(ID("a"));
  create_table(ID("taken"));
  OK(catalog_table_rename(db, ID("a"), ID("b"), &err));
  assert_string_equal(tables(ROOT), "b taken");
  FAILS(GLV_E_TABLE_EXISTS, catalog_table_rename(db, ID("b"), ID("taken"), &err));
  FAILS(GLV_E_TABLE_NOT_FOUND, catalog_table_rename(db, ID("a"), ID("c"), &err));
  FAILS(GLV_E_UNSUPPORTED, catalog_table_rename(db, ID("b"), ID("ns", "b"), &err));
  create_table(ID("ns", "x"));
  create_table(ID("ns", "y"));
  catalog_table before;
  catalog_table after;
  OK(catalog_table_resolve(db, ID("ns", "x"), &mem, &before, &err));
  OK(catalog_table_rename(db, ID("ns", "x"), ID("other", "z"), &err));
  OK(catalog_table_resolve(db, ID("other", "z"), &mem, &after, &err));
  assert_string_equal(before.path, after.path);
  assert_string_equal(tables(ID("ns")), "y");
  FAILS(GLV_E_TABLE_EXISTS, catalog_table_rename(db, ID("other", "z"), ID("ns", "y"), &err));
  FAILS(GLV_E_NAMESPACE_NOT_FOUND, catalog_table_rename(db, ID("ns", "y"), ID("no", "y"), &err));
  open_db(CATALOG_NAMESPACE);
  create_table(ID("r"));
  OK(catalog_table_rename(db, ID("r"), ID("s"), &err));
  assert_null(row_text("r"));
  assert_string_equal(row_text("s"), "s|table|s.lance|");
  assert_true(can_open(ID("s")));
}

static void three_thousand_tables(void **state) {
  (void)state;
  enum { TABLES = 3000 };
  make(ID("ns"));
  row *rows = ARENA_ARRAY(&mem, row, TABLES);
  for (int i = 0; i < TABLES; i++) {
    rows[i] =
        ROW(arena_printf(&mem, "ns$t%04d", i), "table", arena_printf(&mem, "%08x_ns$t%04d", i, i));
  }
  append_rows(rows, TABLES);
  catalog_list list;
  OK(catalog_table_list(db, ID("ns"), NULL, &mem, &list, &err));
  assert_int_equal(list.count, TABLES);
  assert_null(list.token);
  make(ID("after"));
  assert_int_equal(row_count(), TABLES + 2);
}

#define BOTH(test)                                                                                 \
  {#test " (memory)", test, open_mem, close_all, NULL}, {                                          \
#test " (local)", test, open_local, close_all, NULL                                            \
  }
int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(root_tables_of_a_directory),
      BOTH(listing_of_the_root),
      BOTH(root_tables_of_a_namespace),
      BOTH(a_refused_create_leaves_nothing),
      BOTH(child_tables),
      BOTH(declared_tables),
      BOTH(registered_tables),
      BOTH(undo),
      BOTH(stale_root_rows),
      BOTH(deregistered),
      BOTH(renaming),
      BOTH(three_thousand_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
