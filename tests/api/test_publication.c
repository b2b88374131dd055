/*
 * What others do between the moments of a refresh (materialized-views 7.6, 7.7, checklist 33 and
 * 35): another refresh, a drop, a drop and a new creation, before the manifest is staged and
 * between staging and publishing. On both stores.
 */
#include "support/io_hook.h"
#include "support/suite.h"

static const char columns[] = "id int64";

/* One database seen by two environments; ours runs `act` of the other one inside its refresh. */
struct scene {
  suite other;
  io_hook hook;
  glv_env *env;
  glv_conn *conn;
  glv_view *view;
};

static void scene_open(struct scene *sc, int store) {
  memset(sc, 0, sizeof *sc);
  suite_open_on(&sc->other, store);
  glv_table *t = create_table(&sc->other, ID("t"), columns, "1\n2");
  glv_view_free(create_view(&sc->other, ID("v"), "SELECT id FROM t"));
  append_rows(&sc->other, t, columns, "3");
  glv_table_free(t);
  io_hook_init(&sc->hook, env_io(sc->other.env));
  sc->env = test_env_over(&sc->hook.table);
  must(&sc->other, glv_connect(sc->env, sc->other.t.root, NULL, &sc->conn, &sc->other.err));
  must(&sc->other, glv_view_open(sc->conn, ID("v"), NULL, &sc->view, &sc->other.err));
}

static void scene_close(struct scene *sc) {
  glv_view_free(sc->view);
  glv_conn_free(sc->conn);
  glv_env_free(sc->env);
  suite_close(&sc->other);
}

/* Let act happen before the manifest is staged (stage) or between staging and publishing. */
static void hook_at(struct scene *sc, bool stage, void (*act)(void *)) {
  sc->hook.before_create = stage;
  sc->hook.before_publish = !stage;
  sc->hook.text = ".manifest";
  sc->hook.act = act;
  sc->hook.context = sc;
  sc->hook.done = false;
}

static glv_status try_refresh(struct scene *sc, int retries, glv_refresh_result *result) {
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  options.retries = retries;
  *result = GLV_OPTIONS(glv_refresh_result);
  return glv_view_refresh(sc->view, &options, result, &sc->other.err);
}

static void other_refreshes(void *context) {
  struct scene *sc = context;
  glv_view *view = NULL;
  suite *s = &sc->other;
  must(s, glv_view_open(s->conn, ID("v"), NULL, &view, &s->err));
  assert_int_equal(refresh(s, view).mode, GLV_REFRESH_INCREMENTAL);
  glv_view_free(view);
}

static void check_view(struct scene *sc, uint64_t version, const char *rows) {
  glv_view *view = NULL;
  suite *s = &sc->other;
  must(s, glv_view_open(s->conn, ID("v"), NULL, &view, &s->err));
  assert_int_equal(glv_table_version(glv_view_table(view)), version);
  assert_table(s, glv_view_table(view), rows);
  glv_view_free(view);
}

static void two_refreshes(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; variant++) {
    struct scene sc;
    glv_refresh_result result;
    scene_open(&sc, variant % 2);
    hook_at(&sc, variant < 2, other_refreshes);
    must_fail(&sc.other, GLV_E_CONFLICT, "", try_refresh(&sc, -1, &result));
    assert_true(sc.other.err.flags & GLV_ERROR_MAY_RETRY);
    assert_true(sc.hook.done);
    check_view(&sc, 3, "1 | 0\n2 | 1\n3 | 2");
    must(&sc.other, try_refresh(&sc, -1, &result));
    assert_int_equal(result.mode, GLV_REFRESH_NO_OP);
    scene_close(&sc);
  }
}

static void the_loser_retries(void **state) {
  (void)state;
  struct scene sc;
  glv_refresh_result result;
  scene_open(&sc, 1);
  hook_at(&sc, false, other_refreshes);
  must(&sc.other, try_refresh(&sc, 0, &result));
  assert_int_equal(result.mode, GLV_REFRESH_NO_OP);
  check_view(&sc, 3, "1 | 0\n2 | 1\n3 | 2");
  scene_close(&sc);
}

static void other_drops(void *context) {
  struct scene *sc = context;
  must(&sc->other, glv_view_drop(sc->other.conn, ID("v"), NULL, &sc->other.err));
}

static void other_recreates(void *context) {
  struct scene *sc = context;
  other_drops(context);
  glv_view_free(create_view(&sc->other, ID("v"), "SELECT id + 10 AS id FROM t"));
}

static void dropped_and_recreated(void **state) {
  (void)state;
  for (int variant = 0; variant < 8; variant++) {
    struct scene sc;
    glv_refresh_result result;
    scene_open(&sc, variant % 2);
    hook_at(&sc, variant < 4, variant / 2 % 2 == 0 ? other_drops : other_recreates);
    must_fail(&sc.other, GLV_E_STALE_VIEW, "dropped and recreated", try_refresh(&sc, 0, &result));
    assert_true(sc.hook.done);
    if (variant / 2 % 2 == 1) {
      check_view(&sc, 2, "11 | 0\n12 | 1\n13 | 2"); /* the new view is as it was made */
      const char **names = NULL;
      size_t count = 0;
      arena a;
      arena_init(&a, sc.other.env);
      must(&sc.other,
           io_list_sorted(sc.other.env, NULL, test_env_path(&sc.other.t, "v.lance/_versions"), &a,
                          &names, NULL, &count, &sc.other.err));
      assert_int_equal(count, 3); /* two manifests and the hint: nothing of ours */
      arena_dispose(&a);
    }
    scene_close(&sc);
  }
}

