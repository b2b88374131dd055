/**
 * @file computed.h
 * Computed columns of a view: columns that their owner fills and a refresh leaves null
 * (materialized-views 9.3).
 */
#ifndef GLAIVE_VIEW_COMPUTED_H
#define GLAIVE_VIEW_COMPUTED_H

#include "table/table.h"

/** Whether a top-level field carries the declaration of a computed column. */
bool is_computed(const field *f);
/** Whether a field id belongs to a computed column, its children included. */
bool is_computed_id(const lance_schema *s, int64_t id);

/**
 * GLV_E_SCHEMA when a computed column of the view cannot hold null; GLV_E_INVALID_INPUT when a
 * declaration is incomplete or does not fit its Function binding; GLV_E_UNSUPPORTED for a kind or a
 * version of bindings that this release does not know; GLV_E_NOMEM.
 */
glv_status computed_check(const table_snapshot *view, glv_error *err);

#endif
