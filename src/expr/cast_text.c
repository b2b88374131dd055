/* Any value as text (sql-expressions 11.4), and strings and binaries among each other. Texts of
 * fixed-width values are written one by one into a growing column; between strings the bytes are
 * shared and only the offsets are written anew. */
#include <math.h>

#include "arrow/builder.h"
#include "base/half.h"
#include "base/number.h"
#include "expr/cast_private.h"
#include "expr/interval.h"
#include "expr/temporal.h"

enum { VALUE_TEXT_SIZE = 256 };

/* ---- texts of values ---- */

/* The eight digits of value < 10^8, one a byte, the first in the lowest: halves of four digits,
 * then of two, then of one are split off in all parts of the word at once. */
static inline uint64_t digits_of(uint64_t value) {
  const uint64_t fours = value / 10000 | value % 10000 << 32;
  const uint64_t high = (fours * 10486 >> 20) & UINT64_C(0x7f0000007f); /* / 100 */
  const uint64_t twos = high | (fours - 100 * high) << 16;
  const uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f); /* / 10 */
  return tens | (twos - 10 * tens) << 8;
}

#define ZEROS UINT64_C(0x3030303030303030)

/* value < 10^8 without zeros in front. Eight bytes are written. */
static inline size_t print_short(uint64_t value, char *text) {
  const uint64_t digits = digits_of(value);
  const unsigned spare = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
  store_le64(text, (digits | ZEROS) >> 8 * spare);
  return 8 - spare;
}

/* Up to 24 bytes are written, whatever the size. */
static inline size_t print_u64(uint64_t value, char *text) {
  enum { GROUP = 100000000 };
  if (value < GROUP) {
    return print_short(value, text);
  }
  const uint64_t high = value / GROUP;
  size_t size = 0;
  if (high < GROUP) {
    size = print_short(high, text);
  } else {
    size = print_short(high / GROUP, text);
    store_le64(text + size, digits_of(high % GROUP) | ZEROS);
    size += 8;
  }
  store_le64(text + size, digits_of(value % GROUP) | ZEROS);
  return size + 8;
}

static size_t print_i64(int64_t value, char *text) {
  if (value >= 0) {
    return print_u64((uint64_t)value, text);
  }
  text[0] = '-';
  return 1 + print_u64(0 - (uint64_t)value, text + 1);
}

/* float32 writes other exponents plainly than float64. */
static size_t print_float(float value, char *text) {
  enum { PLAIN_FIRST = -6, PLAIN_END = 13 };
  if (!(value - value == 0)) {
    return number_print32(value, text);
  }
  const number_digits d = number_shortest32(value);
  return number_layout(&d, PLAIN_FIRST, PLAIN_END, text);
}

/* A float16 is never written with an exponent, and without a point when it is whole. */
static size_t print_half(float value, char *text) {
  enum { PLAIN_FIRST = -20, PLAIN_END = 40 };
  if (!(value - value == 0)) {
    return number_print32(value, text);
  }
  const number_digits d = number_shortest32(value);
  const size_t size = number_layout(&d, PLAIN_FIRST, PLAIN_END, text);
  return value == truncf(value) ? size - 2 : size; /* without `.0` */
}

static size_t print_date(int64_t days, char *text) {
  const bool in_range = days >= TEMPORAL_FIRST_DAY && days <= TEMPORAL_LAST_DAY;
  return in_range ? calendar_print_date(days, text) : 0;
}

static size_t print_instant(int64_t ticks, time_unit unit, const zone *z, char *text) {
  const instant t = temporal_instant(ticks, unit);
  return temporal_in_range(t) ? temporal_print(t, z, text) : 0;
}

static size_t print_time(int64_t ticks, time_unit unit, char *text) {
  const instant t = temporal_instant(ticks, unit);
  const bool in_range = t.seconds >= 0 && t.seconds < DAY_SECONDS;
  return in_range ? calendar_print_time((int32_t)t.seconds, t.nanos, text) : 0;
}

static size_t print_bool(bool value, char *text) {
  memcpy(text, value ? "true" : "false", 5);
  return value ? 4 : 5;
}

