/*
 * Types by name, as type_print gives them. A name is letters, digits and underscores; parameters
 * follow in brackets:
 * `[unit]`, `[unit, zone]`, `(precision, scale)`, `<name: type>`, `[size]`.
 */
#include "arrow/type.h"
#include "base/limits.h"

typedef struct parser {
  arena *memory;
  str all; /* for messages */
  str rest;
  glv_error *err;
} parser;

static glv_status unknown(const parser *p) {
  return FAIL(p->err, GLV_E_INVALID_INPUT, "'%.*s' is not a type", STR_ARG(p->all));
}

static void advance(parser *p, size_t count) {
  p->rest = str_slice(p->rest.data + count, p->rest.size - count);
}

static void skip_space(parser *p) {
  while (p->rest.size != 0 && p->rest.data[0] == ' ') {
    advance(p, 1);
  }
}

static bool accept(parser *p, char c) {
  skip_space(p);
  if (p->rest.size == 0 || p->rest.data[0] != c) {
    return false;
  }
  advance(p, 1);
  return true;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static str take_word(parser *p) {
  size_t size = 0;
  skip_space(p);
  while (size < p->rest.size && is_word(p->rest.data[size])) {
    size++;
  }
  const str w = str_slice(p->rest.data, size);
  advance(p, size);
  return w;
}

static bool take_int(parser *p, int32_t low, int32_t high, int32_t *ret) {
  uint64_t value;
  const bool negative = accept(p, '-');
  if (!str_to_u64(take_word(p), &value) || value > INT32_MAX) {
    return false;
  }
  *ret = negative ? -(int32_t)value : (int32_t)value;
  return *ret >= low && *ret <= high;
}

static bool take_unit(parser *p, time_unit *ret) {
  static const char *const names[] = {"s", "ms", "us", "ns"};
  const str w = take_word(p);
  for (unsigned i = 0; i < 4; i++) {
    if (str_is(w, names[i])) {
      *ret = (time_unit)i;
      return true;
    }
  }
  return false;
}

static const struct {
  const char *name;
  type_kind kind;
} flat_names[] = {
    {"null", TYPE_NULL},
    {"bool", TYPE_BOOL},
    {"boolean", TYPE_BOOL},
    {"int8", TYPE_INT8},
    {"int16", TYPE_INT16},
    {"int32", TYPE_INT32},
    {"int64", TYPE_INT64},
    {"uint8", TYPE_UINT8},
    {"uint16", TYPE_UINT16},
    {"uint32", TYPE_UINT32},
    {"uint64", TYPE_UINT64},
    {"halffloat", TYPE_FLOAT16},
    {"float16", TYPE_FLOAT16},
    {"float", TYPE_FLOAT32},
    {"float32", TYPE_FLOAT32},
    {"double", TYPE_FLOAT64},
    {"float64", TYPE_FLOAT64},
    {"string", TYPE_UTF8},
    {"utf8", TYPE_UTF8},
    {"large_string", TYPE_LARGE_UTF8},
    {"large_utf8", TYPE_LARGE_UTF8},
    {"binary", TYPE_BINARY},
    {"large_binary", TYPE_LARGE_BINARY},
    {"date32", TYPE_DATE32},
    {"date64", TYPE_DATE64},
};

static glv_status kept(const parser *p, const type *t, const type **ret) {
  *ret = t;
  return t != NULL ? GLV_OK : error_nomem(p->err, sizeof *t);
}

/* [unit] or [unit, zone] or [unit, tz=zone]; a timestamp without brackets has microseconds. */
static glv_status parse_timestamp(parser *p, const type **ret) {
  time_unit unit = UNIT_MICRO;
  const char *zone = NULL;
  if (accept(p, '[')) {
    if (!take_unit(p, &unit)) {
      return unknown(p);
    }
    if (accept(p, ',')) {
      skip_space(p);
      if (str_starts_with(p->rest, STR("tz="))) {
        advance(p, 3);
      }
      const char *end = p->rest.size != 0 ? memchr(p->rest.data, ']', p->rest.size) : NULL;
      if (end == NULL || end == p->rest.data) {
        return unknown(p);
      }
      const size_t size = (size_t)(end - p->rest.data);
      zone = arena_strdup(p->memory, str_slice(p->rest.data, size));
      if (zone == NULL) {
        return error_nomem(p->err, size);
      }
      advance(p, size);
    }
    if (!accept(p, ']')) {
      return unknown(p);
    }
  }
  return kept(p, type_timestamp(p->memory, unit, zone), ret);
}

static glv_status parse_unit(parser *p, type_kind kind, const type **ret) {
  time_unit unit;
  if (!accept(p, '[') || !take_unit(p, &unit) || !accept(p, ']') ||
      (kind == TYPE_TIME32 && unit > UNIT_MILLI) || (kind == TYPE_TIME64 && unit < UNIT_MICRO)) {
    return unknown(p);
  }
  return kept(p, type_with_unit(p->memory, kind, unit), ret);
}

static glv_status parse_decimal(parser *p, type_kind kind, const type **ret) {
  const int32_t most = kind == TYPE_DECIMAL128 ? 38 : 76;
  int32_t precision;
  int32_t scale;
  if (!accept(p, '(') || !take_int(p, 1, most, &precision) || !accept(p, ',') ||
      !take_int(p, -most, most, &scale) || !accept(p, ')')) {
    return unknown(p);
  }
  return kept(p, type_decimal(p->memory, kind, precision, scale), ret);
}

static glv_status parse(parser *p, unsigned depth, const type **ret);

/* The type of a field, which may be followed by "not null". */
static glv_status parse_field_type(parser *p, unsigned depth, field *ret) {
  TRY(parse(p, depth + 1, &ret->type));
  skip_space(p);
  ret->nullable = !str_starts_with(p->rest, STR("not null"));
  advance(p, ret->nullable ? 0 : 8);
  return GLV_OK;
}

/* <type>, <name: type>, each maybe with "not null". */
static glv_status parse_item(parser *p, unsigned depth, field *ret) {
  const str before = p->rest;
  *ret = (field){.name = "item", .nullable = true};
  if (!accept(p, '<')) {
    return unknown(p);
  }
  const str start = p->rest;
  const str name = take_word(p);
  if (accept(p, ':')) {
    ret->name = arena_strdup(p->memory, name);
    if (ret->name == NULL) {
      return error_nomem(p->err, before.size);
    }
  } else {
    p->rest = start;
  }
  TRY(parse_field_type(p, depth, ret));
  return accept(p, '>') ? GLV_OK : unknown(p);
}

/* <name: type, ...>, each maybe with "not null". */
static glv_status parse_struct(parser *p, unsigned depth, const type **ret) {
  field *fields = NULL;
  size_t count = 0;
  size_t room = 0;
  char next = '<';
  do {
    if (count == room) {
      room = room > 0 ? 2 * room : 8;
      field *more = ARENA_ARRAY(p->memory, field, room);
      if (more == NULL) {
        return error_nomem(p->err, room * sizeof *more);
      }
      memcpy(more, fields != NULL ? fields : more, count * sizeof *more);
      fields = more;
    }
    if (!accept(p, next)) {
      return unknown(p);
    }
    const str name = take_word(p);
    if (name.size == 0 || !accept(p, ':') || count == LIMIT_FIELDS) {
      return unknown(p);
    }
    fields[count].name = arena_strdup(p->memory, name);
    if (fields[count].name == NULL) {
      return error_nomem(p->err, name.size);
    }
    TRY(parse_field_type(p, depth, &fields[count++]));
    next = ',';
  } while (!accept(p, '>'));
  return kept(p, type_struct(p->memory, fields, count), ret);
}

static glv_status parse_list(parser *p, type_kind kind, unsigned depth, const type **ret) {
  field item;
  int32_t size;
  TRY(parse_item(p, depth, &item));
  if (kind != TYPE_FIXED_SIZE_LIST) {
    return kept(p, type_list(p->memory, kind, &item), ret);
  }
  if (!accept(p, '[') || !take_int(p, 1, INT32_MAX, &size) || !accept(p, ']')) {
    return unknown(p);
  }
  return kept(p, type_fixed_size_list(p->memory, &item, size), ret);
}

static glv_status parse_sized_binary(parser *p, const type **ret) {
  int32_t size;
  if (!accept(p, '[') || !take_int(p, 1, INT32_MAX, &size) || !accept(p, ']')) {
    return unknown(p);
  }
  return kept(p, type_fixed_size_binary(p->memory, size), ret);
}

static glv_status parse_parametrised(parser *p, str name, unsigned depth, const type **ret) {
  if (str_is(name, "timestamp")) {
    return parse_timestamp(p, ret);
  }
  if (str_is(name, "time32") || str_is(name, "time64") || str_is(name, "duration")) {
    const type_kind kind = str_is(name, "time32")   ? TYPE_TIME32
                           : str_is(name, "time64") ? TYPE_TIME64
                                                    : TYPE_DURATION;
    return parse_unit(p, kind, ret);
  }
  if (str_is(name, "decimal128") || str_is(name, "decimal256")) {
    return parse_decimal(p, str_is(name, "decimal128") ? TYPE_DECIMAL128 : TYPE_DECIMAL256, ret);
  }
  if (str_is(name, "fixed_size_binary")) {
    return parse_sized_binary(p, ret);
  }
  if (str_is(name, "fixed_size_list")) {
    return parse_list(p, TYPE_FIXED_SIZE_LIST, depth, ret);
  }
  if (str_is(name, "struct")) {
    return parse_struct(p, depth, ret);
  }
  if (str_is(name, "list") || str_is(name, "large_list")) {
    return parse_list(p, str_is(name, "list") ? TYPE_LIST : TYPE_LARGE_LIST, depth, ret);
  }
  return unknown(p);
}

static glv_status parse(parser *p, unsigned depth, const type **ret) {
  const str name = take_word(p);
  if (depth > LIMIT_TYPE_DEPTH) {
    return unknown(p);
  }
  for (size_t i = 0; i < sizeof flat_names / sizeof flat_names[0]; i++) {
    if (str_is(name, flat_names[i].name)) {
      *ret = type_simple(flat_names[i].kind);
      const str unit = (*ret)->kind == TYPE_DATE32   ? STR("[day]")
                       : (*ret)->kind == TYPE_DATE64 ? STR("[ms]")
                                                     : STR("");
      advance(p, str_starts_with(p->rest, unit) ? unit.size : 0);
      return GLV_OK;
    }
  }
  return parse_parametrised(p, name, depth, ret);
}

glv_status type_parse(arena *a, str text, const type **ret, glv_error *err) {
  parser p = {.memory = a, .all = text, .rest = text, .err = err};
  TRY(parse(&p, 1, ret));
  skip_space(&p);
  return p.rest.size == 0 ? GLV_OK : unknown(&p);
}
