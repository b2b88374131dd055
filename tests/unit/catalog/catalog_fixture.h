/**
 * @file catalog_fixture.h
 * What the tests of the catalog share: an environment, a database, tables, a look at the rows.
 */
#ifndef GLAIVE_TESTS_CATALOG_FIXTURE_H
#define GLAIVE_TESTS_CATALOG_FIXTURE_H

#include "arrow/builder.h"
#include "catalog/catalog_private.h"
#include "support/cmocka.h"
#include "support/test_env.h"
#include "table/commit.h"
#include "table/scan.h"
#include "table/write.h"

static test_env t;
static catalog *db;
static arena mem;
static glv_error err;

#define ID(...)                                                                                    \
  ((catalog_id){(const char *const[]){__VA_ARGS__},                                                \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)})
#define ROOT ((catalog_id){NULL, 0})
#define NO_PROPERTIES ((metadata){NULL, 0})

#define OK(call) expect(GLV_OK, (call), __LINE__)
#define FAILS(code, call) expect((code), (call), __LINE__)
static void expect(glv_status wanted, glv_status status, int line) {
  if (status != wanted) {
    fail_msg("line %d: %s instead of %s: %s", line, error_name(status), error_name(wanted),
             status == GLV_OK ? "" : err.message);
  }
  if (status != GLV_OK && (err.code != status || err.message[0] == '\0')) {
    fail_msg("line %d: the report does not fit: %d '%s'", line, err.code, err.message);
  }
}

static void open_db(catalog_kind kind) {
  catalog_unref(db);
  db = NULL;
  OK(catalog_open(t.env, t.root, kind, &db, &err));
}

static int open_store(int store, catalog_kind kind) {
  test_env_open(&t, store);
  arena_init(&mem, t.env);
  db = NULL;
  open_db(kind);
  return 0;
}

static inline int open_mem(void **state) {
  (void)state;
  return open_store(0, CATALOG_DIRECTORY);
}

static inline int open_local(void **state) {
  (void)state;
  return open_store(1, CATALOG_DIRECTORY);
}

static inline int close_all(void **state) {
  (void)state;
  catalog_unref(db);
  db = NULL;
  arena_dispose(&mem);
  test_env_close(&t);
  return 0;
}

/** Version 1 of an empty table with one column. */
static glv_status write_table_in(glv_env *env, const char *path, glv_error *report) {
  const field f = {.name = "id", .type = type_simple(TYPE_INT64)};
  CLEANUP(schema_cleanup) schema *s = NULL;
  TRY(schema_new(env, &f, 1, (metadata){NULL, 0}, &s, report));
  return table_create(env, path, NULL, s, NULL, NULL, NULL, report);
}

/** The whole way: begin, version 1, finish. */
static glv_status create_table_in(catalog *c, catalog_id id, glv_error *report) {
  catalog_creation made = {0};
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, catalog_env(c));
  TRY(catalog_table_begin(c, id, NO_PROPERTIES, &a, &made, report));
  const glv_status status = write_table_in(catalog_env(c), made.table.path, report);
  if (status != GLV_OK) {
    catalog_table_undo(c, &made);
    return status;
  }
  return catalog_table_finish(c, &made, report);
}
static inline void create_table(catalog_id id) { OK(create_table_in(db, id, &err)); }

/** Whether the table is found and has a version. */
static inline bool can_open(catalog_id id) {
  catalog_table at;
  table_snapshot *s = NULL;
  if (catalog_table_resolve(db, id, &mem, &at, &err) != GLV_OK ||
      table_open(t.env, at.path, at.name, 0, &s, &err) != GLV_OK) {
    return false;
  }
  table_unref(s);
  return true;
}

/** Names joined by blanks, and " +" when a token follows. */
static inline const char *joined(const catalog_list *list) {
  char *text = arena_strdup(&mem, STR(""));
  for (size_t i = 0; i < list->count; i++) {
    text = arena_printf(&mem, "%s%s%s", text, i > 0 ? " " : "", list->entries[i].name);
  }
  return list->token != NULL ? arena_printf(&mem, "%s +", text) : text;
}

static inline const char *tables(catalog_id ns) {
  catalog_list list;
  OK(catalog_table_list(db, ns, NULL, &mem, &list, &err));
  return joined(&list);
}

static inline const char *namespaces(catalog_id ns) {
  catalog_list list;
  OK(catalog_namespace_list(db, ns, NULL, &mem, &list, &err));
  return joined(&list);
}

static inline bool exists(const char *name) {
  bool found;
  OK(io_exists(t.env, NULL, test_env_path(&t, name), &found, &err));
  return found;
}

/** The row of an id in the catalog table as text: `id|type|location|metadata`, or NULL. */
static inline const char *row_text(const char *id) {
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  OK(manifest_load(db, &m, &err));
  const row *r = manifest_find(m, str_of(id));
  return r == NULL ? NULL
                   : arena_printf(&mem, "%.*s|%.*s|%.*s|%.*s", STR_ARG(r->id), STR_ARG(r->type),
                                  STR_ARG(r->location), STR_ARG(r->metadata));
}

static inline size_t row_count(void) {
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  OK(manifest_load(db, &m, &err));
  return m->count;
}

static inline uint64_t catalog_version(void) {
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  OK(manifest_load(db, &m, &err));
  return m->snapshot != NULL ? table_version(m->snapshot) : 0;
}

/* ---- rows that something else wrote ---- */

typedef struct one_batch {
  batch b;
  bool out;
} one_batch;

static inline glv_status one_batch_next(void *state, batch *ret, bool *ret_end, glv_error *report) {
  (void)report;
  one_batch *o = state;
  *ret_end = o->out;
  if (!o->out) {
    *ret = batch_ref(&o->b);
    o->out = true;
  }
  return GLV_OK;
}

static inline void one_batch_dispose(void *state) { batch_dispose(&((one_batch *)state)->b); }

/** Append rows to the catalog table as a plain append. */
static inline void append_rows(const row *rows, size_t count) {
  table_snapshot *s;
  OK(table_open(t.env, test_env_path(&t, "__manifest"), NULL, 0, &s, &err));
  const schema *columns = table_schema(s);
  one_batch state = {.out = false};
  OK(batch_new(t.env, columns, count, columns->field_count, &state.b, &err));
  for (size_t k = 0; k < columns->field_count; k++) {
    if (k >= 4) {
      OK(array_new_null(t.env, columns->fields[k].type, count, &state.b.columns[k], &err));
      continue;
    }
    builder b;
    builder_init(&b, t.env, columns->fields[k].type);
    for (size_t i = 0; i < count; i++) {
      const str values[] = {rows[i].id, rows[i].type, rows[i].location, rows[i].metadata};
      OK(values[k].data == NULL ? builder_append_null(&b, &err)
                                : builder_append_str(&b, values[k], &err));
    }
    OK(builder_finish(&b, &state.b.columns[k], &err));
    builder_dispose(&b);
  }
  batch_reader reader = {schema_ref(columns), one_batch_next, one_batch_dispose, &state};
  OK(table_append(s, &reader, NULL, NULL, NULL, &err));
  table_unref(s);
}

#define ROW(id_, type_, location_)                                                                 \
  ((row){.id = str_of(id_), .type = str_of(type_), .location = str_of(location_)})

#endif
