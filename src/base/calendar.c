/* Dates by the method of eras: a year is taken to begin in March, so that the leap day is the last
 * one of its year, and 400 years (146,097 days) form one era; everything inside an era is division
 * without special cases. Days are counted from 1970-01-01, which is day 719,468 counted from
 * 0000-03-01. Valid for all days within 2^62 of the epoch. */
#include "base/calendar.h"

#include <string.h>

enum { ERA_DAYS = 146097, ERA_YEARS = 400, EPOCH_DAY = 719468, DAY_SECONDS = 86400 };

/* Days of the year before the month, March = 0. */
static int days_before(int month) { return (153 * month + 2) / 5; }

int64_t calendar_days(civil date) {
  const int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const int month = date.month <= 2 ? date.month + 9 : date.month - 3;
  const int64_t era = floor_div(year, ERA_YEARS);
  const int64_t in_era = floor_mod(year, ERA_YEARS);
  const int64_t day = in_era * 365 + in_era / 4 - in_era / 100 + days_before(month) + date.day - 1;
  return era * ERA_DAYS + day - EPOCH_DAY;
}

/* The same in 32 bits for days near the epoch, by the multiplications of Neri and Schneider
 * (Euclidean affine functions and their application to calendar algorithms): the remainder of a
 * division is the low half of the product that gives the quotient. */
enum { NEAR_ERAS = 3670 }; /* before the epoch; as many behind it */
#define NEAR_DAYS ((int64_t)NEAR_ERAS * ERA_DAYS)

static civil near_civil(int32_t days) {
  const uint32_t shifted = (uint32_t)days + EPOCH_DAY + (uint32_t)NEAR_DAYS;
  const uint32_t quarters = 4 * shifted + 3;
  const uint32_t century = quarters / ERA_DAYS;
  const uint32_t in_century = quarters % ERA_DAYS / 4;
  const uint64_t product = UINT64_C(2939745) * (4 * in_century + 3);
  const uint32_t of_year = (uint32_t)product / 2939745 / 4;
  const int64_t year =
      (int64_t)(100 * century) + (int64_t)(product >> 32) - (int64_t)NEAR_ERAS * ERA_YEARS;
  const uint32_t months = 2141 * of_year + 197913;
  const bool next_year = of_year >= 306;
  const int month = (int)(months >> 16);
  return (civil){.year = year + next_year,
                 .month = next_year ? month - 12 : month,
                 .day = (int)((months & 0xffff) / 2141) + 1};
}

civil calendar_civil(int64_t days) {
  if (days >= -NEAR_DAYS && days < NEAR_DAYS) {
    return near_civil((int32_t)days);
  }
  const int64_t shifted = days + EPOCH_DAY;
  const int64_t era = floor_div(shifted, ERA_DAYS);
  const int64_t day = floor_mod(shifted, ERA_DAYS);
  const int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  const int of_year = (int)(day - (365 * year + year / 4 - year / 100));
  const int month = (5 * of_year + 2) / 153;
  return (civil){.year = era * ERA_YEARS + year + (month >= 10),
                 .month = month >= 10 ? month - 9 : month + 3,
                 .day = of_year - days_before(month) + 1};
}

int calendar_month_days(int64_t year, int month) {
  static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : lengths[month - 1];
}

bool calendar_is_valid(civil date) {
  return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
         date.day <= calendar_month_days(date.year, date.month);
}

/* value in decimal, at least `width` digits; room for 20. @return the end. */
static char *put_digits(char *at, uint64_t value, int width) {
  char reversed[20];
  int n = 0;
  do {
    reversed[n++] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  for (; n < width; width--) {
    *at++ = '0';
  }
  while (n > 0) {
    *at++ = reversed[--n];
  }
  return at;
}

/* Two digits of a value below 100. */
static char *put_two(char *at, int value) {
  at[0] = (char)('0' + value / 10);
  at[1] = (char)('0' + value % 10);
  return at + 2;
}

static char *put_year(char *at, int64_t year) {
  if (year >= 0 && year <= 9999) {
    return put_two(put_two(at, (int)year / 100), (int)year % 100);
  }
  *at++ = year < 0 ? '-' : '+';
  return put_digits(at, year < 0 ? (uint64_t)-year : (uint64_t)year, 4);
}

size_t calendar_print_date(int64_t days, char text[CALENDAR_TEXT_SIZE]) {
  const civil c = calendar_civil(days);
  char *at = put_year(text, c.year);
  *at++ = '-';
  at = put_two(at, c.month);
  *at++ = '-';
  return (size_t)(put_two(at, c.day) - text);
}

size_t calendar_print_time(int32_t second_of_day, int32_t nanos, char text[CALENDAR_TEXT_SIZE]) {
  char *at = put_two(text, second_of_day / 3600);
  *at++ = ':';
  at = put_two(at, second_of_day / 60 % 60);
  *at++ = ':';
  at = put_two(at, second_of_day % 60);
  if (nanos != 0) {
    int width = 9;
    uint64_t fraction = (uint64_t)nanos;
    for (; width > 3 && fraction % 1000 == 0; width -= 3) {
      fraction /= 1000;
    }
    *at++ = '.';
    at = put_digits(at, fraction, width);
  }
  return (size_t)(at - text);
}

size_t calendar_print_timestamp(int64_t seconds, int32_t nanos, char text[CALENDAR_TEXT_SIZE]) {
  size_t size = calendar_print_date(floor_div(seconds, DAY_SECONDS), text);
  text[size++] = 'T';
  return size + calendar_print_time((int32_t)floor_mod(seconds, DAY_SECONDS), nanos, text + size);
}
