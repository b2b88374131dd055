/**
 * @file properties.h
 * The metadata that belongs to the table itself rather than to its schema or its configuration: the
 * map `table_metadata` of manifests.
 */
#ifndef GLAIVE_TABLE_PROPERTIES_H
#define GLAIVE_TABLE_PROPERTIES_H

#include "table/table.h"

/** Copies of the entries, in an arena. Errors: GLV_E_NOMEM. Thread class: T. */
glv_status table_properties(const table_snapshot *t, arena *a, metadata *ret, glv_error *err);

#endif
