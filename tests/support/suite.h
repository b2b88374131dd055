/**
 * @file suite.h
 * What tests of the exported functions share: a connection in a fresh directory, and short forms of
 * common calls.
 *
 * With the variable GLAIVE_SUITE_SERVER, which names the program, the connection goes to a server
 * of that directory (`PROGRAM --db DIR serve`) instead; the tests that suite_skips names are then
 * skipped.
 */
#ifndef GLAIVE_TESTS_SUITE_H
#define GLAIVE_TESTS_SUITE_H

#include <stdio.h>
#include <string.h>

#include <glaive/glaive.h>

#include "support/cmocka.h"
#include "support/rows.h"
#include "support/test_env.h"

#define ID(...)                                                                                    \
  ((glv_id){(const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)})
#define NO_PAIRS ((glv_pairs){NULL, 0})
#define ROOT ((glv_id){NULL, 0})

typedef struct suite {
  test_env t;
  glv_env *env;
  glv_conn *conn;
  glv_error err;
  int server; /* its process; 0 = none */
} suite;

/** A database in a store (see test_env_open); a server's is always on the disk. */
void suite_open_on(suite *s, int store);
static inline void suite_open(suite *s) { suite_open_on(s, 1); }
void suite_close(suite *s);
/** Whether the tests run against a server. */
bool suite_is_remote(void);

/** A test that says nothing about servers, or that no server can pass, and why. */
typedef struct suite_skip {
  const char *test;
  const char *reason;
} suite_skip;
/** Ended by one without a name. */
extern const suite_skip suite_skips[];

/** cmocka_run_group_tests without the tests that are to be skipped. */
int suite_run(const char *name, const struct CMUnitTest *tests, size_t count);
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
  suite_run(__FILE__, (tests), sizeof(tests) / sizeof((tests)[0]))

/* Fail the test with the message of the error. */
#define must(s, call)                                                                              \
  do {                                                                                             \
    const glv_status must_status_ = (call);                                                        \
    if (must_status_ != GLV_OK) {                                                                  \
      fail_msg("%s: %s", glv_status_name(must_status_), (s)->err.message);                         \
    }                                                                                              \
  } while (0)

/* The call fails with this code and its message contains the text. */
#define must_fail(s, expected, text, call)                                                         \
  do {                                                                                             \
    const glv_status fail_status_ = (call);                                                        \
    if (fail_status_ != (expected) || (s)->err.code != (expected) ||                               \
        strstr((s)->err.message, (text)) == NULL) {                                                \
      fail_msg("expected %s with '%s', got %s: %s", glv_status_name(expected), (text),             \
               glv_status_name(fail_status_), (s)->err.message);                                   \
    }                                                                                              \
  } while (0)

static inline glv_table *create_table(suite *s, glv_id id, const char *columns, const char *rows) {
  struct ArrowArrayStream data;
  glv_table *table = NULL;
  rows_stream(s->env, columns, rows, &data);
  must(s, glv_table_create(s->conn, id, &data, NULL, &table, &s->err));
  return table;
}

static inline void append_rows(suite *s, glv_table *table, const char *columns, const char *rows) {
  struct ArrowArrayStream data;
  rows_stream(s->env, columns, rows, &data);
  must(s, glv_table_append(table, &data, NULL, NULL, &s->err));
}

static inline void assert_table(suite *s, glv_table *table, const char *expected) {
  struct ArrowArrayStream out;
  must(s, glv_table_scan(table, NULL, &out, &s->err));
  assert_rows(s->env, &out, expected);
}

static inline uint64_t count_rows(suite *s, glv_table *table) {
  uint64_t count = 0;
  must(s, glv_table_count(table, NULL, NULL, &count, &s->err));
  return count;
}

static inline glv_view *create_view(suite *s, glv_id id, const char *sql) {
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view *view = NULL;
  def.query = sql;
  must(s, glv_view_create(s->conn, id, &def, NULL, &view, &s->err));
  return view;
}

static inline glv_refresh_result refresh(suite *s, glv_view *view) {
  glv_refresh_result result = GLV_OPTIONS(glv_refresh_result);
  must(s, glv_view_refresh(view, NULL, &result, &s->err));
  return result;
}

/* The value of a schema metadata key of a table, in a static buffer; "" when absent. */
const char *metadata_value(suite *s, glv_table *table, const char *key);

#endif
