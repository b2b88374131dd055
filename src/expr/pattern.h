/**
 * @file pattern.h
 * Regular expressions as arguments of functions: which one a row uses.
 */
#ifndef GLAIVE_EXPR_PATTERN_H
#define GLAIVE_EXPR_PATTERN_H

#include "expr/function.h"
#include "expr/regexp.h"

/** Where the pattern and the flags stand among the arguments; there may be fewer arguments. */
typedef struct pattern_places {
  size_t pattern;
  size_t flags;
} pattern_places;

/** The expression in use by one call of a kernel. */
typedef struct pattern {
  const function_frame *f;
  const operand *arguments;
  pattern_places at;
  regexp_match *match;
  regexp *own; /* of the text and flags below */
  str text;
  str flags;
  const regexp *constant; /* of all rows, or NULL */
  bool is_global;         /* the flags of the row hold a g */
} pattern;

/** Errors: GLV_E_NOMEM. */
glv_status pattern_begin(pattern *c, const function_frame *f, const operand *arguments,
                         pattern_places at, glv_error *err);
void pattern_dispose(pattern *c); /* usable with CLEANUP */

/**
 * The expression of row i, whose pattern is valid; it is borrowed until the next row.
 *
 * @param allows_global  the flag g, which is not part of the expression, is known.
 * Errors: GLV_E_SQL_EXEC for a pattern or flags that do not compile, GLV_E_NOMEM.
 */
glv_status pattern_row(pattern *c, size_t i, bool allows_global, const regexp **ret,
                       glv_error *err);
/**
 * An empty text of flags is an error: the reference puts the flags, without g, in front of the
 * pattern as `(?flags)`, which must not be empty. Errors: GLV_E_SQL_EXEC.
 */
glv_status pattern_check_flags(const pattern *c, size_t i, glv_error *err);

/** The text of argument i if it is constant and not null. */
bool pattern_constant_text(const function_binding *b, size_t i, str *ret);
/**
 * While binding: compile the pattern if it and its flags are constant, as the state of the binding.
 * @return why it does not compile, when the caller may leave it for the rows, which then fail.
 */
glv_status pattern_keep_constant(function_binding *b, pattern_places at, glv_error *err);

#endif
