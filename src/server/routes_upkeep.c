/* Routes of upkeep of tables: indexes, versions, tags, statistics. */
#include "server/routes.h"

const route upkeep_routes[] = {
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
