/* Routes of materialized views. */
#include "server/routes.h"

const route view_routes[] = {
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
