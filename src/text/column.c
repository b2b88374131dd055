/*
 * Columns being filled from text. A flat column is a builder; a nested one has its validity as a
 * boolean builder, offsets where its layout wants them, and columns for its children, so that
 * values of any shape are appended without a tree in between.
 *
 * A JSON value of the wrong kind is an error, with one exception: any scalar may go into a text
 * column, as its JSON text, so that `--types c=utf8` reads a column of mixed kinds.
 */
#include <stdio.h>

#include "arrow/array.h"
#include "base/int128.h"
#include "base/number.h"
#include "text/text_private.h"

enum { SHOWN_VALUE = 40 };

glv_status text_bad(const text_place *at, const char *what, glv_error *err) {
  if (at->column.size == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "file '%s' line %llu: %s", at->file,
                (unsigned long long)at->line, what);
  }
  return FAIL(err, GLV_E_INVALID_INPUT, "file '%s' line %llu, column '%.*s': %s", at->file,
              (unsigned long long)at->line, STR_ARG(at->column), what);
}

/* At most SHOWN_VALUE bytes, ended at a character, control characters as spaces. */
static const char *shown(str value, char text[SHOWN_VALUE + 4]) {
  size_t size = value.size < SHOWN_VALUE ? value.size : SHOWN_VALUE;
  while (size > 0 && size < value.size && ((unsigned char)value.data[size] & 0xC0) == 0x80) {
    size--;
  }
  for (size_t i = 0; i < size; i++) {
    text[i] = (unsigned char)value.data[i] < 0x20 ? ' ' : value.data[i];
  }
  memcpy(text + size, size < value.size ? "..." : "", size < value.size ? 4 : 1);
  return text;
}

glv_status text_bad_value(const text_place *at, str value, const type *t, glv_error *err) {
  char text[SHOWN_VALUE + 4];
  return FAIL(err, GLV_E_INVALID_INPUT,
              "file '%s' line %llu, column '%.*s': '%s' is not of type %s", at->file,
              (unsigned long long)at->line, STR_ARG(at->column), shown(value, text), TYPE_TEXT(t));
}

static bool is_readable(type_kind kind) {
  return kind != TYPE_NONE && kind != TYPE_FLOAT16 && kind != TYPE_DECIMAL256 &&
         kind != TYPE_INTERVAL_MONTH_DAY_NANO && kind != TYPE_DICTIONARY;
}

static bool is_list(type_kind kind) {
  return kind == TYPE_LIST || kind == TYPE_LARGE_LIST || kind == TYPE_MAP;
}

static bool is_nested(type_kind kind) {
  return is_list(kind) || kind == TYPE_FIXED_SIZE_LIST || kind == TYPE_STRUCT;
}

glv_status text_column_init(text_column *c, glv_env *env, const type *t, const char *name,
                            glv_error *err) {
  *c = (text_column){.type = t};
  builder_init(&c->values, env, t);
  builder_init(&c->marks, env, type_simple(TYPE_BOOL));
  if (!is_readable(t->kind)) {
    return FAIL(err, GLV_E_UNSUPPORTED, "column '%s': values of type %s cannot be read from text",
                name, TYPE_TEXT(t));
  }
  if (!is_nested(t->kind)) {
    return GLV_OK;
  }
  builder_init(&c->values, env, type_simple(t->kind == TYPE_LARGE_LIST ? TYPE_INT64 : TYPE_INT32));
  c->children = mem_calloc(env, t->child_count, sizeof *c->children);
  c->names = mem_calloc(env, t->child_count, sizeof *c->names);
  if (c->children == NULL || c->names == NULL) {
    return error_nomem(err, t->child_count * sizeof *c->children);
  }
  for (size_t i = 0; i < t->child_count; i++) {
    c->names[i] = t->children[i].name;
    TRY(text_column_init(&c->children[i], env, t->children[i].type, name, err));
  }
  return GLV_OK;
}

void text_column_dispose(glv_env *env, text_column *c) {
  for (size_t i = 0; c->type != NULL && c->children != NULL && i < c->type->child_count; i++) {
    text_column_dispose(env, &c->children[i]);
  }
  mem_free(env, c->children);
  mem_free(env, c->names);
  if (c->type != NULL) {
    builder_dispose(&c->values);
    builder_dispose(&c->marks);
  }
  *c = (text_column){0};
}

