/**
 * @file metrics.h
 * Counters of what the server did, and their text for Prometheus.
 */
#ifndef GLAIVE_SERVER_METRICS_H
#define GLAIVE_SERVER_METRICS_H

#include "base/buf.h"
#include "server/routes.h"

typedef struct metrics metrics;

/** Counters for routes numbered from 0; further ones count together as "none". */
glv_status metrics_new(glv_env *env, size_t route_count, metrics **ret, glv_error *err);
void metrics_free(metrics *m); /* NULL is fine */

/** A request ended. number: that of its route; SIZE_MAX = none fitted. Thread class: T. */
void metrics_add(metrics *m, size_t number, unsigned status, uint64_t duration_ns,
                 uint64_t bytes_in, uint64_t bytes_out);
/** The counters; route_of gives the route of a number. Those of other subjects are the caller's. */
glv_status metrics_print(const metrics *m, const route *(*route_of)(void *context, size_t index),
                         void *context, buf *out, glv_error *err);
/** One number of a subject without labels, with its two lines of description. */
glv_status metrics_print_one(buf *out, const char *name, const char *kind, const char *help,
                             uint64_t value, glv_error *err);

#endif
