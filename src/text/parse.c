/*
 * Flat values from text: booleans, integers, dates and times. Dates are YYYY-MM-DD; timestamps add
 * `T` or a space, HH:MM[:SS[.fraction]] and maybe Z, +HH, +HH:MM or +HHMM.
 */
#include "base/calendar.h"
#include "base/checked.h"
#include "text/text_private.h"

bool text_parse_bool(str s, bool *ret) {
  *ret = str_equal_ascii_case(s, STR("true"));
  return *ret || str_equal_ascii_case(s, STR("false"));
}

bool text_parse_u64(str s, uint64_t *ret) { return str_to_u64(s, ret); }

bool text_parse_i64(str s, int64_t *ret) {
  uint64_t magnitude;
  const bool negative = s.size != 0 && s.data[0] == '-';
  const str unsigned_part = negative ? str_slice(s.data + 1, s.size - 1) : s;
  if (!str_to_u64(unsigned_part, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative) {
    return false;
  }
  *ret = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return true;
}

/* count digits at *s, which is moved behind them. */
static bool take_digits(str *s, size_t count, int *ret) {
  int value = 0;
  if (s->size < count) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    const char c = s->data[i];
    if (c < '0' || c > '9') {
      return false;
    }
    value = value * 10 + (c - '0');
  }
  *s = str_slice(s->data + count, s->size - count);
  *ret = value;
  return true;
}

static bool take_char(str *s, char c) {
  if (s->size == 0 || s->data[0] != c) {
    return false;
  }
  *s = str_slice(s->data + 1, s->size - 1);
  return true;
}

/* A date at *s, which is moved behind it. */
static bool take_date(str *s, int64_t *ret_days) {
  int year;
  civil date;
  if (!take_digits(s, 4, &year) || !take_char(s, '-') || !take_digits(s, 2, &date.month) ||
      !take_char(s, '-') || !take_digits(s, 2, &date.day)) {
    return false;
  }
  date.year = year;
  if (!calendar_is_valid(date)) {
    return false;
  }
  *ret_days = calendar_days(date);
  return true;
}

bool text_parse_date(str s, int64_t *ret_days) { return take_date(&s, ret_days) && s.size == 0; }

/* Up to 9 digits of a fraction; further ones must be zeros. */
static bool take_fraction(str *s, int32_t *ret_nanos) {
  int32_t nanos = 0;
  int32_t unit = 100000000;
  size_t count = 0;
  while (count < s->size && s->data[count] >= '0' && s->data[count] <= '9') {
    const int digit = s->data[count++] - '0';
    if (unit == 0 && digit != 0) {
      return false;
    }
    nanos += digit * unit;
    unit /= 10;
  }
  *s = str_slice(s->data + count, s->size - count);
  *ret_nanos = nanos;
  return count != 0;
}

/* HH:MM[:SS[.fraction]] */
static bool take_clock(str *s, int32_t *ret_seconds, int32_t *ret_nanos) {
  int hour;
  int minute;
  int second = 0;
  *ret_nanos = 0;
  if (!take_digits(s, 2, &hour) || !take_char(s, ':') || !take_digits(s, 2, &minute)) {
    return false;
  }
  if (take_char(s, ':') && !take_digits(s, 2, &second)) {
    return false;
  }
  if (take_char(s, '.') && !take_fraction(s, ret_nanos)) {
    return false;
  }
  *ret_seconds = hour * 3600 + minute * 60 + second;
  return hour < 24 && minute < 60 && second < 60;
}

/* A zone at the end of the text, or nothing. */
static bool take_zone(str *s, bool *ret_has, int32_t *ret_offset_seconds) {
  int hours;
  int minutes = 0;
  *ret_offset_seconds = 0;
  *ret_has = s->size != 0;
  if (s->size == 0) {
    return true;
  }
  if (take_char(s, 'Z') || take_char(s, 'z')) {
    return s->size == 0;
  }
  const bool negative = s->data[0] == '-';
  if (!take_char(s, '+') && !take_char(s, '-')) {
    return false;
  }
  if (!take_digits(s, 2, &hours)) {
    return false;
  }
  if (s->size != 0) {
    (void)take_char(s, ':');
    if (!take_digits(s, 2, &minutes)) {
      return false;
    }
  }
  const int offset = hours * 3600 + minutes * 60;
  *ret_offset_seconds = negative ? -offset : offset;
  return s->size == 0 && hours < 24 && minutes < 60;
}

bool text_parse_timestamp(str s, text_time *ret) {
  int64_t days;
  int32_t clock;
  int32_t offset;
  text_time t;
  if (!take_date(&s, &days) || !(take_char(&s, 'T') || take_char(&s, ' ')) ||
      !take_clock(&s, &clock, &t.nanos) || !take_zone(&s, &t.has_zone, &offset)) {
    return false;
  }
  t.seconds = days * 86400 + clock - offset;
  *ret = t;
  return true;
}

bool text_parse_clock(str s, int64_t *ret_nanos) {
  int32_t seconds;
  int32_t nanos;
  if (!take_clock(&s, &seconds, &nanos) || s.size != 0) {
    return false;
  }
  *ret_nanos = (int64_t)seconds * 1000000000 + nanos;
  return true;
}

bool text_zone_offset(const char *zone, int32_t *ret_seconds) {
  str s = str_of(zone);
  bool has;
  if (str_equal_ascii_case(s, STR("UTC")) || str_is(s, "Etc/UTC") || str_is(s, "GMT")) {
    *ret_seconds = 0;
    return true;
  }
  return take_zone(&s, &has, ret_seconds) && has;
}

bool text_is_special(str s) {
  return str_is(s, "NaN") || str_is(s, "Infinity") || str_is(s, "-Infinity");
}
