/**
 * @file regexp_translate.h
 * Patterns of Rust's regex crate, which SQL functions take, as patterns of PCRE2.
 */
#ifndef GLAIVE_EXPR_REGEXP_TRANSLATE_H
#define GLAIVE_EXPR_REGEXP_TRANSLATE_H

#include "base/buf.h"
#include "base/str.h"

/** The name of a capture group. */
typedef struct regexp_name {
  str name; /* a slice of the pattern */
  uint32_t group;
} regexp_name;

typedef struct regexp_names {
  regexp_name *names; /* mem_free */
  size_t count;
  size_t room;
} regexp_names;

/**
 * Append to out a PCRE2 pattern, for the options UTF, UCP, DOTALL, ALT_CIRCUMFLEX and newline LF,
 * that matches what pattern does with the flags (distinct letters of `imsxUR`, see 10.7).
 *
 * @param ret_why  what is wrong with the pattern, when it is refused.
 * @return GLV_OK; GLV_E_INVALID_INPUT for a refused pattern; GLV_E_NOMEM.
 */
glv_status regexp_translate(glv_env *env, str pattern, str flags, buf *out, regexp_names *names,
                            const char **ret_why);

#endif
