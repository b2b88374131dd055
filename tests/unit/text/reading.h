/**
 * @file reading.h
 * Texts in memory as sources, in pieces of any size, and what comes out as one batch.
 */
#ifndef GLAIVE_TESTS_TEXT_READING_H
#define GLAIVE_TESTS_TEXT_READING_H

#include "support/test_env.h"
#include "text/text.h"

typedef glv_status (*text_opener)(glv_env *env, text_source source,
                                  const text_read_options *options, batch_reader *ret,
                                  glv_error *err);

/** A text that is given out in pieces of `piece` bytes. */
typedef struct reading {
  str text;
  size_t piece;
  size_t position;
  unsigned opened;
  size_t fail_at; /* reading past it fails with GLV_E_IO; 0 = never */
} reading;

text_source reading_source(reading *r);
/** Everything as one batch with its schema. */
glv_status reading_all(glv_env *env, text_opener open, reading *r, const text_read_options *o,
                       batch *ret, glv_error *err);
/** The text, given out in pieces of `piece` bytes, as one batch; asserts success. */
batch reading_text(test_env *t, text_opener open, const char *text, size_t piece,
                   const text_read_options *o);
/** Asserts that reading the text fails with `want` and a message that holds `part`. */
void reading_refused(test_env *t, text_opener open, const char *text, const text_read_options *o,
                     glv_status want, const char *part);
/** The type of a column by name. */
const char *reading_type(const batch *b, const char *column);
const array *reading_column(const batch *b, const char *column);

/** For cmocka: the state is a test_env. */
int reading_setup(void **state);
int reading_teardown(void **state);

#endif
