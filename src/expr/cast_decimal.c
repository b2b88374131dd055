/* Decimals of 128 and 256 bits from and to numbers (timestamps and durations by their ticks), texts
 * and other decimals (sql-expressions 11.3). A value is an integer times 10^-scale; it must have at
 * most `precision` digits. Everything is computed in 256 bits, where the operations take the short
 * way for what fits 128. */
#include <math.h>

#include "expr/cast_private.h"

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static str trim(str text) {
  while (text.size > 0 && is_space(text.data[0])) {
    text = str_slice(text.data + 1, text.size - 1);
  }
  while (text.size > 0 && is_space(text.data[text.size - 1])) {
    text.size--;
  }
  return text;
}

static void store(const type *t, void *values, size_t i, int256 v) {
  if (t->kind == TYPE_DECIMAL256) {
    int256_store((uint8_t *)values + i * sizeof v, v);
  } else {
    int128_store((uint8_t *)values + i * sizeof(int128), (int128)v.low);
  }
}

/* *v = *v * 10 + digit; false past the digits of any decimal. */
static bool append_digit(int256 *v, int digit) {
  return int256_has_digits(*v, DECIMAL256_DIGITS - 1) && int256_mul(*v, int256_of(10), v) &&
         int256_add(*v, int256_of(digit), v);
}

bool cast_parse_decimal(str text, const type *to, void *ret_value) {
  text = trim(text);
  const bool negative = text.size > 0 && text.data[0] == '-';
  size_t i = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+');
  int256 v = int256_of(0);
  int fraction = 0; /* digits of v behind the point */
  bool has_point = false;
  bool has_digits = to->scale > 0; /* then a text without any is 0 */
  bool rounded = false;
  for (; i < text.size; i++) {
    const char c = text.data[i];
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (c < '0' || c > '9') {
      return false;
    }
    has_digits = true;
    if (has_point && fraction >= to->scale) {
      if (!rounded && to->scale >= 0 && c >= '5') {
        (void)int256_add(v, int256_of(1), &v);
      }
      rounded = true;
      continue;
    }
    fraction += has_point;
    if (!append_digit(&v, c - '0')) {
      return false;
    }
  }
  if (to->scale < fraction) {
    v = int256_scale_down(v, fraction - to->scale);
  } else if (!int256_scale_up(v, to->scale - fraction, &v)) {
    return false;
  }
  store(to, ret_value, 0, negative ? int256_negate(v) : v);
  return has_digits && int256_has_digits(v, to->precision);
}

/* Row i of an integer column, or of ticks. */
static int128 integer_at(const array *a, size_t i) {
  switch (cast_storage(a->type->kind)) {
  case TYPE_INT8:
    return ARRAY_VALUES(a, int8_t)[i];
  case TYPE_INT16:
    return ARRAY_VALUES(a, int16_t)[i];
  case TYPE_INT32:
    return ARRAY_VALUES(a, int32_t)[i];
  case TYPE_UINT8:
    return ARRAY_VALUES(a, uint8_t)[i];
  case TYPE_UINT16:
    return ARRAY_VALUES(a, uint16_t)[i];
  case TYPE_UINT32:
    return ARRAY_VALUES(a, uint32_t)[i];
  case TYPE_UINT64:
    return ARRAY_VALUES(a, uint64_t)[i];
  default:
    return ARRAY_VALUES(a, int64_t)[i];
  }
}

static bool from_float(double value, int scale, int256 *ret) {
  return int256_from_double(round(value * pow(10, scale)), ret);
}

static bool from_decimal(int256 v, int from, int to, int256 *ret) {
  if (to >= from) {
    return int256_scale_up(v, to - from, ret);
  }
  *ret = int256_scale_down(v, from - to);
  return true;
}

static bool from_integer(int128 v, int scale, int256 *ret) {
  if (scale < 0) { /* truncated, unlike other decimals */
    *ret = int256_of(-scale > DECIMAL128_DIGITS ? 0 : v / int128_power10(-scale));
    return true;
  }
  return int256_scale_up(int256_of(v), scale, ret);
}

/* The value of row i, at the scale of the target. */
static bool scaled_at(const array *a, size_t i, int scale, int256 *ret) {
  switch (a->type->kind) {
  case TYPE_FLOAT32:
    return from_float((double)ARRAY_VALUES(a, float)[i], scale, ret);
  case TYPE_FLOAT64:
    return from_float(ARRAY_VALUES(a, double)[i], scale, ret);
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
    return from_decimal(cast_decimal_at(a, i), a->type->scale, scale, ret);
  default:
    return from_integer(integer_at(a, i), scale, ret);
  }
}

/* Whether every decimal of the one type has a place in the other. Its digits are not counted then:
 * a power may have left more of them than its type has. */
