/*
 * Schemas from JSON. A word is its parts between colons: `timestamp:us:UTC`. The words of
 * rest-protocol.md 12.1 and those of the namespace dialect (12.2) do not contradict each other;
 * the latter have no units and mean microseconds without a zone there.
 */
#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "wire/members.h"
#include "wire/schema.h"

/* What one reading shares. */
typedef struct reading {
  arena *memory;
  size_t field_count;
  const char *field; /* the top-level field that is being read; NULL = none */
} reading;

static glv_status wrong(const reading *r, const char *what, const char *word, glv_error *err) {
  return r->field != NULL
             ? FAIL(err, GLV_E_INVALID_INPUT, "field '%s': %s '%s'", r->field, what, word)
             : FAIL(err, GLV_E_INVALID_INPUT, "%s '%s'", what, word);
}

/* ---- words ---- */

static type_kind plain_kind(str word) {
  static const struct {
    const char *word;
    type_kind kind;
  } kinds[] = {{"null", TYPE_NULL},
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
               {"utf8_view", TYPE_UTF8_VIEW},
               {"binary", TYPE_BINARY},
               {"large_binary", TYPE_LARGE_BINARY},
               {"binary_view", TYPE_BINARY_VIEW},
               {"date32", TYPE_DATE32},
               {"date32:day", TYPE_DATE32},
               {"date64", TYPE_DATE64},
               {"date64:ms", TYPE_DATE64},
               {"interval", TYPE_INTERVAL_MONTH_DAY_NANO}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (str_is(word, kinds[i].word)) {
      return kinds[i].kind;
    }
  }
  return TYPE_NONE;
}

/* Cut the part before the first colon off; the rest is empty when there is none. */
static str next_part(str *rest) {
  const char *colon = rest->size > 0 ? memchr(rest->data, ':', rest->size) : NULL;
  const size_t size = colon != NULL ? (size_t)(colon - rest->data) : rest->size;
  const str part = str_slice(rest->data, size);
  *rest = colon != NULL ? str_slice(colon + 1, rest->size - size - 1) : (str){NULL, 0};
  return part;
}

static bool read_unit(str word, time_unit *ret) {
  static const char *const words[] = {"s", "ms", "us", "ns"};
  for (unsigned i = 0; i < 4; i++) {
    if (str_is(word, words[i])) {
      *ret = (time_unit)i;
      return true;
    }
  }
  return false;
}

/* *ret stays NULL for parameters that are wrong. */
static void read_timestamp(arena *memory, str parameters, const type **ret) {
  time_unit unit = UNIT_MICRO;
  const bool is_plain = parameters.size == 0;
  const str unit_word = next_part(&parameters);
  if (!is_plain && !read_unit(unit_word, &unit)) {
    return;
  }
  const bool has_zone = parameters.size > 0 && !str_is(parameters, "-");
  const char *zone = has_zone ? arena_strdup(memory, parameters) : NULL;
  if (has_zone && (zone == NULL || strlen(zone) != parameters.size)) {
    return;
  }
  *ret = type_timestamp(memory, unit, zone);
}

static void read_with_unit(arena *memory, type_kind kind, str parameters, const type **ret) {
  time_unit unit = UNIT_MICRO;
  const bool is_coarse = kind == TYPE_TIME32;
  if (kind == TYPE_TIME32 && parameters.size == 0) {
    unit = UNIT_MILLI;
  } else if (parameters.size > 0 && !read_unit(parameters, &unit)) {
    return;
  }
  if (kind == TYPE_DURATION || is_coarse == (unit <= UNIT_MILLI)) {
    *ret = type_with_unit(memory, kind, unit);
  }
}

static void make_decimal(arena *memory, bool is_wide, int64_t precision, int64_t scale,
                         const type **ret) {
  const int64_t most = is_wide ? 76 : 38;
  if (precision >= 1 && precision <= most && scale >= -most && scale <= most) {
    *ret = type_decimal(memory, is_wide ? TYPE_DECIMAL256 : TYPE_DECIMAL128, (int32_t)precision,
                        (int32_t)scale);
  }
}

static void read_decimal(arena *memory, str parameters, const type **ret) {
  const str bits = next_part(&parameters);
  const str precision_word = next_part(&parameters);
  const bool negative = parameters.size > 0 && parameters.data[0] == '-';
  const str scale_word =
      negative ? str_slice(parameters.data + 1, parameters.size - 1) : parameters;
  uint64_t precision;
  uint64_t scale;
  if ((str_is(bits, "128") || str_is(bits, "256")) && str_to_u64(precision_word, &precision) &&
      str_to_u64(scale_word, &scale) && precision <= 76 && scale <= 76) {
    make_decimal(memory, str_is(bits, "256"), (int64_t)precision,
                 negative ? -(int64_t)scale : (int64_t)scale, ret);
  }
}

