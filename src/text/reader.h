/**
 * @file reader.h
 * What reading a text is, whatever its format: columns are given or found in a first pass, records
 * are collected into batches, and after a failure nothing more is read. The format finds the types
 * and appends records.
 */
#ifndef GLAIVE_TEXT_READER_H
#define GLAIVE_TEXT_READER_H

#include "base/hash.h"
#include "text/text_private.h"

/** The part that all formats share; the first member of the record of each. */
typedef struct text_reader {
  const struct text_format *format;
  glv_env *env; /* a reference */
  text_source source;
  const schema *schema; /* borrowed from the batch_reader; NULL until it is known */
  map index;            /* name -> number of the column in schema */
  text_columns columns;
  buf scratch; /* for text_column_text and text_column_json */
  bool failed;
} text_reader;

/** A format. The record that its functions get is zeroed and begins with a text_reader. */
typedef struct text_format {
  size_t size; /* of the record */
  /** Make the rest of the record, so that dispose can be called, also after a failure. */
  glv_status (*init)(void *reader, const text_read_options *o, glv_error *err);
  /** The first pass: the columns of the text, with the types that o gives some of them. */
  glv_status (*find_schema)(void *reader, const text_read_options *o, schema **ret, glv_error *err);
  /** Go (back) to the first record; schema and index are known. */
  glv_status (*start)(void *reader, glv_error *err);
  /** Append the next record to columns and count it there; *ret_found false at the end. */
  glv_status (*append)(void *reader, bool *ret_found, glv_error *err);
  /** Release what init and the passes made; the shared part is left alone. */
  void (*dispose)(void *reader);
} text_format;

/** Open a text of this format; otherwise as csv_reader_open. format must outlive the reader. */
glv_status text_reader_open(glv_env *env, const text_format *format, text_source source,
                            const text_read_options *options, batch_reader *ret, glv_error *err);

#endif
