/* Adding, altering and dropping columns: schemas, ids, files, row versions, and what is refused;
 * every allocation and every I/O operation failing. */
#include <errno.h>

#include "table/columns.h"
#include "table/commit_private.h"
#include "table/metadata.h"
#include "tables.h"

/* Rows 0..3 and 4..7 in two fragments; rows 2, 3 and 4 are deleted. Version 3. */
static table_snapshot *open_table(glv_env *env, const char *path) {
  table_snapshot *s = create_rows(env, path, 0, 4, true);
  append_rows(&s, 4, 4);
  bitmap *first = bitmap_new();
  bitmap *second = bitmap_new();
  assert_true(first != NULL && second != NULL);
  bitmap_add_range(first, 2, 4);
  bitmap_add_range(second, 0, 1);
  const deletion_update updates[] = {{0, first}, {1, second}};
  const operation op = {.kind = OPERATION_DELETE, .updated = updates, .updated_count = 2};
  table_snapshot *next;
  OK(table_commit(s, &op, NULL, &next, NULL, err));
  bitmap_free(first);
  bitmap_free(second);
  table_unref(s);
  return next;
}

static void move(table_snapshot **s, table_snapshot *next) {
  table_unref(*s);
  *s = next;
}

static void add(table_snapshot **s, const char *name, const char *expression) {
  const column_definition c = {str_of(name), str_of(expression)};
  table_snapshot *next;
  write_result result;
  OK(table_add_columns(*s, &c, 1, NULL, &next, &result, err));
  assert_int_equal(result.attempts, 1);
  move(s, next);
}

#define DROP(s, ...)                                                                               \
  do {                                                                                             \
    const str paths[] = {__VA_ARGS__};                                                             \
    table_snapshot *next;                                                                          \
    OK(table_drop_columns(*(s), paths, sizeof paths / sizeof paths[0], NULL, &next, NULL, err));   \
    move((s), next);                                                                               \
  } while (0)

#define ALTER(s, ...)                                                                              \
  do {                                                                                             \
    const column_change changes[] = {__VA_ARGS__};                                                 \
    table_snapshot *next;                                                                          \
    OK(table_alter_columns(*(s), changes, sizeof changes / sizeof changes[0], NULL, &next, NULL,   \
                           err));                                                                  \
    move((s), next);                                                                               \
  } while (0)

#define REFUSED(s, status, part, ...)                                                              \
  do {                                                                                             \
    const column_change changes[] = {__VA_ARGS__};                                                 \
    EXPECT(status, part,                                                                           \
           table_alter_columns((s), changes, sizeof changes / sizeof changes[0], NULL, NULL, NULL, \
                               err));                                                              \
  } while (0)

static int32_t id_of(const table_snapshot *s, const char *name) {
  const lance_field *f = lance_schema_find(table_lance_schema(s), str_of(name));
  return f != NULL ? f->id : -1;
}

static void expect_numbers(const table_snapshot *s, const char *name, const uint64_t *values,
                           size_t count) {
  uint64_t found[64];
  assert_int_equal(scan_numbers(s, name, found, 64), count);
  assert_memory_equal(found, values, count * sizeof *values);
}
#define NUMBERS(s, name, ...)                                                                      \
  expect_numbers((s), (name), (const uint64_t[]){__VA_ARGS__},                                     \
                 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void test_add(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_table(t->env, test_env_path(t, "add"));
  add(&s, "tens", "id * 10");
  NUMBERS(s, "tens", 0, 10, 50, 60, 70);
  NUMBERS(s, "_row_created_at_version", 1, 1, 2, 2, 2);
  NUMBERS(s, "_row_last_updated_at_version", 4, 4, 4, 4, 4);
  assert_int_equal(id_of(s, "tens"), 2);
  size_t count;
  const fragment *f = table_fragments(s, &count);
  assert_int_equal(count, 2);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(f[i].file_count, 2);
    assert_int_equal(f[i].files[1].count, 1);
    assert_int_equal(f[i].files[1].fields[0], 2);
    assert_int_equal(f[i].physical_rows, 4);
  }
  assert_false(lance_schema_find(table_lance_schema(s), STR("tens"))->arrow.nullable);
  add(&s, "n", "CAST(NULL AS bigint)"); /* no file, and nobody was updated */
  assert_int_equal(table_fragments(s, &count)[0].file_count, 2);
  NUMBERS(s, "_row_last_updated_at_version", 4, 4, 4, 4, 4);
  assert_int_equal(id_of(s, "n"), 3);
  assert_int_equal(count_files(t->env, test_env_path(t, "add/data")), 4);
  table_unref(s);
}

