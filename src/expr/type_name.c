/* Reading: a name, perhaps with arguments in parentheses; names are matched exactly, space between
 * the parts does not matter. Units are written `s ms us ns` (or `µs`) or as words; printed, the
 * microsecond is `µs`. Nesting is limited. */
#include "expr/type_name.h"

#include "base/limits.h"

static const struct {
  const char *name;
  type_kind kind;
} SIMPLE_NAMES[] = {{"Null", TYPE_NULL},
                    {"Boolean", TYPE_BOOL},
                    {"Int8", TYPE_INT8},
                    {"Int16", TYPE_INT16},
                    {"Int32", TYPE_INT32},
                    {"Int64", TYPE_INT64},
                    {"UInt8", TYPE_UINT8},
                    {"UInt16", TYPE_UINT16},
                    {"UInt32", TYPE_UINT32},
                    {"UInt64", TYPE_UINT64},
                    {"Float16", TYPE_FLOAT16},
                    {"Float32", TYPE_FLOAT32},
                    {"Float64", TYPE_FLOAT64},
                    {"Date32", TYPE_DATE32},
                    {"Date64", TYPE_DATE64},
                    {"Utf8", TYPE_UTF8},
                    {"LargeUtf8", TYPE_LARGE_UTF8},
                    {"Utf8View", TYPE_UTF8_VIEW},
                    {"Binary", TYPE_BINARY},
                    {"LargeBinary", TYPE_LARGE_BINARY},
                    {"BinaryView", TYPE_BINARY_VIEW}};

static const struct {
  const char *name;
  time_unit unit;
} UNIT_NAMES[] = {{"s", UNIT_SECOND},          {"ms", UNIT_MILLI},
                  {"us", UNIT_MICRO},          {"\xc2\xb5s", UNIT_MICRO},
                  {"\xce\xbcs", UNIT_MICRO},   {"ns", UNIT_NANO},
                  {"Second", UNIT_SECOND},     {"Millisecond", UNIT_MILLI},
                  {"Microsecond", UNIT_MICRO}, {"Nanosecond", UNIT_NANO}};

typedef struct reader {
  arena *a;
  str whole;
  str rest;
  bool is_starved; /* there was no memory: not the fault of the name */
} reader;

static glv_status refuse(const reader *r, glv_error *err) {
  if (r->is_starved) {
    return error_nomem(err, sizeof(type));
  }
  return FAIL(err, GLV_E_SQL_PLAN,
              "Unsupported type '%.*s'. Must be a supported arrow type name such as 'Int32' or "
              "'Timestamp(ns)'",
              STR_ARG(r->whole));
}

/* Takes what was made in the arena; false = there was no memory. */
static bool keep(reader *r, const type *made, const type **ret) {
  *ret = made;
  r->is_starved = made == NULL;
  return made != NULL;
}

static void skip(reader *r, size_t n) { r->rest = str_slice(r->rest.data + n, r->rest.size - n); }

static void skip_space(reader *r) {
  while (r->rest.size > 0 && r->rest.data[0] == ' ') {
    skip(r, 1);
  }
}

static bool take_char(reader *r, char c) {
  skip_space(r);
  if (r->rest.size == 0 || r->rest.data[0] != c) {
    return false;
  }
  skip(r, 1);
  return true;
}

/* Letters, digits and bytes of other characters. */
static str take_word(reader *r) {
  skip_space(r);
  size_t i = 0;
  while (i < r->rest.size && strchr(" ,()\"", r->rest.data[i]) == NULL) {
    i++;
  }
  const str word = str_slice(r->rest.data, i);
  skip(r, i);
  return word;
}

static bool take_int(reader *r, int32_t *ret) {
  str word = take_word(r);
  const bool negative = word.size > 0 && word.data[0] == '-';
  uint64_t value;
  if (negative) {
    word = str_slice(word.data + 1, word.size - 1);
  }
  if (!str_to_u64(word, &value) || value > INT32_MAX) {
    return false;
  }
  *ret = negative ? -(int32_t)value : (int32_t)value;
  return true;
}

