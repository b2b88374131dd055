/* Routes of namespaces. */
#include "server/routes.h"

const route namespace_routes[] = {
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
