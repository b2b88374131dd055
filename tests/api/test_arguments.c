/* Programmer errors at the exported boundary: NULL, sizes of option structs, unknown flags, forks.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"

static void null_parameters_are_named(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_conn *conn = NULL;
  glv_table *table = NULL;
  must_fail(&s, GLV_E_INVALID_INPUT, "'env'", glv_connect(NULL, "x", NULL, &conn, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'uri'", glv_connect(s.env, NULL, NULL, &conn, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'ret'", glv_connect(s.env, "x", NULL, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'conn'", glv_table_open(NULL, ID("t"), NULL, &table, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'id'", glv_table_open(s.conn, ROOT, NULL, &table, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'table'", glv_table_checkout(NULL, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'table'", glv_table_is_latest(NULL, &(int){0}, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'view'", glv_view_refresh(NULL, NULL, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'def'",
            glv_view_create(s.conn, ID("v"), NULL, NULL, NULL, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'data'", glv_table_append(NULL, NULL, NULL, NULL, &s.err));
  assert_int_equal(glv_table_open(NULL, ID("t"), NULL, &table, NULL), GLV_E_INVALID_INPUT);
  glv_env_free(NULL);
  glv_conn_free(NULL);
  glv_table_free(NULL);
  glv_view_free(NULL);
  glv_list_free(NULL);
  glv_view_plan_free(NULL);
  glv_cancel_free(NULL);
  glv_view_def_free(NULL);
  glv_buf_dispose(NULL);
  suite_close(&s);
}

static void failing_calls_release_their_stream(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  struct ArrowArrayStream data;
  rows_stream(s.env, "id int64", "1", &data);
  assert_int_equal(glv_table_append(NULL, &data, NULL, NULL, NULL), GLV_E_INVALID_INPUT);
  assert_null(data.release);
  rows_stream(s.env, "id int64", "1", &data);
  assert_int_equal(glv_table_create(NULL, ID("t"), &data, NULL, NULL, NULL), GLV_E_INVALID_INPUT);
  assert_null(data.release);
  rows_stream(s.env, "id int64", "1", &data);
  assert_int_equal(glv_table_create(s.conn, ID("no name"), &data, NULL, NULL, NULL),
                   GLV_E_INVALID_INPUT);
  assert_null(data.release);
  rows_stream(s.env, "id int64", "1", &data);
  assert_int_equal(glv_table_create(s.conn, ID("missing", "t"), &data, NULL, NULL, NULL),
                   GLV_E_NAMESPACE_NOT_FOUND);
  assert_null(data.release);
  suite_close(&s);
}

/* Options from older and newer headers (style: extensible structs). */
static void option_structs_grow(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_table *table = create_table(&s, ID("t"), "id int64", "1\n2\n3");
  uint64_t count = 0;
  struct {
    glv_call_options known;
    uint64_t newer;
  } options;
  memset(&options, 0, sizeof options);
  options.known.struct_size = 4;
  must_fail(&s, GLV_E_INVALID_INPUT, "struct_size is 4",
            glv_table_count(table, NULL, &options.known, &count, &s.err));
  options.known.struct_size = 8; /* an old header that knew flags only */
  must(&s, glv_table_count(table, NULL, &options.known, &count, &s.err));
  options.known.struct_size = sizeof options;
  must(&s, glv_table_count(table, NULL, &options.known, &count, &s.err));
  options.newer = 1;
  must_fail(&s, GLV_E_UNSUPPORTED, "newer header",
            glv_table_count(table, NULL, &options.known, &count, &s.err));
  options.newer = 0;
  options.known.flags = 1u << 30;
  must_fail(&s, GLV_E_INVALID_INPUT, "unknown flags",
            glv_table_count(table, NULL, &options.known, &count, &s.err));
  glv_table_free(table);
  suite_close(&s);
}

static void error_type_is_512_bytes(void **state) {
  (void)state;
  assert_int_equal(sizeof(glv_error), 512);
  assert_string_equal(glv_status_name(GLV_E_CORRUPT), "GLV_E_CORRUPT");
  assert_string_equal(glv_status_name(123), "GLV_E_BRANCH_EXISTS");
  assert_string_equal(glv_status_name(-1), "GLV_E_UNKNOWN_CODE");
  assert_true(glv_version_number() > 0);
}