static size_t print_temporal(const array *a, const zone *z, size_t i, char text[VALUE_TEXT_SIZE]) {
  switch (a->type->kind) {
  case TYPE_DATE32:
    return print_date(ARRAY_VALUES(a, int32_t)[i], text);
  case TYPE_DATE64:
    return print_instant(ARRAY_VALUES(a, int64_t)[i], UNIT_MILLI, NULL, text);
  case TYPE_TIME32:
    return print_time(ARRAY_VALUES(a, int32_t)[i], a->type->unit, text);
  case TYPE_TIME64:
    return print_time(ARRAY_VALUES(a, int64_t)[i], a->type->unit, text);
  case TYPE_DURATION:
    return interval_print_duration(ARRAY_VALUES(a, int64_t)[i], a->type->unit, text);
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return interval_print(interval_load((const uint8_t *)a->values + i * sizeof(interval)), text);
  default: /* timestamp */
    return print_instant(ARRAY_VALUES(a, int64_t)[i], a->type->unit, z, text);
  }
}

/* Without the last digits of a value that has more of them than its type, as sums of 38 digits may:
 * the text then says too little, as it does in the reference. */
static int256 leading_digits(int256 v, int precision) {
  int256 rest;
  while (!int256_has_digits(v, precision)) {
    (void)int256_div(v, int256_of(10), &v, &rest);
  }
  return v;
}

/* The text of valid row i, which is no integer; 0 = it has none, because it is outside of the
 * calendar or the day. */
static size_t print_value(const array *a, const zone *z, size_t i, char text[VALUE_TEXT_SIZE]) {
  switch (a->type->kind) {
  case TYPE_BOOL:
    return print_bool(array_bool(a, i), text);
  case TYPE_FLOAT16:
    return print_half(half_to_float(ARRAY_VALUES(a, uint16_t)[i]), text);
  case TYPE_FLOAT32:
    return print_float(ARRAY_VALUES(a, float)[i], text);
  case TYPE_FLOAT64:
    return number_print64(ARRAY_VALUES(a, double)[i], text);
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
    return int256_print(leading_digits(cast_decimal_at(a, i), a->type->precision), a->type->scale,
                        text);
  default:
    return print_temporal(a, z, i, text);
  }
}

#define PRINT_RUN(kind_, ctype, print)                                                             \
  case kind_:                                                                                      \
    for (size_t i = 0; i < count; i++) {                                                           \
      const size_t size = print(ARRAY_VALUES(a, ctype)[first + i], text + at);                     \
      at += array_is_valid(a, first + i) ? size : 0;                                               \
      ends[i] = (uint32_t)at;                                                                      \
    }                                                                                              \
    return true

/* The texts of `count` rows from `first` on, one after another; text has room for VALUE_TEXT_SIZE a
 * row. False: some valid row has none. */
static bool print_run(const array *a, const zone *z, size_t first, size_t count, char *text,
                      uint32_t *ends) {
  size_t at = 0;
  switch (a->type->kind) {
    PRINT_RUN(TYPE_INT8, int8_t, print_i64);
    PRINT_RUN(TYPE_INT16, int16_t, print_i64);
    PRINT_RUN(TYPE_INT32, int32_t, print_i64);
    PRINT_RUN(TYPE_INT64, int64_t, print_i64);
    PRINT_RUN(TYPE_UINT8, uint8_t, print_u64);
    PRINT_RUN(TYPE_UINT16, uint16_t, print_u64);
    PRINT_RUN(TYPE_UINT32, uint32_t, print_u64);
    PRINT_RUN(TYPE_UINT64, uint64_t, print_u64);
  default:
    break;
  }
  for (size_t i = 0; i < count; i++) {
    if (array_is_valid(a, first + i)) {
      const size_t size = print_value(a, z, first + i, text + at);
      if (size == 0) {
        return false;
      }
      at += size;
    }
    ends[i] = (uint32_t)at;
  }
  return true;
}

static glv_status print_values(const cast_job *job, array *ret, glv_error *err) {
  enum { RUN = 64 };
  CLEANUP(zone_cleanup) zone *z = NULL;
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, job->env, job->to);
  TRY(cast_zone_of(job->env, job->from->type, &z, err));
  TRY(builder_reserve(&b, job->from->length, job->from->length * 8, err));
  for (size_t first = 0; first < job->from->length; first += RUN) {
    char text[RUN * VALUE_TEXT_SIZE];
    uint32_t ends[RUN];
    const size_t count = size_min(RUN, job->from->length - first);
    if (!print_run(job->from, z, first, count, text, ends)) {
      /* The reference fails here even when trying. */
      return FAIL(err, GLV_E_SQL_EXEC, "Failed to convert a %s to text: it is out of range",
                  TYPE_TEXT(job->from->type));
    }
    TRY(builder_append_texts(&b, text, ends, count, err));
  }
  TRY(builder_finish(&b, ret, err));
  kernel_share_nulls(job->from, ret);
  return GLV_OK;
}

/* ---- strings and binaries ---- */

