/* Counters, and the lines of the access log. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "server/access_log.h"
#include "server/metrics.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static const route routes[] = {{"/a", ROUTE_GET, ACCESS_NONE, NULL, "a"},
                               {"/b/{id}", ROUTE_POST, ACCESS_NONE, NULL, "b"}};

static const route *route_of(void *context, size_t number) {
  (void)context;
  return &routes[number];
}

static void requests_are_counted(void **state) {
  (void)state;
  test_env t;
  metrics *m = NULL;
  buf out;
  test_env_open_mem(&t);
  buf_init(&out, t.env, 1 << 20);
  assert_int_equal(metrics_new(t.env, 2, &m, NULL), GLV_OK);
  metrics_add(m, 0, 200, 90000, 10, 20);
  metrics_add(m, 0, 200, 2000000, 0, 0);
  metrics_add(m, 1, 418, 90000000000, 0, 0);
  metrics_add(m, SIZE_MAX, 404, 0, 5, 6);
  assert_int_equal(metrics_print(m, route_of, NULL, &out, NULL), GLV_OK);
  static const char *const lines[] = {
      "glaive_requests_total{route=\"/a\",method=\"GET\",status=\"200\"} 2\n",
      "glaive_requests_total{route=\"/b/{id}\",method=\"POST\",status=\"0\"} 1\n",
      "glaive_requests_total{route=\"none\",method=\"\",status=\"404\"} 1\n",
      "glaive_request_seconds_bucket{route=\"/a\",method=\"GET\",le=\"0.0001\"} 1\n",
      "glaive_request_seconds_bucket{route=\"/a\",method=\"GET\",le=\"0.0025\"} 2\n",
      "glaive_request_seconds_bucket{route=\"/b/{id}\",method=\"POST\",le=\"60\"} 0\n",
      "glaive_request_seconds_bucket{route=\"/b/{id}\",method=\"POST\",le=\"+Inf\"} 1\n",
      "glaive_request_seconds_sum{route=\"/a\",method=\"GET\"} 0.002090000\n",
      "glaive_request_bytes_total 15\n",
      "glaive_answer_bytes_total 26\n"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    assert_non_null(strstr(out.data, lines[i]));
  }
  buf_dispose(&out);
  metrics_free(m);
  test_env_close(&t);
}

static void lines_are_json(void **state) {
  (void)state;
  test_env t;
  access_log *log = NULL;
  char path[256];
  static char text[65536];
  char longest[3000];
  test_env_open_local(&t);
  snprintf(path, sizeof path, "%s/access.log", t.root);
  memset(longest, '\xFF', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(access_log_new(t.env, path, &log, NULL), GLV_OK);
  access_log_add(log, &(access_entry){.time_ns = 1700000000123000000,
                                      .id = "i\"\\\x01",
                                      .key = NULL,
                                      .method = longest,
                                      .path = longest,
                                      .status = 200,
                                      .bytes_in = 1,
                                      .bytes_out = UINT64_MAX,
                                      .duration_ns = 1500000});
  access_log_add(log, &(access_entry){.id = "x", .key = "k", .method = "GET", .path = "/"});
  assert_int_equal(access_log_dropped(log), 0);
  access_log_free(log);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  char *second = strchr(text, '\n') + 1;
  second[-1] = '\0';
  assert_non_null(strstr(text, "\"time\":\"2023-11-14T22:13:20.123Z\",\"id\":\"i\\\"\\\\\\u0001\","
                               "\"key\":null"));
  assert_non_null(strstr(text, ",\"status\":200,\"in\":1,"));
  assert_non_null(strstr(text, ",\"ms\":1.500}"));
  json *parsed = NULL;
  assert_int_equal(js_parse(str_of(second), &parsed, NULL), GLV_OK);
  assert_true(str_is(js_string(js_member(parsed, "key")), "k"));
  js_free(parsed);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(requests_are_counted),
                                     cmocka_unit_test(lines_are_json)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
