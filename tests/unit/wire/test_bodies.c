/* Bodies about jobs, views and upkeep: what is written reads back, and what is refused. */
#include "support/arena_fixture.h"
#include "support/cmocka.h"
#include "wire/extra.h"
#include "wire/job.h"
#include "wire/members.h"
#include "wire/time.h"
#include "wire/view.h"

static json *parse(const char *text) {
  json *root = NULL;
  assert_int_equal(js_parse(str_of(text), &root, NULL), GLV_OK);
  return root;
}

static void check_text(fixture *f, json *node, const char *expected) {
  buf out;
  buf_init(&out, f->t.env, 1 << 16);
  assert_int_equal(js_print(node, 0, 0, &out, &f->err), GLV_OK);
  assert_string_equal(out.data, expected);
  buf_dispose(&out);
}

/* ---- times ---- */

static void times(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t ns;
  } good[] = {{"1970-01-01T00:00:00Z", 0},
              {"2026-11-30T20:30:30.932841752+00:00", INT64_C(1796070630932841752)},
              {"2026-11-30T20:30:30.5+02:30", INT64_C(1796061630500000000)},
              {"1969-12-31T23:59:59.999999999Z", -1},
              {"2026-11-30 20:30:30-00:30", INT64_C(1796072430000000000)},
              {"2024-02-29t00:00:00z", INT64_C(1709164800000000000)},
              {"2026-11-30T20:30:30.1234567899Z", INT64_C(1796070630123456789)}};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    int64_t ns = 1;
    char text[WIRE_TIME_SIZE];
    assert_true(wire_time_read(str_of(good[i].text), &ns));
    assert_true(ns == good[i].ns);
    wire_time_print(ns, text);
    assert_true(wire_time_read(str_of(text), &ns) && ns == good[i].ns);
  }
  char text[WIRE_TIME_SIZE];
  wire_time_print(INT64_C(1796070630932841752), text);
  assert_string_equal(text, "2026-11-30T20:30:30.932841752+00:00");
  static const char *const bad[] = {"",
                                    "2026-11-30",
                                    "2026-11-30T20:30:30",
                                    "2026-13-30T20:30:30Z",
                                    "2026-02-29T20:30:30Z",
                                    "2026-11-30T24:30:30Z",
                                    "2026-11-30T20:60:30Z",
                                    "2026-11-30T20:30:30.Z",
                                    "2026-11-30T20:30:30+25:00",
                                    "2026-11-30T20:30:30Zx",
                                    "9999-11-30T20:30:30Z",
                                    "20a6-11-30T20:30:30Z",
                                    "2026-11-30T20:30:30+0100"};
  int64_t ns;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_false(wire_time_read(str_of(bad[i]), &ns));
  }
}

/* ---- jobs ---- */

static void states_of_jobs(void **state) {
  (void)state;
  assert_int_equal(wire_job_state_read("in_progress"), WIRE_JOB_RUNNING);
  assert_int_equal(wire_job_state_read("succeeded"), WIRE_JOB_DONE);
  assert_int_equal(wire_job_state_read("TIMED_OUT"), WIRE_JOB_FAILED);
  assert_int_equal(wire_job_state_read("canceled"), WIRE_JOB_CANCELLED);
  assert_int_equal(wire_job_state_read("PAUSED"), WIRE_JOB_OTHER);
  for (int s = WIRE_JOB_QUEUED; s <= WIRE_JOB_OTHER; s++) {
    assert_int_equal(wire_job_state_read(wire_job_state_word((wire_job_state)s)), s);
  }
}