static glv_status read_word(reading *r, str word, const type **ret, glv_error *err);

/* `<value>:<index>:<ordered>`; the value may have colons of its own. */
static glv_status read_dictionary(reading *r, str parameters, const type **ret, glv_error *err) {
  size_t cuts[2] = {0, 0};
  size_t found = 0;
  for (size_t i = parameters.size; i > 0 && found < 2; i--) {
    if (parameters.data[i - 1] == ':') {
      cuts[found++] = i - 1;
    }
  }
  if (found < 2) {
    return GLV_OK;
  }
  const str ordered = str_slice(parameters.data + cuts[0] + 1, parameters.size - cuts[0] - 1);
  const type_kind index =
      plain_kind(str_slice(parameters.data + cuts[1] + 1, cuts[0] - cuts[1] - 1));
  const str value_word = str_slice(parameters.data, cuts[1]);
  const type *value = NULL;
  if (!type_is_integer(index) || str_starts_with(value_word, STR("dict:")) ||
      !(str_is(ordered, "true") || str_is(ordered, "false"))) {
    return GLV_OK;
  }
  TRY(read_word(r, value_word, &value, err));
  if (value == NULL) {
    return GLV_OK;
  }
  const type *plain = type_dictionary(r->memory, index, value);
  type *made = ARENA_NEW(r->memory, type);
  if (plain == NULL || made == NULL) {
    return error_nomem(err, sizeof *made);
  }
  *made = *plain;
  made->flag = str_is(ordered, "true");
  *ret = made;
  return GLV_OK;
}

/* A type without child fields and length; *ret stays NULL when there is none of that word. */
static glv_status read_word(reading *r, str word, const type **ret, glv_error *err) {
  const type_kind kind = plain_kind(word);
  if (kind != TYPE_NONE) {
    *ret = type_simple(kind);
    return GLV_OK;
  }
  str parameters = word;
  const str head = next_part(&parameters);
  if (str_is(head, "timestamp")) {
    read_timestamp(r->memory, parameters, ret);
  } else if (str_is(head, "time32")) {
    read_with_unit(r->memory, TYPE_TIME32, parameters, ret);
  } else if (str_is(head, "time64")) {
    read_with_unit(r->memory, TYPE_TIME64, parameters, ret);
  } else if (str_is(head, "duration")) {
    read_with_unit(r->memory, TYPE_DURATION, parameters, ret);
  } else if (str_is(head, "decimal")) {
    read_decimal(r->memory, parameters, ret);
  } else if (str_is(head, "dict")) {
    return read_dictionary(r, parameters, ret, err);
  }
  return GLV_OK;
}

/* ---- types with children or a length ---- */

static glv_status read_type(reading *r, const json *node, unsigned depth, const type **ret,
                            glv_error *err);

static glv_status read_metadata(reading *r, const json *object, metadata *ret, glv_error *err) {
  const json *map = NULL;
  TRY(wire_object(object, "metadata", &map, err));
  const size_t count = map != NULL ? js_count(map) : 0;
  pair *pairs = ARENA_ARRAY(r->memory, pair, count);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  void *position = NULL;
  for (size_t i = 0; i < count; i++) {
    const json *value = js_next_member(map, &position, &pairs[i].key);
    TRY(wire_expect(value, JS_STRING, "metadata", err));
    pairs[i].value = js_string(value);
  }
  *ret = (metadata){pairs, count};
  return GLV_OK;
}

static glv_status read_field(reading *r, const json *node, unsigned depth, field *ret,
                             glv_error *err) {
  const char *name = NULL;
  bool nullable = true;
  TRY(wire_expect(node, JS_OBJECT, "fields", err));
  TRY(wire_text(node, "name", &name, err));
  if (name == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a field has no 'name'");
  }
  r->field = depth == 0 ? name : r->field;
  TRY(wire_bool(node, "nullable", &nullable, err));
  const json *form = js_member(node, "type");
  if (form == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "field '%s' has no 'type'", name);
  }
  ret->name = name;
  ret->nullable = nullable;
  TRY(read_metadata(r, node, &ret->metadata, err));
  return read_type(r, form, depth + 1, &ret->type, err);
}

static glv_status read_fields(reading *r, const json *object, unsigned depth, const field **ret,
                              size_t *ret_count, glv_error *err) {
  const json *array = NULL;
  TRY(wire_array(object, "fields", &array, err));
  const size_t count = array != NULL ? js_count(array) : 0;
  r->field_count += count;
  if (r->field_count > LIMIT_FIELDS || depth > LIMIT_TYPE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "the schema has more than %d fields, or is nested deeper than %d",
                LIMIT_FIELDS, LIMIT_TYPE_DEPTH);
  }
  field *fields = ARENA_ARRAY(r->memory, field, count);
  if (fields == NULL) {
    return error_nomem(err, count * sizeof *fields);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(read_field(r, js_item(array, i), depth, &fields[i], err));
  }
  *ret = fields;
  *ret_count = count;
  return GLV_OK;
}