static bool take_unit(reader *r, time_unit *ret) {
  const str word = take_word(r);
  for (size_t i = 0; i < sizeof UNIT_NAMES / sizeof UNIT_NAMES[0]; i++) {
    if (str_is(word, UNIT_NAMES[i].name)) {
      *ret = UNIT_NAMES[i].unit;
      return true;
    }
  }
  return false;
}

/* "zone" in double quotes. */
static bool take_quoted(reader *r, const char **ret) {
  if (!take_char(r, '"')) {
    return false;
  }
  size_t i = 0;
  while (i < r->rest.size && r->rest.data[i] != '"') {
    i++;
  }
  if (i == r->rest.size) {
    return false;
  }
  *ret = arena_strdup(r->a, str_slice(r->rest.data, i));
  skip(r, i + 1);
  r->is_starved = *ret == NULL;
  return *ret != NULL;
}

/* Behind `Timestamp(`: unit [, None | Some("zone") | "zone"] */
static bool take_timestamp(reader *r, const type **ret) {
  time_unit unit;
  const char *timezone = NULL;
  if (!take_unit(r, &unit)) {
    return false;
  }
  if (take_char(r, ',')) {
    const str word = take_word(r);
    const bool is_some = str_is(word, "Some");
    if (is_some && !(take_char(r, '(') && take_quoted(r, &timezone) && take_char(r, ')'))) {
      return false;
    }
    if (!is_some && !str_is(word, "None") && (word.size != 0 || !take_quoted(r, &timezone))) {
      return false;
    }
  }
  return keep(r, type_timestamp(r->a, unit, timezone), ret);
}

static glv_status take_type(reader *r, int depth, const type **ret, glv_error *err);

/* `non-null`, if it stands there, and a type. */
static glv_status take_child(reader *r, int depth, field *ret, glv_error *err) {
  const str before = r->rest;
  ret->nullable = !str_is(take_word(r), "non-null");
  if (ret->nullable) {
    r->rest = before;
  }
  return take_type(r, depth + 1, &ret->type, err);
}

/* `"name": type` */
static glv_status take_named(reader *r, int depth, field *ret, glv_error *err) {
  if (!take_quoted(r, &ret->name) || !take_char(r, ':')) {
    return refuse(r, err);
  }
  return take_child(r, depth, ret, err);
}

static glv_status take_list(reader *r, str name, int depth, const type **ret, glv_error *err) {
  int32_t items = 0;
  const bool is_fixed = str_is(name, "FixedSizeList");
  if (is_fixed && (!take_int(r, &items) || items < 0 || !str_is(take_word(r), "x"))) {
    return refuse(r, err);
  }
  field item = {.name = "item"};
  TRY(take_child(r, depth, &item, err));
  *ret = is_fixed ? type_fixed_size_list(r->a, &item, items)
                  : type_list(r->a, str_is(name, "List") ? TYPE_LIST : TYPE_LARGE_LIST, &item);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof item);
}

/* Fields up to the parenthesis. */
static glv_status take_struct(reader *r, int depth, const type **ret, glv_error *err) {
  enum { FIRST_ROOM = 8 };
  size_t room = FIRST_ROOM;
  size_t count = 0;
  field *fields = ARENA_ARRAY(r->a, field, room);
  skip_space(r);
  bool more = r->rest.size > 0 && r->rest.data[0] != ')';
  for (; more && fields != NULL; more = take_char(r, ',')) {
    TRY(take_named(r, depth, &fields[count++], err));
    if (count == room) {
      field *grown = ARENA_ARRAY(r->a, field, room *= 2);
      fields = grown != NULL ? memcpy(grown, fields, count * sizeof *fields) : NULL;
    }
  }
  *ret = fields != NULL ? type_struct(r->a, fields, count) : NULL;
  return *ret != NULL ? GLV_OK : error_nomem(err, room * sizeof *fields);
}

static glv_status take_dictionary(reader *r, int depth, const type **ret, glv_error *err) {
  const type *key = NULL;
  const type *value = NULL;
  TRY(take_type(r, depth + 1, &key, err));
  if (!take_char(r, ',') || !type_is_integer(key->kind)) {
    return refuse(r, err);
  }
  TRY(take_type(r, depth + 1, &value, err));
  *ret = type_dictionary(r->a, key->kind, value);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof *key);
}