static void other_appends(void *context) {
  struct scene *sc = context;
  glv_table *t = NULL;
  must(&sc->other, glv_table_open(sc->other.conn, ID("t"), NULL, &t, &sc->other.err));
  append_rows(&sc->other, t, columns, "4");
  glv_table_free(t);
}

/* The source version is fixed when the refresh starts; what comes later is for the next one. */
static void the_source_moves_on(void **state) {
  (void)state;
  struct scene sc;
  glv_refresh_result result;
  scene_open(&sc, 1);
  hook_at(&sc, false, other_appends);
  must(&sc.other, try_refresh(&sc, 0, &result));
  assert_int_equal(result.source_version, 2);
  check_view(&sc, 3, "1 | 0\n2 | 1\n3 | 2");
  must(&sc.other, try_refresh(&sc, 0, &result));
  assert_int_equal(result.mode, GLV_REFRESH_INCREMENTAL);
  check_view(&sc, 4, "1 | 0\n2 | 1\n3 | 2\n4 | 3");
  scene_close(&sc);
}

/* What a handle remembers of view and source spares reading it again, and hides no change. */
static void nothing_to_do(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    struct scene sc;
    glv_refresh_result result;
    scene_open(&sc, store);
    must(&sc.other, try_refresh(&sc, 0, &result));
    assert_int_equal(result.mode, GLV_REFRESH_INCREMENTAL);
    const size_t files_read = sc.hook.files_read;
    must(&sc.other, try_refresh(&sc, 0, &result));
    assert_int_equal(result.mode, GLV_REFRESH_NO_OP);
    assert_int_equal(result.version, 3);
    assert_int_equal(sc.hook.files_read, files_read);
    other_appends(&sc);
    other_refreshes(&sc); /* the view moves on as well as the source */
    must(&sc.other, try_refresh(&sc, 0, &result));
    assert_int_equal(result.mode, GLV_REFRESH_NO_OP);
    assert_int_equal(result.version, 4);
    assert_int_equal(result.source_version, 3);
    assert_int_equal(glv_table_version(glv_view_table(sc.view)), 4);
    other_appends(&sc);
    must(&sc.other, try_refresh(&sc, 0, &result));
    assert_int_equal(result.mode, GLV_REFRESH_INCREMENTAL);
    check_view(&sc, 5, "1 | 0\n2 | 1\n3 | 2\n4 | 3\n4 | 4");
    scene_close(&sc);
  }
}

/* The same version numbers in another directory. */
static void others_under_the_same_names(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    struct scene sc;
    glv_refresh_result result;
    scene_open(&sc, store);
    must(&sc.other, try_refresh(&sc, 0, &result));
    suite *s = &sc.other;
    must(s, glv_table_drop(s->conn, ID("t"), NULL, &s->err));
    glv_table *t = create_table(s, ID("t"), columns, "7\n8");
    append_rows(s, t, columns, "9");
    glv_table_free(t);
    must(s, try_refresh(&sc, 0, &result));
    assert_string_equal(result.reason, "source_recreated");
    check_view(&sc, 4, "7 | 0\n8 | 1\n9 | 2");
    other_recreates(&sc);
    must(s, try_refresh(&sc, 0, &result));
    assert_int_equal(result.mode, GLV_REFRESH_NO_OP);
    assert_int_equal(result.version, 2);
    check_view(&sc, 2, "17 | 0\n18 | 1\n19 | 2");
    scene_close(&sc);
  }
}

/* A reader that was there before keeps its rows; one that comes sees old or new. */
static void readers_see_old_or_new(void **state) {
  (void)state;
  struct scene sc;
  glv_refresh_result result;
  scene_open(&sc, 1);
  glv_view *before = NULL;
  must(&sc.other, glv_view_open(sc.other.conn, ID("v"), NULL, &before, &sc.other.err));
  must(&sc.other, try_refresh(&sc, 0, &result));
  assert_int_equal(count_rows(&sc.other, glv_view_table(before)), 2);
  must(&sc.other, glv_table_checkout(glv_view_table(before), NULL, &sc.other.err));
  assert_int_equal(count_rows(&sc.other, glv_view_table(before)), 3);
  glv_view_free(before);
  scene_close(&sc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_refreshes),          cmocka_unit_test(the_loser_retries),
      cmocka_unit_test(dropped_and_recreated),  cmocka_unit_test(the_source_moves_on),
      cmocka_unit_test(nothing_to_do),          cmocka_unit_test(others_under_the_same_names),
      cmocka_unit_test(readers_see_old_or_new),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