static type_kind nested_kind(const char *word) {
  return strcmp(word, "list") == 0              ? TYPE_LIST
         : strcmp(word, "large_list") == 0      ? TYPE_LARGE_LIST
         : strcmp(word, "fixed_size_list") == 0 ? TYPE_FIXED_SIZE_LIST
         : strcmp(word, "struct") == 0          ? TYPE_STRUCT
         : strcmp(word, "map") == 0             ? TYPE_MAP
                                                : TYPE_NONE;
}

static bool fits_children(type_kind kind, const field *children, size_t count) {
  if (kind == TYPE_MAP) {
    return count == 1 && children[0].type->kind == TYPE_STRUCT &&
           children[0].type->child_count == 2;
  }
  return kind == TYPE_STRUCT || count == 1;
}

static glv_status read_nested(reading *r, type_kind kind, const char *word, const json *node,
                              unsigned depth, const type **ret, glv_error *err) {
  uint64_t length = 0;
  type *made = ARENA_NEW(r->memory, type);
  if (made == NULL) {
    return error_nomem(err, sizeof *made);
  }
  made->kind = kind;
  TRY(read_fields(r, node, depth, &made->children, &made->child_count, err));
  if (!fits_children(kind, made->children, made->child_count)) {
    return wrong(r, "wrong child fields of type", word, err);
  }
  if (kind == TYPE_FIXED_SIZE_LIST) {
    TRY(wire_uint_required(node, "length", &length, err));
    if (length > INT32_MAX) {
      return wrong(r, "wrong length of type", word, err);
    }
    made->width = (int32_t)length;
  }
  *ret = made;
  return GLV_OK;
}

/* `length` = precision * 1000 + scale. */
static glv_status read_namespace_decimal(reading *r, const char *word, const json *node,
                                         const type **ret, glv_error *err) {
  int64_t length = 38 * 1000 + 10;
  TRY(wire_int(node, "length", &length, err));
  if (length > 0) {
    make_decimal(r->memory, strcmp(word, "decimal256") == 0, length / 1000, length % 1000, ret);
  }
  return GLV_OK;
}

static glv_status read_leaf(reading *r, const char *word, const json *node, const type **ret,
                            glv_error *err) {
  if (strcmp(word, "fixed_size_binary") == 0) {
    uint64_t length = 0;
    TRY(wire_uint_required(node, "length", &length, err));
    *ret = length <= INT32_MAX ? type_fixed_size_binary(r->memory, (int32_t)length) : NULL;
    return GLV_OK;
  }
  if (strcmp(word, "decimal128") == 0 || strcmp(word, "decimal256") == 0) {
    return read_namespace_decimal(r, word, node, ret, err);
  }
  return read_word(r, str_of(word), ret, err);
}

static glv_status read_type(reading *r, const json *node, unsigned depth, const type **ret,
                            glv_error *err) {
  const char *word = NULL;
  const type *found = NULL;
  TRY(wire_expect(node, JS_OBJECT, "type", err));
  TRY(wire_text_required(node, "type", &word, err));
  const type_kind kind = nested_kind(word);
  if (kind != TYPE_NONE) {
    return read_nested(r, kind, word, node, depth, ret, err);
  }
  TRY(read_leaf(r, word, node, &found, err));
  if (found == NULL) {
    return wrong(r, "unknown type", word, err);
  }
  *ret = found;
  return GLV_OK;
}

glv_status wire_type_read(arena *memory, const json *node, const type **ret, glv_error *err) {
  reading r = {memory, 0, NULL};
  const type *borrowed = NULL; /* its names belong to the tree */
  TRY(read_type(&r, node, 1, &borrowed, err));
  const type *copy = type_copy(memory, borrowed);
  if (copy == NULL) {
    return error_nomem(err, sizeof *copy);
  }
  *ret = copy;
  return GLV_OK;
}

glv_status wire_schema_read(glv_env *env, const json *node, schema **ret, glv_error *err) {
  CLEANUP(arena_dispose) arena memory;
  arena_init_small(&memory, env);
  reading r = {&memory, 0, NULL};
  const field *fields = NULL;
  size_t count = 0;
  metadata m = {NULL, 0};
  TRY(wire_expect(node, JS_OBJECT, "schema", err));
  TRY(read_fields(&r, node, 0, &fields, &count, err));
  TRY(read_metadata(&r, node, &m, err));
  return schema_new(env, fields, count, m, ret, err);
}
