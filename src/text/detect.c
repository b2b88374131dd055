/*
 * Types of columns found from their texts: a set of candidates that only shrinks. A text that
 * begins with + is no number (it is more likely a telephone number), and a fraction finer than
 * microseconds no timestamp, because the type could not hold it.
 */
#include "base/number.h"
#include "text/text_private.h"

static bool is_float(str s) {
  double value;
  return s.size != 0 && s.data[0] != '+' && number_parse64(s, &value);
}

static unsigned fits_time(str s) {
  text_time t;
  if (!text_parse_timestamp(s, &t) || t.nanos % 1000 != 0) {
    return 0;
  }
  return t.has_zone ? FITS_TIMESTAMP_ZONE : FITS_TIMESTAMP;
}

unsigned text_fits(unsigned fits, str s) {
  bool flag;
  int64_t number;
  if ((fits & FITS_INT64) != 0) { /* the most frequent first */
    if (text_parse_i64(s, &number)) {
      return fits & (FITS_INT64 | FITS_FLOAT64);
    }
    fits &= ~(unsigned)FITS_INT64;
  }
  if ((fits & FITS_FLOAT64) != 0) {
    if (is_float(s)) {
      return FITS_FLOAT64;
    }
    fits &= ~(unsigned)FITS_FLOAT64;
  }
  if ((fits & FITS_BOOL) != 0 && text_parse_bool(s, &flag)) {
    return FITS_BOOL;
  }
  if ((fits & FITS_DATE) != 0 && text_parse_date(s, &number)) {
    return FITS_DATE;
  }
  return fits & fits_time(s) & (FITS_TIMESTAMP | FITS_TIMESTAMP_ZONE);
}

const type *text_fits_type(arena *a, unsigned fits, bool any_value) {
  if (!any_value || fits == 0) {
    return type_simple(TYPE_UTF8);
  }
  if ((fits & FITS_BOOL) != 0) {
    return type_simple(TYPE_BOOL);
  }
  if ((fits & FITS_INT64) != 0) {
    return type_simple(TYPE_INT64);
  }
  if ((fits & FITS_FLOAT64) != 0) {
    return type_simple(TYPE_FLOAT64);
  }
  if ((fits & FITS_DATE) != 0) {
    return type_simple(TYPE_DATE32);
  }
  return type_timestamp(a, UNIT_MICRO, (fits & FITS_TIMESTAMP) != 0 ? NULL : "UTC");
}

const type *text_override(const text_read_options *o, str column) {
  for (size_t i = 0; i < o->type_count; i++) {
    if (str_equal(o->types[i].column, column)) {
      return o->types[i].type;
    }
  }
  return NULL;
}

glv_status text_check_overrides(const text_read_options *o, const schema *s, const char *file,
                                glv_error *err) {
  for (size_t i = 0; i < o->type_count; i++) {
    if (schema_find(s, o->types[i].column) == SIZE_MAX) {
      return FAIL(err, GLV_E_COLUMN_NOT_FOUND, "file '%s' has no column '%.*s' to give a type to",
                  file, STR_ARG(o->types[i].column));
    }
  }
  return GLV_OK;
}
