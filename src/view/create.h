/**
 * @file create.h
 * Making the table of a view, and the checks that only creation makes (materialized-views 3.1, 4).
 */
#ifndef GLAIVE_VIEW_CREATE_H
#define GLAIVE_VIEW_CREATE_H

#include "view/plan.h"
#include "view/refresh.h"

/** Views that may stand on top of each other. */
#define VIEW_MAX_DEPTH 32

/**
 * Follow the source of d through the stored definitions of views.
 *
 * @param names,name_count,table  coordinate of the new view.
 * Errors: GLV_E_INVALID_INPUT "materialized view 'v' would read itself: v -> a -> v", "... would
 * nest deeper than 32 views"; those of db->open but for missing tables.
 */
glv_status view_check_cycle(glv_env *env, const view_database *db, const view_definition *d,
                            const char *const *names, size_t name_count, const char *table,
                            glv_error *err);

/**
 * Create the empty table of a planned view: version 1, stable row ids, its definition and a new
 * incarnation.
 *
 * @param plan  planned for creation; its definition is stored in its `form`.
 * @param path  directory of the new table.
 * @param name  for messages.
 * Errors: those of table_create; GLV_E_INVALID_INPUT for texts that are not UTF-8.
 */
glv_status view_create_table(const view_plan *plan, const char *path, const char *name,
                             table_snapshot **ret, glv_error *err);

#endif