/* The offset in front of the next list; called before its items are appended. */
static glv_status push_offset(text_column *c, glv_error *err) {
  const int64_t offset = (int64_t)c->children[0].length;
  const int32_t narrow = (int32_t)offset;
  if (c->type->kind == TYPE_LARGE_LIST) {
    return builder_append_fixed(&c->values, &offset, err);
  }
  if (offset > INT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "too many list items in one batch");
  }
  return builder_append_fixed(&c->values, &narrow, err);
}

/* Enter a nested value whose items are appended elsewhere. */
static glv_status push_nested(text_column *c, bool valid, glv_error *err) {
  TRY(builder_append_bool(&c->marks, valid, err));
  c->length++;
  c->null_count += !valid;
  return GLV_OK;
}

glv_status text_column_null(text_column *c, glv_error *err) {
  const type *t = c->type;
  if (!is_nested(t->kind)) {
    c->length++;
    return builder_append_null(&c->values, err);
  }
  if (is_list(t->kind)) {
    TRY(push_offset(c, err));
  } else {
    const size_t items = t->kind == TYPE_STRUCT ? 1 : (size_t)t->width;
    for (size_t i = 0; i < t->child_count; i++) {
      for (size_t k = 0; k < items; k++) {
        TRY(text_column_null(&c->children[i], err));
      }
    }
  }
  return push_nested(c, false, err);
}

/* Scale a number of units of 10^-from to 10^-to seconds; false when it is not exact. */
static bool rescale(int64_t value, int64_t from_per_second, int64_t to_per_second, int64_t *ret) {
  if (to_per_second >= from_per_second) {
    return !__builtin_mul_overflow(value, to_per_second / from_per_second, ret);
  }
  const int64_t step = from_per_second / to_per_second;
  *ret = value / step;
  return value % step == 0;
}

static int64_t per_second(time_unit unit) {
  static const int64_t values[] = {1, 1000, 1000000, 1000000000};
  return values[unit];
}

/* Seconds and nanoseconds as ticks. */
static bool to_ticks(const text_time *t, time_unit unit, int64_t *ret) {
  const int64_t scale = per_second(unit);
  int64_t fraction;
  return rescale(t->nanos, 1000000000, scale, &fraction) &&
         !__builtin_mul_overflow(t->seconds, scale, ret) &&
         !__builtin_add_overflow(*ret, fraction, ret);
}

static bool parse_timestamp(const type *t, str s, int64_t *ret) {
  text_time time;
  int64_t days;
  int32_t offset;
  if (text_parse_date(s, &days)) { /* midnight */
    time = (text_time){.seconds = days * 86400};
  } else if (!text_parse_timestamp(s, &time)) {
    return false;
  }
  if (t->timezone == NULL) {
    return !time.has_zone && to_ticks(&time, t->unit, ret);
  }
  if (!time.has_zone) { /* local time of the column's zone, if that is a fixed one */
    if (!text_zone_offset(t->timezone, &offset)) {
      return false;
    }
    time.seconds -= offset;
  }
  return to_ticks(&time, t->unit, ret);
}

static bool parse_decimal(const type *t, str s, int128 *ret) {
  int128 value = 0;
  int digits = 0;
  int fraction = -1; /* digits after the point */
  size_t i = s.size != 0 && (s.data[0] == '-' || s.data[0] == '+') ? 1 : 0;
  const bool negative = i == 1 && s.data[0] == '-';
  for (; i < s.size; i++) {
    const char c = s.data[i];
    if (c == '.' && fraction < 0) {
      fraction = 0;
      continue;
    }
    if (c < '0' || c > '9') {
      return false;
    }
    if (fraction >= t->scale && fraction >= 0) {
      if (c != '0') {
        return false; /* would be rounded */
      }
      digits++;
      continue;
    }
    if (value >= int128_power10(DECIMAL128_DIGITS - 1)) {
      return false;
    }
    value = value * 10 + (c - '0');
    digits++;
    fraction += fraction >= 0;
  }
  const int missing = t->scale - (fraction > 0 ? fraction : 0);
  if (digits == 0 || missing < 0 || !int128_scale_up(value, missing, &value) ||
      value >= int128_power10(t->precision)) {
    return false;
  }
  *ret = negative ? -value : value;
  return true;
}

