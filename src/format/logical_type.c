/*
 * Parsing and printing of logical types. Segments are separated by colons; a fixed_size_list holds
 * its item type between the first and the last colon, a time zone is everything behind the second;
 * a dictionary has exactly four segments, so that its parts cannot hold a colon.
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

/* Two names of a type that has one already: the text of a field says more than its type. */
#define JSON_TYPE "json"
#define BLOB_TYPE "blob"

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

/* The type of a field without parameters, or TYPE_NONE. */
static type_kind simple_kind(str text) {
  if (str_is(text, JSON_TYPE) || str_is(text, BLOB_TYPE)) {
    return TYPE_LARGE_BINARY;
  }
  for (size_t i = 0; i < sizeof SIMPLE / sizeof SIMPLE[0]; i++) {
    if (str_is(text, SIMPLE[i].name)) {
      return SIMPLE[i].kind;
    }
  }
  return TYPE_NONE;
}

/* parameters: value type, colon, index type, colon, "false". Anything else is unknown. */
static glv_status parse_dictionary(arena *a, str text, str parameters, const type **ret,
                                   glv_error *err) {
  str value = {0};
  str index = {0};
  str rest = {0};
  *ret = NULL;
  if (!split(parameters, &value, &parameters) || !split(parameters, &index, &rest)) {
    return malformed(text, err);
  }
  const type_kind keys = simple_kind(index);
  const type_kind values = simple_kind(value);
  if (!type_is_integer(keys) || values == TYPE_NONE || memchr(rest.data, ':', rest.size) != NULL) {
    return GLV_OK;
  }
  *ret = type_dictionary(a, keys, type_simple(values));
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof **ret);
}

/* Items of type bfloat16 are two bytes that Arrow has no name for. */
static field bfloat16_item(void) {
  static const pair extension[] = {
      {{FIELD_EXTENSION, sizeof FIELD_EXTENSION - 1}, {BFLOAT16, sizeof BFLOAT16 - 1}},
      {{FIELD_EXTENSION_METADATA, sizeof FIELD_EXTENSION_METADATA - 1}, {"", 0}},
  };
  static const type two_bytes = {.kind = TYPE_FIXED_SIZE_BINARY, .width = 2};
  return (field){.name = "item",
                 .type = &two_bytes,
                 .nullable = true,
                 .metadata = {extension, sizeof extension / sizeof extension[0]}};
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
  const str inner = str_slice(parameters.data, colon - 1);
  field item = {.name = "item", .nullable = true};
  if (str_is(inner, BFLOAT16)) {
    item = bfloat16_item();
  } else {
    TRY(parse(a, inner, depth + 1, &item.type, err));
  }
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
  const type_kind kind = simple_kind(text);
  if (kind != TYPE_NONE) {
    *ret = type_simple(kind);
    return GLV_OK;
  }
  str head = {0};
  str parameters = {0};
  if (!split(text, &head, &parameters)) {
    return GLV_OK;
  }
  if (str_is(head, "fixed_size_list")) {
    return parse_list(a, text, parameters, depth, ret, err);
  }
  if (str_is(head, "dict")) {
    return parse_dictionary(a, text, parameters, ret, err);
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

/* NULL when an index or value type has parameters of its own: it could not be read back. */
static const char *dictionary_text(arena *a, const type *t, bool *ret_failed) {
  const char *value = simple_text(t->children[0].type->kind);
  const char *index = simple_text(t->index);
  if (value == NULL || strchr(value, ':') != NULL) {
    return NULL;
  }
  const char *text = arena_printf(a, "dict:%s:%s:false", value, index);
  *ret_failed = text == NULL;
  return text;
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
  case TYPE_DICTIONARY:
    return dictionary_text(a, t, ret_failed);
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
    return list_text(t);
  case TYPE_STRUCT:
    return "struct";
  case TYPE_MAP:
    return t->flag ? NULL : "map";
  default: /* simple, or without a text */
    return text;
  }
  *ret_failed = text == NULL;
  return text;
}

static bool has_extension(const field *f, const char *name) {
  return str_is(metadata_get(f->metadata, STR(FIELD_EXTENSION), NULL), name);
}

/* What stands inside of all levels of fixed_size_list has a width, or is a struct that is directly
 * inside. */
static bool can_be_item(const field *item, unsigned depth) {
  const type_kind kind = item->type->kind;
  return kind == TYPE_STRUCT ? depth == 1 : kind == TYPE_BOOL || type_width(item->type) != 0;
}

glv_status logical_type_print(arena *a, const field *f, const char **ret, glv_error *err) {
  const field *leaf = f;
  unsigned depth = 0;
  while (leaf->type->kind == TYPE_FIXED_SIZE_LIST && depth++ < LIMIT_TYPE_DEPTH) {
    leaf = &leaf->type->children[0];
  }
  *ret = NULL;
  if (leaf != f && !can_be_item(leaf, depth)) {
    return GLV_OK;
  }
  bool has_failed = false;
  const char *text = NULL;
  if (leaf != f && leaf->type->kind == TYPE_FIXED_SIZE_BINARY && has_extension(leaf, BFLOAT16)) {
    text = BFLOAT16;
  } else if (leaf->type->kind == TYPE_LARGE_BINARY && has_extension(leaf, "lance.json")) {
    text = JSON_TYPE;
  } else {
    text = print_one(a, leaf->type, &has_failed);
  }
  if (text == NULL) {
    return has_failed ? error_nomem(err, 0) : GLV_OK;
  }
  const char *tail = "";
  for (const type *t = f->type; t->kind == TYPE_FIXED_SIZE_LIST; t = t->children[0].type) {
    text = arena_printf(a, "fixed_size_list:%s", text);
    tail = arena_printf(a, ":%d%s", (int)t->width, tail);
    if (text == NULL || tail == NULL) {
      return error_nomem(err, 0);
    }
  }
  *ret = *tail != '\0' ? arena_printf(a, "%s%s", text, tail) : text;
  return *ret != NULL ? GLV_OK : error_nomem(err, 0);
}
