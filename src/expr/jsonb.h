/**
 * @file jsonb.h
 * JSON in Lance's binary form, as JSON columns hold it: reading values in place, and text to it and
 * back.
 *
 * A document is a container: a big-endian header word (kind in 3 bits, number of items in 29), an
 * entry word for each item (kind in 3 bits, bytes in 28), the bytes of the items one after another.
 * An object has entries for its keys, sorted, then for its values. A scalar document has one item.
 * Numbers are a kind byte and big-endian bytes.
 *
 * Bytes are not trusted: every read is checked, and nested containers lie within each other, so
 * that nothing takes longer than the bytes are long.
 */
#ifndef GLAIVE_EXPR_JSONB_H
#define GLAIVE_EXPR_JSONB_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/int256.h"
#include "base/str.h"

enum jsonb_kind {
  JSONB_NULL,
  JSONB_FALSE,
  JSONB_TRUE,
  JSONB_NUMBER,
  JSONB_STRING,
  JSONB_EXTENSION, /* dates and more, which only other programs write */
  JSONB_ARRAY,
  JSONB_OBJECT
};

/** A value within a document. */
typedef struct jsonb {
  enum jsonb_kind kind;
  uint32_t count; /* of items: array, object */
  str data; /* borrowed. string: its text, well-formed UTF-8; number: its bytes; array, object: all
               of it with its header */
} jsonb;

/** The value of a document; false when it is not well-formed at its outer level. */
bool jsonb_open(str document, jsonb *ret);

/** A walk over the items of an array or the values of an object. */
typedef struct jsonb_walk {
  str data;
  bool has_keys;
  uint32_t left;
  size_t key_entry; /* where the next entry stands, and what it describes begins */
  size_t key_at;
  size_t entry;
  size_t at;
} jsonb_walk;

/** Each returns false when the container is not well-formed. Scalars have no items. */
bool jsonb_walk_begin(const jsonb *container, jsonb_walk *ret);
/** *ret_key is empty in an array. *ret_end: there is no further item, *ret is not set. */
bool jsonb_walk_next(jsonb_walk *w, str *ret_key, jsonb *ret, bool *ret_end);

/** The value of a key; *ret_found false when there is none. @return false: not well-formed. */
bool jsonb_member(const jsonb *object, str key, jsonb *ret, bool *ret_found);
/** Item `index`, from 0; the same. */
bool jsonb_item(const jsonb *array, uint64_t index, jsonb *ret, bool *ret_found);

enum jsonb_number_kind {
  JSONB_INT64,   /* i */
  JSONB_UINT64,  /* u */
  JSONB_FLOAT64, /* f */
  JSONB_DECIMAL  /* decimal * 10^-scale */
};

typedef struct jsonb_number {
  enum jsonb_number_kind kind;
  int scale;
  union {
    int64_t i;
    uint64_t u;
    double f;
  };
  int256 decimal;
} jsonb_number;

/** The number of a value of that kind; false when its bytes are none. */
bool jsonb_number_of(const jsonb *v, jsonb_number *ret);
double jsonb_number_double(const jsonb_number *n);
/** -1, 0, 1; NaN is the greatest. */
int jsonb_number_compare(const jsonb_number *a, const jsonb_number *b);
/** The number as plain text. Errors: GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status jsonb_number_print(const jsonb_number *n, buf *out, glv_error *err);

/** The value as a document of its own. Errors: GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status jsonb_write(const jsonb *v, buf *out, glv_error *err);
/** The value as JSON text without white space. Errors: GLV_E_SQL_EXEC when a part is not
 * well-formed or nested too deeply, GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status jsonb_print(const jsonb *v, buf *out, glv_error *err);

/**
 * JSON text as a document, appended to out. As LanceDB reads it: names and strings may stand in
 * single quotes, names also without any; numbers may have a plus, leading zeros, no digits on one
 * side of the point, hexadecimal digits, or be nan and infinity; a missing array item is null, and
 * so is an empty text. Numbers become 64-bit integers where they can, else float64.
 *
 * Errors: GLV_E_INVALID_INPUT saying what and where; GLV_E_NOMEM, GLV_E_LIMIT.
 */
glv_status jsonb_parse(glv_env *env, str text, buf *out, glv_error *err);

/** The escape sequence behind a backslash at text[*at]: append what it stands for and move on.
 * @return GLV_E_INVALID_INPUT without a message when there is no such sequence. */
glv_status jsonb_unescape(str text, size_t *at, buf *out, glv_error *err);

#endif
