/* Connecting to servers: no memory, and what is kept of the options. Nothing is sent. */
#include "backend/backend.h"
#include "remote/remote.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static void which_uris_are_servers(void **state) {
  (void)state;
  assert_true(remote_is_uri("db://x"));
  assert_true(remote_is_uri("http://h"));
  assert_true(remote_is_uri("https://h:1/p"));
  assert_false(remote_is_uri("file:///tmp/x"));
  assert_false(remote_is_uri("/tmp/db://x"));
  assert_false(remote_is_uri("s3://bucket"));
  assert_false(remote_is_uri("httpd"));
}

static glv_status connect_all(glv_env *env, glv_conn **ret) {
  static const glv_pair headers[] = {{"x-one", "1"}, {"x-two", ""}};
  const glv_connect_options options = {.struct_size = sizeof options,
                                       .host_override = "http://127.0.0.1:9/base/",
                                       .api_key = "key",
                                       .headers = {headers, 2},
                                       .user_agent = "test",
                                       .ca_file = "/nowhere",
                                       .timeout_ms = 1000};
  glv_error err;
  const glv_status status = remote_connect(env, "db://name/pre/fix", &options, NULL, ret, &err);
  assert_true(status == GLV_OK || err.code == status);
  return status;
}

static void no_memory(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  uint64_t nth = 1;
  for (;; nth++) {
    glv_conn *conn = NULL;
    alloc_fault_arm(&t.alloc, nth, false);
    const glv_status status = connect_all(t.env, &conn);
    alloc_fault_arm(&t.alloc, 0, false);
    if (status == GLV_OK) {
      assert_string_equal(conn->uri, "db://name/pre/fix");
      handle_unref(&conn->handle);
      break;
    }
    assert_int_equal(status, GLV_E_NOMEM);
    assert_null(conn);
  }
  assert_true(nth > 2);
  test_env_close(&t);
}

/* A request that does not come to be sent gives everything back, too. */
static void no_memory_for_a_request(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  glv_conn *conn = NULL;
  assert_int_equal(connect_all(t.env, &conn), GLV_OK);
  static const char *const name[] = {"t"};
  const glv_call_options options = {.struct_size = sizeof options};
  uint64_t nth = 1;
  for (;; nth++) {
    glv_error err;
    alloc_fault_arm(&t.alloc, nth, false);
    const glv_status status = conn->ops->table_drop(conn, (glv_id){name, 1}, &options, &err);
    const bool fired = t.alloc.fired;
    alloc_fault_arm(&t.alloc, 0, false);
    if (!fired) {
      assert_int_equal(status, GLV_E_NETWORK);
      break;
    }
    assert_true(status == GLV_E_NOMEM || status == GLV_E_NETWORK);
  }
  assert_true(nth > 2);
  handle_unref(&conn->handle);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(which_uris_are_servers),
      cmocka_unit_test(no_memory),
      cmocka_unit_test(no_memory_for_a_request),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
