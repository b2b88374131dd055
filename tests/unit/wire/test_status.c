/* Statuses on the wire: every one comes back as itself from the body that it makes. */
#include <stdio.h>

#include "support/cmocka.h"
#include "support/test_env.h"
#include "wire/status.h"

static test_env t;

static int open_env(void **state) {
  (void)state;
  test_env_open_mem(&t);
  return 0;
}

static int close_env(void **state) {
  (void)state;
  test_env_close(&t);
  return 0;
}

static void write_body(const glv_error *error, const char *instance, buf *out) {
  json *body = NULL;
  buf_init(out, t.env, 1 << 20);
  assert_int_equal(wire_error_write(error, instance, &body, NULL), GLV_OK);
  assert_int_equal(js_print(body, 0, 0, out, NULL), GLV_OK);
  js_free(body);
}

static void check_trip(glv_status status) {
  glv_error error = {0};
  glv_error back = {0};
  buf body;
  error_set(&error, status, "what \"went\" wrong: %s", "\xC3\xA4");
  write_body(&error, "id-1", &body);
  assert_int_equal(wire_error_read(wire_http_status(&error), buf_str(&body), GLV_E_INTERNAL, &back),
                   status);
  assert_int_equal(back.code, status);
  assert_int_equal(back.http_status, wire_http_status(&error));
  assert_memory_equal(back.message, error.message, strlen(error.message));
  buf_dispose(&body);
}

static void every_status_survives(void **state) {
  (void)state;
#define CHECK(name, value, text)                                                                   \
  if (value != GLV_OK) {                                                                           \
    check_trip(value);                                                                             \
  }
  GLV_STATUS_MAP(CHECK)
#undef CHECK
}

static void codes(void **state) {
  (void)state;
  static const struct {
    glv_status status;
    int code;
    unsigned http_status;
  } expected[] = {{GLV_E_NOMEM, 17, 503},
                  {GLV_E_IO, 18, 500},
                  {GLV_E_CORRUPT, 18, 400},
                  {GLV_E_CANCELLED, 17, 503},
                  {GLV_E_TIMEOUT, 17, 503},
                  {GLV_E_LIMIT, 13, 400},
                  {GLV_E_UNKNOWN_OUTCOME, 18, 412},
                  {GLV_E_NETWORK, 18, 500},
                  {GLV_E_JOB_FAILED, 18, 400},
                  {GLV_E_JOB_NOT_FOUND, 4, 404},
                  {GLV_E_NOT_A_VIEW, 19, 400},
                  {GLV_E_BAD_STATE, 18, 400},
                  {GLV_E_SQL_PARSE, 13, 400},
                  {GLV_E_SQL_PLAN, 13, 400},
                  {GLV_E_SQL_EXEC, 13, 400},
                  {GLV_E_INVALID_EXPRESSION, 13, 400},
                  {GLV_E_COLUMN_EXISTS, 13, 400},
                  {GLV_E_SCHEMA, 20, 400},
                  {GLV_E_STALE_VIEW, 14, 412},
                  {GLV_E_DIFFERS, 18, 400},
                  {GLV_E_UNSUPPORTED, 0, 501},
                  {GLV_E_NAMESPACE_NOT_FOUND, 1, 404},
                  {GLV_E_NAMESPACE_EXISTS, 2, 409},
                  {GLV_E_NAMESPACE_NOT_EMPTY, 3, 409},
                  {GLV_E_TABLE_NOT_FOUND, 4, 404},
                  {GLV_E_TABLE_EXISTS, 5, 400},
                  {GLV_E_INDEX_NOT_FOUND, 6, 404},
                  {GLV_E_INDEX_EXISTS, 7, 400},
                  {GLV_E_TAG_NOT_FOUND, 8, 404},
                  {GLV_E_TAG_EXISTS, 9, 400},
                  {GLV_E_TRANSACTION_NOT_FOUND, 10, 404},
                  {GLV_E_VERSION_NOT_FOUND, 11, 404},
                  {GLV_E_COLUMN_NOT_FOUND, 12, 400},
                  {GLV_E_INVALID_INPUT, 13, 400},
                  {GLV_E_CONFLICT, 14, 412},
                  {GLV_E_PERMISSION_DENIED, 15, 403},
                  {GLV_E_UNAUTHENTICATED, 16, 401},
                  {GLV_E_UNAVAILABLE, 17, 503},
                  {GLV_E_INTERNAL, 18, 500},
                  {GLV_E_INVALID_TABLE_STATE, 19, 400},
                  {GLV_E_SCHEMA_VALIDATION, 20, 400},
                  {GLV_E_THROTTLED, 21, 503},
                  {GLV_E_BRANCH_NOT_FOUND, 22, 404},
                  {GLV_E_BRANCH_EXISTS, 23, 409}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    const glv_error error = {.code = expected[i].status};
    assert_int_equal(wire_code(expected[i].status), expected[i].code);
    assert_int_equal(wire_http_status(&error), expected[i].http_status);
  }
}

