/**
 * @file type.h
 * Logical types, fields and schemas. All immutable after construction and shared; a schema owns its
 * fields and types in one arena and is reference-counted. Types are compared with type_equal, never
 * by address.
 */
#ifndef GLAIVE_ARROW_TYPE_H
#define GLAIVE_ARROW_TYPE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/str.h"

typedef enum type_kind {
  TYPE_NONE = 0, /* no type: an absent column */
  TYPE_NULL,
  TYPE_BOOL, /* one bit a value */
  TYPE_INT8,
  TYPE_INT16,
  TYPE_INT32,
  TYPE_INT64,
  TYPE_UINT8,
  TYPE_UINT16,
  TYPE_UINT32,
  TYPE_UINT64,
  TYPE_FLOAT16,
  TYPE_FLOAT32,
  TYPE_FLOAT64,
  TYPE_DECIMAL128, /* precision, scale */
  TYPE_DECIMAL256,
  TYPE_DATE32,    /* days */
  TYPE_DATE64,    /* milliseconds */
  TYPE_TIME32,    /* unit: seconds or milliseconds */
  TYPE_TIME64,    /* unit: microseconds or nanoseconds */
  TYPE_TIMESTAMP, /* unit, timezone */
  TYPE_DURATION,  /* unit */
  TYPE_INTERVAL_MONTH_DAY_NANO,
  TYPE_UTF8, /* 32-bit offsets */
  TYPE_LARGE_UTF8,
  TYPE_UTF8_VIEW, /* a logical type of SQL results; arrays of it have the layout of TYPE_UTF8 inside
                     the engine */
  TYPE_BINARY,
  TYPE_LARGE_BINARY,
  TYPE_BINARY_VIEW,       /* as TYPE_UTF8_VIEW */
  TYPE_FIXED_SIZE_BINARY, /* width */
  TYPE_DICTIONARY,        /* index, child 0 = value */
  TYPE_LIST,              /* child 0 */
  TYPE_LARGE_LIST,
  TYPE_FIXED_SIZE_LIST, /* width = items per value, child 0 */
  TYPE_STRUCT,          /* children */
  TYPE_MAP,             /* child 0 = entries struct (key, value) */
} type_kind;

typedef enum time_unit { UNIT_SECOND, UNIT_MILLI, UNIT_MICRO, UNIT_NANO } time_unit;

struct field;

typedef struct type {
  type_kind kind;
  time_unit unit;
  const char *timezone; /* NULL = none; TYPE_TIMESTAMP only */
  int32_t width;        /* bytes of a fixed_size_binary value, items of a fixed_size_list value */
  int32_t precision;    /* decimals */
  int32_t scale;
  type_kind index; /* dictionary keys: an integer kind */
  bool flag;       /* dictionary: ordered; map: keys sorted */
  const struct field *children;
  size_t child_count;
} type;

/** key and value are bytes, usually text. */
typedef struct pair {
  str key;
  str value;
} pair;

typedef struct metadata {
  const pair *pairs;
  size_t count;
} metadata;

typedef struct field {
  const char *name; /* UTF-8, may be "" */
  const type *type;
  bool nullable;
  metadata metadata;
} field;

typedef struct schema {
  const field *fields;
  size_t field_count;
  metadata metadata;
} schema; /* always inside a counted object: schema_ref, schema_unref */

/** Types without parameters, as static constants: `TYPE_OF(TYPE_INT32)`. kind must have no
 * parameters. */
const type *type_simple(type_kind kind);
/** Parametrised types in an arena; NULL = no memory. timezone may be NULL and is copied. */
const type *type_timestamp(arena *a, time_unit unit, const char *timezone);
const type *type_with_unit(arena *a, type_kind kind, time_unit unit); /* time32, time64, duration */
const type *type_decimal(arena *a, type_kind kind, int32_t precision, int32_t scale);
const type *type_fixed_size_binary(arena *a, int32_t width);
/** item is copied into the arena. */
const type *type_fixed_size_list(arena *a, const field *item, int32_t items);
const type *type_list(arena *a, type_kind kind, const field *item);
const type *type_struct(arena *a, const field *fields, size_t count);
const type *type_dictionary(arena *a, type_kind index, const type *value);

