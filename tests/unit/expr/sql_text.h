/**
 * @file sql_text.h
 * Expressions checked by the text of their value, over one row or over a column `x` of texts.
 */
#ifndef GLAIVE_TESTS_EXPR_SQL_TEXT_H
#define GLAIVE_TESTS_EXPR_SQL_TEXT_H

#include "expr/expr.h"
#include "support/cmocka.h"
#include "support/test_env.h"

typedef struct sql_text {
  test_env t;
  schema *schema; /* x: utf8 */
  batch rows;     /* one row at first, x = NULL */
} sql_text;

void sql_text_open(sql_text *s);
void sql_text_close(sql_text *s);
/** The rows from now on; NULL is null. */
void sql_text_rows(sql_text *s, const char *const *values, size_t count);

/** The texts of the values, separated by `|`, null as `NULL`; the same 8 rings of memory. Fails the
 * test when the expression does not plan or evaluate. */
const char *sql_text_eval(sql_text *s, const char *sql);
/** The status of planning, or else of evaluating; GLV_OK too. */
glv_status sql_text_status(sql_text *s, const char *sql);

/** An expression and the text of its value in the first row. */
struct sql_case {
  const char *sql;
  const char *text;
};
/** An expression and how it fails. */
struct sql_failure {
  const char *sql;
  glv_status status;
};
/** Checks all of them, in a fixture of its own. */
void sql_text_check(const struct sql_case *cases, size_t count);
void sql_text_check_failures(const struct sql_failure *failures, size_t count);
#define assert_sql_cases(cases) sql_text_check((cases), sizeof(cases) / sizeof(cases)[0])
#define assert_sql_failures(failures)                                                              \
  sql_text_check_failures((failures), sizeof(failures) / sizeof(failures)[0])

/** Plan and evaluate each text over the rows with every allocation failing in turn: GLV_E_NOMEM or
 * success, nothing left behind. */
void sql_text_starve(const char *const *rows, size_t row_count, const char *const *texts,
                     size_t count);
#define assert_sql_starves(rows, texts)                                                            \
  sql_text_starve((rows), sizeof(rows) / sizeof(rows)[0], (texts), sizeof(texts) / sizeof(texts)[0])

#define assert_sql(s, sql, text) assert_string_equal(sql_text_eval((s), (sql)), (text))
#define assert_sql_fails(s, sql, status) assert_int_equal(sql_text_status((s), (sql)), (status))

#endif
