/* Catalog tables that something else wrote: appended rows, duplicates, unknown types, hostile
 * locations, broken properties. */
#include "catalog_fixture.h"

static int open_with_table(void **state) {
  open_local(state);
  OK(catalog_namespace_create(db, ID("ns"), NO_PROPERTIES, CATALOG_CREATE, &err));
  return 0;
}

static void appended_rows(void **state) {
  (void)state;
  const row rows[] = {ROW("n2", "namespace", NULL)};
  append_rows(rows, 1);
  assert_string_equal(namespaces(ROOT), "n2 ns");
  OK(catalog_namespace_create(db, ID("n3"), NO_PROPERTIES, CATALOG_CREATE, &err));
  assert_string_equal(namespaces(ROOT), "n2 n3 ns");
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  OK(manifest_load(db, &m, &err));
  size_t fragments;
  const fragment *f = table_fragments(m->snapshot, &fragments);
  assert_int_equal(fragments, 1);
  assert_int_equal(f[0].file_count, 1);
}

static void duplicates(void **state) {
  (void)state;
  const row rows[] = {ROW("ns$d", "table", "one"), ROW("ns$d", "table", "two")};
  append_rows(rows, 2);
  assert_string_equal(tables(ID("ns")), "d");
  catalog_table at;
  OK(catalog_table_resolve(db, ID("ns", "d"), &mem, &at, &err));
  assert_string_equal(at.path, test_env_path(&t, "two"));
  const uint64_t version = catalog_version();
  FAILS(GLV_E_INTERNAL, catalog_namespace_create(db, ID("n"), NO_PROPERTIES, CATALOG_CREATE, &err));
  assert_string_equal(err.message, "Manifest contains duplicate object_id 'ns$d'");
  FAILS(GLV_E_INTERNAL, create_table_in(db, ID("ns", "new"), &err));
  FAILS(GLV_E_INTERNAL, catalog_table_drop(db, ID("ns", "d"), false, &err));
  assert_int_equal(catalog_version(), version);
}

static void unknown_types_are_kept(void **state) {
  (void)state;
  row strange = ROW("ns$v", "view", "some/where");
  strange.metadata = STR("not json");
  append_rows(&strange, 1);
  assert_string_equal(tables(ID("ns")), "");
  assert_string_equal(namespaces(ID("ns")), "");
  FAILS(GLV_E_NAMESPACE_EXISTS, create_table_in(db, ID("ns", "v"), &err));
  catalog_table at;
  FAILS(GLV_E_TABLE_NOT_FOUND, catalog_table_resolve(db, ID("ns", "v"), &mem, &at, &err));
  OK(catalog_namespace_create(db, ID("n"), NO_PROPERTIES, CATALOG_CREATE, &err));
  assert_string_equal(row_text("ns$v"), "ns$v|view|some/where|not json");
  FAILS(GLV_E_NAMESPACE_NOT_EMPTY, catalog_namespace_drop(db, ID("ns"), false, false, &err));
}

static void hostile_locations(void **state) {
  (void)state;
  const char *locations[] = {"/abs/path",  "../x",    "a/../../x", "",
                             "__manifest", ".glaive", "s3://b/x",  "a//b"};
  OK(io_make_dirs(t.env, test_env_path(&t, "precious"), &err));
  for (size_t i = 0; i < sizeof locations / sizeof *locations; i++) {
    const char *name = arena_printf(&mem, "h%zu", i);
    const row rows[] = {ROW(arena_printf(&mem, "ns$%s", name), "table", locations[i])};
    append_rows(rows, 1);
    catalog_table at;
    FAILS(GLV_E_INVALID_INPUT, catalog_table_resolve(db, ID("ns", name), &mem, &at, &err));
    FAILS(GLV_E_INVALID_INPUT, create_table_in(db, ID("ns", name), &err));
    OK(catalog_table_drop(db, ID("ns", name), false, &err)); /* the row goes, nothing else */
  }
  assert_true(exists("precious"));
  assert_true(exists("__manifest/_versions"));
  const row null_location = ROW("ns$n", "table", NULL);
  append_rows(&null_location, 1);
  catalog_table at;
  FAILS(GLV_E_INVALID_INPUT, catalog_table_resolve(db, ID("ns", "n"), &mem, &at, &err));
  const row escaped = ROW("ns$e", "table", "a_\xC3\xA9$t");
  append_rows(&escaped, 1);
  FAILS(GLV_E_UNSUPPORTED, catalog_table_resolve(db, ID("ns", "e"), &mem, &at, &err));
  catalog_list list;
  OK(catalog_table_list(db, ID("ns"), NULL, &mem, &list, &err));
  assert_string_equal(joined(&list), "e n");
  assert_null(list.entries[0].path);
}

static void orphans_are_served(void **state) {
  (void)state;
  const row rows[] = {ROW("nope$t", "table", "deadbeef_nope$t"),
                      ROW("odd name$\xC3\xA9", "table", "x1")};
  append_rows(rows, 2);
  assert_string_equal(tables(ID("nope")), "t");
  assert_string_equal(tables(ID("odd name")), "\xC3\xA9");
  assert_string_equal(namespaces(ROOT), "ns");
  OK(write_table_in(t.env, test_env_path(&t, "deadbeef_nope$t"), &err));
  assert_true(can_open(ID("nope", "t")));
  OK(catalog_table_drop(db, ID("nope", "t"), false, &err));
  assert_false(exists("deadbeef_nope$t"));
  OK(catalog_table_drop(db, ID("odd name", "\xC3\xA9"), false, &err)); /* its directory is gone */
  FAILS(GLV_E_NAMESPACE_NOT_FOUND, create_table_in(db, ID("nope2", "t"), &err));
}

