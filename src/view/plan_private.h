/**
 * @file plan_private.h
 * The state of one planning, shared by plan.c and plan_inputs.c.
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

/** Remember what an expression reads; sort and de-duplicate at the end. Errors: GLV_E_NOMEM. */
glv_status planner_add_inputs(struct planner *p, const expr *e, glv_error *err);
glv_status planner_finish_inputs(struct planner *p, glv_error *err);
/** A deep copy. Errors: GLV_E_NOMEM. */
glv_status planner_copy_definition(arena *a, const view_definition *from, view_definition *to,
                                   glv_error *err);
/** The name that LanceDB gives a type in messages, e.g. "Int32". */
const char *planner_type_name(const type *t);

#endif
