/**
 * @file group_case.h
 * Cases of mode `group`: SELECT key, expr FROM t GROUP BY key, in the order of the first rows.
 */
#ifndef GLAIVE_TESTS_CORPUS_GROUP_CASE_H
#define GLAIVE_TESTS_CORPUS_GROUP_CASE_H

#include "arrow/array.h"

/**
 * Plan and run over one batch.
 *
 * @param group_by keys, separated by commas.
 * @param ret      columns: the first key, the expression.
 * Errors: those of group_plan_new, group_feed and group_next.
 */
glv_status group_case_run(glv_env *env, const batch *rows, str group_by, str expression, batch *ret,
                          glv_error *err);

#endif
