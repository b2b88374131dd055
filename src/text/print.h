/**
 * @file print.h
 * Values as text; what the writers share.
 */
#ifndef GLAIVE_TEXT_PRINT_H
#define GLAIVE_TEXT_PRINT_H

#include "text/text.h"

/** Append the plain text of a value that is not null: without quotes; nested ones as JSON. */
glv_status print_plain(const array *a, size_t row, buf *out, glv_error *err);
/** Whether numbers of that type stand at the right of a table cell. */
bool print_is_number(const type *t);

/** Collects output and hands it to a sink in large pieces. */
typedef struct text_output {
  buf bytes;
  byte_sink sink;
} text_output;

void text_output_init(text_output *o, glv_env *env, byte_sink sink);
void text_output_dispose(text_output *o);
/** Hand over what is there when it is much, or when `all`. */
glv_status text_output_flush(text_output *o, bool all, glv_error *err);

/** Call row(context, batch, row) for each row of a reader, in order. */
glv_status text_each_row(batch_reader *r,
                         glv_status (*each)(void *context, const batch *b, size_t row,
                                            glv_error *err),
                         void *context, glv_error *err);

#endif
