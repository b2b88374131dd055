/**
 * @file text.h
 * CSV and JSON Lines in and out, and tables for people: text <-> batches. Everything streams: one
 * record and one batch are in memory at a time.
 *
 * How values look, both ways:
 * - numbers in decimal, the shortest text that reads back; in JSON NaN and the infinities are the
 *   strings "NaN", "Infinity", "-Infinity", decimals are strings;
 * - dates and times as ISO 8601; timestamps with a zone carry an offset, `Z` unless the zone is a
 *   fixed offset; reading, a time without offset is taken for UTC when the zone of the column is
 *   UTC, and refused when it is another; durations are whole numbers of their unit;
 * - binary as lower-case hexadecimal digits;
 * - lists and structs as JSON, also inside a CSV cell; maps as lists of {"key": .., "value": ..}.
 */
#ifndef GLAIVE_TEXT_TEXT_H
#define GLAIVE_TEXT_TEXT_H

#include "arrow/array.h"
#include "arrow/ipc.h"

/** Text that can be read more than once: types are found in a pass of their own. */
typedef struct text_source {
  const char *name; /* of the file, for messages; must outlive the reader */
  /** Start reading from the beginning. Called once, or twice where types have to be found. */
  glv_status (*open)(void *context, byte_source *ret, glv_error *err);
  void *context; /* must outlive the reader */
} text_source;

/** A type for one column. */
typedef struct text_type {
  str column;
  const type *type;
} text_type;

typedef struct text_read_options {
  /** The columns to produce, for appending to a table; NULL: those of the text, with the types
   * found in it. Columns of the text that are not among them are refused; those that the text lacks
   * are null, and refused when they must not be. */
  const schema *columns;
  /** Overrides of found types; only without `columns`. Names must occur. */
  const text_type *types;
  size_t type_count;
  /** CSV: unquoted fields with these texts are null; NULL: the empty one and NA. */
  const str *nulls;
  size_t null_count;
  size_t batch_rows; /* 0: 65,536 */
} text_read_options;

/**
 * Open a text for reading; options NULL = defaults. CSV needs a header line.
 * Errors, also of next: GLV_E_INVALID_INPUT naming file, line and column; GLV_E_COLUMN_NOT_FOUND
 * for a column that `columns` or `types` do not agree with; GLV_E_UNSUPPORTED for types that cannot
 * be read from text; GLV_E_LIMIT for records of more than LIMIT_RECORD_BYTES; those of source.
 */
glv_status csv_reader_open(glv_env *env, text_source source, const text_read_options *options,
                           batch_reader *ret, glv_error *err);
/** One JSON object a line; empty lines are skipped. */
glv_status jsonl_reader_open(glv_env *env, text_source source, const text_read_options *options,
                             batch_reader *ret, glv_error *err);

#define LIMIT_RECORD_BYTES (64u << 20)

/** All batches of r, with a header line. Null is an empty field; text that would read as null is
 * quoted. */
glv_status csv_write(glv_env *env, batch_reader *r, byte_sink sink, glv_error *err);
/** One object a row; nulls are written. */
glv_status jsonl_write(glv_env *env, batch_reader *r, byte_sink sink, glv_error *err);
/** Aligned columns for a terminal: control characters are escaped, long values cut. Returns the
 * number of rows in *ret_rows (may be NULL). */
glv_status table_write(glv_env *env, batch_reader *r, byte_sink sink, uint64_t *ret_rows,
                       glv_error *err);

/**
 * Rows for a program that shows them, as one JSON document: {"columns": [{"name", "type"}], "rows":
 * [[..]], "more": bool}. A value is its plain text (as in CSV; nested ones are JSON), whatever its
 * type, so that no reader of JSON rounds it, or null.
 *
 * @param max_rows  the document ends before the first row past it; then "more" is true.
 * @param max_bytes it ends with the row that passes it, too.
 * @param ret_rows  may be NULL: how many rows it has.
 * Errors: those of r; GLV_E_LIMIT, GLV_E_NOMEM of out.
 */
glv_status cells_write(batch_reader *r, uint64_t max_rows, size_t max_bytes, buf *out,
                       uint64_t *ret_rows, glv_error *err);

/** Append one value as the JSON writer shows it. */
glv_status text_print_json(const array *a, size_t row, buf *out, glv_error *err);

#endif
