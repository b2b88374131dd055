/**
 * @file temporal.h
 * Dates and instants: ticks of a unit to seconds and back, and the texts that SQL casts read and
 * write (sql-expressions 11.3, 11.4).
 */
#ifndef GLAIVE_EXPR_TEMPORAL_H
#define GLAIVE_EXPR_TEMPORAL_H

#include "arrow/type.h"
#include "base/calendar.h"
#include "expr/zone.h"

enum { DAY_SECONDS = 86400 };

/** The days (since 1970-01-01) of the years -262143 to 262142; texts and calendar functions work on
 * these only. */
#define TEMPORAL_FIRST_DAY INT64_C(-96465292)
#define TEMPORAL_LAST_DAY INT64_C(95026236)

/** A point in time, or on a wall clock: nanos in [0, 1e9), or up to 2e9 in a leap second that a
 * text named. */
typedef struct instant {
  int64_t seconds;
  int32_t nanos;
} instant;

/** Ticks per second: 1, 1e3, 1e6, 1e9. */
int64_t temporal_rate(time_unit unit);
instant temporal_instant(int64_t ticks, time_unit unit);
/** The ticks of an instant, rounded down; false when they do not fit. */
bool temporal_ticks(instant t, time_unit unit, int64_t *ret);
/** True iff the instant's day is within the calendar's range. */
bool temporal_in_range(instant t);

/**
 * Reads texts; keeps the zone that was named last, since texts of one column tend to name the same.
 * Not thread-safe.
 */
typedef struct temporal_parser {
  glv_env *env;
  const zone *local; /* what a text without zone is meant in; NULL = UTC */
  zone *last;
  char last_name[104];
  size_t last_size;
} temporal_parser;

void temporal_parser_init(temporal_parser *p, glv_env *env, const zone *local);
void temporal_parser_dispose(temporal_parser *p); /* usable with CLEANUP */

/** The reason that the functions below give when memory ran out: the caller reports GLV_E_NOMEM. */
extern const char temporal_no_memory[];

/** Why a text is not a timestamp, for messages; NULL = it is one. */
const char *temporal_parse_timestamp(temporal_parser *p, str text, instant *ret);
/** `H:MM[:SS[.digits]]` with AM or PM behind, or without, as nanoseconds since midnight (second 60
 * counts); false = it is none. */
bool temporal_parse_time(str text, int64_t *ret_nanos);
/** A date in any of the accepted forms, as days; NULL = done, else why not. */
const char *temporal_parse_date(temporal_parser *p, str text, int64_t *ret_days);

/**
 * `YYYY-MM-DDTHH:MM:SS[.fff...]` of an instant in the calendar's range, as clocks of the zone show
 * it, with `Z` or `+HH:MM` behind; z NULL = UTC and no suffix. @return the length written.
 */
size_t temporal_print(instant t, const zone *z, char text[CALENDAR_TEXT_SIZE]);

#endif
