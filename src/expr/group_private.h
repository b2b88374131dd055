/**
 * @file group_private.h
 * What planning and running grouped queries share.
 *
 * Items are planned like everything else, over the columns of the scope, with each aggregate
 * standing as one more column behind them. Then they are rewritten (plan_rebase.c) to the columns
 * of a row of groups: the keys first, then the aggregates.
 */
#ifndef GLAIVE_EXPR_GROUP_PRIVATE_H
#define GLAIVE_EXPR_GROUP_PRIVATE_H

#include "expr/aggregate_private.h"
#include "expr/group.h"

struct group_plan {
  expr *nodes; /* owns all nodes; its columns and paths are those that a run reads; no root */
  schema *result;
  const node **keys; /* over the scope */
  size_t key_count;
  const aggregate **aggregates; /* over the scope */
  size_t aggregate_count;
  const node **items; /* over rows of groups */
  size_t item_count;
};

/** What the planner knows more while it plans a grouped query. */
struct group_scope {
  const group_query *query;
  const node **items; /* planned, not rewritten; NULL while they are being planned */
  const aggregate **aggregates;
  size_t aggregate_count;
  const aggregate *row_id; /* the one that is not asked for, or NULL */
  bool in_argument;        /* of an aggregate */
  bool has_nested;         /* an aggregate was found there */
};

/** Whether an expression calls an aggregate outside of a window. */
bool ast_calls_aggregate(const ast *a);
/** An aggregate call as a column behind those of the scope. */
glv_status plan_aggregate(planner *p, const aggregate_function *f, const char *name, const ast *a,
                          const node **ret, glv_error *err);
/** A name that is no column: the item of that name, while keys are planned; else *ret NULL. */
glv_status group_alias(planner *p, str name, const node **ret, glv_error *err);

/** Whether two trees compute the same from the same columns. */
bool node_equal(const node *a, const node *b);
/**
 * An item over a row of groups: what equals a key becomes its column, aggregates move behind the
 * keys. Errors: GLV_E_SQL_PLAN for a column that is left over; GLV_E_NOMEM.
 */
glv_status plan_rebase(planner *p, const group_plan *g, const node *n, const node **ret,
                       glv_error *err);

#endif