static bool take_decimal(reader *r, str name, const type **ret) {
  int32_t precision, scale;
  const bool is_wide = str_is(name, "Decimal256");
  if (!take_int(r, &precision) || !take_char(r, ',') || !take_int(r, &scale) || precision < 1 ||
      precision > (is_wide ? 76 : 38) || scale < -128 || scale > 127) {
    return false;
  }
  const type_kind kind = is_wide ? TYPE_DECIMAL256 : TYPE_DECIMAL128;
  return keep(r, type_decimal(r->a, kind, precision, scale), ret);
}

static bool take_timed(reader *r, str name, const type **ret) {
  time_unit unit;
  const type_kind kind = str_is(name, "Time32")   ? TYPE_TIME32
                         : str_is(name, "Time64") ? TYPE_TIME64
                                                  : TYPE_DURATION;
  if (!take_unit(r, &unit) || (kind == TYPE_TIME32 && unit > UNIT_MILLI) ||
      (kind == TYPE_TIME64 && unit < UNIT_MICRO)) {
    return false;
  }
  return keep(r, type_with_unit(r->a, kind, unit), ret);
}

/* What stands in the parentheses behind a name. */
static glv_status take_arguments(reader *r, str name, int depth, const type **ret, glv_error *err) {
  bool ok = false;
  if (str_is(name, "List") || str_is(name, "LargeList") || str_is(name, "FixedSizeList")) {
    return take_list(r, name, depth, ret, err);
  }
  if (str_is(name, "Struct")) {
    return take_struct(r, depth, ret, err);
  }
  if (str_is(name, "Dictionary")) {
    return take_dictionary(r, depth, ret, err);
  }
  if (str_is(name, "Timestamp")) {
    ok = take_timestamp(r, ret);
  } else if (str_is(name, "Time32") || str_is(name, "Time64") || str_is(name, "Duration")) {
    ok = take_timed(r, name, ret);
  } else if (str_is(name, "Decimal128") || str_is(name, "Decimal256")) {
    ok = take_decimal(r, name, ret);
  } else if (str_is(name, "FixedSizeBinary")) {
    int32_t width;
    ok = take_int(r, &width) && width >= 0 && keep(r, type_fixed_size_binary(r->a, width), ret);
  } else if (str_is(name, "Interval")) {
    ok = str_is(take_word(r), "MonthDayNano");
    *ret = type_simple(TYPE_INTERVAL_MONTH_DAY_NANO);
  }
  return ok ? GLV_OK : refuse(r, err);
}

static glv_status take_type(reader *r, int depth, const type **ret, glv_error *err) {
  if (depth > LIMIT_TYPE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "type name nested deeper than %d", LIMIT_TYPE_DEPTH);
  }
  const str name = take_word(r);
  for (size_t i = 0; i < sizeof SIMPLE_NAMES / sizeof SIMPLE_NAMES[0]; i++) {
    if (str_is(name, SIMPLE_NAMES[i].name)) {
      *ret = type_simple(SIMPLE_NAMES[i].kind);
      return GLV_OK;
    }
  }
  if (!take_char(r, '(')) {
    return refuse(r, err);
  }
  TRY(take_arguments(r, name, depth, ret, err));
  return take_char(r, ')') ? GLV_OK : refuse(r, err);
}

glv_status type_name_parse(arena *a, str name, const type **ret, glv_error *err) {
  reader r = {.a = a, .whole = name, .rest = name};
  TRY(take_type(&r, 0, ret, err));
  skip_space(&r);
  return r.rest.size == 0 ? GLV_OK : refuse(&r, err);
}

/* ---- printing ---- */

static const char *unit_name(time_unit unit) {
  static const char *const names[] = {"s", "ms", "\xc2\xb5s", "ns"};
  return names[unit];
}

static glv_status print(const type *t, int depth, buf *out, glv_error *err);

/* A name as a string literal. */
static glv_status print_name(const char *name, buf *out, glv_error *err) {
  TRY(buf_append_char(out, '"', err));
  for (; *name != '\0'; name++) {
    if (*name == '"' || *name == '\\') {
      TRY(buf_append_char(out, '\\', err));
    }
    TRY(buf_append_char(out, *name, err));
  }
  return buf_append_str(out, STR("\": "), err);
}