static void jobs(void **state) {
  fixture *f = *state;
  json *result = parse("{\"mode\":\"no_op\"}");
  const wire_job job = {.id = "j1",
                        .type = "refresh_materialized_view",
                        .table = "ns$v",
                        .state = WIRE_JOB_FAILED,
                        .created_ms = 1796070810051,
                        .finished_ms = 1796070810052,
                        .done = 5,
                        .total = 9,
                        .result = result,
                        .has_failure = true,
                        .failure = {"execute", "disk full", true, GLV_E_IO}};
  json *body = NULL;
  wire_job back;
  assert_int_equal(wire_job_write(&job, &body, &f->err), GLV_OK);
  assert_int_equal(wire_job_read(body, &back, &f->err), GLV_OK);
  assert_string_equal(back.id, "j1");
  assert_string_equal(back.table, "ns$v");
  assert_int_equal(back.state, WIRE_JOB_FAILED);
  assert_true(back.created_ms == job.created_ms && back.finished_ms == job.finished_ms);
  assert_true(back.done == 5 && back.total == 9);
  assert_non_null(back.result);
  assert_int_equal(back.failure.status, GLV_E_IO);
  assert_true(back.failure.retryable);
  assert_string_equal(back.failure.message, "disk full");
  js_free(body);
  js_free(result);
  assert_int_equal(wire_job_entry_write(&job, &body, &f->err), GLV_OK);
  check_text(f, body,
             "{\"job_id\":\"j1\",\"table\":\"ns$v\",\"job_type\":\"refresh_materialized_view\","
             "\"state\":\"FAILED\",\"created_at_millis\":1796070810051}");
  assert_int_equal(wire_job_entry_read(body, &back, &f->err), GLV_OK);
  js_free(body);
}

static void jobs_of_other_servers(void **state) {
  fixture *f = *state;
  wire_job job;
  json *body = parse("{\"job_state\":\"running\",\"failure\":{\"message\":\"m\",\"detail\":\"x\"},"
                     "\"result\":null,\"more\":[]}");
  assert_int_equal(wire_job_read(body, &job, &f->err), GLV_OK);
  assert_null(job.id);
  assert_null(job.result);
  assert_int_equal(job.failure.status, GLV_E_JOB_FAILED);
  js_free(body);
  static const char *const bad[] = {"[]",
                                    "{}",
                                    "{\"job_state\":5}",
                                    "{\"job_state\":\"DONE\",\"progress\":[]}",
                                    "{\"job_state\":\"DONE\",\"progress\":{\"done\":-1}}",
                                    "{\"job_state\":\"DONE\",\"creation_ms\":\"x\"}",
                                    "{\"job_state\":\"DONE\",\"failure\":\"x\"}"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    body = parse(bad[i]);
    assert_int_equal(wire_job_read(body, &job, &f->err), GLV_E_INVALID_INPUT);
    js_free(body);
  }
}

static void ids_of_jobs(void **state) {
  fixture *f = *state;
  const char *id;
  json *body = NULL;
  assert_int_equal(wire_job_id_write("a", &body, &f->err), GLV_OK);
  assert_int_equal(wire_job_id_read(body, &id, &f->err), GLV_OK);
  assert_string_equal(id, "a");
  js_free(body);
  body = parse("{\"job_id\":null}");
  assert_int_equal(wire_job_id_read(body, &id, &f->err), GLV_OK);
  assert_null(id);
  js_free(body);
  static const char *const bad[] = {"{\"job_id\":\"\"}", "{\"job_id\":7}", "{\"job_id\":[\"a\"]}"};
  for (size_t i = 0; i < 3; i++) {
    body = parse(bad[i]);
    assert_int_equal(wire_job_id_read(body, &id, &f->err), GLV_E_INVALID_INPUT);
    js_free(body);
  }
}

/* ---- views ---- */

