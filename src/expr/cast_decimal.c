/* Decimals of 128 bits from and to numbers (timestamps by their ticks), texts and other decimals
 * (sql-expressions 11.3). A value is an integer times 10^-scale; it must have at most `precision`
 * digits. */
#include <math.h>

#include "base/int128.h"
#include "expr/cast_private.h"

bool cast_fits_precision(const void *value, int precision) {
  return int128_magnitude(int128_load(value)) < (uint128)int128_power10(precision);
}

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

/* *v = *v * 10 + digit */
static bool append_digit(uint128 *v, unsigned digit) {
  const uint128 limit = (uint128)int128_power10(DECIMAL128_DIGITS);
  *v = *v * 10u + digit;
  return *v <= limit; /* one more than any precision, so that rounding up cannot wrap */
}

bool cast_parse_decimal(str text, const type *to, void *ret_value) {
  text = trim(text);
  const bool negative = text.size > 0 && text.data[0] == '-';
  size_t i = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+');
  uint128 v = 0;
  int fraction = 0; /* digits of v behind the point */
  bool has_point = false;
  bool has_digits = text.size == 0;
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
      v += !rounded && to->scale >= 0 && c >= '5';
      rounded = true;
      continue;
    }
    fraction += has_point;
    if (!append_digit(&v, (unsigned)(c - '0'))) {
      return false;
    }
  }
  int128 scaled = (int128)v;
  if (to->scale >= fraction) {
    if (!int128_scale_up(scaled, to->scale - fraction, &scaled)) {
      return false;
    }
  } else {
    scaled = int128_scale_down(scaled, fraction - to->scale);
  }
  scaled = negative ? -scaled : scaled;
  int128_store(ret_value, scaled);
  return has_digits && cast_fits_precision(&scaled, to->precision);
}

static bool from_float(double value, int scale, int128 *ret) {
  const double scaled = round(value * pow(10, scale));
  if (!(scaled > -1.7e38 && scaled < 1.7e38)) {
    return false;
  }
  *ret = (int128)scaled;
  return true;
}

/* The value of row i of a number, at the scale of the target. */
static bool from_number(const array *a, size_t i, int scale, int128 *ret) {
  int128 v = 0;
  switch (a->type->kind) {
  case TYPE_INT8:
    v = ARRAY_VALUES(a, int8_t)[i];
    break;
  case TYPE_INT16:
    v = ARRAY_VALUES(a, int16_t)[i];
    break;
  case TYPE_INT32:
    v = ARRAY_VALUES(a, int32_t)[i];
    break;
  case TYPE_INT64:
  case TYPE_TIMESTAMP:
    v = ARRAY_VALUES(a, int64_t)[i];
    break;
  case TYPE_UINT8:
    v = ARRAY_VALUES(a, uint8_t)[i];
    break;
  case TYPE_UINT16:
    v = ARRAY_VALUES(a, uint16_t)[i];
    break;
  case TYPE_UINT32:
    v = ARRAY_VALUES(a, uint32_t)[i];
    break;
  case TYPE_UINT64:
    v = ARRAY_VALUES(a, uint64_t)[i];
    break;
  case TYPE_FLOAT32:
    return from_float((double)ARRAY_VALUES(a, float)[i], scale, ret);
  case TYPE_FLOAT64:
    return from_float(ARRAY_VALUES(a, double)[i], scale, ret);
  default: { /* another decimal */
    v = int128_load((const uint8_t *)a->values + i * sizeof v);
    const int change = scale - a->type->scale;
    if (change < 0) {
      *ret = int128_scale_down(v, -change);
      return true;
    }
    return int128_scale_up(v, change, ret);
  }
  }
  if (scale < 0) {
    *ret = -scale > DECIMAL128_DIGITS ? 0 : v / int128_power10(-scale);
    return true;
  }
  return int128_scale_up(v, scale, ret);
}

static glv_status to_decimal(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(cast_begin(job, &a, &values, err));
  for (size_t i = 0; i < a.length; i++) {
    int128 v = 0;
    if (array_is_valid(job->from, i) && (!from_number(job->from, i, job->to->scale, &v) ||
                                         !cast_fits_precision(&v, job->to->precision))) {
      v = 0;
      TRY(cast_reject(job, &a, i, err, "a value is too large to store in a %s",
                      TYPE_TEXT(job->to)));
    }
    int128_store((uint8_t *)values + i * sizeof v, v);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* Truncate to a whole number; false when it does not fit 64 bits. */
static bool to_whole(int128 v, int scale, int64_t *ret, uint64_t *ret_unsigned) {
  if (scale < 0 && !int128_scale_up(v, -scale, &v)) {
    return false;
  }
  if (scale > 0) {
    v = scale > DECIMAL128_DIGITS ? 0 : v / int128_power10(scale);
  }
  *ret = (int64_t)v;
  *ret_unsigned = (uint64_t)v;
  return v >= INT64_MIN && v <= (int128)UINT64_MAX;
}

/* Signed kinds take *ret, uint64 *ret_unsigned; both are right when the value is in their range. */
static bool store_whole(type_kind kind, int128 v, int scale, void *values, size_t i) {
  int64_t s;
  uint64_t u;
  if (!to_whole(v, scale, &s, &u)) {
    return false;
  }
  const bool is_large = v > 0 && u > INT64_MAX;
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
  case TYPE_TIMESTAMP:
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

static glv_status from_decimal(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(cast_begin(job, &a, &values, err));
  const int scale = job->from->type->scale;
  const double divisor = pow(10, scale);
  for (size_t i = 0; i < a.length; i++) {
    const int128 v = int128_load((const uint8_t *)job->from->values + i * sizeof v);
    if (job->to->kind == TYPE_FLOAT64) {
      ((double *)values)[i] = int128_to_double(v) / divisor;
    } else if (job->to->kind == TYPE_FLOAT32) {
      ((float *)values)[i] = (float)(int128_to_double(v) / divisor);
    } else if (!store_whole(job->to->kind, v, scale, values, i)) {
      TRY(cast_reject(job, &a, i, err, "a value of type %s is out of range of %s",
                      TYPE_TEXT(job->from->type), TYPE_TEXT(job->to)));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

glv_status cast_decimals(const cast_job *job, array *ret, glv_error *err) {
  return job->to->kind == TYPE_DECIMAL128 ? to_decimal(job, ret, err) : from_decimal(job, ret, err);
}