static void broken_properties(void **state) {
  (void)state;
  row broken = ROW("b", "namespace", NULL);
  broken.metadata = STR("[1]");
  append_rows(&broken, 1);
  metadata m;
  FAILS(GLV_E_INTERNAL, catalog_namespace_describe(db, ID("b"), &mem, &m, &err));
  assert_string_equal(namespaces(ROOT), "b ns");
}

/* A column `kind` instead of the expected ones. */
static void another_schema(void **state) {
  (void)state;
  OK(io_remove_tree(t.env, test_env_path(&t, "__manifest"), &err));
  OK(write_table_in(t.env, test_env_path(&t, "__manifest"), &err));
  open_db(CATALOG_DIRECTORY);
  assert_string_equal(tables(ROOT), ""); /* root tables need no catalog table */
  catalog_list list;
  FAILS(GLV_E_CORRUPT, catalog_namespace_list(db, ROOT, NULL, &mem, &list, &err));
  assert_non_null(strstr(err.message, "object_id"));
}

static void an_empty_directory_is_no_catalog(void **state) {
  (void)state;
  OK(io_remove_tree(t.env, test_env_path(&t, "__manifest"), &err));
  OK(io_make_dirs(t.env, test_env_path(&t, "__manifest/_versions"), &err));
  assert_string_equal(namespaces(ROOT), "");
  OK(catalog_namespace_create(db, ID("n"), NO_PROPERTIES, CATALOG_CREATE, &err));
  assert_string_equal(namespaces(ROOT), "n");
}

/* A catalog table with these columns and one row, namespace "old". */
static void replace_catalog(const field *fields, size_t count) {
  OK(io_remove_tree(t.env, test_env_path(&t, "__manifest"), &err));
  CLEANUP(schema_cleanup) schema *s = NULL;
  OK(schema_new(t.env, fields, count, (metadata){NULL, 0}, &s, &err));
  one_batch state = {.out = false};
  OK(batch_new(t.env, s, 1, count, &state.b, &err));
  for (size_t k = 0; k < count; k++) {
    builder b;
    builder_init(&b, t.env, fields[k].type);
    const int64_t number = 42;
    OK(fields[k].type->kind == TYPE_INT64
           ? builder_append_fixed(&b, &number, &err)
           : builder_append_str(&b, k == 0 ? STR("old") : STR("namespace"), &err));
    OK(builder_finish(&b, &state.b.columns[k], &err));
    builder_dispose(&b);
  }
  batch_reader reader = {schema_ref(s), one_batch_next, one_batch_dispose, &state};
  OK(table_create(t.env, test_env_path(&t, "__manifest"), NULL, s, &reader, NULL, NULL, &err));
}

static void missing_columns_are_added(void **state) {
  (void)state;
  const field fields[] = {{.name = "object_id", .type = type_simple(TYPE_UTF8)},
                          {.name = "object_type", .type = type_simple(TYPE_UTF8)},
                          {.name = "extra", .type = type_simple(TYPE_INT64), .nullable = true}};
  replace_catalog(fields, 3);
  assert_string_equal(namespaces(ROOT), "old");
  const pair k = {STR("k"), STR("v")};
  OK(catalog_namespace_create(db, ID("new"), (metadata){&k, 1}, CATALOG_CREATE, &err));
  create_table(ID("old", "t"));
  assert_true(can_open(ID("old", "t")));
  metadata m;
  OK(catalog_namespace_describe(db, ID("new"), &mem, &m, &err));
  assert_int_equal(m.count, 1);
  table_snapshot *s;
  OK(table_open(t.env, test_env_path(&t, "__manifest"), NULL, 0, &s, &err));
  const schema *columns = table_schema(s);
  assert_int_equal(columns->field_count, 6);
  assert_string_equal(columns->fields[2].name, "extra");
  assert_string_equal(columns->fields[5].name, "base_objects");
  bool found;
  (void)metadata_get(columns->fields[0].metadata,
                     STR("lance-schema:unenforced-primary-key:position"), &found);
  assert_true(found);
  uint64_t count;
  OK(table_count(s, STR("extra = 42 AND object_id = 'old'"), 0, NULL, &count, &err));
  assert_int_equal(count, 1);
  OK(table_count(s, STR("extra IS NULL"), 0, NULL, &count, &err));
  assert_int_equal(count, 2);
  table_unref(s);
}

/* A column that must not be null and that nobody here can fill. */
static void a_required_column_is_not_guessed(void **state) {
  (void)state;
  const field fields[] = {{.name = "object_id", .type = type_simple(TYPE_UTF8)},
                          {.name = "object_type", .type = type_simple(TYPE_UTF8)},
                          {.name = "extra", .type = type_simple(TYPE_INT64)}};
  replace_catalog(fields, 3);
  assert_string_equal(namespaces(ROOT), "old");
  const uint64_t version = catalog_version();
  FAILS(GLV_E_SCHEMA, catalog_namespace_create(db, ID("new"), NO_PROPERTIES, CATALOG_CREATE, &err));
  assert_non_null(strstr(err.message, "extra"));
  assert_int_equal(catalog_version(), version);
}

#define T(test)                                                                                    \
  { #test, test, open_with_table, close_all, NULL }
int main(void) {
  const struct CMUnitTest tests[] = {
      T(appended_rows),
      T(duplicates),
      T(unknown_types_are_kept),
      T(hostile_locations),
      T(orphans_are_served),
      T(broken_properties),
      T(another_schema),
      T(an_empty_directory_is_no_catalog),
      T(missing_columns_are_added),
      T(a_required_column_is_not_guessed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
