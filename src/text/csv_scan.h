/**
 * @file csv_scan.h
 * Records of a CSV text: fields in quotes may hold commas, line breaks and doubled quotes. Lines
 * end with LF, CR LF or CR.
 */
#ifndef GLAIVE_TEXT_CSV_SCAN_H
#define GLAIVE_TEXT_CSV_SCAN_H

#include "text/lines.h"

typedef struct csv_field {
  size_t at; /* from the start of the record */
  size_t size;
  bool quoted;
  bool doubled; /* holds doubled quotes, until the record is complete */
} csv_field;

typedef struct csv_scan {
  text_window window;
  csv_field *fields;
  size_t count;
  size_t capacity;
  size_t record; /* position of the record in the window */
  size_t size;   /* of the record */
  uint64_t line; /* of its first byte, from 1 */
  uint64_t next_line;
  bool skip_lf; /* the last record ended with CR: an LF belongs to it */
} csv_scan;

glv_status csv_scan_open(csv_scan *s, glv_env *env, const text_source *source, glv_error *err);
void csv_scan_dispose(csv_scan *s);
/** Read the next record; its fields are valid until the next call. Errors: GLV_E_INVALID_INPUT
 * naming the line. */
glv_status csv_scan_next(csv_scan *s, bool *ret_found, glv_error *err);
static inline str csv_scan_field(const csv_scan *s, size_t i) {
  return str_slice(s->window.bytes.data + s->record + s->fields[i].at, s->fields[i].size);
}
/** A line with nothing on it. */
static inline bool csv_scan_is_blank(const csv_scan *s) {
  return s->count == 1 && s->fields[0].size == 0 && !s->fields[0].quoted;
}

#endif