static bool always_fits(const type *from, const type *to) {
  if (!type_is_decimal(from->kind)) {
    return false;
  }
  const int digits = from->precision + to->scale - from->scale;
  return to->scale >= from->scale ? digits <= to->precision : digits < to->precision;
}

static glv_status to_decimal(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  const bool fits = always_fits(job->from->type, job->to);
  TRY(cast_begin(job, &a, &values, err));
  for (size_t i = 0; i < a.length; i++) {
    int256 v = int256_of(0);
    if (array_is_valid(job->from, i) && (!scaled_at(job->from, i, job->to->scale, &v) ||
                                         (!fits && !int256_has_digits(v, job->to->precision)))) {
      v = int256_of(0);
      TRY(cast_reject(job, &a, i, err, "a value is too large to store in a %s",
                      TYPE_TEXT(job->to)));
    }
    store(job->to, values, i, v);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* Truncate to a whole number; false when it fits neither int64 nor uint64. */
static bool to_whole(int256 v, int scale, int64_t *ret, uint64_t *ret_unsigned) {
  if (scale < 0 && !int256_scale_up(v, -scale, &v)) {
    return false;
  }
  if (scale > 0) {
    int256 rest;
    if (scale > DECIMAL256_DIGITS) {
      v = int256_of(0);
    } else {
      (void)int256_div(v, int256_power10(scale), &v, &rest);
    }
  }
  const int128 narrow = (int128)v.low;
  *ret = (int64_t)narrow;
  *ret_unsigned = (uint64_t)narrow;
  return int256_is_narrow(v) && narrow >= INT64_MIN && narrow <= (int128)UINT64_MAX;
}

/* Signed kinds take *ret, uint64 *ret_unsigned; both are right when the value is in their range. */
static bool store_whole(type_kind kind, int256 v, int scale, void *values, size_t i) {
  int64_t s;
  uint64_t u;
  if (!to_whole(v, scale, &s, &u)) {
    return false;
  }
  const bool is_large = v.high >= 0 && u > INT64_MAX;
  switch (kind) {
  case TYPE_INT8:
    ((int8_t *)values)[i] = (int8_t)s;
    return !is_large && s >= INT8_MIN && s <= INT8_MAX;
  case TYPE_INT16:
    ((int16_t *)values)[i] = (int16_t)s;
    return !is_large && s >= INT16_MIN && s <= INT16_MAX;
  case TYPE_INT32:
    ((int32_t *)values)[i] = (int32_t)s;
    return !is_large && s >= INT32_MIN && s <= INT32_MAX;
  case TYPE_INT64:
    ((int64_t *)values)[i] = s;
    return !is_large;
  case TYPE_UINT8:
    ((uint8_t *)values)[i] = (uint8_t)s;
    return !is_large && s >= 0 && s <= UINT8_MAX;
  case TYPE_UINT16:
    ((uint16_t *)values)[i] = (uint16_t)s;
    return !is_large && s >= 0 && s <= UINT16_MAX;
  case TYPE_UINT32:
    ((uint32_t *)values)[i] = (uint32_t)s;
    return !is_large && s >= 0 && s <= UINT32_MAX;
  default: /* uint64 */
    ((uint64_t *)values)[i] = u;
    return is_large || s >= 0;
  }
}

static glv_status to_integer(const cast_job *job, array *a, void *values, glv_error *err) {
  const type_kind kind = cast_storage(job->to->kind);
  for (size_t i = 0; i < a->length; i++) {
    if (!store_whole(kind, cast_decimal_at(job->from, i), job->from->type->scale, values, i)) {
      TRY(cast_reject(job, a, i, err, "a value of type %s is out of range of %s",
                      TYPE_TEXT(job->from->type), TYPE_TEXT(job->to)));
    }
  }
  return GLV_OK;
}

static void to_float(const cast_job *job, size_t length, void *values) {
  const bool wide = job->from->type->kind == TYPE_DECIMAL256;
  const double divisor = pow(10, job->from->type->scale);
  for (size_t i = 0; i < length; i++) {
    const int256 v = cast_decimal_at(job->from, i);
    const double value = (wide ? int256_to_double(v) : int128_to_double((int128)v.low)) / divisor;
    if (job->to->kind == TYPE_FLOAT64) {
      ((double *)values)[i] = value;
    } else {
      ((float *)values)[i] = (float)value;
    }
  }
}

glv_status cast_decimals(const cast_job *job, array *ret, glv_error *err) {
  if (type_is_decimal(job->to->kind)) {
    return to_decimal(job, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(cast_begin(job, &a, &values, err));
  if (type_is_float(job->to->kind)) {
    to_float(job, a.length, values);
  } else {
    TRY(to_integer(job, &a, values, err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}
