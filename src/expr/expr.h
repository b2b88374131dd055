/**
 * @file expr.h
 * SQL expressions for the rest of the library: parse and plan a text against a schema, evaluate it
 * over batches.
 */
#ifndef GLAIVE_EXPR_EXPR_H
#define GLAIVE_EXPR_EXPR_H

#include "arrow/array.h"
#include "base/buf.h"

enum expr_flags {
  EXPR_DQUOTE_IDENTIFIER = 1u << 0, /* "x" is an identifier; else a string literal */
  EXPR_STRICT = 1u << 1,            /* refuse what Lance's outer planner refuses (decision D1) */
  EXPR_VIEW =
      1u << 2, /* part of a view definition: volatility and system-column rules, depth limit */
};

typedef struct expr expr; /* planned; immutable, evaluated by any number of threads at once */

/** Where names resolve: the columns of a schema; system columns, if present, are ordinary fields of
 * it marked here. */
typedef struct expr_scope {
  const schema *schema;
  size_t system_first; /* fields from this index on are system columns (section 6.8); SIZE_MAX =
                          none */
} expr_scope;

/**
 * Plan a projection: any type. Errors: GLV_E_SQL_PARSE with line:column,
 * GLV_E_SQL_PLAN, GLV_E_LIMIT, GLV_E_NOMEM. `now_ns` fixes stable functions. The expr keeps the
 * schema alive; release with expr_free.
 */
glv_status expr_plan_value(glv_env *env, str text, const expr_scope *scope, unsigned flags,
                           expr **ret, glv_error *err);
/** Plan a value for a column: as expr_plan_value, cast to the type of the column. A text for a JSON
 * column (`lance.json`) stays a text. to: borrowed until expr_free. */
glv_status expr_plan_assigned(glv_env *env, str text, const expr_scope *scope, unsigned flags,
                              const field *to, expr **ret, glv_error *err);
/** Plan a predicate: boolean, with the rules of filters (section 8.1). */
glv_status expr_plan_filter(glv_env *env, str text, const expr_scope *scope, unsigned flags,
                            expr **ret, glv_error *err);
void expr_free(expr *e); /* NULL is fine */
void expr_cleanup(expr **e);

/** Result type (utf8_view kinds are possible) and whether it may be null. Borrowed. */
const type *expr_type(const expr *e);
bool expr_nullable(const expr *e);
/** Top-level columns of the schema that evaluation reads, ascending. Borrowed. */
const size_t *expr_columns(const expr *e, size_t *ret_count);
/** The paths read, sorted and without duplicates, e.g. "age", "metadata.age" (the `inputs` of a
 * definition). Borrowed. */
const char *const *expr_paths(const expr *e, size_t *ret_count);
/** If the expression is exactly one column or struct path: the index of its top-level column and
 * its depth (1 = the column itself), else false. */
bool expr_is_column(const expr *e, size_t *ret_column, size_t *ret_depth);
/** The field at the end of that column or struct path, as the schema has it; NULL for anything
 * else. Borrowed. */
const field *expr_field(const expr *e);
/** Whether some row may be null, judged by the columns that are read; expr_nullable is what columns
 * of views are declared as. */
bool expr_may_be_null(const expr *e);
/** Whether it is null in every row, known without looking at any. */
bool expr_is_null(const expr *e);

/**
 * Evaluate over the selected rows of a batch whose columns stand at their schema positions (those
 * of expr_columns must be present). @param ret one value per selected row. Errors: GLV_E_SQL_EXEC,
 * GLV_E_NOMEM, GLV_E_LIMIT.
 */
glv_status expr_eval(const expr *e, const batch *b, selection rows, array *ret, glv_error *err);
/**
 * Evaluate a predicate over the selected rows; *ret_rows (room for rows.count) gets the rows where
 * it is true, ascending, as row numbers of the batch.
 */
glv_status expr_select(const expr *e, const batch *b, selection rows, uint32_t *ret_rows,
                       size_t *ret_count, glv_error *err);

/** Text forms used by view definitions (sections 15 and 2.7 of the view document); all append to
 * out. */
/** An identifier as canonical SQL: bare or in backticks. */
glv_status expr_print_identifier(str name, buf *out, glv_error *err);
/** text with every "x" re-quoted to `x`, everything else verbatim. Errors: GLV_E_SQL_PARSE. */
glv_status expr_requote(str text, buf *out, glv_error *err);
/** Canonical rendering of an expression (15.3). Errors: GLV_E_SQL_PARSE. */
glv_status expr_print_canonical(glv_env *env, str text, unsigned flags, buf *out, glv_error *err);
/** True in *ret iff the outer planner of Lance refuses the (parsed) text although Glaive accepts
 * it: it is stored wrapped. */
glv_status expr_needs_wrap(glv_env *env, str text, unsigned flags, bool *ret, glv_error *err);

#endif