static glv_status append_integer(text_column *c, str s, const text_place *at, glv_error *err) {
  const size_t width = type_width(c->type);
  const unsigned bits = (unsigned)(8 * width);
  int64_t value;
  uint64_t natural;
  bool ok;
  if (type_is_signed(c->type->kind)) {
    ok = text_parse_i64(s, &value);
    ok = ok && (bits == 64 ||
                (value >= -(INT64_C(1) << (bits - 1)) && value < (INT64_C(1) << (bits - 1))));
    natural = ok ? (uint64_t)value : 0;
  } else {
    ok = text_parse_u64(s, &natural) && (bits == 64 || natural < (UINT64_C(1) << bits));
  }
  return ok ? builder_append_fixed(&c->values, &natural, err) : text_bad_value(at, s, c->type, err);
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

static glv_status append_binary(text_column *c, str s, const text_place *at, buf *scratch,
                                glv_error *err) {
  buf_clear(scratch);
  bool ok = s.size % 2 == 0;
  for (size_t i = 0; ok && i < s.size; i += 2) {
    const int high = hex_digit(s.data[i]);
    const int low = hex_digit(s.data[i + 1]);
    ok = high >= 0 && low >= 0;
    TRY(buf_append_char(scratch, (char)(high * 16 + low), err));
  }
  const bool is_fixed = c->type->kind == TYPE_FIXED_SIZE_BINARY;
  if (!ok || (is_fixed && scratch->size != (size_t)c->type->width)) {
    return text_bad_value(at, s, c->type, err);
  }
  return is_fixed ? builder_append_fixed(&c->values, scratch->data, err)
                  : builder_append_str(&c->values, buf_str(scratch), err);
}

static glv_status append_float(text_column *c, str s, const text_place *at, glv_error *err) {
  double wide;
  float narrow;
  if (c->type->kind == TYPE_FLOAT32) {
    return number_parse32(s, &narrow) ? builder_append_fixed(&c->values, &narrow, err)
                                      : text_bad_value(at, s, c->type, err);
  }
  return number_parse64(s, &wide) ? builder_append_fixed(&c->values, &wide, err)
                                  : text_bad_value(at, s, c->type, err);
}

/* Dates, times, durations: one integer each. */
static glv_status append_temporal(text_column *c, str s, const text_place *at, glv_error *err) {
  const type *t = c->type;
  int64_t value = 0;
  bool ok;
  if (t->kind == TYPE_TIMESTAMP) {
    ok = parse_timestamp(t, s, &value);
  } else if (t->kind == TYPE_DURATION) {
    ok = text_parse_i64(s, &value);
  } else if (t->kind == TYPE_TIME32 || t->kind == TYPE_TIME64) {
    ok = text_parse_clock(s, &value) && rescale(value, 1000000000, per_second(t->unit), &value);
  } else {
    ok = text_parse_date(s, &value);
    value = t->kind == TYPE_DATE64 ? value * 86400000 : value;
  }
  const int32_t narrow = (int32_t)value; /* dates of 4 digits and times of a day fit */
  if (!ok) {
    return text_bad_value(at, s, t, err);
  }
  return type_width(t) == 4 ? builder_append_fixed(&c->values, &narrow, err)
                            : builder_append_fixed(&c->values, &value, err);
}

static glv_status append_flat(text_column *c, str s, const text_place *at, buf *scratch,
                              glv_error *err) {
  const type_kind kind = c->type->kind;
  bool flag;
  int128 decimal;
  c->length++;
  if (type_is_integer(kind)) {
    return append_integer(c, s, at, err);
  }
  if (type_is_string(kind)) {
    return builder_append_str(&c->values, s, err);
  }
  if (type_is_float(kind)) {
    return append_float(c, s, at, err);
  }
  if (type_is_temporal(kind)) {
    return append_temporal(c, s, at, err);
  }
  if (kind == TYPE_BOOL && text_parse_bool(s, &flag)) {
    return builder_append_bool(&c->values, flag, err);
  }
  if (kind == TYPE_DECIMAL128 && parse_decimal(c->type, s, &decimal)) {
    return builder_append_fixed(&c->values, &decimal, err);
  }
  if (type_is_binary(kind) || kind == TYPE_FIXED_SIZE_BINARY) {
    return append_binary(c, s, at, scratch, err);
  }
  return text_bad_value(at, s, c->type, err);
}

/* A scanner that stopped, or a value of another kind. */
static glv_status json_failure(const json_scan *in, const text_place *at, glv_error *err) {
  return in->status != GLV_OK ? FAIL(err, in->status, "a JSON string is too large")
                              : text_bad(at, in->problem, err);
}

static glv_status wrong_kind(text_column *c, json_scan *in, const text_place *at, glv_error *err) {
  str text;
  return json_scan_skip(in, &text) ? text_bad_value(at, text, c->type, err)
                                   : json_failure(in, at, err);
}

static glv_status append_array(text_column *c, json_scan *in, const text_place *at, buf *scratch,
                               glv_error *err) {
  bool first = true;
  size_t count = 0;
  if (is_list(c->type->kind)) {
    TRY(push_offset(c, err));
  }
  if (!json_scan_begin(in, '[')) {
    return json_failure(in, at, err);
  }
  while (json_scan_more(in, ']', &first)) {
    TRY(text_column_json(&c->children[0], in, at, scratch, err));
    count++;
  }
  if (in->problem != NULL) {
    return json_failure(in, at, err);
  }
  if (c->type->kind == TYPE_FIXED_SIZE_LIST && count != (size_t)c->type->width) {
    char what[64];
    snprintf(what, sizeof what, "a list of %zu values instead of %d", count, c->type->width);
    return text_bad(at, what, err);
  }
  return push_nested(c, true, err);
}

/* The child of that name, looked for at *hint first, or NULL. Members usually come in order. */
static text_column *child_named(text_column *c, str name, size_t *hint) {
  const size_t count = c->type->child_count;
  for (size_t k = 0; k < count; k++) {
    const size_t i = *hint + k < count ? *hint + k : *hint + k - count;
    if (str_is(name, c->names[i])) {
      *hint = i + 1 < count ? i + 1 : 0;
      return &c->children[i];
    }
  }
  return NULL;
}

static glv_status append_object(text_column *c, json_scan *in, const text_place *at, buf *scratch,
                                glv_error *err) {
  bool first = true;
  str key;
  size_t hint = 0;
  const size_t length = c->length;
  if (!json_scan_begin(in, '{')) {
    return json_failure(in, at, err);
  }
  while (json_scan_more(in, '}', &first)) {
    if (!json_scan_key(in, scratch, &key)) {
      return json_failure(in, at, err);
    }
    text_column *child = child_named(c, key, &hint);
    if (child == NULL || child->length != length) {
      char text[SHOWN_VALUE + 4];
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "file '%s' line %llu, column '%.*s': the member '%s' is %s", at->file,
                  (unsigned long long)at->line, STR_ARG(at->column), shown(key, text),
                  child == NULL ? "not in its type" : "there twice");
    }
    TRY(text_column_json(child, in, at, scratch, err));
  }
  if (in->problem != NULL) {
    return json_failure(in, at, err);
  }
  for (size_t i = 0; i < c->type->child_count; i++) {
    if (c->children[i].length == length) {
      TRY(text_column_null(&c->children[i], err));
    }
  }
  return push_nested(c, true, err);
}

