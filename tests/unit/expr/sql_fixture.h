/**
 * @file sql_fixture.h
 * A table of random values with nulls, and short forms to plan and evaluate over it.
 */
#ifndef GLAIVE_TESTS_EXPR_SQL_FIXTURE_H
#define GLAIVE_TESTS_EXPR_SQL_FIXTURE_H

#include "expr/expr.h"
#include "support/test_env.h"

/**
 * Columns: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 f64b b s ls bin d32 ts z (int32, no nulls, never
 * 0), n (int32, half of it null), Name (int32), last: _rowid (uint64), a system column.
 */
typedef struct sql_fixture {
  test_env t;
  glv_env *env;
  schema *schema;
  batch b;
  expr_scope scope;
} sql_fixture;

void sql_open(sql_fixture *f, size_t rows, uint64_t seed);
void sql_close(sql_fixture *f);

/** Plan as a value or as a filter. */
glv_status sql_plan(sql_fixture *f, const char *text, unsigned flags, expr **ret, glv_error *err);
glv_status sql_plan_filter(sql_fixture *f, const char *text, unsigned flags, expr **ret,
                           glv_error *err);
/** Plan and evaluate over all rows; asserts success. */
array sql_value(sql_fixture *f, const char *text);
/** The status of planning and evaluating; the message is checked to be one line. */
glv_status sql_status(sql_fixture *f, const char *text, unsigned flags);
/** The result type as text; asserts that the text plans. In a static buffer. */
const char *sql_type(sql_fixture *f, const char *text);
/** Value i of a column. */
const array *sql_column(const sql_fixture *f, const char *name);

#endif
