/**
 * @file plan_private.h
 * The state of one planning, shared by plan.c, plan_group.c, plan_inputs.c and plan_scan.c.
 */
#ifndef GLAIVE_VIEW_PLAN_PRIVATE_H
#define GLAIVE_VIEW_PLAN_PRIVATE_H

#include "base/limits.h"
#include "expr/expr.h"
#include "view/lineage.h"
#include "view/plan.h"

struct planner {
  view_plan *plan;
  const table_snapshot *source;
  plan_purpose purpose;
  schema *visible; /* a reference: what expressions see, the element in place of its list */
  size_t unnest;   /* position of the element; SIZE_MAX = none */
  expr_scope scope;
  const view_projection *projections;
  size_t projection_count;
  field *fields; /* projection_count + 1: provenance last */
  lineage_link *links;
  size_t link_count;
  const char **paths; /* read by the expressions so far, with repetitions */
  size_t path_count;
  size_t path_capacity;
  size_t *columns;
  size_t column_count;
  size_t column_capacity;
};

/** The name of output `index`: not there before, not reserved, one that a table can have. Errors:
 * GLV_E_COLUMN_EXISTS, GLV_E_INVALID_INPUT. */
glv_status planner_check_output(const struct planner *p, size_t index, glv_error *err);
/** The type that output `index` is stored with, in the plan's memory and without the declarations
 * of the source. Errors: GLV_E_INVALID_INPUT for one that no table can hold; GLV_E_NOMEM. */
glv_status planner_store_type(const struct planner *p, size_t index, const type *t,
                              const type **ret, glv_error *err);
/** A report about a part of the definition (not one of its columns) under its name, e.g. "invalid
 * view filter", with the code that the purpose asks for. @return the code. */
glv_status planner_part_failed(const struct planner *p, glv_status status, const char *part,
                               glv_error *err);
/** The outputs of a grouped definition into the fields of the planner. */
glv_status planner_plan_groups(struct planner *p, glv_error *err);
/** UNNEST and the GROUP BY of a plan as a scan takes them; borrowed from the definition, items and
 * keys made in a. Errors: GLV_E_NOMEM. */
scan_unnest planner_unnest(const view_definition *d);
glv_status planner_group_options(arena *a, const view_definition *d, group_options *ret,
                                 glv_error *err);

/** Remember what an expression reads; sort and de-duplicate at the end. Errors: GLV_E_NOMEM. */
glv_status planner_add_inputs(struct planner *p, const expr *e, glv_error *err);
/** Remember columns of the scope and paths below them. Errors: GLV_E_NOMEM. */
glv_status planner_add_reads(struct planner *p, const size_t *columns, size_t column_count,
                             const char *const *paths, size_t path_count, glv_error *err);
glv_status planner_finish_inputs(struct planner *p, glv_error *err);
/** A deep copy. Errors: GLV_E_NOMEM. */
glv_status planner_copy_definition(arena *a, const view_definition *from, view_definition *to,
                                   glv_error *err);

#endif
