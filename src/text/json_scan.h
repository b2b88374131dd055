/**
 * @file json_scan.h
 * Reading one JSON text token by token, without a tree: strict grammar, exact numbers. The text
 * must be UTF-8 already. Functions return false at an error, which is then in `problem`.
 */
#ifndef GLAIVE_TEXT_JSON_SCAN_H
#define GLAIVE_TEXT_JSON_SCAN_H

#include "base/buf.h"

typedef struct json_scan {
  const char *at;
  const char *end;
  const char *problem;
  glv_status status; /* not GLV_OK: no memory for a string */
} json_scan;

enum json_kind {
  JSON_BAD,
  JSON_NULL,
  JSON_BOOL,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT,
};

static inline json_scan json_scan_of(str text) {
  return (json_scan){.at = text.data, .end = text.data + text.size};
}
/** What starts here; white space is skipped. */
enum json_kind json_scan_peek(json_scan *s);
bool json_scan_null(json_scan *s);
bool json_scan_bool(json_scan *s, bool *ret);
/** The text of a number; *ret_integer: it has neither point nor exponent. */
bool json_scan_number(json_scan *s, str *ret, bool *ret_integer);
/** The characters; they are in the text itself, or in scratch when there are escapes. */
bool json_scan_string(json_scan *s, buf *scratch, str *ret);
/** Begin an array or object: `[` or `{`. */
bool json_scan_begin(json_scan *s, char open);
/** True: another item follows (the comma is skipped); false: the end was read, or an error.
 * *first is true before the first call. */
bool json_scan_more(json_scan *s, char close, bool *first);
/** The key of a member and its colon. */
bool json_scan_key(json_scan *s, buf *scratch, str *ret);
/** Skip one value; *ret is its text. */
bool json_scan_skip(json_scan *s, str *ret);
/** Nothing but white space is left. */
bool json_scan_at_end(json_scan *s);

#endif