static void conflicts_and_chosen_statuses(void **state) {
  (void)state;
  glv_error error = {.code = GLV_E_CONFLICT, .flags = GLV_ERROR_MAY_RETRY};
  assert_int_equal(wire_http_status(&error), 409);
  error = (glv_error){.code = GLV_E_TABLE_EXISTS, .http_status = 409};
  assert_int_equal(wire_http_status(&error), 409);
  assert_int_equal(wire_error_read(409, STR("{\"code\":14}"), GLV_E_INTERNAL, &error),
                   GLV_E_CONFLICT);
  assert_int_equal(error.flags, GLV_ERROR_MAY_RETRY);
  assert_int_equal(wire_error_read(412, STR("{\"code\":14}"), GLV_E_INTERNAL, &error),
                   GLV_E_CONFLICT);
  assert_int_equal(error.flags, 0);
  assert_int_equal(wire_error_read(409, STR("{\"code\":2}"), GLV_E_INTERNAL, &error),
                   GLV_E_NAMESPACE_EXISTS);
  assert_int_equal(error.flags, 0);
}

static glv_status read_error(unsigned http_status, const char *body, glv_error *err) {
  return wire_error_read(http_status, str_of(body), GLV_E_TABLE_NOT_FOUND, err);
}

static void foreign_bodies(void **state) {
  (void)state;
  glv_error err;
  assert_int_equal(read_error(404, "{\"code\":4,\"detail\":\"\",\"error\":\"no t\"}", &err), 104);
  assert_string_equal(err.message, "no t");
  assert_int_equal(read_error(500, "{\"code\":13,\"detail\":\"some prose\",\"error\":\"e\"}", &err),
                   GLV_E_INVALID_INPUT);
  assert_int_equal(read_error(400, "{\"code\":24,\"error\":\"e\"}", &err), GLV_E_INVALID_INPUT);
  assert_int_equal(read_error(404, "{\"code\":-1}", &err), GLV_E_TABLE_NOT_FOUND);
  assert_int_equal(read_error(404, "{\"code\":\"4\"}", &err), GLV_E_TABLE_NOT_FOUND);
  assert_int_equal(read_error(400, "{\"detail\":\"GLV_OK\",\"error\":5}", &err),
                   GLV_E_INVALID_INPUT);
  assert_int_equal(read_error(401, "", &err), GLV_E_UNAUTHENTICATED);
  assert_string_equal(err.message, "the server answered HTTP status 401");
  assert_int_equal(read_error(502, "<html>\n bad\tgateway\n</html>\n", &err), GLV_E_UNAVAILABLE);
  assert_string_equal(err.message,
                      "the server answered HTTP status 502: <html>  bad gateway </html>");
  assert_int_equal(read_error(500, "\xFF\xFE", &err), GLV_E_INTERNAL);
  assert_string_equal(err.message, "the server answered HTTP status 500");
  assert_int_equal(read_error(500, "{\"error\":\"a\\nb\",\"code\":18,\"instance\":\"r-7\"}", &err),
                   GLV_E_INTERNAL);
  assert_string_equal(err.message, "a b (request r-7)");
  assert_int_equal(read_error(200, "[1]", &err), GLV_E_CORRUPT);
  assert_int_equal(read_error(302, "", NULL), GLV_E_CORRUPT);
  assert_int_equal(read_error(503, "{\"error\":\"x\\u0000y\"}", &err), GLV_E_UNAVAILABLE);
  assert_string_equal(err.message, "x y");
}

static void long_messages_are_cut(void **state) {
  (void)state;
  char body[4096];
  size_t used = (size_t)snprintf(body, sizeof body, "{\"code\":13,\"error\":\"");
  for (int i = 0; i < 600; i++) {
    used += (size_t)snprintf(body + used, sizeof body - used, "\xE2\x82\xAC");
  }
  snprintf(body + used, sizeof body - used, "\"}");
  glv_error err;
  assert_int_equal(read_error(400, body, &err), GLV_E_INVALID_INPUT);
  assert_true(strlen(err.message) > 480 && strlen(err.message) < GLV_ERROR_MESSAGE_SIZE);
  assert_true(str_is_utf8(str_of(err.message)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_status_survives),         cmocka_unit_test(codes),
      cmocka_unit_test(conflicts_and_chosen_statuses), cmocka_unit_test(foreign_bodies),
      cmocka_unit_test(long_messages_are_cut),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
