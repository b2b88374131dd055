/**
 * @file regexp.h
 * Regular expressions: the syntax and the meaning of Rust's regex crate (10.7), by PCRE2 with
 * limits.
 */
#ifndef GLAIVE_EXPR_REGEXP_H
#define GLAIVE_EXPR_REGEXP_H

#include "base/buf.h"
#include "base/env.h"
#include "base/str.h"

typedef struct regexp regexp; /* immutable */

/**
 * Compile a pattern under flags.
 *
 * Errors: GLV_E_SQL_EXEC for a pattern or flags that the syntax does not have; GLV_E_NOMEM. Release
 * with regexp_free. Thread class: T.
 */
glv_status regexp_new(glv_env *env, str pattern, str flags, regexp **ret, glv_error *err);
void regexp_free(regexp *r); /* NULL is fine */
void regexp_cleanup(regexp **r);

/** What one thread needs for matching: zeroed at first, bound to the expression it was last used
 * with. */
typedef struct regexp_match regexp_match;
glv_status regexp_match_new(glv_env *env, regexp_match **ret, glv_error *err);
void regexp_match_free(regexp_match *m); /* NULL is fine */
void regexp_match_cleanup(regexp_match **m);

/** What every text with a match has, as far as it is known. */
typedef struct regexp_needs {
  char bytes[2]; /* anywhere, in this order */
  size_t count;  /* of them: 0 to 2 */
  char last;     /* the last byte, if has_last */
  bool has_last;
} regexp_needs;
regexp_needs regexp_necessary(const regexp *r);

/**
 * Find the first match at or behind `from`.
 * Errors: GLV_E_SQL_EXEC when the pattern takes too long or too much memory on this text;
 * GLV_E_NOMEM.
 */
glv_status regexp_find(const regexp *r, regexp_match *m, str text, size_t from, bool *ret_found,
                       glv_error *err);
/** Bounds of group g of the last match (0 = all of it); false = the group took no part, or there is
 * none. */
bool regexp_group(const regexp_match *m, uint32_t g, size_t *ret_begin, size_t *ret_end);

/** Number of groups of the expression m was last used with, all of the match included. */
uint32_t regexp_group_count(const regexp_match *m);

/** A walk over all matches: they do not overlap, and an empty one does not touch its predecessor.
 */
typedef struct regexp_walk {
  const regexp *r;
  regexp_match *m;
  str text;
  size_t at;
  size_t last_end; /* SIZE_MAX = no match yet */
} regexp_walk;
regexp_walk regexp_walk_begin(const regexp *r, regexp_match *m, str text);
glv_status regexp_walk_next(regexp_walk *w, bool *ret_found, glv_error *err);

/** Append a replacement text with `$1`, `${1}`, `$name`, `${name}`, `$$`, `\1` and `\\1` expanded
 * for the last match. Errors: GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status regexp_expand(const regexp *r, const regexp_match *m, str text, str replacement,
                         buf *out, glv_error *err);

#endif
