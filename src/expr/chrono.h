/**
 * @file chrono.h
 * Dates and times by their fields, and as texts of a format such as `%Y-%m-%d %H:%M:%S`: the
 * specifiers of Rust's chrono crate, which SQL functions speak.
 */
#ifndef GLAIVE_EXPR_CHRONO_H
#define GLAIVE_EXPR_CHRONO_H

#include "base/buf.h"
#include "expr/temporal.h"

/** What clocks and calendars of a place show at one instant. */
typedef struct chrono_time {
  civil date;
  int64_t days;         /* of date since 1970-01-01 */
  int second;           /* of the day */
  int32_t nanos;        /* of the second */
  int64_t unix_seconds; /* of the instant */
  int32_t offset;       /* seconds east of UTC */
  bool has_zone;        /* else the offset is unknown */
  bool is_time;         /* of the day: there is no date */
} chrono_time;

/** z NULL = UTC, without a zone. t is in the calendar's range. */
chrono_time chrono_of(instant t, const zone *z);

int chrono_weekday(int64_t days);      /* Sunday = 0 */
int chrono_day_of_year(civil date);    /* 1..366 */
int64_t chrono_iso_year(int64_t days); /* the year of the ISO week */
int chrono_iso_week(int64_t days);     /* 1..53 */

/** Append t as the format tells. Errors: GLV_E_SQL_EXEC for a specifier that does not exist or
 * needs a date or zone that t has not; GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status chrono_format(const chrono_time *t, str format, buf *out, glv_error *err);

/** Read a text of that format as an instant; fields of the time that are missing are zero, and a
 * text without zone is UTC. NULL = done, else what is wrong. */
const char *chrono_parse(glv_env *env, str format, str text, instant *ret);

/** Read a text of that format as a time of day, in nanoseconds; hour and minute must be there. NULL
 * = done, else what is wrong. */
const char *chrono_parse_time(str format, str text, int64_t *ret_nanos);

/** The format that a letter stands for, such as `%H:%M:%S` for T; NULL for other letters. */
const char *chrono_expand(char letter);

extern const char *const chrono_months[12];  /* January ... */
extern const char *const chrono_weekdays[7]; /* Sunday ... */

#endif
