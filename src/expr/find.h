/**
 * @file find.h
 * Searching a text in others, in time proportional to their lengths.
 */
#ifndef GLAIVE_EXPR_FIND_H
#define GLAIVE_EXPR_FIND_H

#include "base/env.h"
#include "base/str.h"

/** A text to look for, prepared. The text is borrowed. */
typedef struct needle {
  glv_env *env;
  str text;
  uint32_t *borders; /* of long texts: borders[i] = longest proper border of text[0..i] */
  size_t room;
} needle;

void needle_init(needle *n, glv_env *env);
void needle_dispose(needle *n); /* usable with CLEANUP */
/** Look for another text from now on; cheap when it is the same. Errors: GLV_E_NOMEM, GLV_E_LIMIT.
 */
glv_status needle_set(needle *n, str text, glv_error *err);
/** The first place at or behind `from` at which the text stands in hay; SIZE_MAX = nowhere. An
 * empty text stands everywhere. */
size_t needle_find(const needle *n, str hay, size_t from);

#endif
