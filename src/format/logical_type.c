/*
 * Parsing and printing of logical types. Segments are separated by colons; a fixed_size_list holds
 * its item type between the first and the last colon, a time zone is everything behind the second.
 */
#include "format/logical_type.h"

#include "base/limits.h"

typedef struct simple_name {
  const char *name;
  type_kind kind;
} simple_name;

static const simple_name SIMPLE[] = {
    {"null", TYPE_NULL},
    {"bool", TYPE_BOOL},
    {"int8", TYPE_INT8},
    {"uint8", TYPE_UINT8},
    {"int16", TYPE_INT16},
    {"uint16", TYPE_UINT16},
    {"int32", TYPE_INT32},
    {"uint32", TYPE_UINT32},
    {"int64", TYPE_INT64},
    {"uint64", TYPE_UINT64},
    {"halffloat", TYPE_FLOAT16},
    {"float", TYPE_FLOAT32},
    {"double", TYPE_FLOAT64},
    {"string", TYPE_UTF8},
    {"binary", TYPE_BINARY},
    {"large_string", TYPE_LARGE_UTF8},
    {"large_binary", TYPE_LARGE_BINARY},
    {"date32:day", TYPE_DATE32},
    {"date64:ms", TYPE_DATE64},
};

static const char *const UNITS[] = {"s", "ms", "us", "ns"}; /* in the order of time_unit */

/* Cut text at its first colon: *ret_rest is what follows; false when there is none. */
static bool split(str text, str *ret_head, str *ret_rest) {
  const char *colon = text.size != 0 ? memchr(text.data, ':', text.size) : NULL;
  if (colon == NULL) {
    return false;
  }
  const size_t size = (size_t)(colon - text.data);
  *ret_head = str_slice(text.data, size);
  *ret_rest = str_slice(colon + 1, text.size - size - 1);
  return true;
}

static bool parse_unit(str text, time_unit *ret) {
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
    if (str_is(text, UNITS[i])) {
      *ret = (time_unit)i;
      return true;
    }
  }
  return false;
}

static bool parse_number(str text, int32_t *ret) {
  const bool is_negative = text.size != 0 && text.data[0] == '-';
  const size_t sign = is_negative ? 1 : 0;
  uint64_t value = 0;
  if (!str_to_u64(str_slice(text.data + sign, text.size - sign), &value) || value > INT32_MAX) {
    return false;
  }
  *ret = is_negative ? -(int32_t)value : (int32_t)value;
  return true;
}

/* Each of these returns false when the parameters are malformed; *ret NULL then means no memory. */

static bool parse_timestamp(arena *a, str parameters, const type **ret) {
  str unit_text;
  str zone;
  time_unit unit = UNIT_SECOND;
  if (!split(parameters, &unit_text, &zone) || !parse_unit(unit_text, &unit) || zone.size == 0) {
    return false;
  }
  const char *text = str_is(zone, "-") ? NULL : arena_strdup(a, zone);
  *ret = text != NULL || str_is(zone, "-") ? type_timestamp(a, unit, text) : NULL;
  return true;
}

static bool parse_with_unit(arena *a, type_kind kind, str parameters, const type **ret) {
  time_unit unit = UNIT_SECOND;
  if (!parse_unit(parameters, &unit) || (kind == TYPE_TIME32 && unit > UNIT_MILLI) ||
      (kind == TYPE_TIME64 && unit < UNIT_MICRO)) {
    return false;
  }
  *ret = type_with_unit(a, kind, unit);
  return true;
}

static bool parse_decimal(arena *a, str parameters, const type **ret) {
  str bits;
  str precision_text;
  str scale_text;
  int32_t precision = 0;
  int32_t scale = 0;
  if (!split(parameters, &bits, &parameters) || !split(parameters, &precision_text, &scale_text) ||
      !parse_number(precision_text, &precision) || !parse_number(scale_text, &scale)) {
    return false;
  }
  const bool is_256 = str_is(bits, "256");
  if ((!is_256 && !str_is(bits, "128")) || precision < 1 || precision > (is_256 ? 76 : 38) ||
      scale < -precision || scale > precision) {
    return false;
  }
  *ret = type_decimal(a, is_256 ? TYPE_DECIMAL256 : TYPE_DECIMAL128, precision, scale);
  return true;
}

static bool parse_binary(arena *a, str parameters, const type **ret) {
  int32_t width = 0;
  if (!parse_number(parameters, &width) || width < 0) {
    return false;
  }
  *ret = type_fixed_size_binary(a, width);
  return true;
}

static glv_status parse(arena *a, str text, unsigned depth, const type **ret, glv_error *err);

static glv_status malformed(str text, glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT, "the logical type '%.*s' is malformed", STR_ARG(text));
}

/* parameters: item type, colon, number. */
static glv_status parse_list(arena *a, str text, str parameters, unsigned depth, const type **ret,
                             glv_error *err) {
  size_t colon = parameters.size;
  while (colon != 0 && parameters.data[colon - 1] != ':') {
    colon--;
  }
  int32_t items = 0;
  if (colon == 0 ||
      !parse_number(str_slice(parameters.data + colon, parameters.size - colon), &items) ||
      items < 0) {
    return malformed(text, err);
  }
  field item = {.name = "item", .nullable = true};
  TRY(parse(a, str_slice(parameters.data, colon - 1), depth + 1, &item.type, err));
  if (item.type == NULL) {
    *ret = NULL;
    return GLV_OK;
  }
  *ret = type_fixed_size_list(a, &item, items);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof **ret);
}

