/* Routes of queries. */
#include "server/routes.h"

const route query_routes[] = {
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
