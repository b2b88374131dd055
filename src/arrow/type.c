/*
 * Types: static constants for those without parameters, arena objects for the others, deep copies,
 * comparison and the tables of their properties. Types are trees of at most LIMIT_TYPE_DEPTH
 * levels: whoever makes types from outside input checks that, so the recursions here are bounded.
 */
#include "arrow/type.h"

#define SIMPLE_TYPE(k) [k] = {.kind = (k)}

static const type simple_types[] = {
    SIMPLE_TYPE(TYPE_NONE),
    SIMPLE_TYPE(TYPE_NULL),
    SIMPLE_TYPE(TYPE_BOOL),
    SIMPLE_TYPE(TYPE_INT8),
    SIMPLE_TYPE(TYPE_INT16),
    SIMPLE_TYPE(TYPE_INT32),
    SIMPLE_TYPE(TYPE_INT64),
    SIMPLE_TYPE(TYPE_UINT8),
    SIMPLE_TYPE(TYPE_UINT16),
    SIMPLE_TYPE(TYPE_UINT32),
    SIMPLE_TYPE(TYPE_UINT64),
    SIMPLE_TYPE(TYPE_FLOAT16),
    SIMPLE_TYPE(TYPE_FLOAT32),
    SIMPLE_TYPE(TYPE_FLOAT64),
    SIMPLE_TYPE(TYPE_DATE32),
    SIMPLE_TYPE(TYPE_DATE64),
    SIMPLE_TYPE(TYPE_INTERVAL_MONTH_DAY_NANO),
    SIMPLE_TYPE(TYPE_UTF8),
    SIMPLE_TYPE(TYPE_LARGE_UTF8),
    SIMPLE_TYPE(TYPE_UTF8_VIEW),
    SIMPLE_TYPE(TYPE_BINARY),
    SIMPLE_TYPE(TYPE_LARGE_BINARY),
    SIMPLE_TYPE(TYPE_BINARY_VIEW),
};

const type *type_simple(type_kind kind) { return &simple_types[kind]; }

static const type *keep(arena *a, type t) {
  type *kept = ARENA_NEW(a, type);
  if (kept != NULL) {
    *kept = t;
  }
  return kept;
}

const type *type_timestamp(arena *a, time_unit unit, const char *timezone) {
  const char *zone = NULL;
  if (timezone != NULL) {
    zone = arena_strdup(a, str_of(timezone));
    if (zone == NULL) {
      return NULL;
    }
  }
  return keep(a, (type){.kind = TYPE_TIMESTAMP, .unit = unit, .timezone = zone});
}

const type *type_with_unit(arena *a, type_kind kind, time_unit unit) {
  return keep(a, (type){.kind = kind, .unit = unit});
}

const type *type_decimal(arena *a, type_kind kind, int32_t precision, int32_t scale) {
  return keep(a, (type){.kind = kind, .precision = precision, .scale = scale});
}

const type *type_fixed_size_binary(arena *a, int32_t width) {
  return keep(a, (type){.kind = TYPE_FIXED_SIZE_BINARY, .width = width});
}

/* t with copies of count children, in the arena. */
static const type *keep_nested(arena *a, type t, const field *children, size_t count) {
  field *copies = ARENA_ARRAY(a, field, count);
  if (copies == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    if (!field_copy(a, &children[i], &copies[i])) {
      return NULL;
    }
  }
  t.children = copies;
  t.child_count = count;
  return keep(a, t);
}

const type *type_fixed_size_list(arena *a, const field *item, int32_t items) {
  return keep_nested(a, (type){.kind = TYPE_FIXED_SIZE_LIST, .width = items}, item, 1);
}

const type *type_list(arena *a, type_kind kind, const field *item) {
  return keep_nested(a, (type){.kind = kind}, item, 1);
}

const type *type_struct(arena *a, const field *fields, size_t count) {
  return keep_nested(a, (type){.kind = TYPE_STRUCT}, fields, count);
}

const type *type_dictionary(arena *a, type_kind index, const type *value) {
  const field values = {.name = "", .type = value, .nullable = true};
  return keep_nested(a, (type){.kind = TYPE_DICTIONARY, .index = index}, &values, 1);
}

const type *type_copy(arena *a, const type *t) {
  if (t->child_count != 0 || t->kind == TYPE_STRUCT) {
    return keep_nested(a, *t, t->children, t->child_count);
  }
  type copy = *t;
  if (t->timezone != NULL) {
    copy.timezone = arena_strdup(a, str_of(t->timezone));
    if (copy.timezone == NULL) {
      return NULL;
    }
  }
  return keep(a, copy);
}

bool field_copy(arena *a, const field *from, field *to) {
  bool ok = true;
  const field copy = {
      .name = arena_strdup(a, str_of(from->name)),
      .type = type_copy(a, from->type),
      .nullable = from->nullable,
      .metadata = metadata_copy(a, from->metadata, &ok),
  };
  *to = copy;
  return ok && copy.name != NULL && copy.type != NULL;
}

static bool str_copy(arena *a, str from, str *to) {
  const char *data = arena_strdup(a, from);
  *to = str_slice(data, from.size);
  return data != NULL;
}