static void test_refused(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_table(t->env, test_env_path(t, "refused"));
  static const struct {
    const char *name;
    const char *expression;
    glv_status status;
    const char *part;
  } bad[] = {
      {"id", "id + 1", GLV_E_COLUMN_EXISTS, "Column id already exists"},
      {"id", "text", GLV_E_COLUMN_EXISTS, "Type conflicts between id(int64) and id(string)"},
      {"", "1", GLV_E_INVALID_INPUT, "no name"},
      {"a.b", "1", GLV_E_INVALID_INPUT, "dot"},
      {"_rowid", "1", GLV_E_INVALID_INPUT, "reserved"},
      {"x", "_rowid", GLV_E_SQL_PLAN, "_rowid"},
      {"x", "nope", GLV_E_SQL_PLAN, "nope"},
      {"x", "1 +", GLV_E_SQL_PARSE, ""},
      {"x", "10 / (id - 5)", GLV_E_SQL_EXEC, ""},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const column_definition c = {str_of(bad[i].name), str_of(bad[i].expression)};
    EXPECT(bad[i].status, bad[i].part, table_add_columns(s, &c, 1, NULL, NULL, NULL, err));
  }
  const column_definition twice[] = {{STR("x"), STR("1")}, {STR("x"), STR("2")}};
  EXPECT(GLV_E_COLUMN_EXISTS, "two columns 'x'",
         table_add_columns(s, twice, 2, NULL, NULL, NULL, err));
  const field required = {.name = "r", .type = type_simple(TYPE_INT32)};
  EXPECT(GLV_E_INVALID_INPUT, "field 'r' is not",
         table_add_null_columns(s, &required, 1, NULL, NULL, NULL, err));
  add(&s, "fine", "10 / (id - 3)"); /* row 3 was deleted */
  assert_int_equal(table_version(s), 4);
  assert_int_equal(count_files(t->env, test_env_path(t, "refused/data")), 4);
  table_unref(s);
}

static void test_nothing(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_table(t->env, test_env_path(t, "nothing"));
  table_snapshot *same;
  write_result result;
  OK(table_add_columns(s, NULL, 0, NULL, &same, &result, err));
  assert_int_equal(result.attempts, 0);
  table_unref(same);
  OK(table_drop_columns(s, NULL, 0, NULL, &same, NULL, err));
  assert_int_equal(table_version(same), 3);
  table_unref(same);
  table_unref(s);
}

