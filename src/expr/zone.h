/**
 * @file zone.h
 * Time zones: fixed offsets, and those of the system's time zone database.
 */
#ifndef GLAIVE_EXPR_ZONE_H
#define GLAIVE_EXPR_ZONE_H

#include "base/env.h"
#include "base/str.h"

typedef struct zone zone; /* immutable */

/**
 * Make a zone from its name: `+HH:MM`, `+HHMM`, `+HH` (or with -), or a name of the database such
 * as `Europe/Berlin`. UTC needs no database. Errors: GLV_E_SQL_EXEC naming a zone that does not
 * exist; GLV_E_NOMEM. Release with zone_free. Thread class: T.
 */
glv_status zone_new(glv_env *env, str name, zone **ret, glv_error *err);
void zone_free(zone *z); /* NULL is fine */
void zone_cleanup(zone **z);

/** Seconds east of UTC at an instant (seconds since the epoch). Thread class: T. */
int32_t zone_offset(const zone *z, int64_t utc_seconds);

/**
 * The instant at which clocks of the zone show local_seconds (seconds since the epoch if it were
 * UTC). false = there is none or there are two, because the clocks were moved. Thread class: T.
 */
bool zone_to_utc(const zone *z, int64_t local_seconds, int64_t *ret_utc_seconds);

#endif
