/**
 * @file temporal_part.h
 * The parts of dates and times that functions name: `year`, `hour`, `dow` and so on; and what else
 * the functions of dates and times share.
 */
#ifndef GLAIVE_EXPR_TEMPORAL_PART_H
#define GLAIVE_EXPR_TEMPORAL_PART_H

#include "expr/function_private.h"
#include "expr/temporal.h"

enum temporal_part {
  PART_UNKNOWN,
  PART_YEAR,
  PART_QUARTER,
  PART_MONTH,
  PART_WEEK,
  PART_DAY,
  PART_HOUR,
  PART_MINUTE,
  PART_SECOND,
  PART_MILLISECOND,
  PART_MICROSECOND,
  PART_NANOSECOND,
  PART_DOW,
  PART_ISODOW,
  PART_DOY,
  PART_ISOYEAR,
  PART_EPOCH
};

/** The part of that name or a shorter form of it, in any case; quotes around it are dropped. */
enum temporal_part temporal_part_find(str name);
/** The part of exactly that name, in any case. */
enum temporal_part temporal_part_find_full(str name);
/** The name, as messages write it: `year`. */
const char *temporal_part_name(enum temporal_part part);

/** What a call site keeps. */
typedef struct part_state {
  enum temporal_part part;
  zone *zone; /* of the argument, or NULL */
} part_state;

/** Make the state of b for a value of type t. Errors: GLV_E_SQL_PLAN for a zone that does not
 * exist; GLV_E_NOMEM. */
glv_status part_state_bind(function_binding *b, enum temporal_part part, const type *t,
                           glv_error *err);

/** Exactly `count` arguments, integers or texts of them, that become int32. Errors: GLV_E_SQL_PLAN.
 */
glv_status bind_int32s(function_binding *b, size_t count, glv_error *err);

/** Whether t is a string, or a dictionary of strings, which stands for one. */
bool bind_is_text(const type *t);

/** The zone of a timestamp type, looked up while planning; *ret stays NULL when it has none. Errors
 * as above. */
glv_status bind_zone(const function_binding *b, const type *t, zone **ret, glv_error *err);

#endif
