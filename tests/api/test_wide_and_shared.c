/* Wide definitions, `*` that a source outgrows, and handles that several threads or an old version
 * share. */
#include <pthread.h>

#include "arrow/cdata.h"
#include "support/suite.h"

static const char columns[] = "a int64 | b utf8";

/* A query stored with `*` names the columns of its creation, so a later column changes nothing. */
static void star_is_expanded_in_every_form(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  glv_table *t = create_table(&s, ID("t"), columns, "1 | x\n2 | y");
  static const char *const stored[] = {
      "{\"inputs\":[\"a\",\"b\"],\"kind\":\"select\",\"projections\":[{\"expression\":\"`a`\","
      "\"output\":\"a\"},{\"expression\":\"`b`\",\"output\":\"b\"}],\"source_table\":\"t\"}",
      "{\"format\":1,\"kind\":\"query\",\"query\":\"SELECT a, b FROM t\"}",
  };
  glv_view *views[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++) {
    glv_view_def def = GLV_OPTIONS(glv_view_def);
    def.query = "SELECT  * FROM t";
    def.stored_form = i == 0 ? GLV_STORED_SELECT : GLV_STORED_QUERY;
    must(&s, glv_view_create(s.conn, ID(i == 0 ? "v" : "w"), &def, NULL, &views[i], &s.err));
    assert_string_equal(glv_view_stored_definition(views[i]), stored[i]);
  }
  rows_stream(s.env, "a int64 | b utf8 | c int64", "3 | z | 4", &data);
  must(&s, glv_table_overwrite(t, &data, NULL, NULL, &s.err));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(refresh(&s, views[i]).rows_written, 1);
    assert_table(&s, glv_view_table(views[i]), "3 | z | 2");
    glv_view_free(views[i]);
  }
  glv_table_free(t);
  suite_close(&s);
}

enum { WIDE = 3000 };

/* Planning takes memory in proportion to the number of columns, not to its square. */
static void wide_views(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  static char names[WIDE][8];
  static field fields[WIDE];
  for (int i = 0; i < WIDE; i++) {
    snprintf(names[i], sizeof names[i], "c%d", i);
    fields[i] = (field){.name = names[i], .type = type_simple(TYPE_INT64), .nullable = true};
  }
  schema *made = NULL;
  struct ArrowSchema wide;
  must(&s, schema_new(s.env, fields, WIDE, (metadata){NULL, 0}, &made, &s.err));
  must(&s, cdata_export_schema(s.env, made, &wide, &s.err));
  must(&s, glv_table_create_empty(s.conn, ID("t"), &wide, NULL, NULL, &s.err));
  wide.release(&wide);
  schema_unref(made);
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view_plan *plan = NULL;
  uint64_t before = 0;
  uint64_t after = 0;
  def.source_table = "t";
  glv_env_memory(s.env, &before, NULL);
  must(&s, glv_view_prepare(s.conn, &def, NULL, &plan, &s.err));
  glv_env_memory(s.env, &after, NULL);
  assert_int_equal(glv_view_plan_definition(plan)->inputs.count, WIDE);
  assert_true(after - before < (uint64_t)WIDE * 4096);
  glv_view_plan_free(plan);
  suite_close(&s);
}

/* A refresh gives a view's table its new rows, but takes no reader away from an old version. */
static void refresh_leaves_old_versions_alone(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "1 | x");
  glv_view *view = create_view(&s, ID("v"), "SELECT a FROM t");
  glv_open_options old = GLV_OPTIONS(glv_open_options);
  old.version = glv_table_version(glv_view_table(view));
  must(&s, glv_table_checkout(glv_view_table(view), &old, &s.err));
  append_rows(&s, t, columns, "2 | y");
  assert_int_equal(refresh(&s, view).rows_written, 1);
  assert_int_equal(glv_table_version(glv_view_table(view)), old.version);
  assert_table(&s, glv_view_table(view), "1 | 0");
  must(&s, glv_table_checkout(glv_view_table(view), NULL, &s.err));
  assert_int_equal(count_rows(&s, glv_view_table(view)), 2);
  glv_table_free(t);
  glv_view_free(view);
  suite_close(&s);
}

enum { WRITERS = 4, APPENDS = 25 };

struct writer {
  suite *s;
  glv_table *table;
  int failures;
};

/* What a thread wrote it can read: the handle never falls behind a version that it returned. */
static void *append_and_look(void *context) {
  struct writer *w = context;
  for (int i = 0; i < APPENDS; i++) {
    struct ArrowArrayStream data;
    glv_write_result result = GLV_OPTIONS(glv_write_result);
    glv_error err = {0};
    rows_stream(w->s->env, columns, "1 | x", &data);
    const glv_status status = glv_table_append(w->table, &data, NULL, &result, &err);
    if (status == GLV_E_CONFLICT) {
      continue; /* out of attempts: nothing was written */
    }
    w->failures += status != GLV_OK || glv_table_version(w->table) < result.version;
  }
  return NULL;
}

static void writers_of_one_handle(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "0 | x");
  pthread_t threads[WRITERS];
  struct writer writers[WRITERS];
  for (int i = 0; i < WRITERS; i++) {
    writers[i] = (struct writer){&s, t, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, append_and_look, &writers[i]), 0);
  }
  for (int i = 0; i < WRITERS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(writers[i].failures, 0);
  }
  glv_table_free(t);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(star_is_expanded_in_every_form),
      cmocka_unit_test(wide_views),
      cmocka_unit_test(refresh_leaves_old_versions_alone),
      cmocka_unit_test(writers_of_one_handle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