static void test_alter(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_table(t->env, test_env_path(t, "alter"));
  const type *int32 = type_simple(TYPE_INT32);
  ALTER(&s, {.path = STR("id"), .rename = STR("text")}, {.path = STR("text"), .rename = STR("id")});
  assert_int_equal(id_of(s, "text"), 0);
  ALTER(&s, {.path = STR("text"), .rename = STR("id")}, {.path = STR("id"), .rename = STR("text")});
  NUMBERS(s, "_row_last_updated_at_version", 1, 1, 2, 2, 2);
  ALTER(&s, {.path = STR("id"), .rename = STR("n")},
        {.path = STR("id"), .sets_nullable = true, .nullable = true});
  assert_true(lance_schema_find(table_lance_schema(s), STR("n"))->arrow.nullable);
  table_unref(s);
  s = open_table(t->env, test_env_path(t, "alter2"));
  ALTER(&s, {.path = STR("id"), .type = int32, .rename = STR("small")});
  assert_int_equal(id_of(s, "small"), 2);
  assert_string_equal(table_lance_schema(s)->fields[0].arrow.name, "small");
  NUMBERS(s, "_row_last_updated_at_version", 4, 4, 4, 4, 4);
  ALTER(&s, {.path = STR("small"), .type = type_simple(TYPE_INT64)});
  NUMBERS(s, "small", 0, 1, 5, 6, 7);
  size_t count;
  assert_int_equal(table_fragments(s, &count)[0].file_count, 2); /* the one between is dead */
  REFUSED(s, GLV_E_COLUMN_NOT_FOUND, "no column 'x'", {.path = STR("x"), .rename = STR("y")});
  REFUSED(s, GLV_E_INVALID_INPUT, "does not name", {.path = STR("x."), .rename = STR("y")});
  REFUSED(s, GLV_E_INVALID_INPUT, "nothing is to be altered", {.path = STR("small")});
  REFUSED(s, GLV_E_COLUMN_EXISTS, "two columns 'text'",
          {.path = STR("small"), .rename = STR("text")});
  REFUSED(s, GLV_E_INVALID_INPUT, "Cannot cast",
          {.path = STR("small"), .type = type_simple(TYPE_FLOAT64)});
  REFUSED(s, GLV_E_INVALID_INPUT, "altered twice", {.path = STR("small"), .type = int32},
          {.path = STR("small"), .type = int32});
  REFUSED(s, GLV_E_INVALID_INPUT, "contains NULL values",
          {.path = STR("text"), .sets_nullable = true});
  REFUSED(s, GLV_E_INVALID_INPUT, "apply the cast first", {.path = STR("small"), .type = int32},
          {.path = STR("text"), .sets_nullable = true});
  assert_int_equal(table_version(s), 5);
  table_unref(s);
}

static void test_cast_overflow(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_table(t->env, test_env_path(t, "overflow"));
  add(&s, "big", "id * 100");
  REFUSED(s, GLV_E_SQL_EXEC, "column 'big'", {.path = STR("big"), .type = type_simple(TYPE_INT8)});
  assert_int_equal(count_files(t->env, test_env_path(t, "overflow/data")), 4);
  table_unref(s);
}

static void test_drop(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_table(t->env, test_env_path(t, "drop"));
  add(&s, "x", "id + 1");
  DROP(&s, STR("x"));
  assert_int_equal(id_of(s, "x"), -1);
  size_t count;
  assert_int_equal(table_fragments(s, &count)[0].file_count, 1);
  add(&s, "y", "id + 2"); /* nobody has the id of x any more */
  assert_int_equal(id_of(s, "y"), 2);
  NUMBERS(s, "y", 2, 3, 7, 8, 9);
  const str missing[] = {STR("y"), STR("z")};
  EXPECT(GLV_E_COLUMN_NOT_FOUND, "no column 'z'",
         table_drop_columns(s, missing, 2, NULL, NULL, NULL, err));
  const str all[] = {STR("y"), STR("id"), STR("text")};
  EXPECT(GLV_E_INVALID_INPUT, "Cannot drop all columns",
         table_drop_columns(s, all, 3, NULL, NULL, NULL, err));
  DROP(&s, STR("id"), STR("text"));
  NUMBERS(s, "y", 2, 3, 7, 8, 9);
  table_unref(s);
}

