/**
 * @file members.h
 * Members of the JSON objects in requests and answers. Unknown keys are ignored everywhere; a
 * member of a wrong type is an error that names the key (rest-protocol.md 14.6).
 *
 * Every reader leaves *ret alone when the member is absent or null, so that the caller sets the
 * default first. Errors: GLV_E_INVALID_INPUT. Texts are borrowed from the tree.
 */
#ifndef GLAIVE_WIRE_MEMBERS_H
#define GLAIVE_WIRE_MEMBERS_H

#include "base/arena.h"
#include "base/json.h"

/** Texts that hold a NUL are refused, so that they can be C strings. */
glv_status wire_text(const json *object, const char *key, const char **ret, glv_error *err);
/** As wire_text; an absent or empty text is an error, too. */
glv_status wire_text_required(const json *object, const char *key, const char **ret,
                              glv_error *err);
glv_status wire_bool(const json *object, const char *key, bool *ret, glv_error *err);
glv_status wire_int(const json *object, const char *key, int64_t *ret, glv_error *err);
/** 0 or more. */
glv_status wire_uint(const json *object, const char *key, uint64_t *ret, glv_error *err);
/** As wire_uint; an absent number is an error, too. */
glv_status wire_uint_required(const json *object, const char *key, uint64_t *ret, glv_error *err);
/** Integers are taken, too. */
glv_status wire_real(const json *object, const char *key, double *ret, glv_error *err);
glv_status wire_array(const json *object, const char *key, const json **ret, glv_error *err);
glv_status wire_object(const json *object, const char *key, const json **ret, glv_error *err);

/** An array of texts. *ret: an array in memory, of pointers into the tree. */
glv_status wire_texts(arena *memory, const json *object, const char *key, const char *const **ret,
                      size_t *ret_count, glv_error *err);

/** GLV_E_INVALID_INPUT unless node is of that kind; what: how the message calls it. */
glv_status wire_expect(const json *node, enum js_kind kind, const char *what, glv_error *err);

/** Parse a body that must be an object; an empty one reads as {}. Errors: GLV_E_INVALID_INPUT with
 * the place; GLV_E_LIMIT. */
glv_status wire_parse_object(str body, json **ret, glv_error *err);

/* ---- building; NULL objects are no memory ---- */

/** text NULL: null. */
glv_status wire_put_text(json *object, const char *key, const char *text, glv_error *err);
/** Numbers past 2^63 - 1, which JSON texts here cannot have, are GLV_E_LIMIT. */
glv_status wire_put_uint(json *object, const char *key, uint64_t value, glv_error *err);
glv_status wire_put_int(json *object, const char *key, int64_t value, glv_error *err);
glv_status wire_put_bool(json *object, const char *key, bool value, glv_error *err);
glv_status wire_put_texts(json *object, const char *key, const char *const *texts, size_t count,
                          glv_error *err);
/** The next page's token; NULL = the last page: null. */
#define WIRE_PAGE_TOKEN "page_token"

#endif
