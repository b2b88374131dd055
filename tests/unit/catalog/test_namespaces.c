/* Namespaces over both stores. */
#include "catalog_fixture.h"

static void make(catalog_id id) {
  OK(catalog_namespace_create(db, id, NO_PROPERTIES, CATALOG_CREATE, &err));
}

static void create_describe_list_drop(void **state) {
  (void)state;
  assert_false(exists("__manifest"));
  const pair k = {STR("k"), STR("v")};
  OK(catalog_namespace_create(db, ID("ns"), (metadata){&k, 1}, CATALOG_CREATE, &err));
  assert_string_equal(row_text("ns"), "ns|namespace||{\"k\":\"v\"}");
  assert_int_equal(catalog_version(), 2); /* 1 = the empty table */
  assert_string_equal(namespaces(ROOT), "ns");
  metadata m;
  OK(catalog_namespace_describe(db, ID("ns"), &mem, &m, &err));
  assert_int_equal(m.count, 1);
  assert_true(str_is(m.pairs[0].key, "k") && str_is(m.pairs[0].value, "v"));
  make(ID("ns", "sub"));
  make(ID("ns", "sub", "deep"));
  make(ID("other"));
  assert_string_equal(namespaces(ROOT), "ns other");
  assert_string_equal(namespaces(ID("ns")), "sub");
  assert_string_equal(namespaces(ID("ns", "sub")), "deep");
  assert_string_equal(namespaces(ID("unknown")), "");
  OK(catalog_namespace_describe(db, ID("ns", "sub"), &mem, &m, &err));
  assert_int_equal(m.count, 0);
  FAILS(GLV_E_NAMESPACE_NOT_EMPTY, catalog_namespace_drop(db, ID("ns"), false, false, &err));
  assert_non_null(strstr(err.message, "2 objects"));
  OK(catalog_namespace_drop(db, ID("ns", "sub", "deep"), false, false, &err));
  OK(catalog_namespace_drop(db, ID("ns", "sub"), false, false, &err));
  OK(catalog_namespace_drop(db, ID("ns"), false, false, &err));
  assert_string_equal(namespaces(ROOT), "other");
  assert_int_equal(row_count(), 1);
  FAILS(GLV_E_NAMESPACE_NOT_FOUND, catalog_namespace_describe(db, ID("ns"), &mem, &m, &err));
  assert_string_equal(err.message, "Namespace not found: ns");
  open_db(CATALOG_NAMESPACE); /* a second reading from the start */
  assert_string_equal(namespaces(ROOT), "other");
}

static void the_root(void **state) {
  (void)state;
  metadata m;
  OK(catalog_namespace_describe(db, ROOT, &mem, &m, &err));
  assert_int_equal(m.count, 0);
  FAILS(GLV_E_NAMESPACE_EXISTS,
        catalog_namespace_create(db, ROOT, NO_PROPERTIES, CATALOG_CREATE, &err));
  OK(catalog_namespace_create(db, ROOT, NO_PROPERTIES, CATALOG_EXIST_OK, &err));
  FAILS(GLV_E_INVALID_INPUT, catalog_namespace_drop(db, ROOT, true, true, &err));
  bool found;
  OK(catalog_namespace_exists(db, ROOT, &found, &err));
  assert_true(found);
  assert_false(exists("__manifest"));
}

static void missing_parents(void **state) {
  (void)state;
  FAILS(GLV_E_NAMESPACE_NOT_FOUND,
        catalog_namespace_create(db, ID("x", "y"), NO_PROPERTIES, CATALOG_CREATE, &err));
  assert_string_equal(err.message, "Namespace not found: x");
  assert_false(exists("__manifest"));
  make(ID("x"));
  FAILS(GLV_E_NAMESPACE_NOT_FOUND,
        catalog_namespace_create(db, ID("x", "y", "z"), NO_PROPERTIES, CATALOG_CREATE, &err));
  assert_string_equal(err.message, "Namespace not found: x.y");
  create_table(ID("x", "t"));
  FAILS(GLV_E_NAMESPACE_NOT_FOUND, /* a table is no parent */
        catalog_namespace_create(db, ID("x", "t", "z"), NO_PROPERTIES, CATALOG_CREATE, &err));
  bool found;
  OK(catalog_namespace_exists(db, ID("x", "t"), &found, &err));
  assert_false(found);
}

static void modes(void **state) {
  (void)state;
  const pair k = {STR("k"), STR("v")};
  make(ID("n"));
  FAILS(GLV_E_NAMESPACE_EXISTS,
        catalog_namespace_create(db, ID("n"), NO_PROPERTIES, CATALOG_CREATE, &err));
  assert_string_equal(err.message, "Namespace already exists: n");
  const uint64_t version = catalog_version();
  OK(catalog_namespace_create(db, ID("n"), (metadata){&k, 1}, CATALOG_EXIST_OK, &err));
  assert_int_equal(catalog_version(), version);
  assert_string_equal(row_text("n"), "n|namespace||");
  OK(catalog_namespace_create(db, ID("n"), (metadata){&k, 1}, CATALOG_OVERWRITE, &err));
  assert_string_equal(row_text("n"), "n|namespace||{\"k\":\"v\"}");
  assert_int_equal(row_count(), 1);
  make(ID("n", "below"));
  FAILS(GLV_E_INVALID_INPUT,
        catalog_namespace_create(db, ID("n"), NO_PROPERTIES, CATALOG_OVERWRITE, &err));
  create_table(ID("n", "t"));
  FAILS(GLV_E_NAMESPACE_EXISTS,
        catalog_namespace_create(db, ID("n", "t"), NO_PROPERTIES, CATALOG_EXIST_OK, &err));
  OK(catalog_namespace_drop(db, ID("missing"), true, false, &err));
  FAILS(GLV_E_NAMESPACE_NOT_FOUND, catalog_namespace_drop(db, ID("missing"), false, true, &err));
  FAILS(GLV_E_NAMESPACE_NOT_FOUND, catalog_namespace_drop(db, ID("n", "t"), false, true, &err));
}

