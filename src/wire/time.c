/* RFC 3339, both ways. */
#include "wire/time.h"

#include <stdio.h>

#include "base/calendar.h"

enum { NANOS = 1000000000, DAY_SECONDS = 86400 };

void wire_time_print(int64_t ns, char text[WIRE_TIME_SIZE]) {
  const int64_t seconds = floor_div(ns, NANOS); /* of 64 bits of nanoseconds: years 1677 to 2262 */
  const civil date = calendar_civil(floor_div(seconds, DAY_SECONDS));
  const int second = (int)floor_mod(seconds, DAY_SECONDS);
  snprintf(text, WIRE_TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%09d+00:00", (int)date.year,
           date.month, date.day, second / 3600, second / 60 % 60, second % 60,
           (int)floor_mod(ns, NANOS));
}

/* A number of exactly that many digits, then the character after it (0 = none). */
static bool take_number(str *text, size_t digits, char after, int *ret) {
  uint64_t value;
  if (text->size < digits + (after != '\0') || !str_to_u64(str_slice(text->data, digits), &value)) {
    return false;
  }
  if (after != '\0' && text->data[digits] != after) {
    return false;
  }
  const size_t used = digits + (after != '\0');
  *text = str_slice(text->data + used, text->size - used);
  *ret = (int)value;
  return true;
}

static bool take_fraction(str *text, int *ret_nanos) {
  int nanos = 0;
  size_t used = 0;
  if (text->size > 0 && text->data[0] == '.') {
    int scale = NANOS / 10;
    for (used = 1; used < text->size && text->data[used] >= '0' && text->data[used] <= '9';
         used++) {
      nanos += (text->data[used] - '0') * scale;
      scale /= 10;
    }
    if (used == 1) {
      return false;
    }
  }
  *text = str_slice(text->data + used, text->size - used);
  *ret_nanos = nanos;
  return true;
}

/* `Z`, or the distance from UTC. */
static bool take_zone(str *text, int *ret_seconds) {
  if (text->size == 1 && (text->data[0] == 'Z' || text->data[0] == 'z')) {
    *ret_seconds = 0;
    return true;
  }
  if (text->size != 6 || (text->data[0] != '+' && text->data[0] != '-')) {
    return false;
  }
  const int sign = text->data[0] == '-' ? -1 : 1;
  int hours;
  int minutes;
  str rest = str_slice(text->data + 1, text->size - 1);
  if (!take_number(&rest, 2, ':', &hours) || !take_number(&rest, 2, '\0', &minutes) || hours > 23 ||
      minutes > 59) {
    return false;
  }
  *ret_seconds = sign * (hours * 3600 + minutes * 60);
  return true;
}

bool wire_time_read(str text, int64_t *ret) {
  int year;
  int month;
  int day;
  int hour;
  int minute;
  int second;
  int nanos;
  int offset;
  if (!take_number(&text, 4, '-', &year) || !take_number(&text, 2, '-', &month) ||
      !take_number(&text, 2, '\0', &day) || text.size == 0 ||
      (text.data[0] != 'T' && text.data[0] != 't' && text.data[0] != ' ')) {
    return false;
  }
  text = str_slice(text.data + 1, text.size - 1);
  if (!take_number(&text, 2, ':', &hour) || !take_number(&text, 2, ':', &minute) ||
      !take_number(&text, 2, '\0', &second) || !take_fraction(&text, &nanos) ||
      !take_zone(&text, &offset)) {
    return false;
  }
  const civil date = {year, month, day};
  if (!calendar_is_valid(date) || hour > 23 || minute > 59 || second > 60) {
    return false;
  }
  const int in_day = hour * 3600 + minute * 60 + second - offset;
  const int64_t seconds = calendar_days(date) * DAY_SECONDS + in_day;
  int64_t ns;
  if (__builtin_mul_overflow(seconds, (int64_t)NANOS, &ns) ||
      __builtin_add_overflow(ns, (int64_t)nanos, &ns)) {
    return false;
  }
  *ret = ns;
  return true;
}