/* The same bytes with offsets of the other width. */
static glv_status convert_offsets(const cast_job *job, array *ret, glv_error *err) {
  const array *from = job->from;
  const size_t width = type_offset_width(job->to->kind);
  if (width == type_offset_width(from->type->kind)) {
    *ret = kernel_retype(from, job->to);
    return GLV_OK;
  }
  buffer *offsets;
  const size_t count = from->length + 1;
  if (width == 4) {
    const int64_t *wide = ARRAY_VALUES(from, int64_t);
    if (wide[count - 1] - wide[0] > INT32_MAX) {
      return FAIL(err, GLV_E_LIMIT, "%lld bytes of text do not fit into one array of type %s",
                  (long long)(wide[count - 1] - wide[0]), TYPE_TEXT(job->to));
    }
    TRY(buffer_new(job->env, count * 4, &offsets, err));
    for (size_t i = 0; i < count; i++) {
      ((int32_t *)(void *)offsets->data)[i] = (int32_t)(wide[i] - wide[0]);
    }
  } else {
    const int32_t *narrow = ARRAY_VALUES(from, int32_t);
    TRY(buffer_new(job->env, count * 8, &offsets, err));
    for (size_t i = 0; i < count; i++) {
      ((int64_t *)(void *)offsets->data)[i] = narrow[i] - narrow[0];
    }
  }
  const str first = from->length > 0 ? array_str(from, 0) : str_slice((const char *)from->data, 0);
  *ret = kernel_retype(from, job->to);
  ret->data = (const uint8_t *)first.data;
  ret->values = offsets->data;
  buffer_unref(ret->owners[1]);
  ret->owners[1] = offsets;
  return GLV_OK;
}

/* Values that are not UTF-8 fail, or become null. */
static glv_status check_text(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = *ret;
  *ret = (array){0};
  bool has_copy = false;
  for (size_t i = 0; i < a.length; i++) {
    if (!array_is_valid(&a, i) || str_is_utf8(array_str(&a, i))) {
      continue;
    }
    if (!has_copy) {
      /* A validity of its own: kernel_begin intersects with all bits set. */
      CLEANUP(array_unref) array own = {0};
      void *values;
      const operand o = {.a = a};
      TRY(kernel_begin(job->env, type_simple(TYPE_BOOL), &o, 1, a.length, &own, &values, err));
      buffer_unref(a.owners[0]);
      a.owners[0] = buffer_ref(own.owners[0]);
      a.validity = own.validity;
      a.bit_offset = 0;
      has_copy = true;
    }
    TRY(cast_reject(job, &a, i, err, "Encountered non UTF-8 data in a value of type %s",
                    TYPE_TEXT(job->from->type)));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

glv_status cast_to_text(const cast_job *job, array *ret, glv_error *err) {
  const enum cast_class from = cast_class_of(job->from->type->kind);
  if (from == CAST_STRING) {
    return convert_offsets(job, ret, err);
  }
  if (from != CAST_BINARY && from != CAST_BINARY_VIEW) {
    return print_values(job, ret, err);
  }
  TRY(convert_offsets(job, ret, err));
  return check_text(job, ret, err);
}

/* Values of exactly the width. */
static glv_status to_fixed_binary(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(cast_begin(job, &a, &values, err));
  const size_t width = (size_t)job->to->width;
  memset(values, 0, width * a.length);
  for (size_t i = 0; i < a.length; i++) {
    if (!array_is_valid(job->from, i)) {
      continue;
    }
    const str bytes = array_str(job->from, i);
    if (bytes.size == width) {
      memcpy((uint8_t *)values + width * i, bytes.data, width);
    } else {
      TRY(cast_reject(job, &a, i, err, "a value of %zu bytes does not fit into a %s", bytes.size,
                      TYPE_TEXT(job->to)));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

glv_status cast_to_binary(const cast_job *job, array *ret, glv_error *err) {
  if (job->to->kind == TYPE_FIXED_SIZE_BINARY) {
    return to_fixed_binary(job, ret, err);
  }
  if (type_offset_width(job->from->type->kind) != 0) {
    return convert_offsets(job, ret, err);
  }
  const size_t width = type_width(job->from->type);
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, job->env, job->to);
  TRY(builder_reserve(&b, job->from->length, job->from->length * width, err));
  for (size_t i = 0; i < job->from->length; i++) {
    if (array_is_valid(job->from, i)) {
      const char *bytes = (const char *)job->from->values + i * width;
      TRY(builder_append_str(&b, str_slice(bytes, width), err));
    } else {
      TRY(builder_append_null(&b, err));
    }
  }
  return builder_finish(&b, ret, err);
}
