/*
 * The encodings of the corpus: integers and ticks as numbers, floats as numbers or words, decimals
 * as fixed-point text, bytes in hex, lists and structs as arrays.
 */
#include "corpus/compare_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/half.h"
#include "base/int256.h"
#include "base/number.h"

static bool text_is(str text, const char *word) { return str_is(text, word); }

static bool is_integer(const value *e, int64_t n) {
  char text[32];
  const int size = snprintf(text, sizeof text, "%lld", (long long)n);
  return e->kind == VALUE_NUMBER && str_equal(e->text, str_slice(text, (size_t)size));
}

static bool is_unsigned(const value *e, uint64_t n) {
  char text[32];
  const int size = snprintf(text, sizeof text, "%llu", (unsigned long long)n);
  return e->kind == VALUE_NUMBER && str_equal(e->text, str_slice(text, (size_t)size));
}

static bool expected_double(const value *e, double *ret) {
  if (e->kind == VALUE_STRING) {
    *ret = text_is(e->text, "NaN")         ? (double)NAN
           : text_is(e->text, "-Infinity") ? -(double)INFINITY
                                           : (double)INFINITY;
    return true;
  }
  return e->kind == VALUE_NUMBER && number_parse64(e->text, ret);
}

/* Distance of two finite numbers in representable numbers; both zeros are apart. */
static uint64_t steps64(double a, double b) {
  int64_t x;
  int64_t y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  x = x < 0 ? INT64_MIN - x : x;
  y = y < 0 ? INT64_MIN - y : y;
  return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static uint64_t steps32(float a, float b) {
  int32_t x;
  int32_t y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  x = x < 0 ? INT32_MIN - x : x;
  y = y < 0 ? INT32_MIN - y : y;
  return (uint64_t)llabs((long long)x - y);
}

static bool is_float(const value *e, double got, bool single, unsigned ulp) {
  double want = 0;
  if (!expected_double(e, &want)) {
    return false;
  }
  if (isnan(want) || isnan(got)) {
    return isnan(want) && isnan(got);
  }
  if (ulp == 0 || isinf(want) || isinf(got)) {
    return want == got && signbit(want) == signbit(got);
  }
  return single ? steps32((float)want, (float)got) <= ulp : steps64(want, got) <= ulp;
}

static bool is_bytes(const value *e, str got) {
  if (e->kind != VALUE_STRING || e->text.size != 2 * got.size) {
    return false;
  }
  for (size_t i = 0; i < got.size; i++) {
    char hex[3];
    (void)snprintf(hex, sizeof hex, "%02x", (unsigned)(unsigned char)got.data[i]);
    if (memcmp(hex, e->text.data + 2 * i, 2) != 0) {
      return false;
    }
  }
  return true;
}

static bool is_decimal(const array *a, size_t i, const value *e) {
  char text[INT256_TEXT_SIZE + 256];
  const uint8_t *at = (const uint8_t *)a->values + type_width(a->type) * i;
  const int256 v = a->type->kind == TYPE_DECIMAL256 ? int256_load(at) : int256_of(int128_load(at));
  const size_t size = int256_print(v, a->type->scale, text);
  return e->kind == VALUE_STRING && str_equal(e->text, str_slice(text, size));
}

/* [months, days, nanos] */
static bool is_interval(const array *a, size_t i, const value *e) {
  const uint8_t *at = (const uint8_t *)a->values + 16 * i;
  return e->kind == VALUE_ARRAY && e->count == 3 &&
         is_integer(&e->items[0], (int32_t)load_le32(at)) &&
         is_integer(&e->items[1], (int32_t)load_le32(at + 4)) &&
         is_integer(&e->items[2], (int64_t)load_le64(at + 8));
}

static bool is_list(const array *a, size_t i, const value *e, unsigned ulp) {
  size_t first = 0;
  const size_t count = array_list_items(a, i, &first);
  if (e->kind != VALUE_ARRAY || e->count != count) {
    return false;
  }
  for (size_t k = 0; k < count; k++) {
    if (!value_matches(&a->children[0], first + k, &e->items[k], ulp)) {
      return false;
    }
  }
  return true;
}

static bool is_struct(const array *a, size_t i, const value *e, unsigned ulp) {
  if (e->count != a->child_count) {
    return false;
  }
  for (size_t k = 0; k < a->child_count; k++) {
    if (!value_matches(&a->children[k], i, &e->items[k], ulp)) {
      return false;
    }
  }
  return true;
}

static bool is_dictionary(const array *a, size_t i, const value *e, unsigned ulp) {
  const size_t width = array_value_width(a->type);
  uint64_t index = 0;
  memcpy(&index, (const uint8_t *)a->values + i * width, width); /* little-endian */
  return index < a->children[0].length && value_matches(&a->children[0], index, e, ulp);
}

bool value_matches(const array *a, size_t i, const value *e, unsigned ulp) {
  if (!array_is_valid(a, i) || e->kind == VALUE_NULL) {
    return !array_is_valid(a, i) && e->kind == VALUE_NULL;
  }
  switch (a->type->kind) {
  case TYPE_BOOL:
    return e->kind == VALUE_BOOL && e->truth == array_bool(a, i);
  case TYPE_INT8:
    return is_integer(e, ARRAY_VALUES(a, int8_t)[i]);
  case TYPE_INT16:
    return is_integer(e, ARRAY_VALUES(a, int16_t)[i]);
  case TYPE_INT32:
  case TYPE_DATE32:
  case TYPE_TIME32:
    return is_integer(e, ARRAY_VALUES(a, int32_t)[i]);
  case TYPE_INT64:
  case TYPE_DATE64:
  case TYPE_TIME64:
  case TYPE_TIMESTAMP:
  case TYPE_DURATION:
    return is_integer(e, ARRAY_VALUES(a, int64_t)[i]);
  case TYPE_UINT8:
    return is_unsigned(e, ARRAY_VALUES(a, uint8_t)[i]);
  case TYPE_UINT16:
    return is_unsigned(e, ARRAY_VALUES(a, uint16_t)[i]);
  case TYPE_UINT32:
    return is_unsigned(e, ARRAY_VALUES(a, uint32_t)[i]);
  case TYPE_UINT64:
    return is_unsigned(e, ARRAY_VALUES(a, uint64_t)[i]);
  case TYPE_FLOAT16:
    return is_float(e, (double)half_to_float(ARRAY_VALUES(a, uint16_t)[i]), true, 0);
  case TYPE_FLOAT32:
    return is_float(e, (double)ARRAY_VALUES(a, float)[i], true, ulp);
  case TYPE_FLOAT64:
    return is_float(e, ARRAY_VALUES(a, double)[i], false, ulp);
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
    return is_decimal(a, i, e);
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return is_interval(a, i, e);
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_UTF8_VIEW:
    return e->kind == VALUE_STRING && str_equal(e->text, array_str(a, i));
  case TYPE_BINARY:
  case TYPE_LARGE_BINARY:
  case TYPE_BINARY_VIEW:
    return is_bytes(e, array_str(a, i));
  case TYPE_FIXED_SIZE_BINARY: {
    const size_t width = (size_t)a->type->width;
    return is_bytes(e, str_slice((const char *)a->values + width * i, width));
  }
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_FIXED_SIZE_LIST:
  case TYPE_MAP: /* pairs of key and value */
    return is_list(a, i, e, ulp);
  case TYPE_STRUCT:
    return is_struct(a, i, e, ulp);
  case TYPE_DICTIONARY:
    return is_dictionary(a, i, e, ulp);
  case TYPE_NONE:
  case TYPE_NULL:
    return false;
  }
  return false;
}
