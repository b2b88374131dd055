/**
 * @file upkeep.h
 * Upkeep of a table: what requests and jobs do alike.
 */
#ifndef GLAIVE_SERVER_UPKEEP_H
#define GLAIVE_SERVER_UPKEEP_H

#include <glaive/table.h>

#include "base/json.h"
#include "wire/extra.h"

/** Join small fragments. *ret: what was done, as answers have it; js_free. Errors: those of
 * glv_table_compact. */
glv_status upkeep_compact(glv_table *table, const wire_compact *how, glv_cancel *cancel, json **ret,
                          glv_error *err);
/** Remove old versions. Errors: those of glv_table_cleanup. */
glv_status upkeep_clean_up(glv_table *table, const wire_cleanup *how, glv_cancel *cancel,
                           json **ret, glv_error *err);

#endif
