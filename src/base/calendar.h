/**
 * @file calendar.h
 * The proleptic Gregorian calendar, and dates and times as ISO 8601 text.
 */
#ifndef GLAIVE_BASE_CALENDAR_H
#define GLAIVE_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct civil {
  int64_t year; /* 1 BC is 0 */
  int month;    /* 1..12 */
  int day;      /* 1..31 */
} civil;

/** Days since 1970-01-01 of a valid date, and back. */
int64_t calendar_days(civil date);
civil calendar_civil(int64_t days);
bool calendar_is_valid(civil date);
int calendar_month_days(int64_t year, int month);

/** Floor division and remainder, for times before the epoch. d > 0. */
static inline int64_t floor_div(int64_t n, int64_t d) { return n / d - (n % d < 0); }
static inline int64_t floor_mod(int64_t n, int64_t d) { return n % d + (n % d < 0 ? d : 0); }

#define CALENDAR_TEXT_SIZE 64
/** `YYYY-MM-DD`; years outside 0..9999 with sign. @return the length written. */
size_t calendar_print_date(int64_t days, char text[CALENDAR_TEXT_SIZE]);
/** `HH:MM:SS[.fff|.ffffff|.fffffffff]` of a second in [0, 86400). @return the length written. */
size_t calendar_print_time(int32_t second_of_day, int32_t nanos, char text[CALENDAR_TEXT_SIZE]);
/**
 * `YYYY-MM-DDTHH:MM:SS[.fff|.ffffff|.fffffffff]`: seconds since the epoch plus nanos in [0, 1e9),
 * the shortest of 0, 3, 6, 9 fraction digits that is exact. No zone is written. @return the length
 * written.
 */
size_t calendar_print_timestamp(int64_t seconds, int32_t nanos, char text[CALENDAR_TEXT_SIZE]);

#endif