/* Somebody appends meanwhile: that is computed again on the new rows. */
static void test_retry(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_table(t->env, test_env_path(t, "retry"));
  table_snapshot *other = table_ref(s);
  append_rows(&other, 8, 2);
  table_unref(other);
  const column_definition c = {STR("tens"), STR("id * 10")};
  table_snapshot *next;
  write_result result;
  OK(table_add_columns(s, &c, 1, NULL, &next, &result, err));
  assert_int_equal(table_version(next), 5);
  NUMBERS(next, "tens", 0, 10, 50, 60, 70, 80, 90);
  table_unref(next);
  DROP(&s, STR("text")); /* from the version before still: somebody added a column meanwhile */
  assert_int_equal(table_version(s), 6);
  NUMBERS(s, "tens", 0, 10, 50, 60, 70, 80, 90);
  table_unref(s);
}

static void test_metadata(void **state) {
  test_env *t = *state;
  table_snapshot *s = open_table(t->env, test_env_path(t, "metadata"));
  const metadata_change two[] = {{STR("a"), STR("1")}, {STR("b"), STR("2")}};
  const metadata_change one[] = {{STR("b"), {NULL, 0}}, {STR("c"), STR("3")}};
  static const enum metadata_target targets[] = {METADATA_SCHEMA, METADATA_TABLE, METADATA_CONFIG,
                                                 METADATA_FIELD};
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    const str path = targets[i] == METADATA_FIELD ? STR("text") : (str){0};
    table_snapshot *next;
    OK(table_set_metadata(s, targets[i], path, &(metadata_update){true, false, two, 2}, NULL, &next,
                          NULL, err));
    move(&s, next);
    OK(table_set_metadata(s, targets[i], path, &(metadata_update){true, i % 2 == 1, one, 2}, NULL,
                          &next, NULL, err));
    move(&s, next);
  }
  assert_int_equal(table_version(s), 11);
  assert_int_equal(table_metadata(s).count, 2); /* a, c */
  assert_true(str_is(table_metadata_get(s, STR("c"), NULL), "3"));
  assert_int_equal(table_config(s).count, 2);
  const metadata of_text = lance_schema_find(table_lance_schema(s), STR("text"))->arrow.metadata;
  assert_int_equal(of_text.count, 1); /* c: replaced */
  metadata same;
  OK(table_column_metadata(s, STR("text"), &same, err));
  assert_int_equal(same.count, 1);
  const metadata_change empty = {STR(""), STR("1")};
  const metadata_change twice[] = {{STR("a"), STR("1")}, {STR("a"), STR("2")}};
  EXPECT(GLV_E_INVALID_INPUT, "empty",
         table_set_metadata(s, METADATA_TABLE, (str){0}, &(metadata_update){true, false, &empty, 1},
                            NULL, NULL, NULL, err));
  EXPECT(GLV_E_INVALID_INPUT, "twice",
         table_set_metadata(s, METADATA_TABLE, (str){0}, &(metadata_update){true, false, twice, 2},
                            NULL, NULL, NULL, err));
  EXPECT(GLV_E_COLUMN_NOT_FOUND, "no column 'x'",
         table_set_metadata(s, METADATA_FIELD, STR("x"), &(metadata_update){true, false, two, 2},
                            NULL, NULL, NULL, err));
  table_unref(s);
}

static glv_status set_config(const table_snapshot *s, const char *key, const char *value,
                             table_snapshot **ret, glv_error *err) {
  const metadata_change change = {str_of(key), str_of(value)};
  return table_set_metadata(s, METADATA_CONFIG, (str){0},
                            &(metadata_update){true, false, &change, 1}, NULL, ret, NULL, err);
}

/* Checklist 38: two writers at once. */
static void test_metadata_conflicts(void **state) {
  test_env *t = *state;
  table_snapshot *old = open_table(t->env, test_env_path(t, "conflicts"));
  table_snapshot *next;
  OK(set_config(old, "a", "1", NULL, err));
  OK(set_config(old, "b", "2", &next, err)); /* another key: both are there */
  assert_int_equal(table_config(next).count, 2);
  assert_int_equal(table_version(next), 5);
  table_unref(next);
  glv_error report = {0};
  assert_int_equal(set_config(old, "a", NULL, NULL, &report), GLV_E_CONFLICT);
  assert_int_equal(report.flags & GLV_ERROR_MAY_RETRY, 0);
  assert_non_null(strstr(report.message, "incompatible with concurrent transaction"));
  table_unref(old);
}