static void definitions(void **state) {
  fixture *f = *state;
  static const char *const ns[] = {"a", "b"};
  static const wire_projection projections[] = {{"id", "id"}, {"x y", "upper(name)"}};
  const wire_view v = {.source_table = "src",
                       .source_namespace = ns,
                       .namespace_count = 2,
                       .projections = projections,
                       .projection_count = 2,
                       .filter = "age > 1",
                       .has_limit = true,
                       .limit = 0,
                       .query = "SELECT 1",
                       .incarnation = "i",
                       .form = "select"};
  json *body = NULL;
  wire_view back;
  assert_int_equal(wire_view_write(&v, &body, &f->err), GLV_OK);
  assert_int_equal(wire_view_read(&f->a, body, &back, &f->err), GLV_OK);
  assert_int_equal(back.namespace_count, 2);
  assert_string_equal(back.source_namespace[1], "b");
  assert_string_equal(back.projections[1].output, "x y");
  assert_true(back.has_limit && back.limit == 0);
  assert_string_equal(back.form, "select");
  js_free(body);
  body = parse("{\"source_table\":\"s\"}");
  assert_int_equal(wire_view_read(&f->a, body, &back, &f->err), GLV_OK);
  assert_true(!back.has_limit && back.filter == NULL && back.projection_count == 0);
  js_free(body);
  static const char *const bad[] = {
      "{}",
      "{\"source_table\":\"\"}",
      "{\"source_table\":\"s\",\"source_namespace\":\"a\"}",
      "{\"source_table\":\"s\",\"source_namespace\":[1]}",
      "{\"source_table\":\"s\",\"projections\":[\"a\"]}",
      "{\"source_table\":\"s\",\"projections\":[{\"output_column\":\"a\"}]}",
      "{\"source_table\":\"s\",\"limit\":-1}",
      "{\"source_table\":\"s\",\"limit\":1.5}",
      "{\"source_table\":\"s\",\"query\":[]}"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    body = parse(bad[i]);
    assert_int_equal(wire_view_read(&f->a, body, &back, &f->err), GLV_E_INVALID_INPUT);
    js_free(body);
  }
}

static void creations(void **state) {
  fixture *f = *state;
  const wire_view_create v = {.query = "SELECT id FROM t", .with_no_data = true};
  json *body = NULL;
  wire_view_create back;
  assert_int_equal(wire_view_create_write(&v, &body, &f->err), GLV_OK);
  check_text(f, body, "{\"query\":\"SELECT id FROM t\",\"with_no_data\":true}");
  assert_int_equal(wire_view_create_read(&f->a, body, &back, &f->err), GLV_OK);
  assert_true(back.with_no_data && back.stored_form == NULL);
  js_free(body);
  body = parse("{\"kind\":\"query\",\"source_query\":\"SELECT id FROM t\"}");
  assert_int_equal(wire_view_create_read(&f->a, body, &back, &f->err), GLV_OK);
  assert_true(back.with_no_data);
  assert_string_equal(back.query, "SELECT id FROM t");
  js_free(body);
  body = parse("{\"source_table\":\"t\",\"limit\":3,\"stored_form\":\"query\"}");
  assert_int_equal(wire_view_create_read(&f->a, body, &back, &f->err), GLV_OK);
  assert_true(!back.with_no_data && back.query == NULL && back.parts.limit == 3);
  js_free(body);
  static const char *const bad[] = {
      "{\"with_no_data\":true}", "{\"query\":\"a\",\"source_query\":\"b\"}",
      "{\"query\":\"a\",\"source_table\":\"b\"}", "{\"kind\":\"query\"}"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    body = parse(bad[i]);
    assert_int_equal(wire_view_create_read(&f->a, body, &back, &f->err), GLV_E_INVALID_INPUT);
    js_free(body);
  }
  static const char *const later[] = {"{\"kind\":\"udtf\",\"source_query\":\"b\"}",
                                      "{\"source_query\":\"b\",\"auto_refresh\":true}"};
  for (size_t i = 0; i < 2; i++) {
    body = parse(later[i]);
    assert_int_equal(wire_view_create_read(&f->a, body, &back, &f->err), GLV_E_UNSUPPORTED);
    js_free(body);
  }
}

static void refreshes(void **state) {
  fixture *f = *state;
  const wire_refresh r = {true, true, 7, "i", true};
  json *body = NULL;
  wire_refresh back;
  assert_int_equal(wire_refresh_write(&r, &body, &f->err), GLV_OK);
  assert_int_equal(wire_refresh_read(body, &back, &f->err), GLV_OK);
  assert_true(back.full && back.has_source_version && back.source_version == 7);
  assert_true(back.require_incremental);
  assert_string_equal(back.expected_incarnation, "i");
  js_free(body);
  body = parse("{\"src_version\":3,\"concurrency\":4}");
  assert_int_equal(wire_refresh_read(body, &back, &f->err), GLV_OK);
  assert_true(back.has_source_version && back.source_version == 3 && !back.full);
  js_free(body);
  body = parse("{\"src_version\":3,\"source_version\":4}");
  assert_int_equal(wire_refresh_read(body, &back, &f->err), GLV_E_INVALID_INPUT);
  js_free(body);
  body = parse("{\"require\":\"magic\"}");
  assert_int_equal(wire_refresh_read(body, &back, &f->err), GLV_E_INVALID_INPUT);
  js_free(body);
}