metadata metadata_copy(arena *a, metadata m, bool *ok) {
  *ok = true;
  if (m.count == 0) {
    return (metadata){0};
  }
  pair *pairs = ARENA_ARRAY(a, pair, m.count);
  for (size_t i = 0; pairs != NULL && i < m.count; i++) {
    if (!str_copy(a, m.pairs[i].key, &pairs[i].key) ||
        !str_copy(a, m.pairs[i].value, &pairs[i].value)) {
      pairs = NULL;
      break;
    }
  }
  *ok = pairs != NULL;
  return pairs != NULL ? (metadata){pairs, m.count} : (metadata){0};
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool type_equal(const type *a, const type *b) {
  if (a == b) {
    return true;
  }
  if (a->kind != b->kind || a->unit != b->unit || a->width != b->width ||
      a->precision != b->precision || a->scale != b->scale || a->index != b->index ||
      a->flag != b->flag || a->child_count != b->child_count ||
      !same_text(a->timezone, b->timezone)) {
    return false;
  }
  for (size_t i = 0; i < a->child_count; i++) {
    const field *x = &a->children[i];
    const field *y = &b->children[i];
    const bool equal =
        a->kind == TYPE_DICTIONARY ? type_equal(x->type, y->type) : field_equal(x, y);
    if (!equal) {
      return false;
    }
  }
  return true;
}

bool field_equal(const field *a, const field *b) {
  return strcmp(a->name, b->name) == 0 && a->nullable == b->nullable &&
         type_equal(a->type, b->type);
}

str metadata_get(metadata m, str key, bool *ret_found) {
  for (size_t i = 0; i < m.count; i++) {
    if (str_equal(m.pairs[i].key, key)) {
      if (ret_found != NULL) {
        *ret_found = true;
      }
      return m.pairs[i].value;
    }
  }
  if (ret_found != NULL) {
    *ret_found = false;
  }
  return (str){NULL, 0};
}

bool type_is_integer(type_kind kind) { return kind >= TYPE_INT8 && kind <= TYPE_UINT64; }

bool type_is_signed(type_kind kind) { return kind >= TYPE_INT8 && kind <= TYPE_INT64; }

bool type_is_float(type_kind kind) { return kind >= TYPE_FLOAT16 && kind <= TYPE_FLOAT64; }

bool type_is_decimal(type_kind kind) { return kind == TYPE_DECIMAL128 || kind == TYPE_DECIMAL256; }

bool type_is_numeric(type_kind kind) { return kind >= TYPE_INT8 && kind <= TYPE_DECIMAL256; }

bool type_is_string(type_kind kind) { return kind >= TYPE_UTF8 && kind <= TYPE_UTF8_VIEW; }

bool type_is_binary(type_kind kind) { return kind >= TYPE_BINARY && kind <= TYPE_BINARY_VIEW; }

bool type_is_temporal(type_kind kind) {
  return kind >= TYPE_DATE32 && kind <= TYPE_INTERVAL_MONTH_DAY_NANO;
}

size_t type_find_child(const type *t, const char *name) {
  for (size_t i = 0; i < t->child_count; i++) {
    if (strcmp(t->children[i].name, name) == 0) {
      return i;
    }
  }
  return SIZE_MAX;
}

bool type_is_list(type_kind kind) { return kind >= TYPE_LIST && kind <= TYPE_FIXED_SIZE_LIST; }

size_t type_width(const type *t) {
  switch (t->kind) {
  case TYPE_INT8:
  case TYPE_UINT8:
    return 1;
  case TYPE_INT16:
  case TYPE_UINT16:
  case TYPE_FLOAT16:
    return 2;
  case TYPE_INT32:
  case TYPE_UINT32:
  case TYPE_FLOAT32:
  case TYPE_DATE32:
  case TYPE_TIME32:
    return 4;
  case TYPE_INT64:
  case TYPE_UINT64:
  case TYPE_FLOAT64:
  case TYPE_DATE64:
  case TYPE_TIME64:
  case TYPE_TIMESTAMP:
  case TYPE_DURATION:
    return 8;
  case TYPE_DECIMAL128:
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return 16;
  case TYPE_DECIMAL256:
    return 32;
  case TYPE_FIXED_SIZE_BINARY:
    return (size_t)t->width;
  case TYPE_NONE:
  case TYPE_NULL:
  case TYPE_BOOL:
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_UTF8_VIEW:
  case TYPE_BINARY:
  case TYPE_LARGE_BINARY:
  case TYPE_BINARY_VIEW:
  case TYPE_DICTIONARY:
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_FIXED_SIZE_LIST:
  case TYPE_STRUCT:
  case TYPE_MAP:
    break;
  }
  return 0;
}

uint64_t type_integer_max(type_kind kind) {
  switch (kind) {
  case TYPE_INT8:
    return INT8_MAX;
  case TYPE_INT16:
    return INT16_MAX;
  case TYPE_INT32:
    return INT32_MAX;
  case TYPE_INT64:
    return INT64_MAX;
  case TYPE_UINT8:
    return UINT8_MAX;
  case TYPE_UINT16:
    return UINT16_MAX;
  case TYPE_UINT32:
    return UINT32_MAX;
  case TYPE_UINT64:
    return UINT64_MAX;
  default:
    return 0;
  }
}
