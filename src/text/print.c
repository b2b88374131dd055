/*
 * Values as text. Flat values have a plain form; JSON puts it in quotes for all but numbers and
 * booleans. The forms are those that the readers accept, see text/text.h.
 */
#include "text/print.h"

#include <math.h>
#include <stdio.h>

#include "base/calendar.h"
#include "base/encoding.h"
#include "base/half.h"
#include "base/int128.h"
#include "base/json_canonical.h"
#include "base/number.h"
#include "text/text_private.h"

enum { OUTPUT_PIECE = 64 << 10 };

bool print_is_number(const type *t) { return type_is_numeric(t->kind) || t->kind == TYPE_DURATION; }

static glv_status put_u64(buf *out, bool negative, uint64_t value, glv_error *err) {
  char text[24];
  size_t at = sizeof text;
  do {
    text[--at] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  if (negative) {
    text[--at] = '-';
  }
  return buf_append(out, text + at, sizeof text - at, err);
}

static glv_status put_i64(buf *out, int64_t value, glv_error *err) {
  return put_u64(out, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, err);
}

static glv_status put_integer(const array *a, size_t row, buf *out, glv_error *err) {
  switch (a->type->kind) {
  case TYPE_INT8:
    return put_i64(out, ARRAY_VALUES(a, int8_t)[row], err);
  case TYPE_INT16:
    return put_i64(out, ARRAY_VALUES(a, int16_t)[row], err);
  case TYPE_INT32:
    return put_i64(out, ARRAY_VALUES(a, int32_t)[row], err);
  case TYPE_UINT8:
    return put_u64(out, false, ARRAY_VALUES(a, uint8_t)[row], err);
  case TYPE_UINT16:
    return put_u64(out, false, ARRAY_VALUES(a, uint16_t)[row], err);
  case TYPE_UINT32:
    return put_u64(out, false, ARRAY_VALUES(a, uint32_t)[row], err);
  case TYPE_UINT64:
    return put_u64(out, false, ARRAY_VALUES(a, uint64_t)[row], err);
  default: /* int64 and duration */
    return put_i64(out, ARRAY_VALUES(a, int64_t)[row], err);
  }
}

static glv_status put_float(const array *a, size_t row, buf *out, glv_error *err) {
  char text[NUMBER_TEXT_SIZE];
  size_t size;
  if (a->type->kind == TYPE_FLOAT64) {
    size = number_print64(ARRAY_VALUES(a, double)[row], text);
  } else if (a->type->kind == TYPE_FLOAT32) {
    size = number_print32(ARRAY_VALUES(a, float)[row], text);
  } else {
    size = number_print32(half_to_float(ARRAY_VALUES(a, uint16_t)[row]), text);
  }
  return buf_append(out, text, size, err);
}

static int64_t per_second(time_unit unit) {
  static const int64_t values[] = {1, 1000, 1000000, 1000000000};
  return values[unit];
}

/* `+hh:mm` or Z; a zone that is not a fixed offset is shown in UTC. */
static glv_status put_timestamp(const array *a, size_t row, buf *out, glv_error *err) {
  const type *t = a->type;
  const int64_t scale = per_second(t->unit);
  const int64_t value = ARRAY_VALUES(a, int64_t)[row];
  int64_t seconds = floor_div(value, scale);
  const int32_t nanos = (int32_t)(floor_mod(value, scale) * (1000000000 / scale));
  int32_t offset = 0;
  if (t->timezone != NULL && !text_zone_offset(t->timezone, &offset)) {
    offset = 0;
  }
  if (__builtin_add_overflow(seconds, offset, &seconds)) {
    return put_i64(out, value, err);
  }
  char text[CALENDAR_TEXT_SIZE];
  TRY(buf_append(out, text, calendar_print_timestamp(seconds, nanos, text), err));
  if (t->timezone == NULL) {
    return GLV_OK;
  }
  const int minutes = (offset < 0 ? -offset : offset) / 60;
  return offset == 0 ? buf_append_char(out, 'Z', err)
                     : buf_printf(out, err, "%c%02d:%02d", offset < 0 ? '-' : '+', minutes / 60,
                                  minutes % 60);
}

static glv_status put_date(const array *a, size_t row, buf *out, glv_error *err) {
  char text[CALENDAR_TEXT_SIZE];
  if (a->type->kind == TYPE_DATE32) {
    const int32_t days = ARRAY_VALUES(a, int32_t)[row];
    return buf_append(out, text, calendar_print_date(days, text), err);
  }
  const int64_t ms = ARRAY_VALUES(a, int64_t)[row];
  if (floor_mod(ms, 86400000) == 0) {
    return buf_append(out, text, calendar_print_date(floor_div(ms, 86400000), text), err);
  }
  const int32_t nanos = (int32_t)floor_mod(ms, 1000) * 1000000;
  return buf_append(out, text, calendar_print_timestamp(floor_div(ms, 1000), nanos, text), err);
}

static glv_status put_time(const array *a, size_t row, buf *out, glv_error *err) {
  const int64_t scale = per_second(a->type->unit);
  const int64_t value =
      a->type->kind == TYPE_TIME32 ? ARRAY_VALUES(a, int32_t)[row] : ARRAY_VALUES(a, int64_t)[row];
  if (value < 0 || value / scale >= 86400) {
    return put_i64(out, value, err); /* no time of day */
  }
  char text[CALENDAR_TEXT_SIZE];
  const int32_t nanos = (int32_t)(value % scale * (1000000000 / scale));
  return buf_append(out, text, calendar_print_time((int32_t)(value / scale), nanos, text), err);
}

static glv_status put_decimal128(const array *a, size_t row, buf *out, glv_error *err) {
  const int scale = a->type->scale;
  char text[INT128_TEXT_SIZE + 128];
  const int128 value = int128_load((const uint8_t *)a->values + row * 16);
  return buf_append(out, text, int128_print(value, scale, text), err);
}

/* Digits of a 256-bit magnitude, last digit first: division by ten, limb by limb. */
static size_t digits256(uint64_t limbs[4], char *text) {
  size_t count = 0;
  uint64_t any;
  do {
    uint128 rest = 0;
    any = 0;
    for (int i = 3; i >= 0; i--) {
      rest = (rest << 64) | limbs[i];
      limbs[i] = (uint64_t)(rest / 10);
      rest %= 10;
      any |= limbs[i];
    }
    text[count++] = (char)('0' + (int)rest);
  } while (any != 0);
  return count;
}

static glv_status put_decimal256(const array *a, size_t row, buf *out, glv_error *err) {
  uint64_t limbs[4];
  char digits[80];
  const int32_t scale = a->type->scale;
  memcpy(limbs, (const uint8_t *)a->values + row * 32, 32);
  const bool negative = limbs[3] >> 63 != 0;
  uint64_t carry = 1;
  for (int i = 0; negative && i < 4; i++) {
    limbs[i] = ~limbs[i] + carry;
    carry = carry != 0 && limbs[i] == 0;
  }
  size_t count = digits256(limbs, digits);
  const bool is_zero = count == 1 && digits[0] == '0';
  TRY(negative ? buf_append_char(out, '-', err) : GLV_OK);
  while (scale > 0 && count <= (size_t)scale && count < sizeof digits) {
    digits[count++] = '0';
  }
  while (count != 0) {
    TRY(buf_append_char(out, digits[--count], err));
    if (count != 0 && scale > 0 && count == (size_t)scale) {
      TRY(buf_append_char(out, '.', err));
    }
  }
  return scale < 0 && !is_zero ? buf_append_fill(out, '0', (size_t)-scale, err) : GLV_OK;
}

static glv_status put_hex(buf *out, str bytes, glv_error *err) {
  TRY(buf_reserve(out, bytes.size * 2, err));
  hex_encode(bytes.data, bytes.size, out->data + out->size);
  out->size += bytes.size * 2;
  out->data[out->size] = '\0';
  return GLV_OK;
}

static glv_status put_interval(const array *a, size_t row, buf *out, glv_error *err) {
  const uint8_t *p = (const uint8_t *)a->values + row * 16;
  return buf_printf(out, err, "{\"months\":%d,\"days\":%d,\"nanoseconds\":%lld}",
                    (int)(int32_t)load_le32(p), (int)(int32_t)load_le32(p + 4),
                    (long long)(int64_t)load_le64(p + 8));
}

/* The array and row that hold the value itself; false when it is null in a dictionary. */
static bool resolve(const array **a, size_t *row) {
  while ((*a)->type->kind == TYPE_DICTIONARY && array_is_valid(*a, *row)) {
    *row = array_dictionary_index(*a, *row);
    *a = &(*a)->children[0];
  }
  return array_is_valid(*a, *row);
}

glv_status print_plain(const array *a, size_t row, buf *out, glv_error *err) {
  if (!resolve(&a, &row)) {
    return GLV_OK;
  }
  switch (a->type->kind) {
  case TYPE_BOOL:
    return buf_append_str(out, array_bool(a, row) ? STR("true") : STR("false"), err);
  case TYPE_INT8:
  case TYPE_INT16:
  case TYPE_INT32:
  case TYPE_INT64:
  case TYPE_UINT8:
  case TYPE_UINT16:
  case TYPE_UINT32:
  case TYPE_UINT64:
  case TYPE_DURATION:
    return put_integer(a, row, out, err);
  case TYPE_FLOAT16:
  case TYPE_FLOAT32:
  case TYPE_FLOAT64:
    return put_float(a, row, out, err);
  case TYPE_DECIMAL128:
    return put_decimal128(a, row, out, err);
  case TYPE_DECIMAL256:
    return put_decimal256(a, row, out, err);
  case TYPE_DATE32:
  case TYPE_DATE64:
    return put_date(a, row, out, err);
  case TYPE_TIME32:
  case TYPE_TIME64:
    return put_time(a, row, out, err);
  case TYPE_TIMESTAMP:
    return put_timestamp(a, row, out, err);
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return put_interval(a, row, out, err);
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_UTF8_VIEW:
    return buf_append_str(out, array_str(a, row), err);
  case TYPE_BINARY:
  case TYPE_LARGE_BINARY:
  case TYPE_BINARY_VIEW:
    return put_hex(out, array_str(a, row), err);
  case TYPE_FIXED_SIZE_BINARY: {
    const size_t width = (size_t)a->type->width;
    return put_hex(out, str_slice((const char *)a->values + row * width, width), err);
  }
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_FIXED_SIZE_LIST:
  case TYPE_STRUCT:
  case TYPE_MAP:
    return text_print_json(a, row, out, err);
  case TYPE_NONE:
  case TYPE_NULL:
  case TYPE_DICTIONARY:
    break;
  }
  return GLV_OK;
}

static int64_t offset_of(const array *a, size_t i) {
  return type_offset_width(a->type->kind) == 8 ? ARRAY_VALUES(a, int64_t)[i]
                                               : ARRAY_VALUES(a, int32_t)[i];
}

static glv_status json_items(const array *items, size_t first, size_t end, buf *out,
                             glv_error *err) {
  TRY(buf_append_char(out, '[', err));
  for (size_t i = first; i < end; i++) {
    TRY(i != first ? buf_append_char(out, ',', err) : GLV_OK);
    TRY(text_print_json(items, i, out, err));
  }
  return buf_append_char(out, ']', err);
}

static glv_status json_members(const array *a, size_t row, buf *out, glv_error *err) {
  TRY(buf_append_char(out, '{', err));
  for (size_t i = 0; i < a->child_count; i++) {
    TRY(i != 0 ? buf_append_char(out, ',', err) : GLV_OK);
    TRY(json_canonical_string(out, str_of(a->type->children[i].name), err));
    TRY(buf_append_char(out, ':', err));
    TRY(text_print_json(&a->children[i], row, out, err));
  }
  return buf_append_char(out, '}', err);
}

/* Plain text that needs no escapes, in quotes. */
static glv_status json_quoted(const array *a, size_t row, buf *out, glv_error *err) {
  TRY(buf_append_char(out, '"', err));
  TRY(print_plain(a, row, out, err));
  return buf_append_char(out, '"', err);
}

static glv_status json_float(const array *a, size_t row, buf *out, glv_error *err) {
  const double value = a->type->kind == TYPE_FLOAT64 ? ARRAY_VALUES(a, double)[row]
                       : a->type->kind == TYPE_FLOAT32
                           ? (double)ARRAY_VALUES(a, float)[row]
                           : (double)half_to_float(ARRAY_VALUES(a, uint16_t)[row]);
  if (isfinite(value)) {
    return put_float(a, row, out, err);
  }
  return buf_append_str(out,
                        isnan(value)  ? STR("\"NaN\"")
                        : value > 0.0 ? STR("\"Infinity\"")
                                      : STR("\"-Infinity\""),
                        err);
}

/* Recursion is bounded by the depth of the type. */
glv_status text_print_json(const array *a, size_t row, buf *out, glv_error *err) {
  if (!resolve(&a, &row)) {
    return buf_append_str(out, STR("null"), err);
  }
  const type_kind kind = a->type->kind;
  const size_t width = (size_t)a->type->width;
  if (type_is_integer(kind) || kind == TYPE_BOOL || kind == TYPE_DURATION ||
      kind == TYPE_INTERVAL_MONTH_DAY_NANO) {
    return print_plain(a, row, out, err);
  }
  if (type_is_float(kind)) {
    return json_float(a, row, out, err);
  }
  if (type_is_string(kind)) {
    return json_canonical_string(out, array_str(a, row), err);
  }
  if (kind == TYPE_LIST || kind == TYPE_LARGE_LIST || kind == TYPE_MAP) {
    return json_items(&a->children[0], (size_t)offset_of(a, row), (size_t)offset_of(a, row + 1),
                      out, err);
  }
  if (kind == TYPE_FIXED_SIZE_LIST) {
    return json_items(&a->children[0], row * width, (row + 1) * width, out, err);
  }
  if (kind == TYPE_STRUCT) {
    return json_members(a, row, out, err);
  }
  return json_quoted(a, row, out, err);
}

void text_output_init(text_output *o, glv_env *env, byte_sink sink) {
  *o = (text_output){.sink = sink};
  buf_init(&o->bytes, env, SIZE_MAX / 2);
}

void text_output_dispose(text_output *o) { buf_dispose(&o->bytes); }

glv_status text_output_flush(text_output *o, bool all, glv_error *err) {
  if (o->bytes.size == 0 || (!all && o->bytes.size < OUTPUT_PIECE)) {
    return GLV_OK;
  }
  TRY(o->sink.write(o->sink.context, o->bytes.data, o->bytes.size, err));
  buf_clear(&o->bytes);
  return GLV_OK;
}

glv_status text_each_row(batch_reader *r,
                         glv_status (*each)(void *context, const batch *b, size_t row,
                                            glv_error *err),
                         void *context, glv_error *err) {
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool end = false;
    TRY(r->next(r->state, &b, &end, err));
    if (end) {
      return GLV_OK;
    }
    for (size_t i = 0; i < b.length; i++) {
      TRY(each(context, &b, i, err));
    }
  }
}