/* ---- faults ---- */

enum action { ADD, CAST, RENAME, DROP_TEXT, SET, ACTIONS };

static glv_status act(const table_snapshot *s, enum action action, glv_error *err) {
  const column_definition tens = {STR("tens"), STR("id * 10")};
  const column_change cast = {.path = STR("id"), .type = type_simple(TYPE_INT32)};
  const column_change rename = {.path = STR("id"), .rename = STR("n")};
  const str text = STR("text");
  const metadata_change change = {STR("k"), STR("v")};
  switch (action) {
  case ADD:
    return table_add_columns(s, &tens, 1, NULL, NULL, NULL, err);
  case CAST:
    return table_alter_columns(s, &cast, 1, NULL, NULL, NULL, err);
  case RENAME:
    return table_alter_columns(s, &rename, 1, NULL, NULL, NULL, err);
  case DROP_TEXT:
    return table_drop_columns(s, &text, 1, NULL, NULL, NULL, err);
  case SET:
    return table_set_metadata(s, METADATA_FIELD, text, &(metadata_update){true, false, &change, 1},
                              NULL, NULL, NULL, err);
  case ACTIONS:
    break;
  }
  return GLV_OK;
}

/* One failure, at operation n. @return whether there was such an operation. */
static bool fail_once(enum action action, bool is_memory, size_t n) {
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = open_table(t.env, test_env_path(&t, "t"));
  glv_error err = {0};
  if (is_memory) {
    alloc_fault_arm(&t.alloc, n, false);
  } else {
    io_fault_arm(&t.io, (io_fault_plan){.mask = IO_MASK_ALL, .nth = n, .number = EIO});
  }
  const glv_status status = act(s, action, &err);
  const bool fired = is_memory ? atomic_load(&t.alloc.fired) : t.io.fired;
  alloc_fault_arm(&t.alloc, 0, false);
  io_fault_arm(&t.io, (io_fault_plan){0});
  table_snapshot *latest;
  OK(table_open_version(s, 0, &latest, err));
  if (status == GLV_OK || status == GLV_E_UNKNOWN_OUTCOME) {
    assert_true(table_version(latest) <= 4);
  } else {
    assert_int_equal(table_version(latest), 3);
    assert_int_equal(err.code, status);
    assert_int_equal(count_files(t.env, test_env_path(&t, "t/data")), 2);
    OK(act(latest, action, err)); /* and the next try succeeds */
  }
  table_unref(latest);
  table_unref(s);
  test_env_close(&t);
  return fired;
}

static void test_faults(void **state) {
  (void)state;
  for (int action = 0; action < ACTIONS; action++) {
    for (int is_memory = 0; is_memory < 2; is_memory++) {
      for (size_t n = 1; fail_once((enum action)action, is_memory != 0, n); n++) {
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_add, test_env_setup, test_env_teardown),
      cmocka_unit_test_setup_teardown(test_refused, test_env_setup, test_env_teardown),
      cmocka_unit_test_setup_teardown(test_nothing, test_env_setup, test_env_teardown),
      cmocka_unit_test_setup_teardown(test_alter, test_env_setup, test_env_teardown),
      cmocka_unit_test_setup_teardown(test_cast_overflow, test_env_setup, test_env_teardown),
      cmocka_unit_test_setup_teardown(test_drop, test_env_setup, test_env_teardown),
      cmocka_unit_test_setup_teardown(test_retry, test_env_setup, test_env_teardown),
      cmocka_unit_test_setup_teardown(test_metadata, test_env_setup, test_env_teardown),
      cmocka_unit_test_setup_teardown(test_metadata_conflicts, test_env_setup, test_env_teardown),
      cmocka_unit_test(test_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
