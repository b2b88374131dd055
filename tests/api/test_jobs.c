/* Jobs of an embedded connection: they do what the blocking calls do, stand in line per view, stop
 * when asked and end with their connection. */
#include "support/suite.h"

static const char columns[] = "name utf8 | age int32";

static glv_job_info look(suite *s, glv_job *job) {
  glv_job_info info = GLV_OPTIONS(glv_job_info);
  must(s, glv_job_status(job, &info, &s->err));
  return info;
}

static void a_view_lives_by_jobs(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1\nb | 2");
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_refresh_result r = GLV_OPTIONS(glv_refresh_result);
  glv_job *job = NULL;
  glv_view *view = NULL;
  def.query = "SELECT name FROM t WHERE age > 1";
  must(&s, glv_view_create_job(s.conn, ID("v"), &def, NULL, &job, &s.err));
  assert_null(glv_job_id(job));
  must(&s, glv_job_wait(job, 0, &s.err));
  assert_int_equal(look(&s, job).state, GLV_JOB_DONE);
  assert_int_equal(look(&s, job).done, 2);
  assert_int_equal(look(&s, job).total, 2);
  must_fail(&s, GLV_E_BAD_STATE, "no refresh", glv_job_result(job, &r, &s.err));
  glv_job_free(job);
  must(&s, glv_view_open(s.conn, ID("v"), NULL, &view, &s.err));
  assert_table(&s, glv_view_table(view), "b | 1");
  append_rows(&s, t, columns, "c | 3");
  must(&s, glv_view_refresh_job(view, NULL, &job, &s.err));
  glv_view_free(view); /* the job has it */
  must(&s, glv_job_wait(job, 10000, &s.err));
  must(&s, glv_job_result(job, &r, &s.err));
  assert_int_equal(r.mode, GLV_REFRESH_INCREMENTAL);
  assert_int_equal(r.rows_written, 1);
  struct ArrowArrayStream events;
  must(&s, glv_job_events(job, &events, &s.err));
  char *text = rows_text(s.env, &events);
  assert_non_null(strstr(text, "QUEUED"));
  assert_non_null(strstr(text, "IN_PROGRESS"));
  assert_non_null(strstr(text, "DONE"));
  mem_free(s.env, text);
  glv_job_free(job);
  must(&s, glv_view_drop_job(s.conn, ID("v"), NULL, &job, &s.err));
  must(&s, glv_job_wait(job, 0, &s.err));
  glv_job_free(job);
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "v", glv_view_open(s.conn, ID("v"), NULL, &view, &s.err));
  glv_table_free(t);
  suite_close(&s);
}

static void what_is_refused_at_once(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t");
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_job_info info = GLV_OPTIONS(glv_job_info);
  glv_refresh_result r = GLV_OPTIONS(glv_refresh_result);
  glv_list *list = NULL;
  glv_job *job = NULL;
  def.query = "SELECT nobody FROM t";
  must_fail(&s, GLV_E_SQL_PLAN, "nobody",
            glv_view_create_job(s.conn, ID("w"), &def, NULL, &job, &s.err));
  must_fail(&s, GLV_E_TABLE_NOT_FOUND, "x", glv_view_drop_job(s.conn, ID("x"), NULL, &job, &s.err));
  must_fail(&s, GLV_E_NOT_A_VIEW, "t", glv_view_drop_job(s.conn, ID("t"), NULL, &job, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "only a server", glv_job_open(s.conn, "j", &job, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "only a server", glv_job_list(s.conn, NULL, &list, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "job", glv_job_status(NULL, &info, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "job", glv_job_wait(NULL, 0, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "job", glv_job_result(NULL, &r, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "job", glv_job_cancel(NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "ret_job", glv_view_refresh_job(view, NULL, NULL, &s.err));
  def.query = "SELECT name FROM t";
  must(&s, glv_view_create_job(s.conn, ID("v"), &def, NULL, &job, &s.err)); /* the name is taken */
  must_fail(&s, GLV_E_TABLE_EXISTS, "v", glv_job_wait(job, 0, &s.err));
  assert_int_equal(look(&s, job).state, GLV_JOB_FAILED);
  assert_int_equal(look(&s, job).error.code, GLV_E_TABLE_EXISTS);
  must_fail(&s, GLV_E_TABLE_EXISTS, "v", glv_job_result(job, &r, &s.err));
  must(&s, glv_job_cancel(job, &s.err));
  assert_int_equal(look(&s, job).state, GLV_JOB_FAILED);
  glv_job_free(job);
  glv_job_free(NULL);
  glv_view_free(view);
  glv_table_free(t);
  suite_close(&s);
}

/* Many refreshes of one view; half of them are stopped, and the rest agree on what is there. */
static void many_of_one_view(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  enum { JOBS = 16 };
  glv_table *t = create_table(&s, ID("t"), columns, "a | 1");
  glv_view *view = create_view(&s, ID("v"), "SELECT name FROM t");
  glv_refresh_options full = GLV_OPTIONS(glv_refresh_options);
  glv_job *jobs[JOBS];
  full.full = 1;
  for (size_t i = 0; i < JOBS; i++) {
    must(&s, glv_view_refresh_job(view, &full, &jobs[i], &s.err));
  }
  for (size_t i = 1; i < JOBS; i += 2) {
    must(&s, glv_job_cancel(jobs[i], &s.err));
  }
  size_t done = 0;
  for (size_t i = 0; i < JOBS; i++) {
    const glv_status status = glv_job_wait(jobs[i], 0, &s.err);
    assert_true(status == GLV_OK || (i % 2 == 1 && status == GLV_E_CANCELLED));
    done += status == GLV_OK;
    glv_job_free(jobs[i]);
  }
  assert_true(done >= JOBS / 2);
  assert_table(&s, glv_view_table(view), "a | 0");
  glv_view_free(view);
  glv_table_free(t);
  suite_close(&s);
}

static void jobs_end_with_their_connection(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  glv_table *t = NULL;
  rows_people(s.env, 0, 300000, &data);
  must(&s, glv_table_create(s.conn, ID("t"), &data, NULL, &t, &s.err));
  glv_view *view = create_view(&s, ID("v"), "SELECT id, upper(name) AS name FROM t");
  glv_refresh_options full = GLV_OPTIONS(glv_refresh_options);
  glv_job *jobs[4];
  full.full = 1;
  for (size_t i = 0; i < 4; i++) {
    must(&s, glv_view_refresh_job(view, &full, &jobs[i], &s.err));
  }
  glv_conn_free(s.conn);
  for (size_t i = 0; i < 4; i++) {
    const int32_t at = look(&s, jobs[i]).state;
    assert_true(at == GLV_JOB_DONE || at == GLV_JOB_CANCELLED);
    glv_job_free(jobs[i]);
  }
  glv_job *job = NULL;
  must_fail(&s, GLV_E_BAD_STATE, "released", glv_view_refresh_job(view, &full, &job, &s.err));
  assert_int_equal(count_rows(&s, glv_view_table(view)), 300000);
  glv_view_free(view);
  glv_table_free(t);
  test_env_close(&s.t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_view_lives_by_jobs),
      cmocka_unit_test(what_is_refused_at_once),
      cmocka_unit_test(many_of_one_view),
      cmocka_unit_test(jobs_end_with_their_connection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
