/**
 * @file value.h
 * JSON as the corpus has it: integers of 64 bits with and without sign, so numbers stay text.
 */
#ifndef GLAIVE_TESTS_CORPUS_VALUE_H
#define GLAIVE_TESTS_CORPUS_VALUE_H

#include "base/arena.h"

enum value_kind { VALUE_NULL, VALUE_BOOL, VALUE_NUMBER, VALUE_STRING, VALUE_ARRAY, VALUE_OBJECT };

typedef struct value {
  enum value_kind kind;
  bool truth; /* VALUE_BOOL */
  str text;   /* VALUE_NUMBER: as written; VALUE_STRING: decoded */
  str key;    /* of a member */
  size_t count;
  struct value *items; /* items or members */
} value;

/** Parse one text. NULL = it is malformed, or there is no memory. */
const value *value_parse(arena *a, str text);
/** NULL when absent. */
const value *value_member(const value *object, const char *key);
/** The text of a string member, or "". */
str value_text(const value *object, const char *key);

#endif
