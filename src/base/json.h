/**
 * @file json.h
 * JSON, read and written by jansson, as an opaque tree. The only file that sees jansson is json.c;
 * stored view definitions are written by base/json_canonical.h instead, whose bytes must equal
 * LanceDB's.
 */
#ifndef GLAIVE_BASE_JSON_H
#define GLAIVE_BASE_JSON_H

#include "base/buf.h"
#include "base/env.h"
#include "base/str.h"

typedef struct json json; /* a reference to a node; the root owns the tree */

enum js_kind { JS_NULL, JS_BOOL, JS_INT, JS_REAL, JS_STRING, JS_ARRAY, JS_OBJECT };

/**
 * Parse one text; any value may be the root, NUL in strings is allowed, the last of equal keys
 * wins. Errors: GLV_E_CORRUPT with line and column (`number too large` for integers above 2^63 -
 * 1); GLV_E_LIMIT.
 * @param ret the root; js_free.
 */
glv_status js_parse(str text, json **ret, glv_error *err);
void js_free(json *root); /* NULL is fine */
void js_cleanup(json **root);

enum js_kind js_kind_of(const json *node);
bool js_bool(const json *node);
int64_t js_int(const json *node);
double js_real(const json *node);
/** Borrowed from the tree. */
str js_string(const json *node);
size_t js_count(const json *node); /* items of an array, members of an object */
const json *js_item(const json *array, size_t index);
/** NULL when absent. */
const json *js_member(const json *object, const char *key);
/** Visit the members in stored order; *position is NULL before the first. @return NULL: no more. */
const json *js_next_member(const json *object, void **position, str *ret_key);
/** The same by number, 0 .. js_count - 1, each from the start: for objects known to be small. */
const json *js_member_at(const json *object, size_t index, str *ret_key);

/** Building: each returns a new node, NULL = no memory. js_put and js_push take over `value` in
 * every case. */
json *js_new_null(void);
json *js_new_bool(bool value);
json *js_new_int(int64_t value);
json *js_new_real(double value);
json *js_new_string(str text);
json *js_new_array(void);
json *js_new_object(void);
glv_status js_put(json *object, const char *key, json *value, glv_error *err);
/** As js_put, with a key of any bytes of UTF-8. */
glv_status js_put_str(json *object, str key, json *value, glv_error *err);
glv_status js_push(json *array, json *value, glv_error *err);
/** A deep copy; NULL = no memory. */
json *js_copy(const json *node);
/** Append the text of node; indent 0 = compact. Reals print with 17 significant digits unless
 * digits is given (1..17). */
glv_status js_print(const json *node, unsigned indent, unsigned digits, buf *out, glv_error *err);
/** Compact, the keys of every object in ascending byte order. */
glv_status js_print_sorted(const json *node, buf *out, glv_error *err);

#endif
