/*
 * Writers and refreshers at once, in threads of one environment (which wait for each other) and of
 * another one (which conflict, as processes would). No row of the view is lost or doubled, no
 * append is lost, losers get the documented error.
 */
#include <pthread.h>
#include <stdlib.h>

#include "support/suite.h"

enum { WRITERS = 2, REFRESHERS = 3 };

struct shared {
  const char *root;
  int appends;
  _Atomic int writers_left;
  _Atomic int conflicts;
  _Atomic int refreshes;
};

struct worker {
  struct shared *shared;
  glv_env *env;
  int number;
  pthread_t thread;
};

static void *write_rows(void *argument) {
  struct worker *w = argument;
  suite s = {.env = w->env};
  must(&s, glv_connect(s.env, w->shared->root, NULL, &s.conn, &s.err));
  glv_table *table = NULL;
  must(&s, glv_table_open(s.conn, ID("t"), NULL, &table, &s.err));
  for (int i = 0; i < w->shared->appends; i++) {
    struct ArrowArrayStream data;
    char row[32];
    snprintf(row, sizeof row, "%d", w->number * 1000000 + i);
    rows_stream(s.env, "id int64", row, &data);
    must(&s, glv_table_append(table, &data, NULL, NULL, &s.err));
  }
  glv_table_free(table);
  glv_conn_free(s.conn);
  w->shared->writers_left--;
  return NULL;
}

static void *refresh_view(void *argument) {
  struct worker *w = argument;
  suite s = {.env = w->env};
  must(&s, glv_connect(s.env, w->shared->root, NULL, &s.conn, &s.err));
  glv_view *view = NULL;
  must(&s, glv_view_open(s.conn, ID("v"), NULL, &view, &s.err));
  while (w->shared->writers_left > 0) {
    glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
    glv_refresh_result result = GLV_OPTIONS(glv_refresh_result);
    options.retries = -1;
    const glv_status status = glv_view_refresh(view, &options, &result, &s.err);
    if (status == GLV_E_CONFLICT) {
      assert_true(s.err.flags & GLV_ERROR_MAY_RETRY);
      w->shared->conflicts++;
    } else {
      must(&s, status);
      assert_true(result.mode == GLV_REFRESH_INCREMENTAL || result.mode == GLV_REFRESH_NO_OP);
      w->shared->refreshes++;
    }
  }
  glv_view_free(view);
  glv_conn_free(s.conn);
  return NULL;
}

static void check_result(suite *s, int expected) {
  glv_view *view = NULL;
  glv_table *table = NULL;
  must(s, glv_view_open(s->conn, ID("v"), NULL, &view, &s->err));
  refresh(s, view);
  must(s, glv_table_open(s->conn, ID("t"), NULL, &table, &s->err));
  assert_int_equal(count_rows(s, table), expected);
  assert_int_equal(count_rows(s, glv_view_table(view)), expected);
  struct ArrowArrayStream out;
  must(s, glv_query(s->conn, "SELECT __source_row_id FROM v ORDER BY __source_row_id", NULL, &out,
                    &s->err));
  char *text = rows_text(s->env, &out);
  long last = -1;
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    assert_true(atol(line) > last);
    last = atol(line);
  }
  mem_free(s->env, text);
  glv_table_free(table);
  glv_view_free(view);
}

static void writers_and_refreshers(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_env *other = NULL;
  must(&s, glv_env_new(NULL, &other, &s.err));
  glv_table_free(create_table(&s, ID("t"), "id int64", "0"));
  glv_view_free(create_view(&s, ID("v"), "SELECT id FROM t"));
  const int appends = getenv("GLAIVE_LONG") != NULL ? 400 : 12;
  struct shared shared = {.root = s.t.root, .appends = appends, .writers_left = WRITERS};
  struct worker workers[WRITERS + REFRESHERS];
  for (int i = 0; i < WRITERS + REFRESHERS; i++) {
    workers[i] =
        (struct worker){.shared = &shared, .env = i % 2 == 0 ? s.env : other, .number = i + 1};
    assert_int_equal(pthread_create(&workers[i].thread, NULL,
                                    i < WRITERS ? write_rows : refresh_view, &workers[i]),
                     0);
  }
  for (int i = 0; i < WRITERS + REFRESHERS; i++) {
    pthread_join(workers[i].thread, NULL);
  }
  print_message("%d refreshes, %d conflicts\n", shared.refreshes, shared.conflicts);
  check_result(&s, 1 + WRITERS * appends);
  glv_env_free(other);
  suite_close(&s);
}

struct dropper {
  glv_conn *conn;
  pthread_t thread;
};

static void *drop_view(void *argument) {
  struct dropper *d = argument;
  glv_error err = {0};
  assert_int_equal(glv_view_drop(d->conn, ID("v"), NULL, &err), GLV_OK);
  return NULL;
}

/* A drop cancels the refresh that runs in its environment, waits for it, and leaves nothing behind.
 */
static void a_drop_cancels_the_refresh(void **state) {
  (void)state;
  for (int round = 0; round < 5; round++) {
    suite s;
    suite_open(&s);
    struct ArrowArrayStream data;
    glv_table *t = NULL;
    rows_people(s.env, 0, 200000, &data);
    must(&s, glv_table_create(s.conn, ID("t"), &data, NULL, &t, &s.err));
    glv_view_def def = GLV_OPTIONS(glv_view_def);
    glv_view_options no_data = GLV_OPTIONS(glv_view_options);
    glv_view *view = NULL;
    def.query = "SELECT id, upper(name) AS name FROM t";
    no_data.flags = GLV_VIEW_NO_DATA;
    must(&s, glv_view_create(s.conn, ID("v"), &def, &no_data, &view, &s.err));
    struct dropper d = {.conn = s.conn};
    assert_int_equal(pthread_create(&d.thread, NULL, drop_view, &d), 0);
    const glv_status status = glv_view_refresh(view, NULL, NULL, &s.err);
    pthread_join(d.thread, NULL);
    assert_true(status == GLV_OK || status == GLV_E_CANCELLED || status == GLV_E_TABLE_NOT_FOUND ||
                status == GLV_E_STALE_VIEW);
    bool exists = true;
    assert_int_equal(io_exists(s.env, NULL, test_env_path(&s.t, "v.lance"), &exists, NULL), GLV_OK);
    assert_false(exists);
    glv_view_free(view);
    glv_table_free(t);
    suite_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(writers_and_refreshers),
      cmocka_unit_test(a_drop_cancels_the_refresh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
