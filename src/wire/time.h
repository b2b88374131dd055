/**
 * @file time.h
 * Times as RFC 3339 text, as bodies and headers have them.
 */
#ifndef GLAIVE_WIRE_TIME_H
#define GLAIVE_WIRE_TIME_H

#include "base/str.h"

#define WIRE_TIME_SIZE 48

/** `2026-11-30T20:30:30.932841752+00:00`, always with nine digits. Years outside of 0..9999 are cut
 * to these. */
void wire_time_print(int64_t ns, char text[WIRE_TIME_SIZE]);

/** Nanoseconds since the epoch; digits past nine are dropped. @return false: no such text, or past
 * what 64 bits hold. */
bool wire_time_read(str text, int64_t *ret);

#endif