static void cascade(void **state) {
  (void)state;
  make(ID("n"));
  make(ID("n", "m"));
  make(ID("nn"));
  create_table(ID("n", "t"));
  create_table(ID("n", "m", "u"));
  create_table(ID("nn", "t"));
  catalog_table a;
  catalog_table b;
  OK(catalog_table_resolve(db, ID("n", "t"), &mem, &a, &err));
  OK(catalog_table_resolve(db, ID("n", "m", "u"), &mem, &b, &err));
  OK(catalog_namespace_drop(db, ID("n"), false, true, &err));
  bool found;
  OK(io_exists(t.env, NULL, a.path, &found, &err));
  assert_false(found);
  OK(io_exists(t.env, NULL, b.path, &found, &err));
  assert_false(found);
  assert_string_equal(namespaces(ROOT), "nn");
  assert_true(can_open(ID("nn", "t")));
  assert_int_equal(row_count(), 2);
}

static void pages(void **state) {
  (void)state;
  const char *names[] = {"b", "C", "a", "A", "d"};
  for (size_t i = 0; i < 5; i++) {
    make(ID(names[i]));
  }
  catalog_list list;
  OK(catalog_namespace_list(db, ROOT, &(catalog_page){true, 2, NULL}, &mem, &list, &err));
  assert_string_equal(joined(&list), "A C +");
  OK(catalog_namespace_list(db, ROOT, &(catalog_page){true, 2, list.token}, &mem, &list, &err));
  assert_string_equal(joined(&list), "a b +");
  OK(catalog_namespace_list(db, ROOT, &(catalog_page){true, 2, list.token}, &mem, &list, &err));
  assert_string_equal(joined(&list), "d");
}

/* Two connections, each seeing at once what the other did. */
static void no_staleness(void **state) {
  (void)state;
  catalog *other;
  OK(catalog_open(t.env, t.root, CATALOG_NAMESPACE, &other, &err));
  for (int i = 0; i < 10; i++) {
    const char *name = arena_printf(&mem, "n%d", i);
    OK(catalog_namespace_create(i % 2 == 0 ? db : other, ID(name), NO_PROPERTIES, CATALOG_CREATE,
                                &err));
    FAILS(GLV_E_NAMESPACE_EXISTS, catalog_namespace_create(i % 2 == 0 ? other : db, ID(name),
                                                           NO_PROPERTIES, CATALOG_CREATE, &err));
  }
  assert_int_equal(row_count(), 10);
  catalog_unref(other);
}

struct racer {
  glv_env *env;
  int number;
  int won;
};

static glv_status race(void *context, glv_error *report) {
  struct racer *r = context;
  catalog *c;
  TRY(catalog_open(r->env, t.root, CATALOG_DIRECTORY, &c, report));
  arena a;
  arena_init(&a, r->env);
  glv_status status = GLV_OK;
  for (int i = 0; i < 6 && status == GLV_OK; i++) {
    const char *name = arena_printf(&a, "r%d_%d", r->number, i);
    status = catalog_namespace_create(c, ID(name), NO_PROPERTIES, CATALOG_CREATE, report);
  }
  if (status == GLV_OK) {
    status = catalog_namespace_create(c, ID("contested"), NO_PROPERTIES, CATALOG_CREATE, report);
    r->won = status == GLV_OK;
    status = status == GLV_E_NAMESPACE_EXISTS ? GLV_OK : status;
  }
  arena_dispose(&a);
  catalog_unref(c);
  return status;
}

/* Four environments, so that no lock of one process helps them. */
static void concurrent_creators(void **state) {
  (void)state;
  enum { RACERS = 4 };
  static test_env environments[RACERS];
  struct racer racers[RACERS];
  task tasks[RACERS];
  for (int i = 0; i < RACERS; i++) {
    test_env_share(&environments[i], &t);
    racers[i] = (struct racer){environments[i].env, i, 0};
    tasks[i] = (task){.run = race, .context = &racers[i]};
    task_submit(t.env, &tasks[i]);
  }
  int winners = 0;
  for (int i = 0; i < RACERS; i++) {
    OK(task_wait(t.env, &tasks[i], &err));
  }
  for (int i = 0; i < RACERS; i++) {
    winners += racers[i].won;
    test_env_close(&environments[i]);
  }
  assert_int_equal(winners, 1);
  assert_int_equal(row_count(), RACERS * 6 + 1);
  assert_int_equal(catalog_version(), RACERS * 6 + 2);
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  OK(manifest_load(db, &m, &err));
  assert_null(m->duplicate);
  size_t fragments;
  (void)table_fragments(m->snapshot, &fragments);
  assert_int_equal(fragments, 1);
}

#define BOTH(test)                                                                                 \
  {#test " (memory)", test, open_mem, close_all, NULL}, {                                          \
#test " (local)", test, open_local, close_all, NULL                                            \
  }
int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(create_describe_list_drop),
      BOTH(the_root),
      BOTH(missing_parents),
      BOTH(modes),
      BOTH(cascade),
      BOTH(pages),
      BOTH(no_staleness),
      BOTH(concurrent_creators),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
