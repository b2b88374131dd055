/**
 * @file like.h
 * Patterns of LIKE and ILIKE (sql-expressions 10.7).
 */
#ifndef GLAIVE_EXPR_LIKE_H
#define GLAIVE_EXPR_LIKE_H

#include "base/arena.h"

/** `word`, `word%`, `%word`, `%word%`; all others. */
enum like_shape { LIKE_EXACT, LIKE_PREFIX, LIKE_SUFFIX, LIKE_PART, LIKE_OTHER };

/** Tokens between two `%`. */
typedef struct like_segment {
  const uint32_t *tokens;
  size_t count;
} like_segment;

/** A pattern, in the memory of an arena. */
typedef struct like_pattern {
  enum like_shape shape;
  bool folds;       /* letters of either case are equal */
  str word;         /* of the simple shapes: what must be there */
  uint32_t *tokens; /* bytes, or code points when it folds; or the two wildcards */
  size_t count;
  like_segment *segments; /* of LIKE_OTHER that does not fold; none is empty */
  size_t segment_count;
  bool at_start; /* the first segment stands at the start of the text */
  bool at_end;
} like_pattern;

/** Errors: GLV_E_NOMEM. */
glv_status like_parse(arena *a, str text, bool folds, like_pattern *ret, glv_error *err);
/** text is well-formed UTF-8. The time is bounded by the product of the lengths. */
bool like_matches(const like_pattern *p, str text);

#endif
