/**
 * @file group.h
 * Grouped queries: SELECT items FROM rows GROUP BY keys (sql-expressions sections 5 G and 14). A
 * plan is made once from texts; a run of it is fed the rows batch by batch and then gives one row
 * per group, in the order in which the groups were first seen.
 *
 * Groups are told apart by the values of all keys: nulls are one value, NaN is one value, -0.0 and
 * 0.0 are two. Filtering is the business of whoever feeds the rows.
 */
#ifndef GLAIVE_EXPR_GROUP_H
#define GLAIVE_EXPR_GROUP_H

#include "expr/expr.h"

typedef struct group_item {
  str name;       /* of the column */
  str expression; /* over keys, aggregates and constants */
} group_item;

/** What to plan; texts are borrowed for the call. */
typedef struct group_query {
  const group_item *items;
  size_t item_count;
  /** Expressions, names of items, or positions of items from 1 on. None: all rows are one group,
   * which is there also without rows. */
  const str *keys;
  size_t key_count;
  /** A column of the scope, of type uint64 without nulls, whose smallest value in each group
   * becomes a further column called `row_id_name` behind the items; SIZE_MAX = none. */
  size_t row_id;
  const char *row_id_name;
} group_query;

typedef struct group_plan group_plan; /* immutable; used by any number of runs at once */

/**
 * Plan a grouped query. Words in `"` are identifiers whatever the flags say; unquoted ones are
 * taken in lower case.
 *
 * @param flags enum expr_flags; EXPR_VIEW refuses functions that are not immutable.
 * Errors: GLV_E_SQL_PARSE with line:column; GLV_E_SQL_PLAN, also for an item that is neither in
 * GROUP BY nor an aggregate, and for windows; GLV_E_LIMIT; GLV_E_NOMEM. Thread class: T.
 */
glv_status group_plan_new(glv_env *env, const expr_scope *scope, const group_query *query,
                          unsigned flags, group_plan **ret, glv_error *err);
void group_plan_free(group_plan *p); /* NULL is fine; not before its runs */
void group_plan_cleanup(group_plan **p);

/** The columns of the result, one per item (and the row id); an item that is a column or a part of
 * a struct keeps its metadata. Borrowed. */
const schema *group_plan_schema(const group_plan *p);
/** Columns of the scope that a run reads, ascending, but for that of the row id; and paths, as
 * expr_paths. Borrowed. */
const size_t *group_plan_columns(const group_plan *p, size_t *ret_count);
const char *const *group_plan_paths(const group_plan *p, size_t *ret_count);

typedef struct group_run group_run; /* one at a time may call it */

/** Begin. The plan must outlive the run. Errors: GLV_E_NOMEM. */
glv_status group_run_new(const group_plan *p, group_run **ret, glv_error *err);
void group_run_free(group_run *r); /* NULL is fine */
void group_run_cleanup(group_run **r);

/**
 * Take in rows of a batch whose columns stand at their positions in the scope.
 * Errors: GLV_E_SQL_EXEC for a value that makes an argument fail, and for aggregates that the
 * reference refuses once there are rows; GLV_E_LIMIT for more than 2^32 - 2 groups, or values in
 * one aggregate that holds them; GLV_E_NOMEM. After an error only group_run_free may be called.
 */
glv_status group_feed(group_run *r, const batch *b, selection rows, glv_error *err);

/**
 * The next rows of the result, at most 64 Ki of them; *ret_end when there are no more. No rows may
 * be fed afterwards.
 * Errors: GLV_E_SQL_EXEC from an expression over aggregates, or an average that overflows;
 * GLV_E_LIMIT; GLV_E_NOMEM.
 */
glv_status group_next(group_run *r, batch *ret, bool *ret_end, glv_error *err);

#endif