static glv_status append_number(text_column *c, json_scan *in, const text_place *at, buf *scratch,
                                glv_error *err) {
  str text;
  bool is_integer;
  const type_kind kind = c->type->kind;
  if (!json_scan_number(in, &text, &is_integer)) {
    return json_failure(in, at, err);
  }
  if (type_is_numeric(kind) || type_is_string(kind) || kind == TYPE_DURATION) {
    return append_flat(c, text, at, scratch, err);
  }
  return text_bad_value(at, text, c->type, err);
}

static glv_status append_string(text_column *c, json_scan *in, const text_place *at, buf *scratch,
                                glv_error *err) {
  str text;
  const type_kind kind = c->type->kind;
  if (!json_scan_string(in, scratch, &text)) {
    return json_failure(in, at, err);
  }
  if (type_is_integer(kind) || kind == TYPE_BOOL ||
      (type_is_float(kind) && !text_is_special(text))) {
    return text_bad_value(at, text, c->type, err);
  }
  if (type_is_binary(kind) || kind == TYPE_FIXED_SIZE_BINARY) {
    CLEANUP(buf_dispose) buf bytes;
    buf_init(&bytes, c->values.env, LIMIT_RECORD_BYTES);
    c->length++;
    return append_binary(c, text, at, &bytes, err);
  }
  return append_flat(c, text, at, scratch, err);
}

