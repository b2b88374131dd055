/**
 * @file plan.h
 * Planning a view: a definition checked against its source's schema (materialized-views 3). Runs at
 * creation and at every refresh.
 */
#ifndef GLAIVE_VIEW_PLAN_H
#define GLAIVE_VIEW_PLAN_H

#include "arrow/type.h"
#include "base/arena.h"
#include "table/scan_group.h"
#include "table/table.h"
#include "view/definition.h"

/** Who asks decides how failures are reported. */
typedef enum plan_purpose {
  PLAN_FIELDS, /* creation from structured fields: GLV_E_INVALID_EXPRESSION, GLV_E_INVALID_INPUT */
  PLAN_SQL,    /* creation from one SQL text: GLV_E_SQL_PLAN, GLV_E_SQL_PARSE for expressions too */
  PLAN_REFRESH, /* a stored definition: GLV_E_SCHEMA */
} plan_purpose;

typedef struct view_plan {
  glv_env *env; /* a reference */
  arena memory;
  view_definition
      definition;  /* with projections expanded, expressions as stored, inputs as planned */
  schema *columns; /* counted: the view's columns, provenance last, with carried metadata */
  const scan_column *outputs; /* the declared columns as a scan of the source computes them; with
                                 GROUP BY over groups of its rows */
  size_t output_count;
  const size_t
      *input_columns; /* top-level columns of the source's schema that are read, ascending */
  size_t input_column_count;
} view_plan;

/**
 * Plan a definition.
 *
 * @param source  the source at the version to plan against.
 * @param d       projections with stored spelling; `star` = all columns of the source but its
 * provenance column.
 * @param ret     view_plan_free.
 * Errors at creation: GLV_E_COLUMN_EXISTS, GLV_E_INVALID_INPUT (reserved names, filter, limit, a
 * type that Lance cannot keep), GLV_E_INVALID_EXPRESSION, from SQL GLV_E_SQL_PLAN; at refresh
 * GLV_E_SCHEMA; GLV_E_UNSUPPORTED for a function in FROM, for ivf_partition, and for types this
 * release does not handle; GLV_E_NOMEM.
 */
glv_status view_plan_make(const table_snapshot *source, const view_definition *d,
                          plan_purpose purpose, view_plan **ret, glv_error *err);
void view_plan_free(view_plan *p); /* NULL is fine */
void view_plan_cleanup(view_plan **p);
/** Whether the rows of the view are groups of rows of its source. */
static inline bool view_plan_is_grouped(const view_plan *p) {
  return p->definition.group_count != 0;
}

/** Which rows of the source to take, and how. Zero means the default. */
typedef struct view_scan {
  const scan_fragment *fragments; /* NULL = all; a grouped view takes nothing else */
  size_t fragment_count;
  bool has_limit;
  uint64_t limit;       /* rows of the view; not for a grouped one */
  bool with_provenance; /* the last column, named VIEW_SOURCE_ROW_ID */
  cancel_token *cancel; /* NULL or referenced until the reader is disposed */
} view_scan;

/**
 * The rows of the view that a scan of its source gives: filtered, expanded, computed, grouped.
 *
 * @param source  the version that p was planned against.
 * Errors: those of table_scan and table_scan_groups.
 */
glv_status view_plan_scan(const view_plan *p, const table_snapshot *source, const view_scan *what,
                          batch_reader *ret, glv_error *err);

/**
 * GLV_E_INVALID_INPUT unless the source has stable row ids, GLV_E_UNSUPPORTED when it or its
 * directory carries LSM state. role: "source table" or "materialized view". at_create decides the
 * wording.
 */
glv_status view_check_source(const table_snapshot *source, bool at_create, glv_error *err);
glv_status view_check_lsm(const table_snapshot *t, const char *role, glv_error *err);

/**
 * Compare the planned columns with those of the view's table: same names and types in order, no
 * null where the table forbids it; computed columns of the table are passed over.
 * *ret_has_provenance is false for a view without provenance
 * column (made by LanceDB 0.41). Errors: GLV_E_UNSUPPORTED for a column of a type that is not read;
 * GLV_E_SCHEMA "the stored definition of view 'v' does not produce this view's schema; recreate the
 * view".
 */
glv_status view_plan_matches(const view_plan *p, const table_snapshot *view,
                             bool *ret_has_provenance, glv_error *err);

#endif