/* Parametrised types but fixed_size_list. *ret_known: it is one of them. */
static bool parse_parameters(arena *a, str head, str parameters, bool *ret_known,
                             const type **ret) {
  *ret_known = true;
  if (str_is(head, "timestamp")) {
    return parse_timestamp(a, parameters, ret);
  }
  if (str_is(head, "time32")) {
    return parse_with_unit(a, TYPE_TIME32, parameters, ret);
  }
  if (str_is(head, "time64")) {
    return parse_with_unit(a, TYPE_TIME64, parameters, ret);
  }
  if (str_is(head, "duration")) {
    return parse_with_unit(a, TYPE_DURATION, parameters, ret);
  }
  if (str_is(head, "decimal")) {
    return parse_decimal(a, parameters, ret);
  }
  if (str_is(head, "fixed_size_binary")) {
    return parse_binary(a, parameters, ret);
  }
  *ret_known = false;
  return true;
}

static glv_status parse(arena *a, str text, unsigned depth, const type **ret, glv_error *err) {
  *ret = NULL;
  if (depth >= LIMIT_TYPE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "a logical type is nested deeper than %d levels",
                LIMIT_TYPE_DEPTH);
  }
  for (size_t i = 0; i < sizeof SIMPLE / sizeof SIMPLE[0]; i++) {
    if (str_is(text, SIMPLE[i].name)) {
      *ret = type_simple(SIMPLE[i].kind);
      return GLV_OK;
    }
  }
  str head = {0};
  str parameters = {0};
  if (!split(text, &head, &parameters)) {
    return GLV_OK;
  }
  if (str_is(head, "fixed_size_list")) {
    return parse_list(a, text, parameters, depth, ret, err);
  }
  bool is_known = false;
  if (!parse_parameters(a, head, parameters, &is_known, ret)) {
    return malformed(text, err);
  }
  return is_known && *ret == NULL ? error_nomem(err, sizeof **ret) : GLV_OK;
}

glv_status logical_type_parse(arena *a, str text, const type **ret, glv_error *err) {
  return parse(a, text, 0, ret, err);
}

/* ---- printing ---- */

static const char *simple_text(type_kind kind) {
  if (kind == TYPE_UTF8_VIEW) { /* views are stored as what they view */
    kind = TYPE_UTF8;
  } else if (kind == TYPE_BINARY_VIEW) {
    kind = TYPE_BINARY;
  }
  for (size_t i = 0; i < sizeof SIMPLE / sizeof SIMPLE[0]; i++) {
    if (SIMPLE[i].kind == kind) {
      return SIMPLE[i].name;
    }
  }
  return NULL;
}

static const char *list_text(const type *t) {
  const bool is_struct = t->children[0].type->kind == TYPE_STRUCT;
  if (t->kind == TYPE_LIST) {
    return is_struct ? "list.struct" : "list";
  }
  return is_struct ? "large_list.struct" : "large_list";
}

/* The text of a type other than fixed_size_list, or NULL; *ret_failed: no memory. */
static const char *print_one(arena *a, const type *t, bool *ret_failed) {
  const char *text = simple_text(t->kind);
  const char *unit = UNITS[t->unit];
  switch ((int)t->kind) {
  case TYPE_TIMESTAMP:
    text = arena_printf(a, "timestamp:%s:%s", unit, t->timezone != NULL ? t->timezone : "-");
    break;
  case TYPE_TIME32:
    text = arena_printf(a, "time32:%s", unit);
    break;
  case TYPE_TIME64:
    text = arena_printf(a, "time64:%s", unit);
    break;
  case TYPE_DURATION:
    text = arena_printf(a, "duration:%s", unit);
    break;
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
    text = arena_printf(a, "decimal:%d:%d:%d", t->kind == TYPE_DECIMAL128 ? 128 : 256,
                        (int)t->precision, (int)t->scale);
    break;
  case TYPE_FIXED_SIZE_BINARY:
    text = arena_printf(a, "fixed_size_binary:%d", (int)t->width);
    break;
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
    return list_text(t);
  default: /* simple, or without a text */
    return text;
  }
  *ret_failed = text == NULL;
  return text;
}

glv_status logical_type_print(arena *a, const type *t, const char **ret, glv_error *err) {
  const type *leaf = t;
  unsigned depth = 0;
  while (leaf->kind == TYPE_FIXED_SIZE_LIST && depth++ < LIMIT_TYPE_DEPTH) {
    leaf = leaf->children[0].type;
  }
  *ret = NULL;
  if (leaf != t && (leaf->kind == TYPE_LIST || leaf->kind == TYPE_LARGE_LIST)) {
    return GLV_OK;
  }
  bool has_failed = false;
  const char *text = print_one(a, leaf, &has_failed);
  if (text == NULL) {
    return has_failed ? error_nomem(err, 0) : GLV_OK;
  }
  const char *tail = "";
  for (leaf = t; leaf->kind == TYPE_FIXED_SIZE_LIST; leaf = leaf->children[0].type) {
    text = arena_printf(a, "fixed_size_list:%s", text);
    tail = arena_printf(a, ":%d%s", (int)leaf->width, tail);
    if (text == NULL || tail == NULL) {
      return error_nomem(err, 0);
    }
  }
  *ret = *tail != '\0' ? arena_printf(a, "%s%s", text, tail) : text;
  return *ret != NULL ? GLV_OK : error_nomem(err, 0);
}