glv_status text_column_json(text_column *c, json_scan *in, const text_place *at, buf *scratch,
                            glv_error *err) {
  const type_kind kind = c->type->kind;
  str text;
  bool flag;
  switch (json_scan_peek(in)) {
  case JSON_BAD:
    return json_failure(in, at, err);
  case JSON_NULL:
    return json_scan_null(in) ? text_column_null(c, err) : json_failure(in, at, err);
  case JSON_BOOL:
    if (kind == TYPE_BOOL || type_is_string(kind)) {
      text = json_scan_bool(in, &flag) ? (flag ? STR("true") : STR("false")) : (str){0};
      return in->problem == NULL ? append_flat(c, text, at, scratch, err)
                                 : json_failure(in, at, err);
    }
    break;
  case JSON_NUMBER:
    if (!is_nested(kind)) {
      return append_number(c, in, at, scratch, err);
    }
    break;
  case JSON_STRING:
    if (!is_nested(kind)) {
      return append_string(c, in, at, scratch, err);
    }
    break;
  case JSON_ARRAY:
    if (is_list(kind) || kind == TYPE_FIXED_SIZE_LIST) {
      return append_array(c, in, at, scratch, err);
    }
    break;
  case JSON_OBJECT:
    if (kind == TYPE_STRUCT) {
      return append_object(c, in, at, scratch, err);
    }
    break;
  }
  return wrong_kind(c, in, at, err);
}

glv_status text_column_text(text_column *c, str value, const text_place *at, buf *scratch,
                            glv_error *err) {
  if (!is_nested(c->type->kind)) {
    return append_flat(c, value, at, scratch, err);
  }
  json_scan in = json_scan_of(value);
  TRY(text_column_json(c, &in, at, scratch, err));
  return json_scan_at_end(&in) ? GLV_OK : text_bad_value(at, value, c->type, err);
}

/* Validity and offsets of a nested column. */
static glv_status finish_nested(text_column *c, array *a, glv_error *err) {
  array marks;
  TRY(builder_finish(&c->marks, &marks, err));
  if (c->null_count != 0) {
    a->validity = marks.values;
    a->owners[0] = buffer_ref(marks.owners[1]);
    a->null_count = c->null_count;
  }
  array_unref(&marks);
  if (is_list(c->type->kind)) {
    array offsets;
    TRY(push_offset(c, err));
    TRY(builder_finish(&c->values, &offsets, err));
    a->values = offsets.values;
    a->owners[1] = buffer_ref(offsets.owners[1]);
    array_unref(&offsets);
  }
  return GLV_OK;
}

glv_status text_column_finish(glv_env *env, text_column *c, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {.type = c->type, .length = c->length};
  if (!is_nested(c->type->kind)) {
    c->length = 0;
    return builder_finish(&c->values, ret, err);
  }
  TRY(finish_nested(c, &a, err));
  TRY(array_new_children(env, c->type->child_count, &a, err));
  for (size_t i = 0; i < c->type->child_count; i++) {
    TRY(text_column_finish(env, &c->children[i], &a.children[i], err));
  }
  c->length = 0;
  c->null_count = 0;
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

glv_status text_columns_init(text_columns *c, glv_env *env, schema *s, size_t batch_rows,
                             glv_error *err) {
  *c = (text_columns){.env = env, .schema = s, .batch_rows = batch_rows};
  c->items = mem_calloc(env, s->field_count, sizeof *c->items);
  if (c->items == NULL) {
    return error_nomem(err, s->field_count * sizeof *c->items);
  }
  c->count = s->field_count;
  for (size_t i = 0; i < c->count; i++) {
    TRY(text_column_init(&c->items[i], env, s->fields[i].type, s->fields[i].name, err));
  }
  return GLV_OK;
}

void text_columns_dispose(text_columns *c) {
  for (size_t i = 0; i < c->count; i++) {
    text_column_dispose(c->env, &c->items[i]);
  }
  if (c->env != NULL) {
    mem_free(c->env, c->items);
  }
  *c = (text_columns){0};
}

glv_status text_columns_finish(text_columns *c, batch *ret, glv_error *err) {
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(c->env, c->schema, c->rows, c->count, &b, err));
  for (size_t i = 0; i < c->count; i++) {
    TRY(text_column_finish(c->env, &c->items[i], &b.columns[i], err));
  }
  c->rows = 0;
  c->bytes = 0;
  *ret = b;
  b = (batch){0};
  return GLV_OK;
}
