/**
 * @file regexp_private.h
 * Between the two halves of the translation of patterns: regexp_translate.c (groups, repetition,
 * assertions) and regexp_class.c (what stands for one character).
 */
#ifndef GLAIVE_EXPR_REGEXP_PRIVATE_H
#define GLAIVE_EXPR_REGEXP_PRIVATE_H

#include "expr/regexp_translate.h"

typedef struct regexp_flags {
  bool ignore_case; /* i */
  bool multi_line;  /* m */
  bool dot_all;     /* s */
  bool verbose;     /* x */
  bool swap_greed;  /* U */
  bool crlf;        /* R */
  bool ascii;       /* -u */
} regexp_flags;

typedef struct translator {
  glv_env *env;
  str pattern;
  size_t at;
  regexp_flags flags;
  int depth;
  uint32_t groups;
  regexp_names *names;
  const char *why; /* set together with GLV_E_INVALID_INPUT */
} translator;

enum { REGEXP_DEPTH = 200 };

/** The word characters as items of a PCRE2 class, Unicode and ASCII. */
#define REGEXP_WORD                                                                                \
  "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-"           \
  "\\x{1f169}\\x{1f170}-\\x{1f189}\\x{200c}\\x{200d}"
#define REGEXP_ASCII_WORD "0-9A-Za-z_"

glv_status regexp_refuse(translator *t, const char *why);
/** The code point at t->at, 0 at the end; t->at moves behind it. */
uint32_t regexp_next(translator *t);
/** The byte n bytes ahead, 0 past the end. */
static inline char regexp_peek(const translator *t, size_t n) {
  return t->at + n < t->pattern.size ? t->pattern.data[t->at + n] : 0;
}
static inline bool regexp_at_end(const translator *t) { return t->at >= t->pattern.size; }
/** Skip white space and comments in verbose mode. */
void regexp_skip_blanks(translator *t);
/** Append a code point so that it stands for itself, in a class or outside. */
glv_status regexp_put_literal(buf *out, uint32_t c);

/** Behind `[`: the class, up to its `]`, as something that matches one character. */
glv_status regexp_class(translator *t, buf *out);
/** Behind `\`: items of a class, for \d \s \w \p and their negations; *ret_is_class = false (and
 * nothing read) when it is something else. */
glv_status regexp_class_escape(translator *t, buf *items, bool *ret_is_class);
/** For `\W`: one character that is not of a word. */
glv_status regexp_not_word(translator *t, buf *out);
/** Behind `\`: one escaped character. */
glv_status regexp_char_escape(translator *t, uint32_t *ret);

#endif