/** Deep copies into another arena; NULL = no memory. */
const type *type_copy(arena *a, const type *t);
bool field_copy(arena *a, const field *from, field *to);
metadata metadata_copy(arena *a, metadata m, bool *ok);

bool type_equal(const type *a,
                const type *b); /* child names and nullability included, metadata not */
/** Index of the child of exactly that name, or SIZE_MAX. */
size_t type_find_child(const type *t, const char *name);
bool field_equal(const field *a, const field *b); /* name, nullability, type */

/** Value of a key, or {NULL, 0}; *ret_found may be NULL. */
str metadata_get(metadata m, str key, bool *ret_found);

bool type_is_integer(type_kind kind);
bool type_is_signed(type_kind kind);
bool type_is_float(type_kind kind);
bool type_is_decimal(type_kind kind);
bool type_is_numeric(type_kind kind); /* integers, floats, decimals */
bool type_is_string(type_kind kind);  /* utf8, large_utf8, utf8_view */
bool type_is_binary(type_kind kind);  /* binary, large_binary, binary_view */
bool type_is_temporal(type_kind kind);
bool type_is_list(type_kind kind); /* list, large_list, fixed_size_list */
/** Bytes of one value of a fixed-width type (bool: 0, see type_bits), 0 for others. */
size_t type_width(const type *t);
/** The largest value of an integer type, 0 for others. */
uint64_t type_integer_max(type_kind kind);
/** Bytes of one offset: 4, 8, or 0 when the type has none. utf8_view and binary_view: 4. In line,
 * for it is asked for row after row. */
static inline size_t type_offset_width(type_kind kind) {
  switch (kind) {
  case TYPE_UTF8:
  case TYPE_UTF8_VIEW:
  case TYPE_BINARY:
  case TYPE_BINARY_VIEW:
  case TYPE_LIST:
  case TYPE_MAP:
    return 4;
  case TYPE_LARGE_UTF8:
  case TYPE_LARGE_BINARY:
  case TYPE_LARGE_LIST:
    return 8;
  default: /* every other kind has none */
    return 0;
  }
}

/** Arrow C++ display name, e.g. `timestamp[us, tz=UTC]`, `list<item: int64>`. Errors: GLV_E_NOMEM,
 * GLV_E_LIMIT. */
glv_status type_print(const type *t, buf *out, glv_error *err);
/** The same in a fixed buffer for error messages, cut when too long; returns text. */
const char *type_text(const type *t, char *text, size_t size);
#define TYPE_TEXT_SIZE 128
#define TYPE_TEXT(t) type_text((t), (char[TYPE_TEXT_SIZE]){0}, TYPE_TEXT_SIZE)

/**
 * A type by name: what type_print gives (`int64`, `timestamp[us, tz=UTC]`, `list<item: string>`,
 * `struct<a: int8 not null>`; but dictionaries and maps), and for short bool/boolean,
 * float32/float64, utf8, date32, `timestamp[us, UTC]`, `fixed_size_list<float>[3]`.
 * Errors: GLV_E_INVALID_INPUT naming the text; GLV_E_NOMEM.
 */
glv_status type_parse(arena *a, str text, const type **ret, glv_error *err);

/**
 * Make a counted schema by copying. Errors: GLV_E_NOMEM. Release with schema_unref.
 * fields may be NULL when count is 0.
 */
glv_status schema_new(glv_env *env, const field *fields, size_t count, metadata m, schema **ret,
                      glv_error *err);
schema *schema_ref(const schema *s);
void schema_unref(const schema *s); /* NULL is fine */
void schema_cleanup(schema **s);
/** Index of the top-level field with exactly that name, or SIZE_MAX. */
size_t schema_find(const schema *s, str name);
bool schema_equal(const schema *a, const schema *b); /* fields only */

#endif
