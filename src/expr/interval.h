/**
 * @file interval.h
 * Intervals of months, days and nanoseconds, which do not convert into one another; and the texts
 * of intervals and durations.
 */
#ifndef GLAIVE_EXPR_INTERVAL_H
#define GLAIVE_EXPR_INTERVAL_H

#include <string.h>

#include "arrow/type.h"

/** As values of TYPE_INTERVAL_MONTH_DAY_NANO lie in memory. */
typedef struct interval {
  int32_t months;
  int32_t days;
  int64_t nanos;
} interval;

/** Load and store at any alignment. */
static inline interval interval_load(const void *p) {
  interval v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void interval_store(void *p, interval v) { memcpy(p, &v, sizeof v); }

/** a + b or a - b, part by part; false when a part overflows. */
bool interval_add(interval a, interval b, interval *ret);
bool interval_sub(interval a, interval b, interval *ret);

struct zone;
/**
 * A day (since 1970-01-01), or ticks of a timestamp, moved by an interval, backwards when subtract:
 * by months, where the day is at most the last of the month, then days, then nanoseconds (whole
 * days of them for a day). With a zone, months and days move the local time, which must then exist
 * once. false = the result is out of range.
 */
bool interval_shift_day(int64_t day, interval v, bool subtract, int64_t *ret);
bool interval_shift_stamp(int64_t ticks, time_unit unit, const struct zone *z, interval v,
                          bool subtract, int64_t *ret);

/** What an amount without a unit counts. */
enum interval_default { INTERVAL_MONTHS, INTERVAL_SECONDS };

/**
 * Read `1 year 2.5 days -3h`: amounts and units in any order, each unit once. Fractions go on to
 * the next smaller part. false = it is none, or does not fit.
 */
bool interval_parse(str text, enum interval_default unit, interval *ret);

/** Enough for all of the functions below. */
#define INTERVAL_TEXT_SIZE 128
/** `1 mons 2 days 3 hours 4 mins 5.000000006 secs`, without the parts that are zero; `0 secs`.
 * @return the length written (no NUL). */
size_t interval_print(interval v, char text[INTERVAL_TEXT_SIZE]);
/** `1 days 2 hours 3 mins 4.005 secs`, a fraction with all digits of the unit; `<invalid>` past
 * what int64 counts in milliseconds. @return the length written (no NUL). */
size_t interval_print_duration(int64_t ticks, time_unit unit, char text[INTERVAL_TEXT_SIZE]);
/** `PT3661.5S`, `-PT1S`, `P0D`; `<invalid>` as above. @return the length written (no NUL). */
size_t interval_print_iso_duration(int64_t ticks, time_unit unit, char text[INTERVAL_TEXT_SIZE]);

#endif
