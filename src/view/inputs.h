/**
 * @file inputs.h
 * Which stored fields the columns of a view are computed from, and whether another schema has the
 * very same ones (materialized-views 7.4 step 1).
 */
#ifndef GLAIVE_VIEW_INPUTS_H
#define GLAIVE_VIEW_INPUTS_H

#include "base/arena.h"
#include "table/table.h"
#include "view/plan.h"

/** The inputs of a view, found in one schema of its source. */
typedef struct view_inputs {
  const lance_schema *schema; /* borrowed */
  const char *const *paths;   /* of the plan, borrowed */
  size_t path_count;
  /** The relevant fields: every element of the paths and everything below their last one;
   * ascending ids, without repetitions, in the arena. */
  const int32_t *fields;
  size_t field_count;
} view_inputs;

/** Find the inputs of a plan in the schema that it was planned against. Errors: GLV_E_NOMEM. */
glv_status view_inputs_find(const lance_schema *s, const view_plan *plan, arena *a,
                            view_inputs *ret, glv_error *err);
/** True iff every path leads to fields of the same ids, names and stored types in s, everything
 * below the last one included. */
bool view_inputs_same(const view_inputs *in, const lance_schema *s);
/** Whether the field is a relevant one. */
bool view_inputs_have(const view_inputs *in, int32_t field_id);
/** Whether some column of the file holds a relevant field. */
bool view_inputs_in_file(const view_inputs *in, const data_file *f);

#endif
