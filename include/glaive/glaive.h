/**
 * @file glaive.h
 * Glaive: materialized views over Lance tables. This header includes all others.
 *
 * Handles are opaque and counted: releasing one is always right, in any order (a scan keeps its
 * table, a table its connection, a connection its environment). Thread classes: T = any threads at
 * once; S = one thread at a time; P = a getter whose result is valid until the handle is released.
 */
#ifndef GLAIVE_H
#define GLAIVE_H

#include <glaive/arrow_abi.h>
#include <glaive/conn.h>
#include <glaive/env.h>
#include <glaive/job.h>
#include <glaive/place.h>
#include <glaive/search.h>
#include <glaive/status.h>
#include <glaive/table.h>
#include <glaive/view.h>

#endif