/* The name stands before the type in structs and maps, behind it in lists where it is unusual. */
static glv_status print_child(const type *t, const field *child, int depth, buf *out,
                              glv_error *err) {
  if (t->kind == TYPE_STRUCT || t->kind == TYPE_MAP) {
    TRY(print_name(child->name, out, err));
  }
  if (t->kind != TYPE_DICTIONARY && !child->nullable) {
    TRY(buf_append_str(out, STR("non-null "), err));
  }
  TRY(print(child->type, depth + 1, out, err));
  if (type_is_list(t->kind) && !str_is(str_of(child->name), "item")) {
    TRY(buf_printf(out, err, ", field: '%s'", child->name));
  }
  return GLV_OK;
}

static glv_status print_children(const type *t, int depth, buf *out, glv_error *err) {
  for (size_t i = 0; i < t->child_count; i++) {
    TRY(buf_append(out, ", ", i == 0 ? 0 : 2, err));
    TRY(print_child(t, &t->children[i], depth, out, err));
  }
  if (t->kind == TYPE_MAP) {
    TRY(buf_append_str(out, t->flag ? STR(", sorted") : STR(", unsorted"), err));
  }
  return buf_append_char(out, ')', err);
}

static glv_status print_nested(const type *t, int depth, buf *out, glv_error *err) {
  switch (t->kind) {
  case TYPE_LIST:
    TRY(buf_append_str(out, STR("List("), err));
    break;
  case TYPE_LARGE_LIST:
    TRY(buf_append_str(out, STR("LargeList("), err));
    break;
  case TYPE_FIXED_SIZE_LIST:
    TRY(buf_printf(out, err, "FixedSizeList(%d x ", (int)t->width));
    break;
  case TYPE_STRUCT:
    TRY(buf_append_str(out, STR("Struct("), err));
    break;
  case TYPE_DICTIONARY:
    TRY(buf_append_str(out, STR("Dictionary("), err));
    TRY(print(type_simple(t->index), depth + 1, out, err));
    TRY(buf_append_str(out, STR(", "), err));
    break;
  default: /* map */
    TRY(buf_append_str(out, STR("Map("), err));
    break;
  }
  return print_children(t, depth, out, err);
}

static glv_status print(const type *t, int depth, buf *out, glv_error *err) {
  if (depth > LIMIT_TYPE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "type nested deeper than %d", LIMIT_TYPE_DEPTH);
  }
  for (size_t i = 0; i < sizeof SIMPLE_NAMES / sizeof SIMPLE_NAMES[0]; i++) {
    if (t->kind == SIMPLE_NAMES[i].kind) {
      return buf_append_str(out, str_of(SIMPLE_NAMES[i].name), err);
    }
  }
  switch (t->kind) {
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
    return buf_printf(out, err, "Decimal%d(%d, %d)", t->kind == TYPE_DECIMAL128 ? 128 : 256,
                      (int)t->precision, (int)t->scale);
  case TYPE_TIME32:
  case TYPE_TIME64:
    return buf_printf(out, err, "Time%d(%s)", t->kind == TYPE_TIME32 ? 32 : 64, unit_name(t->unit));
  case TYPE_DURATION:
    return buf_printf(out, err, "Duration(%s)", unit_name(t->unit));
  case TYPE_TIMESTAMP:
    if (t->timezone == NULL) {
      return buf_printf(out, err, "Timestamp(%s)", unit_name(t->unit));
    }
    return buf_printf(out, err, "Timestamp(%s, \"%s\")", unit_name(t->unit), t->timezone);
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return buf_append_str(out, STR("Interval(MonthDayNano)"), err);
  case TYPE_FIXED_SIZE_BINARY:
    return buf_printf(out, err, "FixedSizeBinary(%d)", (int)t->width);
  default:
    return print_nested(t, depth, out, err);
  }
}

glv_status type_name_print(const type *t, buf *out, glv_error *err) {
  return print(t, 0, out, err);
}