static void a_forked_child_is_told(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  const pid_t child = fork();
  if (child == 0) {
    glv_table *table = NULL;
    glv_error err = {0};
    const glv_status status = glv_table_open(s.conn, ID("t"), NULL, &table, &err);
    _exit(status == GLV_E_BAD_STATE && strstr(err.message, "fork") != NULL ? 0 : 1);
  }
  int result = 1;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_int_equal(WEXITSTATUS(result), 0);
  suite_close(&s);
}

static void uris_are_checked(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_conn *conn = NULL;
  must_fail(&s, GLV_E_INVALID_INPUT, "empty", glv_connect(s.env, "", NULL, &conn, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "s3", glv_connect(s.env, "s3://bucket/db", NULL, &conn, &s.err));
  must_fail(&s, GLV_E_UNSUPPORTED, "'rest'",
            glv_connect_namespace(s.env, "rest", NO_PAIRS, NULL, &conn, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "'root'",
            glv_connect_namespace(s.env, "dir", NO_PAIRS, NULL, &conn, &s.err));
  char uri[128];
  snprintf(uri, sizeof uri, "file://%s", s.t.root);
  must(&s, glv_connect(s.env, uri, NULL, &conn, &s.err));
  assert_string_equal(glv_conn_uri(conn), uri);
  assert_int_equal(glv_conn_is_remote(conn), 0);
  glv_conn_free(conn);
  suite_close(&s);
}

/* Nothing is sent when a connection is made, and a server that is not there is found out by the
 * first call. */
static void servers_are_named(void **state) {
  (void)state;
  suite s;
  suite_open(&s);
  glv_conn *conn = NULL;
  glv_table *table = NULL;
  glv_connect_options options = GLV_OPTIONS(glv_connect_options);
  assert_int_equal(unsetenv("GLAIVE_URL"), 0);
  must_fail(&s, GLV_E_INVALID_INPUT, "GLAIVE_URL",
            glv_connect(s.env, "db://x", NULL, &conn, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "no database",
            glv_connect(s.env, "db://", NULL, &conn, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "no host", glv_connect(s.env, "http://", NULL, &conn, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "cannot contain",
            glv_connect(s.env, "http://h/a?b", NULL, &conn, &s.err));
  options.host_override = "h:1";
  must_fail(&s, GLV_E_INVALID_INPUT, "http://",
            glv_connect(s.env, "db://x", &options, &conn, &s.err));
  options.host_override = "http://127.0.0.1:1";
  must_fail(&s, GLV_E_INVALID_INPUT, "host_override",
            glv_connect(s.env, "http://h", &options, &conn, &s.err));
  options.flags = 2;
  must_fail(&s, GLV_E_INVALID_INPUT, "flags",
            glv_connect(s.env, "db://x", &options, &conn, &s.err));
  options.flags = GLV_CONNECT_CONSISTENCY;
  options.api_key = "a\nb";
  must_fail(&s, GLV_E_INVALID_INPUT, "x-api-key",
            glv_connect(s.env, "db://x", &options, &conn, &s.err));
  options.api_key = "key";
  options.retries = 1;
  must(&s, glv_connect(s.env, "db://x/pre/", &options, &conn, &s.err));
  assert_int_equal(glv_conn_is_remote(conn), 1);
  assert_string_equal(glv_conn_uri(conn), "db://x/pre/");
  must_fail(&s, GLV_E_NETWORK, "no connection",
            glv_table_open(conn, ID("t"), NULL, &table, &s.err));
  must_fail(&s, GLV_E_INVALID_INPUT, "0x24", glv_table_open(conn, ID("a$b"), NULL, &table, &s.err));
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view_plan *plan = NULL;
  def.query = "SELECT * FROM t";
  must_fail(&s, GLV_E_UNSUPPORTED, "does not offer",
            glv_view_prepare(conn, &def, NULL, &plan, &s.err));
  glv_conn_free(conn);
  suite_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(null_parameters_are_named),
      cmocka_unit_test(failing_calls_release_their_stream),
      cmocka_unit_test(option_structs_grow),
      cmocka_unit_test(error_type_is_512_bytes),
      cmocka_unit_test(a_forked_child_is_told),
      cmocka_unit_test(uris_are_checked),
      cmocka_unit_test(servers_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
