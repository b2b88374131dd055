/**
 * @file text_private.h
 * What the readers share: places in messages, columns being filled, and types being found.
 */
#ifndef GLAIVE_TEXT_TEXT_PRIVATE_H
#define GLAIVE_TEXT_TEXT_PRIVATE_H

#include "arrow/builder.h"
#include "text/json_scan.h"
#include "text/text.h"

/** Where a value stands. */
typedef struct text_place {
  const char *file;
  uint64_t line;
  str column;
} text_place;

/** `file 'f' line 7, column 'c': 'abc' is not of type int64`. @return GLV_E_INVALID_INPUT. */
glv_status text_bad_value(const text_place *at, str value, const type *t, glv_error *err);
/** `file 'f' line 7: what`, with the column when it has a name. @return GLV_E_INVALID_INPUT. */
glv_status text_bad(const text_place *at, const char *what, glv_error *err);

/** Parsing of flat values; false: the text is something else. */
bool text_parse_bool(str s, bool *ret);
bool text_parse_i64(str s, int64_t *ret);
bool text_parse_u64(str s, uint64_t *ret);
bool text_parse_date(str s, int64_t *ret_days);

typedef struct text_time {
  int64_t seconds; /* since the epoch, UTC when it has a zone */
  int32_t nanos;
  bool has_zone;
} text_time;
bool text_parse_timestamp(str s, text_time *ret);
/** HH:MM[:SS[.fraction]] in nanoseconds since midnight. */
bool text_parse_clock(str s, int64_t *ret_nanos);
/** Seconds east of Greenwich of UTC and of fixed zones like +02:00; false for others. */
bool text_zone_offset(const char *zone, int32_t *ret_seconds);

/** "NaN", "Infinity", "-Infinity": numbers as JSON strings. */
bool text_is_special(str s);

/** A column that values are appended to. */
typedef struct text_column {
  const type *type;
  builder values; /* of flat types; offsets of lists */
  builder marks;  /* nested types: validity as bool */
  size_t length;
  size_t null_count; /* nested types */
  struct text_column *children;
  const char **names; /* of the children of a struct */
} text_column;

/** Errors: GLV_E_UNSUPPORTED naming the column for types that cannot be read. Dispose also after a
 * failure. */
glv_status text_column_init(text_column *c, glv_env *env, const type *t, const char *name,
                            glv_error *err);
void text_column_dispose(glv_env *env, text_column *c);
glv_status text_column_null(text_column *c, glv_error *err);
/** A CSV cell; scratch is for JSON inside it. */
glv_status text_column_text(text_column *c, str value, const text_place *at, buf *scratch,
                            glv_error *err);
/** The JSON value at the scanner; null is null. */
glv_status text_column_json(text_column *c, json_scan *in, const text_place *at, buf *scratch,
                            glv_error *err);
/** The array; the column becomes empty and usable again. */
glv_status text_column_finish(glv_env *env, text_column *c, array *ret, glv_error *err);

/** The columns of a reader, and batches from them. */
typedef struct text_columns {
  glv_env *env;
  schema *schema; /* borrowed from the batch_reader */
  text_column *items;
  size_t count;
  size_t rows;  /* in the batch that is being filled */
  size_t bytes; /* of input for it */
  size_t batch_rows;
} text_columns;

glv_status text_columns_init(text_columns *c, glv_env *env, schema *s, size_t batch_rows,
                             glv_error *err);
void text_columns_dispose(text_columns *c);
static inline bool text_columns_full(const text_columns *c) {
  return c->rows >= c->batch_rows || c->bytes >= (16u << 20);
}
glv_status text_columns_finish(text_columns *c, batch *ret, glv_error *err);

/** Set of the types that all texts of a column so far have. */
enum {
  FITS_BOOL = 1,
  FITS_INT64 = 2,
  FITS_FLOAT64 = 4,
  FITS_DATE = 8,
  FITS_TIMESTAMP = 16,
  FITS_TIMESTAMP_ZONE = 32,
  FITS_ALL = 63,
};
/** Types of `fits` that the text has, too. */
unsigned text_fits(unsigned fits, str value);
/** The first type of a set; utf8 when it is empty, or no value was seen. NULL: no memory. */
const type *text_fits_type(arena *a, unsigned fits, bool any_value);

/** The type that options give a column, or NULL. */
const type *text_override(const text_read_options *o, str column);
/** GLV_E_COLUMN_NOT_FOUND when an override names no field of s. */
glv_status text_check_overrides(const text_read_options *o, const schema *s, const char *file,
                                glv_error *err);

#endif