static void results_of_refreshes(void **state) {
  fixture *f = *state;
  const wire_refresh_result r = {2, 5, 6, 7, 8, 9, 10, "drift"};
  json *body = NULL;
  wire_refresh_result back;
  assert_int_equal(wire_refresh_result_write(&r, &body, &f->err), GLV_OK);
  assert_int_equal(wire_refresh_result_read(body, &back, &f->err), GLV_OK);
  assert_true(back.mode == 2 && back.rows_written == 5 && back.source_version == 6);
  assert_true(back.version == 7 && back.rows_removed == 8 && back.source_rows_scanned == 10);
  assert_string_equal(back.reason, "drift");
  js_free(body);
  body = parse("{\"mode\":\"rebuild\",\"rows_written\":1,\"source_version\":2,\"version\":3}");
  assert_int_equal(wire_refresh_result_read(body, &back, &f->err), GLV_OK);
  assert_true(back.mode == 1 && back.rows_removed == -1 && back.duration_ms == -1);
  js_free(body);
  static const char *const bad[] = {
      "{}", "[]", "{\"mode\":\"unknown\",\"rows_written\":1,\"source_version\":2,\"version\":3}",
      "{\"mode\":\"rebuild\",\"rows_written\":-1,\"source_version\":2,\"version\":3}",
      "{\"mode\":\"rebuild\",\"rows_written\":1,\"version\":3}"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    body = parse(bad[i]);
    assert_int_equal(wire_refresh_result_read(body, &back, &f->err), GLV_E_INVALID_INPUT);
    js_free(body);
  }
  assert_int_equal(wire_refresh_result_read(NULL, &back, &f->err), GLV_E_INVALID_INPUT);
}

/* ---- what only our servers have ---- */

static void upkeep(void **state) {
  fixture *f = *state;
  const wire_compact compact = {1000, 0.25};
  const wire_cleanup cleanup = {-5, true, true};
  const wire_compact_result compacted = {1, 2, 3, 4, 5, 6, 7, 8};
  const wire_cleanup_result cleaned = {1, 2, 3, 4, 5, 6};
  wire_compact c;
  wire_cleanup l;
  wire_compact_result cr;
  wire_cleanup_result lr;
  json *body = NULL;
  assert_int_equal(wire_compact_write(&compact, &body, &f->err), GLV_OK);
  assert_int_equal(wire_compact_read(body, &c, &f->err), GLV_OK);
  assert_true(c.target_rows == 1000 && c.deletion_threshold == 0.25);
  js_free(body);
  assert_int_equal(wire_cleanup_write(&cleanup, &body, &f->err), GLV_OK);
  assert_int_equal(wire_cleanup_read(body, &l, &f->err), GLV_OK);
  assert_true(l.older_than_ms == -5 && l.dry_run && l.refuse_tagged);
  js_free(body);
  assert_int_equal(wire_compact_result_write(&compacted, &body, &f->err), GLV_OK);
  assert_int_equal(wire_compact_result_read(body, &cr, &f->err), GLV_OK);
  assert_memory_equal(&cr, &compacted, sizeof cr);
  js_free(body);
  assert_int_equal(wire_cleanup_result_write(&cleaned, &body, &f->err), GLV_OK);
  assert_int_equal(wire_cleanup_result_read(body, &lr, &f->err), GLV_OK);
  assert_memory_equal(&lr, &cleaned, sizeof lr);
  js_free(body);
  body = parse("{}");
  assert_int_equal(wire_cleanup_read(body, &l, &f->err), GLV_OK);
  assert_true(l.older_than_ms == -1 && !l.dry_run);
  js_free(body);
  body = parse("{\"target_rows\":\"x\"}");
  assert_int_equal(wire_compact_read(body, &c, &f->err), GLV_E_INVALID_INPUT);
  js_free(body);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times),
      cmocka_unit_test(states_of_jobs),
      cmocka_unit_test_setup_teardown(jobs, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(jobs_of_other_servers, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(ids_of_jobs, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(definitions, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(creations, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(refreshes, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(results_of_refreshes, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(upkeep, fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
